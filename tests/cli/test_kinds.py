"""What a file holds is what its columns are named after, where nobody says it."""

from __future__ import annotations

import json
import re

import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.cli.kinds import reading_options
from graphveil.core.errors import InputError, UsageError
from graphveil.data import Bipartite, Graph, Table
from graphveil.io import TableOptions
from graphveil.methods import METHODS

FILES = {
    "edges": ("source,target\nann,bob\nbob,cyd\ncyd,dan\ndan,ann\n", "graph"),
    "pairs": ("user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\n", "bipartite"),
    "purchases": ("customer_id,product\n1,tea\n2,tea\n3,rye\n4,rye\n", "bipartite"),
}


@pytest.mark.parametrize("name", FILES)
def test_measure_and_randomized_response_follow_the_columns(graphveil_here, cwd, name):
    text, kind = FILES[name]
    (cwd / f"{name}.csv").write_text(text)
    measured = json.loads(graphveil_here("measure", f"{name}.csv", "--json").out)
    assert ("nodes" if kind == "graph" else "users") in measured
    done = graphveil_here(
        "anonymize", "randomized-response", f"{name}.csv", "--epsilon", 1, "--out", "out"
    )
    assert 0 == done.code, done.err
    assert kind == json.loads((cwd / "out" / "release.json").read_text())["data"]["kind"]
    assert (f"{name}.csv: read as user-item data" in done.err) == (kind != "graph")


def test_a_network_given_to_a_method_for_rows_is_read_as_people_by_people(graphveil_here, cwd):
    (cwd / "ties.csv").write_text("source,target\nann,cyd\nann,dan\nbob,cyd\nbob,dan\n")
    done = graphveil_here("anonymize", "suppress-k", "ties.csv", "--k", 2, "--out", "out")
    assert 0 == done.code, done.err
    assert "ties.csv: read as a network (by its column names)" in done.err
    cells = (cwd / "out" / "data.csv").read_text().replace("\n", ",").split(",")
    assert {"user", "item", "0", "1", "2", "3"} == set(filter(None, cells))


def test_a_parquet_file_says_what_it_holds_as_well(graphveil_here, cwd):
    parquet.write_table(pa.table({"user": [1, 2], "item": ["tea", "tea"]}), cwd / "likes.parquet")
    assert "users" in json.loads(graphveil_here("measure", "likes.parquet", "--json").out)


def test_what_is_said_wins_over_the_names(graphveil_here, cwd):
    (cwd / "pairs.csv").write_text(FILES["pairs"][0])
    measured = json.loads(graphveil_here("measure", "pairs.csv", "--kind", "graph", "--json").out)
    assert 6 == measured["nodes"]


def test_of_many_columns_the_first_are_named_and_the_rest_counted(graphveil_here, cwd):
    (cwd / "people.csv").write_text("sex,age,town,job,car,pet,hat\nf,30,x,x,x,x,x\nm,4,x,x,x,x,y\n")
    done = graphveil_here("measure", "people.csv")
    assert (
        "its columns (sex, age, town, job, car and 2 more) do not show what kind of data it holds"
        in done.err
    )


def test_names_that_say_nothing_are_asked_for(graphveil_here, cwd):
    (cwd / "people.csv").write_text("sex,age\nf,30\nm,40\n")
    for command in (("measure",), ("anonymize", "suppress-k", "--k", 2, "--out", "out")):
        done = graphveil_here(*command, "people.csv")
        assert 2 == done.code
        asked = "people.csv: its columns (sex, age) do not show what kind of data it holds. Give"
        assert asked in done.err
    assert not (cwd / "out").exists()
    done = graphveil_here("measure", "people.csv", "--kind", "table", "--json")
    assert 2 == json.loads(done.out)["rows"]


def test_a_file_without_names_is_of_the_first_kind(graphveil_here, cwd):
    (cwd / "friends.csv").write_text("1,2\n2,3\n")
    assert 3 == json.loads(graphveil_here("measure", "friends.csv", "--json").out)["nodes"]


def test_a_flag_of_one_kind_alone_says_the_kind(graphveil_here, cwd):
    (cwd / "people.csv").write_text("sex,age\nf,30\nm,40\n")
    done = graphveil_here("measure", "people.csv", "--bins", "age=edges:35", "--json")
    assert 2 == json.loads(done.out)["unique_rows"]
    (cwd / "ties.csv").write_text(FILES["edges"][0])
    done = graphveil_here("measure", "ties.csv", "--items", "things", "--json")
    assert 4 == json.loads(done.out)["users"]


def test_a_flag_of_another_kind_names_that_kind(graphveil_here, cwd):
    (cwd / "ties.csv").write_text(FILES["edges"][0])
    done = graphveil_here("measure", "ties.csv", "--kind", "graph", "--items", "things")
    assert "--items does not apply to a Graph. Remove it, or use --kind bipartite." in done.err


GRAPHS_ALONE = [name for name, m in METHODS.items() if set(m.accepts) <= {gv.Graph, gv.Network}]
USERS_TOO = [name for name, m in METHODS.items() if gv.Bipartite in m.accepts]


def anonymize(name, file):
    example = [
        word for key, value in METHODS[name].card.example.items() for word in (f"--{key}", value)
    ]
    return ("anonymize", name, file, *example, "--out", "out")


@pytest.mark.parametrize("name", GRAPHS_ALONE)
def test_a_method_for_graphs_alone_refuses_columns_of_users_and_items(graphveil_here, cwd, name):
    (cwd / "pairs.csv").write_text(FILES["pairs"][0])
    done = graphveil_here(*anonymize(name, "pairs.csv"))
    assert 2 == done.code
    assert "pairs.csv: its columns (user, item) name users and items" in done.err
    kind = "graph" if gv.Graph in METHODS[name].accepts else "network"
    assert f"or give --kind {kind} if both columns hold people" in done.err
    assert not (cwd / "out").exists()


@pytest.mark.parametrize("name", [n for n in USERS_TOO if METHODS[n].card.example.get("k", 0) < 5])
def test_a_method_for_several_kinds_reads_users_and_items_as_such(graphveil_here, cwd, name):
    (cwd / "pairs.csv").write_text(FILES["pairs"][0])
    done = graphveil_here(*anonymize(name, "pairs.csv"))
    assert 0 == done.code, done.err
    assert "bipartite" == json.loads((cwd / "out" / "release.json").read_text())["data"]["kind"]


def test_every_method_reads_users_and_items_as_such_or_refuses_them(graphveil_here, cwd):
    (cwd / "pairs.csv").write_text(FILES["pairs"][0])
    for name in set(METHODS) - set(GRAPHS_ALONE) - set(USERS_TOO):
        done = graphveil_here(*anonymize(name, "pairs.csv"))
        assert 2 == done.code
        assert "are pairs, not a table" in done.err


@pytest.mark.parametrize(
    "said", [("--kind", "graph"), ("--source-column", "user", "--target-column", "item")]
)
def test_who_says_that_it_is_a_graph_has_it_read_as_one(graphveil_here, cwd, said):
    (cwd / "pairs.csv").write_text(FILES["pairs"][0])
    done = graphveil_here(*anonymize("dp-1k", "pairs.csv"), *said)
    assert 0 == done.code, done.err
    checked = graphveil_here("verify", "out", "--original", "pairs.csv")
    assert 0 == checked.code, checked.out


def test_advise_and_convert_follow_the_columns(graphveil_here, cwd):
    (cwd / "pairs.csv").write_text(FILES["pairs"][0])
    for said, kind in (((), "bipartite"), (("--kind", "graph"), "graph")):
        advice = json.loads(graphveil_here("advise", "pairs.csv", *said, "--json").out)
        assert all(f"--kind {kind}" in choice["command"] for choice in advice["choices"])
    done = graphveil_here("convert", "pairs.csv", "--out", "copy.csv")
    assert 0 == done.code
    assert "user,item" == (cwd / "copy.csv").read_text().splitlines()[0]


def test_read_follows_the_columns(cwd):
    for name, (text, kind) in FILES.items():
        (cwd / f"{name}.csv").write_text(text)
        assert {"graph": gv.Graph, "bipartite": gv.Bipartite}[kind] is type(
            gv.io.read(cwd / f"{name}.csv")
        )
    assert gv.Graph is type(gv.io.read(cwd / "pairs.csv", kind="graph"))


def test_a_file_of_one_column_can_only_be_a_table(tmp_path):
    ages, two = tmp_path / "ages.csv", tmp_path / "two.csv"
    ages.write_text("age\n31\n47\n", encoding="utf-8")
    two.write_text("age,town\n31,Oslo\n47,Moss\n", encoding="utf-8")
    assert isinstance(reading_options((Graph, Bipartite, Table), ages, {}), TableOptions)
    with pytest.raises(UsageError, match="do not show what kind of data"):
        reading_options((Graph, Bipartite, Table), two, {})


@pytest.mark.parametrize("role", ["known", "attach", "label"])
def test_a_role_of_a_column_says_that_a_file_is_a_table(tmp_path, role):
    people = tmp_path / "people.csv"
    people.write_text("name,age,sex,illness\nann,23,f,flu\nbob,27,m,cold\n", encoding="utf-8")
    kinds = (Bipartite, Table, Graph)
    with pytest.raises(InputError, match="do not show what kind of data"):
        reading_options(kinds, people, {})
    assert isinstance(reading_options(kinds, people, {role: "age"}), TableOptions)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("k-degree", "rows.csv", "--kind", "table"), "k-degree takes a network or "),
        (("k-degree", "rows.csv", "--kind=table"), "Methods for a table: "),
        (("k-degree", "rows.csv"), "and a method for tables. "),
        (("generalize", "pairs.csv", "--kind", "graph"), "generalize takes a table. "),
        (("generalize", "pairs.csv"), "are pairs, not a table. "),
        (("k-degree", "items.csv"), "Methods for user-item data: "),
    ],
)
def test_a_method_for_other_data_is_refused_with_the_methods_for_it(
    graphveil_here, cwd, words, said
):
    (cwd / "rows.csv").write_text("age,sex,town,job\n" + "31,f,Oslo,cook\n" * 9)
    (cwd / "pairs.csv").write_text("source,target\na,b\nb,c\n")
    (cwd / "items.csv").write_text("user,item\na,b\nb,c\n")
    done = graphveil_here("anonymize", *words, "--k", 2, "--out", "out")
    assert done.code == 2
    assert said in done.err
    kind = {"rows": "a table", "pairs": "a network", "items": "user-item data"}[words[1][:-4]]
    (listed,) = re.findall(rf"Methods for {kind}: (.*?)\.", done.err)
    container = {"a table": gv.Table, "a network": gv.Graph, "user-item data": gv.Bipartite}[kind]
    fitting = [name for name, method in METHODS.items() if container in method.accepts]
    assert fitting == listed.split(", ")
