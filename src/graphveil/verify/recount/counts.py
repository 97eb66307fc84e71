"""Whether counts of a manifest are those of its data."""

from __future__ import annotations

from graphveil.records.manifest import MANIFEST, Described
from graphveil.verify.database import Database
from graphveil.verify.kinds.kind import checked_kind
from graphveil.verify.verdict import Check, judged, shown

COUNTS = "counts"


def counts_check(db: Database, described: Described) -> Check:
    """Return whether counts and numbers of rows are those of the data."""
    shape = checked_kind(described.kind)
    counts = shape.counts(db, described)
    problems = [
        f"{counts[name]} {name}, {MANIFEST} says {described.counts.get(name, 'nothing')}"
        for name in counts
        if counts[name] != described.counts.get(name)
    ]
    problems += [
        f"{shown(name)} is no count of a {described.kind}"
        for name in described.counts
        if name not in counts
    ]
    problems += [
        f"{shown(file.name)} has {counts[shape.rows[file.role]]} rows, {MANIFEST} says {file.rows}"
        for file in described.files
        if file.role in shape.rows and counts[shape.rows[file.role]] != file.rows
    ]
    listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    return judged(COUNTS, problems, listed)
