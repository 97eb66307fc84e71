"""The card of a method: what is true of it whatever its parameters and the data.

Help, lists of methods, manifests and docs show its texts, with what attacks reached on releases of
the method. Its marks say which options of a run apply, what advice tries, and what may be claimed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphveil.claims.conditions import Condition


class Reached(NamedTuple):
    """What attacks reached in our tests on releases with some options.

    Parameters
    ----------
    said
        Whole sentences; they name the options, and how many people were attacked.
    options
        The options of the attacked releases by the name of the published parameter, None for one
        that is not published. A number stands for those nearest to it, by ratio.
    kinds
        The kinds of released data (of `graphveil.data.kinds.KINDS`) that it applies to; empty for
        all that the method takes.
    """

    said: str
    options: Mapping[str, Any]
    kinds: tuple[str, ...] = ()

    def distance(self, published: Mapping[str, Any]) -> tuple[int, float]:
        """Return how many options differ from those of a release, and how far its numbers are.

        Examples
        --------
        >>> measured = Reached("48% (k=20, edits=add).", {"k": 20, "edits": "add"})
        >>> measured.distance({"k": 20, "edits": "add"}), measured.distance({"k": 5})[0]
        ((0, 0.0), 1)
        """
        pairs = self._pairs(published)
        ratios = [math.log(own / value) for _, value, own in pairs if value and own]
        return len(self.differing(published)), round(sum(map(abs, ratios)), 9)

    def differing(self, published: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of the options that differ, but for numbers."""
        pairs = self._pairs(published)
        return tuple(
            name
            for name, value, own in pairs
            if not (value and own) and self.options[name] != published.get(name)
        )

    def applies_to(self, kind: str | None) -> bool:
        """Return whether it applies to a kind of data; None stands for any kind."""
        return kind is None or not self.kinds or kind in self.kinds

    def _pairs(self, published: Mapping[str, Any]) -> list[tuple[str, float, float]]:
        """Return the options and those of a release as numbers; what is not a number is 0."""
        return [(n, _number(value), _number(published.get(n))) for n, value in self.options.items()]


def reached_by_k(
    said: str, *rows: tuple[int, float, float, str], **options: str
) -> tuple[Reached, ...]:
    """Return what attacks reached: by k two figures, in percent, and the number of people."""
    return tuple(
        Reached(said.format(k=k, one=first, other=second, people=people), {"k": k, **options})
        for k, first, second, people in rows
    )


@dataclass(frozen=True, kw_only=True)
class MethodCard:
    """What is true of a method whatever its parameters and the data.

    Parameters
    ----------
    promise
        The guarantee in one line: the first line of the method's docstring.
    source
        The paper, or that it is graphveil's own.
    limits
        What no release protects against, whatever its options: fixed text that says nothing of the
        data at hand.
    cost
        The cost of a run, in edges, entries, rows and parameters.
    example
        Parameters for examples.
    when
        When to use it, in a sentence: lists of methods show it, else the guarantee.
    reached
        What attacks reached in our tests. Of two that are equally near to a release the first is
        shown, so the options that protect less come first.
    limits_of_attributes
        What a release with attributes does not protect against, in addition to `limits`.
    nests
        Whether a release can be nested in an earlier one of the same people.
    spends
        Whether it claims an epsilon, which adds up over releases.
    claims_nothing
        Whether no run claims anything, for reasons that do not depend on the draw.
    directed
        Whether it takes edges with directions alone.
    trial_size
        The edges or entries on which advice tries it: about a second of work.
    counts_people
        Whether classes can count different people, or households, who have several rows of a
        table: the method puts rows into classes of at least k and claims `KAnonymity`
        (`graphveil.methods.layers`).
    layers_itself
        Whether the method's own `draft` counts people who have several rows.
    may_state
        Types of conditions without fields that depend on parameters which only the owner knows.
    """

    promise: str
    source: str
    limits: str
    cost: str
    example: Mapping[str, Any]
    when: str = ""
    reached: tuple[Reached, ...] = ()
    limits_of_attributes: str = ""
    nests: bool = False
    spends: bool = False
    claims_nothing: bool = False
    directed: bool = False
    trial_size: int = 20_000
    counts_people: bool = False
    layers_itself: bool = False
    may_state: tuple[type[Condition], ...] = ()

    def limits_for(
        self, published: Mapping[str, Any], kind: str | None, *, attributes: bool
    ) -> str:
        """Return what a release does not protect against, with the figures of the nearest tests.

        Parameters
        ----------
        published
            The parameters that its manifest states.
        kind
            The kind of its data; None for any.
        attributes
            Whether it publishes attributes.
        """
        kinds = dict.fromkeys(each.kinds for each in self.reached if each.applies_to(kind))
        nearest = [self._nearest(published, some) for some in kinds]
        more = self.limits_of_attributes if attributes else ""
        return " ".join(filter(None, (self.limits, *nearest, more)))

    def _nearest(self, published: Mapping[str, Any], kinds: tuple[str, ...]) -> str:
        """Return what was reached on the most similar releases of these kinds of data."""
        fitting = (each for each in self.reached if each.kinds == kinds)
        nearest = min(fitting, key=lambda each: each.distance(published))
        differing = nearest.differing(published)
        if not differing:
            return nearest.said
        own = ", ".join(f"{name}={published.get(name)}" for name in differing)
        return (
            f"Releases with {own} were not attacked in our tests; the most similar ones were. "
            f"{nearest.said}"
        )


def _number(value: object) -> float:
    """Return a value as a number, 0 if it is not one; levels are published as text."""
    try:
        return float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return 0.0
