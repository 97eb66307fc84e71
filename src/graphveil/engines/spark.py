"""The engine of a cluster: rows are DataFrames of a session of the user's, classic or Connect.

Nothing here configures, starts or stops a session. What runs on executors is graphveil itself, by
name, and values: no file of the driver, no RDD.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.engines.engine import MOST_ANSWERS, Answer, Dialect, Query
from graphveil.errors import UsageError
from graphveil.progress import stage

Frame: TypeAlias = Any
"""A DataFrame; pyspark is an extra, and a session brings it."""

MOST_REDUCERS = 4096
OLDEST, NEXT = (4, 0), (5, 0)
NOTE = "done.json"
READ_ROWS = 1 << 18
"""About how many rows come to the driver at a time."""


@dataclass(frozen=True, kw_only=True)
class SparkEngine:
    """Runs works on the executors of a Spark session.

    Parameters
    ----------
    spark
        The session, Spark 4: it is used as it is.
    working
        A folder that driver and executors can write: rows of people lie there while a run lasts.
    memory_mib
        The memory that counting in this process may take, in MiB.
    """

    spark: Any
    working: str | Path
    memory_mib: int = 1024

    def __post_init__(self) -> None:
        """Refuse a session of another version.

        Raises
        ------
        UsageError
            Where it is not Spark 4.
        """
        version = tuple(int(part) for part in self.spark.version.split(".")[:2])
        if not OLDEST <= version < NEXT:
            raise UsageError(
                f"the session is Spark {self.spark.version}, which lacks what a run needs. Use "
                "Spark 4."
            )

    @contextmanager
    def at(self, folder: Path) -> Iterator[SparkTables]:
        """Give the tables of one run; the working folder is deleted when it ends well.

        Parameters
        ----------
        folder
            The private folder of the run in this process; its name is that of the run.
        """
        working = Path(self.working) / folder.name.lstrip(".")
        working.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield SparkTables(self.spark, working)
        shutil.rmtree(working, ignore_errors=True)


class SparkTables:
    """The tables of one run on Spark.

    Parameters
    ----------
    spark
        The session.
    working
        The folder of the run.
    """

    dialect: Dialect = "spark"

    def __init__(self, spark: Any, working: Path) -> None:
        self._spark = spark
        self._working = working
        self._n_streams = 0

    def rows(self, source: Frame) -> Frame:
        """Return the rows of a DataFrame: they are read once, where they are kept first."""
        return source

    def select(self, query: Query, **rows: Frame) -> Frame:
        """Return what a query chooses."""
        if query.plain:
            return rows["rows"].select(*query.columns)
        return self._spark.sql(query.spelled(self.dialect), **rows)

    def ask(self, query: Query, **rows: Frame) -> Answer:
        """Return what a query answers."""
        answer = self.select(query, **rows).limit(MOST_ANSWERS + 1).collect()
        if len(answer) > MOST_ANSWERS:
            raise RuntimeError(f"a query answered with more than {MOST_ANSWERS} rows")
        return [tuple(row) for row in answer]

    def map(
        self, rows: Frame, work: Callable[[pa.RecordBatch], pa.RecordBatch], schema: pa.Schema
    ) -> Frame:
        """Return what a work makes of rows."""
        return rows.mapInArrow(_Batchwise(work), ddl(schema))

    def grouped(
        self,
        rows: Frame,
        by: str,
        n: int,
        work: Callable[[int, pa.Table], pa.Table],
        schema: pa.Schema,
    ) -> Frame:
        """Return what a work makes of groups of rows."""
        together = -(-n // MOST_REDUCERS)
        if not hasattr(rows, "repartitionById"):
            return rows.groupBy(by).applyInArrow(_Grouped(by, work), ddl(schema))
        number = rows[by] if together == 1 else (rows[by] / together).cast("int")
        parted = rows.repartitionById(-(-n // together), number)
        return parted.mapInArrow(_Partitioned(by, work, schema), ddl(schema))

    def kept(self, rows: Frame, name: str, doing: str) -> Frame:
        """Return the same rows out of Parquet files; what a run that stopped has noted stays."""
        folder, note = self._working / name, self._working / f"{name}.{NOTE}"
        if not note.is_file():
            with stage(doing):
                rows.write.mode("overwrite").parquet(_place(folder))
            with whole_file(note, mode=OWNER_ONLY) as part:
                part.write_bytes(json.dumps({"of": name}).encode())
        return self._spark.read.parquet(_place(folder))

    def batches(self, rows: Frame, by: str | None) -> Iterator[pa.RecordBatch]:
        """Yield rows to this process; in an order they are first written, and read in ranges."""
        if by is None:
            yield from rows.toArrow().to_batches()
            return
        self._n_streams += 1
        kept = self.kept(rows, f"stream-{self._n_streams:03d}", "writing rows in order")
        [(n,)] = kept.selectExpr(f"coalesce(max({by}) + 1, 0)").collect()
        for start in range(0, n, READ_ROWS):
            within = kept.where((kept[by] >= start) & (kept[by] < start + READ_ROWS))
            yield from within.toArrow().sort_by(by).combine_chunks().to_batches()


def ddl(schema: pa.Schema) -> str:
    """Return a schema as Spark spells it.

    Examples
    --------
    >>> ddl(pa.schema([("user", pa.string()), ("items", pa.list_(pa.int64()))]))
    '`user` STRING, `items` ARRAY<BIGINT>'
    """
    return ", ".join(f"`{field.name}` {_spelled(field.type)}" for field in schema)


def _spelled(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"ARRAY<{_spelled(kind.value_type)}>"
    return {pa.int32(): "INT", pa.int64(): "BIGINT", pa.string(): "STRING"}[kind]


def _place(path: Path) -> str:
    """Return a folder of this machine as Spark takes it, whatever its name."""
    return path.absolute().as_uri()


@dataclass(frozen=True)
class _Batchwise:
    """A work on every batch of a partition."""

    work: Callable[[pa.RecordBatch], pa.RecordBatch]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield what the work makes of every batch that has rows."""
        for batch in batches:
            if batch.num_rows:
                yield self.work(batch)


@dataclass(frozen=True)
class _Grouped:
    """A work on a group."""

    by: str
    work: Callable[[int, pa.Table], pa.Table]

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return what the work makes of the group."""
        whole = rows.combine_chunks()
        return self.work(int(whole[self.by][0].as_py()), whole)


@dataclass(frozen=True)
class _Partitioned:
    """A work on every group of a partition that holds groups whole."""

    by: str
    work: Callable[[int, pa.Table], pa.Table]
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield what the work makes of every group, in their order."""
        given = [batch for batch in batches if batch.num_rows]
        if not given:
            return
        rows = pa.Table.from_batches(given).combine_chunks()
        del given
        numbers = rows[self.by].to_numpy()
        groups = sorted(set(numbers.tolist()))
        if len(groups) == 1:
            yield from self.work(groups[0], rows).combine_chunks().to_batches()
            return
        for group in groups:
            chosen = rows.filter(pa.array(numbers == group)).combine_chunks()
            yield from self.work(group, chosen).combine_chunks().to_batches()
