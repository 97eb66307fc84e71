"""From a grid to a plan: every combination of its values, as points with numbers and seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

from graphveil.core.errors import ParameterError, UsageError, did_you_mean
from graphveil.core.parameters import Columns, FlatParameter, flat_parameters
from graphveil.core.version import __version__
from graphveil.methods.base import Anonymizer
from graphveil.methods.registry import method_named

SCHEMA = 1

Status = Literal["finished", "infeasible", "failed", "out of time"]

SEED_BITS = 63

STRENGTHS = ("k", "levels", "epsilon")
"""The main parameters of methods: they are always said."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One release of a sweep.

    Parameters
    ----------
    number
        Its position in the plan, from 1.
    method
        The method's name.
    parameters
        All of its parameters.
    given
        Those that differ from their defaults, in a few words.
    draw
        Which of the repeats it is, from 1.
    seed
        The seed of its release; None for entropy.
    """

    number: int
    method: str
    parameters: dict[str, Any]
    given: str
    draw: int
    seed: int | None

    @property
    def name(self) -> str:
        """The name of its release folder.

        Examples
        --------
        >>> Point(number=3, method="k-degree", parameters={}, given="", draw=1, seed=None).name
        '0003-k-degree'
        """
        return f"{self.number:04d}-{self.method}"

    @property
    def words(self) -> str:
        """What a person calls it."""
        return f"{self.method} {self.given}".strip()


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a point.

    Parameters
    ----------
    number
        Of the point.
    status
        How it ended.
    reason
        Why it has no release; empty where it has one.
    promise
        What its release claims, in a sentence.
    rows
        Its figures, each the fields of a `graphveil.Row`.
    seconds, cpu_seconds
        How long it took, and the CPU time.
    """

    number: int
    status: Status
    reason: str = ""
    promise: str = ""
    rows: list[dict[str, Any]] = []
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All that decides what a sweep comes to.

    Parameters
    ----------
    points
        What is run.
    input_sha256
        The digest of the data.
    kind
        graph, bipartite or table.
    repeats
        How many releases each combination of parameters has.
    seed
        None where releases draw from entropy.
    measuring_seed
        The seed of metrics and attacks, the same for all points.
    metrics, attacks
        Those that were asked for; None for all that fit.
    cpu_seconds
        The CPU time that a point may use; None for no limit.
    reading, format
        How the input was read, and the format of the releases.
    original
        The words by which a command reads the input: its file, and flags; none where there is none.
    tool, schema
        The version of the program, and of this description.
    """

    points: list[Point]
    input_sha256: str
    kind: str
    repeats: int
    seed: int | None
    measuring_seed: int
    metrics: list[str] | None
    attacks: list[str] | None
    cpu_seconds: float | None
    reading: dict[str, Any]
    format: str
    original: list[str] = []
    tool: str = __version__
    schema: int = SCHEMA


class Points(NamedTuple):
    """Points beside the methods that run them."""

    points: list[Point]
    methods: list[Anonymizer[Any]]


def points_of(methods: Sequence[Anonymizer[Any]], *, repeats: int, seed: int | None) -> Points:
    """Return a point for every method and repeat, each with a seed of its own.

    A seed follows from the sweep's and from method, parameters and repeat: another grid changes no
    release.

    `methods`: methods with their parameters; `repeats`: how many releases each has; `seed`: the
    sweep's; None for entropy. Raises `UsageError` where there is less than one repeat.
    """
    if repeats < 1:
        raise UsageError(f"repeats={repeats} is below 1. Give the number of releases per point.")
    points: list[Point] = []
    made: list[Anonymizer[Any]] = []
    varied = _varied(methods)
    for method in methods:
        values = method.parameters()
        for draw in range(1, repeats + 1):
            point = Point(
                number=len(points) + 1,
                method=method.name,
                parameters=values,
                given=given_words(
                    type(method), values | method.concealed(), always=varied[method.name]
                ),
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

    `parameters`: all of its parameters; `always`: those that are said whatever their value.

    Examples
    --------
    >>> from graphveil.methods import KDegree
    >>> given_words(KDegree, KDegree(k=5).parameters())
    'k=5'
    """
    private = method.private_parameters()
    return ", ".join(
        f"{item.name}={_word(parameters[item.name])}"
        for item in flat_parameters(method)
        if parameters.get(item.name) is not None
        and (item.name in always or item.name not in private)
        and (item.name in always or not _is_default(item, parameters[item.name]))
    )


def _is_default(item: FlatParameter, value: Any) -> bool:
    return _word(value) in {_word(item.default), str(item.metadata.get("unset"))}


def _word(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


Grid = Mapping[str, Mapping[str, Any]]
"""Parameters by method and by name; a list gives several values."""

MOST_POINTS = 10_000


def methods_of(methods: Sequence[Anonymizer[Any]] | Anonymizer[Any] | Grid) -> list[Any]:
    """Return every method of a grid with its parameters, in the order of the grid, each once.

    `methods`: methods, or a grid: parameters by the method's name and their own, where a list
    stands for several values. The last parameter changes first. Raises `ParameterError` where a
    method or a parameter is unknown, or a value is out of range. `UsageError` where nothing is
    given, or there are more than 10,000 points.

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
                f"{one!r} is not a method. Give methods such as KDegree(k=5), or a grid such as "
                '{"k-degree": {"k": [2, 5, 10]}}.'
            )
    if not every:
        raise UsageError("no method given. Use one, such as k-degree with k=2,5,10.")
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

    `name`: the parameter's name; `text`: values with commas between them; of columns, lists with
    semicolons between them. Raises `ParameterError` where the parameter is unknown, or a value is
    not of its type.

    Examples
    --------
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

    Examples
    --------
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
