"""Statements that are true of one person, and what members of a class read of each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks.features.cells.insider import _guessed, likeliest_of_others
from graphveil.attacks.features.cells.published_cells import PublishedCells, TrueCells
from graphveil.attacks.features.cells.singling_out import best_blind, columns_of, one_of, statement
from graphveil.data import Table
from graphveil.data.codes import SUPPRESSED
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.attack import attack_release as attack
from networks_data import rng_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

ONE, WHOLE = "true of one person", "whole row read by another of the class"
CELLS = "hidden cells of others, right guess"


def table(rows, columns="abcd"):
    cells = list(zip(*rows, strict=True))
    return Table.from_columns(
        {name: list(cell) for name, cell in zip(columns, cells, strict=False)}
    )


def told_of(before, after, name):
    original = before if isinstance(before, Table) else table(before)
    release = Release(
        data=table(after),
        guarantee=gv.KAnonymity(k=2),
        provenance=Provenance(method="by-hand", source="a test", limits="All.", parameters={}),
        private=Private(
            input_sha256=digest_of(original),
            cost={},
            linkage=Linkage(original.labels(), np.arange(len(after))),
        ),
    )
    told = attack(release, original=original, attacks=[name], seed=1)
    return {row.part: row for row in told}, told.not_measured


PAIRS = ["xm1", "xf1", "yf2", "yf1", "xm3"]


def test_who_differs_from_the_other_of_a_pair_is_alone():
    after = ["x*1", "x*1", "yf*", "yf*", "xm3"]
    told, _ = told_of(PAIRS, after, "singling-out")
    assert (1.0, pytest.approx(0.8**4)) == (told[ONE].value, told[ONE].guess)


def test_rows_of_one_person_single_out_that_person_and_people_are_guessed():
    rows = ["xm", "xm", "xf", "ym", "ym", "yf"]
    columns = {"who": list("aaabbb"), "a": [r[0] for r in rows], "b": [r[1] for r in rows]}
    told, _ = told_of(Table.from_columns(columns, person="who"), rows, "singling-out")
    assert (0.5, pytest.approx((5 / 6) ** 5)) == (  # as rows: two of four classes have one
        told_of(rows, rows, "singling-out")[0][ONE].value,
        told_of(rows, rows, "singling-out")[0][ONE].guess,
    )
    assert (1.0, 0.5) == (told[ONE].value, told[ONE].guess)


def test_of_equal_rows_nobody_is_singled_out_more_often_than_blindly():
    rows = ["xm1", "xf1", "xm1", "xf2", "xf2", "xm2"]
    told, _ = told_of(rows, ["***"] * 6, "singling-out")
    assert told[ONE].value <= told[ONE].guess


def test_a_release_that_changes_nothing_tells_every_row_that_is_alone():
    rng = rng_of(2)
    rows = ["".join(row) for row in rng.choice(list("xyz"), (40, 4))]
    release = gv.Rename().anonymize(table(rows), seed=1)
    [row] = attack(release, original=table(rows), attacks=["singling-out"], seed=1)
    distinct = set(rows)
    assert row.value == pytest.approx(sum(rows.count(one) == 1 for one in distinct) / len(distinct))


@pytest.mark.parametrize("people", [2, 7, 50])
def test_no_statement_without_the_release_is_true_of_one_more_often(people):
    weights = np.linspace(0, 1, 2_001)
    assert best_blind(people) == pytest.approx(
        (people * weights * (1 - weights) ** (people - 1)).max(), abs=1e-4
    )


@pytest.mark.parametrize("members_differ", [True, False])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_one_member_has_a_value_as_often_as_counted_over_all_classes(size, members_differ):
    chances = np.array([0.2, 0.8]) if not members_differ else np.array([0.5, 0.3, 0.2])
    exactly, right, every = np.zeros(chances.size), np.zeros((chances.size, chances.size)), 0.0
    for values in itertools.product(range(chances.size), repeat=size):
        same = len(set(values)) == 1 and (members_differ or values[0] == 1)
        chance = 0.0 if same else float(np.prod(chances[list(values)]))
        every += chance
        for value in range(chances.size):
            exactly[value] += chance * (values.count(value) == 1)
        right[values[0], values[1]] += chance
    assert exactly / every == pytest.approx(one_of(chances, size, members_differ=members_differ))
    for mine, others in enumerate(right) if members_differ else ():
        guess = likeliest_of_others(chances, size, mine)
        assert others[guess] == pytest.approx(others.max())


def shown_of(seed, *, members_differ):
    rng = rng_of(seed)
    values = np.full(4, 2) if not members_differ else np.array([2, 3, 2, 2])
    cells = rng.integers(0, values, (6, 4)) if members_differ else np.ones((6, 4), dtype=int)
    cells[rng.random((6, 4)) < 0.4] = SUPPRESSED
    return PublishedCells(cells.astype(np.int32), rng.integers(1, 4, 6), values, members_differ)


@pytest.mark.parametrize("members_differ", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_statement_is_the_likeliest_of_those_written_out_one_by_one(seed, members_differ):
    shown = shown_of(seed, members_differ=members_differ)
    for own in range(6):
        made = statement(shown, own, columns_of(shown))
        alike = [
            np.prod([shown.likely(c)[d, shown.value[own, c]] for c in range(4) if shows[own, c]])
            for d, shows in ((d, shown.value != SUPPRESSED) for d in range(6))
        ]
        weights = [shown.sizes[d] * alike[d] * (d != own) for d in range(6)]
        chances = [float(shown.sizes[own] == 1) * np.exp(-sum(weights))]
        for column in range(4):
            if shown.value[own, column] != SUPPRESSED:
                continue
            single = one_of(
                shown.shares(column), int(shown.sizes[own]), members_differ=members_differ
            )
            for value, chance in enumerate(single):
                also = sum(w * shown.likely(column)[d, value] for d, w in enumerate(weights))
                chances.append(chance * np.exp(-also))
        assert max(chances) == pytest.approx(made.chance)


def test_who_knows_one_of_two_rows_reads_the_other_where_values_are_two():
    told, _ = told_of(["xm", "xf", "ym", "yf"], ["x*", "x*", "y*", "y*"], "insider")
    assert (1.0, 0.0) == (told[WHOLE].value, told[WHOLE].guess)
    assert (1.0, 0.5) == (told[CELLS].value, told[CELLS].guess)


def test_of_two_who_differ_in_a_column_of_three_values_neither_is_sure():
    told, _ = told_of(["xm", "xf", "yn", "yf"], ["x*", "x*", "y*", "y*"], "insider")
    assert (0.0, 0.0) == (told[WHOLE].value, told[WHOLE].guess)


def test_of_three_who_hide_a_column_nobody_reads_a_whole_row_for_certain():
    told, _ = told_of(["xm", "xf", "xm"], ["x*", "x*", "x*"], "insider")
    assert (0.0, 0.0) == (told[WHOLE].value, told[WHOLE].guess)


def test_what_all_can_read_is_no_gain_of_who_is_inside():
    told, _ = told_of(["xm", "xm", "yf"], ["xm", "xm", "yf"], "insider")
    assert told[WHOLE].value == told[WHOLE].guess == pytest.approx(2 / 3)
    assert CELLS not in told


def test_what_is_not_true_of_all_of_a_class_is_the_reason():
    data = gv.datasets.load("spect-heart")
    release = gv.SmoothK(k=5).anonymize(data, seed=1)
    told = attack(release, original=data, attacks=["singling-out", "insider"], seed=1)
    assert {"some entries are not true of everyone in their class"} == set(
        told.not_measured.values()
    )
    told = attack(
        gv.Rename().anonymize(table(PAIRS), seed=1),
        original=table(PAIRS),
        attacks=["insider"],
        seed=1,
    )
    assert "every class has one member" == told.not_measured["insider"]


def test_a_column_with_a_value_for_nearly_everybody_takes_no_longer_than_its_length(monkeypatch):
    """No step has as many entries as classes times values."""
    n = 3_000
    rng = rng_of(1)
    days = [f"day {day}" for day in rng.integers(0, n, n)]
    table = gv.Table.from_columns({"day": days, "town": rng.choice(list("abcdefgh"), n).tolist()})
    release = gv.SuppressK(k=5).anonymize(table.one_hot(), seed=1)
    monkeypatch.setattr(PublishedCells, "likely", None)
    monkeypatch.setattr(np, "eye", None)
    told = gv.attack_release(release, table.one_hot(), attacks=["singling-out"], seed=1)
    assert 0 <= next(iter(told)).value <= 1


@pytest.mark.parametrize("members_differ", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_guesses_of_insiders_are_counted_as_if_pair_by_pair(seed, members_differ):
    rng, shown = rng_of(seed), shown_of(seed, members_differ=members_differ)
    own = np.repeat(np.arange(6), shown.sizes)
    value = np.column_stack([rng.integers(-1, each, own.size) for each in shown.values])
    made = _guessed(shown, TrueCells(value.astype(np.int32), own))
    expected = np.zeros((3, 6), dtype=int)
    for class_, column in itertools.product(range(6), range(4)):
        size, has = int(shown.sizes[class_]), value[own == class_, column]
        if shown.value[class_, column] != SUPPRESSED or size < 2:
            continue
        blind = int(shown.likely(column)[class_].argmax())
        for mine, other in itertools.permutations(has[has >= 0].tolist(), 2):
            chances = shown.shares(column)
            guess = likeliest_of_others(chances, size, mine) if members_differ else blind
            expected[:, class_] += 1, other == guess, other == blind
    assert expected.tolist() == [made.cells.tolist(), made.inside.tolist(), made.outside.tolist()]
