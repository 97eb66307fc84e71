"""Engines: rows in groups past memory, and processes that end with the run."""

from __future__ import annotations

import contextvars
import multiprocessing
import operator
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from graphveil.core.errors import ParameterError, ResourceError
from graphveil.core.progress import heard, notice
from graphveil.engines import LocalEngine, current, using
from graphveil.engines.local import LocalTables, database
from graphveil.engines.processes import Query, WorkerPool, done
from thorough import in_fuzz_alone

ALONE = LocalEngine(jobs=1)


# tables


@dataclass(frozen=True)
class Doubled:
    def __call__(self, batch):
        twice = pc.multiply(batch["x"], 2)
        return pa.RecordBatch.from_arrays([batch["group"], twice], names=["group", "x"])


@dataclass(frozen=True)
class Sums:
    def __call__(self, number, table):
        assert {number} == set(table["group"].to_pylist())
        return pa.table({"group": [number], "x": [sum(table["x"].to_pylist())]}, schema=SUMMED)


SUMMED = pa.schema([("group", pa.int64()), ("x", pa.int64())])
GROUPED = pa.schema([("group", pa.int32()), ("x", pa.int64())])


def tables_of(folder, parts):
    paths = []
    for number, part in enumerate(parts):
        paths.append(folder / f"{number}.parquet")
        groups, numbers = ([pair[side] for pair in part] for side in (0, 1))
        parquet.write_table(pa.table([groups, numbers], schema=GROUPED), paths[-1])
    return paths


pairs = st.lists(st.tuples(st.integers(0, 299), st.integers(-9, 9)), max_size=30)


@settings(deadline=None)
@given(st.lists(pairs, min_size=1, max_size=3), st.sampled_from([300, 301, 1000]))
def test_every_group_gets_all_of_its_rows_once(tmp_path_factory, parts, n):
    folder = tmp_path_factory.mktemp("groups")
    paths = tables_of(folder, parts)
    expected = Counter()
    for group, x in (pair for part in parts for pair in part):
        expected[group] += 2 * x
    with ALONE.at(folder) as tables:
        doubled = tables.map(tables.rows(paths), Doubled(), GROUPED)
        sums = tables.grouped(doubled, "group", n, Sums(), SUMMED)
        streamed = pa.Table.from_batches(tables.batches(sums, "group"), SUMMED).to_pylist()
        kept = tables.kept(sums, "sums", "adding up")
        answer = tables.ask(Query("SELECT x FROM {rows} ORDER BY x", ("x",)), rows=kept)
    seen = {row["group"]: row["x"] for row in streamed}
    assert dict(expected) == seen
    assert len(seen) == len(streamed)
    assert sorted(seen) == [row["group"] for row in streamed]
    assert sorted(expected.values()) == [x for (x,) in answer]
    assert {"done.json", "000000.arrow"} <= {path.name for path in (folder / "sums").iterdir()}
    assert not (folder / "sums" / "spread").exists()


def test_what_is_kept_is_not_computed_again_and_what_is_left_is(tmp_path):
    paths = tables_of(tmp_path, [[(0, 1), (1, 2), (1, 3), (2, 4)]])
    asked = []

    def counting(tasks):
        for task in tasks:
            asked.append(type(task).__name__)
            if asked.count("ArrowFileWriter") == 3 and len(asked) < 5:
                raise KeyboardInterrupt
            yield task()

    tables = LocalTables(tmp_path, 64, counting)
    sums = tables.grouped(tables.rows(paths), "group", 3, Sums(), SUMMED)
    with pytest.raises(KeyboardInterrupt):
        tables.kept(sums, "sums", "adding up")
    assert ["Spread", *["ArrowFileWriter"] * 3] == asked
    again = LocalTables(tmp_path, 64, counting)
    kept = again.kept(sums, "sums", "adding up")
    assert ["ArrowFileWriter"] == asked[4:]
    assert [1, 5, 4] == [
        row["x"] for batch in again.batches(kept, None) for row in batch.to_pylist()
    ]
    again.kept(sums, "sums", "adding up")
    assert 5 == len(asked)


COUNTED = """
import sys
from pathlib import Path
from graphveil.engines import LocalEngine
from graphveil.engines.processes import Query

folder = Path(sys.argv[1])
query = Query("SELECT count(DISTINCT x), max(x) FROM {rows}", ("x",))
with LocalEngine(jobs=1, memory_mib=128).at(folder) as tables:
    print(tables.ask(query, rows=tables.rows([folder / "numbers.parquet"])))
"""


@in_fuzz_alone  # how much memory a count needs at once is for DuckDB to decide
@pytest.mark.thorough
def test_rows_that_memory_cannot_hold_are_counted_on_the_disk(tmp_path):
    numbers = pa.table({"x": np.arange(6_000_000, dtype=np.int64)})
    parquet.write_table(numbers, tmp_path / "numbers.parquet")
    command = [sys.executable, "-c", COUNTED, str(tmp_path)]  # where DuckDB did nothing before
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "[(6000000, 5999999)]\n" == done.stdout, done.stderr
    assert not (tmp_path / "spill").exists()


def test_databases_share_an_engine_one_after_the_other_and_nothing_else(tmp_path):
    with database(tmp_path, memory_mib=256, threads=1) as one:
        one.execute("CREATE TABLE numbers AS SELECT 1 AS n")
        one.register("handed_over", pa.table({"n": [3]}))
        with database(tmp_path, memory_mib=256, threads=1) as other:
            for query in ("SELECT * FROM numbers", "SELECT * FROM handed_over"):
                with pytest.raises(duckdb.CatalogException):
                    other.execute(query)
    with database(tmp_path / "later", memory_mib=256, threads=1) as later:
        for query in ("SELECT * FROM numbers", "SELECT * FROM handed_over"):
            with pytest.raises(duckdb.CatalogException):
                later.execute(query)
        folder = later.execute("SELECT current_setting('temp_directory')").fetchone()
        assert str(tmp_path / "later" / "spill") == folder[0]


def test_a_query_that_memory_ends_says_how_much_there_was(tmp_path, monkeypatch):
    @contextmanager
    def ended(folder, *, memory_mib, threads):
        with database(folder, memory_mib=memory_mib, threads=threads) as db:
            db.execute("SET memory_limit = '1KiB'")
            yield db

    monkeypatch.setattr("graphveil.engines.local.database", ended)
    paths = tables_of(tmp_path, [[(0, 1), (1, 2), (2, 3)]])
    query = Query("SELECT count(DISTINCT x), max(x) FROM {rows}", ("x",))
    with (
        LocalEngine(jobs=1, memory_mib=256).at(tmp_path) as tables,
        pytest.raises(ResourceError, match="more than 256 MiB"),
    ):
        tables.ask(query, rows=tables.rows(paths))
    assert not (tmp_path / "spill").exists()


def test_a_query_that_answers_with_too_much_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("graphveil.engines.local.MOST_ANSWERS", 2)
    paths = tables_of(tmp_path, [[(0, 1), (1, 2), (2, 3)]])
    with ALONE.at(tmp_path) as tables, pytest.raises(RuntimeError, match="more than 2 rows"):
        tables.ask(Query("SELECT x FROM {rows}", ("x",)), rows=tables.rows(paths))


def test_processes_stay_for_further_tasks_and_end_with_the_run(tmp_path):
    paths = tables_of(tmp_path, [[(0, 1)], [(1, 2)], [(0, 3)]])
    with LocalEngine(jobs=2).at(tmp_path) as tables:
        rows = tables.map(tables.rows(paths), Doubled(), GROUPED)
        tables.kept(rows, "doubled", "doubling")
        first = {process.pid for process in multiprocessing.active_children()}
        sums = tables.grouped(rows, "group", 2, Sums(), SUMMED)
        kept = tables.kept(sums, "sums", "adding up")
        assert first == {process.pid for process in multiprocessing.active_children()}
        assert [8, 4] == [x for batch in tables.batches(kept, None) for x in batch["x"].to_pylist()]
    assert [] == multiprocessing.active_children()


# processes


def test_results_come_in_the_order_of_the_tasks_from_any_number_of_processes():
    tasks = list(range(-3, 4))
    expected = [abs(task) for task in tasks]
    assert expected == list(LocalEngine(jobs=1).map_chunks(abs, tasks))
    assert expected == list(LocalEngine(jobs=2).map_chunks(abs, tasks))
    assert [] == multiprocessing.active_children()


def test_few_tasks_are_asked_for_ahead_of_time():
    asked = []

    def tasks():
        for task in range(50):
            asked.append(task)
            yield task

    with closing(LocalEngine(jobs=2).map_chunks(abs, tasks())) as results:
        assert 0 == next(results)
        assert len(asked) <= 9


def test_an_error_in_a_process_is_raised_here_and_ends_the_others():
    with pytest.raises(ZeroDivisionError) as caught:
        list(LocalEngine(jobs=2).map_chunks(partial(operator.floordiv, 6), [3, 0, 2]))
    assert "Traceback" in str(caught.value.__cause__)
    assert [] == multiprocessing.active_children()


def test_what_processes_notice_is_heard_once_in_the_one_that_started_them():
    texts = []
    with heard(texts.append):
        said = list(LocalEngine(jobs=2).map_chunks(notice, ["tea", "tea", "rye"]))
    assert [True] * 3 == said
    assert ["rye", "tea"] == sorted(texts)


def test_a_thread_that_takes_over_the_context_has_its_engine_and_is_heard():
    texts = []
    with using(ALONE), heard(texts.append), ThreadPoolExecutor(1) as pool:
        inside = contextvars.copy_context()
        assert ALONE is pool.submit(inside.run, current).result()
        assert pool.submit(inside.run, notice, "tea").result()
        assert not pool.submit(notice, "of a thread of its own").result()
    assert ["tea"] == texts


def test_a_process_that_dies_is_an_error_with_the_way_out():
    with pytest.raises(ResourceError, match=r"a worker process ended .*__main__"):
        list(LocalEngine(jobs=2).map_chunks(os._exit, [1]))
    assert [] == multiprocessing.active_children()


def test_whoever_stops_reading_leaves_processes_to_others():
    with WorkerPool(done, 2) as crew:
        assert [0] == list(crew.mapped([partial(abs, 0)]))
        assert [1, 2] == list(crew.mapped([partial(abs, 1), partial(abs, -2)]))
        results = crew.mapped([partial(abs, 3), *[partial(abs, 4)] * 9])
        assert 3 == next(results)
        results.close()
        assert [5] == list(crew.mapped([partial(abs, 5)]))
        assert [6] * 9 == list(crew.mapped([partial(abs, 6)] * 9))
        assert 2 == len(multiprocessing.active_children())
    assert [] == multiprocessing.active_children()


def test_an_interrupt_leaves_no_process():
    results = LocalEngine(jobs=2).map_chunks(abs, range(100))
    with pytest.raises(KeyboardInterrupt):
        _interrupted(results)
    results.close()
    assert [] == multiprocessing.active_children()


STARTER = """
import multiprocessing, time
from graphveil.engines import LocalEngine

if __name__ == "__main__":
    results = LocalEngine(jobs=2).map_chunks(abs, range(100))
    next(results)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    time.sleep(600)
"""


def is_running(pid):
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_processes_end_with_the_one_that_started_them_even_if_that_is_killed(tmp_path):
    script = tmp_path / "starter.py"
    script.write_text(STARTER)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as starter:
        workers = starter.stdout.readline().split()
        starter.kill()
    assert workers
    deadline = time.monotonic() + 30
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [] == [pid for pid in workers if is_running(pid)]


def _interrupted(results):
    for _ in results:
        raise KeyboardInterrupt


@pytest.mark.parametrize("values", [{"jobs": 0}, {"memory_mib": 8}])
def test_an_engine_of_nothing_is_refused(values):
    with pytest.raises(ParameterError, match="is below"):
        LocalEngine(**values)


def test_the_engine_in_use_is_the_innermost_one():
    one, other = LocalEngine(jobs=1), LocalEngine(jobs=3)
    with using(one):
        with using(other):
            assert other is current()
        assert one is current()
    assert 1 == current().jobs


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_tasks_give_no_results_and_end(jobs):
    assert [] == list(LocalEngine(jobs=jobs).map_chunks(len, []))
