"""The generalized graph of a release by super-nodes: groups of nodes, and numbers of edges.

A graph is drawn from it by a rule that everybody can repeat. The pairs of nodes inside a group, or
between two, are numbered; of the possible ones as many are chosen as there are edges (Floyd's
method), one random word for each. Groups come in ascending order, each with those after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError
from graphveil.core.libraries import special
from graphveil.core.randomness import public_words
from graphveil.data import Graph, Table

PUBLISHED = 0
"""The seed of the graph that a release publishes."""


@dataclass(frozen=True, eq=False)
class GeneralizedGraph:
    """Groups of nodes, and how many edges there are inside each and between any two.

    Parameters
    ----------
    n_nodes, n_groups
        How many nodes and groups there are; node i is in group ``i % n_groups``.
    first, second, edges
        int64, shape (blocks,): two groups, ``first <= second`` in ascending order, and how many
        edges they have between them, at least 1; inside a group where both are the same.

    Examples
    --------
    >>> import graphveil as gv
    >>> square = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=4)
    >>> grouped = GeneralizedGraph.of(square, k=2)
    >>> grouped.sizes.tolist(), grouped.edges.tolist(), grouped.certain_edges
    ([2, 2], [4], 4)
    >>> grouped.sample(seed=1).n_edges
    4
    """

    n_nodes: int
    n_groups: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    edges: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph, k: int) -> GeneralizedGraph:
        """Return that of a graph whose nodes are in ``n // k`` groups, in turn.

        Parameters
        ----------
        graph
            A graph of n nodes.
        k
            The least size of a group.

        Returns
        -------
        GeneralizedGraph
            The groups, and the number of edges within and between them.

        Raises
        ------
        DataError
            If the graph has fewer than k nodes.

        Examples
        --------
        Nodes 0, 2 and 4 of a ring of six are one group, the others are the second one.

        >>> import graphveil as gv
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0])
        >>> grouped = GeneralizedGraph.of(ring, k=3)
        >>> grouped.sizes.tolist(), grouped.edges.tolist(), grouped.pairs.tolist()
        ([3, 3], [6], [9])
        """
        if not 1 <= k <= graph.n_nodes:
            raise DataError(
                f"{graph.n_nodes} nodes cannot form groups of k={k}. Choose k from 1 to the number "
                "of nodes."
            )
        return cls.counted(graph, np.arange(graph.n_nodes) % (graph.n_nodes // k))

    @classmethod
    def counted(cls, graph: Graph, groups: NDArray[np.int64]) -> GeneralizedGraph:
        """Return the numbers of edges of a graph by the group of every node.

        Parameters
        ----------
        graph
            A graph of n nodes.
        groups
            int64, shape (n,): the group of each node, from 0 on.

        Returns
        -------
        GeneralizedGraph
            The groups, and the number of edges within and between them.

        Examples
        --------
        Both halves of a ring of six have two edges inside, and two lead to the other half.

        >>> import graphveil as gv
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0])
        >>> halves = GeneralizedGraph.counted(ring, np.array([0, 0, 0, 1, 1, 1]))
        >>> list(zip(halves.first.tolist(), halves.second.tolist(), halves.edges.tolist()))
        [(0, 0, 2), (0, 1, 2), (1, 1, 2)]
        """
        n_groups = int(groups.max(initial=-1)) + 1
        ends = np.sort(groups[graph.edges()], axis=1)
        blocks, edges = np.unique(ends[:, 0] * n_groups + ends[:, 1], return_counts=True)
        first, second = np.divmod(blocks, max(n_groups, 1))
        return cls(graph.n_nodes, n_groups, first, second, edges.astype(np.int64))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many nodes every group has, int64, shape (groups,)."""
        return 1 + (self.n_nodes - 1 - np.arange(self.n_groups)) // self.n_groups

    @property
    def pairs(self) -> NDArray[np.int64]:
        """How many edges are possible where there are `edges`, int64, shape (blocks,)."""
        one, two = self.sizes[self.first], self.sizes[self.second]
        return np.where(self.first == self.second, one * (one - 1) // 2, one * two)

    @property
    def certain_edges(self) -> int:
        """How many edges the numbers reveal: all possible ones are there."""
        return int(self.edges[self.edges == self.pairs].sum())

    @property
    def certain_pairs(self) -> int:
        """How many pairs of nodes the numbers reveal: all have an edge, or none has."""
        open_pairs = int(self.pairs[self.edges < self.pairs].sum())
        return self.n_nodes * (self.n_nodes - 1) // 2 - open_pairs

    @property
    def log_graphs(self) -> float:
        """The natural logarithm of the number of graphs with these numbers of edges."""
        pairs, edges = self.pairs, self.edges
        ways = (
            special.gammaln(pairs + 1)
            - special.gammaln(edges + 1)
            - special.gammaln(pairs - edges + 1)
        )
        return float(ways.sum())

    def sample(self, seed: int) -> Graph:
        """Return a graph with these groups and numbers of edges, uniform among all of them.

        Parameters
        ----------
        seed
            At least 0; 0 gives the published graph.

        Returns
        -------
        Graph
            Its edges have these numbers within and between the groups.

        Examples
        --------
        >>> import graphveil as gv
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0])
        >>> other = GeneralizedGraph.of(ring, k=3).sample(seed=7)
        >>> GeneralizedGraph.of(other, k=3).edges.tolist()
        [6]
        """
        words = next(public_words(seed, int(self.edges.sum()))).tolist()
        at, block, cells = 0, [], []
        pairs = self.pairs.tolist()
        for number, (most, edges) in enumerate(zip(pairs, self.edges.tolist(), strict=True)):
            chosen: set[int] = set()
            for last in range(most - edges, most):
                drawn = words[at] * (last + 1) >> 64
                chosen.add(last if drawn in chosen else drawn)
                at += 1
            cells += sorted(chosen)
            block += [number] * edges
        ends = self._ends(np.array(block, dtype=np.int64), np.array(cells, dtype=np.int64))
        return Graph.from_edges(ends[0], ends[1], n=self.n_nodes)

    def _ends(
        self, block: NDArray[np.int64], cells: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return both nodes of pairs, by the number of each inside its block."""
        first, second, sizes = self.first[block], self.second[block], self.sizes
        low, high = np.divmod(cells, sizes[second])
        inside = first == second
        ranks = np.arange(sizes.max(initial=1) + 1)
        before = ranks * (ranks - 1) // 2
        larger = np.searchsorted(before, cells[inside], side="right") - 1
        low[inside], high[inside] = cells[inside] - before[larger], larger
        return low * self.n_groups + first, high * self.n_groups + second

    def to_table(self) -> Table:
        """Return it as a table: a row for every group, and for every two with edges between them.

        The columns are ``group``, ``nodes``, ``other``, ``other_nodes``, ``edges`` and ``pairs``,
        the number of possible edges; for the edges inside a group, ``other`` is the group itself.

        Returns
        -------
        Table
            The groups, and their numbers of edges.

        Examples
        --------
        >>> import graphveil as gv
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0])
        >>> rows = GeneralizedGraph.of(ring, k=3).to_table().to_arrow()
        >>> rows["group"].to_pylist(), rows["other"].to_pylist(), rows["edges"].to_pylist()
        ([0, 0, 1], [0, 1, 1], [0, 6, 0])
        """
        sizes, every = self.sizes, np.arange(self.n_groups)
        empty = np.setdiff1d(every, self.first[self.first == self.second])
        zeros = np.zeros(empty.size, dtype=np.int64)
        first, second = np.concatenate([self.first, empty]), np.concatenate([self.second, empty])
        edges = np.concatenate([self.edges, zeros])
        pairs = np.concatenate([self.pairs, sizes[empty] * (sizes[empty] - 1) // 2])
        order = np.lexsort((second, first))
        columns = {
            "group": first,
            "nodes": sizes[first],
            "other": second,
            "other_nodes": sizes[second],
            "edges": edges,
            "pairs": pairs,
        }
        return Table.from_columns({name: cells[order] for name, cells in columns.items()})
