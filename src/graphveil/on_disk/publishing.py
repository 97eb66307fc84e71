"""Released rows on the disk into a release folder: new ids, files, linkage, a last check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from graphveil.engines.database import database
from graphveil.engines.engine import Engine
from graphveil.io import FORMATS, BipartiteOptions, Format, columnar, delimited
from graphveil.io.blocks import write_pairs
from graphveil.io.dialect import Dialect
from graphveil.io.raw import Notes
from graphveil.io.source import Source
from graphveil.on_disk.intake import PIECE_ROWS, Facts, Numbering, features_of
from graphveil.on_disk.lists import batches_in, grouped, lists_of
from graphveil.on_disk.pieces import KEY
from graphveil.progress import Advance, stage
from graphveil.records.manifest import Described
from graphveil.records.record import LINKAGE
from graphveil.release.files import SUPPRESSED_ENTRIES, described_file
from graphveil.release.staging import Staged

WRITTEN_ROWS = 1 << 20


class Target(NamedTuple):
    """Where and how data is published.

    Parameters
    ----------
    stage
        The folders that will become the release.
    form, extension
        The format of the data, and its extension with that of a compression.
    linkage
        Whether the linkage is kept.
    """

    stage: Staged
    form: Format
    extension: str
    linkage: bool


class Published(NamedTuple):
    """The staged data files, and the classes that they hold."""

    described: Described
    smallest_class: int
    n_classes: int


def publish(
    parts: list[Path], facts: Facts, place: Path, target: Target, engine: Engine
) -> Published:
    """Write the data files and the linkage, and count the classes again from what was written.

    Parameters
    ----------
    parts
        Released rows under random keys.
    facts
        The numbers of the original.
    place
        An empty folder.
    target
        Where to write.
    engine
        What sorts and writes.
    """
    (place / "released").mkdir()
    keep = ["position", "user", "items"]
    pieces = engine.sorted_chunks(
        parts, place / "released", by=KEY, keep=keep, chunk_rows=PIECE_ROWS
    )
    names = features_of(place.parent / "rows")
    writer = _Writer(names, place / "linkage.parquet")
    data = target.stage.public / f"data{target.extension}"
    texts = None if pa.types.is_integer(names.type) else names
    with stage(f"writing {data.name}", total=facts.n_rows) as advance:
        tables = writer.pairs(pieces, advance)
        engine.write(tables, data, form=target.form, names=texts)
    users = target.stage.public / "users.csv"
    write_pairs(_numbers(facts.n_rows), users, form=FORMATS["csv"], names=None)
    if target.linkage:
        with stage("writing the linkage"):
            _write_linkage(writer.linkage, place, target.stage.private / LINKAGE, engine)
    described = Described(
        kind="bipartite",
        files=[
            described_file(data, "data", target.form.name, ["user", "item"], writer.n_entries),
            described_file(users, "users", "csv", ["user"], facts.n_rows),
        ],
        counts={
            "users": facts.n_rows,
            "items": int(np.count_nonzero(writer.used)),
            "entries": writer.n_entries,
        },
        suppressed_cells=SUPPRESSED_ENTRIES,
    )
    with stage("counting classes"):
        smallest, n_classes = classes_of(
            data, target.form, names, facts.n_rows, place, engine.memory_mib
        )
    return Published(described, smallest, n_classes)


class _Writer:
    """Numbers rows anew as they pass, and notes who became whom."""

    def __init__(self, names: pa.Array, linkage: Path) -> None:
        self.names = names
        self.linkage = linkage
        self.n_entries = 0
        self.used = np.zeros(len(names), dtype=np.bool_)

    def pairs(self, pieces: list[Path], advance: Advance) -> Iterator[pa.Table]:
        """Yield users under new ids with their items; a last table may be empty."""
        start = 0
        linked = None
        try:
            for piece in pieces:
                for batch in batches_in(piece):
                    rows = lists_of(batch.column("user"), batch.column("items"))
                    n = len(rows.users)
                    ids = pa.array(np.arange(start, start + n))
                    start += n
                    columns = [batch.column("position"), rows.users, ids]
                    linkage = pa.table(columns, names=["position", "original", "released"])
                    linked = linked or parquet.ParquetWriter(self.linkage, linkage.schema)
                    linked.write_table(linkage)
                    self.n_entries += rows.indices.size
                    self.used[rows.indices] = True
                    user = np.repeat(ids.to_numpy(), np.diff(rows.indptr))
                    columns = [pa.array(user), self.names.take(pa.array(rows.indices))]
                    yield pa.table(columns, names=["user", "item"])
                    advance(n)
        finally:
            if linked is not None:
                linked.close()


def _numbers(n: int) -> Iterator[pa.Table]:
    for start in range(0, n, WRITTEN_ROWS):
        ids = np.arange(start, min(start + WRITTEN_ROWS, n))
        yield pa.table([pa.array(ids)], names=["user"])


def _write_linkage(source: Path, place: Path, target: Path, engine: Engine) -> None:
    """Write who became whom in the order of the original, for the owner alone."""
    (place / "linked").mkdir()
    keep = ["original", "released"]
    pieces = engine.sorted_chunks(
        [source], place / "linked", by=["position"], keep=keep, chunk_rows=PIECE_ROWS
    )
    target.touch(mode=0o600)
    with parquet.ParquetWriter(target, parquet.read_schema(pieces[0])) as writer:
        for piece in pieces:
            for batch in batches_in(piece):
                writer.write_batch(batch)


def classes_of(
    data: Path, form: Format, names: pa.Array, n_rows: int, place: Path, memory_mib: int
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
    place
        A folder for scratch files.
    memory_mib
        The memory that counting may take.
    """
    filled = 0

    def rows() -> Iterator[pa.RecordBatch]:
        nonlocal filled
        for found in grouped(_pairs(data, form, names)):
            filled += len(found.users)
            yield pa.RecordBatch.from_arrays([found.column()], names=["items"])

    schema = pa.schema([("items", pa.list_(pa.int32()))])
    reader = pa.RecordBatchReader.from_batches(schema, rows())
    with database(place, memory_mib=memory_mib, threads=1) as db:
        sizes = db.from_arrow(reader).aggregate("count(*) AS size", "items")
        smallest, n_classes = sizes.aggregate("min(size), count(*)").fetchall()[0]
    empty = n_rows - filled
    if empty:
        return min(smallest or empty, empty), n_classes + 1
    return smallest, n_classes


def _pairs(
    data: Path, form: Format, names: pa.Array
) -> Iterator[tuple[pa.Array, NDArray[np.int32]]]:
    """Yield the users and the places of the items of a data file."""
    source, numbering = Source(data, form), Numbering(names)
    if form.name in ("parquet", "arrow"):
        batches = columnar.bipartite_batches(source, BipartiteOptions(), Notes())
    else:
        batches = delimited.bipartite_batches(source, _dialect(form), (0, 1), Notes(), text=True)
    for batch in batches:
        users, items = pa.table(batch.columns, names=["user", "item"]).combine_chunks().columns
        yield users.combine_chunks().cast(pa.int64()), numbering.places(items.combine_chunks())


def _dialect(form: Format) -> Dialect:
    """Return how a text file of ours is written."""
    return Dialect(
        delimiter="," if form.name == "csv" else "\t",
        n_columns=2,
        header=("user", "item"),
        spaced=False,
        widths=frozenset({2}),
    )
