"""The verb advise: the risk of data as it stands under every measure, and the methods that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from graphveil.attacks.registry import ATTACKS
from graphveil.claims.guarantees import AnyGuarantee, NotClaimed
from graphveil.core.bounds import Bound, NoPartError, check_bound, part_of, read_bound
from graphveil.core.errors import ParameterError
from graphveil.core.progress import notice, stage, worked
from graphveil.core.text import percent
from graphveil.data import Data, Graph, Network
from graphveil.data.kinds import (
    CONTAINERS,
    Container,
    as_container,
    as_released,
    compared_kind,
    kind_of,
)
from graphveil.evaluate.metrics.registry import METRICS
from graphveil.measures import MEASURES, EqualRows, Identifiability, measure
from graphveil.measures.network import UniqueShare
from graphveil.measures.registry import DIRECTED_COUNT
from graphveil.methods import METHODS
from graphveil.methods.base import Anonymizer
from graphveil.release import Release
from graphveil.verbs.advise.trials import SEED, Advice, Risk, choice_of
from graphveil.verbs.advise.until import AdviceUntil, in_order, reached_by
from graphveil.verbs.attack import attack_release
from graphveil.verbs.evaluate import evaluate_release

FEW = 5
"""People equal to fewer people than this, themselves included, are counted."""

ORDER = ("degree", "edge-count", "count", "vrq", "degree-distribution", "dk", "hybrid")
"""The measures of a graph, quick ones first."""


def risks_of(data: Data, *, until: float) -> tuple[Risk, ...]:
    """Return the risk under every measure, for graphs at distance 1."""
    if isinstance(data, Graph):
        found = _said_at_once(_of_graph(data, until))
        return tuple(sorted(found, key=lambda risk: risk.unique))
    if isinstance(data, Network):
        return tuple(_said_at_once(_of_network(data, until)))
    whole = (_risk(measure(data, k=FEW), kind_of(data).whole, None),)
    return tuple(_said_at_once(iter(whole)))


def _said_at_once(found: Iterator[Risk]) -> Iterator[Risk]:
    """Yield each risk, and say the first: the trials of methods take longer."""
    for number, risk in enumerate(found):
        if not number:
            notice(
                f"as the data stands, {percent(risk.share_unique)} are unique to an attacker who "
                f"knows {risk.known}; trying the methods"
            )
        yield risk


def _of_network(network: Network, until: float) -> Iterator[Risk]:
    """Yield what attributes and edges leave of people; of directed ones also what is around."""
    directed = len(network.layers) == 1 and network.layers[0].directed
    for name in (None, DIRECTED_COUNT) if directed else (None,):
        if name is not None and worked() > until:
            return
        risk = measure(network, measure=name, known=network.attributes, k=FEW)
        whole = UniqueShare(risk.knows, risk.uniqueness, risk.share_unprotected)
        for part in [*(risk.parts if name is None else ()), whole]:
            yield _of_shares(part, risk.measure, network.size)


def _of_graph(graph: Graph, until: float) -> Iterator[Risk]:
    names = [*ORDER, *(name for name in MEASURES if name not in ORDER)]
    for name in names:
        if worked() > until:
            return
        with stage(f"measuring by {name}"):
            yield _risk(measure(graph, measure=name, k=FEW), MEASURES[name].knows, name)


def _risk(measured: Identifiability | EqualRows, known: str, name: str | None) -> Risk:
    sizes = measured.own_sizes
    n = max(sizes.size, 1)
    unique, few = int((sizes == 1).sum()), int((sizes < FEW).sum())
    return _of_shares(UniqueShare(known, unique / n, few / n), name, n)


def _of_shares(part: UniqueShare, name: str | None, people: int) -> Risk:
    return Risk(
        known=part.knows,
        measure=name,
        unique=round(part.uniqueness * people),
        share_unique=part.uniqueness,
        unprotected=round(part.share_unprotected * people),
        share_unprotected=part.share_unprotected,
    )


MEASURING_SECONDS, ALL_SECONDS = 10.0, 20.0
"""The CPU after which no further measure, and no further trial, is begun."""

UNTIL_SECONDS = 120.0
"""The CPU that a search under bounds takes where nothing is said."""


@overload
def advise(data: Any) -> Advice: ...


@overload
def advise(data: Any, *, until: Sequence[str], seconds: float = ...) -> AdviceUntil: ...


def advise(
    data: Any, *, until: Sequence[str] | None = None, seconds: float = UNTIL_SECONDS
) -> Advice | AdviceUntil:
    """Return how identifiable people are, and what a release with each method would be.

    Every method that fits is tried on a part of the data, with several values of its main
    parameter. All of it takes about 30 s of CPU at most; what was not begun by then says so. With
    `until`, the main parameter of each method is searched instead: for the strength that keeps
    every bound, at two draws, by at most 12 runs.

    Parameters
    ----------
    data
        A `Graph`, `Bipartite` or `Table`, or an object of another library that holds one (NetworkX,
        igraph, SciPy, pandas, polars, DuckDB, Arrow).
    until
        Bounds such as ``"kept >= 0.9"``, ``"false <= 2 %"``, ``"largest class risk <= 0.09"``, or
        of a part of a metric or an attack, ``"clustering: relative error <= 0.1"``. All must hold.
    seconds
        The CPU that all runs of the search may take, about.

    Returns
    -------
    Advice or AdviceUntil
        The risk of the data as it is, and one entry for each method; with `until`, what each
        method reached.

    Raises
    ------
    ParameterError
        Where a bound cannot be read, or nothing measures it on this data.
    UsageError
        Where the object can be read in more than one way, or in none.
    DataError
        Where items may be people and nobody said whether they are.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], n=6)
    >>> advice = advise(path)
    >>> advice.risks[0].unique, advice.choices[0].call
    (0, 'gv.KDegree(k=5).anonymize(data)')
    >>> advise(path, until=["largest class risk <= 0.5"]).met[0].parameters["k"]
    2
    """
    container: Data = as_container(data, CONTAINERS, wanted_by="advise")
    kind = kind_of(container)
    kind.check(container)
    if until is not None:
        return _until(container, [read_bound(text) for text in until], seconds)
    started = worked()
    risks, late = risks_of(container, until=started + MEASURING_SECONDS), started + ALL_SECONDS
    fitting = [method for method in METHODS.values() if _fits(method.accepts, container)]
    return Advice(
        kind=kind.name,
        sizes={word: getattr(container, size) for word, size in kind.sizes.items()},
        risks=risks,
        choices=tuple(
            choice_of(one, as_released(container, one.accepts[0]), until=late) for one in fitting
        ),
    )


def _until(data: Data, bounds: Sequence[Bound], seconds: float) -> AdviceUntil:
    """Return what every method that guarantees something reaches under some bounds."""
    if not bounds:
        raise ParameterError("no bound given. Use one, for example 'kept >= 0.9'.")
    methods = [
        method
        for method in METHODS.values()
        if _fits(method.accepts, data) and not isinstance(_promise(method), NotClaimed)
    ]
    read = {method.accepts[0] for method in methods} | {compared_kind(type(data))}
    metrics = [metric.name for metric in METRICS.values() if metric.kind in read]
    attacks = [attack.name for attack in ATTACKS.values() if read & {*attack.kinds}]
    for bound in bounds:
        check_bound(bound, metrics, attacks)
    share = seconds / max(len(methods), 1)
    reached = [
        reached_by(method, as_released(data, method.accepts[0]), bounds, _figures, seconds=share)
        for method in methods
    ]
    return AdviceUntil(
        kind=kind_of(data).name,
        bounds=tuple(map(str, bounds)),
        reached=in_order([one for one in reached if one is not None]),
    )


def _promise(method: type[Anonymizer[Any]]) -> AnyGuarantee:
    return method.from_parameters(dict(method.card.example)).guarantee


def _figures(release: Release[Any], data: Data, bounds: Sequence[Bound]) -> dict[Bound, float]:
    """Return the figures of metrics and attacks that bounds name."""
    figures: dict[Bound, float] = {}
    for bound in bounds:
        name = bound.question
        if name in METRICS:
            rows = evaluate_release(release, data, metrics=[name], seed=SEED)
        else:
            rows = attack_release(release, data, attacks=[name], seed=SEED)
        parts = {row.part: row.value for row in rows if row.question == bound.question}
        if not parts:
            reason = rows.not_measured.get(name, "none")
            raise NoPartError(f"{name} has no part {bound.part!r} here. Use one of: {reason}.")
        value = parts[part_of(bound, parts)]
        if value is not None:
            figures[bound] = value
    return figures


def _fits(accepts: tuple[Container, ...], data: Data) -> bool:
    """Whether a method is for this data: a graph as users by features is another question."""
    own = type(data)
    return own in accepts and (own is not Graph or accepts[0] is Graph)
