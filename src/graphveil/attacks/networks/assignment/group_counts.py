"""Which of the published groups every node of a copy is in, by the numbers of edges between groups.

A generalized graph publishes how many edges each block has: each group, and each pair of groups.
With the right groups a correct copy has these numbers. The search minimizes the *misfit*, the sum
of the squared differences over all blocks, which the attacker sees:

1. Starts: by degree, and FAQ (Vogelstein et al., PLOS ONE 2015) between the copy and the published
   densities, or their log-odds. A plan has a column for each group, so that a step is an assignment
   of people to the places of all groups.
2. Exchanges of two people under a falling temperature (`kernels/group_exchange.py`), from each
   start, and again with four times as many exchanges: the right groups are found all at once, when
   the temperature falls slowly enough, or not at all.
3. The groups of the least misfit. A misfit of 0 cannot be improved, and ends the search.

The combination is graphveil's own. Cost: assignment problems of n nodes, n cubed at worst, and
exchanges that cost the number of groups each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.core.lazy import lazy_module
from graphveil.core.libraries import optimize
from graphveil.core.progress import OutOfTimeError, check_time, in_time
from graphveil.data import Graph
from graphveil.release.generalized_graph import GeneralizedGraph

if TYPE_CHECKING:
    from graphveil.attacks.kernels import group_exchange
else:
    group_exchange = lazy_module("graphveil.attacks.kernels.group_exchange")

FIRST_SWEEPS, LONGER = 4_000, 4
"""How many exchanges the first round tries per person, and how many times as many each later one
does. The first takes a second on a few hundred people."""

FALLS = ((0.0, 0.3), (0.65, 0.15), (0.95, 0.02))
"""The temperature after a share of the exchanges, as a share of the mean degree; between them it
falls by equal factors, and at last it is 0. Most exchanges are spent where the right groups form on
the dense networks of 242 and 167 nodes on which these shares were chosen."""

PER_CALL = 1 << 16
"""The exchanges of one call of the kernel, between which the time is checked. They take a tenth of
a second with a thousand groups."""

LEAST_COUNT = 0.1
"""What is added to both counts of log-odds, so that none is infinite."""

STEPS, LEAST_GAIN = 30, 1e-4
"""Steps of `_relaxed` at most; it ends when a step would gain less than this share."""


class Target(NamedTuple):
    """What the release publishes, and whom the attacker knows.

    Parameters
    ----------
    places : int64, shape (n,)
        The group of every place: released node i is in group ``places[i]``.
    counts : int64, shape (groups, groups)
        The published numbers of edges, symmetric; inside a group every edge counts once.
    pairs : int64, shape (groups, groups)
        The possible numbers of edges, in the same form.
    known : int64, shape (n,)
        The group of every known person of the copy, -1 for the others.
    """

    places: Ints
    counts: Ints
    pairs: Ints
    known: Ints

    @classmethod
    def of(cls, published: GeneralizedGraph, known: Ints) -> Target:
        """Return the numbers of edges of a release as matrices."""
        groups, sizes = published.n_groups, published.sizes
        counts = np.zeros((groups, groups), dtype=np.int64)
        counts[published.first, published.second] = published.edges
        counts[published.second, published.first] = published.edges
        pairs = np.outer(sizes, sizes)
        np.fill_diagonal(pairs, sizes * (sizes - 1) // 2)
        places = np.arange(published.n_nodes) % groups
        return cls(places, counts, pairs, known)

    @property
    def density(self) -> Floats:
        """The share of the possible edges that there are, float64, shape (groups, groups)."""
        return self.counts / np.maximum(self.pairs, 1)

    @property
    def odds(self) -> Floats:
        """The logarithm of edges to pairs without one, float64, shape (groups, groups)."""
        free = self.pairs - self.counts
        return np.log((self.counts + LEAST_COUNT) / (free + LEAST_COUNT))

    @property
    def free_places(self) -> Ints:
        """The group of every place that no known person has."""
        taken = np.bincount(self.known[self.known >= 0], minlength=len(self.counts))
        left = np.bincount(self.places, minlength=len(self.counts)) - taken
        return np.repeat(np.arange(left.size), left)


class Fit(NamedTuple):
    """An assignment of people to groups.

    `groups`: int64, shape (n,), in the order of the copy; `misfit`: the sum of the squared
    differences between the edges of the copy in each block and the published number.
    """

    groups: Ints
    misfit: int


def best_groups(copy: Graph, target: Target, sweeps: int, rng: np.random.Generator) -> Fit:
    """Return the groups of the people of a copy under which its edges fit the numbers best.

    If the time is over, it is the best of what was found until then.

    Parameters
    ----------
    copy : Graph
        The network that the attacker has.
    target : Target
        The published numbers, and the groups of known people.
    sweeps : int
        How many exchanges the longest round tries per person, at least.
    rng : numpy.random.Generator
        Exchanges, and chance between equals.

    Returns
    -------
    Fit
        The groups, and the misfit.

    Raises
    ------
    OutOfTimeError
        If the time is over before there is any assignment.
    """
    check_time()
    groups = by_degree(copy, target, rng)
    best = Fit(groups, misfit(copy, target, groups))
    try:
        for fitted in _searched(copy, target, best.groups, sweeps, rng):
            best = min(best, fitted, key=lambda some: some.misfit)
            if best.misfit == 0:
                break
    except OutOfTimeError:
        pass  # what is found so far counts
    return best


def misfit(copy: Graph, target: Target, groups: Ints) -> int:
    """Return the sum of the squared differences from the published numbers."""
    excess = GeneralizedGraph.counted(copy, groups)
    counts = np.zeros_like(target.counts)
    counts[excess.first, excess.second] = excess.edges
    return int(np.square(counts - np.triu(target.counts)).sum())


def by_degree(copy: Graph, target: Target, rng: np.random.Generator) -> Ints:
    """Return groups such that people of higher degree are in groups of higher mean degree.

    Chance decides between people of equal degree.
    """
    # Each edge inside a group is an edge of two of its nodes.
    ends = target.counts.sum(axis=1) + np.diag(target.counts)
    mean = ends / np.bincount(target.places, minlength=ends.size)
    free = np.flatnonzero(target.known < 0)
    order = np.lexsort((rng.random(free.size), copy.degrees()[free]))
    places = target.free_places
    groups = target.known.copy()
    groups[free[order]] = places[np.argsort(mean[places], kind="stable")]
    return groups


def rounds(sweeps: int) -> list[int]:
    """Return how many exchanges per person each round tries.

    >>> rounds(64_000), rounds(500)
    ([4000, 16000, 64000], [500])
    """
    every = [min(FIRST_SWEEPS, sweeps)]
    while every[-1] < sweeps:
        every.append(min(LONGER * every[-1], sweeps))
    return every


def _searched(
    copy: Graph, target: Target, first: Ints, sweeps: int, rng: np.random.Generator
) -> Iterator[Fit]:
    """Yield assignments while exchanges improve them: in each round, from each start."""
    starts = [first]
    for number in rounds(sweeps):
        yield from _exchanged(copy, target, starts[0], number, rng)
        if len(starts) == 1:  # the others take longer: the first has a figure by now
            starts += [
                _relaxed(copy, target, weights, rng) for weights in (target.density, target.odds)
            ]
        for start in starts[1:]:
            yield from _exchanged(copy, target, start, number, rng)


def _relaxed(copy: Graph, target: Target, weights: Floats, rng: np.random.Generator) -> Ints:
    """Return the groups that FAQ reaches from the middle: edges of the copy go to large weights.

    `weights`: float64, shape (groups, groups): what an edge between two groups is worth.
    """
    near, density = copy.to_scipy().astype(np.float32), weights.astype(np.float32)
    known, everybody = np.flatnonzero(target.known >= 0), np.arange(copy.n_nodes)
    # In the middle everybody is as much in each group as its size says: float32, (n, groups).
    share = np.bincount(target.places, minlength=len(weights)) / copy.n_nodes
    plan = np.tile(share.astype(np.float32), (copy.n_nodes, 1))
    plan[known] = 0
    plan[known, target.known[known]] = 1
    worth = (near @ plan) @ density
    for _ in in_time(range(STEPS)):
        # Step 1: the assignment that is best along the gradient, which is linear in the plan.
        groups = _placed(worth, target, rng)
        kept = np.zeros_like(plan)
        kept[everybody, groups] = 1
        of_groups = (near @ kept) @ density
        # Step 2: along the line to it, what is kept is a parabola; go to its maximum.
        here = float(np.einsum("ij,ij->", worth, plan, dtype=np.float64))
        across = float(worth[everybody, groups].sum(dtype=np.float64))
        there = float(of_groups[everybody, groups].sum(dtype=np.float64))
        slope, curve = across - here, there - 2 * across + here
        if slope <= LEAST_GAIN * abs(here):
            break
        length = np.float32(min(1.0, -slope / curve) if curve < 0 else 1.0)
        plan += length * (kept - plan)
        worth += length * (of_groups - worth)
    # Step 3: the assignment nearest to the plan.
    return _placed(plan, target, rng)


def _placed(worth: NDArray[np.float32], target: Target, rng: np.random.Generator) -> Ints:
    """Return the groups of the largest worth in which groups keep their sizes.

    Chance decides between equals; known people stay in their groups.
    """
    free, places = np.flatnonzero(target.known < 0), target.free_places
    cells = worth[np.ix_(free, places)]
    chance = 1e-3 * float(cells.std()) if cells.size else 0.0
    cells = cells + np.float32(chance) * rng.random(cells.shape, dtype=np.float32)
    _, columns = optimize.linear_sum_assignment(cells, maximize=True)
    groups = target.known.copy()
    groups[free] = places[columns]
    return groups


def _exchanged(
    copy: Graph, target: Target, groups: Ints, sweeps: int, rng: np.random.Generator
) -> Iterator[Fit]:
    """Yield what exchanges make of an assignment, so many per person."""
    placement = placed(copy, target, groups)
    free = np.flatnonzero(target.known < 0)
    cost = misfit(copy, target, groups)
    exchanges, indptr = sweeps * free.size, copy.indptr.astype(np.int64)
    degree, (shares, levels) = copy.degrees().mean(), zip(*FALLS, strict=True)
    for done in in_time(range(0, exchanges, PER_CALL)):
        number = min(PER_CALL, exchanges - done)
        part = (done + np.arange(number)) / exchanges
        temperature = degree * np.exp(np.interp(part, shares, np.log(levels)))
        temperature[part > shares[-1]] = 0.0
        # Metropolis' rule: a rise by d is made with probability e^(-d/T). The misfit is whole; the
        # 0.5 lets exchanges through that change nothing at temperature 0.
        limits = 0.5 - temperature * np.log1p(-rng.random(number))
        draws = free[rng.integers(0, free.size, size=(number, 2))]
        cost += group_exchange.fit(indptr, copy.indices, placement, draws, limits)
        yield Fit(placement.groups.copy(), cost)


def placed(copy: Graph, target: Target, groups: Ints) -> group_exchange.Placement:
    """Return an assignment as the state of the kernel."""
    n, n_groups = copy.n_nodes, len(target.counts)
    member = np.zeros((n, n_groups), dtype=np.int32)
    member[np.arange(n), groups] = 1
    near = copy.to_scipy().astype(np.int32) @ member
    counts = (member.T @ near).astype(np.int64)
    counts[np.diag_indices(n_groups)] //= 2
    return group_exchange.Placement(
        groups.copy(), np.ascontiguousarray(near), counts - target.counts
    )
