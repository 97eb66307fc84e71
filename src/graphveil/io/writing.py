"""Write a container to a file: the same data gives the same bytes."""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from graphveil.atomic import EVERYBODY, whole_file
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.ids import Ids
from graphveil.data.kinds import Kind, kind_of
from graphveil.data.network import ID_OF_PERSON
from graphveil.errors import InputError, ResourceError, UsageError, option
from graphveil.io.formats import FORMATS, Format, compression_of, format_of


def write(
    data: Data,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  the name of the flag and of the option
    ids_path: str | Path | None = None,
    mode: int = EVERYBODY,
    replace: bool = True,
) -> None:
    """Write a container to a file, and the ids of all nodes or users to a second where asked.

    Parameters
    ----------
    data
        What is written. A suppressed cell of a table is ``*`` in text and null in Parquet and
        Arrow; the ids of its rows are left out.
    path
        The file; its extension gives the format, and .gz or .zst after it the compression.
    format
        A name of `FORMATS`, instead of going by the extension.
    ids_path
        A file for every id of a node or user; formats that list edges or pairs alone lose nodes
        without edges and users without entries.
    mode, replace
        As in `graphveil.atomic.whole_file`.

    Raises
    ------
    UsageError
        Where people without edges or entries would be lost, a table is to have a file of ids, or a
        file exists and is not replaced.
    DataError
        Where a table has no columns.
    InputError
        Where the format cannot hold these ids, or a category cannot be distinguished from a
        suppressed cell in it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "friends.csv")
    ...     write(Graph.from_edges([0, 1], [1, 2]), file)
    ...     file.read_text().split()
    ['source,target', '0,1', '1,2']
    """
    form, kind = format_of(path, format), kind_of(data)
    writer = form.writer(kind.name)
    if isinstance(data, Table):
        data.check_columns()
        if ids_path is not None:
            raise UsageError(f"{option('out_ids')} is not for a Table. Leave it out.")
    else:
        _check_lists(data, kind, form, with_ids=ids_path is not None)
    with opened(path, form, mode=mode, replace=replace) as stream:
        writer(data, stream, form)
    if ids_path is None:
        return
    if isinstance(data, Network) and data.people is not None:
        rows = dataclasses.replace(data.people, ids=data.labels()).with_ids_as(ID_OF_PERSON)
        with opened(ids_path, format_of(ids_path), mode=mode, replace=replace) as stream:
            format_of(ids_path).writer("table")(rows, stream, format_of(ids_path))
    else:
        _write_ids(data.labels(), kind.people[:-1], ids_path, mode=mode, replace=replace)


def _check_lists(
    data: Graph | Bipartite | Network, kind: Kind, form: Format, *, with_ids: bool
) -> None:
    """Refuse a format that would lose people, or the ids of people and features."""
    if isinstance(data, Network):
        alone = int(np.count_nonzero(data.degrees().sum(axis=1) == 0))
        if data.people is not None and not with_ids and not form.keeps_isolated:
            raise UsageError(
                f"what is said of people would be lost in {form.name}. Give ids_path (--out-ids), "
                "or use graphml."
            )
    else:
        alone = int(np.count_nonzero(np.diff(data.indptr) == 0))
    if alone and not with_ids and not form.keeps_isolated:
        raise UsageError(
            f"{alone} {kind.people} without {kind.measured[0]} would be lost in {form.name}. "
            "Give ids_path (--out-ids), or use graphml or mtx."
        )
    _check_ids(form, getattr(data, kind.ids), kind.people[:-1], kind.name)
    _check_ids(form, getattr(data, "features", None), "item", kind.name)


def _check_ids(form: Format, ids: Ids | None, what: str, kind: str) -> None:
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
