"""Attributes published next to a guarantee: which columns, whether true, and what they show.

Claim checked: attached columns are published and no part of the guarantee; their values, and
those of known attributes of nodes, are their owner's in the original; no attached column nearly
identifies people by having a different value in almost every row; and attached columns do not
narrow hidden cells of known ones to one value further than the owner accepted.

Cost: one COUNT DISTINCT per column, one join with the original per column, and one GROUP BY for
each known column and each attached one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import UNSET

from graphveil.claims import conditions
from graphveil.claims.conditions import LEAST_NARROWED, AttachedColumns
from graphveil.core.text import counted
from graphveil.data import Network, Table
from graphveil.verify.database import Database
from graphveil.verify.evidence import Evidence
from graphveil.verify.kinds.networks import PEOPLE_ROWS, columns_of
from graphveil.verify.recount.graphs import node_attributes
from graphveil.verify.recount.graphs.node_attributes import strange_cell
from graphveil.verify.recount.rows import table_cells
from graphveil.verify.recount.rows.narrowed_cells import narrowed_cells
from graphveil.verify.recount.rows.table_cells import had_and_shown
from graphveil.verify.verdict import Check, fails, holds, judged, row_of, shown

_FEW_KNOWN, _FEW_ATTACHED, _NAMING = 10, 3, Fraction(9, 10)
"""Of so many cells at least of a known or an attached column, a larger share of different ones
nearly identifies people."""

OWN, ATTACHED, ATTACHED_CELLS = "own attributes", "attached columns", "attached cells"
HIDDEN = "hidden cells and attached columns"


def naming_columns(evidence: Evidence, among: Sequence[str], few: int = _FEW_KNOWN) -> list[str]:
    """Return the problems of columns of people that nearly identify them.

    `few`: the fewest cells of a column that counts.
    """
    at = columns_of(evidence)
    cells = {name: f"nullif(c{at[name]}, '*')" for name in among if name in at}
    return [*naming_problems(evidence.tables, PEOPLE_ROWS, cells, "node", few)]


def own_attributes(evidence: Evidence, _condition: conditions.OwnAttributes) -> Check:
    """Whether every published attribute that is not suppressed is that of the node's person."""
    return _cells(evidence, columns_of(evidence), stars=True)


def attached_problems(evidence: Evidence, condition: AttachedColumns) -> list[str]:
    """Return what is wrong with the attached columns of a table."""
    promise, names = evidence.manifest.claim.guarantee, evidence.columns
    known = getattr(promise, "known", ()) or ()
    # A column of a table is known or attached, never both and never neither.
    problems = [
        f"{shown(n)} is not a column of the data" for n in condition.columns if n not in names
    ]
    problems += [f"{shown(n)} is both attached and known" for n in condition.columns if n in known]
    every = {*condition.columns, *known}
    problems += [f"{shown(n)} is neither known nor attached" for n in names if n not in every]
    if not known:
        problems.append("the guarantee does not say which columns are known")
    cells = {n: f"c{names.index(n)}" for n in condition.columns if n in names}
    return [*problems, *naming_problems(evidence.tables, "shown", cells, "row", _FEW_ATTACHED)]


def naming_problems(
    db: Database, rows: str, cells: Mapping[str, str], what: str, few: int
) -> Iterator[str]:
    """Yield the columns in which almost every row has a different value.

    In such a column nearly every row has another value, suppressed cells aside.
    """
    # Values that are shown, and distinct ones among them.
    for name, cell in cells.items():
        row = db.first(f"SELECT count({cell}), count(DISTINCT {cell}) FROM {rows}")
        known, values = row or (0, 0)
        if known >= few and values > _NAMING * known:
            yield (
                f"{shown(name)} has {values} values for {counted(known, what)}, so it nearly "
                "identifies people"
            )


def table_cells_are_own(evidence: Evidence, columns: Sequence[str]) -> Check:
    """Return whether attached columns of a table are as in the original."""
    original, cells = evidence.original_as(Table), 0
    # Each pair of an original and a released value once.
    for column in columns:
        number, place = evidence.columns.index(column), original.columns.index(column)
        for had, now, row, count in had_and_shown(evidence.tables, original, number, place):
            cells += count
            if had != now:
                own, other = ("suppressed" if cell is None else shown(cell) for cell in (had, now))
                at = row_of(evidence.file(), row)
                return fails(f"{at} has {other} in {shown(column)}, but {own} in the original")
    return holds(f"each of {cells} cells is the original's")


def attached_columns(evidence: Evidence, condition: AttachedColumns) -> Check:
    """Whether every attached attribute is published, and none of them is part of the guarantee."""
    # Tables name columns in the condition; networks have them in the file of people.
    if evidence.manifest.data.kind == "table":
        of_table = f"published outside the guarantee: {', '.join(map(shown, condition.columns))}"
        return judged(attached_problems(evidence, condition), of_table)
    published, promise = columns_of(evidence), evidence.manifest.claim.guarantee
    absent = [name for name in condition.attach if name not in published]
    both = [name for name in condition.attach if name in getattr(promise, "known", ())]
    problems = [f"{shown(name)} is not a column of the file of people" for name in absent]
    problems += [f"{shown(name)} is both attached and known" for name in both]
    problems += naming_columns(evidence, condition.attach, _FEW_ATTACHED)
    names = ", ".join(map(shown, condition.attach))
    return judged(problems, f"published outside the guarantee: {names}")


def attached_values(evidence: Evidence, condition: AttachedColumns) -> Check:
    """Whether the values of attached columns are those of the original, row by row."""
    if evidence.manifest.data.kind == "table":
        chosen_columns = [name for name in condition.columns if name in evidence.columns]
        return table_cells_are_own(evidence, chosen_columns)
    at = columns_of(evidence)
    chosen = {name: at[name] for name in condition.attach if name in at}
    return _cells(evidence, chosen, stars=False)


def hidden_cells(evidence: Evidence, condition: AttachedColumns) -> Check:
    """Whether attached columns, alone or together, show no more of hidden cells than accepted."""
    db, is_table = evidence.tables, evidence.manifest.data.kind == "table"
    accepted = LEAST_NARROWED if condition.may_narrow is UNSET else condition.may_narrow
    at = {} if is_table else columns_of(evidence)
    names = evidence.columns if is_table else list(at)
    attached = [name for name in names if name in condition.columns]
    sets = [[number] for number in range(len(attached))]
    sets += [[*range(len(attached))]] if len(attached) > 1 else []
    most = 0.0
    for name in names if attached else ():
        if name in attached:
            continue
        # The original value, the published one, and the attached ones of every row or node.
        if is_table:
            original = evidence.original_as(Table)
            table_cells.put_own_and_shown(db, original, name, names, attached)
        else:
            network = evidence.original_as(Network)
            node_attributes.put_own_and_shown(db, network, name, at, attached)
        found = narrowed_cells(db, sets)
        db.run("DROP TABLE own_and_shown")
        for numbers, cells in zip(sets, found, strict=False):
            if cells.exceeds(accepted):
                columns = ", ".join(shown(attached[number]) for number in numbers)
                return fails(
                    f"{columns} narrow{'s' if len(numbers) == 1 else ''} {100 * cells.share:.1f}% "
                    f"of {counted(cells.hidden, 'hidden cell')} of {shown(name)} to one value "
                    f"({100 * cells.chance:.1f}% by chance), which no run publishes unasked"
                )
            most = max(most, cells.beyond_chance)
    beyond = f"{100 * most:.1f}% of" if most else "no"
    return holds(f"attached columns narrow {beyond} hidden cells of a known one beyond chance")


def _cells(evidence: Evidence, columns: dict[str, int], *, stars: bool) -> Check:
    """Return whether every cell of these columns is its owner's."""
    original = evidence.original_as(Network)
    strange = strange_cell(evidence.tables, original, columns, stars=stars)
    if strange is None:
        return holds(
            f"every published value of {counted(len(columns), 'attribute')} is the person's own"
        )
    had = "suppressed" if strange.original is None else shown(strange.original)
    return fails(
        f"node {strange.node} has {shown(strange.column)}={shown(strange.published)}, but {had} "
        f"in the original; {counted(strange.cells, 'node')} "
        f"differ{'s' if strange.cells == 1 else ''} in this attribute"
    )
