"""Larger public data: downloaded once, checked against a SHA-256, kept in a cache folder.

Only sets whose digest is known from more than one party are listed. The digest is that of the
uncompressed content: an archive may be packed anew without a change of the data in it.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import tempfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from typing import IO, Literal

from graphveil.core.atomic import whole_file
from graphveil.core.errors import InputError, ResourceError, UsageError, one_of

FOLDER_VARIABLE = "GRAPHVEIL_DATA"
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_SECONDS = 30
_THERE = f"into the folder of {FOLDER_VARIABLE}"


@dataclass(frozen=True, kw_only=True)
class LargerSet:
    """One public data set that `fetch` can bring.

    Parameters
    ----------
    name
        The name that `fetch` takes.
    kind
        The container it is meant for.
    file
        The name of the uncompressed file.
    url
        Its canonical public address; the file may be gzip-compressed there.
    sha256, bytes
        Digest and size of the uncompressed content.
    license
        What its publisher says.
    source
        Whom to cite.
    """

    name: str
    kind: Literal["graph", "table"]
    file: str
    url: str
    sha256: str
    bytes: int
    license: str
    source: str


SNAP_LICENSE = "no formal license stated; cite the source"
SNAP = "J. Leskovec, A. Krevl: SNAP Datasets, https://snap.stanford.edu/data, 2014"

_ALL = (
    LargerSet(
        name="adult",
        kind="table",
        file="adult.data",
        url="https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
        sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        bytes=3_974_305,
        license="CC-BY-4.0",
        source="B. Becker, R. Kohavi: Adult. UCI Machine Learning Repository, 1996",
    ),
    LargerSet(
        name="ca-GrQc",
        kind="graph",
        file="ca-GrQc.txt",
        url="https://snap.stanford.edu/data/ca-GrQc.txt.gz",
        sha256="f8ce6e931e068b878044b783da99ef603f566c87bcbce7991cd53720879f1660",
        bytes=351_704,
        license=SNAP_LICENSE,
        source=SNAP,
    ),
    LargerSet(
        name="facebook_combined",
        kind="graph",
        file="facebook_combined.txt",
        url="https://snap.stanford.edu/data/facebook_combined.txt.gz",
        sha256="f41c026ed8af3cc3359f1ca5573d0605fb09ae0eefa34544b820fd8c6e2ef296",
        bytes=854_362,
        license=SNAP_LICENSE,
        source=f"J. McAuley, J. Leskovec: Learning to Discover Social Circles, 2012; {SNAP}",
    ),
    LargerSet(
        name="wiki-Vote",
        kind="graph",
        file="wiki-Vote.txt",
        url="https://snap.stanford.edu/data/wiki-Vote.txt.gz",
        sha256="d2afbedf262126f820c6b3dd9f39a6d68e6f5ea839c0508297032ca77578b28a",
        bytes=1_095_061,
        license=SNAP_LICENSE,
        source=SNAP,
    ),
)

LARGER: dict[str, LargerSet] = {item.name: item for item in _ALL}
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
    for path in (Path(folder) / item.file, Path(folder) / f"{item.file}.gz"):
        if path.is_file():
            _check(item, path, origin=str(path))
            return path
    return None


def checked_at(item: LargerSet, path: Path) -> None:
    """Refuse a file, compressed or not, whose content is not that of the set.

    Raises
    ------
    InputError
        If its SHA-256 is another, or it cannot be read.
    """
    _check(item, path, origin=str(path), there=f"of {item.url} there")


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
            f"{origin}: the content has SHA-256 {digest}, expected {item.sha256} for "
            f"{item.name}. The file was changed or truncated: try again, or put a good copy "
            f"{there}."
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
