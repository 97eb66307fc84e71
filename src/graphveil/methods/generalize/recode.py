"""Local recoding of a table: rows in clusters of at least k that lose little.

Local means that two rows with one value may publish it at different levels. The algorithm is our
own, of three steps, on the lattice of levels of Samarati (TKDE 2001):

1. LATTICE: vectors of levels, one level per column, are tried from little loss to much. Rows left
   that agree at a vector, at least k of them, become a cluster (`kernels.lattice`, `vectors`).
2. REST: rows that no vector took form or join clusters, or are merged with some (`rest`).
3. SEARCH: rows move between clusters as long as that lowers the total loss (`kernels.search`).
   Candidates are the clusters of rows that are near in one of several sorted orders.

From step 2 on every row is in a cluster of at least k, and a move that would break this is not
made. The levels of a cluster are computed from its rows, cell by cell, whatever step formed it.
Clusters meet the conditions on attached columns after every step. Clusters that publish the same
cells are one class in the end; unions meet the conditions as well (see `rest`).

Cost: LATTICE visits the rows left once per vector, O(d) each, within `MOST_CELLS`; SEARCH is
O(n R w d) per pass for R orders and w near rows. Memory: O((R + d) n).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import stage
from graphveil.methods.generalize import vectors
from graphveil.methods.generalize.conditions import Condition
from graphveil.methods.generalize.hierarchy import Hierarchy
from graphveil.methods.generalize.kernels import clusters, lattice, search
from graphveil.methods.generalize.kernels.clusters import Cells, Clusters, Conditions, Rows
from graphveil.methods.generalize.rest import place_rest
from graphveil.methods.layers import layers_of

TRIED_ABOVE = 1.3
"""Under a limit on the loss of clusters, vectors of up to this times the limit are tried.

A vector's mean loss is over the whole table; the rows of one cluster can lose less. Larger finds
more such clusters and takes more time.
"""

MOST_CELLS = 8 * vectors.MOST_VISITS
"""Once the vectors have visited so many cells, no further limits are gone through.

It bounds the time of the lattice step; the pass without a limit still follows.
"""

ORDERS, ORDERS_OF_MANY, MANY_ROWS = 12, 6, 500_000
"""The number of orders that say which rows are near: 12, and 6 from 500,000 rows on.

Each order costs a sort and 8 bytes per row. Fewer orders offer fewer clusters to each row.
"""

REACH, LATER_REACH = 4, 6
"""How far away in an order a row is near: 4 places in the first two passes, 6 later.

Later passes try few rows and can look further. The cost of a pass grows in proportion.
"""

MOST_PASSES = 8
"""The most passes of the search, whatever the last one gained."""

LEAST_GAIN = 5e-4
"""From the fourth pass on, a pass that lowers the total loss by a smaller share is the last."""


class Recoded(NamedTuple):
    """The clusters, and the levels at which each row publishes its columns.

    Parameters
    ----------
    labels
        int64, shape (n,): the cluster of every row.
    levels
        int64, shape (n, d): the level of every cell.
    losses
        float64, shape (d,): the mean loss of every column, from 0 to 1.
    start, end
        The weighted mean loss of a row before and after the search, from 0 to 1.
    """

    labels: Ints
    levels: Ints
    losses: Floats
    start: float
    end: float


def recode(
    leaves: Ints,
    hierarchies: Sequence[Hierarchy],
    *,
    k: int,
    conditions: Sequence[Condition] = (),
    weights: Sequence[float] | None = None,
    rng: Generator,
) -> Recoded:
    """Return clusters of at least k rows that meet the conditions and lose little.

    Parameters
    ----------
    leaves
        int64, shape (n, d): the leaf of every cell in the hierarchy of its column.
    hierarchies
        The levels of the d columns.
    k
        The fewest rows of a cluster.
    conditions
        What each cluster must show of attached columns.
    weights
        How much the loss of each column counts. Default: all the same.
    rng
        Draws the orders, the hash words, the sample of vectors and the order of the search.

    Raises
    ------
    InfeasibleError
        If not even the whole table as one cluster meets the conditions.

    Notes
    -----
    The order of the rows changes nothing: they are sorted first, and equal rows are exchangeable.
    """
    # Sort the rows by all that is read of them, and write them and the conditions as flat arrays.
    order = np.lexsort((*(c.codes for c in reversed(conditions)), *leaves.T[::-1]))
    rows = _rows_of(leaves[order], hierarchies, weights, rng)
    bounds = _conditions_of(conditions, order)
    n, d = rows.cells.shape
    state = clusters.clusters_of(n, d, bounds.totals.size, k)
    # Step 1, LATTICE: rows that agree at one vector of levels form clusters.
    with stage("lattice"):
        labels, n_clusters = _by_levels(rows, hierarchies, k, bounds, state, rng)
    # Step 2, REST: every other row gets a cluster. From here on each row is in one.
    with stage("rest"):
        labels, n_clusters = place_rest(rows, bounds, labels, n_clusters, k)
        clusters.gather(rows, bounds, state, labels, n_clusters)
    # Step 3, SEARCH: move rows between clusters where that loses less.
    start = float((state.size * state.loss).sum() / n)
    with stage("search"):
        _search(rows, bounds, state, k, rng)
    # Return to the order of the input. Reported losses are without weights.
    labels, levels = np.empty(n, dtype=np.int64), np.empty((n, d), dtype=np.int64)
    labels[order], levels[order] = state.label, state.level[state.label]
    losses = np.array(
        [h.losses[levels[:, j], leaves[:, j]].mean() for j, h in enumerate(hierarchies)]
    )
    return Recoded(labels, levels, losses, start, float((state.size * state.loss).sum() / n))


def recode_in_layers(
    leaves: Ints,
    hierarchies: Sequence[Hierarchy],
    *,
    units: NDArray[np.int32],
    k: int,
    conditions: Sequence[Condition] = (),
    weights: Sequence[float] | None = None,
    rng: Generator,
) -> Recoded:
    """Return clusters of rows of at least k different people (or households), as `recode`.

    `units`: int32, shape (n,), the person of each row; the others as in `recode`. The rows of each
    layer are recoded by themselves, under the same hierarchies and conditions, so that a cluster
    meets these with rows of different people.
    """
    told_apart = np.column_stack([leaves, *(condition.codes for condition in conditions)])
    layers = layers_of(told_apart, units, k)
    n, d = leaves.shape
    labels, levels = np.empty(n, dtype=np.int64), np.empty((n, d), dtype=np.int64)
    starts, ends, clusters_before = [], [], 0
    for rows in layers.rows:
        own = [condition._replace(codes=condition.codes[rows]) for condition in conditions]
        done = recode(leaves[rows], hierarchies, k=k, conditions=own, weights=weights, rng=rng)
        labels[rows], levels[rows] = done.labels + clusters_before, done.levels
        clusters_before += int(done.labels.max()) + 1
        starts.append(done.start * rows.size)
        ends.append(done.end * rows.size)
    labels, levels = labels[layers.stands_for], levels[layers.stands_for]
    losses = np.array(
        [h.losses[levels[:, j], leaves[:, j]].mean() for j, h in enumerate(hierarchies)]
    )
    size = sum(rows.size for rows in layers.rows)
    return Recoded(labels, levels, losses, sum(starts) / size, sum(ends) / size)


def _rows_of(
    leaves: Ints,
    hierarchies: Sequence[Hierarchy],
    weights: Sequence[float] | None,
    rng: Generator,
) -> Rows:
    """Return the rows as positions in flat arrays, with the orders that say which are near."""
    near = _orders(leaves, hierarchies, ORDERS if len(leaves) < MANY_ROWS else ORDERS_OF_MANY, rng)
    place = np.empty_like(near)
    np.put_along_axis(place, near, np.arange(len(leaves), dtype=np.int32)[None], axis=1)
    return _placed(leaves, hierarchies, weights)._replace(near=near, place=place)


def _placed(
    leaves: Ints, hierarchies: Sequence[Hierarchy], weights: Sequence[float] | None
) -> Rows:
    """Return the rows as positions in flat arrays, without orders.

    The nodes above a leaf are next to each other, from its level 0 to the last: a level is added to
    the position of a cell.
    """
    d = leaves.shape[1]
    share = np.full(d, 1.0) if weights is None else np.asarray(weights, dtype=np.float64)
    share = share / share.sum()
    sizes = [h.nodes.size for h in hierarchies]
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    depths = np.array([h.nodes.shape[0] for h in hierarchies])
    losses = [h.losses.T.ravel() * share[j] for j, h in enumerate(hierarchies)]
    none = np.empty((0, len(leaves)), dtype=np.int32)
    return Rows(
        nodes=np.concatenate([h.nodes.T.ravel() for h in hierarchies]).astype(np.int32),
        losses=np.concatenate(losses),
        cells=np.ascontiguousarray(starts + leaves * depths, dtype=np.int32),
        near=none,
        place=none,
    )


def _orders(leaves: Ints, hierarchies: Sequence[Hierarchy], count: int, rng: Generator) -> Cells:
    """Return `count` orders in which rows with similar cells are next to each other.

    Each order sorts the rows by a random interleaving of all levels of all columns, within a column
    from coarse to fine. So rows that agree in the coarse levels of the columns are together, and
    each order weights the columns differently. Returns int32, shape (count, n).
    """
    n, d = leaves.shape
    ranks = [h.ranks() for h in hierarchies]
    widths = [[int(level.max()).bit_length() for level in column] for column in ranks]
    orders = np.empty((count, n), dtype=np.int32)
    for r in range(count):
        # Sort by few numbers of 64 bits rather than by one per level: each level adds the rank of
        # the node below its parent, in as many bits as the largest rank takes.
        steps = np.repeat(np.arange(d), [len(column) for column in ranks])
        at = [len(column) for column in ranks]
        words, word, used = [], np.zeros(n, dtype=np.uint64), 0
        for j in rng.permutation(steps).tolist():
            at[j] -= 1
            width = widths[j][at[j]]
            if used + width > 64:
                words.append(word)
                word, used = np.zeros(n, dtype=np.uint64), 0
            word = (word << np.uint64(width)) | ranks[j][at[j]][leaves[:, j]]
            used += width
        # Rows with equal cells are in random order.
        orders[r] = np.lexsort([rng.permutation(n), word, *words[::-1]])
    return orders


def _conditions_of(conditions: Sequence[Condition], order: Ints) -> Conditions:
    """Return conditions as arrays for kernels, with the rows in this order."""
    totals = [np.bincount(c.codes) for c in conditions]
    starts = np.concatenate([[0], np.cumsum([t.size for t in totals])]).astype(np.int64)
    values = np.empty((order.size, len(conditions)), dtype=np.int32)
    for i, condition in enumerate(conditions):
        values[:, i] = condition.codes[order] + starts[i]
    return Conditions(
        values=values,
        starts=starts,
        totals=np.concatenate([*totals, np.zeros(0, dtype=np.int64)]).astype(np.int64),
        known=np.array([c.known for c in conditions], dtype=np.int64),
        distinct=np.array(
            [c.distinct if c.distinct > 1 else 0 for c in conditions], dtype=np.int64
        ),
        entropy=np.log(np.array([c.entropy for c in conditions], dtype=np.float64)),
        numerator=np.array([c.close.numerator for c in conditions], dtype=np.int64),
        denominator=np.array([c.close.denominator for c in conditions], dtype=np.int64),
    )


def _by_levels(
    rows: Rows,
    hierarchies: Sequence[Hierarchy],
    k: int,
    conditions: Conditions,
    state: Clusters,
    rng: Generator,
) -> tuple[Ints, int]:
    """Return clusters of rows that agree at a vector of levels, the least loss first.

    Returns the cluster of every row (-1 for rows left) and the number of clusters.
    """
    # List the vectors of levels to try, from little mean loss to much, with their mean losses.
    n, d = rows.cells.shape
    depths = [h.nodes.shape[0] for h in hierarchies]
    means = vectors.level_means(rows, depths)
    if np.prod(depths, dtype=np.float64) <= vectors.MOST_VECTORS:
        listed = np.array(vectors.cheapest(means, vectors.MOST_VECTORS), dtype=np.int32)
    else:
        listed = vectors.sampled(rows, means, rng)
    # `room.counters` has the rows left, the clusters, and the rows visited so far.
    room = lattice.agreeing_of(_words(hierarchies, rng), n)
    labels = np.full(n, -1, dtype=np.int64)
    columns = np.arange(d)
    table = np.zeros((d, max(depths)))
    for j, column in enumerate(means):
        table[j, : depths[j]] = column
    # What a row loses at each vector: the mean over the table, summed over the columns.
    expected = table[columns, listed].sum(axis=1)
    # Without conditions go through them under rising limits on the loss of a cluster, so that no
    # rows settle for a coarse vector while a finer one later in the list would do. With conditions
    # there is one pass without a limit; whether limits would help there is not recorded.
    for limit in vectors.limits(expected) if not len(conditions.distinct) else ():
        tried = listed[expected <= limit * TRIED_ABOVE]
        lattice.publish(rows, tried, limit, k, room, conditions, state, labels)
        if room.counters[2] * d > MOST_CELLS:
            break
    # With conditions, and for what is left, take every vector without a limit.
    if room.counters[0] >= k:
        lattice.publish(rows, listed, np.inf, k, room, conditions, state, labels)
    return labels, int(room.counters[1])


def _words(hierarchies: Sequence[Hierarchy], rng: Generator) -> NDArray[np.uint64]:
    """Return a random word for every node, in the layout of `Rows.nodes`: uint64."""
    depths = [h.nodes.shape[0] for h in hierarchies]
    words = [
        rng.integers(0, 2**64, size=(h.nodes.max() + 1, depth), dtype=np.uint64)
        for h, depth in zip(hierarchies, depths, strict=True)
    ]
    of_nodes = [
        word[h.nodes, np.arange(depth)[:, None]].T.ravel()
        for h, depth, word in zip(hierarchies, depths, words, strict=True)
    ]
    return np.concatenate(of_nodes)


def most_granular(
    leaves: Ints, hierarchies: Sequence[Hierarchy], *, k: int, rng: Generator
) -> float:
    """Return a granularity that no table of true nodes in classes of k exceeds.

    A row loses what a cell loses at the levels of its class, at which k rows of the table agree. So
    it loses at least the least loss over all such vectors, found by trying them all. If there are
    more than `vectors.MOST_VECTORS`, the columns are divided into groups that have fewer: k rows
    that agree in all columns agree in each group, so the sum of the groups' least losses is a
    bound, though a weaker one.

    >>> jobs = Hierarchy.of([["nurse", "clerk", "cook"], ["Care", "Office", "Care"]])
    >>> rng = Generator(np.random.PCG64(1))
    >>> most_granular(np.array([[0], [0], [2]]), [jobs], k=2, rng=rng)  # the cook loses 1/2
    0.8333333333333334
    """
    least = np.zeros(len(leaves))
    for group in vectors.groups([h.nodes.shape[0] for h in hierarchies], vectors.MOST_VECTORS):
        own = [hierarchies[j] for j in group]
        depths = [h.nodes.shape[0] for h in own]
        rows = _placed(leaves[:, group], own, None)
        means = vectors.level_means(rows, depths)
        listed = np.array(vectors.cheapest(means, vectors.MOST_VECTORS), dtype=np.int32)
        # The least mean loss per column of the group, times its columns, is a sum of losses.
        best = np.full(len(leaves), np.inf)
        room = lattice.agreeing_of(_words(own, rng), len(leaves))
        lattice.least_losses(rows, listed, k, room, best, np.empty_like(best))
        least += best * len(group)
    return 1 - float(least.mean()) / len(hierarchies)


def _search(rows: Rows, conditions: Conditions, state: Clusters, k: int, rng: Generator) -> None:
    """Move rows between clusters until little is gained; the clusters in `state` are written."""
    n, d = rows.cells.shape
    most_near = len(rows.near) * (2 * LATER_REACH + 1)
    room = clusters.room_for(n, d, k, most_near=most_near)
    lost = float((state.size * state.loss).sum())
    for number in range(MOST_PASSES):
        # Rows move, in a new random order: relocate, exchange or open (`search.improve`).
        reach = REACH if number < 2 else LATER_REACH
        room.touched[:] = False
        moves = search.improve(rows, conditions, state, rng.permutation(n), k, reach, room)
        # Small clusters are dissolved, the largest losses first; later only those that changed.
        small = (state.size > 0) & (state.size < 2 * k) & (state.loss > 0)
        if number > 1:
            small &= room.touched
        worst = np.flatnonzero(small)[np.argsort(-state.loss[small], kind="stable")]
        moves += search.dissolve(rows, conditions, state, worst, LATER_REACH, room)
        # From the third pass on, only rows of clusters that changed in the pass before are tried.
        room.active[:] = room.touched[state.label] if number > 0 else True
        before, lost = lost, float((state.size * state.loss).sum())
        if not moves or (number > 2 and before - lost < LEAST_GAIN * lost):
            break
