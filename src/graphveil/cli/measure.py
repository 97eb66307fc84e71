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
    options_from,
    with_signature,
)
from graphveil.cli.reading import read_input
from graphveil.data import Graph
from graphveil.data.ids import to_arrow
from graphveil.measures import (
    MEASURES,
    Cascade,
    Identifiability,
    cascade,
    check_parameters,
    measure,
)
from graphveil.progress import shown, stage

SHOWN_AT_RISK = 10


def _run(path: Path, **given: Any) -> int:
    asked = {name: given.pop(name) for name in ("measure", "distance", "k", "phi")}
    second = {"second": given.pop("cascade"), "second_distance": given.pop("cascade_distance")}
    as_json, out = given.pop("json"), given.pop("at_risk")
    check_parameters(**asked)
    if second["second"] is not None:
        check_parameters(second["second"], asked["k"], distance=second["second_distance"])
    options = options_from(io.GraphOptions, given)
    with shown(bar):
        data = read_input(path, options)
        if not isinstance(data, Graph):
            raise TypeError("graph options give a graph")
        with stage(f"measuring {asked['measure']}"):
            found = measure(data, **asked)
        spread = None
        if second["second"] is not None:
            with stage("following the cascade"):
                spread = _cascade(data, found, second)
    if found.undecided:
        say(_given_up(found.undecided))
    if out is not None:
        _write_at_risk(found, out)
    if as_json:
        further = {} if spread is None else {"cascade": spread.summary()}
        result_json(found.summary() | further | {"at_risk": found.at_risk().tolist()})
    else:
        _print(found)
        if spread is not None:
            _print_cascade(spread)
    return 0


def _cascade(graph: Graph, found: Identifiability, second: dict[str, Any]) -> Cascade:
    return cascade(
        graph, measure=found.measure, distance=found.distance, labels=found.labels, **second
    )


def _given_up(undecided: int) -> str:
    return (
        f"warning: {undecided:,} comparisons of neighbourhoods were given up and count as "
        "different, so that more nodes may be shown at risk than are. Use the measure "
        "degree-distribution, or a smaller distance."
    )


def _print(found: Identifiability) -> None:
    figures = found.summary()
    knows = MEASURES[found.measure].knows
    result(f"someone who knows {knows} (measure: {found.measure}, distance: {found.distance}):")
    _line("nodes", figures["nodes"])
    _line("classes of look-alikes", figures["classes"])
    _line("smallest class", figures["smallest_class"])
    _line("unique", figures["unique_nodes"], found.uniqueness)
    _line("unique, twins aside", figures["twin_unique_nodes"], found.twin_uniqueness)
    _line(f"in classes below k={found.k}", figures["nodes_at_risk"], found.share_at_risk)
    if found.fuzzy is not None:
        fuzzy = figures["fuzzy"]
        result(f"if that knowledge is off by up to {found.fuzzy.phi:g} %:")
        _line("unique", fuzzy["unique_nodes"], fuzzy["uniqueness"])
        _line(f"like fewer than k={found.k}", fuzzy["nodes_at_risk"], fuzzy["share_at_risk"])
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


def _line(name: str, count: int, share: float | None = None) -> None:
    result(f"  {name:<26} {count:>12,}" + ("" if share is None else f"  {100 * share:.2f} %"))


def _print_cascade(spread: Cascade) -> None:
    result("")
    result(
        "found one through the other, neighbours told apart by "
        f"{spread.second} (cascade, distance: {spread.second_distance}):"
    )
    found = 0
    for level, count in enumerate(spread.per_level() or [0]):
        found += count
        name = f"after step {level}" if level else "at the start"
        _line(name, found, found / max(spread.levels.size, 1))


def _write_at_risk(found: Identifiability, path: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415  loaded when a file is written
    from pyarrow import csv  # noqa: PLC0415

    risky = found.node_sizes < found.k
    values = {name: column[risky] for name, column in found.values.items()}
    table = pa.table(
        {"node": to_arrow(found.ids[risky]), **values, "class_size": found.node_sizes[risky]}
    )
    csv.write_csv(table.sort_by([("class_size", "ascending"), ("node", "ascending")]), path)
    say(f"written: {path}, {table.num_rows:,} nodes at risk")


def _flags() -> list[inspect.Parameter]:
    names: Any = Literal[tuple(MEASURES)]
    return [
        flag("measure", names, "What the adversary knows of a person.", default="degree"),
        flag(
            "distance",
            int,
            "How many steps around a person that reaches (at least 1; the degree: 1).",
            default=1,
        ),
        flag("k", int, "Nodes in classes below k are at risk (at least 2).", default=2),
        flag(
            "phi",
            float | None,
            "Also count for knowledge that is off by this many percent (count at distance 1).",
            default=None,
        ),
        flag(
            "cascade",
            names | None,
            "Also follow from each person found to neighbours, told apart by this measure.",
            default=None,
        ),
        flag(
            "cascade_distance",
            int,
            "How many steps the measure of the cascade reaches (at least 1).",
            default=1,
        ),
    ]


def _output_flags() -> list[inspect.Parameter]:
    return [
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
    [INPUT, *_flags(), *_output_flags(), *flags_of(io.GraphOptions, READING_GROUP)],
    name="measure",
    text="How identifiable is this network as it stands?\n\n"
    "Counts exactly which nodes look alike, how many are unique, and names those at risk.\n\n"
    "Example: graphveil measure friends.csv --measure count --k 5",
)
