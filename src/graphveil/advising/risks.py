"""The risk of data as it stands, under every measure."""

from __future__ import annotations

import time
from collections.abc import Iterator

from graphveil.advising.answers import Risk
from graphveil.data import Data, Graph, Network
from graphveil.data.kinds import kind_of
from graphveil.measures import MEASURES, EqualRows, Identifiability, measure
from graphveil.measures.network import Alone
from graphveil.measures.registry import DIRECTED_COUNT
from graphveil.progress import stage

FEW = 5
"""Who is alike fewer people than this, themselves included, is counted."""

ORDER = ("degree", "edge-count", "count", "vrq", "degree-distribution", "dk", "hybrid")
"""The measures of a graph, quick ones first."""


def risks_of(data: Data, *, until: float) -> tuple[Risk, ...]:
    """Return the risk under every measure, for graphs at distance 1.

    Parameters
    ----------
    data
        The data as it stands.
    until
        No further measure is begun once the process has used so many seconds of CPU.
    """
    if isinstance(data, Network):
        return tuple(_of_network(data, until))
    if not isinstance(data, Graph):
        return (_risk(measure(data, k=FEW), kind_of(data).whole, None),)
    return tuple(sorted(_of_graph(data, until), key=lambda risk: risk.unique))


def _of_network(network: Network, until: float) -> Iterator[Risk]:
    """Yield what attributes and ties leave of people; of directed ones also what is around."""
    directed = len(network.layers) == 1 and network.layers[0].directed
    for name in (None, DIRECTED_COUNT) if directed else (None,):
        if name is not None and time.process_time() > until:
            return
        risk = measure(network, measure=name, known=network.attributes, k=FEW)
        whole = Alone(risk.knows, risk.uniqueness, risk.share_unprotected)
        n = max(network.size, 1)
        for part in [*(risk.parts if name is None else ()), whole]:
            yield Risk(
                known=part.knows,
                measure=risk.measure,
                unique=round(part.uniqueness * n),
                share_unique=part.uniqueness,
                unprotected=round(part.share_unprotected * n),
                share_unprotected=part.share_unprotected,
            )


def _of_graph(graph: Graph, until: float) -> Iterator[Risk]:
    names = [*ORDER, *(name for name in MEASURES if name not in ORDER)]
    for name in names:
        if time.process_time() > until:
            return
        with stage(f"measuring by {name}"):
            yield _risk(measure(graph, measure=name, k=FEW), MEASURES[name].knows, name)


def _risk(measured: Identifiability | EqualRows, known: str, name: str | None) -> Risk:
    n = max(measured.own_sizes.size, 1)
    unique = int((measured.own_sizes == 1).sum())
    few = int((measured.own_sizes < FEW).sum())
    return Risk(
        known=known,
        measure=name,
        unique=unique,
        share_unique=unique / n,
        unprotected=few,
        share_unprotected=few / n,
    )
