"""`graphveil anonymize METHOD INPUT --out DIR`: a subcommand a method, a flag a field."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

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
    flag,
    flags,
    flags_of,
    with_signature,
)
from graphveil.cli.kinds import command_of_methods, naming_methods, reading_flags, reading_options
from graphveil.core.errors import ReleaseError, UsageError
from graphveil.core.progress import shown
from graphveil.core.storage import Address, Place
from graphveil.core.text import Wording, counted, printable
from graphveil.data import Bipartite, Graph, Table
from graphveil.io import AnyOptions, kind_read
from graphveil.methods.base import Anonymizer
from graphveil.methods.registry import method_named
from graphveil.pages.answers.promise import columns_line, cost_words, until_line

if TYPE_CHECKING:
    from graphveil.claims.ledger import Ledger
    from graphveil.claims.manifest import Manifest
    from graphveil.claims.record import Record
    from graphveil.release import Private
    from graphveil.release.publishing import Output
    from graphveil.scale.estimate import Estimate, Range


def output_flags(method: type[Anonymizer[Any]]) -> list[inspect.Parameter]:
    """Return the flags of where a release is written, and how."""
    table = {
        "out place": "Folder for the release; must not exist yet.",
        "format text?": "Format of the released data, such as csv, parquet or gml. Default: the "
        "input format; csv or parquet if that format can write the same data in more than one way.",
        "force switch": "Replace an existing release once the new one is complete.",
        "linkage bool=yes": "Keep the table of old and new ids in the private folder.",
        "seed int?": "Make the run reproducible; keep the seed secret. Default: entropy from the "
        "operating system.",
        **ALL,
        "json switch": "Print a summary as JSON.",
    }
    if "rows" in method.sources:
        table |= {
            "parts bool?": "With --on-disk or Spark: write Parquet in parts of 1,048,576 users. "
            "Default: only for more users than that.",
            "private place?": "Folder for the private record and linkage. Default: OUT.private. "
            "Required if --out is an address (such as s3a://...); can itself be an address.",
        }
    if method.nests:
        table["nested_in file?"] = (
            "An earlier release of the same people; the new classes are unions of its classes."
        )
    if method.spends:
        table |= {
            "ledger file?": "Privacy ledger (a private file): records the epsilon of this run "
            "before anything is drawn.",
            "ledger_limit float?": "Upper limit on the ledger's total epsilon; set once and stored "
            "in the ledger.",
            "ledger_unclaimed switch": "Record a run without a guarantee as well; the ledger then "
            "has no total.",
        }
    return flags(OUTPUT_GROUP, table)


def engine_flags(method: type[Anonymizer[Any]]) -> list[inspect.Parameter]:
    """Return the flags of where a method runs; none of them changes the result."""
    sources = method.sources
    if "ties" in sources:
        text = "Keep edges on disk, for networks larger than memory."
        return flags(ENGINE_GROUP, {"on_disk switch": text})
    if not {"rows", "blocks"} & set(sources):
        return []
    parts = "chunks" if "rows" in sources else "blocks"
    table = {
        "jobs int?": f"Number of processes for {parts}. Default: one per processor; one for data "
        "up to 1 MB."
    }
    if "rows" not in sources:
        return flags(ENGINE_GROUP, table)
    table["on_disk switch"] = (
        "Keep rows on disk, for data larger than memory; always processed in chunks."
    )
    engine = flag(
        "engine",
        Literal["local", "spark"],
        "Where to run: this machine, or Spark executors (input: a folder of Parquet, or "
        "table:NAME).",
        default="local",
        group=ENGINE_GROUP,
    )
    spark = {
        "working place?": "With Spark: a folder or address (s3a://...) that driver and executors "
        "can write; holds people's rows during the run.",
        "estimate switch": "With --on-disk or Spark: estimate time and memory, and write nothing.",
    }
    return [*flags(ENGINE_GROUP, table), engine, *flags(ENGINE_GROUP, spark)]


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
        """Return the ledger that was asked for."""
        if self.ledger is not None:
            from graphveil.claims.ledger import Ledger  # noqa: PLC0415  rarely kept

            return Ledger(self.ledger, limit=self.ledger_limit, unclaimed=self.ledger_unclaimed)
        if self.ledger_limit is not None or self.ledger_unclaimed:
            raise UsageError("--ledger-limit and --ledger-unclaimed require --ledger FILE.")
        return None


def _run(method: type[Anonymizer[Any]], path: Path, given: dict[str, Any], *, typed: str) -> int:
    from graphveil.claims.manifest import read_manifest  # noqa: PLC0415  as above
    from graphveil.claims.record import read_record  # noqa: PLC0415  as above
    from graphveil.verbs.anonymize import (  # noqa: PLC0415
        RunOptions,
        anonymize_file,
        estimate_file,
    )

    names = [name for name in _Given._fields if name in given]
    chosen = _Given(**{name: given.pop(name) for name in names})
    if method.directed and not given.get("directed"):
        given["directed"] = "keep"
    options = reading_options(method.accepts, path, given)
    anonymizer = method.from_parameters(given)
    own = {n: getattr(chosen, n) for n in RunOptions._fields if n != "ledger"}
    run = RunOptions(**own, ledger=chosen.entered())
    output = chosen.output()
    if chosen.estimate:
        with shown(bars()):
            cost = estimate_file(anonymizer, path, output, options=options, run=run)
        print_estimate(cost, as_json=chosen.json)
        return 0
    with shown(bars()):
        anonymize_file(
            anonymizer,
            path,
            output,
            options=options,
            run=run,
            report=partial(inputs.say_report, path),
        )
    _say_how_read(path, options, chosen)
    record = read_record(chosen.out, chosen.private)
    if record is None:
        raise ReleaseError(f"{chosen.out}: its private folder is missing. Anonymize again.")
    manifest = read_manifest(chosen.out)
    say_warnings(every=chosen.all)
    if chosen.json:
        figures = {"cost": dict(record.cost), "warnings": list(record.warnings)}
        claim = manifest.claim
        promise = with_conditions(claim.sentence, claim.conditions)
        promised = {"folder": str(chosen.out), "promise": promise}
        result_json(promised | figures | {"seconds": dict(record.seconds)})
        return 0
    print_release(
        manifest, manifest.claim.does_not_protect_against, record, chosen.out, chosen.private
    )
    if chosen.all:
        for what, value in record.cost.items():
            figure = f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
            result(f"  {what.replace('_', ' ')}: {figure}")
    print_next(_check(anonymizer, options, chosen.out, typed))
    return 0


def _say_how_read(path: Path, options: AnyOptions, chosen: _Given) -> None:
    """Say as what the data was read, and where its format is not that of the release."""
    from graphveil.release.files import note_on_format  # noqa: PLC0415  not for its help

    kind = kind_read(options)
    if chosen.on_disk:
        say(f"{path.name}: read as {kind.words}")
    if not chosen.format and chosen.engine == "local":
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
        *engine_flags(method),
        *output_flags(method),
        *reading_flags(method.accepts),
    ]
    limits = f"{method.example_limits()} {method.card.limits_of_attributes}".rstrip()
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
