"""The cheapest symmetric pairs, exactly, by an integer program over the few undecided pairs.

graphveil's own, for the first iteration of Algorithm 2 of Choromanski, Jebara & Tang, who use a
general b-matching with blossoms. The flow of `symmetric` is the linear relaxation. Its reduced
costs say how much more any symmetric solution costs, at least, with or without a pair. If every
solution with a pair costs at least as much as the rounded one, the pair is out. If every solution
without it does, the pair is in. HiGHS decides the others if they are few. In a prototype, 1,003 of
the 15,753 pairs of wine at level 2 stayed undecided.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.libraries import optimize, sparse
from graphveil.methods.adaptive.kernels import network_simplex

PairMatrix = NDArray[np.int8]

MOST_UNDECIDED = 1_000
"""Above this number of undecided pairs the integer program is not started: the rounded pairs stay.
"""

OPTIONS = {"mip_rel_gap": 0.0, "node_limit": 1}
"""For HiGHS: only an optimum that the root of the search tree proves counts. Bounds are nodes and
never a time, so that a seed repeats."""

PARTS, WIDER = 8, 4
"""The search starts with solutions that cost at most the gap divided by `PARTS` more than the flow,
and widens this reach by a factor of `WIDER`: within a small reach few pairs are undecided, and a
solution found there makes the gap smaller."""

MOST_UNITS = 1e6
"""The costs that HiGHS sees are whole numbers up to here, or fractions scaled to it: its tolerances
are meant for numbers of this size."""


class Bounds(NamedTuple):
    """What the cheapest flow says about pairs both ways.

    Parameters
    ----------
    ends
        int64, shape (m, 2): all pairs i < j.
    costs
        int64, shape (m,): what each costs both ways.
    with_pair, without_pair
        int64, shape (m,): how much more than the flow any solution costs, at least, with the pair,
        and without it.
    least
        The cost of the flow: no solution costs less.
    """

    ends: Ints
    costs: Ints
    with_pair: Ints
    without_pair: Ints
    least: int


def bounds(cost: Ints, flow: PairMatrix, net: network_simplex.FlowNetwork) -> Bounds:
    """Return what the cheapest flow says about pairs both ways.

    Parameters
    ----------
    cost
        int64, shape (n, n), symmetric: what the arcs cost.
    flow
        int8, shape (n, n): the cheapest flow at these costs.
    net
        The network of that solve, for its reduced costs.
    """
    # Linear programming duality: one more unit on an arc costs its reduced cost, and one less on a
    # full arc the negative of it. A pair both ways needs both arcs.
    ends = np.column_stack(np.triu_indices(cost.shape[0], 1))
    i, j = ends.T
    reduced = network_simplex.reduced_costs(net, cost)
    # Positive reduced costs bound what a pair adds, negative ones what its absence adds.
    forth, back = reduced[i, j], reduced[j, i]
    return Bounds(
        ends=ends,
        costs=2 * cost[i, j],
        with_pair=np.maximum(forth, 0) + np.maximum(back, 0),
        without_pair=np.maximum(-forth, 0) + np.maximum(-back, 0),
        least=int(cost[flow > 0].sum()),
    )


def improved(limits: Bounds, rounded: PairMatrix, needs: Ints) -> PairMatrix:
    """Return pairs both ways that cost least, or the best ones found if HiGHS proves no optimum.

    Parameters
    ----------
    limits
        From `bounds`.
    rounded
        int8, shape (n, n): a solution to beat.
    needs
        int64, shape (n,): how many partners everyone needs.
    """
    # Step 1: the gap: what a better solution may cost above the flow. Costs are multiples of the
    # unit.
    best, unit = rounded, max(int(np.gcd.reduce(limits.costs)), 1)
    gap = _price(limits, best) - unit - limits.least
    # Step 2: solve within a part of the gap.
    reach = max(gap // PARTS, unit // 2)
    while gap >= 0:
        reach = min(reach, gap)
        result = _solved_within(limits, reach, needs)
        if result.status not in (OPTIMAL, INFEASIBLE):
            break
        # Step 3: a cheaper solution makes the gap smaller. Once the reach covers it, nothing better
        # exists.
        if result.pairs is not None and _price(limits, result.pairs) < _price(limits, best):
            best = result.pairs
            gap = _price(limits, best) - unit - limits.least
        if gap <= reach:
            break
        reach *= WIDER
    return best


def _price(limits: Bounds, pairs: PairMatrix) -> int:
    """Return what these pairs cost both ways."""
    return int(limits.costs[pairs[limits.ends[:, 0], limits.ends[:, 1]] > 0].sum())


OPTIMAL, GIVEN_UP, INFEASIBLE = 0, 1, 2
"""How a search ended, numbered as by `scipy.optimize.milp`."""


class ExactSolution(NamedTuple):
    """How a search ended, and its pairs if there are any."""

    status: int
    pairs: PairMatrix | None = None


def _solved_within(limits: Bounds, reach: int, needs: Ints) -> ExactSolution:
    """Return the cheapest pairs of those that cost at most `reach` more than the flow."""
    # Step 1: pairs without which the reach is exceeded are in; those with which it is are out.
    undecided = (limits.with_pair <= reach) & (limits.without_pair <= reach)
    required = limits.without_pair > reach
    ends, m = limits.ends[undecided], int(np.count_nonzero(undecided))
    if m > MOST_UNDECIDED:
        return ExactSolution(GIVEN_UP)
    # Step 2: an integer program for the others, for the partners that are still needed.
    has = np.bincount(limits.ends[required].ravel(), minlength=needs.size)
    result = _integer_program(ends, limits.costs[undecided], needs - has)
    if result.x is None or result.status != OPTIMAL:
        return ExactSolution(int(result.status))
    # Step 3: put both together, both ways.
    pairs = np.zeros((needs.size, needs.size), dtype=np.int8)
    both = np.concatenate([limits.ends[required], ends[result.x > 0.5]])
    pairs[both[:, 0], both[:, 1]] = 1
    return ExactSolution(OPTIMAL, pairs | pairs.T)


def _integer_program(ends: Ints, costs: Ints, needs: Ints) -> Any:
    """Return the answer of HiGHS: the cheapest edges with which everybody has enough partners."""
    # A 0/1 variable per edge, and a row per node: its edges are at least what it needs.
    m = costs.size
    incident = sparse.csr_array(
        (np.ones(2 * m), (ends.T.ravel(), np.tile(np.arange(m), 2))), shape=(needs.size, m)
    )
    # Costs are divided by their common unit, or more if they would still be too large.
    unit = max(np.gcd.reduce(costs), costs.max(initial=0) / MOST_UNITS, 1)
    return optimize.milp(
        costs / unit,
        constraints=optimize.LinearConstraint(incident, lb=needs),
        integrality=np.ones(m),
        bounds=(0, 1),
        options=OPTIONS,
    )
