"""Methods tried on a part of the data: what a release would cost."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from graphveil.anonymizer import Anonymizer
from graphveil.choosing.answers import Choice, Trial
from graphveil.choosing.sampling import sample_of
from graphveil.claims.guarantees import NotClaimed
from graphveil.data import Data
from graphveil.errors import GraphveilWarning, UsageError
from graphveil.flat import flat_parameters
from graphveil.progress import stage
from graphveil.randomness import Randomness

SIZES = (2, 5, 10)
"""The values of k that are tried; the middle one stands in the call."""

EPSILONS = (1.0, 4.0, 8.0)
"""The values of epsilon that are shown, where a method has one and no k."""

SEED = 1
"""Of the trials, which nobody publishes: the same data gives the same advice."""

LATE = "not measured: the time for advice was up. Ask again: what is compiled now stays so"


def choice_of(method: type[Anonymizer[Any]], data: Data, *, until: float) -> Choice:
    """Return what releases with a method promise, leave open and cost.

    Parameters
    ----------
    method
        A method that takes this kind of data.
    data
        All of the data.
    until
        No further trial is begun once the process has used so many seconds of CPU.
    """
    several = [method.from_parameters(values) for values in _parameters_of(method)]
    chosen = several[len(several) // 2]
    promise = chosen.guarantee
    sample = sample_of(data, method.trial_size, Randomness(seed=SEED))
    trials: tuple[Trial, ...] = ()
    measured_on = ""
    if not isinstance(promise, NotClaimed):
        trials = tuple(_trials(several, data, sample.data, until))
        expected = chosen.expected_cost(data) is not None
        measured_on = "average, computed for all of the data" if expected else sample.words
    given = _given(chosen)
    arguments = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return Choice(
        method=method.name,
        promise=promise.sentence,
        answers=promise.threat_model,
        leaves_open=method.limits if promise.why is None else f"{promise.why} {method.limits}",
        measured_on=measured_on,
        trials=trials,
        parameters=given,
        call=f"gv.{method.__name__}({arguments}).anonymize(data)",
    )


def _parameters_of(method: type[Anonymizer[Any]]) -> list[dict[str, Any]]:
    """Return the parameters of the trials."""
    known = {item.name for item in flat_parameters(method)}
    example = {name: value for name, value in method.example.items() if name not in {"k", "goal"}}
    if "k" in known:
        return [{**example, "k": k} for k in SIZES]
    if "epsilon" in known:
        return [{**example, "epsilon": epsilon} for epsilon in EPSILONS]
    return [example]


def _given(chosen: Anonymizer[Any]) -> dict[str, Any]:
    """Return the parameters that say the same as all of them."""
    names = {"k", "epsilon", *chosen.example} - {"goal"}
    return {name: value for name, value in chosen.parameters().items() if name in names}


def _trials(
    several: list[Anonymizer[Any]], data: Data, sample: Data, until: float
) -> Iterator[Trial]:
    for method in several:
        given = _given(method)
        named = ", ".join(f"{name}={value}" for name, value in given.items())
        if time.process_time() > until and method.expected_cost(data) is None:
            yield Trial(parameters=given, cost={}, words=f"{named}: {LATE}")
            continue
        with stage(f"trying {method.name}"):
            cost, words = _tried(method, data, sample)
        yield Trial(parameters=given, cost=cost, words=f"{named}: {words}")


def _tried(
    method: Anonymizer[Any], data: Data, sample: Data
) -> tuple[Mapping[str, float | int], str]:
    expected = method.expected_cost(data)
    try:
        if expected is not None:
            method.check(data)
            return expected, _in_words(expected)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            release = method.anonymize(sample, seed=SEED)
    except UsageError as error:
        return {}, f"cannot be: {error}"
    if release.private is None:
        raise TypeError("a new release has its private part")
    cost = dict(release.private.cost)
    return cost, _in_words(cost)


def _in_words(cost: Mapping[str, float | int]) -> str:
    """Return what was kept, lost and made up."""
    what, lost, new = "entries", "entries_suppressed", "entries_created"
    if "edges_before" in cost:
        what, lost, new = "ties", "edges_deleted", "edges_added"
    before = max(_count(cost, "edges_before", "entries_before"), 1)
    kept = before - cost.get(lost, 0)
    false = cost.get(new, 0)
    parts = [f"{100 * kept / before:.1f} % of the {what} are kept"]
    if false:
        parts.append(
            f"{100 * false / max(kept + false, 1):.1f} % of the published {what} are false"
        )
    if "clustering" in cost and "clustering_before" in cost:
        parts.append(f"clustering {cost['clustering_before']:.2f} becomes {cost['clustering']:.2f}")
    unprotected = cost.get("nodes_unprotected", 0)
    if unprotected:
        parts.append(f"{unprotected:,} people stay unprotected")
    return ", ".join(parts)


def _count(cost: Mapping[str, float | int], *names: str) -> float | int:
    return next((cost[name] for name in names if name in cost), 0)
