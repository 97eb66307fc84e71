"""The original's file read a second time, by code that the method's reader does not share."""

from __future__ import annotations

import ast
import gzip
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.data.kinds import kind_of
from graphveil.io.text import table_cells
from graphveil.verify.check import _second_reading
from graphveil.verify.database import database
from graphveil.verify.kinds.registry import CHECKED_KINDS
from graphveil.verify.second_reading import pairs, plain_file, tables
from graphveil.verify.verdict import SHARED, TWICE

EDGES = "source,target\nann,bob\nbob,ann\nbob,cyd\ncyd,cyd\ndan,ann\n"
PAIRS = "user,item\n1,tea\n1,tea\n2,rye\n3,tea\n"


def read_again(db, original, path, reading):
    return CHECKED_KINDS[kind_of(original).name].read_again(db, original, path, reading)


def check(path, original=None):
    if original is None:
        read = gv.read_bipartite if "user" in path.read_text(errors="replace") else gv.read_graph
        further = {} if read is gv.read_bipartite else {"directed": "symmetrize"}
        original = read(path, **further)
    with database([path.parent]) as db:
        return read_again(db, original, path, {})


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
@pytest.mark.parametrize(
    ("name", "text", "detail"),
    [
        ("x.csv", EDGES, "the same 3 edges"),
        ("x.csv", EDGES.replace("\n", "\r\n"), "the same 3 edges"),
        ("x.tsv", EDGES.replace(",", "\t"), "the same 3 edges"),
        ("x.csv", "From,To\n7,12\n12,300\n", "the same 2 edges"),
        ("x.csv", "source,target\nann,bob\n\nbob,cyd\n", "the same 2 edges"),
        ("x.csv", "user,item\nann,tea\nann,rye\n", "the same 2 entries"),
        ("x.csv", PAIRS, "the same 3 entries"),
        ("x.csv", 'user,item\n1,"tea, green"\n2,"the ""best"""\n', "the same 2 entries"),
        ("x[1].csv", PAIRS, "the same 3 entries"),
        ("x.csv", "# a comment\n\nsource,target\nann,bob\nbob,cyd\n", "the same 2 edges"),
        ("x.csv", "1;2\n2;12\n", "the same 2 edges"),
        ("x.txt", "# Nodes: 4\n1 2\n 2\t3 \n% in between\n\n3  12\n", "the same 3 edges"),
        ("x.edges", "% sym\n1\t2\n2\t3\n", "the same 2 edges"),
        ("x.txt", "source target\nann bob\nbob cyd\n", "the same 2 edges"),
        ("x.csv", "source,target\n\nann,bob\n\nbob,cyd\n", "the same 2 edges"),
        ("x.csv", "# of two\r\n\r\n1,2\r\n2,12\r\n", "the same 2 edges"),
    ],
)
def test_a_plain_file_is_read_alike_by_both(tmp_path, name, text, detail):
    done = check(write(tmp_path, name, text))
    assert ("holds", True) == (done.outcome, detail in done.detail), done


@pytest.mark.parametrize(
    ("text", "reading", "detail"),
    [
        ("ann,bob\nbob,cyd\n", {"header": "no"}, "the same 2 edges"),
        ("x|y\nann|bob\nbob|cyd\n", {"header": "yes", "delimiter": "|"}, "the same 2 edges"),
        (
            "when,who,whom\n1,ann,bob\n2,bob,cyd\n",
            {"source_column": "who", "target_column": 3, "ignore_weights": True},
            "the same 2 edges",
        ),
        (
            "source,target,weight\nann,bob,3\nbob,cyd,1\n",
            {"ignore_weights": True},
            "the same 2 edges",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_a_file_that_was_read_with_options_is_read_with_them_again(tmp_path, text, reading, detail):
    path = write(tmp_path, "x.csv", text)
    original = gv.read_graph(path, **reading)
    header = {"header": "yes"} if "when" in text else {}
    with database([tmp_path]) as db:
        done = read_again(db, original, path, reading | header)
    assert ("holds", True) == (done.outcome, detail in done.detail), done


CELLS = st.sampled_from(["0", "7", "12", "300", "ann", "bob", "a b", "x,y", "#1", "", " z", "01"])


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=6),
    between=st.sampled_from([",", "\t", ";", " ", "  "]),
    above=st.sampled_from(["", "# two\n", "% x\n\n", "source,target\n", "source target\n"]),
    end=st.sampled_from(["\n", "\r\n"]),
    name=st.sampled_from(["x.csv", "x.tsv", "x.txt"]),
)
def test_no_file_that_the_reader_takes_is_said_to_say_something_else(
    tmp_path_factory, rows, between, above, end, name
):
    path = tmp_path_factory.mktemp("text") / name
    text = above + "".join(between.join(row) + "\n" for row in rows)
    path.write_bytes(text.replace("\n", end).encode())
    for read, options in ((gv.read_graph, {"directed": "symmetrize"}), (gv.read_bipartite, {})):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gv.GraphveilWarning)
            try:
                original = read(path, **options)
            except gv.GraphveilError:
                continue
        with database([path.parent]) as db:
            done = read_again(db, original, path, options)
        assert done.outcome in ("holds", "not checked"), (text, done)


def test_a_packed_file_is_read_alike_by_both(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(EDGES.encode()))
    with pytest.warns(gv.GraphveilWarning):
        done = check(path, gv.read_graph(path, directed="symmetrize"))
    assert "holds" == done.outcome


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (("ann", "bob"), "1 edge in the file is not in the original as read, the first"),
        (None, "1 edge of the original as read is not in the file, the first"),
    ],
)
def test_a_line_that_the_reader_lost_or_made_up_is_found(tmp_path, lost, words):
    path = write(tmp_path, "x.csv", EDGES)
    edges = [("ann", "bob"), ("bob", "cyd"), ("ann", "dan")]
    edges = [edge for edge in edges if edge != lost] + ([] if lost else [("cyd", "dan")])
    done = check(path, gv.Graph.from_edges(*map(list, zip(*edges, strict=True))))
    assert ("fails", True) == (done.outcome, words in done.detail), done


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "ann,bob\nbob,cyd\n"),
        ("x.txt", "ann bob\nbob cyd\n"),
        ("x.csv", "source,target\nann, bob\nbob, cyd\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"),
        ("x.csv", "source,target\n# a comment, of two\nann,bob\nbob,cyd\n"),
        ("x.csv", 'source,target\n"#ann",bob\nbob,cyd\n'),
    ],
)
def test_what_is_not_plain_is_said_to_be_read_once(tmp_path, name, text):
    done = check(write(tmp_path, name, text))
    assert "not checked" == done.outcome
    assert SHARED in done.detail


def test_no_more_is_read_twice_than_it_should_cost(tmp_path, monkeypatch):
    monkeypatch.setattr(pairs, "MOST_PAIRS", 1)
    done = check(write(tmp_path, "x.csv", PAIRS), gv.Bipartite.from_pairs([1, 2], ["tea", "rye"]))
    assert ("not checked", True) == (done.outcome, "more than 1 pairs" in done.detail)


def test_the_command_line_reads_the_original_twice(tmp_path, monkeypatch):
    monkeypatch.setattr("warnings.showwarning", lambda *_, **__: None)
    path = write(tmp_path, "likes.csv", PAIRS.replace("2,rye\n", "2,tea\n4,tea\n"))
    likes = gv.read_bipartite(path)
    out = gv.SuppressK(k=2).anonymize(likes).write(tmp_path / "out")
    verdict = gv.verify_release(out, original=likes, original_file=path)
    assert verdict.complete
    assert "holds" == next(c.outcome for c in verdict.checks if c.name == TWICE)
    assert TWICE not in {c.name for c in gv.verify_release(out, original=likes).checks}


def test_the_second_reading_shares_no_code_with_the_first():
    for module in (pairs, plain_file, tables):
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not [name for name in imported if name.startswith("graphveil.io")]


def test_an_id_that_stands_for_no_cell_is_left_to_the_reader(tmp_path):
    done = check(write(tmp_path, "x.csv", "user,item\n1,\x01\n2,tea\n"))
    assert "not checked" == done.outcome


def test_a_link_to_a_packed_file_of_another_name_is_read(tmp_path):
    (tmp_path / "blob").write_bytes(gzip.compress(PAIRS.encode()))
    (tmp_path / "x.csv.gz").symlink_to(tmp_path / "blob")
    with pytest.warns(gv.GraphveilWarning):
        original = gv.read_bipartite(tmp_path / "x.csv.gz", items="things")
    assert "holds" == check(tmp_path / "x.csv.gz", original).outcome


PEOPLE = "who,sex,age,town\nann,f,30,x\nbob,m,41.5,*\ncyd,f,?,\ndan,m,7,z\n"
READING = {"ids": "who", "suppressed": ("*", "", "?"), "bins": {"age": "edges:10,30"}}


def check_table(path, *, original=None, **changes):
    reading = READING | changes
    original = gv.read_table(path, **reading) if original is None else original
    with database([path.parent]) as db:
        return read_again(db, original, path, {"kind": "table", **reading})


@pytest.mark.parametrize("rule", ["edges:10,30", "median", "quantiles:3"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_a_table_is_read_alike_by_both(tmp_path, name, rule):
    text = PEOPLE if name == "x.csv" else PEOPLE.replace(",", "\t")
    done = check_table(write(tmp_path, name, text), bins={"age": rule})
    assert ("holds", True) == (done.outcome, "the same 12 cells" in done.detail), done


EVERY_NUMBER = (
    "who,age,height,zip,sex,team\n"
    "1,30,1.5,02139,f,1\n2,41,?,10001,m,2\n3,?,1.7,10002,?,1\n4,7,1.9,10003,m,2\n"
)


def test_one_rule_bins_every_other_column_of_numbers_for_both_readers(tmp_path):
    path = write(tmp_path, "x.csv", EVERY_NUMBER)
    bins = {"all": "median", "height": "edges:1.6"}
    reading = {"ids": "who", "suppressed": ("?",), "bins": bins, "one_hot": ("team",)}
    original = gv.read_table(path, **reading)
    by_name = reading | {"bins": {"age": "median", "height": "edges:1.6"}}
    assert ["age", "height", "zip", "sex", "team=1", "team=2"] == list(original.columns)
    assert original.to_arrow().equals(gv.read_table(path, **by_name).to_arrow())
    assert "holds" == check_table(path, original=original, **reading).outcome
    unbinned = gv.read_table(path, **reading | {"bins": {"height": "edges:1.6"}})
    done = check_table(path, original=unbinned, **reading)
    assert ("fails", True) == (done.outcome, done.detail.startswith("column 'age'")), done


def test_a_column_named_all_is_binned_alone(tmp_path):
    path = write(tmp_path, "x.csv", "all,age\n1,30\n5,41\n9,7\n")
    original = gv.read_table(path, bins={"all": "edges:4"})
    assert [["<=4", ">4"], [7, 30, 41]] == [sorted(c.tolist()) for c in original.categories]
    reading = {"ids": None, "bins": {"all": "edges:4"}}
    assert "holds" == check_table(path, original=original, **reading).outcome


def test_one_rule_bins_numbers_of_frames_and_of_people_of_a_network(tmp_path):
    frame = pa.table({"age": [1, 2, 9, None], "weight": [0.5, 2.5, 1.5, 4.0], "sex": list("fmfm")})
    both = {"age": "edges:3", "weight": "edges:3"}
    table = gv.Table.from_arrow(frame, bins={"all": "edges:3"})
    assert table.to_arrow().equals(gv.Table.from_arrow(frame, bins=both).to_arrow())
    done = read_people_again(tmp_path, reading={"bins": {"all": "median"}})
    assert ("holds", True) == (done.outcome, "the same 15 cells" in done.detail), done
    changed = read_people_again(tmp_path, ("ann,f,31", "ann,f,58"), {"bins": {"all": "median"}})
    assert ("fails", True) == (changed.outcome, "column 'age': row 0" in changed.detail), changed


def test_whole_numbers_and_quoted_cells_of_a_table_are_read_alike(tmp_path):
    text = 'who,"sex, or gender",age\n7,"f ""x""",30\n9,"a,b",041\n'
    done = check_table(write(tmp_path, "x.csv", text), bins={}, suppressed=("30",))
    assert "holds" == done.outcome, done


def test_columns_of_values_are_read_alike_by_both(tmp_path):
    path = write(tmp_path, "x.csv", PEOPLE)
    hot = {"one_hot": ("town", "age")}
    original = gv.read_table(path, **READING | hot)
    assert {"sex", "town=x", "town=z", "age=<=10", "age=10<x<=30", "age=>30"} == set(
        original.columns
    )
    done = check_table(path, original=original, **hot)
    assert "holds" == done.outcome, done
    path.write_text(PEOPLE.replace("7,z", "7,x"))
    done = check_table(path, original=original, **hot)
    assert (
        "column 'town': row 3 of the file has 'x', but the original as read has 'z'" == done.detail
    )
    twice = gv.Table(
        *(np.maximum(original.codes, 1), original.columns, original.categories, original.ids)
    )
    done = check_table(write(tmp_path, "x.csv", PEOPLE), original=twice, **hot)
    assert "fails" == done.outcome


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            ("f,30", "m,30"),
            "column 'sex': row 0 of the file has 'm', but the original as read has 'f'",
        ),
        (
            ("ann", "eve"),
            "column 'who': row 0 of the file has 'eve', but the original as read has 'ann'",
        ),
        (
            ("30,x", "31,x"),
            "column 'age': row 0 of the file has '31', but the original as read has '10<x<=30'",
        ),
        (
            ("f,?", "f,30"),
            "column 'age': row 2 of the file has '30', but the original as read has None",
        ),
        (
            ("7,z", "x,z"),
            "column 'age': row 3 of the file has 'x', but the original as read has '<=10'",
        ),
        (
            (",z\n", ",*\n"),
            "column 'town': row 3 of the file has None, but the original as read has 'z'",
        ),
        (("dan,m,7,z\n", ""), "3 rows in the file, but 4 in the original as read"),
    ],
)
def test_a_table_that_was_read_as_something_else_is_noticed(tmp_path, changed, says):
    path = write(tmp_path, "x.csv", PEOPLE)
    original = gv.read_table(path, **READING)
    path.write_text(PEOPLE.replace(*changed))
    done = check_table(path, original=original)
    assert ("fails", says) == (done.outcome, done.detail)


def test_a_rule_of_bins_for_a_column_that_was_not_binned_is_noticed(tmp_path):
    path = write(tmp_path, "x.csv", PEOPLE.replace("x\n", "1\n").replace("z", "7"))
    original = gv.Table.from_columns(
        {
            "sex": list("fmfm"),
            "age": ["10<x<=30", ">30", "*", "<=10"],
            "town": ["<=y", "*", "*", "7"],
        },
        ids=["ann", "bob", "cyd", "dan"],
    )
    done = check_table(path, original=original, bins={**READING["bins"], "town": "median"})
    assert (
        "column 'town': row 0 of the file has '1', but the original as read has '<=y'"
        == done.detail
    )


def test_intervals_that_no_rule_gives_are_noticed(tmp_path):
    path = write(tmp_path, "x.csv", PEOPLE)
    original = gv.read_table(path, **READING | {"bins": {"age": "edges:10,31"}})
    done = check_table(path, original=original)
    assert ("fails", "column 'age': '10<x<=31' is not an interval of edges:10,30") == (
        done.outcome,
        done.detail,
    )


@pytest.mark.parametrize(
    ("name", "text", "reading"),
    [
        ("x.csv", PEOPLE.replace("f,30", "f ,30"), {}),
        ("x.txt", PEOPLE.replace(",", " "), {}),
        ("x.csv", PEOPLE, {"nodes": "x"}),
        ("x.csv", PEOPLE, {"header": "no"}),
        ("x.csv", PEOPLE, {"ids": None}),
        ("x.csv", PEOPLE, {"ids": ["who"]}),
        ("x.csv", PEOPLE, {"suppressed": [None]}),
        ("x.csv", PEOPLE, {"suppressed": "*"}),
        ("x.csv", PEOPLE, {"bins": {"age": 7}}),
        ("x.csv", PEOPLE, {"bins": {"age": "edges:x"}}),
        ("x.csv", PEOPLE, {"bins": ["age"]}),
        ("x.csv", PEOPLE, {"one_hot": [{}]}),
    ],
)
def test_a_table_that_the_checker_does_not_read_is_no_tick(tmp_path, name, text, reading):
    path = write(tmp_path, name, text)
    original = gv.read_table(write(tmp_path, "plain.csv", PEOPLE), **READING)
    done = check_table(path, original=original, **reading)
    assert ("not checked", True) == (done.outcome, SHARED in done.detail)


@pytest.mark.parametrize("dropped", [("sex", "town"), ("town,sex",), ("sex, town",)])
def test_dropped_columns_do_not_prevent_the_second_reading(tmp_path, dropped):
    path = write(tmp_path, "x.csv", PEOPLE.replace("bob,m,", "bob, m,"))
    original = gv.read_table(path, **READING, drop=["sex", "town"])
    done = check_table(path, original=original, drop=dropped)
    assert ("holds", True) == (done.outcome, "the same 4 cells" in done.detail), done
    path.write_text(PEOPLE.replace("dan,m,7", "dan,m,31"))
    done = check_table(path, original=original, drop=dropped)
    assert ("fails", True) == (done.outcome, "column 'age': row 3" in done.detail), done


def test_a_quote_next_to_blanks_in_a_dropped_column_leaves_those_behind_unread(tmp_path):
    path = write(tmp_path, "x.csv", PEOPLE.replace("ann,f,", 'ann, f"",'))
    original = gv.read_table(write(tmp_path, "plain.csv", PEOPLE), **READING, drop=["sex"])
    done = check_table(path, original=original, drop=("sex",))
    assert ("not checked", True) == (done.outcome, "cells of 'sex' have" in done.detail), done


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("who,sex,age,city", "the file has no column 'town'"),
        ("who,sex,age,town,city", "the original as read has no column 'city'"),
    ],
)
def test_a_column_that_the_record_does_not_explain_is_named(tmp_path, header, says):
    original = gv.read_table(write(tmp_path, "plain.csv", PEOPLE), **READING)
    text = PEOPLE.replace("who,sex,age,town", header)
    text = text.replace("x\n", "x,1\n") if header.endswith("n,city") else text
    done = check_table(write(tmp_path, "x.csv", text), original=original)
    assert ("not checked", True) == (done.outcome, says in done.detail), done


OF_AN_OFFICE = "Größe;Ort;Lohn;Fach\n" + "1,5;Köln;-9;a\n2,5;Ulm;7;a\n1,5;Köln;7;b\n2,5;Ulm;7;b\n"


@pytest.mark.parametrize(
    ("encoding", "options", "named"),
    [
        ("windows-1252", {"encoding", "decimal", "missing"}, "s encoding, decimal and missing"),
        ("utf-8", {"decimal", "missing"}, "s decimal and missing"),
        ("utf-8", {"decimal"}, " decimal"),
        ("utf-8", {"encoding", "missing"}, " missing"),
        # Bytes of UTF-8 are text in this encoding as well, but other text.
        ("iso-8859-1", {"encoding"}, " encoding"),
    ],
)
def test_options_that_change_the_text_are_not_checked_and_named(tmp_path, encoding, options, named):
    every = {"encoding": encoding, "decimal": ",", "missing": {"Lohn": "-9"}}
    reading = {name: value for name, value in every.items() if name in options}
    text = OF_AN_OFFICE if "decimal" in options else OF_AN_OFFICE.replace(",", "")
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode("utf-8" if "iso" in encoding else encoding))
    original = gv.read_table(path, person="row", exact=True, **reading)
    reading |= {"person": "row", "exact": True}
    done = _second_reading(None, original, path, reading)
    assert done.detail == f"{SHARED}: the second reader does not apply the option{named}"
    assert "not checked" == done.outcome


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_files_of_a_network_in_another_encoding_are_not_checked(tmp_path):
    # Bytes of UTF-8, read as another encoding: the second reader would see other ids.
    path, people = write(tmp_path, "x.csv", TIES), write(tmp_path, "people.csv", OF_PEOPLE)
    for file in (path, people):
        file.write_text(file.read_text().replace("ann", "ånn"), encoding="utf-8")
    reading = {"encoding": "iso-8859-1"}
    original = gv.read_network(path, nodes=people, **reading)
    done = _second_reading(None, original, path, reading | {"nodes": str(people)})
    assert ("not checked", True) == (done.outcome, done.detail.endswith("option encoding")), done


KINDS = "source,target,kind\nann,bob,call\nbob,ann,call\nbob,cyd,kin\ncyd,bob,kin\ncyd,cyd,call\n"
OF_KINDS = {"kind_column": "kind", "directed": "keep", "undirected": ("kin",)}


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
@pytest.mark.parametrize(
    ("reading", "changes", "says"),
    [
        (OF_KINDS, ("", ""), "the same 3 edges"),
        ({**OF_KINDS, "undirected": (), "kinds": ("call",)}, ("", ""), "the same 2 edges"),
        ({"kind_column": "3", "directed": "symmetrize"}, ("", ""), "the same 2 edges"),
        (OF_KINDS, ("ann,bob,call", "ann,bob,kin"), "1 edge in the file is not in the original"),
        (OF_KINDS, ("ann,bob,call", "ann,cyd,call"), "1 edge of the original as read"),
        (OF_KINDS, ("cyd,bob,kin", "cyd,bob,call"), "1 edge in the file is not in the original"),
        ({"directed": "keep", "ignore_weights": True}, ("", ""), "the same 4 edges"),
    ],
)
def test_kinds_of_ties_are_read_twice(tmp_path, reading, changes, says):
    path = write(tmp_path, "x.csv", KINDS)
    original = gv.read_network(path, **reading)
    path.write_text(KINDS.replace(*changes) if changes[0] else KINDS)
    kept = {name: list(one) if isinstance(one, tuple) else one for name, one in reading.items()}
    with database([path.parent]) as db:
        done = read_again(db, original, path, kept)
    assert says in done.detail
    assert ("fails" if changes[0] else "holds") == done.outcome


TIES = "source,target\nann,bob\nbob,cyd\ncyd,dan\n"
OF_PEOPLE = "name,sex,age,town\nann,f,31,Oslo\nbob,m,44,*\ndan,,58,Tau\ncyd,f,29,Oslo\neve,m,,Tau\n"
READ_SO = {"node_column": "name", "bins": {"age": "edges:30,50"}, "drop": ("town",)}


def read_people_again(tmp_path, changes=("", ""), reading=None, *, kept=None):
    """Return what is said of two files, of which that of people was changed after it was read."""
    path, people = write(tmp_path, "x.csv", TIES), write(tmp_path, "people.csv", OF_PEOPLE)
    reading = READ_SO if reading is None else reading
    original = gv.read_network(path, nodes=people, **reading)
    people.write_text(OF_PEOPLE.replace(*changes) if changes[0] else OF_PEOPLE)
    kept = {"nodes": str(people)} if kept is None else kept
    kept |= {name: list(one) if isinstance(one, tuple) else one for name, one in reading.items()}
    with database([tmp_path]) as db:
        return read_again(db, original, path, kept)


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
@pytest.mark.parametrize(
    ("reading", "changes", "says"),
    [
        (None, ("", ""), "finds the same 10 cells"),
        ({}, ("", ""), "finds the same 15 cells"),
        ({"drop": ("town,sex",)}, ("", ""), "finds the same 5 cells"),
        ({"bins": {"age": "median"}}, ("", ""), "finds the same 15 cells"),
        (
            None,
            ("bob,m,44", "bob,f,44"),
            "column 'sex': row 1 of the file has 'f', but the original as read has 'm'",
        ),
        (None, ("ann,f,31", "ann,f,29"), "column 'age': row 0 of the file has '29'"),
        (
            None,
            ("dan,,58", "dan,m,58"),
            "column 'sex': row 2 of the file has 'm', but the original as read",
        ),
        (None, ("eve,m,,", "eve,m,30,"), "column 'age': row 4 of the file has '30'"),
        ({}, ("bob,m,44,*", "bob,m,44,Tau"), "column 'town': row 1 of the file has 'Tau'"),
        (None, ("eve,m,,Tau\n", ""), "4 people in 'people.csv', but 5 in the original as read"),
        (None, ("eve,m", "fay,m"), "'fay' in 'people.csv' is not a person in the original as read"),
        (None, ("dan,,58", "cyd,,58"), "5 people in 'people.csv', but 5 in the original as read"),
    ],
)
def test_the_file_of_people_is_read_twice(tmp_path, reading, changes, says):
    done = read_people_again(tmp_path, changes, reading)
    assert says in done.detail
    assert ("fails" if changes[0] else "holds") == done.outcome
    if not changes[0]:
        assert "finds the same 3 edges in the file; for the file of people, " in done.detail


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        (("name,sex,age,town", "name,sex,age,city"), None),
        (("bob,m", " bob,m"), None),
        (("", ""), {}),
    ],
)
def test_people_that_the_checker_does_not_read_are_no_tick(tmp_path, changes, kept):
    done = read_people_again(tmp_path, changes, {"bins": {"age": "edges:30,50"}}, kept=kept)
    assert "not checked" == done.outcome


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_the_command_line_reads_people_twice(tmp_path):
    from graphveil.cli import run  # noqa: PLC0415

    write(tmp_path, "x.csv", TIES), write(tmp_path, "people.csv", OF_PEOPLE)
    people = ["--nodes", str(tmp_path / "people.csv"), "--bins", "age=edges:30,50"]
    dropped = ["--drop", "town", "--known", "sex", "--attach", "age", "--k", "2"]
    ties, out = str(tmp_path / "x.csv"), str(tmp_path / "out")
    assert run(["anonymize", "k-degree", ties, *people, *dropped, "--out", out]) == 0
    given = ["--original", ties, "--nodes", str(tmp_path / "people.csv")]
    assert run(["verify", out, *given]) == 0


CODES = """sex,code,town
f,007,"Oslo, east"
f,7,"Oslo, east"
m,12,"Oslo, west"
m,12,"Oslo, west"
"""


def without_the_last_row(cells):
    return cells.slice(0, cells.num_rows - 1)


def without_leading_zeros(cells):
    return cells.set_column(1, "code", pc.utf8_ltrim(cells["code"], "0"))


def cut_at_a_quoted_comma(cells):
    return cells.set_column(2, "town", pc.replace_substring_regex(cells["town"], ",.*", ""))


@pytest.mark.parametrize(
    ("defect", "says"),
    [
        (without_the_last_row, "4 rows in the file, but 3 in the original as read"),
        (without_leading_zeros, "column 'code': row 0 of the file has '007', but the original"),
        (cut_at_a_quoted_comma, "column 'town': row 0 of the file has 'Oslo, east', but the"),
    ],
)
def test_a_defect_of_the_first_reader_is_found_by_the_second_reading_alone(
    tmp_path, monkeypatch, defect, says
):
    path = write(tmp_path, "x.csv", CODES)
    parsed = table_cells._parsed
    monkeypatch.setattr(table_cells, "_parsed", lambda *given: defect(parsed(*given)))
    original = gv.read_table(path, person="row")
    out = gv.SuppressK(k=2).anonymize(original).write(tmp_path / "out")
    once = gv.verify_release(out, original)
    assert ("holds", []) == (once.answer, once.failures())
    twice = gv.verify_release(out, original, original_file=path)
    assert [TWICE] == [check.name for check in twice.failures()]
    assert ("fails", True) == (twice.answer, says in twice.failures()[0].detail)
