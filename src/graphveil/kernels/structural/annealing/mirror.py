"""Who is exchanged with whom, so that most ties lead to ties: a graph that is nearly a mirror."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf
from graphveil.kernels.structural.rows import Nodes, first_not_below
from graphveil.kernels.tiers import tiered

Ints = NDArray[np.int64]

HOT, COLD = 4.0, 0.3
"""Ties that are lost for a change which is made one time in e, at the start and at the end."""

BEYOND = 0.5
"""How often who is exchanged with somebody comes from two steps away, not from everywhere."""


@leaf
def _joined(indptr: Ints, indices: Nodes, v: int, w: int) -> bool:
    """Return whether v and w are neighbors."""
    end = indptr[v + 1]
    at = first_not_below(indices, indptr[v], end, w)
    return bool(at < end and indices[at] == w)


@leaf
def kept_at(indptr: Ints, indices: Nodes, partner: Ints, marks: Ints, v: int) -> int:
    """Return how many neighbors of v have partners that are neighbors of v's partner.

    Writes the marks, all 0 before and after.
    """
    image = partner[v]
    for i in range(indptr[image], indptr[image + 1]):
        marks[indices[i]] = 1
    kept = 0
    for i in range(indptr[v], indptr[v + 1]):
        kept += marks[partner[indices[i]]]
    for i in range(indptr[image], indptr[image + 1]):
        marks[indices[i]] = 0
    return kept


@leaf
def kept_of_pairs(
    indptr: Ints, indices: Nodes, partner: Ints, marks: Ints, ends: tuple[int, int]
) -> int:
    """Return how many ties at two pairs of partners, of which these are an end each, are kept.

    A tie is kept if it leads to a tie when all partners change places. Those at a node and those at
    its partner lead to each other, so one of the two is looked at. Ties within a pair lead to
    themselves, and those between the pairs are seen from both.
    """
    v, w = ends
    x, y = partner[v], partner[w]
    kept = 2 * kept_at(indptr, indices, partner, marks, v)
    kept += 2 * kept_at(indptr, indices, partner, marks, w)
    kept -= _joined(indptr, indices, v, x)
    kept -= _joined(indptr, indices, w, y)
    if _joined(indptr, indices, v, w) and _joined(indptr, indices, x, y):
        kept -= 2
    if _joined(indptr, indices, v, y) and _joined(indptr, indices, x, w):
        kept -= 2
    return kept


@leaf
def _another(indptr: Ints, indices: Nodes, v: int, rng: np.random.Generator) -> int:
    """Return a node two steps from v, or any node."""
    first, last = indptr[v], indptr[v + 1]
    if first < last and rng.random() < BEYOND:
        middle = np.int64(indices[first + int(rng.random() * (last - first))])
        first, last = indptr[middle], indptr[middle + 1]
        return int(np.int64(indices[first + int(rng.random() * (last - first))]))
    return int(rng.random() * (indptr.size - 1))


@leaf
def _exchange(partner: Ints, v: int, w: int) -> None:
    """Make v and w partners, and those that they had."""
    x, y = partner[v], partner[w]
    partner[v], partner[w] = w, v
    partner[x], partner[y] = y, x


@tiered(
    lambda indptr, indices, _colors, _partner, _marks, proposals, _rng: (
        proposals * (20 + 8 * indices.size // max(indptr.size - 1, 1))
    )
)
@leaf
def pair_up(
    indptr: Ints,
    indices: Nodes,
    colors: Ints,
    partner: Ints,
    marks: Ints,
    proposals: int,
    rng: np.random.Generator,
) -> None:
    """Anneal who is whose partner, so that most ties are kept: see `kept_of_pairs`.

    Every node has a partner of its color at the start and at the end: ``partner`` is written.
    """
    cooling = (COLD / HOT) ** (1.0 / proposals)
    temperature = HOT
    for _ in range(proposals):
        temperature *= cooling
        v = int(rng.random() * (indptr.size - 1))
        w = _another(indptr, indices, v, rng)
        x = partner[v]
        if w in (v, x) or colors[v] != colors[w]:
            continue
        lost = kept_of_pairs(indptr, indices, partner, marks, (v, w))
        _exchange(partner, v, w)
        lost -= kept_of_pairs(indptr, indices, partner, marks, (v, x))
        if lost > 0 and lost > -temperature * math.log(1.0 - rng.random()):
            _exchange(partner, v, x)
