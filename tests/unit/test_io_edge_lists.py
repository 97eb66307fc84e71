"""Edge lists as they come: comments, delimiters, names, count lines, ids."""

from __future__ import annotations

import gzip
import warnings
from itertools import pairwise

import numpy as np
import pytest

from graphveil.core.errors import GraphveilWarning, InputError
from graphveil.io import GraphOptions, load_graph, read, read_graph
from graphveil.io.text.cleaning import may_not_be_plain, single_spaced

TRIANGLE = [[0, 1], [0, 2], [1, 2]]

SAME = {
    "comma": ("a.csv", "0,1\n1,2\n2,0\n"),
    "semicolon": ("a.csv", "0;1\n1;2\n2;0\n"),
    "tab in csv": ("a.csv", "0\t1\n1\t2\n2\t0\n"),
    "space in csv": ("a.csv", "0 1\n1 2\n2 0\n"),
    "comma and space": ("a.csv", "0, 1\n1, 2\n2, 0\n"),
    "tab": ("a.tsv", "0\t1\n1\t2\n2\t0\n"),
    "spaces": ("a.txt", "  0   1 \n1\t 2\t\n 2 0\n"),
    "carriage returns": ("a.txt", "0 1\r\n1 2\r\n2 0\r\n"),
    "carriage returns in csv": ("a.csv", "u,v\r\n0,1\r\n1,2\r\n2,0\r\n"),
    "no last end of line": ("a.edges", "0 1\n1 2\n2 0"),
    "blank lines": ("a.txt", "\n0 1\n\n\n1 2\n2 0\n\n"),
    "SNAP": ("a.txt", "# Undirected graph: x\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n2\t0\n"),
    "KONECT": ("a.txt", "% sym unweighted\n% 3 3 3\n0 1\n1 2\n2 0\n"),
    "comment in the middle": ("a.txt", "0 1\n# half\n1 2\n  % more\n2 0\n"),
    "names": ("a.csv", "source,target\n0,1\n1,2\n2,0\n"),
    "names in the other order": ("a.csv", "target,source\n1,0\n2,1\n0,2\n"),
    "names that are not known": ("a.csv", "ego,alter\n0,1\n1,2\n2,0\n"),
    "names below a comment": ("a.csv", "# x\nsource,target\n0,1\n1,2\n2,0\n"),
    "a count line": ("a.txt", "3 3\n0 1\n1 2\n2 0\n"),
    "quoted": ("a.csv", '"source","target"\n"0","1"\n"1","2"\n"2","0"\n'),
    "byte order mark": ("a.csv", "\ufeffsource,target\n0,1\n1,2\n2,0\n"),
}


@pytest.mark.parametrize(("name", "content"), SAME.values(), ids=SAME)
def test_the_same_edges_are_read_however_they_are_written(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, newline="")
    graph = load_graph(path).data
    assert (3, TRIANGLE) == (graph.n_nodes, graph.edges().tolist())


def written(tmp_path, content: str, name: str = "a.csv"):
    path = tmp_path / name
    path.write_text(content)
    return path


def test_loops_duplicates_and_reverses_are_counted(tmp_path):
    path = written(tmp_path, "0,1\n1,0\n0,1\n2,2\n1,2\n")
    graph, report = load_graph(path, GraphOptions(directed="symmetrize"))
    counts = (report.self_loops, report.duplicates, report.reciprocal_pairs, report.rows)
    assert (1, 1, 1, 5) == counts
    assert [[0, 1], [1, 2]] == graph.edges().tolist()


def test_a_node_with_nothing_but_a_loop_is_kept(tmp_path):
    graph, report = load_graph(written(tmp_path, "0,1\n2,2\n"))
    assert (3, 1) == (graph.n_nodes, report.isolated)


def test_reading_warns_once_of_what_was_dropped(tmp_path):
    path = written(tmp_path, "0,1\n0,1\n2,2\n1,2\n")
    with pytest.warns(GraphveilWarning, match="dropped 1 self-loop; dropped 1 duplicate") as caught:
        read_graph(path)
    assert 1 == len(caught)


def test_reading_warns_of_nothing_where_nothing_was_dropped(tmp_path):
    path = written(tmp_path, "0,1\n1,0\n1,2\n2,1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 2 == read(path, kind="graph").n_edges


def test_a_count_line_is_skipped_and_told(tmp_path):
    report = load_graph(written(tmp_path, "9 2\n10 11\n11 12\n", "a.txt")).report
    assert ("9 2", 2) == (report.count_line, report.rows)
    assert any("skipped the first line (9 2)" in line for line in report.lines())


@pytest.mark.parametrize("content", ["9 1\n0 1\n1 2\n8 9\n", "2 2\n0 1\n1 2\n", "9 1\n"])
def test_a_first_line_whose_counts_are_wrong_is_an_edge(tmp_path, content):
    report = load_graph(written(tmp_path, content, "a.txt")).report
    assert (None, content.count("\n")) == (report.count_line, report.rows)


def test_whole_columns_of_integers_give_integers_in_order(tmp_path):
    graph = load_graph(written(tmp_path, "10,9\n9,1000000000000\n")).data
    assert [9, 10, 1000000000000] == graph.labels().tolist()


@pytest.mark.parametrize("odd", ["007", "0x1F", "5a", "n/a5"])
def test_one_id_that_is_no_plain_integer_makes_all_ids_text(tmp_path, odd):
    graph, report = load_graph(written(tmp_path, f"1,2\n2,{odd}\n"))
    assert sorted(["1", "2", odd]) == graph.labels().tolist()
    assert (1, odd) == (report.odd_ids, report.example)


def test_weights_may_have_leading_zeros_and_signs(tmp_path):
    path = written(tmp_path, "1,2,-0.5\n2,3,007\n")
    options = GraphOptions(source_column=1, target_column=2, ignore_weights=True)
    graph, report = load_graph(path, options)
    assert ([1, 2, 3], ("column 3",)) == (graph.labels().tolist(), report.columns_ignored)


def test_text_ids_may_hold_delimiters_and_quotes(tmp_path):
    path = written(tmp_path, 'source,target\n"Doe, J","say ""x"""\nann,"Doe, J"\n')
    assert ["Doe, J", "ann", 'say "x"'] == load_graph(path).data.labels().tolist()


def test_names_with_spaces_stay_whole_where_another_delimiter_stands(tmp_path):
    path = written(tmp_path, "Jean Valjean,Javert\nFantine,Jean Valjean\n")
    assert ["Fantine", "Javert", "Jean Valjean"] == load_graph(path).data.labels().tolist()


def test_a_header_may_be_demanded_or_denied(tmp_path):
    path = written(tmp_path, "ann,bob\nbob,cyd\n")
    assert 2 == load_graph(path).data.n_edges
    assert 1 == load_graph(path, GraphOptions(header="yes")).data.n_edges
    named = written(tmp_path, "source,target\nann,bob\n", "b.csv")
    assert 2 == load_graph(named, GraphOptions(header="no")).data.n_edges


def test_directed_files_are_symmetrized_where_asked_and_the_count_is_said(tmp_path):
    path = written(tmp_path, "# Directed graph\n0 1\n1 0\n1 2\n", "a.txt")
    report = load_graph(path, GraphOptions(directed="symmetrize")).report
    assert (1, 1) == (report.symmetrized, report.reciprocal_pairs)
    assert any("dropped the direction of 1 arc" in line for line in report.lines())


def test_directed_files_with_every_reverse_are_not_called_directed(tmp_path):
    path = written(tmp_path, "# Directed graph\n0 1\n1 0\n", "a.txt")
    assert 0 == load_graph(path, GraphOptions(directed="refuse")).report.symmetrized


def test_a_directed_file_is_refused_or_symmetrized_as_told(tmp_path):
    path = written(tmp_path, "% asym unweighted\n0 1\n1 0\n1 2\n", "a.txt")
    with pytest.raises(InputError, match=r'1 of 2 edges are mutual .* directed="symmetrize"'):
        load_graph(path, GraphOptions(directed="refuse"))
    assert 2 == load_graph(path, GraphOptions(directed="symmetrize")).data.n_edges


def test_a_nodes_file_keeps_isolated_nodes(tmp_path):
    path = written(tmp_path, "source,target\nann,bob\n")
    nodes = written(tmp_path, "node\nann\nbob\nzoe, x\n".replace("zoe, x", '"zoe, x"'), "nodes.csv")
    graph, report = load_graph(path, GraphOptions(nodes=nodes))
    assert (["ann", "bob", "zoe, x"], 1) == (graph.labels().tolist(), report.isolated)


def test_a_first_line_of_a_nodes_file_that_may_be_its_name_is_asked_for(tmp_path):
    path = written(tmp_path, "source,target\nann,bob\n")
    nodes = written(tmp_path, "login\nann\nbob\nzoe\n", "nodes.csv")
    with pytest.raises(InputError) as caught:
        load_graph(path, GraphOptions(nodes=nodes))
    assert (
        "nodes.csv, line 1: the first line (login) could be a column name or "
        "an id that is not in the data. Put a line with id above it, or remove "
        "it." == str(caught.value)
    )
    for content in ("id\nlogin\nann\nbob\n", "ann\nbob\nlogin\n"):
        nodes.write_text(content)
        assert ["ann", "bob", "login"] == load_graph(
            path, GraphOptions(nodes=nodes)
        ).data.labels().tolist()


def test_a_nodes_file_alone_gives_a_graph_without_edges(tmp_path):
    path = written(tmp_path, "source,target\n")
    nodes = written(tmp_path, "node\n5\n6\n", "nodes.csv")
    graph = load_graph(path, GraphOptions(nodes=nodes)).data
    assert (2, 0) == (graph.n_nodes, graph.n_edges)


def test_a_file_of_many_chunks_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("graphveil.io.source.CHUNK", 64)
    lines = [f"{u} {u + 1}" for u in range(500)]
    path = written(tmp_path, "\n".join(lines) + "\n", "a.txt")
    graph = load_graph(path).data
    assert (501, 500) == (graph.n_nodes, graph.n_edges)
    lines[400] = "1 2 3"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="line 401: 3 cells"):
        load_graph(path)


def test_text_ids_are_the_same_in_chunks_and_at_once(tmp_path, monkeypatch):
    path = written(tmp_path, "".join(f"n{u % 7},m{u % 5}\n" for u in range(300)))
    whole = load_graph(path).data
    monkeypatch.setattr("graphveil.io.source.CHUNK", 50)
    assert whole == load_graph(path).data


def test_an_empty_line_of_a_gzip_with_two_members_is_no_end(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"0,1\n") + gzip.compress(b"1,2\n"))
    assert 2 == load_graph(path).data.n_edges


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a  b\n", b"a b\n"),
        (b"  a\t\tb \r\n c d", b"a b\nc d"),
        (b"a b\n", b"a b\n"),
        (b"a b ", b"a b"),
        (b"\n \n", b"\n\n"),
    ],
)
def test_white_space_becomes_one_space(text, expected):
    assert expected == single_spaced(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"0,10\n100,0\n", False),
        (b"1,2.05\n", False),
        (b"1,02\n", True),
        (b"01,2\n", True),
        (b"1,0x2\n", True),
        (b"1,-0\n", True),
        (b"-5,2\n", False),
    ],
)
def test_numbers_that_an_integer_would_not_keep_are_noticed(text, expected):
    assert expected == may_not_be_plain(text)


def test_ids_beyond_int32_keep_their_value_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("graphveil.io.source.CHUNK", 16)
    ids = [1, 2, 2**31 + 5, 2**40, 2**62]
    path = written(tmp_path, "".join(f"{u} {v}\n" for u, v in pairwise(ids)), "a.txt")
    graph = load_graph(path).data
    assert ids == graph.labels().tolist()
    assert np.int32 == graph.indices.dtype
