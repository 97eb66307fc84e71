"""Who stands in a file of edges: ids in canonical order, and from an id to its position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.errors import ResourceError
from graphveil.core.progress import Advance, stage
from graphveil.data.ids import Ids, to_arrow
from graphveil.data.network import MAX_NODES
from graphveil.engines.local import database, stream
from graphveil.io.opening import over_all_nodes
from graphveil.io.parsed import ParsedArcs, as_integers, gives_counts, other_than_integers
from graphveil.io.readers.delimited import refuse_counts
from graphveil.io.text.header import ENOUGH_ROWS, refuse_undecided
from graphveil.io.text.tie_blocks import Ends, TextOfTies, TieFile

WIDEST_MAP = 1 << 27
"""Integers below this are marked in a map of one byte each, 128 MB at most, however few there
are."""

SPARSEST = 8
"""The most places of a map or table per id; above, ids are sorted and bisected."""

MEMORY_MIB = 1024
"""The memory, in MiB, in which texts are made distinct; more of them are sorted on disk."""

SAMPLED = 1 << 18
"""About how many ends of edges are kept, to see where most of them are."""

T = TypeVar("T", bound=tuple[Any, ...])

MERGED = 1 << 22
"""How many distinct integers wait at least before they are merged into those before."""

_TEXTS_AT_ONCE = 1 << 22
"""About how many edges with text ids are numbered at a time: each look-up builds a hash table of
all ids."""


class Known(NamedTuple):
    """The nodes of a file of edges, in order, and a sample of the positions of ends of edges."""

    labels: Ids
    sample: Ints
    count_line: str | None = None


def nodes_of(ties: TieFile, folder: Path) -> Known:
    """Return who stands in a file of edges, and in the list of all nodes where there is one."""
    # Step 1: pass over the file once; keep the distinct ids and a sample of ends.
    reader = _Reader(ties)
    with stage(f"reading {ties.source.name}", total=ties.rows_expected()) as advance:
        batches = noted(reader.ends(), advance)
        rest = _distinct_texts(batches, folder) if ties.text else _integers(batches)
    # Step 2: a first row that gives the numbers of nodes and edges is not an edge.
    count_line = _count_line(ties, reader, rest)
    if count_line is None and reader.first:
        rest = pc.unique(pa.concat_arrays([rest, pa.array(reader.first, rest.type)]))
    # Step 3: ids in canonical order, with those of the list of all nodes.
    labels = ties.labels(rest)
    if ties.options.nodes is not None:
        labels = _over_all(ties, labels)
    if labels.size > MAX_NODES:
        ties.source.refuse(
            f"{labels.size:,} nodes exceed the maximum of {MAX_NODES:,}. Split the graph."
        )
    if labels.size < 2:
        ties.source.refuse(
            f"a graph needs at least two nodes; this one has {labels.size}. Add rows."
        )
    return Known(labels, reader.sampled(Numbering(labels)), count_line)


class _Reader:
    """Passes ends on, keeps some of them, and the first row apart where it may be no edge."""

    def __init__(self, ties: TieFile) -> None:
        self.first: list[int | str] = []
        self._apart = isinstance(ties, TextOfTies) and ties.may_begin_with_counts
        self._ties = ties
        self._kept: list[pa.Array] = []
        self._stride = max(1, 2 * ties.rows_expected() // SAMPLED)

    def ends(self) -> Iterator[Ends]:
        """Yield all ends but those of a first row that may give counts."""
        for each in self._ties.ends():
            ends = each
            if self._apart and len(ends.source):
                self.first = [column[0].as_py() for column in ends]
                ends, self._apart = Ends(*(column.slice(1) for column in ends)), False
            places = pa.array(np.arange(0, len(ends.source), self._stride))
            self._kept += [column.take(places) for column in ends]
            yield ends

    def sampled(self, numbering: Numbering) -> Ints:
        """Return the positions of the ends that were kept, in order."""
        kept = [numbering.numbers_of(column) for column in self._kept if len(column)]
        return np.sort(np.concatenate(kept)).astype(np.int64) if kept else np.empty(0, np.int64)


def noted(batches: Iterable[T], advance: Advance) -> Iterator[T]:
    """Yield batches of two columns, and note how many rows passed."""
    for batch in batches:
        yield batch
        advance(len(batch[0]))


def _count_line(ties: TieFile, reader: _Reader, others: pa.Array) -> str | None:
    """Return the first row where it gives the numbers of nodes and edges, as text."""
    if not reader.first or ties.notes.rows < 2:
        return None
    written = [pa.array([str(value) for value in reader.first])]
    if ties.text:
        written.append(others)
    if any(len(other_than_integers(texts)) for texts in written):
        return None
    n, m = map(int, reader.first)
    rows, numbers = ties.notes.rows - 1, others.cast(pa.int64())
    verdict = gives_counts(n, m, rows, len(others), pc.max(numbers).as_py())
    if verdict is None:
        refuse_counts(ties.source, n, m, rows)
    return f"{n} {m}" if verdict else None


def _over_all(ties: TieFile, labels: Ids) -> Ids:
    """Return the ids that the list of all nodes holds; all that have edges must be among them."""
    nobody = np.empty(0, dtype=np.int32)
    arcs = ParsedArcs(source=nobody, target=nobody, labels=labels)
    assert ties.options.nodes is not None  # noqa: S101  for the type checker: its caller asked
    return over_all_nodes(ties.source, arcs, ties.options.nodes).labels


def _integers(batches: Iterator[Ends]) -> pa.Array:
    seen = _DistinctIntegers()
    for ends in batches:
        for column in ends:
            seen.add(column.to_numpy(zero_copy_only=False))
    return pa.array(seen.in_order())


class _DistinctIntegers:
    """The distinct values of many integers: marked in a map, or merged if they are far apart."""

    def __init__(self) -> None:
        self._map: NDArray[np.bool_] | None = np.zeros(1 << 16, dtype=np.bool_)
        self._merged = np.empty(0, dtype=np.int64)
        self._waiting: list[Ints] = []
        self._n_waiting = 0

    def add(self, values: Ints) -> None:
        """Note some integers >= 0."""
        if not values.size:
            return
        # As long as ids are dense enough, a map takes them; after that, sorted runs are merged.
        if self._map is not None and not self._fits(int(values.max()) + 1):
            self._merged, self._map = np.flatnonzero(self._map), None
        if self._map is not None:
            self._map[values] = True
            return
        self._waiting.append(np.unique(values))
        self._n_waiting += self._waiting[-1].size
        if self._n_waiting > max(MERGED, self._merged.size):
            self._merge()

    def _fits(self, size: int) -> bool:
        """Make room for integers below a size, unless that takes too much."""
        assert self._map is not None  # noqa: S101  for the type checker: its caller asked
        if size <= self._map.size:
            return True
        if size > max(WIDEST_MAP, SPARSEST * int(np.count_nonzero(self._map))):
            return False
        wider = np.zeros(min(max(size, 2 * self._map.size), max(size, WIDEST_MAP)), dtype=np.bool_)
        wider[: self._map.size] = self._map
        self._map = wider
        return True

    def _merge(self) -> None:
        self._merged = np.unique(np.concatenate([self._merged, *self._waiting]))
        self._waiting, self._n_waiting = [], 0

    def in_order(self) -> Ints:
        """Return them, ascending."""
        if self._map is not None:
            return np.flatnonzero(self._map)
        self._merge()
        return self._merged


def _distinct_texts(batches: Iterator[Ends], folder: Path) -> pa.Array:
    """Return the distinct values of many texts, by a database that spills to the disk."""
    schema = pa.schema([("id", pa.string())])
    failed: list[Exception] = []

    def columns() -> Iterator[pa.RecordBatch]:
        try:
            for ends in batches:
                for column in ends:
                    distinct = pc.unique(column)
                    yield pa.RecordBatch.from_arrays([distinct], schema=schema)
        except Exception as error:
            failed.append(error)  # the database would say something else
            raise

    reader = pa.RecordBatchReader.from_batches(schema, columns())
    try:
        with database(folder, memory_mib=MEMORY_MIB, threads=1) as db:
            rest = [batch.column(0) for batch in stream(db.from_arrow(reader).distinct())]
    except (duckdb.Error, ResourceError):
        if failed:
            raise failed[0] from None
        raise
    chunks = [column.cast(pa.string()) for column in rest]
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())


class Numbering:
    """Ids to their positions among all ids in order."""

    def __init__(self, labels: Ids) -> None:
        self._names: pa.Array | None = None
        self._table: NDArray[np.int32] | None = None
        self._labels = labels
        self._plain = False
        if labels.dtype.kind != "i":
            self._names = to_arrow(labels)
            return
        top = int(labels[-1]) if labels.size else -1
        self._plain = top == labels.size - 1
        if top < max(WIDEST_MAP >> 3, SPARSEST * labels.size):
            self._table = np.zeros(top + 1, dtype=np.int32)
            self._table[labels] = np.arange(labels.size, dtype=np.int32)

    def numbers_of(self, values: pa.Array) -> NDArray[np.int32]:
        """Return the position of every id, int32; all of them must be known."""
        if self._names is not None:
            at = pc.index_in(values.cast(pa.string()), value_set=self._names)
            return _int32(at.to_numpy(zero_copy_only=False))
        whole = as_integers(values) if pa.types.is_string(values.type) else values
        assert whole is not None  # noqa: S101  for the type checker: the labels are integers
        numbers = whole.cast(pa.int64()).to_numpy(zero_copy_only=False)
        if self._plain:
            return _int32(numbers)
        if self._table is not None:
            return _int32(np.take(self._table, numbers))
        return _int32(np.searchsorted(self._labels, numbers))

    def numbered(self, batches: Iterable[Ends]) -> Iterator[tuple[NDArray[np.int32], ...]]:
        """Yield ends as positions; text some batches at a time, since each takes a table anew."""
        waiting: list[Ends] = []
        for ends in batches:
            waiting.append(ends)
            if self._names is None or sum(len(one.source) for one in waiting) > _TEXTS_AT_ONCE:
                yield self._both(waiting)
                waiting = []
        if waiting:
            yield self._both(waiting)

    def _both(self, several: list[Ends]) -> tuple[NDArray[np.int32], ...]:
        columns = [column for ends in zip(*several, strict=True) for column in ends]
        numbers = self.numbers_of(pa.concat_arrays(columns) if len(columns) > 1 else columns[0])
        half = numbers.size // 2
        return numbers[:half], numbers[half:]


def _int32(positions: NDArray[Any]) -> NDArray[np.int32]:
    return np.asarray(positions, dtype=np.int32)


def first_row_is_names(ties: TieFile, numbering: Numbering, n: int) -> bool:
    """Whether the first row of text names the columns, as in memory; refuse where nobody can tell.

    Its cells are names if they stand nowhere else while every other row shares an id with some row.
    """
    if not (isinstance(ties, TextOfTies) and ties.text and ties.dialect.undecided):
        return False
    times = np.zeros(n, dtype=np.int64)
    for ends in numbering.numbered(ties.ends()):
        for column in ends:
            times += np.bincount(column, minlength=n)
    alone, first = 0, False
    for number, (source, target) in enumerate(numbering.numbered(ties.ends())):
        once = (times[source] == 1) & (times[target] == 1)
        first = bool(once[0]) if number == 0 else first
        alone += int(np.count_nonzero(once))
    if not first:
        return False
    if alone == 1 and ties.notes.rows > ENOUGH_ROWS:
        return True
    cells = [column[0].as_py() for column in next(ties.ends())]
    return refuse_undecided(ties.source, cells)
