"""Settings: how a run looks for edits, what it keeps, and the bounds it stays within.

They are the parameters of `StructuralAnonymity` that say nothing of the guarantee. `Kept` and
`Until` have spellings of their own for the command line, which `parse` reads and ``str`` writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from graphveil.core.bounds import Bound, read_bound
from graphveil.core.errors import ParameterError
from graphveil.core.parameters import MOST_TEXT, check_digits

PROPERTIES = ("component", "paths", "clustering", "betweenness", "communities")
"""What a search within a budget can keep."""


class Kept(tuple[str, ...]):
    """Properties of a network that a search keeps: some of `PROPERTIES`, or none."""

    __slots__ = ()

    @staticmethod
    def parse(given: object) -> Kept:
        """Return the properties that a text with commas between them, or a list, names.

        Examples
        --------
        >>> Kept.parse("paths, clustering")
        ('paths', 'clustering')
        >>> str(Kept.parse("none"))
        'none'
        """
        if given in ("all", "none"):
            return Kept(PROPERTIES if given == "all" else ())
        named = given.split(",") if isinstance(given, str) else given
        names = [str(name).strip() for name in named] if isinstance(named, Iterable) else [given]
        for name in names:
            if name not in PROPERTIES:
                raise ParameterError(
                    f"keep={name!r} is not valid. Use all, none, or some of "
                    f"{', '.join(PROPERTIES)}."
                )
        return Kept(name for name in PROPERTIES if name in names)

    def __str__(self) -> str:
        """Return the text that `Kept.parse` reads."""
        return "all" if tuple(self) == PROPERTIES else ",".join(self) or "none"


_COMPARED = ("released", "absolute difference", "relative error")

BOUNDED = {
    "kept": ("",),
    "largest-component": _COMPARED,
    "shortest-path": _COMPARED,
    "clustering": _COMPARED,
    "betweenness": ("overlap",),
}
"""What `until` bounds: metrics, and their parts."""


class Until(tuple[Bound, ...]):
    """Bounds on what edits change, each as `advise --until` spells it."""

    __slots__ = ()
    repeated = True
    """Whether the flag is given once for each bound."""

    @staticmethod
    def parse(given: object) -> Until:
        """Return the bounds in a list of texts, or in one text with ``and`` between them."""
        # One text may hold several bounds; read each, then check that a search can measure it.
        listed = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
        texts = [text for each in listed for text in str(each).split(" and ")]
        bounds = Until(read_bound(text) for text in texts)
        for bound in bounds:
            parts = BOUNDED.get(bound.question)
            if parts is None or bound.part not in parts:
                known = (
                    f"{name}: {part}" if part else name
                    for name, parts in BOUNDED.items()
                    for part in parts
                )
                raise ParameterError(
                    f"until={str(bound)!r} bounds nothing that is measured here. Bound one of "
                    f"{', '.join(known)}."
                )
            check_digits(f"until: {bound.what}", bound.value)
        if not bounds or len(str(bounds)) > MOST_TEXT:
            raise ParameterError(
                f"until has {len(bounds)} bounds and {len(str(bounds))} characters. Give at least "
                f"one bound, and at most {MOST_TEXT} characters."
            )
        return bounds

    def __str__(self) -> str:
        """Return the text that `Until.parse` reads."""
        return " and ".join(map(str, self))


Sampling = Literal["es", "degree", "affected", "unique", "ua", "ua-only"]
Walking = Literal["search", "strip", "cut", "mirror", "target"]
OnInterrupt = Literal["stop", "best"]


class Settings(NamedTuple):
    """How a run looks for edits: the parameters of the method of these names."""

    heuristic: Literal["auto", Sampling, Walking]
    recompute_gap_edges: int | None
    iterations: int | None
    effort: float
    preserve_triangles: bool
    time_limit_seconds: float | None
    on_interrupt: OnInterrupt
    keep: Kept | None = None
    spare: float = 0.1
    spend_least: bool = False
    until: Until | None = None


def known_to_target(measure: str, distance: int, edits: str) -> bool:
    """Return whether the heuristic target knows a measure and a kind of edits."""
    return measure == "count" and distance == 1 and edits == "any"
