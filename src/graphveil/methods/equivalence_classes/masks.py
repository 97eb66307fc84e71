"""Rows of a table put into classes by masks, those of most columns first.

A mask is the set of columns that a class publishes: here it is chosen before the rows of the class.
Both methods that suppress cells of a table, `suppress-k` and `cluster-k`, start here.

1. `good_masks` or `all_masks`: the masks to try, those of most columns first. All 2^d if that is
   about a second of work; otherwise level by level the best of those one column below good ones.
2. `_publish`: level by level, the mask under which most remaining rows are in groups of at least k
   equal rows makes these groups classes, and so on until no group of k is left. Levels of most
   columns come first, so that a row gets the class that publishes most of it.
3. `kernels.masks.move_rows`: rows move to classes that publish more columns, or to new ones of k,
   if that publishes more cells in all; a few passes over all masks.
4. `_join_the_rest`: if fewer than k rows are in no class, each joins the one that loses least by
it.

No paper: a greedy start for the local searches of those methods. Nothing is random, and the order
of the rows changes nothing. Costs: O(masks * rows * d) for d columns.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.progress import stage
from graphveil.data.codes import SUPPRESSED
from graphveil.methods.equivalence_classes.kernels import masks as kernel
from graphveil.methods.equivalence_classes.rule import CollapsedRows

Codes = NDArray[np.int32]

MOST_COLUMNS = 62
"""The most columns: a mask is a bit set in one signed 64-bit integer."""

MOST_VISITS = 1 << 24
"""All masks are tried if their number times the distinct rows is at most this: about a second."""

VISITS_TO_CHOOSE = 1 << 22
"""Otherwise about this many visits of a row under a mask are spent on choosing which masks to try.

More visits keep more masks of every number of columns. How it was chosen is not recorded.
"""

FEWEST_KEPT = 8
"""At least this many masks of every number of columns are kept if not all are tried."""

LEAST_GAIN = 2e-5
"""A pass that moves rows is the last if it gains at most this share of the cells."""

MOST_PASSES = 8
"""The most passes that move rows; each costs about as much as all of step 2."""

MIXERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)
"""The constants of the generator splitmix64, which mix the bits of a cell's code and column."""


class MaskedStart(NamedTuple):
    """The class of every row (integers, shape (n,)), and whether all masks were tried for it."""

    labels: NDArray[Any]
    all_masks: bool


def masked_classes(codes: Codes, weights: Ints, *, k: int) -> MaskedStart:
    """Return classes of at least k rows, those that publish most columns formed first.

    The steps are those of the module. Of masks that suit as many rows, the first by its columns
    wins.

    Parameters
    ----------
    codes
        The distinct rows, int32, shape (distinct, d); -1 is a missing cell, which no class
        publishes.
    weights
        How many rows equal each, int64.
    k
        The smallest class.

    Returns
    -------
    MaskedStart
        Labels of all rows, those of one distinct row next to each other: equal rows may be put into
        different classes.
    """
    data = rows_of(codes, weights)
    n, d = int(weights.sum()), codes.shape[1]
    groups = kernel.groups_of(weights.size, n, k)
    # Step 1.
    complete = d <= MOST_COLUMNS and (weights.size << d) <= MOST_VISITS
    levels = all_masks(d) if complete else good_masks(data, weights, d, k=k, groups=groups)
    # Step 2.
    state = kernel.classes_of(n, k)
    remaining = weights.copy()
    for masks in levels:
        _publish(data, remaining, masks, k, groups, state)
    # Step 3.
    order = np.concatenate([np.empty(0, dtype=np.int64), *levels])
    for _ in range(MOST_PASSES):
        gained = kernel.move_rows(data, weights, order, k, groups, state)
        if gained <= LEAST_GAIN * n * d:
            break
    # Step 4; then number the classes from 0 without gaps.
    labels = _join_the_rest(np.repeat(codes, weights, axis=0), state, k)
    return MaskedStart(np.unique(labels, return_inverse=True)[1].ravel(), complete)


def all_masks(d: int) -> list[Ints]:
    """Return all masks but the empty one, one array per number of columns, the highest first."""
    masks = np.arange(1, 1 << d, dtype=np.int64)
    sizes = np.bitwise_count(masks)
    return [masks[sizes == columns] for columns in range(d, 0, -1)]


def good_masks(
    data: kernel.MaskedRows, weights: Ints, d: int, *, k: int, groups: kernel.Groups
) -> list[Ints]:
    """Return masks under which many rows have nearly k equal ones, one array per number of columns.

    A level consists of masks one column below the masks of the level above: the best by how near
    their groups are to k, then by how many rows are in groups of k. With fewer columns groups only
    grow, so nearness to k says how good the masks below a mask may be.
    """
    # There are d levels, on each of which up to d masks below each kept one are visited by all
    # rows.
    kept = max(FEWEST_KEPT, VISITS_TO_CHOOSE // (weights.size * d * d))
    levels = [np.array([(1 << d) - 1], dtype=np.int64)]
    while len(levels) < d:
        above = levels[-1]
        below = np.unique(above[:, None] & ~(1 << np.arange(d, dtype=np.int64)))
        below = below[np.bitwise_count(below) == d - len(levels)]
        reached = np.zeros((below.size, 2), dtype=np.int64)
        kernel.coverage(data, weights, below, k, groups, reached)
        best = np.lexsort((below, -reached[:, 0], -reached[:, 1]))[:kept]
        levels.append(np.sort(below[best]))
    return levels


def rows_of(codes: Codes, weights: Ints) -> kernel.MaskedRows:
    """Return distinct rows as hashes of their cells, for the kernels.

    A cell's hash depends on its column, so that a value means something else in each of them.
    """
    d = codes.shape[1]
    salts = (np.arange(1, d + 1, dtype=np.uint64) * MIXERS[0]) ^ MIXERS[2]
    cells = codes.astype(np.int64).astype(np.uint64)
    for mixer in MIXERS:
        cells = (cells + salts) * mixer
        cells ^= cells >> np.uint64(31)
    bits = np.int64(1) << np.arange(d, dtype=np.int64)
    present = ((codes != SUPPRESSED) * bits).sum(axis=1, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(weights)]).astype(np.int64)
    return kernel.MaskedRows(np.ascontiguousarray(cells), present, starts)


def _publish(
    data: kernel.MaskedRows,
    remaining: Ints,
    masks: Ints,
    k: int,
    groups: kernel.Groups,
    state: kernel.Classes,
) -> None:
    """Make classes under these masks, the mask of most remaining rows first, while any has a group.

    A lazy queue: how many rows are in groups of k under a mask can only fall while others are
    published, so a mask whose recomputed count still leads is the best. `remaining` is how many
    copies of each distinct row are in no class yet; it is lowered.
    """
    reached = np.zeros((masks.size, 2), dtype=np.int64)
    kernel.coverage(data, remaining, masks, k, groups, reached)
    waiting = [(-rows, i) for i, rows in enumerate(reached[:, 0].tolist()) if rows]
    heapq.heapify(waiting)
    while waiting:
        _, i = heapq.heappop(waiting)
        kernel.coverage(data, remaining, masks[i : i + 1], k, groups, reached[i : i + 1])
        now = -int(reached[i, 0]), i
        if not now[0]:
            continue
        if waiting and now > waiting[0]:
            heapq.heappush(waiting, now)
        else:
            kernel.publish(data, remaining, int(masks[i]), k, groups, state)


def _join_the_rest(codes: Codes, state: kernel.Classes, k: int) -> Ints:
    """Return the classes after fewer than k remaining rows joined the class that loses least.

    A class publishes the columns in which the row agrees with it: it loses the others for all of
    its rows, and gains those that agree for the row. With k or more remaining, they are class 0.
    """
    labels = state.labels
    left = np.flatnonzero(labels == 0)
    n_classes = int(state.used[0])
    if left.size >= k or n_classes == 1:
        return labels
    # The values of every class, from its first row, and the columns that it publishes. Class 0, if
    # rows are left in it, is the first of the labels and passed over.
    _, first = np.unique(labels, return_index=True)
    values = codes[first[-(n_classes - 1) :]]
    masks, sizes, _ = state.classes[1:n_classes].T
    shown = (masks[:, None] >> np.arange(codes.shape[1])) & 1 == 1
    sizes = sizes.copy()
    for row in left:
        agree = shown & (values == codes[row])
        columns = agree.sum(axis=1)
        best = int(np.argmin(sizes * (shown.sum(axis=1) - columns) - columns))
        labels[row] = best + 1
        shown[best] = agree[best]
        sizes[best] += 1
    return labels


def masked_clusters(rows: CollapsedRows, *, k: int) -> MaskedStart | None:
    """Return clusters of at least k rows with many columns in common; None if it is not a table.

    It is not if features have no columns, or a row has two values of one column, or if it has more
    columns than a mask can name.

    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse, columns_of
    >>> data = Bipartite.from_lists([["a=1", "b=1"], ["a=1", "b=2"], ["a=2"], ["a=2"]])
    >>> rows = collapse(data)._replace(columns=columns_of(data.feature_labels().tolist()))
    >>> masked_clusters(rows, k=2).labels.tolist()
    [1, 1, 0, 0]
    """
    if rows.columns is None:
        return None
    used, columns = np.unique(rows.columns[rows.indices], return_inverse=True)
    if not 0 < used.size <= MOST_COLUMNS:
        return None
    # Write the features of a row into the cells of their columns.
    cells = np.repeat(np.arange(rows.n_distinct), rows.degrees()) * used.size + columns
    if np.unique(cells).size < cells.size:
        return None
    codes = np.full(rows.n_distinct * used.size, -1, dtype=np.int32)
    codes[cells] = rows.indices
    with stage("masks"):
        masked = masked_classes(codes.reshape(rows.n_distinct, used.size), rows.weights, k=k)
    labels = np.empty(rows.n_rows, dtype=np.int32)
    labels[rows.by_kind()] = masked.labels
    return masked._replace(labels=labels)
