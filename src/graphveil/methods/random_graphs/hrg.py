"""The method `hrg-mcmc`: a tree over the nodes from a Markov chain, its densities with noise.

The baseline HRG-MCMC of Xiao, Chen & Tan (KDD 2014), with which Nguyen, Imine & Rusinowitch (2015)
compare the Top-m Filter. It is for comparison, and carries no guarantee. The steps are in
`graphveil.methods.random_graphs.hierarchy`.

Epsilon is split in two: half for the choice of the tree, half for the noisy densities. Each pair of
nodes is in one density, so all of them share their part by parallel composition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from graphveil.claims.knowledge import Reason
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.card import MethodCard
from graphveil.methods.noise.laws import words_from
from graphveil.methods.noisy_cells.noisy import NOISY_FIELDS, Share, part_parameter
from graphveil.methods.random_graphs.baselines import BaselineMethod
from graphveil.release.draft import Draft

__all__ = ["HrgMcmc"]


CARD = MethodCard(
    when="You compare with the published method; it carries no guarantee.",
    promise=(
        "No guarantee: a Markov chain that is stopped only approximates the private distribution."
    ),
    source="Xiao, Chen & Tan, Differentially Private Network Data Release via Structural Inference",
    limits=(
        "Everything: this baseline claims no protection. Re-identified in our tests at epsilon "
        "5.49 (242 nodes, dense): 1.7% of the nodes by an attacker with a copy of the network; "
        "1.5% by one who knew the degrees of a node's neighbors. Better attacks may do more."
    ),
    cost="1,000 to 3,000 steps per node, each with the edges of a small subtree",
    example={"epsilon": 8.0},
    **NOISY_FIELDS,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class HrgMcmc(BaselineMethod):
    """No guarantee: a Markov chain that is stopped only approximates the private distribution.

    A binary tree over the nodes is sampled that describes the edges well. Every inner node gets the
    noisy density of the pairs between its two sides, and a random graph with these densities is
    published. It is for comparison.

    Parameters
    ----------
    epsilon
        The privacy loss of the noise, and of the chain if it ran for ever; nothing is claimed of
        it.
    epsilon_tree
        The part for the choice of the tree; the densities have the rest. Default: half of epsilon.
    max_nodes
        Graphs with more nodes are refused.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the tree leaves nothing for the densities.
    InfeasibleError
        If the graph has more than `max_nodes`.

    Notes
    -----
    Xiao, Chen & Tan, KDD 2014. A step takes an inner node other than the root and proposes one of
    the two other arrangements of its children and its sibling. It is accepted with
    min(1, exp(e d/(2 D))) for a change d of the log-likelihood, which one edge changes by D at
    most. The walk stops after 1,000 to 3,000 steps per node. Subtrees in which noise would outweigh
    pairs are one block. The noise has its exact law; the graph is sampled by the generator of the
    run.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = HrgMcmc(epsilon=4.0).anonymize(path)
    >>> release.guarantee.reasons, release.data.n_nodes
    (('finite-chain',), 4)
    """

    name: ClassVar[str] = "hrg-mcmc"
    card: ClassVar[MethodCard] = CARD
    reason: ClassVar[Reason] = "finite-chain"

    shares: ClassVar[Mapping[str, Share]] = {
        "epsilon_tree": Share(of_epsilon=Fraction(1, 2), most=Fraction(20))
    }

    epsilon_tree: float | None = part_parameter(
        "part of epsilon spent on the tree", "half of epsilon"
    )

    def draft(self, data: Graph, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        from graphveil.methods.random_graphs.hierarchy import blocks_of, sampled_edges, tree_of_walk  # noqa: PLC0415  compiled code

        if data.n_nodes < 2:
            return self.unclaimed_draft(data, Graph.from_edges([], [], n=data.n_nodes))
        # Step 1: the tree, under epsilon_tree, if the chain had reached its limit.
        tree = tree_of_walk(data, float(self.parts["epsilon_tree"]), randomness.stream("walk"))
        blocks = blocks_of(tree, float(self.epsilon_cells))
        # Step 2: noisy numbers of edges of all blocks (sensitivity 1), and a graph from them.
        words, rng = words_from(randomness, "densities"), randomness.stream("edges")
        ends = sampled_edges(tree, blocks, self.epsilon_cells, words, rng)
        return self.unclaimed_draft(data, Graph.from_edges(ends[:, 0], ends[:, 1], n=data.n_nodes))
