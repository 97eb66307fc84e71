"""Bounds: how few edits any result needs, and how few nodes any rewiring leaves unprotected.

They come from the degrees alone, by the dynamic program of k-degree anonymity (Liu and Terzi,
*Towards identity anonymization on graphs*), in which groups of at least k nodes share a degree.
Time is that of `k_degree.sequence.optimal_plan` for each color, at most O(n log^2 n); memory O(n).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.measures import MEASURES
from graphveil.methods.annealing.task import Task
from graphveil.methods.k_degree.sequence import lower_bound_edits, optimal_plan, runs_of


def lower_bound(task: Task) -> int | None:
    """No graph in which every node is anonymous is reached with fewer edits; None without a bound.

    Where a measure fixes the degree, the degrees of the release form groups of at least k, and an
    edit changes two degrees by one: half of the least total change, by the dynamic program of
    k-degree anonymity. Deletions only lower degrees: mirrored, the program that only raises them. A
    rewiring changes no degree, so these alone get 0.
    """
    degrees = task.graph.degrees()
    # No bound if nodes may stay unprotected or may look the same with different degrees.
    fixed = MEASURES[task.measure].fixes_degree(task.distance)
    if task.allowed or degrees.size < task.k or not fixed or task.phi:
        return None
    if task.edits == "rewire":
        return 0
    change = least_change(degrees, task.colors, task.k, task.edits)
    return None if change is None else lower_bound_edits(change)


def least_change(numbers: Ints, colors: Ints | None, k: int, edits: str) -> int | None:
    """Return the least total change after which each number is shared by k nodes of its color.

    `numbers` (int64, shape (n,)) are degrees, or degrees of one direction. None if a color has
    fewer than k nodes.
    """
    # Deletions only lower numbers: mirrored at the largest, they only raise them.
    if edits == "delete":
        numbers = numbers.max(initial=0) - numbers
    kind: Literal["add", "any"] = "any" if edits == "any" else "add"
    # Nodes of different colors never share a class, so every color is a problem of its own.
    groups = by_color(numbers, colors)
    if any(each.size < k for each in groups):
        return None
    return sum(optimal_plan(runs_of(each), k, edits=kind).cost for each in groups)


def over_bound(edits: int, bound: int | None) -> dict[str, float]:
    """Return a bound on the edits, and how many times as many there are; nothing without one."""
    if bound is None:
        return {}
    return {"edits_lower_bound": bound, "edits_over_lower_bound": edits / bound if bound else 1.0}


def by_color(values: Ints, colors: Ints | None) -> list[Ints]:
    """Return the values of the nodes of each color; without colors, all have the same."""
    if colors is None:
        return [values]
    return [values[colors == color] for color in np.unique(colors).tolist()]


def unprotected_by_rewiring(task: Task) -> int:
    """No rewiring leaves fewer nodes unprotected, since it keeps every degree."""
    if not MEASURES[task.measure].fixes_degree(task.distance):
        return 0
    degrees = task.graph.degrees()
    groups = by_color(degrees, task.colors)
    sizes = np.concatenate([np.bincount(each) for each in groups])
    return int(sizes[sizes < task.k].sum())
