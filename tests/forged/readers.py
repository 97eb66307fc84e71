"""What programs that people use read from the data file of a release, in one shape to compare.

A graph is the sorted list of its edges, users by items the list of pairs, a table that of its rows
below the names of its columns. Each reader is told that users are integers and that items and cells
are text, and no more.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

import graphveil as gv
from forged.kit import data_file, read_manifest
from graphveil.claims.manifest import read_manifest as typed_manifest
from graphveil.verify.database import database
from graphveil.verify.files.loading import load
from graphveil.verify.files.released import Released
from graphveil.verify.kinds.registry import CHECKED_KINDS

DELIMITERS = {"csv": ",", "tsv": "\t", "text": "\t"}
Content = list[tuple[Any, ...]]


def kind_and_names(folder: Path) -> tuple[str, list[str], list[type]]:
    described = read_manifest(folder)["data"]
    kind, names = described["kind"], described["files"][0]["columns"]
    types = {"graph": [int, int], "bipartite": [int, str]}.get(kind, [str] * len(names))
    return kind, names, types


def typed(rows: Any, types: list[type]) -> Content:
    """Return rows with every cell in its type; what is missing in a table is a star."""
    return [
        tuple("*" if cell is None else kind(cell) for cell, kind in zip(row, types, strict=True))
        for row in rows
    ]


def is_remarked(folder: Path) -> bool:
    """Return whether the names of the columns stand in a remark: readers skip that line."""
    return data_file(folder).suffix == ".txt"


def of_frame(folder: Path, names: Any, rows: Any) -> Content:
    """Return rows in their types; those of a table below the names that the reader gives them."""
    kind, stated, types = kind_and_names(folder)
    if kind == "table":
        return [tuple(names), *typed(rows, [str] * len(names))]
    assert stated == list(names)
    return typed(rows, types)


def by_python(folder: Path, delimiter: str) -> Content:
    with data_file(folder).open(newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines, delimiter=delimiter, strict=True)
    if is_remarked(folder):
        header[0] = header[0].removeprefix("# ")
    return of_frame(folder, header, rows)


def by_pandas(folder: Path, delimiter: str) -> Content:
    kind, names, types = kind_and_names(folder)
    told = {"names": names, "skiprows": 1} if kind != "table" else {}
    frame = pd.read_csv(
        data_file(folder),
        sep=delimiter,
        dtype=str if kind == "table" else dict(zip(names, types, strict=True)),
        keep_default_na=False,
        index_col=False,
        **told,
    )
    return of_frame(folder, frame.columns, frame.itertuples(index=False, name=None))


def by_polars(folder: Path, delimiter: str) -> Content:
    kind, names, types = kind_and_names(folder)
    schema = {name: pl.Int64 if kind is int else pl.String for name, kind in zip(names, types)}  # noqa: B905
    told = {"schema": schema, "has_header": False, "skip_rows": 1} if kind != "table" else {}
    frame = pl.read_csv(data_file(folder), separator=delimiter, infer_schema=False, **told)
    return of_frame(folder, frame.columns, frame.rows())


def by_duckdb(folder: Path, delimiter: str) -> Content:
    kind, names, types = kind_and_names(folder)
    columns = {n: "BIGINT" if kind is int else "VARCHAR" for n, kind in zip(names, types)}  # noqa: B905
    told = {"header": False, "skiprows": 1, "columns": columns}
    relation = duckdb.read_csv(
        str(data_file(folder)),
        sep=delimiter,
        na_values="\x01no text\x01",
        **(told if kind != "table" else {"header": True, "all_varchar": True}),
    )
    return of_frame(folder, relation.columns, relation.fetchall())


def by_arrow(folder: Path, delimiter: str) -> Content:
    kind, names, types = kind_and_names(folder)
    kinds = {n: pa.int64() if kind is int else pa.string() for n, kind in zip(names, types)}  # noqa: B905
    told = {"column_names": names, "skip_rows": 1} if kind != "table" else {}
    table = arrow_csv.read_csv(
        data_file(folder),
        read_options=arrow_csv.ReadOptions(**told),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types=kinds),
    )
    return of_frame(folder, table.column_names, zip(*(c.to_pylist() for c in table), strict=True))


def in_columns(read: Callable[[Path], dict[str, list[Any]]]) -> Callable[[Path], Content]:
    """Return a reader of Parquet from what gives its columns."""

    def rows(folder: Path) -> Content:
        columns = read(data_file(folder))
        return of_frame(folder, columns, zip(*columns.values(), strict=True))

    return rows


def of_pandas(path: Path) -> dict[str, list[Any]]:
    frame = pd.read_parquet(path, dtype_backend="pyarrow")
    return {n: [None if v is pd.NA else v for v in frame[n].tolist()] for n in frame.columns}


def of_polars(path: Path) -> dict[str, list[Any]]:
    return pl.read_parquet(path).to_dict(as_series=False)


def of_duckdb(path: Path) -> dict[str, list[Any]]:
    relation = duckdb.read_parquet(str(path))
    rows = relation.fetchall()
    return {name: [row[i] for row in rows] for i, name in enumerate(relation.columns)}


COLUMNS_BY: dict[str, Callable[[Path], dict[str, list[Any]]]] = {
    "polars": lambda path: pl.read_parquet(path).to_dict(as_series=False),
    "arrow": lambda path: parquet.read_table(path).to_pydict(),
    "pandas": of_pandas,
    "duckdb": of_duckdb,
}
"""What reads the columns of a Parquet file."""


def edges_of(graph: nx.Graph, shift: int = 0) -> Content:
    edges = ((int(u) - shift, int(v) - shift) for u, v in graph.edges())
    return sorted(tuple(sorted(edge)) for edge in edges)


def by_networkx(folder: Path) -> Content:
    path = data_file(folder)
    if path.suffix in (".csv", ".tsv", ".txt"):
        delimiter = "," if path.suffix == ".csv" else "\t"
        lines = path.read_text().splitlines()[0 if is_remarked(folder) else 1 :]
        return edges_of(nx.parse_edgelist(lines, delimiter=delimiter, nodetype=int))
    return edges_of(nx.Graph(nx.read_graphml(path)))


def by_us(folder: Path) -> Content:
    data = gv.read_release(folder).data
    if isinstance(data, gv.Graph):
        return [tuple(edge) for edge in data.edges().tolist()]
    if isinstance(data, gv.Bipartite):
        names = data.feature_labels().tolist()
        return [(user, str(names[i])) for user in range(data.n_users) for i in data.row(user)]
    data = data if data.ids is None else data.with_ids_as("id")
    return of_frame(folder, data.columns, (row.values() for row in data.to_arrow().to_pylist()))


def by_verify(folder: Path) -> Content:
    kind, names, _ = kind_and_names(folder)
    table = {"graph": "edges", "bipartite": "entries", "table": "cells"}[kind]
    with database([folder]) as db:
        load(db, Released(folder), typed_manifest(folder).data, CHECKED_KINDS[kind])
        rows = db.rows(f"SELECT * FROM {table}")  # noqa: S608  a name of this file
    return of_frame(folder, names, rows)


def readings_of(folder: Path) -> dict[str, Content]:
    """Return what every program that reads this format sees, in the order of the file.

    What a program that refuses the file says of it stands in the place of rows.
    """
    return {name: _reading(read, folder) for name, read in readers_of(folder).items()}


def readers_of(folder: Path) -> dict[str, Callable[[Path], Content]]:
    """Return every program that reads the format of a release."""
    described = read_manifest(folder)["data"]
    kind, form = described["kind"], described["files"][0]["format"]
    readers = {"graphveil": by_us, "verify": by_verify}
    if form in DELIMITERS:
        every = (by_python, by_pandas, by_polars, by_duckdb, by_arrow)
        readers |= {read.__name__: partial(read, delimiter=DELIMITERS[form]) for read in every}
    if form == "parquet":
        readers |= {name: in_columns(read) for name, read in COLUMNS_BY.items()}
    if kind == "graph" and form in (*DELIMITERS, "graphml"):
        readers["networkx"] = by_networkx
    return readers


def _reading(read: Callable[[Path], Content], folder: Path) -> Content:
    try:
        return read(folder)
    except Exception as error:  # noqa: BLE001  programs refuse a file by raising anything
        return [(f"{type(error).__name__}: {error}",)]
