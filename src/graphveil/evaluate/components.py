"""Connected components of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphveil.data import Graph
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    from scipy.sparse import csgraph
else:
    csgraph = lazy_module("scipy.sparse.csgraph")


def share_of_largest_component(graph: Graph) -> float | None:
    """Return the share of nodes in the largest connected component; None without nodes.

    Examples
    --------
    >>> share_of_largest_component(Graph.from_edges([0, 1], [1, 2], n=4))
    0.75
    """
    if graph.n_nodes == 0:
        return None
    # every tie stands in both directions, so that strong is connected, and costs half as much
    _, component = csgraph.connected_components(graph.to_scipy(), connection="strong")
    return float(np.bincount(component).max() / graph.n_nodes)
