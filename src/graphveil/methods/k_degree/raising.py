"""Step 7 of the realization: raise targets that could not be met."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.methods.k_degree.cells import CellSpace
from graphveil.methods.k_degree.sequence import Ints


def raised(
    target: Ints,
    left: Ints,
    units: int,
    keys: NDArray[np.floating],
    k: int,
    space: CellSpace | None = None,
) -> Ints:
    """Return raised targets so that at least `units` more edge ends are wanted.

    Whole classes rise by one, the highest first, while no larger than what is missing; the rest is
    drawn from the largest class. Classes with nodes in `left` rise only where there are no others.
    """
    space = space or CellSpace.plain(target.size)
    goal = target.copy()
    while units > 0:
        size = space.sizes(goal)
        open_classes = space.open_cells(size)
        if open_classes.size == 0:
            break
        free = open_classes[~np.isin(open_classes, goal[left])][::-1]
        if free.size == 0:
            rises = space.degree_of(goal) < space.top
            units -= int(np.count_nonzero(rises))
            goal += rises
            continue
        whole = free[np.cumsum(size[free]) <= units]
        if whole.size:
            step = np.zeros(space.size, dtype=np.int64)
            step[whole] = 1
            units -= int(size[whole].sum())
            goal += step[goal]
        else:
            units -= _raise_part(goal, size, free, units, keys, k)
    return goal


def _raise_part(
    goal: Ints, size: Ints, free: Ints, units: int, keys: NDArray[np.floating], k: int
) -> int:
    """Raise in place what is missing from the largest class, or the smallest class if none can."""
    need = np.where(size[free + 1] >= k, units, max(units, k))
    spare = free[size[free] - need >= k]
    if spare.size:
        chosen = spare[np.argmax(size[spare])]
        count = units if size[chosen + 1] >= k else max(units, k)
    else:
        enough = free[size[free] >= units]
        chosen = enough[np.argmin(size[enough])] if enough.size else free[np.argmax(size[free])]
        count = int(size[chosen])
    members = np.flatnonzero(goal == chosen)
    goal[members[np.argsort(keys[members], kind="stable")[:count]]] += 1
    return count


def raised_at_random(target: Ints, k: int, rng: Generator, space: CellSpace | None = None) -> Ints:
    """Return targets with some class, or as few of its nodes as may leave it, one higher."""
    space = space or CellSpace.plain(target.size)
    goal = target.copy()
    size = space.sizes(goal)
    open_classes = space.open_cells(size)
    if open_classes.size:
        chosen = rng.choice(open_classes)
        members = rng.permutation(np.flatnonzero(goal == chosen))
        part = 1 if size[chosen + 1] >= k else k
        goal[members[:part] if members.size >= part + k else members] += 1
    return goal


def made_even(
    target: Ints,
    k: int,
    rng: Generator,
    *,
    hurry: float = np.inf,
    space: CellSpace | None = None,
) -> Ints:
    """Return targets of even sum, raised by one spare node or by a whole class of odd size.

    An odd sum has a class of odd size below n - 1: otherwise n is even and odd.
    """
    if target.sum() % 2 == 0:
        return target
    space = space or CellSpace.plain(target.size)
    goal = target.copy()
    size = space.sizes(goal)
    open_classes = space.open_cells(size)
    spare = open_classes[(size[open_classes] > k) & (size[open_classes + 1] >= k)]
    odd = open_classes[size[open_classes] % 2 == 1]
    chosen = np.concatenate((spare, odd))
    nodes = np.concatenate((np.ones_like(spare), size[odd]))
    best = int(np.argmin(nodes + rng.exponential(1 / hurry, size=nodes.size)))
    members = rng.permutation(np.flatnonzero(goal == chosen[best]))
    goal[members[: nodes[best]]] += 1
    return goal
