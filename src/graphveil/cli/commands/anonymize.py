"""`graphveil anonymize METHOD INPUT --out DIR`: a subcommand a method, a flag a field."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from dataclasses import MISSING
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App

from graphveil.claims.conditions import with_conditions
from graphveil.claims.record import private_folder
from graphveil.cli import inputs, say_warnings
from graphveil.cli.answer import print_answer, print_next
from graphveil.cli.console import bars, result, result_json, say
from graphveil.cli.flags import (
    ALL,
    ENGINE_GROUP,
    INPUT,
    INPUT_FORMAT,
    METHOD_GROUP,
    OUTPUT_GROUP,
    REQUIRED,
    Flag,
    flags,
    flags_of,
    with_signature,
)
from graphveil.cli.kinds import command_of_methods, naming_methods, reading_flags, reading_options
from graphveil.core.errors import ReleaseError
from graphveil.core.parameters import hints_of
from graphveil.core.progress import shown
from graphveil.core.storage import Address, Place
from graphveil.core.text import Wording, counted, printable
from graphveil.data import Bipartite, Graph, Table
from graphveil.io import AnyOptions, kind_read
from graphveil.methods.base import Anonymizer
from graphveil.methods.registry import method_named
from graphveil.pages.answers.promise import columns_line, cost_words, until_line
from graphveil.release.options import RunOptions, options_for

if TYPE_CHECKING:
    from graphveil.claims.manifest import Manifest
    from graphveil.claims.record import Record
    from graphveil.release import Private
    from graphveil.scale.estimate import Estimate, Range


def run_flags(method: type[Anonymizer[Any]]) -> list[inspect.Parameter]:
    """Return the flags of where a method runs, then those of where its release is written.

    Options that every method has come first on a page of help.
    """
    kinds = hints_of(RunOptions)
    every, some, execution = dict[str, Flag](), dict[str, Flag](), dict[str, Flag]()
    for item, text in options_for(method):
        default = REQUIRED if item.default is MISSING else item.default
        made = Flag(kinds[item.name], text, default)
        of_every = every if isinstance(item.metadata["help"], str) else some
        (of_every if item.metadata["section"] == "output" else execution)[item.name] = made
    if "rows" in method.sources:
        execution["estimate"] = Flag(
            bool,
            "With --on-disk or Spark: estimate time and memory, and write nothing.",
            default=False,
        )
    output = {**every, **ALL, "json": Flag(bool, "Print a summary as JSON.", default=False), **some}
    return [*flags(ENGINE_GROUP, execution), *flags(OUTPUT_GROUP, output)]


HOUR = 3600


def print_estimate(estimate: Estimate, *, as_json: bool) -> None:
    """Print what a run will cost."""
    if as_json:
        result_json(_plain(estimate))
        return
    of = "on one core, summed over all processes"
    print_answer(f"Estimate: {time_words(estimate.cpu_seconds)} {of}.")
    items = counted(estimate.entries, "item", spec=",")
    result(f"  rows: {estimate.rows:,}, with about {items}; chunks: {estimate.chunks:,}")
    result(f"  memory per process: {_between(estimate.worker_mib)} MiB")
    result(f"  temporary files: {_bytes(estimate.working_bytes)}")
    if estimate.shuffle_bytes is not None:
        result(f"  shuffled: {_bytes(estimate.shuffle_bytes)}")
    result("Assumed:")
    for text in estimate.assumed:
        result(f"  {text}")
    result("Nothing was written.")


def _plain(estimate: Estimate) -> dict[str, object]:
    whole = {
        name: [round(end) for end in ends] if (ends := getattr(estimate, name)) else ends
        for name in ("working_bytes", "shuffle_bytes")
    }
    names = ("engine", "rows", "entries", "chunks", "core_hours", "cpu_seconds")
    plain = {name: getattr(estimate, name) for name in names}
    return plain | whole | {"worker_mib": estimate.worker_mib, "assumed": estimate.assumed}


def time_words(seconds: Range) -> str:
    """Return seconds of CPU in words.

    >>> from graphveil.scale.estimate import Range
    >>> time_words(Range(8.1, 18.3)), time_words(Range(30_000.0, 67_500.0))
    ('8.1 to 18 seconds', '8.3 to 19 hours')
    """
    if seconds.high < HOUR:
        return f"{_between(seconds)} seconds"
    return f"{_between(type(seconds)(*(end / HOUR for end in seconds)))} hours"


def _between(ends: Range) -> str:
    low, high = (f"{end:.2g}" if end < 100 else f"{float(f'{end:.2g}'):,.0f}" for end in ends)
    return f"{low} to {high}"


def _bytes(ends: Range) -> str:
    units = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
    unit, name = next((one for one in units if ends.high >= one[0]), units[-1])
    return f"{_between(type(ends)(*(end / unit for end in ends)))} {name}"


def _run(method: type[Anonymizer[Any]], path: Path, given: dict[str, Any], *, typed: str) -> int:
    from graphveil.claims.manifest import read_manifest  # noqa: PLC0415  as above
    from graphveil.claims.record import read_record  # noqa: PLC0415  as above
    from graphveil.verbs.anonymize import anonymize_file, estimate_file  # noqa: PLC0415

    every, as_json, estimated = (given.pop(n, False) for n in ("all", "json", "estimate"))
    own = {item.name: given.pop(item.name) for item, _ in options_for(method)}
    if method.card.directed and not given.get("directed"):
        given["directed"] = "keep"
    options = reading_options(method.accepts, path, given)
    anonymizer = method.from_parameters(given)
    run = RunOptions(**own)
    if estimated:
        with shown(bars()):
            cost = estimate_file(anonymizer, path, run, options=options)
        print_estimate(cost, as_json=as_json)
        return 0
    with shown(bars()):
        anonymize_file(
            anonymizer,
            path,
            run,
            options=options,
            report=partial(inputs.say_report, path),
        )
    _say_how_read(path, options, run)
    record = read_record(run.out, run.private)
    if record is None:
        raise ReleaseError(f"{run.out}: its private folder is missing. Anonymize again.")
    manifest = read_manifest(run.out)
    say_warnings(every=every)
    if as_json:
        figures = {"cost": dict(record.cost), "warnings": list(record.warnings)}
        claim = manifest.claim
        promise = with_conditions(claim.sentence, claim.conditions)
        promised = {"folder": str(run.out), "promise": promise}
        result_json(promised | figures | {"seconds": dict(record.seconds)})
        return 0
    print_release(manifest, manifest.claim.does_not_protect_against, record, run.out, run.private)
    if every:
        for what, value in record.cost.items():
            figure = f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
            result(f"  {what.replace('_', ' ')}: {figure}")
    print_next(_check(anonymizer, options, run.out, typed))
    return 0


def _say_how_read(path: Path, options: AnyOptions, run: RunOptions) -> None:
    """Say as what the data was read, and where its format is not that of the release."""
    from graphveil.release.files import note_on_format  # noqa: PLC0415  not for its help

    kind = kind_read(options)
    if run.on_disk:
        say(f"{path.name}: read as {kind.words}")
    if not run.format and run.engine == "local":
        note = note_on_format(path, options.format, kind.name)
        if note is not None:
            say(f"{path.name}: {note}")


def print_release(
    manifest: Manifest,
    limits: str,
    private: Record | Private,
    out: Place,
    owners: Place | None = None,
    *,
    word: Wording = str,
) -> None:
    """Print what is guaranteed, what is not, what it cost, and where the two folders are."""
    claim = manifest.claim
    promised = with_conditions(claim.sentence, claim.conditions)
    said = f"{promised} {claim.why}" if claim.why is not None else f"Guarantee: {promised}"
    print_answer(word(said))
    print_answer(word(f"Not covered: {limits}"))
    cost = ", ".join(cost_words(private.cost))
    print_answer(word(f"Cost: {cost}."))
    for line in (until_line(private.cost), columns_line(manifest.data, private.cost)):
        if line is not None:
            print_answer(line)
    result(f"Publish: {printable(out)}")
    if isinstance(out, Address):
        result(f"Keep private: {printable(owners)}")
        return
    result(f"Keep private: {printable(owners or private_folder(out))}")
    if owners is not None:
        result(f"To let verify and evaluate find it, link it as: {printable(private_folder(out))}")


def _check(anonymizer: Anonymizer[Any], options: AnyOptions, out: Place, typed: str) -> str:
    """Return the command that verifies the release."""
    if isinstance(out, Address):
        return inputs.command_line("verify", str(out))
    key: Any = getattr(getattr(anonymizer, "key", None), "file", None)
    named = key is not None and not inputs.is_pipe(key)
    words = inputs.flag_words("key", inputs.file_word(key)) if named else ()
    return inputs.command_beside("verify", out, typed, options, *words)


def subcommand(name: str) -> Callable[..., int]:
    """Return the subcommand of a method, whose class is imported for it and for no other."""
    method = method_named(name)
    parameters = [
        INPUT,
        *flags_of(method, METHOD_GROUP),
        *run_flags(method),
        *reading_flags(method.accepts),
    ]
    example = method.from_parameters(method.card.example)
    limits = f"{example.limits()} {method.card.limits_of_attributes}".rstrip()
    text = (
        f"{method.card.promise}\n\nNot covered: {limits}\n\nReference: {method.card.source}.\n\n"
        f"Example: graphveil anonymize {name} {_example(method)}"
    )
    command: Callable[..., int] = with_signature(_bound(method), parameters, name=name, text=text)
    return command


def _bound(method: type[Anonymizer[Any]]) -> Any:
    def run(path: Path, **given: Any) -> int:
        typed = inputs.file_word(path)
        with inputs.a_file(path, given.get(INPUT_FORMAT)) as file, naming_methods(method.accepts):
            return _run(method, file, given, typed=typed)

    return run


def _example(method: type[Anonymizer[Any]]) -> str:
    flags = " ".join(
        f"--{name.replace('_', '-')} {shlex.quote(str(value))}"
        for name, value in method.card.example.items()
    )
    names: dict[Any, str] = {Graph: "friends", Bipartite: "likes", Table: "people"}
    name = names.get(method.accepts[0], "friends")
    return " ".join(filter(None, [f"{name}.csv", flags, f"--out {name}-{method.name}"]))


TEXT = (
    "Anonymize data: graphveil anonymize METHOD INPUT --out DIR.\n\nTo repeat the choices of "
    "an earlier release on another file, such as next year's: graphveil anonymize INPUT --from "
    "RELEASE --out DIR. Flags that you add replace the earlier ones. RELEASE can also be the "
    "file of choices that graphveil serve keeps (.graphveil/FILE.json)."
)


def __getattr__(name: str) -> Any:
    """Return ``command``, ``overview``, which lists guarantees, or a method's subcommand."""
    return command_of_methods(App(name="anonymize", help=TEXT), __name__, name, subcommand)
