"""Write a container to a file: the same data gives the same bytes.

Names that other programs take for more than text, where they stand in csv, tsv or plain text.

A spreadsheet runs a cell that begins like a formula. Some programs end a line at other characters
than a line feed, or take a quote behind a backslash for a part of the cell.
"""

from __future__ import annotations

import dataclasses
import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np

from graphveil.core.atomic import EVERYBODY, whole_file
from graphveil.core.errors import InputError, ResourceError, UsageError
from graphveil.core.hints import option
from graphveil.core.libraries import pa
from graphveil.core.warnings import Advice, FormulaWarning
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.codes import NUMBER
from graphveil.data.ids import Ids
from graphveil.data.kinds import Kind, kind_of
from graphveil.data.network import ID_OF_PERSON
from graphveil.io.formats import FORMATS, Format, compression_of, format_of
from graphveil.io.source import shown

SEPARATORS = "\v\f\x1c-\x1e\x85\u2028\u2029"
"""What some programs take for the end of a line, apart from line feed and carriage return."""

AWKWARD = re.compile(r'["\n\r\t,;#%\0]|^\s|\s$|^$')
"""Text because of which all text of a file stands in quotes: it would part cells or lines."""

_PARQUET = f"use {option('format', 'parquet')}"
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NO_FORMULA = re.compile(rf"{NUMBER}|^[+-]$")
_AS_DATE = re.compile(r"([1-9]|1[0-2])-[0-9]{1,2}|([1-9]|[12][0-9]|3[01])-([1-9]|1[0-2])")
_SEPARATED = re.compile(f"[{SEPARATORS}]")


def formulas(
    names: Iterable[str], texts: Iterable[Sequence[str]], *, or_else: str = _PARQUET
) -> tuple[str, ...]:
    """Return the advice on names that a spreadsheet runs as formulas; none where there are none."""
    every = dict.fromkeys(chain(names, *texts))
    found = [name for name in every if _FORMULA.match(name) and not _NO_FORMULA.match(name)]
    if not found:
        return ()
    number = f"{len(found):,} names begin" if len(found) > 1 else "1 name begins"
    begins = f"{number} with =, +, -, @, a tab or a carriage return (first: {shown(found[0])})"
    runs = f"{begins}: a spreadsheet would run such cells as formulas"
    return (Advice(f"{runs}. Rename them, or {or_else}", FormulaWarning),)


def read_as_dates(intervals: Iterable[str]) -> tuple[str, ...]:
    """Return the advice on intervals that a spreadsheet reads as dates; none where there are none.

    >>> read_as_dates(["10-12", "5-9", "20-39"])[0].partition(".")[0]
    'a spreadsheet would read intervals as dates: 2 of them (first: 10-12)'
    """
    found = [text for text in intervals if _AS_DATE.fullmatch(text)]
    if not found:
        return ()
    said = f"a spreadsheet would read intervals as dates: {len(found):,} of them"
    way = f"Import the column as text, or {_PARQUET}"
    return (Advice(f"{said} (first: {shown(found[0])}). {way}", FormulaWarning),)


def refuse_separators(names: Iterable[str], texts: Iterable[Iterable[str]], form: str) -> None:
    """Refuse names of which some programs make two lines, or two cells, in text.

    A column's name stands in quotes by itself, the texts of a column together.
    """
    for name in names:
        _refuse(name, form, in_quotes=AWKWARD.search(name) is not None)
    cells = list(dict.fromkeys(chain.from_iterable(texts)))
    in_quotes = any(map(AWKWARD.search, cells))
    for text in cells:
        _refuse(text, form, in_quotes=in_quotes)


def _refuse(text: str, form: str, *, in_quotes: bool) -> None:
    if _SEPARATED.search(text):
        problem = "contains a character that some programs treat as the end of a line"
    elif in_quotes and text.endswith("\\"):
        problem = "ends in a backslash, so that some programs read past its closing quote"
    else:
        return
    raise InputError(
        f"{shown(text)!r} {problem}: it cannot be stored in {form}. Rename it, or {_PARQUET}."
    )


def write(
    data: Data,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  the name of the flag and of the option
    ids_path: str | Path | None = None,
    mode: int = EVERYBODY,
    replace: bool = True,
    exact: bool = False,
) -> None:
    """Write a container to a file, and the ids of all nodes or users to a second one if asked.

    Parameters
    ----------
    data
        The container.
    path
        The file; its extension gives the format, and the compression.
    format
        The name of the format, if the extension does not show it.
    ids_path
        A second file for the ids of all nodes or users: needed by formats that would lose those
        without edges or items. For a network with attributes, it has these, too.
    mode
        The permissions of the files.
    replace
        Whether files that exist are replaced.
    exact
        For a table in csv or tsv: whether cells are written as the generalized values that they
        are.

    Returns
    -------
    None
        The files are written.

    Raises
    ------
    InputError
        If the format is unknown, or cannot store this kind of data.
    UsageError
        If the file would lose ids, nodes or attributes and `ids_path` is not given.
    DataError
        If a table has no columns.

    Notes
    -----
    The same data gives the same bytes. A file is written under a temporary name and renamed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write(Graph.from_edges([0, 1], [1, 2]), Path(folder, "path.csv"))
    ...     print(Path(folder, "path.csv").read_text())
    source,target
    0,1
    1,2
    <BLANKLINE>
    """
    form, kind = format_of(path, format), kind_of(data)
    writer = form.writer(kind.name)
    if isinstance(data, Table):
        data.check_columns()
        writer = partial(writer, exact=True) if exact and form.module == "delimited" else writer
        if ids_path is not None:
            raise UsageError(f"{option('out_ids')} does not apply to a Table. Remove it.")
    else:
        _check_lists(data, kind, form, with_ids=ids_path is not None)
    with opened(path, form, mode=mode, replace=replace) as stream:
        writer(data, stream, form)
    if ids_path is None:
        return
    if data.people is not None and data.people is not data:
        rows = dataclasses.replace(data.people, ids=data.labels()).with_ids_as(ID_OF_PERSON)
        with opened(ids_path, format_of(ids_path), mode=mode, replace=replace) as stream:
            format_of(ids_path).writer("table")(rows, stream, format_of(ids_path))
    else:
        _write_ids(data.labels(), kind.people[:-1], ids_path, mode=mode, replace=replace)


def _check_lists(
    data: Graph | Bipartite | Network, kind: Kind, form: Format, *, with_ids: bool
) -> None:
    """Refuse a format that would lose people, or the ids of people and features."""
    if data.people is not None and not with_ids and not form.keeps_isolated:
        raise UsageError(
            f"node attributes would be lost in {form.name}. Give ids_path (--out-ids), or use "
            "graphml."
        )
    ties = data.profiles().sum(axis=1) if isinstance(data, Network) else np.diff(data.indptr)
    alone = int(np.count_nonzero(ties == 0))
    if alone and not with_ids and not form.keeps_isolated:
        raise UsageError(
            f"{alone} {kind.people} without {kind.measured[0]} would be lost in {form.name}. "
            "Give ids_path (--out-ids), or use graphml or mtx."
        )
    _check_ids(form, getattr(data, kind.ids), kind.people[:-1], kind.name)
    _check_ids(form, data.features, "item", kind.name)


def _check_ids(form: Format, ids: Ids | None, what: str, kind: str) -> None:
    if ids is None or form.text_ids or np.array_equal(ids, np.arange(ids.size)):
        return
    able = ", ".join(f.name for f in FORMATS.values() if f.text_ids and kind in f.kinds)
    raise InputError(
        f"{form.name} numbers its rows, so the {what} ids (such as {ids[0]}) would be lost. Use "
        f"one of {able} instead."
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
            f"{path} exists. Choose a different name, or allow it to be replaced."
        ) from error
    except OSError as error:
        raise ResourceError(
            f"cannot write {path.name} ({error.strerror or error}). Check the folder and the "
            "free space."
        ) from error


@contextmanager
def _packed(raw: IO[bytes], compression: str | None, form: Format) -> Iterator[IO[bytes]]:
    if compression is None:
        yield raw
        return
    if not form.compressible:
        raise UsageError(f"{form.name} is already compressed. Remove the last extension.")
    if compression == "gzip":
        with gzip.GzipFile("", "wb", 6, raw, 0) as stream:
            yield stream  # type: ignore[misc]
        return
    with pa.CompressedOutputStream(pa.PythonFile(raw, mode="w"), "zstd") as stream:
        yield stream
