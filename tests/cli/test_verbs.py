from __future__ import annotations

import json
import os

import pytest

import graphveil as gv
from graphveil.evaluate import METRICS
from graphveil.methods import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

RELEASED = ["friends-k2", "friends-k2.private"]


def test_the_way_from_a_file_to_a_verified_release(graphveil, graphveil_here, cwd):
    done = graphveil("anonymize", "k-degree", "friends.csv", "--k", 2, "--out", "friends-k2")
    assert 0 == done.code
    assert "friends.csv: read 6 rows of csv" in done.err
    assert "Guarantee: Every node of the release has the same degree" in done.out
    assert "Not covered: Any knowledge beyond a node's degree" in done.out
    assert "graphveil: warning: " in done.err
    assert [*RELEASED, "friends.csv"] == sorted(path.name for path in cwd.iterdir())
    files = sorted(path.name for path in (cwd / "friends-k2").iterdir())
    assert ["data.csv", "nodes.csv", "release.json"] == files
    private = sorted(path.name for path in (cwd / "friends-k2.private").iterdir())
    assert ["linkage.parquet", "record.json"] == private
    assert "ann" not in "".join(p.read_text() for p in (cwd / "friends-k2").iterdir())

    alone = graphveil("verify", "friends-k2")
    assert (0, "") == (alone.code, alone.err)
    assert "not checked" in alone.out
    assert "Not checked without the original: " in alone.out
    done = graphveil_here("verify", "friends-k2", "--original", "friends.csv")
    assert (0, "") == (done.code, done.err)
    assert "not checked" not in done.out

    done = graphveil_here("verify", "friends-k2", "--original", "friends.csv", "--json")
    verdict = json.loads(done.out)
    assert {"holds"} == {condition["outcome"] for condition in verdict["checks"]}
    assert "recomputed" == verdict["word"]

    data = cwd / "friends-k2" / "data.csv"
    data.write_text(data.read_text().replace("0,", "1,", 1))
    done = graphveil_here("verify", "friends-k2")
    assert (1, "") == (done.code, done.err)
    assert "The folder is not as it was published" in " ".join(done.out.split())
    done = graphveil_here("verify", "friends-k2", "--json")
    assert 1 == done.code
    assert "fails" in {condition["outcome"] for condition in json.loads(done.out)["checks"]}


def test_evaluate_says_what_was_kept(graphveil_here, cwd):
    graph = gv.read_graph(cwd / "friends.csv")
    gv.KDegree(k=2, edits="any").anonymize(graph).write(cwd / "out")
    done = graphveil_here("evaluate", "out", "--original", "friends.csv", "--all")
    assert 0 == done.code
    missing = "core-correlation: not measured: undefined: all nodes have the same s"
    kind, *lines = done.err.splitlines()
    assert [missing] == [line[: len(missing)] for line in lines]
    assert "friends.csv: read as a network" == kind
    of_graphs = [name for name, metric in METRICS.items() if metric.kind is gv.Graph]
    assert set(of_graphs) - {"core-correlation"} == {n for n in of_graphs if n in done.out}

    named = ["edge-jaccard", "degree-distribution"]
    done = graphveil_here(
        "evaluate", "out", "--original", "friends.csv", "--json", "--metrics", *named
    )
    assert (0, "friends.csv: read as a network\n") == (done.code, done.err)
    printed = json.loads(done.out)
    assert named == list(dict.fromkeys(row["question"] for row in printed["rows"]))
    assert all(row["unit"] for row in printed["rows"])

    (cwd / "out.private" / "linkage.parquet").unlink()
    done = graphveil_here("evaluate", "out", "--original", "friends.csv", "--out", "rows.json")
    assert 0 == done.code
    missing = json.loads((cwd / "rows.json").read_text())["not_measured"]
    assert missing["edge-jaccard"].startswith("requires the linkage")
    assert json.loads((cwd / "rows.json").read_text())

    unmeasured = ("--metrics", "edge-jaccard")
    done = graphveil_here("evaluate", "out", "--original", "friends.csv", *unmeasured)
    assert (0, "Nothing was measured.") == (done.code, done.out.splitlines()[0])
    assert "not measured: requires the linkage" in " ".join(done.out.split())


@pytest.mark.parametrize("name", ["rows.json", "rows.parquet"])
def test_what_evaluate_writes_is_new_and_for_its_owner_alone(
    graphveil_here, cwd, name, assert_one_line
):
    graph = gv.read_graph(cwd / "friends.csv")
    gv.KDegree(k=2, edits="any").anonymize(graph).write(cwd / "out")
    command = ("evaluate", "out", "--original", "friends.csv", "--metrics", "edge-jaccard")
    (cwd / name).write_text("mine")
    done = graphveil_here(*command, "--out", name)
    assert (2, "mine") == (done.code, (cwd / name).read_text())
    assert_one_line(done, f"{name} already exists. Choose another name.")
    assert 0 == graphveil_here(*command, "--out", name, "--force").code
    assert_one_line(graphveil_here(*command, "--out", name), f"{name} already exists", "--force")
    assert "mine" != (cwd / name).read_bytes()[:4].decode()
    if os.name != "nt":
        assert 0o600 == (cwd / name).stat().st_mode & 0o777
    done = graphveil_here(*command, "--nodes", name, "--out", name, "--force")
    assert 2 == done.code
    assert_one_line(done, f"{name} is the input")


def test_measure_names_the_unprotected_people(graphveil_here, cwd):
    done = graphveil_here("measure", "friends.csv", "--k", 3, "--all")
    assert 0 == done.code
    assert "friends.csv: read 6 rows of csv" in done.err
    assert "unprotected, smallest classes first: ann, cyd, eve, bob, dan" in done.out

    done = graphveil_here("measure", "friends.csv", "--json", "--at-risk", "risk.csv")
    summary = json.loads(done.out)
    assert ["ann", "cyd", "eve"] == sorted(summary["unprotected"])
    assert 3 == summary["unique_nodes"]
    assert 0.6 == summary["uniqueness"]
    rows = [row.replace('"', "") for row in (cwd / "risk.csv").read_text().splitlines()]
    assert ["node,degree,class_size", "ann,4,1", "cyd,3,1", "eve,1,1"] == rows


def test_methods_lists_the_registry(graphveil_here):
    done = graphveil_here("methods", "--json")
    assert (0, "") == (done.code, done.err)
    listed = {entry["name"]: entry for entry in json.loads(done.out)}
    assert set(METHODS) == set(listed)
    for name, method in METHODS.items():
        assert method.card.promise == listed[name]["promise"]
        kinds = [kind.__name__ for kind in method.accepts]
        assert " or ".join(kinds) == listed[name]["accepts"]
        assert all(listed[name].values())
    assert all(name in graphveil_here("methods").out for name in METHODS)


def test_only_what_works_is_listed(graphveil_here):
    shown = graphveil_here("--help").out
    verbs = (
        "methods",
        "measure",
        "anonymize",
        "verify",
        "evaluate",
        "attack",
        "sweep",
        "report",
    )
    for verb in verbs:
        assert f" {verb} " in shown


def test_the_version_is_that_of_the_package(graphveil):
    assert (0, f"{gv.__version__}\n", "") == graphveil("--version")


def test_json_of_anonymize_is_all_that_goes_to_stdout(graphveil, cwd):
    done = graphveil(
        "anonymize",
        "k-degree",
        *("friends.csv", "--k", 2, "--edits", "add", "--out", "out", "--seed", 5, "--json"),
    )
    summary = json.loads(done.out)
    assert "out" == summary["folder"]
    assert 3 == len(summary["warnings"])
    assert summary["cost"]["edges_before"] == 6
    assert 2 == done.err.count("graphveil: warning: ")
    assert "1 more note (show with --all)" in done.err
    assert "seed was given" in "".join(summary["warnings"])
    public = b"".join(path.read_bytes() for path in (cwd / "out").iterdir())
    assert b"seed" not in public


def test_a_folder_can_be_named_from_inside_or_with_a_slash(graphveil, graphveil_here, cwd):
    gv.KDegree(k=2).anonymize(gv.read_graph(cwd / "friends.csv")).write(cwd / "out")
    script = (
        "import os, sys; os.chdir('out'); from graphveil.cli import main; "
        "main(['verify', '.', '--original', '../friends.csv'])"
    )
    inside = graphveil(script=script)
    assert (0, "") == (inside.code, inside.err)
    assert "not checked" not in inside.out
    slash = graphveil_here("verify", "out/", "--original", "friends.csv")
    assert (0, "") == (slash.code, slash.err)
    assert "not checked" not in slash.out


CHOSEN = {
    "the other way round": ("tea,ann\ntea,bob\n", ("--user-column", 2, "--item-column", 1)),
    "as they stand": ("ann,tea\nbob,tea\n", ("--user-column", 1, "--item-column", 2)),
    "a delimiter": ("ann,tea\nbob,tea\n", ("--delimiter", ",")),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_an_original_whose_columns_were_chosen_is_read_a_second_time(graphveil_here, cwd, case):
    rows, options = CHOSEN[case]
    (cwd / "chosen.csv").write_text(f"user,item\n{rows}")
    done = graphveil_here(
        "anonymize", "suppress-k", "chosen.csv", "--k", 2, *options, "--out", "out"
    )
    assert 0 == done.code, done.err
    done = graphveil_here("verify", "out", "--original", "chosen.csv", "--all")
    assert 0 == done.code, done.out
    assert "holds        the original read by a second reader" in done.out
