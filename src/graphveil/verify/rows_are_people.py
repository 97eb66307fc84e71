"""Whether a row is a person: what the owner said, and what the published values say against it.

Claim checked: a guarantee of a table says whether its rows are people because the owner said so
(``row``), because a column names them (``column``), or because nobody said anything
(``assumed``). The record of how the input was read decides whether the manifest repeats what was
said. Where nothing was said, columns whose values look like names of people that repeat fail the
check.

Means: the record and one GROUP BY per column. What makes a column look like ids of people is
defined once, in `graphveil.data.ids`: it is what a run asks about, so that `verify` refuses what
a run refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from graphveil.claims.conditions import AttachedColumns, Generalized
from graphveil.claims.manifest import Manifest
from graphveil.core.text import counted
from graphveil.data import Data
from graphveil.data.id_columns import FEW
from graphveil.data.ids import as_ids
from graphveil.data.persons import named_as_people, sign_of_people
from graphveil.verify import verdict
from graphveil.verify.evidence import Evidence
from graphveil.verify.files.owner import Owner
from graphveil.verify.verdict import Check, fails, holds, not_checked, shown

ROWS = "rows and people"


def rows_are_as_said(manifest: Manifest, owner: Owner, original: Data | None) -> dict[str, Check]:
    """Return whether the owner said what the guarantee says of rows; none where it says nothing.

    What counts is what the input was read with; where nothing was read, what the original says.
    """
    # What the guarantee says of rows: unset for data other than tables.
    claimed = getattr(manifest.claim.guarantee, "person", None)
    given = None if original is None else original.person
    if claimed is msgspec.UNSET and given is not None:
        return {ROWS: fails("the original is a table, but the guarantee is of users")}
    if claimed not in ("row", "column", "people", "households"):
        return {}
    # What the owner said when the input was read; without a record, what the original given says.
    reading = {} if owner.record is None else owner.record.reading
    if "person" in reading:
        given = _as_read(reading, given, claimed)
    elif original is None:
        why = "whether the owner said that rows are people"
        return {ROWS: not_checked(why, needs=verdict.ORIGINAL)}
    elif given == "assumed":
        why = "the original given does not say whether its rows are people"
        return {ROWS: not_checked(why, needs="the option person")}
    if given == claimed:
        several = claimed in ("people", "households")
        what = f"{claimed} with several rows" if several else "each row is a different person"
        return {ROWS: holds(f"{what}, as was said when the data was read")}
    return {ROWS: fails(f"the guarantee says {claimed}, but the owner's data says {given}")}


def _as_read(reading: Mapping[str, Any], original: Any, claimed: Any) -> Any:
    """Return what the owner said of rows, by the record of how they were read.

    `original`: what the original given says, None without one: it decides whether people whom a
    column names have several rows; without it, what the release claims of that is taken.
    """
    if reading.get("household") is not None:
        return "households"
    if reading["person"] in (None, "row"):
        return "row" if reading["person"] else "assumed"
    said = claimed if original is None else original
    return said if said in ("column", "people") else "column"


def people_in_rows(evidence: Evidence) -> dict[str, Check]:
    """Return a failing check where a column names people who repeat, and nobody said what rows are.

    No run releases such a table: it asks. Attached columns count by their names and values, known
    ones by their names, if they have `FEW` values or more and nothing is generalized. That a column
    determines many others, or holds codes, is tested only when a table is released: suppressed and
    generalized cells hide it. So the guarantee keeps its condition, "assuming that each row is a
    different person".
    """
    # Only a guarantee that assumes each row to be a person depends on this.
    claim, is_table = evidence.manifest.claim, evidence.manifest.data.kind == "table"
    assumed = getattr(claim.guarantee, "person", None) == "assumed"
    if evidence.db is None or not (is_table and assumed):
        return {}
    # Known columns of a generalized table hold intervals, whose repetition says nothing of people.
    stated = claim.conditions
    attached = {n for one in stated if isinstance(one, AttachedColumns) for n in one.columns}
    generalized = any(isinstance(one, Generalized) for one in stated)
    for at, name in enumerate(evidence.columns):
        if name not in attached and (generalized or not named_as_people(name)):
            continue
        # The distinct values of the column, and how many rows have each.
        cells = f"SELECT c{at}, count(*) FROM shown WHERE c{at} IS NOT NULL GROUP BY ALL ORDER BY 1"
        found = dict(evidence.db.rows(cells))
        values, sizes = list(found), list(found.values())
        # Values that repeat may be people with several rows: ask the rule that a run asks, too.
        if max(sizes, default=0) > 1 and (name in attached or len(values) >= FEW):
            sign = sign_of_people(name, as_ids(values, what=name), np.array(sizes))
            if sign:
                n = f"{counted(len(values), 'value')} in {counted(sum(sizes), 'row')}"
                why = "but nobody said what a row is: no run releases such a table"
                return {ROWS: fails(f"{shown(name)} may identify people ({n}, {sign}), {why}")}
    return {}
