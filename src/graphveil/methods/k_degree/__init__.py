"""k-degree anonymity of networks (Liu & Terzi, SIGMOD 2008).

`KDegree` is the method. Beside it stand the paper's algorithms as they are written there, for
study and comparison; they load compiled code, so they are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphveil.methods.k_degree.method import KDegree

if TYPE_CHECKING:
    from graphveil.methods.k_degree.construction import (
        construct_graph,
        greedy_swap,
        priority,
        probing,
        supergraph,
    )
    from graphveil.methods.k_degree.textbook import dp_graph_anonymization, greedy_rec_algorithm

_CONSTRUCTION = ("construct_graph", "greedy_swap", "priority", "probing", "supergraph")
_TEXTBOOK = ("dp_graph_anonymization", "greedy_rec_algorithm")

__all__ = [
    "KDegree",
    "construct_graph",
    "dp_graph_anonymization",
    "greedy_rec_algorithm",
    "greedy_swap",
    "priority",
    "probing",
    "supergraph",
]


def __getattr__(name: str) -> Any:
    """Load an algorithm of the paper when it is first used."""
    if name in _CONSTRUCTION:
        return getattr(import_module("graphveil.methods.k_degree.construction"), name)
    if name in _TEXTBOOK:
        return getattr(import_module("graphveil.methods.k_degree.textbook"), name)
    raise AttributeError(f"module 'graphveil.methods.k_degree' has no attribute {name!r}")
