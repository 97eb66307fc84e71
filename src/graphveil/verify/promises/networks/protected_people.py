"""Protected people: everyone on the owner's list shares their degree with at least k - 1 nodes.

Who is on the list is read from the owner's record and the original, and degrees from the released
file. A reader of the release cannot check this: the list is private.
"""

from __future__ import annotations

import json
from collections import Counter

import numpy as np

from graphveil.claims import conditions
from graphveil.core.array_types import Ints
from graphveil.core.text import counted
from graphveil.data import Network
from graphveil.verify.evidence import Evidence
from graphveil.verify.recount.graphs.degrees import count_degrees
from graphveil.verify.recount.linkage import released_ids
from graphveil.verify.verdict import Check, fails, holds, listed, shown

PROTECTED = "protected people"


def protected_people(evidence: Evidence, condition: conditions.ProtectedPeople) -> Check:
    """Return whether everyone on the owner's list shares their degree with k - 1 other nodes.

    Who is on it is read from the record and the original, and degrees from the released file.
    """
    # Step 1: who is on the list, as positions in the original.
    named = _named_people(evidence)
    if isinstance(named, str):
        return fails(named)
    # Step 2: the degree of every released node, and how many nodes have it.
    count_degrees(evidence.tables)
    rows = evidence.tables.rows("SELECT node, degree FROM degrees")
    degree_of = {int(node): int(degree) for node, degree in rows}
    sizes = Counter(degree_of.values())
    # Step 3: the nodes of these people by the linkage.
    released = np.asarray(released_ids(evidence.tables), dtype=np.int64)[named].tolist()
    people = f"{counted(len(released), 'person', 'is')} on the owner's list"
    gone = sorted({*released} - degree_of.keys())
    if gone:
        return fails(f"{people}, but the release has no node {gone[0]}")
    # Step 4: each of them shares the degree with at least k - 1 others.
    few = sorted(node for node in released if sizes[degree_of[node]] < condition.k)
    if few:
        with_it = counted(sizes[degree_of[few[0]]], "node", "has")
        return fails(
            f"{people}, and {len(few)} of them have a degree that fewer than k={condition.k} nodes "
            f"have: {listed(few, len(few))}; {with_it} the degree of node {few[0]}"
        )
    least = min(sizes[degree_of[node]] for node in released)
    return holds(
        f"{people}; the degree of each is that of at least {counted(least, 'node')}, k="
        f"{condition.k}"
    )


def _named_people(evidence: Evidence) -> Ints | str:
    """Return the positions of those on the owner's list in the original, or what is wrong."""
    record, original = evidence.record, evidence.original_as(Network)
    stated = record.withheld.get("people") if record else None
    if not isinstance(stated, str):
        return "the private record has no list of protected people"
    # A list of ids, or a column and its value.
    if stated.startswith("["):
        try:
            ids = set(json.loads(stated))
        except (ValueError, TypeError, RecursionError):
            return "the list of protected people in the private record cannot be read"
        found = [at for at, label in enumerate(original.labels().tolist()) if str(label) in ids]
        if len(found) != len(ids):
            return f"{len(ids) - len(found)} of {len(ids)} protected people are not in the original"
    else:
        column, _, value = stated.partition("=")
        if column not in original.attributes:
            return f"protected people are those with {shown(stated)}, but there is no such column"
        found = [at for at, cell in enumerate(_cells_of(original, column)) if cell == value]
    if not found:
        return f"the list of protected people names nobody ({shown(stated)})"
    return np.array(found, dtype=np.int64)


def _cells_of(original: Network, column: str) -> list[str | None]:
    """Return the values of an attribute as text, one per person; None for a missing one."""
    people = original.people
    if people is None:
        return []
    at = people.columns.index(column)
    values = [str(value) for value in people.categories[at].tolist()]
    return [None if code < 0 else values[code] for code in people.codes[:, at].tolist()]
