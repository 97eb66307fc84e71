"""What advice says: the risk as it stands, and for each method promise, limits and cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphveil.errors import Message
from graphveil.html import html_table
from graphveil.terminal import visible


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
    leaves_open: str
    measured_on: str
    trials: tuple[Trial, ...]
    parameters: Mapping[str, Any]
    call: str
    when_large: str = ""


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
        sizes = ", ".join(f"{count:,} {what}" for what, count in self.sizes.items())
        risks = [f"unique to who knows {r.known}: {_percent(r.share_unique)}" for r in self.risks]
        width = max((len(choice.method) for choice in self.choices), default=0)
        costs = [
            f"{c.method:<{width}}  {c.trials[len(c.trials) // 2].words if c.trials else c.promise}"
            for c in self.choices
        ]
        return "\n".join(map(visible, [f"{self.kind}: {sizes}", *risks, *costs]))

    def _repr_html_(self) -> str:
        """Return risk and methods as tables, for notebooks."""
        listed = (
            (r.known, f"{_percent(r.share_unique)}", _percent(r.share_unprotected))
            for r in self.risks
        )
        risks = html_table("as it stands", ("who knows", "unique", "unprotected at k=5"), listed)
        rows = (
            (c.call, c.promise, "; ".join(trial.words for trial in c.trials), c.leaves_open)
            for c in self.choices
        )
        return risks + html_table("releases", ("call", "promises", "costs", "leaves open"), rows)


def _lines_of(choice: Choice, commands: Mapping[str, str] | None) -> Iterator[str]:
    yield ""
    yield choice.method
    yield f"  promises:    {choice.promise}"
    yield f"  answers:     {choice.answers}"
    yield f"  leaves open: {choice.leaves_open}"
    for number, trial in enumerate(choice.trials):
        yield f"  {'costs:' if not number else '':<12} {trial.words}"
    if choice.measured_on:
        yield f"  {'':<12} (on {choice.measured_on})"
    if choice.when_large:
        large = choice.when_large if commands is None else Message(choice.when_large).flags
        yield f"  large data:  {large}"
    yield f"  {choice.call if commands is None else commands[choice.method]}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
