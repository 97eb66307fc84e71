"""`graphveil advise INPUT`: what a release with each method would promise, leave open and cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphveil.advising import Advice, Choice
from graphveil.cli.console import bars, result, result_json, result_table
from graphveil.cli.flags import INPUT, INPUT_FORMAT, OUTPUT_GROUP, flag, with_signature
from graphveil.cli.kinds import reading_flags, reading_options
from graphveil.cli.pipes import a_file
from graphveil.cli.reading import read_input
from graphveil.cli.shell_words import command_line, file_word, flag_words
from graphveil.data.kinds import CONTAINERS, KINDS, accepted_kinds
from graphveil.io import AnyOptions, compression_of
from graphveil.methods import METHODS
from graphveil.progress import shown
from graphveil.terminal import printable
from graphveil.verbs.advise import advise


def _run(path: Path, **given: Any) -> int:
    as_json, said = given.pop("json"), given.get("kind") is not None
    with a_file(path, given.get(INPUT_FORMAT)) as file:
        options = reading_options(CONTAINERS, file, given)
        with shown(bars()):
            advice = advise(read_input(file, options))
    typed = file_word(path)
    name = "stdin" if typed == "-" else _stem(path)
    commands: dict[str, str] = {}
    for choice in advice.choices:
        several = len(accepted_kinds(METHODS[choice.method].accepts)) > 1
        kind = advice.kind if said or several else None
        commands[choice.method] = _command(choice, kind, typed, name, options)
    if as_json:
        summary = advice.summary()
        for choice in summary["choices"]:
            choice["command"] = commands[choice["method"]]
        result_json(summary)
        return 0
    _print_risks(advice, "-" if typed == "-" else path.name)
    for line in advice.lines(commands):
        result(line)
    return 0


def _print_risks(advice: Advice, name: str) -> None:
    sizes = ", ".join(f"{count:,} {what}" for what, count in advice.sizes.items())
    result(f"{printable(name)}: {KINDS[advice.kind].words}, {sizes}")
    result("")
    result_table(
        ["who knows of a person", "measure", "unique", "unprotected at k=5"],
        [
            (r.known, r.measure or "", _percent(r.share_unique), _percent(r.share_unprotected))
            for r in advice.risks
        ],
        right=(2, 3),
    )
    result("")
    result("A promise covers the knowledge that it names, and no other.")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _command(choice: Choice, kind: str | None, typed: str, stem: str, options: AnyOptions) -> str:
    """Return the command of a release, ready to be pasted into a shell."""
    words = ["anonymize", choice.method, typed]
    for name, value in choice.parameters.items():
        words += flag_words(name, str(value))
    words += [] if kind is None else ["--kind", kind]
    words += [*_reading_words(options), *flag_words("out", f"{stem}-{choice.method}")]
    return command_line(*words)


def _stem(path: Path) -> str:
    whole = path.with_suffix("") if compression_of(path) else path
    return whole.stem


def _reading_words(options: AnyOptions) -> Iterator[str]:
    """Yield the flags that the file was read with."""
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        unset = field.default_factory is not dataclasses.MISSING and not value
        if value == field.default or unset:
            continue
        name = INPUT_FORMAT if field.name == "format" else field.name
        yield from flag_words(name, *_texts(value))


def _texts(value: Any) -> Iterator[str]:
    """Yield the words that a flag has as this value."""
    if isinstance(value, Mapping):
        yield from (f"{key}={rule}" for key, rule in value.items())
    elif isinstance(value, tuple):
        yield from value
    elif isinstance(value, Path):
        yield file_word(value)
    elif value is not True:
        yield str(value)


command = with_signature(
    _run,
    [
        INPUT,
        flag("json", bool, "Print JSON.", default=False, group=OUTPUT_GROUP, negative=""),
        *reading_flags(CONTAINERS),
    ],
    name="advise",
    text="Help to choose: what a release with each method would promise, leave open and cost.\n\n"
    "Measures how identifiable people are as the data stands, and tries every method that fits on "
    "a part of the data, within about 30 s of CPU. The figures are for the owner; nothing is "
    "written.\n\n"
    "Example: graphveil advise friends.csv",
)
