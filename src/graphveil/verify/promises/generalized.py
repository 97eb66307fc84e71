"""Guarantees about generalized tables: what their cells stand for, and conditions.

What a node of the file of levels holds is worked out anew from its text; of a hierarchy from a
file, the owner's record says which nodes are above a value.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AttachedColumns, Close, Diverse, Generalized
from graphveil.claims.guarantees import KAnonymity
from graphveil.claims.manifest import LEVELS_ROLE, DescribedColumn
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.data.ids import as_text
from graphveil.verify import verdict
from graphveil.verify.database import literal
from graphveil.verify.evidence import BESIDE, LINKED, ClaimCheck, Evidence, Part, Rechecks
from graphveil.verify.recount.linked import had_and_shown, known_cells
from graphveil.verify.verdict import Check, fails, holds, judged, not_checked, row_of, shown

LEVELS, TRUE_CELLS, CONSISTENT = "levels", "true cells", "consistent rows"
DIVERSE, CLOSE = "diversity", "closeness"

_WHOLE = re.compile(r"0|[1-9][0-9]{0,9}")
_MOST_LEVELS = 1000
_TOLERANCE = 1e-12
_MOST_PEOPLE, _MOST_PAIRS, _BLOCK = 20_000, 500_000, 256


class _Node(NamedTuple):
    """A row of the file of levels."""

    column: str
    level: str
    node: str
    parent: str
    leaves: str


def _attached(evidence: Evidence) -> set[str]:
    stated = evidence.manifest.claim.conditions
    return {name for one in stated if isinstance(one, AttachedColumns) for name in one.columns}


def known_names(evidence: Evidence) -> list[str]:
    """Return the columns that the guarantee counts rows by, in the order of the release."""
    known = getattr(evidence.manifest.claim.guarantee, "known", ()) or ()
    if known:
        return [name for name in evidence.columns if name in known]
    attached = _attached(evidence)
    return [name for name in evidence.columns if name not in attached]


def known_problem(evidence: Evidence) -> str | None:
    """Return which columns the guarantee is about in contradiction to what else is said of them."""
    names, known = evidence.columns, known_names(evidence)
    said = getattr(evidence.manifest.claim.guarantee, "known", ()) or ()
    attached = _attached(evidence)
    for name in said:
        if name not in names:
            return f"{shown(name)} is known, but is not a column of the data"
    if not known:
        return "no column is known"
    for name in names:
        if name not in known and name not in attached:
            return f"{shown(name)} is published, but is neither known nor attached"
    described = evidence.manifest.data.columns or []
    if described and [one.name for one in described if one.role == "known"] != known:
        return "the columns that are described as known are not those of the guarantee"
    return None


def _levels(evidence: Evidence, condition: Generalized) -> Check:
    """Whether published cells are nodes of the file of levels, which says no more and nests."""
    described = evidence.manifest.data.columns or []
    if not described or not evidence.tables.holds("nodes"):
        return fails(f"no file of the role {LEVELS_ROLE} lists nodes")
    problems = _roles(evidence, described, condition)
    if problems:
        return judged(problems, "")
    rows = [_Node(*row) for row in evidence.tables.rows("SELECT * FROM nodes ORDER BY rowid")]
    known = {one.name: one for one in described if one.role == "known"}
    strange = [row.column for row in rows if row.column not in known]
    problems = [f"{shown(name)} is listed with levels, but is not known" for name in strange[:1]]
    order, unsure = {name: place for place, name in enumerate(evidence.columns)}, False
    for name, column in known.items():
        own = [row for row in rows if row.column == name]
        dates = [row.node for row in own if row.level == "0"] if column.levels == "dates" else []
        form = _form_of(evidence, name, dates)
        unsure = unsure or form is None
        problems += list(_of_column(evidence, column, own, form))[:1]
    keys = [
        (order.get(r.column, -1), int(r.level) if r.level.isdigit() else 0, r.node) for r in rows
    ]
    if not problems and keys != sorted(keys):
        problems.append("nodes are not listed by column, level and text")
    cells = f"each published value is one of {counted(len(rows), 'node')}"
    but = " (the units of original dates were not checked: their form is private)" if unsure else ""
    return judged(problems, f"{cells}, whose levels nest{but}")


def _roles(
    evidence: Evidence, described: Sequence[DescribedColumn], condition: Generalized
) -> list[str]:
    """Return what is wrong with the roles of columns next to the claim."""
    names, claim = evidence.columns, evidence.manifest.claim
    if [one.name for one in described] != names:
        return ["the described columns are not those of the data"]
    roles = {
        role: {one.name for one in described if one.role == role}
        for role in ("known", "attached", "label")
    }
    stated = [one for one in claim.conditions if isinstance(one, AttachedColumns)]
    attach = {name for one in stated for name in one.attach}
    label = {name for one in stated for name in one.label or ()}
    problems = []
    if roles["attached"] != attach or roles["label"] != label:
        problems.append("the described columns that are attached are not those of the claim")
    if {*condition.columns} not in ({*()}, roles["known"]):
        problems.append("the claim is about other columns than those that are described as known")
    if not condition.columns and (attach or label):
        problems.append("the claim does not say which columns are known")
    if not roles["known"]:
        problems.append("no column is known")
    return problems


def _of_column(
    evidence: Evidence, column: DescribedColumn, rows: Sequence[_Node], form: str | None
) -> Iterator[str]:
    """Yield what is wrong with the nodes of a column: the first problem counts.

    `form`: how the original values write dates; None if nobody can tell.
    """
    name = shown(column.name)
    listed = {row.node: row for row in rows}
    if len(listed) < len(rows):
        twice = next(row.node for row in rows if [r.node for r in rows].count(row.node) > 1)
        yield f"{name}: the node {shown(twice)} is listed twice, so levels do not nest"
    for row in rows:
        kind, read = column.levels or "", form if row.level == "0" else ISO
        yield from (f"{name}: {problem}" for problem in _of_node(row, listed, kind, read))
    published = _values(evidence, column.name)
    absent = next((value for value in published if value not in listed), None)
    if absent is not None:
        yield f"{name}: the published value {shown(absent)} is not a node of its levels"
    needed = {ALL}
    for value in published:
        at: str | None = value
        while at is not None and at not in needed:
            needed.add(at)
            at = listed[at].parent if at in listed else None
    whole = column.whole is True
    idle = next((row.node for row in rows if row.node not in needed and not whole), None)
    if idle is not None:
        yield f"{name}: the node {shown(idle)} is neither published nor above a published one"
    if ALL not in listed:
        yield f"{name}: the node * is not listed"
    yield from (f"{name}: {problem}" for problem in _leaves(rows, whole=whole))


def _of_node(row: _Node, listed: Mapping[str, _Node], kind: str, form: str | None) -> Iterator[str]:
    """Yield what is wrong with a node next to its parent."""
    node, above = shown(row.node), listed.get(row.parent)
    if not _WHOLE.fullmatch(row.level) or int(row.level) > _MOST_LEVELS:
        yield f"{node} has the level {shown(row.level)}"
    elif (row.leaves != ALL) != (kind == "file") or not _WHOLE.fullmatch(
        row.leaves.replace(ALL, "1")
    ):
        yield f"{node} has {shown(row.leaves)} leaves, with levels of the kind {kind}"
    elif row.node == ALL:
        if row.parent != ALL:
            yield f"* has the parent {shown(row.parent)}"
    elif above is None:
        yield f"the parent {shown(row.parent)} of {node} is not listed"
    elif not _WHOLE.fullmatch(above.level) or int(above.level) <= int(row.level):
        yield f"the parent {shown(row.parent)} of {node} is not on a higher level"
    elif row.parent != ALL and kind != "file" and form is not None:
        inside = holding(kind, form=form)
        if inside is not None and not inside(row.parent, row.node):
            yield f"the parent {shown(row.parent)} does not include {node}"


def _leaves(rows: Sequence[_Node], *, whole: bool) -> Iterator[str]:
    """Yield which numbers of leaves contradict each other; whole levels have every leaf."""
    counts = {row.node: int(row.leaves) for row in rows if row.leaves != ALL}
    below: dict[str, int] = {}
    for row in rows:
        if row.node in counts and row.node != ALL:
            below[row.parent] = below.get(row.parent, 0) + counts[row.node]
            if counts[row.node] < 1 or (row.level == "0" and counts[row.node] != 1):
                yield f"{shown(row.node)} has {counts[row.node]} leaves on level {row.level}"
    for node, leaves in below.items():
        if leaves > counts.get(node, leaves):
            yield f"{shown(node)} has {counts[node]} leaves, but {leaves} are below it"
    for row in rows if whole else ():
        if row.level != "0" and below.get(row.node, 0) < counts.get(row.node, 0):
            yield f"{shown(row.node)} has {row.leaves} leaves, but not all of them are listed"


def _values(evidence: Evidence, name: str) -> list[str]:
    """Return the distinct values of a released column, ascending, but for ``*``."""
    cell = f"c{evidence.columns.index(name)}"
    sql = f"SELECT DISTINCT {cell} FROM shown WHERE {cell} IS NOT NULL ORDER BY 1"
    return [str(value) for (value,) in evidence.tables.rows(sql)]


def _including(evidence: Evidence, name: str) -> Callable[[str, str], bool] | None:
    """Return what tells whether a node of a column includes a value; None where nobody can."""
    record = evidence.record
    kinds = {one.name: one.levels or "" for one in evidence.manifest.data.columns or []}
    kind, form = kinds.get(name, "stars"), ISO
    if kind == "dates":
        original = evidence.original_as(Table)
        values = as_text(original.categories[original.columns.index(name)]).tolist()
        read = _form_of(evidence, name, values)
        if read is None:
            return None
        form = read
    above = None if record is None else record.ancestors.get(name)
    return holding(kind, form=form, above=above)


def _form_of(evidence: Evidence, name: str, dates: Iterable[str]) -> str | None:
    """Return how a column writes dates, as the record says; without one ISO 8601 where all fit."""
    if evidence.record is None:
        return ISO if all(_day(text, ISO) for text in dates) else None
    given = str(evidence.record.withheld.get("dates") or "")
    forms = (one.rpartition("=") for one in given.split(";"))
    return {column: form for column, _, form in forms}.get(name, ISO)


def _true_cells(evidence: Evidence, _condition: Generalized) -> Check:
    """Whether each published cell is the original's, or a node that holds it."""
    original, db = evidence.original_as(Table), evidence.tables
    cells, unsure = 0, ""
    for name in known_names(evidence):
        inside = _including(evidence, name)
        number, place = evidence.columns.index(name), original.columns.index(name)
        for had, now, row, count in had_and_shown(db, original, number, place):
            cells += count
            if now is None or now == had:
                continue
            if inside is None and had is not None:
                unsure = unsure or name
            elif had is None or inside is None or not inside(now, had):
                return fails(
                    f"{row_of(evidence.file(), row)} has {shown(now)} in {shown(name)}, "
                    "which does not include the original's "
                    f"{'missing value' if had is None else shown(had)}; "
                    f"{counted(count, 'such cell')}"
                )
    if unsure:
        why = f"the levels of {shown(unsure)} are from a file that the record does not have"
        return not_checked(why, needs=verdict.RECORD)
    return holds(f"each of {cells} cells is or includes the original's")


class _Inclusion(NamedTuple):
    """A known column: its published nodes, everybody's value, and which node includes which value.

    ``includes[value, node]``; the last value is a missing one, the last node ``*``.
    """

    nodes: dict[str, int]
    codes: NDArray[np.int32]
    includes: NDArray[np.bool_]


def _inclusion(evidence: Evidence, original: Table, name: str) -> _Inclusion | None:
    """Return a known column; None if nobody can tell what its nodes include."""
    inside = _including(evidence, name)
    if inside is None:
        return None
    nodes = {node: place for place, node in enumerate(_values(evidence, name))}
    place = original.columns.index(name)
    values = as_text(original.categories[place]).tolist()
    if len(nodes) * len(values) > _MOST_PAIRS:
        return None
    includes = np.ones((len(values) + 1, len(nodes) + 1), dtype=np.bool_)
    includes[-1, :-1] = False
    for i, value in enumerate(values):
        includes[i, :-1] = [node == value or inside(node, value) for node in nodes]
    return _Inclusion(nodes, original.codes[:, place], includes)


def _consistent(evidence: Evidence, _condition: Generalized) -> Check:
    """Whether the values of each person are consistent with at least k rows."""
    original, promise = evidence.original_as(Table), evidence.manifest.claim.guarantee
    of_classes = isinstance(promise, KAnonymity)
    k = getattr(promise, "k" if of_classes else "level", 1)
    names = known_names(evidence)
    if not original.n_rows:
        return holds("the data has no rows")
    small = original.n_rows <= _MOST_PEOPLE
    found = [_inclusion(evidence, original, name) for name in names] if small else []
    columns = [column for column in found if column is not None]
    if len(columns) < len(names):
        counted_to = f"counted for up to {_MOST_PEOPLE:,} rows"
        if not of_classes:
            return not_checked(f"whether everybody's values fit enough rows: {counted_to}")
        if not evidence.linked or evidence.record is None:
            why = f"it follows from classes and true cells; {counted_to}"
            return not_checked(why, needs=verdict.LINKAGE)
        return holds(f"follows from classes and true cells; {counted_to}")
    cells = ", ".join(f"c{evidence.columns.index(name)}" for name in names)
    classes = evidence.tables.rows(f"SELECT count(*), {cells} FROM shown GROUP BY {cells}")
    sizes = np.array([row[0] for row in classes], dtype=np.int64)
    shown_nodes = [
        np.array([one.nodes.get(row[j], len(one.nodes)) for row in classes])
        for j, one in enumerate(columns, start=1)
    ]
    people = np.unique(np.column_stack([one.codes for one in columns]), axis=0)
    least = len(original.codes)
    for start in range(0, len(people), _BLOCK):
        fits = np.ones((len(people[start : start + _BLOCK]), sizes.size), dtype=np.bool_)
        for j, one in enumerate(columns):
            own = people[start : start + _BLOCK, j]
            fits &= one.includes[own[:, None], shown_nodes[j][None, :]]
        least = min(least, int((fits @ sizes).min()))
    if least >= k:
        return holds(f"everybody's values fit at least {counted(least, 'row')}")
    asked = f"{'k' if of_classes else 'level'}={k}"
    return fails(f"a person's values fit {counted(least, 'row')}, fewer than {asked}")


def _condition_column(evidence: Evidence, column: str) -> str | None:
    """Return the SQL name of a column that a condition may name; None where it is not attached."""
    if column not in evidence.columns or column in known_names(evidence):
        return None
    return f"c{evidence.columns.index(column)}"


def _classes_by(evidence: Evidence, cell: str) -> str:
    """Return SQL of the rows of each class by the value of a cell: class, value, n, size, total."""
    known = known_cells(known_names(evidence), evidence.columns)
    return (
        f"SELECT key, value, n, sum(n) OVER (PARTITION BY key) AS size, "
        f"sum(n) OVER (PARTITION BY value) AS total FROM (SELECT {known} AS key, "
        f"coalesce('v' || {cell}, '') AS value, count(*) AS n FROM shown GROUP BY ALL)"
    )


def _diverse(evidence: Evidence, condition: Diverse) -> Check:
    """Whether each class has values enough of an attached column, or enough entropy."""
    cell = _condition_column(evidence, condition.column)
    if cell is None:
        return fails(f"{shown(condition.column)} is not an attached column")
    by_value = _classes_by(evidence, cell)
    if condition.measure == "distinct":
        sql = f"SELECT count(*) AS found FROM ({by_value}) GROUP BY key"
        least = evidence.tables.number(f"SELECT min(found) FROM ({sql})")
        if least >= int(condition.least):
            return holds(f"at least {least} values of {shown(condition.column)} per class")
        return fails(
            f"a class has {counted(least, 'value')} of {shown(condition.column)}, fewer than "
            f"{condition.least}"
        )
    entropy = f"SELECT -sum(n / size * ln(n / size)) AS found FROM ({by_value}) GROUP BY key"
    bound = literal(condition.least)
    row = evidence.tables.first(
        f"SELECT min(found), min(found) >= ln({bound}::DOUBLE) - {_TOLERANCE}, exp(min(found)) "
        f"FROM ({entropy})"
    )
    _, enough, number = row or (0.0, False, 1.0)
    said = f"the least entropy of {shown(condition.column)} is that of {number or 1.0:.6g} values"
    if enough:
        return holds(said)
    return fails(f"{said}, below {condition.least}")


def _close(evidence: Evidence, condition: Close) -> Check:
    """Whether the values of an attached column are shared out in each class as in the table."""
    cell = _condition_column(evidence, condition.column)
    if cell is None:
        return fails(f"{shown(condition.column)} is not an attached column")
    rows = evidence.tables.number("SELECT count(*) FROM shown")
    by_value = _classes_by(evidence, cell)
    apart = (
        f"SELECT any_value(size)::HUGEINT AS size, sum(abs(n::HUGEINT * {rows} - size * total)) + "
        f"any_value(size)::HUGEINT * ({rows} - sum(total)) AS apart FROM ({by_value}) GROUP BY key"
    )
    most = Fraction(condition.most)
    row = evidence.tables.first(
        f"SELECT max(apart / (2.0 * size * {rows})), bool_and(apart * {most.denominator} <= "
        f"2 * {most.numerator} * size * {rows}) FROM ({apart})"
    )
    largest, close = row or (0.0, True)
    said = f"the largest distance of {shown(condition.column)} is {largest or 0.0:.6g}"
    if close or close is None:
        return holds(said)
    return fails(f"{said}, above {condition.most}")


_TRUE_OF_ROWS = "whether published values are true of their rows"
_FIT = "whether everybody's values fit enough rows"

RECHECKS: Rechecks = {
    Generalized: ClaimCheck(
        ("table",),
        (
            Part(LEVELS, _levels),
            Part(TRUE_CELLS, _true_cells, LINKED, _TRUE_OF_ROWS),
            Part(CONSISTENT, _consistent, BESIDE, _FIT),
        ),
    ),
    Diverse: ClaimCheck(("table",), (Part(DIVERSE, _diverse),)),
    Close: ClaimCheck(("table",), (Part(CLOSE, _close),)),
}


ALL = "*"
ISO = "%Y-%m-%d"

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_CLOSED = re.compile(r"([0-9]+)-([0-9]+)")
_HALF_OPEN = re.compile(rf"\[({_NUMBER}), ({_NUMBER})\)")
_BELOW, _FROM = re.compile(rf"<({_NUMBER})"), re.compile(rf">=({_NUMBER})")
_NUMBER_ALONE = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_QUARTER = re.compile(r"([0-9]{4})-Q([1-4])")
_WEEK = re.compile(r"([0-9]{4})-W([0-9]{2})")
_YEAR = re.compile(r"[0-9]{4}")
_YEARS = re.compile(r"([0-9]{1,4})-([0-9]{4})")
_INFINITE = Decimal("Infinity")


class Span(NamedTuple):
    """What an interval holds: from its lower end to below its upper one.

    An interval of whole numbers, ``20-39``, holds these alone and ends below 40.
    """

    low: Decimal
    high: Decimal
    whole: bool = False

    def holds(self, other: Span) -> bool:
        """Whether another one is in it."""
        inside = self.low <= other.low and other.high <= self.high
        return inside and (other.whole or not self.whole)


def span_of(text: str) -> Span | None:
    """Return what a number or an interval holds; None where a text is neither.

    >>> span_of("20-39").holds(span_of("34")), span_of("[20, 30)").holds(span_of("30"))
    (True, False)
    """
    if closed := _CLOSED.fullmatch(text):
        span = Span(Decimal(closed[1]), Decimal(closed[2]) + 1, whole=True)
    elif half_open := _HALF_OPEN.fullmatch(text):
        span = Span(Decimal(half_open[1]), Decimal(half_open[2]))
    elif below := _BELOW.fullmatch(text):
        span = Span(-_INFINITE, Decimal(below[1]))
    elif start := _FROM.fullmatch(text):
        span = Span(Decimal(start[1]), _INFINITE)
    elif _NUMBER_ALONE.fullmatch(text):
        number = Decimal(text)
        whole = number == number.to_integral_value()
        span = Span(number, number + 1 if whole else number.next_plus(), whole=whole)
    else:
        return None
    return span if span.low < span.high else None


def _interval_holds(node: str, below: str) -> bool:
    outer, inner = span_of(node), span_of(below)
    return outer is not None and inner is not None and _is_in(outer, inner, below)


def _is_in(outer: Span, inner: Span, below: str) -> bool:
    """Whether a span is in another; a number, even a whole one, does where it is no more."""
    if _NUMBER_ALONE.fullmatch(below) and not outer.whole:
        return outer.low <= inner.low < outer.high
    return outer.holds(inner)


def _prefix_holds(node: str, below: str) -> bool:
    kept = node.rstrip(ALL)
    return len(node) == len(below) and len(kept) < len(node) and below.startswith(kept)


class Days(NamedTuple):
    """The first and the last day of a unit of dates."""

    first: dt.date
    last: dt.date


def days_of(text: str) -> Days | None:
    """Return the days that a unit of dates holds; None where a text is not one.

    >>> days_of("2024-02").last, days_of("2024-Q1").last, days_of("2020-2029").first
    (datetime.date(2024, 2, 29), datetime.date(2024, 3, 31), datetime.date(2020, 1, 1))
    """
    try:
        return _days(text)
    except (ValueError, OverflowError):
        return None


def _days(text: str) -> Days:
    if month := _MONTH.fullmatch(text):
        return _months(int(month[1]), int(month[2]), 1)
    if quarter := _QUARTER.fullmatch(text):
        return _months(int(quarter[1]), 3 * int(quarter[2]) - 2, 3)
    if week := _WEEK.fullmatch(text):
        monday = dt.date.fromisocalendar(int(week[1]), int(week[2]), 1)
        return Days(monday, monday + dt.timedelta(days=6))
    if _YEAR.fullmatch(text):
        return Days(dt.date(int(text), 1, 1), dt.date(int(text), 12, 31))
    if years := _YEARS.fullmatch(text):
        return Days(dt.date(int(years[1]), 1, 1), dt.date(int(years[2]), 12, 31))
    raise ValueError(text)


def _day(text: str, form: str) -> Days | None:
    """Return the one day of an original value; None where it is not a date of this form."""
    try:
        day = dt.datetime.strptime(text, form).date()  # noqa: DTZ007  a date has no zone
    except (ValueError, OverflowError):
        return None
    return Days(day, day)


def _months(year: int, month: int, count: int) -> Days:
    after = dt.date(year + (month + count - 1) // 12, (month + count - 1) % 12 + 1, 1)
    return Days(dt.date(year, month, 1), after - dt.timedelta(days=1))


def _dates_hold(form: str) -> Callable[[str, str], bool]:
    def holds(node: str, below: str) -> bool:
        outer, inner = days_of(node), _day(below, form) or days_of(below)
        if outer is None or inner is None:
            return False
        return outer.first <= inner.first and inner.last <= outer.last

    return holds


def holding(
    kind: str, *, form: str = ISO, above: Mapping[str, Sequence[str]] | None = None
) -> Callable[[str, str], bool] | None:
    """Return what tells whether a node holds a value, or another node; None where nobody can.

    >>> holding("prefix")("101**", "10115"), holding("dates")("2024-03", "2024-04-01")
    (True, False)
    """
    if kind in {"widths", "edges", "auto"}:
        return _interval_holds
    if kind == "prefix":
        return _prefix_holds
    if kind == "dates":
        return _dates_hold(form)
    if kind == "stars":
        return lambda *_: False
    if above is None:
        return None
    return lambda node, value: node in above.get(value, ())
