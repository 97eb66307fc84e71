"""The published methods, by name: the registry that every table, help page and test reads."""

from __future__ import annotations

from typing import Any

from graphveil.anonymizer import Anonymizer
from graphveil.methods.k_degree import KDegree
from graphveil.methods.mondrian import Mondrian
from graphveil.methods.randomized_response import RandomizedResponse
from graphveil.methods.smooth_k import SmoothK, SuppressK
from graphveil.methods.structural import StructuralAnonymity

METHODS: dict[str, type[Anonymizer[Any]]] = {
    method.name: method
    for method in (
        KDegree,
        StructuralAnonymity,
        SmoothK,
        SuppressK,
        Mondrian,
        RandomizedResponse,
    )
}
"""Every method by its name on the command line."""

__all__ = [
    "METHODS",
    "KDegree",
    "Mondrian",
    "RandomizedResponse",
    "SmoothK",
    "StructuralAnonymity",
    "SuppressK",
]
