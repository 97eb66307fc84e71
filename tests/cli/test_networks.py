"""Networks with attributes and directions on the command line, from two files to other programs."""

import json

import networkx as nx
import pytest

import graphveil as gv
from graphveil.verbs.sweep.grid import values_in

PEOPLE = "id,sex,town\n" + "".join(
    f"p{n},{'fm'[n % 2]},{['Oslo', 'Tau', 'Bergen', ''][n % 4]}\n" for n in range(16)
)
TIES = "source,target\n" + "".join(
    f"p{u},p{v}\n" for u in range(16) for v in range(u + 1, 16) if (u * v) % 5 == 1 or v == u + 1
)
CALLS = "source,target\n" + "".join(f"p{n},p{(3 * n + 1) % 7}\n" for n in range(7) if n != 3)


@pytest.fixture
def files(cwd):
    (cwd / "people.csv").write_text(PEOPLE)
    (cwd / "ties.csv").write_text(TIES)
    (cwd / "calls.csv").write_text(CALLS)
    return cwd


def test_the_way_from_two_files_to_a_verified_release_and_other_programs(graphveil_here, files):
    known = ("--nodes", "people.csv", "--known", "sex")
    done = graphveil_here(
        *("anonymize", "k-degree", "ties.csv", *known, "--attach", "town"),
        *("--k", 3, "--out", "out"),
    )
    assert 0 == done.code, done.err
    assert "the same sex, and the same degree, as" in done.out.replace("\n", " ")
    assert "town is published outside the guarantee" in done.err
    assert "node,sex,town" == (files / "out" / "people.csv").read_text().split("\n")[0]
    again = graphveil_here("verify", "out", "--original", "ties.csv", "--nodes", "people.csv")
    assert 0 == again.code, again.out
    for verb in ("evaluate", "attack", "report"):
        beside = ("out", "--original", "ties.csv", "--nodes", "people.csv")
        done = graphveil_here(verb, *beside)
        assert 0 == done.code, done.err
    for name, read in (("out.graphml", nx.read_graphml), ("out.gexf", nx.read_gexf)):
        assert 0 == graphveil_here("convert", "out", "--out", name).code
        graph = read(files / name)
        assert {"sex", "town"} <= set(graph.nodes["0"])
    back = graphveil_here("measure", "out.graphml", "--known", "sex", "--json")
    figures = json.loads(back.out)
    assert figures["smallest_class"] >= 3
    again = graphveil_here(
        *("anonymize", "k-degree", "out.graphml", "--known", "sex", "--drop", "town"),
        *("--k", 2, "--out", "again"),
    )
    assert 0 == again.code, again.err
    assert "written as csv: graphml is not a format for a release of a network" in again.err
    refused = graphveil_here(
        *("anonymize", "rename", "calls.csv", "--directed", "keep", "--format", "graphml"),
        *("--out", "other"),
    )
    assert 2 == refused.code
    assert "a network cannot be released as graphml" in refused.err


@pytest.mark.usefixtures("files")
def test_a_release_from_elsewhere_is_measured_from_its_folder_alone(graphveil_here):
    asked = ("anonymize", "k-degree", "ties.csv", "--nodes", "people.csv", "--known", "sex")
    assert 0 == graphveil_here(*asked, "--drop", "town", "--k", 3, "--out", "out").code
    figures = json.loads(graphveil_here("measure", "out", "--known", "sex", "--json").out)
    assert figures["smallest_class"] >= 3
    assert "next: graphveil verify out" in graphveil_here("measure", "out", "--known", "sex").out
    refused = graphveil_here("measure", "out", "--directed", "keep")
    assert 2 == refused.code
    assert "--directed sets how a file is read, but out is a release" in refused.err
    graphveil_here("anonymize", "k-degree", "ties.csv", "--k", 3, "--out", "bare")
    assert "None of the 16 people" in graphveil_here("measure", "bare", "--k", 3).out


def test_a_sweep_takes_attributes_as_one_value(graphveil_here, files):
    asked = ("sweep", "k-degree", "ties.csv", "--nodes", "people.csv", "--drop", "town")
    asked += ("--known", "sex", "--k", "2,3", "--metrics", "edges-kept", "--jobs", 1)
    done = graphveil_here(*asked, "--attacks", "candidate-set", "--out", "sweep")
    assert 0 == done.code, done.err
    assert "2 points: 2 finished." in done.out
    assert sorted(path.name for path in (files / "sweep" / "points").iterdir())
    assert ["sex,town", "sex"] == values_in(gv.KDegree, "known", "sex,town; sex")


def test_directions_are_kept_where_that_is_said(graphveil_here, files):
    asked = ("measure", "calls.csv", "--directed", "keep", "--json")
    figures = json.loads(graphveil_here(*asked).out)
    assert ("profile", []) == (figures["measure"], figures["known"])
    done = graphveil_here("anonymize", "rename", "calls.csv", "--directed", "keep", "--out", "out")
    assert 0 == done.code, done.err
    manifest = json.loads((files / "out" / "release.json").read_text())
    assert [{"name": "ties", "directed": True}] == manifest["data"]["layers"]
    assert 0 == graphveil_here("verify", "out", "--original", "calls.csv").code
    assert 0 == graphveil_here("convert", "out", "--out", "out.gexf").code
    assert nx.read_gexf(files / "out.gexf").is_directed()


def test_a_bare_list_of_nodes_is_a_graph_as_before(graphveil_here, files):
    (files / "nodes.csv").write_text("id\n" + "".join(f"p{n}\n" for n in range(18)))
    done = graphveil_here(
        *("anonymize", "k-degree", "ties.csv", "--nodes", "nodes.csv", "--k", 2, "--out", "out")
    )
    assert 0 == done.code, done.err
    manifest = json.loads((files / "out" / "release.json").read_text())
    assert ("graph", 18) == (manifest["data"]["kind"], manifest["data"]["counts"]["nodes"])


K_DEGREE = ("anonymize", "k-degree", "ties.csv", "--k", "2", "--out", "out")
WITH = ("--nodes", "people.csv")


@pytest.mark.parametrize(
    ("words", "people", "says"),
    [
        ((*K_DEGREE, *WITH), PEOPLE, "no role given for sex"),
        ((*K_DEGREE, *WITH, "--known", "sax"), PEOPLE, "no attribute 'sax'. Did you mean sex?"),
        (
            (*K_DEGREE, *WITH, "--known", "sex", "--attach", "sex"),
            PEOPLE,
            "'sex' is both known and attached",
        ),
        ((*K_DEGREE, *WITH, "--known", "sex", "--drop", "tow"), PEOPLE, "no column 'tow' to drop"),
        ((*K_DEGREE, *WITH, "--known", "sex"), "id,sex\np0,f\np0,m\n", "more than once"),
        (
            (*K_DEGREE, *WITH, "--known", "sex"),
            "id,sex\np0,f\np1,m\n",
            "14 ids are missing",
        ),
        ((*K_DEGREE, *WITH, "--known", "sex"), PEOPLE.replace("sex", "node"), "the name 'node'"),
        ((*K_DEGREE, *WITH, "--known", "sex"), PEOPLE.replace("sex", ""), "has no name"),
        (
            (*K_DEGREE, *WITH, "--known", "sex"),
            PEOPLE.replace("town", "sex"),
            "two columns are named sex",
        ),
        (
            (*K_DEGREE, *WITH, "--known", "sex", "--drop", "town"),
            PEOPLE.replace(",f,", ",1.5,").replace(",m,", ",2.5,"),
            "column sex is numeric (1.5): numbers with fractions need bins",
        ),
        (
            (*K_DEGREE, *WITH, "--known", "sex", "--node-column", "who"),
            PEOPLE,
            "no column 'who'",
        ),
        ((*K_DEGREE, "--suppress", "0.1"), PEOPLE, "suppresses known attributes, but none are"),
        (
            ("anonymize", "k-degree", "calls.csv", "--k", "2", "--directed", "keep", "--out", "o"),
            PEOPLE,
            "are directed, but a Graph is undirected",
        ),
        (
            ("anonymize", "top-m-filter", "ties.csv", "--epsilon", "2", "--out", "o", *WITH),
            PEOPLE,
            "a list of ids must have one column",
        ),
        (("measure", "ties.csv", *WITH, "--known", "age"), PEOPLE, "no attribute 'age' for known"),
        (
            ("measure", "ties.csv", *WITH, "--known", "sex", "--phi", "5"),
            PEOPLE,
            "--phi does not apply to a Network",
        ),
    ],
)
def test_what_cannot_be_read_or_promised_is_one_line_and_leaves_nothing(
    graphveil_here, files, words, people, says
):
    (files / "people.csv").write_text(people)
    before = sorted(path.name for path in files.iterdir())
    done = graphveil_here(*words)
    assert 2 == done.code, done.err
    last = done.err.strip().splitlines()[-1]
    assert last.startswith("graphveil: error: ")
    assert says in last
    assert before == sorted(path.name for path in files.iterdir())


KINDS = "source,target,kind\n" + "".join(
    f"p{n},p{(n + step) % 16},{kind}\n"
    for kind, step, whose in (("call", 3, range(11)), ("call", 13, range(6)), ("kin", 8, range(5)))
    for n in whose
)
OF_KINDS = (
    "--nodes",
    "people.csv",
    "--kind-column",
    "kind",
    "--undirected",
    "kin",
    "--drop",
    "town",
)


def test_kinds_of_ties_go_from_a_file_to_a_verified_release_and_gephi(graphveil_here, files):
    (files / "kinds.csv").write_text(KINDS)
    measured = graphveil_here(
        *("measure", "kinds.csv", *OF_KINDS, "--directed", "keep", "--known", "sex"),
    )
    assert 0 == measured.code, measured.err
    assert "the degree of a person in each layer" in measured.out.replace("\n", " ")
    known = ("--known", "sex", "--k", 3, "--out", "out")
    done = graphveil_here("anonymize", "profile", "kinds.csv", *OF_KINDS, *known)
    assert 0 == done.code, done.err
    assert "degree in each layer (call, kin), counted by direction" in done.out.replace("\n", " ")
    assert "source,target,layer" == (files / "out" / "data.csv").read_text().split()[0]
    beside = ("--original", "kinds.csv", "--nodes", "people.csv")
    again = graphveil_here("verify", "out", *beside, "--json")
    checks = {check["name"]: check["outcome"] for check in json.loads(again.out)["checks"]}
    assert {"holds"} == set(checks.values()), again.out
    assert "the original read by a second reader" in checks
    for verb in ("evaluate", "attack", "report"):
        done = graphveil_here(verb, "out", *beside)
        assert 0 == done.code, done.err
    assert 0 == graphveil_here("convert", "out", "--out", "out.gexf").code
    layers = nx.read_gexf(files / "out.gexf").edges(data="layer")
    assert {"call", "kin"} >= {layer for *_, layer in layers}


def test_a_file_of_kinds_that_was_changed_is_noticed_by_the_second_reading(graphveil_here, files):
    (files / "kinds.csv").write_text(KINDS)
    asked = (*OF_KINDS, "--known", "sex", "--k", 2, "--out", "out")
    assert 0 == graphveil_here("anonymize", "profile", "kinds.csv", *asked).code
    (files / "kinds.csv").write_text(KINDS.replace("p0,p3,call", "p0,p3,kin"))
    done = graphveil_here("verify", "out", "--original", "kinds.csv", "--nodes", "people.csv")
    assert 0 != done.code
    assert "a different digest" in done.out.replace("\n", " ")


ROOMS = ["007", "7", "07", "8", "08", "9"]


@pytest.mark.parametrize("form", ["graphml", "gexf", "gml", "json"])
def test_codes_are_measured_released_and_converted_as_they_are_written(graphveil_here, cwd, form):
    zips = ["02139"] * 3 + ["2139"] * 3
    rows = [f"p{n},{ROOMS[n]},{zips[n]},{30 + n % 2}\n" for n in range(6)]
    (cwd / "people.csv").write_text("id,room,zip,age\n" + "".join(rows))
    (cwd / "ring.csv").write_text(
        "source,target\n" + "".join(f"p{n},p{(n + 1) % 6}\n" for n in range(6))
    )
    # To another format and back: the attributes are those of the csv file.
    done = graphveil_here("convert", "ring.csv", "--nodes", "people.csv", "--out", f"ring.{form}")
    assert 0 == done.code, done.err
    done = graphveil_here("convert", f"ring.{form}", "--kind", "network", "--out", "again.graphml")
    assert 0 == done.code, done.err
    said = nx.read_graphml(cwd / "again.graphml").nodes
    assert {f"p{n}": (ROOMS[n], zips[n], 30 + n % 2) for n in range(6)} == {
        node: (said[node]["room"], said[node]["zip"], said[node]["age"]) for node in said
    }
    # Everybody has a room of their own.
    done = graphveil_here("measure", f"ring.{form}", "--known", "room", "--k", 4, "--json")
    assert 1 == json.loads(done.out)["smallest_class"]
    # A release has the codes, and is verified with them.
    done = graphveil_here(
        *("anonymize", "k-degree", f"ring.{form}", "--known", "zip", "--attach", "age"),
        *("--drop", "room", "--k", 3, "--out", "out"),
    )
    assert 0 == done.code, done.err
    published = gv.read_release(cwd / "out").data.people
    assert ["02139", "2139"] == published.categories[published.columns.index("zip")].tolist()
    done = graphveil_here("verify", "out", "--original", f"ring.{form}")
    assert 0 == done.code, done.out
