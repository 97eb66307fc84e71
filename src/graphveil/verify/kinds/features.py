"""Users by features: entries of listed users, each once, in the order of users and items.

Rows and numbers of parts are written again in the canonical form, and bytes are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphveil.claims import parts
from graphveil.claims.facts import EntryChanges
from graphveil.claims.manifest import MANIFEST, DataFile, Described
from graphveil.claims.parts import COLUMNS, FOLDER
from graphveil.core.text import counted
from graphveil.data import Bipartite, Data
from graphveil.data.ids import as_text, to_arrow
from graphveil.data.kinds import encoded
from graphveil.verify import evidence as kinds
from graphveil.verify.database import Database, UnreadableError, literal
from graphveil.verify.evidence import CheckedKind, ComparedNames, Cost, Evidence, IdsAsNames
from graphveil.verify.files import canonical
from graphveil.verify.files.folder import broken
from graphveil.verify.recount.classes import counts_of_lists, find_kept
from graphveil.verify.recount.linked import IDS, ORDER, ids_check, misplaced, released_ids
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
_STRANGE_ITEMS = (
    "SELECT item FROM (SELECT DISTINCT item FROM entries) ANTI JOIN features USING (item)"
)
_OUT_OF_ORDER = """
    SELECT number, person, item FROM (
        SELECT rowid + 1 AS number, person, item,
               lag(person) OVER () AS above_person, lag({key}) OVER () AS above, {key} AS key
        FROM entries)
    WHERE person < above_person OR (person = above_person AND key <= above)
    ORDER BY number LIMIT 1
"""
_REPEATED = """
    SELECT person, item, count(*) FROM entries GROUP BY person, item HAVING count(*) > 1
    ORDER BY person, item LIMIT 1
"""
_STRANGER = "SELECT person FROM entries WHERE person NOT IN (SELECT person FROM users) LIMIT 1"


def _load(db: Database, path: Path, file: DataFile) -> None:
    canonical.load_rows(db, path, file.format, "entries", _ENTRIES, _COLUMNS)
    if file.format == "parquet":
        canonical.refuse_missing(db, "entries", ["person", "item"], path.name)
        return
    row = db.first("SELECT rowid + 2 FROM entries WHERE item = '' LIMIT 1")
    if row:
        raise UnreadableError(f"{path.name}, line {row[0]}: the item is missing")
    problem = canonical.no_item(db)
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
    if db.holds("lists"):
        users = counted(described.counts.get("users", 0), "user")
        each = counted(len(described.files), "part")
        return {  # each part was refused if one of its rows were another
            IDS: holds(f"{users} in {each}, each part with the ids of its position"),
            ENTRIES: holds("no row lists an item twice, and every row belongs to a user"),
            ORDER: holds("users and their items are in ascending order"),
        }
    problems = []
    stranger = db.first(_STRANGER)
    if stranger:
        problems.append(f"user {stranger[0]} has an item but is not listed")
    order = _user_order(db, described.files, keyed=keyed)
    repeated = None if order.outcome == "holds" else db.first(_REPEATED)
    if repeated:
        problems.append(f"user {repeated[0]} has the item {shown(repeated[1])} {repeated[2]} times")
    n = db.number("SELECT count(*) FROM entries")
    entries = judged(problems, f"{counted(n, 'entry')}, no duplicates, each of a listed user")
    ids = ids_check(db, "users", "person", keyed=keyed)
    return {IDS: ids, ENTRIES: entries, ORDER: order}


def _user_order(db: Database, files: Sequence[DataFile], *, keyed: bool) -> Check:
    """Whether users stand in the order of their published ids: another may be the original's.

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


def _shared(evidence: Evidence) -> ComparedNames:
    original, people = evidence.original_as(Bipartite), evidence.has_people
    return ComparedNames([_items(evidence.tables, original, people=people, linked=evidence.linked)])


def _items(db: Database, original: Bipartite, *, people: bool, linked: bool) -> Check:
    """Whether every published item is a feature of the original; create `features`.

    The name of an item that is a person is the published id of that person.
    """
    names = original.feature_labels()
    if people and original.items == "people" and linked:
        names = released_ids(db)
    db.put("features", {"feature": np.arange(names.size), "item": to_arrow(as_text(names))})
    if people != (original.items == "people"):
        said, read = ("people", "things") if people else ("things", "people")
        return fails(f"items are {said} in the manifest, but {read} in the original")
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
    """Return the cells of a row, and where items are people of a column: they share one."""
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


def _pairs(original: Bipartite) -> kinds.OriginalPairs:
    ends = original.rows(), original.indices
    return kinds.OriginalPairs(*ends, original.labels(), original.feature_labels(), both_ways=False)


GROUP_ROWS = 1 << 17
_READ_ROWS = 1 << 14
_LEAVES = "items.list.element"
_BYTES_PER_CELL = 8
_ONE_PAGE = {"data_page_size": 1 << 30, "dictionary_pagesize_limit": 1 << 30}
_LISTS = {"list<element: int64>": "int64", "list<element: string>": "string"}


def load_parts(db: Database, files: list[tuple[Path, DataFile]]) -> None:
    """Create the views `lists(person, items)`, `users(person)` and `entries(person, item)`."""
    links, leaf = [], None
    for number, (path, file) in enumerate(files):
        with broken(file.name):
            part = _Part(path, file, number * parts.PART_USERS)
            held = _compared(db, part)
            if leaf is not None and held != leaf:
                raise UnreadableError(
                    f"{file.name}: items have the type {held}, but those in "
                    f"earlier parts have the type {leaf}"
                )
            leaf = held
            links.append(literal(db.link(path)))
    rows = f"read_parquet([{', '.join(links)}], hive_partitioning = false)"
    db.run(f"CREATE VIEW lists AS SELECT user AS person, items FROM {rows}")
    db.run("CREATE VIEW users AS SELECT person FROM lists")
    db.run(
        "CREATE VIEW entries AS SELECT person, CAST(unnest(items) AS VARCHAR) AS item FROM lists"
    )
    if leaf == "string" and db.only_numbers("entries", "item"):
        raise UnreadableError(
            f"{FOLDER}: items that are whole numbers are stored as string instead of int64"
        )


class _Part(NamedTuple):
    """A part: its file, what is said of it, and the id of its first user."""

    path: Path
    file: DataFile
    first: int


def _compared(db: Database, part: _Part) -> str:
    """Return what its lists hold, once bytes and rows of a part are as they must be."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and text needs none of it

    path, name = part.path, part.file.name
    with canonical.opened_columnar(path) as file:
        schema = file.schema_arrow
        if schema.names != COLUMNS:
            raise UnreadableError(
                f"{name} has the columns {shown(schema.names)}, not {shown(COLUMNS)}"
            )
        kinds = [str(field.type) for field in schema]
        if kinds[0] != "int64" or kinds[1] not in _LISTS:
            raise UnreadableError(
                f"{name} has columns of the types {shown(kinds)}, not ids with lists of items"
            )
        canonical.refuse_packed(db, path)
        groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
        cells = sum(g.column(n).num_values for g in groups for n in range(g.num_columns))
        db.refuse_unpacked(int(cells) * _BYTES_PER_CELL, path.stat().st_size, name)  # text as codes
    leaf = _LISTS[kinds[1]]
    if leaf == "string":  # few words of a dictionary could be longer than memory holds
        lists = f"read_parquet({literal(db.link(path))}, hive_partitioning = false)"
        words = f"SELECT unnest(items) AS item FROM {lists}"
        db.refuse_beyond(db.number(f"SELECT sum(strlen(item)) FROM ({words})"), name)
    numbers, texts = (["user", _LEAVES], []) if leaf == "int64" else (["user"], [_LEAVES])
    long = pa.int64() if leaf == "int64" else pa.large_string()
    schema = pa.schema([("user", pa.int64()), ("items", pa.large_list(long))])
    with canonical.opened_columnar(path) as file:
        rows = canonical.in_groups(_rows(file, part, schema), schema, GROUP_ROWS)
        settings = canonical.settings_of(numbers, texts) | _ONE_PAGE
        canonical.compare_groups(path, rows, schema, settings, GROUP_ROWS)
    return leaf


def _rows(file: Any, part: _Part, schema: Any) -> Iterator[Any]:
    """Yield the rows of a part some at a time, once they are what they must be."""
    import pyarrow as pa  # noqa: PLC0415  heavy, as above

    n = 0
    for batch in file.iter_batches(_READ_ROWS, use_threads=False):
        batch.validate(full=True)
        user, lists = batch.column(0), batch.column(1)
        _refuse_ids(user, n, part)
        if lists.null_count:
            raise UnreadableError(f"{part.file.name}: a user in {_among(n, user)} has no list")
        leaves = _leaves(lists, part, schema.field("items").type.value_type)
        starts = _numbers(lists.offsets, np.int32).astype(np.int64)
        _refuse_items(leaves, starts - starts[0], part, n)
        items = lists.cast(schema.field("items").type)
        yield pa.RecordBatch.from_arrays([user, items], schema=schema)
        n += batch.num_rows
    if n != part.file.rows:
        said = f"but {MANIFEST} states {part.file.rows}"
        raise UnreadableError(f"{part.file.name} has {counted(n, 'row')}, {said}")


def _among(n: int, user: Any) -> str:
    return f"rows {n + 1} to {n + len(user)}"


def _refuse_ids(user: Any, n: int, part: _Part) -> None:
    """Refuse a user who is not the one of this place; the first row is that of number n."""
    if user.null_count:
        raise UnreadableError(f"{part.file.name}: a user in {_among(n, user)} has no id")
    ids, first = _numbers(user, np.int64), part.first + n
    wrong = np.flatnonzero(ids != np.arange(first, first + ids.size))
    if wrong.size:
        row = int(wrong[0])
        raise UnreadableError(
            f"{part.file.name}: row {n + row + 1} is user {ids[row]}, but must be user "
            f"{first + row}"
        )


def _leaves(lists: Any, part: _Part, kind: Any) -> Any:
    """Return the items of some rows one behind the other."""
    import pyarrow.compute as pc  # noqa: PLC0415  heavy, as above

    leaves = lists.flatten()
    if leaves.null_count:
        raise UnreadableError(f"{part.file.name}: an item has no name")
    if str(leaves.type) != "int64":
        return leaves.cast(kind)
    least = pc.min(leaves).as_py()
    if least is not None and least < 0:
        raise UnreadableError(f"{part.file.name}: the item {least} is below 0")
    return leaves


def _numbers(column: Any, kind: Any) -> Any:
    """Return numbers, none of which is missing, as they are in memory.

    Arrow's own way imports pandas where that is installed: 60 MiB.
    """
    content = column.buffers()[1] or b""
    return np.frombuffer(content, dtype=kind)[column.offset : column.offset + len(column)]


def _refuse_items(leaves: Any, starts: Any, part: _Part, n: int) -> None:
    """Refuse items that do not ascend in their row: of text by its bytes."""
    import pyarrow.compute as pc  # noqa: PLC0415  heavy, as above

    if len(leaves) < 2:
        return
    above = pc.greater(leaves.slice(1), leaves.slice(0, len(leaves) - 1))
    rising = _numbers(above.cast("uint8"), np.uint8).astype(np.bool_)
    inner = starts[(starts > 0) & (starts < len(leaves))]
    rising[inner - 1] = True
    if rising.all():
        return
    at = int(np.flatnonzero(~rising)[0]) + 1
    row = int(np.searchsorted(starts, at, side="right")) - 1
    raise UnreadableError(
        f"{part.file.name}: row {n + row + 1}, user {part.first + n + row}: the item "
        f"{shown(leaves[at].as_py())} is not in ascending order"
    )


FEATURES = CheckedKind(
    loaders=dict.fromkeys((*canonical.DELIMITERS, "parquet"), _load),
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
    cost=Cost(kinds.COST, _changes, _in_words),
    same=kinds.same_pairs,
    parts=load_parts,
    noise_cells=kinds.NoiseCells(of_person=_cells_of_person, check=_check_cells),
    read_again=kinds.second_reading(_pairs, "entries"),
)
