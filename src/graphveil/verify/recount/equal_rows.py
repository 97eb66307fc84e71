"""Which released rows are equal, which agree, and which entries and edges the original has, too.

Rows agree if no column has one value in one of them and a different value in the other. Many edges
are compared in buckets on the disk, by the range of ids that their smaller end is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.verify.database import Database, literal

if TYPE_CHECKING:
    from graphveil.verify.database import Database

_TABLES = """
    CREATE TABLE items AS SELECT item, row_number() OVER (ORDER BY item) AS number
        FROM (SELECT DISTINCT item FROM entries);
    CREATE TABLE numbered AS SELECT person, number FROM entries JOIN items USING (item);
    CREATE TABLE some_rows AS SELECT person, list_sort(list(number)) AS features
        FROM numbered GROUP BY person;
    CREATE TABLE all_rows AS SELECT person, coalesce(features, []) AS features
        FROM users LEFT JOIN some_rows USING (person);
    CREATE TABLE classes AS SELECT row_number() OVER () AS class, features, size, first_user
        FROM (SELECT features, count(*) AS size, min(person) AS first_user
              FROM all_rows GROUP BY features);
    CREATE TABLE members AS SELECT person, class FROM all_rows JOIN classes USING (features);
    DROP TABLE some_rows;
    DROP TABLE all_rows;
"""
_OF_LISTS = """
    CREATE TABLE list_classes AS SELECT items, count(*) AS size, min(person) AS first_user
    FROM lists GROUP BY items
"""
_COUNTS_OF_LISTS = """
    SELECT coalesce(sum(size), 0), coalesce(sum(size * len(items)), 0),
        (SELECT count(DISTINCT item) FROM (SELECT unnest(items) AS item FROM list_classes))
    FROM list_classes
"""
_FIRST_OF_LISTS = "FROM list_classes ORDER BY size, first_user LIMIT 1"
_TRUE_OF_CLASS = """
    CREATE TABLE true_of AS SELECT class, number, count(*) AS holders
    FROM had JOIN features USING (feature) JOIN items USING (item) JOIN members USING (person)
    GROUP BY class, number
"""
_PUBLISHED = """
    CREATE TABLE published AS
    SELECT class, size, first_user, item, coalesce(holders, 0) AS holders
    FROM (SELECT class, size, first_user, unnest(features) AS number FROM classes)
    JOIN items USING (number) LEFT JOIN true_of USING (class, number)
"""
_MOST_SHOWN = 5


class ClassCounts(NamedTuple):
    """How many users and classes of equal rows there are."""

    users: int
    number: int


class SmallestClass(NamedTuple):
    """A class that is smaller than it must be."""

    size: int
    features: int
    members: list[int]


def classes_of(db: Database) -> None:
    """Create `classes(class, features, size, first_user)` and `members(person, class)` once.

    The features of a class are numbers of `items(item, number)`; those of the entries stand in
    `numbered(person, number)`.
    """
    if not db.holds("members"):
        db.run(_TABLES)


def _sizes(db: Database) -> str:
    """Return the table of the sizes of classes, which is made where it is not there.

    Rows that are lists are grouped as they stand: nothing is kept of each.
    """
    if not db.holds("lists"):
        classes_of(db)
        return "classes"
    if not db.holds("list_classes"):
        db.run(_OF_LISTS)
    return "list_classes"


def counts_of_lists(db: Database) -> dict[str, int]:
    """Return how many users, items and entries `lists(person, items)` has."""
    _sizes(db)
    users, entries, items = db.first(_COUNTS_OF_LISTS) or (0, 0, 0)
    return {"users": int(users), "items": int(items), "entries": int(entries)}


def count_classes(db: Database) -> ClassCounts:
    """Return how many users and classes there are."""
    row = db.first(f"SELECT coalesce(sum(size), 0), count(*) FROM {_sizes(db)}")
    return ClassCounts(*map(int, row or (0, 0)))


def smallest_class(db: Database) -> SmallestClass:
    """Return the smallest class, the one with the least user id among equals."""
    if _sizes(db) == "list_classes":
        size, features = db.first(f"SELECT size, len(items) {_FIRST_OF_LISTS}") or (0, 0)
        its = f"SELECT person FROM lists WHERE items = (SELECT items {_FIRST_OF_LISTS})"
        members = db.rows(f"{its} ORDER BY person LIMIT {_MOST_SHOWN}")
    else:
        number, size, features = db.first(
            "SELECT class, size, len(features) FROM classes ORDER BY size, first_user LIMIT 1"
        ) or (0, 0, 0)
        its = "SELECT person FROM members WHERE class = ?"
        members = db.rows(f"{its} ORDER BY person LIMIT {_MOST_SHOWN}", [number])
    return SmallestClass(int(size), int(features), [int(person) for (person,) in members])


def below(db: Database, k: int) -> tuple[int, int]:
    """Return how many users stand in classes smaller than k, and the number of these classes."""
    sizes = f"SELECT coalesce(sum(size), 0), count(*) FROM {_sizes(db)} WHERE size < ?"
    row = db.first(sizes, [k])
    return (int(row[0]), int(row[1])) if row else (0, 0)


def publish_pairs(db: Database) -> None:
    """Create `published(class, size, first_user, item, holders)` where it is not there yet.

    A row is a class and one of its features; `holders` of its members have it in the original,
    whose tables must be there.
    """
    classes_of(db)
    if not db.holds("published"):
        db.run(_TRUE_OF_CLASS)
        db.run(_PUBLISHED)


_KEPT = """
    CREATE TABLE kept AS SELECT person, number
    FROM had JOIN features USING (feature) JOIN items USING (item)
    SEMI JOIN numbered USING (person, number)
"""


def find_kept(db: Database) -> None:
    """Create `kept(person, number)`, the entries of both, where it is not there yet.

    `had(person, feature)` and `features(feature, item)` must be there: the original, linked.
    """
    classes_of(db)
    if not db.holds("kept"):
        db.run(_KEPT)


Codes = NDArray[np.int32]

STAR = -1
"""The code of a suppressed cell, which agrees with every value."""

MOST_COMPARISONS = 500_000_000
"""Of pairs of rows: some seconds. Where more rows differ, they are not compared."""

_CELLS = 1 << 24


def coded_alone(db: Database, columns: Sequence[int]) -> Codes:
    """Return released cells as codes of their values, shape (n, columns), of columns by number."""
    codes = []
    for number in columns:
        order = f"dense_rank() OVER (ORDER BY c{number} NULLS FIRST)"
        first = f"CASE WHEN c{number} IS NULL THEN {STAR} ELSE {order} END"
        codes.append(db.column(f"SELECT {first} FROM shown ORDER BY row"))
    return np.column_stack(codes).astype(np.int32)


def fewest_agreeing(codes: Codes, *, enough: int) -> tuple[int, int] | None:
    """Return a row that agrees with fewest rows, itself counted, and their number.

    >>> fewest_agreeing(np.array([[0, -1], [0, 1], [1, 1]], dtype=np.int32), enough=2)
    (2, 1)
    """
    if not codes.shape[0]:
        return 0, enough
    kinds, first, sizes = np.unique(codes, axis=0, return_index=True, return_counts=True)
    rare = np.flatnonzero(sizes < enough)
    if not rare.size:
        return int(first[np.argmin(sizes)]), int(sizes.min())
    if int(rare.size) * int(kinds.size) > MOST_COMPARISONS:
        return None
    agreeing = np.empty(rare.size, dtype=np.int64)
    step = max(1, _CELLS // len(kinds))
    for start in range(0, rare.size, step):
        some = kinds[rare[start : start + step]]
        agree = np.ones((some.shape[0], kinds.shape[0]), dtype=bool)
        for own, all_of in zip(some.T, kinds.T, strict=True):
            agree &= (
                (own[:, None] == all_of[None, :])
                | (own == STAR)[:, None]
                | (all_of == STAR)[None, :]
            )
        agreeing[start : start + step] = agree @ sizes
    least = int(np.argmin(agreeing))
    return int(first[rare[least]]), int(agreeing[least])


Keys = NDArray[np.int64]

MOST_AT_ONCE = 1 << 24
"""Up to so many edges are compared at once, in tables."""

MOST_IDS = 1 << 31
"""Published ids are below this, where they are compared in buckets."""

BUCKET_EDGES = 1 << 23
MOST_BUCKETS = 400
_BLOCK = 1 << 21
_BITS = 32
_LOW = (1 << _BITS) - 1


def link_in_buckets(
    db: Database, lists: tuple[NDArray[np.int64], NDArray[np.int32]], released: NDArray[np.int64]
) -> None:
    """Create `placed(u, v)`, a view of a file, and `missing(source, target)` of lost edges."""
    cuts = _cuts(released.size, lists[1].size // 2)
    original = _divided(db.scratch, "original", _placed(lists, released), cuts)
    published = _divided(db.scratch, "released", _published(db), cuts)
    missing = [np.empty(0, dtype=np.int64)]
    file = db.scratch / "placed.parquet"

    def kept() -> Iterator[Keys]:
        for mine, theirs in zip(original, published, strict=True):
            keys, there = (np.sort(np.fromfile(path, dtype=np.int64)) for path in (mine, theirs))
            missing.append(_only_in(keys, there))
            mine.unlink()
            theirs.unlink()
            yield keys

    _write(kept(), file)
    db.run(f"CREATE VIEW placed AS SELECT u, v FROM read_parquet({literal(str(file))})")
    lost = np.concatenate(missing)
    db.put("missing", {"source": lost >> _BITS, "target": lost & _LOW})


def _cuts(n_nodes: int, n_edges: int) -> Keys:
    """Return where buckets end, as keys: of random ids the low ones are smaller ends more often."""
    n_buckets = min(MOST_BUCKETS, max(1, -(-n_edges // BUCKET_EDGES)))
    shares = 1 - np.sqrt(1 - np.arange(1, n_buckets + 1) / n_buckets)
    ends: Keys = np.ceil(shares * n_nodes).astype(np.int64) << _BITS
    ends[-1] = np.iinfo(np.int64).max
    return ends


def _placed(
    lists: tuple[NDArray[np.int64], NDArray[np.int32]], released: NDArray[np.int64]
) -> Iterator[Keys]:
    """Yield the original's edges under their published ids, some at a time, each once."""
    indptr, indices = lists
    inner = np.searchsorted(indptr, np.arange(_BLOCK, int(indptr[-1]), _BLOCK))
    starts = np.unique(np.concatenate([[0], inner, [indptr.size - 1]])).tolist()
    for start, stop in pairwise(starts):
        here = indices[indptr[start] : indptr[stop]]
        owner = np.repeat(np.arange(start, stop), np.diff(indptr[start : stop + 1]))
        later = here > owner
        one, other = released[owner[later]], released[here[later]]
        yield (np.minimum(one, other) << _BITS) | np.maximum(one, other)


def _published(db: Database) -> Iterator[Keys]:
    """Yield the released edges, some at a time."""
    for block in db.blocks("SELECT source, target FROM edges", _BLOCK):
        source, target = (column.to_numpy(zero_copy_only=False) for column in block.columns)
        usual = (source < MOST_IDS) & (target < MOST_IDS)  # no others are ids of a linkage
        yield (source[usual] << _BITS) | target[usual]


def _divided(folder: Path, name: str, blocks: Iterable[Keys], ends: Keys) -> list[Path]:
    """Write keys into files by the range that they are in, and return these in order."""
    paths = [folder / f"{name}-{number:04d}" for number in range(ends.size)]
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for block in blocks:
            keys = np.sort(block)
            parts = pairwise([0, *np.searchsorted(keys, ends).tolist()])
            for file, (start, stop) in zip(files, parts, strict=True):
                if stop > start:
                    keys[start:stop].tofile(file)
    return paths


def _only_in(keys: Keys, others: Keys) -> Keys:
    """Return those of some keys that are not among others; both are in order."""
    if not others.size:
        return keys
    at = np.minimum(np.searchsorted(others, keys), others.size - 1)
    only: Keys = keys[others[at] != keys]
    return only


def _write(buckets: Iterable[Keys], path: Path) -> None:
    """Write edges into a file of the checker's own, one that SQL reads."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and few checks need it
    from pyarrow import parquet  # noqa: PLC0415  as above

    schema: Any = pa.schema([("u", pa.int64()), ("v", pa.int64())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for keys in buckets:
            for start in range(0, max(keys.size, 1), _BLOCK):
                some = keys[start : start + _BLOCK]
                columns = [pa.array(some >> _BITS), pa.array(some & _LOW)]
                writer.write_table(pa.table(columns, schema=schema))
