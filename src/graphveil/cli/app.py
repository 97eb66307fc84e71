"""The commands, each loaded when it is called."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path

from cyclopts import App, CycloptsError, Group
from cyclopts.config import Toml

from graphveil.cli.console import say
from graphveil.core.progress import heard
from graphveil.core.version import __version__

STANDARD_INPUT = Path("/dev/stdin")
"""What stands for ``-`` once the command line is taken apart."""

HELP_READING = "--help-reading"
"""Asks for a page of help with every option for reading files: they are many, and rarely needed."""

every_reading_option = ContextVar("every_reading_option", default=False)
"""Whether a page of help lists all of them."""

HELP = (
    "Anonymize networks, tables and user-item data about people before you publish them.\n\n"
    "Each release states exactly what it guarantees; verify checks all that files can show.\n"
    "Measure what was kept, and attack the release before others do. Start with: graphveil "
    "demo\n\nOptions can come from a file (--config FILE.toml); command-line flags take "
    "precedence.\nThe file has one table per command, such as [anonymize.k-degree].\n"
)

GROUPS = {
    "Make a release": {
        "describe": "Describe a file: columns, open questions, and the next command.",
        "measure": "Measure how identifiable the people in your data are.",
        "advise": "Compare methods on your data: what each guarantees, leaves open and costs.",
        "anonymize": "Anonymize data: graphveil anonymize METHOD INPUT --out DIR.",
    },
    "Check a release": {
        "verify": "Verify the claims of a release from its files.",
        "evaluate": "Compare a release with the original: what was kept?",
        "attack": "Attack a release: what can still be learned, compared with guessing?",
        "report": "Write a report: can anyone be singled out, linked or inferred?",
    },
    "More": {
        "serve": "Do all of this in a browser on this machine, without a command line.",
        "demo": "See every step once, on data that ships with graphveil.",
        "methods": "List the methods: kind of data, guarantee, paper and cost.",
        "sweep": "Run a grid of methods and parameters; resumable.",
        "reproduce": "Run a table or figure of a paper again, and compare.",
        "convert": "Convert data, or the data of a release, to another format.",
        "ledger": "Show the privacy budget spent on one group of people.",
        "key": "Create a key that gives people the same new ids in several files.",
        "warm": "Compile in advance, for container images and clusters.",
    },
}
"""Every command in a line, by what it is for, in the order of the work."""

COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}


def build(tokens: Sequence[str] = ()) -> App:
    """Return the application; no command's module is imported."""
    called = tokens[0] if tokens else None
    app = App(
        name="graphveil",
        help=HELP,
        help_format="plaintext",
        group_commands=Group("General", sort_key=len(GROUPS)),
        version=__version__,
        version_flags=["--version"],
        suppress_keyboard_interrupt=False,
    )
    for place, (title, commands) in enumerate(GROUPS.items()):
        group = Group(title, sort_key=place)
        for order, (name, line) in enumerate(commands.items()):
            text = None if name == called else line
            command = f"graphveil.cli.commands.{name}:{_attribute(tokens)}"
            app.command(command, name=name, help=text, group=group, sort_key=order)
    return app


def _attribute(tokens: Sequence[str]) -> str:
    """Return what holds the command: that of the methods' guarantees where no method is named.

    The help of `attack` describes every attack, which a run has no need to load.
    """
    if tokens[:1] == ["attack"] and {"--help", "-h"} & {*tokens}:
        return "overview"
    is_list = tokens[:1] in (["anonymize"], ["sweep"]) and (
        len(tokens) == 1 or tokens[1].startswith("-")
    )
    return "overview" if is_list else "command"


def call(tokens: list[str]) -> int:
    """Run the command of these tokens and return its exit code."""
    # A dash would be taken for an option; `with_signature` restores it where no file is asked for.
    tokens = [str(STANDARD_INPUT) if token == "-" else token for token in tokens]  # noqa: S105  no password
    every_reading_option.set(HELP_READING in tokens)
    tokens = ["--help" if token == HELP_READING else token for token in tokens]
    config = None
    if tokens[:1] != ["sweep"]:  # which reads a grid from its file, and not options alone
        tokens, file = _taken(tokens, "--config", "--config needs a file name.")
        config = None if file is None else _config(Path(file))
    tokens = _repeated(tokens)
    if tokens[:1] in (["anonymize"], ["sweep"]) and "--kind" in " ".join(tokens):
        from graphveil.methods.registry import check_kind  # noqa: PLC0415  few commands have a method

        check_kind(tokens[1:])
    app = build(tokens)
    if config is not None:
        app.config = (config,)
    with heard(lambda text: say(f"graphveil: {text}.")):
        result = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    return result if isinstance(result, int) else 0


def _repeated(tokens: list[str]) -> list[str]:
    """Return the tokens with the method and flags of an earlier release in place of ``--from``.

    Flags that are given take the place of the earlier ones.
    """
    if tokens[:1] != ["anonymize"] or {"--help", "-h"} & {*tokens}:
        return tokens
    rest, source = _taken(tokens, "--from", "--from needs a release folder.")
    if source is None:
        return tokens
    from graphveil.methods.registry import METHODS, OUTSIDE  # noqa: PLC0415  a release is repeated
    from graphveil.verbs.anonymize import choices_of  # noqa: PLC0415  as above

    chosen, words = choices_of(source), rest[1:]
    if words and (words[0] in METHODS or words[0] in OUTSIDE):
        if words[0] != chosen.method:
            raise CycloptsError(
                msg=f"{chosen.source} was made with {chosen.method}. Use {chosen.method}, or "
                "remove --from."
            )
        words = words[1:]
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    given |= {f"--no-{word[2:]}" for word in given} | {f"--{word[5:]}" for word in given}
    if words and not words[0].startswith("-"):
        chosen = chosen.for_file(words[0], re.split("[,=]", ",".join(words[1:])))
    same = {flag: said for flag, said in chosen.flags.items() if flag not in given}
    if "--ledger" in same:
        chosen.check_ledger()
    flags = [word for said in same.values() for word in said]
    shown = [word for flag in same for word in chosen.shown[flag]]
    say(f"choices of {chosen.source}: {chosen.method} {shlex.join(shown)}")
    for note in chosen.notes:
        say(note)
    return ["anonymize", chosen.method, *words, *flags]


def _taken(tokens: list[str], name: str, missing: str) -> tuple[list[str], str | None]:
    """Return the tokens without a flag and its value, and the value."""
    for number, token in enumerate(tokens):
        if token == name:
            if number + 1 == len(tokens):
                raise CycloptsError(msg=missing)
            return tokens[:number] + tokens[number + 2 :], tokens[number + 1]
        if token.startswith(f"{name}="):
            return tokens[:number] + tokens[number + 1 :], token.split("=", 1)[1]
    return tokens, None


def _config(path: Path) -> Toml:
    if path.exists() and not path.is_file():
        raise CycloptsError(msg=f"{path} is not a regular file. Give an existing TOML file.")
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        said = f"cannot read {path}: {error.strerror}. Give an existing TOML file."
        raise CycloptsError(msg=said) from error
    except ValueError as error:
        said = f"{path.name} is not valid TOML: {error}. Correct that line."
        raise CycloptsError(msg=said) from error
    for name in tables:
        if name not in COMMANDS:
            raise CycloptsError(
                msg=f"{path.name}: unknown command {name!r}. Put options in a table named after "
                "a command, such as [anonymize.k-degree]."
            )
    return Toml(path, must_exist=True)
