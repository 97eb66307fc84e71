"""Re-identification by an attacker who has a copy of the network and knows a few people, or none.

Two graphs are matched by what matched neighbors say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackInput,
    AttackOptions,
    Outcome,
    TooLargeError,
    ends_of,
    refuse_more_nodes,
    squares,
)
from graphveil.attacks.networks import copies
from graphveil.attacks.networks.assignment.surroundings import values_around
from graphveil.attacks.networks.signatures import (
    COPY,
    CopyOf,
    Relations,
    SideInformation,
    totals,
    words_of,
)
from graphveil.attacks.networks.signatures import degrees as degrees_of
from graphveil.core.lazy import lazy_module
from graphveil.core.parameters import parameter
from graphveil.core.progress import check_time, in_time, stage
from graphveil.core.rows import Setting
from graphveil.core.text import counted
from graphveil.data import Graph
from graphveil.evaluate.comparison import Floats, GraphComparison, Ints, sparse
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.values import triangles

if TYPE_CHECKING:
    from scipy.spatial import distance

    from graphveil.attacks.kernels import percolation as kernels
else:
    distance = lazy_module("scipy.spatial.distance")
    kernels = lazy_module("graphveil.attacks.kernels.percolation")

Match: TypeAlias = "Ints"
"""The node of the other graph that every node was given, or -1."""

MOST_MARKS = 400_000_000
"""So many marks are spread, then the matching stops where it is."""

LEAST_COMMON = 2
ENOUGH_UNCHANGED = 0.999
SURE_SHARE = 0.15
_FLOPS = 20_000_000
_ROWS_AT_ONCE = 1 << 20


class Expanded(NamedTuple):
    """A matching, and whether it was stopped at the most marks."""

    match: Match
    stopped: bool


def expand(
    one: Graph,
    two: Graph,
    seeds: Match,
    most_marks: int = MOST_MARKS,
    *,
    more: SideInformation | None = None,
) -> Expanded:
    """Return a matching grown from known pairs.

    ExpandWhenStuck: Kazemi, Hassani and Grossglauser, *Growing a graph matching from a handful of
    seeds*, PVLDB 2015. When no pair has two marks, pairs with one spread marks without being
    matched: as many as there are nodes in both graphs, of the nearest degrees.
    """
    more = SideInformation.of_graphs(one, two) if more is None else more
    first, second = candidate_lists(more)
    match = kernels.PercolationMatch(seeds.copy(), inverse(seeds, two.n_nodes))
    known = np.flatnonzero(seeds >= 0)
    fresh = known * two.n_nodes + seeds[known]
    tally = np.zeros(kernels.TALLIES, dtype=np.int64)
    tally[kernels.MOST_MARKS] = most_marks
    table, shift = kernels.new_table(1 << 12)
    heap = np.empty((1 << 12, 2), dtype=np.int64)
    while fresh.size:
        check_time()
        tally[kernels.SPREAD] = 0
        while end := kernels.percolate(first, second, fresh, match, table, shift, heap, tally):
            if end == kernels.TOO_MANY:
                return Expanded(match.one, stopped=True)
            table, shift = _with_room(table, shift, match, tally)
            heap = _with_room_in_heap(heap, table, shift, match, tally)
            check_time()
        fresh = _not_spread(first.degrees, second.degrees, match, table)
    return Expanded(match.one, stopped=False)


def candidate_lists(more: SideInformation) -> tuple[kernels.CandidateLists, kernels.CandidateLists]:
    """Return two networks as the kernel reads them: lists one after another, and attributes."""
    sides = []
    for at, relations in enumerate((more.copy, more.released)):
        starts = np.cumsum([0, *(lists.indices.size for lists in relations)])
        indptr = np.stack(
            [lists.indptr + start for lists, start in zip(relations, starts[:-1], strict=True)]
        )
        n = indptr.shape[1] - 1
        rows = np.empty((n, 0), dtype=np.int32) if more.rows is None else more.rows[at]
        indices = np.concatenate([lists.indices for lists in relations])
        codes = np.ascontiguousarray(rows, dtype=np.int32)
        sides.append(kernels.CandidateLists(indptr, indices, totals(relations), codes))
    return sides[0], sides[1]


def _with_room(
    table: Match, shift: int, match: kernels.PercolationMatch, tally: Match
) -> tuple[Match, int]:
    """Return the table, or one of the pairs that are free with room for the next marks; its shift.

    It is full up to three quarters when it is copied, and up to half of that afterwards.
    """
    following = int(tally[kernels.NEXT])
    if 4 * (int(tally[kernels.ENTRIES]) + following) <= 3 * len(table):
        return table, shift
    free = kernels.free_pairs(table, match)
    new, new_shift = kernels.new_table(max(2 * free, free + following))
    tally[kernels.ENTRIES] = kernels.refill(table, match, new, new_shift)
    return new, new_shift


def _with_room_in_heap(
    heap: Match, table: Match, shift: int, match: kernels.PercolationMatch, tally: Match
) -> Match:
    """Return the heap with room for the next marks: without old entries, and larger if need be."""
    following = int(tally[kernels.NEXT])
    if int(tally[kernels.QUEUED]) + following <= len(heap):
        return heap
    size = kernels.compact(heap, int(tally[kernels.QUEUED]), match, table, shift)
    tally[kernels.QUEUED] = size
    if 2 * size + following <= len(heap):
        return heap
    larger = np.empty((2 * size + following, 2), dtype=np.int64)
    larger[:size] = heap[:size]
    return larger


def _not_spread(one: Ints, two: Ints, match: kernels.PercolationMatch, table: Match) -> Match:
    """Return marked pairs of free nodes that were not spread, of degrees near to each other."""
    n = two.size
    waiting = [np.empty(0, dtype=np.int64)]
    for start in range(0, table.size, _ROWS_AT_ONCE):
        rows = table[start : start + _ROWS_AT_ONCE]
        pairs = rows[(rows >= 0) & (rows & 1 == 0)] >> kernels.VALUE_BITS
        waiting.append(pairs[(match.one[pairs // n] < 0) & (match.two[pairs % n] < 0)])
    pairs = np.concatenate(waiting)
    both = one[pairs // n], two[pairs % n]
    apart = np.abs(both[0] - both[1]) / np.maximum(*both)
    most = one.size + two.size
    chosen: Match = pairs[np.argsort(apart, kind="stable")[:most]]
    return chosen


def inverse(match: Match, n: int) -> Match:
    """Return the same matching seen from the other graph, of n nodes.

    >>> inverse(np.array([2, -1]), 3).tolist()
    [-1, -1, 0]
    """
    back = np.full(n, copies.NOBODY, dtype=np.int64)
    matched = np.flatnonzero(match >= 0)
    back[match[matched]] = matched
    return back


def refine(
    one: Graph,
    two: Graph,
    match: Match,
    seeds: Match,
    rounds: int,
    more: SideInformation | None = None,
) -> Match:
    """Return a matching of nodes that are each other's likest by their matched neighbors.

    How like nodes are is the number of pairs of their neighbors that are matched, at least 2, over
    the root of the product of their degrees. Every round costs at most the squares of the degrees.
    """
    more = SideInformation.of_graphs(one, two) if more is None else more
    for _ in range(rounds):
        new = _mutual(more, match)
        known = seeds[seeds >= 0]
        new[np.isin(new, known)] = copies.NOBODY
        new = np.where(seeds >= 0, seeds, new)
        unchanged = np.count_nonzero(new == match)
        match = new
        if unchanged >= ENOUGH_UNCHANGED * match.size:
            break
    return match


def _mutual(more: SideInformation, match: Match) -> Match:
    """Return pairs that are the likest of their row and their column, the first of equals."""
    n_one, n_two = (lists[0].indptr.size - 1 for lists in (more.copy, more.released))
    best = np.zeros(n_two)
    parts = []
    for block in _likeness(more, match):
        np.maximum.at(best, block.col, block.data)
        largest = np.zeros(n_one)
        np.maximum.at(largest, block.row, block.data)
        some = block.data == largest[block.row]
        parts.append((block.row[some], block.col[some], block.data[some]))
    new = np.full(n_one, copies.NOBODY, dtype=np.int64)
    if not parts:
        return new
    row, column, value = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    mutual = value == best[column]
    row, column = row[mutual], column[mutual]
    first = np.unique(row, return_index=True)[1]
    row, column = row[first], column[first]
    first = np.unique(column, return_index=True)[1]
    new[row[first]] = column[first]
    return new


def _likeness(more: SideInformation, match: Match) -> Iterator[sparse.coo_array]:
    """Yield how like nodes are, a block of rows of the first graph at a time."""
    first, second, turned = more.matrices(np.int32)
    shape = (first[0].shape[0], second[0].shape[0])
    matched = np.flatnonzero(match >= 0)
    ones = np.ones(matched.size, dtype=np.int32)
    pairs = sparse.csr_array((ones, (matched, match[matched])), shape=shape)
    paired = sparse.hstack([lists @ pairs for lists in first], format="csr")
    beyond = sparse.vstack(turned, format="csr")
    near = np.diff(beyond.indptr)
    work = np.concatenate([[0], np.cumsum(near[paired.indices])])[paired.indptr]
    roots = [np.sqrt(totals(lists)) for lists in (more.copy, more.released)]
    for start, end in in_time(row_blocks(work)):
        block = (paired[start:end] @ beyond).tocoo()
        common = block.data >= LEAST_COMMON
        row, column = block.row[common] + start, block.col[common]
        data = block.data[common] / (roots[0][row] * roots[1][column])
        if more.rows is not None:
            data = np.where(more.rows.fit(row, column), data, 0)
        yield sparse.coo_array((data, (row, column)), shape=shape)


def row_blocks(work: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of about equal work; `work` is that of all rows before each, and all."""
    start, last = 0, work.size - 1
    while start < last:
        end = int(np.searchsorted(work, work[start] + _FLOPS, side="right")) - 1
        end = min(max(end, start + 1), last)
        yield start, end
        start = end


def high_confidence_pairs(one: Graph, two: Graph, more: SideInformation | None = None) -> Match:
    """Return a few pairs of nodes whose surroundings are far more similar than any others.

    Nodes of degree 3 and more that are each other's nearest, of those the 15% whose second nearest
    is farthest off, in proportion.
    """
    more = SideInformation.of_graphs(one, two) if more is None else more
    around = values_around(more)
    far = distance.cdist(
        _surroundings(one, more.copy, around[0]),
        _surroundings(two, more.released, around[1]),
        "cityblock",
    )
    if more.rows is not None:
        far[more.rows.excluded()] = np.inf
    row, column = far.argmin(axis=1), far.argmin(axis=0)
    mutual = column[row] == np.arange(row.size)
    mutual &= (one.degrees() >= 3) & (two.degrees()[row] >= 3)
    pairs = np.flatnonzero(mutual)
    two_least = (
        np.partition(far[pairs], 1, axis=1)[:, :2] if far.shape[1] > 1 else far[pairs][:, [0, 0]]
    )
    with np.errstate(invalid="ignore"):  # nobody else has these attributes
        doubt = two_least[:, 0] / np.maximum(two_least[:, 1], np.finfo(float).tiny)
    surest = pairs[np.argsort(doubt, kind="stable")[: int(np.ceil(SURE_SHARE * pairs.size))]]
    match = np.full(one.n_nodes, copies.NOBODY, dtype=np.int64)
    match[surest] = row[surest]
    return match


def _surroundings(graph: Graph, relations: Relations = (), values: Sequence[Ints] = ()) -> Floats:
    """Return what each node's surroundings are like, as logarithms of one plus numbers.

    How many nodes at distance 1, and at distance 2, have degrees of at least powers of the root of
    2, the latter by half; twice the degree; and the number of triangles. Where edges are of several
    kinds or directed, the degrees of each; and how many neighbors show each value of attributes.
    """
    degrees = graph.degrees()
    powers = np.floor(2 * np.log2(np.maximum(degrees, 1))).astype(np.int64)
    at_least = (powers[:, None] >= np.arange(2 * 17)).astype(np.float64)
    near = graph.to_scipy().astype(np.float64)
    second = near @ near
    second.data[:] = 1
    beyond = second - second.multiply(near)
    beyond.setdiag(0)
    around = np.log1p(near @ at_least), np.log1p(beyond @ at_least) / 2
    own = 2 * np.log1p(degrees), np.log1p(triangles(graph))
    each = degrees_of(relations) if len(relations) > 1 else ()
    return np.hstack([*around, np.column_stack([*own, *map(np.log1p, [*each, *values])])])


MOST_NODES, MOST_SQUARES = 100_000, 400_000_000
"""Up to so many nodes, and so large a sum of squared degrees, graphs are matched."""

MOST_NODES_UNKNOWN = 6_000
"""Up to so many nodes they are matched with nobody known: all pairs of nodes are held at once."""

SMALLER = "Use a release with fewer nodes"

OVERLAPS, KNOWN = (1.0, 0.9, 0.8), (0, 5, 10, 20, 50)
ROUNDS, ROUNDS_UNKNOWN = 12, 25
_LEAST_DEGREE = 2


@dataclass(frozen=True, kw_only=True)
class SeedPropagationOptions(AttackOptions, label="seed-propagation"):
    """What the copy shares with the original, and how many people are known."""

    overlap: float | None = parameter(
        default=None,
        text=copies.OVERLAP,
        minimum=0,
        maximum=1,
        unset=", ".join(f"{overlap:g}" for overlap in OVERLAPS),
    )
    known: int | None = parameter(
        default=None,
        text="number of people whose released node is known; 0 for none",
        minimum=0,
        unset=", ".join(map(str, KNOWN)),
    )
    people: float = parameter(default=1.0, text=copies.PEOPLE, minimum=0, maximum=1)
    copy: CopyOf = parameter(default="network", text=COPY)
    draws: int = parameter(
        default=10, text="number of copies, each with different known people", minimum=1
    )

    @property
    def settings(self) -> list[tuple[float, int]]:
        """Every overlap and number of known people that is tried."""
        overlaps = OVERLAPS if self.overlap is None else (self.overlap,)
        known = KNOWN if self.known is None else (self.known,)
        return [(overlap, number) for overlap in overlaps for number in known]


class Guess(NamedTuple):
    """One draw: the copy next to the release, who is known, and who was given which node.

    `pairing`: the two graphs; `known`: int64: the nodes of the copy whose released node the
    attacker knows; `match`: int64, shape (n,): the released node of every node of the copy, or -1;
    `capped`: whether the matching was stopped before it came to its end.
    """

    pairing: copies.Pairing
    known: Ints
    match: Match
    capped: bool


def seed_propagation(
    situation: AttackInput[GraphComparison], options: SeedPropagationOptions
) -> Outcome:
    """Return how many people are named by matching copies of the original with the release."""
    pair = situation.comparison
    knows = words_of(pair, options.copy)
    settings = [
        Setting(overlap=overlap, knows=knows, people=options.people, known=known)
        for overlap, known in options.settings
    ]
    return copies.named_by_copies(
        situation, "seed-propagation", settings, partial(_drawn, pair, options)
    )


def check_matching(pair: GraphComparison) -> None:
    """Refuse where nodes or edges are too many for a matching."""
    n, total = pair.original.n_nodes, squares(pair)
    refuse_more_nodes(n, MOST_NODES, SMALLER)
    if total > MOST_SQUARES:
        raise TooLargeError(
            f"the sum of squared degrees, {total:,}, exceeds the limit of {MOST_SQUARES:,}. "
            f"{SMALLER}"
        )


PER_END, PER_MARK, PER_PAIR = 1e-6, 1.5e-7, 4e-8
"""Seconds of one draw for every end of an edge, for every mark, and with nobody known for every
pair of nodes. Marks are about as many as the squares of the degrees add up to."""

NEAR_BY, GROWTH, FARTHEST = 500_000, 0.38, 25_000_000
"""Up to so many marks they are in the cache; then each costs more, by a power, up to so many."""


def seconds(situation: AttackInput[GraphComparison], options: SeedPropagationOptions) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    check_matching(pair)
    settings = options.settings
    unknown = sum(not known for _, known in settings)
    n = pair.original.n_nodes
    if unknown == len(settings) and n > MOST_NODES_UNKNOWN:
        raise TooLargeError(_too_many_unknown(n))
    of_pairs = 0.0 if n > MOST_NODES_UNKNOWN else unknown * PER_PAIR * n * n
    return options.draws * (len(settings) * seconds_of_draw(pair) + of_pairs)


def seconds_of_draw(pair: GraphComparison) -> float:
    """Return about how long one copy takes to be matched, with some people known."""
    marks = squares(pair)
    farther: float = (min(max(marks, NEAR_BY), FARTHEST) / NEAR_BY) ** GROWTH
    return PER_END * ends_of(pair) + PER_MARK * marks * farther


def _too_many_unknown(n: int) -> str:
    """Return why nobody can be matched without known people."""
    return (
        f"{n:,} nodes exceed the limit of {MOST_NODES_UNKNOWN:,} if no one is known. Set a "
        "number of known people, such as 20"
    )


def _drawn(
    pair: GraphComparison,
    options: SeedPropagationOptions,
    setting: Setting,
    kinds: copies.NodeKinds,
    rng: np.random.Generator,
) -> copies.Drawn:
    """Return how good the names of all draws are; the setting says in how many it was stopped."""
    namings = []
    capped, overlap, known = 0, setting.overlap or 0.0, setting.known or 0
    with stage(f"matching a copy of {setting.text}"):
        for _ in in_time(range(options.draws)):
            two = copies.pairing(pair, overlap, rng, people=options.people, copy=options.copy)
            made = guess(two, known, rng)
            namings.append(copies.Naming.of(two, made.match, kinds, made.known))
            capped += made.capped
    return copies.Drawn(setting._replace(capped=capped or None), namings)


def known_people(two: copies.Pairing, known: int, rng: np.random.Generator) -> Ints:
    """Return so many nodes of the copy, drawn evenly among those of two edges in either graph."""
    fewest = np.minimum(two.copy.degrees(), two.released.degrees()[two.truth])
    people = np.flatnonzero(fewest >= _LEAST_DEGREE)
    if people.size < known:
        raise NotMeasuredError(
            f"only {counted(people.size, 'person', 'has', spec=',')} at least two edges both in "
            f"the copy and in the release; {known:,} should be known"
        )
    return rng.choice(people, known, replace=False)


def guess(two: copies.Pairing, known: int, rng: np.random.Generator) -> Guess:
    """Return who is given which released node once some people are known, drawn evenly."""
    n = two.truth.size
    if not known and n > MOST_NODES_UNKNOWN:
        raise TooLargeError(_too_many_unknown(n))
    chosen = known_people(two, known, rng)
    seeds = np.full(n, copies.NOBODY, dtype=np.int64)
    seeds[chosen] = two.truth[chosen]
    if not known:
        surest = high_confidence_pairs(two.copy, two.released, two.more)
        match = refine(two.copy, two.released, surest, seeds, ROUNDS_UNKNOWN, two.more)
        return Guess(two, chosen, match, capped=False)
    grown = expand(two.copy, two.released, seeds, more=two.more)
    match = refine(two.copy, two.released, grown.match, seeds, ROUNDS, two.more)
    return Guess(two, chosen, match, capped=grown.stopped)


SEED_PROPAGATION = Attack(
    name="seed-propagation",
    kind=Graph,
    knows="a copy of the network that shares some of its edges, has random pairs in place of the "
    "others and may lack nodes. It has the edge directions, edge types and published attributes if "
    "the release has them. Also the released nodes of 5 to 50 people, or of no one",
    definition="share of people who are assigned their own released node from their matched "
    "neighbors, and the same share among those who are assigned a node. Only people with an edge "
    "both in the copy and in the release are counted, excluding known people",
    source="Narayanan & Shmatikov, S&P 2009; Kazemi, Hassani & Grossglauser, PVLDB 2015; the "
    "refinement and the start with no one known are graphveil's own",
    cost=f"heavy, up to {MOST_NODES:,} nodes ({MOST_NODES_UNKNOWN:,} with no one known) and a "
    f"sum of squared degrees of {MOST_SQUARES:,}; not run by default",
    compute=seed_propagation,
    seconds=seconds,
    options=SeedPropagationOptions,
    by_name=True,
    said=copies.said_of_copies(", by propagation"),
)
