"""Data sets: those in the package, those that are downloaded, and those that are only looked for.

Only sets whose digest is known from more than one party are listed. The digest is that of the
uncompressed content: an archive may be packed anew without a change of the data in it.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import tempfile
import tomllib
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, overload

from graphveil.core.atomic import whole_file
from graphveil.core.errors import InputError, ResourceError, UsageError
from graphveil.core.hints import did_you_mean, one_of
from graphveil.data import Bipartite, Data, Graph, Table

_FILES = Path(__file__).parent / "files"
LISTED: dict[str, list[dict[str, Any]]] = tomllib.loads((_FILES / "sets.toml").read_text("utf-8"))
"""What there is: data sets that ship, that are downloaded, and that the papers use."""


@dataclass(frozen=True, kw_only=True)
class ShippedSet:
    """One data set inside the package, with its source and license.

    `files`: the data file, and for user-item data the list of all users; `categories`: texts of a
    table that are values, although they often stand for a missing one.
    """

    name: str
    kind: Literal["graph", "bipartite", "table"]
    files: tuple[str, ...]
    n: int
    m: int
    license: str
    source: str
    url: str
    note: str
    categories: tuple[str, ...] = ()


DATASETS = {
    item["name"]: ShippedSet(
        **{**item, "files": tuple(item["files"]), "categories": tuple(item.get("categories", ()))}
    )
    for item in LISTED["shipped"]
}
"""Every data set inside the package, by name."""


def names() -> list[str]:
    """Return the name of every data set inside the package.

    Returns
    -------
    list[str]
        The names of `DATASETS`.

    Examples
    --------
    >>> names()
    ['copenhagen-calls', 'spect-heart', 'adult-sample']
    """
    return list(DATASETS)


def path_of(name: str) -> Path:
    """Return the path of a shipped data file, such as the command line takes.

    Parameters
    ----------
    name
        A name of `DATASETS`.

    Returns
    -------
    Path
        The file in the package.

    Raises
    ------
    UsageError
        Where no data set has this name.

    Examples
    --------
    >>> path_of("copenhagen-calls").name
    'copenhagen_calls.csv'
    """
    return _FILES / _shipped(name).files[0]


@overload
def load(name: Literal["copenhagen-calls"]) -> Graph: ...
@overload
def load(name: Literal["spect-heart"]) -> Bipartite: ...
@overload
def load(name: Literal["adult-sample"]) -> Table: ...
@overload
def load(name: str) -> Data: ...
def load(name: str) -> Data:
    """Return a data set that ships with the package.

    Parameters
    ----------
    name
        A name of `DATASETS`.

    Returns
    -------
    Graph or Bipartite or Table
        The data.

    Raises
    ------
    UsageError
        Where no data set has this name.

    Examples
    --------
    >>> load("copenhagen-calls")
    Graph(n_nodes=536, n_edges=621)
    """
    from graphveil import io  # noqa: PLC0415  the table is read without loading the readers

    item = _shipped(name)
    path = _FILES / item.files[0]
    if item.kind == "graph":
        return io.read_graph(path, header="yes")
    if item.kind == "bipartite":
        return io.read_bipartite(path, header="yes", users=_FILES / item.files[1])
    return io.read_table(path, header="yes", categories=item.categories)


def _shipped(name: str) -> ShippedSet:
    if name not in DATASETS:
        raise UsageError(
            f"no data set {name!r} ships with graphveil. {did_you_mean(name, DATASETS)}Choose "
            f"one of {', '.join(DATASETS)}; larger ones are downloaded."
        )
    return DATASETS[name]


FOLDER_VARIABLE = "GRAPHVEIL_DATA"
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_SECONDS = 30
_THERE = f"into the folder of {FOLDER_VARIABLE}"


@dataclass(frozen=True, kw_only=True)
class LargerSet:
    """One public data set that `fetch` can bring; digest and size are those of what is unpacked."""

    name: str
    kind: Literal["graph", "table"]
    file: str
    url: str
    sha256: str
    bytes: int
    license: str
    source: str


LARGER = {item["name"]: LargerSet(**item) for item in LISTED["larger"]}
"""Every larger public data set, by name."""


def fetch(name: str, *, cache: str | Path | None = None) -> Path:
    """Return the path of a larger public data set whose content was checked.

    The folder that the environment variable GRAPHVEIL_DATA names is looked into first (for the
    file, or the file with .gz), then the cache; only then is the file downloaded. Wherever it comes
    from, its SHA-256 is checked.

    Parameters
    ----------
    name
        A name of `LARGER`.
    cache
        The cache folder; that of the operating system where not given.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        Where no data set has this name.
    InputError
        Where the content is not what it should be.
    ResourceError
        Where it cannot be downloaded or stored.

    Examples
    --------
    >>> sorted(LARGER)
    ['adult', 'ca-GrQc', 'facebook_combined', 'wiki-Vote']
    """
    if name not in LARGER:
        raise UsageError(f"unknown larger data set {name!r}. {one_of(name, LARGER, verb='Choose')}")
    item = LARGER[name]
    local = _in_local_folder(item)
    if local is not None:
        return local
    folder = Path(cache) if cache is not None else _cache()
    kept = folder / item.file
    if kept.is_file() and _digest(kept, item.bytes) == item.sha256:
        return kept
    with _storing(folder):
        _download(item, kept)
    return kept


def _in_local_folder(item: LargerSet) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    return _checked_in((Path(folder),), item, _THERE)


def _checked_in(places: Sequence[Path], item: LargerSet, there: str) -> Path | None:
    """Return the path of the first file of the set in these folders, its content checked."""
    for place in places:
        for path in (place / item.file, place / f"{item.file}.gz"):
            if path.is_file():
                _check(item, path, origin=str(path), there=there)
                return path
    return None


def _cache() -> Path:
    """Return the folder for what can be fetched again, as this operating system has it."""
    home = Path.home()
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA") or home / "AppData/Local")
        return local / "graphveil" / "graphveil" / "Cache"
    if sys.platform == "darwin":
        return home / "Library/Caches/graphveil"
    named = Path(os.environ.get("XDG_CACHE_HOME", "").strip())
    return (named if named.is_absolute() else home / ".cache") / "graphveil"


@contextmanager
def _storing(folder: Path) -> Iterator[None]:
    """Turn what the disk says into one line."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise ResourceError(
            f"the cache folder {folder} cannot be used ({reason}). Free space, or choose a "
            "different folder."
        ) from error


def _download(item: LargerSet, kept: Path) -> None:
    """Download, check and unpack under temporary names; move the file to the cache if good."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with (
        whole_file(kept) as content,
        tempfile.TemporaryDirectory(dir=kept.parent, prefix=".download-") as folder,
    ):
        raw = Path(folder) / "raw"
        with raw.open("wb") as file, _progress(item.name) as show:
            for block, total in _received(item):
                file.write(block)
                show(len(block), total)
        _check(item, raw, origin=item.url)
        with _plain(raw) as source, content.open("wb") as target:
            while block := source.read(_CHUNK):
                target.write(block)


def _received(item: LargerSet) -> Iterator[tuple[bytes, int | None]]:
    """Yield what the publisher sends, and how much it announced; network errors in one line."""
    advice = (
        f"Try again later, or put {item.file} into a folder and set {FOLDER_VARIABLE} to "
        "that folder."
    )
    try:
        with urllib.request.urlopen(item.url, timeout=_SECONDS) as answer:  # noqa: S310  of the table
            total = answer.length
            received = 0
            while block := answer.read(1 << 16):
                received += len(block)
                yield block, total
            if total is not None and received < total:
                raise IncompleteRead(b"", total - received)
    except urllib.error.HTTPError as error:
        raise ResourceError(f"{item.url} responded with status {error.code}. {advice}") from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        name = type(reason if isinstance(reason, Exception) else error).__name__
        raise ResourceError(f"{item.url} could not be downloaded ({name}). {advice}") from error


def _check(item: LargerSet, path: Path, *, origin: str, there: str = _THERE) -> None:
    try:
        digest = _digest(path, item.bytes)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}). Change its permissions."
        ) from error
    if digest != item.sha256:
        raise InputError(
            f"{origin}: the content has SHA-256 {digest}, expected {item.sha256} for {item.name}. "
            f"The file was changed or truncated: try again, or put a good copy {there}."
        )


def _digest(path: Path, most: int) -> str:
    """Return the SHA-256 of the unpacked content; only its start is read where it is too long."""
    seen = hashlib.sha256()
    remaining = most + 1
    try:
        with _plain(path) as file:
            while remaining and (block := file.read(min(remaining, _CHUNK))):
                seen.update(block)
                remaining -= len(block)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return f"{seen.hexdigest()} (of a damaged archive)"
    return seen.hexdigest() if remaining else f"{seen.hexdigest()} (of the first {most + 1} bytes)"


@contextmanager
def _plain(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as its uncompressed content, whether it is gzip-compressed or not."""
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        if not packed:
            yield raw
            return
        with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
            yield unpacked  # type: ignore[misc]  # GzipFile reads as a binary file does


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """Give what moves a bar on, by some bytes of a total; there is none without a terminal."""
    if not sys.stderr.isatty():
        yield lambda _size, _total: None
        return
    from rich.console import Console  # noqa: PLC0415  only a download on a terminal needs it
    from rich.progress import BarColumn, DownloadColumn, Progress  # noqa: PLC0415  the same

    console = Console(stderr=True)
    columns = ("downloading {task.description}", BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name, total=None)
        yield lambda size, total: progress.update(task, advance=size, total=total)


PAPERS = {item["name"]: LargerSet(**item) for item in LISTED["paper"]}
PAPERS |= {name: LARGER[name] for name in ("adult", "ca-GrQc", "wiki-Vote")}
"""Every data set of the papers that does not ship and whose file is known, by name."""


Way = Literal["ships", "drawn", "file", "elsewhere", "not here"]


class PaperData(NamedTuple):
    """A data set of a paper.

    `theirs`: its name there; `way`: ``ships`` (`load`), ``drawn`` (a function of this module),
    ``file`` (`found_in` checks it), ``elsewhere`` (no digest is known), or ``not here``; `ours`:
    the name, the function, the address, or why it is not here.
    """

    paper: str
    theirs: str
    way: Way
    ours: str


BY_PAPER = tuple(
    PaperData(group["paper"], theirs, group["way"], ours)
    for group in LISTED["named"]
    for theirs, ours in group["sets"].items()
)
"""Every data set of the papers under its name there."""


def found_in(name: str, folder: Path) -> Path | None:
    """Return the path of a paper's data in a folder, its content checked; None if it is not there.

    The file may be compressed, as ``.gz``, and may be in a folder of its own named as the data set.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder. Give the folder that holds the data.")
    item = PAPERS[name]
    return _checked_in((folder, folder / name), item, f"of {item.url} there")
