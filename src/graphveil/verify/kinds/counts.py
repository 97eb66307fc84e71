"""Whether the counts of the manifest are those of the data: nodes, edges, rows, cells.

Every kind of data counts its own loaded tables by SQL (`kinds`); the manifest must state the same
numbers, no others, and the same number of rows for every file. A part of a release in parts was
counted when it was loaded.
"""

from __future__ import annotations

from graphveil.claims import parts
from graphveil.claims.manifest import MANIFEST, Described
from graphveil.core.text import counted, singular
from graphveil.verify.database import Database
from graphveil.verify.evidence import CheckedKind
from graphveil.verify.verdict import Check, judged, shown

COUNTS = "counts"


def counts_check(db: Database, described: Described, shape: CheckedKind) -> Check:
    """Return whether counts and numbers of rows are those of the data."""
    # Step 1: every count of this kind of data, and no count of another kind.
    counts = shape.counts(db, described)
    words = {name: counted(n, singular(name.replace("_", " "))) for name, n in counts.items()}
    problems = [
        f"{words[name]} in the data, but {MANIFEST} states {described.counts.get(name, 'nothing')}"
        for name in counts
        if counts[name] != described.counts.get(name)
    ]
    problems += [
        f"{shown(name)} is not a count for data of kind {described.kind}"
        for name in described.counts
        if name not in counts
    ]
    # Step 2: the number of rows that the manifest states for each file.
    rows = {} if parts.in_parts(described.files) else shape.rows  # those of a part were counted
    problems += [
        f"{shown(file.name)} has {counted(counts[rows[file.role]], 'row')}, but {MANIFEST} "
        f"states {file.rows}"
        for file in described.files
        if file.role in rows and counts[rows[file.role]] != file.rows
    ]
    # Step 3: of tables, the cells of each column that are values, generalized or suppressed.
    shows, stated = shape.cells(db, described), described.cells or []
    if [one.name for one in shows] != [one.name for one in stated]:
        problems.append(f"{MANIFEST} does not state the cells of each column of the data")
    else:
        problems += [
            f"{shown(one.name)} shows {counted(one.values, 'value')}, {one.generalized} "
            f"generalized and {one.suppressed} suppressed, but {MANIFEST} states "
            f"{expected.values}, {expected.generalized} and {expected.suppressed}"
            for one, expected in zip(shows, stated, strict=True)
            if one != expected
        ]
    listed = ", ".join(
        counted(count, singular(name.replace("_", " "))) for name, count in counts.items()
    )
    return judged(problems, listed)
