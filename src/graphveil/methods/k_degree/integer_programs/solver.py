"""Integer programs: their rows, and what HiGHS answers.

Shared by the block program, which bounds the edits from below (`block_program.py`), and the node
program, which carries out a point of it (`node_program.py`). SciPy's `milp` calls HiGHS. Its work
is bounded by nodes of its search tree and never by seconds, so that a seed gives the same release
on every machine.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphveil.core.array_types import Floats, Ints
from graphveil.core.libraries import optimize, sparse

NODE_LIMIT = 50
"""How many nodes of its search tree HiGHS may visit for one block program.

More proves and finds more, in more time. A limit in seconds would make the release depend on the
machine.
"""

TOLERANCE = 1e-6
"""HiGHS' tolerance: a bound is rounded up to a whole number only after this much is taken off."""


class Program(NamedTuple):
    """Minimize ``cost @ v`` subject to ``low <= rows @ v <= high`` and ``0 <= v <= upper``.

    The variables v are, in this order, the x, y, A and D of `block_program.py`. `rows` is a sparse
    matrix (csr), `cost` and `upper` have one entry per variable, `low` and `high` one per row, all
    float64. `moves` (int64, shape (number of x, 2)) has the class and the target of every x,
    `added` and `deleted` (shape (number, 2)) the two classes of every A and D.
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
    """What a solver says: no point has a value below `bound`; `values` is the best point found.

    `bound` is infinite if there is no point, and `values` None if none was found.
    """

    bound: float
    values: Floats | None


class Rows:
    """The rows of a program under construction, one kind of rows after the other.

    `variables` is the number of variables, and so of columns.
    """

    def __init__(self, variables: int) -> None:
        self._sparse, self.variables = sparse, variables
        self.parts: list[tuple[Any, Floats, Floats]] = []

    def matrix(self, row: Ints, column: Ints, value: Any, n: int) -> Any:
        """Return n sparse rows from their entries; entries of the same place are added up."""
        entries = np.asarray(value, dtype=np.float64), (row, column)
        return self._sparse.csr_array(entries, (n, self.variables))

    def add(self, rows: Any, low: Any, high: Any) -> None:
        """Add rows with their bounds, one for each row or one for all."""
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
    """Return HiGHS' result for a program, within this many nodes of its search tree.

    `rows` are the matrix and its lower and upper bounds. Without `integer`, the variables may be
    fractions: the linear relaxation, whose least value is a weaker bound in less time.
    """
    # SciPy's names: `integrality` is 1 for a whole number and 0 for a fraction, one per variable.
    whole, within = np.full(cost.size, int(integer)), optimize.LinearConstraint(*rows)
    options = {"node_limit": nodes}
    return optimize.milp(
        cost,
        integrality=whole,
        bounds=optimize.Bounds(0, upper),
        constraints=within,
        options=options,
    )


def solved(program: Program, *, integer: bool) -> Solution:
    """Return the best point of a program and the bound that HiGHS proves, to its tolerance.

    If the search ends at its limit, the bound is HiGHS' dual bound, which holds all the same; the
    value of the best point would be no bound.
    """
    # Step 1: search, up to `NODE_LIMIT` nodes.
    rows = program.rows, program.low, program.high
    result = best_point(program.cost, program.upper, rows, integer=integer, nodes=NODE_LIMIT)
    # Step 2: if HiGHS proves that there is no point, no set of fewer edits than the best known
    # exists. 2 is SciPy's status of an infeasible program; its documentation lists them.
    infeasible = 2
    if result.status == infeasible:
        return Solution(math.inf, None)
    # Step 3: the bound. With whole numbers, it is the dual bound, which every node of the tree
    # respects; the value of a relaxation, which is solved to its end, is a bound by itself.
    bound = result.mip_dual_bound if integer else result.fun
    return Solution(-math.inf if bound is None else float(bound), result.x)


def whole_bound(bound: float, most: int) -> int:
    """Return the least number of edits that a bound allows; `most` where it allows no fewer."""
    # Edits are whole numbers, so a bound of 6.2 proves 7. A value that is above 6 by no more than
    # HiGHS' tolerance may be 6.
    if bound >= most:
        return most
    return max(math.ceil(bound - TOLERANCE), 0) if math.isfinite(bound) else 0
