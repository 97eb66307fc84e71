"""From a grid to methods: every combination of the values that a grid gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from graphveil.anonymizer import Anonymizer
from graphveil.errors import ParameterError, UsageError, did_you_mean
from graphveil.methods.registry import method_named
from graphveil.parameters.columns import Columns
from graphveil.parameters.flat import FlatParameter, flat_parameters

Grid = Mapping[str, Mapping[str, Any]]
"""Parameters by method and by name; a list gives several values."""

MOST_POINTS = 10_000


def methods_of(methods: Sequence[Anonymizer[Any]] | Anonymizer[Any] | Grid) -> list[Any]:
    """Return every method of a grid with its parameters, in the order of the grid, each once.

    Parameters
    ----------
    methods
        Methods, or a grid: parameters by the method's name and their own, where a list stands for
        several values. The last parameter changes first.

    Raises
    ------
    ParameterError
        Where a method or a parameter is unknown, or a value is out of range.
    UsageError
        Where nothing is given, or there are more than 10,000 points.

    Examples
    --------
    >>> [method.k for method in methods_of({"k-degree": {"k": [2, 5], "edits": "any"}})]
    [2, 5]
    """
    if isinstance(methods, Mapping):
        _check_size(methods)
        every = [one for name, grid in methods.items() for one in _combined(name, grid)]
    else:
        every = [methods] if isinstance(methods, Anonymizer) else list(methods)
    for one in every:
        if not isinstance(one, Anonymizer):
            raise UsageError(
                f"{one!r} is no method. Give methods such as KDegree(k=5), or a grid such as "
                '{"k-degree": {"k": [2, 5, 10]}}.'
            )
    if not every:
        raise UsageError("no method is given. Name one, such as k-degree with k=2,5,10.")
    return list({(one.name, repr(one.parameters())): one for one in every}.values())


def _combined(name: str, grid: Mapping[str, Any]) -> Iterator[Anonymizer[Any]]:
    method = method_named(name)
    for values in product(*map(_several, grid.values())):
        yield method.from_parameters(dict(zip(grid, values, strict=True)))


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _check_size(grid: Grid) -> None:
    """Refuse a grid that nobody waits for, before any method of it is made."""
    number = 0
    for name, values in grid.items():
        if not isinstance(values, Mapping):
            raise UsageError(f"{name}={values!r} is no grid. Give parameters, such as k=[2, 5].")
        size = 1
        for several in map(_several, values.values()):
            size *= len(several)
        number += size
    if number > MOST_POINTS:
        raise UsageError(f"the grid has {number:,} points, more than {MOST_POINTS:,}. Give fewer.")


def values_in(method: type[Anonymizer[Any]], name: str, text: str) -> list[Any]:
    """Return the values that a comma list gives of a parameter.

    Parameters
    ----------
    method
        The method.
    name
        The parameter's name.
    text
        Values with commas between them; of columns, lists with semicolons between them.

    Raises
    ------
    ParameterError
        Where the parameter is unknown, or a value is not of its type.

    Examples
    --------
    >>> from graphveil.methods import KDegree
    >>> values_in(KDegree, "k", "2,5,10"), values_in(KDegree, "edits", "add,any")
    ([2, 5, 10], ['add', 'any'])
    """
    known = {item.name: item for item in flat_parameters(method)}
    if name not in known:
        raise ParameterError(
            f"{method.name} has no parameter {name!r}. {did_you_mean(name, known)}"
            f"It has {', '.join(known)}."
        )
    apart = between(known[name].kind)
    return [_value(known[name], part.strip()) for part in text.split(apart)]


def between(kind: Any) -> str:
    """Return what stands between two values of a parameter: names of columns have commas.

    Examples
    --------
    >>> between(int), between(Columns | None)
    (',', ';')
    """
    return ";" if Columns in _alternatives(kind) else ","


def _value(item: FlatParameter, text: str) -> Any:
    """Return one value, of the parameter's type."""
    kinds = _alternatives(item.kind)
    for kind in kinds:
        if get_origin(kind) is Literal and text in get_args(kind):
            return text
    if bool in kinds and text.lower() in {"yes", "true", "no", "false"}:
        return text.lower() in {"yes", "true"}
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _alternatives(kind: Any) -> list[Any]:
    """Return the types that a parameter may have."""
    if isinstance(kind, UnionType) or get_origin(kind) is Union:
        return [inner for one in get_args(kind) for inner in _alternatives(one)]
    return [kind]
