"""Reading the data files of a release back, each as the manifest describes it."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphveil import io
from graphveil.data import Bipartite, Data, Graph, Network
from graphveil.data.ids import as_text, positions
from graphveil.data.kinds import KINDS
from graphveil.data.layers import TIES, Layer
from graphveil.data.network import ID_OF_PERSON, LAYER
from graphveil.errors import DataError, InputError, ReleaseError
from graphveil.io.questioned import EVERY_WORD
from graphveil.io.spelling import ids_listed
from graphveil.lazy import lazy_module
from graphveil.records import parts
from graphveil.records.manifest import ID_COLUMN, Described, DescribedLayer
from graphveil.release.files import SUPPRESSED_TEXTS

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")

_SEPARATORS = {"csv": ",", "tsv": "tab"}
"""What separates the cells of a table: said to the reader, since one column does not show it."""

_COLUMN_ENDS = {"csv": ",", "tsv": "\t"}
"""The text formats of a release, and what stands between their columns."""


def read_data(folder: Path, described: Described, *, keyed: bool = False) -> Data:
    """Return the data that a manifest describes.

    Parameters
    ----------
    folder, described
        Where the files lie, and what they are.
    keyed
        Whether ids come from a key: then a table has a column of them.

    Raises
    ------
    InputError
        Where a file is missing or cannot be read.
    ReleaseError
        Where the manifest lists no data file, one outside the folder, or parts of other data than
        users by features.
    """
    data_file = next((file for file in described.files if file.role == "data"), None)
    if data_file is None:
        raise ReleaseError(f"{folder}: the manifest lists no data file. Take the file as written.")
    for file in described.files:
        plain = file.name not in {"", ".", ".."} and Path(file.name).name == file.name
        if not (plain or parts.is_part(file.name)):
            raise ReleaseError(
                f"{folder}: the manifest lists {file.name!r}, which is no name of a file in the "
                "folder. Take the file as written."
            )
    if parts.in_parts(described.files):
        return _rows_in_parts(folder, described)
    path = folder / data_file.name
    companion = next((folder / f.name for f in described.files if f.role != "data"), None)
    kind = KINDS[described.kind]
    if kind.container is Graph and companion is not None:
        graph = _graph_in_its_form(path, companion, data_file.format)
        if graph is not None:
            return graph
    if kind.container is Network and companion is not None:
        return _network(path, companion, described)
    if kind.everyone is not None:
        listed: dict[str, Any] = {"format": data_file.format, kind.everyone: companion}
        options = io.options_of(kind)(**listed)
        data: Data = io.load(path, options).data
        return data.without_unused()
    separator = _SEPARATORS.get(data_file.format)
    ids = ID_COLUMN if keyed else None
    options = io.TableOptions(
        format=data_file.format,
        header="yes",
        delimiter=separator,
        ids=ids,
        categories=EVERY_WORD,  # the owner was asked
    )
    table = io.load_table(path, options).data
    if table.ids is None:
        return table
    return dataclasses.replace(table, ids=ids_listed(as_text(table.ids).tolist()))


def _rows_in_parts(folder: Path, described: Described) -> Data:
    """Return users by features from the parts of a release."""
    from graphveil.io.parquet_files import read_parquet  # noqa: PLC0415  help needs no Arrow

    if KINDS[described.kind].container is not Bipartite:
        raise ReleaseError(
            f"{folder}: a {described.kind} does not come in parts. Take the folder as written."
        )
    tables = []
    for file in described.files:
        try:
            tables.append(read_parquet(folder / file.name, parts.COLUMNS).select(parts.COLUMNS))
        except FileNotFoundError as error:
            raise InputError(f"{file.name} is missing. Take the folder as written.") from error
        except (pa.ArrowException, OSError, KeyError) as error:
            raise InputError(
                f"{file.name}: no part of a release ({error}). Take the folder as written."
            ) from error
    try:
        rows = pa.concat_tables(tables)
        long = pa.large_string() if pa.types.is_string(_leaf(rows)) else _leaf(rows)
        lists = rows["items"].cast(pa.large_list(long))
        return Bipartite.from_lists(lists, users=rows["user"]).without_unused()
    except (pa.ArrowException, AttributeError, DataError) as error:
        raise InputError(f"{parts.FOLDER}: {error}. Take the folder as written.") from error


def _leaf(rows: pa.Table) -> pa.DataType:
    """Return what lists hold."""
    return rows.schema.field("items").type.value_type


def _network(path: Path, people: Path, described: Described) -> Network:
    """Return a network from the two files of a release."""
    layers = described.layers or [DescribedLayer(name=TIES, directed=False)]
    several = len(layers) > 1
    form = next(file.format for file in described.files if file.role == "data")
    options = io.NetworkOptions(
        format=form,
        header="yes",
        nodes=people,
        node_column=ID_OF_PERSON,
        kind_column=LAYER if several else None,
        directed="keep" if several or layers[0].directed else "symmetrize",
        categories=EVERY_WORD,  # the owner was asked
        suppressed=SUPPRESSED_TEXTS,
    )
    network = io.load_network(path, options).data
    read = tuple(_layer(network, layer, alone=not several) for layer in layers)
    return Network(read, network.people, network.ids).without_unused()


def _layer(network: Network, said: DescribedLayer, *, alone: bool) -> Layer:
    """Return a layer of a release, which may have lost all its ties."""
    read = [layer for layer in network.layers if alone or layer.name == said.name]
    if alone:
        return dataclasses.replace(read[0], name=said.name)
    n = network.n_nodes
    source, target = read[0].ties() if read else (np.empty(0, np.int32), np.empty(0, np.int32))
    if said.directed:
        return Layer.from_arcs(source, target, n=n, name=said.name)
    graph = Graph.from_edges(source, target, n=n, directed="symmetrize")
    return Layer.of(graph, name=said.name)


def _graph_in_its_form(path: Path, nodes: Path, form: str) -> Graph | None:
    """Return a graph from files in the one form of a release; None where they are not in it.

    The readers of `graphveil.io` read those, or say what is wrong with them.
    """
    from graphveil.io.parquet_files import read_parquet  # noqa: PLC0415  help needs no Arrow

    columns = KINDS["graph"].columns
    try:
        separator = _COLUMN_ENDS.get(form)
        edges = read_parquet(path) if separator is None else _numbers(path, columns, separator)
        ids = _numbers(nodes, ("node",), ",").column(0).to_numpy()
        numbers = all(pa.types.is_integer(field.type) for field in edges.schema)
        if tuple(edges.column_names) != columns or not numbers or (np.diff(ids) <= 0).any():
            return None
        ends = (positions(column.to_numpy(), ids, what="ids") for column in edges.columns)
        graph, dropped = Graph.assemble(*ends, ids=ids)
    except (pa.ArrowException, OSError, InputError, ValueError):
        return None
    return None if any(dropped) else graph


def _numbers(path: Path, names: tuple[str, ...], separator: str) -> pa.Table:
    """Return columns of whole numbers from text that has these names above them, and no others."""
    from pyarrow import csv  # noqa: PLC0415  heavy, and only text needs it

    return csv.read_csv(
        pa.OSFile(os.fsencode(path)),
        parse_options=csv.ParseOptions(delimiter=separator, quote_char=False),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.int64()), include_columns=names, null_values=[]
        ),
    )
