"""The values that columns would have at every level."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from graphveil.app.questions import asked_by
from graphveil.core.errors import GraphveilError
from graphveil.core.questions import Problem

if TYPE_CHECKING:
    from graphveil.app.tasks import Roles
    from graphveil.data import Table

MOST_PREVIEWED, MOST_SHOWN = 100_000, 12
"""Values of so many first rows are previewed, and so many values of each level are shown."""


class Level(NamedTuple):
    """One level of a column: its commonest values with their rows, and how many values it has."""

    common: list[tuple[str, int]]
    values: int


def previewed(
    data: Table, roles: Roles, wanted: str
) -> tuple[dict[str, list[Level]], tuple[Problem, ...]]:
    """Return the values that the first rows would have at every level, above all and `*` aside.

    Also returned are questions: of levels that do not suit their column, and of what people asked
    for that is not a number.
    """
    import numpy as np  # noqa: PLC0415  heavy, and the server starts without it

    from graphveil.methods.adaptive.levels_and_weights import levels_in  # noqa: PLC0415  as above
    from graphveil.methods.generalize.levels import column_of, values_of  # noqa: PLC0415  as above

    cells = data.to_arrow().slice(0, MOST_PREVIEWED)
    found: dict[str, list[Level]] = {}
    problems = []
    for name in (*roles.levels, *filter(None, [wanted])):
        try:
            if name == wanted:
                levels_in(data, name)
                continue
            values, form = values_of(name, cells.column(name), ()), roles.dates.get(name)
            tree, leaves = column_of(values, roles.levels[name], form)
        except GraphveilError as error:
            problems.append(asked_by(error, name))
            continue
        found[name], before = [], len(values.texts)
        for nodes, texts in zip(tree.nodes[1:-1], tree.texts[1:-1], strict=True):
            rows = np.bincount(nodes[leaves], minlength=len(texts)).tolist()
            there = [one for one in zip(texts, rows, strict=True) if one[0] != "*" and one[1]]
            most = sorted(range(len(there)), key=lambda at: -there[at][1])[:MOST_SHOWN]
            if len(there) < before:
                found[name].append(Level([there[at] for at in sorted(most)], len(there)))
            before = len(there)
    return found, tuple(problems)
