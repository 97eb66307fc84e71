"""What methods share that are there to be compared with, and claim nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from graphveil.anonymizer import MethodResult
from graphveil.claims.guarantees import NotClaimed, Reason
from graphveil.data import Graph
from graphveil.errors import InfeasibleError
from graphveil.methods.noisy import NoisyMethod, cost_of_flips, what_is_public
from graphveil.noise.cells import cells_of
from graphveil.noise.uniform import contains
from graphveil.parameters import parameter
from graphveil.warning_kinds import Advice, NoPromiseWarning

MAX_NODES = 20_000


@dataclass(frozen=True, kw_only=True)
class BaselineMethod(NoisyMethod):
    """A method under noise for which no bound is proved as it runs."""

    accepts: ClassVar[Any] = Graph
    reason: ClassVar[Reason]

    max_nodes: int = parameter(
        default=MAX_NODES,
        text="more nodes are refused: time grows fast",
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
                f"{self.name} takes at most max_nodes={self.max_nodes:,} {noun}, the data has "
                f"{n:,}. Use asymmetric-response or mixing-prior-response, or raise max_nodes."
            )

    def draft(self, data: Graph, released: Graph) -> MethodResult:
        """Return what is handed over: the graph, its cost, and that nothing is claimed."""
        before, after = cells_of(data), cells_of(released)
        kept = int(contains(before, after).sum())
        unclaimed = Advice(
            f"nothing is claimed of a release by {self.name}: {self.guarantee.why} Take "
            "asymmetric-response or mixing-prior-response to claim epsilon",
            NoPromiseWarning,
        )
        return MethodResult(
            data=released,
            cost=cost_of_flips(data, before=before.size, kept=kept, after=after.size),
            advice=(*what_is_public(data), unclaimed),
        )
