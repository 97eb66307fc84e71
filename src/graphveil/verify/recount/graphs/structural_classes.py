"""Equivalence classes of released nodes under a structural measure (Hay et al. and its successors).

Two nodes are in one class if an attacker with the knowledge of the measure cannot tell them
apart: degrees, degrees by layer and direction, or what the measure says of the ball of nodes
within a distance. Nothing is decided by a hash: values are compared in full, subgraphs by
isomorphism (`recount.graphs.shapes`). A comparison of two subgraphs that takes too long counts
them as different, which can only make classes smaller: the guarantee is never overstated.

Shares nothing with `graphveil.measures`: balls, triangles and labels are computed here from the
released edges, with NumPy and SQL.

Cost: O(m sqrt(m)) for triangles at distance 1. At larger distances the balls are listed one by
one, the sum of their links, bounded by `Work`; isomorphism within the classes that coarser values
leave, at most `MOST_STEPS` steps per comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.text import counted
from graphveil.verify.database import Database
from graphveil.verify.recount.graphs.degrees import count_degrees, numbers_of_ties, sides_of
from graphveil.verify.recount.graphs.directed_neighborhoods import surroundings
from graphveil.verify.recount.graphs.released_graph import (
    ReleasedBall,
    ReleasedNetwork,
    Work,
    balls,
    network_of,
)

MOST_STEPS = 1_000_000
"""Pairs of nodes that may be tried to map one subgraph onto another, before it is given up."""

_VALUES_SHOWN = 8
"""Values of a multiset that a message shows."""

NO_LAYERS: Mapping[str, bool] = MappingProxyType({})
"""What a graph has."""


class EquivalenceClassIndex(NamedTuple):
    """The class of every released node, and words for messages."""

    nodes: Ints
    labels: Ints
    words: Callable[[int], str]
    kinds: str
    remark: str = ""
    network: ReleasedNetwork | None = None

    def among(self, rows: Ints, known: tuple[str, ...]) -> EquivalenceClassIndex:
        """Return the classes split further by rows of known attributes."""
        listed = ", ".join(known)
        return self._replace(
            labels=_joined(rows, self.labels),
            words=lambda position: f"equal {listed} and {self.words(position)}",
            kinds=f"distinct combinations of {listed} and {self.kinds.removeprefix('distinct ')}",
        )


def alike(
    db: Database, measure: str, distance: int, layers: Mapping[str, bool] = NO_LAYERS
) -> EquivalenceClassIndex | None:
    """Return the classes under a measure; None if it needs a simple graph and there is none.

    Degrees are counted whatever the graph, an edge that stands twice twice.
    """
    # Degrees and profiles are counted by SQL, whatever the graph; the rest needs a simple graph.
    if measure == "degree":
        return _alike_in_degree(db)
    if measure == "profile":
        return _alike_in_profile(db, layers)
    if measure == "directed-count":
        return _alike_in_surroundings(db)
    network = network_of(db)
    if network is None:
        return None
    # Labels are equal exactly where the measure's value is; the words describe one class for
    # messages.
    labels, given_up = _LABELS[measure](network, distance)
    words = partial(_in_words, network, measure, distance)
    kinds = f"distinct values of {measure} at distance {distance}"
    undecided = f"{given_up} pairs of pieces are undecided after {MOST_STEPS} steps"
    remark = f"; {undecided} and count as different" if given_up else ""
    return EquivalenceClassIndex(np.arange(network.n), labels, words, kinds, remark, network)


def labels_of(indptr: NDArray[Any], indices: NDArray[Any], measure: str) -> Ints:
    """Return the class of every node of a valid graph under a measure that reaches one hop."""
    network = ReleasedNetwork(indptr.astype(np.int64), indices.astype(np.int64), Work(2**62))
    return network.degrees() if measure == "degree" else _LABELS[measure](network, 1)[0]


def similar(network: ReleasedNetwork, phi: float) -> Ints:
    """Return how many nodes are in the box of every node, itself included.

    In the box of a node are those whose degree and triangles are each at most phi percent of its
    own away, in whole numbers.
    """
    # Exact percentages: compare whole numbers times the denominator, never floats.
    degrees, triangles = network.degrees(), _triangles_of(network)
    share = Fraction(str(phi)) / 100
    part, whole = share.numerator, share.denominator
    # Nodes with the same degree and triangles have the same box, so count per distinct pair; pairs
    # are sorted by degree, hence two binary searches for the range of degrees.
    pairs, label, counts = np.unique(
        np.stack((degrees, triangles)), axis=1, return_inverse=True, return_counts=True
    )
    sizes = []
    for degree, closed in pairs.T.tolist():
        first = np.searchsorted(pairs[0] * whole, degree * (whole - part), side="left")
        last = np.searchsorted(pairs[0] * whole, degree * (whole + part), side="right")
        near = np.abs(pairs[1, first:last] - closed) * whole <= part * closed
        sizes.append(int(counts[first:last][near].sum()))
    return np.array(sizes, dtype=np.int64)[label.ravel()]


def _alike_in_degree(db: Database) -> EquivalenceClassIndex:
    count_degrees(db)
    nodes = db.column("SELECT node FROM degrees ORDER BY node, degree")
    degrees = db.column("SELECT degree FROM degrees ORDER BY node, degree")
    return EquivalenceClassIndex(
        nodes, degrees, lambda position: f"degree {degrees[position]}", "distinct degrees"
    )


def _alike_in_profile(db: Database, layers: Mapping[str, bool]) -> EquivalenceClassIndex:
    """Return the classes of nodes with the same degrees in every layer and direction."""
    sides = sides_of(layers)
    numbers = [numbers_of_ties(db, *side) for side in sides]
    labels = np.zeros_like(numbers[0])
    for each in numbers:
        labels = _joined(labels, each)

    def words(position: int) -> str:
        if [*layers] == [""]:
            return f"out-degree {numbers[0][position]} and in-degree {numbers[1][position]}"
        each = zip(sides, numbers, strict=True)
        return ", ".join(
            f"{layer} {f'{side}-degree' if side else 'degree'} {counted[position]}"
            for (layer, side), counted in each
        )

    return EquivalenceClassIndex(
        db.column("SELECT node FROM nodes ORDER BY node"),
        labels,
        words,
        "distinct pairs of out-degree and in-degree"
        if [*layers] == [""]
        else "distinct combinations of degrees by layer",
    )


def _alike_in_surroundings(db: Database) -> EquivalenceClassIndex | None:
    """Return the classes under the measure ``directed-count``."""
    around = surroundings(db)
    if around is None:
        return None
    labels = np.zeros_like(around.out)
    for numbers in around:
        labels = _joined(labels, numbers)
    nodes = np.arange(labels.size)
    return EquivalenceClassIndex(
        nodes,
        labels,
        around.words,
        "distinct combinations of out-degree, in-degree, number of neighbors and edges among them",
    )


def _count(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    return _joined(*_sizes_of_balls(network, distance)), 0


def _degree_distribution(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    """Compare the degrees within the ball; the length of a row is the center's own degree."""
    if distance == 1:
        return _equal(_sorted_rows(network, network.common_neighbors)), 0
    return _of_balls(network, distance, lambda ball: _histogram(ball.degrees())), 0


def _vrq(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    """Compare the degrees in the graph; the length of a row is the center's own degree."""
    degrees = network.degrees()
    if distance == 1:
        return _equal(_sorted_rows(network, degrees[network.indices])), 0
    return _of_balls(network, distance, lambda ball: _histogram(degrees[ball.nodes])), 0


def _dk(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    """Compare subgraphs by isomorphism, among nodes whose pairs (distance, degree inside) agree.

    At distance 1 these decide where a node has at most three neighbors, and where none or all
    of its neighbors are linked.
    """
    # Step 1: a coarser value that isomorphic balls share: the pairs of distance and inner degree.
    # Only nodes that it leaves together are compared.
    if distance > 1:
        coarse = _of_balls(
            network, distance, lambda ball: _histogram(ball.hops * ball.nodes.size + ball.degrees())
        )
        return _split_by_shape(network, distance, coarse, np.bincount(coarse)[coarse] > 1)
    # At distance 1 the inner degrees decide the small cases, and the stars and cliques.
    coarse, _ = _degree_distribution(network, 1)
    degrees, edges = network.degrees(), _sizes_of_balls(network, 1)[1]
    decided = (degrees <= 3) | (edges == degrees) | (edges == degrees * (degrees + 1) // 2)
    return _split_by_shape(network, 1, coarse, (np.bincount(coarse)[coarse] > 1) & ~decided)


def _split_by_shape(
    network: ReleasedNetwork, distance: int, coarse: Ints, undecided: NDArray[np.bool_]
) -> tuple[Ints, int]:
    """Return the classes with those of undecided nodes split by shape, and the pairs given up."""
    from graphveil.verify.recount.graphs.shapes import Shapes  # noqa: PLC0415  few releases need it

    shape = np.zeros(network.n, dtype=np.int64)
    given_up = 0
    # Step 2: within each coarse class, number the shapes; of interchangeable nodes one is looked
    # at.
    positions = np.flatnonzero(undecided)
    # Sort by class, so that each class is one slice.
    positions = positions[np.argsort(coarse[positions], kind="stable")]
    for members in np.split(positions, np.flatnonzero(np.diff(coarse[positions])) + 1):
        shapes = Shapes(MOST_STEPS, network.work)
        some, at = _representatives(network, members)
        numbers = [shapes.number(ball) for ball in balls(network, some, distance)]
        shape[members] = np.array(numbers, dtype=np.int64)[at]
        given_up += shapes.given_up
    return _joined(coarse, shape), given_up


def _hybrid(network: ReleasedNetwork, distance: int) -> tuple[Ints, int]:
    shapes, given_up = _dk(network, distance)
    return _joined(shapes, _vrq(network, distance)[0]), given_up


_LABELS: dict[str, Callable[[ReleasedNetwork, int], tuple[Ints, int]]] = {
    "count": _count,
    "edge-count": lambda network, distance: (_sizes_of_balls(network, distance)[1], 0),
    "degree-distribution": _degree_distribution,
    "dk": _dk,
    "vrq": _vrq,
    "hybrid": _hybrid,
}
"""Classes of all nodes, and how many comparisons were given up, by measure."""


def _sizes_of_balls(network: ReleasedNetwork, distance: int) -> tuple[Ints, Ints]:
    """Return how many nodes and edges are within a distance of every node."""
    # At distance 1: the neighbors, and the edges to and among these.
    if distance == 1:
        return network.degrees() + 1, network.degrees() + _triangles_of(network)
    some, at = _representatives(network, np.arange(network.n))
    sizes = [(ball.nodes.size, ball.edges) for ball in balls(network, some, distance)]
    nodes, edges = np.array(sizes, dtype=np.int64).reshape(-1, 2)[at].T
    return nodes, edges


def _triangles_of(network: ReleasedNetwork) -> Ints:
    """Return in how many triangles every node is."""
    sums = np.concatenate([[0], np.cumsum(network.common_neighbors)])
    triangles: Ints = (sums[network.indptr[1:]] - sums[network.indptr[:-1]]) // 2
    return triangles


def _of_balls(
    network: ReleasedNetwork, distance: int, value: Callable[[ReleasedBall], bytes]
) -> Ints:
    """Return labels that are equal exactly if a value of the balls is."""
    some, at = _representatives(network, np.arange(network.n))
    return _equal(value(ball) for ball in balls(network, some, distance))[at]


def _representatives(network: ReleasedNetwork, nodes: Ints) -> tuple[Ints, Ints]:
    """Return one node of each set of interchangeable ones, and the set of every node.

    Around interchangeable nodes the graph is the same: one ball is looked at for all of them.
    """
    _, first, at = np.unique(network.interchangeable[nodes], return_index=True, return_inverse=True)
    return nodes[first], at


def _joined(one: Ints, other: Ints) -> Ints:
    """Return labels that are equal exactly if both given labels are."""
    # Number the pairs of both labels, then close the gaps.
    _, first = np.unique(one, return_inverse=True)
    values, second = np.unique(other, return_inverse=True)
    both = first * values.size + second
    labels: Ints = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return labels


def _equal(values: Iterable[bytes]) -> Ints:
    """Return labels that are equal exactly if the bytes are."""
    numbers: dict[bytes, int] = {}
    labels = [numbers.setdefault(value, len(numbers)) for value in values]
    return np.array(labels, dtype=np.int64)


def _sorted_rows(network: ReleasedNetwork, values: Ints) -> Iterable[bytes]:
    """Yield for every node the sorted values of its neighbors, as bytes."""
    ordered = values[np.lexsort((values, network.owners()))].astype(np.int32).tobytes()
    ends = (network.indptr * 4).tolist()
    return (ordered[start:end] for start, end in pairwise(ends))


def _histogram(values: Ints) -> bytes:
    """Return a multiset as bytes: its distinct values, then their frequencies."""
    return np.concatenate(np.unique(values, return_counts=True)).tobytes()


def _in_words(network: ReleasedNetwork, measure: str, distance: int, node: int) -> str:
    """Return the value of a node for a message, shortened if it is long."""
    ball = next(iter(balls(network, np.array([node]), distance)))
    edges, degree = ball.edges, ball.nodes.size - 1
    if measure == "edge-count":
        return f"{counted(edges, 'edge')} within distance {distance}"
    if measure == "count" and distance == 1:
        return f"degree {degree}, {counted(edges - degree, 'triangle')}"
    if measure == "degree-distribution":
        return f"inner degrees {_first(ball.degrees())} within distance {distance}"
    if measure == "vrq":
        return f"degrees {_first(network.degrees()[ball.nodes])} within distance {distance}"
    sizes = f"{counted(degree + 1, 'node')} and {counted(edges, 'edge')} within distance {distance}"
    return sizes if measure == "count" else f"the subgraph around node {node}, {sizes}"


def _first(values: Ints) -> str:
    shown = ", ".join(map(str, np.sort(values)[::-1][:_VALUES_SHOWN].tolist()))
    return f"{shown}, ..." if values.size > _VALUES_SHOWN else shown
