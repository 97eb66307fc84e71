"""Step 7 of the realization: raise targets that could not be met.

Liu and Terzi's Probing scheme adds noise to the lowest degrees, computes the sequence
anew and constructs again. Here whole classes of equal targets rise by one, or parts of them that
leave at least k nodes on both sides, so that the sequence stays anonymous without a new dynamic
program, and about as much rises as the units that were not met ask for. At the latest all targets
are n - 1, the complete graph, which additions always meet.

A *class* is all nodes with one target cell. Costs: O(n) for each round of raising.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.methods.k_degree.cells import CellSpace


def raised(
    target: Ints,
    left: Ints,
    units: int,
    keys: NDArray[np.floating],
    k: int,
    space: CellSpace,
) -> Ints:
    """Return raised targets so that at least `units` more edge ends are wanted.

    Parameters
    ----------
    target
        The target cell of every node, int64, shape (n,).
    left
        The nodes that still lack edges, int64. Classes with such nodes rise only if there are no
        others.
    units
        How many edge ends are lacking.
    keys
        One number per node, shape (n,): within a class, lower keys rise first.
    k
        The least number of nodes per target.
    space
        How cells are numbered.

    Returns
    -------
    Ints
        The raised targets, int64, shape (n,), each still shared by k nodes.
    """
    goal = target.copy()
    while units > 0:
        size = space.sizes(goal)
        open_classes = space.open_cells(size)
        if open_classes.size == 0:
            break
        # Nodes that lack edges need partners, so classes without such nodes rise first.
        free = open_classes[~np.isin(open_classes, goal[left])][::-1]
        # Without such classes, all nodes that can rise do, by one.
        if free.size == 0:
            rises = space.degree_of(goal) < space.top
            units -= int(np.count_nonzero(rises))
            goal += rises
            continue
        # Whole classes, the highest first, while they are no larger than what is lacking.
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
    """Raise part of a class in place; return how many nodes rose.

    The largest class that can spare them gives as many nodes as are lacking, but at least k if the
    class above would otherwise be smaller. If none can, the smallest class that is large enough
    rises as a whole, or the largest one.
    """
    need = np.where(size[free + 1] >= k, units, max(units, k))
    spare = free[size[free] - need >= k]
    if spare.size:
        chosen = spare[np.argmax(size[spare])]
        count = units if size[chosen + 1] >= k else max(units, k)
    else:
        enough = free[size[free] >= units]
        chosen = enough[np.argmin(size[enough])] if enough.size else free[np.argmax(size[free])]
        count = int(size[chosen])
    # Within the class, the nodes with the lowest keys.
    members = np.flatnonzero(goal == chosen)
    goal[members[np.argsort(keys[members], kind="stable")[:count]]] += 1
    return count


def raised_at_random(target: Ints, k: int, rng: Generator, space: CellSpace) -> Ints:
    """Return targets with a random class, or as few of its nodes as may leave it, one higher.

    For the variations of a run: a different sequence may need fewer edits to be met.
    """
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
    target: Ints, k: int, rng: Generator, space: CellSpace, *, rate: float = np.inf
) -> Ints:
    """Return targets of even sum: one spare node rises by one, or a whole class of odd size does.

    One always exists: an odd sum has a class of odd size and odd target. If it is not below n - 1,
    then n - 1 is odd and n even, so that another class has odd size, too. An exponential random
    number of this `rate` is added to the number of nodes of each choice: at an infinite rate (the
    default) it is 0 and the cheapest choice wins; at less, dearer ones win at times.
    """
    if target.sum() % 2 == 0:
        return target
    goal = target.copy()
    size = space.sizes(goal)
    open_classes = space.open_cells(size)
    # Single nodes that leave at least k behind and find at least k, and whole classes of odd size.
    spare = open_classes[(size[open_classes] > k) & (size[open_classes + 1] >= k)]
    odd = open_classes[size[open_classes] % 2 == 1]
    chosen = np.concatenate((spare, odd))
    nodes = np.concatenate((np.ones_like(spare), size[odd]))
    best = int(np.argmin(nodes + rng.exponential(1 / rate, size=nodes.size)))
    members = rng.permutation(np.flatnonzero(goal == chosen[best]))
    goal[members[: nodes[best]]] += 1
    return goal
