"""`graphveil verify DIR`: every claim checked again from the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphveil.cli.console import bar, result, result_json
from graphveil.cli.flags import FOLDER, flag, with_signature
from graphveil.cli.original import original_flags, read_original
from graphveil.methods.agreement import verify_release
from graphveil.progress import shown, stage


def _run(folder: Path, **given: Any) -> int:
    as_json, path = given.pop("json"), given.pop("original")
    with shown(bar):
        read = None if path is None else read_original(folder, path, given)
        original = {} if read is None else read._asdict()
        with stage(f"verifying {folder.name}"):
            verdict = verify_release(folder, **original)
    if as_json:
        result_json(verdict)
    else:
        for line in verdict.lines():
            result(line)
    return verdict.exit_code


command = with_signature(
    _run,
    [
        FOLDER,
        *original_flags(required=False),
        flag("json", bool, "Print JSON.", default=False, negative=""),
    ],
    name="verify",
    text="Check every claim of a release again from its files.\n\n"
    "Exit code 0: every claim that could be checked holds; 1: one does not. Conditions that need "
    "the original are checked with --original, and reported as not checked without it.\n\n"
    "Example: graphveil verify friends-k5 --original friends.csv",
)
