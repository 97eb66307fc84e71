"""What clusters of rows publish: the keep rule, the released data, and figures for the owner.

Shared by the methods that put rows of user-item data into clusters: `smooth-k`, `suppress-k` and
`mondrian`.

1. `collapse`: equal rows are collapsed first, so that everything after works on distinct rows.
2. `profiles_of`: how many rows of every cluster have each feature.
3. `Rule`: a cluster publishes the features that at least a share theta of its rows have
   (Esfandiari et al., *Smooth Anonymity for Sparse Graphs*, Definitions 3.4 and 3.5: theta 1 is
   suppression, which adds nothing; theta 1/2 takes the majority).
4. `classes_of`: clusters that publish the same are released as one class.
5. `released` and `draft_of`: the released data, and figures and warnings for the owner.

Costs: O(entries log entries) for each step, by sorting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.facts import EntryChanges
from graphveil.claims.record import OwnersNotes
from graphveil.core import warnings as owner_warnings
from graphveil.core.array_types import Ints
from graphveil.core.errors import ParameterError
from graphveil.core.parameters import MOST_DENOMINATOR
from graphveil.data import Bipartite
from graphveil.data.csr import taken
from graphveil.data.feature_names import column_and_value
from graphveil.release.draft import Draft

Labels: TypeAlias = "NDArray[np.int32]"
"""A cluster for every row, shape (n,), numbered from 0 without gaps."""


POPULAR = 100
"""From how many comparisons per pair of features on data counts as having popular features.

See `CollapsedRows.has_popular_features`: above it, counting shared features for all pairs of rows
costs more than bounding it. How 100 was chosen is not recorded.
"""


class CollapsedRows(NamedTuple):
    """The distinct rows of some data, shorter ones first, and which of them every row equals.

    Distinct row u has the features ``indices[indptr[u]:indptr[u + 1]]``, ascending. `weights`: how
    many rows equal each, int64; `kinds`: the distinct row that each row equals, int32, shape (n,);
    `columns`: the column whose value a feature is, int32, see `columns_of`. None if features are
    not values of columns, or if it is not needed.
    """

    indptr: Ints
    indices: NDArray[np.int32]
    weights: Ints
    kinds: NDArray[np.int32]
    n_features: int
    columns: NDArray[np.int32] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows, equal ones counted each."""
        return self.kinds.size

    @property
    def n_distinct(self) -> int:
        """The number of distinct rows."""
        return self.weights.size

    def degrees(self) -> Ints:
        """Return the number of features of every distinct row, int64."""
        return np.diff(self.indptr)

    @property
    def comparisons(self) -> int:
        """The ordered pairs of distinct rows that share a feature, counted once per shared feature.

        A row and itself are such a pair. Clusters are grown in time that grows with their number.

        >>> collapse(Bipartite.from_lists([[1, 2], [2], [1, 2]])).comparisons
        5
        """
        having = np.bincount(self.indices)
        return int((having * having).sum())

    @property
    def has_popular_features(self) -> bool:
        """Whether a feature of a row leads to 100 rows or more for each feature that the row has.

        A feature of a row leads to ``comparisons / entries`` rows in the mean, and a row has
        ``entries / n_distinct`` features; the ratio is compared with `POPULAR`. Above it, it takes
        less to bound what rows share than to count it.

        >>> collapse(Bipartite.from_lists([[0, i] for i in range(1, 1000)])).has_popular_features
        True
        >>> collapse(Bipartite.from_lists([[i, i + 1] for i in range(999)])).has_popular_features
        False
        """
        return self.comparisons * self.n_distinct >= POPULAR * self.indices.size**2

    def lists_of(self, chosen: NDArray[np.integer]) -> tuple[Ints, NDArray[np.int32]]:
        """Return the features of some distinct rows, in their order, as `indptr` and `indices`."""
        indptr, entries = taken(self.indptr, chosen)
        return indptr, self.indices[entries]

    def by_kind(self) -> Ints:
        """Return all rows so that equal ones are together, in the order of the distinct rows."""
        return np.argsort(self.kinds, kind="stable").astype(np.int64, copy=False)


def collapse(data: Bipartite) -> CollapsedRows:
    """Return the distinct rows with their numbers; rows are compared feature by feature.

    The distinct rows and their order depend on the set of rows alone.
    """
    # Rows of one length form a rectangular table, whose distinct rows are found by sorting.
    sizes = np.diff(data.indptr)
    order = np.argsort(sizes, kind="stable")
    lengths, starts = np.unique(sizes[order], return_index=True)
    kinds = np.empty(sizes.size, dtype=np.int32)
    parts, weights = [], []
    n_distinct = 0
    ends = [*starts[1:].tolist(), order.size]
    for length, start, end in zip(
        lengths.tolist(), starts.tolist(), ends[: lengths.size], strict=True
    ):
        members = order[start:end]
        entries = data.indptr[members][:, None] + np.arange(length)
        distinct, which, counts = _distinct(data.indices[entries])
        kinds[members] = which + n_distinct
        n_distinct += counts.size
        parts.append(distinct)
        weights.append(counts)
    # Put the tables together, shorter rows first.
    degrees = [np.full(part.shape[0], part.shape[1]) for part in parts]
    return CollapsedRows(
        indptr=np.concatenate([[0], np.cumsum(_joined(degrees))]).astype(np.int64),
        indices=_joined([part.ravel() for part in parts]).astype(np.int32),
        weights=_joined(weights).astype(np.int64),
        kinds=kinds,
        n_features=data.n_features,
    )


def columns_of(names: Sequence[object]) -> NDArray[np.int32] | None:
    """Return the column of every feature, int32, if all are named ``column=value``, else None."""
    split = [column_and_value(name) for name in names]
    columns = [named[0] for named in split if named]
    if not names or len(columns) < len(names):
        return None
    return np.unique(columns, return_inverse=True)[1].astype(np.int32)


def _distinct(table: NDArray[np.int32]) -> tuple[NDArray[np.int32], Ints, Ints]:
    """Return the distinct rows in lexicographic order, which of them each is, and how often."""
    # Big-endian bytes compare like the numbers, so that rows sort as strings of bytes.
    n, width = table.shape
    if not width:
        return table[:1], np.zeros(n, dtype=np.int64), np.array([n])
    keys = np.ascontiguousarray(table, dtype=">i4").view(np.dtype((np.void, 4 * width))).ravel()
    _, firsts, which, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    return table[firsts], which, counts


def _joined(parts: list[Ints] | list[NDArray[np.int32]]) -> Ints:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


_FRACTION = re.compile(r"[0-9]{1,9}(/[1-9][0-9]{0,8}|\.[0-9]{1,18})?")


class Theta(Fraction):
    """The share of a class that must have a feature in the original: a fraction in [1/2, 1].

    >>> Theta.parse("2/3"), str(Theta.parse(0.6))
    (Theta(2, 3), '3/5')
    """

    @staticmethod
    def parse(text: object) -> Theta:
        """Return the fraction that a text such as ``1/2`` or ``0.6`` spells, exactly."""
        spelled = str(text)
        if not _FRACTION.fullmatch(spelled):
            raise ParameterError(f"theta={text!r} is not a fraction. Use, for example, 1/2 or 0.9.")
        theta = Theta(spelled)
        if not Fraction(1, 2) <= theta <= 1 or theta.denominator > MOST_DENOMINATOR:
            raise ParameterError(
                f"theta={text!r} is not a fraction in [1/2, 1] with a denominator of at most "
                f"{MOST_DENOMINATOR}. Use, for example, 1/2 or 2/3."
            )
        return theta


class Rule(NamedTuple):
    """Keeps what a share `theta` of rows have; ``ties="drop"``, at 1/2 only, omits exact halves."""

    theta: Fraction = Fraction(1, 2)
    ties: str = "keep"

    def least(self, sizes: Ints) -> Ints:
        """Return how many rows of a cluster of these sizes must have a feature that is kept."""
        if self.ties == "drop":
            return np.asarray(sizes // 2 + 1)
        # theta * size, rounded up, in whole numbers.
        numerator, denominator = self.theta.numerator, self.theta.denominator
        return np.maximum(1, -(-numerator * sizes // denominator))


class Profiles(NamedTuple):
    """Every feature that a cluster's rows have, by cluster, with how many of them have it.

    `clusters, features`: int32, shape (pairs,): sorted by cluster, then feature; each pair once;
    `counts`: int64, shape (pairs,); `sizes`: int64, shape (clusters,): the rows of every cluster.
    """

    clusters: NDArray[np.int32]
    features: NDArray[np.int32]
    counts: Ints
    sizes: Ints

    def kept(self, rule: Rule) -> NDArray[np.bool_]:
        """Return which pairs the rule keeps, bool, shape (pairs,)."""
        return np.asarray(self.counts >= rule.least(self.sizes)[self.clusters])


def profiles_of(rows: CollapsedRows, labels: Labels) -> Profiles:
    """Return how many rows of every cluster have each feature; `labels` are clusters from 0."""
    n_clusters = int(labels.max()) + 1 if labels.size else 0
    n_kinds = max(rows.n_distinct, 1)
    # Pairs of a cluster and a distinct row, and how many copies each has.
    of_row = labels.astype(np.int64) * n_kinds + rows.kinds
    pairs, weights = np.unique(of_row, return_counts=True)
    kinds = pairs % n_kinds
    # Spell every pair out into its features, and add up the copies by cluster and feature.
    degrees = rows.degrees()[kinds]
    _, features = rows.lists_of(kinds)
    width = max(rows.n_features, 1)
    keys = np.repeat(pairs // n_kinds, degrees) * width + features
    order = np.argsort(keys, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    copies = np.repeat(weights, degrees)[order]
    counts = np.add.reduceat(copies, first) if first.size else np.empty(0, dtype=np.int64)
    return Profiles(
        clusters=(distinct // width).astype(np.int32),
        features=(distinct % width).astype(np.int32),
        counts=counts,
        sizes=np.bincount(labels, minlength=n_clusters).astype(np.int64),
    )


def kept(rows: CollapsedRows, labels: Labels, rule: Rule) -> EntryChanges:
    """Return the entries that the release of these clusters keeps, and those that it adds."""
    profiles = profiles_of(rows, labels)
    original = int((rows.weights * rows.degrees()).sum())
    return kept_of(profiles, profiles.kept(rule), original)


def kept_of(profiles: Profiles, published: NDArray[np.bool_], n_entries: int) -> EntryChanges:
    """Return what a release of these pairs keeps of an original with `n_entries` entries."""
    counts, sizes = profiles.counts[published], profiles.sizes[profiles.clusters[published]]
    return EntryChanges(n_entries, int(counts.sum()), int((sizes - counts).sum()))


def classes_of(profiles: Profiles, published: NDArray[np.bool_]) -> Profiles:
    """Return the published features by class: clusters that publish the same form one class."""
    # What clusters publish is data of its own, with one row per cluster: its distinct rows are the
    # classes, and the counts of clusters in one class are added up.
    n, width = profiles.sizes.size, int(profiles.features.max(initial=0)) + 1
    clusters, features = profiles.clusters[published], profiles.features[published]
    starts = np.concatenate([[0], np.cumsum(np.bincount(clusters, minlength=n))])
    classes = collapse(Bipartite(starts, features, width)).kinds
    keys = classes[clusters].astype(np.int64) * width + features
    pairs, which = np.unique(keys, return_inverse=True)
    counts = np.bincount(which, weights=profiles.counts[published], minlength=pairs.size)
    return Profiles(
        clusters=(pairs // width).astype(np.int32),
        features=(pairs % width).astype(np.int32),
        counts=counts.astype(np.int64),
        sizes=np.bincount(classes, weights=profiles.sizes).astype(np.int64),
    )


def only_values(
    profiles: Profiles, published: NDArray[np.bool_], columns: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return which pairs are the only value of their column that a cluster publishes.

    >>> two = Profiles(*(np.array(x) for x in ([0, 0, 1], [4, 5, 4], [1, 1, 2], [2, 2])))
    >>> only_values(two, np.ones(3, dtype=bool), np.zeros(6, dtype=np.int32)).tolist()
    [False, False, True]
    """
    width = int(columns.max(initial=0)) + 1
    cells = profiles.clusters.astype(np.int64) * width + columns[profiles.features]
    values = np.bincount(cells[published], minlength=int(cells.max(initial=0)) + 1)
    return np.asarray(values[cells] == 1)


def released(
    data: Bipartite, profiles: Profiles, published: NDArray[np.bool_], labels: Labels
) -> Bipartite:
    """Return the data in which every row has the features that its cluster publishes."""
    numbers = np.bincount(profiles.clusters[published], minlength=profiles.sizes.size)
    starts = np.concatenate([[0], np.cumsum(numbers)])
    features = profiles.features[published]
    indptr, pairs = taken(starts, labels)
    return Bipartite(indptr, features[pairs], data.n_features, data.users, data.features)


class EntryCounts(NamedTuple):
    """What the advice on a release depends on; `certain`: entries that a whole class truly has."""

    rows: int
    empty: int
    certain: int
    kept: EntryChanges


def advice_on(counts: EntryCounts, *, k: int, adds: bool) -> tuple[str, ...]:
    """Return warnings for the owner, in the order in which they are shown.

    `adds`: whether entries may be published that are not true of an entire class. If none may be,
    each is true of everyone in its class: the method's limits say it, and no warning repeats it.

    >>> advice_on(EntryCounts(10, 1, 4, EntryChanges(10, 8, 0)), k=2, adds=True)
    ()
    >>> counts = EntryCounts(10, 2, 6, EntryChanges(10, 6, 1))
    >>> len(advice_on(counts, k=2, adds=True)), len(advice_on(counts, k=2, adds=False))
    (3, 2)
    """
    kept = counts.kept
    certain = owner_warnings.MANY_CERTAIN.passed_by(counts.certain, kept.kept + kept.added)
    return (
        *owner_warnings.taking_part(k, kept.jaccard),
        *(certain if adds else ()),
        *owner_warnings.LARGE_EMPTY_CLASS.passed_by(counts.empty, counts.rows),
    )


def draft_of(
    data: Bipartite,
    labels: Labels,
    profiles: Profiles,
    published: NDArray[np.bool_],
    k: int,
    *,
    adds: bool,
) -> Draft[Any]:
    """Return what clusters publish, with its cost against the original and advice to the owner.

    `published` (bool, one per pair of `profiles`) says what is published; `adds` as in `advice_on`.
    """
    # In a table, a cluster publishes a column only if a single value of it is kept.
    if data.column_of is not None:
        published = published & only_values(profiles, published, data.column_of)
    kept = kept_of(profiles, published, data.n_entries)
    classes = classes_of(profiles, published)
    sizes = classes.sizes[classes.clusters]
    counts = EntryCounts(
        rows=data.n_users,
        empty=int(np.delete(classes.sizes, classes.clusters).sum()),
        certain=int(sizes[classes.counts == sizes].sum()),
        kept=kept,
    )
    return Draft(
        data=released(data, profiles, published, labels),
        notes=OwnersNotes(
            cost={"clusters": profiles.sizes.size, "classes": classes.sizes.size},
            warnings=advice_on(counts, k=k, adds=adds),
        ),
    )
