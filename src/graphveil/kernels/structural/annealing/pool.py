"""The pairs that a walk may flip, and which of them it has flipped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf
from graphveil.kernels.structural.rows import Nodes

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NONE = -1
CHANGED = 0
NOW, BEST = range(2)


class Pool(NamedTuple):
    """The pairs that may be flipped: the edges first, then the candidates to add.

    Pair i joins ``one[i]`` and ``other[i]``, and does so now where ``present[i]``.
    ``around[start[v] : start[v + 1]]`` are the pairs at v. ``order`` is a permutation of the pairs:
    the first ``tally[CHANGED]`` of them are changed; ``position`` is its inverse. ``common`` holds
    the common neighbors of every pair at the start, or another guess of what a flip moves.

    Where edges are rewired, a changed edge {v, w} has exchanged ends with its mate, edge
    ``mates[NOW] >> 1``, {x, y}, for {v, y} and {x, w}; x and y change roles where ``mates[NOW] &
    1``. ``mates[BEST]`` holds those of the best state. Elsewhere ``mates`` is None, and the kernels
    are compiled without what asks for it.
    """

    one: Nodes
    other: Nodes
    start: Ints
    around: Nodes
    present: Flags
    order: Nodes
    position: Nodes
    tally: Ints
    common: Nodes
    mates: Ints | None


@leaf
def is_changed(pool: Pool, pair: int) -> bool:
    """Return whether the pair differs from the input."""
    return bool(pool.position[pair] < pool.tally[CHANGED])
