"""The algorithm that the paper's theorem is about, for study, on at most 300 rows.

Source: Esfandiari, Epasto, Mirrokni & Munoz Medina, Smooth Anonymity for Sparse Graphs, section
5.3 (Alg2). It is not a method of the registry: what it keeps is far below `SmoothK`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import optimize, sparse

from graphveil.core.errors import InfeasibleError, ParameterError, UsageError
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes import rule as rules

Ints = NDArray[np.int64]

ALPHA = Fraction(1, 250)
"""The value of the theorem's proof."""

MOST_ROWS = 300
"""So that facility location is solved exactly in reasonable time."""

Part = NDArray[np.int64]
"""Rows that were one cluster before merging, or a piece of one."""


def alg2(
    data: Bipartite, *, k: int, alpha: Fraction | float = ALPHA, rng: Generator
) -> tuple[Bipartite, rules.Labels]:
    """Return data in which every row equals at least k-1 others, and the cluster of every row.

    A cluster holds the features that at least half of its rows have. Users keep their ids and
    their order: this is not yet anything to publish.

    Parameters
    ----------
    data
        At least k rows and at most 300.
    k, alpha, rng
        As in `alg2_clusters`.

    Raises
    ------
    ParameterError, InfeasibleError, UsageError
        As in `alg2_clusters`.

    Examples
    --------
    >>> data = Bipartite.from_lists([["rye", "tea"], ["ale"], ["rye", "tea"], ["ale"]])
    >>> out, labels = alg2(data, k=2, rng=np.random.Generator(np.random.PCG64(1)))
    >>> out.to_lists()["items"].to_pylist()
    [['rye', 'tea'], ['ale'], ['rye', 'tea'], ['ale']]
    """
    rows = rules.collapse(data)
    labels = alg2_clusters(rows, k=k, alpha=alpha, rng=rng)
    profiles = rules.profiles_of(rows, labels)
    return rules.released(data, profiles, profiles.kept(rules.Rule()), labels), labels


def alg2_clusters(
    rows: rules.CollapsedRows, *, k: int, alpha: Fraction | float = ALPHA, rng: Generator
) -> rules.Labels:
    """Return clusters of at least k rows each: facility location, then merging of small ones.

    Parameters
    ----------
    rows
        The data: at least k rows and at most 300.
    k
        The fewest rows of a cluster, at least 2.
    alpha
        Between 0 and 1. What facilities cost grows with it, and ``alpha * k`` is the fewest rows
        that a cluster may have before merging, and a piece of a broken one. A float counts as the
        decimal that it prints as.
    rng
        The randomness of what the paper leaves arbitrary: which clusters are closed and merged
        first, and how large ones are broken.

    Raises
    ------
    ParameterError
        Where k or alpha is out of range.
    InfeasibleError
        Where there are fewer than k rows.
    UsageError
        Where there are more than 300.

    Notes
    -----
    Theorem 5.5: where the best smooth k-anonymous data has a Jaccard coefficient J of at least .75,
    with ``alpha = 0.004``, the majority of these clusters keeps a constant share of it. The
    constant of the proof is at most ``alpha**2 / 8``, 2e-6: it is not a statement of quality. The
    theorem is about this function alone, not about what `SmoothK` runs.

    A cluster of more than 2k rows is one facility's, or what is left of it. Where ``alpha * k`` is
    above 1 there is an exception: with k = 10 and alpha = 1/2 clusters of 9 and 12 rows cannot be
    merged or broken as the paper says, and become one of 21. There is always a cluster to merge
    with, and such a one stays below 3k.

    Examples
    --------
    >>> rows = rules.collapse(Bipartite.from_lists([["tea"], ["rye"], ["tea"], ["rye"]]))
    >>> labels = alg2_clusters(rows, k=2, rng=np.random.Generator(np.random.PCG64(1)))
    >>> bool(labels[0] == labels[2] != labels[1] == labels[3])
    True
    """
    share = _checked(rows, k, alpha)
    least = math.ceil(share * k)
    distances = hamming_distances(rows)
    costs = opening_costs(distances[:, rows.kinds], k=k, alpha=share)
    opened = cheapest_facilities(distances, rows.weights, costs)
    facility = close_below(distances, rows.weights, opened, least=least, rng=rng)
    _, labels = np.unique(facility[rows.kinds], return_inverse=True)
    return merge_small(labels.astype(np.int32), k=k, least=least, rng=rng)


def _checked(rows: rules.CollapsedRows, k: int, alpha: Fraction | float) -> Fraction:
    """Return alpha as a fraction, where the algorithm can run."""
    try:
        share = Fraction(str(alpha))
    except ValueError:
        share = Fraction(0)
    if not 0 < share < 1:
        raise ParameterError(f"alpha={alpha} is not between 0 and 1. Use, for example, 0.004.")
    if k < 2:
        raise ParameterError(f"k={k} is below 2, so no row would equal another. Raise k.")
    if rows.n_rows < k:
        raise InfeasibleError(
            f"k={k} needs at least {k} rows; the data has {rows.n_rows}. Lower k."
        )
    if rows.n_rows > MOST_ROWS:
        raise UsageError(
            f"facility location is solved exactly for at most {MOST_ROWS} rows; the data has "
            f"{rows.n_rows}. Use smooth-k."
        )
    return share


def hamming_distances(rows: rules.CollapsedRows) -> Ints:
    """Return in how many features each two distinct rows differ, shape (distinct, distinct)."""
    ones = np.ones(rows.indices.size, dtype=np.int64)
    shape = (rows.n_distinct, rows.n_features)
    table = sparse.csr_array((ones, rows.indices, rows.indptr), shape=shape)
    shared = (table @ table.T).toarray()
    degrees = rows.degrees()
    return np.asarray(degrees[:, None] + degrees[None, :] - 2 * shared, dtype=np.int64)


def opening_costs(to_rows: Ints, *, k: int, alpha: Fraction = ALPHA) -> NDArray[np.float64]:
    """Return ``2 * alpha / (1 - alpha)`` times every site's distances to the k nearest rows."""
    sums = np.sort(to_rows, axis=1)[:, :k].sum(axis=1)
    return np.asarray(float(2 * alpha / (1 - alpha)) * sums)


def cheapest_facilities(distances: Ints, weights: Ints, costs: NDArray[np.float64]) -> Ints:
    """Return the sites whose costs and distances to all clients are least together, ascending.

    A mixed-integer program, solved to optimality by HiGHS up to its tolerance of 1e-6. Of several
    optima it is the solver's choice. A site whose clients together are farther from another than
    opening itself costs is never served by it, so that such pairs are omitted.
    """
    n = weights.size
    service = weights[:, None] * distances
    client, site = np.nonzero(service <= costs[:, None])
    pairs = np.arange(client.size)
    ones = np.ones(pairs.size)
    each_is_served = sparse.csr_array((ones, (client, n + pairs)), shape=(n, n + pairs.size))
    where_open = sparse.csr_array(
        (np.concatenate([ones, -ones]), (np.tile(pairs, 2), np.concatenate([n + pairs, site]))),
        shape=(pairs.size, n + pairs.size),
    )
    solved = optimize.milp(
        np.concatenate([costs, service[client, site]]),
        integrality=np.repeat([1, 0], [n, pairs.size]),
        bounds=optimize.Bounds(0, 1),
        constraints=[
            optimize.LinearConstraint(each_is_served, 1, 1),
            optimize.LinearConstraint(where_open, -np.inf, 0),
        ],
        options={"mip_rel_gap": 0.0},
    )
    if not solved.success:
        raise AssertionError(f"a program that has a solution could not be solved: {solved.message}")
    return np.flatnonzero(solved.x[:n] > 0.5)


def close_below(
    distances: Ints, weights: Ints, opened: Ints, *, least: int, rng: Generator
) -> Ints:
    """Return every site's facility, after those with fewer clients than `least` were closed.

    One after the other is closed, at random, and its clients go to the closest that is still open.
    The last one stays. After an exact solution there is nothing to close: to send the clients of so
    small a facility elsewhere costs less than it costs to be open.
    """
    while True:
        nearest = np.argmin(distances[:, opened], axis=1)
        clients = np.bincount(nearest, weights=weights, minlength=opened.size)
        below = np.flatnonzero(clients < least)
        if not below.size or opened.size == 1:
            return np.asarray(opened[nearest])
        opened = np.delete(opened, rng.choice(below))


def merge_small(labels: rules.Labels, *, k: int, least: int, rng: Generator) -> rules.Labels:
    """Return clusters of at least k rows: those below are merged, to at most 2k rows.

    Small clusters are put together in a random order until they are k rows. The last ones join the
    smallest cluster where that makes at most 2k rows. Otherwise another cluster gives rows to them:
    whole parts, and a piece of one more, which leaves at least `least` rows on each side. Where no
    cluster can, they join the smallest.
    """
    order = rng.permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    parts = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    clusters = [[part] for part in parts if part.size >= k]
    small = [part for part in parts if part.size < k]
    merging: list[Part] = []
    for at in rng.permutation(len(small)).tolist():
        merging.append(small[at])
        if _size(merging) >= k:
            clusters.append(merging)
            merging = []
    if merging:
        _merge_last(merging, clusters, k=k, least=least)
    merged = np.empty_like(labels)
    for number, cluster in enumerate(clusters):
        merged[np.concatenate(cluster)] = number
    return merged


def _size(cluster: list[Part]) -> int:
    return sum(part.size for part in cluster)


def _merge_last(parts: list[Part], clusters: list[list[Part]], *, k: int, least: int) -> None:
    """Put the last parts, fewer than k rows, into the clusters."""
    size = _size(parts)
    smallest = min(clusters, key=_size)
    if _size(smallest) + size > 2 * k:
        for cluster in clusters:
            most = min(2 * k - size, _size(cluster) - k)
            split = _split(cluster, fewest=k - size, most=most, least=least)
            if split is not None:
                cluster[:], moved = split
                clusters.append(parts + moved)
                return
    smallest.extend(parts)


def _split(
    cluster: list[Part], *, fewest: int, most: int, least: int
) -> tuple[list[Part], list[Part]] | None:
    """Return what stays of a cluster and what leaves it, between `fewest` and `most` rows."""
    ends = np.cumsum([part.size for part in cluster])
    whole = int(np.searchsorted(ends, most, side="right"))
    done = _size(cluster[:whole])
    if done >= fewest:
        return cluster[whole:], cluster[:whole]
    broken = cluster[whole]
    piece = max(fewest - done, least)
    if piece > min(most - done, broken.size - least):
        return None
    return [broken[piece:], *cluster[whole + 1 :]], [*cluster[:whole], broken[:piece]]
