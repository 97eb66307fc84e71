"""Algorithms as the papers print them, for study and comparison: no release is made by them.

They load compiled code, so they are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphveil.methods.textbook.degree_sequences import (
        dp_graph_anonymization,
        greedy_rec_algorithm,
    )
    from graphveil.methods.textbook.graph_constructions import (
        construct_graph,
        greedy_swap,
        priority,
        probing,
        supergraph,
    )

_HOME = {
    "construct_graph": "graph_constructions",
    "dp_graph_anonymization": "degree_sequences",
    "greedy_rec_algorithm": "degree_sequences",
    "greedy_swap": "graph_constructions",
    "priority": "graph_constructions",
    "probing": "graph_constructions",
    "supergraph": "graph_constructions",
}

__all__ = [
    "construct_graph",
    "dp_graph_anonymization",
    "greedy_rec_algorithm",
    "greedy_swap",
    "priority",
    "probing",
    "supergraph",
]


def __getattr__(name: str) -> Any:
    """Load an algorithm of a paper when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'graphveil.methods.textbook' has no attribute {name!r}")
    return getattr(import_module(f"graphveil.methods.textbook.{_HOME[name]}"), name)
