"""The flags of `graphveil anonymize METHOD` that are no parameters of the method."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Literal

from graphveil.anonymizer import Anonymizer
from graphveil.cli.answer import ALL_FLAG
from graphveil.cli.flags import ENGINE_GROUP, OUTPUT_GROUP, flag


def output_flags() -> list[inspect.Parameter]:
    """Return the flags of where a release is written, and how."""
    return [
        flag(
            "out",
            Path,
            "Folder of the release; it must not exist.",
            group=OUTPUT_GROUP,
            placed=True,
        ),
        flag(
            "format",
            str | None,
            "Format of the released data, such as csv, parquet, gml. Without this, the format that "
            "came in, or csv or parquet where that one has more than one form for the same data.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "force",
            bool,
            "Replace a release of that name, once the new one is whole.",
            default=False,
            group=OUTPUT_GROUP,
            negative="",
        ),
        flag(
            "linkage",
            bool,
            "Keep which new id stands for which old one, in the private folder.",
            default=True,
            group=OUTPUT_GROUP,
        ),
        flag(
            "seed",
            int | None,
            "Make the run repeatable; keep it secret. Without this: entropy.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        ALL_FLAG,
        flag(
            "json", bool, "Print a summary as JSON.", default=False, group=OUTPUT_GROUP, negative=""
        ),
    ]


def parts_flags(method: type[Anonymizer[Any]]) -> list[inspect.Parameter]:
    """Return the flags of a method whose releases may come in parts, and in two places."""
    if not method.runs_on_disk or method.ties_on_disk:
        return []
    return [
        flag(
            "parts",
            bool | None,
            "With --on-disk or Spark: Parquet in parts of 1,048,576 users. Without this: if there "
            "are more.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "private",
            Path | None,
            "Folder of the private record and the linkage. Without this: OUT.private. Needed where "
            "--out is an address (s3a://..., of rows on the disk or on Spark); may be one, too.",
            default=None,
            group=OUTPUT_GROUP,
            placed=True,
        ),
    ]


def nesting_flags(method: type[Anonymizer[Any]]) -> list[inspect.Parameter]:
    """Return the flag of a method whose second release can be nested in the first."""
    if not method.nests:
        return []
    return [
        flag(
            "nested_in",
            Path | None,
            "An earlier release of the same people: its classes are merged, none is divided.",
            default=None,
            group=OUTPUT_GROUP,
        )
    ]


def ledger_flags(method: type[Anonymizer[Any]]) -> list[inspect.Parameter]:
    """Return the flags of a method whose epsilons add up."""
    if not method.spends:
        return []
    return [
        flag(
            "ledger",
            Path | None,
            "A file of yours that adds up epsilons: this run is entered before anything is drawn.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "ledger_limit",
            float | None,
            "The most that the ledger's total may reach: given once, kept in the file.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "ledger_unclaimed",
            bool,
            "Enter a run that claims nothing, too: the ledger has no total from then on.",
            default=False,
            group=OUTPUT_GROUP,
            negative="",
        ),
    ]


def engine_flags(method: type[Anonymizer[Any]]) -> list[inspect.Parameter]:
    """Return the flags of where a method runs; none of them changes the result."""
    if method.ties_on_disk:
        return [_on_disk_flag("Keep ties on the disk: for networks larger than memory.")]
    if not (method.runs_on_disk or method.runs_in_blocks):
        return []
    parts = "chunks" if method.runs_on_disk else "blocks"
    jobs = flag(
        "jobs",
        int | None,
        f"Processes that share the {parts}. Without this: one a processor; one up to 1 MB.",
        default=None,
        group=ENGINE_GROUP,
    )
    if not method.runs_on_disk:
        return [jobs]
    rows = "Keep rows on the disk: for data larger than memory, always in chunks."
    return [
        jobs,
        _on_disk_flag(rows),
        flag(
            "engine",
            Literal["local", "spark"],
            "This machine, or the executors of Spark, for a folder of Parquet or table:NAME.",
            default="local",
            group=ENGINE_GROUP,
        ),
        flag(
            "working",
            Path | None,
            "With Spark: a folder or an address (s3a://...) that driver and executors write, with "
            "people's rows meanwhile.",
            default=None,
            group=ENGINE_GROUP,
            placed=True,
        ),
        flag(
            "estimate",
            bool,
            "On the disk or on Spark: say what this will cost, and write nothing.",
            default=False,
            group=ENGINE_GROUP,
            negative="",
        ),
    ]


def _on_disk_flag(text: str) -> inspect.Parameter:
    return flag("on_disk", bool, text, default=False, group=ENGINE_GROUP, negative="")
