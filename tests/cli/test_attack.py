from __future__ import annotations

import json
import stat

import numpy as np
import pytest
from pyarrow import parquet

from graphveil.claims.guarantees import KAnonymity
from graphveil.data import Table
from graphveil.io import read_table
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage

PEOPLE = "who,sex,age\nann,f,30\nbob,f,40\ncyd,m,30\ndan,m,40\n"
READING = {"kind": "table", "ids": "who"}


@pytest.fixture
def release(cwd):
    """Return a folder in which ages are suppressed, beside the file that it was made from."""
    (cwd / "people.csv").write_text(PEOPLE)
    original = read_table(cwd / "people.csv", ids="who")
    release = Release(
        data=Table.from_columns({"sex": ["m", "f", "m", "f"], "age": ["*"] * 4}),
        guarantee=KAnonymity(k=2),
        provenance=Provenance(method="by-hand", source="a test", limits="All.", parameters={}),
        private=Private(
            input_sha256=digest_of(original),
            cost={"stars_added": 4},
            linkage=Linkage(original.labels(), np.array([1, 3, 0, 2])),
        ),
    )
    return release.write(cwd / "out", reading=READING)


@pytest.mark.usefixtures("release")
def test_a_table_is_verified_evaluated_and_attacked_as_it_was_read(graphveil_here, cwd):
    checked = graphveil_here(
        "verify", "out", "--original", "people.csv", "--json", "--trust-method", "by-hand"
    )
    assert 0 == checked.code, checked
    outcomes = {check["name"]: check["outcome"] for check in json.loads(checked.out)["checks"]}
    assert ["holds"] * 4 == [
        outcomes[name] for name in ("original", "classes", "nothing added", "cost")
    ]
    kept = graphveil_here("evaluate", "out", "--original", "people.csv", "--all")
    assert "cells-shown" in kept.out
    done = graphveil_here("attack", "out", "--original", "people.csv", "--seed", 1, "--all")
    assert 0 == done.code
    assert "true pair, largest" in done.out
    assert "matching: re-run, right guess: not measured" in done.err
    path = cwd / "out.private" / "attacks" / "matching.parquet"
    assert str(path.parent.relative_to(cwd)) in done.err
    assert [0.5] * 4 == pytest.approx(parquet.read_table(path)["risk"].to_pylist())


@pytest.mark.usefixtures("release")
def test_attacks_are_written_for_their_owner_alone_and_never_into_a_release(
    graphveil_here, cwd, assert_one_line
):
    words = ("attack", "out", "--original", "people.csv", "--attacks", "matching")
    told = json.loads(graphveil_here(*words, "--json").out)
    assert {"rows", "not_measured"} == set(told)
    assert {0.25} == {row["guess"] for row in told["rows"] if row["part"].startswith("true")} - {
        0.0
    }
    assert 0 == graphveil_here(*words, "--out", "rows.json").code
    again = graphveil_here(*words, "--out", "rows.json")
    assert_one_line(again, "rows.json already exists", "--force")
    assert 0 == graphveil_here(*words, "--out", "rows.json", "--force").code
    written = json.loads((cwd / "rows.json").read_text())
    assert set(told) == set(written)
    assert len(told["rows"]) == len(written["rows"])
    assert 0o600 == stat.S_IMODE((cwd / "rows.json").stat().st_mode)
    assert 0 == graphveil_here(*words, "--out", "rows.parquet").code
    told_in_all = len(told["rows"]) + len(told["not_measured"])
    assert told_in_all == parquet.read_table(cwd / "rows.parquet").num_rows
    done = graphveil_here(*words, "--out", "out/rows.json")
    assert_one_line(done, "out/rows.json", "is inside a release")
    done = graphveil_here(*words, "--out", "rows.txt")
    assert_one_line(done, "rows.txt", "does not end in .parquet or .json")


def test_a_network_is_attacked_by_what_is_known_of_one_person(graphveil_here, cwd):
    (cwd / "friends.csv").write_text("source,target\nann,bob\nbob,cyd\n")
    graphveil_here("anonymize", "k-degree", "friends.csv", "--k", 2, "--out", "out")
    words = ("attack", "out", "--original", "friends.csv", "--attacks", "candidate-set")
    done = graphveil_here(*words, "--json")
    assert 0 == done.code
    by_part = {row["part"]: row for row in json.loads(done.out)["rows"]}
    assert by_part["degree, nearest, fewest"]["value"] >= 2
    assert 1 / 3 == pytest.approx(by_part["vrq, right guess"]["guess"])


VISITS = "user,item\n" + "".join(
    f"{user},{item}\n"
    for user, items in {"ann": "abc", "bob": "abd", "cyd": "bcd", "dan": "acd"}.items()
    for item in items
)
LINKAGE = ("attack", "out", "--original", "visits.csv", "--attacks", "linkage", "--json")


@pytest.fixture
def visits(graphveil_here, cwd):
    """Return the words that attack a release of users by features, which hides names alone."""
    (cwd / "visits.csv").write_text(VISITS)
    for folder in ("out", "again"):
        words = ("rename", "visits.csv", "--kind", "bipartite", "--items", "things")
        assert 0 == graphveil_here("anonymize", *words, "--out", folder).code
    return ("attack", "out", "--original", "visits.csv")


def parts(done):
    assert 0 == done.code, done
    return {row["part"]: row for row in json.loads(done.out)["rows"]}


@pytest.mark.usefixtures("visits")
def test_parameters_of_an_attack_are_flags_and_tables_of_a_configuration(
    graphveil_here, cwd, assert_one_line
):
    flags = ("--linkage.known", 3, "--linkage.wrong", 0, "--linkage.targets", 2)
    row = parts(graphveil_here(*LINKAGE, *flags))["3 known, 0 false: own row"]
    assert (1.0, 0.25, 2) == (row["value"], row["guess"], row["sample_size"])
    (cwd / "options.toml").write_text('[attack.linkage]\nknown = "3"\nwrong = 0\ntargets = 2\n')
    rows = parts(graphveil_here(*LINKAGE, "--config", "options.toml"))
    assert {2} == {row["sample_size"] for part, row in rows.items() if part.endswith("own row")}
    assert {"3 known, 0 false"} == {part.partition(":")[0] for part in rows}
    done = graphveil_here(*LINKAGE, "--linkage.targets", "many")
    assert_one_line(done, "targets='many' has the wrong type; expected int")
    assert_one_line(graphveil_here(*LINKAGE, "--linkage.target", 2), "no parameter 'target'")


def test_a_second_release_leaves_who_shares_both_classes(graphveil_here, visits):
    rows = parts(graphveil_here(*visits, "--with", "again", "--attacks", "intersection", "--json"))
    assert 1.0 == rows["alone in the joint class"]["value"]
    done = graphveil_here(*visits, "--attacks", "intersection")
    assert 0 == done.code
    assert "No attack was run." == done.out.splitlines()[0]
    assert "Not run: intersection (requires --with DIR)." in done.out.splitlines()


def test_a_column_beside_a_release_is_attacked_by_the_ids_of_the_original(
    graphveil_here, cwd, visits, assert_one_line
):
    (cwd / "income.csv").write_text("who,income\ndan,high\nann,low\nbob,low\ncyd,low\nzoe,low\n")
    homogeneity = (*visits, "--attacks", "homogeneity", "--json", "--attached")
    done = graphveil_here(*homogeneity, "income.csv")
    assert 0.75 == parts(done)["commonest value of the class"]["guess"]
    assert "ids that are not in the original: 1" in done.err
    more = "age,income,name\n3,low,ann\n4,low,bob\n5,low,cyd\n5,high,dan\n"
    (cwd / "more.csv").write_text(more)
    words = ("more.csv", "--attached-ids", "name")
    named = graphveil_here(*homogeneity, *words, "--attached-column", "income")
    assert parts(done).keys() == parts(named).keys()
    assert_one_line(graphveil_here(*homogeneity, *words), "which column", "age, income")
    wrong = graphveil_here(*homogeneity, *words, "--attached-column", "incom")
    assert_one_line(wrong, "no column 'incom'", "age, income, name")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("dan,high\nann,low\nbob,low\n", "no value of 'income' for cyd"),
        ("dan,high\nann,low\nbob,low\ncyd,\n", "no value of 'income' for cyd"),
        ("dan,high\nann,low\nbob,low\ncyd,low\ncyd,high\n", "cyd appears 2 times"),
    ],
)
def test_everybody_needs_one_value_of_an_attached_column(
    graphveil_here, cwd, visits, assert_one_line, lines, words
):
    (cwd / "income.csv").write_text(f"who,income\n{lines}")
    done = graphveil_here(*visits, "--attacks", "homogeneity", "--attached", "income.csv")
    assert_one_line(done, words)


def test_a_column_needs_its_file(graphveil_here, visits, assert_one_line):
    done = graphveil_here(*visits, "--attached-column", "income")
    assert_one_line(done, "--attached FILE")


def test_an_attack_above_its_limit_ends_with_one_line_and_exit_code_3(
    graphveil_here, cwd, assert_one_line, monkeypatch
):
    monkeypatch.setattr("graphveil.attacks.networks.alignment.ALL_PAIRS", 2)
    monkeypatch.setattr("graphveil.attacks.networks.assignment.forecast.MOST_NODES", 2)
    (cwd / "friends.csv").write_text("source,target\nann,bob\nbob,cyd\n")
    graphveil_here("anonymize", "k-degree", "friends.csv", "--k", 2, "--out", "out")
    words = ("attack", "out", "--original", "friends.csv", "--attacks", "alignment")
    done = graphveil_here(*words)
    assert_one_line(done, "alignment: 3 nodes exceed the limit of 2", "fewer nodes")
    assert 3 == done.code


def test_what_an_attack_will_cost_is_said_beside_the_rows_and_never_among_them(
    graphveil_here, cwd, monkeypatch
):
    monkeypatch.setattr("graphveil.attacks.networks.alignment.PER_PAIR", 1.0)
    (cwd / "friends.csv").write_text("source,target\nann,bob\nbob,cyd\n")
    graphveil_here("anonymize", "k-degree", "friends.csv", "--k", 2, "--out", "out")
    words = ("attack", "out", "--original", "friends.csv", "--attacks", "alignment", "--json")
    done = graphveil_here(*words, "--alignment.draws", 1)
    assert "graphveil: alignment takes about 45 seconds of CPU time.\n" in done.err
    assert {"rows", "not_measured"} == set(json.loads(done.out))
