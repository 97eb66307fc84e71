"""What is promised, and what a release cost, in words of readers.

Whether a release keeps its promise, in one sentence; and what fails, where something does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphveil.core.errors import Message
from graphveil.core.text import number, percent, visible
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
    ("cells", "cells before"),
    ("unique_by_degree", "people unique by degree"),
    ("unique_by_vrq", "people unique by their neighbors' degrees"),
    ("unique_by_items", "people unique by their items"),
    ("unique_by_row", "people unique by their row"),
    ("kept_share", "of the cells kept"),
)
"""The costs that people ask for first, in this order."""

ONE = {"nodes": "node", "edges": "edge", "entries": "entry", "cells": "cell", "people": "person"}
"""The singular of what is counted."""

SHOWN_COSTS = 3


def cost_words(cost: Mapping[str, float | int]) -> tuple[str, ...]:
    """Return three figures of what a release cost, of those that the owner's record holds.

    `cost`: by name, as the record has them.

    Examples
    --------
    >>> cost_words({"rounds": 1, "edges_added": 17, "edges_deleted": 0, "edges_before": 621})
    ('17 edges added', '0 edges deleted', '621 edges before')
    >>> cost_words({"edges_added": 3, "edges_deleted": 9, "edges_before": 621, "edits": 12,
    ...             "edits_lower_bound": 11})[-1]
    '12 edits in all; at least 11 are necessary'
    """
    words = []
    for name, what in _COSTS:
        value = cost.get(name)
        if value is None or (name == "nodes_unprotected" and not value):
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

    Examples
    --------
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


def columns_line(
    suppressed: Sequence[tuple[str, int]],
    cost: Mapping[str, float | int],
    generalized: Mapping[str, int] | None = None,
) -> Message | None:
    """Return what is left of each column of a table, the columns in their order; None of others.

    Where cells show values that the original does not have there, none is called exact.

    Parameters
    ----------
    suppressed
        Each column with the number of its suppressed cells, as the record has them.
    cost
        The figures of the record.
    generalized
        The columns with cells above the values, with the number of these; None if not counted.

    Examples
    --------
    >>> columns_line([("age", 3)], {"cells": 8}, {"age": 4})
    'Columns: age 12.5% exact, 50% generalized, 37.5% suppressed.'
    >>> columns_line([("age", 3), ("sex", 0), ("birth", 8)], {"cells": 24})
    'Columns: age 62.5% exact, 37.5% suppressed; sex 100% exact; birth: nothing is left; \
generalize or drop it.'
    """
    rows = int(cost.get("cells", 0)) // max(len(suppressed), 1)
    if not rows:
        return None
    unknown = "granularity" in cost and generalized is None
    exact = "shown" if unknown or "cells_replaced" in cost else "exact"
    words = []
    for name, stars in suppressed:
        if stars == rows:
            words.append(f"{name}: nothing is left; generalize or drop it")
            continue
        hidden = f", {percent(stars / rows)} suppressed" if stars else ""
        above = (generalized or {}).get(name, 0)
        more_general = f", {percent(above / rows)} generalized" if above else ""
        own = percent((rows - stars - above) / rows)
        words.append(f"{name} {own} {exact}{more_general}{hidden}")
    more = len(words) - MOST_COLUMNS
    rest = f"; {more} more (graphveil evaluate)" if more > 0 else ""
    return Message(visible(f"Columns: {'; '.join(words[:MOST_COLUMNS])}{rest}."))


def _fewest(cost: Mapping[str, float | int]) -> str:
    """Return how near the edits are to the fewest that are possible."""
    edits, least = cost["edits"], cost["edits_lower_bound"]
    noun = "edit" if edits == 1 else "edits"
    if edits <= least:
        return f"{number(edits)} {noun} in all, proved minimal"
    return f"{number(edits)} edits in all; at least {number(least)} are necessary"


def verdict_lines(verdict: Verdict) -> tuple[Message, ...]:
    """Return the answer, what was not checked, and a line for each check that fails.

    `verdict`: what the checker answered.

    Examples
    --------
    >>> from graphveil.verify.verdict import Check
    >>> check = Check("classes", "holds", "3 classes")
    >>> print(*verdict_lines(Verdict("recomputed", "Every node has the same degree.", [check])))
    The guarantee holds: every node has the same degree (1 check holds).
    """
    return (*verdict.said(), *failing_lines(verdict))


def failing_lines(verdict: Verdict) -> tuple[Message, ...]:
    """Return a line for each check that fails and that the answer does not name itself."""
    first = verdict.said()[0]
    rest = [one for one in verdict.failures() if one.detail not in first]
    return tuple(Message(f"  {one.name}: {one.detail}") for one in rest)
