"""The keep rule: which features a cluster publishes, and what that keeps of the data."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import MOST_DENOMINATOR
from graphveil.data import Bipartite
from graphveil.errors import ParameterError
from graphveil.methods.equivalence_classes.rows import CollapsedRows, Labels, collapse

_FRACTION = re.compile(r"[0-9]{1,9}(/[1-9][0-9]{0,8}|\.[0-9]{1,18})?")


class Theta(Fraction):
    """The share of a class that must have a feature in the original: a fraction in [1/2, 1].

    Examples
    --------
    >>> Theta.parse("2/3"), str(Theta.parse(0.6))
    (Theta(2, 3), '3/5')
    """

    @staticmethod
    def parse(text: object) -> Theta:
        """Return the fraction that a text such as ``1/2`` or ``0.6`` spells, exactly.

        Raises
        ------
        ParameterError
            Where it spells none, or one outside [1/2, 1].
        """
        spelled = str(text)
        if not _FRACTION.fullmatch(spelled):
            raise ParameterError(f"theta={text!r} is no fraction. Give one such as 1/2 or 0.9.")
        theta = Theta(spelled)
        if not Fraction(1, 2) <= theta <= 1 or theta.denominator > MOST_DENOMINATOR:
            raise ParameterError(
                f"theta={text!r} is no fraction in [1/2, 1] with a denominator of at most "
                f"{MOST_DENOMINATOR}. Give one such as 1/2 or 2/3."
            )
        return theta


class Rule(NamedTuple):
    """Which features a cluster keeps: those that at least a share of its rows have.

    Parameters
    ----------
    theta
        The share, in [1/2, 1].
    ties
        Whether a feature of exactly half of the rows is kept; ``"drop"`` with theta 1/2 only.
    """

    theta: Fraction = Fraction(1, 2)
    ties: str = "keep"

    def least(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many rows of a cluster of these sizes must have a feature that is kept.

        Examples
        --------
        >>> Rule().least(np.array([1, 4, 5])).tolist()
        [1, 2, 3]
        >>> Rule(ties="drop").least(np.array([4, 5])).tolist()
        [3, 3]
        """
        if self.ties == "drop":
            return np.asarray(sizes // 2 + 1)
        numerator, denominator = self.theta.numerator, self.theta.denominator
        return np.maximum(1, -(-numerator * sizes // denominator))


class Profiles(NamedTuple):
    """Every feature that a cluster's rows have, by cluster, with how many of them have it.

    Parameters
    ----------
    clusters, features
        int32, shape (pairs,): sorted by cluster, then feature; each pair once.
    counts
        int64, shape (pairs,).
    sizes
        int64, shape (clusters,): the rows of every cluster.
    """

    clusters: NDArray[np.int32]
    features: NDArray[np.int32]
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def kept(self, rule: Rule) -> NDArray[np.bool_]:
        """Return which pairs the rule keeps."""
        return np.asarray(self.counts >= rule.least(self.sizes)[self.clusters])


class Kept(NamedTuple):
    """What a release shares with the original.

    Parameters
    ----------
    original
        The entries of the original.
    shared
        The entries of both.
    created
        The entries of the release that the original lacks.
    """

    original: int
    shared: int
    created: int

    @property
    def jaccard(self) -> float:
        """The entries of both over the entries of either; 1 where there are none."""
        either = self.original + self.created
        return self.shared / either if either else 1.0

    @property
    def suppressed_share(self) -> float:
        """The entries that are lost, over those of the original."""
        return (self.original - self.shared) / self.original if self.original else 0.0

    @property
    def created_share(self) -> float:
        """The entries that are new, over those of the original."""
        return self.created / self.original if self.original else 0.0


def cost_of(kept: Kept, *, clusters: int, classes: int) -> dict[str, float | int]:
    """Return what a release cost, for its private record.

    Parameters
    ----------
    kept
        What it shares with the original.
    clusters, classes
        How many clusters were formed, and how many classes they are released as.
    """
    return {
        "entries_before": kept.original,
        "entries_kept": kept.shared,
        "entries_suppressed": kept.original - kept.shared,
        "entries_created": kept.created,
        "jaccard": kept.jaccard,
        "suppressed_share": kept.suppressed_share,
        "created_share": kept.created_share,
        "clusters": clusters,
        "classes": classes,
    }


def profiles_of(rows: CollapsedRows, labels: Labels) -> Profiles:
    """Return how many rows of every cluster have each feature.

    Parameters
    ----------
    rows
        The data.
    labels
        The cluster of every row.
    """
    n_clusters = int(labels.max()) + 1 if labels.size else 0
    pairs, weights = _cluster_kinds(rows, labels)
    kinds = pairs % max(rows.n_distinct, 1)
    degrees = rows.degrees()[kinds]
    starts = np.repeat(rows.indptr[kinds] - (np.cumsum(degrees) - degrees), degrees)
    features = rows.indices[starts + np.arange(starts.size)]
    width = max(rows.n_features, 1)
    keys = np.repeat(pairs // max(rows.n_distinct, 1), degrees) * width + features
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


def kept(rows: CollapsedRows, labels: Labels, rule: Rule) -> Kept:
    """Return what the release of these clusters keeps of the original.

    Examples
    --------
    >>> rows = collapse(Bipartite.from_lists([[0, 1], [0]]))
    >>> kept(rows, np.zeros(2, dtype=np.int32), Rule())
    Kept(original=3, shared=3, created=1)
    """
    profiles = profiles_of(rows, labels)
    original = int((rows.weights * rows.degrees()).sum())
    return kept_of(profiles, profiles.kept(rule), original)


def kept_of(profiles: Profiles, published: NDArray[np.bool_], n_entries: int) -> Kept:
    """Return what a release of these pairs keeps of an original with so many entries."""
    counts, sizes = profiles.counts[published], profiles.sizes[profiles.clusters[published]]
    return Kept(n_entries, int(counts.sum()), int((sizes - counts).sum()))


def classes_of(profiles: Profiles, published: NDArray[np.bool_]) -> Profiles:
    """Return the published features by class: clusters that publish the same form one class.

    Parameters
    ----------
    profiles
        The features of every cluster.
    published
        Which of them are published, shape (pairs,).

    Examples
    --------
    >>> two = Profiles(*(np.array(x) for x in ([0, 1], [5, 5], [2, 1], [2, 2])))
    >>> classes_of(two, np.array([True, True]))[2:]
    (array([3]), array([4]))
    """
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


def released(
    data: Bipartite, profiles: Profiles, published: NDArray[np.bool_], labels: Labels
) -> Bipartite:
    """Return the data in which every row has the features that its cluster publishes.

    Parameters
    ----------
    data
        The original: users and names of features.
    profiles
        The features of every cluster.
    published
        Which of them are published, shape (pairs,).
    labels
        The cluster of every row.
    """
    numbers = np.bincount(profiles.clusters[published], minlength=profiles.sizes.size)
    starts = np.concatenate([[0], np.cumsum(numbers)])
    features = profiles.features[published]
    degrees = numbers[labels]
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    pairs = np.repeat(starts[labels] - indptr[:-1], degrees) + np.arange(indptr[-1])
    return Bipartite(indptr, features[pairs], data.n_features, data.users, data.features)


def _cluster_kinds(
    rows: CollapsedRows, labels: Labels
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every (cluster, distinct row) that occurs, as one number, and how often."""
    keys = labels.astype(np.int64) * max(rows.n_distinct, 1) + rows.kinds
    return np.unique(keys, return_counts=True)
