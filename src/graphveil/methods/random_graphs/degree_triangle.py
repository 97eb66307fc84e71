"""The method `degree-triangle-model`: noisy degrees, mixing and triangles, for small epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import LARGEST_EPSILON, Condition, NoisyStatistics, as_printed
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.random_graphs.baselines import DrawnMethod, as_text, places_of
from graphveil.release.draft import Draft

if TYPE_CHECKING:
    from graphveil.methods.random_graphs.triangle_model import Drawn, Shape, Statistics

__all__ = ["DegreeTriangleModel"]

SHARES = {
    "epsilon_count": Fraction(2, 100),
    "epsilon_degrees": Fraction(55, 100),
    "epsilon_mixing": Fraction(12, 100),
    "epsilon_triangles": Fraction(31, 100),
}
"""The shares of epsilon: all of it."""


@dataclass(frozen=True, kw_only=True)
class DegreeTriangleModel(DrawnMethod):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    All of epsilon buys four noisy statistics: the number of edges, the degrees, the edges between
    groups of nodes of like degree, and the triangles by class of degree. A random graph that has
    about these is published; no edge of the original is looked at for it. It has as many of them as
    the statistics make likely: few as a rule, most where degrees tell who is connected to whom.

    Parameters
    ----------
    epsilon
        From 0.05 to 40: the whole of it.

    Raises
    ------
    ParameterError
        Where epsilon is out of range.

    Notes
    -----
    For epsilon of 0.5 to 2, at which a response to each pair of nodes keeps next to nothing; where
    true edges matter, a prior response from about epsilon 4 on. Groups and classes follow from
    noisy degrees alone. Triangles have the noise of the ladder functions of Zhang et al., for
    vectors: how large it is depends on the most neighbors that two nodes share, which nobody
    learns. With a seed nothing is claimed, and no statistics are stated: the seed of the drawing
    would follow from it, and tell whether a guess of it is right. The number of nodes counts as
    public.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = DegreeTriangleModel(epsilon=1.0).anonymize(path)
    >>> release.guarantee.check_word, release.data.n_nodes
    ('by construction', 4)
    """

    name: ClassVar[str] = "degree-triangle-model"
    accepts = (Graph,)
    when = "You need a small epsilon and a generated graph with similar degrees and triangles."
    promise = "One edge changes the probability of any release by at most a factor e^epsilon."
    source: ClassVar[str] = (
        "noisy degrees, mixing and triangles; noise on triangles after Zhang, Cormode, Procopiuc, "
        "Srivastava & Xiao, Private Release of Graph Statistics using Ladder Functions"
    )
    limits: ClassVar[str] = (
        "All edges of one person together: epsilon is for a single edge. Re-identified in our "
        "tests by an attacker who knew all degrees: 28% of the 5 nodes with the most edges "
        "(epsilon 7, 6,474 nodes); 3.4% of all nodes (epsilon 4, 242 nodes, dense)."
    )
    cost: ClassVar[str] = (
        "linear in the paths of two edges, and in the edges times the neighbors that their ends "
        "share"
    )
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 1.0}
    trial_size: ClassVar[int] = 50_000

    epsilon: float = parameter(
        text="total privacy budget; the largest factor is e^epsilon",
        minimum=0.05,
        maximum=LARGEST_EPSILON,
    )

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon that the statistics have, by name: all of it."""
        whole_epsilon = as_printed(self.epsilon)
        return {name: share * whole_epsilon for name, share in SHARES.items()}

    @property
    def states(self) -> tuple[type[Condition], ...]:
        """The types of the conditions that every run without a seed states."""
        return (NoisyStatistics,)

    def draft(self, data: Graph, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        from graphveil.methods.random_graphs.triangle_model import drawn, noisy_statistics, shape_of  # noqa: PLC0415  as above

        noisy = noisy_statistics(data, randomness, self.parts)
        seed = int.from_bytes(randomness.secret("drawing")[:8])
        by_place = np.argsort(noisy.degrees, kind="stable")
        placed = in_order(noisy, by_place)
        places = places_of(noisy.degrees, placed.groups.of_node, randomness, seed)
        decay = exp(-float(self.parts["epsilon_degrees"] / 2))
        shape = shape_of(placed, decay, seed)
        graph = drawn(placed, shape, seed)
        ends = places.people[graph.ends]
        stated = _stated(self.parts, placed, shape, graph, seed)
        return self.drawn_result(data, ends, stated, places, randomness)


def in_order(noisy: Statistics, order: NDArray[np.int64]) -> Statistics:
    """Return statistics whose nodes stand in this order."""
    return noisy._replace(
        degrees=noisy.degrees[order],
        groups=noisy.groups._replace(of_node=noisy.groups.of_node[order]),
        classes=noisy.classes._replace(of_node=noisy.classes.of_node[order]),
    )


def _stated(
    parts: Mapping[str, Fraction], noisy: Statistics, shape: Shape, graph: Drawn, seed: int
) -> NoisyStatistics:
    """Return the condition that says what the graph was drawn from."""
    upper = np.triu_indices(noisy.groups.least.size)
    return NoisyStatistics(
        nodes=noisy.degrees.size,
        **{name: str(part) for name, part in parts.items()},
        noisy_count=str(noisy.edges),
        noisy_degrees=as_text(noisy.degrees),
        group_cuts=as_text(noisy.groups.least),
        class_cuts=as_text(noisy.classes.least),
        noisy_mixing=as_text(noisy.mixing[upper]),
        floor=noisy.floor,
        rate=str(noisy.rate),
        noisy_triangles=as_text(noisy.triangles),
        degrees=as_text(shape.degrees),
        stubs=as_text(shape.between[upper]),
        aims=as_text(graph.aims),
        unmended=graph.unmended,
        seed_of_drawing=str(seed),
    )
