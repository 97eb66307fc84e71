"""`graphveil evaluate DIR --original INPUT`: what was kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from graphveil.cli.console import bar, result_json, result_table, say
from graphveil.cli.flags import FOLDER, OUTPUT_GROUP, flag, with_signature
from graphveil.cli.original import original_flags, read_original
from graphveil.errors import UsageError
from graphveil.evaluate import METRICS, Evaluation, evaluate, rows_to_arrow
from graphveil.progress import shown, stage


def _run(folder: Path, **given: Any) -> int:
    as_json, path, out = given.pop("json"), given.pop("original"), given.pop("out")
    metrics = given.pop("metrics")
    if out is not None and out.suffix not in {".parquet", ".json"}:
        raise UsageError(f"{out.name} is neither .parquet nor .json. Choose one of them.")
    with shown(bar):
        original = read_original(folder, path, given)
        with stage("evaluating"):
            found = evaluate(folder, original=original, metrics=metrics)
    if out is not None:
        _write(found, out)
    if as_json:
        result_json(found)
    else:
        print_rows(found)
    return 0


def print_rows(found: Evaluation) -> None:
    """Print an evaluation as a table, and what could not be measured to stderr."""
    result_table(
        ["metric", "part", "value", "unit", ""],
        [(r.metric, r.part, f"{r.value:,.6g}", r.unit, r.direction) for r in found.rows],
        right=(2,),
    )
    for name, reason in found.not_measured.items():
        say(f"{name}: not measured: {reason}")


def _write(found: Evaluation, path: Path) -> None:
    if path.suffix == ".json":
        path.write_bytes(msgspec.json.encode(found.rows))
    else:
        from pyarrow import parquet  # noqa: PLC0415  loaded when a file is written

        parquet.write_table(rows_to_arrow(found.rows), path)
    say(f"written: {path}")


command = with_signature(
    _run,
    [
        FOLDER,
        *original_flags(required=True),
        flag(
            "metrics",
            list[str] | None,
            f"Metrics to compute: {', '.join(METRICS)}. All without this.",
            default=None,
        ),
        flag(
            "out",
            Path | None,
            "Write the rows to this file, .parquet or .json.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag("json", bool, "Print JSON.", default=False, group=OUTPUT_GROUP, negative=""),
    ],
    name="evaluate",
    text="What was kept, compared with the original.\n\n"
    "The figures compare with the original, so they are for its owner: they are not covered by "
    "the release's promise.\n\n"
    "Example: graphveil evaluate friends-k5 --original friends.csv --metrics edge-jaccard",
)
