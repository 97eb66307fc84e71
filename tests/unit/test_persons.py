"""What a row is: evidence for several rows of a person, and classes that count people."""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict

import msgspec
import numpy as np
import pandas as pd
import pytest

import graphveil as gv
from graphveil.claims.manifest import encode, read_manifest
from graphveil.core.errors import DataError, GraphveilError, InfeasibleError, ParameterError
from graphveil.data import persons
from graphveil.methods.layers import layers_of
from people_data import (
    NAMES,
    VALUES,
    is_found,
    names_of_columns,
    people_with_rows,
    pupils,
    purchases,
    unrelated_tables,
)
from thorough import part_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "a dropped column says nothing of rows",
        "means": "Dropping the column of people turns several rows of one person into people.",
        "file": "src/graphveil/data/table.py",
        "old": "(self.cut_from or self)._looks_like_several_rows",
        "new": "self._looks_like_several_rows",
        "tests": ["tests/unit/test_persons.py", "-k", "dropping"],
        "methods": ["suppress-k", "generalize"],
    },
    {
        "name": "layers hold two rows of a person",
        "means": "A class can consist of rows of fewer than k people.",
        "file": "src/graphveil/methods/layers.py",
        "old": "number = int(each.max(initial=1))",
        "new": "number = 1",
        "tests": ["tests/unit/test_persons.py", "-k", "recount or layers"],
        "methods": ["suppress-k", "generalize"],
    },
    {
        "name": "verify counts rows in place of people",
        "means": "A class of several rows of one person verifies.",
        "file": "src/graphveil/verify/promises/rows/different_people.py",
        "old": "count(DISTINCT owner)",
        "new": "count(owner)",
        "tests": ["tests/unit/test_persons.py", "-k", "swapped"],
        "methods": ["suppress-k", "generalize"],
    },
]


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(24))
def test_ids_under_any_name_are_asked_about_and_nothing_is_released(number):
    form, constants, regular = list(itertools.product(VALUES, (0, 1, 2), (True, False)))[number]
    # A few names of each combination, which differ from one to the next; in `make fuzz` all.
    names = names_of_columns(200)
    for name in part_of([*names[number:], *names[:number]], every=60):
        table = gv.Table.from_columns(purchases(name, form, constants, regular=regular))
        asked = [one.column for one in table.questions_of_rows()]
        if is_found(form, constants, regular=regular):
            assert name in asked
        elif name not in NAMES:  # what the module says that it does not find
            assert [] == asked
        if name in asked:
            with pytest.raises(DataError, match="may identify people with several rows"):
                gv.SuppressK(k=3).anonymize(table)


@pytest.mark.thorough
def test_tables_of_independent_columns_are_not_asked_about():
    asked = [case for case, table in unrelated_tables() if table.questions_of_rows()]
    assert [] == asked


def test_a_city_that_determines_its_region_is_no_person():
    rng = np.random.default_rng(2)
    city = rng.integers(0, 40, 400)
    columns = {"city": city, "region": city % 8, "country": city % 8 % 3, "sex": city * 0}
    columns |= {"age": rng.integers(18, 90, 400), "sex": rng.integers(0, 2, 400)}
    assert [] == gv.Table.from_columns(columns).questions_of_rows()
    columns["name of the city"] = [f"the {number}th" for number in city]
    assert [] == gv.Table.from_columns(columns).questions_of_rows()


def test_the_bound_on_chance_is_one():
    # All arrangements of six cells: the exact chance that a column is constant in three pairs.
    own = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    for cells in ([0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1]):
        arranged = set(itertools.permutations(cells))
        constant = [a for a in arranged if a[0] == a[1] and a[2] == a[3] and a[4] == a[5]]
        exact = len(constant) / len(arranged)
        nats = persons._nats_constant(own, np.array(cells, dtype=np.int32))
        assert exact <= math.exp(-nats)
    # With exceptions: permute at random, and count how often the bound is undercut.
    rng = np.random.default_rng(0)
    own = np.repeat(np.arange(4, dtype=np.int32), 3)
    cells = np.repeat(np.array([0, 0, 1, 1], dtype=np.int32), 3)
    nats = [persons._nats_constant(own, rng.permutation(cells)) for _ in range(4000)]
    for least in (1.0, 2.0, 4.0):
        assert np.mean(np.array(nats) >= least) <= math.exp(-least)


@pytest.mark.parametrize(("schools", "waves"), [(8, 3), (60, 3), (8, 6)])
def test_two_columns_that_identify_people_together_are_asked_about(schools, waves):
    columns = pupils(4, schools=schools, waves=waves)
    (asked,) = gv.Table.from_columns(columns).questions_of_rows()
    assert ("school", "person", "school") == (asked.column, asked.option, asked.value)
    assert "columns school and seat together" in asked.text
    assert "agree on sex, born" in asked.text
    # The line of pandas that it gives makes people of them, whom classes then count.
    line = re.search(r"with pandas: (.+?), and use", asked.choices)
    joined = eval(line[1], {"frame": pd.DataFrame(columns)})  # noqa: S307  a line of our own
    pairs = {*zip(columns["school"], columns["seat"], strict=True)}
    assert len(pairs) == joined["who"].nunique()
    assert "people" == gv.Table.from_arrow(joined, person="who").person


def test_columns_that_say_something_only_together_by_chance_are_no_people():
    columns = pupils(4, schools=60, waves=3)
    rng = np.random.default_rng(1)
    for changed in ("sex", "born"):  # constant within the pairs no more
        other = columns | {changed: rng.permutation(columns[changed]).tolist()}
        other["mood"] = rng.permutation(columns["mood"]).tolist()
        assert [] == gv.Table.from_columns(other).questions_of_rows()
    # What the school says alone, and nothing else, is not about pupils.
    school = columns | {one: [name[-1] for name in columns["school"]] for one in ("sex", "born")}
    assert [] == gv.Table.from_columns(school).questions_of_rows()


SMALL = {"card": list("aabbcc"), "visit": [1, 2] * 3, "city": list("ZZYYXX")}


@pytest.mark.parametrize(
    "columns",
    [
        SMALL,
        {"card": ["p0", "p0", "p1", "p1", "p2", "p2"], "city": list("ZZYYXX")},
        {"person_id": list("aabbcc"), "city": list("ZZYYXX")},
        {"hhid": [1, 1, 1, 2, 2, 2], "city": list("AAABBB"), "age": [30, 30, 30, 40, 40, 40]},
    ],
)
def test_six_rows_are_asked_about_as_others_are_and_dropping_or_attaching_is_no_answer(
    columns, tmp_path
):
    first = next(iter(columns))
    assert first == gv.Table.from_columns(columns).questions_of_rows()[0].column
    rest = {name: values for name, values in columns.items() if name != first}
    dropped = gv.Table.from_columns(columns, drop=[first])
    for method, table in (
        (gv.SuppressK(k=2), dropped),
        (gv.Generalize(k=2), gv.Table.from_columns(columns).without([first])),
        (gv.SuppressK(k=2, known=list(rest)[-1], attach=[first, *list(rest)[:-1]]), None),
    ):
        with pytest.raises(DataError, match="does not decide it"):
            method.anonymize(gv.Table.from_columns(columns) if table is None else table)
    with pytest.raises(DataError, match="does not decide it"):
        gv.measure(dropped)
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    (tmp_path / "six.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(GraphveilError, match=f"column {first} may identify people"):
        gv.read_table(tmp_path / "six.csv", drop=[first])
    assert 6 == gv.read_table(tmp_path / "six.csv", drop=[first], person="row").n_rows


def test_a_binned_column_of_ids_is_looked_at_as_it_was():
    who = np.repeat(np.arange(30), 5)
    columns = {"card": who, "sex": who % 2, "born": who % 7, "day": np.arange(150) % 5}
    table = gv.Table.from_columns(columns, bins={"card": "median"})
    assert "card" == table.questions_of_rows()[0].column


def test_rows_that_stand_for_several_people_are_asked_about():
    counts = {"city": list("AAB"), "sex": list("mfm"), "count": [1, 120, 3]}
    (asked,) = gv.Table.from_columns(counts).questions_of_rows()
    assert ("count", "person", "row") == (asked.column, asked.option, asked.value)
    assert [] == gv.Table.from_columns(counts, person="row").questions_of_rows()
    equal = {name: values * 2 for name, values in counts.items()}
    assert [] == gv.Table.from_columns(equal).questions_of_rows()
    ones = counts | {"count": [1, 1, 1]}
    assert [] == gv.Table.from_columns(ones).questions_of_rows()


def test_layers_hold_each_person_once_and_have_k_rows():
    rng = np.random.default_rng(3)
    for _ in range(50):
        n, k = int(rng.integers(8, 40)), int(rng.integers(2, 4))
        codes = rng.integers(0, 3, (n, 2)).astype(np.int32)
        units = rng.integers(0, n // 2, n).astype(np.int32)
        try:
            layers = layers_of(codes, units, k)
        except InfeasibleError:
            continue
        for rows in layers.rows:
            assert k <= rows.size == np.unique(units[rows]).size
        stand = layers.stands_for
        assert sorted(set(stand.tolist())) == sorted(np.concatenate(layers.rows).tolist())
        assert np.array_equal(units[stand], units)
        assert np.array_equal(codes[stand], codes)


COUNTING = [
    lambda k: gv.SuppressK(k=k),
    lambda k: gv.SuppressK(k=k, known="city,ward", attach="ill"),
    lambda k: gv.Mondrian(k=k),
    lambda k: gv.ClusterK(k=k),
    lambda k: gv.Generalize(k=k, known="city,ward", attach="ill"),
    lambda k: gv.Generalize(k=k, known="city,ward", attach="ill", diverse={"ill": "2"}),
]


def people_in_classes(release, columns):
    """Return the people of every class, by the linkage alone."""
    link = release.private.linkage
    at = dict(zip(link.original.tolist(), link.released.tolist(), strict=True))
    rows = release.data.to_arrow().to_pylist()
    roles = release.guarantee.known or release.data.columns
    classes = defaultdict(set)
    for position, person in enumerate(columns["who"]):
        row = rows[at[position]]
        classes[tuple(row[name] for name in roles)].add(person)
        assert row["ill"] in (columns["ill"][position], None)
    return classes


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(COUNTING)))
def test_a_recount_finds_k_people_in_every_class(number):
    made, tables = 0, part_of(range(200), every=21)  # odd: both roles, both k
    for seed in tables:
        columns, k = people_with_rows(seed), 2 + seed % 2
        role = "household" if seed % 3 else "person"
        table = gv.Table.from_columns(columns, **{role: "who"})
        try:
            release = COUNTING[number](k).anonymize(table, seed=seed)
        except InfeasibleError:
            continue
        made += 1
        assert k <= min(map(len, people_in_classes(release, columns).values()))
        assert {"person": "people", "household": "households"}[role] == release.guarantee.person
    assert made > len(tables) / 2


@pytest.fixture
def released(tmp_path):
    columns = people_with_rows(5)
    table = gv.Table.from_columns(columns, person="who")
    release = gv.Generalize(k=3, known="city,ward", attach="ill").anonymize(table, seed=1)
    return release.write(tmp_path / "release"), table


def outcome(verdict, name):
    return next(check.outcome for check in verdict.checks if check.name == name)


def test_verify_counts_people_with_the_original_and_says_so_without(released):
    folder, table = released
    alone, known = gv.verify_release(folder), gv.verify_release(folder, table)
    assert "not checked" == outcome(alone, "different people")
    assert ("holds", True) == (outcome(known, "different people"), known.ok)
    assert "at least 3 different people" in read_manifest(folder).claim.sentence


def test_verify_finds_rows_that_were_swapped_to_one_person(released):
    folder, table = released
    # An original in which all rows are of two people has classes of fewer than three.
    two = gv.Table.from_columns(
        {"who": [row % 2 for row in range(table.n_rows)], **table.to_arrow().to_pydict()},
        person="who",
    )
    verdict = gv.verify_release(folder, two)
    assert "fails" == outcome(verdict, "different people")
    detail = next(check.detail for check in verdict.checks if check.name == "different people")
    assert "fewer than k=3" in detail


def test_a_claim_of_people_on_rows_is_refused(released):
    folder, table = released
    manifest = read_manifest(folder)
    guarantee = msgspec.structs.replace(manifest.claim.guarantee, person="row")
    words = {name: getattr(guarantee, name) for name in ("sentence", "threat_model", "why")}
    claim = msgspec.structs.replace(manifest.claim, guarantee=guarantee, **words)
    forged = msgspec.structs.replace(manifest, claim=claim).sealed()
    (folder / "release.json").write_bytes(encode(forged))
    assert "fails" == outcome(gv.verify_release(folder, table), "rows and people")


@pytest.mark.parametrize(
    "method",
    [gv.SmoothK(k=2), gv.Adaptive(levels=2), gv.Mondrian(k=2, release="majority")],
    ids=lambda method: method.name,
)
def test_methods_that_count_rows_refuse_people_with_several(method):
    table = gv.Table.from_columns(people_with_rows(1), person="who")
    with pytest.raises(ParameterError, match="counts rows, but people have several rows"):
        method.anonymize(table)


def test_what_people_with_several_rows_rule_out_is_refused_with_a_cure():
    table = gv.Table.from_columns(people_with_rows(1), person="who")
    close = gv.Generalize(k=2, known="city,ward", attach="ill", close={"ill": "0.5"})
    with pytest.raises(ParameterError, match="close compares the rows"):
        close.anonymize(table)
    one = {"who": [1] * 20 + [2, 3, 4], "x": list("abcdefghijklmnopqrst") + ["a"] * 3}
    with pytest.raises(InfeasibleError, match="different people per class are too many"):
        gv.SuppressK(k=3).anonymize(gv.Table.from_columns(one, person="who"))
    apart = {"who": [1, 1, 2], "home": ["a", "b", "b"], "x": list("pqr")}
    with pytest.raises(DataError, match="a person is in several values of home"):
        gv.Table.from_columns(apart, person="who", household="home")


def test_measure_counts_people_where_they_have_several_rows():
    columns = {"who": [1, 1, 2, 3], "sex": list("ffmm"), "day": [1, 2, 1, 1]}
    measured = gv.measure(gv.Table.from_columns(columns, person="who"), columns=["sex"])
    assert ([1, 2], [1, 1, 2, 2]) == (measured.sizes.tolist(), measured.own_sizes.tolist())
    assert (0.5, [(1, 1, 2), (2, 1, 2)]) == (measured.uniqueness, measured.size_distribution())
