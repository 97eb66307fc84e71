"""The cheapest symmetric pairs, exactly, by an integer program over the few undecided pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.adaptive.kernels import network_simplex

Ints = NDArray[np.int64]
PairMatrix = NDArray[np.int8]

MOST_UNDECIDED = 1_000
"""Where more pairs are neither in nor out, the search is given up before it begins."""

OPTIONS = {"mip_rel_gap": 0.0, "node_limit": 1}
"""For HiGHS: only an optimum that the root of the tree proves counts. No limit is a time."""

PARTS, WIDER = 8, 4
"""The search begins within this part of the gap, and widens so many times."""

MOST_UNITS = 1e6
"""The costs that HiGHS sees are whole numbers up to here, or fractions of it."""


class Bounds(NamedTuple):
    """What the cheapest flow costs, and how much more at least with each pair, and without it."""

    ends: Ints
    costs: Ints
    with_pair: Ints
    without_pair: Ints
    least: int


def bounds(cost: Ints, flow: PairMatrix, net: network_simplex.FlowNetwork) -> Bounds:
    """Return what the cheapest flow says of pairs both ways."""
    ends = np.column_stack(np.triu_indices(cost.shape[0], 1))
    i, j = ends.T
    reduced = network_simplex.reduced_costs(net, cost)
    one, other = reduced[i, j], reduced[j, i]
    return Bounds(
        ends=ends,
        costs=2 * cost[i, j],
        with_pair=np.maximum(one, 0) + np.maximum(other, 0),
        without_pair=np.maximum(-one, 0) + np.maximum(-other, 0),
        least=int(cost[flow > 0].sum()),
    )


def improved(known: Bounds, rounded: PairMatrix, needs: Ints) -> PairMatrix:
    """Return pairs both ways that cost least, or what was come to where HiGHS proves no optimum.

    Pairs without which nothing is cheaper, and pairs with which nothing is, are decided by the
    flow. The others are searched within a part of the gap first: few are left there, and what it
    gives makes the gap smaller.
    """
    best, unit = rounded, max(int(np.gcd.reduce(known.costs)), 1)
    gap = _price(known, best) - unit - known.least
    reach = max(gap // PARTS, unit // 2)
    while gap >= 0:
        reach = min(reach, gap)
        ended = _solved_within(known, reach, needs)
        if ended.status not in (OPTIMAL, INFEASIBLE):
            break
        if ended.pairs is not None and _price(known, ended.pairs) < _price(known, best):
            best = ended.pairs
            gap = _price(known, best) - unit - known.least
        if gap <= reach:
            break
        reach *= WIDER
    return best


def _price(known: Bounds, pairs: PairMatrix) -> int:
    return int(known.costs[pairs[known.ends[:, 0], known.ends[:, 1]] > 0].sum())


OPTIMAL, GIVEN_UP, INFEASIBLE = 0, 1, 2
"""As `scipy.optimize.milp` numbers its ends."""


class ExactSolution(NamedTuple):
    """How a search ended, and with which pairs."""

    status: int
    pairs: PairMatrix | None = None


def _solved_within(known: Bounds, reach: int, needs: Ints) -> ExactSolution:
    """Return the cheapest pairs of those that may cost so much more than the flow."""
    undecided = (known.with_pair <= reach) & (known.without_pair <= reach)
    sure = known.without_pair > reach
    ends, m = known.ends[undecided], int(np.count_nonzero(undecided))
    if m > MOST_UNDECIDED:
        return ExactSolution(GIVEN_UP)
    given = np.bincount(known.ends[sure].ravel(), minlength=needs.size)
    ended = _integer_program(ends, known.costs[undecided], needs - given)
    if ended.x is None or ended.status != OPTIMAL:
        return ExactSolution(int(ended.status))
    pairs = np.zeros((needs.size, needs.size), dtype=np.int8)
    both = np.concatenate([known.ends[sure], ends[ended.x > 0.5]])
    pairs[both[:, 0], both[:, 1]] = 1
    return ExactSolution(OPTIMAL, pairs | pairs.T)


def _integer_program(ends: Ints, costs: Ints, needs: Ints) -> Any:
    """Return what HiGHS says of the cheapest edges at which everybody has enough."""
    from scipy.optimize import LinearConstraint, milp  # noqa: PLC0415  slow to import
    from scipy.sparse import csr_array  # noqa: PLC0415  the same

    m = costs.size
    incident = csr_array(
        (np.ones(2 * m), (ends.T.ravel(), np.tile(np.arange(m), 2))), shape=(needs.size, m)
    )
    unit = max(np.gcd.reduce(costs), costs.max(initial=0) / MOST_UNITS, 1)
    return milp(
        costs / unit,
        constraints=LinearConstraint(incident, lb=needs),
        integrality=np.ones(m),
        bounds=(0, 1),
        options=OPTIONS,
    )
