"""Integer programs: their rows, and what HiGHS answers."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

Floats = NDArray[np.float64]

NODE_LIMIT = 50
"""So many nodes of the tree of cases are searched: what seconds allow depends on the machine."""

TOLERANCE = 1e-6
"""By so much the solver may miss."""


class Program(NamedTuple):
    """An integer program: the least sum of edits under rows of bounds.

    Variables begin at 0; `moves` has the class and the target of every x, `added` and `deleted` the
    two classes of every A and D.
    """

    cost: Floats
    rows: Any
    low: Floats
    high: Floats
    upper: Floats
    moves: Ints
    added: Ints
    deleted: Ints

    @property
    def size(self) -> int:
        """The number of variables."""
        return self.cost.size


class Solution(NamedTuple):
    """What a solver says: no point has a value below `bound`, infinite without points; the best."""

    bound: float
    values: Floats | None


class Rows:
    """The rows of a program of so many variables, one kind after the other."""

    def __init__(self, variables: int) -> None:
        from scipy import sparse  # noqa: PLC0415  heavy: only where a bound is asked for

        self._sparse, self.variables = sparse, variables
        self.parts: list[tuple[Any, Floats, Floats]] = []

    def matrix(self, row: Ints, column: Ints, value: Any, n: int) -> Any:
        """Return rows of these entries; what stands twice is added up."""
        entries = np.asarray(value, dtype=np.float64), (row, column)
        return self._sparse.csr_array(entries, (n, self.variables))

    def add(self, rows: Any, low: Any, high: Any) -> None:
        """Add rows with their bounds."""
        n = rows.shape[0]
        self.parts.append((rows, np.broadcast_to(low, n) * 1.0, np.broadcast_to(high, n) * 1.0))

    def stacked(self) -> tuple[Any, Floats, Floats]:
        """Return all rows, and their bounds."""
        rows = self._sparse.vstack([part[0] for part in self.parts]).tocsr()
        low, high = (np.concatenate([part[which] for part in self.parts]) for which in (1, 2))
        return rows, low, high


def best_point(
    cost: Floats, upper: Any, rows: tuple[Any, Floats, Floats], *, integer: bool, nodes: int
) -> Any:
    """Return what HiGHS says, from so many nodes of the tree of cases."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415  heavy, as above

    whole, within = np.full(cost.size, int(integer)), LinearConstraint(*rows)
    options = {"node_limit": nodes}
    return milp(
        cost, integrality=whole, bounds=Bounds(0, upper), constraints=within, options=options
    )


def solved(program: Program, *, integer: bool) -> Solution:
    """Return the best point of a program and the bound that HiGHS proves, to its tolerance."""
    rows = program.rows, program.low, program.high
    result = best_point(program.cost, program.upper, rows, integer=integer, nodes=NODE_LIMIT)
    infeasible = 2
    if result.status == infeasible:
        return Solution(math.inf, None)
    bound = result.mip_dual_bound if integer else result.fun
    return Solution(-math.inf if bound is None else float(bound), result.x)


def whole_bound(bound: float, most: int) -> int:
    """Return the least number of edits that a bound allows; `most` where it allows no fewer."""
    if bound >= most:
        return most
    return max(math.ceil(bound - TOLERANCE), 0) if math.isfinite(bound) else 0
