"""Structural k-anonymity: all nodes but the share omitted are in classes of at least k nodes.

Claim checked: under the measure and distance of the guarantee
(`recount.graphs.structural_classes`), with or without known attributes, or, with phi, at least k
nodes within phi percent of each node's degree and triangles. The layers and directions of the
release must be those that the guarantee is about.

What the files cannot show: nothing that this guarantee needs; it is decided by the released data.
Neighborhoods with more links than the limit are *not checked*.

Cost: that of the measure; then O(n log n) for the sizes of classes.
"""

from __future__ import annotations

import math

import numpy as np

from graphveil.claims.conditions import AttachedColumns
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.claims.knowledge import OF_DIRECTED_TIES
from graphveil.core.array_types import Ints
from graphveil.core.text import counted
from graphveil.verify.evidence import Evidence
from graphveil.verify.kinds.networks import (
    PEOPLE_ROWS,
    columns_of,
    described_layers,
    has_layers,
    is_directed,
)
from graphveil.verify.promises.attached import naming_columns
from graphveil.verify.recount.graphs.node_attributes import classes_of_rows
from graphveil.verify.recount.graphs.released_graph import TooMuchWorkError
from graphveil.verify.recount.graphs.structural_classes import EquivalenceClassIndex, alike, similar
from graphveil.verify.verdict import Check, fails, holds, listed, not_checked, shown


def look_alikes(evidence: Evidence, promise: StructuralKAnonymity) -> Check:
    """Return whether the guaranteed share of nodes is in large enough classes or boxes."""
    # Step 1: the guarantee must be about these edges and these attributes.
    problem = _roles(evidence, promise) or _rare_rows(evidence, promise)
    if problem is not None:
        return problem
    # Step 2: classes of nodes under the measure, within the limit of work.
    described = evidence.manifest.data
    try:
        layers = described_layers(described) if described.layers else {}
        classes = alike(evidence.tables, promise.measure, promise.distance, layers)
    except TooMuchWorkError:
        most = evidence.tables.limit_bytes
        return not_checked(f"neighborhoods have more than {most} links", needs="--limit")
    if classes is None:
        return fails(
            "the release is not a simple graph, so no node counts as indistinguishable from another"
        )
    # Step 3: known attributes split these classes further.
    if promise.known:
        at = columns_of(evidence)
        classes = classes.among(
            classes_of_rows(evidence.tables, [at[name] for name in promise.known]), promise.known
        )
    if not classes.nodes.size:
        return holds("the release has no nodes, so no class is too small")
    # Step 4: count boxes of similar nodes, or classes of equal ones.
    if promise.phi and classes.network is not None:
        return _similar(similar(classes.network, promise.phi), promise, classes)
    return _in_classes(promise, classes)


def _in_classes(promise: StructuralKAnonymity, classes: EquivalenceClassIndex) -> Check:
    """Return whether the guaranteed share of nodes is in classes of at least k nodes."""
    # Nodes in classes below k are unprotected; the share of the guarantee allows so many.
    n = classes.nodes.size
    allowed = _most_unprotected(promise, n)
    values, firsts, sizes = np.unique(classes.labels, return_index=True, return_counts=True)
    unprotected = int(sizes[sizes < promise.k].sum())
    smallest = int(np.argmin(sizes))
    value = classes.words(int(firsts[smallest]))
    if unprotected > allowed:
        members = classes.nodes[classes.labels == values[smallest]].tolist()
        small = counted(int(np.count_nonzero(sizes < promise.k)), "class")
        return fails(
            f"the class of {value} holds {counted(len(members), 'node')}, fewer than "
            f"k={promise.k}: {listed(members, len(members))} ({counted(unprotected, 'node')} in "
            f"{small} below k, {allowed} allowed){classes.remark}"
        )
    detail = (
        f"{counted(n, 'node', 'has')} {sizes.size} {classes.kinds}; the smallest class "
        f"({value}) holds {counted(int(sizes[smallest]), 'node')}, k={promise.k}"
    )
    small = f"; {counted(unprotected, 'node')} in smaller classes, {allowed} allowed"
    return holds(detail + (small if allowed else "") + classes.remark)


def _most_unprotected(promise: StructuralKAnonymity, n: int) -> int:
    """Return how many of n nodes may stay unprotected: never all, which guarantees nothing."""
    return min(math.floor((1 - promise.share) * n + 1e-9), n - 1)


def _rare_rows(evidence: Evidence, promise: StructuralKAnonymity) -> Check | None:
    """Return a failure if fewer than k nodes share the same known attributes.

    A guarantee about a share of the nodes is about attributes and edges together: the attributes
    alone are to be those of k people for everyone.
    """
    # Only a guarantee about a share could leave rare attributes unprotected.
    if not promise.known or promise.share == 1:
        return None
    at = columns_of(evidence)
    sizes = np.bincount(classes_of_rows(evidence.tables, [at[name] for name in promise.known]))
    n = int(sizes[sizes < promise.k].sum())
    names, verb = " and ".join(map(shown, promise.known)), "has" if n == 1 else "have"
    problem = (
        f"{counted(n, 'node')} {verb} values of {names} that fewer than k={promise.k} nodes share"
    )
    return fails(problem) if n else None


def _similar(boxes: Ints, promise: StructuralKAnonymity, classes: EquivalenceClassIndex) -> Check:
    """Return whether the guaranteed share of nodes has at least k nodes in their boxes."""
    n = boxes.size
    allowed = _most_unprotected(promise, n)
    few = np.flatnonzero(boxes < promise.k)
    smallest = int(np.argmin(boxes))
    least = f"{classes.words(smallest)} has {counted(int(boxes[smallest]), 'node')} within"
    within = f"{promise.phi:g}%, including itself"
    if few.size > allowed:
        return fails(
            f"node {smallest} with {least} {within}, fewer than k={promise.k}: "
            f"{listed(few.tolist(), few.size)} ({counted(few.size, 'node')}, {allowed} allowed)"
        )
    sizes = np.bincount(np.unique(classes.labels, return_inverse=True)[1])
    alone = counted(int(sizes[sizes < promise.k].sum()), "node")
    return holds(
        f"{few.size} of {counted(n, 'node')} have fewer than k={promise.k} nodes within {within} "
        f"({allowed} allowed); with exact knowledge, {alone} would have fewer than {promise.k} "
        "candidates"
    )


def _roles(evidence: Evidence, promise: StructuralKAnonymity) -> Check | None:
    """Return a failure if the guarantee is about other edges, or an attribute has no role."""
    problem = _other_ties(evidence, promise)
    if problem is None and not evidence.tables.holds(PEOPLE_ROWS):
        if promise.known:
            problem = f"{shown(promise.known[0])} is known, but a graph has no attributes"
    elif problem is None:
        problem = _other_columns(evidence, promise)
    return None if problem is None else fails(problem)


def _other_ties(evidence: Evidence, promise: StructuralKAnonymity) -> str | None:
    described = evidence.manifest.data
    several = has_layers(described)
    names = tuple(described_layers(described)) if several else ()
    if promise.measure != "profile" and several:
        return "the release has several layers, but the guarantee is about a single layer"
    of_directed = promise.measure in OF_DIRECTED_TIES
    if not of_directed and is_directed(described):
        return "edges are directed, but the guarantee is about undirected edges"
    if of_directed and not several and not is_directed(described):
        return "edges are undirected, but the guarantee is about directed edges"
    if promise.layers != names:
        promised, has = (", ".join(map(shown, some)) or "one" for some in (promise.layers, names))
        return f"the guarantee is about these layers: {promised}; but the release has {has}"
    return None


def _other_columns(evidence: Evidence, promise: StructuralKAnonymity) -> str | None:
    stated = evidence.manifest.claim.conditions
    attached = {n for one in stated if isinstance(one, AttachedColumns) for n in one.attach}
    published = list(columns_of(evidence))
    for name in promise.known:
        if name not in published:
            return f"{shown(name)} is known, but is not a column of the file of people"
    naming = naming_columns(evidence, promise.known)
    if naming:
        return naming[0]
    strange = [name for name in published if name not in attached | set(promise.known)]
    return (
        f"{shown(strange[0])} is published, but is neither known nor attached" if strange else None
    )
