"""`graphveil anonymize METHOD INPUT --out DIR`: a subcommand a method, a flag a field."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cyclopts import App

from graphveil.anonymizer import Anonymizer
from graphveil.cli import say_warnings
from graphveil.cli.anonymize_flags import (
    engine_flags,
    ledger_flags,
    nesting_flags,
    output_flags,
    parts_flags,
)
from graphveil.cli.answer import say_answer, say_next
from graphveil.cli.console import bars, result, result_json, say
from graphveil.cli.estimate import print_estimate
from graphveil.cli.flags import (
    INPUT,
    INPUT_FORMAT,
    METHOD_GROUP,
    flags_of,
    with_signature,
)
from graphveil.cli.kinds import reading_flags, reading_options
from graphveil.cli.original import command_beside
from graphveil.cli.pipes import a_file, is_pipe
from graphveil.cli.reading import say_report
from graphveil.cli.shell_words import command_line, file_word, flag_words
from graphveil.data import Graph, Table
from graphveil.data.kinds import accepted_kinds, kind_of
from graphveil.errors import ReleaseError, UsageError
from graphveil.io import AnyOptions, kind_read
from graphveil.methods import METHODS
from graphveil.places.address import Address, Place
from graphveil.progress import shown
from graphveil.records.record import private_folder
from graphveil.summaries.promise import cost_words, in_plain_words
from graphveil.terminal import printable

if TYPE_CHECKING:
    from graphveil.records.ledger import Ledger
    from graphveil.records.manifest import Claim
    from graphveil.records.record import Record
    from graphveil.release import Private
    from graphveil.verbs.anonymize import Output


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
        from graphveil.verbs.anonymize import Output  # noqa: PLC0415  not for its help

        return Output(
            self.out, self.format, self.force, self.linkage, self.parts, private=self.private
        )

    def entered(self) -> Ledger | None:
        """Return the ledger that was asked for.

        Raises
        ------
        UsageError
            Where its options are given without it.
        """
        if self.ledger is not None:
            from graphveil.records.ledger import Ledger  # noqa: PLC0415  rarely kept

            return Ledger(self.ledger, limit=self.ledger_limit, unclaimed=self.ledger_unclaimed)
        if self.ledger_limit is not None or self.ledger_unclaimed:
            raise UsageError("--ledger-limit and --ledger-unclaimed need --ledger FILE. Give it.")
        return None


def _run(method: type[Anonymizer[Any]], path: Path, given: dict[str, Any], *, typed: str) -> int:
    from graphveil.records.manifest import read_manifest  # noqa: PLC0415  not for its help
    from graphveil.records.record import read_record  # noqa: PLC0415
    from graphveil.verbs.anonymize import RunOptions, anonymize_file  # noqa: PLC0415
    from graphveil.verbs.estimate import estimate_file  # noqa: PLC0415

    names = [name for name in _Given._fields if name in given]
    flags = _Given(**{name: given.pop(name) for name in names})
    if method.directed and not given.get("directed"):
        given["directed"] = "keep"
    options = reading_options(accepted_kinds(method.accepts), path, given)
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
            anonymizer,
            path,
            output,
            options=options,
            run=run,
            report=partial(say_report, path),
        )
    _say_how_read(path, options, flags)
    record = read_record(flags.out, flags.private)
    if record is None:
        raise ReleaseError(f"{flags.out}: no private folder lies beside it. Anonymize again.")
    manifest = read_manifest(flags.out)
    say_warnings(every=flags.all)
    if flags.json:
        _print_json(manifest.claim, record, flags.out)
        return 0
    print_release(manifest.claim, anonymizer.stated_limits, record, flags.out, flags.private)
    if flags.all:
        for what, value in record.cost.items():
            figure = f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
            result(f"  {what.replace('_', ' ')}: {figure}")
    made_binary = manifest.data.kind != kind_of(Table).name
    if kind_read(options).container is Table and made_binary and isinstance(flags.out, Path):
        result(f"As a table: {_table_again(flags.out)}")
    say_next(_check(anonymizer, options, flags.out, typed))
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


def _table_again(out: Path) -> str:
    """Return the command that makes a released table a table again, ready to paste."""
    copy = file_word(out.with_name(f"{out.name}.csv"))
    return f"graphveil convert {file_word(out)} --kind table --out {copy}"


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
    claim: Claim, limits: str, private: Record | Private, out: Place, owners: Place | None = None
) -> None:
    """Print what is promised, what is not, what it cost, and where the two folders are.

    Parameters
    ----------
    claim
        What the manifest claims.
    limits
        What the method does not protect against.
    private
        What the owner alone knows of the release.
    out
        Its folder or address.
    owners
        Its private folder or address; None for the one beside it.
    """
    promised = in_plain_words(claim.sentence)
    say_answer(f"{promised} {claim.why}" if claim.why is not None else f"Promised: {promised}")
    say_answer(f"Not protected: {limits}")
    cost = ", ".join(cost_words(private.cost))
    say_answer(f"Cost: {cost}.")
    result(f"To publish: {printable(out)}")
    if isinstance(out, Address):
        result(f"For you alone: {printable(owners)}")
        return
    result(f"For you alone: {printable(owners or private_folder(out))}")
    if owners is not None:
        result(f"For checks of your own, link it as: {printable(private_folder(out))}")


def _check(anonymizer: Anonymizer[Any], options: AnyOptions, out: Place, typed: str) -> str:
    """Return the command that verifies the release."""
    if isinstance(out, Address):
        return command_line("verify", str(out))
    key = getattr(getattr(anonymizer, "key", None), "file", None)
    words = () if key is None or is_pipe(key) else flag_words("key", file_word(key))
    return command_beside("verify", out, typed, options, *words)


def subcommand(name: str) -> Callable[..., int]:
    """Return the subcommand of a method, whose class is imported for it and for no other."""
    method = METHODS[name]
    parameters = [
        INPUT,
        *flags_of(method, METHOD_GROUP),
        *engine_flags(method),
        *output_flags(),
        *parts_flags(method),
        *nesting_flags(method),
        *ledger_flags(method),
        *reading_flags(accepted_kinds(method.accepts)),
    ]
    limits = f"{method.limits} {method.limits_of_attributes}".rstrip()
    text = (
        f"{method.promise}\n\n{limits}\n\nSource: {method.source}.\n\n"
        f"Example: graphveil anonymize {name} {_example(method)}"
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
    flags = " ".join(f"--{k.replace('_', '-')} {v}" for k, v in method.example.items())
    name = "friends" if Graph in accepted_kinds(method.accepts) else "likes"
    return " ".join(filter(None, [f"{name}.csv", flags, f"--out {name}-{method.name}"]))


def _methods(*, listed: bool) -> App:
    """Return the command: its page lists the promises where the methods' classes are imported."""
    app = App(name="anonymize", help="Make a release: graphveil anonymize METHOD INPUT --out DIR.")
    for name in METHODS:
        promise = METHODS[name].promise if listed else None
        app.command(f"{__name__}:{name}", name=name, help=promise)
    return app


def __getattr__(name: str) -> Any:
    """Return ``command``, ``overview``, which lists promises, or a method's subcommand."""
    if name in {"command", "overview"}:
        return _methods(listed=name == "overview")
    if name in METHODS:
        return subcommand(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
