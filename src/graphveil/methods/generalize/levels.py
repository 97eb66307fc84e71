"""Levels of a column: as a value, by rule (widths, edges, prefixes, dates, cuts) or from a file."""

from __future__ import annotations

import csv
import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.manifest import LevelsKind
from graphveil.core.errors import DataError, InputError, ParameterError, mapping, several
from graphveil.core.lazy import lazy_module
from graphveil.core.text import printable
from graphveil.data.codes import DATE_FORMS, ISO, day_of, numbers_of, rounded
from graphveil.data.ids import EXACT

ALL = "*"
"""The node above all leaves, and the text of a missing value."""

LONGEST = 40
"""The most characters of a value that a message shows."""

Where = Callable[[int], str]
"""Says where a leaf is listed, by its position."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels of a column, from the values up to one node above them all.

    `nodes`: int32, shape (L + 1, m): the node of every leaf at every level. Two leaves that agree
    at a level agree at all above it; all agree at the last; `losses`: float64, shape (L + 1, m):
    what is lost where a leaf is published at a level, from 0 to 1, rising with the level; `texts`:
    for every level the texts of its nodes; `from_the_data`: whether nodes, and not leaves alone,
    follow from the values of the data.

    Examples
    --------
    >>> jobs = Hierarchy.of([["nurse", "clerk", "cook"], ["Care", "Office", "Care"]])
    >>> jobs.nodes.tolist(), jobs.texts[1:], jobs.losses[1].tolist()
    ([[0, 1, 2], [0, 1, 0], [0, 0, 0]], (('Care', 'Office'), ('*',)), [0.5, 0.0, 0.5])
    """

    nodes: NDArray[np.int32]
    losses: NDArray[np.float64]
    texts: tuple[tuple[str, ...], ...]
    from_the_data: bool = False

    @classmethod
    def of(
        cls,
        levels: Sequence[Sequence[str]],
        *,
        losses: NDArray[np.float64] | None = None,
        where: Where | None = None,
        source: str = "levels",
        from_the_data: bool = False,
    ) -> Hierarchy:
        """Return the hierarchy of these texts, with ``*`` above them.

        `levels`: for every level the node of every leaf; the first lists the leaves, each once;
        `losses`: shape (levels, leaves): what a node loses. Default: the share of the other leaves
        that are below it; `where`: says where a leaf is listed, for messages; `source`: what lists
        them, for messages; `from_the_data`: as the attribute.

        Raises
        ------
        InputError
            Where levels do not nest, or nodes with different leaves have one text.
        """
        where = where or (lambda leaf: f"at {printable(levels[0][leaf], LONGEST)}")
        above = levels if set(levels[-1]) == {ALL} else [*levels, [ALL] * len(levels[0])]
        nodes = np.empty((len(above), len(levels[0])), dtype=np.int32)
        texts = []
        for level, listed in enumerate(above):
            numbers: dict[str, int] = {}
            nodes[level] = [numbers.setdefault(text, len(numbers)) for text in listed]
            texts.append(tuple(numbers))
        _check_nested(nodes, texts, where, source)
        _check_texts(nodes, texts, where, source)
        lost = np.ones(nodes.shape)
        if losses is None:
            for level, row in enumerate(nodes):
                lost[level] = (np.bincount(row)[row] - 1) / max(row.size - 1, 1)
        else:
            lost[: len(losses)] = losses
        lost[-1] = 1.0
        return cls(nodes, np.maximum.accumulate(lost), tuple(texts), from_the_data)

    def with_missing(self) -> Hierarchy:
        """Return the hierarchy with one more leaf: a missing value, ``*`` at every level.

        Examples
        --------
        >>> sexes = Hierarchy.of([["f", "m"]]).with_missing()
        >>> sexes.nodes.tolist(), sexes.texts, sexes.losses[0].tolist()
        ([[0, 1, 2], [0, 0, 0]], (('f', 'm', '*'), ('*',)), [0.0, 0.0, 1.0])
        """
        missing = self.nodes.max(axis=1, keepdims=True) + 1
        missing[-1] = 0
        texts = [(*level, ALL) for level in self.texts[:-1]]
        return Hierarchy(
            np.concatenate([self.nodes, missing], axis=1).astype(np.int32),
            np.concatenate([self.losses, np.ones_like(missing, dtype=np.float64)], axis=1),
            (*texts, self.texts[-1]),
            self.from_the_data,
        )

    def ranks(self) -> list[NDArray[np.uint64]]:
        """Return for every level below the last each leaf's node, counted below its parent.

        Examples
        --------
        >>> jobs = Hierarchy.of([["nurse", "clerk", "cook"], ["Care", "Office", "Care"]])
        >>> [level.tolist() for level in jobs.ranks()]
        [[0, 0, 1], [0, 1, 0]]
        """
        ranks = []
        for below, above in zip(self.nodes[:-1], self.nodes[1:], strict=True):
            node, first = np.unique(below, return_index=True)
            parent = above[first]
            order = np.lexsort((node, parent))
            starts = np.append(True, parent[order][1:] != parent[order][:-1])
            begin = np.flatnonzero(starts)[np.cumsum(starts) - 1]
            rank = np.empty(int(below.max()) + 1, dtype=np.uint64)
            rank[node[order]] = np.arange(node.size) - begin
            ranks.append(rank[below])
        return ranks

    def in_order(self) -> list[str]:
        """Return the texts of all nodes by their first leaf, then by their leaves; ``*`` last.

        Examples
        --------
        >>> Hierarchy.of([["clerk", "nurse", "cook"], ["Office", "Care", "Care"]]).in_order()
        ['clerk', 'Office', 'nurse', 'Care', 'cook', '*']
        """
        keys: dict[str, tuple[int, int, int]] = {}
        for level, row in enumerate(self.nodes):
            _, first, count = np.unique(row, return_index=True, return_counts=True)
            for text, at, leaves in zip(self.texts[level], first, count, strict=True):
                keys.setdefault(text, (int(at), int(leaves), level))
        keys.pop(ALL, None)
        return [*sorted(keys, key=keys.__getitem__), ALL]


def _check_nested(
    nodes: NDArray[np.int32], texts: Sequence[Sequence[str]], where: Where, source: str
) -> None:
    """Refuse a node that is under two."""
    for level in range(len(nodes) - 1):
        below, above = nodes[level], nodes[level + 1]
        _, first = np.unique(below, return_index=True)
        differs = np.flatnonzero(above != above[first][below])
        if differs.size:
            later = int(differs[0])
            earlier = int(first[below[later]])
            node, one, other = (
                printable(text, LONGEST)
                for text in (
                    texts[level][below[later]],
                    texts[level + 1][above[earlier]],
                    texts[level + 1][above[later]],
                )
            )
            raise InputError(
                f"{source}: {node} is under {one} ({where(earlier)}) and under {other} "
                f"({where(later)}). Put it under one of them, or rename one."
            )


def _check_texts(
    nodes: NDArray[np.int32], texts: Sequence[Sequence[str]], where: Where, source: str
) -> None:
    """Refuse two nodes of one text with different leaves: nobody could tell which is meant."""
    seen: dict[str, tuple[int, int]] = {}
    for level, names in enumerate(texts):
        _, first, count = np.unique(nodes[level], return_index=True, return_counts=True)
        for node, name in enumerate(names):
            at = (int(first[node]), int(count[node]))
            if seen.setdefault(name, at) != at:
                raise InputError(
                    f"{source}: {printable(name, LONGEST)} is the text of two nodes with "
                    f"different values ({where(seen[name][0])}, and {where(at[0])} on level "
                    f"{level + 1}). Rename one."
                )


class ListedLevels(NamedTuple):
    """A hierarchy from a file, and the leaf of every value that it lists."""

    hierarchy: Hierarchy
    leaves: Mapping[str, int]


def read_levels(path: str | Path) -> ListedLevels:
    r"""Return the hierarchy of a csv file with one line for each value, from the value to the root.

    Parameters
    ----------
    path
        The file, with ``;`` or ``,`` between levels, in UTF-8, without a header: as ARX writes it.

    Raises
    ------
    InputError
        Where the file cannot be read, lines differ in their number of levels, a value is listed
        twice with different nodes, levels do not nest, a cell is empty, or two nodes have one
        text.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "job.csv")
    >>> _ = path.write_text("nurse;Care;*\nclerk;Office;*\ncook;Care;*\n")
    >>> read_levels(path).hierarchy.texts[1]
    ('Care', 'Office')
    """
    path = Path(path)
    lines: list[int] = []
    listed: dict[str, list[str]] = {}
    for line, cells in _lines_of(path):
        if listed and len(cells) != len(next(iter(listed.values()))):
            width = len(next(iter(listed.values())))
            raise InputError(
                f"{path.name} line {line} has {_levels(len(cells))}, line {lines[0]} has {width}. "
                "List every value with the same number of levels."
            )
        if "" in cells:
            raise InputError(
                f"{path.name} line {line} has no text on level {cells.index('') + 1}. Write one, "
                "or remove the line."
            )
        value = cells[0]
        if value not in listed:
            listed[value] = cells
            lines.append(line)
        elif listed[value] != cells:
            _refuse_second(path, value, (lines[list(listed).index(value)], line), listed, cells)
    if not listed:
        raise InputError(f"{path.name} is empty. List one value per line, from value to root.")
    hierarchy = Hierarchy.of(
        list(zip(*listed.values(), strict=True)),
        where=lambda leaf: f"line {lines[leaf]}",
        source=path.name,
    )
    return ListedLevels(hierarchy, {value: leaf for leaf, value in enumerate(listed)})


def _lines_of(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines of a csv file that hold something, each with its number."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the levels {printable(path)} cannot be read: {printable(error)}. Use a csv file in "
            "UTF-8."
        ) from error
    delimiter = ";" if ";" in text.partition("\n")[0] else ","
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    return [(reader.line_num, cells) for cells in reader if cells]


def _levels(count: int) -> str:
    return "1 level" if count == 1 else f"{count} levels"


def _refuse_second(
    path: Path,
    value: str,
    lines: tuple[int, int],
    listed: Mapping[str, Sequence[str]],
    cells: Sequence[str],
) -> None:
    """Refuse a value that two lines list under different nodes."""
    one, other = next(pair for pair in zip(listed[value], cells, strict=True) if pair[0] != pair[1])
    raise InputError(
        f"{path.name}: {printable(value, LONGEST)} is on line {lines[0]} under "
        f"{printable(one, LONGEST)} and on line {lines[1]} under {printable(other, LONGEST)}. "
        "Remove one."
    )


if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")

Floats = NDArray[np.float64]

_LARGEST = 1e25
"""Decimal numbers of 28 digits hold the edges of smaller values exactly."""
Ints = NDArray[np.int64]

FINEST_PARTS = 64
"""``auto`` cuts a column in so many parts of about as many rows, halves them, and so on."""

MOST_EDGES = 1_000_000
"""The most intervals of one width."""

UNITS = ("week", "month", "quarter", "year", "decade")


KINDS = (
    "widths such as 5,10, edges:18,65, prefix:3,2, month,year, auto, stars, or a csv file of levels"
)


class Values(NamedTuple):
    """The distinct values of a column in order, with first rows and counts; -1 is missing."""

    name: str
    texts: list[str]
    array: pa.Array
    first: Ints
    counts: Ints
    codes: Ints


class Column(NamedTuple):
    """The hierarchy of a column and the leaf of every row."""

    hierarchy: Hierarchy
    leaves: Ints


def values_of(name: str, column: pa.ChunkedArray | pa.Array, suppressed: Sequence[str]) -> Values:
    """Return the distinct values, rising; null, NaN and suppressed texts are missing."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, type=array.type), array)
    try:
        spelled = pc.cast(array, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name} has type {array.type}, which cannot be generalized. Convert it to "
            "numbers, text or dates."
        ) from error
    hidden = pc.is_in(spelled, value_set=pa.array(list(suppressed), type=pa.string()))
    array = pc.if_else(hidden, pa.scalar(None, type=array.type), array)
    known = pc.drop_null(array)
    distinct = pc.unique(known)
    distinct = distinct.take(pc.sort_indices(distinct))
    codes = pc.fill_null(pc.index_in(array, value_set=distinct), -1).to_numpy(zero_copy_only=False)
    shown, first = np.unique(codes, return_index=True)
    texts = pc.cast(distinct, pa.string()).to_pylist()
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    return Values(name, texts, distinct, first[shown >= 0], counts, codes.astype(np.int64))


def column_of(values: Values, levels: str, date_format: str | None = None) -> Column:
    """Return the hierarchy of a column by a rule, with ``*`` for missing cells.

    `levels`: widths ``5,10,20``, each a multiple of the one before; ``edges:18,65``;
    ``prefix:4,3,2``; ``month,year,10`` of dates, with ``week``, ``quarter`` and ``decade``;
    ``auto``; ``stars``; or a csv file. Raises `ParameterError` where it is not one of these,
    `DataError` where the values do not suit it, `InputError` where a file holds no levels.
    """
    kind, detail = kind_of_levels(levels), levels.partition(":")[2]
    parts = [part.strip() for part in levels.split(",")]
    if kind == "file" and (levels.endswith(".csv") or Path(levels).exists()):
        return _by_file(values, levels)
    if kind == "file":
        raise ParameterError(
            f"levels of {values.name}: {printable(levels, LONGEST)} is not a kind of levels. "
            f"Use {KINDS}."
        )
    hierarchy = {
        "stars": lambda: Hierarchy.of([values.texts or [ALL]]),
        "auto": lambda: _by_quantiles(values),
        "edges": lambda: _by_edges(values, [_increasing(values.name, levels, detail)]),
        "prefix": lambda: _by_prefix(values, levels, detail),
        "dates": lambda: _by_dates(values, parts, date_format),
        "widths": lambda: _by_widths(values, parts),
    }[kind]()
    return _with_leaves(values, hierarchy, np.arange(len(values.texts)))


def kind_of_levels(levels: str) -> LevelsKind:
    """Return what kind of rule `column_of` takes a text for.

    >>> kind_of_levels("month,year"), kind_of_levels("job.csv"), kind_of_levels("5,10")
    ('dates', 'file', 'widths')
    """
    kind, _, detail = levels.partition(":")
    if levels in {"stars", "auto"}:
        return cast("LevelsKind", levels)
    if kind in {"edges", "prefix"} and detail:
        return cast("LevelsKind", kind)
    parts = [part.strip() for part in levels.split(",")]
    if parts[0] in UNITS:
        return "dates"
    return "widths" if all(_decimal(part) is not None for part in parts) else "file"


def _with_leaves(values: Values, hierarchy: Hierarchy, leaves: Ints) -> Column:
    """Return the hierarchy, with a leaf for missing cells if there are any."""
    if values.codes.min(initial=0) >= 0 or not leaves.size:
        return Column(hierarchy, leaves[values.codes] if leaves.size else values.codes * 0)
    whole = hierarchy.with_missing()
    return Column(whole, np.append(leaves, whole.nodes.shape[1] - 1)[values.codes])


def _by_file(values: Values, path: str) -> Column:
    """Return the hierarchy of a file, whose leaves are all values that it lists."""
    listed = read_levels(path)
    lacking = [i for i, value in enumerate(values.texts) if value not in listed.leaves]
    if lacking:
        i = min(lacking, key=lambda one: int(values.first[one]))
        value = values.texts[i]
        more = f" and {len(lacking) - 1} more values" if len(lacking) > 1 else ""
        raise DataError(
            f"{Path(path).name} lacks {printable(value, LONGEST)}{more} of column {values.name} "
            f"(count {values.counts[i]}, first in row {values.first[i]}). Add it to the file of "
            f"{mapping('levels', values.name, path)}, or use {several('suppressed', ALL, value)}."
        )
    leaves = np.array([listed.leaves[value] for value in values.texts], dtype=np.int64)
    return _with_leaves(values, listed.hierarchy, leaves)


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _numbers(values: Values) -> Floats:
    """Return the values as numbers, or refuse them."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_temporal)
    no_numbers = all(_decimal(text) is None for text in values.texts)
    if no_numbers and any(of_kind(values.array.type) for of_kind in kinds):
        first = printable(values.texts[int(np.argmin(values.first))], LONGEST)
        raise DataError(
            f"column {values.name}: {first} (row {values.first.min()}) is not a number, nor is "
            f"any other value. Use {mapping('levels', values.name, 'month,year')} for dates, or "
            f"{mapping('levels', values.name, 'prefix:2')} or a file for text."
        )
    numbers = numbers_of(values.array, (), name=values.name)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _exact(values: Values, numbers: Floats) -> list[Decimal] | None:
    """Return the values if a float may not hold them exactly; None where floats do."""
    kind = values.array.type
    large = np.isfinite(numbers).all() and np.abs(numbers).max(initial=0) >= EXACT
    if not large and not pa.types.is_decimal(kind):
        return None
    if np.abs(numbers).max(initial=0) >= _LARGEST:
        raise DataError(
            f"column {values.name} has {numbers.max():.3g}, which is too large for intervals. Use "
            f"{mapping('levels', values.name, 'prefix:2')} or a file."
        )
    if pa.types.is_floating(kind):
        return [Decimal(number) for number in numbers.tolist()]
    return [Decimal(text) for text in values.texts]


def _intervals_of(
    edges: Sequence[Decimal], numbers: Floats, exact: Sequence[Decimal] | None
) -> Ints:
    """Return how many rising edges each number reaches."""
    if exact is None:
        return np.searchsorted(np.array(edges, dtype=np.float64), numbers, side="right")
    return np.array([bisect_right(edges, number) for number in exact], dtype=np.int64)


def _are_whole(numbers: Floats) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def _by_widths(values: Values, parts: Sequence[str]) -> Hierarchy:
    """Return intervals of these widths, which begin at multiples of them."""
    given = ",".join(parts)
    widths = [Decimal(part) for part in parts]
    if widths[0] <= 0:
        raise ParameterError(
            f"levels {values.name}={given}: a width is positive. Remove {parts[0]}."
        )
    for one, other in pairwise(widths):
        if other % one or other <= one:
            raise ParameterError(
                f"{values.name}={given}: {other} is not a multiple of {one}. Use widths that are "
                "each a multiple of the one before."
            )
    numbers = _numbers(values)
    whole = _are_whole(numbers)
    if whole and any(width % 1 for width in widths):
        raise ParameterError(
            f"{values.name}={given}: the values are whole numbers. Use whole widths."
        )
    exact = _exact(values, numbers)
    written = exact or [Decimal(repr(float(end))) for end in (numbers.min(), numbers.max())]
    low, high = (math.floor(end / widths[-1]) for end in (min(written), max(written)))
    lowest, highest = low * widths[-1], (high + 1) * widths[-1]
    span = float(highest - lowest) - whole
    levels, losses = [values.texts], [np.zeros(numbers.size)]
    for width in widths:
        count = int((highest - lowest) / width)
        if count > MOST_EDGES:
            raise ParameterError(
                f"{values.name}={given}: width {width} makes {count:,} intervals. Use wider ones."
            )
        edges = [lowest + width * i for i in range(count + 1)]
        at = _intervals_of(edges, numbers, exact) - 1
        plain = whole and lowest >= 0
        texts = {i: _interval(edges[i], edges[i + 1], plain=plain) for i in np.unique(at).tolist()}
        levels.append([texts[i] for i in at.tolist()])
        losses.append(np.full(numbers.size, min((float(width) - whole) / max(span, 1e-300), 1.0)))
    return Hierarchy.of(levels, losses=np.array(losses), source=f"levels of {values.name}")


def _interval(low: Decimal, high: Decimal, *, plain: bool) -> str:
    """Return ``20-39``, both ends in it, of whole numbers from 0 on; else ``[20, 40)``."""
    if not plain:
        return f"[{_spelled(low)}, {_spelled(high)})"
    last = high - 1
    return _spelled(low) if last == low else f"{_spelled(low)}-{_spelled(last)}"


def _spelled(number: Decimal) -> str:
    text = f"{number.normalize():f}"
    return "0" if text == "-0" else text


def _increasing(name: str, levels: str, detail: str) -> list[Decimal]:
    """Return the edges that a rule lists, or refuse it."""
    edges = [_decimal(part) for part in detail.split(",")]
    known = [edge for edge in edges if edge is not None]
    if len(known) < len(edges) or any(one >= other for one, other in pairwise(known)):
        raise ParameterError(
            f"levels of {name}: {printable(levels, LONGEST)} does not list rising numbers. Use "
            "edges such as edges:18,65."
        )
    return known


def _by_edges(
    values: Values, levels: Sequence[Sequence[Decimal]], *, from_the_data: bool = False
) -> Hierarchy:
    """Return intervals between edges, the outer ones open; each level has edges of the one before.

    An interval holds its lower edge.
    """
    numbers = _numbers(values)
    whole = _are_whole(numbers) and all(edge % 1 == 0 for edges in levels for edge in edges)
    listed, losses = [values.texts], [np.zeros(numbers.size)]
    every = [float(edge) for edges in levels for edge in edges]
    exact = _exact(values, numbers)
    lowest, highest = min([*every, numbers.min()]), max([*every, numbers.max() + whole])
    for edges in levels:
        ends = np.array(edges, dtype=np.float64)
        at = _intervals_of(edges, numbers, exact)
        plain = whole and edges[0] >= 0
        inner = [_interval(one, other, plain=plain) for one, other in pairwise(edges)]
        texts = [f"<{_spelled(edges[0])}", *inner, f">={_spelled(edges[-1])}"]
        listed.append([texts[i] for i in at.tolist()])
        width = np.diff([lowest, *ends, highest])[at] - whole
        losses.append(np.clip(width / max(highest - lowest - whole, 1e-300), 0.0, 1.0))
    return Hierarchy.of(
        listed,
        losses=np.array(losses),
        source=f"levels of {values.name}",
        from_the_data=from_the_data,
    )


def _by_quantiles(values: Values) -> Hierarchy:
    """Return parts of about as many rows each, rounded, joined by twos from level to level."""
    numbers = _numbers(values)
    rows = np.repeat(numbers, values.counts)
    cuts = rounded(np.quantile(rows, np.arange(1, FINEST_PARTS) / FINEST_PARTS), rows)
    if _are_whole(numbers):
        cuts = np.unique(np.ceil(cuts))
    cuts = cuts[(cuts > numbers.min()) & (cuts <= numbers.max())]
    levels = []
    while cuts.size:
        levels.append([Decimal(repr(float(cut))) for cut in cuts])
        cuts = cuts[1::2]
    if not levels:
        return Hierarchy.of([values.texts])
    return _by_edges(values, levels, from_the_data=True)


def _by_prefix(values: Values, levels: str, detail: str) -> Hierarchy:
    """Return the first characters of text, the others ``*``."""
    parts = detail.split(",")
    lengths = [int(part) for part in parts if part.strip().isascii() and part.strip().isdigit()]
    if len(lengths) < len(parts) or any(one <= other for one, other in pairwise([*lengths, 0])):
        raise ParameterError(
            f"levels of {values.name}: {printable(levels, LONGEST)} does not list falling lengths. "
            "Use a prefix such as prefix:4,3,2."
        )
    shortest, longest = min(values.texts, key=len), max(values.texts, key=len)
    if len(shortest) != len(longest) and all(map(str.isdecimal, values.texts)):
        raise DataError(
            f"{values.name}: {shortest} and {longest} have different lengths, so leading zeros "
            f"may be lost. Read the column as text, with {shortest.zfill(len(longest))}, or use "
            f"{mapping('levels', values.name, f'{values.name}.csv')}, a file of levels."
        )
    cut = [
        [text[:length] + ALL * (len(text) - length) for text in values.texts] for length in lengths
    ]
    return Hierarchy.of([values.texts, *cut], source=f"levels of {values.name}")


def _by_dates(values: Values, parts: Sequence[str], date_format: str | None) -> Hierarchy:
    """Return weeks, months, quarters, years or spans of years."""
    days = _days(values, date_format)
    listed, spans = [values.texts], []
    for part in parts:
        years = 10 if part == "decade" else int(part) if part.isdigit() else 0
        if part not in UNITS and years < 2:
            raise ParameterError(
                f"levels of {values.name}: {printable(part, LONGEST)} is not a unit of dates. Use "
                f"{', '.join(UNITS)} or a number of years, from fine to coarse."
            )
        nodes = [_unit(day, part, years) for day in days]
        listed.append([node.text for node in nodes])
        spans.append(nodes)
    low = min(node.first for nodes in spans for node in nodes).toordinal()
    high = max(node.last for nodes in spans for node in nodes).toordinal()
    lengths = [[(node.last - node.first).days for node in nodes] for nodes in spans]
    losses = np.array([[0] * len(days), *lengths]) / max(high - low, 1)
    return Hierarchy.of(listed, losses=losses, source=f"levels of {values.name}")


class _Span(NamedTuple):
    """A unit of dates: its text, its first and its last day."""

    text: str
    first: dt.date
    last: dt.date


def _unit(day: dt.date, unit: str, years: int) -> _Span:
    """Return the week, month, quarter, year or span of years that holds a day."""
    if unit == "week":
        year, week, weekday = day.isocalendar()
        first = day - dt.timedelta(days=weekday - 1)
        return _Span(f"{year}-W{week:02}", first, first + dt.timedelta(days=6))
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit, 12 * years)
    count = (day.year * 12 + day.month - 1) // months
    first = dt.date(max(count * months // 12, 1), count * months % 12 + 1, 1)
    after = (count + 1) * months
    last = dt.date.max
    if after // 12 <= last.year:
        last = dt.date(after // 12, after % 12 + 1, 1) - dt.timedelta(days=1)
    texts = {"month": f"{day:%Y-%m}", "quarter": f"{day:%Y}-Q{count % 4 + 1}", "year": f"{day:%Y}"}
    return _Span(texts.get(unit, f"{first.year}-{first.year + years - 1}"), first, last)


def _days(values: Values, date_format: str | None) -> list[dt.date]:
    """Return the values as dates, or refuse them."""
    if pa.types.is_temporal(values.array.type):
        return [day.as_py() for day in values.array.cast(pa.timestamp("us")).cast(pa.date32())]
    days = [day_of(text, date_format or ISO) for text in values.texts]
    read = [day for day in days if day is not None]
    if len(read) < len(days):
        _refuse_dates(values, [day is not None for day in days], date_format)
    return read


def _refuse_dates(values: Values, are_read: Sequence[bool], date_format: str | None) -> None:
    """Say which value is not a date of this form, and which is one, or which forms all may have."""
    if date_format is None and not any(are_read):
        _refuse_other_spellings(values)
    first: dict[bool, int] = {}
    for i in np.argsort(values.first).tolist():
        first.setdefault(are_read[i], i)
    shown = {
        read: f"{printable(values.texts[i], LONGEST)} (row {values.first[i]})"
        for read, i in first.items()
    }
    form = date_format or "YYYY-MM-DD"
    way = f"Use {mapping('dates', values.name, '%d/%m/%Y')} or its like."
    if date_format is not None:
        way = f"Use the form of the values, such as {mapping('dates', values.name, '%Y-%m-%d')}."
    if len(first) == 1:
        raise DataError(f"column {values.name}: {shown[False]} is not a date written {form}. {way}")
    raise DataError(
        f"column {values.name}: {shown[True]} is a date written {form}, but {shown[False]} is not. "
        f"Use one spelling. {way}"
    )


def _refuse_other_spellings(values: Values) -> None:
    """Say in which forms all values can be read; or name two that no form reads."""
    in_order = np.argsort(values.first).tolist()
    reads = {
        form: [day_of(values.texts[i], form) is not None for i in in_order]
        for form in DATE_FORMS[1:]
    }
    shown = [f"{printable(values.texts[i], LONGEST)} (row {values.first[i]})" for i in in_order]
    fitting = [form for form, are in reads.items() if all(are)]
    if fitting:
        ways = " or ".join(mapping("dates", values.name, form) for form in fitting)
        days = [sorted({str(day_of(values.texts[i], form)) for form in fitting}) for i in in_order]
        at = max(range(len(days)), key=lambda row: len(days[row]))
        raise DataError(
            f"column {values.name}: {shown[at]} is not a date written YYYY-MM-DD, but may be "
            f"{' or '.join(days[at])}. Use {ways}."
        )
    closest = max(reads.values(), key=sum)
    if closest[0]:
        raise DataError(
            f"column {values.name}: {shown[0]} and {shown[closest.index(False)]} are two spellings "
            "of dates. Write all dates in the same way, and use "
            f"{mapping('dates', values.name, '%d/%m/%Y')} or its like."
        )
