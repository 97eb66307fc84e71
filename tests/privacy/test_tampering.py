"""Whatever is changed in the data of a release, the checker says what and where."""

from __future__ import annotations

import shutil

import pytest
from edit_counts import note
from hypothesis import given, settings
from hypothesis import strategies as st
from tampering import (
    edges_of,
    failed,
    original_graph,
    private,
    release_of,
    replace_edges,
    replace_file,
)

from graphveil.data import Graph
from graphveil.release import Release
from graphveil.verbs.verify import verify_release as verify

PUT_IN = st.binary(max_size=6) | st.builds("{},{}\n".format, st.integers(0, 3), st.integers(4, 6))
"""Any bytes, or a row of two nodes."""


def test_an_untouched_release_holds_in_every_condition(folder):
    verdict = verify(folder, original=original_graph())
    assert verdict.ok
    assert verdict.complete


@pytest.mark.parametrize("name", ["data.csv", "nodes.csv"])
def test_every_changed_byte_of_the_data_is_named_with_its_file(folder, name):
    content = (folder / name).read_bytes()
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << (place % 8)
        (folder / name).write_bytes(flipped)
        assert name in failed(verify(folder))["files"], place


@settings(deadline=None, max_examples=40)
@pytest.mark.counts_edits("classes")
@given(place=st.integers(0, 10_000), drop=st.integers(0, 9), put_in=PUT_IN)
def test_no_sealed_edit_of_the_data_stops_the_checker(tmp_path_factory, place, drop, put_in):
    """Bytes are replaced, or whole rows; rows are counted anew, so that the count agrees."""
    folder = release_of(original_graph()).write(tmp_path_factory.mktemp("edit") / "release")
    content = (folder / "data.csv").read_bytes()
    if isinstance(put_in, str):
        lines = content.splitlines(keepends=True)
        place = 1 + place % len(lines)
        rows = {*lines[1:place], *lines[place + drop % 3 :], put_in.encode()}
        edited = b"".join([lines[0], *sorted(rows)])
    else:
        place %= len(content)
        edited = content[:place] + put_in + content[place + drop :]
    replace_file(folder, "data.csv", edited, rows=edited.count(b"\n") - 1)
    verdict = verify(folder)
    note(failed(verdict))
    assert (edited == content) == verdict.ok


def test_a_dropped_edge_leaves_a_class_that_is_named(folder):
    edges = edges_of(folder)
    u, v = edges.pop(2)
    replace_edges(folder, edges)
    shutil.rmtree(private(folder))
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert f"the class of degree 1 holds 2 nodes, fewer than k=3: {u}, {v} " in problems["classes"]


def test_a_class_of_one_node_too_few_is_named(tmp_path):
    graph = Graph.from_edges([0, 2, 4], [1, 3, 5], n=8)
    release = release_of(original_graph())
    folder = Release(
        data=graph,
        guarantee=release.guarantee,
        conditions=release.conditions,
        provenance=release.provenance,
    ).write(tmp_path / "release")
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert "the class of degree 0 holds 2 nodes, fewer than k=3: 6, 7 " in problems["classes"]


def test_a_row_dropped_without_sealing_fails_in_file_and_count(folder):
    edges = edges_of(folder)
    del edges[0]
    text = "".join(f"{u},{v}\n" for u, v in edges)
    (folder / "data.csv").write_text(f"source,target\n{text}")
    problems = failed(verify(folder))
    assert "data.csv" in problems["files"]
    assert "6 edges in the data, but release.json states 7" in problems["counts"]


def test_a_node_dropped_from_the_list_is_named(folder):
    listed = "".join(f"{node}\n" for node in range(7) if node != 4)
    replace_file(folder, "nodes.csv", f"node\n{listed}".encode(), rows=6)
    problems = failed(verify(folder))
    assert "node 4 is missing" in problems["ids"]
    assert "node 4 has an edge but is not listed" in problems["endpoints"]


def test_the_last_node_dropped_from_the_list_is_named(folder):
    listed = "".join(f"{node}\n" for node in range(6))
    replace_file(folder, "nodes.csv", f"node\n{listed}".encode(), rows=6)
    assert "node 6 has an edge but is not listed" == failed(verify(folder))["endpoints"]


def test_a_repeated_edge_is_named(folder):
    edges = edges_of(folder)
    replace_edges(folder, [*edges, edges[1]])
    u, v = edges[1]
    assert f"the edge ({u}, {v}) appears 2 times" == failed(verify(folder))["simple graph"]


def test_an_edge_repeated_in_the_other_direction_is_named(folder):
    edges = edges_of(folder)
    u, v = edges[1]
    replace_edges(folder, [*edges, [v, u]])
    assert f"the edge ({u}, {v}) appears 2 times" == failed(verify(folder))["simple graph"]


def test_a_self_loop_is_named(folder):
    edges = edges_of(folder)
    replace_edges(folder, [*edges, [6, 6]])
    assert "node 6 is its own neighbor" == failed(verify(folder))["simple graph"]


def test_an_edge_written_backwards_is_named(folder):
    edges = edges_of(folder)
    edges[0].reverse()
    replace_edges(folder, edges)
    u, v = edges[0]
    assert f"line 2 of data.csv, ({u}, {v}), " in failed(verify(folder))["canonical order"]


def test_two_edges_in_the_other_order_are_named(folder):
    edges = edges_of(folder)
    edges[3], edges[4] = edges[4], edges[3]
    replace_edges(folder, edges)
    u, v = edges[4]
    assert f"line 6 of data.csv, ({u}, {v}), " in failed(verify(folder))["canonical order"]


def test_a_moved_end_of_an_edge_leaves_classes_that_are_named(folder):
    edges = edges_of(folder)
    taken = {tuple(edge) for edge in edges}
    u, v = edges[0]
    moved = next(w for w in range(u + 1, 7) if (u, w) not in taken)
    replace_edges(folder, sorted([*edges[1:], [u, moved]]))
    shutil.rmtree(private(folder))
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert f"the class of degree 1 holds 1 node, fewer than k=3: {v} " in problems["classes"]


@pytest.mark.parametrize(
    "content",
    [
        b"source,target\n0,1\n\n2,3\n",
        b"source,target\n0, 1\n",
        b"source,target\n00,1\n",
        b"source,target\n0,+1\n",
        b"source,target\r\n0,1\r\n",
        b"source,target\n0,1",
        b"source,target\n0,1,ann\n",
        b"source,target\n0\n",
        b"source,target\n0,\n",
        b"source,target\n0,bob\n",
        b"source,target\n0,1.0\n",
        b"source,target\n0,99999999999999999999\n",
        b"source,target,weight\n0,1,1\n",
        b"# made of friends.csv\nsource,target\n0,1\n",
        b"target,source\n0,1\n",
        b"0,1\n",
        b"",
        b"source,target\n0,\xff\n",
        b"source,target\n0,\x00\n",
    ],
)
def test_a_data_file_holds_nothing_but_its_rows(folder, content):
    replace_file(folder, "data.csv", content)
    assert "data.csv" in failed(verify(folder))["data"]


def test_a_row_that_is_no_edge_is_named_with_its_line(folder):
    replace_file(folder, "data.csv", b"source,target\n0,1\n1,x\n")
    assert (
        "data.csv, line 3: '1,x' is not a row with the columns source,target"
        == failed(verify(folder))["data"]
    )


@pytest.mark.parametrize("name", ["friends.csv", ".hidden", "data.csv.bak"])
def test_a_file_that_is_not_listed_is_named(folder, name):
    (folder / name).write_text("ann,bob")
    assert (
        f"'{name}' is in the folder but is not listed in the manifest"
        == failed(verify(folder))["no other files"]
    )


def test_a_folder_inside_the_release_is_named(folder):
    (folder / "more").mkdir()
    assert (
        "'more' is in the folder but is not listed in the manifest"
        == failed(verify(folder))["no other files"]
    )


@pytest.mark.parametrize("name", ["data.csv", "nodes.csv"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    problems = failed(verify(folder))
    assert name in problems["files"]
    assert name in problems["data"]


@pytest.mark.parametrize("name", ["data.csv", "nodes.csv"])
def test_a_link_instead_of_a_file_is_refused(folder, name, tmp_path):
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    problems = failed(verify(folder))
    assert name in problems["files"]
    assert name in problems["data"]
