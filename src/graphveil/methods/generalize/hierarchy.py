"""The hierarchy of a column: nested levels of nodes, given as texts or read from a csv file.

Level 0 has the values themselves, the leaves; the last level has one node, ``*``, above them all.
Levels nest: two leaves with one node at a level have one node at every level above it. A class of
rows publishes in each column the lowest node that is above all of its values, so a published cell
is always true of its row.

The loss of a node is (leaves below it - 1) / (leaves of the column - 1), from 0 for a value to 1
for ``*``, as Iyengar defines it for categories (*Transforming data to satisfy privacy constraints*,
KDD 2002). Leaves are those that the hierarchy lists, not those that the data has. For numbers and
dates, `graphveil.methods.generalize.levels` gives losses by the widths of intervals instead.

Cost: O(L m) for L levels over m leaves, and sorting.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import InputError
from graphveil.core.text import printable
from graphveil.methods.generalize import labels

ALL = "*"
"""The text of the node above all leaves, and of a missing value."""

LONGEST = 40
"""The most characters of a value that a message shows: a cell can be a whole page."""

Where = Callable[[int], str]
"""Returns where a leaf is listed, such as ``line 4``, by its position; for messages."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels of a column, from the values up to one node above them all.

    Parameters
    ----------
    nodes
        int32, shape (L + 1, m): the node of each of m leaves at every level. Two leaves that agree
        at a level agree at all above it; all agree at the last.
    losses
        float64, shape (L + 1, m): the loss of a leaf that is published at a level, from 0 to 1,
        rising with the level.
    texts
        For every level the texts of its nodes.
    from_the_data
        Whether nodes, and not only leaves, were computed from the values of the data.

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

        Parameters
        ----------
        levels
            For every level the text of the node of every leaf. The first lists the leaves, each
            once.
        losses
            float64, shape (levels, leaves): the loss of a leaf at each level. Default: the share of
            the other leaves that are below its node.
        where
            Returns where a leaf is listed, for messages.
        source
            What lists the levels, for messages.
        from_the_data
            As the attribute.

        Returns
        -------
        Hierarchy
            Its last level is ``*``, which is added unless it is the last level already.

        Raises
        ------
        InputError
            If levels do not nest, or nodes with different leaves have one text.

        Examples
        --------
        >>> sizes = Hierarchy.of([["S", "M", "XL"], ["small", "small", "large"]])
        >>> sizes.texts[1], sizes.losses[1].tolist()
        (('small', 'large'), [0.5, 0.5, 0.0])
        """
        where = where or (lambda leaf: f"at {printable(levels[0][leaf], LONGEST)}")
        # Number the nodes of each level by their first leaf, with ``*`` as the last level.
        above = levels if set(levels[-1]) == {ALL} else [*levels, [ALL] * len(levels[0])]
        nodes = np.empty((len(above), len(levels[0])), dtype=np.int32)
        texts = []
        for level, listed in enumerate(above):
            numbers: dict[str, int] = {}
            nodes[level] = [numbers.setdefault(text, len(numbers)) for text in listed]
            texts.append(tuple(numbers))
        _check_nested(nodes, texts, where, source)
        _check_texts(nodes, texts, where, source)
        # A node's loss is never below that of a node under it, and ``*`` loses everything.
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

        A missing value agrees with others only at the last level, and is lost at every level.

        Returns
        -------
        Hierarchy
            The new leaf is the last one.

        Examples
        --------
        >>> sexes = Hierarchy.of([["f", "m"]]).with_missing()
        >>> sexes.nodes.tolist(), sexes.texts, sexes.losses[0].tolist()
        ([[0, 1, 2], [0, 0, 0]], (('f', 'm', '*'), ('*',)), [0.0, 0.0, 1.0])
        """
        # A node of its own at every level but the last, where all leaves are one.
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
        """Return for every level below the last the rank of each leaf's node below its parent.

        The ranks, from the highest level down, sort leaves by their nodes from coarse to fine.

        Returns
        -------
        list of uint64 arrays
            Shape (m,) each, for levels 0 to L - 1.

        Examples
        --------
        >>> jobs = Hierarchy.of([["nurse", "clerk", "cook"], ["Care", "Office", "Care"]])
        >>> [level.tolist() for level in jobs.ranks()]
        [[0, 0, 1], [0, 1, 0]]
        """
        ranks = []
        for below, above in zip(self.nodes[:-1], self.nodes[1:], strict=True):
            # Sort the nodes by parent; the rank is the distance to the first of the same parent.
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
        """Return the texts of all nodes by first leaf, then by number of leaves; ``*`` is last.

        Returns
        -------
        list of str
            Each text once. The order of published categories follows it.

        Examples
        --------
        >>> Hierarchy.of([["clerk", "nurse", "cook"], ["Office", "Care", "Care"]]).in_order()
        ['clerk', 'Office', 'nurse', 'Care', 'cook', '*']
        """
        # A text at several levels is one node: the first level at which it occurs gives its key.
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
    """Refuse a node that is under two different nodes."""
    for level in range(len(nodes) - 1):
        below, above = nodes[level], nodes[level + 1]
        # Every leaf must have the parent of the first leaf of its node.
        _, first = np.unique(below, return_index=True)
        differs = np.flatnonzero(above != above[first][below])
        if differs.size:
            later = int(differs[0])
            earlier = int(first[below[later]])
            node, parent, second = (
                printable(text, LONGEST)
                for text in (
                    texts[level][below[later]],
                    texts[level + 1][above[earlier]],
                    texts[level + 1][above[later]],
                )
            )
            raise InputError(
                f"{source}: {node} is under {parent} ({where(earlier)}) and under {second} "
                f"({where(later)}). Put it under one of them, or rename one."
            )


def _check_texts(
    nodes: NDArray[np.int32], texts: Sequence[Sequence[str]], where: Where, source: str
) -> None:
    """Refuse two nodes of one text with different leaves: a cell could mean either."""
    # Since levels nest, a node is known by its first leaf and its number of leaves.
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
    """A hierarchy from a file, and the leaf of every value that it lists.

    Parameters
    ----------
    hierarchy
        The levels of all values of the file.
    leaves
        For every value its leaf: a column of `Hierarchy.nodes`.
    """

    hierarchy: Hierarchy
    leaves: Mapping[str, int]


def read_levels(
    path: str | Path, *, column: str = "", values: Collection[str] = ()
) -> ListedLevels:
    r"""Return the hierarchy of a csv file with one line for each value, from the value to the root.

    Parameters
    ----------
    path
        The file, with ``;`` or ``,`` between levels, in UTF-8, without a header: as ARX writes it.
    column, values
        The column that the levels are for, and its values. A first line whose value is not among
        these is a header if it names the column, or has a root of its own.

    Returns
    -------
    ListedLevels
        The hierarchy, and the leaf of every value.

    Raises
    ------
    InputError
        If the file cannot be read, lines differ in their number of levels, a value is listed twice
        with different nodes, levels do not nest, a cell is empty, two nodes with different values
        have one text, a label reads as an interval, a prefix or a date that does not include what
        is below it, or the first line may be a header.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "job.csv")
    >>> _ = path.write_text("nurse;Care;*\nclerk;Office;*\ncook;Care;*\n")
    >>> read_levels(path).hierarchy.texts[1]
    ('Care', 'Office')
    """
    # `listed`: the nodes above each value; `lines`: the line on which each was first listed.
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
    _refuse_header(path, lines[0], list(listed.values()), column, values)
    _check_labels(path, lines, list(listed.values()))
    hierarchy = Hierarchy.of(
        list(zip(*listed.values(), strict=True)),
        where=lambda leaf: f"line {lines[leaf]}",
        source=path.name,
    )
    return ListedLevels(hierarchy, {value: leaf for leaf, value in enumerate(listed)})


def _lines_of(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines of a csv file that are not empty, each with its number."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the levels {printable(path)} cannot be read: {printable(error)}. Use a csv file in "
            "UTF-8."
        ) from error
    # The first line decides between the two delimiters.
    delimiter = ";" if ";" in text.partition("\n")[0] else ","
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    return [(reader.line_num, cells) for cells in reader if cells]


def _refuse_header(
    path: Path, line: int, listed: Sequence[Sequence[str]], column: str, values: Collection[str]
) -> None:
    """Refuse a first line that may hold names of levels instead of a value."""
    first, *others = listed
    if first[0] in values or not others:
        return
    roots = {cells[-1] for cells in others}
    named = first[0].strip().casefold() == column.strip().casefold()
    if named or (len(roots) == 1 and first[-1] not in roots and values):
        cells = printable(",".join(first), LONGEST)
        raise InputError(
            f"{path.name} line {line} ({cells}) may be a header: {printable(first[0], LONGEST)} is "
            "not a value of the column. Remove the line; a file of levels has no header."
        )


def _check_labels(path: Path, lines: Sequence[int], listed: Sequence[Sequence[str]]) -> None:
    """Refuse a label that reads as an interval, a prefix or a date without what is below it."""
    seen: set[tuple[str, str]] = set()
    for line, cells in zip(lines, listed, strict=True):
        for below, node in pairwise(cells):
            if node == ALL or (below, node) in seen:
                continue
            seen.add((below, node))
            if labels.includes(node, below) is False:
                shown, lower = printable(node, LONGEST), printable(below, LONGEST)
                raise InputError(
                    f"{path.name} line {line}: {shown} does not include {lower}, which is under "
                    f"it. Put {lower} under a level that includes it, or, if {shown} is not a "
                    "range of these values, name it in words."
                )


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
    node, second = next(
        pair for pair in zip(listed[value], cells, strict=True) if pair[0] != pair[1]
    )
    raise InputError(
        f"{path.name}: {printable(value, LONGEST)} is on line {lines[0]} under "
        f"{printable(node, LONGEST)} and on line {lines[1]} under {printable(second, LONGEST)}. "
        "Remove one."
    )
