"""The checker's bounds on the chances of cells: neither kind of cell may give more than epsilon."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil.data.id_columns import FEW, FEW_ATTACHED, naming_columns
from graphveil.methods.noise.cells import channel
from graphveil.verify.database import database
from graphveil.verify.promises.attached import _FEW_ATTACHED, _FEW_KNOWN, naming_problems
from graphveil.verify.recount.noise.flip_probabilities import (
    FULL,
    keeps_its_claim,
    response_thresholds,
)

EPSILONS = st.floats(0.01, 4).map(Fraction)


@given(EPSILONS, st.fractions(0, 1, max_denominator=10**6).filter(lambda share: 0 < share < 1))
def test_the_chances_of_every_channel_keep_their_epsilon(epsilon, share):
    through = channel(share, epsilon)
    assert keeps_its_claim(through.zero, through.one, epsilon)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**power) for power in (19, 99, 101, 300, 900)])
@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)])
def test_an_epsilon_near_0_is_kept_by_its_chances_and_by_no_others(epsilon, share):
    """A factor of e^epsilon is at least 1, also where 120 digits do not tell it from 1."""
    zero, one = channel(share, epsilon)
    assert keeps_its_claim(zero, one, epsilon)
    assert all(
        abs(said - value) <= 1
        for said, value in zip((zero, one), response_thresholds(share, epsilon), strict=True)
    )
    assert keeps_its_claim(*response_thresholds(share, epsilon), epsilon)
    assert not keeps_its_claim(FULL // 2, FULL // 2 + 1, epsilon / 10)


@given(EPSILONS)
def test_a_cell_of_1_that_is_published_too_often_is_refused(epsilon):
    """The chances of not being published are near 1 there, and say nothing."""
    zero = FULL // 200
    most = math.floor(zero * math.exp(epsilon))
    assert keeps_its_claim(zero, most * 99 // 100, epsilon)
    assert not keeps_its_claim(zero, most * 101 // 100, epsilon)


@given(EPSILONS)
def test_a_cell_of_0_that_is_published_too_often_is_refused(epsilon):
    one = FULL - FULL // 200
    least = math.floor((FULL - one) * math.exp(epsilon))
    assert keeps_its_claim(FULL - least * 99 // 100, one, epsilon)
    assert not keeps_its_claim(FULL - least * 101 // 100, one, epsilon)


@pytest.mark.parametrize(("zero", "one"), [(0, 1), (FULL - 1, FULL)])
def test_what_only_one_kind_of_cell_can_become_is_refused(zero, one):
    assert not keeps_its_claim(zero, one, Fraction(40))


@pytest.mark.parametrize(
    ("cells", "values", "refused"),
    [
        (2, 2, False),
        (3, 3, False),
        (9, 9, False),
        (10, 9, False),
        (10, 10, True),
        (60, 54, False),
        (60, 55, True),
    ],
)
@pytest.mark.parametrize(("missing", "cell"), [("NULL", "c0"), ("'*'", "nullif(c0, '*')")])
@pytest.mark.parametrize("few", [(FEW, _FEW_KNOWN), (FEW_ATTACHED, _FEW_ATTACHED)])
def test_a_run_and_verify_refuse_the_same_columns_of_names(
    cells, values, refused, missing, cell, few
):
    if few[0] == FEW_ATTACHED and cells == values > 2:
        refused = True
    column = [f"P{min(number, values - 1)}" for number in range(cells)] + [None] * 7
    people = gv.Table.from_columns({"name": column})
    assert refused == ("name" in naming_columns(people, few[0]))
    listed = ", ".join(missing if one is None else f"'{one}'" for one in column)
    with database() as db:
        db.run(f"CREATE TABLE published AS SELECT unnest([{listed}]) AS c0")
        found = list(naming_problems(db, "published", {"name": cell}, "row", few[1]))
    said = f"'name' has {values} values for {cells} rows, so it nearly identifies people"
    assert ([said] if refused else []) == found
