"""`graphveil measure INPUT`: how identifiable people are, of a file or a release as it stands."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, cast

from graphveil.claims.knowledge import OF_DIRECTED_TIES
from graphveil.cli import inputs, say_warnings
from graphveil.cli.answer import line_texts, print_answer, print_next, say_lines
from graphveil.cli.console import bars, result, result_json, result_table, say
from graphveil.cli.flags import ALL, INPUT, OUTPUT_GROUP, Flag, flag, flags, not_for, with_signature
from graphveil.cli.kinds import reading_flags, reading_options
from graphveil.cli.outputs import check_new_file, new_file
from graphveil.core.errors import UsageError
from graphveil.core.libraries import pa
from graphveil.core.parameters import Columns
from graphveil.core.progress import shown, stage
from graphveil.core.text import Wording, printable
from graphveil.core.warning_channel import warn
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.ids import to_arrow
from graphveil.data.kinds import CONTAINERS, kind_of
from graphveil.io import AnyOptions, GraphOptions, kind_read
from graphveil.io.writing import formulas
from graphveil.measures import (
    MEASURES,
    Cascade,
    EqualRows,
    Identifiability,
    NetworkRisk,
    SingledOut,
    cascade,
    check_parameters,
    finer,
    measure,
    singled_out,
)
from graphveil.measures.measuring import NEIGHBORS, WHOLE_ROW
from graphveil.pages.answers import standing_out
from graphveil.pages.answers.standing_out import Measured

SHOWN_UNPROTECTED = 10
SHOWN_SIZES = 25

FIRST_IDS, LONGEST_ID = 8, 16
"""So many of the smallest groups are named in an answer, and so much of an id."""

FIRST_SIZES = 6
"""So many sizes of groups are shown in an answer."""


def print_standing_out(
    measured: Measured,
    finer: Measured | None = None,
    alone: Sequence[SingledOut] = (),
    cascaded: Cascade | None = None,
    *,
    word: Wording = str,
) -> None:
    """Print how many people can be singled out, one line for each thing known, and who."""
    print_answer(standing_out.headline(measured, word=word))
    result("")
    shown = standing_out.lines(measured, finer=finer, alone=alone, cascaded=cascaded, word=word)
    result("  an attacker who knows")
    say_lines(line_texts(shown), most=9)
    ids = measured.unprotected()
    if ids.size:
        names = [printable(name, LONGEST_ID) for name in ids[:FIRST_IDS].tolist()]
        more = f" and {ids.size - FIRST_IDS:,} more" if ids.size > FIRST_IDS else ""
        print_answer(f"  unprotected, smallest classes first: {', '.join(names)}{more}")
    result("")
    result(f"  size of class          classes   {standing_out.counted(measured):>6}")
    for size, classes, people in in_few_rows(measured.size_distribution(), FIRST_SIZES):
        result(f"  {size:>21}   {classes:>6}   {people:>6}")


def print_every(
    measured: Measured,
    finer: Measured | None,
    alone: Sequence[SingledOut],
    cascaded: Cascade | None,
) -> None:
    """Print every figure that was measured."""
    if isinstance(measured, NetworkRisk):
        _print_network(measured)
    elif isinstance(measured, Identifiability):
        _print_nodes(measured)
    else:
        _print_rows(measured)
    if finer is not None:
        _print_more(finer)
    if isinstance(measured, EqualRows):
        what = "cells" if measured.noun == "rows" else "items"
        _print_singled_out(alone, what, measured.counted)
    if cascaded is not None:
        _print_cascade(cascaded)


def _print_nodes(measured: Identifiability) -> None:
    figures, unprotected = measured.summary(), f"unprotected (k={measured.k})"
    knows = MEASURES[measured.measure].knows
    result(
        f"An attacker who knows {knows} (measure: {measured.measure}, distance: "
        f"{measured.distance}):"
    )
    _print_classes(figures, "nodes")
    _line("unique, not counting twins", figures["twin_unique_nodes"], measured.twin_uniqueness)
    _line(unprotected, figures["unprotected_nodes"], measured.share_unprotected)
    if measured.fuzzy is not None:
        fuzzy, phi = figures["fuzzy"], measured.fuzzy.phi
        result(f"if that knowledge is off by up to {phi:g}%:")
        _line("unique", fuzzy["unique_nodes"], fuzzy["uniqueness"])
        _line(unprotected, fuzzy["unprotected_nodes"], fuzzy["share_unprotected"])
        result(f"if each number is off by a random amount of up to {phi:g}%:")
        noisy = f"{100 * fuzzy['noisy_share_unprotected']:.2f}"
        result(f"  {unprotected:<26} {noisy:>12}% of nodes")
    _print_people(measured, "nodes")


def _print_all(measured: NetworkRisk | EqualRows, known: str, noun: str) -> None:
    """Print what someone learns who knows all of this."""
    figures = measured.summary()
    result(f"an attacker who knows {known}:")
    _print_classes(figures, noun)
    share = measured.share_unprotected
    _line(f"unprotected (k={measured.k})", figures[f"unprotected_{noun}"], share)
    _print_people(measured, noun)


def _print_network(measured: NetworkRisk) -> None:
    for part in measured.parts:
        result(f"an attacker who knows {part.knows}:")
        result(f"  {'unique':<26} {100 * part.uniqueness:>12.2f}% of nodes")
    _print_all(measured, measured.knows, "nodes")


def _print_rows(measured: EqualRows) -> None:
    known = "the complete row of a person"
    if measured.columns is not None:
        known = f"{', '.join(map(printable, measured.columns))} of a person"
    elif measured.noun == "users":
        known = "all features of a person, and that the person has no others"
    _print_all(measured, known, measured.noun)


def _also_known(measured: Measured) -> str:
    return NEIGHBORS if isinstance(measured, Identifiability) else WHOLE_ROW


def summary_of_more(measured: Measured) -> dict[str, Any]:
    """Return how many are alone to an attacker who knows one thing more, as JSON can hold it."""
    return {
        "also_knows": _also_known(measured),
        "unique": int((measured.own_sizes == 1).sum()),
        "uniqueness": measured.uniqueness,
        "unprotected": measured.unprotected().size,
        "share_unprotected": measured.share_unprotected,
    }


def _print_more(measured: Measured) -> None:
    """Print how many are found by an attacker who knows more: a low figure is not an all-clear."""
    figures = summary_of_more(measured)
    result("")
    result(f"an attacker who also knows {_also_known(measured)}:")
    _line("unique", figures["unique"], figures["uniqueness"])
    _line(f"unprotected (k={measured.k})", figures["unprotected"], figures["share_unprotected"])


def _print_singled_out(alone: Sequence[SingledOut], what: str, who: str) -> None:
    """Print how many people a few of their items single out, for each number of items."""
    result("")
    result(f"An attacker who knows some random {what} of a person singles out:")
    for each in alone:
        name = f"with {each.items} {what if each.items > 1 else what.removesuffix('s')}"
        percent = [f"{100 * share:.2f}" for share in (each.share, each.low, each.high)]
        interval = "exact" if each.low == each.high else f"95%: {percent[1]} to {percent[2]}"
        result(f"  {name:<26} {percent[0]:>12}% of {who}  ({interval})")


def _print_classes(figures: dict[str, Any], noun: str) -> None:
    _line(noun, figures[noun])
    _line("equivalence classes", figures["classes"])
    _line("smallest class", figures["smallest_class"])
    _line("unique", figures[f"unique_{noun}"], figures["uniqueness"])


def _print_people(measured: Measured, noun: str) -> None:
    """Print who is unprotected, and how large the classes are."""
    ids = measured.unprotected()
    if ids.size:
        first = ", ".join(printable(name) for name in ids[:SHOWN_UNPROTECTED].tolist())
        more = f" and {ids.size - SHOWN_UNPROTECTED:,} more" if ids.size > SHOWN_UNPROTECTED else ""
        result(f"unprotected, smallest classes first: {first}{more}")
    result("")
    sizes = list(in_few_rows(measured.size_distribution(), SHOWN_SIZES))
    result_table(["class size", "classes", noun], sizes, right=(0, 1, 2))


def in_few_rows(sizes: list[tuple[int, int, int]], most: int) -> Iterator[tuple[str, str, str]]:
    """Yield class size, classes and people as text; the largest sizes in one row."""
    shown = sizes if len(sizes) <= most else sizes[: most - 1]
    for size, classes, people in shown:
        yield f"{size:,}", f"{classes:,}", f"{people:,}"
    rest = sizes[len(shown) :]
    if rest:
        classes, people = (sum(each[part] for each in rest) for part in (1, 2))
        yield f"{rest[0][0]:,} to {rest[-1][0]:,}", f"{classes:,}", f"{people:,}"


def _line(name: str, count: int, share: float | None = None) -> None:
    result(f"  {name:<26} {count:>12,}" + ("" if share is None else f"  {100 * share:.2f}%"))


def _print_cascade(cascaded: Cascade) -> None:
    result("")
    result(
        f"identified through a neighbor; neighbors distinguished by {cascaded.second} (cascade, "
        f"distance: {cascaded.second_distance}):"
    )
    identified = 0
    for level, count in enumerate(cascaded.per_level() or [0]):
        identified += count
        name = f"after step {level}" if level else "at the start"
        _line(name, identified, identified / max(cascaded.levels.size, 1))


OF_A_GRAPH = {"measure": "degree", "distance": 1, "phi": None}
"""What is asked of a graph alone, with its defaults."""


def _run(path: Path, **given: Any) -> int:
    known = given["known"]
    asked = {name: given.pop(name) for name in (*OF_A_GRAPH, "k", "columns")}
    second = {"second": given.pop("cascade"), "second_distance": given.pop("cascade_distance")}
    as_json, out, force = given.pop("json"), given.pop("at_risk"), given.pop("force")
    seed, every, on_disk = given.pop("seed"), given.pop("all"), given.pop("on_disk")
    kind = inputs.released_kind(path, given)
    options = None
    if kind is None:
        options = reading_options(CONTAINERS, path, given)
        kind = kind_read(options).container
    given.pop("known")
    if kind is Graph:
        _check_graph(asked, second, seed)
    else:
        _check_others(kind, {**asked, **second, "seed": seed})
    if kind is Network:
        asked["known"] = None if known is None else Columns.parse(known)
    _check_on_disk(kind, options, (asked["measure"], second["second"]), asked=on_disk)
    if out is not None:
        read = {} if options is None else asdict(options)
        files = [value for value in read.values() if isinstance(value, Path)]
        check_new_file(out, [path, *files], force=force)
    with shown(bars()), ExitStack() as stack:
        data = _data(path, options, stack, on_disk=on_disk)
        with stage("measuring"):
            measured = measure(data, **{n: v for n, v in asked.items() if v is not None})
        cascaded: Cascade | None = None
        alone: Sequence[SingledOut] = ()
        if kind not in (Graph, Network):
            with stage("sampling items"):
                alone = singled_out(data, columns=asked["columns"], seed=seed)
        if second["second"] is not None and kind is Graph:
            with stage("following the cascade"):
                cascaded = _cascade(cast("Graph", data), measured, second)
        more = None if kind is Network else finer(cast("Any", data), measured)
    if out is not None:
        _write_unprotected(measured, out, force=force)
    command = inputs.command_line("verify", inputs.file_word(path))
    if options is not None:
        words = (*inputs.flag_words("kind", kind_of(kind).name), *inputs.reading_words(options))
        command = inputs.command_line("advise", inputs.file_word(path), *words)
    _show(measured, more, cascaded, alone, as_json=as_json, every=every, command=command)
    return 0


def _check_graph(asked: dict[str, Any], second: dict[str, Any], seed: int | None) -> None:
    """Put in the defaults, and refuse what a graph cannot be asked, before it is read."""
    if seed is not None:
        raise not_for("seed", Graph)
    if asked["columns"]:
        raise UsageError("--columns applies to tables only. Remove it, or give --kind table.")
    for name, default in OF_A_GRAPH.items():
        asked[name] = default if asked[name] is None else asked[name]
    second["second_distance"] = second["second_distance"] or 1
    check_parameters(asked["measure"], asked["k"], distance=asked["distance"], phi=asked["phi"])
    if second["second"] is not None:
        check_parameters(second["second"], asked["k"], distance=second["second_distance"])


_NOT_FOR: dict[type[Any], tuple[str, ...]] = {
    Network: ("seed", "columns", "phi", "cascade", "cascade_distance"),
    Table: (*OF_A_GRAPH, "cascade", "cascade_distance"),
    Bipartite: (*OF_A_GRAPH, "cascade", "cascade_distance", "columns"),
}
"""The flags that a kind of data cannot be asked with."""


def _check_others(kind: type[Any], given: dict[str, Any]) -> None:
    """Refuse what a network, a table or users by features cannot be asked."""
    for name in _NOT_FOR[kind]:
        value = given[{"cascade": "second", "cascade_distance": "second_distance"}.get(name, name)]
        if value or (value is not None and kind is not Network):
            raise not_for(name, kind)


def _check_on_disk(
    kind: type[Any],
    options: AnyOptions | None,
    measures: tuple[str | None, str | None],
    *,
    asked: bool,
) -> None:
    """Refuse what needs all edges in memory, where they are to stay on the disk."""
    if asked and (kind is not Graph or options is None):
        raise UsageError("--on-disk applies to edge files only. Remove it.")
    measure, cascade = measures
    if asked and cascade is not None:
        raise UsageError("--cascade needs all edges in memory. Remove --on-disk.")
    if asked and measure != "degree":
        raise UsageError(
            "--on-disk supports the measure degree only, not "
            f"{measure or 'count'}. Remove it, or choose degree."
        )


def _show(
    measured: Measured,
    found_by_more: Measured | None,
    cascaded: Cascade | None,
    alone: Sequence[SingledOut],
    *,
    as_json: bool,
    every: bool,
    command: str,
) -> None:
    if isinstance(measured, Identifiability) and measured.undecided:
        say(_given_up(measured.undecided))
    if as_json:
        further: dict[str, Any] = {}
        if cascaded is not None:
            further["cascade"] = cascaded.summary()
        if found_by_more is not None:
            further["finer"] = summary_of_more(found_by_more)
        if alone:
            further["singled_out"] = [asdict(each) for each in alone]
        result_json(measured.summary() | further | {"unprotected": measured.unprotected().tolist()})
        return
    say_warnings(every=every)
    if every:
        print_every(measured, found_by_more, cascaded=cascaded, alone=alone)
        return
    print_standing_out(measured, found_by_more, alone, cascaded)
    result("")
    listed = f"List the unprotected {standing_out.counted(measured)}: --at-risk FILE.csv"
    print_next(command, more=f"Every figure: --all. {listed}")


def _data(path: Path, options: AnyOptions | None, stack: ExitStack, *, on_disk: bool) -> Data:
    """Return what is measured; with edges on the disk, as long as the stack is open."""
    if options is None:
        return inputs.released_data(path)
    if on_disk:
        return stack.enter_context(inputs.input_on_disk(path, cast("GraphOptions", options)))
    return inputs.read_input(path, options)


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
        f"warning: {undecided:,} comparisons of neighborhoods were given up and counted as "
        "different, so the number of unprotected nodes may be overstated. Use the measure "
        "degree-distribution or a smaller distance."
    )


def _write_unprotected(measured: Measured, path: Path, *, force: bool) -> None:
    from pyarrow import csv  # noqa: PLC0415

    unprotected = measured.own_sizes < measured.k
    person, values = "node", {}
    if isinstance(measured, Identifiability | NetworkRisk):
        values = {name: column[unprotected] for name, column in measured.values.items()}
    else:
        person = measured.noun.removesuffix("s")
    ids, sizes = measured.ids[unprotected], measured.own_sizes[unprotected]
    table = pa.table({person: to_arrow(ids), **values, "class_size": sizes})
    for advice in formulas((), [list(map(str, ids.tolist()))], or_else="open it as text"):
        warn(advice)
    with new_file(path, force=force) as part, part.open("wb") as stream:
        csv.write_csv(table.sort_by([("class_size", "ascending"), (person, "ascending")]), stream)
    say(f"Wrote {path}: {table.num_rows:,} unprotected {person}s")


def _flags() -> list[inspect.Parameter]:
    names: Any = Literal[(*MEASURES, *OF_DIRECTED_TIES)]
    known = {
        "k": Flag(
            int,
            "People in equivalence classes smaller than k count as unprotected (k >= 2).",
            default=2,
        ),
        "columns": Flag(
            tuple[str, ...] | None, "For tables: columns the attacker knows. Default: all."
        ),
    }
    measured = flag(
        "measure",
        names | None,
        "For graphs: what the attacker knows about a person. profile (directed): numbers of "
        "outgoing and incoming edges; directed-count: also the numbers of neighbors and of "
        "edges among them. [default: degree, or profile]",
        default=None,
    )
    further = {
        "known": Flag(
            str | None, "For networks: attributes the attacker knows, separated by commas."
        ),
        "distance": Flag(
            int | None,
            "How far the attacker's knowledge reaches, in hops (at least 1). Unless "
            "the measure is dk or hybrid, knowledge at 2 does not include knowledge at 1. "
            "[default: 1]",
        ),
        "phi": Flag(
            float | None,
            "Also measure for knowledge that is off by up to this many percent (count at "
            "distance 1 only).",
        ),
    }
    cascaded = flag(
        "cascade",
        names | None,
        "Also follow edges from each identified person to their neighbors, which this "
        "measure distinguishes.",
        default=None,
    )
    others = {
        "cascade_distance": Flag(
            int | None, "Distance of the cascade's measure, in hops (at least 1). [default: 1]"
        ),
        "seed": Flag(
            int | None,
            "For user-item data and tables: makes the sampled figures reproducible. "
            "Default: fresh entropy.",
        ),
        "on_disk": Flag(
            bool,
            "Keep edges on disk, for networks larger than memory (degree only).",
            default=False,
        ),
    }
    output = {
        "at_risk": Flag(
            Path | None,
            "Write every unprotected person, with value and class size, to this CSV file.",
        ),
        "force": Flag(bool, "Overwrite the --at-risk file if it exists.", default=False),
        "json": Flag(
            bool, "Print JSON, including the id of every unprotected person.", default=False
        ),
        **ALL,
    }
    asked = [*flags(None, known), measured, *flags(None, further), cascaded, *flags(None, others)]
    return [*asked, *flags(OUTPUT_GROUP, output)]


command = with_signature(
    inputs.from_pipes(_run),
    [INPUT, *_flags(), *reading_flags(CONTAINERS)],
    name="measure",
    text="Measure how identifiable the people in your data are.\n\nCounts equivalence classes "
    "exactly, reports how many people are unique, and lists the unprotected ones: in a "
    "network by their neighborhood, in user-item data and tables by equal rows. For the "
    "latter two it also estimates, from a sample, how many people are singled out by 1, 2, "
    "4 and 8 of their items.\n\nExample: graphveil measure friends.csv --measure count --k "
    "5",
)
