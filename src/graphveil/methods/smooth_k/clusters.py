"""Clusters of at least k rows: facility location as published, greedy growth, local search.

Facility location is Meyerson's algorithm, then small clusters are closed: Esfandiari, Epasto,
Mirrokni & Munoz Medina, Smooth Anonymity for Sparse Graphs, appendix D. Growth takes k rows at a
time: a seed and the rows that overlap most with it.

In local search, changes must raise the Jaccard index I / U by Dinkelbach's method: they must raise
I - lam U, where lam is the index at the beginning of the pass. That is a sum over clusters and
features, so every move is judged by its exact difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import Advance, stage
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, Rule, kept
from graphveil.methods.smooth_k.kernels import candidates as ranking
from graphveil.methods.smooth_k.kernels import facility as kernel
from graphveil.methods.smooth_k.kernels import growth
from graphveil.methods.smooth_k.kernels import search as moves
from graphveil.methods.smooth_k.kernels.search import NONE, Data
from graphveil.methods.smooth_k.options import Facility, Greedy

Ints = NDArray[np.int64]


class Costs(NamedTuple):
    """What it costs to open a facility at a distinct row: `factor` times its element of `sums`."""

    sums: Ints
    factor: float

    def of(self, opened: NDArray[np.int32]) -> float:
        """Return the cost of all these facilities together."""
        return self.factor * int(self.sums[opened].sum())


class FacilityPlan(NamedTuple):
    """Which rows are facilities, in order of opening, where all rows go, and what it costs."""

    opened: NDArray[np.int32]
    facility: NDArray[np.int32]
    total: float


def facility_clusters(
    rows: CollapsedRows,
    *,
    k: int,
    beta: float = 2.0,
    cost_factor: float | None = None,
    runs: int = 10,
    assign: str = "nearest",
    cut: bool = False,
    rng: np.random.Generator,
) -> Labels:
    """Return clusters of at least k rows each, around rows that are nearest to their members.

    At equal distance a facility that shares a feature with the row comes first, then the one opened
    first. Costs take O(sum of squared degrees of the features) among distinct rows; memory is
    O(entries + rows + features).

    Opening costs the distances of the ``beta * k`` nearest rows (rounded up to whole rows) times
    `cost_factor` (None: ``2 / (beta - 1)``). The cheapest of `runs` random orders is kept.
    `assign`: the nearest facility in the end, or on ``"arrival"``; `cut`: clusters of 2k rows or
    more are cut into pieces of k or more.
    """
    kinds = kernel.RowKinds(rows.indptr, rows.indices, rows.weights)
    lists = kernel.lists_of(rows.indptr, rows.indices, rows.n_features)
    factor = 2 / (beta - 1) if cost_factor is None else cost_factor
    wanted = math.ceil(min(beta * k, rows.n_rows))
    costs = Costs(nearest_sums(kinds, lists, wanted), float(factor))
    with stage("opening facilities", total=runs) as advance:
        plans = (
            meyerson(rows, kinds, lists, costs, assign=assign, rng=rng)
            for _ in _counted(runs, advance)
        )
        best = min(plans, key=lambda plan: plan.total)
    labels = close(rows, kinds, best, k=k, rng=rng)
    return cut_up(labels, k=k) if cut else labels


def _counted(runs: int, advance: Advance) -> Iterator[int]:
    for run in range(runs):
        yield run
        advance(1)


def nearest_sums(kinds: kernel.RowKinds, lists: kernel.FeatureLists, wanted: int) -> Ints:
    """Return the sum of the distances from every distinct row to its `wanted` nearest rows."""
    sums = np.zeros(kinds.weights.size, dtype=np.int64)
    kernel.nearest_sums(kinds, lists, wanted, sums)
    return sums


def meyerson(
    rows: CollapsedRows,
    kinds: kernel.RowKinds,
    lists: kernel.FeatureLists,
    costs: Costs,
    *,
    assign: str,
    rng: np.random.Generator,
) -> FacilityPlan:
    """Return the facilities that rows open when they come in a random order, and who goes where.

    A row at distance d > 0 from the nearest facility opens one with probability
    ``min(1, d / cost)``. One permutation of the rows and one coin a row are drawn.
    """
    order = rng.permutation(rows.n_rows)
    arrivals = kernel.RowStream(
        kinds=rows.kinds[order],
        coins=rng.random(order.size),
        facility=np.empty(order.size, dtype=np.int32),
        distance=np.empty(order.size, dtype=np.int64),
    )
    nearest = kernel.Nearest(
        np.empty(rows.n_distinct, np.int64), np.empty(rows.n_distinct, np.int32)
    )
    opened = np.empty(rows.n_distinct, dtype=np.int32)
    opened = opened[
        : kernel.open_facilities(kinds, lists, *costs, arrivals, nearest, opened)
    ].copy()
    if assign == "arrival":
        facility = np.empty(order.size, dtype=np.int32)
        facility[order] = arrivals.facility
        return FacilityPlan(opened, facility, costs.of(opened) + int(arrivals.distance.sum()))
    facility, distance = _nearest(rows, opened, nearest)
    return FacilityPlan(
        opened, facility[rows.kinds], costs.of(opened) + int(rows.weights @ distance)
    )


def _nearest(
    rows: CollapsedRows, opened: NDArray[np.int32], nearest: kernel.Nearest
) -> tuple[NDArray[np.int32], Ints]:
    """Return the nearest facility of every distinct row, and its distance."""
    degrees = rows.degrees()
    lowest = int(np.argmin(degrees[opened]))
    without = degrees + degrees[opened[lowest]]
    shares_none = without < nearest.distance
    facility = np.where(shares_none, lowest, nearest.facility).astype(np.int32)
    return facility, np.where(shares_none, without, nearest.distance)


def close(
    rows: CollapsedRows,
    kinds: kernel.RowKinds,
    plan: FacilityPlan,
    *,
    k: int,
    rng: np.random.Generator,
) -> Labels:
    """Return the clusters after facilities below k rows were closed, in a random order.

    Every client of a closed facility goes to the nearest one that is open. The last facility stays.
    """
    n_open = plan.opened.size
    keys = rows.kinds.astype(np.int64) * n_open + plan.facility
    pairs, which, weights = np.unique(keys, return_inverse=True, return_counts=True)
    clients = kernel.Clients(
        kinds=(pairs // n_open).astype(np.int32),
        weights=weights.astype(np.int64, copy=False),
        facility=(pairs % n_open).astype(np.int32),
    )
    indptr, indices = rows.lists_of(plan.opened)
    by_degree = np.argsort(np.diff(indptr), kind="stable").astype(np.int64, copy=False)
    facilities = kernel.Facilities(indptr, indices, by_degree, rng.permutation(n_open))
    kernel.close_small(
        kinds, facilities, kernel.lists_of(indptr, indices, rows.n_features), clients, k
    )
    _, labels = np.unique(clients.facility, return_inverse=True)
    return labels.astype(np.int32)[which]


def cut_up(labels: Labels, *, k: int) -> Labels:
    """Return the clusters cut into as many nearly equal pieces of at least k rows as there can be.

    A piece holds rows that follow each other in the data.
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    pieces = sizes // k
    first_row, first_piece = np.cumsum(sizes) - sizes, np.cumsum(pieces) - pieces
    cluster = labels[order]
    position = np.arange(order.size) - first_row[cluster]
    out = np.empty(labels.size, dtype=np.int32)
    out[order] = first_piece[cluster] + position * pieces[cluster] // sizes[cluster]
    return out


def rarest_first(rows: CollapsedRows, unused: Ints) -> growth.RareFirst:
    """Return the rows with their features numbered from the rarest, and the lists of these."""
    counts = np.bincount(rows.indices, minlength=rows.n_features).astype(np.int64, copy=False)
    order = np.argsort(counts, kind="stable")
    numbers = np.empty(rows.n_features, dtype=np.int64)
    numbers[order] = np.arange(rows.n_features)
    degrees = rows.degrees()
    owners = np.repeat(np.arange(rows.n_distinct), degrees)
    entries = owners * rows.n_features + numbers[rows.indices]
    entries.sort()
    indices = entries - owners * rows.n_features
    by_feature = np.argsort(indices, kind="stable")
    members = owners[by_feature]
    lengths = counts[order]
    return growth.RareFirst(
        indptr=rows.indptr,
        indices=indices.astype(np.int32),
        unused=unused,
        firsts=np.searchsorted(degrees, np.arange(degrees.max(initial=0) + 2)).astype(np.int64),
        starts=(np.cumsum(lengths) - lengths).astype(np.int64),
        lengths=lengths,
        gone=np.zeros_like(lengths),
        members=members.astype(np.int32),
        words=_words(indices, owners, rows)[members],
    )


def _words(indices: Ints, owners: Ints, rows: CollapsedRows) -> NDArray[np.uint32]:
    """Return which of the most popular features every row has, a bit each."""
    bits = indices - (rows.n_features - growth.POPULAR)
    is_popular = bits >= 0
    values = np.int64(1) << bits[is_popular]
    sums = np.bincount(owners[is_popular], weights=values, minlength=rows.n_distinct)
    return sums.astype(np.uint32)


EVEN_DEGREES = 0.2
"""The standard deviation of the rows' degrees over their mean up to which they count as even."""

MOST_TRIED, SAMPLED = 20_000, 10_000
"""The distinct rows up to which both orders of seeds are tried, and those of which a sample has so
many."""

QUARTERS = {"degree": 1, "cost": 2}
"""What a feature of a row that may join costs it, in quarters of an overlap of one."""


def grown_clusters(
    rows: CollapsedRows, *, k: int, rule: Rule, seed_order: str, rng: np.random.Generator
) -> Labels:
    """Return clusters of at least k rows, most of them of exactly k.

    A distinct row of k copies or more is a cluster of its own. Around other seeds a cluster takes
    the row of largest mean overlap less a share of its degree. The last rows, fewer than k, go
    where most is kept.

    Time is O(sum of squared degrees of the features) among distinct rows; memory is O(entries +
    rows + features). Bounds on popular features change no cluster. `seed_order`: ``"degree"`` takes
    rows with most features first, ``"cost"`` those with the nearest k rows. ``"auto"`` is the
    first, or the better of both where rows have about as many features each; of over 20,000 rows a
    sample of 10,000 decides.
    """
    orders = ["degree", "cost"] if seed_order == "auto" else [seed_order]
    if seed_order == "auto" and not has_even_degrees(rows):
        orders = ["degree"]
    if len(orders) > 1 and rows.n_distinct > MOST_TRIED:
        sample = _sample(rows, rng)
        orders = [_first_of_most(sample, orders, k=k, rule=rule, rng=rng)[0]]
    return _first_of_most(rows, orders, k=k, rule=rule, rng=rng)[1]


def _first_of_most(
    rows: CollapsedRows, orders: list[str], *, k: int, rule: Rule, rng: np.random.Generator
) -> tuple[str, Labels]:
    """Return the order of seeds whose clusters keep most, the first of equals, and the clusters."""
    first, best, most = "", np.zeros(rows.n_rows, dtype=np.int32), -1.0
    for order in orders:
        with stage("growing clusters"):
            labels = _around(rows, seeds_by(rows, order, k=k, rng=rng), k, QUARTERS[order])
        clusters = clusters_of(rows, labels, rule)
        clusters.insert_unclustered()
        if clusters.jaccard > most:
            first, best, most = order, clusters.labels(), clusters.jaccard
    return first, best


def _sample(rows: CollapsedRows, rng: np.random.Generator) -> CollapsedRows:
    """Return a uniform sample of the distinct rows, each with its copies."""
    chosen = np.sort(rng.permutation(rows.n_distinct)[:SAMPLED])
    weights = rows.weights[chosen]
    kinds = np.repeat(np.arange(chosen.size, dtype=np.int32), weights)
    return CollapsedRows(*rows.lists_of(chosen), weights, kinds, rows.n_features)


def has_even_degrees(rows: CollapsedRows) -> bool:
    """Return whether all rows have about as many features: standard deviation / mean <= 0.2."""
    degrees = rows.degrees()[rows.kinds]
    return bool(degrees.std() <= EVEN_DEGREES * degrees.mean())


def seeds_by(rows: CollapsedRows, order: str, *, k: int, rng: np.random.Generator) -> Ints:
    """Return the distinct rows in the order of seeds, those of equal rank in a random order."""
    if order == "degree":
        keys = -rows.degrees()
    else:
        lists = kernel.lists_of(rows.indptr, rows.indices, rows.n_features)
        kinds = kernel.RowKinds(rows.indptr, rows.indices, rows.weights)
        keys = nearest_sums(kinds, lists, min(k, rows.n_rows))
    shuffled = rng.permutation(rows.n_distinct)
    return shuffled[np.argsort(keys[shuffled], kind="stable")]


def _around(rows: CollapsedRows, seeds: Ints, k: int, quarters: int) -> Labels:
    """Return the clusters around these seeds; fewer than k rows are in none and have label -1."""
    is_core = rows.weights >= k
    cores = np.nonzero(is_core)[0]
    unused = np.where(is_core, 0, rows.weights)
    steps = _grown(rows, unused, seeds, k, quarters)
    n_grown = int(steps[:, growth.CLUSTER].max(initial=NONE)) + 1
    last = np.nonzero(unused)[0]
    kinds = np.concatenate([steps[:, growth.KIND], cores, last])
    clusters = np.concatenate(
        [steps[:, growth.CLUSTER], n_grown + np.arange(cores.size), np.full(last.size, NONE)]
    )
    copies = np.concatenate([steps[:, growth.COPIES], rows.weights[cores], unused[last]])
    in_order = np.argsort(kinds, kind="stable")
    labels = np.empty(rows.n_rows, dtype=np.int32)
    labels[rows.by_kind()] = np.repeat(clusters[in_order], copies[in_order])
    return labels


def _grown(rows: CollapsedRows, unused: Ints, seeds: Ints, k: int, quarters: int) -> Ints:
    """Return the steps of growth, by the kernel that is quicker: they are the same."""
    if rows.has_popular_features:
        return growth.grow_rarest_first(rarest_first(rows, unused), seeds, k, quarters)
    lists = kernel.lists_of(rows.indptr, rows.indices, rows.n_features)
    return growth.grow(rows.indptr, rows.indices, lists, unused, seeds, k, quarters)


UNCAPPED = 1 << 62

LOOKUPS_FOR_READ = 0.25
"""How many sets are looked up in about the time in which an entry of a list is read."""

READS_FOR_SET = 80
"""Sets are numbered where the lists have so many entries for each. On app data with ten columns, 30
took three times as long as the lists; made-up data of popular items does not care."""

MOST_FEATURES = 60
"""Sets of more features are far too many, whatever the data is."""

ROOM_FOR_SETS = 1 << 22
"""The most sets times candidates for which there is always room: 12 bytes each, and 24 a set."""

ROOM_BY_ENTRY = 4
"""There is room for so many times the entries of the data, too. 316,000 users of popular items need
1.9 sets times candidates an entry, 32 bytes of the 190 that the run takes at its peak."""


def rank_clusters(
    data: Data, index: ranking.Index, near: NDArray[np.int32], list_cap: int = UNCAPPED
) -> None:
    """Write into near[u] the clusters that share a feature with u and gain most by it, best first.

    `list_cap`: how many entries are read of a feature's list. Where all may be, and lists are long,
    rows look up the sets of features that clusters share. The result is the same, and the time to
    look them up does not grow with the number of clusters.
    """
    gainers = _none(near.shape[1])
    if list_cap == UNCAPPED:
        gainers = _gainers_where_worth(data, index, near.shape[1])
    ranking.rank(data, index, gainers, ranking.RankPlan(list_cap, LOOKUPS_FOR_READ), near)


def _gainers_where_worth(data: Data, index: ranking.Index, width: int) -> ranking.Gainers:
    """Return all sets, where to number them takes less time and room than to read the lists."""
    lengths = np.diff(index.starts)
    sizes = np.bincount(index.clusters, minlength=index.bases.size)
    n_sets = float((np.exp2(sizes.clip(max=MOST_FEATURES)) - 1).sum())
    room = max(ROOM_FOR_SETS, ROOM_BY_ENTRY * data.indices.size)
    if READS_FOR_SET * n_sets > lengths[data.indices].sum() or n_sets * width > room:
        return _none(width)
    by_cluster = np.argsort(index.clusters, kind="stable").astype(np.int64, copy=False)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    features = np.repeat(np.arange(lengths.size), lengths)
    return ranking.gainers_of(index, by_cluster, starts, features, int(n_sets), width)


def _none(width: int) -> ranking.Gainers:
    """Return no sets but the empty one."""
    return ranking.Gainers(
        np.full((1, 2), NONE, dtype=np.int64),
        np.full((1, width), -np.inf),
        np.full((1, width), NONE, dtype=np.int32),
    )


ROOM = 1.5
"""Slots of the table for every pair of a cluster and a feature, or a count, that there can be."""


class Clusters(NamedTuple):
    """Clusters that rows are moved between."""

    data: moves.Data
    state: moves.SearchState
    entries: int

    @property
    def jaccard(self) -> float:
        """The Jaccard index of original and release; rows without a cluster count as suppressed."""
        shared, cells = self.state.tally.tolist()
        either = self.entries + cells - shared
        return float(shared / either) if either else 1.0

    def labels(self) -> Labels:
        """Return the cluster of every row, numbered anew without gaps."""
        return np.unique(self.state.labels, return_inverse=True)[1].astype(np.int32)

    def insert_unclustered(self) -> None:
        """Put every row without a cluster where the objective gains most, one by one."""
        rows: Ints = np.nonzero(self.state.labels == moves.NONE)[0]
        moves.insert_unclustered(self.data, self.state, self.jaccard, rows)


def clusters_of(rows: CollapsedRows, labels: Labels, rule: Rule) -> Clusters:
    """Return these clusters, ready for moves; label -1 stands for none.

    Memory is O(entries + rows + features), about 24 bytes for each entry and row.
    """
    n, n_clusters = labels.size, int(labels.max(initial=moves.NONE)) + 1
    entries = int((rows.weights * rows.degrees()).sum())
    table = np.zeros((int(ROOM * (entries + n)) + 8, 2), dtype=np.int64)
    table[:, 0] = moves.FREE
    least = rule.least(np.arange(n + 2, dtype=np.int64))
    data = moves.Data(rows.indptr, rows.indices, rows.kinds, least, rows.n_features)
    state = moves.SearchState(
        table=table,
        clusters=np.zeros((n_clusters, 3), dtype=np.int64),
        heads=np.full(n_clusters, moves.NONE, dtype=np.int32),
        links=np.full((n, 2), moves.NONE, dtype=np.int32),
        labels=labels.astype(np.int32),
        tally=np.zeros(2, dtype=np.int64),
    )
    moves.fill(data, state)
    return Clusters(data, state, entries)


def in_order(rows: CollapsedRows, order: Ints) -> CollapsedRows:
    """Return the rows in this order, the distinct ones as they come: neighbors lie side by side."""
    kinds = rows.kinds[order]
    present, first = np.unique(kinds, return_index=True)
    by_arrival = present[np.argsort(first)]
    numbers = np.empty(rows.n_distinct, dtype=np.int32)
    numbers[by_arrival] = np.arange(by_arrival.size, dtype=np.int32)
    indptr, indices = rows.lists_of(by_arrival)
    weights = rows.weights[by_arrival]
    return CollapsedRows(indptr, indices, weights, numbers[kinds], rows.n_features)


LEAST_GAIN = 5e-4
"""A pass from the second on that gains less is the last."""

ANNEALING_PASSES = 20
HOT_SHARE = 0.7
"""The share of the annealing passes in which the temperature falls to 0."""


class LocalSearchRun(NamedTuple):
    """A search under way: its clusters, its smallest cluster, and room for the kernels."""

    clusters: Clusters
    k: int
    list_cap: int
    near: NDArray[np.int32]
    changed: NDArray[np.int32]
    scratch: moves.Scratch

    def run(self, number: int, heat: float, rng: np.random.Generator) -> None:
        """Do one pass: every row is visited once, then small clusters are.

        Hot visits accept a loss of up to ``heat`` times an exponential variate. At 0 they must gain
        in pass 1, or not lose later; rows that nothing changed for are skipped.
        """
        data, state, _ = self.clusters
        lam, n = self.clusters.jaccard, state.labels.size
        every = number == 1 or heat > 0
        plan = moves.SearchPlan(lam, self.k, largest_swapped(self.k), number, every)
        choice = self._choice(lam)
        order = rng.permutation(n)
        cold_bar = moves.TINY if number == 1 else -moves.TINY
        bars = heat * np.log1p(-rng.random(n)) if heat > 0 else np.full(n, cold_bar)
        moves.sweep(data, state, plan, choice, self.scratch, order, bars)
        moves.dissolve(data, state, plan, choice, moves.small_clusters(state, plan))

    def _choice(self, lam: float) -> moves.SearchChoice:
        """Return where rows may go, by an index of the present clusters."""
        data, state, _ = self.clusters
        index = ranking.index_of(data, state, lam)
        rank_clusters(data, index, self.near, self.list_cap)
        roomy = np.full(2, NONE, dtype=np.int32)
        roomiest = np.argsort(-index.bases, kind="stable")[:2]
        roomy[: roomiest.size] = roomiest
        return moves.SearchChoice(
            self.near, roomy, self.changed, np.empty(self.near.shape[1] + 1, dtype=np.int32)
        )


def refined_clusters(  # noqa: PLR0913  the parameters of the search, each by its name
    rows: CollapsedRows,
    labels: Labels,
    *,
    k: int,
    rule: Rule,
    passes: int = 6,
    candidates: int = 4,
    list_cap: int | None = None,
    anneal: float | None = None,
    rng: np.random.Generator,
) -> Labels:
    """Return clusters of at least k rows that keep as much as the given ones, or more.

    A row in a cluster of more than k may move; others may swap with rows of clusters of at most 4k
    + 8. From the second pass on without heat, changes of equal worth are made too: they open ways,
    and the best clusters seen count.

    A pass from the second on that raises the Jaccard index by less than 0.0005 is the last.
    `candidates`: clusters tried for a row, apart from one that keeps few features; `list_cap`:
    clusters looked at for a row; `anneal`: a temperature to start from: 20 passes accept losses at
    random, fewer and fewer through the first 14.
    """
    together = np.argsort(labels, kind="stable")
    side_by_side = in_order(rows, together)
    clusters = clusters_of(side_by_side, labels[together], rule)
    search = _search(side_by_side, clusters, k=k, candidates=candidates, list_cap=list_cap)
    best, most = search.clusters.labels(), search.clusters.jaccard
    heats = temperatures(passes, anneal)
    with stage("local search", total=len(heats)) as advance:
        for number, heat in enumerate(heats, start=1):
            before = search.clusters.jaccard
            search.run(number, heat, rng)
            after = search.clusters.jaccard
            if after > most:
                best, most = search.clusters.labels(), after
            advance(1)
            if number > 1 and heat == 0 and after - before < LEAST_GAIN:
                break
    labels = np.empty_like(best)
    labels[together] = best
    return labels


def temperatures(passes: int, anneal: float | None) -> list[float]:
    """Return the temperature of every pass."""
    if not anneal:
        return [0.0] * passes
    hot = HOT_SHARE * ANNEALING_PASSES
    return [max(0.0, anneal * (1 - done / hot)) for done in range(ANNEALING_PASSES)]


def largest_swapped(k: int) -> int:
    """Return how many rows a cluster may have for swaps to look at it: most have k."""
    return 4 * k + 8


def _search(
    rows: CollapsedRows, clusters: Clusters, *, k: int, candidates: int, list_cap: int | None
) -> LocalSearchRun:
    """Return a search that stands at these clusters."""
    ours, theirs = np.zeros((2, rows.n_features), dtype=np.int32)
    our_rises, their_rises = np.zeros((2, largest_swapped(k) + 2))
    return LocalSearchRun(
        clusters,
        k,
        UNCAPPED if list_cap is None else list_cap,
        np.full((rows.n_distinct, candidates + 1), NONE, dtype=np.int32),
        np.zeros(len(clusters.state.clusters), dtype=np.int32),
        moves.Scratch(ours, theirs, our_rises, their_rises),
    )


COMPARISONS_BESIDE_MASKS = 100_000_000
"""The comparisons up to which clusters are grown too, where all masks of a table were tried: about
a second of work."""


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """Puts the rows of one chunk into clusters of at least k; processes share it."""

    k: int
    rule: Rule
    algorithm: Greedy | Facility

    def __call__(self, rows: CollapsedRows, rng: np.random.Generator) -> Labels:
        """Return the cluster of every row: of several starts, those that keep most in the end."""
        starts = self.starts(rows, rng)
        best = self.refined(rows, next(starts), rng)
        for start in starts:
            other = self.refined(rows, start, rng)
            best = max(best, other, key=lambda one: kept(rows, one, self.rule).kept)
        return best

    def refined(self, rows: CollapsedRows, labels: Labels, rng: np.random.Generator) -> Labels:
        """Return these clusters after the local search, where the algorithm has one."""
        search = self.algorithm.refine
        if search is None:
            return labels
        return refined_clusters(
            rows,
            labels,
            k=self.k,
            rule=self.rule,
            passes=search.passes,
            candidates=search.candidates,
            list_cap=search.list_cap,
            anneal=search.anneal,
            rng=rng,
        )

    def starts(self, rows: CollapsedRows, rng: np.random.Generator) -> Iterator[Labels]:
        """Yield clusters of at least k rows, before they are refined: of all, the best counts.

        Rows of a table of which nothing may be added are put together by masks. Where that tried
        every mask and to grow clusters would take long, there is no other start.
        """
        if isinstance(self.algorithm, Facility):
            yield self._located(rows, self.algorithm, rng)
            return
        masked = None
        if rows.columns is not None:
            from graphveil.methods.equivalence_classes import masks  # noqa: PLC0415  compiled code

            masked = masks.masked_clusters(rows, k=self.k)
        few = rows.comparisons <= COMPARISONS_BESIDE_MASKS
        if masked is None or not masked.all_masks or few:
            order = self.algorithm.seed_order
            yield grown_clusters(rows, k=self.k, rule=self.rule, seed_order=order, rng=rng)
        if masked is not None:
            yield masked.labels

    def _located(self, rows: CollapsedRows, by: Facility, rng: np.random.Generator) -> Labels:
        """Return clusters around facilities; before local search equal rows stay together."""
        cuts_by_kind = by.cut and by.refine is not None
        labels = facility_clusters(
            rows,
            k=self.k,
            beta=by.beta,
            cost_factor=by.cost_factor,
            runs=by.runs,
            assign=by.assign,
            cut=bool(by.cut) and not cuts_by_kind,
            rng=rng,
        )
        if cuts_by_kind:
            order = rows.by_kind()
            labels[order] = cut_up(labels[order], k=self.k)
        return labels
