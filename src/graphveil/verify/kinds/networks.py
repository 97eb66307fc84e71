"""Networks: ties between listed people, of whom something may be said.

The simple case is a graph: edges without directions, each once, the smaller end first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from graphveil.claims.changes import EdgeChanges
from graphveil.claims.manifest import DataFile, Described
from graphveil.core.text import counted
from graphveil.data import Graph, Network
from graphveil.data.ids import as_text, to_arrow
from graphveil.data.network import ID_OF_PERSON
from graphveil.data.network import LAYER as OF_LAYER
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.files.canonical import DELIMITERS, load_delimited
from graphveil.verify.files.columnar import load_columnar, refuse_missing, view_columnar
from graphveil.verify.files.loading import load_graphml
from graphveil.verify.kinds.kind import (
    CELLS,
    SAME,
    CheckedKind,
    ComparedNames,
    Cost,
    Evidence,
    IdsAsNames,
    NoiseCells,
    OriginalPairs,
    PairKinds,
    same_pairs,
    second_reading,
)
from graphveil.verify.recount.equal_rows import MOST_AT_ONCE, MOST_IDS, link_in_buckets
from graphveil.verify.recount.linked import IDS, ORDER, ids_check, misplaced, strange_cell
from graphveil.verify.verdict import SHARED, TWICE, Check, fails, holds, judged, not_checked, shown

EDITS, ENDPOINTS, SIMPLE = "edits", "endpoints", "simple graph"

MISSING = "SELECT source, target FROM missing ORDER BY source, target"
_ADDED_EDGES = """
    SELECT source, target FROM edges ANTI JOIN placed ON source = u AND target = v
    ORDER BY source, target
"""
_EDGES = (("source", "BIGINT"), ("target", "BIGINT"))
_COLUMNS = ["source", "target"]

_EDGE_OUT_OF_ORDER = """
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


def _order_of_edges(db: Database, *, keyed: bool) -> Check:
    another = misplaced(db, "nodes", "node", keyed=keyed)
    if another:
        return fails(ORDER, another)
    row = db.first(_EDGE_OUT_OF_ORDER)
    if row:
        return fails(ORDER, f"edge {row[0]}, ({row[1]}, {row[2]}), is not in ascending order")
    n = db.number("SELECT count(*) FROM edges")
    return holds(ORDER, f"{counted(n, 'edge')} in ascending order, the smaller end first")


def _simple_edges(db: Database, order: Check) -> Check:
    n = db.number("SELECT count(*) FROM edges")
    otherwise = f"no self-loop and no duplicate among {counted(n, 'edge')}"
    if order.outcome == "holds":
        return holds(SIMPLE, otherwise)
    problems = []
    loop = db.first("SELECT source FROM edges WHERE source = target ORDER BY source LIMIT 1")
    if loop:
        problems.append(f"node {loop[0]} is its own neighbor")
    repeat = db.first(_DUPLICATE)
    if repeat:
        problems.append(f"the edge ({repeat[0]}, {repeat[1]}) appears {repeat[2]} times")
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


def _edges_delimited(db: Database, path: Path, file: DataFile) -> None:
    """Create `edges(source, target)` of text."""
    load_delimited(db, path, "edges", _EDGES, names=_COLUMNS, form=file.format)
    refuse_missing(db, "edges", _COLUMNS, path.name)


def _edges_columnar(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `edges(source, target)`, a view of a Parquet file."""
    view_columnar(db, path, "edges", _COLUMNS)


def _link_edges(db: Database, original: Graph, released: Any) -> None:
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


def _first_edges(added: str, db: Database) -> list[str]:
    """Return the first edge that is missing, and the first that is new, in words."""
    rows = [
        (db.first(f"{query} LIMIT 1"), says)
        for query, says in ((MISSING, "missing"), (added, "new"))
    ]
    return [f"the edge between nodes {row[0]} and {row[1]} is {says}" for row, says in rows if row]


def _in_words(figures: Mapping[str, Any]) -> str:
    """Return how many edges were added and deleted."""
    deleted, added = figures.get("edges_deleted"), figures.get("edges_added")
    edges = counted(added, "edge") if isinstance(added, int) else f"{shown(added)} edges"
    return f"{edges} added and {shown(deleted)} deleted"


def _check_cells(db: Database, cells: int) -> Check:
    n = db.number("SELECT count(*) FROM nodes")
    problems = (
        []
        if cells == n * (n - 1) // 2
        else [
            (
                f"{cells} cells are stated, but {counted(n, 'node', 'has')} a different number of "
                "pairs"
            )
        ]
    )
    return judged(CELLS, problems, f"{counted(n, 'node', 'has')} {cells} pairs")


def _cells_of_person(evidence: Evidence, _cells: int) -> int:
    return evidence.tables.number("SELECT count(*) FROM nodes") - 1


COLUMNS, LAYER = "columns", "layer"

PEOPLE_ROWS = "people_rows"
"""The table of what is said of people."""

MOST_COLUMNS = 10_000

_IS_ID = (
    "coalesce(regexp_full_match(c0, '0|[1-9][0-9]{0,18}') "
    "AND TRY_CAST(c0 AS BIGINT) IS NOT NULL, false)"
)
_TIES = (("source", "BIGINT"), ("target", "BIGINT"), (OF_LAYER, "VARCHAR"))

_OUT_OF_ORDER = """
    SELECT number, source, target FROM (
        SELECT rowid + 1 AS number, source, target, layer,
               lag(source) OVER () AS above_source, lag(target) OVER () AS above_target,
               lag(layer) OVER () AS above_layer
        FROM edges)
    WHERE number > 1 AND (source < above_source OR (source = above_source AND (
        target < above_target OR (target = above_target AND layer <= above_layer))))
    LIMIT 1
"""
_TWICE = """
    SELECT source, target, count(*) FROM edges GROUP BY source, target, layer
    HAVING count(*) > 1 ORDER BY source, target, layer LIMIT 1
"""
_SAME_TIE = "source = u AND target = v AND edges.layer = placed.layer"
_ADDED = f"""
    SELECT source, target FROM edges ANTI JOIN placed ON {_SAME_TIE} ORDER BY source, target
"""
_OTHER_END_FIRST = """
    SELECT source, target FROM edges
    WHERE source > target AND layer IN (SELECT name FROM layers WHERE NOT directed)
    ORDER BY source, target LIMIT 1
"""
_OF_NO_LAYER = """
    SELECT layer FROM edges WHERE layer NOT IN (SELECT name FROM layers) ORDER BY layer LIMIT 1
"""


def _ties_delimited(db: Database, path: Path, file: DataFile) -> None:
    """Create `edges(source, target, layer)` of text; the layer is empty where there is only one."""
    columns = _columns_of(file)
    load_delimited(
        db, path, "edges", columns, names=[name for name, _ in columns], form=file.format
    )
    _with_layers(db, columns, path)


def _ties_columnar(db: Database, path: Path, file: DataFile) -> None:
    """Create `edges(source, target, layer)` of a Parquet file."""
    columns = _columns_of(file)
    load_columnar(db, path, "edges", columns, names=[name for name, _ in columns])
    _with_layers(db, columns, path)


def _columns_of(file: DataFile) -> tuple[tuple[str, str], ...]:
    return _TIES if OF_LAYER in file.columns else _TIES[:2]


def _with_layers(db: Database, columns: tuple[tuple[str, str], ...], path: Path) -> None:
    refuse_missing(db, "edges", [name for name, _ in columns], path.name)
    if len(columns) < len(_TIES):
        db.run(f"ALTER TABLE edges ADD COLUMN {OF_LAYER} VARCHAR DEFAULT ''")


def described_layers(described: Described) -> dict[str, bool]:
    """Return whether each layer is directed, by what `edges` calls it: an only one by nothing."""
    layers: Any = described.layers
    if len(layers) == 1:
        return {"": bool(layers[0].directed)}
    return {layer.name: bool(layer.directed) for layer in layers}


def _people(db: Database, path: Path, file: DataFile) -> None:
    """Create `people_rows(c0, c1, ...)` of the file of people, and `nodes(node)` of their ids."""
    if len(file.columns) > MOST_COLUMNS:
        raise UnreadableError(
            f"{file.name} has {len(file.columns)} columns, more than {MOST_COLUMNS}"
        )
    if file.columns[:1] != [ID_OF_PERSON] or len(set(file.columns)) < len(file.columns):
        raise UnreadableError(
            f"{file.name}: its columns must be {ID_OF_PERSON} and distinct attributes"
        )
    columns = [(f"c{number}", "VARCHAR") for number in range(len(file.columns))]
    load_delimited(db, path, PEOPLE_ROWS, columns, names=file.columns, form=file.format)
    empty = db.first_cell(PEOPLE_ROWS, [name for name, _ in columns], "{} = ''")
    if empty is not None:
        raise UnreadableError(f"{path.name}: row {empty[1]} has an empty cell")
    strange = db.first(
        f"SELECT rowid + 1, c0 FROM people_rows WHERE NOT {_IS_ID} ORDER BY rowid LIMIT 1"
    )
    if strange:
        raise UnreadableError(
            f"{path.name}: row {strange[0]} has the id {shown(strange[1])}, which is not valid"
        )
    db.run("CREATE TABLE nodes AS SELECT CAST(c0 AS BIGINT) AS node FROM people_rows")


def is_directed(described: Described) -> bool:
    """Whether some ties lead from one person to another: those of a graph do not."""
    return bool(described.layers) and any(described_layers(described).values())


def has_layers(described: Described) -> bool:
    """Whether ties are of several kinds."""
    layers: Any = described.layers
    return bool(layers) and len(layers) > 1


def _shape(db: Database, described: Described, keyed: bool) -> list[Check]:  # noqa: FBT001  one shape
    """Return the checks of ids, ties and their order."""
    ids = ids_check(db, "nodes", "node", keyed=keyed)
    if is_directed(described) or has_layers(described):
        layers = described_layers(described)
        db.put("layers", {"name": [*layers], "directed": [*layers.values()]})
        simple, order = _simple_ties(db), _order_of_ties(db, keyed=keyed)
    else:
        order = _order_of_edges(db, keyed=keyed)
        simple = _simple_edges(db, order)
    return [ids, simple, _endpoints(db, ids, keyed=keyed), order]


def _order_of_ties(db: Database, *, keyed: bool) -> Check:
    another = misplaced(db, "nodes", "node", keyed=keyed)
    if another:
        return fails(ORDER, another)
    row = db.first(_OUT_OF_ORDER)
    if row:
        return fails(ORDER, f"edge {row[0]}, ({row[1]}, {row[2]}), is not in ascending order")
    row = db.first(_OTHER_END_FIRST)
    if row:
        return fails(
            ORDER, (f"the edge ({row[0]}, {row[1]}) is undirected, but its smaller end is second")
        )
    return holds(ORDER, f"{counted(db.number('SELECT count(*) FROM edges'), 'edge')} in order")


def _simple_ties(db: Database) -> Check:
    problems = []
    loop = db.first("SELECT source FROM edges WHERE source = target ORDER BY source LIMIT 1")
    if loop:
        problems.append(f"node {loop[0]} has an edge to itself")
    twice = db.first(_TWICE)
    if twice:
        problems.append(f"the edge ({twice[0]}, {twice[1]}) appears {twice[2]} times")
    strange = db.first(_OF_NO_LAYER)
    if strange:
        problems.append(
            f"some edges are in the layer {shown(strange[0])}, which is not in the manifest"
        )
    n = db.number("SELECT count(*) FROM edges")
    return judged(SIMPLE, problems, f"no self-loop and no duplicate among {counted(n, 'edge')}")


def _counts(db: Database, described: Described) -> dict[str, int]:
    nodes = db.number("SELECT count(*) FROM nodes")
    ties = db.number("SELECT count(*) FROM edges")
    if not described.layers:
        return {"nodes": nodes, "edges": ties}
    columns = len(next(file for file in described.files if file.role == "people").columns) - 1
    suppressed = "".join(
        f" + count(CASE WHEN c{n} = '*' THEN 1 END)" for n in range(1, columns + 1)
    )
    return {
        "nodes": nodes,
        "ties": ties,
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
    said: Any = evidence.manifest.data.layers
    has = [(layer.name, layer.directed) for layer in original.layers]
    directed = original.is_directed
    layer = holds(LAYER, "edges are directed in both" if directed else "edges are undirected")
    if len(has) > 1:
        layer = holds(
            LAYER, f"{counted(len(has), 'layer')} in both, each directed in both or in neither"
        )
    if has != [(one.name, one.directed) for one in said]:
        layer = fails(LAYER, "the layers of the original differ in name, number or direction")
    failed = next((check for check in (columns, layer) if check.outcome == "fails"), None)
    return ComparedNames([columns, layer], None if failed is None else failed.detail)


def _link(db: Database, original: Network, released: Any) -> None:
    """Create `placed(u, v, layer)` of the original's ties, and `missing` of those that are lost."""
    if isinstance(original, Graph):
        _link_edges(db, original, released)
        return
    ties, one = original.ties(), len(original.layers) == 1
    source, target = released[ties.source], released[ties.target]
    turned = np.array([not layer.directed for layer in original.layers])[ties.layer]
    turned &= source > target
    names = np.array(["" if one else layer.name for layer in original.layers], dtype=object)
    ends = {"u": np.where(turned, target, source), "v": np.where(turned, source, target)}
    db.put("placed_in", {**ends, "n": ties.layer.astype(np.int64)})
    db.put("names_of_layers", {"n": np.arange(names.size), "layer": names.tolist()})
    db.run(
        "CREATE TABLE placed AS SELECT u, v, layer FROM placed_in JOIN names_of_layers USING (n)"
    )
    db.run(
        "CREATE TABLE missing AS SELECT u AS source, v AS target, layer FROM placed "
        f"ANTI JOIN edges ON {_SAME_TIE}"
    )


def _changes(evidence: Evidence) -> EdgeChanges:
    db, before = evidence.tables, evidence.original_as(Network).n_ties
    after = db.number("SELECT count(*) FROM edges")
    kept = before - db.number("SELECT count(*) FROM missing")
    return EdgeChanges(before, kept, after - kept)


def _same(evidence: Evidence) -> Check:
    ties = same_pairs(evidence)
    original = evidence.original_as(Network)
    if ties.outcome == "fails" or isinstance(original, Graph):
        return ties
    if set(columns_of(evidence)) != set(original.attributes):
        return fails(SAME, "the release has different attributes than the original")
    strange = strange_cell(evidence.tables, original, columns_of(evidence), stars=False)
    if strange is not None:
        return fails(
            SAME,
            (
                f"node {strange.node} has a different value of "
                f"{shown(strange.column)} than in the original"
            ),
        )
    return holds(SAME, f"{ties.detail}; all attributes are the same as well")


def _ids_among_names(evidence: Evidence, original: Network) -> list[IdsAsNames]:
    """Return the ids of people that are values of published attributes, or names of kinds."""
    db = evidence.db
    if db is None or not db.holds(PEOPLE_ROWS) or original.ids is None:
        return []
    described: Any = evidence.manifest.data.layers
    labels = as_text(original.labels())
    kinds = {layer.name for layer in described}.intersection(labels.tolist())
    among = [IdsAsNames(kinds, "names of layers")] if kinds else []
    db.put("ids_of_people", {"id": to_arrow(labels)})
    for name, number in columns_of(evidence).items():
        rows = db.rows(
            f"SELECT DISTINCT c{number} FROM people_rows SEMI JOIN ids_of_people ON c{number} = id"
        )
        if rows:
            among.append(IdsAsNames({value for (value,) in rows}, f"values of {shown(name)}"))
    return among


def _pairs(original: Network) -> OriginalPairs:
    labels = original.labels()
    if isinstance(original, Graph):
        u, v = original.edges().T
        return OriginalPairs(u, v, labels, labels, both_ways=True, loops=False)
    ties = original.ties()
    names = [layer.name for layer in original.layers]
    plain = [layer.name for layer in original.layers if not layer.directed]
    return OriginalPairs(
        ties.source,
        ties.target,
        labels,
        labels,
        both_ways=not original.is_directed,
        loops=False,
        kinds=PairKinds(ties.layer, names, plain),
    )


def _read_again(db: Database, original: Network, path: Path, reading: Mapping[str, Any]) -> Check:
    """Return whether the files of ties and of people say what the program's reader made of them."""
    ties = second_reading(_pairs, "edges")(db, original, path, reading)
    if original.people is None or ties.outcome == "fails":
        return ties
    file = reading.get("nodes")
    people = not_checked(TWICE, SHARED, needs="the file of people")
    if file is not None:
        from graphveil.verify.files.second_table import (  # noqa: PLC0415  idle where no file is given
            people_reading_check,
        )

        people = people_reading_check(db, original, Path(file), reading)
    if people.outcome == "fails" or ties.outcome == "holds" != people.outcome:
        return msgspec.structs.replace(people, detail=f"for the file of people, {people.detail}")
    if ties.outcome != "holds":
        return ties
    return holds(TWICE, f"{ties.detail}; for the file of people, {people.detail}")


GRAPH = CheckedKind(
    loaders={
        **dict.fromkeys(DELIMITERS, _edges_delimited),
        "parquet": _edges_columnar,
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
    cost=Cost(EDITS, _changes, _in_words),
    first_changes=partial(_first_edges, _ADDED_EDGES),
    added=_ADDED_EDGES,
    same=_same,
    noise_cells=NoiseCells(of_person=_cells_of_person, check=_check_cells),
    read_again=_read_again,
)
"""A network with one layer, without directions and attributes."""

NETWORK = replace(
    GRAPH,
    loaders={**dict.fromkeys(DELIMITERS, _ties_delimited), "parquet": _ties_columnar},
    everyone=_people,
    unrolled=frozenset(),
    entries=("edges", "edge"),
    rows={"data": "ties", "people": "nodes"},
    first_changes=partial(_first_edges, _ADDED),
    added=_ADDED,
    shared_names=(COLUMNS, LAYER),
    shared=_shared,
    ids_among_names=_ids_among_names,
    noise_cells=None,
)
