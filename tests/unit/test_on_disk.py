"""Releases made on the disk: the same as in memory, continued after an interruption."""

from __future__ import annotations

import bisect
import errno
import hashlib
import json
import math
import os
import stat
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc, parquet

import graphveil as gv
from graphveil.cli import run as command_line
from graphveil.cli.commands.anonymize import subcommand
from graphveil.core.atomic import working_folder
from graphveil.core.errors import (
    GraphveilWarning,
    InfeasibleError,
    InputError,
    ReleaseError,
    ResourceError,
    UsageError,
)
from graphveil.engines import LocalEngine
from graphveil.io import BipartiteOptions
from graphveil.methods import METHODS
from graphveil.methods.smooth_k import Chunks, SmoothK, SuppressK
from graphveil.release import digest_of, read_manifest, read_record, read_release
from graphveil.scale.chunks import Released
from graphveil.scale.columns import KEY
from graphveil.scale.run import CHUNK_ROWS
from odd_engines import HookedEngine, Interrupted, ScrambledEngine, ScrambledTables

ALONE = LocalEngine(jobs=1)

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


@dataclass(frozen=True)
class InOrder:
    """Rows one after the other in groups of k."""

    k: int

    def __call__(self, rows, rng):
        del rng
        last = max(rows.n_rows // self.k, 1) - 1
        return np.minimum(np.arange(rows.n_rows) // self.k, last).astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class Quick(SmoothK):
    """`SmoothK` without its search, and with classes as small as a test wants them."""

    group: ClassVar[int | None] = None

    def clustering(self):
        return InOrder(self.group or self.k)


METHOD = Quick(k=2, chunks=Chunks(rows=6))


def likes(n=40, *, text=False, seed=0, empty=True):
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, 12)) < 0.25
    if not empty:
        matrix[np.arange(n), rng.integers(0, 12, n)] = True
    rows = [np.flatnonzero(row).tolist() for row in matrix]
    users = (rng.permutation(n) + 100).tolist()
    if text:
        rows = [[f"item {feature:02d}" for feature in row] for row in rows]
        users = [f"person-{user:03d}" for user in users]
    return pa.table({"user": users, "items": pa.array(rows)})


def pairs_of(table):
    flat = [(u, i) for u, row in zip(*table.to_pydict().values(), strict=True) for i in row]
    return pa.table({"user": [u for u, _ in flat], "item": [i for _, i in flat]})


def as_rows(data):
    return Counter(tuple(row) for row in data.to_lists()["items"].to_pylist())


def run(path, out, **options):
    return gv.anonymize_rows(options.pop("method", METHOD), path, out, engine=ALONE, **options)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


# releases on the disk


def test_a_release_on_the_disk_is_the_one_in_memory(tmp_path):
    parquet.write_table(likes(36), tmp_path / "likes.parquet")
    data = gv.read_bipartite(tmp_path / "likes.parquet")
    in_memory = METHOD.anonymize(data, seed=4)
    run(tmp_path / "likes.parquet", tmp_path / "out", seed=4)
    on_disk = read_release(tmp_path / "out")
    assert as_rows(in_memory.data) == as_rows(on_disk.data)
    assert in_memory.private.cost == on_disk.private.cost
    assert in_memory.private.input_sha256 == on_disk.private.input_sha256
    assert in_memory.private.warnings == on_disk.private.warnings
    assert in_memory.provenance == on_disk.provenance


def test_a_table_on_the_disk_is_released_as_in_memory(tmp_path):
    rng = np.random.default_rng(3)
    table = gv.Table.from_columns({c: rng.integers(0, 3, 60).tolist() for c in "abcd"})
    lists = table.one_hot().to_lists()
    parquet.write_table(lists, tmp_path / "table.parquet")
    data = gv.read_bipartite(tmp_path / "table.parquet")
    method = SuppressK(k=3, chunks=Chunks(rows=30))
    in_memory = method.anonymize(data, seed=4)
    run(tmp_path / "table.parquet", tmp_path / "out", seed=4, method=method)
    assert as_rows(in_memory.data) == as_rows(read_release(tmp_path / "out").data)


def released_to(release):
    lists = release.data.to_lists()
    rows = dict(zip(*(lists[name].to_pylist() for name in ("user", "items")), strict=True))
    linkage = release.private.linkage
    pairs = zip(linkage.original.tolist(), linkage.released.tolist(), strict=True)
    return {user: rows[new] for user, new in pairs}


@pytest.mark.parametrize("text", [False, True])
def test_every_user_gets_the_row_of_memory_where_many_rows_are_alike(tmp_path, text):
    path = tmp_path / "likes.parquet"
    table = likes(50, text=text)
    few = pa.array([table["items"][number % 7].as_py() for number in range(50)])
    parquet.write_table(table.set_column(1, "items", few), path)
    data = gv.read_bipartite(path)
    expected = released_to(METHOD.anonymize(data, seed=4))
    out = run(path, tmp_path / "out", seed=4)
    assert expected == released_to(read_release(out))


@settings(deadline=None, max_examples=15)
@given(
    st.dictionaries(st.integers(0, 10**6), st.lists(st.integers(0, 9)), min_size=4, max_size=20),
    st.booleans(),
    st.integers(4, 6),
)
def test_any_small_file_gives_the_release_of_memory(tmp_path_factory, rows, text, chunk_rows):
    folder = tmp_path_factory.mktemp("small")
    users, items = list(rows), list(rows.values())
    if text:
        users = [f"person {user}" for user in users]
        items = [[f"item {item}" for item in row] for row in items]
    kind = pa.string() if text else pa.int64()
    table = pa.table({"user": users, "items": pa.array(items, pa.list_(kind))})
    parquet.write_table(table, folder / "likes.parquet")
    method = Quick(k=2, chunks=Chunks(rows=chunk_rows))
    reading = BipartiteOptions(items="things")
    data = gv.read_bipartite(folder / "likes.parquet", items="things")
    in_memory = method.anonymize(data, seed=1)
    path, options = folder / "likes.parquet", {"seed": 1, "reading": reading}
    out = run(path, folder / "out", method=method, **options)
    there = gv.anonymize_rows(method, path, folder / "there", engine=ScrambledEngine(0), **options)
    assert (there / "data.parquet").read_bytes() == (out / "data.parquet").read_bytes()
    on_disk = read_release(out)
    assert as_rows(in_memory.data) == as_rows(on_disk.data)
    assert in_memory.private.cost == on_disk.private.cost
    assert in_memory.private.input_sha256 == on_disk.private.input_sha256
    assert in_memory.private.warnings == on_disk.private.warnings


def write_as(table, folder, kind):
    path = folder / f"likes.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "pairs.parquet":
        parquet.write_table(pairs_of(table), path)
    elif kind == "pairs.arrow":
        with ipc.new_file(path, pairs_of(table).schema) as writer:
            writer.write_table(pairs_of(table))
    else:
        gv.io.write(gv.Bipartite.from_arrow(table), path)
    return path


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(
    "kind", ["parquet", "pairs.parquet", "pairs.arrow", "csv", "tsv", "csv.gz", "txt"]
)
def test_every_format_gives_a_release_that_verifies(tmp_path, kind, text):
    path = write_as(likes(text=text, empty=kind == "parquet"), tmp_path, kind)
    out = run(path, tmp_path / "out")
    original = gv.read_bipartite(path)
    verdict = gv.verify_release(out, original=original)
    assert verdict.ok, verdict
    assert not [c for c in verdict.checks if c.outcome == "not checked"]
    assert digest_of(original) == read_record(out).input_sha256
    released_as = {".arrow": ".parquet", ".gz": ".csv"}.get(path.suffix, path.suffix)
    assert f"data{released_as}" == names_in(out)[0]
    assert sorted([path.name, "out", "out.private"]) == names_in(tmp_path)


def test_the_files_are_those_of_a_release(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    out = run(path, tmp_path / "out", format="csv")
    private = tmp_path / "out.private"
    assert ["data.csv", "release.json", "users.csv"] == names_in(out)
    assert ["linkage.parquet", "record.json"] == names_in(private)
    assert 0o700 == stat.S_IMODE(private.stat().st_mode)
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in private.iterdir()}
    linkage = parquet.read_table(private / "linkage.parquet")
    assert list(range(100, 140)) == linkage["original"].to_pylist()
    assert list(range(40)) == sorted(linkage["released"].to_pylist())
    described = read_manifest(out).data
    assert {"users", "items", "entries"} == set(described.counts)
    assert described.counts["entries"] == described.files[0].rows


def test_no_linkage_is_kept_where_none_is_wanted(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    run(path, tmp_path / "out", linkage=False)
    assert ["record.json"] == names_in(tmp_path / "out.private")


def test_lists_without_users_belong_to_users_in_file_order(tmp_path):
    table = likes().select(["items"])
    parquet.write_table(table, tmp_path / "likes.parquet")
    reading = BipartiteOptions(items="things")
    with pytest.raises(InputError, match="numbered from the start"):
        run(tmp_path / "likes.parquet", tmp_path / "out")
    out = run(tmp_path / "likes.parquet", tmp_path / "out", reading=reading)
    original = gv.read_bipartite(tmp_path / "likes.parquet", items="things")
    assert gv.verify_release(out, original=original).ok


def test_names_with_quotes_and_commas_survive(tmp_path):
    items = [["tea, green", 'the "best"'], ["tea, green", 'the "best"'], ["ä"], ["ä"]]
    table = pa.table({"user": ["a", "b", "c", "d"], "items": items})
    parquet.write_table(table, tmp_path / "likes.parquet")
    method = Quick(k=2, chunks=Chunks(rows=4))
    out = run(tmp_path / "likes.parquet", tmp_path / "out", method=method, format="csv")
    assert Counter(map(tuple, items)) == as_rows(read_release(out).data)


def test_rows_without_features_are_released(tmp_path):
    parquet.write_table(
        pa.table({"items": pa.array([[], None, [], []], pa.list_(pa.int32()))}),
        tmp_path / "none.parquet",
    )
    out = run(tmp_path / "none.parquet", tmp_path / "out", method=Quick(k=3, chunks=Chunks(rows=6)))
    assert 4 == read_release(out).data.n_users
    assert gv.verify_release(out).ok


def test_repeated_items_are_dropped_with_a_warning(tmp_path):
    lists = pa.table({"user": [1, 2], "items": [[7, 7, 3], [3, 7]]})
    parquet.write_table(lists, tmp_path / "lists.parquet")
    (tmp_path / "pairs.csv").write_text("user,item\n1,7\n2,3\n1,7\n1,3\n2,7\n")
    for name in ("lists.parquet", "pairs.csv"):
        with pytest.warns(GraphveilWarning, match="dropped 1 duplicate"):
            out = run(tmp_path / name, tmp_path / f"out-{name}")
        assert {(3, 7): 2} == as_rows(read_release(out).data)


def test_clusters_that_publish_the_same_are_one_class_for_the_advice(tmp_path):
    rows = [["tea"]] * 6 + [["tea"], []]
    parquet.write_table(pa.table({"items": pa.array(rows)}), tmp_path / "likes.parquet")
    method = Quick(k=2, chunks=Chunks(rows=4, order="none"))
    out = run(tmp_path / "likes.parquet", tmp_path / "out", method=method)
    assert {("tea",): 8} == as_rows(read_release(out).data)
    assert not [text for text in read_record(out).warnings if "true of everyone" in text]
    rows[-1] = ["tea"]
    parquet.write_table(pa.table({"items": pa.array(rows)}), tmp_path / "likes.parquet")
    out = run(tmp_path / "likes.parquet", tmp_path / "all", method=method)
    [text] = [text for text in read_record(out).warnings if "true of everyone" in text]
    assert text.startswith("100.0%")


def test_a_seed_gives_the_same_bytes_and_none_gives_others(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    names = ("one", "two", "free")
    for name in names:
        run(path, tmp_path / name, seed=None if name == "free" else 9)
    bytes_of = {name: (tmp_path / name / "data.parquet").read_bytes() for name in names}
    assert bytes_of["one"] == bytes_of["two"] != bytes_of["free"]


def test_processes_change_nothing(tmp_path):
    path = write_as(likes(60), tmp_path, "parquet")
    method = SmoothK(k=2, chunks=Chunks(rows=20))
    for jobs in (1, 2):
        engine = LocalEngine(jobs=jobs)
        gv.anonymize_rows(method, path, tmp_path / f"{jobs}", engine=engine, seed=1)
    one, two = ((tmp_path / name / "data.parquet").read_bytes() for name in "12")
    assert one == two


# what is refused


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (gv.KDegree(k=2), {}, "k-degree reads edges from disk, not rows"),
        (gv.Mondrian(k=2), {}, "mondrian needs all data in memory"),
        (SmoothK(k=2, chunks=Chunks(rows=6, order="label-propagation")), {}, "Use minhash"),
        (SmoothK(k=2, chunks=Chunks(rows=6, rounds=1)), {}, "rounds=1 needs all data"),
        (METHOD, {"reading": BipartiteOptions(users=Path("u.csv"))}, "users needs all ids"),
        (METHOD, {"reading": BipartiteOptions(format="mtx")}, "mtx cannot be read in pieces"),
        (METHOD, {"reading": BipartiteOptions(layout="lists", format="csv")}, "one line per user"),
        (Quick(k=50, chunks=Chunks(rows=100)), {}, "at least 50 rows; the data has 40"),
    ],
)
def test_what_cannot_run_on_the_disk_is_refused(tmp_path, method, options, message):
    path = write_as(likes(), tmp_path, "parquet")
    if options.get("reading") == BipartiteOptions(layout="lists", format="csv"):
        path.write_text("ann,tea,rye\nbob,tea\n")
    with pytest.raises((UsageError, InfeasibleError), match=message):
        run(path, tmp_path / "out", method=method, **options)
    assert [path.name] == names_in(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("user,item\n1,2\n-3,4\n", "-3"),
        ("user,item\n1,2\n3\n", "line 3"),
        ("user,item\n1,2\n,4\n", "missing"),
        ("user,item\n1,2\n3,4.5\n", "4.5"),
        ("user,item\n1,2\n3,99999999999999999999\n", "is larger than"),
        ("user,item,weight\n1,2,3\n", "Extra: weight"),
        ("", "empty"),
        ("user,item\n", "no user"),
    ],
)
def test_a_broken_text_file_is_refused_as_in_memory(tmp_path, content, message):
    (tmp_path / "likes.csv").write_text(content)
    with pytest.raises(InputError, match=message):
        run(tmp_path / "likes.csv", tmp_path / "out")
    assert ["likes.csv"] == names_in(tmp_path)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"user": [1, 1], "items": [[2], [3]]}, "a user appears in two rows"),
        ({"user": [1, None], "items": [[2], [3]]}, "missing"),
        ({"user": [1, 2], "items": [[2], [None, 3]]}, "missing"),
        ({"user": [1, 2], "items": [[2], [-3]]}, "-3 is negative"),
        ({"user": ["a", "b"], "items": [["x"], [None]]}, "missing"),
        ({"user": [1, 2], "items": [[0.5], [3.0]]}, "0.5 is not a valid id"),
    ],
)
def test_a_broken_frame_is_refused_as_in_memory(tmp_path, table, message):
    parquet.write_table(pa.table(table), tmp_path / "likes.parquet")
    with pytest.raises(InputError, match=message):
        run(tmp_path / "likes.parquet", tmp_path / "out")
    assert ["likes.parquet"] == names_in(tmp_path)


def test_another_release_of_the_input_is_warned_of_before_the_work(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    run(path, tmp_path / "one")

    class Watched(HookedEngine):
        def before(self, number, _):
            if not number:
                said_before.extend(str(warning.message) for warning in said)

    said_before = []
    with pytest.warns(GraphveilWarning, match="1 other release of this input") as said:
        out = gv.anonymize_rows(METHOD, path, tmp_path / "two", engine=Watched(jobs=1))
    assert 1 == sum("1 other release" in text for text in said_before)
    assert 1 == sum("1 other release" in str(warning.message) for warning in said)
    assert 1 == sum("1 other release" in text for text in read_record(out).warnings)


def test_a_name_that_the_format_cannot_hold_is_refused_before_the_work(tmp_path):
    table = pa.table({"user": [0, 1, 2, 3], "items": [["1e5"], ["tea"], ["tea"], ["tea"]]})
    parquet.write_table(table, tmp_path / "likes.parquet")

    class Never(HookedEngine):
        def before(self, *_):
            pytest.fail("the work began")

    with pytest.raises(InputError, match=r"'1e5' could not be read back from csv.*format=.parqu"):
        gv.anonymize_rows(
            METHOD,
            tmp_path / "likes.parquet",
            tmp_path / "out",
            engine=Never(jobs=1),
            format="csv",
        )
    assert ["likes.parquet"] == names_in(tmp_path)
    assert gv.verify_release(run(tmp_path / "likes.parquet", tmp_path / "out")).ok


def test_a_release_is_replaced_with_force_alone(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    run(path, tmp_path / "out")
    before = (tmp_path / "out" / "release.json").read_bytes()
    with pytest.raises(ReleaseError, match="exists"):
        run(path, tmp_path / "out")
    assert before == (tmp_path / "out" / "release.json").read_bytes()
    run(path, tmp_path / "out", force=True, format="csv")
    assert ["data.csv", "release.json", "users.csv"] == names_in(tmp_path / "out")


def test_a_class_below_k_is_never_published(tmp_path, monkeypatch):
    path = write_as(likes(), tmp_path, "parquet")
    monkeypatch.setattr(Quick, "group", 1)
    with pytest.raises(RuntimeError, match=r"a class of 1 rows .* k=2"):
        run(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# interruptions


def interrupted(path, out, **options):
    with pytest.raises(KeyboardInterrupt), pytest.warns(GraphveilWarning, match="unfinished run"):
        gv.anonymize_rows(METHOD, path, out, engine=Interrupted(jobs=1), **options)


def test_an_interrupted_run_is_continued_with_the_same_randomness(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    interrupted(path, tmp_path / "out", seed=3)
    parts = working_folder(tmp_path / "out") / "released"
    before = {part.name for part in parts.glob("*.arrow")}
    assert 2 == len(before)
    done = []

    class Noting(HookedEngine):
        def before(self, number, task):
            assert number == len(done)
            done.append(task.path.name)

    gv.anonymize_rows(METHOD, path, tmp_path / "out", engine=Noting(jobs=1), seed=3)
    assert 5 == len(set(done) - before) == len(done)
    run(path, tmp_path / "whole", seed=3)
    for name in ("data.parquet", "release.json"):
        expected = (tmp_path / "whole" / name).read_bytes()
        assert expected == (tmp_path / "out" / name).read_bytes()
    assert read_record(tmp_path / "whole").cost == read_record(tmp_path / "out").cost
    assert not working_folder(tmp_path / "out").exists()


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("kind", ["parquet", "pairs.parquet", "csv"])
def test_works_that_run_twice_on_scrambled_rows_give_the_same_bytes(tmp_path, kind, text):
    path = write_as(likes(text=text, empty=kind == "parquet"), tmp_path, kind)
    for name, engine in (("there", ScrambledEngine()), ("here", ALONE)):
        gv.anonymize_rows(METHOD, path, tmp_path / name, engine=engine, seed=3)
    for file in (path.suffix, ".json"):
        name = f"data{file}" if file != ".json" else "release.json"
        there, here = ((tmp_path / engine / name).read_bytes() for engine in ("there", "here"))
        assert there == here
    linkages = [
        parquet.read_table(tmp_path / f"{name}.private/linkage.parquet")
        for name in ("there", "here")
    ]
    assert linkages[0].equals(linkages[1])


def test_a_free_run_on_scrambled_rows_gives_a_release_that_verifies(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    out = gv.anonymize_rows(METHOD, path, tmp_path / "out", engine=ScrambledEngine())
    assert gv.verify_release(out, original=gv.read_bipartite(path)).ok


@pytest.mark.parametrize(("name", "engine"), [("released", 1), ("rows", 1), ("rows", 2)])
def test_a_row_that_is_lost_between_two_stages_stops_the_run(tmp_path, monkeypatch, name, engine):
    def lost(self, kept):
        rows = kept_as(self, kept)
        return (lambda: rows().slice(1)) if kept == name else rows

    kept_as = ScrambledTables.kept_as
    monkeypatch.setattr(ScrambledTables, "kept_as", lost)
    path = write_as(likes(), tmp_path, "parquet")
    with pytest.raises(ResourceError, match=r"counted, but 39 are left\. .* start again\.$"):
        gv.anonymize_rows(METHOD, path, tmp_path / "out", engine=ScrambledEngine(engine), seed=3)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seed", [None, 3])
def test_every_row_has_a_key_of_its_own(tmp_path, seed):
    path = write_as(likes(), tmp_path, "parquet")
    engine = ScrambledEngine()
    gv.anonymize_rows(METHOD, path, tmp_path / "out", engine=engine, seed=seed)
    keys = engine.stored["released"].select(KEY).to_pylist()
    assert 40 == len({tuple(key.values()) for key in keys})


def test_a_release_of_several_buckets_is_the_one_of_one(tmp_path, monkeypatch):
    path = write_as(likes(), tmp_path, "parquet")
    run(path, tmp_path / "one", seed=3)
    monkeypatch.setattr("graphveil.scale.parts.BUCKET_ROWS", 7)
    run(path, tmp_path / "several", seed=3)
    one, several = (tmp_path / name / "data.parquet" for name in ("one", "several"))
    assert one.read_bytes() == several.read_bytes()
    gv.anonymize_rows(METHOD, path, tmp_path / "scrambled", engine=ScrambledEngine(), seed=3)
    assert one.read_bytes() == (tmp_path / "scrambled/data.parquet").read_bytes()


def sampled_slowly(users, rate):
    """Return the users that a rate samples, by the rule as it is written."""
    digests = {user: hashlib.sha256(str(user).encode()).hexdigest() for user in users}
    return sorted(user for user, digest in digests.items() if digest[:4] < f"{rate:04x}")


@pytest.mark.parametrize("text", [False, True])
def test_a_sample_that_is_too_small_is_doubled_and_no_chunk_is_below_4k(
    tmp_path, monkeypatch, text
):
    monkeypatch.setattr("graphveil.scale.chunks.SAMPLED", 20)
    monkeypatch.setattr("graphveil.scale.chunks.SAMPLED_OF_A_CHUNK", 1)
    table = likes(580, text=text)
    users = [user if text else user + 1000 for user in table["user"].to_pylist()]
    table = table.set_column(0, "user", [users])
    rate = math.ceil(8 / 60 * 2**16)
    assert len(sampled_slowly(users, rate)) < 80
    sample = sampled_slowly(users, 2 * rate)
    cuts = [piece[0] for piece in np.array_split(sample, 10)[1:]]
    expected = Counter(bisect.bisect_right(cuts, user) for user in users)
    sizes, original = {}, Released.__call__

    def noted(work, number, rows):
        assert sizes.setdefault(number, rows.num_rows) == rows.num_rows
        return original(work, number, rows)

    monkeypatch.setattr(Released, "__call__", noted)
    path = write_as(table, tmp_path, "parquet")
    method = replace(METHOD, chunks=Chunks(rows=60, order="none"))
    here = run(path, tmp_path / "here", method=method, seed=3)
    assert expected == sizes
    assert 8 <= min(sizes.values()) < max(sizes.values())
    there = gv.anonymize_rows(method, path, tmp_path / "there", engine=ScrambledEngine(), seed=3)
    assert (here / "data.parquet").read_bytes() == (there / "data.parquet").read_bytes()
    assert gv.verify_release(here, original=gv.read_bipartite(path)).ok


def test_hashes_cut_the_same_sample_on_any_engine(tmp_path, monkeypatch):
    monkeypatch.setattr("graphveil.scale.chunks.SAMPLED", 20)
    monkeypatch.setattr("graphveil.scale.chunks.SAMPLED_OF_A_CHUNK", 1)
    path = write_as(likes(580), tmp_path, "parquet")
    method = replace(METHOD, chunks=Chunks(rows=60))
    here = run(path, tmp_path / "here", method=method, seed=3)
    there = gv.anonymize_rows(method, path, tmp_path / "there", engine=ScrambledEngine(), seed=3)
    assert (here / "data.parquet").read_bytes() == (there / "data.parquet").read_bytes()
    assert gv.verify_release(here, original=gv.read_bipartite(path)).ok
    monkeypatch.undo()
    whole = run(path, tmp_path / "whole", method=method, seed=3)
    assert (here / "data.parquet").read_bytes() != (whole / "data.parquet").read_bytes()


def test_two_rows_of_one_key_stop_the_run(tmp_path, monkeypatch):
    path = write_as(likes(), tmp_path, "parquet")
    monkeypatch.setattr("graphveil.scale.chunks.keys_of", lambda _, n: np.zeros((2, n), np.uint64))
    with pytest.raises(RuntimeError, match="two rows of bucket 0 have the same 128-bit key"):
        run(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_an_interrupted_run_leaves_is_for_its_owner_alone(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    interrupted(path, tmp_path / "out")
    working = working_folder(tmp_path / "out")
    assert [working.name, path.name] == names_in(tmp_path)
    assert 0o700 == stat.S_IMODE(working.stat().st_mode)
    assert 0o600 == stat.S_IMODE((working / "run.json").stat().st_mode)


def test_without_a_seed_a_continued_run_keeps_its_secret_root(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    interrupted(path, tmp_path / "out")
    run_file = working_folder(tmp_path / "out") / "run.json"
    root = run_file.read_bytes()
    interrupted(path, tmp_path / "out")
    assert root == run_file.read_bytes()
    out = run(path, tmp_path / "out")
    assert gv.verify_release(out, original=gv.read_bipartite(path)).ok


@pytest.mark.parametrize("change", ["method", "input", "seed", "version"])
def test_another_run_is_not_mixed_with_an_unfinished_one(tmp_path, monkeypatch, change):
    path = write_as(likes(), tmp_path, "parquet")
    interrupted(path, tmp_path / "out", seed=1)
    method = Quick(k=3, chunks=Chunks(rows=6)) if change == "method" else METHOD
    if change == "version":
        monkeypatch.setattr("graphveil.scale.working.__version__", "99.0")
    if change == "input":
        write_as(likes(seed=5), tmp_path, "parquet")
    seed = 2 if change == "seed" else 1
    with pytest.raises(ReleaseError, match="unfinished run of different data or options"):
        run(path, tmp_path / "out", method=method, seed=seed)
    run(path, tmp_path / "out", method=method, seed=seed, force=True)
    assert gv.verify_release(tmp_path / "out", original=gv.read_bipartite(path)).ok


def test_two_runs_never_share_a_folder(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    refusals = []

    class Twice(HookedEngine):
        def before(self, number, _):
            if number == 0:
                with pytest.raises(ReleaseError, match="still in progress") as caught:
                    run(path, tmp_path / "out", seed=1)
                refusals.append(caught.value)

    gv.anonymize_rows(METHOD, path, tmp_path / "out", engine=Twice(jobs=1), seed=1)
    assert len(refusals) == 1
    assert gv.verify_release(tmp_path / "out").ok


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    folder = working_folder(tmp_path / "out")
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(ReleaseError, match="not the folder of an unfinished run"):
        run(path, tmp_path / "out", force=True)
    assert ["thesis.txt"] == names_in(folder)


def test_a_folder_that_others_may_write_into_is_neither_taken_up_nor_deleted(tmp_path):
    path = write_as(likes(), tmp_path, "parquet")
    interrupted(path, tmp_path / "out", seed=1)
    folder = working_folder(tmp_path / "out")
    before = names_in(folder)
    folder.chmod(0o755)
    for force in (False, True):
        with pytest.raises(
            ReleaseError, match=r"accessible to others \(mode 755; a run sets 700\)"
        ):
            run(path, tmp_path / "out", seed=1, force=force)
    assert before == names_in(folder)
    folder.chmod(0o2700)  # as a folder may inherit it
    assert gv.verify_release(run(path, tmp_path / "out", seed=1)).ok


def test_a_folder_of_another_user_is_neither_taken_up_nor_deleted(tmp_path, monkeypatch):
    path = write_as(likes(), tmp_path, "parquet")
    interrupted(path, tmp_path / "out", seed=1)
    user = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: user + 1)
    for force in (False, True):
        with pytest.raises(ReleaseError, match=rf"belongs to another user \(number {user}\)"):
            run(path, tmp_path / "out", seed=1, force=force)


@pytest.mark.parametrize("kind", ["a link", "a file", "a link for its run"])
def test_a_link_is_no_folder_of_an_unfinished_run(tmp_path, kind):
    path = write_as(likes(), tmp_path, "parquet")
    interrupted(path, tmp_path / "out", seed=1)
    folder = working_folder(tmp_path / "out")
    if kind == "a link for its run":
        (folder / "run.json").rename(tmp_path / "run.json")
        (folder / "run.json").symlink_to(tmp_path / "run.json")
    else:
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere") if kind == "a link" else folder.write_text("")
    with pytest.raises(ReleaseError, match="not the folder of an unfinished run"):
        run(path, tmp_path / "out", seed=1, force=True)


@pytest.mark.parametrize("at", ["intake.write_batches", "writing.classes_of"])
def test_a_full_disk_keeps_the_run_and_leaves_no_release(tmp_path, monkeypatch, at):
    path = write_as(likes(), tmp_path, "parquet")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patched:
        patched.setattr(f"graphveil.scale.{at}", full)
        with pytest.raises(ResourceError, match="space"):
            run(path, tmp_path / "out")
    assert [working_folder(tmp_path / "out").name, path.name] == names_in(tmp_path)
    run(path, tmp_path / "out")
    assert ["likes.parquet", "out", "out.private"] == names_in(tmp_path)


@pytest.mark.parametrize("what", ["another release", "a folder of something else"])
def test_a_run_whose_place_is_taken_meanwhile_is_kept_and_goes_on(tmp_path, what):
    path, out = write_as(likes(), tmp_path, "parquet"), tmp_path / "out"

    class Overtaken(HookedEngine):
        def before(self, number, _):
            if number == 3 and what == "another release":
                METHOD.anonymize(gv.read_bipartite(path)).write(out)
            elif number == 3:
                out.mkdir()

    with (
        pytest.warns(GraphveilWarning, match="once the obstacle is removed"),
        pytest.raises(ReleaseError, match="exists"),
    ):
        gv.anonymize_rows(METHOD, path, out, engine=Overtaken(jobs=1), seed=3)
    assert (working_folder(out) / "released" / "done.json").is_file()
    force = what == "another release"
    if not force:
        out.rmdir()

    class Done(HookedEngine):
        def before(self, number, _):
            raise AssertionError(number)

    gv.anonymize_rows(METHOD, path, out, engine=Done(jobs=1), seed=3, force=force)
    assert gv.verify_release(out, original=gv.read_bipartite(path)).ok
    assert not working_folder(out).exists()


# the command line


@pytest.fixture
def smooth_k(monkeypatch):
    monkeypatch.setitem(METHODS._entries, "smooth-k", Quick)
    return subcommand("smooth-k")


def test_the_flag_runs_on_the_disk_and_reports_the_cost(tmp_path, smooth_k, capsys):
    path = write_as(likes(), tmp_path, "parquet")
    assert 0 == smooth_k(
        path, out=tmp_path / "out", k=2, chunk_rows=6, on_disk=True, jobs=1, json=True
    )
    summary = json.loads(capsys.readouterr().out)
    assert summary["cost"] == read_record(tmp_path / "out").cost
    assert summary["promise"] == read_manifest(tmp_path / "out").claim.sentence


def test_both_ways_of_the_command_line_give_the_same_classes(tmp_path, smooth_k):
    path = write_as(likes(36), tmp_path, "parquet")
    for name, on_disk in (("disk", True), ("memory", False)):
        out = tmp_path / name
        given = {"out": out, "k": 2, "chunk_rows": 6, "seed": 1, "jobs": 1}
        smooth_k(path, on_disk=on_disk, **given)
    disk, memory = (read_release(tmp_path / name) for name in ("disk", "memory"))
    assert as_rows(disk.data) == as_rows(memory.data)
    assert disk.private.cost == memory.private.cost


def test_without_a_size_of_chunks_the_disk_takes_one_that_no_data_decides(tmp_path):
    path = write_as(likes(36), tmp_path, "parquet")
    out = gv.anonymize_rows(Quick(k=2), path, tmp_path / "out", engine=ALONE)
    assert CHUNK_ROWS == read_record(out).withheld["chunk_rows"]
    assert "chunk_rows" not in read_manifest(out).method.parameters
    assert gv.verify_release(out).ok


def test_a_method_without_chunks_has_no_flags_for_them(tmp_path):
    with pytest.raises(TypeError, match="on_disk"):
        subcommand("mondrian")(tmp_path / "x.csv", out=tmp_path / "o", k=2, on_disk=True)


# the warnings of a run


LISTED = "user,item\n{}"
WARNED = {
    "people among the items": "ann,bob\nbob,ann\ncyd,ann\ndan,tea\n",
    "a repeated pair": "1,7\n2,3\n1,7\n1,3\n2,7\n3,7\n4,7\n",
    "small classes with much lost": "".join(f"{u},only {u}\n{u},tea\n" for u in range(12)),
    "a large class of nothing": "".join(f"{u},{u}\n" for u in range(12)) + "12,1\n13,1\n",
    "all that is published is certain": "1,7\n2,7\n3,7\n4,7\n",
    "numbers among the text": "1,tea\n2,7\nx,7\n3,rye\n",
    "a column of weights": None,
    "other releases of it": "1,7\n2,7\n3,7\n4,7\n5,8\n6,8\n",
}
"""Files of which there is something to warn, by what."""

WORDS = {
    "people among the items": "items are people with the ids they have as users",
    "a repeated pair": "dropped 1 duplicate",
    "small classes with much lost": "infer whether the person is in the data",
    "a large class of nothing": "released without any feature",
    "all that is published is certain": "100.0% of the published entries",
    "numbers among the text": "a seed was given",
    "a column of weights": "dropped weight",
    "other releases of it": "3 other releases of this input",
}


def said_by(action):
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        action()
    return [str(w.message) for w in raised if issubclass(w.category, GraphveilWarning)]


@pytest.mark.parametrize("what", WARNED)
def test_a_run_on_the_disk_gives_the_warnings_of_a_run_in_memory(tmp_path, what):
    path, chunks = tmp_path / "likes.csv", Chunks(rows=100, order="none")
    weighted = "user,item,weight\n1,7,3\n2,7,3\n3,7,3\n4,7,3\n"
    path.write_text(weighted if WARNED[what] is None else LISTED.format(WARNED[what]))
    places = [tmp_path / name for name in ("memory", "disk")]
    certain = what == "all that is published is certain"  # which suppress-k promises
    method = (SmoothK if certain else SuppressK)(k=2, chunks=chunks)
    items = "people" if what == "people among the items" else "things"
    reading = BipartiteOptions(ignore_weights=WARNED[what] is None, items=items)
    for place in places:
        place.mkdir()
        for number in range(3 if what == "other releases of it" else 0):
            (place / f"{number}.private").mkdir()
            record = {"input_sha256": digest_of(gv.read_bipartite(path, items=items))}
            (place / f"{number}.private" / "record.json").write_text(json.dumps(record))

    def in_memory():
        data = gv.read_bipartite(path, ignore_weights=reading.ignore_weights, items=items)
        method.anonymize(data, seed=1).write(places[0] / "out")

    memory = said_by(in_memory)
    disk = said_by(lambda: run(path, places[1] / "out", method=method, seed=1, reading=reading))
    assert sorted(memory) == sorted(disk)
    assert 1 == sum(WORDS[what] in text for text in disk)
    kept = [read_record(place / "out").warnings for place in places]
    assert kept[0] == kept[1]
    assert set(kept[1]) == {text for text in disk if not text.startswith("dropped 1 ")}


def test_both_ways_of_the_command_line_say_the_same_warnings(tmp_path, capsys):
    (tmp_path / "likes.csv").write_text("user,item\nann,bob\nbob,ann\ncyd,ann\ndan,tea\n")
    said = []
    for ways in ([], ["--on-disk"]):
        place = tmp_path / f"way{len(ways)}"
        place.mkdir()
        words = ["anonymize", "suppress-k", tmp_path / "likes.csv", "--k=2", "--chunk-rows=4"]
        words += [
            "--items=people",
            "--jobs=1",
            "--seed=1",
            "--order=none",
            "--all",
            f"--out={place / 'out'}",
            *ways,
        ]
        with warnings.catch_warnings():
            assert 0 == command_line([str(word) for word in words])
        lines = capsys.readouterr().err.splitlines()
        said.append([line for line in lines if "warning" in line])
    assert 3 <= len(said[0])
    assert said[0] == said[1]
