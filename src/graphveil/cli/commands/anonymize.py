"""`graphveil anonymize METHOD INPUT --out DIR`: a subcommand a method, a flag a field.

The flags of `graphveil anonymize METHOD` that are no parameters of the method.

`graphveil anonymize ... --estimate`: what the same command will cost without it.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cyclopts import App

from graphveil.claims.record import private_folder
from graphveil.cli import say_warnings
from graphveil.cli.answer import ALL_FLAG, print_answer, print_next
from graphveil.cli.console import bars, result, result_json, say
from graphveil.cli.flags import (
    ENGINE_GROUP,
    INPUT,
    INPUT_FORMAT,
    METHOD_GROUP,
    OUTPUT_GROUP,
    flag,
    flags_of,
    with_signature,
)
from graphveil.cli.inputs import (
    a_file,
    command_beside,
    command_line,
    file_word,
    flag_words,
    is_pipe,
    say_report,
)
from graphveil.cli.kinds import add_methods, reading_flags, reading_options
from graphveil.cli.summaries.promise import columns_line, cost_words, until_line
from graphveil.core.errors import ReleaseError, UsageError
from graphveil.core.progress import shown
from graphveil.core.storage import Address, Place
from graphveil.core.text import counted, printable
from graphveil.data import Graph
from graphveil.io import AnyOptions, kind_read
from graphveil.methods import METHODS
from graphveil.methods.base import Anonymizer
from graphveil.methods.registry import OUTSIDE, method_named

if TYPE_CHECKING:
    from graphveil.claims.ledger import Ledger
    from graphveil.claims.manifest import Claim, Manifest
    from graphveil.claims.record import Record
    from graphveil.release import Private
    from graphveil.release.publishing import Output
    from graphveil.scale.estimate import Estimate, Range


def output_flags() -> list[inspect.Parameter]:
    """Return the flags of where a release is written, and how."""
    return [
        flag(
            "out",
            Path,
            "Folder for the release; must not exist yet.",
            group=OUTPUT_GROUP,
            placed=True,
        ),
        flag(
            "format",
            str | None,
            "Format of the released data, such as csv, parquet or gml. Default: the input "
            "format; csv or parquet if that format can write the same data in more than one way.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "force",
            bool,
            "Replace an existing release once the new one is complete.",
            default=False,
            group=OUTPUT_GROUP,
            negative="",
        ),
        flag(
            "linkage",
            bool,
            "Keep the table of old and new ids in the private folder.",
            default=True,
            group=OUTPUT_GROUP,
        ),
        flag(
            "seed",
            int | None,
            (
                "Make the run reproducible; keep the seed secret. Default: entropy from the "
                "operating system."
            ),
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
    if "rows" not in method.sources:
        return []
    return [
        flag(
            "parts",
            bool | None,
            "With --on-disk or Spark: write Parquet in parts of 1,048,576 users. Default: only "
            "for more users than that.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "private",
            Path | None,
            "Folder for the private record and linkage. Default: OUT.private. Required if --out "
            "is an address (such as s3a://...); can itself be an address.",
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
            "An earlier release of the same people; the new classes are unions of its classes.",
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
            (
                "Privacy ledger (a private file): records the epsilon of this run before anything "
                "is drawn."
            ),
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "ledger_limit",
            float | None,
            "Upper limit on the ledger's total epsilon; set once and stored in the ledger.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "ledger_unclaimed",
            bool,
            "Record a run without a guarantee as well; the ledger then has no total.",
            default=False,
            group=OUTPUT_GROUP,
            negative="",
        ),
    ]


def engine_flags(method: type[Anonymizer[Any]]) -> list[inspect.Parameter]:
    """Return the flags of where a method runs; none of them changes the result."""
    sources = method.sources
    if "ties" in sources:
        return [_on_disk_flag("Keep edges on disk, for networks larger than memory.")]
    if not {"rows", "blocks"} & set(sources):
        return []
    parts = "chunks" if "rows" in sources else "blocks"
    jobs = flag(
        "jobs",
        int | None,
        f"Number of processes for {parts}. Default: one per processor; one for data up to 1 MB.",
        default=None,
        group=ENGINE_GROUP,
    )
    if "rows" not in sources:
        return [jobs]
    rows = "Keep rows on disk, for data larger than memory; always processed in chunks."
    return [
        jobs,
        _on_disk_flag(rows),
        flag(
            "engine",
            Literal["local", "spark"],
            (
                "Where to run: this machine, or Spark executors (input: a folder of Parquet, or "
                "table:NAME)."
            ),
            default="local",
            group=ENGINE_GROUP,
        ),
        flag(
            "working",
            Path | None,
            "With Spark: a folder or address (s3a://...) that driver and executors can write; "
            "holds people's rows during the run.",
            default=None,
            group=ENGINE_GROUP,
            placed=True,
        ),
        flag(
            "estimate",
            bool,
            "With --on-disk or Spark: estimate time and memory, and write nothing.",
            default=False,
            group=ENGINE_GROUP,
            negative="",
        ),
    ]


def _on_disk_flag(text: str) -> inspect.Parameter:
    return flag("on_disk", bool, text, default=False, group=ENGINE_GROUP, negative="")


HOUR = 3600


def print_estimate(estimate: Estimate, *, as_json: bool) -> None:
    """Print what a run will cost.

    `estimate`: the figures; `as_json`: whether they are printed for the next program.
    """
    if as_json:
        result_json(_plain(estimate))
        return
    of = "on one core, summed over all processes"
    print_answer(f"Estimate: {time_words(estimate.cpu_seconds)} {of}.")
    result(
        f"  rows: {estimate.rows:,}, with about {counted(estimate.entries, 'item', spec=',')}; "
        "chunks: "
        f"{estimate.chunks:,}"
    )
    result(f"  memory per process: {_between(estimate.worker_mib)} MiB")
    result(f"  temporary files: {_bytes(estimate.working_bytes)}")
    if estimate.shuffle_bytes is not None:
        result(f"  shuffled: {_bytes(estimate.shuffle_bytes)}")
    result("Assumed:")
    for text in estimate.assumed:
        result(f"  {text}")
    result("Nothing was written.")


def _plain(estimate: Estimate) -> dict[str, object]:
    return {
        "engine": estimate.engine,
        "rows": estimate.rows,
        "entries": estimate.entries,
        "chunks": estimate.chunks,
        "core_hours": list(estimate.core_hours),
        "cpu_seconds": list(estimate.cpu_seconds),
        "working_bytes": [round(end) for end in estimate.working_bytes],
        "shuffle_bytes": estimate.shuffle_bytes and [round(n) for n in estimate.shuffle_bytes],
        "worker_mib": list(estimate.worker_mib),
        "assumed": list(estimate.assumed),
    }


def time_words(seconds: Range) -> str:
    """Return seconds of CPU in words.

    Examples
    --------
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
    unit, name = next(
        (size, name)
        for size, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
        if ends.high >= size or name == "kB"
    )
    return f"{_between(type(ends)(*(end / unit for end in ends)))} {name}"


class _Given(NamedTuple):
    """What the flags of the output and of the engine say."""

    out: Place
    format: str | None
    force: bool
    linkage: bool
    seed: int | None
    json: bool
    all: bool = False
    jobs: int | None = None
    on_disk: bool = False
    engine: Literal["local", "spark"] = "local"
    working: Place | None = None
    estimate: bool = False
    parts: bool | None = None
    private: Place | None = None
    nested_in: Path | None = None
    ledger: Path | None = None
    ledger_limit: float | None = None
    ledger_unclaimed: bool = False

    def output(self) -> Output:
        """Return where the release is written."""
        from graphveil.release.publishing import Output  # noqa: PLC0415  not for its help

        return Output(
            self.out, self.format, self.force, self.linkage, self.parts, private=self.private
        )

    def entered(self) -> Ledger | None:
        """Return the ledger that was asked for.

        Raises `UsageError` where its options are given without it.
        """
        if self.ledger is not None:
            from graphveil.claims.ledger import Ledger  # noqa: PLC0415  rarely kept

            return Ledger(self.ledger, limit=self.ledger_limit, unclaimed=self.ledger_unclaimed)
        if self.ledger_limit is not None or self.ledger_unclaimed:
            raise UsageError("--ledger-limit and --ledger-unclaimed require --ledger FILE.")
        return None


def _run(method: type[Anonymizer[Any]], path: Path, given: dict[str, Any], *, typed: str) -> int:
    from graphveil.claims.manifest import read_manifest  # noqa: PLC0415  not for its help
    from graphveil.claims.record import read_record  # noqa: PLC0415
    from graphveil.verbs.anonymize import (  # noqa: PLC0415
        RunOptions,
        anonymize_file,
        estimate_file,
    )

    names = [name for name in _Given._fields if name in given]
    flags = _Given(**{name: given.pop(name) for name in names})
    if method.directed and not given.get("directed"):
        given["directed"] = "keep"
    options = reading_options(method.accepts, path, given)
    anonymizer = method.from_parameters(given)
    run = RunOptions(
        seed=flags.seed,
        nested_in=flags.nested_in,
        ledger=flags.entered(),
        jobs=flags.jobs,
        on_disk=flags.on_disk,
        engine=flags.engine,
        working=flags.working,
    )
    output = flags.output()
    if flags.estimate:
        with shown(bars()):
            cost = estimate_file(anonymizer, path, output, options=options, run=run)
        print_estimate(cost, as_json=flags.json)
        return 0
    with shown(bars()):
        anonymize_file(
            anonymizer, path, output, options=options, run=run, report=partial(say_report, path)
        )
    _say_how_read(path, options, flags)
    record = read_record(flags.out, flags.private)
    if record is None:
        raise ReleaseError(f"{flags.out}: its private folder is missing. Anonymize again.")
    manifest = read_manifest(flags.out)
    say_warnings(every=flags.all)
    if flags.json:
        _print_json(manifest.claim, record, flags.out)
        return 0
    print_release(manifest, anonymizer.stated_limits, record, flags.out, flags.private)
    if flags.all:
        for what, value in record.cost.items():
            figure = f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
            result(f"  {what.replace('_', ' ')}: {figure}")
    print_next(_check(anonymizer, options, flags.out, typed))
    return 0


def _say_how_read(path: Path, options: AnyOptions, flags: _Given) -> None:
    """Say as what the data was read, and where its format is not that of the release."""
    from graphveil.release.files import note_on_format  # noqa: PLC0415  not for its help

    if flags.on_disk:
        say(f"{path.name}: read as {kind_read(options).words}")
    note = None
    if not flags.format and flags.engine == "local":
        note = note_on_format(path, options.format, kind_read(options).name)
    if note is not None:
        say(f"{path.name}: {note}")


def _print_json(claim: Claim, private: Record, out: Place) -> None:
    result_json(
        {
            "folder": str(out),
            "promise": claim.sentence,
            "cost": dict(private.cost),
            "warnings": list(private.warnings),
            "seconds": dict(private.seconds),
        }
    )


def print_release(
    manifest: Manifest,
    limits: str,
    private: Record | Private,
    out: Place,
    owners: Place | None = None,
) -> None:
    """Print what is promised, what is not, what it cost, and where the two folders are.

    Parameters
    ----------
    manifest
        What is published of the release.
    limits
        What the method does not protect against.
    private
        What the owner alone knows of the release.
    out
        Its folder or address.
    owners
        Its private folder or address; None for the one beside it.
    """
    claim = manifest.claim
    promised = claim.sentence
    print_answer(f"{promised} {claim.why}" if claim.why is not None else f"Guarantee: {promised}")
    print_answer(f"Not covered: {limits}")
    cost = ", ".join(cost_words(private.cost))
    print_answer(f"Cost: {cost}.")
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
        return command_line("verify", str(out))
    key = getattr(getattr(anonymizer, "key", None), "file", None)
    words = () if key is None or is_pipe(key) else flag_words("key", file_word(key))
    return command_beside("verify", out, typed, options, *words)


def subcommand(name: str) -> Callable[..., int]:
    """Return the subcommand of a method, whose class is imported for it and for no other."""
    method = method_named(name)
    parameters = [
        INPUT,
        *flags_of(method, METHOD_GROUP),
        *engine_flags(method),
        *output_flags(),
        *parts_flags(method),
        *nesting_flags(method),
        *ledger_flags(method),
        *reading_flags(method.accepts),
    ]
    limits = f"{method.example_limits()} {method.limits_of_attributes}".rstrip()
    text = (
        f"{method.promise}\n\nNot covered: {limits}\n\nReference: {method.source}.\n\nExample: "
        f"graphveil anonymize {name} {_example(method)}"
    )
    command: Callable[..., int] = with_signature(_bound(method), parameters, name=name, text=text)
    return command


def _bound(method: type[Anonymizer[Any]]) -> Any:
    def run(path: Path, **given: Any) -> int:
        typed = file_word(path)
        with a_file(path, given.get(INPUT_FORMAT)) as file:
            return _run(method, file, given, typed=typed)

    return run


def _example(method: type[Anonymizer[Any]]) -> str:
    values = {k.replace("_", "-"): shlex.quote(str(v)) for k, v in method.example.items()}
    flags = " ".join(f"--{name} {value}" for name, value in values.items())
    name = "friends" if Graph in method.accepts else "likes"
    return " ".join(filter(None, [f"{name}.csv", flags, f"--out {name}-{method.name}"]))


def _methods(*, listed: bool) -> App:
    """Return the command: its page lists the methods where their classes are imported."""
    text = (
        "Anonymize data: graphveil anonymize METHOD INPUT --out DIR.\n\nTo repeat the choices of "
        "an earlier release on another file, such as next year's: graphveil anonymize INPUT --from "
        "RELEASE --out DIR. Flags that you add replace the earlier ones. RELEASE can also be the "
        "file of choices that graphveil serve keeps (.graphveil/FILE.json)."
    )
    app = App(name="anonymize", help=text)
    add_methods(app, METHODS, __name__, listed=listed)
    add_methods(app, OUTSIDE, __name__, listed=listed)
    return app


def __getattr__(name: str) -> Any:
    """Return ``command``, ``overview``, which lists promises, or a method's subcommand."""
    if name in {"command", "overview"}:
        return _methods(listed=name == "overview")
    if name in METHODS or name in OUTSIDE:
        return subcommand(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
