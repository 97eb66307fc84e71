"""Engines: sorting past memory, and processes that end with the run."""

from __future__ import annotations

import contextvars
import multiprocessing
import operator
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from graphveil.engines import LocalEngine, current, using
from graphveil.engines.local import piece_sizes
from graphveil.errors import ParameterError, ResourceError
from graphveil.progress import heard, notice

ALONE = LocalEngine(jobs=1)


# sorting


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=60), st.integers(1, 20))
def test_chunks_hold_all_rows_in_order(tmp_path_factory, values, chunk_rows):
    folder = tmp_path_factory.mktemp("chunks")
    half = len(values) // 2
    sources = [folder / "a.parquet", folder / "b.parquet"]
    for source, part in zip(sources, (values[:half], values[half:]), strict=True):
        number = np.arange(len(part)) + (0 if source is sources[0] else half)
        table = pa.table({"x": pa.array(part, pa.int64()), "number": number, "other": number})
        parquet.write_table(table, source)
    chunks = ALONE.sorted_chunks(
        sources, folder, by=["x", "number"], keep=["number", "x"], chunk_rows=chunk_rows
    )
    tables = [parquet.read_table(chunk).to_pydict() for chunk in chunks]
    assert piece_sizes(len(values), chunk_rows) == [len(table["x"]) for table in tables]
    rows = [row for table in tables for row in zip(table["x"], table["number"], strict=True)]
    assert sorted((x, number) for number, x in enumerate(values)) == rows
    assert not (folder / "spill").exists()


@given(st.integers(1, 500), st.integers(1, 60))
def test_pieces_are_those_of_a_run_in_memory(n, chunk_rows):
    pieces = np.array_split(np.arange(n), max(1, round(n / chunk_rows)))
    assert [piece.size for piece in pieces] == piece_sizes(n, chunk_rows)


def test_sorting_spills_where_memory_is_short(tmp_path):
    rng = np.random.default_rng(0)
    columns = {f"h{number}": rng.integers(0, 2**31, 1_500_000) for number in range(8)}
    parquet.write_table(pa.table(columns), tmp_path / "numbers.parquet")
    chunks = LocalEngine(jobs=1, memory_mib=64).sorted_chunks(
        [tmp_path / "numbers.parquet"], tmp_path, by=["h0"], keep=["h0"], chunk_rows=10**6
    )
    in_order = np.concatenate([parquet.read_table(chunk)["h0"].to_numpy() for chunk in chunks])
    assert np.array_equal(np.sort(columns["h0"]), in_order)


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
    assert any("Traceback" in note for note in caught.value.__notes__)
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


def test_an_interrupt_leaves_no_process():
    results = LocalEngine(jobs=2).map_chunks(abs, range(100))
    with pytest.raises(KeyboardInterrupt):
        _interrupted(results)
    results.close()
    assert [] == multiprocessing.active_children()


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
