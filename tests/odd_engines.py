"""Engines that do odd things, to see that a run does not mind, or stops in time.

In a `ScrambledEngine` rows, batches and groups stand in another order every time, and every work
runs twice. What a run makes on it is what it makes anywhere, or one of its works depends on more
than the set of rows that it gets. A `HookedEngine` is a local one that something happens to.
"""

from __future__ import annotations

import pickle
from contextlib import contextmanager

import duckdb
import numpy as np
import pyarrow as pa

from graphveil.engines import LocalEngine
from graphveil.engines.local import ArrowFileWriter, Gathered, LocalTables, stream
from graphveil.io.readers.columnar import read_parquet
from graphveil.scale.chunks import Released


def _permuted(table, rng):
    return table.take(pa.array(rng.permutation(table.num_rows)))


class ScrambledTables:
    """Tables in memory; every reading computes them anew, in another order, until they are kept."""

    dialect = "duckdb"

    def __init__(self, rng, stored, *, apart=False):
        self.apart = apart
        self.rng = rng
        self.stored = stored

    def rows(self, source):
        return lambda: pa.concat_tables([read_parquet(path) for path in source])

    def select(self, query, **rows):
        return lambda: self._chosen(query, rows)

    def ask(self, query, **rows):
        return self._database(query, rows).execute(query.spelled(self.dialect)).fetchall()

    def map(self, rows, work, schema):
        def mapped():
            table = _permuted(rows(), self.rng)
            cuts = np.sort(self.rng.integers(0, table.num_rows + 1, 2)).tolist()
            made = [schema.empty_table()]
            for start, end in zip([0, *cuts], [*cuts, table.num_rows], strict=True):
                batch = table.slice(start, end - start).combine_chunks().to_batches()
                if batch:
                    made.append(self._twice(work, batch[0]))
            return pa.concat_tables(made)

        return mapped

    def grouped(self, rows, by, n, work, schema):
        def gathered():
            table = rows()
            numbers = table[by].to_numpy()
            made = [schema.empty_table()]
            for group in self.rng.permutation(n).tolist():
                chosen = table.filter(pa.array(numbers == group)).combine_chunks()
                if chosen.num_rows:
                    once, again = (
                        pickle.loads(pickle.dumps(work))(group, _permuted(chosen, self.rng))  # noqa: S301  our own
                        for _ in range(2)
                    )
                    assert once.equals(again)
                    assert schema.equals(once.schema)
                    made.append(once)
            return pa.concat_tables(made)

        return gathered

    def kept(self, rows, name, doing):
        del doing
        if name not in self.stored:
            self.stored[name] = rows()
        return self.kept_as(name)

    def kept_as(self, name):
        return lambda: _permuted(self.stored[name], self.rng)

    def batches(self, rows, by):
        table = rows()
        if by is None:
            yield from table.to_batches(max_chunksize=7)
            return
        yield from table.sort_by(by).combine_chunks().to_batches(max_chunksize=7)

    def _chosen(self, query, rows):
        relation = self._database(query, rows).sql(query.spelled(self.dialect))
        return pa.Table.from_batches(list(stream(relation)))

    def _database(self, query, rows):
        db = duckdb.connect(config={"threads": 1})
        for name, table in rows.items():
            chosen = [column for column in query.columns if column in table().column_names]
            db.register(name, _permuted(table(), self.rng).select(chosen))
        return db

    @staticmethod
    def _twice(work, batch):
        once, again = (pickle.loads(pickle.dumps(work))(batch) for _ in range(2))  # noqa: S301  our own
        assert once.equals(again)
        return pa.Table.from_batches([once])


class ScrambledEngine:
    """See `ScrambledTables`; what a run kept stays to be looked at."""

    memory_mib = 256

    def __init__(self, seed=None, *, apart=False):
        self.apart = apart
        self.rng = np.random.default_rng(seed)
        self.stored = {}

    @contextmanager
    def at(self, folder, run):
        del folder, run
        self.stored.clear()
        yield ScrambledTables(self.rng, self.stored, apart=self.apart)


class HookedEngine(LocalEngine):
    """A local engine of one process that calls `before` for every chunk."""

    def before(self, number, task):
        """Do something before a chunk is clustered; the number is of those not yet done."""

    @contextmanager
    def at(self, folder, run=""):
        del run

        def done(tasks):
            number = 0
            for task in tasks:
                if _clusters(task):
                    self.before(number, task)
                    number += 1
                yield task()

        yield LocalTables(folder, self.memory_mib, done)


def _clusters(task):
    return (
        isinstance(task, ArrowFileWriter)
        and isinstance(task.piece, Gathered)
        and isinstance(task.piece.work, Released)
    )


class Interrupted(HookedEngine):
    """An engine that is interrupted after two chunks."""

    def before(self, number, task):
        del task
        if number == 2:
            raise KeyboardInterrupt


class Session:
    """A session whose executors do a work in this process, once a folder is changed."""

    def __init__(self, before=lambda: None):
        self._before = before

    def range(self, n, *, numPartitions):  # noqa: N803  as in Spark
        del n, numPartitions
        return self

    def mapInArrow(self, work, schema):  # noqa: N802  as in Spark
        del schema
        self._work = work
        return self

    def distinct(self):
        return self

    def collect(self):
        self._before()
        [batch] = self._work([])
        return [(text,) for text in batch["has"].to_pylist()]
