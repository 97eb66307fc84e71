"""What the heuristics may choose from: edges to delete, pairs to add, rewirings.

The paper samples the edges of a graph. Pairs that could be added are too many to list, so a round
draws as many as there are edges: half at random, half from open triads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.neighbourhoods.triangles import Forward
from graphveil.kernels.structural.sampling import Flips, lists_of
from graphveil.methods.structural.sampling_state import Ints, keys_of, packed, sources

FEWEST = 64
"""Draws of a round at least, so that small graphs do not stop by chance."""

FLIPS = {
    "delete": (((0, 1),), (False,)),
    "add": (((0, 1),), (True,)),
    "rewire": (((0, 1), (2, 3), (0, 3), (2, 1)), (False, False, True, True)),
}
"""The pairs of an edit's nodes that it flips, in turn, and whether each is joined."""


class Candidates(NamedTuple):
    """Edits of one kind that a round may choose from.

    Parameters
    ----------
    kind
        A key of `FLIPS`.
    nodes
        The nodes of every edit, int32: two columns, or four for rewirings.
    """

    kind: str
    nodes: tuple[NDArray[np.int32], ...]

    def flips(self) -> Flips:
        """Return the edits as the kernels take them."""
        ends, joins = FLIPS[self.kind]
        return Flips(np.stack(self.nodes, axis=1), np.array(ends), np.array(joins))

    def pairs(self, n: int) -> tuple[Ints, Ints]:
        """Return the keys of the pairs parted and joined, one row an edit."""
        ends, joins = FLIPS[self.kind]
        keys = [packed(self.nodes[a], self.nodes[b], n) for a, b in ends]
        rows = np.stack(keys, axis=1)
        joined = np.array(joins)
        return rows[:, ~joined], rows[:, joined]


def candidates(forward: Forward, edits: str, rng: np.random.Generator) -> list[Candidates]:
    """Return what a round may choose from: one entry a kind of edit, empty kinds left out."""
    found = []
    if edits in {"delete", "any"}:
        found.append(deletions(forward))
    if edits in {"add", "any"}:
        found.append(additions(forward, rng))
    if edits in {"rewire", "any"}:
        found.append(rewirings(forward, rng))
    return [pool for pool in found if pool.nodes[0].size]


def deletions(forward: Forward) -> Candidates:
    """Return every edge.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> from graphveil.methods.structural.sampling_state import ranked
    >>> [ends.tolist() for ends in deletions(ranked(Graph.from_edges([0], [1], n=3))[1]).nodes]
    [[1], [2]]
    """
    return Candidates("delete", (sources(forward), forward.ends))


def additions(forward: Forward, rng: np.random.Generator) -> Candidates:
    """Return distinct pairs that are no edges: up to one an edge, half of them open triads.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> from graphveil.methods.structural.sampling_state import ranked
    >>> _, path = ranked(Graph.from_edges([0, 1], [1, 2], n=3))
    >>> [ends.tolist() for ends in additions(path, np.random.default_rng(1)).nodes]
    [[0], [1]]
    """
    n = forward.start.size - 1
    draws = max(forward.ends.size, FEWEST)
    drawn = rng.integers(0, n, size=(2, draws - draws // 2))
    triads = _wedges(forward, draws // 2, rng)
    one, other = np.concatenate((drawn, triads), axis=1) if triads.size else drawn
    keys = np.unique(packed(one, other, n)[one != other])
    keys = keys[~_holds(keys_of(forward), keys)]
    return Candidates("add", ((keys // n).astype(np.int32), (keys % n).astype(np.int32)))


def _wedges(forward: Forward, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the outer ends of random paths of two edges; both may be the same node."""
    m = forward.ends.size
    if m == 0:
        return np.empty((2, 0), dtype=np.int64)
    lists = lists_of(forward)
    arc = rng.integers(0, 2 * m, size=draws)
    end = lists.indices[arc].astype(np.int64)
    centre = np.searchsorted(lists.indptr, arc, side="right") - 1
    near = rng.integers(lists.indptr[centre], lists.indptr[centre + 1])
    return np.stack((end, lists.indices[near].astype(np.int64)))


def rewirings(forward: Forward, rng: np.random.Generator) -> Candidates:
    """Return edits {v, w}, {x, y} -> {v, y}, {x, w} of random edges: up to one an edge.

    The four nodes are distinct and the new pairs are no edges.
    """
    n, m = forward.start.size - 1, forward.ends.size
    if m == 0:
        return Candidates("rewire", (np.empty(0, dtype=np.int32),) * 4)
    draws = max(m, FEWEST)
    source, keys = sources(forward), keys_of(forward)
    one, two = rng.integers(0, m, size=(2, draws))
    turned = rng.integers(0, 2, size=draws) == 1
    v, w = source[one], forward.ends[one]
    x = np.where(turned, forward.ends[two], source[two])
    y = np.where(turned, source[two], forward.ends[two])
    fits = (v != x) & (v != y) & (w != x) & (w != y)
    v, w, x, y = v[fits], w[fits], x[fits], y[fits]
    free = ~_holds(keys, packed(v, y, n)) & ~_holds(keys, packed(x, w, n))
    return Candidates("rewire", (v[free], w[free], x[free], y[free]))


def _holds(keys: Ints, wanted: Ints) -> NDArray[np.bool_]:
    """Return which keys are among the sorted ones."""
    if keys.size == 0:
        return np.zeros(wanted.size, dtype=np.bool_)
    place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    found: NDArray[np.bool_] = keys[place] == wanted
    return found
