"""Which parameters of a method a manifest states, and which the owner's record alone keeps.

A field says whether its parameter is private for every value, and whether its default is stated
(`graphveil.core.parameters.parameter`). What else depends on values is in the method's `restated`:
a parameter that has no effect is omitted, and a value that only the owner may know is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from graphveil.core.parameters import flat_parameters


class Restated(NamedTuple):
    """What a manifest states of a parameter in place of its value.

    Parameters
    ----------
    value
        The stated value.
    stated
        Whether the manifest has the parameter at all.
    withheld
        Whether the owner's record keeps the true value.
    """

    value: Any = None
    stated: bool = True
    withheld: bool = False


OMITTED = Restated(stated=False)
"""A parameter without effect on this release: no manifest has it."""


class Parametrized(Protocol):
    """A method, as far as its parameters are stated."""

    @property
    def restated(self) -> Mapping[str, Restated]:
        """The parameters that a manifest does not state by their values."""

    def parameters(self) -> dict[str, Any]:
        """Return every parameter by name."""


def private_parameters(method: type[Any]) -> frozenset[str]:
    """Return the names of the parameters of a class that no manifest states."""
    return frozenset(p.name for p in flat_parameters(method) if p.metadata.get("private"))


def published_parameters(method: Parametrized) -> dict[str, Any]:
    """Return the parameters that the public manifest states, with the stated values."""
    private, restated = private_parameters(type(method)), method.restated
    values = method.parameters()
    unset = {
        item.name
        for item in flat_parameters(type(method))
        if not item.metadata.get("stated_at_default", True) and values[item.name] == item.default
    }
    stated = {
        name: restated.get(name, Restated(value))
        for name, value in values.items()
        if name not in private | unset
    }
    return {name: each.value for name, each in stated.items() if each.stated}


def withheld_parameters(method: Parametrized) -> dict[str, Any]:
    """Return what is for the owner's record alone: private parameters, and replaced values."""
    private = private_parameters(type(method))
    replaced = {name for name, each in method.restated.items() if each.withheld}
    return {n: value for n, value in method.parameters().items() if n in private | replaced}


def concealed_parameters(method: Parametrized) -> dict[str, Any]:
    """Return what is shown in place of values that only the owner may know."""
    restated = method.restated.items()
    return {n: each.value for n, each in restated if each.withheld and each.value is not None}
