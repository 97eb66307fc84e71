"""One-to-one assignments of all nodes of a copy to those of a release, the best of several starts.

Used by `seeded-matching` and `alignment` for networks small enough to hold all pairs of nodes.
Steps: (1) take starts one after another (`common_starts`: the search among nearest candidates, then
graduated assignments with three kinds of distances; then a start of the attack's own); (2) improve
each by assigning again and again while more edges are kept; (3) stop when two starts agree: no
third would differ; (4) search the best two on with FAQ, from half way to the middle; (5) of the
assignments around the best, take the likeliest nodes.

What an assignment keeps is the attacker's own measure of success: it needs no linkage. The
combination is graphveil's own; each start names its paper. A new linking step is one more `Start`:
it is used if it keeps more edges than the others.

Cost: an assignment problem per improvement, n cubed at worst; much less where two starts agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from graphveil.attacks.networks.assignment import frank_wolfe
from graphveil.attacks.networks.assignment.graduated_assignment import graduated, likeliest
from graphveil.attacks.networks.assignment.near_candidates import FEWER, near_match
from graphveil.attacks.networks.assignment.surroundings import Distances, distances
from graphveil.attacks.networks.copies.paired_copy import Pairing
from graphveil.core.progress import in_time

AGREEING = 0.7
"""If two starts agree on this share of the ends of the copy's edges, none is tried after. A smaller
share stops sooner, with an assignment that may be a bad one; a larger one tries starts that change
nothing. Chosen together with the number of steps of each start, on 48 copies of synthetic networks
and 27 of real ones."""

POLISHED = 2
"""This many of the starts are searched on from half way: the one that keeps most before need not
keep most after."""


class Start(NamedTuple):
    """An assignment to begin with, and distances to choose between those that keep as many edges.

    `match`: int64, shape (n,); `far`: float32, shape (n, n).
    """

    match: frank_wolfe.Match
    far: Distances


class _Improved(NamedTuple):
    """What repeated assignments make of a start, and what that keeps."""

    kept: float
    match: frank_wolfe.Match
    far: Distances


def best_assignment(ties: frank_wolfe.Ties, starts: Iterable[Start]) -> frank_wolfe.Match:
    """Return the likeliest assignment around the one of all starts that keeps most edges.

    Parameters
    ----------
    ties : Ties
        Both networks, and known pairs.
    starts : iterable of Start
        Assignments to begin with; later ones are made only if no two earlier ones agree.

    Returns
    -------
    int64, shape (n,)
        The released node of every node of the copy.
    """
    tried: list[_Improved] = []
    # Steps 1 to 3: improve starts until two agree. They come from a generator: those not needed are
    # never made.
    for start in in_time(starts):
        match, kept = frank_wolfe.best_assignment_path(ties, start.match)
        agreed = any(_agree(ties, match, other.match) for other in tried)
        tried.append(_Improved(kept, match, start.far))
        if agreed:
            break
    # Step 4: search on from half way between each of the best and the middle.
    tried.sort(key=lambda some: some.kept, reverse=True)
    polished = [_from_half_way(ties, some) for some in tried[:POLISHED]]
    best = max(polished, key=lambda some: some.kept)
    # Step 5: the likeliest nodes around the best assignment.
    return likeliest(ties, best.match, best.far)


def _from_half_way(ties: frank_wolfe.Ties, some: _Improved) -> _Improved:
    """Return what FAQ reaches from half way to the middle, where that keeps more."""
    half_way = middle(some.match.size) * np.float32(0.5)
    half_way[np.arange(some.match.size), some.match] += np.float32(0.5)
    match, kept = frank_wolfe.best_assignment_path(ties, frank_wolfe.faq(ties, half_way))
    return _Improved(kept, match, some.far) if kept > some.kept else some


def common_starts(
    ties: frank_wolfe.Ties, two: Pairing, rng: np.random.Generator
) -> Iterator[Start]:
    """Yield the starts that both attacks share: near candidates, then three graduated assignments.

    The search among candidates, which large networks get alone, comes first, as it mostly keeps
    most; the comparison by degrees alone, which keeps least, comes last.
    """
    far = list(distances(two))
    near = near_match(two, ties.seeds, rng, steps=FEWER)
    yield Start(completed(ties, near), far[0])
    for distance in reversed(far):
        yield Start(ties.assigned(graduated(ties, distance)), distance)


def completed(ties: frank_wolfe.Ties, match: frank_wolfe.Match) -> frank_wolfe.Match:
    """Return an assignment that gives those a free node, by chance, who have none in a match."""
    given = np.flatnonzero(match >= 0)
    worth = np.zeros(ties.chances.shape, dtype=np.float32)
    worth[given, match[given]] = 1
    return ties.assigned(worth)


def _agree(ties: frank_wolfe.Ties, one: frank_wolfe.Match, other: frank_wolfe.Match) -> bool:
    """Whether two assignments give most people of the copy who are not known the same node.

    Each counts once per edge: a person with one edge is often one of many with equal surroundings.
    """
    ends = sum(np.asarray(lists.sum(axis=1)) for lists in ties.first)
    ends = ends * ((ties.seeds < 0) & (ties.present > 0))
    return bool(ends[one == other].sum() > AGREEING * ends.sum())


def middle(n: int) -> frank_wolfe.Plan:
    """Return the plan in which everybody is as much every node: the barycenter.

    >>> middle(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    return np.full((n, n), 1 / max(n, 1), dtype=np.float32)
