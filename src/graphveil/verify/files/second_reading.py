"""The original's file read a second time, by code that the method's reader does not share.

What a method was given went through one reader. Were it to lose a line, the original that a release
is compared with would have lost it, too. So plain text is read here again, by SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.data.ids import Ids, as_text, to_arrow
from graphveil.verify.database import Database
from graphveil.verify.files.plain import (
    SHARED,
    TWICE,
    PlainFile,
    plain_file,
    read_again,
    read_once,
)
from graphveil.verify.files.second_table import table_reading_check
from graphveil.verify.verdict import Check, fails, holds, not_checked, shown

MOST_PAIRS = 10_000_000
"""The most edges or entries that are read a second time."""

_HEADERS = {("source", "target"), ("from", "to"), ("src", "dst"), ("user", "item")}
_ODD = (
    r"a IS NULL OR b IS NULL OR "
    r"regexp_matches(a, '^$|^[#%\s]|\s$') OR regexp_matches(b, '^$|^[#%\s]|\s$')"
)
"""Ids that readers may take for comments, or trim."""


def second_reading_check(
    db: Database, original: Data, path: Path, reading: Mapping[str, Any] | None = None
) -> Check:
    """Return whether the file of the original says what the program's reader made of it.

    Parameters
    ----------
    db
        A database that may read the folder of the file.
    original
        What the program's reader made of the file.
    path
        The file; the program's reader read it without options that change which cells are ids, but
        for those of a table.
    reading
        The options that a table was read with, as the private record holds them.
    """
    if isinstance(original, Table):
        return table_reading_check(db, original, path, reading or {})
    file = plain_file(path)
    if file is None or tuple(map(str.lower, file.names)) not in _HEADERS:
        return read_once()
    pairs = original.n_edges if isinstance(original, Graph) else original.n_entries
    if pairs > MOST_PAIRS:
        return not_checked(TWICE, f"{SHARED}: more than {MOST_PAIRS:,} pairs")
    problem = _read_again(db, file, is_graph=isinstance(original, Graph))
    if problem is not None:
        return problem
    if db.first(f"SELECT 1 FROM again WHERE {_ODD} LIMIT 1"):
        return not_checked(TWICE, f"{SHARED}: it has comments, or blanks around an id")
    _put_original(db, original)
    return _compared(db, "edges" if isinstance(original, Graph) else "entries")


def _read_again(db: Database, file: PlainFile, *, is_graph: bool) -> Check | None:
    """Create `again(a, b)` of the distinct pairs of the file; loops of a graph are left out."""
    if not is_graph:
        return read_again(db, file, "DISTINCT f0 AS a, f1 AS b")
    ends = "DISTINCT least(f0, f1) AS a, greatest(f0, f1) AS b"
    return read_again(db, file, ends, where="f0 IS DISTINCT FROM f1")


def _put_original(db: Database, original: Graph | Bipartite) -> None:
    """Create `once(a, b)` of the pairs that the program's reader made of the file."""
    if isinstance(original, Graph):
        u, v = original.edges().T
        first, second = original.labels(), original.labels()
    else:
        u, v = original.rows(), original.indices
        first, second = original.labels(), original.feature_labels()
    db.put("first_names", _named(first))
    db.put("second_names", _named(second))
    db.put("coded", {"u": u.astype(np.int64), "v": v.astype(np.int64)})
    low, high = "f.name", "s.name"
    if isinstance(original, Graph):
        low, high = "least(f.name, s.name)", "greatest(f.name, s.name)"
    db.run(
        f"CREATE TABLE once AS SELECT {low} AS a, {high} AS b FROM coded "
        "JOIN first_names f ON f.code = u JOIN second_names s ON s.code = v"
    )


def _named(names: Ids) -> dict[str, object]:
    return {"code": np.arange(names.size), "name": to_arrow(as_text(names))}


def _compared(db: Database, what: str) -> Check:
    problems = []
    for one, other, says in (
        ("again", "once", "in the file are not in the original as it was read"),
        ("once", "again", "of the original as it was read are not in the file"),
    ):
        strange = f"SELECT a, b FROM {one} EXCEPT SELECT a, b FROM {other}"
        count = db.number(f"SELECT count(*) FROM ({strange})")
        if count:
            first = db.first(f"{strange} ORDER BY a, b LIMIT 1")
            problems.append(f"{count} {what} {says}, the first {shown(first)}")
    if problems:
        return fails(TWICE, "; ".join(problems))
    n = db.number("SELECT count(*) FROM again")
    return holds(TWICE, f"a reader of the checker's own finds the same {n} {what} in the file")
