"""Local recoding: rows in clusters of at least k that publish little above their values.

The steps are a lattice of levels, the rest, and a search; conditions hold in each.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import InfeasibleError
from graphveil.core.progress import stage
from graphveil.core.text import counted
from graphveil.methods.generalize.kernels import lattice, search
from graphveil.methods.generalize.kernels.lattice import Cells, Clusters, Conditions, Ints, Rows
from graphveil.methods.generalize.levels import Hierarchy

MOST_VECTORS = 20_000
"""Where there are more vectors of levels, some are drawn."""

LEAST_PRICE = 1e-9
"""Losses and entropies that differ by less count as equal."""

FEWEST_DRAWN, MOST_DRAWN = 200, 2_000
"""So many are drawn: fewer where there are many rows."""

SPREAD = 0.35
"""The standard deviation of the logarithm of what a level costs in a draw."""

LIMITS = 8
"""The lattice is gone through so often: each time a cluster may lose more.

On adult (k=5 and 10, one seed) 16 times gained .0002 and .0005 of granularity for a fifth more CPU,
32 times .0004 and .001 for half to four fifths more, and 4 times lost .0002 at k=5.
"""

TRIED_ABOVE = 1.3
"""A vector is tried once its mean loss is at most this many times what a cluster may lose."""

MOST_VISITS = 200_000_000
"""Rows that the vectors drawn may look at, all together."""

MOST_CELLS = 8 * MOST_VISITS
"""The lattice is gone through once more, and then no more, once so many cells were looked at."""

ORDERS, ORDERS_OF_MANY, MANY_ROWS = 12, 6, 500_000
"""In so many orders are rows near each other; in fewer if there are many rows."""

REACH, LATER_REACH = 4, 6
"""So far away in an order a row is near in the first two passes, and later."""

MOST_PASSES = 8
LEAST_GAIN = 5e-4
"""A pass is the last if it gains a smaller share of what is lost."""


class Condition(NamedTuple):
    """What the rows of a class must show in one attached column.

    `distinct`: the fewest values; `entropy`: the logarithm of this is the least entropy; `close`:
    the most total variation between the class and the table.
    """

    codes: Ints
    distinct: int = 1
    entropy: float = 1.0
    close: Fraction = Fraction(1)


class Recoded(NamedTuple):
    """Clusters, and what each column publishes; losses are means from 0 to 1, in all weighted."""

    labels: Ints
    levels: Ints
    losses: lattice.Floats
    start: float
    end: float


def recode(
    leaves: Ints,
    hierarchies: Sequence[Hierarchy],
    *,
    k: int,
    conditions: Sequence[Condition] = (),
    weights: Sequence[float] | None = None,
    rng: np.random.Generator,
) -> Recoded:
    """Return clusters of at least k rows that meet the conditions and lose little.

    The order of the rows changes nothing: they are sorted first, and equal ones are exchangeable.
    Raises `InfeasibleError` where not even the whole table as one cluster meets the conditions.
    """
    order = np.lexsort((*(c.codes for c in reversed(conditions)), *leaves.T[::-1]))
    rows = _rows_of(leaves[order], hierarchies, weights, rng)
    wanted = _conditions_of(conditions, order)
    n, d = rows.cells.shape
    state = lattice.clusters_of(n, d, wanted.totals.size, k)
    with stage("lattice"):
        labels, n_clusters = _by_levels(rows, hierarchies, k, wanted, state, rng)
    with stage("rest"):
        labels, n_clusters = _place_rest(rows, wanted, labels, n_clusters, k)
        lattice.gather(rows, wanted, state, labels, n_clusters)
    start = float((state.size * state.loss).sum() / n)
    with stage("search"):
        _search(rows, wanted, state, k, rng)
    found, levels = np.empty(n, dtype=np.int64), np.empty((n, d), dtype=np.int64)
    found[order], levels[order] = state.label, state.level[state.label]
    losses = np.array(
        [h.losses[levels[:, j], leaves[:, j]].mean() for j, h in enumerate(hierarchies)]
    )
    return Recoded(found, levels, losses, start, float((state.size * state.loss).sum() / n))


def _rows_of(
    leaves: Ints,
    hierarchies: Sequence[Hierarchy],
    weights: Sequence[float] | None,
    rng: np.random.Generator,
) -> Rows:
    """Return the rows as positions in flat arrays, and orders in which they are near."""
    near = _orders(leaves, hierarchies, ORDERS if len(leaves) < MANY_ROWS else ORDERS_OF_MANY, rng)
    place = np.empty_like(near)
    np.put_along_axis(place, near, np.arange(len(leaves), dtype=np.int32)[None], axis=1)
    return _placed(leaves, hierarchies, weights)._replace(near=near, place=place)


def _placed(
    leaves: Ints, hierarchies: Sequence[Hierarchy], weights: Sequence[float] | None
) -> Rows:
    """Return the rows as positions in flat arrays, in no order."""
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


def _orders(
    leaves: Ints, hierarchies: Sequence[Hierarchy], count: int, rng: np.random.Generator
) -> Cells:
    """Return orders of the rows by random interleavings of all levels, coarse before fine."""
    n, d = leaves.shape
    ranks = [h.ranks() for h in hierarchies]
    widths = [[int(level.max()).bit_length() for level in column] for column in ranks]
    orders = np.empty((count, n), dtype=np.int32)
    for r in range(count):
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
        orders[r] = np.lexsort([rng.permutation(n), word, *words[::-1]])
    return orders


def _conditions_of(conditions: Sequence[Condition], order: Ints) -> Conditions:
    """Return conditions as arrays, for rows in this order."""
    totals = [np.bincount(c.codes) for c in conditions]
    starts = np.concatenate([[0], np.cumsum([t.size for t in totals])]).astype(np.int64)
    values = np.empty((order.size, len(conditions)), dtype=np.int32)
    for i, condition in enumerate(conditions):
        values[:, i] = condition.codes[order] + starts[i]
    return Conditions(
        values=values,
        starts=starts,
        totals=np.concatenate([*totals, np.zeros(0, dtype=np.int64)]).astype(np.int64),
        distinct=np.array([c.distinct for c in conditions], dtype=np.int64),
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
    rng: np.random.Generator,
) -> tuple[Ints, int]:
    """Return clusters of rows that agree at the same levels, the least mean loss first."""
    n, d = rows.cells.shape
    depths = [h.nodes.shape[0] for h in hierarchies]
    means = _means(rows, depths)
    if np.prod(depths, dtype=np.float64) <= MOST_VECTORS:
        vectors = np.array(cheapest(means, MOST_VECTORS), dtype=np.int32)
    else:
        vectors = _drawn(rows, means, rng)
    room = lattice.agreeing_of(_words(hierarchies, rng), n)
    labels = np.full(n, -1, dtype=np.int64)
    columns = np.arange(d)
    table = np.zeros((d, max(depths)))
    for j, column in enumerate(means):
        table[j, : depths[j]] = column
    expected = table[columns, vectors].sum(axis=1)
    for limit in limits(expected) if not len(conditions.distinct) else ():
        tried = vectors[expected <= limit * TRIED_ABOVE]
        lattice.publish(rows, tried, limit, k, room, conditions, state, labels)
        if room.counters[2] * d > MOST_CELLS:
            break
    if room.counters[0] >= k:
        lattice.publish(rows, vectors, np.inf, k, room, conditions, state, labels)
    return labels, int(room.counters[1])


def _means(rows: Rows, depths: Sequence[int]) -> list[list[float]]:
    """Return for every column the mean loss of each of its levels."""
    return [
        [float(rows.losses[rows.cells[:, j] + level].mean()) for level in range(depth)]
        for j, depth in enumerate(depths)
    ]


def _words(hierarchies: Sequence[Hierarchy], rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return a random number for every node."""
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
    leaves: Ints, hierarchies: Sequence[Hierarchy], *, k: int, rng: np.random.Generator
) -> float:
    """Return a granularity that no table of true nodes in classes of k exceeds.

    What a row loses in a class is what it loses at the levels of the class, at which k rows of the
    table agree. So it loses at least the least loss of such a vector. If there are more than
    `MOST_VECTORS` of them, the columns are divided into groups that have fewer: k rows that agree
    in all columns agree in each group, so that the least losses of the groups add up.

    >>> jobs = Hierarchy.of([["nurse", "clerk", "cook"], ["Care", "Office", "Care"]])
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> most_granular(np.array([[0], [0], [2]]), [jobs], k=2, rng=rng)  # the cook loses 1/2
    0.8333333333333334
    """
    least = np.zeros(len(leaves))
    for group in groups([h.nodes.shape[0] for h in hierarchies], MOST_VECTORS):
        own = [hierarchies[j] for j in group]
        depths = [h.nodes.shape[0] for h in own]
        rows = _placed(leaves[:, group], own, None)
        vectors = np.array(cheapest(_means(rows, depths), MOST_VECTORS), dtype=np.int32)
        best = np.full(len(leaves), np.inf)
        room = lattice.agreeing_of(_words(own, rng), len(leaves))
        lattice.least_losses(rows, vectors, k, room, best, np.empty_like(best))
        least += best * len(group)
    return 1 - float(least.mean()) / len(hierarchies)


def groups(depths: Sequence[int], most: int) -> list[list[int]]:
    """Return columns in groups with at most so many vectors of levels, as few as fit one by one."""
    found: list[list[int]] = []
    room = 0
    for j, depth in enumerate(depths):
        if not found or depth > room:
            found.append([])
            room = most
        found[-1].append(j)
        room //= depth
    return found


def _drawn(
    rows: Rows, means: Sequence[Sequence[float]], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return vectors of levels from no loss to all, rising, of columns too many to try them all."""
    n = len(rows.cells)
    entropies = [
        [_entropy(rows.nodes[rows.cells[:, j] + level]) for level in range(len(column))]
        for j, column in enumerate(means)
    ]
    count = min(max(MOST_VISITS // n, FEWEST_DRAWN), MOST_DRAWN)
    vectors = np.array(chained(means, entropies, count, rng), dtype=np.int32)
    lost = np.zeros(len(vectors))
    for j, column in enumerate(means):
        lost += np.array(column)[vectors[:, j]]
    return vectors[np.argsort(lost, kind="stable")]


def _entropy(nodes: NDArray[np.int32]) -> float:
    """Return the entropy of a column at a level, in bits."""
    counts = np.bincount(nodes)
    shares = counts[counts > 0] / nodes.size
    return float(-(shares * np.log2(shares)).sum())


def chained(
    means: Sequence[Sequence[float]],
    entropies: Sequence[Sequence[float]],
    count: int,
    rng: np.random.Generator,
) -> list[tuple[int, ...]]:
    """Return distinct vectors of levels in chains, each from the lowest levels to the highest.

    Next rises the column whose level costs the least loss for the entropy that it takes away, up to
    a random factor for each level. There are about `count` vectors; fewer where chains have fewer.
    """
    prices = [
        np.log((np.diff(lost) + LEAST_PRICE) / (LEAST_PRICE - np.diff(shown)))
        for lost, shown in zip(means, entropies, strict=True)
    ]
    found: dict[tuple[int, ...], None] = {}
    for _ in range(count):
        if len(found) >= count:
            break
        drawn = [price + SPREAD * rng.standard_normal(price.size) for price in prices]
        vector = [0] * len(means)
        waiting = [(float(column[0]), j) for j, column in enumerate(drawn) if column.size]
        heapq.heapify(waiting)
        found[tuple(vector)] = None
        while waiting:
            _, j = heapq.heappop(waiting)
            vector[j] += 1
            found[tuple(vector)] = None
            if vector[j] < drawn[j].size:
                heapq.heappush(waiting, (float(drawn[j][vector[j]]), j))
    return list(found)


def limits(expected: lattice.Floats) -> lattice.Floats:
    """Return rising limits of what a cluster may lose, more of them where vectors lose little.

    >>> limits(np.linspace(0, 1, 101))[[0, 3, -1]].round(3).tolist()
    [0.016, 0.25, 1.0]
    """
    return np.quantile(expected, (np.arange(1, LIMITS + 1) / LIMITS) ** 2)


def cheapest(means: Sequence[Sequence[float]], limit: int) -> list[tuple[int, ...]]:
    """Return up to `limit` vectors of levels of least sums, rising; of equal ones the first.

    >>> cheapest([[0.0, 0.5], [0.0, 0.25]], 3)
    [(0, 0), (0, 1), (1, 0)]
    """
    start = (0,) * len(means)
    waiting = [(sum(column[0] for column in means), start)]
    seen = {start}
    found: list[tuple[int, ...]] = []
    while waiting and len(found) < limit:
        total, vector = heapq.heappop(waiting)
        found.append(vector)
        for j, level in enumerate(vector):
            if level + 1 == len(means[j]):
                continue
            above = (*vector[:j], level + 1, *vector[j + 1 :])
            if above not in seen:
                seen.add(above)
                more = means[j][level + 1] - means[j][level]
                heapq.heappush(waiting, (total + more, above))
    return found


def _place_rest(
    rows: Rows, conditions: Conditions, labels: Ints, n_clusters: int, k: int
) -> tuple[Ints, int]:
    """Return clusters of all rows: those left are cut into pieces, join a cluster, or merge some.

    Pieces follow the first order in which rows are near. A piece ends once it has k rows and meets
    the conditions; rows of the last one that does not join the clusters that take them, and those
    that none takes are merged with as many clusters as it takes.
    """
    left = rows.near[0][labels[rows.near[0]] < 0].astype(np.int64)
    pieces, tail = _pieces(conditions, left, k)
    for piece in pieces:
        labels[piece] = n_clusters
        n_clusters += 1
    if not tail.size:
        return labels, n_clusters
    n, d = rows.cells.shape
    trial = lattice.clusters_of(n, d, conditions.totals.size, k)
    lattice.gather(rows, conditions, trial, labels, n_clusters)
    kept = search.join(rows, conditions, trial, tail, n_clusters)
    labels = trial.label.copy()
    if kept:
        return _merged(conditions, trial, labels, tail[:kept], n_clusters, k)
    return labels, n_clusters


def _pieces(conditions: Conditions, left: Ints, k: int) -> tuple[list[Ints], Ints]:
    """Return rows cut in pieces that may be clusters, in their order, and those behind the last."""
    if not len(conditions.distinct):
        count = left.size // k
        if not count:
            return [], left
        return [left[i * k : (i + 1) * k if i + 1 < count else None] for i in range(count)], left[
            :0
        ]
    pieces, first = [], 0
    counts = np.zeros(conditions.totals.size, dtype=np.int64)
    for i, row in enumerate(left.tolist()):
        counts[conditions.values[row]] += 1
        if i + 1 - first >= k and violation(conditions, counts) == 0:
            pieces.append(left[first : i + 1])
            first = i + 1
            counts[:] = 0
    return pieces, left[first:]


def violation(conditions: Conditions, counts: NDArray[Any]) -> lattice.Floats:
    """Return by how much the values of clusters miss the conditions; 0 for one that meets all."""
    missed = np.zeros(counts.shape[:-1])
    n = len(conditions.values)
    for i in range(len(conditions.distinct)):
        part = slice(conditions.starts[i], conditions.starts[i + 1])
        mine, totals = counts[..., part].astype(np.int64), conditions.totals[part]
        size = mine.sum(axis=-1)
        missed += np.maximum(0, conditions.distinct[i] - (mine > 0).sum(axis=-1))
        numerator, denominator = int(conditions.numerator[i]), int(conditions.denominator[i])
        apart = np.abs(mine * n - size[..., None] * totals).sum(axis=-1) * denominator
        excess = apart - 2 * numerator * size * n
        missed += np.maximum(0, excess) / (2.0 * size * n * denominator)
        if conditions.entropy[i] > 0:
            shares = mine / size[..., None]
            logs = np.log(np.where(mine > 0, shares, 1.0))
            lacking = conditions.entropy[i] + (shares * logs).sum(axis=-1)
            missed += np.where(lacking > lattice.SLACK, lacking, 0.0)
    return missed


def _merged(
    conditions: Conditions, state: Clusters, labels: Ints, tail: Ints, n_clusters: int, k: int
) -> tuple[Ints, int]:
    """Return clusters of which some were merged with the rows that none takes, until all fit.

    Each time, the cluster is merged that leaves least amiss; of equal ones the smallest.
    """
    counts = np.zeros(conditions.totals.size, dtype=np.int64)
    for i in range(conditions.values.shape[1]):
        counts += np.bincount(conditions.values[tail, i], minlength=counts.size)
    taken: list[int] = []
    size = tail.size
    others = np.flatnonzero(state.size[:n_clusters])
    while size < k or violation(conditions, counts) > 0:
        if not others.size:
            raise InfeasibleError(
                f"the {counted(labels.size, 'row')} do not meet the conditions even as one class."
            )
        missed = violation(conditions, counts + state.counts[others])
        at = int(np.lexsort((others, state.size[others], missed))[0])
        best, others = int(others[at]), np.delete(others, at)
        counts = counts + state.counts[best]
        size += int(state.size[best])
        taken.append(best)
    labels[tail] = n_clusters
    labels[np.isin(labels, taken)] = n_clusters
    _, labels = np.unique(labels, return_inverse=True)
    return labels.astype(np.int64), int(labels.max()) + 1


def _search(
    rows: Rows, conditions: Conditions, state: Clusters, k: int, rng: np.random.Generator
) -> None:
    """Move rows between clusters until little is gained."""
    n, d = rows.cells.shape
    most_near = len(rows.near) * (2 * LATER_REACH + 1)
    room: lattice.Room = lattice.room_for(n, d, k, most_near=most_near)
    lost = float((state.size * state.loss).sum())
    for passed in range(MOST_PASSES):
        reach = REACH if passed < 2 else LATER_REACH
        room.touched[:] = False
        moves = search.improve(rows, conditions, state, rng.permutation(n), k, reach, room)
        small = (state.size > 0) & (state.size < 2 * k) & (state.loss > 0)
        if passed > 1:
            small &= room.touched
        worst = np.flatnonzero(small)[np.argsort(-state.loss[small], kind="stable")]
        moves += search.dissolve(rows, conditions, state, worst, LATER_REACH, room)
        room.active[:] = room.touched[state.label] if passed > 0 else True
        before, lost = lost, float((state.size * state.loss).sum())
        if not moves or (passed > 2 and before - lost < LEAST_GAIN * lost):
            break
