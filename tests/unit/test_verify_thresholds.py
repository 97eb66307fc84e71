"""The checker's bounds on the chances of cells: neither kind of cell may give more than epsilon."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.methods.noise import channel
from graphveil.verify.recount.chances import FULL, keeps_its_claim

EPSILONS = st.floats(0.01, 4).map(Fraction)


@given(EPSILONS, st.fractions(0, 1, max_denominator=10**6).filter(lambda share: 0 < share < 1))
def test_the_chances_of_every_channel_keep_their_epsilon(epsilon, share):
    through = channel(share, epsilon)
    assert keeps_its_claim(through.zero, through.one, epsilon)


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
