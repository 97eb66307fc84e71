"""From bounds to parameters: of each method, the strength that keeps them, by few runs."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphveil.core.bounds import FALSE, KEPT, PLAIN, RISK, Bound, NoPartError, smallest_class
from graphveil.core.errors import GraphveilError, GraphveilWarning
from graphveil.core.parameters import flat_parameters
from graphveil.core.progress import stage, worked
from graphveil.core.randomness import Randomness
from graphveil.data import Data
from graphveil.methods.base import Anonymizer
from graphveil.release import Release
from graphveil.verbs.advise.trials import (
    SEED,
    amount_of,
    call_of,
    class_of,
    roles_of,
    sample_of,
    shares_of,
)

BoundValues = Mapping[Bound, float]
"""The value of each bound's figure."""
Measure = Callable[[Release[Any], Data, Sequence[Bound]], BoundValues]
"""Measures the parts of metrics and attacks that bounds name."""

MOST_RUNS = 12
FINE_EPSILONS = (
    *(20.0, 15.0, 12.0, 10.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.5, 3.0, 2.5, 2.0, 1.5),
    *(1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01),
)
"""The values of epsilon that are tried, the weakest first."""

FULL_RUNS = 6
"""All of the data is used where so many runs on it fit into a method's share of the time."""

NO_CLASS = "no guarantee about the smallest class"
TIME_UP = "not measured: the time limit was reached"
OTHER_SEED = "does not hold for another random draw"


@dataclass(frozen=True, kw_only=True)
class Reached:
    """What a method reaches under some bounds.

    Parameters
    ----------
    method
        Its name.
    parameters
        Those of the call.
    call
        The release in Python, of data called ``data``.
    figures
        What was measured, by what is bounded.
    missed
        By how much each bound is missed that is.
    kept, false
        The share of edges, entries or cells that is kept, and of those published that is false;
        None where they are not counted.
    measured_on
        What the runs were made on, in words.
    runs
        How many there were.
    reason
        Why the bounds are not met although none is missed; empty where they are.
    """

    method: str
    parameters: Mapping[str, Any]
    call: str
    figures: Mapping[str, float]
    missed: Mapping[str, float]
    kept: float | None
    false: float | None
    measured_on: str
    runs: int
    reason: str = ""

    @property
    def met(self) -> bool:
        """Whether every bound was measured, and holds at two draws."""
        return not self.missed and not self.reason

    @property
    def cost(self) -> float:
        """The share that is lost and that of what is false, together; 2 where it is unknown."""
        return 2.0 if self.kept is None else 1 - self.kept + (self.false or 0.0)

    @property
    def given(self) -> str:
        """The parameters in a few words."""
        return ", ".join(f"{name}={value}" for name, value in self.parameters.items())


@dataclass(frozen=True, kw_only=True, repr=False)
class AdviceUntil:
    """What every method reaches under some bounds: those that meet them first, cheapest first.

    Parameters
    ----------
    kind
        graph, bipartite or table.
    bounds
        The bounds, in words.
    reached
        A method each.
    """

    kind: str
    bounds: tuple[str, ...]
    reached: tuple[Reached, ...]

    @property
    def met(self) -> tuple[Reached, ...]:
        """Those that meet every bound, the cheapest first."""
        return tuple(one for one in self.reached if one.met)

    def summary(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        listed = [{**dataclasses.asdict(one), "met": one.met} for one in self.reached]
        return {"kind": self.kind, "bounds": list(self.bounds), "reached": listed}

    @property
    def answer(self) -> str:
        """The answer in a sentence."""
        every = " and ".join(self.bounds)
        if not self.met:
            return f"No method meets all bounds: {every}."
        best, others = self.met[0], len(self.met) - 1
        more = f"; {others} more methods do" if others > 1 else "; 1 more does" if others else ""
        return f"{best.method} with {best.given} meets {every}{more}."

    def __repr__(self) -> str:
        """Return the answer, and a line a method."""
        return "\n".join([self.answer, *(line_of(one) for one in self.reached)])


def line_of(one: Reached) -> str:
    """Return what a method reaches, in a line."""
    met = "meets all bounds" if one.met else "misses a bound"
    return f"{one.method} {one.given}: {met} ({why_of(one)})"


def why_of(one: Reached) -> str:
    """Return the figures that a method reaches, or why it has none."""
    figures = ", ".join(f"{what} {value:.3g}" for what, value in one.figures.items())
    return "; ".join(filter(None, [figures, one.reason]))


def reached_by(
    method: type[Anonymizer[Any]],
    data: Data,
    bounds: Sequence[Bound],
    measure: Measure,
    *,
    seconds: float,
    given: Mapping[str, Any] | None = None,
) -> Reached | None:
    """Return what a method reaches, searching its main parameter; None where it has none."""
    values = _strengths(method, data)
    if values is None:
        return None
    search = _Search(method, data, tuple(bounds), measure, values, seconds, given)
    return search.result()


def _strengths(method: type[Anonymizer[Any]], data: Data) -> tuple[str, Sequence[Any]] | None:
    """Return the main parameter and its values, the weakest first."""
    known = {item.name for item in flat_parameters(method)}
    for name in ("k", "levels"):
        if name in known:
            return name, range(2, max(data.size // 2, 2) + 1)
    return ("epsilon", FINE_EPSILONS) if "epsilon" in known else None


class Outcome(NamedTuple):
    """What one run reached: the figure of every bound, and what is kept and false."""

    figures: dict[Bound, float]
    kept: float | None
    false: float | None


class _Search:
    """Runs of one method, each remembered."""

    def __init__(
        self,
        method: type[Anonymizer[Any]],
        data: Data,
        bounds: tuple[Bound, ...],
        measure: Measure,
        strengths: tuple[str, Sequence[Any]],
        seconds: float,
        given: Mapping[str, Any] | None,
    ) -> None:
        self.given = given
        self.method, self.bounds, self.measure = method, bounds, measure
        self.name, self.values = strengths
        self.until = worked() + seconds
        self.known: dict[tuple[int, int], Outcome | str] = {}
        self.sample = self._sample(data, seconds)

    def _sample(self, data: Data, seconds: float) -> Any:
        """Return all of the data where runs on it fit into the time, else a part of it."""
        sample = sample_of(data, self.method.card.trial_size, Randomness(seed=SEED))
        self.sample = sample
        if sample.data is data:
            return sample
        started = worked()
        self._run(self._least(), SEED)
        share = amount_of(data) / max(amount_of(sample.data), 1)
        if (worked() - started) * share * FULL_RUNS > seconds:
            return sample
        self.known.clear()
        return sample_of(data, amount_of(data) + 1, Randomness(seed=SEED))

    def _made(self, index: int) -> Anonymizer[Any]:
        return self.method.from_parameters({**self._example(), self.name: self.values[index]})

    def _example(self) -> dict[str, Any]:
        """Return the parameters of the method's example that are not searched."""
        given = {
            name: value
            for name, value in self.method.card.example.items()
            if name not in {"k", "goal", self.name} and not name.startswith("epsilon_")
        }
        own = self.given
        return given | dict(roles_of(self.method, self.sample.data) if own is None else own)

    def _least(self) -> int:
        """Return the weakest strength whose guarantee keeps a bound on the risk."""
        if self.name == "epsilon":
            return 0
        classes = [smallest_class(bound) for bound in self.bounds if bound.question == RISK]
        return min(max([0, *(size - 2 for size in classes)]), len(self.values) - 1)

    def _run(self, index: int, seed: int) -> Outcome | str:
        """Return the figures of every bound, and what is kept; or why there are none."""
        key = (index, seed)
        if key not in self.known:
            late = worked() > self.until and self.known
            full = len(self.known) >= MOST_RUNS
            self.known[key] = TIME_UP if late or full else self._figures(index, seed)
        return self.known[key]

    def _figures(self, index: int, seed: int) -> Outcome | str:
        """Return what a run reaches, or why there is none."""
        data = self.sample.data
        try:
            method = self._made(index)
            size = class_of(method.guarantee)
            if size is None and any(bound.question == RISK for bound in self.bounds):
                return NO_CLASS
            with stage(f"trying {method.name}"), warnings.catch_warnings():
                warnings.simplefilter("ignore", GraphveilWarning)
                release = method.anonymize(data, seed=seed)
                others = [bound for bound in self.bounds if bound.question not in PLAIN]
                measured = dict(self.measure(release, data, others)) if others else {}
        except NoPartError:
            raise
        except GraphveilError as error:
            return f"not possible: {error}"
        kept, false = shares_of(release.cost)
        plain = {KEPT: kept, FALSE: false, RISK: 1 / size if size else None}
        figures: dict[Bound, float] = {}
        for bound in self.bounds:
            value = measured.get(bound, plain.get(bound.question))
            if value is None:
                return f"{bound.what} is not measured here"
            figures[bound] = value
        return Outcome(figures, kept, false)

    def _holds(self, index: int, bounds: Sequence[Bound]) -> bool:
        outcome = self._run(index, SEED)
        if isinstance(outcome, str):
            return False
        return all(bound.holds(outcome.figures[bound]) for bound in bounds)

    def _turning(self, start: int, holds: Callable[[int], bool]) -> int:
        """Return the first strength from `start` on that holds, by doubling and bisection."""
        last = len(self.values) - 1
        step, low, high = 1, start - 1, start
        while not holds(high):
            if high == last:
                return last
            low, high = high, min(high + step, last)
            step *= 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high

    def _index(self) -> int:
        """Return the strength to take: the weakest under bounds on risks, else the strongest."""
        least = self._least()
        attacks: list[Bound] = []
        costs: list[Bound] = []
        for bound in self.bounds:
            (attacks if self._is_private(bound) else costs).append(bound)
        if [bound for bound in attacks if bound.question != RISK]:
            return self._turning(least, lambda index: self._holds(index, attacks))
        if attacks:
            return least
        if not self._holds(0, costs):
            return 0
        first = self._turning(0, lambda index: not self._holds(index, costs))
        return first if self._holds(first, costs) else first - 1

    def result(self) -> Reached:
        """Return the strength that was chosen, once it holds at a second draw too.

        Where it does not, the next strength on the safe side is tried.
        """
        index = self._index()
        step = 1 if any(self._is_private(bound) for bound in self.bounds) else -1
        while True:
            outcome = self._run(index, SEED)
            if not self._holds(index, self.bounds):
                return self._reached(index, outcome, outcome)
            again = self._run(index, SEED + 1)
            if isinstance(again, str) or all(b.holds(f) for b, f in again.figures.items()):
                return self._reached(index, outcome, again)
            if not 0 <= index + step < len(self.values):
                return self._reached(index, outcome, again)
            index += step

    @staticmethod
    def _is_private(bound: Bound) -> bool:
        """Whether a bound is on what is learned of people, which strength makes less."""
        from graphveil.attacks.registry import ATTACKS  # noqa: PLC0415  heavy: not for plain bounds

        return bound.question == RISK or (bound.question not in PLAIN and bound.question in ATTACKS)

    def _reached(self, index: int, outcome: Any, again: Any) -> Reached:
        figures, kept, false, reason = {}, None, None, ""
        if isinstance(outcome, str):
            reason = outcome
        else:
            figures, kept, false = outcome
        missed = {b: b.missed_by(f) for b, f in figures.items() if not b.holds(f)}
        if not reason and not missed:
            unsure = isinstance(again, str) or any(not b.holds(f) for b, f in again.figures.items())
            reason = again if isinstance(again, str) else OTHER_SEED if unsure else ""
        given = {self.name: self.values[index], **self._example()}
        return Reached(
            method=self.method.name,
            parameters=given,
            call=call_of(self.method.__name__, given),
            figures={bound.what: value for bound, value in figures.items()},
            missed={str(bound): value for bound, value in missed.items()},
            kept=kept,
            false=false,
            measured_on=self.sample.words,
            runs=sum(not isinstance(one, str) for one in self.known.values()),
            reason=reason,
        )


def in_order(reached: Sequence[Reached]) -> tuple[Reached, ...]:
    """Return those that meet all bounds, the cheapest first; then those that miss least."""

    def key(one: Reached) -> tuple[bool, bool, float, float]:
        worst = max(one.missed.values(), default=0.0)
        return (not one.met, bool(one.reason), worst, one.cost)

    return tuple(sorted(reached, key=key))
