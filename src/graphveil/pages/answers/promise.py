"""Whether a release keeps its guarantee, and what it cost, in words of readers."""

from __future__ import annotations

from collections.abc import Mapping

from graphveil.claims.manifest import Described
from graphveil.core.hints import Message
from graphveil.core.text import counted, number, percent
from graphveil.core.visible import visible
from graphveil.verify.verdict import Verdict

_COSTS = (
    ("nodes_unprotected", "nodes not protected"),
    ("edges_added", "edges added"),
    ("edges_deleted", "edges deleted"),
    ("edges_before", "edges before"),
    ("entries_kept", "entries kept"),
    ("entries_suppressed", "entries suppressed"),
    ("entries_created", "entries created"),
    ("entries_deleted", "entries deleted"),
    ("entries_added", "entries added"),
    ("entries_before", "entries before"),
    ("exact_share", "of the cells published as they were"),
    ("stars_added", "cells suppressed"),
    ("cells_replaced", "cells replaced"),
    ("cells_filled", "cells filled"),
    ("cells", "cells before"),
    ("unique_by_degree", "people unique by degree"),
    ("unique_by_vrq", "people unique by their neighbors' degrees"),
    ("unique_by_items", "people unique by their items"),
    ("unique_by_row", "people unique by their row"),
    ("kept_share", "of the cells kept"),
)
"""The costs that people ask for first, in this order."""

_IF_ANY = ("nodes_unprotected", "cells_filled")

ONE = {"nodes": "node", "edges": "edge", "entries": "entry", "cells": "cell", "people": "person"}
"""The singular of what is counted."""

SHOWN_COSTS = 3


def cost_words(cost: Mapping[str, float | int]) -> tuple[str, ...]:
    """Return three figures of what a release cost, of those that the owner's record holds."""
    words = []
    for name, what in _COSTS:
        value = cost.get(name)
        if value is None or (name in _IF_ANY and not value):
            continue
        figure = percent(value) if name.endswith("share") else number(value)
        noun, _, which = what.partition(" ")
        words.append(f"{figure} {ONE.get(noun, noun) if value == 1 else noun} {which}")
    rest = (f"{number(v)} {name.replace('_', ' ')}" for name, v in cost.items())
    if words and "edits_lower_bound" in cost:
        words[SHOWN_COSTS - 1 :] = [_fewest(cost)]
    return tuple(words or rest)[:SHOWN_COSTS]


def until_line(cost: Mapping[str, float | int]) -> Message | None:
    """Return what a run with bounds reached; None of others.

    >>> until_line({"until clustering: relative error": 0.0312, "edits": 3})
    'Reached: clustering: relative error 0.0312.'
    """
    reached = [
        f"{name.removeprefix('until ')} {value:.4g}"
        for name, value in cost.items()
        if name.startswith("until ")
    ]
    return Message(f"Reached: {', '.join(reached)}.") if reached else None


MOST_COLUMNS = 12
"""So many columns are said one by one."""

_WAY = "generalize or drop it"
_COARSER = {
    "dates": "decade or a larger span of years",
    "widths": "a greater width",
    "prefix": "a shorter prefix",
    "edges": "a rule with fewer edges",
    "file": "a coarser level to its file",
    "auto": "coarser levels than auto",
}
_WAYS: dict[str | None, str] = {
    kind: f"its levels are too fine: add {what}, or drop it" for kind, what in _COARSER.items()
}
"""What to do with a column of which nothing is left, by the kind of its levels."""


def columns_line(described: Described, cost: Mapping[str, float | int]) -> Message | None:
    """Return what is left of each column of a table, the columns in their order; None of others.

    Cells of attached columns are never suppressed: those without a value are missing. In others
    they are missing or suppressed if the original has missing cells. Where cells show values that
    the original does not have there, none is called exact. A column that has levels and of which
    nothing is left needs a coarser one.

    >>> from graphveil.claims.manifest import ColumnCells
    >>> age = ColumnCells(name="age", values=1, generalized=4, suppressed=3)
    >>> sex = ColumnCells(name="sex", values=0, generalized=0, suppressed=8)
    >>> columns_line(Described(kind="table", files=[], counts={}, suppressed_cells="", \
cells=[age, sex]), {})
    'Columns: age 12.5% exact, 50% generalized, 37.5% suppressed; sex: nothing is left; \
generalize or drop it.'
    """
    cells = described.cells or []
    exact = "shown" if "cells_replaced" in cost else "exact"
    levels = {one.name: one.levels for one in described.columns or []}
    published = {one.name for one in described.columns or [] if one.role != "known"}
    missing = int(cost.get("stars_before", 0))
    without = "missing or suppressed" if missing else "suppressed"
    words = []
    for one in cells[:MOST_COLUMNS]:
        rows = one.values + one.generalized + one.suppressed
        if not rows:
            return None
        if one.suppressed == rows:
            way = _WAYS.get(levels.get(one.name), _WAY)
            left = "every cell is missing" if one.name in published else f"nothing is left; {way}"
            if one.name not in published and missing:
                left = f"nothing is left; {_of_missing(missing)}, or {way}"
            words.append(f"{one.name}: {left}")
            continue
        kind = "missing" if one.name in published else without
        hidden = f", {percent(one.suppressed / rows)} {kind}" if one.suppressed else ""
        more_general = f", {percent(one.generalized / rows)} generalized" if one.generalized else ""
        words.append(f"{one.name} {percent(one.values / rows)} {exact}{more_general}{hidden}")
    if not words:
        return None
    more = len(cells) - MOST_COLUMNS
    rest = f"; {more} more (graphveil evaluate)" if more > 0 else ""
    return Message(visible(f"Columns: {'; '.join(words)}{rest}."))


def _of_missing(missing: int) -> str:
    """Return what missing cells do to a column of which nothing is left, and a way out.

    >>> _of_missing(2)
    'the original has 2 missing cells, and a row without a value equals only rows in which it is \
suppressed: remove such rows'
    """
    many = counted(missing, "missing cell", spec=",")
    return (
        f"the original has {many}, and a row without a value equals only rows in which it is "
        "suppressed: remove such rows"
    )


def _fewest(cost: Mapping[str, float | int]) -> str:
    """Return how near the edits are to the fewest that are possible."""
    edits, least = cost["edits"], cost["edits_lower_bound"]
    noun = "edit" if edits == 1 else "edits"
    if edits <= least:
        return f"{number(edits)} {noun} in all, proved minimal"
    return f"{number(edits)} edits in all; at least {number(least)} are necessary"


def verdict_lines(verdict: Verdict) -> tuple[Message, ...]:
    """Return the answer, what was not checked, and a line for each check that fails."""
    return (*verdict.said(), *failing_lines(verdict))


def failing_lines(verdict: Verdict) -> tuple[Message, ...]:
    """Return a line for each check that fails and that the answer does not name itself."""
    first = verdict.said()[0]
    rest = [one for one in verdict.failures() if one.detail not in first]
    return tuple(Message(f"  {one.name}: {one.detail}") for one in rest)
