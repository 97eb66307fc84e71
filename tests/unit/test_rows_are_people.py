"""A row is a person: where rows may not be people, the owner is asked."""

from __future__ import annotations

import msgspec
import numpy as np
import pandas as pd
import pytest

import graphveil as gv
from graphveil.claims.manifest import encode, read_manifest
from graphveil.core.errors import DataError, GraphveilError
from graphveil.data.persons import repeated_people
from graphveil.release.claiming import promised

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "people in rows are no matter for verify",
        "means": "A table with several rows of each person verifies, which no run makes.",
        "file": "src/graphveil/verify/check.py",
        "old": '*claim_checks(evidence, of="data"), *named(people_in_rows(evidence))]',
        "new": '*claim_checks(evidence, of="data")]',
        "tests": ["tests/unit/test_rows_are_people.py", "-k", "verify_refuses"],
        "methods": ["suppress-k", "generalize"],
    },
    {
        "name": "verify reads no attached column for people",
        "means": "An attached column of addresses, two rows each, verifies as rows of people.",
        "file": "src/graphveil/verify/rows_are_people.py",
        "old": "(name in attached or len(values) >= FEW)",
        "new": "name not in attached",
        "tests": ["tests/unit/test_rows_are_people.py", "-k", "verify_refuses"],
        "methods": ["generalize"],
    },
]


def first(table):
    """Return the column that is asked about first; None if there is none."""
    return next(iter(repeated_people(table)), None)


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
        ("number", [100_000 + 17 * number for number in range(PEOPLE)], "digits of one form"),
        ("number", [f"0{number:05d}" for number in range(PEOPLE)], "digits of one form"),
    ],
)
def test_values_that_repeat_like_an_id_stop_every_method_that_takes_tables(name, values, sign):
    table = gv.Table.from_columns({"sex": drawn(["f", "m"]), name: drawn(values)})
    assert sign == first(table).sign
    for method in (gv.SuppressK(k=5), gv.SmoothK(k=5), gv.ClusterK(k=5), gv.Rename()):
        with pytest.raises(DataError, match=f"column {name} may identify people with several rows"):
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
    assert first(gv.Table.from_columns({name: drawn(values)})) is None


SEXES, TOWNS = ["f", "m", "m", "f", "f"], ["Oslo", "Rome", "Bonn"]


def visits(name="patient", people=15, rows=6, value="P{:02d}"):
    """Return a table of visits, in which a person's sex, year and town are always the same."""
    who = np.random.default_rng(1).permutation(np.repeat(np.arange(people), rows))
    drawn_for_each = {
        "sex": np.array(SEXES)[np.arange(people) % 5],
        "born": 1940 + 7 * np.arange(people) % 53,
        "town": np.array(TOWNS)[np.arange(people) % 3],
    }
    return {
        name: [value.format(number) for number in who],
        **{column: of_each[who].tolist() for column, of_each in drawn_for_each.items()},
        "finding": RNG.choice(["flu", "cold", "none"], who.size).tolist(),
        "ward": RNG.choice(["A", "B"], who.size).tolist(),
    }


NAMED = [
    *("patient", "patient_id", "name", "full name", "pid", "passport", "nhs", "participant"),
    *("msisdn", "usuario", "Versichertennr", "Kundennummer", "subject id", "customerNo"),
    *("PatID", "Nachname", "user name", "NHS number", "id", "e-mail", "id_paciente"),
]


@pytest.mark.parametrize("name", NAMED)
def test_a_column_that_is_named_after_people_is_asked_about_though_it_determines_nothing(name):
    columns = visits(name)
    table = gv.Table.from_columns({one: columns[one] for one in (name, "finding", "ward")})
    found = first(table)
    assert (name, "with the name of an id") == (found.name, found.sign)


@pytest.mark.parametrize(("people", "rows"), [(15, 6), (5, 30), (30, 150), (300, 2), (9, 4)])
@pytest.mark.parametrize("value", ["{}", "k{}"])
def test_a_column_that_determines_most_others_is_asked_about_whatever_it_is_called(
    people, rows, value
):
    found = first(gv.Table.from_columns(visits("x7", people, rows, value)))
    assert (people, people * rows) == found[1:3]
    assert "and rows with the same value agree on sex, born, town" == found.sign


def test_people_are_found_where_one_has_most_rows_and_some_cells_differ_or_are_missing():
    columns = visits("x7", 40, 5)
    columns = {name: [*values, *values[:1] * 100] for name, values in columns.items()}
    columns["town"][3::30] = ["Genoa"] * len(columns["town"][3::30])
    columns["born"][4::9] = ["*"] * len(columns["born"][4::9])
    found = first(gv.Table.from_columns({**columns, "born": [*map(str, columns["born"])]}))
    assert ("x7", 40, 300) == found[:3]


def test_people_are_found_by_a_date_of_birth_where_there_are_no_ids():
    columns = visits("born", 40, 4, "{}.5.1960")
    assert "born" == first(gv.Table.from_columns(columns)).name


def test_names_of_people_are_asked_about_and_names_of_jobs_are_not():
    names = [
        f"{first} {last}" for first in ("Ann", "Bo") for last in ("Ek", "Lie", "Rud", "Vik", "Øst")
    ]
    jobs = [
        f"{rank} {job}"
        for rank in ("Lead", "Senior", "Junior", "Chief")
        for job in ("Cook", "Clerk", "Nurse")
    ]
    table = {"whom": names * 5, "shop": drawn(["n", "s"])[:50]}
    assert "like names of people" == first(gv.Table.from_columns(table)).sign
    table = {"post": jobs * 5, "shop": drawn(["n", "s"])[:60]}
    assert None is first(gv.Table.from_columns(table))


def ordinary(n=400):
    rng = np.random.default_rng(3)
    towns = [f"town {number}" for number in rng.integers(0, 40, n)]
    region = {town: f"region {number % 8}" for number, town in enumerate(sorted(set(towns)))}
    ages = rng.integers(18, 90, n)
    return {
        "town": towns,
        "region": [region[town] for town in towns],
        "country": [int(region[town][-1]) % 3 for town in towns],
        "age": ages,
        "generation": [int(age) // 25 for age in ages],
        "sex": rng.choice(["f", "m"], n),
        "student": rng.choice(["no", "yes", "part-time"], n),
        "employees": rng.integers(0, 60, n),
        "zip code": 10_000 + 7 * rng.integers(0, 12, n),
    }


@pytest.mark.parametrize("left", [(), ("age", "generation", "employees", "zip code")])
def test_what_follows_from_a_town_or_an_age_is_no_sign_of_people(left):
    columns = {name: values for name, values in ordinary().items() if name not in left}
    assert None is first(gv.Table.from_columns(columns))


def test_an_id_of_rows_does_not_say_that_rows_are_people():
    columns = visits()
    table = gv.Table.from_columns(columns, ids=range(100, 190))
    with pytest.raises(DataError, match="patient may identify people with several rows"):
        gv.SuppressK(k=3).anonymize(table)
    del columns["patient"], columns["born"]
    said = (
        gv.SuppressK(k=3).anonymize(gv.Table.from_columns(columns, ids=range(100, 190))).guarantee
    )
    assert "assumed" == said.person
    people = gv.Table.from_columns(visits(), ids=range(100, 190), person="patient")
    assert ("people", 100, 15) == (people.person, people.labels()[0], people.units.max() + 1)


def test_rows_of_a_person_are_merged_where_they_are_equal_and_stay_where_they_differ():
    stay = gv.Table.from_columns(visits(), person="patient")
    assert (90, "people") == (stay.n_rows, stay.person)
    assert ["patient"] == sorted({*visits()} - {*stay.columns})
    merged = gv.Table.from_columns(visits(), person="patient", drop="finding,ward")
    assert (15, ("sex", "born", "town"), "column") == (merged.n_rows, merged.columns, merged.person)
    assert merged.units is None
    with pytest.raises(DataError, match=r'drop=\("finding", "ward"\)'):
        gv.Table.from_columns(visits(), person="row").one_row_a_person("patient")


PLAIN = {"sex": drawn(["f", "m"]), "town": drawn(TOWNS)}
ASSUMED = "This is about people only assuming that each row is a different person."
OF_TABLES = [
    *(gv.SuppressK(k=5), gv.SmoothK(k=5), gv.Mondrian(k=5)),
    *(gv.ClusterK(k=5), gv.Adaptive(levels=3)),
]


@pytest.mark.parametrize("method", OF_TABLES, ids=lambda method: method.name)
def test_a_guarantee_counts_people_only_where_the_owner_said_what_a_row_is(method):
    few = {name: values[:60] for name, values in PLAIN.items()}
    named = {"who": [f"w{number}" for number in range(60)], **few}
    said = {
        person: method.anonymize(gv.Table.from_columns(columns, person=person))
        for person, columns in ((None, few), ("row", few), ("who", named))
    }
    rows, stated, by_column = (release.guarantee for release in said.values())
    assert ("assumed", "row", "column") == (rows.person, stated.person, by_column.person)
    assert rows.sentence.endswith(ASSUMED)
    assert "several rows" in rows.threat_model
    assert stated.sentence.endswith("Each row is a different person, as the owner states.")
    assert by_column.sentence.endswith("by a column that the owner named.")
    assert "several rows" not in stated.threat_model + by_column.threat_model
    assert all("people" not in text for text in (rows.sentence.removesuffix(ASSUMED),))
    assert all(method.guarantee.covers(claim) for claim in (rows, stated, by_column))
    assert "who" not in str(
        said["who"].data.columns
        if isinstance(said["who"].data, gv.Table)
        else said["who"].data.feature_labels()
    )


def test_users_by_items_are_people_and_their_guarantee_says_nothing_of_rows():
    pairs = gv.Bipartite.from_lists([["tea"], ["tea"], ["rye"], ["rye"]], items="things")
    assert msgspec.UNSET is gv.SuppressK(k=2).anonymize(pairs).guarantee.person


def test_noise_on_the_rows_of_a_table_is_of_a_row():
    rows = gv.Table.from_columns(PLAIN).one_hot()
    method = gv.RandomizedResponse(epsilon=1)
    of_rows = promised(method, rows)
    assert "any one column of any one row by" in of_rows.sentence
    assert "A whole row is protected less" in of_rows.sentence
    assert of_rows.sentence.endswith(ASSUMED)
    people = gv.Table.from_columns(PLAIN, person="row").one_hot()
    assert "any one row" not in promised(method, people).sentence


def test_what_is_measured_of_a_table_is_counted_in_rows_until_somebody_says_that_they_are_people():
    for person, counted in ((None, "rows"), ("row", "people")):
        assert counted == gv.measure(gv.Table.from_columns(PLAIN, person=person)).counted


def test_the_tables_that_ship_and_rows_of_one_value_each_pass_without_a_question():
    assert first(gv.datasets.load("adult-sample")) is None
    assert first(gv.Table.from_columns({"email": MAILS})) is None


def test_frames_are_asked_about_as_files_are_and_the_ways_out_are_arguments_of_their_call():
    frame = pd.DataFrame({"customer_id": drawn(list(range(PEOPLE))), "sku": drawn(["x", "y"])})
    frame["when"] = drawn(["May", "June"])
    with pytest.raises(GraphveilError) as caught:
        gv.SmoothK(k=8).anonymize(frame)
    for way in ('person="COLUMN"', 'person="customer_id"', 'person="row"'):
        assert way in str(caught.value)
    assert "drop=" not in str(caught.value)


def test_each_way_out_is_one():
    people = gv.Table.from_columns(BOUGHT, person="email")
    assert ("people", ROWS, PEOPLE) == (people.person, people.n_rows, np.unique(people.units).size)
    assert gv.SuppressK(k=5).anonymize(people).data.n_rows == ROWS
    dropped = gv.Table.from_columns(BOUGHT, drop=["email"])
    assert ("product", "shop") == dropped.columns
    with pytest.raises(DataError, match="dropping or attaching the column does not decide it"):
        gv.SuppressK(k=5).anonymize(dropped)
    rows = gv.Table.from_columns(BOUGHT, person="row")
    assert gv.SuppressK(k=5).anonymize(rows).data.n_rows == ROWS
    same = {
        name: [value for value in values for _ in range(3)]
        for name, values in (("email", MAILS), ("sex", ["f", "m"] * (PEOPLE // 2)))
    }
    people = gv.Table.from_columns(same, person="email")
    assert (PEOPLE, ("sex",), MAILS) == (people.n_rows, people.columns, sorted_back(people))
    assert gv.SuppressK(k=5).anonymize(people).data.n_rows == PEOPLE


def sorted_back(table):
    return sorted(table.labels().tolist(), key=MAILS.index)


def test_a_person_that_is_missing_or_a_column_that_is_not_there_is_refused():
    with pytest.raises(DataError, match=r"1 row without email \(first: row 1\)"):
        gv.Table.from_columns({"email": ["a@b", "*"], "sex": ["f", "m"]}, person="email")
    with pytest.raises(DataError, match=r"no column 'mail' for person\. Did you mean email\?"):
        gv.Table.from_columns(BOUGHT, person="mail")
    with pytest.raises(DataError, match=r"no column 'mail' to drop\. Did you mean email\?"):
        gv.Table.from_columns(BOUGHT, drop=["mail"])


def test_two_rows_of_one_mail_are_asked_about_however_few_they_are():
    mails = ["ann@example.org", "ann@example.org", "bob@example.org"]
    few = gv.Table.from_columns({"mail": mails, "product": ["tea", "rye", "tea"]})
    assert "mail" == first(few).name
    many = gv.Table.from_columns({"domain": ["@a.example", "@b.example"] * 900})
    assert "domain" == first(many).name
    once = gv.Table.from_columns({"mail": mails[1:], "product": ["tea", "rye"]})
    assert None is first(once)


def test_every_column_that_may_be_people_is_asked_about_in_one_refusal():
    columns = visits("patient", 15, 6) | {"usuario": [f"K{at % 15:02d}" for at in range(90)]}
    columns["finding"] = [f"f{at % 3}" for at in range(90)]
    with pytest.raises(DataError) as refused:
        gv.Table.from_columns(columns).check()
    for name in ("patient", "usuario", "born"):
        assert f"column {name} may identify people with several rows" in str(refused.value)


VISITS = {"sex": [*"fm"] * 60, "patient": [f"p{row // 8}" for row in range(120)]}


def as_assumed(folder):
    """Say of a release that nobody said what its rows are, as a careful forger would."""
    manifest = read_manifest(folder)
    claim = manifest.claim
    promise = msgspec.structs.replace(claim.guarantee, person="assumed")
    words = {name: getattr(promise, name) for name in ("sentence", "threat_model", "why")}
    claim = msgspec.structs.replace(claim, guarantee=promise, **words)
    forged = msgspec.structs.replace(manifest, claim=claim).sealed()
    (folder / "release.json").write_bytes(encode(forged))
    return gv.verify_release(folder)


@pytest.mark.parametrize(
    ("method", "columns", "said"),
    [
        (
            gv.SuppressK(k=4),
            VISITS,
            "'patient' may identify people (15 values in 120 rows, with the name of an id)",
        ),
        (
            gv.Generalize(k=4, known="sex", attach="writer"),
            {"sex": VISITS["sex"], "writer": [f"p{row // 2}@x.org" for row in range(120)]},
            "'writer' may identify people (60 values in 120 rows, with an @)",
        ),
    ],
)
def test_verify_refuses_what_a_run_refuses_of_rows_and_people(tmp_path, method, columns, said):
    with pytest.raises(DataError):
        method.anonymize(gv.Table.from_columns(columns))
    table = gv.Table.from_columns(columns, person="row")
    folder = method.anonymize(table, seed=1).write(tmp_path / "release")
    assert gv.verify_release(folder).ok
    verdict = as_assumed(folder)
    assert 1 == verdict.exit_code
    details = [one.detail for one in verdict.failures() if one.name == "rows and people"]
    assert [f"{said}, but nobody said what a row is: no run releases such a table"] == details


def test_verify_takes_columns_that_only_repeat_for_what_they_are(tmp_path):
    towns = RNG.choice([f"town {number}" for number in range(15)], 120, p=np.arange(1, 16) / 120)
    columns = {"sex": VISITS["sex"], "town": towns.tolist()}
    release = gv.SuppressK(k=4).anonymize(gv.Table.from_columns(columns), seed=1)
    assert gv.verify_release(release.write(tmp_path / "release")).ok
