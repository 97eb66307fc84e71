"""A row is a person: where rows may not be people, the owner is asked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import graphveil as gv
from graphveil.core.errors import DataError, GraphveilError
from graphveil.data.ids import repeated_id

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

RNG = np.random.default_rng(4)
PEOPLE = 60
MAILS = [f"p{number}@example.org" for number in range(PEOPLE)]
ROWS = 600


def drawn(values):
    return [values[number] for number in RNG.integers(0, len(values), ROWS)]


BOUGHT = {"email": drawn(MAILS), "product": drawn(["tea", "rye"]), "shop": drawn(["n", "s"])}


@pytest.mark.parametrize(
    ("name", "values", "sign"),
    [
        ("email", MAILS, "with the name of an id"),
        ("writer", MAILS, "with an @"),
        ("customer_id", [f"c{number}" for number in range(PEOPLE)], "with the name of an id"),
        ("customerId", [f"c{number}" for number in range(PEOPLE)], "with the name of an id"),
        ("number", [100_000 + 17 * number for number in range(PEOPLE)], "all digits of one length"),
        ("number", [f"0{number:05d}" for number in range(PEOPLE)], "all digits of one length"),
    ],
)
def test_values_that_repeat_like_an_id_stop_every_method_that_takes_tables(name, values, sign):
    table = gv.Table.from_columns({"sex": drawn(["f", "m"]), name: drawn(values)})
    assert sign == repeated_id(table).sign
    for method in (gv.SuppressK(k=5), gv.SmoothK(k=5), gv.ClusterK(k=5), gv.Rename()):
        with pytest.raises(DataError, match=f"a row must be one person, but {name}"):
            method.anonymize(table)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", list(range(18, 78))),
        ("town", [f"town {number}" for number in range(PEOPLE)]),
        ("paid", list(range(PEOPLE))),
        ("country_id", list("abcdefg")),
        ("year", list(range(1950, 2010))),
    ],
)
def test_what_only_repeats_is_no_id(name, values):
    assert repeated_id(gv.Table.from_columns({name: drawn(values)})) is None


def test_the_tables_that_ship_and_rows_of_one_value_each_pass_without_a_question():
    assert repeated_id(gv.datasets.load("adult-sample")) is None
    assert repeated_id(gv.Table.from_columns({"email": MAILS})) is None


def test_frames_are_asked_about_as_files_are_and_the_ways_out_are_arguments_of_their_call():
    frame = pd.DataFrame({"customer_id": drawn(list(range(PEOPLE))), "sku": drawn(["x", "y"])})
    frame["when"] = drawn(["May", "June"])
    with pytest.raises(GraphveilError) as caught:
        gv.SmoothK(k=8).anonymize(frame)
    for way in ('person="customer_id"', 'drop="customer_id"', 'ids="COLUMN"', 'person="row"'):
        assert way in str(caught.value)


def test_each_way_out_is_one():
    with pytest.raises(DataError, match="rows of one email differ in product"):
        gv.Table.from_columns(BOUGHT, person="email")
    dropped = gv.Table.from_columns(BOUGHT, drop=["email"])
    assert ("product", "shop") == dropped.columns
    assert gv.SuppressK(k=5).anonymize(dropped).data.n_users == ROWS
    rows = gv.Table.from_columns(BOUGHT, person="row")
    assert gv.SuppressK(k=5).anonymize(rows).data.n_users == ROWS
    same = {
        name: [value for value in values for _ in range(3)]
        for name, values in (("email", MAILS), ("sex", ["f", "m"] * (PEOPLE // 2)))
    }
    people = gv.Table.from_columns(same, person="email")
    assert (PEOPLE, ("sex",), MAILS) == (people.n_rows, people.columns, sorted_back(people))
    assert gv.SuppressK(k=5).anonymize(people).data.n_users == PEOPLE


def sorted_back(table):
    return sorted(table.labels().tolist(), key=MAILS.index)


def test_a_person_that_is_missing_or_a_column_that_is_not_there_is_refused():
    with pytest.raises(DataError, match="row 1 has no email"):
        gv.Table.from_columns({"email": ["a@b", "*"], "sex": ["f", "m"]}, person="email")
    with pytest.raises(DataError, match=r"no column 'mail' for person\. Did you mean email\?"):
        gv.Table.from_columns(BOUGHT, person="mail")
    with pytest.raises(DataError, match=r"no column 'mail' to drop\. Did you mean email\?"):
        gv.Table.from_columns(BOUGHT, drop=["mail"])


def test_two_rows_of_one_mail_are_asked_about_however_few_they_are():
    mails = ["ann@example.org", "ann@example.org", "bob@example.org"]
    few = gv.Table.from_columns({"mail": mails, "product": ["tea", "rye", "tea"]})
    assert "mail" == repeated_id(few).name
    many = gv.Table.from_columns({"domain": ["@a.example", "@b.example"] * 900})
    assert "domain" == repeated_id(many).name
    once = gv.Table.from_columns({"mail": mails[1:], "product": ["tea", "rye"]})
    assert None is repeated_id(once)
