"""A table read a second time from the owner's file, and compared with the original cell by cell.

Claim checked: the file says what the program's reader made of it: every row, every cell, which
cells are suppressed, what was binned or split into columns of one value each. What this finds and
nothing else in `verify` can: a reader that drops a row, splits a quoted cell, or takes ``007``
for ``7``. The digest of the original is computed after reading, so it agrees with whatever the
reader made of the file; the canonical form (`files.canonical_text`) concerns the released files,
not the owner's.

Means: DuckDB reads the cells (`plain_file`), the private record says with which options, and a
column at a time is compared by SQL. Options that are not understood here leave the check *not
checked*.

Cost: one more reading of the file and one join per column, O(cells); not above `MOST_CELLS`
cells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from graphveil.core.libraries import pa
from graphveil.core.text import counted
from graphveil.data import Network, Table
from graphveil.data.columns import named_columns
from graphveil.data.ids import Ids, as_text, to_arrow
from graphveil.verify import verdict
from graphveil.verify.database import COLUMNS_AT_ONCE, Database, literal
from graphveil.verify.second_reading.plain_file import (
    BLANKS,
    NO_CELL,
    PlainFile,
    plain_file,
    read_again,
)
from graphveil.verify.verdict import Check, fails, holds, not_checked, shown

MOST_CELLS = 50_000_000
"""The most cells that are read a second time."""

_CELLS_AT_ONCE = 1 << 22
"""So many cells are compared in one query, or those of one column: bounds the memory for them."""

_PLAIN = "a delimited text file with a header, and the private record of how it was read"
_BLANKS = r"^\s|\s$"
_ALL, _NUMBER = "all", r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_KNOWN = {"kind", "format", "header", "delimiter", "ids", "suppressed", "bins", "one_hot"}
_KNOWN |= {"categories", "drop", "person", "household", "exact"}
"""Options that are understood here; others leave the file to the reader."""


class _Reading(msgspec.Struct):
    """The options that the file was read with, of those that are understood here."""

    ids: str | None = None
    suppressed: tuple[str, ...] = ("*", "")
    bins: dict[str, str] = {}
    one_hot: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    person: str | None = None
    household: str | None = None

    def __post_init__(self) -> None:
        """Check that the rules of bins are such."""
        for rule in self.bins.values():
            _of_rule(rule)


def table_reading_check(
    db: Database, original: Table, path: Path, reading: Mapping[str, Any]
) -> Check:
    """Return whether the file of a table says what the program's reader made of it."""
    # Step 1: how the file was read, and whether that is understood here.
    how, file = _reading(reading), _table_file(path, reading)
    if how is None or file is None:
        return not_checked(verdict.SHARED, needs=_PLAIN)
    # Columns that say whose a row is are not published. People with one row each were merged.
    owners = [name for name in (how.person, how.household) if name in file.first]
    how.drop = tuple(dict.fromkeys((*named_columns(how.drop, file.first), *owners)))
    person = how.person if how.person in owners and original.person == "column" else None
    unread = _unread(original, file, how)
    if unread is not None:
        return not_checked(f"{verdict.SHARED}: {unread}")
    # Step 2: all cells of the file, as text.
    problem = read_again(db, file, list(range(len(file.first))), header=True)
    if problem is not None:
        return problem
    # Step 3: where a column names people with several rows, bring the original into the order of
    # rows.
    if person is not None:
        listed = [row[0] for row in db.rows(f"SELECT f{file.first.index(person)} FROM again")]
        order = _order_of_people(original.labels(), listed, path.name, repeated=True)
        if isinstance(order, Check):
            return order
        original = Table(original.codes[order], original.columns, original.categories)
    # Step 4: as many rows, and the same cells.
    rows = db.number("SELECT count(*) FROM again")
    if rows != original.n_rows:
        in_file = f"{counted(rows, 'row')} in the file"
        return fails(f"{in_file}, but {original.n_rows} in the original as read")
    # Step 5: where people or households have several rows, the same rows are of the same one.
    differs = _other_owners(db, original, file, owners)
    return _compared(db, original, file, how) if differs is None else fails(differs)


def _other_owners(
    db: Database, original: Table, file: PlainFile, owners: Sequence[str]
) -> str | None:
    """Return why the file does not say of the rows whose they are as the original does; or None.

    `owners`: the columns of people and of households, the last of which counts.
    """
    if original.units is None:
        return None
    if not owners:
        return "the record names no column that says whose each row is"
    owner = owners[-1]
    db.put("read_owners", {"unit": original.units})
    cell = f"f{file.first.index(owner)}"
    pairs = f"SELECT DISTINCT {cell} AS named, unit FROM again POSITIONAL JOIN read_owners"
    counts = "count(*), count(DISTINCT named), count(DISTINCT unit)"
    found = db.first(f"SELECT {counts} FROM ({pairs})")
    db.run("DROP TABLE read_owners")
    if found is None or len(set(found)) == 1:
        return None
    return f"{shown(owner)} groups rows differently"


def people_reading_check(
    db: Database, original: Network, path: Path, reading: Mapping[str, Any]
) -> Check:
    """Return whether the file of people says what the program's reader made of it."""
    # The file of people is read like a table whose ids are nodes; its rows may be in any order.
    people, file = original.people, _table_file(path, {})
    if people is None or file is None:
        return not_checked(verdict.SHARED, needs="a delimited text file of people with a header")
    node = reading.get("node_column") or file.first[0]
    meant = {*file.first, _ALL}
    rules = {k: v for k, v in (reading.get("bins") or {}).items() if k in meant}
    kept = {name: reading[name] for name in ("suppressed", "drop") if reading.get(name)}
    how = _reading({"ids": node, "bins": rules, **kept})
    if how is None:
        return not_checked(verdict.SHARED, needs=_PLAIN)
    how.drop = named_columns(how.drop, file.first)
    unread = _unread(people, file, how)
    if unread is not None:
        return not_checked(f"{verdict.SHARED}: {unread}")
    if db.holds("again"):
        db.run("DROP TABLE again")  # that of ties
    problem = read_again(db, file, list(range(len(file.first))), header=True)
    if problem is not None:
        return problem
    listed = [row[0] for row in db.rows(f"SELECT f{file.first.index(node)} FROM again")]
    order = _order_of_people(original.labels(), listed, path.name)
    if isinstance(order, Check):
        return order
    return _compared(db, people.permuted(order, ids=original.labels()[order]), file, how)


def _order_of_people(
    labels: Ids, listed: Sequence[str | None], name: str, *, repeated: bool = False
) -> np.ndarray[Any, Any] | Check:
    """Return which person of the original each row is of, or what is wrong with the ids.

    Where a person may have several rows, that is not a fault.
    """
    place = {str(label): at for at, label in enumerate(as_text(labels).tolist())}
    strange = next((label for label in listed if label not in place), "")
    if strange is None or (strange and strange.strip() != strange):
        return not_checked(f"{verdict.SHARED}: an id has leading or trailing blanks")
    if strange:
        return fails(f"{shown(strange)} in {shown(name)} is not a person in the original as read")
    order = np.array([place.get(label or "", -1) for label in listed], dtype=np.int64)
    people = np.unique(order) if repeated else np.sort(order)
    if not np.array_equal(people, np.arange(labels.size)):
        return fails(
            f"{counted(people.size, 'person')} in {shown(name)}, but {labels.size} in the "
            "original as read"
        )
    return order


def _reading(reading: Mapping[str, Any]) -> _Reading | None:
    """Return the options of the record; None if one of them is not understood here."""
    used = {name for name, value in reading.items() if value not in (None, "auto", (), [], {})}
    if not used <= _KNOWN or reading.get("header") == "no":
        return None
    try:
        return msgspec.convert(reading, _Reading)
    except msgspec.ValidationError:
        return None


def _unread(original: Table, file: PlainFile, how: _Reading) -> str | None:
    """Return why a file is not compared: its size, or columns that the record does not explain.

    Dropped columns are not compared, and one-hot columns stand for those of their values.
    """
    if original.codes.size > MOST_CELLS:
        return f"more than {MOST_CELLS:,} cells"
    expected = set(file.first) - {how.ids, *how.one_hot, *how.drop}
    for name in how.one_hot:
        expected |= {original.columns[place] for place in _of_values(original, name)}
    strange = [name for name in original.columns if name not in expected]
    strange += [name for name in how.one_hot if name not in file.first]
    if strange:
        return f"the file has no column {shown(strange[0])}"
    lost = [name for name in file.first if name in expected and name not in original.columns]
    return f"the original as read has no column {shown(lost[0])}" if lost else None


def _of_values(original: Table, name: str) -> list[int]:
    """Return the positions of the columns that encode the values of one column."""
    return [p for p, column in enumerate(original.columns) if column.startswith(f"{name}=")]


def _one_of(original: Table, name: str) -> Any:
    """Return the value of every row of a one-hot column, as Arrow text.

    A row that is suppressed in all of them has none.
    """
    # A one-hot column became one column per value; turn it back to the one value of each row.
    places = _of_values(original, name)
    values = [original.columns[place].removeprefix(f"{name}=") for place in places]
    codes = original.codes[:, places]
    ones = np.column_stack(
        [
            np.append(np.equal(original.categories[place].astype(object), 1), False)[column]
            for place, column in zip(places, codes.T, strict=True)
        ]
    )
    value = np.where(ones.sum(axis=1) == 1, ones.argmax(axis=1), len(values))
    value[(codes < 0).all(axis=1)] = -1
    value[(codes < 0).any(axis=1) & (codes >= 0).any(axis=1)] = len(values)
    return pa.array([*values, NO_CELL]).take(pa.array(value, mask=value < 0))


def _table_file(path: Path, reading: Mapping[str, Any]) -> PlainFile | None:
    """Return the file; None if its cells are separated by blanks or a name is not plain."""
    file = plain_file(path, reading)
    if file is None or file.delimiter == BLANKS or len(set(file.first)) != len(file.first):
        return None
    return None if any(name.strip() != name for name in file.first) else file


def _compared(db: Database, original: Table, file: PlainFile, how: _Reading) -> Check:
    """Compare the columns before the first one that has a cell with blanks around it."""
    how.bins = _rules(db, file.first, how)
    blank = _first_with_blanks(db, file.first, how.drop)
    names = file.first[:blank]
    # Columns that are equal are found many at a time; only others are looked at pair by pair.
    same = _same_columns(db, original, names, how)
    for number, name in enumerate(names):
        if number in same or name in how.drop:
            continue
        if name == how.ids:
            problem = _different(db, number, _texts(original.labels()), [])
        else:
            own = _one_of if name in how.one_hot else _cells_of_both
            rule = how.bins.get(name)
            problem = _different(db, number, own(original, name), how.suppressed, rule)
        if problem is not None:
            return fails(f"column {shown(name)}: {problem}")
    if blank is not None:
        named = shown(file.first[blank])
        return not_checked(f"{verdict.SHARED}: cells of {named} have leading or trailing blanks")
    cells_read = counted(original.n_rows * original.n_columns, "cell")
    return holds(f"the checker's own reader finds the same {cells_read} in the file")


def _first_with_blanks(db: Database, names: Sequence[str], dropped: Sequence[str]) -> int | None:
    """Return the number of the first column that has a cell with blanks around it, or None.

    Readers differ in such cells, and in where they end if they are quoted. A dropped column may
    have them, but not next to quotes: the columns behind it would be others.
    """
    blanks, quote = f"regexp_matches({{}}, {literal(_BLANKS)})", "contains({}, '\"')"
    published = [f"f{number}" for number, name in enumerate(names) if name not in dropped]
    others = [f"f{number}" for number, name in enumerate(names) if name in dropped]
    found = [
        db.first_cell("again", cells, condition)
        for cells, condition in ((published, blanks), (others, f"{blanks} AND {quote}"))
    ]
    return min((int(cell[0].removeprefix("f")) for cell in found if cell is not None), default=None)


def _rules(db: Database, names: Sequence[str], how: _Reading) -> dict[str, str]:
    """Return the binning rule of every column; `all` stands for every other column of numbers.

    Digits with a zero before them are a code.
    """
    if _ALL not in how.bins or _ALL in names:
        return how.bins
    own = {name: rule for name, rule in how.bins.items() if name != _ALL}
    excluded = {how.ids, *how.one_hot, *how.drop, *own}
    rules = dict(own)
    # The rule `all` bins every other column whose cells are numbers, but not codes with leading
    # zeros.
    for number, name in enumerate(names):
        cell = _cell_or_null(number, how.suppressed)
        is_number = f"regexp_full_match({cell}, {literal(_NUMBER)})"
        is_code = f"regexp_matches({cell}, '^[+-]?0[0-9]')"
        if name not in excluded and db.number(
            f"SELECT coalesce(bool_and({is_number} AND NOT {is_code}), false)::INT FROM again"
        ):
            rules[name] = how.bins[_ALL]
    return rules


def _same_columns(db: Database, original: Table, names: Sequence[str], how: _Reading) -> set[int]:
    """Return the columns read without options whose cells are all the original's."""
    excluded = {how.ids, *how.one_hot, *how.bins, *how.drop}
    plain = [number for number, name in enumerate(names) if name not in excluded]
    at_once = max(1, min(COLUMNS_AT_ONCE, _CELLS_AT_ONCE // max(original.n_rows, 1)))
    same: set[int] = set()
    for start in range(0, len(plain), at_once):
        some = plain[start : start + at_once]
        db.put("original_cells", {f"h{n}": _cells_of_both(original, names[n]) for n in some})
        other = ", ".join(
            f"bool_or({_cell_or_null(n, how.suppressed)} IS DISTINCT FROM h{n})" for n in some
        )
        row = db.first(f"SELECT {other} FROM again POSITIONAL JOIN original_cells") or ()
        db.run("DROP TABLE original_cells")
        same.update(n for n, differs in zip(some, row, strict=True) if not differs)
    return same


def _cell_or_null(number: int, suppressed: Sequence[str]) -> str:
    """Return SQL for a cell of the file, null where it is suppressed."""
    hidden = ", ".join(literal(text) for text in suppressed) or f"'{NO_CELL}'"
    return f"CASE WHEN f{number} IN ({hidden}) THEN NULL ELSE f{number} END"


def _cells_of_both(original: Table, name: str) -> Any:
    column = original.columns.index(name)
    return _texts(original.categories[column], original.codes[:, column])


def _texts(names: Ids, codes: np.ndarray[Any, Any] | None = None) -> Any:
    words = to_arrow(as_text(names)).cast(pa.string())
    return words if codes is None else words.take(pa.array(codes, mask=codes < 0))


def _different(
    db: Database, number: int, cells: Any, suppressed: Sequence[str], rule: str | None = None
) -> str | None:
    """Return how a column of the file differs from the original's, or None.

    Of a number that was binned by a rule, the original has an interval in which it must lie.
    """
    # A binned number must lie in its interval; the interval must be one that the rule gives.
    intervals = None if rule is None else _of_rule(rule)
    condition = "said IS DISTINCT FROM had" if rule is None else "true"
    for stated, had, first in _pairs(db, number, cells, suppressed, condition):
        if had is not None and intervals is not None and had not in intervals:
            return f"{shown(had)} is not an interval of {rule}"
        if rule is None or not _lies_in(stated, had):
            has = f"row {first} of the file has {shown(stated)}"
            return f"{has}, but the original as read has {shown(had)}"
    return None


def _pairs(
    db: Database, number: int, cells: Any, suppressed: Sequence[str], condition: str
) -> list[tuple[Any, ...]]:
    """Return each pair of a cell of the file and of the original once, with its first row."""
    db.put("original_cells", {"had": cells})
    pairs = db.rows(
        "SELECT said, had, min(row) AS first FROM (SELECT rowid AS row, "
        f"{_cell_or_null(number, suppressed)} AS said FROM again) JOIN (SELECT rowid AS row, had "
        f"FROM original_cells) USING (row) WHERE {condition} GROUP BY said, had ORDER BY first"
    )
    db.run("DROP TABLE original_cells")
    return pairs


def _of_rule(rule: str) -> set[str] | None:
    """Return the intervals that a rule with edges gives; None if the data determines them."""
    kind, _, listed = rule.partition(":")
    if kind != "edges":
        return None
    edges = [_spelled(edge.strip()) for edge in listed.split(",")]
    between = {f"{low}<x<={high}" for low, high in pairwise(edges)}
    return {f"<={edges[0]}", f">{edges[-1]}", *between}


def _spelled(edge: str) -> str:
    """Return an edge with twelve digits if these are exact, else as it was given."""
    try:
        number = Decimal(edge)
    except InvalidOperation as error:
        raise ValueError from error  # no rule for bins
    short = f"{float(edge) or 0.0:.12g}"  # without the sign of -0
    return short if Decimal(short) == number else str(number)


def _lies_in(cell: str | None, interval: str | None) -> bool:
    """Whether a number is in an interval of this name.

    >>> _lies_in("7", "<=7"), _lies_in("7", ">7"), _lies_in(None, None), _lies_in("7", "2<x<=9")
    (True, False, True, True)
    """
    try:
        number = None if cell is None else Decimal(cell)
        if number is None or not number.is_finite():
            return interval is None
        return interval is not None and _is_between(number, interval)
    except InvalidOperation:
        return False


def _is_between(number: Decimal, interval: str) -> bool:
    match = re.fullmatch(
        r"(?:(?P<low>[^<>]+)<x)?<=(?P<high>[^<>]+)|>(?P<above>[^<>]+)|any", interval
    )
    if match is None:
        return False
    low, high = match["low"] or match["above"], match["high"]
    return (low is None or number > Decimal(low)) and (high is None or number <= Decimal(high))
