"""`graphveil measure INPUT`: how identifiable the people are as the data stands."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Literal

from graphveil import io
from graphveil.cli.console import bar, printable, result, result_json, result_table, say
from graphveil.cli.flags import (
    INPUT,
    OUTPUT_GROUP,
    READING_GROUP,
    flag,
    flags_of,
    taken,
    with_signature,
)
from graphveil.cli.reading import read_input
from graphveil.data import Graph
from graphveil.data.ids import to_arrow
from graphveil.measures import MEASURES, Identifiability, check_parameters, measure
from graphveil.progress import shown, stage

SHOWN_AT_RISK = 10


def _run(path: Path, **given: Any) -> int:
    name, k, as_json, out = (given.pop(key) for key in ("measure", "k", "json", "at_risk"))
    check_parameters(name, k)
    options = taken(io.GraphOptions, given)
    with shown(bar):
        data = read_input(path, options)
        if not isinstance(data, Graph):
            raise TypeError("graph options give a graph")
        with stage(f"measuring {name}"):
            found = measure(data, measure=name, k=k)
    if out is not None:
        _write_at_risk(found, out)
    if as_json:
        result_json(found.summary() | {"at_risk": found.at_risk().tolist()})
    else:
        _print(found)
    return 0


def _print(found: Identifiability) -> None:
    figures = found.summary()
    knows = MEASURES[found.measure].knows
    result(f"someone who knows {knows} (measure: {found.measure}):")
    result(f"  nodes                      {figures['nodes']:>12,}")
    result(f"  classes of look-alikes     {figures['classes']:>12,}")
    result(f"  smallest class             {figures['smallest_class']:>12,}")
    unique, risky = figures["unique_nodes"], figures["nodes_at_risk"]
    result(f"  unique                     {unique:>12,}  {100 * found.uniqueness:.2f} %")
    result(f"  in classes below k={found.k:<6}  {risky:>12,}  {100 * found.share_at_risk:.2f} %")
    ids = found.at_risk()
    if ids.size:
        first = ", ".join(printable(name) for name in ids[:SHOWN_AT_RISK].tolist())
        more = f" and {ids.size - SHOWN_AT_RISK:,} more" if ids.size > SHOWN_AT_RISK else ""
        result(f"at risk, smallest classes first: {first}{more}")
    result("")
    result_table(
        ["class size", "classes", "nodes"],
        [(f"{s:,}", f"{c:,}", f"{n:,}") for s, c, n in found.size_distribution()],
        right=(0, 1, 2),
    )


def _write_at_risk(found: Identifiability, path: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415  loaded when a file is written
    from pyarrow import csv  # noqa: PLC0415

    risky = found.node_sizes < found.k
    columns = [to_arrow(found.ids[risky]), found.node_values[risky], found.node_sizes[risky]]
    table = pa.table(columns, names=["node", found.measure, "class_size"])
    csv.write_csv(table.sort_by([("class_size", "ascending"), ("node", "ascending")]), path)
    say(f"written: {path}, {table.num_rows:,} nodes at risk")


def _flags() -> list[inspect.Parameter]:
    names: Any = Literal[tuple(MEASURES)]
    return [
        flag("measure", names, "What the adversary knows of a person.", default="degree"),
        flag("k", int, "Nodes in classes below k are at risk (at least 2).", default=2),
        flag(
            "at_risk",
            Path | None,
            "Write every node at risk, its value and class size to this CSV file.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "json",
            bool,
            "Print JSON, with the id of every node at risk.",
            default=False,
            group=OUTPUT_GROUP,
            negative="",
        ),
    ]


command = with_signature(
    _run,
    [INPUT, *_flags(), *flags_of(io.GraphOptions, READING_GROUP)],
    name="measure",
    text="How identifiable is this network as it stands?\n\n"
    "Counts exactly which nodes look alike, how many are unique, and names those at risk.\n\n"
    "Example: graphveil measure friends.csv --k 5",
)
