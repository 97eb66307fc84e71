"""`graphveil measure` of users by features and of tables."""

from __future__ import annotations

import json

import pytest

LIKES = "user,item\nann,tea\nann,rye\nbob,tea\nbob,rye\ncyd,tea\n"
PEOPLE = "name,sex,town\nann,f,x\nbob,m,x\ncyd,f,x\ndan,m,y\n"


def test_users_are_measured_by_all_their_features(graphveil_here, cwd):
    (cwd / "likes.csv").write_text(LIKES)
    done = graphveil_here("measure", "likes.csv", "--kind", "bipartite", "--k", 2, "--all")
    assert 0 == done.code
    assert (
        "an attacker who knows all features of a person, and that the person has no others:"
        in done.out
    )
    assert "unique                                1  33.33%" in done.out
    assert "unprotected, smallest classes first: cyd" in done.out


def test_rows_are_measured_by_all_their_columns_or_by_those_named(graphveil_here, cwd):
    (cwd / "people.csv").write_text(PEOPLE)
    asked = ["measure", "people.csv", "--kind", "table", "--ids", "name"]
    whole = json.loads(graphveil_here(*asked, "--json").out)
    assert (4, 3, 2) == (whole["rows"], whole["classes"], whole["unique_rows"])
    assert ["bob", "dan"] == whole["unprotected"]
    done = graphveil_here(*asked, "--columns", "sex", "--all")
    assert "an attacker who knows sex of a person:" in done.out
    assert "unique                                0  0.00%" in done.out


def test_the_unprotected_rows_are_written_with_their_class_size(graphveil_here, cwd):
    (cwd / "people.csv").write_text(PEOPLE)
    asked = ["measure", "people.csv", "--kind", "table", "--ids", "name"]
    done = graphveil_here(*asked, "--at-risk", "risk.csv")
    rows = (cwd / "risk.csv").read_text().replace('"', "").splitlines()
    assert ["row,class_size", "bob,1", "dan,1"] == rows
    assert "2 unprotected rows" in done.err


def test_how_many_people_some_of_their_items_single_out_is_said(graphveil_here, cwd):
    (cwd / "likes.csv").write_text(LIKES)
    asked = ["measure", "likes.csv", "--kind", "bipartite", "--seed", 1]
    shown = graphveil_here(*asked, "--all").out
    assert "n attacker who knows some random items of a person singles out:" in shown
    assert "with 1 item" in shown
    assert "with 2 items                       0.00% of people  (exact)" in shown
    found = json.loads(graphveil_here(*asked, "--json").out)["singled_out"]
    assert [1, 2, 4, 8] == [each["items"] for each in found]
    assert all(each["low"] <= each["share"] <= each["high"] for each in found)
    assert {3} == {each["people"] for each in found}


def test_a_cell_of_the_columns_known_may_single_out(graphveil_here, cwd):
    (cwd / "people.csv").write_text(PEOPLE)
    asked = ["measure", "people.csv", "--kind", "table", "--ids", "name", "--columns", "town"]
    shown = graphveil_here(*asked, "--all").out
    assert "with 1 cell                       25.00% of rows  (exact)" in shown


def test_nothing_of_a_graph_is_drawn(graphveil_here):
    done = graphveil_here("measure", "friends.csv", "--seed", 1)
    assert 2 == done.code
    assert "--seed does not apply to a Graph. Remove it." in done.err


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--measure", "count"], "--measure does not apply to a Table. Remove it."),
        (["--cascade", "count"], "--cascade does not apply to a Table. Remove it."),
        (["--phi", 5], "--phi does not apply to a Table. Remove it."),
        (["--columns", "shoes"], "no column 'shoes'. Columns: sex, town."),
    ],
)
def test_what_a_table_cannot_be_asked_ends_in_one_line(graphveil_here, cwd, asked, message):
    (cwd / "people.csv").write_text(PEOPLE)
    asked = ["people.csv", "--kind", "table", "--ids", "name", *asked]
    done = graphveil_here("measure", *asked)
    assert 2 == done.code
    assert message in done.err


def test_columns_are_not_for_a_graph(graphveil_here):
    done = graphveil_here("measure", "friends.csv", "--columns", "source")
    assert 2 == done.code
    assert "--columns applies to tables only. Remove it, or give --kind table." in done.err
