"""`graphveil key FILE`: a new key, with which people get the same new ids in several files."""

from __future__ import annotations

import shlex
from pathlib import Path

from graphveil.cli.console import say
from graphveil.cli.flags import path_argument, with_signature
from graphveil.cli.inputs import file_word
from graphveil.cli.outputs import check_new_file
from graphveil.methods.rename import Key


def _run(path: Path) -> int:
    check_new_file(path, [], force=True)  # Key.new replaces nothing
    Key.new(path)
    say(f"written: {path}, which you alone can read. Keep it: it cannot be made again.")
    say(f"use it: graphveil anonymize rename INPUT --key {shlex.quote(file_word(path))} --out DIR")
    return 0


command = with_signature(
    _run,
    [path_argument("file", "The file to write; it must not exist.")],
    name="key",
    text="A new key, with which people get the same new ids in several files.\n\n"
    "256 bits from the operating system, as hexadecimal digits, in a file for its owner alone. "
    "Whoever has the key can test every original id that comes to mind, so keep it as secret as "
    "the ids; without it nobody can give later files the same ids.\n\n"
    "Example: graphveil key people.key",
)
