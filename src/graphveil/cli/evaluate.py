"""`graphveil evaluate DIR --original INPUT`: what was kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphveil.cli.attached import COLUMN_FLAGS, Column
from graphveil.cli.compared import ROW_FLAGS, RowsFile, original_as_read
from graphveil.cli.console import bar, result_json, result_table, say
from graphveil.cli.flags import FOLDER, flag, with_signature
from graphveil.cli.original import original_flags
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.errors import UsageError
from graphveil.evaluate import METRICS, Evaluation, Row, evaluate, rows_to_arrow
from graphveil.evaluate.rows import HEAVY_UP_TO
from graphveil.io import AnyOptions, load
from graphveil.progress import shown


def _run(folder: Path, **given: Any) -> int:
    as_json, path = given.pop("json"), given.pop("original")
    metrics, seed, label = (given.pop(name) for name in ("metrics", "seed", "label"))
    file = RowsFile(given.pop("out"), given.pop("force"))
    file.check(path, given)
    test = given.pop("test")
    column = Column(*(given.pop(item) for item in Column._fields))
    column.check()
    with shown(bar):
        read = original_as_read(folder, path, given)
        evaluation = evaluate(
            folder,
            original=read.original,
            metrics=metrics,
            seed=seed,
            test=None if test is None else _test_people(test, read.options),
            label=label,
            attached=column.read(read.original),
        )
    file.write(evaluation.rows, lambda: rows_to_arrow(evaluation.rows))
    if as_json:
        result_json(evaluation)
    else:
        print_rows(evaluation)
    return 0


def _test_people(path: Path, options: AnyOptions) -> Data:
    """Return held-back people, read as the original was.

    Raises
    ------
    UsageError
        Where bins depend on who is read: test people would get other ones.
    """
    bins = getattr(options, "bins", {})
    for name, how in bins.items():
        if not how.startswith("edges:"):
            raise UsageError(
                f"the column {name!r} was read in bins by {how}, which test people would get other "
                f"ones of. Read both in bins of given edges: --bins {name}=edges:A,B."
            )
    people: Data = load(path, options).data
    return people


def print_rows(evaluation: Evaluation) -> None:
    """Print an evaluation as a table, and what could not be measured to stderr."""
    if evaluation.rows:
        result_table(["metric", "part", "value", "unit", ""], _cells(evaluation.rows), right=(2,))
    for name, reason in evaluation.not_measured.items():
        say(f"{name}: not measured: {reason}")


def _cells(rows: list[Row]) -> Iterator[list[str]]:
    """Yield the cells of every row; a metric is named once, above the rest of its parts."""
    last = ""
    for row in rows:
        name = "" if row.metric == last else row.metric
        yield [name, row.part, f"{row.value:,.6g}", row.unit, f"{row.direction}{_sampled(row)}"]
        last = row.metric


def _sampled(row: Row) -> str:
    if row.exact == "exact":
        return ""
    if row.ci_low is None or row.ci_high is None:
        return "; sampled"
    return f"; sampled, 95 %: {row.ci_low:,.6g} to {row.ci_high:,.6g}"


def _metrics_help() -> str:
    """Return every metric by the data it reads, and what is left out of large data."""
    named = {
        kind: ", ".join(name for name, metric in METRICS.items() if metric.kind is kind)
        for kind in HEAVY_UP_TO
    }
    heavy = ", ".join(
        name for name, metric in METRICS.items() if metric.cost == "heavy" and not metric.by_name
    )
    tasks = " and ".join(name for name, metric in METRICS.items() if metric.by_name)
    return (
        f"Metrics to compute. Of a graph: {named[Graph]}. Of users by features: "
        f"{named[Bipartite]}. Of a table: {named[Table]}. All that fit without this, but {heavy} "
        f"only up to {HEAVY_UP_TO[Graph]:,} edges or {HEAVY_UP_TO[Bipartite]:,} entries; {tasks} "
        "read tables too, need --test and are computed only where they are named."
    )


command = with_signature(
    _run,
    [
        FOLDER,
        *original_flags(required=True),
        flag("metrics", list[str] | None, _metrics_help(), default=None),
        flag(
            "test",
            Path | None,
            "People whom the release was not made from, read as the original: classification and "
            "recommendation are tested on them.",
            default=None,
        ),
        flag(
            "label",
            str | None,
            "The column that classification tells: of the test people, and of the release or of "
            "--attached.",
            default=None,
        ),
        *COLUMN_FLAGS,
        *ROW_FLAGS,
    ],
    name="evaluate",
    text="What was kept, compared with the original.\n\n"
    "The figures compare with the original, so they are for its owner: they are not covered by "
    "the release's promise.\n\n"
    "Example: graphveil evaluate friends-k5 --original friends.csv --metrics edge-jaccard",
)
