"""Networks: ties as of a graph, or arcs, between listed people of whom something is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from graphveil.data import Network
from graphveil.data.ids import as_text, to_arrow
from graphveil.data.network import ID_OF_PERSON
from graphveil.records.manifest import DataFile, Described
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.files.delimited import DELIMITERS, load_delimited
from graphveil.verify.kinds.graph import EDITS, GRAPH, edges_columnar, edges_delimited, in_words
from graphveil.verify.kinds.kind import (
    SAME,
    Changes,
    CheckedKind,
    ComparedNames,
    Cost,
    Evidence,
    IdsAsNames,
)
from graphveil.verify.kinds.pairs import OriginalPairs, same_pairs, second_reading
from graphveil.verify.recount.attributes import strange_cell
from graphveil.verify.recount.ids import IDS, ORDER, misplaced
from graphveil.verify.verdict import Check, counted, fails, holds, judged, not_checked, shown

COLUMNS, LAYER = "columns", "layer"

PEOPLE_ROWS = "people_rows"
"""The table of what is said of people."""

MOST_COLUMNS = 10_000

_IS_ID = (
    "coalesce(regexp_full_match(c0, '0|[1-9][0-9]{0,18}') "
    "AND TRY_CAST(c0 AS BIGINT) IS NOT NULL, false)"
)
_ARCS_OUT_OF_ORDER = """
    SELECT number, source, target FROM (
        SELECT rowid + 1 AS number, source, target,
               lag(source) OVER () AS above_source, lag(target) OVER () AS above_target
        FROM edges)
    WHERE number > 1 AND (
        source < above_source OR (source = above_source AND target <= above_target))
    LIMIT 1
"""
_TWICE = "SELECT source, target, count(*) FROM edges GROUP BY ALL HAVING count(*) > 1 LIMIT 1"


def _people(db: Database, path: Path, file: DataFile) -> None:
    """Create `people_rows(c0, c1, ...)` of the file of people, and `nodes(node)` of their ids."""
    if len(file.columns) > MOST_COLUMNS:
        raise UnreadableError(f"{file.name} has {len(file.columns)} columns, over {MOST_COLUMNS}")
    if file.columns[:1] != [ID_OF_PERSON] or len(set(file.columns)) < len(file.columns):
        raise UnreadableError(f"{file.name}: its columns are not {ID_OF_PERSON} and attributes")
    columns = [(f"c{number}", "VARCHAR") for number in range(len(file.columns))]
    load_delimited(db, path, PEOPLE_ROWS, columns, names=file.columns, form=file.format)
    empty = db.first_cell(PEOPLE_ROWS, [name for name, _ in columns], "{} = ''")
    if empty is not None:
        raise UnreadableError(f"{path.name}: row {empty[1]} has an empty cell")
    strange = db.first(
        f"SELECT rowid + 1, c0 FROM people_rows WHERE NOT {_IS_ID} ORDER BY rowid LIMIT 1"
    )
    if strange:
        raise UnreadableError(f"{path.name}: row {strange[0]} has the id {shown(strange[1])}")
    db.run("CREATE TABLE nodes AS SELECT CAST(c0 AS BIGINT) AS node FROM people_rows")


def is_directed(described: Described) -> bool:
    """Whether the ties lead from one person to another: those of a graph do not."""
    layers: Any = described.layers
    return bool(layers) and bool(layers[0].directed)


def _shape(db: Database, described: Described, keyed: bool) -> list[Check]:  # noqa: FBT001  one shape
    """Return the checks of ids, ties and their order: of a graph where nothing is directed."""
    checks = GRAPH.shape(db, described, keyed)
    if not is_directed(described):
        return checks
    own = {ORDER: _order_of_arcs(db, keyed=keyed), "simple graph": _simple_arcs(db)}
    return [own.get(check.name, check) for check in checks]


def _order_of_arcs(db: Database, *, keyed: bool) -> Check:
    another = misplaced(db, "nodes", "node", keyed=keyed)
    if another:
        return fails(ORDER, another)
    row = db.first(_ARCS_OUT_OF_ORDER)
    if row:
        return fails(ORDER, f"arc {row[0]}, ({row[1]}, {row[2]}), is not in ascending order")
    return holds(ORDER, f"{counted(db.number('SELECT count(*) FROM edges'), 'arc')} in order")


def _simple_arcs(db: Database) -> Check:
    problems = []
    loop = db.first("SELECT source FROM edges WHERE source = target ORDER BY source LIMIT 1")
    if loop:
        problems.append(f"node {loop[0]} is tied to itself")
    twice = db.first(_TWICE)
    if twice:
        problems.append(f"the arc ({twice[0]}, {twice[1]}) stands {twice[2]} times")
    n = db.number("SELECT count(*) FROM edges")
    return judged("simple graph", problems, f"no self-tie and no repeat among {counted(n, 'arc')}")


def _counts(db: Database, described: Described) -> dict[str, int]:
    columns = len(next(file for file in described.files if file.role == "people").columns) - 1
    suppressed = "".join(
        f" + count(CASE WHEN c{n} = '*' THEN 1 END)" for n in range(1, columns + 1)
    )
    return {
        "nodes": db.number("SELECT count(*) FROM nodes"),
        "ties": db.number("SELECT count(*) FROM edges"),
        "columns": columns,
        "suppressed_cells": db.number(f"SELECT 0{suppressed} FROM people_rows"),
    }


def columns_of(evidence: Evidence) -> dict[str, int]:
    """Return the published attributes, and the numbers of their columns."""
    names = evidence.file("people").columns[1:]
    return {name: number for number, name in enumerate(names, start=1)}


def _shared(evidence: Evidence) -> ComparedNames:
    """Whether attributes are the original's, and ties have directions where its ties have."""
    original = evidence.original_as(Network)
    strange = [name for name in columns_of(evidence) if name not in original.attributes]
    n = counted(len(columns_of(evidence)), "attribute")
    columns = holds(COLUMNS, f"{n} of the release are attributes of the original")
    if strange:
        columns = fails(COLUMNS, f"the original has no attribute {shown(strange[0])}")
    directed, several = original.layers[0].directed, len(original.layers) > 1
    layer = holds(LAYER, "ties are directed in both" if directed else "ties have no direction")
    said: Any = evidence.manifest.data.layers
    if several or directed != said[0].directed or original.layers[0].name != said[0].name:
        layer = fails(LAYER, "the original has other ties: by their name, kinds or directions")
    failed = next((check for check in (columns, layer) if check.outcome == "fails"), None)
    return ComparedNames([columns, layer], None if failed is None else failed.detail)


def _link(db: Database, original: Network, released: Any) -> None:
    """Create `placed(u, v)`, the original's ties, and `missing(source, target)` of the lost."""
    layer = original.layers[0]
    source, target = (released[end] for end in layer.ties())
    if not layer.directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    db.put("placed", {"u": source, "v": target})
    db.run(
        "CREATE TABLE missing AS SELECT u AS source, v AS target FROM placed "
        "ANTI JOIN edges ON source = u AND target = v"
    )


def _changes(evidence: Evidence) -> Changes:
    db, before = evidence.tables, evidence.original_as(Network).n_ties
    after = db.number("SELECT count(*) FROM edges")
    kept = before - db.number("SELECT count(*) FROM missing")
    return Changes(before, kept, before - kept, after - kept)


def _figures(evidence: Evidence) -> dict[str, int]:
    before, kept, deleted, added = _changes(evidence)
    return {
        "edges_before": before,
        "edges_kept": kept,
        "edges_deleted": deleted,
        "edges_added": added,
    }


def _same(evidence: Evidence) -> Check:
    ties = same_pairs(evidence)
    original = evidence.original_as(Network)
    if ties.outcome == "fails":
        return ties
    if set(columns_of(evidence)) != set(original.attributes):
        return fails(SAME, "the release has other attributes than the original")
    strange = strange_cell(evidence.tables, original, columns_of(evidence), stars=False)
    if strange is not None:
        return fails(SAME, f"node {strange.node} has another {shown(strange.column)}")
    return holds(SAME, f"{ties.detail}; so are all attributes")


def _ids_among_names(evidence: Evidence, original: Network) -> list[IdsAsNames]:
    """Return the ids of people that are values of published attributes, one by one."""
    db = evidence.db
    if db is None or not db.holds(PEOPLE_ROWS) or original.ids is None:
        return []
    db.put("ids_of_people", {"id": to_arrow(as_text(original.labels()))})
    among = []
    for name, number in columns_of(evidence).items():
        rows = db.rows(
            f"SELECT DISTINCT c{number} FROM people_rows SEMI JOIN ids_of_people ON c{number} = id"
        )
        if rows:
            among.append(IdsAsNames({value for (value,) in rows}, f"values of {shown(name)}"))
    return among


def _read_again(db: Database, original: Network, path: Path, reading: Any) -> Check:
    """Return whether the file of ties says what the reader made of it."""
    if len(original.layers) > 1:
        return not_checked("second reading", "ties of several kinds are read once")
    return second_reading(_pairs, "ties")(db, original, path, reading)


def _pairs(original: Network) -> OriginalPairs:
    layer, labels = original.layers[0], original.labels()
    return OriginalPairs(*layer.ties(), labels, labels, both_ways=not layer.directed)


NETWORK = CheckedKind(
    loaders={**dict.fromkeys(DELIMITERS, edges_delimited), "parquet": edges_columnar},
    everyone=_people,
    tables=("nodes", "edges"),
    people=("nodes", "node"),
    entries=("edges", "tie"),
    shape_names=(IDS, *GRAPH.shape_names[1:]),
    shape=_shape,
    counts=_counts,
    rows={"data": "ties", "people": "nodes"},
    link=_link,
    changes=_changes,
    cost=Cost(EDITS, _figures, frozenset({"edges_deleted", "edges_added"}), in_words),
    first_changes=GRAPH.first_changes,
    same=_same,
    shared_names=(COLUMNS, LAYER),
    shared=_shared,
    ids_among_names=_ids_among_names,
    read_again=_read_again,
)
