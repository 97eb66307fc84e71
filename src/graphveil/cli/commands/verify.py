"""`graphveil verify DIR`: the claims that files can show, checked again."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.cli import say_warnings
from graphveil.cli.answer import ALL_FLAG, print_answer, say_lines, wrapped
from graphveil.cli.console import bars, result, result_json
from graphveil.cli.flags import JSON, PLACE, Flag, flags, with_signature
from graphveil.cli.inputs import original_flags, original_of
from graphveil.core.errors import UsageError
from graphveil.core.progress import shown, stage
from graphveil.core.storage import Place
from graphveil.core.text import Wording

if TYPE_CHECKING:
    from graphveil.verify.verdict import Verdict


def _run(folder: Place, **given: Any) -> int:
    from graphveil.verbs.verify import verify_release  # noqa: PLC0415  not for its help

    limit_bytes = size_in_bytes(given.pop("limit"))
    path, as_json, every = (given.pop(name) for name in ("original", "json", "all"))
    trusted, on_disk = given.pop("trust_method"), given.pop("on_disk")
    asked = {name: given.pop(name) for name in ("key", "strict", "require_all")}
    if on_disk and path is None:
        raise UsageError(
            "--on-disk keeps the edges of the original on disk, so it requires --original."
        )
    read = nullcontext() if path is None else original_of(folder, path, given, on_disk=on_disk)
    with shown(bars()), read as original, stage(f"verifying {folder.name}"):
        verdict = verify_release(
            folder, original, trust_method=trusted, limit_bytes=limit_bytes, **asked
        )
    if as_json:
        result_json(verdict.as_json())
        return verdict.exit_code
    say_warnings(every=every)
    print_verdict(verdict, every=every)
    return verdict.exit_code


def print_verdict(verdict: Verdict, *, every: bool, word: Wording = str) -> None:
    """Print the answer, and what fails; or the answer and every check."""
    from graphveil.pages.answers.promise import failing_lines  # noqa: PLC0415  not for its help

    if every:
        for line in verdict.lines():
            said = line if word is str else word(line)
            folds = sys.stdout.isatty()  # for other programs every check stays on its line
            for text in wrapped(said, indent=UNDER_CHECKS) if folds else [said]:
                result(text)
        return
    for line in verdict.said():
        print_answer(line if word is str else word(line))
    failing = [line if word is str else word(line) for line in failing_lines(verdict)]
    say_lines((t for line in failing for t in wrapped(line, indent="    ")), most=MOST_FAILING)


UNDER_CHECKS = " " * 15
"""Where a check goes on in the next line: below its name."""

MOST_FAILING = 16
"""So many lines of failing checks are printed."""


def size_in_bytes(text: str) -> int:
    """Return a size that was given as a number of bytes, or with a unit.

    >>> size_in_bytes("512MiB"), size_in_bytes("2 GB"), size_in_bytes("4096")
    (536870912, 2000000000, 4096)
    """
    match = re.fullmatch(r"([0-9]{1,18}) ?([KMGT]?)(i?)B?", text.strip(), re.IGNORECASE)
    if match is None or (match[3] and not match[2]):
        raise UsageError(f"--limit {text!r} is not a size. Give one such as 512MiB or 8GB.")
    units = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
    return int(match[1]) * int((1024 if match[3] else 1000) ** units[match[2].upper()])


FLAGS = {
    "key": Flag(
        Path | None, "Key that the new ids were made with; checks that the ids carry nothing else."
    ),
    "trust_method": Flag(
        str | None,
        "Trust the stated parameters and texts of this method, which this version does not know.",
    ),
    "limit": Flag(
        str,
        "Largest size of one file, such as 512MiB or 8GB; also limits memory for "
        "Parquet edges and neighborhood links.",
        default="4GiB",
    ),
    "on_disk": Flag(
        bool,
        "Keep the edges of the original on disk, for networks larger than memory.",
        default=False,
    ),
    "strict": Flag(
        bool,
        "Also fail on links and extended attributes in the folder, which no digest covers.",
        default=False,
    ),
    "require_all": Flag(
        bool, "Answer undecided (exit code 4) unless every check was made.", default=False
    ),
}

command = with_signature(
    _run,
    [
        PLACE,
        *original_flags(),
        *flags(None, FLAGS),
        ALL_FLAG,
        *flags(None, JSON),
    ],
    name="verify",
    text="Verify a release from its files.\n\nExit code 0: the guarantee holds and no check "
    "fails. 1: a check fails. 4: undecided, because the guarantee cannot be recomputed without "
    "--original, or this version does not know the method. What only the original shows is "
    "listed and does not change the exit code, unless --require-all is set. No file can show "
    "differential privacy: for it, verify looks for contradictions.\n\nExample: "
    "graphveil verify friends-k5 --original friends.csv",
)
