"""The verb convert, and the original of a release, read as it was when the release was made."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from graphveil import io
from graphveil.claims.guarantees import SuperNodeAnonymity
from graphveil.claims.manifest import MANIFEST, read_manifest
from graphveil.claims.record import read_record
from graphveil.core.atomic import EVERYBODY, OWNER_ONLY
from graphveil.core.errors import InputError, UsageError
from graphveil.core.hints import option
from graphveil.core.progress import stage
from graphveil.core.storage import Address, Place, place_of
from graphveil.data import Data, Graph, Table
from graphveil.data.kinds import KINDS
from graphveil.io.formats import from_record, parts_of
from graphveil.io.parsed import EVERY_WORD
from graphveil.release import Release, read_release


class Original(NamedTuple):
    """An original as it was read."""

    data: Data
    options: io.AnyOptions
    file: Path


def recorded_options(folder: Place) -> io.AnyOptions:
    """Return the options with which the original of a release was read, as its record says."""
    private = read_record(folder)
    name = private.reading.get("kind") if private else None
    kind = KINDS[name or read_manifest(folder).data.kind]
    reading = private.reading if private else {}
    options = from_record(io.options_of(kind)(), reading)
    if private is None or "categories" in reading or not isinstance(options, io.TableOptions):
        return options
    return dataclasses.replace(options, categories=EVERY_WORD)  # whoever released it was not asked


def read_original(
    folder: str | Path | Address, path: str | Path, asked: Mapping[str, Any] | None = None
) -> Original:
    r"""Return the original of a release; what is not asked for is taken from the private record.

    >>> from tempfile import TemporaryDirectory
    >>> import graphveil as gv
    >>> with TemporaryDirectory() as scratch:
    ...     file = Path(scratch, "friends.csv")
    ...     _ = file.write_text("source,target\nann,bob\nbob,cyd\ncyd,dan\n")
    ...     folder = gv.KDegree(k=2).anonymize(gv.read_graph(file)).write(Path(scratch, "out"))
    ...     read_original(folder, file).data
    Graph(n_nodes=4, n_edges=3)
    """
    path, kept = Path(path), recorded_options(place_of(folder))
    options = dataclasses.replace(kept, **(asked or {}))
    with stage(f"reading {path.name}"):
        data: Data = io.load(path, options).data
    return Original(data, options, path)


@contextmanager
def original_on_disk(
    folder: str | Path | Address, path: str | Path, asked: Mapping[str, Any] | None = None
) -> Iterator[Original]:
    """Give the original of a release of a graph, whose edges stay on the disk inside the block.

    `folder, path, asked`: as in `read_original`. Raises `UsageError` where the release is not a
    graph, or its file cannot be read some rows at a time. `InputError` where the file cannot be
    read.
    """
    from graphveil.scale import graph_on_disk  # noqa: PLC0415  heavy, and few need it

    path, kept = Path(path), recorded_options(place_of(folder))
    options = dataclasses.replace(kept, **(asked or {}))
    if type(options) is not io.GraphOptions:
        raise UsageError(
            f"{option('on_disk', value=True)} applies to the edges of a graph only. Remove it."
        )
    with graph_on_disk(path, options) as (graph, _):
        yield Original(graph, options, path)


def as_release(release: Release[Any] | str | Path, *, wanted_by: str) -> Release[Any] | Path:
    """Return a release, or its folder.

    >>> as_release("friends-k5", wanted_by="evaluate")
    PosixPath('friends-k5')
    """
    if isinstance(release, Release):
        return release
    if isinstance(release, str | Path):
        place = place_of(release)
        if isinstance(place, Address):
            raise UsageError(
                f"{place} is an address, which only verify can read. Copy the release here and "
                "give its folder."
            )
        return place
    raise UsageError(
        f"{wanted_by} takes a release or the name of its folder as the first argument, not a "
        f"{type(release).__name__}. Make one with a method, such as "
        "KDegree(k=5).anonymize(data), and give the original second."
    )


def refuse_release(original: Any) -> None:
    """Refuse a release where the original belongs."""
    if isinstance(original, Release):
        raise UsageError(
            "a release was given instead of the original. Give the data the release was made from."
        )


def original_data(release: Release[Any] | str | Path, original: Any) -> Any:
    """Return the original that was handed over, read from its file where it is one."""
    refuse_release(original)
    if isinstance(original, Original):
        return original.data
    if isinstance(original, str | Path) and not isinstance(release, Release):
        return read_original(release, original).data
    return original


def answered(original: Any) -> Any:
    """Return an original of which a release was made, for runs whose releases are not published.

    Its owner has answered what a row is, and is not asked again.

    >>> answered(Table.from_columns({"sex": ["f", "m"]})).person
    'row'
    """
    if isinstance(original, Table) and original.person == "assumed":
        return dataclasses.replace(original, person="row")
    return original


def convert(
    source: Any, out: str | Path, *, ids: str | Path | None = None, replace: bool = False
) -> None:
    r"""Write data in the format that the name of a file says.

    A copy is not a release: it carries no guarantee, and nothing can be verified of it. What comes
    from a release anybody may read, any other copy its owner alone.

    Parameters
    ----------
    source
        A container; the name of a data file, read as its columns say; or a `Release`, or the name
        of its folder.
    out
        The file to write; its extension says the format and the compression.
    ids
        A file for the ids of all nodes or users, where the format loses those that have no edges.
    replace
        Replace files of these names.

    Raises
    ------
    UsageError
        Where people without edges would be lost, or a file exists and is not replaced.
    InputError
        Where the source cannot be read, or the format cannot hold the data.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "friends.csv")
    ...     _ = file.write_text("source,target\nann,bob\nbob,cyd\n")
    ...     convert(file, Path(folder, "friends.parquet"))
    ...     io.read_graph(Path(folder, "friends.parquet"))
    Graph(n_nodes=3, n_edges=2)
    """
    data, public = source, False
    if isinstance(source, str | Path):
        public = is_release(Path(source))
        data = data_of_release(Path(source)) if public else io.read(source)
    if isinstance(source, Release):
        data, public = source.data, True
    write_copy(
        data, Path(out), ids=None if ids is None else Path(ids), public=public, replace=replace
    )


def is_release(path: Path) -> bool:
    """Whether a path is the folder of a release, and not that of parts of a file."""
    return (path / MANIFEST).is_file() or (path.is_dir() and not _is_in_parts(path))


def _is_in_parts(folder: Path) -> bool:
    try:
        return bool(parts_of(folder))
    except InputError:
        return False


def data_of_release(folder: Path, *, as_table: bool = False) -> Data:
    """Return the data of a release.

    As a table, one-hot rows are that which they came from, super-nodes are groups and their edges.
    """
    with stage(f"reading {folder.name}"):
        release = read_release(folder)
    grouped = isinstance(release.guarantee, SuperNodeAnonymity)
    if as_table and isinstance(release.data, Graph) and not grouped:
        raise UsageError(
            f"{option('kind', 'table')} does not apply to a release of a graph. Remove it."
        )
    return release.to_table() if as_table else release.data


def write_copy(
    data: Data, out: Path, *, ids: Path | None, public: bool, replace: bool, exact: bool = False
) -> None:
    """Write a copy of the data: for everybody where it is public, else for its owner alone.

    `exact`: the cells of a table are written as they are, as releases have them; a number with a
    fraction among them needs the option exact to be read again.
    """
    mode = EVERYBODY if public else OWNER_ONLY
    with stage(f"writing {out.name}"):
        io.write(data, out, ids_path=ids, mode=mode, replace=replace, exact=exact)
