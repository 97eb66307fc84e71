"""The state of a walk: a pool of pairs that may be flipped, and the best state seen so far.

The pool is allocated once, in O(n + pairs); kernels then only change its entries. What tells nodes
apart (`PoolState.classes`) and the lists of neighbors depend on the task and are made by the
caller: `structural.walk_state` for graphs, `profile.pool` for directed edges and several edge
types.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.methods.annealing.kernels import classes as node_classes
from graphveil.methods.annealing.kernels import pooled, values
from graphveil.methods.annealing.kernels.anneal import MOST_FLIPS

SAMPLE = 200
"""Pairs whose work is measured to estimate that of a proposal. More: a surer estimate, at more
cost.
"""

LEAST_WORK = 1_000
"""Steps added to every estimate of work over values, so that no proposal counts as free."""

REMEMBERED = 8
"""How many best states a walk over hashed values keeps, in case hashes have merged classes."""


class Visited(NamedTuple):
    """A state of a walk: its changed pairs, and the mates with which they are rewired.

    Parameters
    ----------
    changed
        For every pair of the pool whether it differs from the input, bool, shape (pairs,).
    mates
        If edges are rewired, which pair each changed pair was rewired with and how, int64, shape
        (pairs,): twice the pair's number, plus 1 if the ends are exchanged. Else empty.
    """

    changed: NDArray[np.bool_]
    mates: Ints


def annealing_state_over(
    state: pooled.PoolState, node_values: values.Values | None = None
) -> pooled.AnnealingState:
    """Return the state in which no pair is changed, which is the best so far.

    `node_values` are the values of the measure; None if codes tell nodes apart.
    """
    # The input is the best state so far: nothing changed, and its unprotected nodes.
    n_pairs = state.pool.one.size
    best = pooled.AnnealingBest(
        changed=np.zeros(n_pairs, dtype=np.bool_),
        log=np.empty(max(n_pairs, 1), dtype=np.int32),
        tally=np.array([0, node_classes.unprotected_of(state.classes), 0, 0, 0], dtype=np.int64),
    )
    return pooled.AnnealingState(
        state=state,
        values=node_values,
        best=best,
        unprotected=np.empty(len(state.classes.node), dtype=np.int64),
        trial=np.empty(MOST_FLIPS, dtype=np.int64),
    )


def best_of(annealing: pooled.AnnealingState) -> Visited:
    """Return the best state's changed pairs, and the mates with which they are rewired."""
    mates = annealing.state.pool.mates
    then = np.empty(0, dtype=np.int64) if mates is None else mates[pooled.BEST].copy()
    return Visited(annealing.best.changed.copy(), then)


def pool_of(pairs: NDArray[np.int32], n_nodes: int, n_present: int) -> pooled.Pool:
    """Return the pool of these pairs, none changed yet.

    Parameters
    ----------
    pairs
        The two nodes of every pair, int32, shape (pairs, 2); those that are edges come first.
    n_nodes
        The number of nodes.
    n_present
        How many of the pairs are edges of the input.

    Returns
    -------
    Pool
        Its arrays are new; the kernels write `present`, `order`, `position` and `tally`.
    """
    # For every node the numbers of the pairs it is in: entries start[v]..start[v + 1] of `around`.
    ends, size = np.concatenate((pairs[:, 0], pairs[:, 1])), len(pairs)
    start = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=n_nodes), out=start[1:])
    around = (np.argsort(ends, kind="stable") % max(size, 1)).astype(np.int32)
    # The changed pairs are the first of `order`; `position` is its inverse. At first none is
    # changed.
    one, other, order = pairs[:, 0].copy(), pairs[:, 1].copy(), np.arange(size, dtype=np.int32)
    present, position = order < n_present, order.copy()
    tally, common = np.zeros(2, dtype=np.int64), np.zeros(size, dtype=np.int32)
    return pooled.Pool(one, other, start, around, present, order, position, tally, common, None)


def work_of(annealing: pooled.AnnealingState) -> int:
    """Return roughly how many steps a proposal takes: a mean over 200 pairs; 1 over codes."""
    node_values, pool = annealing.values, annealing.state.pool
    if node_values is None:
        return 1
    if pool.one.size == 0:
        return LEAST_WORK
    # Evenly spaced pairs: the same for every run, so that a seed gives the same release anywhere.
    sample = np.unique(np.linspace(0, pool.one.size - 1, SAMPLE).astype(np.int64))
    pairs = np.stack((pool.one[sample], pool.other[sample], 1 - 2 * pool.present[sample]), axis=1)
    steps = [values.work_of(annealing.state.rows, node_values, *pair) for pair in pairs.tolist()]
    # A rewiring flips four pairs.
    turns = 1 if pool.mates is None else 4
    return turns * round(sum(steps) / len(steps)) + LEAST_WORK


def remember(visited: list[Visited], annealing: pooled.AnnealingState) -> None:
    """Put the best state on the list unless it is the last there; the list keeps the last eight."""
    now = best_of(annealing)
    if not visited or not all(map(np.array_equal, visited[-1], now)):
        visited.append(now)
    del visited[:-REMEMBERED]
