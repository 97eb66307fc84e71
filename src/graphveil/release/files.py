"""The files of a release: its data, their format and what may stand in them, and its owner's.

Data is read back as the manifest describes it. The owner's part holds which released id is which
original one, levels with chosen pairs, cost and seed.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil import io
from graphveil.claims import parts
from graphveil.claims.facts import cells_by_column, digest_of_file
from graphveil.claims.ledger import LedgerReceipt
from graphveil.claims.manifest import (
    ID_COLUMN,
    LEVELS_COLUMNS,
    LEVELS_ROLE,
    DataFile,
    Described,
    DescribedLayer,
    Generalization,
    LevelNode,
)
from graphveil.claims.record import (
    LEVELS,
    LINKAGE,
    WITNESS,
    OwnersNotes,
    linkage_files,
    private_folder,
)
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import DataError, InputError, ReleaseError, UsageError
from graphveil.core.hints import one_of, option
from graphveil.core.libraries import pa, parquet
from graphveil.core.version import __version__
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.ids import Ids, as_ids, as_text, positions, to_arrow
from graphveil.data.kinds import KINDS, Kind, kind_of
from graphveil.data.layers import TIES, Layer
from graphveil.data.network import ID_OF_PERSON, LAYER
from graphveil.io.formats import COMPRESSIONS, FORMATS, Format, compression_of
from graphveil.io.parsed import EVERY_WORD, ids_listed
from graphveil.io.writing import SEPARATORS, formulas, read_as_dates, refuse_separators

DELIMITED = {"csv", "tsv", "text"}

LEVELS_FILE = f"{LEVELS_ROLE}.csv"

NETWORK_FORMS = ("csv", "tsv", "parquet")
"""What the edges of a network are released as: its people stand in a file of their own."""

TABULAR = {*DELIMITED, "parquet"}
"""The formats whose files have named columns."""

SUPPRESSED_TEXTS = ("*", "")
"""What readers of tables take for suppressed cells."""

_BROKEN = re.compile(f"[\n\r\0{SEPARATORS}]")
_MISREAD = re.compile(rf'["\n\r\0{SEPARATORS}]|^[\s\ufeff]|\s$|[\t,;#%].*\\$')
"""Names of columns that some programs read from text as others."""


def release_format(name: str, kind: str) -> Format:
    """Return the format of a release that a name asks for."""
    base, dot, compression = name.partition(".")
    if dot and f".{compression}" not in COMPRESSIONS:
        raise InputError(f"{name!r} is not a format of a release. {one_of(name, _released(kind))}")
    entry = io.format_of("data", base)
    entry.writer(kind)
    if kind == "network" and base not in NETWORK_FORMS:
        raise InputError(
            f"a network cannot be released as {base}. {one_of(base, NETWORK_FORMS)} To get a "
            "copy in another format, use graphveil convert."
        )
    if dot or entry.released_as:
        raise InputError(
            f"{name} is not a format of a release: it has no canonical form that verify can "
            f"compare. Use {entry.released_as or base}, and make a copy with graphveil convert."
        )
    return entry


def _released(kind: str) -> list[str]:
    """Return the formats of a release of this kind of data."""
    every = io.FORMATS.values()
    return [entry.name for entry in every if kind in entry.kinds and not entry.released_as]


def check_names(data: Data, form: Format) -> None:
    """Refuse a format of a release that cannot hold the names or values that may be published."""
    rows = data.people
    if rows is not None:
        # what is said of nodes is in text, whatever the format of edges
        form = form if rows is data else FORMATS["csv"]
        check_categories(rows, form)
        check_columns(rows.columns, form)
    if data.features is not None and data.items != "people":
        check_items(to_arrow(data.features), form)


def check_categories(table: Table, form: Format) -> None:
    """Refuse a table with a value that readers of its release take for something else.

    No format of a release has values that read as suppressed cells, not even one in which those are
    null; text has none with a line break, and none that ends in a backslash where it is quoted.
    """
    used = table.without_unused().categories
    for name, values in zip(table.columns, used, strict=True):
        for mark in SUPPRESSED_TEXTS:
            if values.dtype.kind != "i" and mark in values:
                raise InputError(
                    f"column {name}: the category {mark!r} would be read as a suppressed cell "
                    "in a release. Rename it, or declare it as a text for suppressed cells "
                    f"({option('suppressed')})."
                )
        broken = next(filter(_BROKEN.search, map(str, values)), None)
        if broken and form.name in DELIMITED:
            raise InputError(
                f"column {name}: the category {broken!r} contains a line break or a NUL, which "
                f"programs read differently from {form.name}. Use {option('format', 'parquet')}."
            )
    if form.name in DELIMITED:
        refuse_separators((), (map(str, v) for v in used if v.dtype.kind != "i"), form.name)


def check_columns(names: Sequence[str], form: Format) -> None:
    """Refuse names of columns that programs read in different ways.

    Some take names for one that differ in capitals alone, and give one that is empty another.
    In text some strip blanks, read quotes as they are written, or miss what stands before the rest.
    """
    for number, name in enumerate(names):
        others = {other.lower() for other in names[:number]}
        if not name or name.lower() in others:
            raise InputError(
                f"some programs misread the column {name!r} of a release: its name is empty, or "
                "differs from an earlier one only in capitalization. Rename it."
            )
        if form.name in DELIMITED and _MISREAD.search(name):
            raise InputError(
                f"some programs misread the column name {name!r} in a {form.name} file: it "
                "contains a quote or a line break, begins or ends with a blank, or is quoted "
                f"and ends in a backslash. Rename it, or use {option('format', 'parquet')}."
            )


def formulas_in(
    data: Data,
    format: str,  # noqa: A002  the users' word
    generalized: Generalization | None = None,
) -> tuple[str, ...]:
    """Return what a writer warns of in these data: what a spreadsheet misreads.

    It runs some names as formulas, and takes some intervals of a generalized table for dates.

    >>> likes = Bipartite.from_pairs([0, 1], ["=1+1", "tea"])
    >>> formulas_in(likes, "csv")[0].partition(" with")[0], formulas_in(likes, "parquet")
    ('1 name begins', ())
    """
    if format not in DELIMITED:
        return ()
    rows = data.people
    listed = [data.features] if rows is None else rows.categories
    texts = [x.tolist() for x in listed if x is not None and x.dtype.kind != "i"]
    found = formulas(() if rows is None else rows.columns, texts)
    if generalized is None or rows is None:
        return found
    published = zip(rows.columns, rows.without_unused().categories, strict=True)
    above = generalized.above_values
    nodes = [
        str(text)
        for name, values in published
        for text in values.tolist()
        if (name, str(text)) in above
    ]
    return (*found, *read_as_dates(nodes))


def check_items(names: pa.Array, form: Format) -> None:
    """Refuse a format that cannot hold the names of some items, whichever are published."""
    if form.name in DELIMITED and not pa.types.is_integer(names.type):
        from graphveil.io.readers.delimited import check_texts  # noqa: PLC0415  heavy, and graphs need none

        check_texts(names, form)


def format_that_came_in(path: Path, override: str | None, kind: str = "graph") -> str:
    """Return the format of a release whose input is this file: its own, or the one next to it.

    >>> format_that_came_in(Path("friends.csv.gz"), None), format_that_came_in(Path("a.npz"), None)
    ('csv', 'csv')
    """
    entry = io.format_of(path, override)
    form = entry.released_as or entry.name
    return "csv" if kind == "network" and form not in NETWORK_FORMS else form


def note_on_format(path: Path, override: str | None, kind: str = "graph") -> str | None:
    """Return what to say where a release does not come in the format of its input.

    >>> note_on_format(Path("friends.npz"), None)
    'the release is written as csv: npz is not a format for a release'
    """
    entry = io.format_of(path, override)
    packed = entry.compressible and compression_of(path)
    form = format_that_came_in(path, override, kind)
    if not packed and form == entry.name:
        return None
    what = "release of a network" if form != (entry.released_as or entry.name) else "release"
    return f"the release is written as {form}: {packed or entry.name} is not a format for a {what}"


def write_data(
    data: Data,
    folder: Path,
    format: str,  # noqa: A002  the users' word
    generalized: Generalization | None = None,
) -> Described:
    """Write the data files into a folder and return their description for the manifest."""
    kind = kind_of(data)
    entry = release_format(format, kind.name)
    data = _with_its_ids(data, kind, entry)
    path = folder / f"data{entry.extensions[0]}"
    role = None if entry.keeps_isolated else kind.everyone
    everyone = None if role is None else folder / f"{role}.csv"
    if data.features is None:  # names of items were checked before the run
        check_names(data, entry)
    exact = generalized is not None
    io.write(data, path, format=entry.name, ids_path=everyone, exact=exact)
    columns = getattr(data, "columns_of_ties", kind.columns or getattr(data, "columns", ()))
    names = list(columns) if entry.name in TABULAR else []
    files = [described_file(path, "data", entry.name, names, kind.amount(data))]
    if everyone is not None and role is not None:
        listed = [kind.people.removesuffix("s"), *data.attributes]
        files.append(described_file(everyone, role, "csv", listed, data.size))
    if generalized is not None and generalized.nodes:
        files.append(_write_levels(generalized, folder))
    return Described(
        kind=kind.name,
        files=files,
        counts=kind.counts(data),
        suppressed_cells=kind.suppressed_cells,
        layers=[DescribedLayer(name=one.name, directed=one.directed) for one in data.layers]
        if type(data) is Network
        else msgspec.UNSET,
        columns=msgspec.UNSET if generalized is None else list(generalized.columns),
        cells=cells_by_column(data, generalized) if isinstance(data, Table) else msgspec.UNSET,
    )


def _node(column: Any, level: Any, node: Any, parent: Any, leaves: Any) -> LevelNode:
    """Return a node from its cells, of which ``*`` was read as none."""
    own, above = ("*" if text is None else str(text) for text in (node, parent))
    return LevelNode(str(column), int(level), own, above, None if leaves is None else int(leaves))


def _write_levels(generalized: Generalization, folder: Path) -> DataFile:
    """Write the file of levels, and return its description."""
    path, nodes = folder / LEVELS_FILE, generalized.nodes
    cells = zip(*nodes, strict=True) if nodes else ([] for _ in LEVELS_COLUMNS)
    texts = ([None if cell is None else str(cell) for cell in column] for column in cells)
    table = Table.from_columns(dict(zip(LEVELS_COLUMNS, texts, strict=True)), suppressed=("*",))
    check_names(table, FORMATS["csv"])
    io.write(table, path, format="csv", exact=True)
    return described_file(path, LEVELS_ROLE, "csv", LEVELS_COLUMNS, len(nodes))


def read_generalization(folder: Path, described: Described) -> Generalization | None:
    """Return what a manifest and the file of levels say of a generalized table; None of others."""
    if described.columns is msgspec.UNSET:
        return None
    if all(column.levels is None for column in described.columns):
        return Generalization(tuple(described.columns), ())
    options = io.TableOptions(header="yes", delimiter=",", categories=EVERY_WORD, exact=True)
    rows = io.load_table(folder / LEVELS_FILE, options, released=True).data.to_arrow().to_pylist()
    try:
        nodes = tuple(_node(*(row.get(name) for name in LEVELS_COLUMNS)) for row in rows)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{LEVELS_FILE} does not list levels. Restore the folder as it was published."
        ) from error
    return Generalization(tuple(described.columns), nodes)


def is_data_file(name: str) -> bool:
    """Whether a release may have a data file of this name, whatever its kind and format.

    >>> is_data_file("data.csv"), is_data_file("users.csv"), is_data_file("friends.csv")
    (True, True, False)
    """
    lists = {f"{kind.everyone}.csv" for kind in KINDS.values() if kind.everyone}
    forms = io.FORMATS.values()
    return name in lists | {LEVELS_FILE} | {
        f"data{end}" for form in forms for end in form.extensions
    }


def _with_its_ids(data: Data, kind: Kind, entry: Format) -> Data:
    """Return the data as it is written: ids that are not 0..n-1 need a place in the file."""
    if getattr(data, kind.ids) is None:
        return data
    if entry.name not in TABULAR:
        raise InputError(
            f"{entry.name} does not support ids computed from a key. Use csv, tsv or parquet."
        )
    return data if kind.everyone else cast("Table", data).with_ids_as(ID_COLUMN)


def described_file(
    path: Path,
    role: str,
    format: str,  # noqa: A002  the users' word
    columns: list[str],
    rows: int,
) -> DataFile:
    """Return the manifest's entry of a file that has been written, with its digest."""
    return DataFile(
        name=path.name,
        role=role,
        format=format,
        columns=columns,
        rows=rows,
        bytes=path.stat().st_size,
        sha256=digest_of_file(path),
    )


_SEPARATORS = {"csv": ",", "tsv": "tab"}
"""What separates the cells of a table: said to the reader, since one column does not show it."""

_COLUMN_ENDS = {"csv": ",", "tsv": "\t"}
"""The text formats of a release, and what stands between their columns."""


def read_data(folder: Path, described: Described, *, keyed: bool = False) -> Data:
    """Return the data that a manifest describes."""
    data_file = next((file for file in described.files if file.role == "data"), None)
    if data_file is None:
        raise ReleaseError(
            f"{folder}: the manifest lists no data file. Restore the manifest as it was published."
        )
    for file in described.files:
        plain = file.name not in {"", ".", ".."} and Path(file.name).name == file.name
        if not (plain or parts.is_part(file.name)):
            raise ReleaseError(
                f"{folder}: the manifest lists {file.name!r}, which is not a valid name of a "
                "file in the folder. Restore the manifest as it was published."
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
        exact=described.columns is not msgspec.UNSET,
    )
    table = io.load_table(path, options, released=True).data
    if table.ids is None:
        return table
    return dataclasses.replace(table, ids=ids_listed(as_text(table.ids).tolist()))


def _rows_in_parts(folder: Path, described: Described) -> Data:
    """Return users by features from the parts of a release."""
    from graphveil.io.readers.columnar import read_parquet  # noqa: PLC0415  help needs no Arrow

    if KINDS[described.kind].container is not Bipartite:
        raise ReleaseError(
            f"{folder}: data of kind {described.kind} cannot be in parts. Restore the folder as "
            "it was published."
        )
    tables = []
    for file in described.files:
        try:
            tables.append(read_parquet(folder / file.name, parts.COLUMNS).select(parts.COLUMNS))
        except FileNotFoundError as error:
            raise InputError(
                f"{file.name} is missing. Restore the folder as it was published."
            ) from error
        except (pa.ArrowException, OSError, KeyError) as error:
            raise InputError(
                f"{file.name} is not a valid part of a release ({error}). Restore the folder as "
                "it was published."
            ) from error
    try:
        rows = pa.concat_tables(tables)
        long = pa.large_string() if pa.types.is_string(_leaf(rows)) else _leaf(rows)
        lists = rows["items"].cast(pa.large_list(long))
        return Bipartite.from_lists(lists, users=rows["user"]).without_unused()
    except (pa.ArrowException, AttributeError, DataError) as error:
        raise InputError(
            f"{parts.FOLDER}: {error}. Restore the folder as it was published."
        ) from error


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
    """Return a layer of a release, which may have lost all its edges."""
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
    from graphveil.io.readers.columnar import read_parquet  # noqa: PLC0415  help needs no Arrow

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


COLUMNS = ["original", "released"]


class Linkage(NamedTuple):
    """Which released id stands for which original one: private."""

    original: Ids
    released: NDArray[np.int64]

    def positions_of(self, originals: Ids, released: Ids) -> NDArray[np.int64]:
        """Return the position of each of the original ids among the released ones.

        >>> linkage = Linkage(np.array([7, 8]), np.array([1, 0]))
        >>> linkage.positions_of(np.array([8, 7]), np.array([0, 1])).tolist()
        [0, 1]
        """
        rows = positions(originals, self.original, what="linkage")
        new_positions = positions(self.released[rows], released, what="linkage")
        if np.unique(new_positions).size != originals.size:
            raise UsageError(
                "the linkage names a published id twice. Restore the file as anonymize wrote it."
            )
        return new_positions.astype(np.int64)

    def table(self) -> pa.Table:
        """Return the columns `COLUMNS`, a row for every id."""
        return pa.table([to_arrow(self.original), pa.array(self.released)], names=COLUMNS)


def read_linkage(folder: Path) -> Linkage | None:
    """Return the linkage next to a release folder, or None where it was not kept."""
    files = linkage_files(private_folder(folder))
    tables = [read_owners(file, COLUMNS, "a linkage") for file in files]
    if not tables:
        return None
    table = pa.concat_tables(tables)
    if files[0].name != LINKAGE:
        table = table.sort_by("original")
    return Linkage(
        as_ids(table["original"], what="original"), as_ids(table["released"], what="released")
    )


def write_owners(tables: Iterable[pa.Table], path: Path) -> None:
    """Write tables of the same columns, one at least, into a file for its owner alone."""
    path.touch(mode=OWNER_ONLY)
    waiting = iter(tables)
    first = next(waiting)
    with path.open("wb") as stream, parquet.ParquetWriter(stream, first.schema) as writer:
        writer.write_table(first)
        for table in waiting:
            writer.write_table(table)


def read_owners(path: Path, columns: list[str], what: str) -> pa.Table | None:
    """Return these columns of a file of the private folder, or None where there is none."""
    if not path.is_file():
        return None
    try:
        from graphveil.io.readers.columnar import read_parquet  # noqa: PLC0415  heavy, as pyarrow is

        return read_parquet(path, columns).select(columns)
    except (pa.ArrowInvalid, OSError, KeyError) as error:
        raise ReleaseError(
            f"{path} is not {what}. Restore the file as anonymize wrote it."
        ) from error


LEVEL_COLUMNS = ["original", "level"]
WITNESS_COLUMNS = ["record", "person"]
PART = 1 << 20
"""So many pairs are written at a time."""


class OwnersLevels(NamedTuple):
    """The level of every person: private."""

    original: Ids
    level: NDArray[np.int64]

    def table(self) -> pa.Table:
        """Return the columns `LEVEL_COLUMNS`, a row for every person."""
        return pa.table([to_arrow(self.original), pa.array(self.level)], names=LEVEL_COLUMNS)


class Witness(NamedTuple):
    """Which persons a record was chosen to fit, by positions of the input: private."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    def tables(self, linkage: Linkage) -> Iterator[pa.Table]:
        """Yield the columns `WITNESS_COLUMNS`: records by released id in order, persons by own id.

        >>> linkage = Linkage(np.array([7, 8]), np.array([1, 0]))
        >>> pairs = Witness(np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32))
        >>> next(pairs.tables(linkage)).to_pydict()
        {'record': [0, 1, 1], 'person': [8, 7, 8]}
        """
        order = np.argsort(linkage.released, kind="stable")
        sizes = np.diff(self.indptr)[order]
        ends = np.cumsum(sizes)
        for low in range(0, int(sizes.sum()) or 1, PART):
            pairs = np.arange(low, min(low + PART, int(sizes.sum())))
            records = np.searchsorted(ends, pairs, side="right")
            rows = order[records]
            within = pairs - (ends - sizes)[records]
            persons = linkage.original[self.indices[self.indptr[rows] + within]]
            columns = [pa.array(linkage.released[rows]), to_arrow(persons)]
            yield pa.table(columns, names=WITNESS_COLUMNS)


def read_levels(folder: Path) -> OwnersLevels | None:
    """Return the levels next to a release folder, or None where there are none."""
    table = read_owners(private_folder(folder) / LEVELS, LEVEL_COLUMNS, "a file of levels")
    if table is None:
        return None
    return OwnersLevels(
        as_ids(table["original"], what="original"), as_ids(table["level"], what="level")
    )


def read_witness(folder: Path, linkage: Linkage | None) -> Witness | None:
    """Return the chosen pairs next to a release folder, or None where they were not kept."""
    if linkage is None:
        return None
    table = read_owners(private_folder(folder) / WITNESS, WITNESS_COLUMNS, "a file of pairs")
    if table is None:
        return None
    released = as_ids(table["record"], what="record")
    records = positions(released, linkage.released, what="linkage")
    persons = positions(as_ids(table["person"], what="person"), linkage.original, what="linkage")
    indptr = np.zeros(linkage.released.size + 1, dtype=np.int64)
    np.cumsum(np.bincount(records, minlength=linkage.released.size), out=indptr[1:])
    return Witness(indptr, persons[np.argsort(records, kind="stable")].astype(np.int32))


TOOL = "graphveil"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a release comes from, as far as the public may know."""

    method: str
    source: str
    limits: str
    parameters: Mapping[str, Any]
    tool: str = TOOL
    version: str = __version__


class Private(OwnersNotes, frozen=True, kw_only=True, eq=False):
    """What only the owner may see: the notes of the record, and the owner's files.

    Its repr shows figures alone: no seed, no id, no digest.

    Parameters
    ----------
    linkage
        Which released id is which original one; None where it was not kept.
    levels, witness
        The level of each person, and the pairs that an adaptive release was chosen by.
    spent
        What was entered in the ledger of epsilons; None without one.
    """

    linkage: Linkage | None = None
    levels: OwnersLevels | None = None
    witness: Witness | None = None
    spent: LedgerReceipt | None = None

    def __repr__(self) -> str:
        """Return the figures that reveal no person and no secret."""
        shown = ("cost", "warnings", "seconds", "unrecorded", "nested_in", "spent")
        return f"Private({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def input_digests(self) -> frozenset[str]:
        """The digests by which another release of the input is recognized."""
        return frozenset((self.input_sha256, *self.origins_sha256))
