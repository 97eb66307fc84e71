"""User-item data: entries of listed users, each once, in the order of users and items.

Claim checked: the shape of the data. Ids are 0 to n - 1 (or come from a key), no entry appears
twice, each belongs to a listed user, and users and items ascend, so that the order of rows says
nothing.

Tables: `users(person)`, `entries(person, item)`; of the original, once linked, `features(feature,
item)` and `had(person, feature)`. A release in parts has views instead, and was checked row by
row while it was loaded (`feature_parts`).

Cost: scans and one grouping, O(nnz log nnz) at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graphveil.claims.facts import EntryChanges
from graphveil.claims.manifest import DataFile, Described
from graphveil.core.text import counted
from graphveil.data import Bipartite, Data
from graphveil.data.ids import as_text, to_arrow
from graphveil.data.kinds import encoded
from graphveil.verify.changes import COST, same_pairs
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.evidence import (
    CheckedKind,
    Cost,
    Evidence,
    IdsAsNames,
    NoiseCells,
)
from graphveil.verify.files.canonical_text import DELIMITERS
from graphveil.verify.files.item_names import no_item
from graphveil.verify.files.loading import load_rows, refuse_missing
from graphveil.verify.kinds.feature_parts import load_parts
from graphveil.verify.recount.ids import IDS, ORDER, ids_check, misplaced
from graphveil.verify.recount.linkage import released_ids
from graphveil.verify.recount.rows.row_classes import counts_of_lists
from graphveil.verify.recount.rows.true_entries import find_kept
from graphveil.verify.second_reading.pairs import OriginalPairs, pairs_reading_check
from graphveil.verify.verdict import (
    LINKAGE,
    Check,
    fails,
    holds,
    judged,
    not_checked,
    row_of,
    shown,
)

ENTRIES, ITEMS = "entries", "items"
_ENTRIES = (("person", "BIGINT"), ("item", "VARCHAR"))
_COLUMNS = ["user", "item"]

# Published items that the original has no feature for.
_STRANGE_ITEMS = (
    "SELECT item FROM (SELECT DISTINCT item FROM entries) ANTI JOIN features USING (item)"
)

# The first entry that does not follow the one above it: users ascend, and so do the items of one.
_OUT_OF_ORDER = """
    SELECT number, person, item FROM (
        SELECT rowid + 1 AS number, person, item,
               lag(person) OVER () AS above_person, lag({key}) OVER () AS above, {key} AS key
        FROM entries)
    WHERE person < above_person OR (person = above_person AND key <= above)
    ORDER BY number LIMIT 1
"""

# The first entry that appears more than once.
_REPEATED = """
    SELECT person, item, count(*) FROM entries GROUP BY person, item HAVING count(*) > 1
    ORDER BY person, item LIMIT 1
"""

# A user of some entry who is not in the list of users.
_STRANGER = "SELECT person FROM entries WHERE person NOT IN (SELECT person FROM users) LIMIT 1"


def _load(db: Database, path: Path, file: DataFile) -> None:
    load_rows(db, path, file.format, "entries", _ENTRIES, _COLUMNS)
    # Parquet keeps the types apart; in text, names of items must survive another reading.
    if file.format == "parquet":
        refuse_missing(db, "entries", ["person", "item"], path.name)
        return
    row = db.first("SELECT rowid + 2 FROM entries WHERE item = '' LIMIT 1")
    if row:
        raise UnreadableError(f"{path.name}, line {row[0]}: the item is missing")
    problem = no_item(db)
    if problem:
        raise UnreadableError(f"{path.name}: {problem}")


def _counts(db: Database, described: Described) -> dict[str, int]:  # noqa: ARG001  one shape
    if db.holds("lists"):
        return counts_of_lists(db)
    return {
        "users": db.number("SELECT count(*) FROM users"),
        "items": db.number("SELECT count(DISTINCT item) FROM entries"),
        "entries": db.number("SELECT count(*) FROM entries"),
    }


def _shape(db: Database, described: Described, keyed: bool) -> dict[str, Check]:  # noqa: FBT001  one shape
    # Parts were checked row by row when they were loaded.
    if db.holds("lists"):
        users = counted(described.counts.get("users", 0), "user")
        each = counted(len(described.files), "part")
        return {  # each part was refused if one of its rows were another
            IDS: holds(f"{users} in {each}, each part with the ids of its position"),
            ENTRIES: holds("no row lists an item twice, and every row belongs to a user"),
            ORDER: holds("users and their items are in ascending order"),
        }
    problems = db.found(_STRANGER, "user {} has an item but is not listed")
    order = _user_order(db, described.files, keyed=keyed)
    # Entries in strictly ascending order cannot repeat, so this is asked only if they are not.
    repeated = None if order.outcome == "holds" else db.first(_REPEATED)
    if repeated:
        problems.append(f"user {repeated[0]} has the item {shown(repeated[1])} {repeated[2]} times")
    n = db.number("SELECT count(*) FROM entries")
    entries = judged(problems, f"{counted(n, 'entry')}, no duplicates, each of a listed user")
    ids = ids_check(db, "users", "person", keyed=keyed)
    return {IDS: ids, ENTRIES: entries, ORDER: order}


def _user_order(db: Database, files: Sequence[DataFile], *, keyed: bool) -> Check:
    """Whether users and items are in ascending order; any other order may be the original's.

    The items of a user stand in the order of their names: of numbers, where all are numbers.
    """
    by_role = {file.role: file for file in files}
    another = misplaced(db, "users", "person", keyed=keyed, file=by_role.get("users"))
    if another:
        return fails(another)
    key = "CAST(item AS BIGINT)" if db.only_numbers("entries", "item") else "item"
    row = db.first(_OUT_OF_ORDER.format(key=key))
    if row:
        at = row_of(by_role.get("data"), row[0] - 1)
        where = f"{at}, user {row[1]} and item {shown(row[2])},"
        return fails(f"{where} is not in ascending order")
    return holds("users and their items are in ascending order")


def _shared(evidence: Evidence) -> tuple[list[Check], None]:
    original, people = evidence.original_as(Bipartite), evidence.has_people
    return [_items(evidence.tables, original, people=people, linked=evidence.linked)], None


def _items(db: Database, original: Bipartite, *, people: bool, linked: bool) -> Check:
    """Whether every published item is a feature of the original; create `features`.

    The name of an item that is a person is the published id of that person.
    """
    # The name of an item that is a person is that person's published id, by the linkage.
    names = original.feature_labels()
    if people and original.items == "people" and linked:
        names = released_ids(db)
    db.put("features", {"feature": np.arange(names.size), "item": to_arrow(as_text(names))})
    if people != (original.items == "people"):
        stated, read = ("people", "things") if people else ("things", "people")
        return fails(f"items are {stated} in the manifest, but {read} in the original")
    if people and not linked:
        return not_checked("whether items are the people with these ids", needs=LINKAGE)
    n = db.number("SELECT count(DISTINCT item) FROM entries")
    first, strange = db.first(f"SELECT min(item), count(*) FROM ({_STRANGE_ITEMS})") or ("", 0)
    no_features = f"{strange} of {n} published items are not features of the original, the first is"
    own = f"every item of the release is a feature of the original, {n} in all"
    return judged([f"{no_features} {shown(first)}"] if strange else [], own)


def _link(db: Database, original: Bipartite, released: Any) -> None:
    """Create `had(person, feature)`."""
    person = np.repeat(released, np.diff(original.indptr))
    db.put("had", {"person": person, "feature": original.indices.astype(np.int64)})


def _changes(evidence: Evidence) -> EntryChanges:
    db, before = evidence.tables, evidence.original_as(Bipartite).n_entries
    # Entries of both are joined once, for every check that needs them.
    find_kept(db)
    after = db.number("SELECT count(*) FROM entries")
    kept = db.number("SELECT count(*) FROM kept")
    return EntryChanges(before, kept, after - kept)


def _in_words(figures: Mapping[str, Any]) -> str:
    names = [f"entries_{what}" for what in ("before", "kept", "suppressed", "created")]
    before, kept, suppressed, created = (shown(figures.get(name)) for name in names)
    return f"{kept} of {before} entries kept, {suppressed} suppressed and {created} added"


def _ids_among_names(evidence: Evidence, original: Data) -> list[IdsAsNames]:
    """Return the ids of users that are names of published items, unless items get new ids."""
    if evidence.db is None or not evidence.db.holds("entries") or evidence.has_people:
        return []
    items = {item for (item,) in evidence.db.rows("SELECT DISTINCT item FROM entries")}
    ids = items.intersection(as_text(original.labels()).tolist())
    features = as_text(encoded(original, Bipartite).feature_labels())
    strange = ids.difference(features.tolist())
    return [IdsAsNames(ids, "names of published items", len(strange))] if ids else []


def _cells_of_person(evidence: Evidence, cells: int) -> int:
    """Return the cells of one person: a row, and a column too where items are people."""
    users = evidence.tables.number("SELECT count(*) FROM users")
    return 2 * users - 1 if evidence.has_people else cells // max(users, 1)


_SIZES = (("*", "users"), ("DISTINCT item", "entries"))


def _check_cells(db: Database, cells: int) -> Check:
    n, items = (db.number(f"SELECT count({what}) FROM {table}") for what, table in _SIZES)
    features, users = cells // n if n else 0, counted(n, "user")
    fits = features * n == cells and features >= items
    other = f"{cells} cells are stated, which does not match {users} and {counted(items, 'item')}"
    all_of = f"{users} and {counted(features, 'feature', 'has')} {cells} cells"
    return judged([] if fits else [other], all_of)


def _pairs(original: Bipartite) -> OriginalPairs:
    ends = original.rows(), original.indices
    return OriginalPairs(*ends, original.labels(), original.feature_labels(), both_ways=False)


FEATURES = CheckedKind(
    loaders=dict.fromkeys((*DELIMITERS, "parquet"), _load),
    tables=("users", "entries"),
    people=("users", "person"),
    entries=("entries", "entry"),
    shape_names=(IDS, ENTRIES, ORDER),
    shape=_shape,
    counts=_counts,
    rows={"data": "entries", "users": "users"},
    ids_among_names=_ids_among_names,
    shared_names=(ITEMS,),
    shared=_shared,
    link=_link,
    changes=_changes,
    cost=Cost(COST, _changes, _in_words),
    same=same_pairs,
    parts=load_parts,
    noise_cells=NoiseCells(of_person=_cells_of_person, check=_check_cells),
    read_again=partial(pairs_reading_check, _pairs, "entries"),
)
