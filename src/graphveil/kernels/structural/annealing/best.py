"""The best state of a walk over a pool of pairs, kept in the time of the flips since the last."""

from __future__ import annotations

from typing import NamedTuple

from graphveil.kernels.leaf import leaf
from graphveil.kernels.structural.annealing.pool import BEST, CHANGED, NOW, Flags, Ints, Pool
from graphveil.kernels.structural.rows import Nodes
from graphveil.kernels.tiers import for_each_entry, tiered

LOGGED, BEST_UNPROTECTED, BEST_CHANGED = range(3)


class Best(NamedTuple):
    """The best state seen, and what happened since.

    ``changed[pair]`` tells the best state's changed pairs, ``log`` the pairs flipped since, of
    which ``tally[LOGGED]`` are listed (more than fit are only counted). ``tally`` goes on with the
    best state's unprotected nodes and its changed pairs.
    """

    changed: Flags
    log: Nodes
    tally: Ints


@leaf
def record(pool: Pool, mates: Ints | None, best: Best, pair: int) -> None:
    """List a pair that was flipped, and its mate, as changed or as unchanged; log both."""
    _record(pool, best, pair)
    if mates is not None:
        mate = mates[NOW, pair]
        other = mate >> 1
        mates[NOW, other] = 2 * pair + (mate & 1)
        _record(pool, best, other)


@leaf
def _record(pool: Pool, best: Best, pair: int) -> None:
    """Put an unchanged pair among the changed ones, a changed one among the others; log it."""
    at = pool.position[pair]
    if at < pool.tally[CHANGED]:
        pool.tally[CHANGED] -= 1
        border = pool.tally[CHANGED]
    else:
        border = pool.tally[CHANGED]
        pool.tally[CHANGED] += 1
    moved = pool.order[border]
    pool.order[border], pool.order[at] = pair, moved
    pool.position[pair], pool.position[moved] = border, at
    if best.tally[LOGGED] < best.log.size:
        best.log[best.tally[LOGGED]] = pair
    best.tally[LOGGED] += 1


@leaf
def beats(unprotected: int, changed: int, tally: Ints, allowed: int) -> bool:
    """Return whether a state is better: nodes too many, then edits, then unprotected nodes."""
    beyond = max(unprotected - allowed, 0)
    best_beyond = max(tally[BEST_UNPROTECTED] - allowed, 0)
    if beyond != best_beyond:
        return bool(beyond < best_beyond)
    if changed != tally[BEST_CHANGED]:
        return bool(changed < tally[BEST_CHANGED])
    return bool(unprotected < tally[BEST_UNPROTECTED])


@tiered(for_each_entry(0.1))
@leaf
def keep(pool: Pool, mates: Ints | None, best: Best, unprotected: int) -> None:
    """Make the present state, which leaves so many nodes unprotected, the best one."""
    tally = best.tally
    logged = tally[LOGGED] <= best.log.size
    for i in range(tally[LOGGED] if logged else best.changed.size):
        pair = best.log[i] if logged else i
        best.changed[pair] = pool.position[pair] < pool.tally[CHANGED]
        if mates is not None:
            mates[BEST, pair] = mates[NOW, pair]
    tally[LOGGED] = 0
    tally[BEST_UNPROTECTED] = unprotected
    tally[BEST_CHANGED] = pool.tally[CHANGED]


@leaf
def keep_if_better(pool: Pool, best: Best, unprotected: int, allowed: int) -> None:
    """Make the present state, which leaves so many nodes unprotected, the best if it is better."""
    if beats(unprotected, pool.tally[CHANGED], best.tally, allowed):
        keep(pool, pool.mates, best, unprotected)
