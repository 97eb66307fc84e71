"""Graphs: edges between listed nodes, each once, the smaller end first."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graphveil.claims.manifest import DataFile, Described
from graphveil.data import Graph
from graphveil.verify.database import Database
from graphveil.verify.files.canonical import DELIMITERS, load_delimited
from graphveil.verify.files.columnar import refuse_missing, view_columnar
from graphveil.verify.files.graphml import load_graphml
from graphveil.verify.kinds.kind import (
    CELLS,
    Changes,
    CheckedKind,
    Cost,
    Evidence,
    NoiseCells,
    OriginalPairs,
    same_pairs,
    second_reading,
)
from graphveil.verify.recount.bucketed import MOST_AT_ONCE, MOST_IDS, link_in_buckets
from graphveil.verify.recount.ids import IDS, ORDER, ids_check, misplaced
from graphveil.verify.verdict import Check, counted, fails, holds, judged, shown

EDITS, ENDPOINTS, SIMPLE = "edits", "endpoints", "simple graph"

MISSING = "SELECT source, target FROM missing ORDER BY source, target"
ADDED = """
    SELECT source, target FROM edges ANTI JOIN placed ON source = u AND target = v
    ORDER BY source, target
"""
_EDGES = (("source", "BIGINT"), ("target", "BIGINT"))
_COLUMNS = ["source", "target"]

_OUT_OF_ORDER = """
    SELECT number, source, target FROM (
        SELECT row_number() OVER () AS number, source, target,
               lag(source) OVER () AS above_source, lag(target) OVER () AS above_target
        FROM edges)
    WHERE source >= target OR (number > 1 AND (
        source < above_source OR (source = above_source AND target <= above_target)))
    LIMIT 1
"""
_DUPLICATE = """
    SELECT least(source, target) AS u, greatest(source, target) AS v, count(*) AS copies
    FROM edges GROUP BY u, v HAVING count(*) > 1 ORDER BY u, v LIMIT 1
"""
_STRANGER = """
    SELECT end_node FROM (SELECT unnest([source, target]) AS end_node FROM edges)
    WHERE end_node NOT IN (SELECT node FROM nodes) ORDER BY end_node LIMIT 1
"""


def _shape(db: Database, described: Described, keyed: bool) -> list[Check]:  # noqa: FBT001  one shape
    """Return the checks of ids, edges and their order."""
    del described
    ids = ids_check(db, "nodes", "node", keyed=keyed)
    order = _order(db, keyed=keyed)
    return [ids, _simple(db, order), _endpoints(db, ids, keyed=keyed), order]


def _order(db: Database, *, keyed: bool) -> Check:
    another = misplaced(db, "nodes", "node", keyed=keyed)
    if another:
        return fails(ORDER, another)
    row = db.first(_OUT_OF_ORDER)
    if row:
        return fails(ORDER, f"edge {row[0]}, ({row[1]}, {row[2]}), is not in ascending order")
    n = db.number("SELECT count(*) FROM edges")
    return holds(ORDER, f"{counted(n, 'edge')} in ascending order, the smaller end first")


def _simple(db: Database, order: Check) -> Check:
    n = db.number("SELECT count(*) FROM edges")
    otherwise = f"no self-loop and no repeat among {counted(n, 'edge')}"
    if order.outcome == "holds":
        return holds(SIMPLE, otherwise)
    problems = []
    loop = db.first("SELECT source FROM edges WHERE source = target ORDER BY source LIMIT 1")
    if loop:
        problems.append(f"node {loop[0]} is its own neighbor")
    repeat = db.first(_DUPLICATE)
    if repeat:
        problems.append(f"the edge ({repeat[0]}, {repeat[1]}) stands {repeat[2]} times")
    return judged(SIMPLE, problems, otherwise)


def _endpoints(db: Database, ids: Check, *, keyed: bool) -> Check:
    n = db.number("SELECT count(*) FROM nodes")
    low, high = db.rows(
        "SELECT least(min(source), min(target)), greatest(max(source), max(target)) FROM edges"
    )[0]
    otherwise = f"every end of an edge is one of {counted(n, 'listed node')}"
    if not keyed and ids.outcome == "holds" and (low is None or (low >= 0 and high < n)):
        return holds(ENDPOINTS, otherwise)
    stranger = db.first(_STRANGER)
    if stranger:
        return fails(ENDPOINTS, f"node {stranger[0]} has an edge but is not listed")
    return holds(ENDPOINTS, otherwise)


def edges_delimited(db: Database, path: Path, file: DataFile) -> None:
    """Create `edges(source, target)` of text."""
    load_delimited(db, path, "edges", _EDGES, names=_COLUMNS, form=file.format)
    refuse_missing(db, "edges", _COLUMNS, path.name)


def edges_columnar(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `edges(source, target)`, a view of a Parquet file."""
    view_columnar(db, path, "edges", _COLUMNS)


def _counts(db: Database, described: Described) -> dict[str, int]:  # noqa: ARG001  one shape
    return {
        "nodes": db.number("SELECT count(*) FROM nodes"),
        "edges": db.number("SELECT count(*) FROM edges"),
    }


def _link(db: Database, original: Graph, released: Any) -> None:
    """Create `placed(u, v)`, the original's edges, u below v, and `missing` of those lost."""
    released = np.asarray(released)
    usual = released.size > 0 and released.min() >= 0 and released.max() < MOST_IDS
    if original.n_edges > MOST_AT_ONCE and usual:
        link_in_buckets(db, (original.indptr, original.indices), released)
        return
    ends = released[original.edges()]
    db.put("placed", {"u": ends.min(axis=1), "v": ends.max(axis=1)})
    db.run(
        "CREATE TABLE missing AS SELECT u AS source, v AS target FROM placed "
        "ANTI JOIN edges ON source = u AND target = v"
    )


def _changes(evidence: Evidence) -> Changes:
    db, before = evidence.tables, evidence.original_as(Graph).n_edges
    after = db.number("SELECT count(*) FROM edges")
    kept = before - db.number("SELECT count(*) FROM missing")
    return Changes(before, kept, before - kept, after - kept)


def first_edges(added: str, db: Database) -> list[str]:
    """Return the first edge that is missing, and the first that is new, in words."""
    rows = [
        (db.first(f"{query} LIMIT 1"), says)
        for query, says in ((MISSING, "missing"), (added, "new"))
    ]
    return [f"{says} is the edge between nodes {row[0]} and {row[1]}" for row, says in rows if row]


def _figures(evidence: Evidence) -> dict[str, int]:
    before, kept, deleted, added = _changes(evidence)
    return {
        "edges_before": before,
        "edges_kept": kept,
        "edges_deleted": deleted,
        "edges_added": added,
    }


def in_words(figures: Mapping[str, Any]) -> str:
    """Return how many edges were added and deleted."""
    deleted, added = figures.get("edges_deleted"), figures.get("edges_added")
    edges = counted(added, "edge") if isinstance(added, int) else f"{shown(added)} edges"
    return f"{edges} added and {shown(deleted)} deleted"


def _check_cells(db: Database, cells: int) -> Check:
    n = db.number("SELECT count(*) FROM nodes")
    problems = [] if cells == n * (n - 1) // 2 else [f"{cells} cells, {n} nodes have not so many"]
    return judged(CELLS, problems, f"{n} nodes have {cells} pairs")


def _cells_of_person(evidence: Evidence, cells: int) -> int:
    del cells
    return evidence.tables.number("SELECT count(*) FROM nodes") - 1


def _pairs(original: Graph) -> OriginalPairs:
    u, v = original.edges().T
    return OriginalPairs(u, v, original.labels(), original.labels(), both_ways=True, loops=False)


GRAPH = CheckedKind(
    loaders={
        **dict.fromkeys(DELIMITERS, edges_delimited),
        "parquet": edges_columnar,
        "graphml": load_graphml,
    },
    tables=("nodes", "edges"),
    unrolled=frozenset({"parquet"}),
    people=("nodes", "node"),
    entries=("edges", "edge"),
    shape_names=(IDS, SIMPLE, ENDPOINTS, ORDER),
    shape=_shape,
    counts=_counts,
    rows={"data": "edges", "nodes": "nodes"},
    link=_link,
    changes=_changes,
    cost=Cost(EDITS, _figures, frozenset({"edges_deleted", "edges_added"}), in_words),
    first_changes=partial(first_edges, ADDED),
    added=ADDED,
    same=same_pairs,
    noise_cells=NoiseCells(
        of_person=_cells_of_person,
        check=_check_cells,
    ),
    read_again=second_reading(_pairs, "edges"),
)
