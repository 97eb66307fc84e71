"""Tasks on the command line: held-back people in a file that is read as the original was."""

from __future__ import annotations

import json

import pytest

NAMES = ("trade", "town", "income")
TRADES = {"smith": "low", "baker": "low", "judge": "high", "pilot": "high"}


def people(start, n, columns=NAMES):
    rows = []
    for number in range(n):
        trade = list(TRADES)[number % 4]
        known = {"trade": trade, "town": str(number % 3), "income": TRADES[trade]}
        rows.append(",".join([f"p{start + number}", *(known[name] for name in columns)]))
    return "\n".join([",".join(["name", *columns]), *rows]) + "\n"


@pytest.fixture
def written(cwd, graphveil_here):
    """Return a function that releases people of these columns; others are in others.csv."""

    def release(columns=NAMES, *flags):
        (cwd / "people.csv").write_text(people(0, 40, columns))
        (cwd / "others.csv").write_text(people(500, 20))
        words = ("smooth-k", "people.csv", "--kind", "table", "--ids", "name", "--k", 2, *flags)
        done = graphveil_here("anonymize", *words, "--out", "out")
        assert 0 == done.code, done.err
        return ("evaluate", "out", "--original", "people.csv", "--metrics", "classification")

    return release


def values(done):
    assert 0 == done.code, done.err
    return {row["part"]: row["value"] for row in json.loads(done.out)["rows"]}


def test_a_label_of_the_release_is_told_of_people_in_another_file(graphveil_here, written):
    pytest.importorskip("sklearn", reason="the extra learning is not installed")
    words = written()
    done = graphveil_here(*words, "--test", "others.csv", "--label", "income", "--json")
    assert 1.0 == values(done)["logistic regression, released"]
    assert 0.5 == values(done)["commonest label"]


def test_a_label_beside_the_release_comes_from_a_file_of_its_own(graphveil_here, written, cwd):
    pytest.importorskip("sklearn", reason="the extra learning is not installed")
    words = (*written(NAMES[:2]), "--test", "others.csv", "--label", "income", "--json")
    assert "attach it" in json.loads(graphveil_here(*words).out)["not_measured"]["classification"]
    (cwd / "labels.csv").write_text(people(0, 40, ("income",)))
    done = graphveil_here(*words, "--attached", "labels.csv")
    assert 1.0 == values(done)["logistic regression, released"]


def test_people_of_the_release_are_refused_in_one_line(graphveil_here, written, assert_one_line):
    words = (*written(), "--test", "people.csv", "--label", "income")
    done = graphveil_here(*words)
    assert_one_line(done, "40 of 40 test people are in the original", "'p0'")
    assert 2 == done.code


def test_bins_that_depend_on_who_is_read_are_refused(graphveil_here, written, assert_one_line):
    words = written(NAMES, "--bins", "town=median")
    done = graphveil_here(*words, "--test", "others.csv", "--label", "income")
    assert_one_line(
        done, "the bins of column 'town' (median) depend on the data", "--bins town=edges:A,B"
    )


def test_items_are_recommended_to_people_in_another_file(graphveil_here, cwd):
    for name, start, n in (("likes", 0, 60), ("others", 500, 10)):
        rows = [
            f"u{start + user},{'ab'[user % 2]}{(user + item) % 15}"
            for user in range(n)
            for item in range(6)
        ]
        (cwd / f"{name}.csv").write_text("\n".join(["user,item", *rows]) + "\n")
    done = graphveil_here("anonymize", "rename", "likes.csv", "--out", "out")
    assert 0 == done.code, done.err
    words = ("evaluate", "out", "--original", "likes.csv", "--metrics", "recommendation")
    told = values(graphveil_here(*words, "--test", "others.csv", "--json"))
    assert told["factors, released"] == told["factors, original"] > told["popularity"]


def test_risks_in_a_population_are_printed_once_it_is_given(written, graphveil_here):
    written()
    command = ("evaluate", "out", "--original", "people.csv")
    assert "journalist" not in graphveil_here(*command).out
    said = graphveil_here(*command, "--population", 400).out
    assert 1 == said.count("reidentification-risk, released journalist, highest")
    assert "cells are" in said
