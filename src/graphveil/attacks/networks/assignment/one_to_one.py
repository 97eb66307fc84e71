"""Assignments of all nodes of one network to those of another, from several starts, and their cost.

Three methods start: a relaxation of the alignment by features of nodes (Bommakanti, Vonteri,
Skitsas, Ranu, Mottin and Karras, *FUGAL: Feature-fortified unrestricted graph alignment*, NeurIPS
2024: the idea, written anew), a soft assignment that hardens step by step, and the nearest
candidates. The best is chosen by what the attacker sees. It costs little where two starts agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from graphveil.attacks.networks.assignment.frank_wolfe import (
    Match,
    Plan,
    Ties,
    best_assignment_path,
    faq,
)
from graphveil.attacks.networks.assignment.graduated_assignment import graduated, likeliest
from graphveil.attacks.networks.assignment.near_candidates import FEWER, near_match
from graphveil.attacks.networks.assignment.surroundings import Distances, distances
from graphveil.attacks.networks.copies.paired_copy import Pairing
from graphveil.core.progress import in_time

AGREEING = 0.7
"""Where two starts agree on such a share of the ends of the copy's edges, none is tried after."""

POLISHED = 2
"""So many of the starts are searched on from half way: which keeps most before need not after."""


class Start(NamedTuple):
    """An assignment to begin with, and distances to tell apart who keeps as many edges."""

    match: Match
    far: Distances


class _Improved(NamedTuple):
    """What repeated assignments make of a start, and what that keeps."""

    kept: float
    match: Match
    far: Distances


def best_assignment(ties: Ties, starts: Iterable[Start]) -> Match:
    """Return the likeliest assignment around the one of all starts that keeps most edges.

    What an assignment keeps is the attacker's own measure: it needs no linkage.
    """
    tried: list[_Improved] = []
    for start in in_time(starts):
        match, kept = best_assignment_path(ties, start.match)
        agreed = any(_agree(ties, match, other.match) for other in tried)
        tried.append(_Improved(kept, match, start.far))
        if agreed:
            break
    tried.sort(key=lambda some: some.kept, reverse=True)
    polished = [_from_half_way(ties, some) for some in tried[:POLISHED]]
    best = max(polished, key=lambda some: some.kept)
    return likeliest(ties, best.match, best.far)


def _from_half_way(ties: Ties, some: _Improved) -> _Improved:
    """Return what FAQ reaches from half way to the middle, where that keeps more."""
    half_way = middle(some.match.size) * np.float32(0.5)
    half_way[np.arange(some.match.size), some.match] += np.float32(0.5)
    match, kept = best_assignment_path(ties, faq(ties, half_way))
    return _Improved(kept, match, some.far) if kept > some.kept else some


def common_starts(ties: Ties, two: Pairing, rng: np.random.Generator) -> Iterator[Start]:
    """Yield what a graduated assignment makes of each kind of distances, and of near candidates.

    The search among candidates, which large networks get alone, comes first, as it mostly keeps
    most; the comparison by degrees alone, which keeps least, comes last.
    """
    far = list(distances(two))
    near = near_match(two, ties.seeds, rng, steps=FEWER)
    yield Start(completed(ties, near), far[0])
    for one in reversed(far):
        yield Start(ties.assigned(graduated(ties, one)), one)


def completed(ties: Ties, match: Match) -> Match:
    """Return an assignment that gives those a free node, by chance, who have none in a match."""
    given = np.flatnonzero(match >= 0)
    worth = np.zeros(ties.chances.shape, dtype=np.float32)
    worth[given, match[given]] = 1
    return ties.assigned(worth)


def _agree(ties: Ties, one: Match, other: Match) -> bool:
    """Whether two assignments give most people of the copy who are not known the same node.

    Each counts once per edge: a person with one edge is often one of many with equal surroundings.
    """
    ends = sum(np.asarray(lists.sum(axis=1)) for lists in ties.first)
    ends = ends * ((ties.seeds < 0) & (ties.present > 0))
    return bool(ends[one == other].sum() > AGREEING * ends.sum())


def middle(n: int) -> Plan:
    """Return the plan in which everybody is as much every node: the barycenter.

    >>> middle(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    return np.full((n, n), 1 / max(n, 1), dtype=np.float32)
