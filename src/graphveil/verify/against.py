"""Conditions that need the original: that it is the one, who stands for whom, what was edited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np

from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.data.ids import as_text, to_arrow
from graphveil.records.digest import digest_of
from graphveil.records.manifest import Manifest
from graphveil.records.record import LINKAGE as LINKAGE_FILE
from graphveil.verify.by_method import METHOD_CHECKS
from graphveil.verify.database import Database
from graphveil.verify.files.manifest import Owner
from graphveil.verify.method_checks import Compared
from graphveil.verify.parameters import names_in
from graphveil.verify.verdict import (
    LINKAGE,
    ORIGINAL,
    RECORD,
    Condition,
    counted,
    fails,
    holds,
    judged,
    not_checked,
    one_line,
    shown,
)

SAME, SIZE, ITEMS, BIJECTION = "original", "same size", "items", "linkage"
NAMES = "no original ids"
_KINDS = {"Graph": "graph", "Bipartite": "bipartite", "Table": "table"}
_TABLES = {"graph": "nodes", "bipartite": "users", "table": "cells"}
_STRANGE_ITEMS = (
    "SELECT item FROM (SELECT DISTINCT item FROM entries) ANTI JOIN features USING (item)"
)


def original_conditions(
    db: Database | None, manifest: Manifest, owner: Owner, original: Data | None
) -> list[Condition]:
    """Return every condition that the original decides.

    Parameters
    ----------
    db
        The released data, or None where it could not be read.
    original
        The owner's data, or None: then nothing here is checked. A table is compared with a release
        of users and features as its one-hot encoding.
    """
    if isinstance(original, Table) and manifest.data.kind == "bipartite":
        original = original.one_hot()
    method = METHOD_CHECKS.get(manifest.method.name)
    items = (ITEMS,) if manifest.data.kind == "bipartite" else ()
    names = (SIZE, *items, BIJECTION, *(method.names(manifest.method.parameters) if method else ()))
    if original is None:
        return [
            not_checked(name, "no original was given", needs=ORIGINAL)
            for name in (SAME, *names, NAMES)
        ]
    same = _same(manifest, owner, original)
    named = _no_original_ids(db, manifest, original)
    if same.outcome == "fails" or db is None:
        why = "the released data cannot be read" if db is None else "another original was given"
        return [same, *(not_checked(name, why) for name in names), named]
    conditions = [same, _size(db, manifest, original)]
    if isinstance(original, Bipartite):
        conditions.append(_items(db, original))
    linkage = _linkage(db, owner, original)
    conditions.append(linkage)
    if method and manifest.data.kind in method.kinds:
        linked = linkage.outcome == "holds"
        if linked and isinstance(original, Graph):
            _find_missing_edges(db, original)
        if linked and isinstance(original, Bipartite):
            _place_entries(db, original)
        compared = Compared(db, manifest, original, owner.record, linked)
        conditions += method.against(compared)
    return [*conditions, named]


def _same(manifest: Manifest, owner: Owner, original: Data) -> Condition:
    kind = _KINDS[type(original).__name__]
    if kind != manifest.data.kind:
        return fails(SAME, f"the release is a {manifest.data.kind}, the original given a {kind}")
    if owner.record is None:
        return not_checked(SAME, "whether this is the data it was made from", needs=RECORD)
    if owner.record.input_sha256 == digest_of(original):
        return holds(SAME, f"the {kind} given has the digest of the owner's record")
    told = f"this is not the original: the {kind} given has another digest"
    return fails(SAME, told + _another_number(manifest, original))


def _another_number(manifest: Manifest, original: Data) -> str:
    """Return what to try where the original given has not as many nodes or users as the release."""
    what = _TABLES[manifest.data.kind]
    due = manifest.data.counts.get(what)
    if due is None or due == original.size:
        return ""
    return (
        f" and {counted(original.size, what.removesuffix('s'))}, the release has {due}. "
        f"If it was made with --{what}, give the same list again"
    )


def _size(db: Database, manifest: Manifest, original: Data) -> Condition:
    table = _TABLES[manifest.data.kind]
    released = db.number(f"SELECT count(*) FROM {table}")
    due = original.size
    if released == due:
        return holds(SIZE, f"{due} {table} in both")
    return fails(SIZE, f"{released} {table} in the release, {due} in the original")


def _items(db: Database, original: Bipartite) -> Condition:
    """Whether every published item is a feature of the original; create `features`."""
    names = original.feature_labels()
    db.put("features", {"feature": np.arange(names.size), "item": to_arrow(as_text(names))})
    n = db.number("SELECT count(DISTINCT item) FROM entries")
    strange = db.first(f"SELECT min(item), count(*) FROM ({_STRANGE_ITEMS})")
    if strange is None or not strange[1]:
        return holds(ITEMS, f"every item of the release is a feature of the original, {n} in all")
    told = f"{strange[1]} of {n} published items are no features of the original, the first"
    return fails(ITEMS, f"{told} {shown(strange[0])}")


def _linkage(db: Database, owner: Owner, original: Data) -> Condition:
    """Whether the linkage gives each original id one published id, and each of those to one."""
    if owner.linkage is None:
        return not_checked(BIJECTION, "who stands for whom", needs=LINKAGE)
    try:
        _load_linkage(db, owner.linkage)
    except duckdb.Error as error:
        return fails(BIJECTION, f"{LINKAGE_FILE} cannot be read: {one_line(error)}")
    db.put("originals", {"id": to_arrow(original.labels())})
    n = db.number("SELECT count(*) FROM originals")
    return judged(BIJECTION, _not_one_to_one(db, n), f"{n} original ids, {n} published ids, 1 to 1")


def _load_linkage(db: Database, path: Path) -> None:
    db.run(
        "CREATE TABLE linkage AS SELECT original, CAST(released AS BIGINT) AS released "
        "FROM read_parquet(?)",
        [db.link(path)],
    )


def _not_one_to_one(db: Database, n: int) -> list[str]:
    rows = db.number("SELECT count(*) FROM linkage")
    problems = [] if rows == n else [f"{LINKAGE_FILE} has {rows} rows for {n} original ids"]
    kinds = db.first("SELECT typeof(any_value(original)) FROM linkage")
    due = db.first("SELECT typeof(any_value(id)) FROM originals")
    if rows and n and kinds != due:
        return [*problems, f"the linkage holds ids of type {kinds[0]}, the original {due[0]}"]  # type: ignore[index]
    shared = db.first(
        "SELECT released, count(*) FROM linkage GROUP BY released HAVING count(*) > 1 "
        "ORDER BY released LIMIT 1"
    )
    if shared:
        problems.append(f"the published id {shared[0]} stands for {shared[1]} original ids")
    nobody = db.first(
        f"SELECT i FROM range({n}) AS all_ids(i) "
        "WHERE i NOT IN (SELECT released FROM linkage WHERE released IS NOT NULL) "
        "ORDER BY i LIMIT 1"
    )
    if nobody:
        problems.append(f"the published id {nobody[0]} stands for nobody")
    strange = db.first(
        "SELECT released FROM linkage ANTI JOIN originals ON linkage.original = originals.id "
        "ORDER BY released LIMIT 1"
    )
    if strange:
        problems.append(f"the published id {strange[0]} stands for an id not in the original")
    twice = db.first(
        "SELECT min(released), count(*) FROM linkage GROUP BY original HAVING count(*) > 1 "
        "ORDER BY 1 LIMIT 1"
    )
    if twice:
        problems.append(f"the original id of {twice[0]} has {twice[1]} published ids")
    return problems


def _find_missing_edges(db: Database, original: Graph) -> None:
    """Create `missing`: the original's edges, under the published ids, that are not released."""
    released = _published_ids(db)
    edges = original.edges()
    db.put("placed", {"u": released[edges[:, 0]], "v": released[edges[:, 1]]})
    db.run(
        "CREATE TABLE missing AS SELECT source, target FROM "
        "(SELECT least(u, v) AS source, greatest(u, v) AS target FROM placed) "
        "ANTI JOIN edges USING (source, target)"
    )


def _place_entries(db: Database, original: Bipartite) -> None:
    """Create `had(person, feature)` under the published ids."""
    person = np.repeat(_published_ids(db), np.diff(original.indptr))
    db.put("had", {"person": person, "feature": original.indices.astype(np.int64)})


def _published_ids(db: Database) -> Any:
    """Return the published id of everyone in the original, in its order."""
    return db.column(
        "SELECT linkage.released FROM originals JOIN linkage ON linkage.original = originals.id "
        "ORDER BY originals.rowid"
    )


def _no_original_ids(db: Database | None, manifest: Manifest, original: Data) -> Condition:
    """Whether no text id of the original stands in those words that the run left in the manifest.

    The rest of its words are fixed, and other conditions hold them to that. Ids that are also
    names of published items are counted; they pass where the original has features of these names.
    """
    labels = original.labels()
    if labels.dtype.kind == "i":
        told = "the original has no text ids; integers cannot be told from other numbers"
        return holds(NAMES, told)
    items = _published_items(db, original)
    texts = _free_texts(manifest, items)
    free = "\n".join(texts)
    hits = [label for label in labels.tolist() if label and label in free and _as_word(label, free)]
    problems = []
    if hits:
        text = next(text for text in texts if hits[0] in text)
        problems.append(f"{len(hits)} of {labels.size} original ids stand in {shown(text)}")
    said = items.intersection(labels.tolist())
    if not said or not isinstance(original, Bipartite):
        return judged(NAMES, problems, f"none of {labels.size} original ids is in the manifest")
    told = f"{len(said)} of {labels.size} user ids are names of published items"
    strange = said.difference(as_text(original.feature_labels()).tolist())
    if strange:
        problems.append(f"{told}, {len(strange)} of them names of no feature of the original")
    otherwise = f"{told}, as they are names of its features; no other id is in the manifest"
    return judged(NAMES, problems, otherwise)


def _published_items(db: Database | None, original: Data) -> set[str]:
    """Return the names of the published items; none where there are no items."""
    if db is None or not isinstance(original, Bipartite) or not db.holds("entries"):
        return set()
    return {item for (item,) in db.rows("SELECT DISTINCT item FROM entries")}


def _free_texts(manifest: Manifest, items: set[str]) -> list[str]:
    """Return the texts of the manifest's `method` that are neither fixed nor published items."""
    method = METHOD_CHECKS.get(manifest.method.name)
    fixed = method.words if method else frozenset()
    described = msgspec.to_builtins(manifest.method)
    sensitive = names_in(described["parameters"].get("sensitive"))
    if sensitive is not None:
        described["parameters"]["sensitive"] = [name for name in sensitive if name not in items]
    return [text for text in _texts(described) if text not in fixed]


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value made of lists and mappings, their keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _as_word(label: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text) is not None
