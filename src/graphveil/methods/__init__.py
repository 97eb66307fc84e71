"""The published methods, by name: the registry that every table, help page and test reads.

A class is imported when it is first asked for: who verifies a release needs one of them.
"""

from __future__ import annotations

from typing import Any, TypeVar

from graphveil.anonymizer import Anonymizer
from graphveil.errors import ParameterError, one_of
from graphveil.lazy import Registry, resolve

METHODS: Registry[type[Anonymizer[Any]]] = Registry(
    {
        "k-degree": "graphveil.methods.k_degree:KDegree",
        "structural": "graphveil.methods.structural:StructuralAnonymity",
        "smooth-k": "graphveil.methods.smooth_k:SmoothK",
        "suppress-k": "graphveil.methods.smooth_k:SuppressK",
        "mondrian": "graphveil.methods.mondrian:Mondrian",
        "asymmetric-response": "graphveil.methods.asymmetric_response:AsymmetricResponse",
        "degree-prior-response": "graphveil.methods.degree_prior_response:DegreePriorResponse",
        "mixing-prior-response": "graphveil.methods.mixing_prior_response:MixingPriorResponse",
        "randomized-response": "graphveil.methods.randomized_response:RandomizedResponse",
        "top-m-filter": "graphveil.methods.top_m_filter:TopMFilter",
        "dp-1k": "graphveil.methods.one_k_series:OneKSeries",
        "hrg-mcmc": "graphveil.methods.hrg:HrgMcmc",
        "density-explore-reconstruct": "graphveil.methods.der:DensityExploreReconstruct",
        "adaptive": "graphveil.methods.adaptive:Adaptive",
        "cluster-k": "graphveil.methods.adaptive:ClusterK",
        "rename": "graphveil.methods.rename:Rename",
    },
    line=lambda method: method.promise,
)
"""Every method by its name on the command line."""


def method_named(name: str) -> type[Anonymizer[Any]]:
    """Return the class of a method.

    Raises
    ------
    ParameterError
        Where there is none of this name.

    Examples
    --------
    >>> method_named("k-degree").promise
    'Every node of the release has the same degree as at least k-1 others.'
    """
    if name not in METHODS:
        raise ParameterError(f"no method {name!r}. {one_of(name, METHODS)}")
    return METHODS[name]


M = TypeVar("M", bound=type[Anonymizer[Any]])


def register(method: M) -> M:
    """Enter a method's class into `METHODS`, and return it: a decorator for methods from elsewhere.

    The command line, the contract tests and the tables of the documentation follow from the entry.

    Raises
    ------
    UsageError
        Where another class bears the name.
    """
    METHODS.enter(method.name, method)
    return method


def __getattr__(name: str) -> Any:
    """Return the class of this name, of a method that is registered here."""
    home = next((home for home in METHODS.homes() if home.endswith(f":{name}")), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return resolve(home)


__all__ = ["METHODS", "method_named", "register"]
