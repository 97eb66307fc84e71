"""A network with hubs and many triangles, for tests of `degree-triangle-model`."""

from __future__ import annotations

import numpy as np

import graphveil as gv


def clustered_graph(n=150, seed=0):
    """Return cliques of six people, of whom each has up to two ties to the first twelve."""
    rng = np.random.default_rng(seed)
    ends = [(u, v) for c in range(0, n, 6) for u in range(c, c + 6) for v in range(c, u)]
    ends += [(u, int(v)) for u in range(n) for v in rng.integers(0, 12, 2) if u != v]
    distinct = np.array(sorted({(min(e), max(e)) for e in ends}))
    return gv.Graph.from_edges(distinct[:, 0], distinct[:, 1], n=n)
