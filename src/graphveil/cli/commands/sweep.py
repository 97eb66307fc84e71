"""`graphveil sweep METHOD INPUT --out DIR`: a release and its figures for every point of a grid."""

from __future__ import annotations

import inspect
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cyclopts import App

from graphveil.cli.answer import hung, print_answer, print_next, say_lines
from graphveil.cli.console import bars, result, result_json
from graphveil.cli.flags import (
    ALL,
    INPUT,
    INPUT_FORMAT,
    JSON,
    METHOD_GROUP,
    OUTPUT_GROUP,
    REQUIRED,
    Flag,
    flag,
    flags,
    flags_of,
    with_signature,
)
from graphveil.cli.inputs import a_file, command_line, file_word, reading_words, say_report
from graphveil.cli.kinds import command_of_methods, reading_flags, reading_options
from graphveil.core.errors import InputError, UsageError
from graphveil.core.hints import one_of
from graphveil.core.parameters import flat_parameters
from graphveil.core.progress import shown
from graphveil.core.text import printable
from graphveil.data.kinds import CONTAINERS
from graphveil.io import kind_read
from graphveil.methods.base import Anonymizer
from graphveil.methods.registry import method_named

if TYPE_CHECKING:
    from graphveil.verbs.sweep.results import Sweep
    from graphveil.verbs.sweep.sweep import SweepOptions

RUN: dict[str, Any] = {"repeats": 1, "seed": None, "jobs": None, "seconds": None}
RUN |= {"metrics": None, "attacks": None}
"""The options of a run, with their defaults; the file of ``--config`` may give them, too."""

SEVERAL = {"k": "2,5,10", "levels": "2,5,10", "epsilon": "1,4,8"}
"""The values of main parameters in examples."""

MOST_SHOWN = 16
"""So many lines of an answer are points."""


def _from_pipes(method: type[Anonymizer[Any]] | None, path: Path, **given: Any) -> int:
    typed = file_word(path)
    with a_file(path, given.get(INPUT_FORMAT)) as file:
        return _run(method, file, given, typed=typed)


def _run(
    method: type[Anonymizer[Any]] | None, path: Path, given: dict[str, Any], *, typed: str
) -> int:
    from graphveil.verbs.sweep.grid import values_in  # noqa: PLC0415  not for its help
    from graphveil.verbs.sweep.sweep import SweepOptions, sweep_file  # noqa: PLC0415

    out, until, as_json = given.pop("out"), given.pop("until") or [], given.pop("json")
    every = given.pop("all")
    config = _configured(given.pop("config"), method)
    asked = {name: given.pop(name) for name in RUN}
    run = SweepOptions(**(RUN | config.options | {k: v for k, v in asked.items() if v is not None}))
    if method is None:
        kinds, grid = CONTAINERS, config.grid
    else:
        kinds = method.accepts
        if method.card.directed and not given.get("directed"):
            given["directed"] = "keep"
        texts = {item.name: given.pop(item.name, None) for item in _grid_flags(method)}
        chosen = {name: values_in(method, name, text) for name, text in texts.items() if text}
        grid = {method.name: {**config.grid.get(method.name, {}), **chosen}}
    _check_bounds(until, run)
    options = reading_options(kinds, path, given)
    with shown(bars()):
        done = sweep_file(
            grid,
            path,
            out,
            options=options,
            run=run,
            report=partial(say_report, path),
            words=(typed, "--kind", kind_read(options).name, *reading_words(options)),
        )
    met = done.meeting(until) if until else None
    if as_json:
        result_json(_summary(done, until, met))
    else:
        print_sweep(done, out, until, met, every=every)
    return 0 if met is None or met else 1


class _Config(NamedTuple):
    """What a file says of a sweep: parameters by method, and options of the run."""

    grid: Mapping[str, Mapping[str, Any]]
    options: dict[str, Any]


def _configured(path: Path | None, method: type[Anonymizer[Any]] | None) -> _Config:
    """Return what a file says; without a method it must name some."""
    if path is None:
        if method is None:
            raise UsageError(
                "no method given. Use graphveil sweep METHOD INPUT, or list several in --config "
                "FILE.toml, one table [sweep.METHOD] each."
            )
        return _Config({}, {})
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("sweep", {})
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}. Give an existing TOML file."
        ) from error
    except ValueError as error:
        raise InputError(f"{path.name} is not valid TOML: {error}. Correct that line.") from error
    if not isinstance(table, dict):
        raise UsageError(
            f"{path.name}: sweep is not a table. Write [sweep.k-degree] and k = [2, 5]."
        )
    grid = {name: value for name, value in table.items() if isinstance(value, dict)}
    options = {name: value for name, value in table.items() if name not in grid}
    for name in options:
        if name not in RUN:
            raise UsageError(f"{path.name}: unknown option {name!r} of sweep. {one_of(name, RUN)}")
    if method is None and not grid:
        raise UsageError(f"{path.name} names no method. Write a table such as [sweep.k-degree].")
    return _Config(grid, options)


def _check_bounds(until: Sequence[str], run: SweepOptions) -> None:
    """Refuse bounds that cannot be read, or that nothing will measure, before anything is run."""
    from graphveil.attacks.registry import ATTACKS  # noqa: PLC0415  not for its help
    from graphveil.core.bounds import check_bound, read_bound  # noqa: PLC0415
    from graphveil.evaluate.metrics.registry import METRICS  # noqa: PLC0415

    metrics = list(METRICS) if run.metrics is None else run.metrics
    attacks = list(ATTACKS) if run.attacks is None else run.attacks
    for text in until:
        check_bound(read_bound(text), metrics, attacks)


def _summary(done: Sweep, until: Sequence[str], met: list[int] | None) -> dict[str, Any]:
    """Return all of a sweep as JSON can hold it."""
    shown = ("status", "reason", "promise", "rows", "seconds", "cpu_seconds")
    points = [
        {"point": point.number, "method": point.method, "parameters": point.parameters}
        | {"draw": point.draw}
        | {name: getattr(done.results[point.number], name) for name in shown}
        for point in done.plan.points
    ]
    bounds = {} if met is None else {"bounds": list(until), "meeting": met}
    return {"folder": str(done.folder), "points": points, **bounds}


def print_sweep(
    done: Sweep, out: Path, until: Sequence[str], met: list[int] | None, *, every: bool
) -> None:
    """Print the answer: how the points ended, the best of each, and what to do next."""
    from graphveil.verbs.sweep.results import (  # noqa: PLC0415  not for its help
        answer_of,
        lines_of,
        warning_of,
    )

    print_answer(answer_of(done, until, met))
    result("")
    lines = [line for start, text in lines_of(done, met) for line in hung(start, text, " " * 4)]
    say_lines(lines, most=len(lines) if every else MOST_SHOWN)
    result("")
    if warning := warning_of(done):
        print_answer(warning)
    print_answer(
        "The releases are trials: publish at most one. A differentially private trial carries "
        "no guarantee; run its command to make a real release."
    )
    result(f"Keep private: {printable(out)} (releases in points, figures in sweep.parquet)")
    print_next(command_line("report", file_word(out)))


def _grid_flags(method: type[Anonymizer[Any]]) -> list[inspect.Parameter]:
    """Return a flag for every parameter of a method, a comma list, but those named as ours are."""
    from graphveil.verbs.sweep.grid import between  # noqa: PLC0415  for this alone

    made = []
    kinds = {item.name: item.kind for item in flat_parameters(method)}
    ours = {item.name for item in _run_flags()}
    for item in flags_of(method, METHOD_GROUP):
        if item.name in ours:  # such as until: the file of --config can still give it
            continue
        note = item.annotation.__metadata__[0]
        marks = "semicolons" if between(kinds.get(item.name)) == ";" else "commas"
        text = f"{note.help} Separate several values by {marks}."
        made.append(flag(item.name, str | None, text, default=None, group=METHOD_GROUP))
    return made


ASKED = {
    "repeats": Flag(int | None, "Releases per combination [default: 1]."),
    "seed": Flag(
        int | None, "Seed that makes the sweep repeatable; keep it secret. Default: entropy."
    ),
    "metrics": Flag(
        list[str] | None, "Metrics to compute, as for evaluate. Default: all that fit."
    ),
    "attacks": Flag(list[str] | None, "Attacks to run, as for attack. Default: all that fit."),
    "until": Flag(
        list[str] | None,
        "A bound such as 'kept >= 0.9'. Points that meet every bound are marked; exit "
        "code 1 if none does. Repeatable.",
    ),
    "seconds": Flag(float | None, "CPU time limit per point, in seconds. Default: none."),
    "jobs": Flag(int | None, "Number of processes. Default: one per processor."),
    "config": Flag(
        Path | None,
        "A TOML file with the grid: one table [sweep.METHOD] per method, with k = [2, 5, 10].",
    ),
}
OUTPUT = {
    "out": Flag(Path, "Folder for the sweep; an unfinished one is resumed.", default=REQUIRED),
    **ALL,
    **JSON,
}


def _run_flags() -> list[inspect.Parameter]:
    return [*flags(None, ASKED), *flags(OUTPUT_GROUP, OUTPUT)]


def subcommand(name: str) -> Callable[..., int]:
    """Return the subcommand of a method, whose class is imported for it and for no other."""
    method = method_named(name)
    values = {
        **method.card.example,
        **{k: v for k, v in SEVERAL.items() if k in method.card.example},
    }
    example = " ".join(f"--{k.replace('_', '-')} {shlex.quote(str(v))}" for k, v in values.items())
    text = (
        f"Make a release and its figures for every combination of parameters of {name}.\n\nEach "
        "parameter takes several values, separated by commas.\n\nExample: graphveil sweep "
        f"{name} friends.csv {example} --out sweep"
    )
    parameters = [INPUT, *_grid_flags(method), *_run_flags(), *reading_flags(method.accepts)]
    command: Callable[..., int] = with_signature(
        partial(_from_pipes, method), parameters, name=name, text=text
    )
    return command


TEXT = (
    "Run a grid of parameters: graphveil sweep METHOD INPUT --out DIR makes one release per "
    "point and measures it.\n\nDIR is private. It holds every release, all figures "
    "(sweep.parquet) and the reason for each failure. Run the same command again to resume. The "
    "releases are trials: publish at most one.\n\nFor several methods, use a file: graphveil "
    "sweep INPUT --config FILE.toml --out DIR.\n\nExample: graphveil sweep k-degree friends.csv "
    "--k 2,5,10 --out sweep"
)


def __getattr__(name: str) -> Any:
    """Return ``command``, ``overview``, which lists guarantees, or a method's subcommand."""
    app = App(name="sweep", help=TEXT)
    if name in {"command", "overview"}:
        parameters = [INPUT, *_run_flags(), *reading_flags(CONTAINERS)]
        app.default(with_signature(partial(_from_pipes, None), parameters, name="sweep", text=TEXT))
    return command_of_methods(app, __name__, name, subcommand)
