"""Write a container to a file: the same data gives the same bytes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from graphveil.atomic import EVERYBODY, whole_file
from graphveil.data import Bipartite, Graph, Table
from graphveil.data.ids import Ids
from graphveil.errors import InputError, ResourceError, UsageError
from graphveil.io.formats import FORMATS, Format, Kind, compression_of, format_of


def write_graph(
    graph: Graph,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  the name of the flag and of the option
    nodes_path: str | Path | None = None,
    mode: int = EVERYBODY,
    replace: bool = True,
) -> None:
    """Write a graph to a file, and the ids of its nodes to a second one where asked.

    Parameters
    ----------
    graph
        What is written.
    path
        The file; its extension gives the format, and .gz or .zst after it the compression.
    format
        A name of `FORMATS`, instead of going by the extension.
    nodes_path
        A file for every node id; formats that list edges alone lose isolated nodes without it.
    mode, replace
        As in `graphveil.atomic.whole_file`.

    Raises
    ------
    UsageError
        Where isolated nodes would be lost, or a file exists and is not replaced.
    InputError
        Where the format cannot hold these ids.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "friends.csv")
    ...     write_graph(Graph.from_edges([0, 1], [1, 2]), file)
    ...     file.read_text().split()
    ['source,target', '0,1', '1,2']
    """
    form = format_of(path, format)
    write = form.writer("graph")
    isolated = int(np.count_nonzero(graph.degrees() == 0))
    if isolated and nodes_path is None and not form.keeps_isolated:
        raise UsageError(
            f"{isolated} nodes without edges would be lost in {form.name}. "
            "Give nodes_path (--out-ids), or use graphml."
        )
    _check_ids(form, graph.ids, "node", "graph")
    with opened(path, form, mode=mode, replace=replace) as stream:
        write(graph, stream, form)
    if nodes_path is not None:
        _write_ids(graph.labels(), "node", nodes_path, mode=mode, replace=replace)


def write_bipartite(
    data: Bipartite,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  the name of the flag and of the option
    users_path: str | Path | None = None,
    mode: int = EVERYBODY,
    replace: bool = True,
) -> None:
    """Write users and their items to a file, and the ids of all users to a second where asked.

    Parameters
    ----------
    data
        What is written.
    path
        The file; its extension gives the format, and .gz or .zst after it the compression.
    format
        A name of `FORMATS`, instead of going by the extension.
    users_path
        A file for every user id; formats that list pairs alone lose users without items.
    mode, replace
        As in `graphveil.atomic.whole_file`.

    Raises
    ------
    UsageError
        Where users without items would be lost, or a file exists and is not replaced.
    InputError
        Where the format cannot hold these ids.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "likes.csv")
    ...     write_bipartite(Bipartite.from_pairs(["ann", "bob"], ["tea", "tea"]), file)
    ...     file.read_text().split()
    ['user,item', 'ann,tea', 'bob,tea']
    """
    form = format_of(path, format)
    write = form.writer("bipartite")
    empty = int(np.count_nonzero(np.diff(data.indptr) == 0))
    if empty and users_path is None and not form.keeps_isolated:
        raise UsageError(
            f"{empty} users without items would be lost in {form.name}. "
            "Give users_path (--out-ids), or use mtx."
        )
    _check_ids(form, data.users, "user", "bipartite")
    _check_ids(form, data.features, "item", "bipartite")
    with opened(path, form, mode=mode, replace=replace) as stream:
        write(data, stream, form)
    if users_path is not None:
        _write_ids(data.labels(), "user", users_path, mode=mode, replace=replace)


def write_table(
    table: Table,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  the name of the flag and of the option
    mode: int = EVERYBODY,
    replace: bool = True,
) -> None:
    """Write the cells of a table under the names of its columns; row ids are left out.

    Parameters
    ----------
    table
        What is written; a suppressed cell is ``*`` in text and null in Parquet and Arrow.
    path
        The file; its extension gives the format, and .gz or .zst after it the compression.
    format
        A name of `FORMATS`, instead of going by the extension.
    mode, replace
        As in `graphveil.atomic.whole_file`.

    Raises
    ------
    UsageError
        Where the file exists and is not replaced.
    DataError
        Where the table has no columns.
    InputError
        Where a category cannot be distinguished from a suppressed cell in this format.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     write_table(Table.from_columns({"sex": ["f", "*"]}), file)
    ...     file.read_text().split()
    ['sex', 'f', '*']
    """
    form = format_of(path, format)
    write = form.writer("table")
    table.check_columns()
    with opened(path, form, mode=mode, replace=replace) as stream:
        write(table, stream, form)


def _check_ids(form: Format, ids: Ids | None, what: str, kind: Kind) -> None:
    if ids is None or form.text_ids or np.array_equal(ids, np.arange(ids.size)):
        return
    able = ", ".join(f.name for f in FORMATS.values() if f.text_ids and kind in f.kinds)
    raise InputError(
        f"{form.name} numbers its rows, so the {what} ids (such as {ids[0]}) would be lost. "
        f"Use one of {able}."
    )


def _write_ids(ids: Ids, name: str, path: str | Path, *, mode: int, replace: bool) -> None:
    form = format_of(path)
    write = form.writer("ids")
    with opened(path, form, mode=mode, replace=replace) as stream:
        write(ids, name, stream, form)


@contextmanager
def opened(
    path: str | Path, form: Format, *, mode: int = EVERYBODY, replace: bool = True
) -> Iterator[IO[bytes]]:
    """Open a temporary sibling that takes the place of the file once it is whole."""
    path = Path(path)
    try:
        with (
            whole_file(path, mode=mode, replace=replace) as part,
            part.open("w+b") as raw,
            _packed(raw, compression_of(path), form) as stream,
        ):
            yield stream
    except FileExistsError as error:
        raise UsageError(
            f"{path} exists. Choose another name, or allow that it is replaced."
        ) from error
    except OSError as error:
        raise ResourceError(
            f"{path.name} cannot be written ({error.strerror or error}). Check folder and space."
        ) from error


@contextmanager
def _packed(raw: IO[bytes], compression: str | None, form: Format) -> Iterator[IO[bytes]]:
    if compression is None:
        yield raw
        return
    if not form.compressible:
        raise UsageError(f"{form.name} compresses itself. Leave out the last extension.")
    if compression == "gzip":
        with gzip.GzipFile("", "wb", 6, raw, 0) as stream:
            yield stream  # type: ignore[misc]
        return
    import pyarrow as pa  # noqa: PLC0415  heavy, and only this compression needs it

    with pa.CompressedOutputStream(pa.PythonFile(raw, mode="w"), "zstd") as stream:
        yield stream
