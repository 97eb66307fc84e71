"""What programs that people use read from the data file of a release, in one shape to compare.

A graph is the sorted list of its edges, users by items the list of pairs, a table that of its rows.
Each reader is told that users are integers and that items and cells are text, and no more.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.io
from pyarrow import csv as arrow_csv
from pyarrow import parquet

import graphveil as gv
from forged.kit import data_file, read_manifest
from graphveil.records.manifest import read_manifest as typed_manifest
from graphveil.verify.database import database
from graphveil.verify.files.loading import load

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


def by_python(folder: Path, delimiter: str) -> Content:
    with data_file(folder).open(newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines, delimiter=delimiter, strict=True)
    if is_remarked(folder):
        header[0] = header[0].removeprefix("# ")
    assert kind_and_names(folder)[1] == header
    return typed(rows, kind_and_names(folder)[2])


def by_pandas(folder: Path, delimiter: str) -> Content:
    _, names, types = kind_and_names(folder)
    frame = pd.read_csv(
        data_file(folder),
        sep=delimiter,
        dtype=dict(zip(names, types, strict=True)),
        keep_default_na=False,
        names=names,
        skiprows=1,
    )
    return typed(frame.itertuples(index=False, name=None), types)


def by_polars(folder: Path, delimiter: str) -> Content:
    _, names, types = kind_and_names(folder)
    schema = {name: pl.Int64 if kind is int else pl.String for name, kind in zip(names, types)}  # noqa: B905
    frame = pl.read_csv(
        data_file(folder), separator=delimiter, schema=schema, has_header=False, skip_rows=1
    )
    return typed(frame.rows(), types)


def by_duckdb(folder: Path, delimiter: str) -> Content:
    _, names, types = kind_and_names(folder)
    columns = {n: "BIGINT" if kind is int else "VARCHAR" for n, kind in zip(names, types)}  # noqa: B905
    relation = duckdb.read_csv(
        str(data_file(folder)),
        sep=delimiter,
        header=False,
        skiprows=1,
        columns=columns,
        na_values="\x01",
    )
    return typed(relation.fetchall(), types)


def by_arrow(folder: Path, delimiter: str) -> Content:
    _, names, types = kind_and_names(folder)
    kinds = {n: pa.int64() if kind is int else pa.string() for n, kind in zip(names, types)}  # noqa: B905
    table = arrow_csv.read_csv(
        data_file(folder),
        read_options=arrow_csv.ReadOptions(column_names=names, skip_rows=1),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types=kinds),
    )
    return typed(zip(*table.to_pydict().values(), strict=True), types)


def in_columns(read: Callable[[Path], dict[str, list[Any]]]) -> Callable[[Path], Content]:
    """Return a reader of Parquet from what gives its columns."""

    def rows(folder: Path) -> Content:
        _, names, types = kind_and_names(folder)
        columns = read(data_file(folder))
        assert names == list(columns)
        return typed(zip(*columns.values(), strict=True), types)

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


def edges_of(graph: nx.Graph, shift: int = 0) -> Content:
    edges = ((int(u) - shift, int(v) - shift) for u, v in graph.edges())
    return sorted(tuple(sorted(edge)) for edge in edges)


def by_networkx(folder: Path) -> Content:
    path = data_file(folder)
    if path.suffix in (".csv", ".tsv", ".txt"):
        delimiter = "," if path.suffix == ".csv" else "\t"
        lines = path.read_text().splitlines()[0 if is_remarked(folder) else 1 :]
        return edges_of(nx.parse_edgelist(lines, delimiter=delimiter, nodetype=int))
    read = {".graphml": nx.read_graphml, ".gml": nx.read_gml, ".net": nx.read_pajek}
    return edges_of(nx.Graph(read[path.suffix](path)))


def by_scipy(folder: Path) -> Content:
    matrix = scipy.io.mmread(data_file(folder)).tocoo()
    pairs = zip(matrix.row.tolist(), matrix.col.tolist(), strict=True)
    if kind_and_names(folder)[0] == "graph":
        return sorted((u, v) for u, v in pairs if u < v)
    return sorted((user, str(item)) for user, item in pairs)


def by_lines(folder: Path) -> Content:
    """Return the edges of lists of neighbours, line by line."""
    path = data_file(folder)
    head = 1 if path.suffix == ".graph" else 2
    edges = []
    for node, line in enumerate(path.read_text().splitlines()[head:]):
        cells = [int(cell) for cell in re.findall("[0-9]+", line)]
        others = [c - 1 for c in cells] if path.suffix == ".graph" else cells[1:]
        edges += [(node, other) for other in others if node < other]
    return sorted(edges)


def by_us(folder: Path) -> Content:
    data = gv.read_release(folder).data
    if isinstance(data, gv.Graph):
        return [tuple(edge) for edge in data.edges().tolist()]
    if isinstance(data, gv.Bipartite):
        names = data.feature_labels().tolist()
        return [(user, str(names[i])) for user in range(data.n_users) for i in data.row(user)]
    types = [str] * data.n_columns
    return typed((row.values() for row in data.to_arrow().to_pylist()), types)


def by_verify(folder: Path) -> Content:
    kind, _, types = kind_and_names(folder)
    table = {"graph": "edges", "bipartite": "entries", "table": "cells"}[kind]
    with database([folder]) as db:
        load(db, folder, typed_manifest(folder).data)
        rows = db.rows(f"SELECT * FROM {table}")  # noqa: S608  a name of this file
    return typed(rows, types)


def readings_of(folder: Path) -> dict[str, Content]:
    """Return what every program that reads this format sees, in the order of the file."""
    described = read_manifest(folder)["data"]
    kind, form = described["kind"], described["files"][0]["format"]
    readings = {"graphveil": by_us(folder), "verify": by_verify(folder)}
    if form in DELIMITERS:
        for read in (by_python, by_pandas, by_polars, by_duckdb, by_arrow):
            readings[read.__name__] = read(folder, DELIMITERS[form])
    if form == "parquet":
        readings["polars"] = in_columns(lambda p: pl.read_parquet(p).to_dict(as_series=False))(
            folder
        )
        readings["arrow"] = in_columns(lambda p: parquet.read_table(p).to_pydict())(folder)
        readings["pandas"] = in_columns(of_pandas)(folder)
        readings["duckdb"] = in_columns(of_duckdb)(folder)
    if kind == "graph" and form in (*DELIMITERS, "graphml", "gml", "pajek"):
        readings["networkx"] = by_networkx(folder)
    if form == "mtx":
        readings["scipy"] = by_scipy(folder)
    if form in ("metis", "nauty"):
        readings["lines"] = by_lines(folder)
    return readings
