"""`graphveil anonymize METHOD INPUT --out DIR`: a subcommand a method, a flag a field."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cyclopts import App

from graphveil.anonymizer import Anonymizer
from graphveil.cli.console import bar, result_json, say
from graphveil.cli.flags import (
    INPUT,
    METHOD_GROUP,
    OUTPUT_GROUP,
    READING_GROUP,
    flag,
    flags_of,
    taken,
    with_signature,
)
from graphveil.cli.reading import READERS, as_json, read_input
from graphveil.limits import LIMITS
from graphveil.methods import METHODS
from graphveil.progress import shown, stage
from graphveil.randomness import Randomness
from graphveil.release import Release
from graphveil.release.atomic import check_target
from graphveil.release.files import format_that_came_in, kind_of, release_format


def _output_flags() -> list[inspect.Parameter]:
    return [
        flag("out", Path, "Folder of the release; it must not exist.", group=OUTPUT_GROUP),
        flag(
            "format",
            str | None,
            "Format of the released data, such as csv, csv.gz, parquet, gml. "
            "Without this, the format that came in.",
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
            "again",
            bool,
            "Publish although an earlier private record beside DIR is of the same input.",
            default=False,
            group=OUTPUT_GROUP,
            negative="",
        ),
        flag(
            "seed",
            int | None,
            "Make the run repeatable; keep it secret. Without this: entropy.",
            default=None,
            group=OUTPUT_GROUP,
        ),
        flag(
            "json", bool, "Print a summary as JSON.", default=False, group=OUTPUT_GROUP, negative=""
        ),
    ]


def _run(method: type[Anonymizer[Any]], path: Path, given: dict[str, Any]) -> int:
    out = Path(given.pop("out"))
    force, keep, again = given.pop("force"), given.pop("linkage"), given.pop("again")
    seed, as_summary, wanted = given.pop("seed"), given.pop("json"), given.pop("format")
    options = taken(READERS[method.accepts].options, given)
    anonymizer = method.from_parameters(given)
    check_target(out, force=force)
    Randomness(seed=seed)
    kind = kind_of(method.accepts)
    if wanted is not None:
        release_format(wanted, kind)
    with shown(bar):
        data = read_input(path, options, check=anonymizer.check)
        released_as = wanted or format_that_came_in(path, options.format)
        release_format(released_as, kind)
        with stage(f"anonymizing with {method.name}"):
            release = anonymizer.anonymize(data, seed=seed)
        with stage(f"writing {out.name}"):
            release.write(
                out,
                format=released_as,
                force=force,
                linkage=keep,
                again=again,
                reading=as_json(options),
            )
    _report(release, out, as_summary=as_summary)
    return 0


def _report(release: Release, out: Path, *, as_summary: bool) -> None:
    private = release.private
    if private is None:
        raise TypeError("a new release has its private part")
    if as_summary:
        result_json(
            {
                "folder": str(out),
                "promise": release.guarantee.sentence,
                "cost": dict(private.cost),
                "warnings": list(private.warnings),
                "seconds": dict(private.seconds),
            }
        )
        return
    say(f"promise: {release.guarantee.sentence}")
    say(f"not protected: {LIMITS[release.provenance.method]}")
    for name, value in private.cost.items():
        figure = f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
        say(f"  {name.replace('_', ' ')}: {figure}")
    say(f"released: {out}")
    say(f"for you alone: {out}.private")
    say(f"check it: graphveil verify {out} --original INPUT")


def _subcommands() -> Iterator[tuple[str, Any]]:
    for name, method in METHODS.items():
        parameters = [
            INPUT,
            *flags_of(method, METHOD_GROUP),
            *_output_flags(),
            *flags_of(READERS[method.accepts].options, READING_GROUP),
        ]
        text = (
            f"{method.promise}\n\n{LIMITS[name]}\n\nSource: {method.source}.\n\n"
            f"Example: graphveil anonymize {name} {_example(method)}"
        )
        yield name, with_signature(_bound(method), parameters, name=name, text=text)


def _bound(method: type[Anonymizer[Any]]) -> Any:
    def run(path: Path, **given: Any) -> int:
        return _run(method, path, given)

    return run


def _example(method: type[Anonymizer[Any]]) -> str:
    flags = " ".join(f"--{k.replace('_', '-')} {v}" for k, v in method.example.items())
    return f"friends.csv {flags} --out friends-{method.name}"


command = App(name="anonymize", help="Make a release: graphveil anonymize METHOD INPUT --out DIR.")
for _name, _command in _subcommands():
    command.command(_command, name=_name)
