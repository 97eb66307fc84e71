"""Random samples of an original, as releases of it: what is not kept is not released."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import (
    BipartiteComparison,
    Comparison,
    GraphComparison,
    TableComparison,
)
from graphveil.lazy import lazy_module
from graphveil.randomness import Randomness

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = lazy_module("scipy.sparse")

RATES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
"""The shares that are kept."""

DRAWS = 3
"""How many samples of each share."""

Kept = NDArray[np.bool_]


def samples(pair: Comparison[Any]) -> Iterator[Comparison[Any]]:
    """Yield the original beside itself, then beside its samples: for each rate, each draw.

    One sample is in memory at a time. A sample has a stream of its own, and exactly its share of
    the ties, entries or rows, rounded.

    Parameters
    ----------
    pair
        An original and its release, linked or not.

    Examples
    --------
    >>> from graphveil.randomness import Randomness
    >>> ring = Graph.from_edges(np.arange(100), (np.arange(100) + 1) % 100)
    >>> pair = GraphComparison(
    ...     original=ring, released=ring, position=None, randomness=Randomness(seed=1)
    ... )
    >>> [sample.released.n_edges for sample in samples(pair)][:7]
    [100, 10, 10, 10, 30, 30, 30]
    """
    n, sample_of = _sampler(pair)
    yield sample_of(np.ones(n, dtype=bool))
    for rate in RATES:
        for draw in range(DRAWS):
            yield sample_of(kept_at_random(n, rate, draw, pair.randomness))


def kept_at_random(n: int, rate: float, draw: int, randomness: Randomness) -> Kept:
    """Return which of n things are kept, bool, shape (n,): this share of them, drawn evenly.

    Parameters
    ----------
    n
        How many things there are.
    rate
        The share that is kept, 0..1.
    draw
        The number of the draw.
    randomness
        Each rate and draw has a stream of its own.

    Examples
    --------
    >>> int(kept_at_random(50, 0.3, 0, Randomness(seed=1)).sum())
    15
    """
    rng = randomness.stream(f"kept at random: {rate}, draw {draw}")
    size = round(rate * n)
    few = min(size, n - size)
    kept = np.full(n, size > few)
    kept[rng.choice(n, few, replace=False, shuffle=False)] = size <= few
    return kept


def _sampler(pair: Comparison[Any]) -> tuple[int, Callable[[Kept], Comparison[Any]]]:
    """Return how many ties, entries or rows there are, and what makes a sample of them."""
    common = {
        "original": pair.original,
        "position": np.arange(pair.original.size),
        "randomness": pair.randomness,
    }
    if isinstance(pair, GraphComparison):
        graph, tie = pair.original, tie_of_entry(pair.original)
        return graph.n_edges, lambda kept: _GraphSample(
            released=graph.with_entries(kept[tie]), whole=pair, **common
        )
    if isinstance(pair, BipartiteComparison):
        before = pair.before
        return before.nnz, lambda kept: _BipartiteSample(
            released=pair.released, whole=pair, part=_entries(before, kept), **common
        )
    if isinstance(pair, TableComparison):
        codes = pair.before
        return codes.shape[0], lambda kept: _TableSample(
            released=pair.released,
            cells=(codes, np.where(kept[:, None], codes, np.int32(SUPPRESSED))),
            **common,
        )
    raise TypeError(f"no samples of {type(pair).__name__}")


def tie_of_entry(graph: Graph) -> NDArray[np.int64]:
    """Return the number of the tie of every entry of the neighbor lists, shape (2 m,).

    Ties are numbered as `Graph.edges` lists them.

    Examples
    --------
    >>> tie_of_entry(Graph.from_edges([0, 1], [2, 2], n=3)).tolist()  # lists: [2], [2], [0, 1]
    [0, 1, 0, 1]
    """
    source = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees())
    forward = source < graph.indices
    numbers = np.arange(graph.n_edges)
    ties = np.empty(graph.indices.size, dtype=np.int64)
    ties[forward] = numbers
    # the entries of the later end, in order of it and then of the earlier one
    ties[~forward] = np.argsort(graph.indices[forward], kind="stable")
    return ties


def _entries(matrix: sparse.csr_array, kept: Kept) -> sparse.csr_array:
    """Return the matrix of ones with some of its entries alone."""
    before = np.concatenate([[0], np.cumsum(kept)])
    indices = matrix.indices[kept]
    return sparse.csr_array(
        (matrix.data[: indices.size], indices, before[matrix.indptr]), shape=matrix.shape
    )


@dataclass(frozen=True, kw_only=True)
class _GraphSample(GraphComparison):
    """A graph and some of its ties, all at their places; what is known of the graph is reused."""

    whole: GraphComparison

    @cached_property
    def aligned(self) -> Graph:
        return self.released

    @cached_property
    def edges_kept(self) -> int:
        return self.released.n_edges

    @cached_property
    def share_before(self) -> float | None:
        return self.whole.share_before


@dataclass(frozen=True, kw_only=True)
class _BipartiteSample(BipartiteComparison):
    """Users by features and some of their entries, over the features of original and release."""

    whole: BipartiteComparison
    part: sparse.csr_array

    @property
    def before(self) -> sparse.csr_array:
        return self.whole.before

    @property
    def after(self) -> sparse.csr_array:
        return self.part

    @cached_property
    def kept(self) -> sparse.csr_array:
        return self.part

    @cached_property
    def popularity(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.whole.popularity[0], self.popularity_kept


@dataclass(frozen=True, kw_only=True)
class _TableSample(TableComparison):
    """A table and some of its rows: of the others nothing is shown."""

    cells: tuple[NDArray[np.int32], NDArray[np.int32]]

    @cached_property
    def before(self) -> NDArray[np.int32]:
        return self.cells[0]

    @cached_property
    def after(self) -> NDArray[np.int32]:
        return self.cells[1]
