"""Claims recomputed from the released data: the table `CHECKS`, one entry a guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphveil.claims.guarantees import (
    EdgeDP,
    Guarantee,
    KAnonymity,
    NodeDP,
    NotClaimed,
    SmoothKAnonymity,
    StructuralKAnonymity,
)
from graphveil.verify.database import Database
from graphveil.verify.recount.equal_rows import below, classes_of, smallest_class
from graphveil.verify.recount.look_alikes import alike
from graphveil.verify.verdict import Condition, counted, fails, holds

CLASSES = "classes"


class Check(NamedTuple):
    """How one kind of promise is recomputed.

    Parameters
    ----------
    kinds
        The data that it is made of.
    names
        The conditions that `recompute` returns, in order.
    recompute
        Database and guarantee to conditions.
    """

    kinds: tuple[str, ...]
    names: tuple[str, ...]
    recompute: Callable[[Database, Any], list[Condition]]


def structural_classes(db: Database, promise: StructuralKAnonymity) -> list[Condition]:
    """Return whether all but the share left out stand in classes of at least k nodes."""
    found = alike(db, promise.measure, promise.distance)
    if found is None:
        return [fails(CLASSES, "the release is no simple graph, so nobody looks like another")]
    n = found.nodes.size
    if not n:
        return [holds(CLASSES, "the release has no nodes, so no class is too small")]
    values, firsts, sizes = np.unique(found.labels, return_index=True, return_counts=True)
    allowed = math.floor((1 - promise.share) * n + 1e-9)
    outside = int(sizes[sizes < promise.k].sum())
    smallest = int(np.argmin(sizes))
    value = found.words(int(firsts[smallest]))
    if outside > allowed:
        members = found.nodes[found.labels == values[smallest]].tolist()
        small = counted(int(np.count_nonzero(sizes < promise.k)), "class")
        alone = counted(len(members), "node")
        return [
            fails(
                CLASSES,
                f"the class of {value} holds {alone}, fewer than k={promise.k}: "
                f"{_listed(members)} ({counted(outside, 'node')} in {small} below k, "
                f"{allowed} allowed){found.remark}",
            )
        ]
    detail = (
        f"{n} nodes have {sizes.size} {found.kinds}; the smallest class "
        f"({value}) holds {counted(int(sizes[smallest]), 'node')}, k={promise.k}"
    )
    apart = f"; {counted(outside, 'node')} in smaller classes, {allowed} allowed" if allowed else ""
    return [holds(CLASSES, detail + apart + found.remark)]


def equal_rows(db: Database, promise: KAnonymity | SmoothKAnonymity) -> list[Condition]:
    """Return whether every user's features are, one by one, those of at least k-1 others."""
    found = classes_of(db)
    if not found.users:
        return [holds(CLASSES, "the release has no users, so no class is too small")]
    small = smallest_class(db)
    if small.size >= promise.k:
        return [
            holds(
                CLASSES,
                f"{counted(found.users, 'user')} in {counted(found.number, 'class')} of equal "
                f"rows; the smallest holds {counted(small.size, 'user')}, k={promise.k}",
            )
        ]
    outside, number = below(db, promise.k)
    members = ", ".join(map(str, small.members)) + (
        ", ..." if small.size > len(small.members) else ""
    )
    return [
        fails(
            CLASSES,
            f"a class of rows with {counted(small.features, 'feature')} holds "
            f"{counted(small.size, 'user')}, fewer than k={promise.k}: {members} "
            f"({counted(outside, 'user')} in {counted(number, 'class')} below k)",
        )
    ]


def nothing_to_recompute(db: Database, promise: Guarantee) -> list[Condition]:  # noqa: ARG001  one shape
    """Return no condition: a promise about the draw, or none, cannot be seen in what was drawn."""
    return []


def _listed(members: list[int]) -> str:
    return ", ".join(map(str, members[:5])) + (", ..." if len(members) > 5 else "")


CHECKS: dict[type[Guarantee], Check] = {
    StructuralKAnonymity: Check(("graph",), (CLASSES,), structural_classes),
    KAnonymity: Check(("bipartite",), (CLASSES,), equal_rows),
    SmoothKAnonymity: Check(("bipartite",), (CLASSES,), equal_rows),
    EdgeDP: Check(("graph", "bipartite"), (), nothing_to_recompute),
    NodeDP: Check(("graph", "bipartite"), (), nothing_to_recompute),
    NotClaimed: Check(("graph", "bipartite"), (), nothing_to_recompute),
}
"""What is recomputed of every guarantee, by its type."""
