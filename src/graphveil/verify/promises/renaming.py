"""Conditions on new ids: the data is the same but for them, and they come from the owner's key."""

from __future__ import annotations

import hmac

import numpy as np

from graphveil.claims.condition import Condition
from graphveil.claims.conditions import KeyedIds, PeopleAsItems, SameData
from graphveil.claims.guarantees import Guarantee, NotClaimed
from graphveil.data import Data, Table
from graphveil.data.ids import as_text
from graphveil.records.manifest import ID_COLUMN
from graphveil.verify.promises.evidence import LINKED, Evidence, Part, Recheck
from graphveil.verify.recount.edits import ADDED, MISSING, changes
from graphveil.verify.recount.linked import PUBLISHED, released_ids
from graphveil.verify.recount.same_cells import Cells, first_other_row
from graphveil.verify.verdict import Check, counted, fails, holds, judged, not_checked, shown

SAME, FREE, FROM_KEY = "same data", "ids of their own", "ids from the key"
KEY = "the owner's key (--key)"
_ONLY_THE_KEY = "whether nothing but the key made the ids"
_ANY = ("graph", "bipartite", "table")
_BESIDE_A_KEY = (KeyedIds, SameData, PeopleAsItems)
_PURPOSE = b"graphveil rename 1\0"


def _same_data(evidence: Evidence, condition: SameData) -> Check:
    del condition
    if isinstance(evidence.original, Table):
        return _same_cells(evidence, evidence.original)
    kind = evidence.manifest.data.kind
    original = evidence.graph if kind == "graph" else evidence.features
    edits = changes(evidence.tables, original)
    noun = "edge" if kind == "graph" else "entry"
    if not edits.added and not edits.deleted:
        return holds(SAME, f"{counted(edits.before, noun)} in both, under other ids")
    lost = ""
    for query, says in ((MISSING, "missing"), (ADDED, "new")) if kind == "graph" else ():
        row = evidence.tables.first(f"{query} LIMIT 1")
        lost += f"; {says} is the edge between nodes {row[0]} and {row[1]}" if row else ""
    were = f"{counted(edits.added, noun)} added and {edits.deleted} removed"
    return fails(SAME, f"{were}, of {edits.before}{lost}")


def _same_cells(evidence: Evidence, original: Table) -> Check:
    columns = evidence.columns
    if columns != list(original.columns):
        return fails(SAME, "the release has other columns than the original")
    cells = Cells(keyed=evidence.keyed, starred=evidence.data_file.format != "parquet")
    row = first_other_row(evidence.tables, original, cells)
    if row is None:
        n = original.n_rows * original.n_columns
        return holds(SAME, f"{counted(n, 'cell')} in both, under other ids")
    where = f"row {row.released} has another value of {shown(columns[row.column])}"
    return fails(SAME, f"{where}; {counted(row.rows, 'row')} in all")


def _nothing_claimed(evidence: Evidence, condition: KeyedIds) -> Check:
    """Whether nothing else is claimed: nobody without the key can check these ids."""
    del condition
    claim, problems = evidence.manifest.claim, []
    if not isinstance(claim.guarantee, NotClaimed):
        problems.append("ids that come from a key stand beside a claim, whose ids are 0, 1, 2")
    problems += [
        f"ids that come from a key stand beside another condition: {stated.sentence}"
        for stated in claim.conditions
        if not isinstance(stated, _BESIDE_A_KEY)
    ]
    published = PUBLISHED[evidence.manifest.data.kind]
    most, n = evidence.tables.first(f"SELECT max(i), count(*) FROM ({published})") or (None, 0)
    if n > 1 and most is not None and most < n:
        problems.append(f"the ids are 0 to {n - 1}, which no key gives")
    if evidence.manifest.data.kind == "table" and evidence.data_file.columns[:1] != [ID_COLUMN]:
        name = shown("".join(evidence.data_file.columns[:1]))
        problems.append(f"the column of ids is called {name}, not {ID_COLUMN!r}")
    return judged(FREE, problems, "nothing is claimed, so ids may be others than 0, 1, 2")


def _from_key(evidence: Evidence, condition: KeyedIds) -> Check:
    """Whether every published id is what the owner's key gives: nothing else is written there."""
    del condition
    if evidence.key is None or evidence.original is None:
        return not_checked(FROM_KEY, _ONLY_THE_KEY, needs=KEY)
    expected = _ids_of(evidence.key, evidence.original)
    other = int(np.count_nonzero(released_ids(evidence.tables) != expected))
    if other:
        return fails(FROM_KEY, f"{other} of {expected.size} ids are not those that this key gives")
    return holds(FROM_KEY, f"the key given makes all {expected.size} ids")


def _ids_of(key: bytes, original: Data) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return 63 bits of HMAC-SHA256 of every original id, as the condition says."""
    texts = as_text(original.labels()).tolist()
    whole = (
        hmac.digest(key, _PURPOSE + t.encode("utf-8", "surrogatepass"), "sha256") for t in texts
    )
    return np.array([int.from_bytes(digest[:8], "big") >> 1 for digest in whole], dtype=np.int64)


RECHECKS: dict[type[Guarantee | Condition], Recheck] = {
    SameData: Recheck(
        _ANY,
        (Part(SAME, LINKED, "whether nothing but ids changed", _same_data, any_ids=True),),
    ),
    KeyedIds: Recheck(
        _ANY,
        (
            Part(FREE, ("data",), "", _nothing_claimed, any_ids=True),
            Part(FROM_KEY, LINKED, _ONLY_THE_KEY, _from_key, any_ids=True),
        ),
    ),
}
"""How every condition on new ids is checked again."""
