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
from graphveil.cli.new_file import check_new_file, new_file
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

SHOWN_UNPROTECTED = 10


def _run(path: Path, **given: Any) -> int:
    asked = {name: given.pop(name) for name in ("measure", "distance", "k", "phi")}
    second = {"second": given.pop("cascade"), "second_distance": given.pop("cascade_distance")}
    as_json, out, force = given.pop("json"), given.pop("at_risk"), given.pop("force")
    check_parameters(**asked)
    if second["second"] is not None:
        check_parameters(second["second"], asked["k"], distance=second["second_distance"])
    options = options_from(io.GraphOptions, given)
    if out is not None:
        check_new_file(out, [path, options.nodes], force=force)
    with shown(bar):
        data = read_input(path, options)
        if not isinstance(data, Graph):
            raise TypeError("graph options give a graph")
        with stage(f"measuring {asked['measure']}"):
            measured = measure(data, **asked)
        cascaded = None
        if second["second"] is not None:
            with stage("following the cascade"):
                cascaded = _cascade(data, measured, second)
    if measured.undecided:
        say(_given_up(measured.undecided))
    if out is not None:
        _write_unprotected(measured, out, force=force)
    if as_json:
        further = {} if cascaded is None else {"cascade": cascaded.summary()}
        result_json(measured.summary() | further | {"unprotected": measured.unprotected().tolist()})
    else:
        _print(measured)
        if cascaded is not None:
            _print_cascade(cascaded)
    return 0


def _cascade(graph: Graph, measured: Identifiability, second: dict[str, Any]) -> Cascade:
    return cascade(
        graph,
        measure=measured.measure,
        distance=measured.distance,
        labels=measured.labels,
        **second,
    )


def _given_up(undecided: int) -> str:
    return (
        f"warning: {undecided:,} comparisons of neighbourhoods were given up and count as "
        "different, so that more nodes may be shown as unprotected than are. Use the measure "
        "degree-distribution, or a smaller distance."
    )


def _print(measured: Identifiability) -> None:
    figures = measured.summary()
    knows = MEASURES[measured.measure].knows
    result(
        f"someone who knows {knows} (measure: {measured.measure}, distance: {measured.distance}):"
    )
    _line("nodes", figures["nodes"])
    _line("equivalence classes", figures["classes"])
    _line("smallest class", figures["smallest_class"])
    _line("unique", figures["unique_nodes"], measured.uniqueness)
    _line("unique, twins aside", figures["twin_unique_nodes"], measured.twin_uniqueness)
    _line(
        f"unprotected (k={measured.k})",
        figures["unprotected_nodes"],
        measured.share_unprotected,
    )
    if measured.fuzzy is not None:
        fuzzy = figures["fuzzy"]
        result(f"if that knowledge is off by up to {measured.fuzzy.phi:g} %:")
        _line("unique", fuzzy["unique_nodes"], fuzzy["uniqueness"])
        _line(
            f"unprotected (k={measured.k})",
            fuzzy["unprotected_nodes"],
            fuzzy["share_unprotected"],
        )
    ids = measured.unprotected()
    if ids.size:
        first = ", ".join(printable(name) for name in ids[:SHOWN_UNPROTECTED].tolist())
        more = f" and {ids.size - SHOWN_UNPROTECTED:,} more" if ids.size > SHOWN_UNPROTECTED else ""
        result(f"unprotected, smallest classes first: {first}{more}")
    result("")
    result_table(
        ["class size", "classes", "nodes"],
        [(f"{s:,}", f"{c:,}", f"{n:,}") for s, c, n in measured.size_distribution()],
        right=(0, 1, 2),
    )


def _line(name: str, count: int, share: float | None = None) -> None:
    result(f"  {name:<26} {count:>12,}" + ("" if share is None else f"  {100 * share:.2f} %"))


def _print_cascade(cascaded: Cascade) -> None:
    result("")
    result(
        "identified through a neighbour, neighbours distinguished by "
        f"{cascaded.second} (cascade, distance: {cascaded.second_distance}):"
    )
    identified = 0
    for level, count in enumerate(cascaded.per_level() or [0]):
        identified += count
        name = f"after step {level}" if level else "at the start"
        _line(name, identified, identified / max(cascaded.levels.size, 1))


def _write_unprotected(measured: Identifiability, path: Path, *, force: bool) -> None:
    import pyarrow as pa  # noqa: PLC0415  loaded when a file is written
    from pyarrow import csv  # noqa: PLC0415

    unprotected = measured.node_sizes < measured.k
    values = {name: column[unprotected] for name, column in measured.values.items()}
    table = pa.table(
        {
            "node": to_arrow(measured.ids[unprotected]),
            **values,
            "class_size": measured.node_sizes[unprotected],
        }
    )
    with new_file(path, force=force) as part, part.open("wb") as stream:
        csv.write_csv(table.sort_by([("class_size", "ascending"), ("node", "ascending")]), stream)
    say(f"written: {path}, {table.num_rows:,} unprotected nodes")


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
        flag(
            "k",
            int,
            "Nodes in equivalence classes smaller than k are unprotected (at least 2).",
            default=2,
        ),
        flag(
            "phi",
            float | None,
            "Also count for knowledge that is off by this many percent (count at distance 1).",
            default=None,
        ),
        flag(
            "cascade",
            names | None,
            "Also follow from each identified person to neighbours, distinguished by this measure.",
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
            "Write every unprotected node, its value and class size to this CSV file.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "force",
            bool,
            "Replace the file of --at-risk if it exists.",
            default=False,
            group=OUTPUT_GROUP,
            negative="",
        ),
        flag(
            "json",
            bool,
            "Print JSON, with the id of every unprotected node.",
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
    "Counts equivalence classes exactly, says who is unique, and names the unprotected nodes.\n\n"
    "Example: graphveil measure friends.csv --measure count --k 5",
)
