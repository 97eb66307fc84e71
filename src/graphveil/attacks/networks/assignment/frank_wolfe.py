"""Assignments of one network's nodes to another's that keep edges, improved step by step: FAQ.

Vogelstein et al., *Fast approximate quadratic programming for graph matching*, PLOS ONE 2015; with
known pairs: Fishkind et al., *Seeded graph matching*, Pattern Recognition 2019. With A and B the
adjacency matrices of copy and release and P an assignment, the number of edges kept is half of tr(A
P B' P'), summed over neighbor lists. FAQ maximizes it over doubly stochastic P by steps of Frank
and Wolfe (`faq`); `best_assignment_path` repeats the linear step alone, over assignments.

Departures: a released edge between two people of a copy that lacks other people costs `SURPLUS`;
pairs with different attributes are excluded; equal worths are decided by chance.

Cost: an assignment problem of n nodes per step (n cubed at worst), and products of sparse matrices.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.copies.paired_copy import Pairing
from graphveil.core.array_types import Ints
from graphveil.core.libraries import optimize
from graphveil.core.progress import in_time
from graphveil.evaluate.comparison import Bools, sparse

Match: TypeAlias = "Ints"
"""The node of the other network that every node is assigned, int64, shape (n,); all of them
differ."""

Plan: TypeAlias = "NDArray[np.float32]"
"""How much of every node is assigned to every node of the other network: rows and columns add up
to 1."""

SURPLUS = 0.2
"""What a released edge between two assigned people costs if the copy does not have it, relative to
an edge in common. It only matters if the copy lacks people: only then do assignments differ in how
many such edges there are. 0 would pull the copy into the densest part of the release; 1 would trust
that the release added no edge."""

EXCLUDED = np.float32(-1e6)
"""The worth of a pair with different attributes: less than all edges together, so that such a pair
is assigned only if nothing else is possible."""

_CHANCE = 1e-3
"""How large the random numbers are that decide between equal worths, in standard deviations of all
worths: too small to outweigh a real difference."""

STEPS, LEAST_GAIN = 10, 1e-4
"""Steps of `faq` at most; it ends when a step would gain less than this share of what is reached.
10 instead of 30 named as many people on 48 copies of synthetic networks and 27 of real ones,
together with other changes."""

REPEATS = 40
"""How often `best_assignment_path` assigns at most; it ends earlier when nothing is gained."""

_OWN = 0.01
"""What keeping one's node is worth in `best_assignment_path`: less than an edge, enough to stay
among equal nodes."""


class Ties(NamedTuple):
    """A copy next to a release, as matrices, and what the attacker knows of which node is whose.

    Parameters
    ----------
    first, second : list of sparse float32 arrays, shape (n, n)
        The edges of the copy and of the release, one matrix per neighbor list: edge types, and out
        and in apart if edges have directions.
    turned : list of sparse float32 arrays, shape (n, n)
        Those of the release the other way round.
    seeds : int64, shape (n,)
        The released node of everybody who is known, -1 for the others.
    present : float32, shape (n,)
        1 for the people of the copy, 0 for those whom it lacks.
    surplus : float
        What a released edge between two assigned people costs that the copy lacks; 0 if the copy
        lacks nobody: whatever the assignment, their number is then the same.
    chances : float32, shape (n, n)
        Numbers from 0 to 1 by which assignments of equal worth are distinguished.
    excluded : bool, shape (n, n), optional
        Who cannot be which node, by attributes; None if none are known.
    """

    first: list[sparse.csr_array]
    second: list[sparse.csr_array]
    turned: list[sparse.csr_array]
    seeds: Match
    present: NDArray[np.float32]
    surplus: float
    chances: NDArray[np.float32]
    excluded: Bools | None = None

    @classmethod
    def of(cls, two: Pairing, seeds: Match, rng: np.random.Generator) -> Ties:
        """Return the matrices of a pairing, some pairs of which are known."""
        n = two.truth.size
        more = two.side_information
        first, second, turned = more.matrices(np.float32)
        return cls(
            first=first,
            second=second,
            turned=turned,
            seeds=seeds,
            present=two.present.astype(np.float32),
            surplus=0.0 if two.present.all() else SURPLUS,
            chances=rng.random((n, n), dtype=np.float32),
            excluded=None if more.rows is None else more.rows.excluded(),
        )

    def with_seeds(self, plan: Plan) -> Plan:
        """Return the plan in which known people are assigned to their nodes, and nobody else is."""
        known = np.flatnonzero(self.seeds >= 0)
        # Excluded pairs lose their weight, and rows are scaled to sum to 1 again.
        fixed = plan.copy()
        if self.excluded is not None:
            fixed[self.excluded] = 0
            fixed /= np.maximum(fixed.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        # Known people are assigned to their nodes, and nobody else is.
        fixed[known] = 0
        fixed[:, self.seeds[known]] = 0
        fixed[known, self.seeds[known]] = 1
        return fixed

    def gradient(self, plan: Plan) -> Plan:
        """Return what every pair of nodes adds, were it assigned: half the gradient of `kept`."""
        # A P B', for every list: how much of x's neighbors is assigned to y's neighbors.
        both = zip(self.first, self.second, strict=True)
        worth = np.ascontiguousarray(sum((second @ (first @ plan).T).T for first, second in both))
        if self.surplus:
            worth -= self._lost(np.einsum("ij,i->j", plan, self.present))
        return worth

    def gradient_of(self, match: Match) -> Plan:
        """Return the same where everybody is assigned to one node: a product of sparse matrices."""
        n = match.size
        # For an assignment P is sparse, and so is the product.
        ones = np.ones(n, dtype=np.float32)
        assigned = sparse.csr_array((ones, (np.arange(n), match)), shape=(n, n))
        both = zip(self.first, self.turned, strict=True)
        worth: Plan = sum(first @ assigned @ turned for first, turned in both).toarray()
        if self.surplus:
            taken = np.empty(n, dtype=np.float32)
            taken[match] = self.present
            worth -= self._lost(taken)
        return worth

    def _lost(self, assigned: NDArray[np.float32]) -> Plan:
        """Return what edges to assigned nodes cost each person who is assigned next to them."""
        near = sum(second @ assigned for second in self.second)
        return np.outer(self.present, np.float32(self.surplus) * near)

    def kept(self, match: Match) -> float:
        """Return twice the edges in common, less what surplus ones cost."""
        worth = self.gradient_of(match)
        return float(worth[np.arange(match.size), match].sum(dtype=np.float64))

    def assigned(self, worth: Plan) -> Match:
        """Return the assignment of the largest worth; known people keep their nodes.

        No person is given a node that shows other attributes, if that is possible. Chance decides
        between equal assignments.

        Parameters
        ----------
        worth : float32, shape (n, n)
            What each pair of a person and a node is worth.

        Returns
        -------
        int64, shape (n,)
            The node of every person, each once.
        """
        scale = np.float32(_CHANCE * float(worth.std()) if worth.size else 0.0)
        if self.excluded is not None:
            worth = np.where(self.excluded, EXCLUDED, worth)
        # Only free people and free nodes enter the assignment problem (modified Jonker-Volgenant in
        # SciPy).
        free = np.flatnonzero(self.seeds < 0)
        open_nodes = np.setdiff1d(np.arange(self.seeds.size), self.seeds)
        free_cells = np.ix_(free, open_nodes)
        _, columns = optimize.linear_sum_assignment(
            worth[free_cells] + scale * self.chances[free_cells], maximize=True
        )
        match = self.seeds.copy()
        match[free] = open_nodes[columns]
        return match


def faq(ties: Ties, plan: Plan) -> Match:
    """Return an assignment that keeps many edges, from a smooth plan on.

    A step of Frank and Wolfe maximizes the linear part, which is an assignment, and goes as far
    towards it as the quadratic one rises. The gradient is linear in the plan, so a step adds the
    gradient of an assignment, a product of sparse matrices.

    Parameters
    ----------
    ties : Ties
        Both networks, and known pairs.
    plan : float32, shape (n, n)
        Where to begin; rows and columns sum to 1.

    Returns
    -------
    int64, shape (n,)
        The assignment nearest to the last plan.
    """
    plan = ties.with_seeds(plan)
    worth = ties.gradient(plan)
    everybody = np.arange(plan.shape[0])
    for _ in in_time(range(STEPS)):
        # Step 1: the assignment that the gradient at the plan likes best.
        match = ties.assigned(worth)
        of_match = ties.gradient_of(match)
        # Step 2: along the line to it, what is kept is a parabola: its slope here, and its
        # curvature.
        here = float(np.einsum("ij,ij->", worth, plan, dtype=np.float64))
        across = float(worth[everybody, match].sum(dtype=np.float64))
        there = float(of_match[everybody, match].sum(dtype=np.float64))
        slope, curve = across - here, there - 2 * across + here
        if slope <= LEAST_GAIN * abs(here):
            break
        # Step 3: go to its maximum, or all the way if it opens upwards, and update the gradient.
        length = np.float32(min(1.0, -slope / curve) if curve < 0 else 1.0)
        plan *= 1 - length
        plan[everybody, match] += length
        worth += length * (of_match - worth)
    # Step 4: round the plan to an assignment.
    return ties.assigned(plan)


def best_assignment_path(ties: Ties, match: Match) -> tuple[Match, float]:
    """Return the best of repeated assignments, and what it keeps.

    Everybody is assigned the node of which most neighbors are assigned to their neighbors, again
    and again until what is kept no longer rises.
    """
    most = ties.kept(match)
    everybody = np.arange(match.size)
    for _ in in_time(range(REPEATS)):
        # The worth of a pair: how many of its neighbors are assigned to each other now.
        worth = ties.gradient_of(match)
        worth[everybody, match] += np.float32(_OWN)
        following = ties.assigned(worth)
        kept = ties.kept(following)
        if kept <= most:
            break
        match, most = following, kept
    return match, most
