"""Networks: edges between listed nodes, with layers, directions and attributes.

Claim checked: the shape of the data. Ids are 0 to n - 1 (or come from a key), no node has an edge
to itself, no edge appears twice, every end is a listed node, and edges stand in ascending order,
the smaller end of an undirected edge first. The simple case is a graph: one undirected layer, no
attributes.

Tables: `nodes(node)`, `edges(source, target[, layer])`, `people_rows(c0, c1, ...)` with the
attributes as text; of the original, once linked, `placed(u, v[, layer])`, its edges under the
published ids, and `missing(source, target[, layer])`, those of them that the release lacks.

Cost: window functions in file order and anti joins, O(m log m) at most. Above `MOST_AT_ONCE`
edges the original is compared in buckets on disk (`recount.graphs.edge_buckets`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from graphveil.claims.facts import EdgeChanges
from graphveil.claims.manifest import DataFile, Described
from graphveil.core.text import counted
from graphveil.data import Graph, Network
from graphveil.data.ids import as_text, to_arrow
from graphveil.data.network import ID_OF_PERSON
from graphveil.data.network import LAYER as OF_LAYER
from graphveil.verify.changes import same_pairs
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.evidence import (
    CheckedKind,
    Cost,
    Evidence,
    IdsAsNames,
    NoiseCells,
)
from graphveil.verify.files.canonical_parquet import view_columnar
from graphveil.verify.files.canonical_text import DELIMITERS, load_delimited
from graphveil.verify.files.graphml import load_graphml
from graphveil.verify.files.loading import load_rows, refuse_missing
from graphveil.verify.kinds.text_cells import cell_columns, strange_id
from graphveil.verify.recount.graphs.edge_buckets import MOST_AT_ONCE, MOST_IDS, link_in_buckets
from graphveil.verify.recount.graphs.node_attributes import strange_cell
from graphveil.verify.recount.ids import IDS, ORDER, ids_check, misplaced
from graphveil.verify.second_reading.pairs import OriginalPairs, PairKinds, pairs_reading_check
from graphveil.verify.second_reading.tables import people_reading_check
from graphveil.verify.verdict import SHARED, Check, fails, holds, judged, not_checked, row_of, shown

EDITS, ENDPOINTS, SIMPLE = "edits", "endpoints", "simple graph"
MISSING = "SELECT source, target FROM missing ORDER BY source, target"
"""Edges of the original that the release lacks."""

_ADDED = "SELECT source, target FROM edges ANTI JOIN placed ON {} ORDER BY source, target"
"""Released edges that the original lacks: those for which no edge of it is the same."""

_SAME_EDGE = "source = u AND target = v"
_SAME_TIE = f"{_SAME_EDGE} AND edges.layer = placed.layer"

_LOST = "CREATE TABLE missing AS SELECT u AS source, v AS target{} FROM placed ANTI JOIN edges ON "

_COLUMNS = ["source", "target"]

# The first edge that does not follow the one above it by source, target and layer; where there are
# no layers, also one whose smaller end is second.
_OUT_OF_ORDER = """
    SELECT number, source, target FROM (
        SELECT row_number() OVER () AS number, *, lag(source) OVER () AS above_source,
               lag(target) OVER () AS above_target, lag({layer}) OVER () AS above_layer
        FROM edges)
    WHERE {turned} OR (number > 1 AND (source < above_source OR (source = above_source AND (
        target < above_target OR (target = above_target AND {layer} <= above_layer)))))
    LIMIT 1
"""

_LOOP = "SELECT source FROM edges WHERE source = target ORDER BY source LIMIT 1"

# The first edge that appears more than once, in either direction.
_DUPLICATE = """
    SELECT least(source, target) AS u, greatest(source, target) AS v, count(*) AS copies
    FROM edges GROUP BY u, v HAVING count(*) > 1 ORDER BY u, v LIMIT 1
"""

# The first end of an edge that is not a listed node.
_STRANGER = """
    SELECT end_node FROM (SELECT unnest([source, target]) AS end_node FROM edges)
    WHERE end_node NOT IN (SELECT node FROM nodes) ORDER BY end_node LIMIT 1
"""


def _link_edges(db: Database, original: Graph, released: Any) -> None:
    """Create `placed(u, v)` of the original's edges, and `missing` of those not in the release."""
    # Large graphs are compared in buckets on disk, where ids fit into 32 bits.
    released = np.asarray(released)
    usual = released.size > 0 and released.min() >= 0 and released.max() < MOST_IDS
    if original.n_edges > MOST_AT_ONCE and usual:
        link_in_buckets(db, (original.indptr, original.indices), released)
        return
    # Others in one anti join over tables: `placed` are the original's edges by published ids.
    ends = released[original.edges()]
    db.put("placed", {"u": ends.min(axis=1), "v": ends.max(axis=1)})
    db.run(_LOST.format("") + _SAME_EDGE)


def _first_edges(evidence: Evidence) -> list[str]:
    """Return the first edge that is missing, and the first that is new, in words."""
    first = {"missing": MISSING, "new": evidence.kind.added}
    rows = [(evidence.tables.first(f"{sql} LIMIT 1"), says) for says, sql in first.items()]
    return [f"the edge between nodes {row[0]} and {row[1]} is {says}" for row, says in rows if row]


def _in_words(figures: Mapping[str, Any]) -> str:
    """Return how many edges were added and deleted."""
    deleted, added = figures.get("edges_deleted"), figures.get("edges_added")
    edges = counted(added, "edge") if isinstance(added, int) else f"{shown(added)} edges"
    return f"{edges} added and {shown(deleted)} deleted"


def _check_cells(db: Database, cells: int) -> Check:
    n = db.number("SELECT count(*) FROM nodes")
    has = counted(n, "node", "has")
    other = f"{cells} cells are stated, but {has} a different number of pairs"
    return judged([] if cells == n * (n - 1) // 2 else [other], f"{has} {cells} pairs")


def _cells_of_person(evidence: Evidence, _cells: int) -> int:
    return evidence.tables.number("SELECT count(*) FROM nodes") - 1


COLUMNS, LAYER = "columns", "layer"
PEOPLE_ROWS = "people_rows"
"""The table of what is said of people."""

_TIES = (("source", "BIGINT"), ("target", "BIGINT"), (OF_LAYER, "VARCHAR"))

# The first edge that appears more than once in one layer.
_TWICE = """
    SELECT source, target, count(*) FROM edges GROUP BY source, target, layer
    HAVING count(*) > 1 ORDER BY source, target, layer LIMIT 1
"""

# The first undirected edge whose smaller end is second.
_OTHER_END_FIRST = """
    SELECT source, target FROM edges
    WHERE source > target AND layer IN (SELECT name FROM layers WHERE NOT directed)
    ORDER BY source, target LIMIT 1
"""

# The first layer of an edge that the manifest does not describe.
_OF_NO_LAYER = """
    SELECT layer FROM edges WHERE layer NOT IN (SELECT name FROM layers) ORDER BY layer LIMIT 1
"""


def described_layers(described: Described) -> dict[str, bool]:
    """Return whether each layer is directed, by its name in `edges`; a single one is named ''."""
    layers: Any = described.layers
    if len(layers) == 1:
        return {"": bool(layers[0].directed)}
    return {layer.name: bool(layer.directed) for layer in layers}


def _people(db: Database, path: Path, file: DataFile) -> None:
    """Create `people_rows(c0, c1, ...)` of the file of people, and `nodes(node)` of their ids."""
    # The file of people: all cells are text, the first column is the id.
    columns = cell_columns(file)
    if file.columns[:1] != [ID_OF_PERSON] or len(set(file.columns)) < len(file.columns):
        raise UnreadableError(
            f"{file.name}: its columns must be {ID_OF_PERSON} and distinct attributes"
        )
    load_delimited(db, path, PEOPLE_ROWS, columns, names=file.columns, form=file.format)
    empty = db.first_cell(PEOPLE_ROWS, [name for name, _ in columns], "{} = ''")
    if empty is not None:
        raise UnreadableError(f"{row_of(file, empty[1])} has an empty cell")
    strange = strange_id(db, PEOPLE_ROWS, file)
    if strange is not None:
        raise UnreadableError(f"{path.name}: {strange}")
    db.run("CREATE TABLE nodes AS SELECT CAST(c0 AS BIGINT) AS node FROM people_rows")


def is_directed(described: Described) -> bool:
    """Whether some edges lead from one person to another: those of a graph do not."""
    return bool(described.layers) and any(described_layers(described).values())


def has_layers(described: Described) -> bool:
    """Whether there are several layers."""
    layers: Any = described.layers
    return bool(layers) and len(layers) > 1


def _shape(db: Database, described: Described, keyed: bool) -> dict[str, Check]:  # noqa: FBT001  one shape
    """Return the checks of ids, edges and their order."""
    # Step 1: ids, and which layers are directed.
    ids = ids_check(db, "nodes", "node", keyed=keyed)
    layers = described_layers(described) if described.layers else {}
    if is_directed(described) or has_layers(described):
        db.put("layers", {"name": [*layers], "directed": [*layers.values()]})
    else:
        layers = {}
    n, n_nodes = (db.number(f"SELECT count(*) FROM {table}") for table in ("edges", "nodes"))
    edges = counted(n, "edge")
    # Step 2: order. Edges in strictly ascending order cannot repeat or be loops, so that is asked
    # only of layers, or if the order fails.
    order = _order(db, edges, layers, files=described.files, keyed=keyed)
    simple = holds(f"no self-loop and no duplicate among {edges}")
    if layers or order.outcome != "holds":
        simple = judged(_not_simple(db, layers), simple.detail)
    # Step 3: ends of edges. With ids 0..n-1 the smallest and the largest end decide.
    ends = _strange_end(db, n_nodes, usual=not keyed and ids.outcome == "holds")
    listed = f"every end of an edge is one of {counted(n_nodes, 'listed node')}"
    return {IDS: ids, SIMPLE: simple, ENDPOINTS: judged(ends, listed), ORDER: order}


def _order(
    db: Database,
    edges: str,
    layers: Mapping[str, bool],
    *,
    files: Sequence[DataFile],
    keyed: bool,
) -> Check:
    by_role = {file.role: file for file in files}
    another = misplaced(db, "nodes", "node", keyed=keyed, file=by_role.get("nodes"))
    if another:
        return fails(another)
    layer, turned = ("layer", "false") if layers else ("0", "source >= target")
    row = db.first(_OUT_OF_ORDER.format(layer=layer, turned=turned))
    if row:
        number, source, target = row
        at = [row_of(by_role.get("data"), number - n, what="edge") for n in (1, 2)]
        if not layers and source >= target:
            return fails(f"{at[0]}, ({source}, {target}), does not have its smaller end first")
        return fails(f"{at[0]}, ({source}, {target}), is not in ascending order after {at[1]}")
    row = db.first(_OTHER_END_FIRST) if layers else None
    if row:
        undirected = f"the edge ({row[0]}, {row[1]}) is undirected"
        return fails(f"{undirected}, but its smaller end is second")
    in_order = "in order" if layers else "in ascending order, the smaller end first"
    return holds(f"{edges} {in_order}")


def _not_simple(db: Database, layers: Mapping[str, bool]) -> list[str]:
    """Return the first loop, the first repeated edge and the first unknown layer."""
    itself = "has an edge to itself" if layers else "is its own neighbor"
    problems = db.found(_LOOP, f"node {{}} {itself}")
    problems += db.found(_TWICE if layers else _DUPLICATE, "the edge ({}, {}) appears {} times")
    strange = db.first(_OF_NO_LAYER) if layers else None
    if strange:
        layer = shown(strange[0])
        problems.append(f"some edges are in the layer {layer}, which is not in the manifest")
    return problems


def _strange_end(db: Database, n: int, *, usual: bool) -> list[str]:
    """Return the first end of an edge that is not a listed node."""
    low, high = db.rows(
        "SELECT least(min(source), min(target)), greatest(max(source), max(target)) FROM edges"
    )[0]
    if usual and (low is None or (low >= 0 and high < n)):
        return []
    return db.found(_STRANGER, "node {} has an edge but is not listed")


def _delimited(db: Database, path: Path, file: DataFile) -> None:
    """Create `edges(source, target)` of text."""
    load_delimited(db, path, "edges", _TIES[:2], names=_COLUMNS, form=file.format)
    refuse_missing(db, "edges", _COLUMNS, path.name)


def _ties(db: Database, path: Path, file: DataFile) -> None:
    """Create `edges(source, target, layer)`; the layer is empty where there is only one."""
    columns = _TIES if OF_LAYER in file.columns else _TIES[:2]
    names = [name for name, _ in columns]
    load_rows(db, path, file.format, "edges", columns, names)
    refuse_missing(db, "edges", names, path.name)
    if columns is not _TIES:
        db.run(f"ALTER TABLE edges ADD COLUMN {OF_LAYER} VARCHAR DEFAULT ''")


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


def _shared(evidence: Evidence) -> tuple[list[Check], str | None]:
    """Whether attributes are the original's, and edges have directions where its edges have."""
    original, published = evidence.original_as(Network), columns_of(evidence)
    strange = [
        f"the original has no attribute {shown(name)}"
        for name in published
        if name not in original.attributes
    ]
    attributes = counted(len(published), "attribute")
    own = f"{attributes} of the release are attributes of the original"
    columns = judged(strange[:1], own)
    described: Any = evidence.manifest.data.layers
    has = [(layer.name, layer.directed) for layer in original.layers]
    other = "the layers of the original differ in name, number or direction"
    same = "edges are directed in both" if original.is_directed else "edges are undirected"
    if len(has) > 1:
        same = f"{counted(len(has), 'layer')} in both, each directed in both or in neither"
    layer = judged([other] if has != [(one.name, one.directed) for one in described] else [], same)
    failed = next((check for check in (columns, layer) if check.outcome == "fails"), None)
    return [columns, layer], None if failed is None else failed.detail


def _link(db: Database, original: Network, released: Any) -> None:
    """Create `placed(u, v, layer)` of the original's edges, and `missing` of those lost."""
    # Ends under published ids; undirected edges are turned so that the smaller end is first.
    ties, is_single = original.ties(), len(original.layers) == 1
    source, target = released[ties.source], released[ties.target]
    turned = np.array([not layer.directed for layer in original.layers])[ties.layer]
    turned &= source > target
    names = np.array(["" if is_single else layer.name for layer in original.layers], dtype=object)
    ends = {"u": np.where(turned, target, source), "v": np.where(turned, source, target)}
    db.put("placed_in", {**ends, "n": ties.layer.astype(np.int64)})
    db.put("names_of_layers", {"n": np.arange(names.size), "layer": names.tolist()})
    db.run(
        "CREATE TABLE placed AS SELECT u, v, layer FROM placed_in JOIN names_of_layers USING (n)"
    )
    db.run(_LOST.format(", layer") + _SAME_TIE)


def _changes(evidence: Evidence) -> EdgeChanges:
    db, before = evidence.tables, evidence.original_as(Network).n_ties
    # Kept edges are those of the original that are not missing.
    after = db.number("SELECT count(*) FROM edges")
    kept = before - db.number("SELECT count(*) FROM missing")
    return EdgeChanges(before, kept, after - kept)


def _same(evidence: Evidence) -> Check:
    ties = same_pairs(evidence)
    original = evidence.original_as(Network)
    if ties.outcome == "fails":
        return ties
    if set(columns_of(evidence)) != set(original.attributes):
        return fails("the release has different attributes than the original")
    strange = strange_cell(evidence.tables, original, columns_of(evidence), stars=False)
    if strange is not None:
        return fails(
            f"node {strange.node} has a different value of {shown(strange.column)} than in the "
            "original"
        )
    return holds(f"{ties.detail}; all attributes are the same as well")


def _ids_among_names(evidence: Evidence, original: Network) -> list[IdsAsNames]:
    """Return the ids of people that are values of published attributes, or names of kinds."""
    db = evidence.db
    if db is None or not db.holds(PEOPLE_ROWS) or original.ids is None:
        return []
    described: Any = evidence.manifest.data.layers
    labels = as_text(original.labels())
    named = {layer.name for layer in described}.intersection(labels.tolist())
    among = [IdsAsNames(named, "names of layers")] if named else []
    db.put("ids_of_people", {"id": to_arrow(labels)})
    for name, number in columns_of(evidence).items():
        rows = db.rows(
            f"SELECT DISTINCT c{number} FROM people_rows SEMI JOIN ids_of_people ON c{number} = id"
        )
        if rows:
            among.append(IdsAsNames({value for (value,) in rows}, f"values of {shown(name)}"))
    return among


def _pairs_of_graph(original: Graph) -> OriginalPairs:
    (u, v), labels = original.edges().T, original.labels()
    return OriginalPairs(u, v, labels, labels, both_ways=True, loops=False)


def _pairs(original: Network) -> OriginalPairs:
    labels = original.labels()
    ties, directed = original.ties(), original.is_directed
    plain = [layer.name for layer in original.layers if not layer.directed]
    of_kind = PairKinds(ties.layer, [layer.name for layer in original.layers], plain)
    pairs = OriginalPairs(ties.source, ties.target, labels, labels, both_ways=not directed)
    return pairs._replace(loops=False, kinds=of_kind)


def _read_again(db: Database, original: Network, path: Path, reading: Mapping[str, Any]) -> Check:
    """Return whether the files of edges and people say what the program's reader made of them."""
    # The file of edges and the file of people are read apart; the worse outcome counts.
    ties = pairs_reading_check(_pairs, "edges", db, original, path, reading)
    if original.people is None or ties.outcome == "fails":
        return ties
    file = reading.get("nodes")
    people = not_checked(SHARED, needs="the file of people")
    if file is not None:
        people = people_reading_check(db, original, Path(file), reading)
    if people.outcome == "fails" or ties.outcome == "holds" != people.outcome:
        return msgspec.structs.replace(people, detail=f"for the file of people, {people.detail}")
    if ties.outcome != "holds":
        return ties
    return holds(f"{ties.detail}; for the file of people, {people.detail}")


GRAPH = CheckedKind(
    loaders={
        **dict.fromkeys(DELIMITERS, _delimited),
        "parquet": lambda db, path, _: view_columnar(db, path, "edges", _COLUMNS),
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
    link=_link_edges,
    changes=_changes,
    cost=Cost(EDITS, _changes, _in_words),
    first_changes=_first_edges,
    added=_ADDED.format(_SAME_EDGE),
    same=same_pairs,
    noise_cells=NoiseCells(of_person=_cells_of_person, check=_check_cells),
    read_again=partial(pairs_reading_check, _pairs_of_graph, "edges"),
)
"""A network with one layer, without directions and attributes."""

NETWORK = replace(
    GRAPH,
    loaders=dict.fromkeys((*DELIMITERS, "parquet"), _ties),
    everyone=_people,
    unrolled=frozenset(),
    entries=("edges", "edge"),
    rows={"data": "ties", "people": "nodes"},
    link=_link,
    added=_ADDED.format(_SAME_TIE),
    same=_same,
    read_again=_read_again,
    shared_names=(COLUMNS, LAYER),
    shared=_shared,
    ids_among_names=_ids_among_names,
    noise_cells=None,
)
