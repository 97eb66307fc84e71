"""A table in which a person may have several rows is asked about."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

TEAS = (
    "day,guest,tea",
    *(f"{day},g{guest},{'xyz'[guest % 3]}" for guest in range(6) for day in "12"),
)
HOMES = ("hhid,town,age", *(f"{home},{'AB'[home % 2]},{30 + home}" for home in (1, 1, 1, 2, 2, 2)))


@pytest.mark.parametrize(
    ("lines", "roles"),
    [
        (TEAS, ("--known", "tea", "--drop", "guest,day")),
        (TEAS, ("--known", "tea", "--attach", "guest,day")),
        (TEAS, ("--drop", "guest")),
        (HOMES, ("--known", "town,age", "--attach", "hhid")),
    ],
)
def test_no_role_makes_rows_people_and_the_command_that_answers_runs(
    graphveil_here, cwd, lines, roles
):
    (cwd / "few.csv").write_text("\n".join(lines) + "\n")
    read = ("few.csv", "--kind", "table", "--k", 2, "--out", "out")
    refused = graphveil_here("anonymize", "suppress-k", *read, *roles)
    column = "guest" if lines is TEAS else "hhid"
    assert (2, True) == (refused.code, f"--person {column}" in refused.err)
    answer = shlex.split(refused.err.rpartition("To answer all: graphveil ")[2])
    if "--drop" in roles:  # attached columns are published, which those of people never are
        assert 0 == graphveil_here(*answer).code
    assert (cwd / "out").exists() == ("--drop" in roles)


def test_pairs_of_a_person_and_one_value_are_a_table_of_people(graphveil_here, cwd):
    """Rows repeat, and each person has one town: no list of users and their items."""
    (cwd / "towns.csv").write_text("person_no,town\n" + "a,Z\na,Z\nb,Y\nb,Y\nc,X\nc,X\n")
    found = json.loads(graphveil_here("describe", "towns.csv", "--json").out)
    assert "table" == found["kind"]
    asked = [(one["option"], one["value"]) for one in found["problems"]]
    assert ("person", "person_no") in asked
    assert 0 == graphveil_here(*shlex.split(found["command"])[1:]).code
    items = "ann,tea\nann,rye\nbob,tea\nbob,tea\ncyd,oat\n"
    (cwd / "items.csv").write_text(items)
    assert "bipartite" == json.loads(graphveil_here("describe", "items.csv", "--json").out)["kind"]


def test_the_line_that_a_message_gives_makes_one_row_a_person(graphveil_here, cwd):
    frame = pd.DataFrame({"town": list("AAB"), "sex": list("mfm"), "count": [2, 12, 3]})
    frame.to_csv(cwd / "counts.csv", index=False)
    start = ("anonymize", "suppress-k", "--kind", "table", "--k", 2, "--out", "out")
    refused = graphveil_here(*start, "counts.csv")
    line = re.search(r"with pandas: (\S+); or", " ".join(refused.err.split()))
    assert line
    whole = eval(line[1], {"frame": frame})  # noqa: S307  a line of our own
    assert (17, ["town", "sex"]) == (len(whole), list(whole.columns))
    whole.to_csv(cwd / "people.csv", index=False)
    assert 0 == graphveil_here(*start, "people.csv").code
    checked = graphveil_here("verify", "out", "--original", "people.csv", "--json")
    assert (0, "holds") == (checked.code, json.loads(checked.out)["answer"])


def test_the_line_that_removes_rows_of_nobody_lets_people_be_counted(graphveil_here, cwd):
    who = [*np.repeat([f"p{number}" for number in range(30)], 3), None, None]
    columns = {"who": who, "town": [str(one)[-1] for one in who], "day": [1, 2, 3] * 30 + [1, 2]}
    frame = pd.DataFrame(columns)
    frame.to_csv(cwd / "some.csv", index=False)
    start = ("anonymize", "suppress-k", "--kind", "table", "--k", 3, "--out", "out")
    for more in ((), ("--person", "who")):
        refused = graphveil_here(*start, "some.csv", *more)
        said = " ".join(refused.err.split())
        line = re.search(r"with pandas: (frame\.dropna\(\S+?\))", said)
        assert (2, True) == (refused.code, line is not None), said
    kept = eval(line[1], {"frame": frame})  # noqa: S307  as above
    assert 90 == len(kept)
    kept.to_csv(cwd / "kept.csv", index=False)
    done = graphveil_here(*start, "kept.csv", "--person", "who")
    assert (0, True) == (done.code, "3 different people" in " ".join(done.out.split()))


def test_a_row_that_may_be_a_sum_is_named(graphveil_here, cwd):
    (cwd / "sum.csv").write_text("source,target\na,b\nb,c\nc,a\nTotal,3\n")
    assert (
        "read Total and 3 as ids: if their row is a sum" in graphveil_here("measure", "sum.csv").err
    )
    for end in ("a,Total", "Total,b", "Total,3\n4,Total"):  # ids that are no sum
        (cwd / "ids.csv").write_text(f"source,target\na,b\nb,c\nc,a\n{end}\n")
        assert "is a sum" not in graphveil_here("measure", "ids.csv").err


def test_a_table_of_purchases_is_asked_about_and_each_way_out_is_one(graphveil_here, cwd):
    rng = np.random.default_rng(4)
    lines = [
        f"p{rng.integers(60)}@example.org,{rng.choice(['tea', 'rye'])},{rng.choice(['n', 's'])}"
        for _ in range(600)
    ]
    (cwd / "bought.csv").write_text("\n".join(["email,product,shop", *lines]) + "\n")
    start = ("anonymize", "suppress-k", "bought.csv", "--kind", "table", "--k", 5, "--out", "out")
    done = graphveil_here(*start)
    assert 2 == done.code
    assert "column email may identify people with several rows" in done.err
    for way in ("--person email", "--person row"):
        assert way in done.err
    assert not (cwd / "out").exists()
    done = graphveil_here(*start, "--person", "email")
    assert 0 == done.code, done.err
    assert "at least 5 different people" in " ".join(done.out.split())
    for role in ("--drop", "--attach"):  # neither makes rows different people
        more = () if role == "--drop" else ("--known", "product,shop")
        refused = graphveil_here(*start, "--force", role, "email", *more)
        assert (2, True) == (refused.code, "--person email" in refused.err)
    checked = graphveil_here("verify", "out", "--original", "bought.csv", "--json")
    assert (0, "holds") == (checked.code, json.loads(checked.out)["answer"])
    assert "@" not in (cwd / "out" / "data.csv").read_text()
