"""Inverted lists: which rows have a feature, and how many features two rows share.

Rows are compared through the lists of their features: only rows that share a feature are met, and
with o features shared two rows differ in ``|u| + |v| - 2 o`` features. This makes facility location
and growth near-linear on sparse data, where the paper (Esfandiari et al.) states no data structure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import allocating, leaf
from graphveil.core.kernels.tiers import tiered

Indices = NDArray[np.int32]


class FeatureLists(NamedTuple):
    """The rows of every feature; rows that have left are behind the others.

    Parameters
    ----------
    starts
        int64, shape (n_features + 1,): where the list of each feature starts.
    lengths
        int64, shape (n_features,): the rows of feature f are ``members[starts[f]:starts[f] +
        lengths[f]]``.
    members
        int32, shape (entries,): the rows.
    entries
        int64, shape (entries,): ``entries[i]`` is the position in ``indices`` by which
        ``members[i]`` has the feature.
    positions
        int64, shape (entries,): the inverse: where each entry is in ``members``.
    """

    starts: Ints
    lengths: Ints
    members: Indices
    entries: Ints
    positions: Ints


@tiered()
@allocating
def lists_of(indptr: Ints, indices: Indices, n_features: int) -> FeatureLists:
    """Return the lists of these rows; the rows of a feature ascend.

    Parameters
    ----------
    indptr, indices
        int64 and int32: row u has the features ``indices[indptr[u]:indptr[u + 1]]``.
    n_features
        The number of features.
    """
    # Counting sort by feature: first how long each list is, then where it starts.
    starts = np.zeros(n_features + 1, dtype=np.int64)
    for f in indices:
        starts[f + 1] += 1
    for f in range(n_features):
        starts[f + 1] += starts[f]
    lengths = np.zeros(n_features, dtype=np.int64)
    members = np.empty(indices.size, dtype=np.int32)
    entries = np.empty(indices.size, dtype=np.int64)
    positions = np.empty(indices.size, dtype=np.int64)
    # Then each row is appended to the lists of its features.
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
    """Remove a row from the lists in O(its features); the caller makes sure that it is in them.

    All arrays of `lists` but ``starts`` are overwritten.
    """
    starts, lengths, members, entries, positions = lists
    for entry in range(indptr[row], indptr[row + 1]):
        f = indices[entry]
        # Swap the row with the last one of the list, and shorten the list by one.
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
    """Add to shared[v] how many of these features row v has; return how many rows have some.

    Parameters
    ----------
    lists
        Only rows that have not left are counted.
    features
        int32: the features of the row that is compared.
    shared
        int32, shape (rows,): 0 everywhere before. The caller sets it back to 0 at the rows in
        ``touched``.
    touched
        int32, shape (rows,): the rows with a shared feature are written to its front.
    """
    n_touched = 0
    for f in features:
        first = lists.starts[f]
        for position in range(first, first + lists.lengths[f]):
            v = lists.members[position]
            # A row that is met for the first time is noted, so that the caller resets only these.
            if shared[v] == 0:
                touched[n_touched] = v
                n_touched += 1
            shared[v] += 1
    return n_touched
