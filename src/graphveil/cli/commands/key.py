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
    say(f"Wrote {path}, readable by you only. Keep it: it cannot be recreated.")
    say(f"Next: graphveil anonymize rename INPUT --key {shlex.quote(file_word(path))} --out DIR")
    return 0


command = with_signature(
    _run,
    [path_argument("file", "The file to write; it must not exist.")],
    name="key",
    text="Create a key that gives people the same new ids in several files.\n\nThe key is 256 "
    "bits from the operating system, written as hexadecimal digits to a file readable by "
    "its owner only. Anyone with the key can test guesses of original ids, so keep it as "
    "secret as the ids. Without it, nobody can give the same ids to later files.\n\n"
    "Example: graphveil key people.key",
)
