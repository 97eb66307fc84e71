"""`linkage` on tables: what cells admit, and whole rows of all people, against slow twins."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks.features import whole_rows as whole
from graphveil.attacks.features.cells import admitted_values as admitted
from graphveil.core.progress import Deadline, OutOfTimeError, within
from graphveil.evaluate.comparison import sparse

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "a linkage that lets intervals exclude what they contain",
        "means": "The attack on tables finds fewer classes than an attacker with a script.",
        "file": "src/graphveil/attacks/features/cells/admitted_values.py",
        "old": "admits[row] = [text == one or includes(text, one) for one in values]",
        "new": "admits[row] = [text == one for one in values]",
    },
    {
        "name": "a linkage of all people that fills no class",
        "means": "The attack on tables assigns more people to a class than it has rows.",
        "file": "src/graphveil/attacks/features/whole_rows.py",
        "old": "updated = np.where(filled > 0, sizes / np.maximum(filled, tiny), factor)",
        "new": "updated = factor",
    },
]

PEOPLE = {
    "age": [21, 22, 27, 34, 35, 38, 51, 52, 58, 21, 36, 55],
    "town": [
        *("Oslo", "Oslo", "Bergen", "Oslo", "Rome", "Rome"),
        *("Rome", "Pisa", "Pisa", "Bergen", "Pisa", "Oslo"),
    ],
    "sex": list("ffmmffmmfmfm"),
    "ill": [
        "flu",
        "flu",
        "flu",
        "cold",
        "cold",
        "flu",
        "cold",
        "cold",
        "cold",
        "flu",
        "flu",
        "flu",
    ],
}
PARENT = {"Oslo": "Norway", "Bergen": "Norway", "Rome": "Italy", "Pisa": "Italy"}
KNOWN = ("age", "town", "sex")


@pytest.fixture(scope="module")
def levels(tmp_path_factory):
    path = tmp_path_factory.mktemp("levels") / "towns.csv"
    path.write_text("".join(f"{town},{land},*\n" for town, land in PARENT.items()))
    return {"age": "10,20", "town": str(path)}


@pytest.fixture(scope="module")
def release(levels):
    table = gv.Table.from_columns(PEOPLE)
    method = gv.Generalize(k=3, known=",".join(KNOWN), attach="ill", levels=levels, may_narrow=0.5)
    return method.anonymize(table, seed=3)


def published(release):
    """Return the classes as texts, their sizes, and everybody's class, by dictionaries."""
    cells = release.data.to_arrow().select(KNOWN).to_pylist()
    rows = [tuple("*" if v is None else str(v) for v in row.values()) for row in cells]
    order = release.private.linkage.positions_of(np.arange(12), release.data.labels())
    return rows, [rows[place] for place in order.tolist()]


def fits(column, text, value):
    """Return whether a published text admits a value, read as a person reads it."""
    if text in {"*", str(value)}:
        return True
    if column == "age" and "-" in text:
        low, high = map(int, text.split("-"))
        return low <= value <= high
    return column == "town" and PARENT.get(value) == text


def shares_by_hand(column, rows):
    """Return each value's share: every cell is spread over what it admits, again and again."""
    at, values = KNOWN.index(column), sorted(set(PEOPLE[column]))
    texts = [row[at] for row in rows if row[at] != "*"]
    share = dict.fromkeys(values, 1 / len(values))
    for _ in range(admitted.ROUNDS if texts else 0):
        spread = dict.fromkeys(values, 0.0)
        for text in texts:
            below = [value for value in values if fits(column, text, value)]
            total = sum(share[value] for value in below)
            for value in below:
                spread[value] += share[value] / total
        new = {value: number / len(texts) for value, number in spread.items()}
        change = max(abs(new[value] - share[value]) for value in values)
        share = new
        if change < admitted.SETTLED:
            break
    return share


def score_by_hand(person, row, rows):
    """Return the logarithm of how likely a class is that publishes a row, cell by cell."""
    total = 0.0
    for at, column in enumerate(KNOWN):
        text, value, values = row[at], PEOPLE[column][person], set(PEOPLE[column])
        if text == "*":
            continue
        inside = [one for one in values if fits(column, text, one)]
        share = shares_by_hand(column, rows)
        mass = min(max(sum(share[one] for one in inside), 0.5 / 12), 1 - 0.5 / 12)
        e = admitted.LEAST_FALSE
        if value in inside:
            total += math.log((1 - e) / mass)
            total += admitted.NARROW * (len(values) - len(inside)) / (len(values) - 1)
        else:
            total += math.log(e / max(1 - mass, e))
    return total


def attacked(release, original, **how):
    rows = gv.attack_release(
        release, original, attacks=["linkage"], seed=1, rerun=None,
        options={"linkage": {"known": "2", "wrong": "0"}}, **how,
    )  # fmt: skip
    return {row.part: row for row in rows}


def test_each_person_alone_is_in_the_class_with_the_best_score_by_hand(release):
    rows, own = published(release)
    classes, sizes = np.unique(rows, axis=0, return_counts=True)
    hits = rightly = 0.0
    for person in range(12):
        scores = [
            score_by_hand(person, tuple(row), rows) + math.log(size)
            for row, size in zip(classes, sizes, strict=True)
        ]
        best = [at for at, one in enumerate(scores) if one > max(scores) - 1e-9]
        is_own = own[person] in [tuple(classes[at]) for at in best]
        hits += is_own / len(best)
        rightly += is_own / sum(sizes[at] for at in best)
    found = attacked(release, gv.Table.from_columns(PEOPLE))
    alone = "3 known, each person alone: "
    assert found[f"{alone}own class"].value == pytest.approx(hits / 12)
    assert found[f"{alone}own row"].value == pytest.approx(rightly / 12)
    assert found[f"{alone}own class"].guess == sizes.max() / 12
    assert found[f"{alone}own row"].guess == 1 / 12
    # The levels say something: the figure is not that of values that are equal as texts.
    assert any("-" in text or text in PARENT.values() for row in rows for text in row)


def test_all_people_at_once_fill_the_classes_as_two_people_do_by_hand():
    # Ann fits either class of one and Bob the first alone, so Ann is in the second for certain.
    likely = sparse.csr_array(np.array([[1.0, 0.01], [1.0, 0.0]]))
    rows = whole.WholeRows(np.array([0, 1]), np.array([1, 1]), likely)
    factor = whole.scaled(rows, np.array([1, 1]))
    scaled = likely.toarray() * factor
    assert scaled[0, 1] > 0.9 * scaled[0].sum()


def full_assignments(weights, sizes):
    """Return each person's share of every class over all ways to fill the classes."""
    classes = weights.shape[1]
    places = np.repeat(np.arange(classes), sizes)
    total, own = 0.0, np.zeros_like(weights)
    for order in set(itertools.permutations(places.tolist())):
        weight = math.prod(weights[person, place] for person, place in enumerate(order))
        total += weight
        for person, place in enumerate(order):
            own[person, place] += weight
    return own / total


@pytest.mark.parametrize("seed", range(4))
def test_scaled_chances_are_near_those_of_all_ways_to_fill_the_classes(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    sizes = np.array([2, 3, 1])
    weights = rng.random((6, 3)) ** 3
    rows = whole.WholeRows(np.arange(6), np.ones(6, np.int64), sparse.csr_array(weights))
    scaled = weights * whole.scaled(rows, sizes)
    scaled /= scaled.sum(axis=1, keepdims=True)
    exact = full_assignments(weights, sizes)
    assert np.allclose(scaled.sum(axis=0), sizes, atol=0.01)
    # Nearer than likelihoods alone, which fill no class.
    alone = weights / weights.sum(axis=1, keepdims=True)
    assert np.abs(scaled - exact).mean() < np.abs(alone - exact).mean()


def test_attached_values_are_guessed_from_the_classes_and_certain_where_a_class_has_one():
    table = gv.Table.from_columns({"age": list("aaabbbbb"), "ill": list("ffffffcc")})
    release = gv.SuppressK(k=2, known="age", attach="ill", may_narrow=0.5).anonymize(table, seed=1)
    found = attacked(release, table)
    of = "1 known, ill, all people at once: attached value, "
    # Everybody's class is known; that of a has one value, and in b three of five have flu.
    assert found["1 known, all people at once: own class"].value == 1
    assert found[f"{of}right guess"].value == 6 / 8 == found[f"{of}right guess"].guess
    assert found[f"{of}one in the likeliest class"].value == 3 / 8
    assert found[f"{of}one in the likeliest class"].guess == 0
    assert found[f"{of}one in the likeliest class, rightly"].value == 1


@pytest.mark.parametrize("how", [whole.ONE_BY_ONE, whole.AT_ONCE])
def test_the_order_of_rows_and_columns_changes_no_figure(how):
    figures = []
    for columns, step in ((KNOWN, 1), (KNOWN[::-1], -1)):
        cells = {name: [str(value) for value in PEOPLE[name][::step]] for name in columns}
        table = gv.Table.from_columns(cells)
        found = attacked(gv.Mondrian(k=4).anonymize(table, seed=1), table)
        figures.append(found[f"3 known, {how}: own class"].value)
    assert figures[0] == pytest.approx(figures[1])


def test_rows_that_are_all_equal_tell_nobody():
    table = gv.Table.from_columns({"sex": ["f", "m"] * 4})
    release = gv.SuppressK(k=8).anonymize(table, seed=1)
    found = attacked(release, table)
    for how in (whole.ONE_BY_ONE, whole.AT_ONCE):
        row = found[f"1 known, {how}: own row"]
        assert row.value == 1 / 8 == row.guess


def test_when_time_runs_out_the_last_round_counts_and_none_has_no_figure():
    likely = sparse.csr_array(np.ones((2, 2)))
    rows = whole.WholeRows(np.array([0, 1]), np.array([1, 1]), likely)
    with within(deadline=Deadline(0.0)), pytest.raises(OutOfTimeError):
        whole.scaled(rows, np.array([1, 1]))


def test_false_cells_lower_a_class_but_do_not_exclude_it_where_cells_may_be_false():
    column = admitted.PublishedColumn(
        np.array([0, 1, 2]), np.array([0, 1, -1], np.int32), np.ones((1, 2), bool),
        np.array([0.5, 0.5, 1.0]), np.array([1.0, 1.0, 0.0]), 0.05,
    )  # fmt: skip
    own, other, star = column.evidence(np.array([0], np.int32), 0.0)[0]
    assert own == pytest.approx(math.log(0.95 / 0.5) + admitted.NARROW)
    assert other == pytest.approx(math.log(0.05 / 0.5))
    assert star == 0
    nothing = column.evidence(np.array([admitted.UNKNOWN], np.int32), 0.0)
    assert not nothing.any()
