"""What the cells of a released table admit, and how likely a person is in each class by them.

A published value excludes people who have another one; an interval, a prefix or a set admits the
values that it contains, as the levels in the release say; ``*`` admits everything. If a person has
the value v, a class that publishes x has them by a likelihood ratio of

    (1 - e) / q(x) if x admits v,  e / (1 - q(x)) if not,  1 for *

with q(x) the share of people whose value x admits, and e the share of published cells that are
false. So among the classes that admit a person, the least probable combination of published values
is the likeliest. In addition, a method publishes as much as it can: each cell counts for `NARROW`
times the share of the values of its column that it excludes.

All is read from the release: shares are those of a self-consistent estimate in which every cell is
spread over the values that it admits (Turnbull, *The empirical distribution function with
arbitrarily grouped, censored and truncated data*, 1976). The attacker is assumed to know which
values a column can have. The combination of columns is graphveil's own. Cost: classes times targets
times columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphveil.core.array_types import Floats, Ints
from graphveil.data.codes import SUPPRESSED
from graphveil.data.ids import as_text
from graphveil.evaluate.comparison import (
    BipartiteComparison,
    Bools,
    Int32s,
    TableComparison,
    sparse,
)
from graphveil.measures.rows import equal_rows
from graphveil.release import Release
from graphveil.verify.recount.rows.inclusion import ALL, ISO, day_of, days_of, holding
from graphveil.verify.recount.rows.owners_labels import label_includes

MISSING, UNKNOWN = SUPPRESSED, -2
"""In place of the code of a value: the person is known to have none; nothing is known."""

NARROW = 1.0
"""What a cell adds to the score that excludes all other values of its column. Of 0, 0.5, 1, 2 and
4, tried on adult-sample and on adult: from 1 on it finds one to four classes more of a hundred
after methods that search, and after `mondrian`, which cuts columns in a fixed order, 0 finds two
more than 1."""

FALSE_CELLS, LEAST_FALSE = 0.05, 1e-6
"""The share of published cells that the attacker takes for false: where a release guarantees that
cells are true of only a share of their class, and elsewhere, where a false cell nearly excludes a
class."""

ROUNDS, SETTLED = 100, 1e-6
"""The estimate of the shares ends after this many rounds, or if no share changes by more."""


class PublishedColumn(NamedTuple):
    """What the classes publish in a column, and which values each of these texts admits.

    Parameters
    ----------
    shown : int64, shape (classes,)
        Which text each class publishes.
    value : int32, shape (texts,)
        The value that a text is; `SUPPRESSED` for texts that may admit several.
    admits : bool, shape (texts that are no value, values)
        Which values each of these admits, in their order.
    share : float64, shape (texts,)
        How many people have a value that the text admits, as a share.
    narrow : float64, shape (texts,)
        Which share of the other values it excludes, from 0 to 1.
    false_cells : float
        The share of published cells that are taken for false.
    """

    shown: Ints
    value: Int32s
    admits: Bools
    share: Floats
    narrow: Floats
    false_cells: float

    def evidence(self, known: Int32s, false_share: float) -> Floats:
        """Return what a known value adds to the score of every class.

        Parameters
        ----------
        known : int32, shape (targets,)
            The value of each target, `MISSING` or `UNKNOWN`.
        false_share : float
            The share of what is known that is false.

        Returns
        -------
        float64, shape (targets, classes)
            Logarithms of likelihood ratios; 0 where nothing is known.
        """
        values, of_target = np.unique(known, return_inverse=True)
        # Which texts admit each value: equal values, and what texts contain.
        fits = values[:, None] == self.value
        inside = np.maximum(values, 0)
        several = self.value == SUPPRESSED
        fits[:, several] = self.admits[:, inside].T & (values[:, None] >= 0)
        everything = self.share >= 1
        fits[:, everything] = True
        # Likelihood ratios; what is known may itself be false, whatever the class.
        ratios = np.where(
            fits,
            np.where(everything, 1.0, 1 - self.false_cells) / self.share,
            self.false_cells / np.maximum(1 - self.share, self.false_cells),
        )
        logs = np.log((1 - false_share) * ratios + false_share) + NARROW * self.narrow * fits
        logs[values == UNKNOWN] = 0.0
        return np.asarray(logs[of_target][:, self.shown])


class CellsOfClasses(NamedTuple):
    """What the classes of a released table publish, and which feature is which value.

    Parameters
    ----------
    columns : tuple of PublishedColumn
        One for each released column.
    column, value : int32, shape (features,)
        The released column and the value of every feature of the original; -1 for others.
    """

    columns: tuple[PublishedColumn, ...]
    column: Int32s
    value: Int32s

    def known(self, items: sparse.csr_array) -> Int32s:
        """Return the known features of every target as values, `UNKNOWN` where nothing is known.

        int32, shape (targets, columns).
        """
        known = np.full((items.shape[0], len(self.columns)), UNKNOWN, dtype=np.int32)
        target = np.repeat(np.arange(items.shape[0]), np.diff(items.indptr))
        column = self.column[items.indices]
        # False items may be further values of a column: the last one is taken.
        inside = column >= 0
        known[target[inside], column[inside]] = self.value[items.indices[inside]]
        return known

    def evidence(self, known: Int32s, false_share: float) -> Floats:
        """Return what is added to the score of every class by all that is known of each target.

        float64, shape (targets, classes).
        """
        total = self.columns[0].evidence(known[:, 0], false_share)
        for column, values in zip(self.columns[1:], known.T[1:], strict=True):
            total += column.evidence(values, false_share)
        return total


def cells_of_classes(
    tables: TableComparison, features: BipartiteComparison, release: Release[Any], *, all_true: bool
) -> CellsOfClasses:
    """Return what the classes of a release publish, column by column.

    Parameters
    ----------
    tables : TableComparison
        The release, and the original for the values that its columns can have.
    features : BipartiteComparison
        The same as one-hot features.
    release : Release
        What the release says of its levels.
    all_true : bool
        Whether published cells are true of all members of their class.

    Returns
    -------
    CellsOfClasses
        One column for each released one; classes are numbered as `equal_rows` does.
    """
    _, first, sizes = np.unique(equal_rows(tables.released), return_index=True, return_counts=True)
    false_cells = LEAST_FALSE if all_true else FALSE_CELLS
    columns = []
    for at, place in enumerate(tables.released_columns):
        values = as_text(tables.original.categories[place]).tolist()
        own = as_text(tables.released.categories[at]).tolist()
        codes, shown = np.unique(tables.released.codes[first, at], return_inverse=True)
        texts = [ALL if code == SUPPRESSED else own[code] for code in codes.tolist()]
        includes = _inclusion(tables.released.columns[at], release)
        columns.append(_column(texts, shown, sizes, values, includes, false_cells))
    # Features are numbered by column and value; those of the release alone are no known values.
    sizes_of = [values.size for values in tables.original.categories]
    column = np.full(features.before.shape[1], -1, dtype=np.int32)
    value = column.copy()
    released = np.full(len(sizes_of), -1, dtype=np.int32)
    released[tables.released_columns] = np.arange(len(columns))
    column[features.numbers_before] = np.repeat(released, sizes_of)
    value[features.numbers_before] = np.concatenate([np.arange(size) for size in sizes_of])
    return CellsOfClasses(tuple(columns), column, value)


Includes = Callable[[str, str], bool]
"""Whether the text of a node may contain a value."""


def _column(
    texts: list[str],
    shown: Ints,
    sizes: Ints,
    values: list[str],
    includes: Includes | None,
    false_cells: float,
) -> PublishedColumn:
    """Return a column from the texts of its classes and the values that it can have."""
    numbers = {value: number for number, value in enumerate(values)}
    value = np.array([numbers.get(text, SUPPRESSED) for text in texts], dtype=np.int32)
    value[[text == ALL or _is_above(includes, text) for text in texts]] = SUPPRESSED
    admits = np.zeros((int(np.count_nonzero(value == SUPPRESSED)), len(values)), dtype=np.bool_)
    for row, place in enumerate(np.nonzero(value == SUPPRESSED)[0].tolist()):
        text = texts[place]
        if text == ALL:
            admits[row] = True
        elif includes is not None:
            admits[row] = [text == one or includes(text, one) for one in values]
    weights = np.bincount(shown, weights=sizes, minlength=len(texts))
    star = np.array([text == ALL for text in texts])
    share = np.where(star, 1.0, shares_of(value, admits, np.where(star, 0.0, weights)))
    # Half a person at least: no published value is impossible.
    least = 0.5 / max(int(sizes.sum()), 1)
    share[~star] = np.clip(share[~star], least, 1 - least)
    number = np.ones(len(texts))
    number[value == SUPPRESSED] = admits.sum(axis=1)
    narrow = (len(values) - number) / max(len(values) - 1, 1)
    return PublishedColumn(
        shown.astype(np.int64), value, admits, share, np.clip(narrow, 0.0, 1.0), false_cells
    )


def _is_above(includes: Includes | None, text: str) -> bool:
    """Return whether a text is a node with values below it, although a value has the same text."""
    return text in getattr(includes, "above", ())


def shares_of(value: Int32s, admits: Bools, weights: Floats) -> Floats:
    """Return the share of people whose value each text admits, by the texts alone.

    Parameters
    ----------
    value : int32, shape (texts,)
        The value that a text is, or `SUPPRESSED`.
    admits : bool, shape (texts that are no value, values)
        Which values each of these admits, in their order.
    weights : float64, shape (texts,)
        How many rows publish each text; 0 for those that say nothing.

    Returns
    -------
    float64, shape (texts,)
        The shares.

    Examples
    --------
    Two rows publish 20, one 21, and three either of them, which are spread in this proportion.

    >>> either = np.array([[True, True]])
    >>> shares_of(np.array([0, 1, -1]), either, np.array([2.0, 1.0, 3.0])).round(3).tolist()
    [0.667, 0.333, 1.0]
    """
    single, several = np.nonzero(value >= 0)[0], np.nonzero(value < 0)[0]
    exactly = np.bincount(value[single], weights[single], minlength=admits.shape[1])
    below, of_several = admits.astype(np.float64), weights[several]
    share = np.full(admits.shape[1], 1 / max(admits.shape[1], 1))
    total = exactly.sum() + of_several.sum()
    for _ in range(ROUNDS if total > 0 else 0):
        # Every cell is spread over the values that it admits, in proportion to their shares.
        mass = np.maximum(below @ share, np.finfo(float).tiny)
        updated = (exactly + share * (below.T @ (of_several / mass))) / total
        change = float(np.abs(updated - share).max(initial=0.0))
        share = updated
        if change < SETTLED:
            break
    result = np.empty(value.size)
    result[single], result[several] = share[value[single]], below @ share
    return result


def _inclusion(column: str, release: Release[Any]) -> Includes | None:
    """Return whether a text of a column may contain a value, by what the release says of levels.

    None if a cell is a value or suppressed. A file has the owner's own words: where neither the
    published nodes nor the texts say whether a value is below a node, it may be.
    """
    described = () if release.generalized is None else release.generalized.columns
    kind = next((one.levels for one in described if one.name == column), None)
    if kind is None or kind == "stars":
        return None
    if kind == "dates":
        spans = holding("dates")
        return lambda node, value: (
            (day_of(value, ISO) is None and days_of(value) is None)
            or (spans is not None and spans(node, value))
        )
    if kind != "file":
        return holding(kind)
    return _FileOfLevels(column, release)


class _FileOfLevels:
    """Whether a node of a file of levels may contain a value, by the nodes that are published."""

    def __init__(self, column: str, release: Release[Any]) -> None:
        nodes = release.generalized.nodes if release.generalized is not None else ()
        own = [one for one in nodes if one.column == column]
        self.above = {one.node for one in own if one.level > 0}
        self._parent = {(one.level > 0, one.node): one.parent for one in own}

    def __call__(self, node: str, value: str) -> bool:
        """Return whether the node may contain the value."""
        if (False, value) not in self._parent:
            return label_includes(node, value) is not False
        # The chain of a published value: its parent, and the parents of nodes above it.
        chain, now = {value}, self._parent[False, value]
        while now not in chain:
            chain.add(now)
            now = self._parent.get((True, now), ALL)
        return node in chain
