"""The cheapest pairs both ways, exactly, where few of all pairs can be in any that are cheaper."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.adaptive import network

Ints = NDArray[np.int64]
PairMatrix = NDArray[np.int8]

MOST_ROWS = 1_000
"""Of more rows no pair is looked at: every one takes some memory."""

MOST_UNDECIDED = 1_000
"""Where more pairs are neither in nor out, the search is given up before it begins."""

OPTIONS = {"mip_rel_gap": 0.0, "node_limit": 1}
"""For HiGHS: an optimum that the root of the tree does not prove is none. No limit is a time."""

PARTS, WIDER = 8, 4
"""The search begins within this part of the gap, and widens so many times."""

MOST_UNITS = 1e6
"""The costs that HiGHS sees are whole numbers up to here, or fractions of it."""


class Bounds(NamedTuple):
    """What the cheapest flow says of pairs both ways.

    Parameters
    ----------
    ends
        Rows i < j of every pair, shape (m, 2).
    costs
        What a pair costs, both ways.
    chosen, left_out
        How much more than the flow all pairs cost together, at least, where this one is among them,
        and where it is not.
    least
        What the flow costs.
    """

    ends: Ints
    costs: Ints
    chosen: Ints
    left_out: Ints
    least: int


def bounds(cost: Ints, flow: PairMatrix, net: network.FlowNetwork) -> Bounds:
    """Return what the cheapest flow says of pairs both ways.

    Parameters
    ----------
    cost
        Symmetric: what a pair costs one way.
    flow
        The cheapest: 1 where record i sends to person j.
    net
        Its tree.
    """
    ends = np.column_stack(np.triu_indices(cost.shape[0], 1))
    i, j = ends.T
    reduced = network.reduced_costs(net, cost)
    one, other = reduced[i, j], reduced[j, i]
    return Bounds(
        ends=ends,
        costs=2 * cost[i, j],
        chosen=np.maximum(one, 0) + np.maximum(other, 0),
        left_out=np.maximum(-one, 0) + np.maximum(-other, 0),
        least=int(cost[flow > 0].sum()),
    )


def improved(known: Bounds, rounded: PairMatrix, needs: Ints) -> PairMatrix:
    """Return pairs both ways that cost least, or what was come to where HiGHS proves no optimum.

    Pairs without which nothing is cheaper, and pairs with which nothing is, are decided by the
    flow. The others are searched within a part of the gap first: few are left there, and what it
    gives makes the gap smaller.

    Parameters
    ----------
    known
        From `bounds`.
    rounded
        Symmetric, 1 for a pair: what has to be improved on.
    needs
        How many pairs everybody has at least.
    """
    best, unit = rounded, max(int(np.gcd.reduce(known.costs)), 1)
    gap = _price(known, best) - unit - known.least
    reach = max(gap // PARTS, unit // 2)
    while gap >= 0:
        reach = min(reach, gap)
        solved = _solved_within(known, reach, needs)
        if solved.status not in (OPTIMAL, INFEASIBLE):
            break
        if solved.pairs is not None and _price(known, solved.pairs) < _price(known, best):
            best = solved.pairs
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
    undecided = (known.chosen <= reach) & (known.left_out <= reach)
    sure = known.left_out > reach
    ends, m = known.ends[undecided], int(np.count_nonzero(undecided))
    if m > MOST_UNDECIDED:
        return ExactSolution(GIVEN_UP)
    given = np.bincount(known.ends[sure].ravel(), minlength=needs.size)
    solved = _integer_program(ends, known.costs[undecided], needs - given)
    if solved.x is None or solved.status != OPTIMAL:
        return ExactSolution(int(solved.status))
    pairs = np.zeros((needs.size, needs.size), dtype=np.int8)
    both = np.concatenate([known.ends[sure], ends[solved.x > 0.5]])
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
