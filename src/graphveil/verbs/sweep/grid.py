"""From a grid to a plan: every combination of its values, as points with numbers and seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

from graphveil.core.errors import ParameterError, UsageError
from graphveil.core.hints import did_you_mean
from graphveil.core.parameters import Columns, FlatParameter, flat_parameters
from graphveil.core.stated_parameters import concealed_parameters, private_parameters
from graphveil.core.version import __version__
from graphveil.methods.base import Anonymizer
from graphveil.methods.registry import method_named

SCHEMA = 1

Status = Literal["finished", "infeasible", "failed", "out of time"]

SEED_BITS = 63

STRENGTHS = ("k", "levels", "epsilon")
"""The main parameters of methods: they are always said."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One release of a sweep."""

    number: int  # its position in the plan, from 1
    method: str
    parameters: dict[str, Any]
    given: str
    draw: int  # which of the repeats it is, from 1
    seed: int | None  # the seed of its release; None for entropy

    @property
    def name(self) -> str:
        """The name of its release folder.

        >>> Point(number=3, method="k-degree", parameters={}, given="", draw=1, seed=None).name
        '0003-k-degree'
        """
        return f"{self.number:04d}-{self.method}"

    @property
    def words(self) -> str:
        """What a person calls it."""
        return f"{self.method} {self.given}".strip()


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a point."""

    number: int
    status: Status
    reason: str = ""  # why it has no release; empty where it has one
    promise: str = ""
    rows: list[dict[str, Any]] = []
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All that decides what a sweep comes to."""

    points: list[Point]
    input_sha256: str
    kind: str
    repeats: int
    seed: int | None  # None where releases draw from entropy
    measuring_seed: int
    metrics: list[str] | None  # metrics, attacks: those that were asked for; None for all that fit
    attacks: list[str] | None
    cpu_seconds: float | None  # the CPU time that a point may use; None for no limit
    reading: dict[str, Any]
    format: str
    original: list[str] = []
    tool: str = __version__
    schema: int = SCHEMA


class Points(NamedTuple):
    """Points next to the methods that run them."""

    points: list[Point]
    methods: list[Anonymizer[Any]]


def points_of(methods: Sequence[Anonymizer[Any]], *, repeats: int, seed: int | None) -> Points:
    """Return a point for every method and repeat, each with a seed of its own.

    A seed follows from the sweep's and from method, parameters and repeat: another grid changes no
    release.
    """
    if repeats < 1:
        raise UsageError(f"repeats={repeats} is below 1. Give the number of releases per point.")
    points: list[Point] = []
    made: list[Anonymizer[Any]] = []
    varied = _varied(methods)
    for method in methods:
        values = method.parameters()
        shown = values | concealed_parameters(method)
        words = given_words(type(method), shown, always=varied[method.name])
        for draw in range(1, repeats + 1):
            point = Point(
                number=len(points) + 1,
                method=method.name,
                parameters=values,
                given=words,
                draw=draw,
                seed=None if seed is None else _seed_of(seed, method.name, values, draw),
            )
            points.append(point)
            made.append(method)
    return Points(points, made)


def _seed_of(seed: int, method: str, parameters: Mapping[str, Any], draw: int) -> int:
    text = msgspec.json.encode([seed, method, parameters, draw], order="deterministic")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) >> (64 - SEED_BITS)


def _varied(methods: Sequence[Anonymizer[Any]]) -> dict[str, set[str]]:
    """Return the parameters that differ between the points of a method, and its strength."""
    values: dict[str, list[dict[str, Any]]] = {}
    for method in methods:
        values.setdefault(method.name, []).append(method.parameters())
    return {
        name: {one for one in several[0] if len({repr(each[one]) for each in several}) > 1}
        | {*STRENGTHS}
        for name, several in values.items()
    }


def given_words(
    method: type[Anonymizer[Any]],
    parameters: Mapping[str, Any],
    *,
    always: Collection[str] = STRENGTHS,
) -> str:
    """Return the parameters that differ from their defaults, in a few words.

    >>> from graphveil.methods import KDegree
    >>> given_words(KDegree, KDegree(k=5).parameters())
    'k=5'
    """
    private = private_parameters(method)
    return ", ".join(
        f"{item.name}={_word(parameters[item.name])}"
        for item in flat_parameters(method)
        if parameters.get(item.name) is not None
        and (
            item.name in always
            or (
                item.name not in private
                and _word(parameters[item.name])
                not in {_word(item.default), str(item.metadata.get("unset"))}
            )
        )
    )


def _word(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


Grid = Mapping[str, Mapping[str, Any]]
"""Parameters by method and by name; a list gives several values."""

MOST_POINTS = 10_000


def methods_of(methods: Sequence[Anonymizer[Any]] | Anonymizer[Any] | Grid) -> list[Any]:
    """Return every method of a grid with its parameters, in the order of the grid, each once.

    >>> [method.k for method in methods_of({"k-degree": {"k": [2, 5], "edits": "any"}})]
    [2, 5]
    """
    if isinstance(methods, Mapping):
        _check_size(methods)
        every = [
            method_named(name).from_parameters(dict(zip(grid, values, strict=True)))
            for name, grid in methods.items()
            for values in product(*map(_several, grid.values()))
        ]
    else:
        every = [methods] if isinstance(methods, Anonymizer) else list(methods)
    for one in every:
        if not isinstance(one, Anonymizer):
            raise UsageError(
                f"{one!r} is not a method. Give methods such as KDegree(k=5), or a grid such as "
                '{"k-degree": {"k": [2, 5, 10]}}.'
            )
    if not every:
        raise UsageError("no method given. Use one, such as k-degree with k=2,5,10.")
    return list({(one.name, repr(one.parameters())): one for one in every}.values())


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _check_size(grid: Grid) -> None:
    """Refuse a grid that nobody waits for, before any method of it is made."""
    number = 0
    for name, values in grid.items():
        if not isinstance(values, Mapping):
            raise UsageError(f"{name}={values!r} is not a grid. Give parameters, such as k=[2, 5].")
        size = 1
        for several in map(_several, values.values()):
            size *= len(several)
        number += size
    if number > MOST_POINTS:
        raise UsageError(
            f"the grid has {number:,} points, more than the maximum of {MOST_POINTS:,}. Use fewer."
        )


def values_in(method: type[Anonymizer[Any]], name: str, text: str) -> list[Any]:
    """Return the values that a comma list gives of a parameter.

    >>> from graphveil.methods import KDegree
    >>> values_in(KDegree, "k", "2,5,10"), values_in(KDegree, "edits", "add,any")
    ([2, 5, 10], ['add', 'any'])
    """
    known = {item.name: item for item in flat_parameters(method)}
    if name not in known:
        raise ParameterError(
            f"{method.name} has no parameter {name!r}. {did_you_mean(name, known)}Parameters: "
            f"{', '.join(known)}."
        )
    apart = between(known[name].kind)
    return [_value(known[name], part.strip()) for part in text.split(apart)]


def between(kind: Any) -> str:
    """Return what stands between two values of a parameter: columns and commands have commas.

    >>> between(int), between(Columns | None)
    (',', ';')
    """
    kinds = _alternatives(kind)
    commas = Columns in kinds or any(getattr(one, "has_commas", False) for one in kinds)
    return ";" if commas else ","


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
