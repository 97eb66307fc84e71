"""Ties on the disk: the lists and the release of memory, whatever the file and wherever it ends."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import ipc, parquet

import graphveil as gv
from graphveil import io
from graphveil.cli import run as command_line
from graphveil.core.atomic import working_folder
from graphveil.core.errors import (
    InfeasibleError,
    InputError,
    ReleaseError,
    ResourceError,
    UsageError,
)
from graphveil.core.randomness import Randomness
from graphveil.data.csr import neighbor_lists
from graphveil.io.opening import source_of
from graphveil.io.text.tie_blocks import tie_file
from graphveil.release.options import RunOptions
from graphveil.scale import anonymize_ties
from graphveil.scale.ties import reading
from graphveil.scale.ties import run as stages
from graphveil.scale.ties.lists import Buckets, Listed, cuts_of, dropped, listed, mapped, spread
from graphveil.scale.ties.nodes import Numbering, nodes_of
from graphveil.scale.ties.release import Changed, changed_edges
from graphveil.verbs.anonymize import anonymize_file

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "space for ties that noise adds is not asked for",
        "means": "Epsilon is spent on a release for which the disk has no room.",
        "methods": ["randomized-response"],
        "file": "src/graphveil/scale/ties/run.py",
        "old": "check_space(working.folder, BYTES_A_NOISY_TIE * n, what)",
        "new": "check_space(working.folder, BYTES_A_NOISY_TIE * graph.n_edges, what)",
        "tests": ["tests/unit/test_ties_on_disk.py", "-k", "before_epsilon_is_spent"],
    },
]

METHOD = gv.KDegree(k=3)
NOISE = [gv.AsymmetricResponse(epsilon=3.0), gv.RandomizedResponse(epsilon=3.0)]
FORGET = io.GraphOptions(directed="symmetrize")


def arcs(n=40, m=160, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, (m, 2))


def write(path, ends, *, names=True):
    """Write ties as the extension of the file says."""
    table = pa.table({"source": ends[:, 0], "target": ends[:, 1]})
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=50)
    elif path.suffix == ".arrow":
        with ipc.new_file(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=30)
    else:
        mark = "\t" if path.suffix in (".tsv", ".txt") else ","
        rows = [mark.join(map(str, row)) for row in ends.tolist()]
        path.write_text("\n".join([*([f"source{mark}target"] if names else []), *rows, ""]))
    return path


def named(ends, ids):
    """Return arcs with ids of a sort."""
    if ids == "text":
        return np.array([f"p{17 * node % 1000}" for node in ends.ravel()]).reshape(ends.shape)
    scale, shift = {"plain": (1, 0), "gaps": (5, 3), "far": (10**12, 7)}[ids]
    return ends * scale + shift


def in_memory(method, path, out, *, options=FORGET, seed=5, form=None):
    out.parent.mkdir()
    return anonymize_file(
        method, path, RunOptions(out=out, format=form, seed=seed), options=options
    )


def assert_same(one, other):
    """Compare two releases byte by byte, and what their owner knows but for the seconds."""
    assert sorted(path.name for path in one.iterdir()) == sorted(p.name for p in other.iterdir())
    for path in one.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes(), path.name
    private = [folder.with_name(f"{folder.name}.private") for folder in (one, other)]
    linkage, also = ((folder / "linkage.parquet").read_bytes() for folder in private)
    assert linkage == also
    records = [json.loads((folder / "record.json").read_text()) for folder in private]
    for record in records:
        del record["seconds"]
    assert records[0] == records[1]


def lists_of(batches, n, folder, bucket_keys):
    folder.mkdir()
    sample = np.sort(np.concatenate([np.concatenate(batch) for batch in batches]))
    n_keys = 2 * sum(batch[0].size for batch in batches)
    with Buckets(folder, cuts_of(sample.astype(np.int64), n_keys, n, bucket_keys)) as buckets:
        counted = spread(batches, buckets)
    done = [Listed(), *listed(buckets, folder, Listed())][-1]
    return mapped(folder), dropped(counted, done)


@given(
    rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60),
    cut=st.integers(0, 60),
    bucket_keys=st.sampled_from([1, 4, 64]),
)
def test_lists_on_the_disk_are_those_of_memory(rows, cut, bucket_keys, tmp_path_factory):
    ends = np.array(rows, dtype=np.int32).reshape(-1, 2)
    batches = [(part[:, 0].copy(), part[:, 1].copy()) for part in (ends[:cut], ends[cut:])]
    folder = tmp_path_factory.mktemp("lists") / "ties"
    lists, left_out = lists_of(batches, 10, folder, bucket_keys)
    expected, also_left_out = neighbor_lists([ends[:, 0], ends[:, 1]], 10)
    assert expected.indptr.tolist() == lists.indptr.tolist()
    assert expected.indices.tolist() == np.asarray(lists.indices).tolist()
    assert also_left_out == left_out


@pytest.mark.parametrize("bits", [6, 12, 24])
def test_the_size_of_buckets_changes_nothing(bits, tmp_path):
    file = write(tmp_path / "ties.parquet", arcs(200, 3000))
    expected = in_memory(METHOD, file, tmp_path / "memory" / "out")
    (tmp_path / "disk").mkdir()
    out = anonymize_ties(
        METHOD, file, tmp_path / "disk" / "out", seed=5, reading=FORGET, bucket_keys=1 << bits
    )
    assert_same(expected, out)


def test_one_node_may_have_more_ties_than_a_bucket_holds(tmp_path):
    star = np.array([[0, other] for other in range(1, 300)] * 2 + [[5, 6], [6, 7]])
    file = write(tmp_path / "ties.csv", star)
    method = gv.KDegree(k=2)
    expected = in_memory(method, file, tmp_path / "memory" / "out")
    (tmp_path / "disk").mkdir()
    out = anonymize_ties(
        method, file, tmp_path / "disk" / "out", seed=5, reading=FORGET, bucket_keys=64
    )
    assert_same(expected, out)


@pytest.mark.parametrize("ids", ["plain", "gaps", "far", "text"])
@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "tsv", "txt"])
def test_a_release_is_the_one_of_memory_for_the_seed(form, ids, tmp_path):
    file = write(tmp_path / f"ties.{form}", named(arcs(), ids), names=form != "txt")
    method = gv.KDegree(k=3, edits="add" if ids == "gaps" else "any")
    expected = in_memory(method, file, tmp_path / "memory" / "out")
    (tmp_path / "disk").mkdir()
    out = anonymize_ties(
        method, file, tmp_path / "disk" / "out", seed=5, reading=FORGET, bucket_keys=64
    )
    assert_same(expected, out)
    assert [] == list(tmp_path.glob("disk/.*"))


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=40
    ).filter(lambda rows: len({node for row in rows for node in row}) >= 3),
    form=st.sampled_from(["parquet", "csv", "txt"]),
    scale=st.sampled_from([1, 3, 10**15]),
    alone=st.integers(0, 3),
)
def test_any_ties_give_the_release_of_memory(rows, form, scale, alone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    ends = np.array(rows) * scale
    file = write(folder / f"ties.{form}", ends, names=False)
    nodes = folder / "nodes.csv"
    every = sorted({*ends.ravel().tolist(), *range(alone)})
    nodes.write_text("\n".join(["id", *map(str, every), ""]))
    options = io.GraphOptions(directed="symmetrize", nodes=nodes if alone else None, header="no")
    method = gv.KDegree(k=2, prove="never", restarts=1)
    expected = in_memory(method, file, folder / "memory" / "out", options=options)
    (folder / "disk").mkdir()
    out = anonymize_ties(
        method, file, folder / "disk" / "out", seed=5, reading=options, bucket_keys=8
    )
    assert_same(expected, out)


@pytest.mark.parametrize("form", ["csv", "tsv", "text", "parquet"])
def test_a_release_is_written_in_the_format_that_is_asked_for(form, tmp_path):
    file = write(tmp_path / "ties.csv", arcs())
    expected = in_memory(METHOD, file, tmp_path / "memory" / "out", form=form)
    (tmp_path / "disk").mkdir()
    out = anonymize_ties(
        METHOD, file, tmp_path / "disk" / "out", seed=5, reading=FORGET, format=form
    )
    assert_same(expected, out)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("4 5\n1 2\n2 3\n3 4\n1 3\n2 4\n", id="counts of nodes and edges"),
        pytest.param("4 5\n4 5\n2 3\n3 4\n1 3\n2 4\n", id="no counts: the ids stand below"),
        pytest.param("# a remark\n1 2\n2 3\n3 1\n", id="a remark"),
        pytest.param("1 2\n2 3\n3 ann\nann 1\n", id="one text among numbers"),
        pytest.param(
            "who whom\n" + "".join(f"p{a} p{(a + 1) % 12}\n" for a in range(12)),
            id="a first row that stands alone",
        ),
    ],
)
def test_a_text_file_is_read_as_in_memory(text, tmp_path):
    file = tmp_path / "ties.txt"
    file.write_text(text)
    method, options = gv.KDegree(k=2), io.GraphOptions(directed="symmetrize")
    expected = in_memory(method, file, tmp_path / "memory" / "out", options=options)
    (tmp_path / "disk").mkdir()
    out = anonymize_ties(method, file, tmp_path / "disk" / "out", seed=5, reading=options)
    assert_same(expected, out)


def test_columns_that_are_left_out_are_named_as_in_memory(tmp_path):
    ends = arcs()
    table = pa.table({"a": ends[:, 0], "b": ends[:, 1].astype(np.int16), "w": ends[:, 0]})
    parquet.write_table(table, tmp_path / "ties.parquet")
    options = io.GraphOptions(
        directed="symmetrize", source_column="b", target_column="a", ignore_weights=True
    )
    file = tmp_path / "ties.parquet"
    expected = in_memory(METHOD, file, tmp_path / "memory" / "out", options=options)
    (tmp_path / "disk").mkdir()
    out = anonymize_ties(METHOD, file, tmp_path / "disk" / "out", seed=5, reading=options)
    assert_same(expected, out)


KILLED = """
import os, signal, sys, warnings
from pathlib import Path
import graphveil as gv
from graphveil.io import GraphOptions
from graphveil.scale import anonymize_ties
from graphveil.scale.ties import lists, reading, release
from graphveil.scale.ties import run as stages

warnings.simplefilter("ignore")
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
at = sys.argv[1]
if at == "nodes":
    reading.np.save = kill
elif at == "spread":
    reading.spread = kill
elif at == "lists":
    count, there = lists._without_repeats, []
    def once(keys):
        there.append(0)
        return count(keys) if len(there) < 4 else kill()
    lists._without_repeats = once
elif at == "draft":
    stages.draft_of = kill
elif at == "renumber":
    stages.write_files = kill
elif at == "write":
    stages.write_files = lambda *given: [release.write_files(*given), kill()]
anonymize_ties(
    gv.KDegree(k=3), sys.argv[2], sys.argv[3], seed=5 if sys.argv[4] == "seeded" else None,
    reading=GraphOptions(directed="symmetrize"), bucket_keys=64)
"""


@pytest.mark.parametrize("at", ["nodes", "spread", "lists", "draft", "renumber", "write"])
def test_a_killed_run_goes_on_to_the_same_release(at, tmp_path, monkeypatch):
    file = write(tmp_path / "ties.parquet", arcs())
    (tmp_path / "disk").mkdir()
    out = tmp_path / "disk" / "out"
    arguments = [sys.executable, "-c", KILLED, at, file, out, "seeded"]
    assert -signal.SIGKILL == subprocess.run(arguments, check=False).returncode
    assert not out.exists()
    assert 0o700 == working_folder(out).stat().st_mode & 0o777
    if at in ("lists", "draft", "renumber", "write"):
        monkeypatch.setattr(reading, "spread", None)
    anonymize_ties(METHOD, file, out, seed=5, reading=FORGET, bucket_keys=64)
    assert not working_folder(out).exists()
    assert_same(in_memory(METHOD, file, tmp_path / "memory" / "out"), out)


def test_a_killed_run_without_a_seed_goes_on_with_what_it_has_drawn(tmp_path):
    file = write(tmp_path / "ties.parquet", arcs())
    (tmp_path / "disk").mkdir()
    out = tmp_path / "disk" / "out"
    arguments = [sys.executable, "-c", KILLED, "renumber", file, out, "unseeded"]
    assert -signal.SIGKILL == subprocess.run(arguments, check=False).returncode
    shutil.copytree(tmp_path / "disk", tmp_path / "copy")
    for disk in ("disk", "copy"):
        anonymize_ties(METHOD, file, tmp_path / disk / "out", reading=FORGET, bucket_keys=64)
    assert_same(out, tmp_path / "copy" / "out")
    assert gv.verify_release(out, io.load_graph(file, FORGET).data).ok


def test_new_ids_are_drawn_once_however_often_a_run_is_continued(tmp_path, monkeypatch):
    file, out = write(tmp_path / "ties.parquet", arcs()), tmp_path / "out"
    orders = []

    def stop(*_):
        orders.append(np.load(working_folder(out) / "order.npy").tolist())
        raise KeyboardInterrupt

    monkeypatch.setattr(stages, "write_files", stop)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            anonymize_ties(METHOD, file, out, reading=FORGET)
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == list(range(40))


def test_the_working_folder_of_other_ties_is_not_taken_up(tmp_path, monkeypatch):
    file, out = write(tmp_path / "ties.parquet", arcs()), tmp_path / "out"

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stages, "draft_of", stop)
        with pytest.raises(KeyboardInterrupt):
            anonymize_ties(METHOD, file, out, reading=FORGET)
    write(file, arcs(seed=1))
    with pytest.raises(ReleaseError, match="unfinished run of different data"):
        anonymize_ties(METHOD, file, out, reading=FORGET)
    anonymize_ties(METHOD, file, out, reading=FORGET, force=True)
    assert gv.verify_release(out, io.load_graph(file, FORGET).data).ok


def test_a_disk_without_room_is_said_before_anything_is_read(tmp_path, monkeypatch):
    file = write(tmp_path / "ties.parquet", arcs())
    monkeypatch.setattr(reading.shutil, "disk_usage", lambda _: SimpleNamespace(free=160 * 26 - 1))
    with pytest.raises(ResourceError, match=r"needs about 0.0 GB in addition to the release"):
        anonymize_ties(METHOD, file, tmp_path / "out", reading=FORGET)


def test_a_disk_without_room_for_noise_is_said_before_epsilon_is_spent(
    tmp_path, monkeypatch, capsys
):
    """It has room for what is read; noise releases many more ties than there were."""
    edges = {(min(u, v), max(u, v)) for u, v in arcs(n=60, m=240).tolist() if u != v}
    file, out = write(tmp_path / "ties.csv", np.array(sorted(edges))), tmp_path / "out"
    graph, ledger = io.load_graph(file).data, gv.Ledger(tmp_path / "spent.json")
    method = gv.RandomizedResponse(epsilon=0.5)
    most = method.from_edges_on_disk(graph, Randomness()).at_most
    free = SimpleNamespace(free=reading.BYTES_A_NOISY_TIE * most - 1)
    monkeypatch.setattr(reading.shutil, "disk_usage", lambda _: free)
    said = f"releases up to about {most:,} edges (the input has {graph.n_edges}), which"
    with pytest.raises(ResourceError, match=re.escape(said)):
        anonymize_ties(method, file, out, ledger=ledger)
    assert 0 == ledger.total("edge")
    flags = ["--epsilon", "0.5", "--on-disk", "--out", str(out)]
    assert 3 == command_line(["anonymize", "randomized-response", str(file), *flags])
    assert "Free space" in capsys.readouterr().err
    free.free += 1
    anonymize_ties(method, file, out, ledger=ledger)
    assert 0.5 == ledger.total("edge")
    assert gv.verify_release(out, graph).ok


def test_room_that_is_asked_for_noise_is_enough_and_not_much_more():
    graph = gv.Graph.from_edges(*arcs(n=400, m=3000).T, n=400, directed="symmetrize")
    for method in NOISE:
        most = method.from_edges_on_disk(graph, Randomness()).at_most
        assert method.anonymize(graph, seed=1).data.n_edges < most
        assert most < 1.3 * method.anonymize(graph, seed=2).data.n_edges
    for n, ends in ((2, [0, 1]), (3, [0, 2]), (3, [0, 1, 0, 2, 1, 2])):
        few = gv.Graph.from_edges(ends[::2], ends[1::2], n=n)
        for method in NOISE:
            most = method.from_edges_on_disk(few, Randomness()).at_most
            assert method.anonymize(few, seed=1).data.n_edges <= most <= n * (n - 1) // 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("source,target\n1,-2\n3,4\n", "the id -2 is negative", id="below 0"),
        pytest.param("source,target\n1,2,9\n2,3,9\n", "cells", id="ragged"),
        pytest.param("source,target,weight\n1,2,9\n2,3,8\n", "Extra: weight", id="weights"),
        pytest.param("source,target\n1,1\n", "a graph needs at least two", id="one node"),
        pytest.param("source,target\na,b\n,c\n", "is missing", id="missing id"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(content, message, tmp_path):
    file = tmp_path / "ties.csv"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        anonymize_ties(METHOD, file, tmp_path / "out")
    assert [file] == list(tmp_path.iterdir())


def test_columns_that_are_no_ids_are_refused(tmp_path):
    for values, message in (
        (pa.array([-1, 2]), "negative"),
        (pa.array([None, 2]), "missing"),
        (pa.array([0.5, 2.0]), "0.5 is not a valid id"),
        (pa.array([None, "b"]), "missing"),
    ):
        parquet.write_table(
            pa.table({"source": pa.array([1, 2]), "target": values}), tmp_path / "ties.parquet"
        )
        with pytest.raises(InputError, match=message):
            anonymize_ties(METHOD, tmp_path / "ties.parquet", tmp_path / "out")


def test_more_nodes_than_positions_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("graphveil.scale.ties.nodes.MAX_NODES", 39)
    file = write(tmp_path / "ties.parquet", arcs())
    with pytest.raises(InputError, match="40 nodes exceed the maximum of 39"):
        anonymize_ties(METHOD, file, tmp_path / "out", reading=FORGET)


def test_directions_that_matter_are_not_forgotten_unasked(tmp_path):
    file = write(tmp_path / "ties.parquet", np.array([[1, 2], [2, 1], [2, 3], [3, 4]]))
    with pytest.raises(InputError, match="the edges seem to be directed: 1 of 3 edges are mutual"):
        anonymize_ties(METHOD, file, tmp_path / "out")
    assert [file] == list(tmp_path.iterdir())


def test_too_few_nodes_are_refused(tmp_path):
    file = write(tmp_path / "ties.parquet", arcs())
    with pytest.raises(InfeasibleError, match="at least 50 nodes"):
        anonymize_ties(gv.KDegree(k=50), file, tmp_path / "out", reading=FORGET)


def test_what_needs_all_ties_in_memory_is_refused(tmp_path):
    file = write(tmp_path / "ties.csv", arcs())
    with pytest.raises(
        UsageError, match=r"hrg-mcmc needs all edges in memory\. To run on disk, use k-degree"
    ):
        anonymize_ties(gv.HrgMcmc(epsilon=1.0), file, tmp_path / "out")
    with pytest.raises(UsageError, match="known needs all data in memory"):
        anonymize_ties(gv.KDegree(k=2, known="age"), file, tmp_path / "out")
    with pytest.raises(UsageError, match="attributes and edge types"):
        anonymize_ties(METHOD, file, tmp_path / "out", reading=io.NetworkOptions())
    with pytest.raises(UsageError, match="graphml cannot be written in pieces"):
        anonymize_ties(METHOD, file, tmp_path / "out", format="graphml")
    (tmp_path / "ties.gml").write_text("graph [ node [ id 1 ] node [ id 2 ] ]")
    with pytest.raises(UsageError, match="gml cannot be read in pieces"):
        anonymize_ties(METHOD, tmp_path / "ties.gml", tmp_path / "out", format="csv")
    with pytest.raises(UsageError, match="reads edges from disk, not rows"):
        gv.anonymize_rows(METHOD, file, tmp_path / "out")


def test_another_release_of_the_same_ties_is_warned_of(tmp_path):
    file = write(tmp_path / "ties.csv", arcs())
    in_memory(METHOD, file, tmp_path / "here" / "first")
    with pytest.warns(match="1 other release of this input is next to it, first"):
        anonymize_ties(METHOD, file, tmp_path / "here" / "second", reading=FORGET)


def test_the_command_line_keeps_ties_on_the_disk(tmp_path, capsys):
    file, out = write(tmp_path / "ties.csv", arcs()), tmp_path / "out"
    flags = ["--k", "3", "--on-disk", "--directed", "symmetrize", "--seed", "5"]
    assert 0 == command_line(["anonymize", "k-degree", str(file), "--out", str(out), *flags])
    said = capsys.readouterr()
    assert "read as a network" in said.err
    assert f"Publish: {out}" in said.out
    assert_same(in_memory(METHOD, file, tmp_path / "memory" / "out"), out)
    assert 0 == command_line(["verify", str(out), "--original", str(file)])
    shutil.rmtree(out)


def test_an_edge_that_is_not_there_is_not_deleted():
    edges = [np.array([(0 << 32) | 1, (1 << 32) | 2])]
    nothing = np.empty((0, 2), dtype=np.int32)
    changed = Changed(nothing, np.array([[0, 2]], dtype=np.int32))
    with pytest.raises(RuntimeError, match="1 edges were to be deleted but do not exist"):
        list(changed_edges(edges, changed))


def test_degrees_that_were_not_planned_are_not_published(tmp_path, monkeypatch):
    file = write(tmp_path / "ties.parquet", arcs())
    monkeypatch.setattr("graphveil.scale.ties.run.changed_edges", lambda edges, _: edges)
    with pytest.raises(RuntimeError, match="differ from those planned for k=3"):
        anonymize_ties(METHOD, file, tmp_path / "out", reading=FORGET)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("narrow")
@given(
    values=st.lists(st.integers(0, 2**62), min_size=1, max_size=30),
    small=st.lists(st.integers(0, 100), min_size=1, max_size=30),
)
def test_integers_are_numbered_in_their_order(values, small, tmp_path_factory):
    file = tmp_path_factory.mktemp("ids") / "ties.parquet"
    ends = np.array([(a, b) for a, b in zip([*small, *values], [*values, *small], strict=False)])
    write(file, ends)
    ties = tie_file(source_of(file, None), io.GraphOptions())
    distinct = np.unique(ends)
    if distinct.size < 2:
        return
    known = nodes_of(ties, file.parent)
    assert distinct.tolist() == known.labels.tolist()
    at = Numbering(known.labels).numbers_of(pa.array(ends.ravel()))
    assert np.searchsorted(distinct, ends.ravel()).tolist() == at.tolist()


@pytest.fixture(scope="module")
def narrow():
    """Let maps of integers be narrow, so that few integers leave them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("graphveil.scale.ties.nodes.WIDEST_MAP", 1 << 16)
        patched.setattr("graphveil.scale.ties.nodes.MERGED", 3)
        yield


def test_a_warning_says_what_was_dropped(tmp_path):
    ends = np.array([[1, 2], [1, 2], [2, 2], [2, 3], [3, 4], [4, 1]])
    file = write(tmp_path / "ties.csv", ends)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        anonymize_ties(gv.KDegree(k=2), file, Path(tmp_path, "out"))
    said = [str(one.message) for one in raised]
    assert "dropped 1 self-loop; dropped 1 duplicate" in said
