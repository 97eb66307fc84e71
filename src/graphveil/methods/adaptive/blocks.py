"""A table in blocks, each solved for itself: what fits inside a block fits in the whole table."""

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
BLOCK_ROWS = 512
"""A table of at most so many rows is one block; a larger one has blocks of so many at most."""

MOST_ROWS = 20_000
"""A block's memory grows with the square of its rows: 9 bytes times that."""

PART = 1 << 15
"""So many rows are read at a time where the values of columns are counted."""


class RecordBlock(NamedTuple):
    """Some rows, what each of them asks for, and the block's own random stream."""

    codes: Codes
    levels: NDArray[np.int64]
    weights: NDArray[np.float64]
    rng: np.random.Generator


class BlockSolution(NamedTuple):
    """What a block publishes; cells as `numpy.packbits` packs them, persons by position in it."""

    hidden: NDArray[np.uint8]
    sizes: NDArray[np.int64] | None = None
    persons: NDArray[np.int32] | None = None
    figures: Mapping[str, float] = {}


class BlockOutcome(NamedTuple):
    """What all blocks publish: the suppressed cells, and the chosen pairs by position."""

    hidden: NDArray[np.bool_]
    witness: tuple[NDArray[np.int64], NDArray[np.int32]] | None
    figures: Mapping[str, float]


def rows_of_block(asked: int | None, n: int, largest_level: int) -> int:
    """Return how many rows a block has at most: four times the largest level or more."""
    rows = max(asked or (WHOLE_ROWS if n <= WHOLE_ROWS else BLOCK_ROWS), 4 * largest_level)
    if min(rows, n) > MOST_ROWS:
        raise InfeasibleError(
            f"a level of {largest_level} needs blocks of {rows} rows; more than {MOST_ROWS} are "
            "too many for memory. Lower the largest levels."
        )
    return rows


def split(codes: Codes, most_rows: int, rng: np.random.Generator) -> list[Rows]:
    """Return the rows of blocks in which rows are similar.

    A block that is too large is divided by a value that about half of its rows have; where the
    smaller part would have fewer than a quarter of `most_rows`, in two halves along a random
    direction.
    """
    sizes = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    starts = np.concatenate([[0], np.cumsum(sizes)])
    waiting, blocks = [np.arange(codes.shape[0])], []
    while waiting:
        rows = waiting.pop()
        if rows.size <= most_rows:
            blocks.append(rows)
        else:
            waiting += _halves(codes, rows, starts, most_rows, rng)[::-1]
    return blocks


def _halves(
    codes: Codes, rows: Rows, starts: NDArray[np.int64], most_rows: int, rng: np.random.Generator
) -> list[Rows]:
    counts = np.zeros(starts[-1], dtype=np.int64)
    for cells, shown in _cells(codes, rows, starts):
        counts += np.bincount(cells[shown], minlength=counts.size)
    if counts.size:
        value = int(np.argmin(np.abs(2 * counts - rows.size)))
        if 4 * min(counts[value], rows.size - counts[value]) >= most_rows:
            column = int(np.searchsorted(starts, value, side="right")) - 1
            has = codes[rows, column] == value - starts[column]
            return [rows[has], rows[~has]]
    directions = rng.standard_normal(counts.size)
    along = [
        np.where(shown, directions[np.where(shown, cells, 0)], 0.0).sum(axis=1)
        for cells, shown in _cells(codes, rows, starts)
    ]
    order = rows[np.argsort(np.concatenate(along), kind="stable")]
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
    """Return what all blocks publish; neither the engine nor the order of the rows changes it."""
    pieces = [np.arange(codes.shape[0])]
    if codes.shape[0] > most_rows:
        with stage("sorting rows into blocks"):
            pieces = split(codes, most_rows, randomness.stream("blocks"))
    pieces = [in_order(codes, levels, rows) for rows in pieces]
    blocks = (
        RecordBlock(
            codes[rows],
            levels[rows],
            weights if weights.ndim == 1 else weights[rows],
            randomness.stream(f"block {number}"),
        )
        for number, rows in enumerate(pieces)
    )
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
    """Return rows in the order of their cells, and of their levels where these are the same."""
    return rows[np.lexsort((levels[rows], *codes[rows].T))]


def _joined(
    chosen: list[tuple[Rows, NDArray[np.int64], NDArray[np.int32]]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the pairs of all blocks by the position of their record."""
    sizes = np.zeros(n, dtype=np.int64)
    for rows, of_rows, _ in chosen:
        sizes[rows] = of_rows
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    indices = np.empty(indptr[-1], dtype=np.int32)
    for rows, of_rows, persons in chosen:
        within = np.arange(persons.size) - np.repeat(np.cumsum(of_rows) - of_rows, of_rows)
        indices[np.repeat(indptr[rows], of_rows) + within] = rows[persons]
    return indptr, indices


NOTHING = Advice(
    "every cell is suppressed: none of the data is published. Lower the levels, or k",
    NoGuaranteeWarning,
)


def draft_of(data: Table, outcome: BlockOutcome, *, advice: tuple[str, ...] = ()) -> Draft[Any]:
    """Return the table with its suppressed cells."""
    hidden = outcome.hidden
    codes = np.where(hidden, np.int32(SUPPRESSED), data.codes)
    nothing = (NOTHING,) if hidden.all() and hidden.size else ()
    stars = np.unique(np.count_nonzero(hidden, axis=1), return_counts=True)
    return Draft(
        data=Table(codes, data.columns, data.categories, data.ids),
        notes=OwnersNotes(cost=outcome.figures, warnings=(*advice, *nothing)),
        conditions=(
            SuppressionHistogram(rows=tuple(zip(*map(np.ndarray.tolist, stars), strict=True))),
        ),
        witness=outcome.witness,
    )
