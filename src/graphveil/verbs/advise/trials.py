"""Methods tried on a part of the data: what a release would cost.

A part of the data that is small enough to try methods on.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.changes import Changes, changes_stated
from graphveil.claims.guarantees import NotClaimed
from graphveil.core.errors import DataError, GraphveilWarning, Message, UsageError, option
from graphveil.core.parameters import flat_parameters
from graphveil.core.progress import stage, worked
from graphveil.core.randomness import Randomness
from graphveil.core.text import counted, percent
from graphveil.data import Data, Graph, Network, Table
from graphveil.data.kinds import kind_of
from graphveil.methods.base import Anonymizer
from graphveil.methods.generalize.frames import questions_of_levels
from graphveil.methods.generalize.hierarchy import ALL
from graphveil.methods.generalize.levels import values_of
from graphveil.methods.generalize.method import Generalize
from graphveil.verbs.advise.answers import Choice, Trial, call_of


class DataSample(NamedTuple):
    """Some people of the data, and what they are in words."""

    data: Data
    words: str


def amount_of(data: Data) -> int:
    """Return how much the data says: edges, entries or cells."""
    kind = kind_of(data)
    return kind.cells(data) if kind.everyone is None else kind.amount(data)


def sample_of(data: Data, most: int, randomness: Randomness) -> DataSample:
    """Return all of the data where it is small, else some people and what is among them.

    Parameters
    ----------
    data
        The data.
    most
        How many edges, entries or cells the sample holds, about.
    randomness
        Who is chosen: of a graph the people around somebody, else any.
    """
    share = most / max(amount_of(data), 1)
    if share >= 1:
        return DataSample(data, "all of the data")
    stream = randomness.stream("sample")
    if isinstance(data, Network):
        people = _around(data.undirected(), most, stream)
        near = f"{people.size:,} neighboring people; results for the whole network can differ"
        return DataSample(data.part(people), near)
    n = max(1, round(data.size * share))
    rows = np.sort(stream.permutation(data.size)[:n])
    return DataSample(
        data.part(rows),
        (
            f"a random sample of {counted(n, 'person', spec=',')}; results for the whole data "
            "can differ"
        ),
    )


def _around(graph: Graph, most: int, stream: np.random.Generator) -> NDArray[np.int64]:
    """Return people step by step around one of them, until so many edges are among them."""
    chosen = np.zeros(graph.n_nodes, dtype=np.bool_)
    edges = 0
    for start in stream.permutation(graph.n_nodes).tolist():
        rim = [] if chosen[start] else [start]
        while rim and edges < most:
            further = []
            for node in rim:
                around = graph.neighbors(node)
                edges += int(np.count_nonzero(chosen[around]))
                chosen[node] = True
                further += around[~chosen[around]].tolist()
                if edges >= most:
                    break
            rim = [node for node in dict.fromkeys(further) if not chosen[node]]
        if edges >= most:
            break
    return np.flatnonzero(chosen)


TRIED = {"k": (2, 5, 10), "levels": (2, 5, 10), "epsilon": (1.0, 4.0, 8.0)}
"""The values that are tried of a method's main parameter, the first of these that it has.

The middle one stands in the call.
"""

SEED = 1
"""Of the trials, which nobody publishes: the same data gives the same advice."""

LATE = "not measured: the time limit was reached. Run again: compiled code is cached"

MANY_ENTRIES = 5_000_000
"""Beyond so many the advice names what keeps time and memory within bounds."""

CHUNK_ROWS = 20_000
"""Rows of a chunk that suit most data: as many as a run on disk takes by itself."""

NOT_COUNTED = "this method does not count what is kept"


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
    roles = roles_of(method, data)
    several = [method.from_parameters(values | roles) for values in _parameters_of(method)]
    chosen = several[len(several) // 2]
    promise = chosen.promised(data)
    sample = sample_of(data, method.trial_size, Randomness(seed=SEED))
    trials: tuple[Trial, ...] = ()
    measured_on = ""
    if not isinstance(promise, NotClaimed):
        trials = tuple(_trials(several, data, sample.data, until))
        expected = chosen.expected_cost(data) is not None
        measured_on = "average, computed on all of the data" if expected else sample.words
    given = _given(chosen) | roles
    return Choice(
        method=method.name,
        promise=promise.sentence,
        answers=promise.threat_model,
        known=promise.knowledge.rstrip(","),
        leaves_open=f"{promise.why or ''} {chosen.stated_limits}".lstrip(),
        measured_on=measured_on,
        trials=trials,
        parameters=given,
        call=call_of(method.__name__, given),
        when_large=_when_large(method, data),
    )


def roles_of(method: type[Anonymizer[Any]], data: Data) -> dict[str, Any]:
    """Return the roles of attributes that advice tries: all of them are known to an attacker.

    Numbers of a table get the levels ``auto`` from a method that generalizes.
    """
    if isinstance(data, Table) and issubclass(method, Generalize):
        cells = data.to_arrow()
        values = [values_of(name, cells.column(name), (ALL, "")) for name in data.columns]
        asked = [one for one in questions_of_levels(values, {}) if one.option == "levels"]
        return {"levels": {one.column: one.value for one in asked}} if asked else {}
    names = data.attributes if isinstance(data, Network) else ()
    if not names or "known" not in {item.name for item in flat_parameters(method)}:
        return {}
    return {"known": ",".join(names)}


def _when_large(method: type[Anonymizer[Any]], data: Data) -> str:
    """Return how a method that runs in chunks bears many entries; empty for others."""
    entries = amount_of(data)
    if "rows" not in method.sources or entries <= MANY_ENTRIES:
        return ""
    return Message(
        f"{counted(entries, 'entry', spec=',')}. {option('chunk_rows', CHUNK_ROWS)} processes "
        "that many rows at a "
        "time; if the command also has --on-disk, it holds no more than that in memory"
    )


def _parameters_of(method: type[Anonymizer[Any]]) -> list[dict[str, Any]]:
    """Return the parameters of the trials."""
    known = {item.name for item in flat_parameters(method)}
    example = {name: value for name, value in method.example.items() if name not in {"k", "goal"}}
    main = next((name for name in TRIED if name in known), None)
    return [example] if main is None else [{**example, main: value} for value in TRIED[main]]


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
        if worked() > until and method.expected_cost(data) is None:
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
    except (UsageError, DataError) as error:
        return {}, f"not possible: {error}"
    cost = dict(release.cost)
    return cost, _in_words(cost)


def _in_words(cost: Mapping[str, float | int]) -> str:
    """Return what was kept, lost and made up."""
    changes = changes_stated(cost)
    parts = [NOT_COUNTED] if changes is None else list(_shares(changes))
    if "clustering" in cost and "clustering_before" in cost:
        parts.append(
            f"clustering changes from {cost['clustering_before']:.2f} to {cost['clustering']:.2f}"
        )
    unprotected = cost.get("nodes_unprotected", 0)
    if unprotected:
        parts.append(f"{counted(int(unprotected), 'person', 'remains', spec=',')} unprotected")
    return ", ".join(parts)


def _shares(changes: Changes) -> Iterator[str]:
    """Yield the share that is kept, and that of what is false in the release, in words."""
    if changes.kept_share is None:
        yield f"there are no {changes.what}"
        return
    yield f"{percent(changes.kept_share)} of the {changes.what} are kept"
    if changes.false_share:
        yield f"{percent(changes.false_share)} of the published {changes.what} are false"
