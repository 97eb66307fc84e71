"""The published methods, by name: the registry that every table, help page and test reads.

A class is imported when it is first asked for: who verifies a release needs one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, TypeVar

from graphveil.anonymizer import Anonymizer
from graphveil.errors import ParameterError, UsageError, one_of
from graphveil.lazy import lazy_names

if TYPE_CHECKING:
    from graphveil.methods.adaptive import Adaptive as Adaptive
    from graphveil.methods.adaptive import ClusterK as ClusterK
    from graphveil.methods.asymmetric_response import AsymmetricResponse as AsymmetricResponse
    from graphveil.methods.degree_prior_response import DegreePriorResponse as DegreePriorResponse
    from graphveil.methods.der import DensityExploreReconstruct as DensityExploreReconstruct
    from graphveil.methods.hrg import HrgMcmc as HrgMcmc
    from graphveil.methods.k_degree import KDegree as KDegree
    from graphveil.methods.mixing_prior_response import MixingPriorResponse as MixingPriorResponse
    from graphveil.methods.mondrian import Mondrian as Mondrian
    from graphveil.methods.one_k_series import OneKSeries as OneKSeries
    from graphveil.methods.randomized_response import RandomizedResponse as RandomizedResponse
    from graphveil.methods.rename import Rename as Rename
    from graphveil.methods.smooth_k import SmoothK as SmoothK
    from graphveil.methods.smooth_k import SuppressK as SuppressK
    from graphveil.methods.structural import StructuralAnonymity as StructuralAnonymity
    from graphveil.methods.top_m_filter import TopMFilter as TopMFilter

_HOMES = {
    "KDegree": "graphveil.methods.k_degree",
    "StructuralAnonymity": "graphveil.methods.structural",
    "SmoothK": "graphveil.methods.smooth_k",
    "SuppressK": "graphveil.methods.smooth_k",
    "Mondrian": "graphveil.methods.mondrian",
    "AsymmetricResponse": "graphveil.methods.asymmetric_response",
    "DegreePriorResponse": "graphveil.methods.degree_prior_response",
    "MixingPriorResponse": "graphveil.methods.mixing_prior_response",
    "RandomizedResponse": "graphveil.methods.randomized_response",
    "TopMFilter": "graphveil.methods.top_m_filter",
    "OneKSeries": "graphveil.methods.one_k_series",
    "HrgMcmc": "graphveil.methods.hrg",
    "DensityExploreReconstruct": "graphveil.methods.der",
    "Adaptive": "graphveil.methods.adaptive",
    "ClusterK": "graphveil.methods.adaptive",
    "Rename": "graphveil.methods.rename",
}
"""Where every class is defined; the imports above say the same to type checkers."""

_names, __getattr__, __dir__ = lazy_names(__name__, _HOMES)


class Methods(MutableMapping[str, type[Anonymizer[Any]]]):
    """Classes of methods by name, in order.

    Parameters
    ----------
    ours
        The names of classes of this package, by the names of the methods.
    """

    def __init__(self, ours: Mapping[str, str]) -> None:
        self._classes: dict[str, str | type[Anonymizer[Any]]] = dict(ours)

    def __getitem__(self, name: str) -> type[Anonymizer[Any]]:
        """Return the class of a method."""
        method = self._classes[name]
        return __getattr__(method) if isinstance(method, str) else method

    def __setitem__(self, name: str, method: type[Anonymizer[Any]]) -> None:
        """Enter a class."""
        self._classes[name] = method

    def __delitem__(self, name: str) -> None:
        """Take a class out."""
        del self._classes[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names."""
        return iter(self._classes)

    def __contains__(self, name: object) -> bool:
        """Whether there is a method of this name."""
        return name in self._classes

    def __len__(self) -> int:
        """Return how many methods there are."""
        return len(self._classes)


METHODS = Methods(
    {
        "k-degree": "KDegree",
        "structural": "StructuralAnonymity",
        "smooth-k": "SmoothK",
        "suppress-k": "SuppressK",
        "mondrian": "Mondrian",
        "asymmetric-response": "AsymmetricResponse",
        "degree-prior-response": "DegreePriorResponse",
        "mixing-prior-response": "MixingPriorResponse",
        "randomized-response": "RandomizedResponse",
        "top-m-filter": "TopMFilter",
        "dp-1k": "OneKSeries",
        "hrg-mcmc": "HrgMcmc",
        "density-explore-reconstruct": "DensityExploreReconstruct",
        "adaptive": "Adaptive",
        "cluster-k": "ClusterK",
        "rename": "Rename",
    }
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
    known = METHODS.setdefault(method.name, method)
    if known is not method:
        raise UsageError(f"{method.name} is the name of {known.__name__}. Choose another.")
    return method


__all__ = ["METHODS", "Methods", "method_named", "register", *_names]  # noqa: PLE0604  names of classes
