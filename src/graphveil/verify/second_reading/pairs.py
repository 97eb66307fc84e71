"""Edges and entries of the owner's file read a second time, and compared with the original as read.

Claim checked: the file says what the program's reader made of it, no more and no less. What this
finds and nothing else in `verify` can: a reader that drops, duplicates or misreads rows. The
digest of the original is computed after reading, and the canonical form concerns the released
files.

Means: the file's pairs (`again`) and the original's pairs (`once`) are two SQL tables; sums of
hashes are compared first, which need no order, and the pairs themselves where the sums differ.

Cost: one more reading of the file and two hash aggregates, O(m); not above `MOST_PAIRS` pairs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphveil.core.text import counted, singular
from graphveil.data.ids import Ids, as_text, to_arrow
from graphveil.verify.database import Database, literal
from graphveil.verify.second_reading.plain_file import plain_file, read_again, read_once
from graphveil.verify.verdict import SHARED, Check, fails, holds, not_checked, shown

MOST_PAIRS = 50_000_000
"""The most edges or entries that are read a second time."""

_HEADERS = {("source", "target"), ("from", "to"), ("src", "dst"), ("user", "item")}
_END_COLUMNS = ("source_column", "target_column", "user_column", "item_column")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_LEFT_OPEN = {"layout": ("auto", "pairs"), "header": ("auto", "yes", "no")}

_ODD = (
    r"a IS NULL OR b IS NULL OR "
    r"regexp_matches(a, '^$|^[#%\s]|\s$') OR regexp_matches(b, '^$|^[#%\s]|\s$')"
)
"""Ids that readers may take for comments, or trim."""


class PairKinds(NamedTuple):
    """The layer of every pair of an original.

    `of_pair`: the kind of every pair, as a number; `names`: the names of these numbers;
    `both_ways`: the kinds of which a pair is the same the other way round.
    """

    of_pair: Any
    names: list[str]
    both_ways: list[str]


class OriginalPairs(NamedTuple):
    """The pairs of an original.

    `first, second`: the ends of every pair, as numbers, with their names; `both_ways`: whether a
    pair is the same the other way round; `loops`: whether something may be paired with itself;
    `kinds`: by a column of the file; None where none can say it.
    """

    first: Any
    second: Any
    first_names: Ids
    second_names: Ids
    both_ways: bool
    loops: bool = True
    kinds: PairKinds | None = None


def pairs_reading_check(
    pairs_of: Callable[[Any], OriginalPairs],
    entries: str,
    db: Database,
    original: Any,
    path: Path,
    reading: Mapping[str, Any],
) -> Check:
    """Return whether a file says what the program's reader made of it."""
    # Step 1: is it small enough, and was it read with options that are understood here?
    pairs = None if getattr(original, "n_edges", 0) > MOST_PAIRS else pairs_of(original)
    if pairs is None or pairs.first.size > MOST_PAIRS:
        return not_checked(f"{SHARED}: more than {MOST_PAIRS:,} pairs")
    if not reading.get("kind_column"):
        pairs = pairs._replace(kinds=None)
    if any(reading.get(name) not in (None, *known) for name, known in _LEFT_OPEN.items()):
        return read_once()
    # Step 2: which columns hold the ends, and which the kind; uncertain ones are left to the
    # reader.
    file = plain_file(path, reading)
    header = None if file is None else _is_header(file.first, reading)
    ends = None if file is None else _ends(file.first, reading)
    kind = None if file is None or pairs.kinds is None else _kind_column(file.first, reading)
    if file is None or header is None or ends is None or (pairs.kinds and kind is None):
        return read_once()
    # Step 3: read the file again. Ids that readers trim or take for comments are left alone.
    cells = ends if kind is None else [*ends, kind]
    problem = read_again(db, file, cells, header=header, table="rows_read")
    if problem is not None:
        return problem
    _put_again(db, pairs, reading.get("kinds") or ())
    if db.first(f"SELECT 1 FROM again WHERE {_ODD} LIMIT 1"):
        return not_checked(
            f"{SHARED}: the file has comments, or an id has leading or trailing blanks"
        )
    # Step 4: compare both sets of pairs.
    _put_original(db, pairs)
    return _compared(db, entries)


def _is_header(first: list[str], reading: Mapping[str, Any]) -> bool | None:
    """Return whether the first row names columns; None if the reader has to guess."""
    asked = {"yes": True, "no": False}.get(reading.get("header") or "auto")
    if asked is not None:
        return asked
    if tuple(map(str.lower, first[:2])) in _HEADERS:
        return True
    return False if all(map(_NUMBER.fullmatch, first)) else None


def _ends(first: list[str], reading: Mapping[str, Any]) -> list[int] | None:
    """Return the numbers of the two columns of ends; None if the reader has to guess."""
    asked = [reading[name] for name in _END_COLUMNS if reading.get(name)]
    if not asked:
        named = tuple(map(str.lower, first[:2])) in _HEADERS
        needed = 3 if reading.get("kind_column") else 2
        plain = len(first) == 2 or (
            named and (len(first) == needed or bool(reading.get("ignore_weights")))
        )
        return [0, 1] if plain else None
    at = [_place(first, column) for column in asked]
    return at if len(at) == 2 and all(0 <= place < len(first) for place in at) else None


def _kind_column(first: list[str], reading: Mapping[str, Any]) -> int | None:
    """Return the number of the column of layers; None if the reader has to guess.

    Numbers that were grouped are not the names of kinds.
    """
    column = reading.get("kind_column")
    if not column or column in (reading.get("bins") or {}):
        return None
    at = _place(first, column)
    return at if 0 <= at < len(first) else None


def _place(names: list[str], column: str | int) -> int:
    """Return the number of a column that was chosen by its name, or its number from 1."""
    by_name = [number for number, name in enumerate(names) if name == column]
    by_number = [int(column) - 1] if str(column).isdecimal() else []
    places = {*by_name, *by_number}
    return places.pop() if len(places) == 1 else -1


def _put_again(db: Database, pairs: OriginalPairs, kept: Sequence[str]) -> None:
    """Create `again(a, b, kind)` of the pairs in the file: of these kinds, or of all."""
    # Pairs of the file: once each, undirected ones with the smaller name first, loops dropped where
    # the reader drops them, and of the chosen kinds.
    kind, turned = "''", str(pairs.both_ways).lower()
    where = [] if pairs.loops else ["f0 IS DISTINCT FROM f1"]
    if pairs.kinds is not None:
        kind = "trim(f2)"
        turned = f"kind IN {_texts(pairs.kinds.both_ways)}" if pairs.kinds.both_ways else "false"
        where += [f"trim(f2) IN {_texts(kept)}"] if kept else []
    chosen = f" WHERE {' AND '.join(where)}" if where else ""
    db.run(
        f"CREATE TABLE again AS SELECT DISTINCT CASE WHEN {turned} THEN least(f0, f1) ELSE f0 END "
        f"AS a, CASE WHEN {turned} THEN greatest(f0, f1) ELSE f1 END AS b, kind "
        f"FROM (SELECT *, {kind} AS kind FROM rows_read{chosen})"
    )


def _texts(names: Sequence[str]) -> str:
    """Return a list of texts as SQL has it."""
    return f"({', '.join(map(literal, names))})"


def _put_original(db: Database, pairs: OriginalPairs) -> None:
    """Create `once(a, b, kind)` of the pairs that the program's reader made of the file."""
    # The same of the original as read: numbers become names again.
    db.put("first_names", _named(pairs.first_names))
    db.put("second_names", _named(pairs.second_names))
    ends = {"u": pairs.first.astype(np.int64), "v": pairs.second.astype(np.int64)}
    turned, kind, of_kind = str(pairs.both_ways).lower(), "''", ""
    if pairs.kinds is not None:
        ends["number"] = pairs.kinds.of_pair.astype(np.int64)
        names = pairs.kinds.names
        db.put("kinds_of_pairs", {"code": np.arange(len(names)), "name": list(names)})
        of_kind, kind = "JOIN kinds_of_pairs k ON k.code = number", "k.name"
        turned = f"k.name IN {_texts(pairs.kinds.both_ways)}" if pairs.kinds.both_ways else "false"
    db.put("coded", ends)
    db.run(
        f"CREATE TABLE once AS SELECT CASE WHEN {turned} THEN least(f.name, s.name) ELSE f.name "
        f"END AS a, CASE WHEN {turned} THEN greatest(f.name, s.name) ELSE s.name END AS b, "
        f"{kind} AS kind FROM coded JOIN first_names f ON f.code = u "
        f"JOIN second_names s ON s.code = v {of_kind}"
    )


def _named(names: Ids) -> dict[str, object]:
    return {"code": np.arange(names.size), "name": to_arrow(as_text(names))}


def _compared(db: Database, what: str) -> Check:
    """Return whether the pairs of file and original are the same; if not, the first differences."""
    # Equal counts and equal sums of 64-bit hashes are taken as equal pairs: the file is the
    # owner's own, so nobody has made pairs that collide.
    both = [
        db.first(f"SELECT count(*), sum(hash(a, b, kind)::HUGEINT) FROM {table}")
        for table in ("again", "once")
    ]
    if both[0] == both[1]:
        same = counted(db.number("SELECT count(*) FROM again"), singular(what))
        return holds(f"the checker's own reader finds the same {same} in the file")
    problems = []
    # They differ, so find what is only in one of them.
    for side, other, where in (
        ("again", "once", ("in the file", "in the original as read")),
        ("once", "again", ("of the original as read", "in the file")),
    ):
        strange = f"SELECT a, b, kind FROM {side} EXCEPT SELECT a, b, kind FROM {other}"
        count = db.number(f"SELECT count(*) FROM ({strange})")
        if count:
            first = db.first(f"{strange} ORDER BY a, b, kind LIMIT 1")
            verb = "is" if count == 1 else "are"
            problems.append(
                f"{counted(count, singular(what))} {where[0]} {verb} not {where[1]}, the first is "
                f"{shown(first)}"
            )
    return fails("; ".join(problems))
