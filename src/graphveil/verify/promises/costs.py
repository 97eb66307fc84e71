"""The owner's record of what a release cost, recounted: every figure that can be counted again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphveil.verify.promises.evidence import LINKED, Evidence, Part
from graphveil.verify.recount.edits import MISSING, Changes, changes
from graphveil.verify.recount.table_rows import Compared, compare_with_original
from graphveil.verify.verdict import Check, counted, fails, holds, shown

EDITS, COST = "edits", "cost"

_NAMES = {"graph": EDITS, "bipartite": COST, "table": COST}
_FIELDS = {
    "graph": {
        "edges_before": "before",
        "edges_kept": "kept",
        "edges_deleted": "deleted",
        "edges_added": "added",
    },
    "bipartite": {
        "entries_before": "before",
        "entries_kept": "kept",
        "entries_suppressed": "deleted",
        "entries_created": "added",
    },
    "table": {"cells": "cells", "stars_before": "before", "stars_added": "added"},
}
"""The names of figures in records, and the fields that are recounted, by the kind of data."""

_NEEDED = {"edges_deleted", "edges_added", *_FIELDS["bipartite"], "stars_added"}
"""The figures that no record lacks."""


def cost_checks(evidence: Evidence) -> list[Check]:
    """Return whether as much was kept, deleted and added as the owner's record says.

    Of a table under ids from a key nothing is counted: each of its cells is compared.
    """
    kind = evidence.manifest.data.kind
    if kind == "table" and evidence.keyed:
        return []
    question = "whether as much changed as the record says"
    part = Part(_NAMES[kind], ("record", *LINKED), question, _cost, any_ids=True)
    return [part.run(evidence, kind)]


def _cost(evidence: Evidence, kind: str) -> Check:
    recounted: Changes | Compared
    if kind == "table":
        recounted = compare_with_original(evidence.tables, evidence.table, evidence.columns)
    else:
        original = evidence.graph if kind == "graph" else evidence.features
        recounted = changes(evidence.tables, original)
    stated = evidence.record.cost if evidence.record else {}
    counts = {figure: getattr(recounted, field) for figure, field in _FIELDS[kind].items()}
    wrong = [
        figure
        for figure, count in counts.items()
        if (figure in stated or figure in _NEEDED) and stated.get(figure) != count
    ]
    if not wrong:
        return holds(_NAMES[kind], f"{_in_words(kind, counts)}, as the record says")
    said = ", ".join([_in_words(kind, stated), *(f"{name}={stated.get(name)}" for name in wrong)])
    lost = _first_missing(evidence) if kind == "graph" else ""
    return fails(_NAMES[kind], f"{_in_words(kind, counts)}, the record says {said}{lost}")


def _in_words(kind: str, figures: Mapping[str, Any]) -> str:
    values = [figures.get(figure) for figure in _FIELDS[kind]]
    if kind == "table":
        return f"{shown(figures.get('stars_added'))} cells suppressed"
    before, kept, deleted, added = map(shown, values)
    if kind == "graph":
        more = values[3]
        edges = counted(more, "edge") if isinstance(more, int) else f"{added} edges"
        return f"{edges} added and {deleted} deleted"
    return f"{kept} of {before} entries kept, {deleted} suppressed and {added} created"


def _first_missing(evidence: Evidence) -> str:
    row = evidence.tables.first(f"{MISSING} LIMIT 1")
    return f"; missing is the edge between nodes {row[0]} and {row[1]}" if row else ""
