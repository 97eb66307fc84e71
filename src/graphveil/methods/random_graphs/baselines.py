"""What methods share that are there to be compared with, and claim nothing.

Uniform distinct cells of many blocks at once, for graphs that are drawn from noisy counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.guarantees import NotClaimed, Reason
from graphveil.core.errors import InfeasibleError
from graphveil.core.parameters import parameter
from graphveil.core.warnings import Advice, NoPromiseWarning
from graphveil.data import Graph
from graphveil.methods.base import MethodResult
from graphveil.methods.noisy_cells.noisy import NoisyMethod, listed_once, what_is_public

MAX_NODES = 20_000


@dataclass(frozen=True, kw_only=True)
class BaselineMethod(NoisyMethod):
    """A method under noise for which no bound is proved as it runs."""

    accepts = (Graph,)
    reason: ClassVar[Reason]

    max_nodes: int = parameter(
        default=MAX_NODES,
        text="larger networks are refused, because run time grows fast",
        minimum=1000,
        private=True,
    )

    @property
    def guarantee(self) -> NotClaimed:
        """What is promised: nothing."""
        return NotClaimed(reasons=(self.reason,))

    def check_size(self, n: int, *, noun: str = "nodes") -> None:
        """Refuse more nodes than `max_nodes`.

        Raises
        ------
        InfeasibleError
            Where there are more.
        """
        super().check_size(n, noun=noun)
        if n > self.max_nodes:
            raise InfeasibleError(
                f"{self.name} takes at most max_nodes={self.max_nodes:,} {noun}; the data has "
                f"{n:,}. Use asymmetric-response or mixing-prior-response, or raise max_nodes."
            )

    def draft(self, data: Graph, released: Graph) -> MethodResult:
        """Return what is handed over: the graph, and that nothing is claimed."""
        unclaimed = Advice(
            f"a release by {self.name} carries no guarantee: {self.guarantee.why} For a "
            "guaranteed epsilon use asymmetric-response or mixing-prior-response",
            NoPromiseWarning,
        )
        return MethodResult(
            data=released,
            facts=listed_once(data),
            advice=(*what_is_public(data), unclaimed),
        )


def distinct_in(
    rng: np.random.Generator, sizes: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return uniform distinct cells of every block, as many as are asked for: block and cell.

    Where more than half of a block is asked for, what is not drawn is returned.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64DXSM(1))
    >>> [some.tolist() for some in distinct_in(rng, np.array([3, 2]), np.array([3, 0]))]
    [[0, 0, 0], [0, 1, 2]]
    """
    start = np.cumsum(sizes) - sizes
    most = 2 * counts > sizes
    wanted = np.where(most, sizes - counts, counts)
    chosen = np.empty(0, dtype=np.int64)
    missing = wanted
    while missing.any():
        block = np.repeat(np.arange(sizes.size), missing)
        chosen = np.union1d(chosen, start[block] + rng.integers(0, sizes[block]))
        missing = wanted - np.bincount(_block(start, chosen), minlength=sizes.size)
    block = _block(start, chosen)
    whole = np.repeat(start[most], sizes[most])
    before = np.repeat(np.cumsum(sizes[most]) - sizes[most], sizes[most])
    every = whole + np.arange(whole.size) - before
    kept = np.concatenate([chosen[~most[block]], np.setdiff1d(every, chosen[most[block]])])
    block = _block(start, kept)
    return block, kept - start[block]


def _block(start: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(start, cells, side="right") - 1
