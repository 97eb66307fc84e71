"""The methods that the page offers, the strengths that it tries, and quick attacks on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import asdict

if TYPE_CHECKING:
    from graphveil.app.tasks import StudySettings

OWN = "levels"
"""The parameter of a method whose strength everybody chooses: a column says it."""

STRENGTHS = {"k": (5, 10, 3, 20, 2), "epsilon": (2.0, 1.0, 4.0, 0.5, 8.0), OWN: (1,)}
"""What is tried of a parameter, the middle one first."""

TRUTHFUL = ("generalize", "adaptive", "suppress-k")
"""The methods that publish no false value."""

WITH_ROLES = ("generalize", "adaptive")
"""The methods for tables whose columns have roles here."""


class Way(NamedTuple):
    """A method that the page offers, the parameter that is its strength, and quick attacks."""

    method: str
    parameter: str
    attacks: tuple[str, ...] = ("linkage",)
    more: Mapping[str, Any] = {}

    @property
    def strengths(self) -> tuple[float, ...]:
        """The strengths that are tried: the middle one first."""
        return STRENGTHS[self.parameter]

    def parameters(self, strength: float | None, study: StudySettings) -> dict[str, Any]:
        """Return those of the method: its strength, and the roles of columns if it has them."""
        number: Any = int(strength) if self.parameter == "k" and strength else strength
        number = study.want if self.parameter == OWN else number
        has_roles = study.kind == "network" or self.method in WITH_ROLES
        unknown = () if self.method == "generalize" else ("levels", "dates")
        roles = asdict(study.roles).items() if has_roles else ()
        said = {name: given for name, given in roles if given and name not in unknown}
        return {self.parameter: number, **self.more, **said}

    def named(self, strength: float, study: StudySettings) -> str:
        """Return a strength as the page names it."""
        is_own = self.parameter == OWN
        return f"as column {study.want} says" if is_own else f"{self.parameter} = {strength:g}"

    def strength_of(self, text: str) -> float:
        """Return the strength that a form names; the first one of the method if it names none.

        >>> way = WAYS["table"][0]
        >>> way.strength_of("7"), way.strength_of("1"), way.strength_of("many")
        (7, 5, 5)
        """
        try:
            given = float(text)
        except ValueError:
            return self.strengths[0]
        if self.parameter == "k" and 2 <= given < 1e6 and given.is_integer():
            return int(given)
        return given if self.parameter == "epsilon" and 0 < given <= 20 else self.strengths[0]


_PAIRS = ("candidate-set", "seeded-matching")
_K_DEGREE = Way("k-degree", "k", _PAIRS, {"edits": "any"})
WAYS: Mapping[str, tuple[Way, ...]] = {
    "table": (Way("generalize", "k"), Way("smooth-k", "k"), Way("adaptive", OWN)),
    "network": (_K_DEGREE, Way("profile", "k", _PAIRS)),
    "graph": (_K_DEGREE, Way("degree-triangle-model", "epsilon", _PAIRS)),
    "bipartite": (
        Way("suppress-k", "k"),
        Way("smooth-k", "k"),
        Way("randomized-response", "epsilon"),
    ),
}
"""The ways of a kind of data, the one that is recommended first."""


def way_named(kind: str, method: str) -> Way:
    """Return the way of a method; the first one where there is none of that name."""
    return next((way for way in WAYS[kind] if way.method == method), WAYS[kind][0])
