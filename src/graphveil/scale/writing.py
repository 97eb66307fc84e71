"""Released rows into the files of a release: new ids, a last count of the classes, the linkage.

On one machine they are written here; at an address executors write the parts. A task that runs
again after another process died writes the same bytes under the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from graphveil.claims import parts
from graphveil.claims.manifest import DataFile, Described
from graphveil.claims.record import digest_of_parts
from graphveil.core.errors import GraphveilError
from graphveil.core.progress import Advance, stage
from graphveil.core.storage import Address, Place
from graphveil.data.kinds import KINDS
from graphveil.engines.local import database, rows_of, stream
from graphveil.engines.processes import Rows, Tables, selected
from graphveil.io import FORMATS, BipartiteOptions, Format
from graphveil.io import parts as list_parts
from graphveil.io.parsed import ReadCounts
from graphveil.io.parts import write_pairs
from graphveil.io.readers import columnar, delimited
from graphveil.io.readers.columnar import batches_in, parquet_writer
from graphveil.io.source import Source
from graphveil.io.text.dialect import Dialect
from graphveil.io.writing import formulas
from graphveil.release.files import COLUMNS, described_file
from graphveil.scale import columns
from graphveil.scale.columns import ItemLists, RowOrder, check_order, grouped, whole
from graphveil.scale.intake import Facts, items_of
from graphveil.scale.parts import (
    PublishedNames,
    WrittenParts,
    all_ids,
    as_lists,
    groups_of,
    new_ids,
    rows_in_parts,
    unpacked,
    write_linkage_part,
    write_linkage_parts,
    write_part,
    write_parts,
)


@dataclass(frozen=True, kw_only=True)
class PartOfUsers:
    """Writes a part of the data, and one of the linkage; a work on parts."""

    out: Address
    private: Address | None
    names: PublishedNames | None
    n_users: int
    part_users: int
    group_rows: int

    def __call__(self, number: int, rows: pa.Table) -> pa.Table:
        """Return what was written, as a row of `graphveil.scale.columns.WRITTEN`."""
        # The part must have exactly its users: rows that were lost or doubled would show here.
        ids, rows = unpacked(rows)
        first = number * self.part_users
        size = min(self.part_users, self.n_users - first)
        if not np.array_equal(ids, np.arange(first, first + size)):
            raise RuntimeError(f"part {number} has {ids.size} rows instead of its {size} users")
        # Write the data, then the linkage, and count what the driver checks.
        lists, new_ids = ItemLists.of(rows), pa.array(ids)
        del rows, ids  # a part is large
        order_of_rows = RowOrder()
        order_of_rows.add(lists.users)
        file = write_part(self._groups(lists, new_ids), number, size, self.out)
        linked = ""
        if self.private is not None:
            linkage = pa.table([lists.users, new_ids], names=COLUMNS)
            linked = write_linkage_part(linkage, number, self.private)
        answer = {
            "number": number,
            "rows": size,
            "bytes": file.bytes,
            "entries": len(lists.values),
            "ascents": order_of_rows.ascents,
            "sha256": file.sha256,
            "linked": linked,
        }
        return pa.Table.from_pylist([answer], columns.WRITTEN)

    def _groups(self, lists: ItemLists, ids: pa.Array) -> Iterator[pa.Table]:
        start = 0
        for n in groups_of(len(ids), self.group_rows):
            some = lists.between(start, start + n)
            items = some.values if self.names is None else pa.array(self.names.of(some))
            yield as_lists(ids.slice(start, n), some.indptr, items)
            start += n


def write_apart(tables: Tables, packed: Rows, work: PartOfUsers) -> WrittenParts:
    """Let works write all parts, and return what they have written."""
    n = parts.n_parts(work.n_users)
    written = tables.grouped(packed, "part", n, work, columns.WRITTEN)
    with stage("writing parts", total=work.n_users) as advance:
        rows = [row for batch in tables.batches(written, None) for row in batch.to_pylist()]
        advance(work.n_users)
    # Every part must have been written once, and their order of rows must be random.
    rows.sort(key=lambda row: row["number"])
    if [row["number"] for row in rows] != list(range(n)):
        raise RuntimeError(f"{len(rows)} parts were written instead of {n}")
    check_order(sum(row["ascents"] for row in rows), [row["rows"] for row in rows])
    files = [
        DataFile(
            name=parts.part_name(row["number"]),
            role="data",
            format="parquet",
            columns=parts.COLUMNS,
            **{name: row[name] for name in ("rows", "bytes", "sha256")},
        )
        for row in rows
    ]
    linked = [row["linked"] for row in rows]
    digest = None if work.private is None else digest_of_parts(linked)
    return WrittenParts(files, digest, sum(row["entries"] for row in rows))


WRITTEN_ROWS = 1 << 16
"""How many rows are written at a time."""


class Written(NamedTuple):
    """What the data files are, the classes that they hold, and what the writer warned of.

    The linkage has a digest here where it was written to an address.
    """

    described: Described
    smallest_class: int
    n_classes: int
    advice: tuple[str, ...] = ()
    linkage_sha256: str | None = None


class Classes(NamedTuple):
    """The classes of a data file: the size of the smallest, their number, and that of items."""

    smallest: int
    n: int
    n_items: int


@dataclass(frozen=True, kw_only=True)
class DataFiles:
    """Rows under new ids, and the files that they become."""

    numbered: Rows
    packed: Rows
    released: Rows
    tables: Tables
    facts: Facts
    scratch: Path
    memory_mib: int
    form: Format
    parts: bool = False
    linked: Address | None = None

    def write(self, public: Place) -> Written:
        """Write the data files in a random order, and count the classes of what was written."""
        # Names of items: new ids of people, numbers, or texts as they are.
        names = self._names()
        numbered, texts = self.numbered, None
        # Parts of lists, or one file of pairs and one of users.
        if self.facts.people:
            numbered = self.tables.kept(numbered, "numbered", "sampling new ids")
            names = new_ids(self.tables, numbered)
        elif names is None and self.form.module == "delimited":
            texts = items_of(self.released, self.tables)
        if self.parts:
            files, linkage_sha256, n_entries = self._parts(names, numbered, public)
            classes = self._classes_in_parts(public, files)
        else:
            rows = _NewRows(names, self._linked)
            files, classes = self._pairs(rows, numbered, texts, Path(str(public)))
            linkage_sha256, n_entries = None, rows.n_entries
        # The classes are counted in what was written, never in what was to be written.
        counts = {"users": self.facts.n_rows, "items": classes.n_items, "entries": n_entries}
        described = Described(
            kind="bipartite",
            files=files,
            counts=counts,
            suppressed_cells=KINDS["bipartite"].suppressed_cells,
        )
        listed = [] if texts is None else texts.to_pylist()
        advice = formulas((), [listed])
        return Written(described, classes.smallest, classes.n, advice, linkage_sha256)

    def _pairs(
        self, rows: _NewRows, numbered: Rows, texts: pa.Array | None, public: Path
    ) -> tuple[list[DataFile], Classes]:
        """Write a file of pairs and one of all users."""
        batches = self.tables.batches(numbered, "id")
        n_rows = self.facts.n_rows
        data, users = public / f"data{self.form.extensions[0]}", public / "users.csv"
        with stage(f"writing {data.name}", total=n_rows) as advance:
            write_pairs(rows.pairs(batches, advance), data, form=self.form, names=texts)
        write_pairs(all_ids(n_rows, "user"), users, form=FORMATS["csv"], names=None)
        with stage("counting classes"):
            classes = classes_of(data, self.form, n_rows, self.scratch, self.memory_mib)
        files = [
            described_file(data, "data", self.form.name, ["user", "item"], rows.n_entries),
            described_file(users, "users", "csv", ["user"], n_rows),
        ]
        return files, classes

    def _parts(self, names: PublishedNames | None, numbered: Rows, public: Place) -> WrittenParts:
        """Write files of users with lists of their items: where works run, if these see the place.

        The linkage goes with them where it is at an address.
        """
        n_rows = self.facts.n_rows
        if self.tables.apart and isinstance(public, Address):
            work = PartOfUsers(
                out=public,
                private=self.linked,
                names=names,
                n_users=n_rows,
                part_users=parts.PART_USERS,
                group_rows=list_parts.GROUP_ROWS,
            )
            return write_apart(self.tables, self.packed, work)
        rows = _NewRows(names, self._linked)
        batches = self.tables.batches(numbered, "id")
        with stage("writing parts", total=n_rows) as advance:
            files = write_parts(rows.lists(batches, advance), n_rows, public, self.scratch)
        digest = None
        if self.linked is not None:
            tables = (pa.Table.from_batches([batch]) for batch in batches_in(self._linked))
            digest = write_linkage_parts(tables, n_rows, self.linked, self.scratch)
        return WrittenParts(files, digest, rows.n_entries)

    def _classes_in_parts(self, public: Place, files: list[DataFile]) -> Classes:
        """Count the classes of parts that were written."""
        problems: list[GraphveilError] = []

        def lists() -> Iterator[pa.RecordBatch]:
            try:
                yield from rows_in_parts(public, files)
            except GraphveilError as error:  # DuckDB makes an error of its own out of it
                problems.append(error)
                raise

        with stage("counting classes"):
            try:
                return _classes_of_lists(lists(), self.scratch, self.memory_mib)
            except duckdb.Error:
                if problems:
                    raise problems[0] from None
                raise

    def linkage(self) -> Iterator[pa.Table]:
        """Yield who became whom in the order of the original, once the data is written."""
        if not self._linked.is_file():  # executors wrote the data
            chosen = self.tables.select(selected("id", "user"), rows=self.numbered)
            with _Noted(self._linked) as noted:
                for batch in self.tables.batches(chosen, "id"):
                    noted.add(batch)
        with (
            stage("writing the linkage"),
            database(self.scratch, memory_mib=self.memory_mib, threads=1) as db,
        ):
            for batch in stream(rows_of(db, [self._linked], COLUMNS).order("original")):
                yield pa.Table.from_batches([batch])

    def _names(self) -> PublishedNames | None:
        """Return the names that items get, where these are others: numbers that were text."""
        if self.facts.item_is_integer:
            return PublishedNames(None)
        [(no_numbers,)] = self.tables.ask(columns.TEXT_THAT_IS_NO_NUMBER, released=self.released)
        return None if no_numbers else PublishedNames(None)

    @property
    def _linked(self) -> Path:
        return self.scratch / "linkage.parquet"


class _NewRows:
    """Turns rows into pairs as they pass, and notes who became whom."""

    def __init__(self, names: PublishedNames | None, linked: Path) -> None:
        self.names = names
        self.linked = linked
        self.n_entries = 0
        self.order = RowOrder()

    def pairs(self, batches: Iterator[pa.RecordBatch], advance: Advance) -> Iterator[pa.Table]:
        """Yield users under new ids with their items; a last table may be empty."""
        for ids, rows, items in self._noted(batches, advance):
            user = np.repeat(ids.to_numpy(), np.diff(rows.indptr))
            yield pa.table([pa.array(user), items], names=["user", "item"])

    def lists(self, batches: Iterator[pa.RecordBatch], advance: Advance) -> Iterator[pa.Table]:
        """Yield users under new ids with the lists of their items."""
        for ids, rows, items in self._noted(batches, advance):
            yield as_lists(ids, rows.indptr, items)

    def _noted(
        self, batches: Iterator[pa.RecordBatch], advance: Advance
    ) -> Iterator[tuple[pa.Array, ItemLists, pa.Array]]:
        """Yield new ids, rows and their items as they are published, some at a time."""
        with _Noted(self.linked) as noted:
            for batch in batches:
                noted.add(batch)
                self.order.add(batch["user"])
                for start in range(0, batch.num_rows, WRITTEN_ROWS):
                    some = batch.slice(start, WRITTEN_ROWS)
                    rows = ItemLists.of(some)
                    self.n_entries += len(rows.values)
                    named = rows.values if self.names is None else pa.array(self.names.of(rows))
                    yield whole(some["id"]), rows, named
                advance(batch.num_rows)
        self.order.check()


class _Noted(ExitStack):
    """A file that notes who became whom."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._writer: Any = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Note some rows."""
        linkage = pa.table([batch["user"], batch["id"]], names=COLUMNS)
        if self._writer is None:
            self._writer = self.enter_context(parquet_writer(self._path, linkage.schema))
        self._writer.write_table(linkage)


def classes_of(data: Path, form: Format, n_rows: int, scratch: Path, memory_mib: int) -> Classes:
    """Return the classes of a written data file, counted in it."""
    filled = 0
    lists = grouped(_pairs(data, form))
    first = next(lists, None)
    if first is None:
        return Classes(n_rows, 1, 0)

    def rows() -> Iterator[pa.RecordBatch]:
        nonlocal filled
        for some in chain([first], lists):
            filled += len(some.users)
            yield pa.RecordBatch.from_arrays([some.column()], names=["items"])

    # Rows without items are not in a file of pairs: they form one further class.
    counted = _classes_of_lists(rows(), scratch, memory_mib)
    empty = n_rows - filled
    if empty:
        return counted._replace(smallest=min(counted.smallest, empty), n=counted.n + 1)
    return counted


def _classes_of_lists(lists: Iterator[pa.RecordBatch], scratch: Path, memory_mib: int) -> Classes:
    """Return the classes of rows, of which the column `items` is given, some at a time."""
    first = next(lists)
    reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], lists))
    # Equal lists are one class: group by the list itself, exactly.
    with database(scratch, memory_mib=memory_mib, threads=1) as db:
        db.from_arrow(reader).aggregate("count(*) AS size, items", "items").create("classes")
        smallest, n = db.execute("SELECT min(size), count(*) FROM classes").fetchall()[0]
        items = "SELECT count(DISTINCT item) FROM (SELECT unnest(items) AS item FROM classes)"
        [(n_items,)] = db.execute(items).fetchall()
    return Classes(smallest, n, n_items)


def _pairs(data: Path, form: Format) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Yield the users of a data file and their items."""
    source = Source(data, form)
    if form.name in ("parquet", "arrow"):
        batches = columnar.bipartite_batches(source, BipartiteOptions(), ReadCounts())
    else:
        batches = delimited.bipartite_batches(_dialect(source), (0, 1), ReadCounts(), text=True)
    for batch in batches:
        users, items = pa.table(batch.columns, names=["user", "item"]).combine_chunks().columns
        yield users.combine_chunks().cast(pa.int64()), items.combine_chunks()


def _dialect(source: Source) -> Dialect:
    """Return how a text file of ours is written."""
    names = ("user", "item")
    remarked = source.format.name == "text"
    return Dialect(
        source,
        delimiter="," if source.format.name == "csv" else "\t",
        n_columns=2,
        header=() if remarked else names,
        spaced=False,
        widths=frozenset({2}),
        marked=names if remarked else (),
    )
