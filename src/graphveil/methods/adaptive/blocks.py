"""A table in blocks, each solved by itself: what fits inside a block fits in the entire table.

graphveil's own, since the algorithms take O(n n) memory and more time. Compatibility only grows if
blocks are put together, so the guarantee holds for the whole table. A block holds similar rows: it
is divided by a value that about half of its rows have, or along a random direction. Every block has
a random stream of its own, and rows are sorted within it, so neither the engine nor the order of
the rows changes the result. There is one exception: if rows with equal cells but different levels
are in the middle of a block that is halved along a random direction, their order decides which of
them are in which half. Dividing takes O(n d) for each level of division.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import SuppressionHistogram
from graphveil.claims.record import OwnersNotes
from graphveil.core.errors import InfeasibleError
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.warnings import Advice, NoGuaranteeWarning
from graphveil.data import Table
from graphveil.data.codes import SUPPRESSED
from graphveil.release.draft import Draft

if TYPE_CHECKING:
    from graphveil.methods.adaptive.problem import Codes

Rows: TypeAlias = "NDArray[np.int64]"

WHOLE_ROWS = 2_000
"""A table of at most this many rows is one block."""

BLOCK_ROWS = 512
"""The most rows of a block of a larger table, unless the levels demand more. A larger block may
suppress less, and takes time and memory with the square of its rows."""

MOST_ROWS = 20_000
"""The largest block: its memory is 9 bytes times the square of its rows, here 3.6 GB."""

PART = 1 << 15
"""How many rows are read at a time when the values of columns are counted: it bounds the memory."""


class RecordBlock(NamedTuple):
    """Some rows, what each of them asks for, and the block's own random stream.

    Parameters
    ----------
    codes
        int32, shape (n, d): -1 is missing.
    levels
        int64, shape (n,).
    weights
        float64, shape (d,) or (n, d): what a star costs.
    rng
        The block's stream.
    """

    codes: Codes
    levels: NDArray[np.int64]
    weights: NDArray[np.float64]
    rng: np.random.Generator


class BlockSolution(NamedTuple):
    """What a block publishes.

    Parameters
    ----------
    hidden
        uint8: the suppressed cells, rows packed by `numpy.packbits`.
    sizes, persons
        int64, shape (n,), and int32: how many persons each record was chosen to fit, and these, one
        record after the other, by position in the block; None if there are no chosen pairs.
    figures
        What the owner's record says.
    """

    hidden: NDArray[np.uint8]
    sizes: NDArray[np.int64] | None = None
    persons: NDArray[np.int32] | None = None
    figures: Mapping[str, float] = {}


class BlockOutcome(NamedTuple):
    """What all blocks publish.

    Parameters
    ----------
    hidden
        bool, shape (n, d): the suppressed cells.
    witness
        The chosen pairs as ``(indptr, indices)`` by the position of their record; or None.
    figures
        What the owner's record says.
    """

    hidden: NDArray[np.bool_]
    witness: tuple[NDArray[np.int64], NDArray[np.int32]] | None
    figures: Mapping[str, float]


def rows_of_block(asked: int | None, n: int, largest_level: int) -> int:
    """Return how many rows a block has at most: four times the largest level or more.

    `split` leaves a quarter of this number of rows in the smaller part at least. So every block has
    as many rows as the largest level, and all its rows can reach their levels inside it.

    Parameters
    ----------
    asked
        What the owner asked for, or None.
    n, largest_level
        The rows of the table, and its largest level.

    Raises
    ------
    InfeasibleError
        If that is more than memory allows.
    """
    rows = max(asked or (WHOLE_ROWS if n <= WHOLE_ROWS else BLOCK_ROWS), 4 * largest_level)
    if min(rows, n) > MOST_ROWS:
        raise InfeasibleError(
            f"a level of {largest_level} needs blocks of {rows} rows; more than {MOST_ROWS} are "
            "too many for memory. Lower the largest levels."
        )
    return rows


def split(codes: Codes, most_rows: int, rng: np.random.Generator) -> list[Rows]:
    """Return the rows of blocks in which rows are similar: int64, one array per block.

    A block that is too large is divided by a value that about half of its rows have. If the smaller
    part would have fewer than a quarter of `most_rows`, it is divided in two halves along a random
    direction. So no block has fewer rows than a quarter of `most_rows`.
    """
    # The values of all columns are numbered in one sequence; column k starts at ``starts[k]``.
    sizes = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    starts = np.concatenate([[0], np.cumsum(sizes)])
    waiting, blocks = [np.arange(codes.shape[0])], []
    while waiting:
        # Blocks are divided until they are small enough; the order of the parts is kept.
        rows = waiting.pop()
        if rows.size <= most_rows:
            blocks.append(rows)
        else:
            waiting += _halves(codes, rows, starts, most_rows, rng)[::-1]
    return blocks


def _halves(
    codes: Codes, rows: Rows, starts: NDArray[np.int64], most_rows: int, rng: np.random.Generator
) -> list[Rows]:
    """Return the two parts of a block that is too large."""
    # Step 1: how many rows have each value of each column.
    counts = np.zeros(starts[-1], dtype=np.int64)
    for cells, present in _cells(codes, rows, starts):
        counts += np.bincount(cells[present], minlength=counts.size)
    # Step 2: the value closest to half of the rows, if its smaller side is large enough.
    if counts.size:
        value = int(np.argmin(np.abs(2 * counts - rows.size)))
        if 4 * min(counts[value], rows.size - counts[value]) >= most_rows:
            column = int(np.searchsorted(starts, value, side="right")) - 1
            has = codes[rows, column] == value - starts[column]
            return [rows[has], rows[~has]]
    # Step 3: otherwise project the rows on a random direction, and halve by the median. Each value
    # of each column has a random number, and a row is at the sum of those of its values; so rows
    # that share values tend to be close.
    directions = rng.standard_normal(counts.size)
    positions = [
        np.where(present, directions[np.where(present, cells, 0)], 0.0).sum(axis=1)
        for cells, present in _cells(codes, rows, starts)
    ]
    # Rows with equal cells are at one position: the stable sort keeps them in the order of `rows`.
    order = rows[np.argsort(np.concatenate(positions), kind="stable")]
    return [np.sort(order[: rows.size // 2]), np.sort(order[rows.size // 2 :])]


def _cells(
    codes: Codes, rows: Rows, starts: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Yield the number of every cell's value among those of all columns, and whether it has one."""
    for start in range(0, rows.size, PART):
        part = codes[rows[start : start + PART]]
        yield part + starts[:-1], part >= 0


def in_blocks(
    codes: Codes,
    levels: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    most_rows: int,
    work: Callable[[RecordBlock], BlockSolution],
    randomness: Randomness,
) -> BlockOutcome:
    """Return what all blocks publish; the engine never changes it.

    Parameters
    ----------
    codes, levels, weights
        As in `RecordBlock`, for the entire table.
    most_rows
        The most rows of a block.
    work
        What solves a block; a value that can be pickled.
    randomness
        From it the division and every block have a stream by name.
    """
    # Step 1: the rows of each block, sorted by their cells.
    pieces = [np.arange(codes.shape[0])]
    if codes.shape[0] > most_rows:
        with stage("sorting rows into blocks"):
            pieces = split(codes, most_rows, randomness.stream("blocks"))
    pieces = [in_order(codes, levels, rows) for rows in pieces]
    # Each block has a stream of its own, by its number.
    blocks = (
        RecordBlock(
            codes[rows],
            levels[rows],
            weights if weights.ndim == 1 else weights[rows],
            randomness.stream(f"block {number}"),
        )
        for number, rows in enumerate(pieces)
    )
    # Step 2: solve the blocks through the engine, and put cells and pairs back in their places.
    hidden = np.empty(codes.shape, dtype=np.bool_)
    chosen: list[tuple[Rows, NDArray[np.int64], NDArray[np.int32]]] = []
    from graphveil.engines import current  # noqa: PLC0415  heavy, and help needs none of it

    figures: Mapping[str, float] = {}
    with (
        stage("blocks", total=len(pieces)) as advance,
        closing(current().map_chunks(work, blocks)) as results,
    ):
        for rows, solved in zip(pieces, results, strict=True):
            hidden[rows] = np.unpackbits(solved.hidden, axis=1, count=codes.shape[1])
            if solved.sizes is not None and solved.persons is not None:
                chosen.append((rows, solved.sizes, solved.persons))
            figures = solved.figures
            advance(1)
    return BlockOutcome(hidden, _joined(chosen, codes.shape[0]) if chosen else None, figures)


def in_order(codes: Codes, levels: NDArray[np.int64], rows: Rows) -> Rows:
    """Return rows in the order of their cells, and of their levels if cells are equal."""
    return rows[np.lexsort((levels[rows], *codes[rows].T))]


def _joined(
    chosen: list[tuple[Rows, NDArray[np.int64], NDArray[np.int32]]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the pairs of all blocks by the position of their record, as ``(indptr, indices)``."""
    # Step 1: how many pairs each record has, and where they go.
    sizes = np.zeros(n, dtype=np.int64)
    for rows, of_rows, _ in chosen:
        sizes[rows] = of_rows
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    indices = np.empty(indptr[-1], dtype=np.int32)
    for rows, of_rows, persons in chosen:
        # Step 2: positions in a block become positions in the table.
        within = np.arange(persons.size) - np.repeat(np.cumsum(of_rows) - of_rows, of_rows)
        indices[np.repeat(indptr[rows], of_rows) + within] = rows[persons]
    return indptr, indices


NOTHING = Advice(
    "every cell is suppressed: none of the data is published. Lower the levels, or k",
    NoGuaranteeWarning,
)
"""The warning of a release in which every cell is suppressed."""


def draft_of(data: Table, outcome: BlockOutcome, *, advice: tuple[str, ...] = ()) -> Draft[Any]:
    """Return the table with its suppressed cells, and the histogram of stars by row."""
    hidden = outcome.hidden
    codes = np.where(hidden, np.int32(SUPPRESSED), data.codes)
    nothing = (NOTHING,) if hidden.all() and hidden.size else ()
    # How many rows have how many stars: a condition that `verify` recomputes from the table.
    stars = np.unique(np.count_nonzero(hidden, axis=1), return_counts=True)
    return Draft(
        data=Table(codes, data.columns, data.categories, data.ids),
        notes=OwnersNotes(cost=outcome.figures, warnings=(*advice, *nothing)),
        conditions=(
            SuppressionHistogram(rows=tuple(zip(*map(np.ndarray.tolist, stars), strict=True))),
        ),
        witness=outcome.witness,
    )
