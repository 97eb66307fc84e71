"""The published methods, by name: the registry that every table, help page and test reads."""

from __future__ import annotations

from typing import Any, TypeVar

from graphveil.anonymizer import Anonymizer
from graphveil.errors import UsageError
from graphveil.methods.adaptive import Adaptive, ClusterK
from graphveil.methods.asymmetric_response import AsymmetricResponse
from graphveil.methods.degree_prior_response import DegreePriorResponse
from graphveil.methods.k_degree import KDegree
from graphveil.methods.mixing_prior_response import MixingPriorResponse
from graphveil.methods.mondrian import Mondrian
from graphveil.methods.one_k_series import OneKSeries
from graphveil.methods.randomized_response import RandomizedResponse
from graphveil.methods.rename import Rename
from graphveil.methods.smooth_k import SmoothK, SuppressK
from graphveil.methods.structural import StructuralAnonymity
from graphveil.methods.top_m_filter import TopMFilter

METHODS: dict[str, type[Anonymizer[Any]]] = {}
"""Every method by its name on the command line."""

M = TypeVar("M", bound=type[Anonymizer[Any]])


def register(method: M) -> M:
    """Enter a method's class into `METHODS`, and return it: a decorator for methods from elsewhere.

    The command line, the contract tests and the tables of the documentation follow from the entry.

    Raises
    ------
    UsageError
        Where another class bears the name.
    """
    known = METHODS.setdefault(method.name, method)
    if known is not method:
        raise UsageError(f"{method.name} is the name of {known.__name__}. Choose another.")
    return method


for _method in (
    *(KDegree, StructuralAnonymity, SmoothK, SuppressK, Mondrian),
    *(AsymmetricResponse, DegreePriorResponse, MixingPriorResponse, RandomizedResponse),
    *(TopMFilter, OneKSeries, Adaptive, ClusterK, Rename),
):
    register(_method)

__all__ = [
    "METHODS",
    "Adaptive",
    "AsymmetricResponse",
    "ClusterK",
    "DegreePriorResponse",
    "KDegree",
    "MixingPriorResponse",
    "Mondrian",
    "OneKSeries",
    "RandomizedResponse",
    "Rename",
    "SmoothK",
    "StructuralAnonymity",
    "SuppressK",
    "TopMFilter",
    "register",
]
