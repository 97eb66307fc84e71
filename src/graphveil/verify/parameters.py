"""What the parameters of every method may be: the checker's own tables, one for each method."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, get_args

import msgspec

from graphveil.claims.guarantees import MeasureName
from graphveil.limits import SOURCES
from graphveil.verify.verdict import shown

_FRACTION = re.compile(r"0|1|[1-9][0-9]{0,5}/[1-9][0-9]{0,5}")
_GOAL = re.compile(
    r"full|(?:partial|budget):([0-9]*\.?[0-9]+(?:e-[0-9]+)?)|budget:([0-9]{1,18})edges"
)
_NOUNS = {bool: "truth value", int: "whole number", float: "number"}


class Spelling(NamedTuple):
    """A form of text: what it is called, and whether a text has it."""

    noun: str
    fits: Callable[[str], bool]


class Parameter(NamedTuple):
    """What one parameter may be: one of some texts, a text of some form, or a value in a range.

    Parameters
    ----------
    kind
        The type of its values; None, where it may be left out, is no value.
    low, high
        The ends of the range, both allowed.
    choices
        The texts to choose from.
    spelling
        The form of its texts.
    optional
        Whether it may be None.
    """

    kind: type[bool | int | float | str]
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    spelling: Spelling | None = None
    optional: bool = False

    def fits(self, value: object) -> bool:
        """Whether a value that others wrote is one that the parameter may have."""
        if value is None:
            return self.optional
        if isinstance(value, str) and self.kind is str:
            return value in self.choices if self.spelling is None else self.spelling.fits(value)
        if type(value) is not self.kind or not isinstance(value, int | float):
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def otherwise(self) -> str:
        """Return what a value that does not fit is not, in words."""
        if self.spelling is not None:
            return f"no {self.spelling.noun}"
        if self.choices:
            *first, last = map(repr, self.choices)
            return f"neither {', '.join(first)} nor {last}"
        noun = f"no {_NOUNS[self.kind]}"
        if self.high is not None:
            return f"{noun} from {self.low} to {self.high}"
        return noun if self.low is None else f"{noun} of at least {self.low}"


Known = Mapping[str, Parameter]
"""The parameters of a method, by name."""


def parameter_problems(method: str, known: Known, given: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the parameters in a manifest: missing, out of range, or unknown.

    Examples
    --------
    >>> parameter_problems("k-degree", {"k": Parameter(int, 1)}, {"k": 0})
    ['k=0 is no whole number of at least 1']
    """
    problems = []
    for name, parameter in known.items():
        if name not in given:
            problems.append(f"the parameter {name} is missing")
        elif not parameter.fits(given[name]):
            problems.append(f"{name}={shown(given[name])} is {parameter.otherwise()}")
    problems += [
        f"{shown(name)} with the value {shown(value)} is no parameter of {method}"
        for name, value in given.items()
        if name not in known
    ]
    return problems


def words_of(method: str, known: Known) -> list[str]:
    """Return the texts that stand in a manifest's `method` whatever the data."""
    choices = [text for parameter in known.values() for text in parameter.choices]
    return ["name", "source", "parameters", method, SOURCES[method], *known, *choices]


def is_fraction(text: object) -> bool:
    """Whether a text is 0, 1 or two whole numbers with a stroke between."""
    return isinstance(text, str) and _FRACTION.fullmatch(text) is not None


def is_goal(text: object) -> bool:
    """Whether a text spells a goal: everybody, a share in (0, 1], or at least one edit."""
    found = _GOAL.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return False
    share, edges = found.groups()
    return (share is None or 0 < float(share) <= 1) and (edges is None or int(edges) > 0)


def names_in(text: object) -> list[str] | None:
    """Return the names in a text, which commas part or a JSON list holds; None where it is neither.

    Examples
    --------
    >>> names_in("hiv,income=>50K"), names_in('["a,b"]'), names_in("a,,b")
    (['hiv', 'income=>50K'], ['a,b'], None)
    """
    if not isinstance(text, str):
        return None
    names = [name.strip() for name in text.split(",")]
    if text.lstrip().startswith("["):
        try:
            names = msgspec.json.decode(text, type=list[str])
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
    return names if names and all(names) else None


def _is_theta(text: str) -> bool:
    return is_fraction(text) and Fraction(1, 2) <= Fraction(text) <= 1


def _choice(*texts: str, optional: bool = False) -> Parameter:
    return Parameter(str, choices=texts, optional=optional)


def _maybe(
    kind: type[bool | int | float], low: float | None = None, high: float | None = None
) -> Parameter:
    return Parameter(kind, low, high, optional=True)


_YES_OR_NO = Parameter(bool)
_THETA = Spelling("fraction from 1/2 to 1", _is_theta)
_NAMES = Spelling("list of names", lambda text: names_in(text) is not None)

K_DEGREE: Known = {
    "k": Parameter(int, 1),
    "edits": _choice("add", "any"),
    "target": _choice("exact", "greedy"),
    "near": _YES_OR_NO,
    "restarts": Parameter(int, 1),
}

STRUCTURAL: Known = {
    "measure": _choice(*get_args(MeasureName)),
    "distance": Parameter(int, 1),
    "k": Parameter(int, 2),
    "goal": Parameter(str, spelling=Spelling("goal", is_goal)),
    "edits": _choice("delete", "add", "rewire", "any"),
    "heuristic": _choice(
        *("auto", "es", "degree", "affected", "unique", "ua", "search", "strip", "cut", "target")
    ),
    "recompute_gap_edges": _maybe(int, 1),
    "iterations": _maybe(int, 1),
    "preserve_triangles": _YES_OR_NO,
    "time_limit_seconds": _maybe(float, 0),
    "on_interrupt": _choice("stop", "best"),
}

SUPPRESS_K: Known = {
    "k": Parameter(int, 2),
    "algorithm": _choice("greedy", "facility"),
    "seed_order": _choice("auto", "degree", "cost", optional=True),
    "beta": _maybe(float, 1, 1e6),
    "cost_factor": _maybe(float, 0, 1e6),
    "runs": _maybe(int, 1),
    "assign": _choice("nearest", "arrival", optional=True),
    "cut": _maybe(bool),
    "refine": _maybe(bool),
    "passes": _maybe(int, 1),
    "candidates": _maybe(int, 1, 1000),
    "list_cap": _maybe(int, 1),
    "anneal": _maybe(float, 0),
    "chunk_rows": _maybe(int, 4),
    "order": _choice("minhash", "label-propagation", "none", optional=True),
    "rounds": _maybe(int, 0),
}

SMOOTH_K: Known = {
    **SUPPRESS_K,
    "theta": Parameter(str, spelling=_THETA),
    "ties": _choice("keep", "drop"),
    "threshold_noise": _maybe(float, 1e-3),
    "theta_max": _maybe(float, 0.5, 1),
    "sensitive": Parameter(str, spelling=_NAMES, optional=True),
}

MONDRIAN: Known = {
    "k": Parameter(int, 2),
    "split": _choice("first", "balanced"),
    "column_order": _choice("sorted", "given"),
    "release": _choice("suppress", "majority"),
}

RANDOMIZED_RESPONSE: Known = {
    "epsilon": Parameter(float, 0, 40),
    "unit": _choice("edge", "node"),
    "max_edges": Parameter(int, 1000),
}
