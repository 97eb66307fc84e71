"""What is around a person where ties are directed: how many ties, people, and ties among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Layer
from graphveil.measures.scalars import Columns

AWAY, BACK = 1, 2
"""The ways of a tie in the row of a person: it leads away from that person, or back."""


class EitherWay(NamedTuple):
    """Who is tied to whom, in one direction or in both.

    Attributes
    ----------
    indptr, indices
        The rows of everyone's neighbors, ascending, as in a `Graph`.
    ways
        int8: of every entry, `AWAY`, `BACK`, or the sum of both.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    ways: NDArray[np.int8]


def either_way(layer: Layer) -> EitherWay:
    """Return who is tied to whom in a directed layer, and which ways.

    Examples
    --------
    >>> rows = either_way(Layer.from_arcs([0, 0, 1], [1, 2, 0], n=3))
    >>> rows.indices.tolist(), rows.ways.tolist()
    ([1, 2, 0, 0], [3, 1, 3, 2])
    """
    n = layer.n_nodes
    source, target = (end.astype(np.int64) for end in layer.ties())
    away, back = source * n + target, target * n + source
    keys = np.union1d(away, back)
    ways = np.zeros(keys.size, dtype=np.int8)
    ways[np.searchsorted(keys, away)] += AWAY
    ways[np.searchsorted(keys, back)] += BACK
    person, neighbor = np.divmod(keys, max(n, 1))
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(person, minlength=n), out=indptr[1:])
    return EitherWay(indptr, neighbor.astype(np.int32), ways)


def directed_count(layer: Layer) -> Columns:
    """Return of everyone the ties out and in, the neighbors, and the ties among them all.

    Neighbors are people to whom a tie leads, from whom one comes, or both. The ties among them all
    are those between any two of the person and the neighbors, each direction counted.

    Examples
    --------
    >>> around = directed_count(Layer.from_arcs([0, 0, 1, 2, 2], [1, 2, 0, 1, 3], n=4))
    >>> {name: column.tolist() for name, column in around.items()}
    {'out': [2, 1, 2, 0], 'in': [1, 2, 1, 1], 'neighbors': [2, 2, 3, 1], 'ties': [4, 4, 5, 1]}
    """
    from graphveil.kernels.neighborhoods import triangles as kernels  # noqa: PLC0415  heavy: not for help

    out, into = layer.degrees()
    indptr, indices, ways = either_way(layer)
    mutual = (ways == AWAY + BACK).astype(np.int8)
    among = kernels.weight_around(indptr, indices, mutual + np.int8(1))
    return {"out": out, "in": into, "neighbors": np.diff(indptr), "ties": out + into + among}
