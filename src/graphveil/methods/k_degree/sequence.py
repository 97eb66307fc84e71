"""Step 0 of k-degree anonymity: an anonymous degree sequence at the least total change.

Liu and Terzi (SIGMOD 2008, degree anonymization) sort the degrees in descending order, cut the
order into groups of at least k nodes and give each group one degree. With ``edits="add"`` that is
the highest degree of the group and its cost is ``I(t, i) = sum of d[t] - d[l] over t <= l < i``;
with ``edits="any"`` (their variant with deletions) it is a median, and the cost is the sum of
distances to it. The dynamic program

    DA(i) = min over t of DA(t) + I(t, i),   t = 0 or k <= t <= i - k

finds the least total change L1* = DA(n). The paper evaluates it over nodes in O(nk).

Departure: nodes of one degree are interchangeable, so everything here works on *runs* (a degree and
how many nodes have it). Only C positions can start a group of some optimum, at most k of each run
(2k - 1 for medians), so that after the histogram the program takes O(D + C) for ``add`` and
O(C log C log D) for ``any``, with D distinct degrees. The kernels say why. The result is as exact
as the paper's: `paper.dp_graph_anonymization` reaches the same L1*.

Nodes with published attributes are grouped into cells of one color and one degree, numbered
``color * span + degree`` (see `cells.py`). The program runs on cells as on degrees: a step of one
degree is a step of one number, and none leads from one color to another, since the last number of
every color stays empty.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.errors import DataError, InfeasibleError
from graphveil.methods.k_degree.kernels import sequence as kernels

AllowedEdits = Literal["add", "any"]


class DegreeRuns(NamedTuple):
    """How many nodes have each distinct degree, the highest degree first.

    `degree` holds the D distinct degrees or cells, strictly descending, `count` how many nodes have
    each; both int64, shape (D,).
    """

    degree: Ints
    count: Ints  # type: ignore[assignment]  # hides tuple.count, which no array of nodes needs


class Plan(NamedTuple):
    """Which degree every node shall get; every target is held by at least k nodes.

    A piece is a set of nodes of one degree that get one target; pieces are ordered by descending
    degree, then target. `degree`, `target` and `count` describe it; `group` numbers the group of
    the dynamic program that it belongs to. All are int64 with one entry per piece. `cost` is that
    before `settle_parity`. The group of a piece may get any target from `low` to `high` at equal
    cost: the two middles of a group of even size, otherwise one value.
    """

    cost: int
    degree: Ints
    target: Ints
    count: Ints  # type: ignore[assignment]  # hides tuple.count, which no array of nodes needs
    low: Ints
    high: Ints
    group: Ints

    @property
    def distance(self) -> int:
        """The sum of ``|target - degree|`` over the nodes, as the plan now stands."""
        return int(np.sum(self.count * np.abs(self.target - self.degree)))

    @property
    def surplus(self) -> int:
        """The sum of ``target - degree`` over the nodes: twice (edges added - edges deleted)."""
        return int(np.sum(self.count * (self.target - self.degree)))


def runs_of(degrees: NDArray[np.integer]) -> DegreeRuns:
    """Return the runs of n degrees or cells.

    By a histogram in O(n + largest); by sorting if the largest is so far above n that the histogram
    would take more memory than the nodes (cells of many colors are).
    """
    if degrees.size and int(degrees.max()) > 8 * degrees.size + 1024:
        values, counts = np.unique(degrees, return_counts=True)
    else:
        histogram = np.bincount(degrees)
        values = np.flatnonzero(histogram)
        counts = histogram[values]
    return DegreeRuns(
        np.ascontiguousarray(values[::-1], dtype=np.int64),
        np.ascontiguousarray(counts[::-1], dtype=np.int64),
    )


def lower_bound_edits(plan_cost: int) -> int:
    """No graph of the guarantee is reached with fewer edits: ceil(L1* / 2).

    An edit changes two degrees by one, and the sum of the degrees is even on both sides.
    """
    return (plan_cost + 1) // 2


def bound_for_targets(residual: NDArray[np.integer]) -> int:
    """No graph with these targets is reached with fewer edits.

    `residual` is target less degree of every node, shape (n,). Additions pay the positive ones,
    deletions the negative ones, so that both bounds add up.
    """
    return _one_sided_bound(residual[residual > 0]) + _one_sided_bound(-residual[residual < 0])


def _one_sided_bound(need: NDArray[np.integer]) -> int:
    """Return how many edges these needs take at least.

    The j nodes with the largest needs share at most j(j-1)/2 edges among themselves; every other
    unit of their need is an edge of its own. And no edge pays more than two units.
    """
    if need.size == 0:
        return 0
    descending = np.sort(need.astype(np.int64))[::-1]
    j = np.arange(1, need.size + 1, dtype=np.int64)
    reached = np.cumsum(descending)
    star = int(np.max(reached - j * (j - 1) // 2))
    return max(star, (int(reached[-1]) + 1) // 2)


class _Positions(NamedTuple):
    """Where the runs start in the descending order, with a closing entry at n.

    `first[r]` is the position of the first node of run r, `degree[r]` its degree, `prefix[r]` the
    sum of all degrees before it; int64, shape (D + 1,).
    """

    first: Ints
    degree: Ints
    prefix: Ints


def _positions(runs: DegreeRuns, k: int) -> _Positions:
    n = int(runs.count.sum())
    if n < k:
        raise InfeasibleError(f"k={k} exceeds the {n} nodes of the network. Choose k <= {n}.")
    # The kernels add up products of a degree and a number of nodes in 64 bits.
    largest = int(runs.degree[0])
    if largest * n >= 2**62:
        raise DataError(
            f"{n} nodes with degrees up to {largest} have sums that exceed 64 bits. Degrees "
            "must be below the number of nodes."
        )
    zero = np.zeros(1, dtype=np.int64)
    return _Positions(
        np.concatenate((zero, np.cumsum(runs.count))),
        np.concatenate((runs.degree, zero)),
        np.concatenate((zero, np.cumsum(runs.count * runs.degree))),
    )


def optimal_plan(
    runs: DegreeRuns, k: int, *, edits: AllowedEdits, parts: Ints | None = None
) -> Plan:
    """Every target is held by at least k nodes, and no such plan has a lower cost.

    The Dynamic Programming algorithm of Liu and Terzi over few positions: a group starts among the
    first k nodes of a run, for medians also among the last k - 1. With C such positions and D runs,
    ``add`` takes O(D + C), ``any`` O(C log C log D).

    Parameters
    ----------
    runs
        The degrees, or the cells of colored nodes.
    k
        The least number of nodes per target, at least 1.
    edits
        ``"add"``: targets are not below degrees. ``"any"``: they may be.
    parts
        No group has nodes of several parts. The run behind each part's last one, ascending, int64;
        each part has at least k nodes. None: one part.

    Returns
    -------
    Plan
        Targets with the least cost; the sum may still be odd (see `parity.settle_parity`).

    Raises
    ------
    InfeasibleError
        There are fewer than k nodes.
    DataError
        The sums of the degrees may exceed 64 bits.
    """
    at = _positions(runs, k)
    # Positions at which a group of some optimum may start: cut[c], in run run[c].
    tail = k - 1 if edits == "any" else 0
    parts = np.array([runs.degree.size]) if parts is None else parts
    room = int(np.minimum(runs.count, k + tail).sum()) + 1 + parts.size
    cut, run = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    ends = np.empty_like(parts)
    filled = kernels.cuts_worth_trying(at.first, parts, k, tail, cut, run, ends)
    cut, run = cut[:filled], run[:filled]
    # Equations 2 and 3, part by part: value[c] is the least cost of the part's nodes before cut c
    # (for "add": the least sum of their targets), previous[c] where the last group starts. The end
    # of a part is the first cut of the next one, whose value a program sets to 0: so parts are
    # taken from the last to the first, and the value of the part that ends there is what remains.
    value, previous = np.empty_like(cut), np.empty_like(cut)
    slope = at.degree[run]
    begins = [0, *ends[:-1].tolist()]
    for begin, end in reversed([*zip(begins, ends.tolist(), strict=True)]):
        part = slice(begin, end + 1)
        if edits == "add":
            kernels.cheapest_raise(cut[part], slope[part], k, value[part], previous[part])
        else:
            kernels.cheapest_median(*at, cut[part], run[part], k, value[part], previous[part])
        previous[part] += begin
    # L1*: sum of targets less sum of degrees for "add", the sum of distances itself for "any".
    cost = int(value[ends].sum()) - (int(at.prefix[-1]) if edits == "add" else 0)
    # Follow the cuts back from the end; the groups of an optimum start there.
    starts = np.empty(cut.size, dtype=np.int64)
    starts = starts[starts.size - kernels.trace_back(cut, previous, starts) :]
    return _plan(cost, runs, at, starts, edits)


def greedy_plan(runs: DegreeRuns, k: int) -> Plan:
    """Every target is held by at least k nodes and none is below the degree; cost not minimal.

    The Greedy algorithm of Liu and Terzi: a node joins the group at hand if C_merge <= C_new.
    Windows are cut at n, fewer than k last nodes join the last group, equal costs merge. O(D k) at
    most after the histogram: within a run whose degree is the group's, the loop jumps.
    """
    at = _positions(runs, k)
    starts = np.empty(min(int(at.first[-1]) // k, 2 * runs.degree.size), dtype=np.int64)
    starts = starts[: kernels.greedy_starts(*at, k, starts)]
    plan = _plan(0, runs, at, starts, "add")
    return plan._replace(cost=plan.distance)


def _plan(cost: int, runs: DegreeRuns, at: _Positions, starts: Ints, edits: AllowedEdits) -> Plan:
    """Give each group its target and list the pieces that groups and runs cut each other into."""
    # Runs and groups overlap in at most one piece for every border between them.
    room = runs.degree.size + starts.size
    run, group, count = (np.empty(room, dtype=np.int64) for _ in range(3))
    filled = kernels.cut_runs(at.first, starts, run, group, count)
    run, group, count = run[:filled], group[:filled], count[:filled]
    # "add": all get the degree of the first of the group. "any": any value between the two middles.
    if edits == "add":
        high = low = _degree_at(at, starts)
    else:
        ends = np.append(starts[1:], at.first[-1])
        high = _degree_at(at, (starts + ends - 1) // 2)
        low = _degree_at(at, (starts + ends) // 2)
    return Plan(cost, runs.degree[run], low[group], count, low[group], high[group], group)


def _degree_at(at: _Positions, position: Ints) -> Ints:
    """Return the degree at these positions of the descending order."""
    return at.degree[np.searchsorted(at.first, position, side="right") - 1]
