"""Claims recomputed from the released data: the table `CHECKS`, one entry a guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphveil.guarantees import Guarantee, StructuralKAnonymity
from graphveil.verify.database import Database
from graphveil.verify.structural import alike
from graphveil.verify.verdict import Condition, fails, holds

CLASSES = "classes"


class Check(NamedTuple):
    """How one kind of promise is recomputed.

    Parameters
    ----------
    kind
        The data that it is made of.
    names
        The conditions that `recompute` returns, in order.
    recompute
        Database and guarantee to conditions.
    """

    kind: str
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
        below = int(np.count_nonzero(sizes < promise.k))
        return [
            fails(
                CLASSES,
                f"the class of {value} holds {_many(len(members))}, fewer than k={promise.k}: "
                f"{_listed(members)} ({_many(outside)} in {below} classes below k, "
                f"{allowed} allowed){found.remark}",
            )
        ]
    detail = (
        f"{n} nodes have {sizes.size} {found.kinds}; the smallest class "
        f"({value}) holds {_many(int(sizes[smallest]))}, k={promise.k}"
    )
    apart = f"; {outside} nodes in smaller classes, {allowed} allowed" if allowed else ""
    return [holds(CLASSES, detail + apart + found.remark)]


def _listed(members: list[int]) -> str:
    return ", ".join(map(str, members[:5])) + (", ..." if len(members) > 5 else "")


def _many(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"


CHECKS: dict[type[Guarantee], Check] = {
    StructuralKAnonymity: Check("graph", (CLASSES,), structural_classes),
}
"""Every guarantee that is recomputed, by its type."""
