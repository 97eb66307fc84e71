"""Input from a pipe: kept in a file for as long as the command runs, since it is read twice."""

from __future__ import annotations

import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from graphveil.atomic import OWNER_ONLY
from graphveil.cli.flags import INPUT_FORMAT
from graphveil.cli.standard_input import STANDARD_INPUT
from graphveil.errors import UsageError
from graphveil.io import FORMATS
from graphveil.progress import stage

_STARTS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
"""The extensions of formats and compressions that the first bytes say."""


@contextmanager
def a_file(path: Path, form: str | None) -> Iterator[Path]:
    """Give a file with the content of a path: its own, or a private copy of what a pipe brings.

    The copy lies in the folder for temporary files, for its owner alone, and is removed at the end.

    Parameters
    ----------
    path
        A file, a pipe, or `STANDARD_INPUT`.
    form
        The format that was asked for. Without one, text is read as csv.

    Raises
    ------
    UsageError
        Where the standard input is a terminal.
    """
    if not is_pipe(path):
        yield path
        return
    if path == STANDARD_INPUT and sys.stdin.isatty():
        raise UsageError("- is the standard input, and nothing is piped into it. Give a file.")
    with TemporaryDirectory(prefix="graphveil-input-") as folder, _opened(path) as stream:
        start = stream.read(8)
        copy = Path(folder, f"stdin{_extensions(start, form, path)}")
        copy.touch(mode=OWNER_ONLY)
        with stage("reading the pipe"), copy.open("wb") as file:
            file.write(start)
            shutil.copyfileobj(stream, file)
        yield copy


def from_pipes(run: Callable[..., int]) -> Callable[..., int]:
    """Return a command that takes a pipe where it takes its first argument, a file."""

    @wraps(run)
    def command(path: Path, *rest: Any, **given: Any) -> int:
        with a_file(path, given.get(INPUT_FORMAT)) as file:
            return run(file, *rest, **given)

    return command


def is_pipe(path: Path) -> bool:
    """Whether a path can be read once only, as a pipe, a socket or a terminal can."""
    if path == STANDARD_INPUT:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with path.open("rb") as stream:
        yield stream


def _extensions(start: bytes, form: str | None, path: Path) -> str:
    """Return what the name of the copy ends with, so that it is read as what it is."""
    known = next((end for magic, end in _STARTS.items() if start.startswith(magic)), "")
    named = FORMATS[form].extensions[0] if form in FORMATS else path.suffix or ".csv"
    return named + known if known in {".gz", ".zst"} else known or named
