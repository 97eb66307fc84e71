"""Read a file into a container, with a report that counts everything that was dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from graphveil.core.errors import InputError
from graphveil.core.hints import did_you_mean, one_of, option
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.columns import Ties
from graphveil.data.csr import Dropped, neighbor_lists, sorted_lists
from graphveil.data.id_columns import naming_columns
from graphveil.data.ids import Ids, to_arrow
from graphveil.data.kinds import KINDS, kind_of
from graphveil.data.origin import LISTS, FileOrigin, PublicLists, read_from
from graphveil.data.spellings import spelled_columns
from graphveil.io.formats import (
    AnyOptions,
    BipartiteOptions,
    GraphOptions,
    NetworkOptions,
    TableOptions,
    kind_read,
    options_of,
)
from graphveil.io.opening import ReadTies, over_all_nodes, over_listed, source_of
from graphveil.io.parsed import (
    ParsedArcs,
    ParsedPairs,
    ReadCounts,
    many_numbers,
    may_be_missing,
    note_look_alikes,
    table_of,
    totals_among,
)
from graphveil.io.reading_report import D, Reading, ReadingReport, warn_of_dropped
from graphveil.io.source import Source


def load_network(path: str | Path, options: GraphOptions | None = None) -> Reading[Any]:
    """Return the network in a file, and the report of what was dropped on the way.

    Parameters
    ----------
    path
        The file of edges, or a folder of its parts.
    options
        How it is read; the defaults of `NetworkOptions` if not given. `GraphOptions` give a graph.

    Returns
    -------
    Reading
        The network or graph, and the report.

    Raises
    ------
    InputError
        If the file cannot be read so, or has fewer than two nodes.

    Notes ----- Time is that of parsing and of sorting the edges: O(m log m). The arcs that were
    parsed are freed before the lists are complete.

    Notes
    -----
    Sorting the edges takes O(m log m); parsing is linear in the size of the file.

    Examples
    --------
    >>> from graphveil.io import datasets
    >>> network = load_network(datasets.path_of("copenhagen-calls")).data
    >>> network.n_nodes, network.n_ties
    (536, 621)
    """
    options = options or NetworkOptions()
    source = source_of(path, options.format, options.header, options.encoding)
    arcs: ParsedArcs = source.format.reader(kind_read(options).name)(source, options)
    notes = arcs.notes
    notes.rows = notes.rows or arcs.source.size
    notes.maybe_missing = may_be_missing(arcs.labels, arcs.source, arcs.target)
    notes.total = totals_among(arcs.labels, arcs.source, arcs.target)
    n_read = arcs.labels.size
    if isinstance(options, NetworkOptions):
        from graphveil.io.network import network_of  # noqa: PLC0415  heavy: not for help

        network, dropped, symmetrized = network_of(source, arcs, options)
    else:
        network, dropped, symmetrized = _graph_of(source, arcs, options)
    unlike = unlike_declared(notes, n_read, network.n_nodes, dropped)
    if network.n_nodes == 0:
        source.refuse("the file has no rows. Give a file with rows.")
    if network.n_nodes < 2:
        kind = kind_of(network).name
        source.refuse(f"{network.n_nodes} node, but a {kind} needs two. Give more rows.")
    return _reported(
        source,
        network,
        notes,
        [options.nodes] if isinstance(options, NetworkOptions) else [],
        unlike=unlike,
        self_loops=dropped.self_loops,
        duplicates=dropped.duplicates,
        reciprocal_pairs=0 if arcs.twice else dropped.reciprocal_pairs,
        symmetrized=symmetrized,
        isolated=int(np.count_nonzero(network.profiles().sum(axis=1) == 0)),
    )


def _reported(
    source: Source, data: Any, notes: ReadCounts, beside: Sequence[Path | None] = (), **counts: Any
) -> Reading[Any]:
    """Return data with the files that it was read from, and the report."""
    _check_spellings(source, data, notes)
    files = [*(part.path for part in source.parts), *filter(None, beside)]
    report = ReadingReport(
        kind=kind_of(data).words,
        format=source.format.name,
        compression=source.compression,
        parts=len(source.parts),
        **counts,
        **notes.reported(),
    )
    return Reading(read_from(data, *map(FileOrigin.of, files)), report)


def _check_spellings(source: Source, data: Data, notes: ReadCounts) -> None:
    """Refuse ids that look the same, and note values of columns that may be one."""
    # The ids of edges and pairs in text were checked as they were read.
    if source.format.module != "delimited" or not isinstance(data, Graph | Bipartite):
        lists = (data.users, data.features) if isinstance(data, Bipartite) else (data.ids,)
        for ids in lists:
            if ids is not None and ids.dtype.kind != "i":
                note_look_alikes(source, to_arrow(ids), notes)
    # The columns of a table, or of the nodes of a network.
    rows = data.people
    if rows is not None:
        notes.spelled_twice = tuple(spelled_columns(rows.columns, rows.categories))


def load_graph(path: str | Path, options: GraphOptions | None = None) -> Reading[Graph]:
    """Return the graph in a file, and the report of what was dropped on the way.

    Parameters
    ----------
    path
        The file of edges, or a folder of its parts.
    options
        How it is read; the defaults of `GraphOptions` if not given.

    Returns
    -------
    Reading
        The graph, and the report.

    Raises
    ------
    InputError
        As `load_network`.

    Examples
    --------
    >>> from graphveil.io import datasets
    >>> load_graph(datasets.path_of("copenhagen-calls")).report.rows
    621
    """
    return load_network(path, options or GraphOptions())


def unlike_declared(notes: ReadCounts, n_read: int, n_nodes: int, dropped: Dropped) -> str:
    """Return how the numbers that a file declares differ from those of what was read."""
    loops, duplicates, both_ways = dropped
    once = notes.rows - duplicates - both_ways
    edges = [notes.rows, notes.rows - loops, once, once - loops, notes.rows - duplicates]
    return notes.unlike({"nodes": [n_read, n_nodes], "edges": edges})


def _graph_of(source: Source, arcs: ParsedArcs, options: GraphOptions) -> ReadTies:
    """Return the graph of arcs, which are gone afterwards: they take more memory than it."""
    if options.nodes is not None:
        arcs = over_all_nodes(source, arcs, options.nodes)
    lists, dropped = neighbor_lists(arcs.take_ends(), arcs.labels.size)
    public: PublicLists = () if options.nodes is None else ("people",)
    graph = Graph(*lists, arcs.labels, arcs.notes.left_out, public_lists=public)
    ties = Ties(graph.n_edges, dropped.reciprocal_pairs, arcs.directed, arcs.names)
    if ties.matter and options.directed != "symmetrize":
        say = f" If its rows are users and its columns items, use {option('kind', 'bipartite')}."
        source.refuse(ties.refusal + (say if source.format.module == "matrix" else ""))
    return ReadTies(graph, dropped, ties.n - ties.mutual if ties.matter else 0)


def load_bipartite(path: str | Path, options: BipartiteOptions | None = None) -> Reading[Bipartite]:
    """Return the users and items in a file, and the report of what was dropped on the way.

    Parameters
    ----------
    path
        The file, or a folder of its parts.
    options
        How it is read; the defaults of `BipartiteOptions` if not given.

    Returns
    -------
    Reading
        The data, and the report.

    Raises
    ------
    InputError
        If the file cannot be read so, or has no users.

    Examples
    --------
    >>> from graphveil.io import datasets
    >>> load_bipartite(datasets.path_of("spect-heart")).report.kind
    'user-item data'
    """
    options = options or BipartiteOptions()
    source = source_of(path, options.format, options.header, options.encoding)
    pairs: ParsedPairs = source.format.reader("bipartite")(source, options)
    found = may_be_missing(pairs.users, pairs.user), may_be_missing(pairs.items, pairs.item)
    pairs.notes.maybe_missing = ", ".join(filter(None, found))
    if options.users is not None:
        position, pairs.users = over_listed(source, pairs.users, options.users)
        pairs.user, pairs.notes.nameless = position[pairs.user], False
    if options.item_list is not None:
        position, pairs.items = over_listed(source, pairs.items, options.item_list)
        pairs.item = position[pairs.item]
    lists = sorted_lists(pairs.user, pairs.item, pairs.users.size)
    duplicates = int(pairs.user.size - lists.indices.size)
    # where users are numbers of lines, and items are named, these may be such numbers
    named_items = pairs.notes.nameless and source.format.text_ids
    files = zip(LISTS, (options.users, options.item_list), strict=True)
    named = Bipartite(
        *lists,
        pairs.items.size,
        None if pairs.notes.nameless else pairs.users,
        pairs.items if named_items or not _is_plain(pairs.items) else None,
        left_out=pairs.notes.left_out,
        public_lists=tuple(one for one, file in files if file is not None),
    )
    if options.items is not None:
        named = named.with_items(options.items)
    if named.n_users == 0:
        source.refuse("no users found. The file needs at least one row.")
    pairs.notes.rows = pairs.notes.rows or pairs.user.size
    entries = [pairs.notes.rows, named.n_entries]
    sizes = {"users": [named.n_users], "items": [named.n_features], "entries": entries}
    unlike = pairs.notes.unlike(sizes)
    isolated = int(np.count_nonzero(np.diff(named.indptr) == 0))
    notes = pairs.notes
    return _reported(source, named, notes, unlike=unlike, duplicates=duplicates, isolated=isolated)


def load_table(
    path: str | Path, options: TableOptions | None = None, *, released: bool = False
) -> Reading[Table]:
    """Return the table in a file, and the report of what was changed on the way.

    Parameters
    ----------
    path
        The file, or a folder of its parts.
    options
        How it is read; the defaults of `TableOptions` if not given.
    released
        Whether it is a file of a release: its manifest says what a row is, so that nobody is asked.

    Returns
    -------
    Reading
        The table, and the report.

    Raises
    ------
    InputError
        If the file cannot be read so.
    DataError
        If columns raise questions: the message has all of them, and the options that answer them.

    Examples
    --------
    >>> from graphveil.io import datasets
    >>> options = TableOptions(categories=datasets.DATASETS["adult-sample"].categories)
    >>> load_table(datasets.path_of("adult-sample"), options).data.n_rows > 1_000
    True
    """
    options = options or TableOptions()
    source = source_of(
        path, options.format, "no" if options.header == "no" else "yes", options.encoding
    )
    cells = source.format.reader("table")(source, options)
    table = table_of(f"{source.name}: ", cells, options, released=released)
    cells.notes.suppressed_cells = table.n_suppressed
    cells.notes.empty_rows = int(np.count_nonzero((table.codes < 0).all(axis=1)))
    if not options.exact:  # else levels group them, and the method asks for these
        cells.notes.naming, cells.notes.many_numbers = naming_columns(table), many_numbers(table)
    return _reported(source, table, cells.notes)


def read_graph(path: str | Path, **options: Any) -> Graph:
    r"""Return the graph in a file; a warning says what was dropped.

    Parameters
    ----------
    path
        The file; its extension gives the format.
    **options
        The fields of `GraphOptions`.

    Returns
    -------
    Graph
        Nodes in the order of their ids; directions, weights and attributes are not kept.

    Raises
    ------
    InputError
        Where the file cannot be read as a graph.

    Warns
    -----
    GraphveilWarning
        Once, where something of the file is not in the graph.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "friends.edges")
    ...     _ = file.write_text("0 1\n1 2\n")
    ...     read_graph(file)
    Graph(n_nodes=3, n_edges=2)
    """
    return _data_of(load_graph(path, GraphOptions(**options)))


def read_network(path: str | Path, **options: Any) -> Network:
    r"""Return the network in a file; a warning says what was dropped.

    Parameters
    ----------
    path
        The file of edges; its extension gives the format.
    **options
        The fields of `NetworkOptions`.

    Returns
    -------
    Network
        One layer per edge type, with directions if ``directed="keep"``; nodes in the order of their
        ids.

    Raises
    ------
    InputError
        Where a file cannot be read.

    Warns
    -----
    GraphveilWarning
        Once, where something of the files is not in the network.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ties, people = Path(folder, "friends.csv"), Path(folder, "people.csv")
    ...     _ = ties.write_text("source,target\nann,bob\n")
    ...     _ = people.write_text("id,town\nann,Oslo\nbob,Oslo\n")
    ...     read_network(ties, nodes=people)
    Network(2 nodes, ties: 1 edges, attributes: town)
    """
    known = {item.name for item in fields(NetworkOptions)}
    paths = {name: Path(options[name]) for name in ("nodes",) if options.get(name) is not None}
    for name in options:
        if name not in known:
            raise InputError(f"unknown option {name!r} for networks. {did_you_mean(name, known)}")
    network: Network = _data_of(load_network(path, NetworkOptions(**{**options, **paths})))
    return network


def read_bipartite(path: str | Path, **options: Any) -> Bipartite:
    r"""Return the users and items in a file; a warning says what was dropped.

    Parameters
    ----------
    path
        The file; its extension gives the format.
    **options
        The fields of `BipartiteOptions`.

    Returns
    -------
    Bipartite
        Users and items in the order of their ids and names.

    Raises
    ------
    InputError
        If the file cannot be read as user-item data.

    Warns
    -----
    GraphveilWarning
        Once, if the data does not contain everything in the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "likes.csv")
    ...     _ = file.write_text("user,item\nann,tea\nbob,tea\n")
    ...     read_bipartite(file)
    Bipartite(n_users=2, n_features=1, n_entries=2)
    """
    return _data_of(load_bipartite(path, BipartiteOptions(**options)))


def read_table(path: str | Path, **options: Any) -> Table:
    r"""Return the table in a file; a warning says what was dropped.

    Parameters
    ----------
    path
        The file; its extension gives the format.
    **options
        The fields of `TableOptions`.

    Returns
    -------
    Table
        The rows in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read as a table.
    DataError
        If columns raise questions: the message has all of them, and the options that answer them.

    Warns
    -----
    GraphveilWarning
        Once, if the table does not contain everything in the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("sex,town\nf,Oslo\nm,Bergen\n")
    ...     read_table(file)
    Table(n_rows=2, columns=['sex', 'town'])
    """
    return _data_of(load_table(path, TableOptions(**options)))


def read(path: str | Path, *, kind: str | None = None, **options: Any) -> Data:
    r"""Return the data in a file as a container of this kind; a warning says what was dropped.

    Parameters
    ----------
    path
        The file; its extension gives the format.
    kind
        ``graph``, ``network``, ``bipartite`` or ``table``. Default: the kind that the names of
        columns indicate, else a graph.
    **options
        The fields of the options of this kind, such as `GraphOptions`.

    Returns
    -------
    Graph or Network or Bipartite or Table
        The container.

    Raises
    ------
    InputError
        If the kind is unknown, or the file cannot be read as this kind.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "likes.csv")
    ...     _ = file.write_text("user,item\nann,tea\nbob,tea\n")
    ...     read(file)
    Bipartite(n_users=2, n_features=1, n_entries=2)
    """
    kind = kind or _kind_named(Path(path), options)
    if kind not in KINDS:
        raise InputError(f"unknown kind of data {kind!r}. {one_of(kind, KINDS)}")
    data: Data = _data_of(load(path, options_of(KINDS[kind])(**options)))
    return data


LOADERS: Mapping[type[AnyOptions], Callable[[str | Path, Any], Reading[Any]]] = {
    GraphOptions: load_network,
    NetworkOptions: load_network,
    BipartiteOptions: load_bipartite,
    TableOptions: load_table,
}
"""The function that reads a file with options of each class."""


def load(path: str | Path, options: AnyOptions) -> Reading[Any]:
    """Return the data in a file and the report, of the kind that these options are of.

    Parameters
    ----------
    path
        The file.
    options
        How it is read; their class says as what.

    Returns
    -------
    Reading
        The container, and the `ReadingReport`.

    Examples
    --------
    >>> from graphveil.io import datasets
    >>> load(datasets.path_of("copenhagen-calls"), GraphOptions(header="yes")).data
    Graph(n_nodes=536, n_edges=621)
    """
    return LOADERS[type(options)](path, options)


def _kind_named(path: Path, options: dict[str, Any]) -> str:
    """Return the kind that the names of columns say, else a graph."""
    from graphveil.io.text.guessed_kind import columns_of  # noqa: PLC0415  not where the kind is given

    asked = {name: options[name] for name in ("header", "delimiter", "encoding") if name in options}
    named = columns_of(path, options.get("format"), **asked).kind
    return "graph" if named is None else kind_of(named).name


def _data_of(reading: Reading[D]) -> D:
    warn_of_dropped(reading.report)
    return reading.data


def _is_plain(labels: Ids) -> bool:
    if labels.dtype.kind != "i":
        return False
    return labels.size == 0 or (int(labels[0]) == 0 and int(labels[-1]) == labels.size - 1)
