"""Generalized tables: levels that nest, cells that are true, people whose values fit enough rows.

Claim checked: every published cell is a node of the file of levels, which lists no more than what
is needed, and whose parents include their children; every cell is, or includes, the original's
value; and the original values of each person are consistent with at least k rows.

Means: what a node includes is worked out anew from its text (`recount.rows.inclusion`); of a
hierarchy from a file, the owner's record says which nodes are above a value.

What the files cannot show: what a hierarchy from a file includes, unless its labels read as
intervals, prefixes or dates, and how original dates were written, without the record.

Cost: scans and groupings for levels and cells; the last check compares distinct original rows
with distinct released ones, up to `MOST_PEOPLE` rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import AttachedColumns, Generalized, OwnersLevels
from graphveil.claims.guarantees import KAnonymity
from graphveil.claims.manifest import LEVELS_ROLE, DescribedColumn
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.data.ids import as_text
from graphveil.verify import verdict
from graphveil.verify.evidence import Evidence
from graphveil.verify.promises.rows.known_columns import known_names
from graphveil.verify.recount.rows.inclusion import ALL, ISO, day_of, holding
from graphveil.verify.recount.rows.owners_labels import label_includes, overlapping_labels
from graphveil.verify.recount.rows.table_cells import had_and_shown
from graphveil.verify.verdict import Check, fails, holds, judged, not_checked, row_of, shown

LEVELS, TRUE_CELLS, CONSISTENT = "levels", "true cells", "consistent rows"
OWNERS = "owner's levels"
_WHOLE = re.compile(r"0|[1-9][0-9]{0,9}")
_MOST_LEVELS = 1000
"""The largest level of a node: hierarchies are far lower, and the bound keeps numbers free of
messages."""

MOST_PEOPLE, _MOST_PAIRS, _BLOCK = 20_000, 500_000, 256
"""Up to so many rows, and pairs of a value and a node in a column, people are compared with all
rows, `_BLOCK` of them at a time."""


class _Node(NamedTuple):
    """A row of the file of levels."""

    column: str
    level: str
    node: str
    parent: str
    leaves: str


def levels_nest(evidence: Evidence, condition: Generalized) -> Check:
    """Whether published cells are nodes of the file of levels, which says no more and nests."""
    # Step 1: roles of columns in the description, in the claim and in the conditions agree.
    described = evidence.manifest.data.columns or []
    if not described or not evidence.tables.holds("nodes"):
        return fails(f"no file of the role {LEVELS_ROLE} lists nodes")
    problems = _roles(evidence, described, condition)
    if problems:
        return judged(problems, "")
    # Step 2: every node of the file belongs to a known column.
    rows = [_Node(*row) for row in evidence.tables.rows("SELECT * FROM nodes ORDER BY rowid")]
    known = {one.name: one for one in described if one.role == "known"}
    strange = [row.column for row in rows if row.column not in known]
    problems = [f"{shown(name)} is listed with levels, but is not known" for name in strange[:1]]
    # Step 3: column by column, nodes nest and nothing is missing or idle.
    order, unsure = {name: place for place, name in enumerate(evidence.columns)}, False
    for name, column in known.items():
        own = [row for row in rows if row.column == name]
        dates = [row.node for row in own if row.level == "0"] if column.levels == "dates" else []
        form = _form_of(evidence, name, dates)
        unsure = unsure or form is None
        problems += list(_of_column(evidence, column, own, form))[:1]
    # Step 4: nodes are in their one order, so that the order carries nothing.
    keys = [
        (order.get(r.column, -1), int(r.level) if r.level.isdigit() else 0, r.node) for r in rows
    ]
    if not problems and keys != sorted(keys):
        problems.append("nodes are not listed by column, level and text")
    cells = f"each published value is one of {counted(len(rows), 'node')}"
    but = " (the units of original dates were not checked: their form is private)" if unsure else ""
    overlaps = "" if problems else _overlaps(rows, known)
    return judged(problems, f"{cells}, whose levels nest{but}{overlaps}")


def _overlaps(rows: Sequence[_Node], known: Mapping[str, DescribedColumn]) -> str:
    """Return the first two nodes of one level of a file that read as ranges and overlap."""
    of_level: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if known[row.column].levels == "file":
            of_level.setdefault((row.column, row.level), []).append(row.node)
    for (column, _), nodes in of_level.items():
        pair = overlapping_labels(nodes)
        if pair is not None:
            return f"; {shown(pair[0])} and {shown(pair[1])} of {shown(column)} overlap"
    return ""


def levels_of_owner(evidence: Evidence, _condition: OwnersLevels) -> Check:
    """Whether some column has levels from a file, and how many labels show what they include."""
    described = evidence.manifest.data.columns or []
    files = [one.name for one in described if one.levels == "file"]
    if not files or not evidence.tables.holds("nodes"):
        return fails("no column has levels from a file")
    rows = [_Node(*row) for row in evidence.tables.rows("SELECT * FROM nodes ORDER BY rowid")]
    above = [row for row in rows if row.column in files and row.parent not in {ALL, row.node}]
    read = sum(label_includes(row.parent, row.node) is not None for row in above)
    return holds(
        f"levels of {', '.join(map(shown, files))} are from a file: labels show for {read} of "
        f"{counted(len(above), 'value')} that the level above includes them; for the others, "
        "this is the owner's statement"
    )


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
    if any(one.levels == "file" for one in described) and OwnersLevels() not in claim.conditions:
        problems.append("the claim does not say that levels from a file are the owner's")
    return problems


def _of_column(
    evidence: Evidence, column: DescribedColumn, rows: Sequence[_Node], form: str | None
) -> Iterator[str]:
    """Yield what is wrong with the nodes of a column: the first problem counts.

    `form`: how the original values write dates; None if nobody can tell.
    """
    name = shown(column.name)
    # Each node once, and each consistent with its parent.
    listed = {row.node: row for row in rows}
    if len(listed) < len(rows):
        twice = next(row.node for row in rows if [r.node for r in rows].count(row.node) > 1)
        yield f"{name}: the node {shown(twice)} is listed twice, so levels do not nest"
    for row in rows:
        kind, read = column.levels or "", form if row.level == "0" else ISO
        yield from (f"{name}: {problem}" for problem in _of_node(row, listed, kind, read))
    # Every published value is a node.
    published = _values(evidence, column.name)
    absent = next((value for value in published if value not in listed), None)
    if absent is not None:
        yield f"{name}: the published value {shown(absent)} is not a node of its levels"
    # Nodes that are neither published nor above a published one would say what the data holds
    # elsewhere: only a complete hierarchy may list them.
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
    elif row.parent != ALL and kind == "file" and label_includes(row.parent, row.node) is False:
        yield f"the parent {shown(row.parent)} does not include {node}"
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
        return ISO if all(day_of(text, ISO) for text in dates) else None
    given = str(evidence.record.withheld.get("dates") or "")
    forms = (one.rpartition("=") for one in given.split(";"))
    return {column: form for column, _, form in forms}.get(name, ISO)


def cells_are_true(evidence: Evidence, _condition: Generalized) -> Check:
    """Whether each published cell is the original's, or a node that holds it."""
    # Per column, each pair of an original and a published value once.
    original, db = evidence.original_as(Table), evidence.tables
    cells, unsure = 0, ""
    for name in known_names(evidence):
        inside = _including(evidence, name)
        number, place = evidence.columns.index(name), original.columns.index(name)
        for had, now, row, count in had_and_shown(db, original, number, place):
            cells += count
            # Suppressed cells and unchanged ones are true; a generalized one must include the
            # original's.
            if now is None or now == had:
                continue
            read = None if inside is not None or had is None else label_includes(now, had)
            if inside is None and had is not None and read is not False:
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
    # A missing value is included by `*` alone.
    includes = np.ones((len(values) + 1, len(nodes) + 1), dtype=np.bool_)
    includes[-1, :-1] = False
    for i, value in enumerate(values):
        includes[i, :-1] = [node == value or inside(node, value) for node in nodes]
    return _Inclusion(nodes, original.codes[:, place], includes)


def values_fit_rows(evidence: Evidence, _condition: Generalized) -> Check:
    """Whether the values of each person are consistent with at least k rows."""
    original, promise = evidence.original_as(Table), evidence.manifest.claim.guarantee
    of_classes = isinstance(promise, KAnonymity)
    k = getattr(promise, "k" if of_classes else "level", 1)
    names = known_names(evidence)
    if not original.n_rows:
        return holds("the data has no rows")
    # Step 1: which published node includes which original value, per known column.
    small = original.n_rows <= MOST_PEOPLE
    found = [_inclusion(evidence, original, name) for name in names] if small else []
    columns = [column for column in found if column is not None]
    # If that is too large or unknown: for classes of k rows it follows from the other checks.
    if len(columns) < len(names):
        counted_to = f"counted for up to {MOST_PEOPLE:,} rows"
        if not of_classes:
            return not_checked(f"whether everybody's values fit enough rows: {counted_to}")
        if not evidence.linked or evidence.record is None:
            why = f"it follows from classes and true cells; {counted_to}"
            return not_checked(why, needs=verdict.LINKAGE)
        return holds(f"follows from classes and true cells; {counted_to}")
    # Step 2: distinct released rows with their sizes, and distinct original rows.
    cells = ", ".join(f"c{evidence.columns.index(name)}" for name in names)
    classes = evidence.tables.rows(f"SELECT count(*), {cells} FROM shown GROUP BY {cells}")
    sizes = np.array([row[0] for row in classes], dtype=np.int64)
    shown_nodes = [
        np.array([one.nodes.get(row[j], len(one.nodes)) for row in classes])
        for j, one in enumerate(columns, start=1)
    ]
    people = np.unique(np.column_stack([one.codes for one in columns]), axis=0)
    least = len(original.codes)
    # Step 3: for each original row, how many released rows include all of its values.
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
