"""`graphveil evaluate DIR --original INPUT`: what was kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from graphveil.cli.console import bar, result_json, result_table, say
from graphveil.cli.flags import FOLDER, INPUT_FORMAT, OUTPUT_GROUP, flag, with_signature
from graphveil.cli.new_file import check_new_file, new_file
from graphveil.cli.original import original_flags, read_original
from graphveil.cli.pipes import a_file
from graphveil.data import Bipartite, Graph, Table
from graphveil.errors import UsageError
from graphveil.evaluate import METRICS, Evaluation, Row, evaluate, rows_to_arrow
from graphveil.evaluate.rows import HEAVY_UP_TO
from graphveil.progress import shown


def _run(folder: Path, **given: Any) -> int:
    as_json, path, out = given.pop("json"), given.pop("original"), given.pop("out")
    metrics, seed, force = given.pop("metrics"), given.pop("seed"), given.pop("force")
    if out is not None and out.suffix not in {".parquet", ".json"}:
        raise UsageError(f"{out.name} is neither .parquet nor .json. Choose one of them.")
    if out is not None:
        read = [path, *(value for value in given.values() if isinstance(value, Path))]
        check_new_file(out, read, force=force)
    with shown(bar):
        with a_file(path, given.get(INPUT_FORMAT)) as file:
            original = read_original(folder, file, given).original
        evaluation = evaluate(folder, original=original, metrics=metrics, seed=seed)
    if out is not None:
        _write(evaluation, out, force=force)
    if as_json:
        result_json(evaluation)
    else:
        print_rows(evaluation)
    return 0


def print_rows(evaluation: Evaluation) -> None:
    """Print an evaluation as a table, and what could not be measured to stderr."""
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


def _write(evaluation: Evaluation, path: Path, *, force: bool) -> None:
    with new_file(path, force=force) as part, part.open("wb") as stream:
        if path.suffix == ".json":
            stream.write(msgspec.json.encode(evaluation.rows))
        else:
            from pyarrow import parquet  # noqa: PLC0415  loaded when a file is written

            parquet.write_table(rows_to_arrow(evaluation.rows), stream)
    say(f"written: {path}")


def _metrics_help() -> str:
    """Return every metric by the data it reads, and what is left out of large data."""
    named = {
        kind: ", ".join(name for name, metric in METRICS.items() if metric.kind is kind)
        for kind in HEAVY_UP_TO
    }
    heavy = ", ".join(name for name, metric in METRICS.items() if metric.cost == "heavy")
    return (
        f"Metrics to compute. Of a graph: {named[Graph]}. Of users by features: "
        f"{named[Bipartite]}. Of a table: {named[Table]}. All that fit without this, but {heavy} "
        f"only up to {HEAVY_UP_TO[Graph]:,} edges or {HEAVY_UP_TO[Bipartite]:,} entries."
    )


command = with_signature(
    _run,
    [
        FOLDER,
        *original_flags(required=True),
        flag("metrics", list[str] | None, _metrics_help(), default=None),
        flag(
            "seed",
            int | None,
            "Repeats figures that are sampled; fresh entropy without it.",
            default=None,
        ),
        flag(
            "out",
            Path | None,
            "Write the rows to this new file, .parquet or .json. Its owner alone can read it.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "force",
            bool,
            "Replace a file of this name.",
            default=False,
            group=OUTPUT_GROUP,
            negative="",
        ),
        flag("json", bool, "Print JSON.", default=False, group=OUTPUT_GROUP, negative=""),
    ],
    name="evaluate",
    text="What was kept, compared with the original.\n\n"
    "The figures compare with the original, so they are for its owner: they are not covered by "
    "the release's promise.\n\n"
    "Example: graphveil evaluate friends-k5 --original friends.csv --metrics edge-jaccard",
)
