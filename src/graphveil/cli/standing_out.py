"""What `measure` prints: who stands out, to someone who knows how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphveil.cli.answer import line_texts, say_answer, say_lines
from graphveil.cli.console import result, result_table
from graphveil.measures import (
    MEASURES,
    Cascade,
    EqualRows,
    Identifiability,
    NetworkRisk,
    SingledOut,
)
from graphveil.measures.background_knowledge import NEIGHBORS, WHOLE_ROW
from graphveil.summaries import standing_out
from graphveil.summaries.standing_out import Measured
from graphveil.terminal import printable

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
) -> None:
    """Print how many people stand out, a line for each thing that somebody may know, and who."""
    say_answer(standing_out.headline(measured))
    result("")
    shown = standing_out.lines(measured, finer=finer, alone=alone, cascaded=cascaded)
    result("  someone who knows")
    say_lines(line_texts(shown), most=9)
    ids = measured.unprotected()
    if ids.size:
        names = [printable(name, LONGEST_ID) for name in ids[:FIRST_IDS].tolist()]
        more = f" and {ids.size - FIRST_IDS:,} more" if ids.size > FIRST_IDS else ""
        say_answer(f"  first of them: {', '.join(names)}{more}")
    result("")
    result("  people who are alike   groups   people")
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
        _print_singled_out(alone, "cells" if measured.noun == "rows" else "items")
    if cascaded is not None:
        _print_cascade(cascaded)


def _print_nodes(measured: Identifiability) -> None:
    figures = measured.summary()
    knows = MEASURES[measured.measure].knows
    result(
        f"someone who knows {knows} (measure: {measured.measure}, distance: {measured.distance}):"
    )
    _print_classes(figures, "nodes")
    _line("unique, twins aside", figures["twin_unique_nodes"], measured.twin_uniqueness)
    _line(f"unprotected (k={measured.k})", figures["unprotected_nodes"], measured.share_unprotected)
    if measured.fuzzy is not None:
        fuzzy = figures["fuzzy"]
        result(f"if that knowledge is off by up to {measured.fuzzy.phi:g} %:")
        _line("unique", fuzzy["unique_nodes"], fuzzy["uniqueness"])
        _line(
            f"unprotected (k={measured.k})",
            fuzzy["unprotected_nodes"],
            fuzzy["share_unprotected"],
        )
        result(f"if each number is off by up to {measured.fuzzy.phi:g} % at random:")
        noisy = f"{100 * fuzzy['noisy_share_unprotected']:.2f}"
        result(f"  {f'unprotected (k={measured.k})':<26} {noisy:>12} % of people")
    _print_people(measured, "nodes")


def _print_network(measured: NetworkRisk) -> None:
    for part in measured.parts:
        result(f"someone who knows {part.knows}:")
        result(f"  {'unique':<26} {100 * part.uniqueness:>12.2f} % of people")
    result(f"someone who knows {measured.knows}:")
    figures = measured.summary()
    _print_classes(figures, "nodes")
    _line(f"unprotected (k={measured.k})", figures["unprotected_nodes"], measured.share_unprotected)
    _print_people(measured, "nodes")


def _print_rows(measured: EqualRows) -> None:
    noun = measured.noun
    known = "the whole row of a person"
    if measured.columns is not None:
        known = f"{', '.join(map(printable, measured.columns))} of a person"
    elif noun == "users":
        known = "all features of a person, and that these are all"
    figures = measured.summary()
    result(f"someone who knows {known}:")
    _print_classes(figures, noun)
    _line(
        f"unprotected (k={measured.k})", figures[f"unprotected_{noun}"], measured.share_unprotected
    )
    _print_people(measured, noun)


def _also_known(measured: Measured) -> str:
    return NEIGHBORS if isinstance(measured, Identifiability) else WHOLE_ROW


def summary_of_more(measured: Measured) -> dict[str, Any]:
    """Return how many are alone to someone who knows one thing more, as JSON can hold it."""
    return {
        "also_knows": _also_known(measured),
        "unique": int((measured.own_sizes == 1).sum()),
        "uniqueness": measured.uniqueness,
        "unprotected": measured.unprotected().size,
        "share_unprotected": measured.share_unprotected,
    }


def _print_more(measured: Measured) -> None:
    """Print how many are found by who knows more: a low figure is no all-clear."""
    figures = summary_of_more(measured)
    result("")
    result(f"someone who also knows {_also_known(measured)}:")
    _line("unique", figures["unique"], figures["uniqueness"])
    _line(f"unprotected (k={measured.k})", figures["unprotected"], figures["share_unprotected"])


def _print_singled_out(alone: Sequence[SingledOut], what: str) -> None:
    """Print how many people a few of their items single out, for each number of items."""
    result("")
    result(f"someone who knows some {what} of a person, drawn at random, singles out:")
    for each in alone:
        name = f"with {each.items} {what if each.items > 1 else what.removesuffix('s')}"
        percent = [f"{100 * share:.2f}" for share in (each.share, each.low, each.high)]
        interval = "exact" if each.low == each.high else f"95 %: {percent[1]} to {percent[2]}"
        result(f"  {name:<26} {percent[0]:>12} % of people  ({interval})")


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
    result(f"  {name:<26} {count:>12,}" + ("" if share is None else f"  {100 * share:.2f} %"))


def _print_cascade(cascaded: Cascade) -> None:
    result("")
    result(
        "identified through a neighbor, neighbors distinguished by "
        f"{cascaded.second} (cascade, distance: {cascaded.second_distance}):"
    )
    identified = 0
    for level, count in enumerate(cascaded.per_level() or [0]):
        identified += count
        name = f"after step {level}" if level else "at the start"
        _line(name, identified, identified / max(cascaded.levels.size, 1))
