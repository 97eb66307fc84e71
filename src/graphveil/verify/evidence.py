"""What the checker has and knows of a release: of its kind of data, and of what is claimed.

Each type of claim names its checks, and what becomes of them if something they need is missing.

The program's reader decides what the original is, for both the method and the checker. Were it to
lose a line, nobody would notice: so plain text is read again here, by SQL.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np

from graphveil.claims import conditions, guarantees
from graphveil.claims.conditions import Condition, ItemsAreUsers, KeyedIds
from graphveil.claims.facts import Changes
from graphveil.claims.guarantees import EdgeDP, Guarantee, NodeDP
from graphveil.claims.ledger import Composed
from graphveil.claims.manifest import ColumnCells, DataFile, Described, Manifest
from graphveil.claims.record import Record
from graphveil.core.lazy import resolve
from graphveil.core.text import counted, singular
from graphveil.data import Data
from graphveil.data.ids import Ids, as_text, to_arrow
from graphveil.data.kinds import KINDS
from graphveil.verify import verdict
from graphveil.verify.database import Database, UnreadableError, literal
from graphveil.verify.verdict import (
    SHARED,
    Check,
    fails,
    holds,
    judged,
    named,
    not_checked,
    row_of,
    shown,
)

D = TypeVar("D")

CELLS, COST, SAME = "cells", "cost", "same data"

Loader = Callable[[Database, Path, DataFile], None]
PartsLoader = Callable[[Database, list[tuple[Path, DataFile]]], None]


class Cost(NamedTuple):
    """How the owner's record says what a release cost."""

    name: str
    changes: Callable[[Evidence], Changes]
    in_words: Callable[[Mapping[str, Any]], str]


class NoiseCells(NamedTuple):
    """The cells of some data that noise is drawn for."""

    of_person: Callable[[Evidence, int], int]
    check: Callable[[Database, int], Check]


class IdsAsNames(NamedTuple):
    """Ids of the original that are published, as what, and how many the original has not so."""

    ids: set[str]
    published_as: str
    strange: int = 0


class ComparedNames(NamedTuple):
    """Checks on names that stand in release and original, and why both cannot be compared."""

    checks: list[Check]
    why_not: str | None = None


@dataclass(frozen=True, kw_only=True)
class CheckedKind:
    """How one kind of data is loaded, counted and compared with its original."""

    loaders: Mapping[str, Loader]
    tables: tuple[str, ...]
    people: tuple[str, str]
    entries: tuple[str, str]
    shape_names: tuple[str, ...]
    shape: Callable[[Database, Described, bool], dict[str, Check]]
    counts: Callable[[Database, Described], dict[str, int]]
    rows: Mapping[str, str]
    cost: Cost
    same: Callable[[Evidence], Check]
    read_again: Callable[[Database, Any, Path, Mapping[str, Any]], Check]
    cells: Callable[[Database, Described], list[ColumnCells]] = lambda *_: []
    ids_among_names: Callable[[Evidence, Any], list[IdsAsNames]] = lambda *_: []
    shared_names: tuple[str, ...] = ()
    shared: Callable[[Evidence], ComparedNames] = lambda _: ComparedNames([])
    link: Callable[[Database, Any, Any], None] = lambda *_: None
    changes: Callable[[Evidence], Changes] | None = None
    first_changes: Callable[[Database], list[str]] = lambda _: []
    added: str = ""
    noise_cells: NoiseCells | None = None
    everyone: Loader | None = None
    parts: PartsLoader | None = None
    unrolled: frozenset[str] = frozenset()
    levels: Loader | None = None

    @property
    def published(self) -> str:
        """SQL that gives the published ids in a column `i`."""
        table, column = self.people
        return f"SELECT {column} AS i FROM {table}"


def checked_kind(name: str) -> CheckedKind:
    """Return what the checker knows of a kind of data."""
    checked: CheckedKind = resolve(KINDS[name].checked)
    return checked


class Evidence(NamedTuple):
    """All that there is of a release."""

    manifest: Manifest
    db: Database | None
    record: Record | None = None
    original: Data | None = None
    linked: bool = False
    why_not: str | None = None
    key: bytes | None = None
    levels: Path | None = None
    witness: Path | None = None

    @property
    def keyed(self) -> bool:
        """Whether the manifest says that ids come from a key."""
        return KeyedIds() in self.manifest.claim.conditions

    def file(self, role: str = "data") -> DataFile:
        """Return the file of a role, as the manifest describes it."""
        return next(file for file in self.manifest.data.files if file.role == role)

    @property
    def tables(self) -> Database:
        """The released data, which a check with the need `data` has."""
        if self.db is None:
            raise TypeError("this check did not declare that it needs the data")
        return self.db

    @property
    def kind(self) -> CheckedKind:
        """What the checker knows of the kind of data that is described."""
        return checked_kind(self.manifest.data.kind)

    @property
    def has_people(self) -> bool:
        """Whether the manifest says that items are people."""
        return ItemsAreUsers() in self.manifest.claim.conditions

    def original_as(self, container: type[D]) -> D:
        """Return the original of a check with the need `original`, and of data of this kind."""
        if not isinstance(self.original, container):
            raise TypeError(f"this check did not ask for an original {container.__name__}")
        return self.original

    def changes(self) -> Changes:
        """Return what changed in release and original, of a check with the need `linkage`."""
        if self.kind.changes is None:
            raise TypeError(f"a {self.manifest.data.kind} has no pairs")
        return self.kind.changes(self)

    @property
    def columns(self) -> list[str]:
        """The names of the released columns, but for that of ids from a key."""
        columns = self.file().columns
        return columns[1:] if self.keyed else columns


MOST_COLUMNS = 10_000
"""The columns of a table that are read: SQL over more of them takes minutes."""

_IS_ID = (
    "coalesce(regexp_full_match(c0, '0|[1-9][0-9]{0,18}') "
    "AND TRY_CAST(c0 AS BIGINT) IS NOT NULL, false)"
)


def cell_columns(file: DataFile) -> list[tuple[str, str]]:
    """Return the columns c0, c1, ... of a file of text, and their SQL type."""
    n = len(file.columns)
    if n > MOST_COLUMNS:
        raise UnreadableError(f"{file.name} has {n} columns, more than {MOST_COLUMNS}")
    return [(f"c{number}", "VARCHAR") for number in range(n)]


def strange_id(db: Database, table: str, file: DataFile | None) -> str | None:
    """Return the first row whose id, in c0, is not a whole number; None where there is none."""
    row = db.first(f"SELECT rowid, c0 FROM {table} WHERE NOT {_IS_ID} ORDER BY rowid LIMIT 1")
    return f"{row_of(file, row[0])} has the id {shown(row[1])}, which is not valid" if row else None


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
    """Of which kind every pair of an original is.

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


def same_pairs(evidence: Evidence) -> Check:
    """Return whether release and original have the same pairs, under other ids."""
    noun = evidence.kind.entries[1]
    edits = evidence.changes()
    if not edits.added and not edits.deleted:
        return holds(f"{counted(edits.before, noun)} in both, under new ids")
    were = f"{counted(edits.added, noun)} added and {edits.deleted} removed"
    first = "".join(f"; {change}" for change in evidence.kind.first_changes(evidence.tables))
    return fails(f"{were}, of {edits.before}{first}")


def second_reading(
    pairs_of: Callable[[Any], OriginalPairs], entries: str
) -> Callable[[Database, Any, Path, Mapping[str, Any]], Check]:
    """Return what tells whether a file says what the program's reader made of it."""

    def read(db: Database, original: Any, path: Path, reading: Mapping[str, Any]) -> Check:
        from graphveil.verify.files.second_table import plain_file, read_again, read_once  # noqa: PLC0415  idle where no file is given

        pairs = None if getattr(original, "n_edges", 0) > MOST_PAIRS else pairs_of(original)
        if pairs is None or pairs.first.size > MOST_PAIRS:
            return not_checked(f"{SHARED}: more than {MOST_PAIRS:,} pairs")
        if not reading.get("kind_column"):
            pairs = pairs._replace(kinds=None)
        if any(reading.get(name) not in (None, *known) for name, known in _LEFT_OPEN.items()):
            return read_once()
        file = plain_file(path, reading)
        header = None if file is None else _is_header(file.first, reading)
        ends = None if file is None else _ends(file.first, reading)
        kind = None if file is None or pairs.kinds is None else _kind_column(file.first, reading)
        if file is None or header is None or ends is None or (pairs.kinds and kind is None):
            return read_once()
        cells = ends if kind is None else [*ends, kind]
        problem = read_again(db, file, cells, header=header, table="rows_read")
        if problem is not None:
            return problem
        _put_again(db, pairs, reading.get("kinds") or ())
        if db.first(f"SELECT 1 FROM again WHERE {_ODD} LIMIT 1"):
            return not_checked(
                f"{SHARED}: the file has comments, or an id has leading or trailing blanks"
            )
        _put_original(db, pairs)
        return _compared(db, entries)

    return read


def _is_header(first: list[str], reading: Mapping[str, Any]) -> bool | None:
    """Return whether the first row names columns; None where that is for the reader to say."""
    asked = {"yes": True, "no": False}.get(reading.get("header") or "auto")
    if asked is not None:
        return asked
    if tuple(map(str.lower, first[:2])) in _HEADERS:
        return True
    return False if all(map(_NUMBER.fullmatch, first)) else None


def _ends(first: list[str], reading: Mapping[str, Any]) -> list[int] | None:
    """Return the numbers of the two columns; None where they are for the reader to find."""
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
    """Return the number of the column of kinds; None where it is for the reader to find.

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
    """Compare sums of hashes of the pairs, which need no order; where they differ, the pairs."""
    both = [
        db.first(f"SELECT count(*), sum(hash(a, b, kind)::HUGEINT) FROM {table}")
        for table in ("again", "once")
    ]
    if both[0] == both[1]:
        same = counted(db.number("SELECT count(*) FROM again"), singular(what))
        return holds(f"the checker's own reader finds the same {same} in the file")
    problems = []
    for one, other, says in (
        ("again", "once", ("in the file", "in the original as read")),
        ("once", "again", ("of the original as read", "in the file")),
    ):
        strange = f"SELECT a, b, kind FROM {one} EXCEPT SELECT a, b, kind FROM {other}"
        count = db.number(f"SELECT count(*) FROM ({strange})")
        if count:
            first = db.first(f"{strange} ORDER BY a, b, kind LIMIT 1")
            verb = "is" if count == 1 else "are"
            problems.append(
                f"{counted(count, singular(what))} {says[0]} {verb} not {says[1]}, the first is "
                f"{shown(first)}"
            )
    return fails("; ".join(problems))


CLASSES = "classes"

Need = Literal["data", "record", "original", "linkage"]

DATA: tuple[Need, ...] = ("data",)
BESIDE: tuple[Need, ...] = ("data", "original")
LINKED: tuple[Need, ...] = ("data", "linkage")

UNREADABLE = "the released data cannot be read"


class Part(NamedTuple):
    """One check of a claim: its name, the check itself, what that needs, and what else stays open.

    `any_ids`: whether it can be checked where ids come from a key, and not of ids 0, 1, 2 alone.
    """

    name: str
    recheck: Callable[[Evidence, Any], Check]
    needs: tuple[Need, ...] = DATA
    question: str = ""
    any_ids: bool = False

    def run(self, evidence: Evidence, claim: object) -> Check:
        """Return the check's outcome; *not checked* where something is missing."""
        needs, question = self.needs, self.question
        if "record" in needs and evidence.record is None:
            return not_checked(question, needs=verdict.RECORD)
        if evidence.original is None and {"original", "linkage"} & {*needs}:
            why_not, asked = evidence.why_not, verdict.ORIGINAL
            return not_checked(why_not or question, needs=None if why_not else asked)
        if "data" in needs and evidence.db is None:
            return not_checked(UNREADABLE)
        if "data" in needs and evidence.keyed and not self.any_ids:
            return not_checked("ids come from a key, but this check needs ids 0, 1, 2, ...")
        if "linkage" in needs and not evidence.linked:
            return not_checked(question, needs=verdict.LINKAGE)
        return self.recheck(evidence, claim)


class ClaimCheck(NamedTuple):
    """How one type of claim is checked again: of which kinds of data, and by which checks."""

    kinds: tuple[str, ...]
    parts: tuple[Part, ...] = ()

    def run(self, evidence: Evidence, claim: object, parts: Sequence[Part]) -> list[Check]:
        """Return the outcome of some of the parts; all fail where the data is of another kind."""
        kind = evidence.manifest.data.kind
        if kind in self.kinds:
            return named({part.name: part.run(evidence, claim) for part in parts})
        kinds = " or a ".join(self.kinds)
        why = f"{type(claim).__name__} can be claimed for a {kinds}, not for a {kind}"
        return named({part.name: fails(why) for part in parts})


Rechecks = dict[type[Guarantee | Condition], ClaimCheck]
"""How types of guarantees and conditions are checked again."""


def listed(members: list[int], size: int) -> str:
    """Return the first of some people, and whether there are more."""
    return ", ".join(map(str, members[:5])) + (", ..." if size > 5 else "")


PARAMETERS = "claim and parameters"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_METHOD = re.compile(r"[a-z][a-z0-9-]{0,40}")
_DIGITS = 5
"""So many significant digits a real number has at most."""

_LONGEST_TEXT, _LONGEST_SENTENCE, _LARGEST_NUMBER = 200, 1000, 1 << 63


def parameters_check(manifest: Manifest) -> Check:
    """Return whether parameters say what the claim says, and are plain values."""
    method, claim = manifest.method, manifest.claim
    problems = []
    if not _METHOD.fullmatch(method.name):
        problems.append(f"{shown(method.name)} is not a valid method name")
    sentences = {"source": method.source, "limits": claim.does_not_protect_against}
    problems += [
        f"the {name} {shown(text)} is not a plain line of text"
        for name, text in sentences.items()
        if not text.isprintable() or not 0 < len(text) <= _LONGEST_SENTENCE
    ]
    problems += [
        f"{name if _NAME.fullmatch(name) else shown(name)}={shown(value)} is not a plain value"
        for name, value in method.parameters.items()
        if not _is_plain(name, value)
    ]
    problems += _contradictions(manifest)
    said = getattr(claim.guarantee, "person", None)
    if said is msgspec.UNSET and manifest.data.kind == "table":
        problems.append("the guarantee does not say whether the rows of the table are people")
    return judged(problems, "every parameter named in the claim has the claimed value")


def _is_plain(name: str, value: object) -> bool:
    if not _NAME.fullmatch(name):
        return False
    if isinstance(value, str):
        return value.isprintable() and len(value) <= _LONGEST_TEXT
    if isinstance(value, int):
        return abs(value) < _LARGEST_NUMBER
    return value is None or (isinstance(value, float) and float(f"{value:.{_DIGITS}g}") == value)


def _contradictions(manifest: Manifest) -> list[str]:
    claim, parameters = manifest.claim, manifest.method.parameters
    problems = []
    for value in (claim.guarantee, *claim.guarantee.implied, *claim.conditions):
        for name in value.__struct_fields__:
            said = getattr(value, name)
            if name in parameters and not _same(parameters[name], said):
                stated = f"the parameter is {name}={shown(parameters[name])}"
                problems.append(f"the claim states {name}={said}, but {stated}")
    return list(dict.fromkeys(problems))


def _same(one: object, other: object) -> bool:
    if isinstance(other, tuple) or other is msgspec.UNSET:
        other = other or ()
        return (one or "") == ",".join(map(str, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


LEDGER = "ledger"

_TOTAL = re.compile(r"(0|[1-9][0-9]{0,20})(\.[0-9]{0,11}[1-9])?")
_EPSILON = re.compile(r"[0-9]{1,20}(\.[0-9]{1,40})?(e-?[0-9]{1,2})?")
"""Numbers of another form cost much to read, and no ledger holds them."""

_NEEDED = "the owner's ledger"
_MOST_BYTES = 64 << 20
"""The largest ledger that is read: one of 100,000 releases is smaller."""

_MOST = 1_000_000_000
"""So many releases nobody makes."""


def ledger_checks(evidence: Evidence) -> list[Check]:
    """Return whether the stated total fits the claim and the ledger; none where none is stated."""
    stated = evidence.manifest.ledger
    if not isinstance(stated, Composed):
        return []
    return named({LEDGER: _against_claim(evidence, stated) or _against_ledger(evidence, stated)})


def _against_claim(evidence: Evidence, stated: Composed) -> Check | None:
    """Return what is wrong with a total next to its claim; None where nothing is."""
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, EdgeDP | NodeDP):
        return fails("a total is stated with a claim that has no epsilon")
    unit = "node"
    if isinstance(promise, EdgeDP):
        unit = "edge" if promise.of == "entry" else "value"
    if (
        not _TOTAL.fullmatch(stated.epsilon)
        or stated.unit != unit
        or not 0 < stated.releases < _MOST
    ):
        return fails(
            f"a total of {counted(stated.releases, 'release')} with epsilon={stated.epsilon!r} is "
            "not valid for this claim"
        )
    own, total = Fraction(repr(promise.epsilon)), Fraction(stated.epsilon)
    if total < own or (stated.releases == 1 and total >= own + Fraction(1, 10**12)):
        return fails(f"the total {stated.epsilon} is not consistent with epsilon={promise.epsilon}")
    return None


def _against_ledger(evidence: Evidence, stated: Composed) -> Check:
    if evidence.record is None:
        return not_checked("whether the ledger contains this total", needs=verdict.RECORD)
    note = evidence.record.ledger
    if note is None:
        return fails("a total is stated, but the record names no ledger")
    path = Path(note.file)
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return not_checked("the ledger is not a readable file", needs=_NEEDED)
        entries = json.loads(path.read_bytes())["entries"]
        names = [entry["id"] for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return not_checked("the ledger cannot be read", needs=_NEEDED)
    if note.entry not in names:
        return fails("the ledger has no entry for this release")
    return _against_entries(evidence, stated, entries[: names.index(note.entry) + 1])


def _against_entries(evidence: Evidence, stated: Composed, before: list[dict[str, Any]]) -> Check:
    """Return whether the entries up to that of the release, the last one, say what is stated."""
    if not _is_of(before[-1], evidence, stated.unit):
        return fails("the ledger's entry for this release has a different method, unit or epsilon")
    total = _total(before, stated.unit)
    if len(before) == stated.releases and total == Fraction(stated.epsilon):
        return holds(f"{counted(len(before), 'entry')} of the ledger sum to {stated.epsilon}")
    added = "no total" if total is None else f"{float(total):.12g}"
    said = f"{counted(stated.releases, 'release')} with the total {stated.epsilon}"
    return fails(
        f"the ledger has {counted(len(before), 'entry')} with {added}, but {said} are stated"
    )


def _is_of(entry: dict[str, Any], evidence: Evidence, unit: str) -> bool:
    """Whether an entry says the method, the unit and the epsilon that the manifest says."""
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, EdgeDP | NodeDP):
        return False
    same = (entry.get("method"), entry.get("unit")) == (evidence.manifest.method.name, unit)
    return same and _epsilon_of(entry) == Fraction(repr(promise.epsilon))


def _total(entries: list[dict[str, Any]], unit: str) -> Fraction | None:
    """Return the sum of epsilons, rounded up to twelve places; None where one claims nothing."""
    total = Fraction(0)
    for entry in entries:
        part, cells = _epsilon_of(entry), entry.get("person_cells")
        if part is None or not isinstance(cells, int):
            return None
        sizes = {"edge": 1, "value": 2, "node": max(cells, 1)}  # in cells
        own = str(entry.get("unit"))
        total += part if own == "node" else part * Fraction(sizes.get(unit, 1), sizes.get(own, 1))
    return Fraction(math.ceil(total * 10**12), 10**12)


def _epsilon_of(entry: dict[str, Any]) -> Fraction | None:
    """Return the epsilon of an entry; None where it has none."""
    said = str(entry.get("epsilon"))
    return Fraction(said) if _EPSILON.fullmatch(said) else None


_ROOMS: dict[str, tuple[type[Guarantee | Condition], ...]] = {
    "classes": (guarantees.KAnonymity, guarantees.SmoothKAnonymity),
    "graphs": (
        *(guarantees.StructuralKAnonymity, conditions.ProtectedPeople, conditions.OwnAttributes),
        *(conditions.AttachedColumns, conditions.Supergraph, conditions.Subgraph),
        *(conditions.SameDegrees, conditions.EditBudget),
    ),
    "groups": (guarantees.SuperNodeAnonymity, conditions.SameGroupCounts),
    "features": (
        *(conditions.NothingAdded, conditions.TrueOfShare, conditions.TrueOfMoreThanHalf),
        conditions.ItemsAreUsers,
    ),
    "tables": (conditions.SuppressionHistogram,),
    "generalized": (conditions.Generalized, conditions.Diverse, conditions.Close),
    "adaptive": (guarantees.AdaptiveAnonymity,),
    "cell_flips": (
        *(guarantees.EdgeDP, guarantees.NodeDP, guarantees.NotClaimed, conditions.BlockFlips),
        *(conditions.RandomizedCells, conditions.TopMThresholds, conditions.ExactSize),
    ),
    "noisy_statistics": (conditions.NoisyDegrees, conditions.NoisyStatistics),
    "renaming": (conditions.SameData, conditions.KeyedIds),
}
CHECKED_IN = {claim: room for room, claims in _ROOMS.items() for claim in claims}
"""The module of this room in which a type of guarantee or of condition is checked again."""


def recheck_of(claim: type[Guarantee | Condition]) -> ClaimCheck:
    """Return how a type of guarantee or of condition is checked again."""
    rechecks: Rechecks = resolve(f"graphveil.verify.promises.{CHECKED_IN[claim]}:RECHECKS")
    return rechecks[claim]


def claim_checks(evidence: Evidence, *, of: Literal["data", "original"]) -> list[Check]:
    """Return the checks of the guarantee, of what it implies, and of the stated conditions."""
    claim = evidence.manifest.claim
    stated = dict.fromkeys([claim.guarantee, *claim.guarantee.implied, *claim.conditions])
    checks = []
    for value in stated:
        recheck = recheck_of(type(value))
        some = [p for p in recheck.parts if (p.needs == DATA) == (of == "data")]
        checks += recheck.run(evidence, value, some)
    return checks


def decisive(manifest: Manifest) -> tuple[str, ...]:
    """Return the names of the checks without which nothing can be said of the guarantee.

    What it implies of the original, such as that nothing was added, is stated next to it and stays
    open without the original.
    """
    guarantee = manifest.claim.guarantee
    return _names(guarantee) if guarantee.check_word == "recomputed" else ()


def promised(manifest: Manifest) -> tuple[str, ...]:
    """Return the names of all checks of what the guarantee states, with what it implies.

    Noise is what its conditions say it is, so that they are part of such a guarantee.
    """
    claim = manifest.claim
    of_noise = claim.conditions if claim.guarantee.check_word == "by construction" else []
    return _names(claim.guarantee, *claim.guarantee.implied, *of_noise)


def asked_for(manifest: Manifest, checks: Sequence[Check]) -> tuple[Condition, ...]:
    """Return the conditions that the owner asked for and whose checks hold."""
    open_or_false = {check.name for check in checks if check.outcome != "holds"}
    made = {check.name for check in checks} - open_or_false
    asked = (one for one in manifest.claim.conditions if one.asked_for)
    return tuple(one for one in asked if made.issuperset(_names(one)))


def _names(*claims: Guarantee | Condition) -> tuple[str, ...]:
    names = (part.name for value in claims for part in recheck_of(type(value)).parts)
    return tuple(dict.fromkeys(names))


def cost_checks(evidence: Evidence) -> list[Check]:
    """Return whether as much was kept, deleted and added as the owner's record says.

    Of a kind without pairs under ids from a key nothing is counted: each of its cells is compared.
    """
    if evidence.keyed and evidence.kind.changes is None:
        return []
    needs: tuple[Need, ...] = ("record", *LINKED)
    part = Part(evidence.kind.cost.name, _cost, needs, "the changes were not counted", any_ids=True)
    return named({part.name: part.run(evidence, None)})


def _cost(evidence: Evidence, _claim: None) -> Check:
    cost = evidence.kind.cost
    stated = evidence.record.cost if evidence.record else {}
    changes = cost.changes(evidence)
    counts, earlier = changes.figures, changes.earlier
    wrong = [
        figure
        for figure, count in counts.items()
        if (figure in stated or figure in changes.needed)
        and stated.get(figure) not in (count, earlier.get(figure, count))
    ]
    if not wrong:
        return holds(f"{cost.in_words(counts)}, as the record states")
    said = [cost.in_words(stated), *(f"{name}={stated.get(name)}" for name in wrong)]
    first = "".join(f"; {change}" for change in evidence.kind.first_changes(evidence.tables))
    return fails(f"{cost.in_words(counts)}, but the record states {', '.join(said)}{first}")
