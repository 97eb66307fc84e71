"""`graphveil evaluate DIR --original INPUT`: what was kept."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from graphveil.cli import inputs, outputs, say_warnings
from graphveil.cli.answer import MOST_LINES, line_texts, print_answer, print_next, say_lines
from graphveil.cli.console import bars, result, result_json, result_table, say
from graphveil.cli.flags import FOLDER, Flag, flag, flags, with_signature
from graphveil.core.errors import UsageError
from graphveil.core.progress import shown
from graphveil.core.rows import Rows
from graphveil.core.text import Wording
from graphveil.data import Data
from graphveil.data.kinds import CONTAINERS, KINDS, kind_of
from graphveil.evaluate import wording as evaluation
from graphveil.evaluate.metrics.registry import METRICS, PRESETS
from graphveil.evaluate.wording import Line
from graphveil.io import AnyOptions, kind_read, load

ASKED = ("metrics", "seed", "label", "as_sample", "population")


def _run(folder: Path, **given: Any) -> int:
    from graphveil.verbs.evaluate import evaluate_release  # noqa: PLC0415  not for its help

    as_json, every = given.pop("json"), given.pop("all")
    path = inputs.needs_original("evaluate", given.pop("original"))
    asked = {name: given.pop(name) for name in ASKED}
    file = outputs.RowsFile(given.pop("out"), given.pop("force"))
    file.check(path, given)
    test = given.pop("test")
    column = outputs.AttachedColumn(*(given.pop(item) for item in outputs.AttachedColumn._fields))
    column.check()
    with shown(bars()), inputs.original_of(folder, path, given) as read:
        rows = evaluate_release(
            folder,
            read,
            test=None if test is None else _test_people(test, read.options),
            attached=column.read(read.data),
            **asked,
        )
    file.write(rows)
    say(f"{path.name}: read as {kind_read(read.options).words}")
    if as_json:
        result_json(rows.summary())
        return 0
    say_warnings(every=every)
    if every:
        print_rows(rows)
        return 0
    command = inputs.command_beside("attack", folder, inputs.file_word(path), read.options)
    risks = () if asked["population"] is None or asked["metrics"] else ("reidentification-risk",)
    print_answers(rows, named=bool(asked["metrics"]), also=risks)
    result("")
    missing = f", and why {len(rows.missing)} are missing" if rows.missing else ""
    print_next(command, more=f"Every figure{missing}: --all. Keep these figures private.")
    return 0


def print_answers(
    rows: Rows, *, named: bool = False, also: Collection[str] = (), word: Wording = str
) -> None:
    """Print what was kept: a sentence, and a line a question, or a metric that was asked for."""
    lines = list(evaluation.answers(rows, word=word))
    if named:
        answered = {
            name
            for name, metric in METRICS.items()
            if metric.said and len(metric.said.compared) == 1
        }
        lines = [line for line in lines if line.answer != "not measured"]
        if {row.question for row in rows} - answered:
            lines = list(evaluation.named(rows))
        missing = rows.not_measured.items()
        lines += [Line(question=name, unit=f"not measured: {why}") for name, why in missing]
    print_answer(evaluation.headline(rows, word=word))
    result("")
    say_lines(line_texts(lines), most=MOST_LINES - 6)
    more = evaluation.named(Rows([row for row in rows if row.question in also]))
    if more:
        result("")
        say_lines(line_texts(more), most=MOST_LINES)


def _test_people(path: Path, options: AnyOptions) -> Data:
    """Return held-back people, read as the original was."""
    bins = getattr(options, "bins", {})
    for name, how in bins.items():
        if not how.startswith("edges:"):
            raise UsageError(
                f"the bins of column {name!r} ({how}) depend on the data, so test people would "
                f"get different bins. Give fixed edges for both: --bins {name}=edges:A,B."
            )
    people: Data = load(path, options).data
    return people


def print_rows(rows: Rows) -> None:
    """Print what was kept as a table, and what could not be measured to stderr."""
    if rows:
        cells = ([*row[:3], *row[4:]] for row in outputs.cells_of(rows))
        result_table(["metric", "part", "value", "unit", ""], cells, right=(2,))
    outputs.say_missing(rows)


def _metrics_help() -> str:
    """Return every metric by the data it reads, and what is omitted from large data."""
    named = {
        kind: ", ".join(name for name, metric in METRICS.items() if metric.kind is kind)
        for kind in CONTAINERS
    }
    heavy = ", ".join(
        name for name, metric in METRICS.items() if metric.cost == "heavy" and not metric.by_name
    )
    tasks = " and ".join(name for name, m in METRICS.items() if m.by_name and m.reads_tables)
    alone = ", ".join(name for name, m in METRICS.items() if m.by_name and not m.reads_tables)
    sizes = dict.fromkeys(kind.measured for kind in KINDS.values())
    limits = " or ".join(f"{most:,} {what}" for what, most in sizes)
    each = ". ".join(f"For {kind_of(kind).words}: {names}" for kind, names in named.items())
    return (
        f"Metrics to compute. {each}. All of a paper: {', '.join(PRESETS)}. "
        f"Default: all that fit, {heavy} only up to {limits}; "
        f"{tasks} also read tables, require --test and run only if named, as does {alone}."
    )


command = with_signature(
    _run,
    [
        FOLDER,
        *inputs.original_flags(),
        flag("metrics", list[str] | None, _metrics_help(), default=None),
        *flags(
            None,
            {
                "test": Flag(
                    Path | None,
                    "Data about people who are not in the release, read like the "
                    "original; used to test classification and recommendation.",
                ),
                "label": Flag(
                    str | None,
                    "Column to predict by classification; must be in the test data and "
                    "in the release or --attached.",
                ),
            },
        ),
        *outputs.COLUMN_FLAGS,
        *flags(
            None,
            {
                "population": Flag(
                    int | None,
                    "For tables: the number of people of which the rows are a "
                    "simple random sample. Then reidentification-risk also estimates risks in the "
                    "population.",
                ),
                "as_sample": Flag(
                    bool,
                    "For each comparing figure with linear cost, also give the share "
                    "of edges, entries or rows that, kept at random, would cause the same loss.",
                    default=True,
                ),
            },
        ),
        *outputs.ROW_FLAGS,
    ],
    name="evaluate",
    text="Compare a release with the original: what was kept?\n\nThe figures depend on the "
    "original, so keep them private: the guarantee of the release does not cover them.\n\n"
    "Example: graphveil evaluate friends-k5 --original friends.csv --metrics edge-jaccard",
)
