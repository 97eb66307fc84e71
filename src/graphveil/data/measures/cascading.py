"""The anonymity cascade: who is identified through a neighbor who was identified before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.data.measures.risk import class_sizes_of_nodes, partition
from graphveil.data.measures.values import Labels

NEVER = -1
"""The level of a node that the cascade does not reach."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cascade:
    """Who is identified by a cascade, and in how many steps.

    Parameters
    ----------
    measure, distance
        What identifies the nodes of level 0.
    second, second_distance
        What tells the neighbors of an identified node apart.
    levels
        int64, shape (n,): 0 for unique nodes, then one more a step; -1 for nodes not reached.
    """

    measure: str
    distance: int
    second: str
    second_distance: int
    levels: NDArray[np.int64]

    def per_level(self) -> list[int]:
        """Return how many nodes are identified at level 0, 1, ..."""
        counts: list[int] = np.bincount(self.levels[self.levels != NEVER]).tolist()
        return counts

    @property
    def share_identified(self) -> float:
        """The share of nodes that are identified at any level."""
        return float(np.count_nonzero(self.levels != NEVER) / max(self.levels.size, 1))

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON can hold them."""
        return {
            "measure": self.second,
            "distance": self.second_distance,
            "identified_nodes": int(np.count_nonzero(self.levels != NEVER)),
            "share_identified": self.share_identified,
            "nodes_per_level": self.per_level(),
        }


def cascade(
    graph: Graph,
    *,
    measure: str = "count",
    distance: int = 1,
    second: str = "degree",
    second_distance: int = 1,
    labels: Labels | None = None,
) -> Cascade:
    """Return who is identified once unique nodes are, and then their neighbors, and so on.

    Level 0 are the nodes that are unique under the measure. A node is identified one level after a
    neighbor if no other node around that neighbor is in its class under the second measure.

    Parameters
    ----------
    graph
        The network as it stands.
    measure, distance
        What the adversary knows of everybody.
    second, second_distance
        What the adversary knows of the people around someone identified.
    labels
        The classes of the measure, where they are known already.

    Raises
    ------
    ParameterError
        Where a measure is unknown, or cannot reach that far.

    Examples
    --------
    >>> comet = Graph.from_edges([0, 0, 0, 3, 4], [1, 2, 3, 4, 5], n=6)
    >>> cascade(comet, measure="degree").levels.tolist()
    [0, -1, -1, 1, 2, 3]
    """
    from graphveil.data.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    if labels is None:
        labels = partition(graph, measure=measure, distance=distance)
    apart = partition(graph, measure=second, distance=second_distance)
    levels = np.where(class_sizes_of_nodes(labels) == 1, 0, NEVER)
    kernels.follow(graph.indptr, graph.indices, apart, levels)
    return Cascade(
        measure=measure,
        distance=distance,
        second=second,
        second_distance=second_distance,
        levels=levels,
    )
