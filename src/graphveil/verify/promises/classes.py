"""Guarantees recomputed: equivalence classes of the released data, and where noise came from."""

from __future__ import annotations

import math

import numpy as np

from graphveil.claims.condition import Condition
from graphveil.claims.guarantees import (
    EdgeDP,
    Guarantee,
    KAnonymity,
    NodeDP,
    NotClaimed,
    SmoothKAnonymity,
    StructuralKAnonymity,
)
from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.promises.recheck import Part, Recheck
from graphveil.verify.recount.equivalence_classes import below, classes_of, smallest_class
from graphveil.verify.recount.look_alikes import alike
from graphveil.verify.recount.table_rows import small_classes, table_classes
from graphveil.verify.verdict import Check, counted, fails, holds

CLASSES, NOISE = "classes", "source of the noise"


def look_alikes(evidence: Evidence, promise: StructuralKAnonymity) -> Check:
    """Return whether all but the share left out stand in classes of at least k nodes."""
    classes = alike(evidence.tables, promise.measure, promise.distance)
    if classes is None:
        return fails(CLASSES, "the release is no simple graph, so nobody looks like another")
    n = classes.nodes.size
    if not n:
        return holds(CLASSES, "the release has no nodes, so no class is too small")
    values, firsts, sizes = np.unique(classes.labels, return_index=True, return_counts=True)
    allowed = math.floor((1 - promise.share) * n + 1e-9)
    unprotected = int(sizes[sizes < promise.k].sum())
    smallest = int(np.argmin(sizes))
    value = classes.words(int(firsts[smallest]))
    if unprotected > allowed:
        members = classes.nodes[classes.labels == values[smallest]].tolist()
        small = counted(int(np.count_nonzero(sizes < promise.k)), "class")
        return fails(
            CLASSES,
            f"the class of {value} holds {counted(len(members), 'node')}, fewer than "
            f"k={promise.k}: {_listed(members, len(members))} ({counted(unprotected, 'node')} in "
            f"{small} below k, {allowed} allowed){classes.remark}",
        )
    detail = (
        f"{n} nodes have {sizes.size} {classes.kinds}; the smallest class "
        f"({value}) holds {counted(int(sizes[smallest]), 'node')}, k={promise.k}"
    )
    small = f"; {counted(unprotected, 'node')} in smaller classes, {allowed} allowed"
    return holds(CLASSES, detail + (small if allowed else "") + classes.remark)


def equal_rows(evidence: Evidence, promise: KAnonymity | SmoothKAnonymity) -> Check:
    """Return whether every row's features, or cells, are those of at least k-1 others."""
    if evidence.manifest.data.kind == "table":
        return _equal_table_rows(evidence, promise.k)
    classes = classes_of(evidence.tables)
    if not classes.users:
        return holds(CLASSES, "the release has no users, so no class is too small")
    small = smallest_class(evidence.tables)
    if small.size >= promise.k:
        return holds(
            CLASSES,
            f"{counted(classes.users, 'user')} in {counted(classes.number, 'class')} of equal "
            f"rows; the smallest holds {counted(small.size, 'user')}, k={promise.k}",
        )
    unprotected, number = below(evidence.tables, promise.k)
    return fails(
        CLASSES,
        f"a class of rows with {counted(small.features, 'feature')} holds "
        f"{counted(small.size, 'user')}, fewer than k={promise.k}: "
        f"{_listed(small.members, small.size)} ({counted(unprotected, 'user')} in "
        f"{counted(number, 'class')} below k)",
    )


def _equal_table_rows(evidence: Evidence, k: int) -> Check:
    """Return whether every row of a table equals at least k-1 others; `*` equals only `*`."""
    classes = table_classes(evidence.tables)
    if not classes.rows:
        return holds(CLASSES, "the release has no rows, so no class is too small")
    small = small_classes(evidence.tables, k)
    if not small.number:
        return holds(
            CLASSES,
            f"{counted(classes.rows, 'row')} in {counted(classes.number, 'class')} of equal rows; "
            f"the smallest holds {counted(classes.smallest, 'row')}, k={k}",
        )
    return fails(
        CLASSES,
        f"the class of row {small.first} holds {counted(classes.smallest, 'row')}, fewer than "
        f"k={k} ({counted(small.rows, 'row')} in {counted(small.number, 'class')} below k)",
    )


def source_of_noise(evidence: Evidence, promise: Guarantee) -> Check:
    """Return whether something is claimed only where the owner's record knows of no seed."""
    if evidence.record is None or evidence.record.seed is None:
        return holds(NOISE, "the record knows of no seed: the noise came from entropy")
    if isinstance(promise, NotClaimed):
        return holds(NOISE, "the record holds a seed, and nothing is claimed")
    return fails(NOISE, "the record holds a seed, so nothing may be claimed")


def _listed(members: list[int], size: int) -> str:
    return ", ".join(map(str, members[:5])) + (", ..." if size > 5 else "")


_EQUAL = (Part(CLASSES, ("data",), "", equal_rows),)
_NOISE = Recheck(
    ("graph", "bipartite", "table"),
    (Part(NOISE, ("record",), "whether the noise came from entropy", source_of_noise),),
)

RECHECKS: dict[type[Guarantee | Condition], Recheck] = {
    StructuralKAnonymity: Recheck(("graph",), (Part(CLASSES, ("data",), "", look_alikes),)),
    KAnonymity: Recheck(("bipartite", "table"), _EQUAL),
    SmoothKAnonymity: Recheck(("bipartite",), _EQUAL),
    EdgeDP: _NOISE,
    NodeDP: _NOISE,
    NotClaimed: _NOISE,
}
"""How every guarantee is checked again."""
