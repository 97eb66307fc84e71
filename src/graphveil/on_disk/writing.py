"""Released rows on the disk into the files of a release: new ids, a new order, a last count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphveil.data.ids import as_numbers
from graphveil.data.kinds import KINDS
from graphveil.engines.database import database
from graphveil.engines.engine import Engine
from graphveil.io import FORMATS, BipartiteOptions, Format, columnar, delimited
from graphveil.io.blocks import write_pairs
from graphveil.io.dialect import Dialect
from graphveil.io.parquet_files import batches_in, parquet_writer
from graphveil.io.parsed import Notes
from graphveil.io.risky_names import formulas
from graphveil.io.source import Source
from graphveil.on_disk.intake import PIECE_ROWS, Facts, Numbering, features_of
from graphveil.on_disk.lists import grouped, lists_of
from graphveil.on_disk.row_order import RowOrder
from graphveil.on_disk.worker import KEY
from graphveil.progress import Advance, stage
from graphveil.records.manifest import Described
from graphveil.release.files import described_file
from graphveil.release.linkage import COLUMNS

WRITTEN_ROWS = 1 << 20


class Written(NamedTuple):
    """What the data files are, the classes that they hold, and what the writer warned of."""

    described: Described
    smallest_class: int
    n_classes: int
    advice: tuple[str, ...] = ()


class _Items(NamedTuple):
    """The names of published items: by the number of a feature, and in order."""

    names: pa.Array
    in_order: pa.Array
    n_published: int
    renamed: bool
    """Whether the order of the names is another than that of the features."""


@dataclass(frozen=True, kw_only=True)
class DataFiles:
    """Released rows under random keys, and the files that they become.

    Parameters
    ----------
    parts
        The rows, a file a chunk.
    facts
        The numbers of the original.
    scratch
        An empty folder beside the one of the original's rows.
    engine
        What sorts and writes.
    form
        The format of the data.
    """

    parts: list[Path]
    facts: Facts
    scratch: Path
    engine: Engine
    form: Format

    def write(self, public: Path) -> Written:
        """Write the data files in a random order, and count the classes of what was written."""
        n_rows = self.facts.n_rows
        names = features_of(self.scratch.parent / "rows")
        released = self._sorted("released", self.parts, by=KEY, keep=["position", "user", "items"])
        items = self._items(_published(released, len(names)), names, released)
        rows = _NewRows(items.names, self._linked, sort=items.renamed)
        texts = None if pa.types.is_integer(items.names.type) else items.in_order
        data, users = public / f"data{self.form.extensions[0]}", public / "users.csv"
        with stage(f"writing {data.name}", total=n_rows) as advance:
            self.engine.write(rows.pairs(released, advance), data, form=self.form, names=texts)
        rows.order.check()
        write_pairs(_numbers(n_rows), users, form=FORMATS["csv"], names=None)
        described = Described(
            kind="bipartite",
            files=[
                described_file(data, "data", self.form.name, ["user", "item"], rows.n_entries),
                described_file(users, "users", "csv", ["user"], n_rows),
            ],
            counts={
                "users": n_rows,
                "items": items.n_published,
                "entries": rows.n_entries,
            },
            suppressed_cells=KINDS["bipartite"].suppressed_cells,
        )
        with stage("counting classes"):
            smallest, n_classes = classes_of(
                data, self.form, items.in_order, n_rows, self.scratch, self.engine.memory_mib
            )
        listed = [] if texts is None or self.form.module != "delimited" else texts.to_pylist()
        return Written(described, smallest, n_classes, formulas((), [listed]))

    def linkage(self) -> Iterator[pa.Table]:
        """Yield who became whom in the order of the original, once the data is written."""
        with stage("writing the linkage"):
            for chunk in self._sorted("linked", [self._linked], by=["position"], keep=COLUMNS):
                for batch in batches_in(chunk):
                    yield pa.Table.from_batches([batch])

    def _items(self, published: NDArray[np.bool_], names: pa.Array, released: list[Path]) -> _Items:
        """Return the names that items are published under."""
        n = int(np.count_nonzero(published))
        if self.facts.people:
            new_ids = pa.array(_new_ids(released, self.facts.n_rows))
            return _Items(new_ids, pa.array(np.arange(self.facts.n_rows)), n, renamed=True)
        kept = names.filter(pa.array(published))
        numbers = as_numbers(kept)
        if numbers.type == kept.type:
            return _Items(names, kept, n, renamed=False)
        renamed = np.zeros(published.size, dtype=np.int64)
        renamed[published] = numbers.to_numpy()
        return _Items(pa.array(renamed), numbers.take(pc.sort_indices(numbers)), n, renamed=True)

    @property
    def _linked(self) -> Path:
        return self.scratch / "linkage.parquet"

    def _sorted(
        self, name: str, sources: list[Path], *, by: Sequence[str], keep: Sequence[str]
    ) -> list[Path]:
        folder = self.scratch / name
        folder.mkdir()
        return self.engine.sorted_chunks(sources, folder, by=by, keep=keep, chunk_rows=PIECE_ROWS)


class _NewRows:
    """Numbers rows anew as they pass, and notes who became whom."""

    def __init__(self, names: pa.Array, linked: Path, *, sort: bool) -> None:
        self.names = names
        self.sort = sort
        self.linked = linked
        self.n_entries = 0
        self.order = RowOrder()

    def pairs(self, chunks: list[Path], advance: Advance) -> Iterator[pa.Table]:
        """Yield users under new ids with their items; a last table may be empty."""
        start = 0
        writer: Any = None
        with ExitStack() as stack:
            for batch in (batch for chunk in chunks for batch in batches_in(chunk)):
                rows = lists_of(batch.column("user"), batch.column("items"))
                n = len(rows.users)
                ids = pa.array(np.arange(start, start + n))
                start += n
                columns = [batch.column("position"), rows.users, ids]
                linkage = pa.table(columns, names=["position", *COLUMNS])
                writer = writer or stack.enter_context(parquet_writer(self.linked, linkage.schema))
                writer.write_table(linkage)
                self.order.add(batch.column("position").to_numpy())
                self.n_entries += rows.indices.size
                user = np.repeat(ids.to_numpy(), np.diff(rows.indptr))
                items = self.names.take(pa.array(rows.indices))
                if self.sort:
                    items = pa.array(_sorted_in_rows(user, items.to_numpy()))
                yield pa.table([pa.array(user), items], names=["user", "item"])
                advance(n)


def _published(chunks: list[Path], n_features: int) -> NDArray[np.bool_]:
    """Return which features some released row has: their names alone may decide on anything."""
    published = np.zeros(n_features, dtype=np.bool_)
    for batch in (batch for chunk in chunks for batch in batches_in(chunk, ["items"])):
        published[batch.column("items").flatten().to_numpy()] = True
    return published


def _new_ids(chunks: list[Path], n_rows: int) -> NDArray[np.int64]:
    """Return the new id of every user, by position in the order of the original."""
    new_ids = np.empty(n_rows, dtype=np.int64)
    start = 0
    for batch in (batch for chunk in chunks for batch in batches_in(chunk, ["position"])):
        new_ids[batch.column("position").to_numpy()] = np.arange(start, start + batch.num_rows)
        start += batch.num_rows
    return new_ids


def _sorted_in_rows(user: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the items of every user in order; users stand in runs, in order."""
    return items[np.lexsort((items, user))]


def _numbers(n: int) -> Iterator[pa.Table]:
    for start in range(0, n, WRITTEN_ROWS):
        ids = np.arange(start, min(start + WRITTEN_ROWS, n))
        yield pa.table([pa.array(ids)], names=["user"])


def classes_of(
    data: Path, form: Format, names: pa.Array, n_rows: int, scratch: Path, memory_mib: int
) -> tuple[int, int]:
    """Return the size of the smallest class of a written data file, and how many there are.

    Rows are compared feature by feature; those without features are one class.

    Parameters
    ----------
    data, form
        The file of users and items, every user in one run, and its format.
    names
        Every item that may occur, in order.
    n_rows
        The users, those without items included.
    scratch
        A folder for scratch files.
    memory_mib
        The memory that counting may take.
    """
    filled = 0

    def rows() -> Iterator[pa.RecordBatch]:
        nonlocal filled
        for lists in grouped(_pairs(data, form, names)):
            filled += len(lists.users)
            yield pa.RecordBatch.from_arrays([lists.column()], names=["items"])

    schema = pa.schema([("items", pa.list_(pa.int32()))])
    reader = pa.RecordBatchReader.from_batches(schema, rows())
    with database(scratch, memory_mib=memory_mib, threads=1) as db:
        sizes = db.from_arrow(reader).aggregate("count(*) AS size", "items")
        smallest, n_classes = sizes.aggregate("min(size), count(*)").fetchall()[0]
    empty = n_rows - filled
    if empty:
        return min(smallest or empty, empty), n_classes + 1
    return smallest, n_classes


def _pairs(
    data: Path, form: Format, names: pa.Array
) -> Iterator[tuple[pa.Array, NDArray[np.int32]]]:
    """Yield the users of a data file and the numbers of their items."""
    source, numbering = Source(data, form), Numbering(names)
    if form.name in ("parquet", "arrow"):
        batches = columnar.bipartite_batches(source, BipartiteOptions(), Notes())
    else:
        batches = delimited.bipartite_batches(source, _dialect(form), (0, 1), Notes(), text=True)
    for batch in batches:
        users, items = pa.table(batch.columns, names=["user", "item"]).combine_chunks().columns
        yield users.combine_chunks().cast(pa.int64()), numbering.numbers_of(items.combine_chunks())


def _dialect(form: Format) -> Dialect:
    """Return how a text file of ours is written."""
    names = ("user", "item")
    remarked = form.name == "text"
    return Dialect(
        delimiter="," if form.name == "csv" else "\t",
        n_columns=2,
        header=() if remarked else names,
        spaced=False,
        widths=frozenset({2}),
        marked=names if remarked else (),
    )
