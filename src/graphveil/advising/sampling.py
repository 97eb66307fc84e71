"""A part of the data that is small enough to try methods on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.randomness import Randomness


class Sample(NamedTuple):
    """Some people of the data, and what they are in words."""

    data: Data
    words: str


def amount_of(data: Data) -> int:
    """Return how much the data says: edges, entries or cells."""
    if isinstance(data, Graph):
        return data.n_edges
    return data.n_entries if isinstance(data, Bipartite) else data.n_rows * data.n_columns


def sample_of(data: Data, most: int, randomness: Randomness) -> Sample:
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
        return Sample(data, "all of the data")
    stream = randomness.stream("sample")
    if isinstance(data, Graph):
        people = _around(data, most, stream)
        return Sample(_induced(data, people), _near(people.size))
    n = max(1, round(data.size * share))
    rows = np.sort(stream.permutation(data.size)[:n])
    return Sample(_rows(data, rows), f"{n:,} people drawn by chance: the whole can differ")


def _near(n: int) -> str:
    return f"{n:,} people who are near each other: the whole network can differ"


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


def _induced(graph: Graph, people: NDArray[np.int64]) -> Graph:
    """Return the graph of the edges among these people."""
    number = np.full(graph.n_nodes, -1, dtype=np.int64)
    number[people] = np.arange(people.size)
    edges = number[graph.edges()]
    inside = edges[(edges >= 0).all(axis=1)]
    return Graph.from_edges(inside[:, 0], inside[:, 1], n=people.size)


def _rows(data: Bipartite | Table, rows: NDArray[np.int64]) -> Bipartite | Table:
    if isinstance(data, Table):
        return Table(data.codes[rows], data.columns, data.categories)
    sizes = np.diff(data.indptr)[rows]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries = np.arange(ends[-1]) - np.repeat(ends[:-1] - data.indptr[rows], sizes)
    return Bipartite(
        ends, data.indices[entries], data.n_features, features=data.features, items="things"
    )
