"""What advice says: the risk of the data as it is, and for each method guarantee, limits and cost.

Costs come from trials of the methods on a part of the data that is small enough.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.facts import Changes, changes_stated
from graphveil.claims.guarantees import (
    AnyGuarantee,
    KAnonymity,
    NotClaimed,
    SmoothKAnonymity,
    StructuralKAnonymity,
    SuperNodeAnonymity,
)
from graphveil.core.errors import DataError, GraphveilWarning, UsageError
from graphveil.core.hints import Message, option
from graphveil.core.parameters import flat_parameters
from graphveil.core.progress import stage, worked
from graphveil.core.randomness import Randomness
from graphveil.core.text import counted, html_table, percent
from graphveil.core.visible import visible
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.kinds import kind_of, released_kind
from graphveil.methods.base import Anonymizer
from graphveil.methods.generalize.frames import questions_of_levels
from graphveil.methods.generalize.hierarchy import ALL
from graphveil.methods.generalize.levels import values_of
from graphveil.methods.generalize.method import Generalize
from graphveil.release.claiming import promised


def sizes_in_words(sizes: Mapping[str, int]) -> str:
    """Return how much data there is.

    >>> sizes_in_words({"people": 1_200, "ties": 1})
    '1,200 people, 1 edge'
    """
    return ", ".join(
        counted(count, _ONE.get(what, what.removesuffix("s")), spec=",")
        for what, count in sizes.items()
    )


_ONE = {"ties": "edge", "people": "person", "entries": "entry"}
"""What texts call one of a size, if not by its key."""


def shares_of(cost: Mapping[str, float | int]) -> tuple[float | None, float | None]:
    """Return the share that is kept, and that of what is false in the release; None if unknown.

    >>> shares_of({"edges_before": 10, "edges_deleted": 2, "edges_added": 8})
    (0.8, 0.5)
    """
    changes = changes_stated(cost)
    return (None, None) if changes is None else (changes.kept_share, changes.false_share)


@dataclass(frozen=True, kw_only=True)
class Risk:
    """How identifiable people are to an attacker who knows one thing of them.

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
    possible
        Whether a release can be made of this data.
    """

    parameters: Mapping[str, Any]
    cost: Mapping[str, float | int]
    words: str
    possible: bool = True


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A method that fits the data.

    Parameters
    ----------
    method
        Its name.
    promise
        What a release with the parameters of the call guarantees.
    answers
        The attacker that the guarantee answers.
    known
        What that attacker knows, in a few words.
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
        return self.trials[place_of_call(self.trials)] if self.trials else None

    @property
    def is_possible(self) -> bool:
        """Whether something was tried, and a release of this data can be made."""
        return self.middle is not None and self.middle.possible

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
        """The method that loses least, of those that guarantee classes of k where there is one.

        None where no method that fits guarantees anything, or is possible on this data.
        """
        promising = [choice for choice in self.choices if choice.is_possible]
        classes = [choice for choice in promising if "k" in choice.parameters]
        return min(classes or promising, key=lambda choice: choice.lost, default=None)

    @property
    def answer(self) -> str:
        """The recommendation in a sentence."""
        best = self.recommended
        if best is None or best.middle is None:
            tried = [choice for choice in self.choices if choice.middle]
            if not tried:
                return "No method for this kind of data offers a guarantee."
            first = min(tried, key=lambda choice: "k" not in choice.parameters)
            _, _, why = first.trials[0].words.partition(NOT_POSSIBLE)
            return f"No method that was tried is possible on this data: {why}."
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
        sizes = sizes_in_words(self.sizes)
        risks = [
            f"unique to an attacker who knows {r.known}: {percent(r.share_unique)}"
            for r in self.risks
        ]
        width = max((len(choice.method) for choice in self.choices), default=0)
        costs = [
            f"{c.method:<{width}}  {c.middle.words if c.middle else c.promise}"
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


def place_of_call(trials: Sequence[Trial]) -> int:
    """Return which trial stands in the call: the middle one, or the nearest that is possible."""
    middle = len(trials) // 2
    possible = [at for at, trial in enumerate(trials) if trial.possible]
    return min(possible, key=lambda at: abs(at - middle), default=middle)


def call_of(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the release in Python, of data called ``data``.

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


class DataSample(NamedTuple):
    """Some people of the data, and what they are in words."""

    data: Data
    words: str


_OF_CLASSES = KAnonymity | SmoothKAnonymity | StructuralKAnonymity | SuperNodeAnonymity


def class_of(promise: AnyGuarantee) -> int | None:
    """Return the size of the smallest class that is guaranteed to everybody; None without one.

    >>> from graphveil import EdgeDP
    >>> class_of(KAnonymity(k=5)), class_of(EdgeDP(epsilon=1.0))
    (5, None)
    """
    if isinstance(promise, StructuralKAnonymity) and promise.share < 1:
        return None
    return promise.k if isinstance(promise, _OF_CLASSES) else None


def amount_of(data: Data) -> int:
    """Return how much the data says: edges, entries or cells."""
    kind = kind_of(data)
    return kind.cells(data) if kind.everyone is None else kind.amount(data)


def sample_of(data: Data, most: int, randomness: Randomness) -> DataSample:
    """Return all of the data where it is small, else some people and what is among them."""
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
        f"a random sample of {counted(n, 'person', spec=',')}; results for the whole data "
        "can differ",
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

NOT_POSSIBLE = "not possible: "
"""What begins the reason why a release cannot be made."""

NOT_COUNTED = "this method does not count what is kept"


def choice_of(method: type[Anonymizer[Any]], data: Data, *, until: float) -> Choice:
    """Return what releases with a method guarantee, leave open and cost."""
    roles = roles_of(method, data)
    several = [method.from_parameters(values | roles) for values in _parameters_of(method)]
    chosen = several[len(several) // 2]
    promise = promised(chosen, data)
    kind = kind_of(released_kind(type(data), method.accepts[0])).name
    sample = sample_of(data, method.card.trial_size, Randomness(seed=SEED))
    trials: tuple[Trial, ...] = ()
    measured_on = ""
    if not isinstance(promise, NotClaimed):
        trials = tuple(_trials(several, data, sample.data, until))
        chosen = several[place_of_call(trials)]
        promise = promised(chosen, data)
        expected = _expected_cost(chosen, data) is not None
        measured_on = "average, computed on all of the data" if expected else sample.words
    given = _given(chosen) | roles
    return Choice(
        method=method.name,
        promise=promise.sentence,
        answers=promise.threat_model,
        known=promise.knowledge.rstrip(","),
        leaves_open=f"{promise.why or ''} {chosen.limits(kind)}".lstrip(),
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
    names = data.attributes
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
    example = {
        name: value for name, value in method.card.example.items() if name not in {"k", "goal"}
    }
    main = next((name for name in TRIED if name in known), None)
    return [example] if main is None else [{**example, main: value} for value in TRIED[main]]


def _given(chosen: Anonymizer[Any]) -> dict[str, Any]:
    """Return the parameters that say the same as all of them."""
    names = {"k", "epsilon", *chosen.card.example} - {"goal"}
    return {name: value for name, value in chosen.parameters().items() if name in names}


def _trials(
    several: list[Anonymizer[Any]], data: Data, sample: Data, until: float
) -> Iterator[Trial]:
    for method in several:
        given = _given(method)
        named = ", ".join(f"{name}={value}" for name, value in given.items())
        if worked() > until and _expected_cost(method, data) is None:
            yield Trial(parameters=given, cost={}, words=f"{named}: {LATE}")
            continue
        with stage(f"trying {method.name}"):
            possible, cost, words = _tried(method, data, sample)
        yield Trial(parameters=given, cost=cost, words=f"{named}: {words}", possible=possible)


def _expected_cost(method: Anonymizer[Any], data: Data) -> Mapping[str, float | int] | None:
    """Return what releases cost on average, where public numbers say it; else None."""
    from graphveil.methods import RandomizedResponse  # noqa: PLC0415  loads compiled code

    if not isinstance(method, RandomizedResponse) or not isinstance(data, Graph | Bipartite):
        return None
    return method.expected_cost(data)


def _tried(
    method: Anonymizer[Any], data: Data, sample: Data
) -> tuple[bool, Mapping[str, float | int], str]:
    """Return whether a release is possible, what it costs, and that in words."""
    expected = _expected_cost(method, data)
    try:
        if expected is not None:
            method.check(data)
            return True, expected, _in_words(expected)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            release = method.anonymize(sample, seed=SEED)
    except (UsageError, DataError) as error:
        return False, {}, f"{NOT_POSSIBLE}{str(error).rstrip('.')}"
    cost = dict(release.cost)
    return True, cost, _in_words(cost)


def _in_words(cost: Mapping[str, float | int]) -> str:
    """Return what was kept, lost and added."""
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
