"""What a run will cost, said before it: a fair draw, priced chunks, and nothing written."""

from __future__ import annotations

import json
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import graphveil as gv
from graphveil.cli import run as command_line
from graphveil.core.errors import InfeasibleError, InputError, UsageError
from graphveil.engines import LocalEngine, SparkEngine
from graphveil.io import BipartiteOptions
from graphveil.methods.smooth_k import Chunks, Greedy, SmoothK
from graphveil.scale import trial_cost, user_sample
from graphveil.scale.chunks import Released
from graphveil.scale.estimate import PART_COPIES, RATES_OF, WITHIN, WORKER_MIB, Range, estimated
from graphveil.scale.intake import InputRows, check_readable
from graphveil.scale.trial_cost import Priced
from graphveil.scale.user_sample import sample_of_file, sample_of_tables
from odd_engines import ScrambledTables

THINGS = BipartiteOptions(items="things")
METHOD = SmoothK(k=2, chunks=Chunks(rows=40), algorithm=Greedy(refine=None))
ALONE = LocalEngine(jobs=1)


def likes(n=200, *, text=False, seed=0):
    rng = np.random.default_rng(seed)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((n, 12)) < 0.25]
    users = (rng.permutation(n) + 100).tolist()
    if text:
        rows = [[f"item {feature:02d}" for feature in row] for row in rows]
        users = [f"person-{user:03d}" for user in users]
    return pa.table({"user": users, "items": pa.array(rows)})


def pairs_of(table):
    flat = [(u, i) for u, row in zip(*table.to_pydict().values(), strict=True) for i in row]
    return pa.table({"user": [u for u, _ in flat], "item": [i for _, i in flat]})


def by_user(table):
    return dict(zip(table["user"].to_pylist(), table["items"].to_pylist(), strict=True))


def draw(path):
    return sample_of_file(check_readable(path, THINGS), THINGS, 256)


def written(table, folder, kind):
    path = folder / f"likes.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "pairs.parquet":
        parquet.write_table(pairs_of(table), path)
    else:
        columns = pairs_of(table).to_pydict().values()
        lines = [f"{user},{item}" for user, item in zip(*columns, strict=True)]
        path.write_text("\n".join(["user,item", *lines, ""]))
    return path


# the draw


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("kind", ["parquet", "pairs.parquet", "csv"])
def test_few_users_are_drawn_whole(tmp_path, kind, text):
    table = likes(text=text)
    drawn = draw(written(table, tmp_path, kind))
    expected = {user: items for user, items in by_user(table).items() if items or not drawn.pairs}
    assert expected == by_user(drawn.rows)
    assert (1.0, len(expected)) == (drawn.share, drawn.n_rows)
    assert sum(map(len, expected.values())) == drawn.n_entries


@pytest.mark.parametrize("kind", ["parquet", "pairs.parquet"])
def test_of_many_users_a_share_is_drawn_each_with_all_items(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(user_sample, "SAMPLE_ROWS", 200)
    monkeypatch.setattr(user_sample, "SAMPLE_ENTRIES", 600)
    table = likes(4000)
    drawn = draw(written(table, tmp_path, kind))
    given_rows = by_user(table)
    assert by_user(drawn.rows).items() <= given_rows.items()
    assert 100 < drawn.rows.num_rows <= 400
    assert abs(drawn.share - drawn.rows.num_rows / 4000) < 0.2 * drawn.share
    entries = sum(map(len, given_rows.values()))
    assert abs(drawn.n_entries - entries) < 0.2 * entries
    if kind == "parquet":
        assert 4000 == drawn.n_rows
    else:
        assert abs(drawn.n_rows - 4000) < 800


def given_on(tables, path, *, lists=True):
    refused = pytest.fail
    n = parquet.read_metadata(path).num_rows
    rows = tables.rows([path])
    return InputRows(
        rows, n=n, lists=lists, user_is_integer=True, item_is_integer=True, refuse=refused
    )


@pytest.mark.parametrize("lists", [False, True])
def test_every_engine_draws_the_same_users(tmp_path, monkeypatch, lists):
    monkeypatch.setattr(user_sample, "SAMPLE_ROWS", 50)
    monkeypatch.setattr(user_sample, "SAMPLE_ENTRIES", 200)
    table = likes(1000)
    path = written(table, tmp_path, "parquet" if lists else "pairs.parquet")
    scrambled = ScrambledTables(np.random.default_rng(1), {})
    (tmp_path / "run").mkdir()
    with ALONE.at(tmp_path / "run") as tables:
        here = sample_of_tables(given_on(tables, path, lists=lists), tables)
    there = sample_of_tables(given_on(scrambled, path, lists=lists), scrambled)
    assert by_user(here.rows) == by_user(there.rows)
    assert by_user(here.rows).items() <= by_user(table).items()
    assert here[1:] == there[1:]
    assert 20 < here.rows.num_rows < 100
    assert {} == scrambled.stored


# the price


def meeting(rows):
    """Return how often two rows have an item in common, in both directions: the slow way."""
    return 2 * sum(len(set(one) & set(two)) for one, two in combinations(rows, 2))


@given(st.lists(st.sets(st.integers(0, 5)), min_size=2, max_size=12))
def test_rows_that_share_items_are_counted_as_by_hand(rows):
    table = pa.table(
        {"user": list(range(len(rows))), "items": pa.array(map(sorted, rows), pa.list_(pa.int64()))}
    )
    [batch] = table.to_batches()
    drawn = user_sample.UserSample(batch, len(rows), sum(map(len, rows)), 1.0, pairs=False)
    trial = trial_cost.Trial.of(drawn, METHOD)
    entries, meetings = trial.cells()
    assert [sum(map(len, rows))] == entries.tolist()
    assert [meeting(rows)] == meetings.tolist()


def test_chunks_of_all_users_are_denser_than_those_of_a_share(tmp_path, monkeypatch):
    path = written(likes(4000), tmp_path, "parquet")
    method = SmoothK(k=2, chunks=Chunks(rows=500), algorithm=Greedy(refine=None))
    whole = trial_cost.Trial.of(draw(path), method).cells()
    monkeypatch.setattr(user_sample, "SAMPLE_ROWS", 600)
    drawn = draw(path)
    assert drawn.share < 0.5
    some = trial_cost.Trial.of(drawn, method).cells()
    for expected, known in zip(whole, some, strict=True):
        assert expected.size == known.size == 8
        assert abs(expected.sum() - known.sum()) < 0.1 * expected.sum()


@given(
    st.lists(st.tuples(st.integers(1, 10**5), st.integers(0, 10**8)), min_size=3, max_size=9),
    st.tuples(*[st.floats(1e-3, 1.0)] * 3),
)
def test_factors_explain_what_chunks_did_cost(sizes, factors):
    entries, meetings = np.array(sizes, dtype=np.float64).T
    parts = np.stack([np.ones_like(entries), entries * 1e-5, meetings * 1e-8], axis=1)
    costs = parts @ np.array(factors)
    table = pa.table({"user": [1], "items": [[2]]})
    scaled = trial_cost._parts_of(entries, meetings)
    priced = Priced.of(costs.tolist(), scaled, [table])
    assert np.isclose(priced.price(entries, meetings).sum(), costs.sum(), rtol=1e-6)
    assert (priced.factors >= 0).all()


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13])
def test_the_densest_chunk_comes_first_and_every_chunk_once(n):
    ranked = np.random.default_rng(0).permutation(n)
    chosen = list(trial_cost._spread(ranked))
    assert ranked[-1] == chosen[0]
    assert list(range(n)) == sorted(chosen)


@pytest.fixture
def clock(monkeypatch):
    """Let every work take as long as this: a chunk a millisecond an entry, other work 0.1 s."""

    def timed(work):
        given_back = work()
        if isinstance(given_back, pa.RecordBatch):
            return 0.1, given_back
        return 1e-3 * clusters.pop(), given_back

    clusters = []
    call = Released.__call__

    def noted(self, number, table):
        clusters[:] = [len(table["items"].combine_chunks().flatten())]
        return call(self, number, table)

    monkeypatch.setattr(trial_cost, "_timed", timed)
    monkeypatch.setattr(Released, "__call__", noted)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_the_seconds_are_those_of_all_chunks_and_of_what_is_done_to_rows(tmp_path, engine):
    table = likes()
    cost = estimated(draw(written(table, tmp_path, "parquet")), METHOD, engine, processes=2)
    entries = sum(map(len, by_user(table).values()))
    rates = RATES_OF[engine]
    chunks = rates.clustered * 1e-3 * entries
    expected = rates.started + 2 * rates.process + rates.handled * 0.1 + chunks
    assert np.isclose(expected / WITHIN, cost.cpu_seconds.low)
    assert np.isclose(expected * WITHIN, cost.cpu_seconds.high)
    assert (200, 5, entries) == (cost.rows, cost.chunks, cost.entries)
    assert (engine == "local") == (cost.shuffle_bytes is None)
    assert np.isclose(expected / WITHIN / 3600, cost.core_hours.low)


@pytest.mark.usefixtures("clock")
def test_of_a_share_of_users_the_price_is_that_of_all(tmp_path, monkeypatch):
    path = written(likes(4000), tmp_path, "parquet")
    method = SmoothK(k=2, chunks=Chunks(rows=100), algorithm=Greedy(refine=None))
    whole = estimated(draw(path), method, "local")
    monkeypatch.setattr(user_sample, "SAMPLE_ROWS", 600)
    drawn = draw(path)
    some = estimated(drawn, method, "local")
    assert whole.rows == some.rows == 4000
    assert whole.chunks == some.chunks == 40
    chunk_seconds = 1.1 * 1e-3 * whole.entries

    def chunks_of(cost, n_handled):
        rest = RATES_OF["local"].started + RATES_OF["local"].handled * 0.1 * 4000 / n_handled
        return cost.cpu_seconds.low * WITHIN - rest

    assert np.isclose(chunk_seconds, chunks_of(whole, 4000))
    assert abs(chunks_of(some, drawn.rows.num_rows) - chunk_seconds) < 0.1 * chunk_seconds


def test_more_users_in_a_chunk_need_more_memory_and_more_users_more_disk(tmp_path):
    drawn = draw(written(likes(), tmp_path, "parquet"))
    large = SmoothK(k=2, chunks=Chunks(rows=10**6), algorithm=Greedy(refine=None))
    small = estimated(drawn, METHOD, "local")
    million = estimated(drawn._replace(n_rows=10**6, share=200 / 10**6), large, "local")
    assert million.worker_mib.low > 2 * small.worker_mib.low
    assert million.working_bytes.low > 1000 * small.working_bytes.low


def test_parts_that_works_write_take_a_shuffle_more_and_the_memory_of_one(tmp_path):
    drawn = draw(written(likes(), tmp_path, "parquet"))
    folder, address = (
        estimated(drawn, METHOD, "spark", parts_apart=apart) for apart in (False, True)
    )
    assert folder.worker_mib == address.worker_mib  # a part of 200 rows
    assert folder.shuffle_bytes.low < address.shuffle_bytes.low < 2 * folder.shuffle_bytes.low
    assert address.working_bytes.low < folder.working_bytes.low
    many = drawn._replace(n_rows=1 << 21, share=200 / (1 << 21))
    large = estimated(many, METHOD, "spark", parts_apart=True).worker_mib
    of_a_row = (large.low * WITHIN - WORKER_MIB) / PART_COPIES  # a part has 2^20
    entries = sum(map(len, by_user(likes()).values())) / 200
    assert 8 + 4 + 8 * entries < of_a_row < 8 + 4 + 8 * entries + 8


def test_a_range_is_about_what_is_expected():
    assert Range(2.0, 4.5) == Range.about(3.0)


# the verb and its command


def test_nothing_is_written_and_no_id_is_printed(tmp_path, capsys):
    path = written(likes(text=True), tmp_path, "csv")
    words = ["anonymize", "smooth-k", path, "--k=2", "--chunk-rows=40", "--no-refine", "--on-disk"]
    words += ["--items=things", "--jobs=1", f"--out={tmp_path / 'out'}", "--estimate"]
    assert 0 == command_line([str(word) for word in words])
    said = capsys.readouterr().out
    assert "Nothing was written" in said
    assert "person-" not in said
    assert "item 0" not in said
    assert 0 == command_line([*map(str, words), "--json"])
    cost = json.loads(capsys.readouterr().out)
    users = sum(bool(items) for items in by_user(likes()).values())
    assert ("local", users, 5) == (cost["engine"], cost["rows"], cost["chunks"])
    assert cost["cpu_seconds"][0] < cost["cpu_seconds"][1]
    assert cost["shuffle_bytes"] is None
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "--estimate applies to runs on disk or on a cluster. Add --on-disk"),
        (["--on-disk", "--nested-in=x"], "--nested-in requires all of the data in memory"),
        (["--on-disk", "--k=500", "--chunk-rows=1000"], "needs at least 500 rows"),
        (
            ["--on-disk", "--order=label-propagation", "--chunk-rows=40"],
            "order=label-propagation needs all data",
        ),
        (["--engine=spark"], "--engine spark requires --working FOLDER"),
    ],
)
def test_what_a_run_refuses_its_estimate_refuses(tmp_path, capsys, words, says):
    path = written(likes(), tmp_path, "parquet")
    command = ["anonymize", "smooth-k", str(path), "--items=things", "--estimate"]
    command += [] if "--k=500" in words else ["--k=2"]
    assert 0 != command_line([*command, f"--out={tmp_path / 'out'}", *words])
    assert says in capsys.readouterr().err
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("out", "at_address"), [(None, False), ("out", False), ("file:///out", True)]
)
def test_where_a_release_is_to_lie_reaches_what_is_said_of_a_cluster(
    tmp_path, monkeypatch, capsys, out, at_address
):
    asked = []

    def of_frame(*_, at_address):
        asked.append(at_address)
        raise UsageError("enough")

    engine = SparkEngine(spark=SimpleNamespace(version="4.1.0"), working=tmp_path / "working")
    monkeypatch.setattr("graphveil.scale.estimate.estimate_of_frame", of_frame)
    monkeypatch.setattr("graphveil.engines.spark.session", lambda: engine.spark)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="enough"):
        gv.estimate_rows(METHOD, "likes.parquet", out=out, engine=engine)
    if out is not None:
        words = f"anonymize smooth-k likes.parquet --k=2 --items=things --out={out} --private=own"
        spark = "--engine=spark --working=working --estimate"
        written(likes(), tmp_path, "parquet")
        assert 2 == command_line([*words.split(), *spark.split()])
        assert "enough" in capsys.readouterr().err
    assert {at_address} == set(asked)
    assert 1 + (out is not None) == len(asked)
    with pytest.raises(UsageError, match="s4://x"):
        gv.estimate_rows(METHOD, "likes.parquet", out="s4://x/y", engine=ALONE)


FRIENDS = {
    "numbered from the start": [(1, 2), (2, 3), (3, 1), (4, 2)],
    "far numbers": [(10, 900), (900, 7000), (8000, 10)],
    "text": [("ann", "bob"), ("bob", "tea"), ("cyd", "ann")],
    "numbers and text": [(12, "rye"), (40, "12"), (7000, "tea")],
}


@pytest.mark.parametrize("kind", ["parquet", "pairs.parquet", "csv"])
@pytest.mark.parametrize("which", FRIENDS)
def test_items_that_may_be_people_are_refused_in_the_words_of_the_run(tmp_path, which, kind):
    users, items = zip(*FRIENDS[which], strict=True)
    table = pa.table({"user": users, "items": [[item] for item in items]})
    path = written(table, tmp_path, kind)
    options = BipartiteOptions()
    with pytest.raises(InputError, match="people") as refused:
        gv.anonymize_rows(METHOD, path, tmp_path / "out", engine=ALONE, reading=options)
    with pytest.raises(InputError) as refused_before:
        gv.estimate_rows(METHOD, path, engine=ALONE, reading=options)
    assert str(refused.value) == str(refused_before.value)
    path = written(likes(60, text=True), tmp_path, kind)
    assert gv.estimate_rows(METHOD, path, engine=ALONE, reading=options).rows > 40


def test_a_target_that_exists_is_refused_before_rows_are_read(tmp_path, capsys):
    (tmp_path / "out").mkdir()
    command = ["anonymize", "smooth-k", str(tmp_path / "none.csv"), "--k=2", "--on-disk"]
    assert 2 == command_line([*command, f"--out={tmp_path / 'out'}", "--estimate"])
    assert "exists" in capsys.readouterr().err


def test_in_python_files_are_named_and_methods_are_those_that_run(tmp_path):
    path = written(likes(), tmp_path, "parquet")
    cost = gv.estimate_rows(METHOD, path, engine=ALONE, reading=THINGS)
    assert ("local", 200, 5) == (cost.engine, cost.rows, cost.chunks)
    with pytest.raises(UsageError, match="not a file on this machine"):
        gv.estimate_rows(METHOD, likes(), engine=ALONE)
    with pytest.raises(UsageError, match="needs all data in memory"):
        gv.estimate_rows(gv.Mondrian(k=2), path, engine=ALONE)
    with pytest.raises(InfeasibleError, match="at least 300 rows"):
        gv.estimate_rows(SmoothK(k=300), path, engine=ALONE, reading=THINGS)
    (tmp_path / "none.csv").write_text("user,item\n")
    with pytest.raises(InputError, match="no user"):
        gv.estimate_rows(METHOD, tmp_path / "none.csv", engine=ALONE)
