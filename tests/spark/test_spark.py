"""Runs on Spark: the release of one machine, byte for byte, and one line for what goes wrong."""

from __future__ import annotations

import json
import shutil
import stat
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import graphveil as gv
from faulty_works import Failing, Killed, Unplaced
from graphveil.cli import run as command_line
from graphveil.core.errors import (
    GraphveilWarning,
    InfeasibleError,
    InputError,
    ReleaseError,
    ResourceError,
    UsageError,
)
from graphveil.engines import LocalEngine, SparkEngine
from graphveil.engines.spark import SparkTables, check_executors, equipment
from graphveil.io import BipartiteOptions
from graphveil.methods.smooth_k import Chunks, Greedy, SmoothK
from graphveil.scale import columns as queries
from graphveil.scale.chunks import Released
from graphveil.scale.columns import FACTS
from graphveil.scale.frame_source import FrameSource
from graphveil.scale.user_sample import sample_of_tables
from graphveil.scale.writing import PartOfUsers
from thorough import in_fuzz_alone

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning"),
]

SEED = 918273645546372819
METHOD = SmoothK(k=2, chunks=Chunks(rows=60), algorithm=Greedy(refine=None))
THINGS = BipartiteOptions(items="things")


def likes(n=400, *, text=False, seed=0):
    rng = np.random.default_rng(seed)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((n, 12)) < 0.25]
    users = (rng.permutation(n) + 100).tolist()
    if text:
        rows = [[f"it'em \n{feature:02d}" for feature in row] for row in rows]
        users = [f"person-ü{user:03d}" for user in users]
    return pa.table({"user": users, "items": pa.array(rows)})


def pairs_of(table):
    flat = [(u, i) for u, row in zip(*table.to_pydict().values(), strict=True) for i in row]
    return pa.table({"user": [u for u, _ in flat], "item": [i for _, i in flat]})


def engine_of(spark, folder):
    return SparkEngine(spark=spark, working=folder / "working")


def tables_of(spark, folder):
    return SparkTables(spark, folder, "a run")


def refuse_secrets(spark, *secrets):
    """See that none of these texts stands in the event log of the session."""
    logged = [file for file in spark.events.rglob("*") if file.is_file()]
    assert logged
    for file in logged:
        content = file.read_bytes()
        assert [] == [secret for secret in secrets if secret.encode() in content]


def files_of(out):
    names = ("data.parquet", "users.csv", "release.json")
    private = out.with_name(f"{out.name}.private")
    return [(out / name).read_bytes() for name in names] + [
        (private / "linkage.parquet").read_bytes()
    ]


class Without:
    """A DataFrame of Spark 4.0, which has no `repartitionById`."""

    def __init__(self, frame):
        self._frame = frame

    def __getattr__(self, name):
        if name == "repartitionById":
            raise AttributeError(name)
        return getattr(self._frame, name)


class OfSpark40(SparkTables):
    """Tables that group as Spark 4.0 does."""

    def grouped(self, rows, *arguments):
        return super().grouped(Without(rows), *arguments)


WIDE = "spark.sql.execution.arrow.useLargeVarTypes"


@contextmanager
def set_in(spark, name, value):
    """Set what a session is to do, as long as this lasts."""
    before = spark.conf.get(name)
    spark.conf.set(name, value)
    yield
    spark.conf.set(name, before)


@pytest.mark.parametrize(
    ("text", "pairs", "partitions", "old"),
    [(False, False, 4, False), (True, True, 3, True)],
)
def test_the_release_is_that_of_one_machine(
    spark, tmp_path, monkeypatch, text, pairs, partitions, old
):
    table = pairs_of(likes(text=text)) if pairs else likes(text=text)
    path = tmp_path / "likes.parquet"
    parquet.write_table(table, path)
    options = {"seed": SEED, "reading": THINGS}
    here = gv.anonymize_rows(METHOD, path, tmp_path / "here", engine=LocalEngine(jobs=1), **options)
    frame = spark.read.parquet(str(path)).repartition(partitions)
    if old:
        monkeypatch.setattr("graphveil.engines.spark.SparkTables", OfSpark40)
    monkeypatch.setattr("graphveil.scale.parts.BUCKET_ROWS", 150)
    engine = engine_of(spark, tmp_path)
    there = gv.anonymize_rows(METHOD, frame, tmp_path / "there", engine=engine, **options)
    assert files_of(here) == files_of(there)
    assert gv.verify_release(there, original=gv.read_bipartite(path, items="things")).ok
    assert [] == list((tmp_path / "working").iterdir())
    refuse_secrets(spark, str(SEED), f"{SEED:x}", "person-", "it'em")


def test_a_release_in_parts_is_that_of_one_machine(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("graphveil.claims.parts.PART_USERS", 150)
    monkeypatch.setattr("graphveil.io.parts.GROUP_ROWS", 70)
    monkeypatch.setattr("graphveil.verify.kinds.feature_parts.GROUP_ROWS", 70)
    path = tmp_path / "likes.parquet"
    parquet.write_table(likes(), path)
    options = {"seed": SEED, "reading": THINGS}
    here = gv.anonymize_rows(METHOD, path, tmp_path / "here", engine=LocalEngine(jobs=1), **options)
    frame = spark.read.parquet(str(path)).repartition(3)
    engine = engine_of(spark, tmp_path)
    there = gv.anonymize_rows(METHOD, frame, tmp_path / "there", engine=engine, **options)
    names = ["release.json", *(f"data/part-{number:05d}.parquet" for number in range(3))]
    assert [(here / n).read_bytes() for n in names] == [(there / n).read_bytes() for n in names]
    assert gv.verify_release(there, original=gv.read_bipartite(path, items="things")).ok


@pytest.mark.thorough
@in_fuzz_alone
@pytest.mark.timeout(900)
@settings(
    deadline=None, max_examples=6, phases=(Phase.generate,), suppress_health_check=list(HealthCheck)
)
@given(
    st.lists(st.lists(st.integers(0, 9)), min_size=6, max_size=40),
    st.fixed_dictionaries(
        {
            **dict.fromkeys(("text", "at_address", "old", "wide"), st.booleans()),
            "chunk_rows": st.integers(4, 12),
            "partitions": st.integers(1, 5),
            "users": st.integers(5, 20),
        }
    ),
)
def test_any_rows_give_the_same_release_as_on_one_machine(spark, tmp_path_factory, rows, how):
    how = SimpleNamespace(**how)
    folder = tmp_path_factory.mktemp("rows")
    (folder / "current").mkdir()
    kind = pa.string() if how.text else pa.int64()
    items = [[f"item\n'{item}" for item in row] if how.text else row for row in rows]
    names = [f"p{n}" if how.text else n for n in range(len(rows))]
    path = folder / "likes.parquet"
    parquet.write_table(pa.table({"user": names, "items": pa.array(items, pa.list_(kind))}), path)
    method = SmoothK(k=2, chunks=Chunks(rows=how.chunk_rows), algorithm=Greedy(refine=None))
    frame = spark.read.parquet(str(path)).repartition(how.partitions)
    with pytest.MonkeyPatch.context() as patched, set_in(spark, WIDE, str(how.wide).lower()):
        patched.setattr("graphveil.claims.parts.PART_USERS", how.users)
        patched.setattr("graphveil.scale.parts.BUCKET_ROWS", 9)
        patched.setattr("graphveil.scale.parts.MOST_ROWS", 4)
        patched.chdir(folder / "current")
        if how.old:
            patched.setattr("graphveil.engines.spark.SparkTables", OfSpark40)
        for name, source, engine in (
            ("here", path, LocalEngine(jobs=1)),
            ("there", frame, engine_of(spark, folder)),
        ):
            place = folder / name
            place.mkdir()
            start = "file://" if how.at_address else ""
            gv.anonymize_rows(
                method,
                source,
                f"{start}{place}/out",
                private=f"{start}{place}/owner",
                engine=engine,
                seed=SEED,
                reading=THINGS,
                parts=True,
            )
        assert gv.verify_release(folder / "there" / "out").ok
    here, there = (
        {
            str(file.relative_to(folder / name)): file.read_bytes()
            for file in (folder / name).rglob("*.parquet")
        }
        for name in ("here", "there")
    )
    assert here
    assert here == there


class Faulty(SparkTables):
    """Tables of which one process is killed, and a part refused twice."""

    marks = None

    def grouped(self, rows, by, n, work, schema):
        if isinstance(work, Released):
            work = Killed(work, self.marks)
        elif isinstance(work, PartOfUsers):
            work = Unplaced(work, self.marks, 2)
        return super().grouped(rows, by, n, work, schema)


@pytest.mark.thorough
@in_fuzz_alone
def test_executors_that_fail_at_first_write_the_parts_of_one_machine_at_an_address(
    spark, tmp_path, monkeypatch
):
    (tmp_path / "marks").mkdir()
    monkeypatch.setattr(Faulty, "marks", tmp_path / "marks")
    monkeypatch.setattr("graphveil.engines.spark.SparkTables", Faulty)
    for name in ("claims.manifest.PART_USERS", "io.parts.GROUP_ROWS"):
        monkeypatch.setattr(f"graphveil.{name}", 150 if "USERS" in name else 70)
    monkeypatch.setattr("graphveil.verify.kinds.feature_parts.GROUP_ROWS", 70)
    (tmp_path / "current").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    path = tmp_path / "likes.parquet"
    parquet.write_table(likes(text=True), path)
    options = {"seed": SEED, "reading": THINGS}
    written = {}
    for name, engine in (
        ("here", LocalEngine(jobs=1)),
        ("there", SparkEngine(spark=spark, working=f"file://{tmp_path}/working")),
    ):
        frame = path if name == "here" else spark.read.parquet(str(path)).repartition(3)
        out, owner = (f"file://{tmp_path}/{place} {name}" for place in ("out", "owner"))
        address = gv.anonymize_rows(METHOD, frame, out, engine=engine, private=owner, **options)
        assert gv.verify_release(address).ok
        written[name] = {
            file.relative_to(tmp_path / f"{place} {name}").as_posix(): file.read_bytes()
            for place in ("out", "owner")
            for file in (tmp_path / f"{place} {name}").rglob("*")
            if file.is_file() and file.name != "record.json"
        }
    local = gv.anonymize_rows(METHOD, path, tmp_path / "a folder", engine=LocalEngine(), **options)
    assert written["here"] == written["there"]
    assert {"killed-0", "put-0", "put-1"} == {path.name for path in (tmp_path / "marks").iterdir()}
    for name in ("release.json", "data/part-00000.parquet", "data/part-00002.parquet"):
        assert (local / name).read_bytes() == written["there"][name]
    for folder in ("data", "linkage"):
        assert 3 == sum(name.startswith(f"{folder}/") for name in written["there"])
    kept = gv.anonymize_rows(
        METHOD,
        spark.read.parquet(str(path)),
        f"file://{tmp_path}/again",
        private=tmp_path / "owned",
        engine=engine_of(spark, tmp_path),
        **options,
    )
    linked = (tmp_path / "owned" / "linkage.parquet").read_bytes()
    assert (tmp_path / "a folder.private" / "linkage.parquet").read_bytes() == linked
    assert gv.verify_release(kept).ok
    assert [] == list((tmp_path / "working").iterdir()) + list((tmp_path / "current").iterdir())
    refuse_secrets(spark, str(SEED), f"{SEED:x}", f"{tmp_path}/owner there", f"{tmp_path}/owned")


def test_executors_that_do_not_reach_an_address_are_named_before_rows_are_read(spark, tmp_path):
    out = f"file://{tmp_path}/out"
    (tmp_path / "closed").write_text("a file, where a folder should be")
    given = {"engine": engine_of(spark, tmp_path), "reading": THINGS}
    for private in (f"file://{tmp_path}/closed/owner", f"file://{out}/owner"):
        with pytest.raises(UsageError):
            gv.anonymize_rows(METHOD, None, out, private=private, **given)
    assert not (tmp_path / "out").exists()
    given["engine"] = SparkEngine(spark=spark, working="s3a://owner/run")  # no connector is here
    with pytest.raises(
        ResourceError, match=r"^Spark failed while writing to s3a://owner/run: "
    ) as refused:
        gv.anonymize_rows(METHOD, spark.range(1), tmp_path / "out", **given)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_files_and_folders_are_read_and_written_whatever_their_names(spark, tmp_path):
    folder = tmp_path / "ü b%20[1]{2}*?"
    folder.mkdir()
    path = folder / "likes.parquet"
    parquet.write_table(likes(20), path)
    source = FrameSource.of(path, spark)
    tables = tables_of(spark, folder)
    assert 20 == tables.kept(tables.rows(source.frame), "rows", "keeping").count()
    assert [folder] == list(tmp_path.iterdir())
    assert any((folder / "rows").iterdir())
    parquet.write_table(likes(21), path)
    assert source.origins != FrameSource.of(path, spark).origins


@pytest.mark.thorough
@in_fuzz_alone
def test_above_the_size_that_is_sampled_whole_the_release_is_that_of_one_machine(
    spark, tmp_path, monkeypatch
):
    monkeypatch.setattr("graphveil.scale.chunks.SAMPLED", 20)
    monkeypatch.setattr("graphveil.scale.chunks.SAMPLED_OF_A_CHUNK", 1)
    path = tmp_path / "likes.parquet"
    parquet.write_table(likes(), path)
    options = {"seed": SEED, "reading": THINGS}
    here = gv.anonymize_rows(METHOD, path, tmp_path / "here", engine=LocalEngine(jobs=1), **options)
    engine = engine_of(spark, tmp_path)
    there = gv.anonymize_rows(METHOD, str(path), tmp_path / "there", engine=engine, **options)
    assert files_of(here) == files_of(there)


@pytest.mark.parametrize("pairs", [False, True])
def test_a_run_is_priced_from_a_draw_and_nothing_is_written(spark, tmp_path, monkeypatch, pairs):
    monkeypatch.setattr("graphveil.scale.user_sample.SAMPLE_ROWS", 60)
    monkeypatch.setattr("graphveil.scale.user_sample.SAMPLE_ENTRIES", 400)
    table = pairs_of(likes(text=True)) if pairs else likes(text=True)
    path = tmp_path / "likes.parquet"
    parquet.write_table(table, path)
    engine = engine_of(spark, tmp_path)
    source = FrameSource.of(path, spark)
    tables = tables_of(spark, tmp_path)
    drawn = sample_of_tables(source.given(tables, THINGS), tables)
    users = likes(text=True).to_pydict()
    rows = dict(zip(users["user"], users["items"], strict=True))
    assert dict(zip(*drawn.rows.to_pydict().values(), strict=True)).items() <= rows.items()
    assert 0 < drawn.rows.num_rows < 400
    cost = gv.estimate_rows(METHOD, str(path), engine=engine, reading=THINGS)
    assert ("spark", drawn.n_rows) == (cost.engine, cost.rows)
    assert cost.shuffle_bytes.low > 0
    items = "id AS item" if pairs else "array(id) AS items"
    people = spark.range(5).selectExpr("id AS user", items)
    with pytest.raises(InputError, match="the DataFrame: users and items are both numbered"):
        gv.estimate_rows(METHOD, people, engine=engine)
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.thorough
@in_fuzz_alone
def test_the_command_takes_a_folder_of_parts(spark, tmp_path, capsys):
    (tmp_path / "lists").mkdir()
    parquet.write_table(likes(80), tmp_path / "lists" / "part-0.parquet")
    parquet.write_table(likes(80).slice(0, 0), tmp_path / "lists" / "part-1.parquet")
    words = ["anonymize", "suppress-k", tmp_path / "lists", "--k=2", "--chunk-rows=40", "--json"]
    words += ["--items=things", "--engine=spark", f"--out={tmp_path / 'out'}"]
    assert 2 == command_line([str(word) for word in words])
    assert "--engine spark requires --working FOLDER" in capsys.readouterr().err
    words.append(f"--working={tmp_path / 'run'}")
    assert 0 == command_line([str(word) for word in words])
    assert json.loads(capsys.readouterr().out)["folder"] == str(tmp_path / "out")
    assert spark.range(1).count() == 1
    assert gv.verify_release(tmp_path / "out").ok


# stages that stop


class Stopped(SparkTables):
    """Tables whose run is interrupted when its chunks are done."""

    def kept(self, rows, name, doing):
        kept = super().kept(rows, name, doing)
        if name == "released":
            raise KeyboardInterrupt
        return kept


class Watched(SparkTables):
    """Tables that clusters nothing again."""

    def grouped(self, rows, by, n, work, schema):
        assert not isinstance(work, Released) or (self._working / "released.done.json").is_file()
        return super().grouped(rows, by, n, work, schema)


def stop(given, monkeypatch, **options):
    """Stop a run when its chunks are done, and return its folder that executors see."""
    with monkeypatch.context() as patched:
        patched.setattr("graphveil.engines.spark.SparkTables", Stopped)
        with pytest.raises(KeyboardInterrupt), pytest.warns(GraphveilWarning, match="unfinished"):
            gv.anonymize_rows(*given, **options)
    return max(options["engine"].working.iterdir(), key=lambda folder: folder.stat().st_mtime_ns)


def test_an_interrupted_run_goes_on_after_the_last_stage_and_without_a_seed_has_one_root(
    spark, tmp_path, monkeypatch
):
    parquet.write_table(likes(120), tmp_path / "likes.parquet")
    given = (METHOD, str(tmp_path / "likes.parquet"), tmp_path / "out")
    options = {"engine": engine_of(spark, tmp_path), "reading": THINGS}
    shared = stop(given, monkeypatch, **options)
    root = json.loads((tmp_path / ".out.working" / "run.json").read_bytes())["root"]
    secrets = (root, str(int(root, 16)))
    files = [path for path in tmp_path.joinpath("working").rglob("*") if path.is_file()]
    for secret in secrets:
        assert [] == [path for path in files if secret.encode() in path.read_bytes()]
        assert [] == [path for path in files if secret in str(path)]
    assert 0o700 == stat.S_IMODE(shared.stat().st_mode)
    monkeypatch.setattr("graphveil.engines.spark.SparkTables", Watched)
    out = gv.anonymize_rows(*given, **options)
    original = gv.read_bipartite(tmp_path / "likes.parquet", items="things")
    assert gv.verify_release(out, original=original).ok
    assert [] == list((tmp_path / "working").iterdir())
    refuse_secrets(spark, *secrets)


@pytest.mark.thorough
@in_fuzz_alone
def test_another_run_of_the_same_name_releases_its_own_rows(spark, tmp_path, monkeypatch):
    options = {"engine": engine_of(spark, tmp_path), "reading": THINGS}
    frames = [spark.createDataFrame(likes(120, seed=seed)) for seed in (1, 2)]
    out = tmp_path / "out"
    shared = stop((METHOD, frames[0], out), monkeypatch, **options)
    with pytest.raises(ReleaseError, match=rf"with {shared}\) holds an unfinished run"):
        gv.anonymize_rows(METHOD, frames[1], out, **options)
    shutil.rmtree(tmp_path / ".out.working")
    gv.anonymize_rows(METHOD, frames[1], out, force=True, **options)
    parquet.write_table(likes(120, seed=2), tmp_path / "second.parquet")
    original = gv.read_bipartite(tmp_path / "second.parquet", items="things")
    assert gv.verify_release(out, original=original).ok
    assert [shared] == list((tmp_path / "working").iterdir())


@pytest.mark.thorough
@in_fuzz_alone
def test_a_run_goes_on_under_the_same_working_folder_alone(spark, tmp_path, monkeypatch):
    engine = engine_of(spark, tmp_path)
    given = (METHOD, spark.createDataFrame(likes(120)), tmp_path / "out")
    shared = stop(given, monkeypatch, engine=engine, reading=THINGS)
    other = SparkEngine(spark=spark, working=tmp_path / "other")
    with pytest.raises(ReleaseError, match=f"keeps its rows in {shared}, not in "):
        gv.anonymize_rows(*given, engine=other, reading=THINGS)
    shutil.rmtree(shared)
    with pytest.raises(
        ResourceError, match="no longer contains the rows that the unfinished run kept"
    ):
        gv.anonymize_rows(*given, engine=engine, reading=THINGS)


def test_rows_that_another_run_has_kept_are_never_taken(spark, tmp_path):
    SparkTables(spark, tmp_path, "one run").kept(spark.range(3), "rows", "keeping")
    with pytest.raises(ReleaseError, match="holds rows of a different run"):
        SparkTables(spark, tmp_path, "another").kept(spark.range(4), "rows", "keeping")


def test_an_error_on_an_executor_is_one_line_and_what_it_lacks_a_way_to_go_on(spark, tmp_path):
    tables = tables_of(spark, tmp_path)
    rows = spark.range(3)
    schema = pa.schema([("id", pa.int64())])
    with pytest.raises(RuntimeError, match=r"^doing it: ValueError: chunk 7 has no rows$"):
        tables.kept(tables.map(rows, Failing("ours"), schema), "failed", "doing it")
    with pytest.raises(
        ResourceError, match=r"failed while doing it: MemoryError.*same command again"
    ):
        tables.kept(tables.map(rows, Failing("memory"), schema), "failed", "doing it")
    assert not (tmp_path / "failed.done.json").exists()


def test_executors_of_other_versions_are_refused(spark, monkeypatch):
    check_executors(spark)
    other = equipment().replace("graphveil ", "graphveil 99.")
    monkeypatch.setattr("graphveil.engines.spark.equipment", lambda: other)
    with pytest.raises(UsageError, match=r"executors have graphveil .* this process has .* 99\."):
        check_executors(spark)


# statements

ROWS = pa.table({"user": [5, 6, 7, 7], "items": [[1, 5], [], [2, 5], [1]]})
TEXTS = pa.table({"user": ["a", "b"], "items": [["a", "12", "012"], ["9223372036854775808", "7"]]})
CLUSTERS = pa.table(
    {
        "bucket": [0, 1, 1, 2],
        "items": [[1, 5], [1, 5], [], [1, 5]],
        "size": [2, 0, 3, 2],
        "shared": [3, 0, 0, 4],
        "created": [1, 0, 0, 0],
        "certain": [[1], [], [], [1, 5]],
    }
)
STATEMENTS = {
    "repeated users": (queries.REPEATED_USERS, {"rows": ROWS}, [(1,)]),
    "shared numbers": (queries.SHARED_NUMBERS, {"rows": ROWS, "again": ROWS}, [(3, 3, 1, 7, 5)]),
    "shared texts": (queries.SHARED_TEXTS, {"rows": TEXTS, "again": TEXTS}, [(2, 5, 1, 0, 0)]),
    "items": (queries.ITEMS, {"rows": ROWS}, [(1,), (2,), (5,)]),
    "tally": (
        queries.TALLY,
        {"released": CLUSTERS},
        [(0, 1, 0, 3, 1, 1), (1, 2, 1, 0, 0, 1), (2, 1, 0, 4, 0, 1)],
    ),
    "certain": (
        queries.CERTAIN,
        {"released": CLUSTERS, "again": CLUSTERS},
        [(4,)],
    ),
    "no numbers": (queries.TEXT_THAT_IS_NO_NUMBER, {"released": TEXTS}, [(3,)]),
    "entries": (queries.ENTRIES, {"rows": ROWS}, [(4, 5)]),
    "sums": (
        queries.SUMS,
        {"rows": pa.table({"facts": [[1] * len(FACTS), [], [2] * len(FACTS)]})},
        [(3,) * len(FACTS)],
    ),
}


@pytest.mark.parametrize("what", STATEMENTS)
def test_every_statement_answers_alike_in_both_dialects(spark, tmp_path, what):
    query, given, expected = STATEMENTS[what]
    there = tables_of(spark, tmp_path).ask(
        query, **{name: spark.createDataFrame(table) for name, table in given.items()}
    )
    paths = {name: tmp_path / f"{name}.parquet" for name in given}
    for name, table in given.items():
        parquet.write_table(table, paths[name])
    with LocalEngine(jobs=1).at(tmp_path) as tables:
        here = tables.ask(query, **{name: tables.rows([paths[name]]) for name in given})
    assert expected == sorted(here) == sorted(there)


def test_every_statement_is_tried():
    named = [getattr(queries, name) for name in dir(queries) if name.isupper()]
    statements = {query for query in named if isinstance(query, queries.Query) and not query.plain}
    assert statements == {query for query, _, _ in STATEMENTS.values()}


def test_a_sample_is_of_the_same_users_on_both_engines(spark, tmp_path):
    table = likes(300, text=True)
    parquet.write_table(table, tmp_path / "likes.parquet")
    query = queries.sampled("4000")
    there = tables_of(spark, tmp_path).select(query, rows=spark.createDataFrame(table))
    with LocalEngine(jobs=1).at(tmp_path) as tables:
        rows = tables.select(query, rows=tables.rows([tmp_path / "likes.parquet"]))
        here = {user for batch in tables.batches(rows, None) for user in batch["user"].to_pylist()}
    assert here == {row.user for row in there.select("user").collect()}
    assert 40 < len(here) < 110


# what is refused

BROKEN = {
    "a missing column": ("SELECT 1 AS person, array(2) AS items", "no column 'user'"),
    "a missing user": ("SELECT CAST(NULL AS INT) AS user, array(2) AS items", "1 id is missing"),
    "a missing item": ("SELECT 1 AS user, array(2, NULL) AS items", "items: 1 id is missing"),
    "a negative id": ("SELECT -1 AS user, array(2) AS items", "-1 is negative"),
    "a negative item": ("SELECT 1 AS user, array(-2) AS items", "-2 is negative"),
    "numbers that are no ids": ("SELECT 1D AS user, array(2) AS items", "user has type double"),
    "a map": ("SELECT 1 AS user, map(1, 2) AS items", "items has type map"),
    "two columns of a name": ("SELECT 1 AS user, 2 AS USER, array(2) AS items", "two columns"),
    "a weight": ("SELECT 1 AS user, 2 AS item, 3 AS weight", "other than users and items: weight"),
    "no rows": ("SELECT 1 AS user, array(2) AS items WHERE false", "no user"),
    "a user in two rows": (
        "SELECT explode(array(1, 1)) AS user, array(2) AS items",
        "a user appears in two rows",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_rows_are_refused(spark, tmp_path, what):
    text, message = BROKEN[what]
    with pytest.raises(InputError, match=message):
        FrameSource.of(spark.sql(text), spark).take(tables_of(spark, tmp_path), THINGS)


REFUSED = {
    "before they are kept": ("a missing user", InputError, "1 id is missing"),
    "behind them": ("a user in two rows", InputError, "a user appears in two rows"),
    "for their number": (None, InfeasibleError, "at least 2 rows"),
    "for a session of another version": (None, UsageError, "executors have"),
}


@pytest.mark.parametrize("when", REFUSED)
def test_rows_that_are_refused_leave_nothing(spark, tmp_path, monkeypatch, when):
    what, kind, message = REFUSED[when]
    text = BROKEN[what][0] if what else "SELECT 1 AS user, array(2) AS items"
    engine = engine_of(spark, tmp_path)
    if kind is UsageError:
        monkeypatch.setattr("graphveil.engines.spark.equipment", lambda: "nothing")
    with pytest.raises(kind, match=message):
        gv.anonymize_rows(METHOD, spark.sql(text), tmp_path / "out", engine=engine, reading=THINGS)
    assert [] == [path for path in tmp_path.rglob("*") if path.name != "working"]


@pytest.mark.usefixtures("spark")
def test_what_spark_cannot_read_is_one_line(tmp_path, capsys):
    (tmp_path / "broken.parquet").write_text("no Parquet")
    words = ["anonymize", "smooth-k", "--k=2", "--items=things", "--engine=spark"]
    words += [f"--working={tmp_path / 'working'}", f"--out={tmp_path / 'out'}"]
    for source, reason in (
        ("table:nope", "[TABLE_OR_VIEW_NOT_FOUND]"),
        ("table:a b", "[PARSE_SYNTAX_ERROR]"),
        (str(tmp_path / "broken.parquet"), "[FAILED_READ_FILE"),
    ):
        assert 2 == command_line([*words[:2], source, *words[2:]])
        said = capsys.readouterr().err.strip()
        name = source.rpartition("/")[2]
        assert "cannot read " in said
        assert f"{name}: {reason}" in said
        assert "JVM" not in said
        assert "Traceback" not in said
    assert ["broken.parquet"] == [path.name for path in tmp_path.iterdir()]


def test_a_frame_is_told_from_others_by_its_query_and_files_by_their_state(spark, tmp_path):
    def digest(source):
        return FrameSource.of(source, spark).digest

    path = tmp_path / "likes.parquet"
    parquet.write_table(likes(20), path)
    frame = spark.read.parquet(str(path))
    tables = [likes(20), likes(20), likes(20, seed=1)]
    one, again, other = (digest(spark.createDataFrame(table)) for table in tables)
    assert one == again != other
    assert 3 == len({digest(frame), digest(frame.where("user < 110")), digest(str(path))})
    assert digest(str(path)) == digest(str(path))
    for limit in (110, 110, 111):
        frame.where(f"user < {limit}").createOrReplaceTempView("few")
        one, again, other = again, other, digest("table:few")
    assert one == again != other
    frame.write.saveAsTable("kept_lists")
    assert digest("table:kept_lists") == digest("table:kept_lists")
    assert () == FrameSource.of(spark.createDataFrame(likes(20)), spark).origins
    [origin] = FrameSource.of(frame.where("user < 110"), spark).origins
    assert (origin,) == FrameSource.of(str(path), spark).origins
    parquet.write_table(likes(21), path)
    assert (origin,) != FrameSource.of(str(path), spark).origins


def test_what_does_not_run_on_spark_is_refused_before_the_work(spark, tmp_path):
    (tmp_path / "likes.csv").write_text("user,item\n1,2\n")
    engine, out = engine_of(spark, tmp_path), tmp_path / "out"
    people = BipartiteOptions(items="people")
    for method, source, reading, message in (
        (METHOD, tmp_path / "likes.csv", THINGS, "is not Parquet"),
        (METHOD, spark.range(2), people, "run on one machine"),
        (gv.Mondrian(k=2), spark.range(2), THINGS, "needs all data in memory"),
        (METHOD, spark.readStream.format("rate").load(), THINGS, "is a stream"),
    ):
        with pytest.raises(UsageError, match=message):
            gv.anonymize_rows(method, source, out, engine=engine, reading=reading)
    with pytest.raises(InputError, match="none: file not found"):
        gv.anonymize_rows(METHOD, tmp_path / "none", out, engine=engine, reading=THINGS)
    assert ["likes.csv"] == [path.name for path in tmp_path.iterdir()]


def test_columns_of_other_names_are_taken_where_they_are_named(spark, tmp_path):
    tables = tables_of(spark, tmp_path)
    frame = spark.sql("SELECT 1S AS who, array('tea') AS `what``s`, 3 AS weight")
    reading = BipartiteOptions(items="things", user_column="who", item_column="what`s")
    facts = FrameSource.of(frame, spark).take(tables, reading)
    assert (1, 1, ("weight",)) == (facts.n_rows, facts.n_entries, facts.left_out)
    assert facts.user_is_integer
    assert not facts.item_is_integer


# without a session


def test_another_version_and_an_address_of_no_store_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"Spark 3\.5\.1.*Use Spark 4"):
        SparkEngine(spark=SimpleNamespace(version="3.5.1"), working=tmp_path)
    with pytest.raises(UsageError, match="is not a supported address"):
        SparkEngine(spark=SimpleNamespace(version="4.0.2"), working="ftp://owner/run")
