"""A part of the data that is small enough to try methods on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Data, Graph, Network
from graphveil.data.kinds import kind_of
from graphveil.randomness import Randomness


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
    if isinstance(data, Graph | Network):
        graph = data if isinstance(data, Graph) else data.undirected()
        people = _around(graph, most, stream)
        near = f"{people.size:,} people who are near each other: the whole network can differ"
        return DataSample(data.part(people), near)
    n = max(1, round(data.size * share))
    rows = np.sort(stream.permutation(data.size)[:n])
    return DataSample(data.part(rows), f"{n:,} people drawn by chance: the whole can differ")


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
