"""Which rows have a feature: lists that rows can leave, and how many features two rows share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import allocating, leaf
from graphveil.core.kernels.tiers import tiered

Ints = NDArray[np.int64]
Indices = NDArray[np.int32]


class FeatureLists(NamedTuple):
    """Every feature's rows, those that have left put behind the others.

    The rows of feature f are ``members[starts[f] : starts[f] + lengths[f]]``. ``entries[i]`` is the
    entry of ``indices`` by which ``members[i]`` has the feature, and ``positions`` is its inverse:
    where every entry stands in ``members``.
    """

    starts: Ints
    lengths: Ints
    members: Indices
    entries: Ints
    positions: Ints


@tiered()
@allocating
def lists_of(indptr: Ints, indices: Indices, n_features: int) -> FeatureLists:
    """Return the lists of these rows; the rows of a feature ascend."""
    starts = np.zeros(n_features + 1, dtype=np.int64)
    for f in indices:
        starts[f + 1] += 1
    for f in range(n_features):
        starts[f + 1] += starts[f]
    lengths = np.zeros(n_features, dtype=np.int64)
    members = np.empty(indices.size, dtype=np.int32)
    entries = np.empty(indices.size, dtype=np.int64)
    positions = np.empty(indices.size, dtype=np.int64)
    for row in range(indptr.size - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            f = indices[entry]
            position = starts[f] + lengths[f]
            lengths[f] += 1
            members[position] = row
            entries[position] = entry
            positions[entry] = position
    return FeatureLists(starts, lengths, members, entries, positions)


@leaf
def leave(lists: FeatureLists, indptr: Ints, indices: Indices, row: int) -> None:
    """Take a row that is in the lists out of them: O(its features)."""
    starts, lengths, members, entries, positions = lists
    for entry in range(indptr[row], indptr[row + 1]):
        f = indices[entry]
        lengths[f] -= 1
        here, last = positions[entry], starts[f] + lengths[f]
        moved = entries[last]
        members[here], members[last] = members[last], row
        entries[here], entries[last] = moved, entry
        positions[moved], positions[entry] = here, last


@leaf
def count_shared(
    lists: FeatureLists, features: Indices, shared: NDArray[np.int32], touched: Indices
) -> int:
    """Add to shared[v] the features that row v has of these; return how many rows have some.

    ``shared`` must be 0 everywhere; the rows that have some are written to the front of
    ``touched``. The caller sets ``shared`` back to 0 at these.
    """
    n_touched = 0
    for f in features:
        first = lists.starts[f]
        for position in range(first, first + lists.lengths[f]):
            v = lists.members[position]
            if shared[v] == 0:
                touched[n_touched] = v
                n_touched += 1
            shared[v] += 1
    return n_touched
