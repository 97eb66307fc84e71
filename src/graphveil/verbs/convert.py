"""The verb convert: a data file, or the data of a release, in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphveil import io
from graphveil.claims.guarantees import SuperNodeAnonymity
from graphveil.claims.manifest import MANIFEST
from graphveil.core.atomic import EVERYBODY, OWNER_ONLY
from graphveil.core.errors import InputError, UsageError, option
from graphveil.core.progress import stage
from graphveil.data import Data, Graph
from graphveil.io.formats import parts_of
from graphveil.release import Release, read_release


def convert(
    source: Any, out: str | Path, *, ids: str | Path | None = None, replace: bool = False
) -> None:
    r"""Write data in the format that the name of a file says.

    A copy is no release: it carries no promise, and nothing can be verified of it. What comes from
    a release anybody may read, any other copy its owner alone.

    Parameters
    ----------
    source
        A container; the name of a data file, read as its columns say; or a `Release`, or the name
        of its folder.
    out
        The file to write; its extension says the format and the compression.
    ids
        A file for the ids of all nodes or users, where the format loses those that have no ties.
    replace
        Replace files of these names.

    Raises
    ------
    UsageError
        Where people without ties would be lost, or a file exists and is not replaced.
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


def write_copy(data: Data, out: Path, *, ids: Path | None, public: bool, replace: bool) -> None:
    """Write a copy of the data: for everybody where it is public, else for its owner alone."""
    mode = EVERYBODY if public else OWNER_ONLY
    with stage(f"writing {out.name}"):
        io.write(data, out, ids_path=ids, mode=mode, replace=replace)
