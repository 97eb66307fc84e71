"""graphveil: publish graphs and user-feature data about people, with promises that can be checked.

The way of the data::

    file -> read -> Graph | Bipartite | Table -> method.anonymize -> Release -> write -> folder
                                                  verify, evaluate <-------------------- |

Names are loaded when they are first used, so that importing the package is cheap.

Examples
--------
>>> import graphveil as gv
>>> graph = gv.Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
>>> release = gv.KDegree(k=2).anonymize(graph)
>>> release.verify(graph).ok
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphveil._version import __version__

if TYPE_CHECKING:
    from graphveil import datasets
    from graphveil.claims.guarantees import (
        EdgeDP,
        KAnonymity,
        NodeDP,
        NotClaimed,
        SmoothKAnonymity,
        StructuralKAnonymity,
    )
    from graphveil.data import Bipartite, Graph, Table
    from graphveil.errors import GraphveilError, GraphveilWarning
    from graphveil.evaluate import METRICS
    from graphveil.evaluate import evaluate as evaluate_release
    from graphveil.io import read_bipartite, read_graph, read_table
    from graphveil.measures import MEASURES, measure
    from graphveil.methods import (
        METHODS,
        KDegree,
        Mondrian,
        RandomizedResponse,
        SmoothK,
        StructuralAnonymity,
        SuppressK,
    )
    from graphveil.methods.smooth_k import Chunks, Facility, Greedy, LocalSearch
    from graphveil.methods.structural import Budget, Full, Partial
    from graphveil.release import Release, read_release
    from graphveil.verify import verify as verify_release

_PLACES = {
    "Bipartite": "graphveil.data",
    "Budget": "graphveil.methods.structural",
    "Chunks": "graphveil.methods.smooth_k",
    "EdgeDP": "graphveil.claims.guarantees",
    "Facility": "graphveil.methods.smooth_k",
    "Full": "graphveil.methods.structural",
    "Graph": "graphveil.data",
    "GraphveilError": "graphveil.errors",
    "GraphveilWarning": "graphveil.errors",
    "Greedy": "graphveil.methods.smooth_k",
    "KAnonymity": "graphveil.claims.guarantees",
    "KDegree": "graphveil.methods",
    "LocalSearch": "graphveil.methods.smooth_k",
    "MEASURES": "graphveil.measures",
    "METHODS": "graphveil.methods",
    "METRICS": "graphveil.evaluate",
    "Mondrian": "graphveil.methods",
    "NodeDP": "graphveil.claims.guarantees",
    "NotClaimed": "graphveil.claims.guarantees",
    "Partial": "graphveil.methods.structural",
    "RandomizedResponse": "graphveil.methods",
    "Release": "graphveil.release",
    "SmoothK": "graphveil.methods",
    "SmoothKAnonymity": "graphveil.claims.guarantees",
    "StructuralAnonymity": "graphveil.methods",
    "StructuralKAnonymity": "graphveil.claims.guarantees",
    "SuppressK": "graphveil.methods",
    "Table": "graphveil.data",
    "evaluate_release": "graphveil.evaluate:evaluate",
    "measure": "graphveil.measures",
    "read_bipartite": "graphveil.io",
    "read_graph": "graphveil.io",
    "read_release": "graphveil.release",
    "read_table": "graphveil.io",
    "verify_release": "graphveil.verify:verify",
}

__all__ = [
    "MEASURES",
    "METHODS",
    "METRICS",
    "Bipartite",
    "Budget",
    "Chunks",
    "EdgeDP",
    "Facility",
    "Full",
    "Graph",
    "GraphveilError",
    "GraphveilWarning",
    "Greedy",
    "KAnonymity",
    "KDegree",
    "LocalSearch",
    "Mondrian",
    "NodeDP",
    "NotClaimed",
    "Partial",
    "RandomizedResponse",
    "Release",
    "SmoothK",
    "SmoothKAnonymity",
    "StructuralAnonymity",
    "StructuralKAnonymity",
    "SuppressK",
    "Table",
    "__version__",
    "datasets",
    "evaluate_release",
    "measure",
    "read_bipartite",
    "read_graph",
    "read_release",
    "read_table",
    "verify_release",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name == "datasets":
        return import_module("graphveil.datasets")
    if name not in _PLACES:
        raise AttributeError(f"module 'graphveil' has no attribute {name!r}")
    module, _, attribute = _PLACES[name].partition(":")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
