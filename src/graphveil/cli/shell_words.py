"""Commands that are printed to be copied: a shell takes them as they stand."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from graphveil.cli.pipes import is_pipe


def command_line(*words: str) -> str:
    """Return a command of graphveil, quoted for a shell.

    Examples
    --------
    >>> command_line("measure", "my friends.csv")
    "graphveil measure 'my friends.csv'"
    """
    return shlex.join(("graphveil", *words))


def file_word(path: Path) -> str:
    """Return a file as it can be given again: a dash for a pipe, which has no name to come.

    Examples
    --------
    >>> file_word(Path("friends.csv")), file_word(Path("-friends.csv"))
    ('friends.csv', './-friends.csv')
    """
    if is_pipe(path):
        return "-"
    return f"./{path}" if str(path).startswith("-") else str(path)


def flag_words(name: str, *values: str) -> Iterator[str]:
    """Yield a flag and its values, none of which is taken for a flag.

    Examples
    --------
    >>> list(flag_words("source_column", "caller")), list(flag_words("suppressed", "-x", "?"))
    (['--source-column', 'caller'], ['--suppressed=-x', '--suppressed=?'])
    """
    flag = f"--{name.replace('_', '-')}"
    if any(value.startswith("-") and value != "-" for value in values):
        yield from (f"{flag}={value}" for value in values)
    else:
        yield from (flag, *values)
