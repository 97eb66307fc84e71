"""The method `degree-triangle-model`: noisy degrees, mixing and triangles, for small epsilon.

It publishes no cell: all of epsilon buys four noisy statistics, and a graph with about these
statistics is generated. The method is our own; its noise on triangles follows Zhang et al.,
*Private Release of Graph Statistics using Ladder Functions*, SIGMOD 2015.

How epsilon is split (`SHARES`), and why the parts add up by sequential composition, for graphs that
differ in one edge:

- count: the number of edges, sensitivity 1;
- degrees: two of them change by 1, so L1 sensitivity 2, and half of the part for each;
- mixing: edges between groups that follow from noisy degrees; one count changes by 1;
- triangles: counts by class of the noisy degrees, on a ladder (`noise.ladder`), since one edge
  changes them by a number that depends on the graph.

The statistics are in `triangle_statistics`. The graph is generated from them and a public seed
alone (`triangle_model`), so that `verify` can generate it again.
"""

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
from graphveil.methods.card import MethodCard
from graphveil.methods.random_graphs.baselines import GeneratingMethod
from graphveil.methods.random_graphs.placement import as_text, places_of
from graphveil.release.draft import Draft

if TYPE_CHECKING:
    from graphveil.methods.random_graphs.triangle_model import GeneratedGraph, Shape
    from graphveil.methods.random_graphs.triangle_statistics import Statistics

__all__ = ["DegreeTriangleModel"]

SHARES = {
    "epsilon_count": Fraction(2, 100),
    "epsilon_degrees": Fraction(55, 100),
    "epsilon_mixing": Fraction(12, 100),
    "epsilon_triangles": Fraction(31, 100),
}
"""The shares of epsilon, which sum to 1.

Most goes to the degrees, which all other statistics are read with: groups, classes and the floor of
the ladder follow from them. A larger share of one makes the others noisier.
"""


CARD = MethodCard(
    when="You need a small epsilon and a generated graph with similar degrees and triangles.",
    promise="One edge changes the probability of any release by at most a factor e^epsilon.",
    source=(
        "noisy degrees, mixing and triangles; noise on triangles after Zhang, Cormode, Procopiuc, "
        "Srivastava & Xiao, Private Release of Graph Statistics using Ladder Functions"
    ),
    limits=(
        "All edges of one person together: epsilon is for a single edge. Re-identified in our "
        "tests by an attacker who knew all degrees: 28% of the 5 nodes with the most edges "
        "(epsilon 7, 6,474 nodes); 3.4% of all nodes (epsilon 4, 242 nodes, dense)."
    ),
    cost=(
        "linear in the paths of two edges, and in the edges times the neighbors that their ends "
        "share"
    ),
    example={"epsilon": 1.0},
    spends=True,
    trial_size=50_000,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class DegreeTriangleModel(GeneratingMethod):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    All of epsilon buys four noisy statistics: the number of edges, the degrees, the edges between
    groups of nodes of similar degree, and the triangles by class of degree. A random graph that has
    about these is published, without reading any edge of the original for it. It contains as many
    true edges as the statistics make likely: few as a rule, most of them if degrees determine who
    is connected.

    Parameters
    ----------
    epsilon
        The total, from 0.05 to 40.

    Raises
    ------
    ParameterError
        If epsilon is out of range.

    Notes
    -----
    For epsilon of 0.5 to 2, at which a response to each pair of nodes keeps next to nothing. If
    true edges matter, use a prior response, from about epsilon 4 on. Groups and classes follow from
    noisy degrees alone. Triangles have the noise of the ladder functions of Zhang et al. (SIGMOD
    2015), for vectors. Its size depends on the most neighbors that two nodes share, which is not
    published. A run with a seed claims nothing, and states no statistics: the seed of the sampling
    would follow from it, and show whether a guess of it is right. The number of nodes counts as
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
    card: ClassVar[MethodCard] = CARD

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
        from graphveil.methods.random_graphs.triangle_model import generated_graph, shape_of  # noqa: PLC0415  compiled code
        from graphveil.methods.random_graphs.triangle_statistics import noisy_statistics  # noqa: PLC0415  as above

        # Step 1: the four noisy statistics. All of epsilon is spent here; what follows reads these
        # and fresh randomness alone.
        noisy = noisy_statistics(data, randomness, self.parts)
        # Step 2: places in ascending order of noisy degrees, with people shuffled inside groups.
        seed = int.from_bytes(randomness.secret("drawing")[:8])
        by_place = np.argsort(noisy.degrees, kind="stable")
        ranked = in_order(noisy, by_place)
        places = places_of(noisy.degrees, ranked.groups.of_node, randomness, seed)
        # Step 3: degrees and edges between groups that fit the statistics, and a graph with them.
        # Each degree has noise of half of the part, whose law falls by `decay` per unit.
        decay = exp(-float(self.parts["epsilon_degrees"] / 2))
        shape = shape_of(ranked, decay, seed)
        graph = generated_graph(ranked, shape, seed)
        ends = places.people[graph.ends]
        stated = _stated(self.parts, ranked, shape, graph, seed)
        return self.generated_result(data, ends, stated, places, randomness)


def in_order(noisy: Statistics, order: NDArray[np.int64]) -> Statistics:
    """Return statistics with the nodes in this order: int64, shape (n,), positions of nodes."""
    return noisy._replace(
        degrees=noisy.degrees[order],
        groups=noisy.groups._replace(of_node=noisy.groups.of_node[order]),
        classes=noisy.classes._replace(of_node=noisy.classes.of_node[order]),
    )


def _stated(
    parts: Mapping[str, Fraction], noisy: Statistics, shape: Shape, graph: GeneratedGraph, seed: int
) -> NoisyStatistics:
    """Return the condition that states what the graph was generated from."""
    # Matrices are stated by their upper triangle, the groups g <= h, row by row.
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
