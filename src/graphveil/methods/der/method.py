"""The method `density-explore-reconstruct`: regions of even density, counted and filled again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from graphveil.anonymizer import MethodResult
from graphveil.claims.guarantees import Reason
from graphveil.data import Graph
from graphveil.methods.baselines import BaselineMethod
from graphveil.methods.der.filling import filled
from graphveil.methods.der.regions import EpsilonParts, explored
from graphveil.methods.noisy import SMALLEST_PART, Share
from graphveil.noise import words_from
from graphveil.parameters import parameter
from graphveil.randomness import Randomness

_THIRD = Share(of_epsilon=Fraction(1, 3), most=Fraction(40, 3))


@dataclass(frozen=True, kw_only=True)
class DensityExploreReconstruct(BaselineMethod):
    """Claims nothing: no proof of a bound is known to us for this mechanism as it is run.

    The adjacency matrix is cut in four where the densities differ most, again and again, under
    noise. Each part is filled with as many cells as its noisy count says, true ones preferred. It
    is there to be compared with.

    Parameters
    ----------
    epsilon
        What counts, cuts and the choice of cells spend; nothing is claimed of it.
    epsilon_counts, epsilon_cuts
        The parts for the counts and for the cuts; None stands for a third each. The choice of cells
        has the rest.
    max_nodes
        More nodes are refused.

    Raises
    ------
    ParameterError
        Where a parameter is out of range, or counts and cuts leave nothing for the cells.
    InfeasibleError
        Where the graph has more than `max_nodes`.

    Notes
    -----
    Chen, Fung, Yu & Desai, as the authors of the Top-m Filter ported it, with the errors of that
    port corrected: densities are fractions, the cuts' part of epsilon is divided by the depth once,
    the whole matrix is counted with noise, cells without preference are uniform, and an edge counts
    as the two cells that it is. A cut chooses its row, then its column: both at once would need
    every cell. The matrix is never formed. Nodes stay in the order in which they are given; the
    relabeling of the first publication is left out.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = DensityExploreReconstruct(epsilon=4.0).anonymize(path)
    >>> release.guarantee.reasons, release.data.n_nodes
    (('unproved',), 4)
    """

    name: ClassVar[str] = "density-explore-reconstruct"
    promise: ClassVar[str] = (
        "Claims nothing: no proof of a bound is known to us for this mechanism as it is run."
    )
    source: ClassVar[str] = (
        "Chen, Fung, Yu & Desai, Correlated Network Data Publication via Differential Privacy"
    )
    limits: ClassVar[str] = (
        "Nothing is hidden by promise, it is there to compare with: at epsilon 5.49, someone who "
        "has a copy of the network re-identified 1.7 % of the people on a dense network of 242 "
        "people. Where 20 people were known as well, it was 4.1 % of the others, and better "
        "attacks may do more (measured by us)."
    )
    cost: ClassVar[str] = "linear in the edges a level of cuts, and in the parts"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 8.0}
    reason: ClassVar[Reason] = "unproved"

    epsilon_counts: float | None = parameter(
        default=None,
        text="the part of epsilon for the counts",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="a third",
    )
    epsilon_cuts: float | None = parameter(
        default=None,
        text="the part of epsilon for the cuts",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="a third",
    )

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon beside that of the cells, by name."""
        return {
            "epsilon_counts": self.part(self.epsilon_counts, _THIRD),
            "epsilon_cuts": self.part(self.epsilon_cuts, _THIRD),
        }

    def _anonymize(self, data: Graph, randomness: Randomness) -> MethodResult:
        n = data.n_nodes
        if n < 2:
            return self.draft(data, Graph.from_edges([], [], n=n))
        budget = EpsilonParts(*(float(part) for part in self.parts.values()))
        words, rng = words_from(randomness, "counts"), randomness.stream("cuts and cells")
        leaves = list(explored(data.edges().astype(np.int64), n, budget, words, rng))
        ends = filled(leaves, float(self.epsilon_cells), rng)
        return self.draft(data, Graph.from_edges(ends[:, 0], ends[:, 1], n=n))
