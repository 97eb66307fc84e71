"""`graphveil reproduce PAPER --table N`: a table or figure of a paper, run again."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from graphveil.cli import say_warnings
from graphveil.cli.answer import print_answer, print_next
from graphveil.cli.console import bars, result_json, result_table, say
from graphveil.cli.flags import JSON, NEW_FILE, OUTPUT_GROUP, Flag, flags, with_signature
from graphveil.cli.inputs import command_line
from graphveil.cli.outputs import RowsFile
from graphveil.core.progress import shown
from graphveil.core.text import printable

KINDS = ("table", "figure", "theorem", "algorithm")


def _run(paper: str | None, **given: Any) -> int:
    from graphveil.verbs.reproduce import Reproduction, reproduce  # noqa: PLC0415  not for its help

    out, force, as_json = given.pop("out"), given.pop("force"), given.pop("json")
    file = RowsFile(out, force)
    file.check(None, {})
    with shown(bars()):
        done = reproduce(paper, **given)
    if not isinstance(done, Reproduction):
        if as_json:
            result_json([item._asdict() for item in done])
        else:
            _print_list(done)
        return 0
    file.write(done, quiet=True)
    if as_json:
        result_json(done.summary())
        return 0
    cells = done.side_by_side()
    result_table(("data", "figure", *COLUMNS), cells, right=(2, 3, 4))
    for name, reason in done.not_run.items():
        say(f"{name} was not run: it {reason.flags}")
    say_warnings(every=True)
    if out is None:
        print_answer("Mean ± standard deviation of the runs. Write every run with --out FILE.")
    else:
        print_answer(f"Mean ± standard deviation of the runs. Every run is in {printable(out)}.")
    return 0


COLUMNS = ("paper", "published", "default")


def _print_list(items: Any) -> None:
    rows = [
        (
            item.paper,
            f"--{item.kind} {item.number}",
            item.title,
            ("" if item.alone else "only with: ") + ", ".join(item.needs) or "nothing",
            item.repeats,
            f"{item.seconds:,} s" if item.alone else "by data",
        )
        for item in items
    ]
    columns = ("paper", "item", "what", "more data", "repeats", "CPU of one")
    result_table(columns, rows, right=(4, 5), whole=(0, 1))
    first = next(row for row, item in zip(rows, items, strict=True) if item.alone)
    print_next(
        command_line("reproduce", first[0], *first[1].split()),
        more="More data is read from a folder (--data) and its SHA-256 is checked. Nothing is "
        "downloaded.",
    )


def _flags() -> list[inspect.Parameter]:
    paper = inspect.Parameter(
        "paper",
        inspect.Parameter.POSITIONAL_ONLY,
        default=None,
        annotation=Annotated[str | None, Parameter(help="The paper. Default: list what there is.")],
    )
    asked = {kind: Flag(str | None, f"Number of the {kind} to run.") for kind in KINDS} | {
        "data": Flag(
            Path | None,
            "Folder with data that does not ship. Each file's SHA-256 is checked; "
            "nothing is downloaded.",
        ),
        "repeats": Flag(
            int | None, "How often each run is repeated. Default: as often as in the paper."
        ),
        "seed": Flag(int, "Seed of the first run; the next run has the next number.", default=1),
    }
    output = {
        "out": Flag(Path | None, "Write a row for each run to this new file, .parquet or .json."),
        **NEW_FILE,
        **JSON,
    }
    return [paper, *flags(None, asked), *flags(OUTPUT_GROUP, output)]


command = with_signature(
    _run,
    _flags(),
    name="reproduce",
    text="Run a table or figure of a paper again, and print the paper's figures next to ours.\n\n"
    "Published is the paper's algorithm as graphveil implements it; default is what graphveil does "
    "unless you ask for something else. Without a paper or an item, it lists what there is and "
    "what each needs.\n\nExample: graphveil reproduce adaptive-anonymity --figure 2",
)
