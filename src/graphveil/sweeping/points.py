"""What a sweep runs, as values: points with their numbers and seeds, and the plan of all."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from graphveil._version import __version__
from graphveil.anonymizer import Anonymizer
from graphveil.errors import UsageError
from graphveil.parameters.flat import FlatParameter, flat_parameters

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

    Parameters
    ----------
    methods
        Methods with their parameters.
    repeats
        How many releases each has.
    seed
        The sweep's; None for entropy.

    Raises
    ------
    UsageError
        Where there is less than one repeat.
    """
    if repeats < 1:
        raise UsageError(f"repeats={repeats} is below 1. Give how many releases each point has.")
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
                given=given_words(type(method), values, always=varied[method.name]),
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

    Parameters
    ----------
    method
        The method.
    parameters
        All of its parameters.
    always
        Those that are said whatever their value.

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
        and item.name not in private
        and (item.name in always or not _is_default(item, parameters[item.name]))
    )


def _is_default(item: FlatParameter, value: Any) -> bool:
    return _word(value) in {_word(item.default), str(item.metadata.get("unset"))}


def _word(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
