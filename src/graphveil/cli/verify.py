"""`graphveil verify DIR`: every claim checked again from the files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from graphveil.cli.console import bar, result, result_json
from graphveil.cli.flags import FOLDER, INPUT_FORMAT, flag, with_signature
from graphveil.cli.original import original_flags, read_original
from graphveil.cli.pipes import a_file
from graphveil.errors import UsageError
from graphveil.progress import shown, stage


def _run(folder: Path, **given: Any) -> int:
    limit_bytes = size_in_bytes(given.pop("limit"))
    path = given.pop("original")
    if path is None:
        return _verify(folder, None, given, limit_bytes)
    with a_file(path, given.get(INPUT_FORMAT)) as file:
        return _verify(folder, file, given, limit_bytes)


def _verify(folder: Path, path: Path | None, given: dict[str, Any], limit_bytes: int) -> int:
    from graphveil.methods.agreement import verify_release  # noqa: PLC0415  the help needs no checker
    from graphveil.verify.files.plain import read_once  # noqa: PLC0415  as above

    as_json, key = given.pop("json"), given.pop("key")
    with shown(bar):
        read = None if path is None else read_original(folder, path, given)
        with stage(f"verifying {folder.name}"):
            verdict = verify_release(
                folder,
                original=None if read is None else read.original,
                original_file=None if read is None else read.original_file,
                key=key,
                limit_bytes=limit_bytes,
            )
            if read is not None and read.original_file is None:
                checks = [*verdict.checks, read_once()]
                verdict = msgspec.structs.replace(verdict, checks=checks)
    if as_json:
        result_json(verdict)
    else:
        for line in verdict.lines():
            result(line)
    return verdict.exit_code


def size_in_bytes(text: str) -> int:
    """Return a size that was given as a number of bytes, or with a unit.

    Examples
    --------
    >>> size_in_bytes("512MiB"), size_in_bytes("2 GB"), size_in_bytes("4096")
    (536870912, 2000000000, 4096)
    """
    match = re.fullmatch(r"([0-9]{1,18}) ?([KMGT]?)(i?)B?", text.strip(), re.IGNORECASE)
    if match is None or (match[3] and not match[2]):
        raise UsageError(f"--limit {text!r} is no size. Give one such as 512MiB or 8GB.")
    units = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
    return int(match[1]) * int((1024 if match[3] else 1000) ** units[match[2].upper()])


command = with_signature(
    _run,
    [
        FOLDER,
        *original_flags(required=False),
        flag(
            "key",
            Path | None,
            "The key that new ids were made with: checks that they say nothing else.",
            default=None,
        ),
        flag(
            "limit",
            str,
            "The largest content of one file that is read, such as 512MiB or 8GB.",
            default="4GiB",
        ),
        flag("json", bool, "Print JSON.", default=False, negative=""),
    ],
    name="verify",
    text="Check every claim of a release again from its files.\n\n"
    "Exit code 0: every claim that could be checked holds; 1: one does not. Conditions that need "
    "the original are checked with --original, and reported as not checked without it.\n\n"
    "Example: graphveil verify friends-k5 --original friends.csv",
)
