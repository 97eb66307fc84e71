"""Text with a delimiter: edge lists, user-item pairs, tables of cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from graphveil.core.errors import InputError
from graphveil.core.hints import option
from graphveil.core.text import counted
from graphveil.core.warning_channel import warn
from graphveil.data import SUPPRESSED, Bipartite, Graph, Network, Table
from graphveil.data.arrow_values import written_out
from graphveil.data.columns import column_of_types, known_pairs, types_say_directed
from graphveil.data.ids import Ids
from graphveil.data.ids import to_arrow as ids_to_arrow
from graphveil.data.spellings import alike, in_quotes
from graphveil.io.edge_types import parsed_kinds
from graphveil.io.formats import BipartiteOptions, Format, GraphOptions
from graphveil.io.parsed import (
    ParsedArcs,
    ParsedColumn,
    ParsedKinds,
    ParsedPairs,
    ReadCounts,
    SpellingProblem,
    as_integers,
    gives_counts,
    other_than_integers,
    problem_of,
    problem_of_some,
)
from graphveil.io.source import Source, shown
from graphveil.io.text.chosen_columns import Offered, kind_column, two_columns
from graphveil.io.text.columns import read_columns, refuse_value, tables, trimmed
from graphveil.io.text.dialect import Dialect, lists_pairs, sniff
from graphveil.io.text.header import check_no_second_header, first_row_is_names, without_first_row
from graphveil.io.text.item_lists import read_lists
from graphveil.io.text.layouts import layout_of
from graphveil.io.text.table_cells import fraction_among, read_cells
from graphveil.io.writing import AWKWARD, formulas, refuse_separators

read_table = read_cells
_KONECT = r"%\s*(a?sym|bip)\b"


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of an edge list, or of another layout in which text lists edges."""
    layout = layout_of(source)
    if layout is not None:
        from graphveil.io.readers.adjacency import read_listed  # noqa: PLC0415  few files need it

        return read_listed(source, options, layout)
    dialect = sniff(source, options.header, delimiter=options.delimiter)
    check_konect(dialect)
    notes = ReadCounts(header=dialect.header, inferred=dialect.inferred)
    chosen = chosen_columns(dialect, options, notes)
    left, right = _ends(dialect, chosen, options, notes, shared=True)
    notes.declared = declared_counts(dialect)
    arcs = ParsedArcs(source=left.codes, target=right.codes, labels=left.labels, notes=notes)
    arcs.directed = says_directed(dialect, chosen)
    arcs.names = names_of_ends(chosen, dialect.header, notes.header)
    names = dialect.header or _names_in_remark(dialect)
    column = kind_column(Offered(source, names, dialect.n_columns, options.ends))
    if column is not None:
        arcs.kinds = _kinds(dialect, column, arcs.source.size)
        return arcs
    if notes.header or dialect.marked or options.header == "no":
        return arcs
    return _without_count_line(source, arcs)


def _kinds(dialect: Dialect, column: int, n_arcs: int) -> ParsedKinds:
    """Return the kinds of edges; without a first row that names columns."""
    text = pa.dictionary(pa.int32(), pa.string())
    named: list[str] = []
    for table in tables(dialect, (column,), ReadCounts(), text):
        for block in table.column(0).chunks:
            named.extend(written_out(block).to_pylist())
    return parsed_kinds(dialect.source, named[len(named) - n_arcs :])


def read_bipartite(source: Source, options: BipartiteOptions) -> ParsedPairs:
    """Return the pairs of a user-item file, whichever way its lines hold them."""
    dialect = sniff(source, options.header, delimiter=options.delimiter)
    if has_lists(dialect, options):
        return read_lists(dialect, named=options.layout != "items")
    notes = ReadCounts(header=dialect.header, inferred=dialect.inferred)
    chosen = chosen_columns(dialect, options, notes)
    left, right = _ends(dialect, chosen, options, notes, shared=False)
    notes.declared = declared_counts(dialect)
    return ParsedPairs.of(left, right, notes)


def declared_counts(dialect: Dialect) -> dict[str, int]:
    """Return how much the remarks of a file say that it holds.

    SNAP writes ``# Nodes: 9 Edges: 7``; KONECT, below its first line, the numbers of edges, of
    nodes on the left and of nodes on the right.

    >>> from dataclasses import replace
    >>> from pathlib import Path
    >>> from graphveil.io.formats import FORMATS
    >>> source = Source(Path("edges.txt"), FORMATS["text"])
    >>> plain = Dialect(source, " ", 2, (), False, frozenset({2}))
    >>> declared_counts(replace(plain, comments=("# Nodes: 9 Edges: 1,007",)))
    {'nodes': 9, 'edges': 1007}
    >>> declared_counts(replace(plain, comments=("% bip unweighted", "% 7 5 4")))
    {'users': 5, 'items': 4, 'entries': 7}
    """
    first, *others = dialect.comments or ("",)
    numbers = re.fullmatch(r"%\s*(\d+)\s+(\d+)\s+(\d+)\s*", others[0]) if others else None
    if re.match(_KONECT, first) and numbers:
        entries, left, right = map(int, numbers.groups())
        if re.match(r"%\s*bip\b", first):
            return {"users": left, "items": right, "entries": entries}
        return {"nodes": max(left, right), "edges": entries}
    declared = {}
    for name, words in (("nodes", "nodes|vertices"), ("edges", "edges|arcs|links|ties")):
        said = re.search(rf"(?i)\b(?:{words})\s*[:=]\s*(\d[\d,]*)", " ".join(dialect.comments))
        if said is not None:
            declared[name] = int(said[1].replace(",", ""))
    return declared


def names_of_ends(
    chosen: tuple[int, int], header: tuple[str, ...], inferred: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the names of the columns of both ends; none where they have none."""
    return tuple(header[column] for column in chosen) if header else inferred


def has_lists(dialect: Dialect, options: BipartiteOptions) -> bool:
    """Whether a line of the file is a user with all of its items."""
    if options.layout != "auto":
        return options.layout in ("lists", "items")
    return not dialect.header and len(dialect.widths) > 1 and not any(options.ends.asked)


def _ends(
    dialect: Dialect,
    chosen: tuple[int, int],
    options: GraphOptions | BipartiteOptions,
    notes: ReadCounts,
    *,
    shared: bool,
) -> tuple[ParsedColumn, ParsedColumn]:
    """Return the two columns of ids; without a first row of names."""
    left, right = read_columns(dialect, chosen, notes, share_labels=shared)
    if dialect.header:
        ids = (left.labels, right.labels)
        check_no_second_header(dialect, options.header, chosen, ids)
    elif dialect.undecided and first_row_is_names(dialect.source, left, right, shared=shared):
        names = [str(column.labels[column.codes[0]]) for column in (left, right)]
        notes.header, notes.inferred = tuple(names), True
        notes.rows -= 1
        return without_first_row(left, right, shared=shared)
    return left, right


def chosen_columns(
    dialect: Dialect, options: GraphOptions | BipartiteOptions, notes: ReadCounts
) -> tuple[int, int]:
    """Return the two columns that count; in KONECT's files and NCOL they are the first.

    A remark that names every column, two of them by a known pair, is as good as a header.
    """
    is_konect = bool(dialect.comments) and re.match(_KONECT, dialect.comments[0]) is not None
    names, source = dialect.header or _names_in_remark(dialect), dialect.source
    offered = Offered(source, names, dialect.n_columns, options.ends)
    return two_columns(offered, notes, by_position=is_konect or lists_pairs(source))


def _names_in_remark(dialect: Dialect) -> tuple[str, ...]:
    """Return the names of more than two columns out of a remark, as SNAP writes them."""
    for remark in dialect.comments:
        names = dialect.cells(remark.lstrip("#% \t"))
        if 2 < len(names) == dialect.n_columns and known_pairs(names, graph=True):
            return tuple(names)
    return ()


def bipartite_batches(
    dialect: Dialect, chosen: tuple[int, int], notes: ReadCounts, *, text: bool
) -> Iterator[pa.Table]:
    """Yield users and items some lines at a time, in the columns user and item."""
    kind = pa.dictionary(pa.int32(), pa.string()) if text else pa.int64()
    for table in tables(dialect, chosen, notes, kind):
        columns = [column.combine_chunks() for column in table.columns]
        if text:
            columns = [trimmed(written_out(column), dialect) for column in columns]
        else:
            for column in columns:
                least = pc.min(column).as_py()
                if least is not None and least < 0:
                    refuse_value(dialect, chosen, str(least), "is negative")
        yield pa.table(columns, names=["user", "item"])


def read_ids(source: Source) -> ParsedColumn:
    """Return the first column of a file that lists ids."""
    dialect = sniff(source, "auto", spaces=False)
    (column,) = read_columns(dialect, (0,), ReadCounts(), share_labels=False)
    return column


def check_konect(dialect: Dialect) -> None:
    """Refuse a file whose first line says that it holds users and items."""
    if dialect.comments and re.match(r"%\s*bip\b", dialect.comments[0]):
        dialect.source.refuse(
            "the first line marks a bipartite file (bip), not a graph. Use --kind bipartite."
        )


def says_directed(dialect: Dialect, chosen: tuple[int, int]) -> bool | None:
    """Return what the file says of directions, in a column of types or in its remarks."""
    return _types_say_directed(dialect, chosen) or _remarks_say_directed(dialect)


def _remarks_say_directed(dialect: Dialect) -> bool | None:
    """Return what the comments say of directions; None where they say nothing."""
    text = " ".join(dialect.comments).lower()
    first = dialect.comments[0] if dialect.comments else ""
    if re.match(r"%\s*asym\b", first) or re.search(r"\bdirected\b", text):
        return True
    undirected = re.match(r"%\s*sym\b", first) or re.search(r"\bundirected\b", text)
    return False if undirected else None


def _types_say_directed(dialect: Dialect, chosen: tuple[int, int]) -> bool:
    """Return whether a column of types, as Gephi writes it, calls some edge directed."""
    column = column_of_types(dialect.header, chosen)
    if column is None:
        return False
    kind = pa.dictionary(pa.int32(), pa.string())
    return any(
        types_say_directed(block)
        for table in tables(dialect, (column,), ReadCounts(), kind)
        for block in table.column(0).chunks
    )


def refuse_counts(source: Source, n: int, m: int, rows: int) -> NoReturn:
    """Refuse a first row that may give the numbers of nodes and edges, or be an edge."""
    source.refuse(
        f"cannot tell whether the first line ({n} {m}) gives the numbers of nodes and edges or is "
        f"an edge: {counted(rows, 'edge', 'is')} below it. If it gives numbers, use "
        f"{option('header', 'yes')}; if it is an edge, use {option('header', 'no')}."
    )


def _without_count_line(source: Source, arcs: ParsedArcs) -> ParsedArcs:
    """Drop the first line if it gives the numbers of nodes and of edges."""
    # Only integers can be counts, and a count of edges is about the number of rows below.
    labels = arcs.labels
    if arcs.source.size < 2 or labels.dtype.kind != "i":
        return arcs
    n, m = (int(labels[column[0]]) for column in (arcs.source, arcs.target))
    rows = arcs.source.size - 1
    if m < rows / 2:
        return arcs
    # The ids in use without the first line show whether its numbers fit as counts.
    used = np.zeros(labels.size, dtype=np.bool_)
    used[arcs.source[1:]] = True
    used[arcs.target[1:]] = True
    verdict = gives_counts(n, m, rows, int(np.count_nonzero(used)), int(labels[used][-1]))
    if verdict is None:
        refuse_counts(source, n, m, rows)
    if not verdict:
        return arcs
    # Renumber the labels that are left.
    position = np.cumsum(used, dtype=np.int32) - 1
    arcs.source = position[arcs.source[1:]].astype(np.int32, copy=False)
    arcs.target = position[arcs.target[1:]].astype(np.int32, copy=False)
    arcs.labels = labels[used]
    arcs.notes.rows -= 1
    arcs.notes.count_line = f"{n} {m}"
    return arcs


def write_graph(graph: Graph, stream: IO[bytes], form: Format) -> None:
    """Write every edge once, under the names source and target."""
    _check_ids(graph.ids, graph.degrees() > 0, form)
    edges = graph.edges()
    columns = [_written_ids(ends, graph.ids) for ends in edges.T]
    _write_rows(columns, ("source", "target"), stream, form)


def write_network(network: Network, stream: IO[bytes], form: Format) -> None:
    """Write every edge once, under the names source, target and, of several kinds, layer."""
    _check_ids(network.ids, network.profiles().sum(axis=1) > 0, form)
    ties = network.ties()
    columns: list[_Written] = [
        _written_ids(ends, network.ids) for ends in (ties.source, ties.target)
    ]
    if len(network.layers) > 1:
        names = pa.array([layer.name for layer in network.layers])
        check_texts(names, form)
        columns.append(_Written(ties.layer, names))
    _write_rows(columns, network.columns_of_ties, stream, form)


def write_bipartite(data: Bipartite, stream: IO[bytes], form: Format) -> None:
    """Write every pair, under the names user and item."""
    _check_ids(data.users, np.diff(data.indptr) > 0, form)
    _check_ids(data.features, np.bincount(data.indices, minlength=data.n_features) > 0, form)
    columns = [_written_ids(data.rows(), data.users), _written_ids(data.indices, data.features)]
    _write_rows(columns, ("user", "item"), stream, form)


def write_ids(ids: Ids, name: str, stream: IO[bytes], form: Format) -> None:
    """Write ids in one column under a name."""
    _check_ids(ids, np.ones(ids.size, dtype=np.bool_), form)
    column = _written_ids(np.arange(ids.size, dtype=np.int32), ids)
    _write_rows([column], (name,), stream, form)


def write_table(table: Table, stream: IO[bytes], form: Format, *, exact: bool = False) -> None:
    """Write the cells under their names; a suppressed cell is ``*``.

    Numbers with fractions can be among them if the reader does not bin them (`exact`).
    """
    for name in table.columns:
        if not name or "\n" in name or "\r" in name:
            raise InputError(
                f"the column name {shown(name)!r} is empty or has a line break, which "
                f"{form.name} cannot store. Use {option('format', 'parquet')}."
            )
    columns = []
    for number, (name, values) in enumerate(zip(table.columns, table.categories, strict=True)):
        codes = table.codes[:, number]
        listed = ids_to_arrow(values).cast(pa.string())
        used = listed.take(np.unique(codes[codes != SUPPRESSED]))
        _check_categories(name, used, form, exact=exact)
        shown_as = pa.concat_arrays([listed, pa.array(["*"])])
        columns.append(_Written(np.where(codes < 0, len(listed), codes), shown_as))
    _write_rows(columns, table.columns, stream, form, quote=True)


def _check_ids(ids: Ids | None, used: NDArray[np.bool_], form: Format) -> None:
    """Refuse text ids that a reader would take for damaged numbers, or for missing ones."""
    if ids is not None and ids.dtype.kind != "i":
        check_spelling(ids_to_arrow(ids[used]), form)


def check_spelling(texts: pa.Array, form: Format) -> None:
    """Refuse texts that, released together, would be read as other ids."""
    _refuse_spelling(problem_of(texts) or _read_as_whole(texts), texts, form)


def _read_as_whole(texts: pa.Array) -> SpellingProblem | None:
    """Return a text that would be read as an integer, such as 1.0; None where there is none."""
    others = other_than_integers(texts)
    if not len(others) or as_integers(texts) is None:
        return None
    return SpellingProblem(others[0].as_py(), "is read as an integer")


def _refuse_spelling(problem: SpellingProblem | None, texts: pa.Array, form: Format) -> None:
    advice = f"Use {option('format', 'parquet')}."
    if problem is not None:
        raise InputError(
            f"the id {shown(problem.value)!r} could not be read back from {form.name}: there it "
            f"{problem.what}. {advice}"
        )
    pair = alike(texts)
    if pair is not None:
        raise InputError(
            f"the ids {in_quotes(*pair)} look the same, which the {form.name} reader refuses. "
            f"{advice}"
        )


def check_texts(texts: pa.Array, form: Format) -> None:
    """Refuse texts of which some, whichever, could not be written and read again."""
    whole = texts.filter(pc.match_substring_regex(texts, r"^[0-9]+\.0+$"))
    _refuse_spelling(problem_of_some(texts) or _read_as_whole(whole), texts, form)
    listed = texts.to_pylist()
    for value in filter(AWKWARD.search, listed):
        _refuse_awkward(value, form)
    refuse_separators((), [listed], form.name)


def _check_categories(name: str, values: pa.Array, form: Format, *, exact: bool = False) -> None:
    """Refuse categories that a reader would take for suppressed cells, or for numbers to bin."""
    for hidden in ("*", ""):
        if hidden in values.to_pylist():
            raise InputError(
                f"column {name}: the category {hidden!r} cannot be distinguished from a suppressed "
                f"cell in {form.name}. Use {option('format', 'parquet')}."
            )
    number = None if exact else fraction_among(values)
    if number is not None:
        raise InputError(
            f"column {name}: the category {shown(number)!r} could not be read back from "
            f"{form.name}: there it is a number. Use {option('format', 'parquet')}."
        )


_WRITTEN_ROWS = 1 << 20


class _Written(NamedTuple):
    """A column to be written a block at a time: positions into values; None stands for numbers."""

    codes: Any
    values: pa.Array | None

    def block(self, part: slice) -> pa.Array:
        """Return some of the cells."""
        codes = pa.array(self.codes[part])
        return codes if self.values is None else self.values.take(codes)


def _written_ids(codes: Any, ids: Ids | None) -> _Written:
    return _Written(codes, None if ids is None else ids_to_arrow(ids))


def _write_rows(
    columns: list[_Written],
    names: tuple[str, ...],
    stream: IO[bytes],
    form: Format,
    *,
    quote: bool = False,
) -> None:
    """Write columns of one length below their names, a block at a time."""
    texts = [column.values for column in columns]
    write = block_writer(texts, names, stream, form, quote=quote)
    for start in range(0, len(columns[0].codes), _WRITTEN_ROWS):
        blocks = [column.block(slice(start, start + _WRITTEN_ROWS)) for column in columns]
        write(pa.table(blocks, names=list(names)))


def block_writer(
    texts: list[pa.Array | None],
    names: tuple[str, ...],
    stream: IO[bytes],
    form: Format,
    *,
    quote: bool = False,
) -> Callable[[pa.Table], None]:
    """Write the names of columns and return what writes the rows of a table below."""
    delimiter = "," if form.name == "csv" else "\t"
    listed = [_texts_in(values) for values in texts]
    awkward = [name for values in listed for name in filter(AWKWARD.search, values)]
    for value in awkward:
        if not quote or "\0" in value:
            _refuse_awkward(value, form)
    refuse_separators(names, listed, form.name)
    for advice in formulas(names, listed):
        warn(advice)
    style = "needed" if awkward else "none"
    first = delimiter.join(map(_quoted, names))
    remark = "# " if form.name == "text" and len(names) == 2 else ""
    stream.write(f"{remark}{first}\n".encode())
    options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)

    def write(table: pa.Table) -> None:
        buffer = pa.BufferOutputStream()
        csv.write_csv(table, buffer, options)
        stream.write(buffer.getvalue())

    return write


def _refuse_awkward(value: str, form: Format) -> None:
    if not value or any(character in value for character in "\n\r\0"):
        raise InputError(
            f"{shown(value)!r} is empty or contains a line break or a NUL, which {form.name} "
            f"cannot store. Use {option('format', 'parquet')}."
        )


def _texts_in(values: pa.Array | None) -> list[str]:
    """Return the texts of a column; none where it holds numbers."""
    if values is None or not pa.types.is_string(values.type):
        return []
    texts: list[str] = values.to_pylist()
    return texts


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if AWKWARD.search(name) else name
