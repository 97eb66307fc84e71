"""What advice says: the risk as it stands, and for each method promise, limits and cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphveil.claims.changes import changes_stated
from graphveil.core.errors import Message
from graphveil.core.text import html_table, percent, visible

SIZES = {"ties": "edges"}
"""What texts call a size, if not by its key."""


def shares_of(cost: Mapping[str, float | int]) -> tuple[float | None, float | None]:
    """Return the share that is kept, and that of what is false in the release; None if unknown.

    Examples
    --------
    >>> shares_of({"edges_before": 10, "edges_deleted": 2, "edges_added": 8})
    (0.8, 0.5)
    """
    changes = changes_stated(cost)
    return (None, None) if changes is None else (changes.kept_share, changes.false_share)


@dataclass(frozen=True, kw_only=True)
class Risk:
    """How identifiable people are to someone who knows one thing of them.

    Parameters
    ----------
    known
        What is known of a person, in words.
    measure
        The name of the measure, as ``graphveil measure`` takes it; None for rows.
    unique
        How many people nobody else is like.
    share_unique
        The same as a share of all people.
    unprotected
        How many people fewer than four others are like: the unprotected at k=5.
    share_unprotected
        The same as a share of all people.
    """

    known: str
    measure: str | None
    unique: int
    share_unique: float
    unprotected: int
    share_unprotected: float


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one release costs, measured or expected.

    Parameters
    ----------
    parameters
        The parameters of the method.
    cost
        What the owner's record of a release says, or would say on average; empty where there was
        none.
    words
        The same in words, or why there was none.
    """

    parameters: Mapping[str, Any]
    cost: Mapping[str, float | int]
    words: str


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A method that fits the data.

    Parameters
    ----------
    method
        Its name.
    promise
        What a release with the parameters of the call promises.
    answers
        The adversary that the promise answers.
    known
        What that adversary knows, in a few words.
    leaves_open
        What it does not protect against.
    measured_on
        What the trials were made on, in words.
    trials
        What releases cost.
    parameters
        Those of the call.
    call
        The release in Python, of data called ``data``.
    when_large
        What keeps time and memory within bounds, for data of many entries; else empty.
    """

    method: str
    promise: str
    answers: str
    known: str
    leaves_open: str
    measured_on: str
    trials: tuple[Trial, ...]
    parameters: Mapping[str, Any]
    call: str
    when_large: str = ""

    @property
    def middle(self) -> Trial | None:
        """The trial with the parameters of the call; None where nothing was tried."""
        return self.trials[len(self.trials) // 2] if self.trials else None

    @property
    def lost(self) -> float:
        """The share that the middle trial loses and that of what is false; 2 where unknown."""
        kept, false = shares_of(self.middle.cost) if self.middle else (None, None)
        return 2.0 if kept is None else 1 - kept + (false or 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """How identifiable people are as data stands, and what a release with each method would be.

    Parameters
    ----------
    kind
        graph, bipartite or table.
    sizes
        How much data there is, by what is counted.
    risks
        The risk under every measure that was computed, coarsest first.
    choices
        The methods that fit.
    """

    kind: str
    sizes: Mapping[str, int]
    risks: tuple[Risk, ...]
    choices: tuple[Choice, ...]

    def summary(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return dataclasses.asdict(self)

    @property
    def recommended(self) -> Choice | None:
        """The method that loses least, of those that promise classes of k where there is one.

        None where no method that fits promises anything.
        """
        promising = [choice for choice in self.choices if choice.trials]
        classes = [choice for choice in promising if "k" in choice.parameters]
        return min(classes or promising, key=lambda choice: choice.lost, default=None)

    @property
    def answer(self) -> str:
        """The recommendation in a sentence."""
        best = self.recommended
        if best is None or best.middle is None:
            return "No method for this kind of data offers a guarantee."
        return (
            f"Against an attacker who knows {best.known}: use {best.method}, {best.middle.words}."
        )

    def lines(self, commands: Mapping[str, str] | None = None) -> list[str]:
        """Return the methods in plain words.

        Parameters
        ----------
        commands
            What to copy, by method; the calls in Python where not given.
        """
        return [line for choice in self.choices for line in _lines_of(choice, commands)]

    def __repr__(self) -> str:
        """Return the risk under every measure and what the middle trial of each method cost."""
        sizes = ", ".join(
            f"{count:,} {SIZES.get(what, what)}" for what, count in self.sizes.items()
        )
        risks = [
            f"unique to an attacker who knows {r.known}: {percent(r.share_unique)}"
            for r in self.risks
        ]
        width = max((len(choice.method) for choice in self.choices), default=0)
        costs = [
            f"{c.method:<{width}}  {c.trials[len(c.trials) // 2].words if c.trials else c.promise}"
            for c in self.choices
        ]
        return "\n".join(map(visible, [f"{self.kind}: {sizes}", *risks, *costs]))

    def _repr_html_(self) -> str:
        """Return risk and methods as tables, for notebooks."""
        listed = (
            (r.known, f"{percent(r.share_unique)}", percent(r.share_unprotected))
            for r in self.risks
        )
        risks = html_table(
            "in this data", ("attacker knows", "unique", "unprotected at k=5"), listed
        )
        rows = (
            (c.call, c.promise, "; ".join(trial.words for trial in c.trials), c.leaves_open)
            for c in self.choices
        )
        return risks + html_table("releases", ("call", "guarantee", "costs", "not covered"), rows)


def call_of(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the release in Python, of data called ``data``.

    Examples
    --------
    >>> call_of("KDegree", {"k": 5})
    'gv.KDegree(k=5).anonymize(data)'
    """
    arguments = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    return f"gv.{name}({arguments}).anonymize(data)"


def _lines_of(choice: Choice, commands: Mapping[str, str] | None) -> Iterator[str]:
    yield ""
    yield choice.method
    yield f"  guarantee: {choice.promise}"
    yield f"  attacker: {choice.answers}"
    yield f"  not covered: {choice.leaves_open}"
    for number, trial in enumerate(choice.trials):
        yield f"  {'costs:' if not number else '':<12} {trial.words}"
    if choice.measured_on:
        yield f"  {'':<12} (on {choice.measured_on})"
    if choice.when_large:
        large = choice.when_large if commands is None else Message(choice.when_large).flags
        yield f"  large data:  {large}"
    yield f"  {choice.call if commands is None else commands[choice.method]}"
