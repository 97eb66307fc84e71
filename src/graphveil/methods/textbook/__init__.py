"""Algorithms as the papers print them, for study and comparison: no release is made by them.

They load compiled code, so they are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.lazy import lazy_names

if TYPE_CHECKING:
    from graphveil.methods.textbook.degree_sequences import (
        dp_graph_anonymization as dp_graph_anonymization,
    )
    from graphveil.methods.textbook.degree_sequences import (
        greedy_rec_algorithm as greedy_rec_algorithm,
    )
    from graphveil.methods.textbook.graph_constructions import construct_graph as construct_graph
    from graphveil.methods.textbook.graph_constructions import greedy_swap as greedy_swap
    from graphveil.methods.textbook.graph_constructions import priority as priority
    from graphveil.methods.textbook.graph_constructions import probing as probing
    from graphveil.methods.textbook.graph_constructions import supergraph as supergraph

_HOMES = {
    "construct_graph": "graphveil.methods.textbook.graph_constructions",
    "dp_graph_anonymization": "graphveil.methods.textbook.degree_sequences",
    "greedy_rec_algorithm": "graphveil.methods.textbook.degree_sequences",
    "greedy_swap": "graphveil.methods.textbook.graph_constructions",
    "priority": "graphveil.methods.textbook.graph_constructions",
    "probing": "graphveil.methods.textbook.graph_constructions",
    "supergraph": "graphveil.methods.textbook.graph_constructions",
}
"""Where every algorithm is defined; the imports above say the same to type checkers."""

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
