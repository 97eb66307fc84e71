"""A few surest pairs to begin with, if nobody is known: nodes with very similar surroundings.

graphveil's own. Every node is described by logarithms of counts: its degree and triangles, and how
many nodes at distance 1 and 2 have at least each degree. Pairs that are each other's nearest (L1)
are candidates; of those with degree 3 or more the 15% are taken whose second nearest is farthest
off in proportion: nearest alone says little, a gap to the second says more. `mutual_best.py`
spreads from these.

Cost: n squared distances in memory, times the number of features.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphveil.attacks.networks.assignment.expand_when_stuck import Match
from graphveil.attacks.networks.assignment.surroundings import values_around
from graphveil.attacks.networks.copies import paired_copy
from graphveil.attacks.networks.copies.side_information import Relations, SideInformation
from graphveil.attacks.networks.copies.side_information import degrees as degrees_of
from graphveil.core.array_types import Floats, Ints
from graphveil.core.libraries import distance
from graphveil.data import Graph
from graphveil.measures.values import triangles

SURE_SHARE = 0.15
"""The share of mutual nearest pairs that is taken. More begin with more errors, fewer may not
spread."""


def high_confidence_pairs(one: Graph, two: Graph, more: SideInformation) -> Match:
    """Return a few pairs of nodes whose surroundings are far more similar than any others.

    Parameters
    ----------
    one, two : Graph
        The copy and the release.
    more : SideInformation
        Edge types, directions and attributes; without any, the edges of both graphs.

    Returns
    -------
    int64, shape (n_one,)
        The node of `two` of some nodes of `one`, -1 for all others.
    """
    # Step 1: distances of all pairs of nodes; different attributes are infinitely far.
    around = values_around(more)
    far = distance.cdist(
        _surroundings(one, more.copy, around[0]),
        _surroundings(two, more.released, around[1]),
        "cityblock",
    )
    if more.rows is not None:
        far[more.rows.excluded()] = np.inf
    # Step 2: pairs that are each other's nearest, of degree 3 and more on both sides.
    row, column = far.argmin(axis=1), far.argmin(axis=0)
    mutual = column[row] == np.arange(row.size)
    mutual &= (one.degrees() >= 3) & (two.degrees()[row] >= 3)
    pairs = np.flatnonzero(mutual)
    # Step 3: those whose nearest is nearest in proportion to the second nearest.
    two_least = (
        np.partition(far[pairs], 1, axis=1)[:, :2] if far.shape[1] > 1 else far[pairs][:, [0, 0]]
    )
    with np.errstate(invalid="ignore"):  # nobody else has these attributes
        doubt = two_least[:, 0] / np.maximum(two_least[:, 1], np.finfo(float).tiny)
    surest = pairs[np.argsort(doubt, kind="stable")[: int(np.ceil(SURE_SHARE * pairs.size))]]
    match = np.full(one.n_nodes, paired_copy.NOBODY, dtype=np.int64)
    match[surest] = row[surest]
    return match


def _surroundings(graph: Graph, relations: Relations = (), values: Sequence[Ints] = ()) -> Floats:
    """Return what each node's surroundings are like, as logarithms of one plus numbers.

    How many nodes at distance 1, and at distance 2, have degrees of at least powers of the root of
    2, the latter by half; twice the degree; and the number of triangles. With several edge types or
    directions, the degrees of each; and how many neighbors show each value of attributes.
    """
    degrees = graph.degrees()
    # Degrees up to 2**17 in half powers of 2, cumulated from above: edges that come and go move few
    # counts.
    powers = np.floor(2 * np.log2(np.maximum(degrees, 1))).astype(np.int64)
    at_least = (powers[:, None] >= np.arange(2 * 17)).astype(np.float64)
    near = graph.to_scipy().astype(np.float64)
    # Nodes at distance 2: walks of two steps that lead neither back nor to a neighbor.
    second = near @ near
    second.data[:] = 1
    beyond = second - second.multiply(near)
    beyond.setdiag(0)
    around = np.log1p(near @ at_least), np.log1p(beyond @ at_least) / 2
    own = 2 * np.log1p(degrees), np.log1p(triangles(graph))
    each = degrees_of(relations) if len(relations) > 1 else ()
    return np.hstack([*around, np.column_stack([*own, *map(np.log1p, [*each, *values])])])
