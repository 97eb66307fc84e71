"""How a command reads its input: flags in, container out, the reading report on stderr.

A pipe is kept in a file for as long as the command runs, since it is read twice. The original of a
release is read as it was read when the release was made. Printed commands are quoted for a shell.
"""

from __future__ import annotations

import inspect
import shlex
import shutil
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import MISSING, fields
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, Literal

from graphveil import io
from graphveil.cli.app import STANDARD_INPUT
from graphveil.cli.console import PATIENCE_SECONDS, say
from graphveil.cli.flags import INPUT_FORMAT, READING_GROUP, flag, flags_of, not_for, values_for
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import UsageError
from graphveil.core.progress import stage
from graphveil.data import Data, Graph
from graphveil.data.kinds import KINDS, Container
from graphveil.io import FORMATS, kind_read, options_of
from graphveil.io.reading_report import ReadingReport
from graphveil.io.source import NEVER_ENDS, never_ends

if TYPE_CHECKING:
    from graphveil.core.storage import Place
    from graphveil.verbs.read import Original

_STARTS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
"""The extensions of formats and compressions that the first bytes say."""


_OF_PIPES = "graphveil-input-"
"""How the name of the folder begins that holds the copy of what a pipe brings."""


@contextmanager
def a_file(path: Path, form: str | None) -> Iterator[Path]:
    """Give a file with the content of a path: its own, or a private copy of what a pipe brings.

    The copy is in the folder for temporary files, for its owner alone, and is removed at the end.
    """
    if not is_pipe(path):
        yield path
        return
    if path == STANDARD_INPUT and sys.stdin.isatty():
        raise UsageError("- means standard input, but nothing is piped in. Give a file name.")
    if path != STANDARD_INPUT and path.is_socket():
        raise UsageError(f"{path}: this is a socket, which holds no data. Give a file, or pipe in.")
    source = _descriptor() if path == STANDARD_INPUT else path
    if source is not None and never_ends(source):
        raise UsageError(f"{path}: {NEVER_ENDS}")
    with TemporaryDirectory(prefix=_OF_PIPES) as folder, ExitStack() as opened:
        with _said_if_silent(file_word(path)):  # a named pipe opens once somebody writes
            stream = opened.enter_context(_opened(path))
            start = stream.read(8)
        copy = Path(folder, f"stdin{_extensions(start, form, path)}")
        copy.touch(mode=OWNER_ONLY)
        with stage("reading the pipe"), copy.open("wb") as file:
            file.write(start)
            shutil.copyfileobj(stream, file)
        yield copy


@contextmanager
def _said_if_silent(name: str) -> Iterator[None]:
    """Say on stderr what is waited for, once nothing has come for two seconds."""
    text = f"{name}: waiting for data from the pipe; press Ctrl-C to stop"
    timer = threading.Timer(PATIENCE_SECONDS, say, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


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


def _descriptor() -> int | None:
    """Return the descriptor of the standard input; none where it is an object of Python's."""
    try:
        return sys.stdin.fileno()
    except OSError:
        return None


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


def command_line(*words: str) -> str:
    """Return a command of graphveil, quoted for a shell."""
    return shlex.join(("graphveil", *words))


def file_word(path: Path) -> str:
    """Return a file as it can be given again: a dash for a pipe, which has no name to come.

    >>> file_word(Path("friends.csv")), file_word(Path("-friends.csv"))
    ('friends.csv', './-friends.csv')
    """
    if is_pipe(path) or path.parent.name.startswith(_OF_PIPES):
        return "-"
    return f"./{path}" if str(path).startswith("-") else str(path)


def flag_words(name: str, *values: str) -> Iterator[str]:
    """Yield a flag and its values, none of which is taken for a flag.

    >>> list(flag_words("source_column", "caller")), list(flag_words("suppressed", "-x", "?"))
    (['--source-column', 'caller'], ['--suppressed=-x', '--suppressed=?'])
    """
    flag = f"--{name.replace('_', '-')}"
    if any(value.startswith("-") and value != "-" for value in values):
        yield from (f"{flag}={value}" for value in values)
    else:
        yield from (flag, *values)


def needs_original(verb: str, path: Path | None) -> Path:
    """Return the file of the original."""
    if path is None:
        raise UsageError(
            f"{verb} compares a release with the data it was made from, which only its owner has: "
            "add --original FILE. To check a release that you received, use graphveil verify DIR."
        )
    return path


def original_flags() -> list[inspect.Parameter]:
    """Return `--original` and, each once, the flags of the readers."""
    original: inspect.Parameter = flag(
        "original", Path | None, "File that the release was made from.", default=None
    )
    flags = {
        item.name: item
        for kind in KINDS.values()
        for item in flags_of(options_of(kind), READING_GROUP)
    }
    kinds: Any = Literal[tuple(kind.name for kind in KINDS.values())]
    kind: inspect.Parameter = flag(
        "kind",
        kinds | None,
        "Kind of data of the original, to be compared with the record of the release, which "
        "states it.",
        default=None,
        group=READING_GROUP,
    )
    return [original, kind, *(item.replace(default=None) for item in flags.values())]


def reading_words(options: Any) -> list[str]:
    """Return the flags that read a file as these options do."""
    words: list[str] = []
    for field in fields(options):
        value = getattr(options, field.name)
        default = field.default if field.default is not MISSING else None
        if field.default_factory is not MISSING:
            default = field.default_factory()
        if value == default or value is None:
            continue
        name = INPUT_FORMAT if field.name == "format" else field.name
        if value is True:
            words.append(f"--{name.replace('_', '-')}")
        elif isinstance(value, Path):
            words += () if is_pipe(value) else flag_words(name, file_word(value))
        elif isinstance(value, Mapping):
            words += flag_words(name, *(f"{one}={how}" for one, how in value.items()))
        else:
            several = value if isinstance(value, tuple | list) else (value,)
            words += flag_words(name, *map(str, several))
    return words


def command_beside(verb: str, folder: Path, original: str, options: object, *words: str) -> str:
    """Return a command on a release and its original; the private record says how to read."""
    given = [verb, file_word(folder), "--original", original]
    for name, value in vars(options).items():
        if isinstance(value, Path) and not is_pipe(value):
            given += flag_words(name, file_word(value))
    return command_line(*given, *words)


@contextmanager
def original_of(
    folder: Place, path: Path, given: dict[str, Any], *, on_disk: bool = False
) -> Iterator[Original]:
    """Give the original of a release, from a file or a pipe that is kept meanwhile."""
    from graphveil.verbs.read import (  # noqa: PLC0415  not for help
        original_on_disk,
        read_original,
        recorded_options,
    )

    kind = kind_read(recorded_options(folder))
    said = given.pop("kind", None)
    if said not in (None, kind.name):
        raise UsageError(
            f"--kind {said}, but the release was made from {kind.words} (--kind {kind.name}). "
            "Remove --kind."
        )
    with a_file(path, given.get(INPUT_FORMAT)) as file:
        asked = values_for(options_of(kind), given)
        wrong = [name for name, value in given.items() if value is not None]
        if wrong:
            raise not_for(wrong[0], kind.container)
        if on_disk:
            with original_on_disk(folder, file, asked) as original:
                yield original
        else:
            yield read_original(folder, file, asked)


def read_input(path: Path, options: io.AnyOptions) -> Data:
    """Return the container in a file; what was dropped is said on stderr."""
    with stage(f"reading {path.name}"):
        data, report = io.load(path, options)
    say_report(path, report)
    checked: Data = data
    return checked


@contextmanager
def input_on_disk(path: Path, options: io.GraphOptions) -> Iterator[Graph]:
    """Give the graph in a file, with edges on the disk; print what was dropped on stderr."""
    from graphveil.scale import graph_on_disk  # noqa: PLC0415  heavy, and few need it

    with graph_on_disk(path, options) as (graph, report):
        say_report(path, report)
        yield graph


def say_report(path: Path, report: ReadingReport) -> None:
    """Say on stderr how a file was read and what was dropped."""
    for line in report.lines():
        say(f"{path.name}: {line.flags}")


def released_kind(path: Path, given: Mapping[str, Any]) -> Container | None:
    """Return the kind of the data in a release folder; None if the path is not a release."""
    from graphveil.claims.manifest import MANIFEST, read_manifest  # noqa: PLC0415  not for files

    if not (path / MANIFEST).is_file():
        return None
    flags = [name for name, value in given.items() if value is not None and name != "known"]
    if flags:
        raise UsageError(
            f"--{flags[0].replace('_', '-')} sets how a file is read, but {path.name} is a "
            "release and records this itself. Remove it."
        )
    return KINDS[read_manifest(path).data.kind].container


def released_data(path: Path) -> Data:
    """Return what is published in a release folder."""
    from graphveil.release import read_release  # noqa: PLC0415  as above

    data: Data = read_release(path).data
    return data
