"""Files that were read as something else without a word: each is asked about, with the way out."""

from __future__ import annotations

import gzip
import json
import warnings

import networkx as nx
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil import io
from graphveil.cli import run
from graphveil.core.errors import DataError, InputError
from graphveil.data.columns import MANY_TIES
from graphveil.io.parsed import EVERY_WORD
from graphveil.scale import graph_on_disk
from shared_data import shared

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def refused(capfd, *arguments):
    """Return the one line of a command that is refused."""
    assert 2 == run(list(map(str, arguments)))
    lines = capfd.readouterr().err.splitlines()
    assert 1 == len(lines)
    return lines[0]


# Ties with attributes in braces


def with_attributes(*names):
    graph = nx.gnm_random_graph(60, 150, seed=1)
    for number, (_, _, data) in enumerate(graph.edges(data=True)):
        data.update({name: number % 7 if name == "weight" else f"on {number}" for name in names})
    return graph


@pytest.mark.parametrize("extension", ["txt", "edges", "csv", "tsv"])
def test_attributes_in_braces_are_no_ids(extension, tmp_path, capfd):
    path, graph = tmp_path / f"ties.{extension}", with_attributes("weight", "date")
    nx.write_edgelist(graph, path)
    read = gv.read_graph(path, ignore_weights=True)
    assert graph.number_of_edges() == read.n_edges
    assert ("weight", "date") == read.left_out
    assert "weights (weight)" in refused(capfd, "measure", path)
    line = refused(capfd, "measure", path, "--kind", "bipartite")
    assert "edge attributes in braces" in line
    assert "networkx.write_edgelist(graph, path, data=False)" in line


def test_the_ways_out_of_attributes_in_braces_are_true(tmp_path):
    graph, path = with_attributes("weight", "date"), tmp_path / "ties.txt"
    nx.write_edgelist(graph, path, data=False)
    alone = gv.read_graph(path)
    nx.write_edgelist(graph, path, data=["weight", "date"], delimiter="\t")
    columns = gv.read_graph(path, source_column=1, target_column=2, ignore_weights=True)
    assert alone == columns
    assert graph.number_of_edges() == alone.n_edges


@pytest.mark.parametrize("attributes", [(), ("weight",)])
def test_braces_that_columns_hold_are_left_out_as_before(attributes, tmp_path):
    graph, path = with_attributes(*attributes), tmp_path / "ties.txt"
    nx.write_edgelist(graph, path)
    read = gv.read_graph(path, source_column=1, target_column=2, ignore_weights=True)
    assert graph.number_of_edges() == read.n_edges


def test_a_delimiter_that_parts_the_attributes_alone_is_refused_too(tmp_path):
    path = tmp_path / "ties.txt"
    nx.write_edgelist(with_attributes("weight", "date"), path)
    with pytest.raises(InputError, match="attributes in braces"):
        gv.read_bipartite(path, delimiter=",")


def test_a_run_on_the_disk_refuses_them_too(tmp_path, capfd):
    path = tmp_path / "ties.txt"
    nx.write_edgelist(with_attributes("weight", "date"), path)
    out = tmp_path / "out"
    run_ = ("anonymize", "suppress-k", path, "--k", 2, "--on-disk", "--out", out)
    assert "attributes in braces" in refused(capfd, *run_)
    assert not out.exists()


# Tables that are taken for pairs

PEOPLE = "Private,HS-grad,White,Male\nState-gov,Masters,Black,Female\nPrivate,Masters,White,Male\n"


@pytest.mark.parametrize("kind", ["graph", "bipartite"])
@pytest.mark.parametrize("header", ["", "work,school,race,sex\n"])
def test_two_columns_of_a_wide_file_are_never_proposed(kind, header, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(header + PEOPLE)
    with pytest.raises(InputError) as caught:
        io.read(path, kind=kind)
    text = caught.value.message.flags
    assert "use --kind table" in text
    assert text.index("--kind table") < text.index("-column")
    assert not any(f"-column {example}" in text for example in ("1", "2", "work", "school"))


def test_census_data_without_names_are_asked_about_until_they_are_a_table(tmp_path, capfd):
    whole = gzip.decompress(shared("adult/adult.data.gz").read_bytes()).decode()
    rows = [line.split(", ") for line in whole.splitlines() if line]
    kept = [[row[n] for n in (1, 3, 5, 6, 7, 8, 9, 13)] for row in rows]
    path = tmp_path / "adult.csv"
    path.write_text("".join(f"{','.join(row)}\n" for row in kept))
    line = refused(capfd, "measure", path)
    table = ("measure", path, "--kind", "table")
    answers = "--kind table --header no --suppressed '*' --suppressed '' --suppressed '?'"
    assert f"To answer all: graphveil measure {path} {answers}" in line
    assert "column column_1 has ? (1,836x), column column_4 has ? (1,843x)" in line.lower()
    for way in (["--categories", "?"], ["--suppressed", "*", "--suppressed", "?"]):
        assert 0 == run(list(map(str, [*table, "--header", "no", *way])))
        assert "read 32,561 rows of csv as a table" in capfd.readouterr().err


def test_names_that_stand_again_as_a_row_are_named_as_before(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("work,sex\nPrivate,f\nwork,sex\nState,m\n")
    with pytest.raises(InputError, match="the header is repeated as row 2"):
        gv.read_table(path)


@pytest.mark.parametrize("content", ["id,name,town\na,Ann,Oslo\nz,Zoe,Rome\n", "id,name\nz,Zoe\n"])
def test_a_list_of_nodes_with_further_columns_says_which(content, tmp_path):
    (tmp_path / "ties.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "people.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        gv.read_graph(tmp_path / "ties.csv", nodes=tmp_path / "people.csv")
    names = content.partition("\n")[0].replace(",", ", ")
    assert f"this file has {names.count(',') + 1}: {names}." in str(caught.value)
    assert "Put a line with id above it" not in str(caught.value)


@pytest.mark.parametrize("reading", [gv.read_graph, gv.read_bipartite])
def test_a_file_of_one_line_of_words_may_have_names_alone_and_is_asked_about(reading, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,town\n")
    with pytest.raises(InputError, match=r"first line \(age, town\) holds names or data.*header"):
        reading(path)
    with pytest.raises(InputError, match=r"no rows|no users"):
        gv.describe(path)
    with pytest.raises(InputError, match=r"no rows|no users"):
        reading(path, header="yes")
    assert ["age"] == reading(path, header="no").labels().tolist()[:1]


def test_a_file_of_one_line_of_words_is_asked_about_on_the_disk_too(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,town\n")
    with (
        pytest.raises(InputError, match="cannot tell whether the first line"),
        graph_on_disk(path, io.GraphOptions()),
    ):
        pass
    path.write_text("3,4\n")
    with graph_on_disk(path, io.GraphOptions()) as (graph, _):
        assert 2 == graph.n_nodes


def test_two_columns_of_attributes_leave_the_kind_open(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,town\n30,Oslo\n40,Rome\n")
    found = gv.describe(path)
    assert ("table", ["kind"]) == (found.kind, [one.option for one in found.problems])


# Cells for no value, and sums


@pytest.mark.parametrize("word", ["inf", "-inf", "Infinity", "+INF"])
def test_an_infinite_number_in_a_csv_file_is_asked_about_and_not_taken_for_a_word(tmp_path, word):
    path = tmp_path / "a.csv"
    path.write_text(f"size,sex\n1.5,f\n{word},m\n2.5,f\n")
    with pytest.raises(InputError, match="numeric") as caught:
        gv.read_table(path)
    assert f"has {word} (1x): if such a value means" in str(caught.value)
    read = gv.read_table(path, bins={"size": "edges:2"}, suppressed=("*", "", word))
    assert (1, ["<=2", ">2"]) == (
        read.n_suppressed,
        read.to_arrow()["size"].drop_null().to_pylist(),
    )
    path.write_text(f"size,sex\n{word},f\nsmall,m\n")
    assert [word, "small"] == sorted(gv.read_table(path).to_arrow()["size"].to_pylist())


MISSING = ["NA", "na", "#N/A", "N/A", "?", "NULL", "null", "NaN", "<NA>", "\\N", ".", " NA "]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("word", MISSING)
def test_a_word_for_no_value_among_texts_is_asked_about(word, form, tmp_path):
    path = tmp_path / f"people.{form}"
    columns = {"town": ["Oslo", word, "Rome"], "sex": ["f", "m", "f"]}
    if form == "csv":
        path.write_text("".join(f"{a},{b}\n" for a, b in [columns, *zip(*columns.values())]))  # noqa: B905  equal
    else:
        parquet.write_table(pa.table(columns), path)
    with pytest.raises(InputError, match="Use suppressed=") as caught:
        gv.read_table(path)
    assert "use categories instead" in str(caught.value)
    assert 1 == gv.read_table(path, suppressed=("*", "", word)).n_suppressed
    kept = gv.read_table(path, categories=(word,))
    assert (0, [word in values for values in kept.categories]) == (kept.n_suppressed, [True, False])


@pytest.mark.parametrize("words", [("none", "a"), ("unknown", "a"), ("+", "-"), ("Nancy", "na-")])
def test_answers_that_people_give_are_not_asked_about(words, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(f"x,y\n{words[0]},1\n{words[1]},2\n")
    assert 2 == gv.read_table(path).n_rows


@pytest.mark.parametrize("word", ["Total", "TOTAL:", "Sum", "Grand total", "Summe"])
def test_a_last_row_that_adds_up_the_others_is_asked_about(word, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(f"name,sex\nann,f\nbob,m\n{word},\n")
    for options in ({}, {"ids": "name"}):
        with pytest.raises(InputError, match="the last row has"):
            gv.read_table(path, **options)
    assert 3 == gv.read_table(path, categories=(word.rstrip(":"),)).n_rows
    path.write_text(f"name,sex\nann,f\n{word},m\nbob,m\n")
    assert 3 == gv.read_table(path).n_rows
    path.write_text(f"name,sex\n{word},f\nbob,m\n{word},f\n")
    assert 3 == gv.read_table(path).n_rows


def test_columns_that_are_left_out_are_not_asked_about(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("name,sex\nann,f\nNA,m\n")
    assert 1 == gv.read_table(path, drop=("name",)).n_columns


def test_a_release_with_such_words_is_read_again_and_verifies(tmp_path):
    path = tmp_path / "people.csv"
    rows = ["NA,f", "?,m", "Oslo,f", "Total,m"] * 2
    path.write_text("\n".join(["town,sex", *rows, ""]))
    words = ["--categories", "NA", "--categories", "?", "--categories", "Total"]
    out = str(tmp_path / "out")
    release = ["anonymize", "cluster-k", str(path), "--kind", "table", "--k", "2", "--out", out]
    assert 0 == run([*release, *words])
    assert gv.read_release(out).data.n_rows == 8
    verdict = gv.verify_release(out, path)
    assert {"holds"} == {check.outcome for check in verdict.checks}
    record = json.loads((tmp_path / "out.private" / "record.json").read_text())
    assert ["NA", "?", "Total"] == record["reading"]["categories"]


def test_the_record_of_a_release_from_before_the_question_answers_it(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("town,sex\n" + "NA,f\nOslo,m\n" * 2)
    folder = tmp_path / "out"
    table = gv.read_table(path, categories=("NA",))
    kept = {"kind": "table", "suppressed": ["*", ""]}
    gv.ClusterK(k=2).anonymize(table).write(folder, reading=kept)
    assert gv.verify_release(folder, path)


def test_a_column_beside_a_release_is_taken_as_it_is_published(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "likes.csv").write_text("user,item\na,x\nb,x\nc,y\nd,y\n")
    (tmp_path / "income.csv").write_text("who,income\na,NA\nb,low\nc,NA\nd,low\n")
    assert 0 == run(["anonymize", "suppress-k", "likes.csv", "--k", "2", "--out", "out"])
    attack = ["attack", "out", "--original", "likes.csv", "--attacks", "homogeneity"]
    assert 0 == run([*attack, "--attached", "income.csv"])


def test_advice_repeats_what_was_said_of_such_words(tmp_path, capfd):
    path = tmp_path / "people.csv"
    path.write_text("town,sex\n" + "NA,f\nOslo,m\n" * 4)
    assert 0 == run(["advise", str(path), "--kind", "table", "--categories", "NA"])
    assert "--kind table --categories NA" in capfd.readouterr().out


def test_every_word_is_asked_about_or_is_one_for_numbers(tmp_path):
    path = tmp_path / "people.csv"
    asked = []
    for word in filter(None, EVERY_WORD):
        path.write_text(f'x,y\nann,1\n"{word}",2\n')
        try:
            gv.read_table(path)
        except InputError:
            asked.append(word)
    infinite = {f"{sign}{word}" for sign in ("", "+", "-") for word in ("inf", "infinity")}
    assert {"none", *infinite} == {*EVERY_WORD} - {*asked, ""}


# Directions that names of columns say


def chain(names, ties):
    return f"{names}\n" + "".join(f"{number},{number + 1}\n" for number in range(ties))


@pytest.mark.parametrize(
    "names",
    [
        "from,to",
        "sender,recipient",
        "caller,callee",
        "follower,followee",
        "From_Node-ID,to node id",
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_many_ties_under_names_of_a_direction_are_asked_about(names, turned, tmp_path):
    path = tmp_path / "ties.csv"
    names = ",".join(reversed(names.split(","))) if turned else names
    path.write_text(chain(names, MANY_TIES))
    with pytest.raises(InputError, match='directed="symmetrize"'):
        gv.read_graph(path)
    assert MANY_TIES == gv.read_graph(path, directed="symmetrize").n_edges


@pytest.mark.parametrize(
    ("names", "ties"),
    [
        ("source,target", 500),
        ("src,dst", 500),
        ("a,b", 500),
        ("user1,user2", 500),
        ("from,to", MANY_TIES - 1),
    ],
)
def test_an_undirected_list_with_each_tie_once_is_not_asked_about(names, ties, tmp_path):
    path = tmp_path / "ties.csv"
    path.write_text(chain(names, ties))
    assert ties == gv.read_graph(path).n_edges


def test_what_the_file_says_of_directions_counts_more_than_names(tmp_path):
    path = tmp_path / "ties.txt"
    path.write_text("# Undirected graph\n" + chain("from,to", 50).replace(",", "\t"))
    assert 50 == gv.read_graph(path).n_edges


def test_a_frame_and_a_parquet_file_are_asked_about_as_well(tmp_path):
    ends = {"sender": list(range(30)), "recipient": list(range(1, 31))}
    parquet.write_table(pa.table(ends), tmp_path / "ties.parquet")
    with pytest.raises(InputError, match="by the column names sender and recipient"):
        gv.read_graph(tmp_path / "ties.parquet")
    with pytest.raises(DataError, match="by the column names sender and recipient"):
        gv.Graph.from_arrow(pa.table(ends))
    assert 30 == gv.Graph.from_arrow(pa.table(ends), directed="symmetrize").n_edges


# Which kind a file was read as


@pytest.mark.parametrize(
    ("kind", "words"),
    [("graph", "a network"), ("bipartite", "user-item data"), ("table", "a table")],
)
def test_every_command_says_as_what_it_read_a_file(kind, words, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    data = {
        "graph": gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0]),
        "bipartite": gv.Bipartite.from_pairs(list("abcd"), ["x", "x", "y", "y"]),
        "table": gv.Table.from_columns({"sex": ["f", "f", "m", "m"], "town": list("xxyy")}),
    }[kind]
    io.write(data, tmp_path / "in.csv")
    method = "k-degree" if kind == "graph" else "suppress-k"
    commands = [
        ["measure", "in.csv", "--kind", kind],
        ["advise", "in.csv", "--kind", kind],
        ["convert", "in.csv", "--kind", kind, "--out", "copy.parquet"],
        ["anonymize", method, "in.csv", "--kind", kind, "--k", "2", "--out", "out"],
        ["evaluate", "out", "--original", "in.csv"],
        ["attack", "out", "--original", "in.csv"],
    ]
    if kind == "bipartite":
        commands.append(["anonymize", method, "in.csv", "--k", "2", "--out", "disk", "--on-disk"])
    for command in commands:
        assert 0 == run(command), capfd.readouterr().err
        err = capfd.readouterr().err
        assert any(
            line.startswith("in.csv: read") and f"as {words}" in line for line in err.splitlines()
        ), (command, err)


# Python is as strict as the command line


def people(n=30):
    frame = pd.DataFrame(
        {"name": [f"P{number}" for number in range(n)], "sex": ["f", "m"] * (n // 2)}
    )
    return frame.assign(height=[1.5 + 0.25 * (number % 3) for number in range(n)], town="NA")


def test_a_frame_is_asked_every_question_at_once():
    with pytest.raises(DataError) as caught:
        gv.SuppressK(k=3).anonymize(people())
    proposed = 'bins={"height": "median"}, suppressed=("*", "", "NA")'
    assert str(caught.value).endswith(f"Use graphveil.Table.from_arrow(data, {proposed})")
    assert ["bins", "suppressed"] == [one.option for one in caught.value.problems]
    assert "Column town has NA (30x)" in str(caught.value)
    assert "column height is numeric (1.5)" in str(caught.value)


def test_a_frame_with_a_unique_column_is_asked_about():
    with pytest.warns(gv.GraphveilWarning, match="name has a different value in nearly every row"):
        gv.Table.from_arrow(people(), bins={"height": "median"}, categories=["NA"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gv.Table.from_arrow(people(), bins={"height": "median"}, categories=["NA"], drop=["name"])


# Ids


def test_every_word_for_no_id_is_named_with_its_number(tmp_path):
    path = tmp_path / "ties.csv"
    path.write_text("source,target\nann,None\nann,bob\nbob,NULL\ncyd,nan\ncyd,NULL\n?,-\n")
    assert 'read - (1x), ? (1x), NULL (2x), None (1x), nan (1x) as ids: if they mean "missing"' in (
        "; ".join(io.load_graph(path).report.dropped())
    )


LARGE = [118985087625060832870001, 118985087625060832870002, 118985087625060832870003]


def test_ids_of_more_than_64_bits_are_text_wherever_they_come_from(tmp_path):
    ends = LARGE, [*LARGE[1:], LARGE[0]]
    texts = sorted(map(str, LARGE))
    path = tmp_path / "ties.csv"
    path.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in zip(*ends, strict=True)))
    assert texts == gv.read_graph(path).labels().tolist()
    frame = pd.DataFrame(dict(zip(("source", "target"), ends, strict=True)))
    assert texts == gv.Graph.from_arrow(frame).labels().tolist()
    with graph_on_disk(path) as (graph, _):
        assert texts == graph.labels().tolist()
    path.write_text("user,item\n" + "".join(f"{n % 4},{LARGE[n % 2]}\n" for n in range(8)))
    folder = gv.SuppressK(k=2).anonymize(gv.read_bipartite(path)).write(tmp_path / "out")
    assert 0 == run(["verify", str(folder), "--original", str(path)])


@pytest.mark.parametrize("gap", [False, True])
def test_whole_ids_that_became_fractions_by_a_missing_value_have_one_answer(gap, tmp_path):
    frame = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, None if gap else 1]}, dtype=float)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    reads = [
        lambda: gv.read_graph(tmp_path / "a.csv"),
        lambda: gv.read_graph(tmp_path / "a.parquet"),
        lambda: gv.Graph.from_arrow(frame),
        lambda: graph_on_disk(tmp_path / "a.csv").__enter__().data,
    ]
    for read in reads:
        if gap:
            with pytest.raises(InputError, match="missing"):
                read()
        else:
            assert [1, 2, 3] == read().labels().tolist()
    (tmp_path / "a.csv").write_text("source,target\n1.0,2.0\nnan,1.0\n")
    with pytest.raises(InputError, match="nan is missing"):
        gv.read_graph(tmp_path / "a.csv")


def test_a_null_among_the_categories_of_arrow_is_a_missing_id():
    codes = pa.array([0, 1], pa.int8())
    frame = pa.table(
        {"source": pa.DictionaryArray.from_arrays(codes, ["ann", None]), "target": ["bob", "cyd"]}
    )
    with pytest.raises(DataError, match="1 id is missing"):
        gv.Graph.from_arrow(frame)


# Names of columns with an equals sign


@pytest.mark.parametrize(
    "columns",
    [
        {"city=Oslo": [1, 0] * 6, "city=Rome": [0, 1] * 6, "sex": ["m", "f"] * 6},
        {"age>=18": ["yes", "no"] * 6, "sex": ["m", "f"] * 6},
        {"a=b": ["c", "c", "d", "e"] * 3, "a": ["x", "y", "b=c", "b=c"] * 3},
        {"a\\": ["=b"] * 12, "a\\=": ["b"] * 12, "a": ["\\=b"] * 12, "\\\\": [r"\="] * 12},
    ],
)
@pytest.mark.parametrize("method", ["suppress-k", "mondrian"])
def test_columns_come_back_whatever_their_names_hold(columns, method, tmp_path, monkeypatch):
    io.write(gv.Table.from_columns(columns), tmp_path / "in.csv")
    monkeypatch.chdir(tmp_path)
    anonymize = ["anonymize", method, "in.csv", "--kind", "table", "--k", "3", "--out", "out"]
    assert 0 == run(anonymize)
    assert 0 == run(["verify", "out", "--original", "in.csv"])
    assert 0 == run(["convert", "out", "--kind", "table", "--out", "out.csv"])
    said = gv.read_table(tmp_path / "out.csv").to_arrow().to_pylist()
    came = pa.table(columns).to_pylist()
    assert sorted(map(sorted, map(dict.items, came))) == sorted(map(sorted, map(dict.items, said)))
