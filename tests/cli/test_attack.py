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
    checked = graphveil_here("verify", "out", "--original", "people.csv", "--json")
    assert 0 == checked.code, checked
    outcomes = {check["name"]: check["outcome"] for check in json.loads(checked.out)["checks"]}
    assert ["holds"] * 4 == [
        outcomes[name] for name in ("original", "classes", "nothing added", "cost")
    ]
    kept = graphveil_here("evaluate", "out", "--original", "people.csv")
    assert "cells-shown" in kept.out
    done = graphveil_here("attack", "out", "--original", "people.csv", "--seed", 1)
    assert 0 == done.code
    assert "true pair, largest" in done.out
    assert "matching: re-run, right guess: not measured" in done.err
    path = cwd / "out.private" / "attacks" / "matching.parquet"
    assert str(path.name) in done.err
    assert [0.5] * 4 == pytest.approx(parquet.read_table(path)["risk"].to_pylist())


@pytest.mark.usefixtures("release")
def test_attacks_are_written_for_their_owner_alone_and_never_into_a_release(
    graphveil_here, cwd, assert_one_line
):
    words = ("attack", "out", "--original", "people.csv", "--attacks", "matching")
    told = json.loads(graphveil_here(*words, "--json").out)
    assert {"rows", "not_measured"} == set(told)
    assert {0.25} == {row["baseline"] for row in told["rows"] if row["part"].startswith("true")} - {
        0.0
    }
    assert 0 == graphveil_here(*words, "--out", "rows.json").code
    again = graphveil_here(*words, "--out", "rows.json")
    assert_one_line(again, "rows.json exists", "--force")
    assert 0 == graphveil_here(*words, "--out", "rows.json", "--force").code
    written = json.loads((cwd / "rows.json").read_text())
    assert set(told) == set(written)
    assert len(told["rows"]) == len(written["rows"])
    assert 0o600 == stat.S_IMODE((cwd / "rows.json").stat().st_mode)
    assert 0 == graphveil_here(*words, "--out", "rows.parquet").code
    assert len(told["rows"]) == parquet.read_table(cwd / "rows.parquet").num_rows
    done = graphveil_here(*words, "--out", "out/rows.json")
    assert_one_line(done, "out/rows.json", "would stand in a release")
    done = graphveil_here(*words, "--out", "rows.txt")
    assert_one_line(done, "rows.txt", "neither .parquet nor .json")


def test_a_network_is_attacked_by_what_is_known_of_one_person(graphveil_here, cwd):
    (cwd / "friends.csv").write_text("source,target\nann,bob\nbob,cyd\n")
    graphveil_here("anonymize", "k-degree", "friends.csv", "--k", 2, "--out", "out")
    words = ("attack", "out", "--original", "friends.csv", "--attacks", "candidate-set")
    done = graphveil_here(*words, "--json")
    assert 0 == done.code
    parts = {row["part"]: row for row in json.loads(done.out)["rows"]}
    assert parts["degree, nearest, fewest"]["value"] >= 2
    assert 1 / 3 == pytest.approx(parts["vrq, right guess"]["baseline"])
