"""Discrete Laplace noise has its law: bounds enclose it, draws follow it, jumps are decided."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from graphveil.core.errors import ParameterError
from graphveil.core.randomness import Randomness
from graphveil.methods.noise.laws import (
    DIGIT,
    FIRST_BITS,
    InversionTable,
    discrete_laplace,
    geometric,
    geometric_law,
    inverted,
    power_bounds,
    remainder_law,
    words_from,
)

FULL = 2**64
UNLIKELY = 1e-6


def seeded(seed):
    return words_from(Randomness(seed=seed), "test")


def scripted(*values):
    source = iter(values)
    return lambda count: np.array(list(itertools.islice(source, count)), dtype=np.uint64)


def exp_bounds(epsilon):
    """Return fractions on both sides of e^-epsilon: of Taylor's series of e^epsilon."""
    unit = 1 << 700
    low = high = total_low = total_high = unit
    for k in range(1, 400):
        low = low * epsilon.numerator // (k * epsilon.denominator)
        high = -(-high * epsilon.numerator // (k * epsilon.denominator))
        total_low, total_high = total_low + low, total_high + high
    return Fraction(unit, total_high + high), Fraction(unit, total_low)


EPSILONS = st.fractions(Fraction(1, 100), 40, max_denominator=10**6)


@settings(deadline=None, max_examples=30)
@given(EPSILONS, st.sampled_from([128, 384, 768]))
def test_powers_are_enclosed_closely(epsilon, bits):
    low, high = power_bounds(epsilon, bits)
    least, most = exp_bounds(epsilon)
    assert low <= most * 2**bits
    assert least * 2**bits <= high
    assert high - low <= 2


def powers_of(q, count, bits):
    """Return q, q^2, ..., each cut off a little beyond these bits."""
    unit = 1 << (2 * bits)
    cut = itertools.accumulate(
        range(count - 1), lambda power, _: Fraction(math.floor(power * q * unit), unit), initial=q
    )
    return list(cut)


def checked_law(table, law, bits):
    """Check that the table encloses these probabilities, each between two fractions."""
    assert len(table.lower) == len(table.upper)
    for k, (low, high) in enumerate(zip(table.lower, table.upper, strict=True)):
        least, most = law(k)
        assert low <= most * 2**bits
        assert least * 2**bits <= high
        assert high - low < 2 ** (bits - 100)


@settings(deadline=None, max_examples=15)
@given(st.fractions(Fraction(1, 2), 40, max_denominator=1000), st.sampled_from([192, 384]))
def test_the_bounds_of_the_geometric_law_enclose_it(epsilon, bits):
    least, most = exp_bounds(epsilon)
    table = geometric_law(epsilon, bits)
    assert not table.whole
    powers = zip(*(powers_of(q, len(table.lower), bits) for q in (most, least)), strict=True)
    law = [(1 - high, 1 - low) for high, low in powers]
    checked_law(table, law.__getitem__, bits)
    assert 2**bits - table.lower[-1] < 2 ** (bits - 100)


@settings(deadline=None, max_examples=15)
@given(st.fractions(Fraction(1, 100), 3, max_denominator=1000), st.integers(1, 12))
def test_the_bounds_of_remainders_enclose_their_law(epsilon, base):
    least, most = exp_bounds(epsilon)
    table = remainder_law(epsilon, base, 384)
    assert base - 1 == len(table.lower)

    def law(k):
        low = (1 - most ** (k + 1)) / (1 - least**base)
        return low, (1 - least ** (k + 1)) / (1 - most**base)

    checked_law(table, law, 384)


@pytest.mark.parametrize("epsilon", ["7/2", "7/20", "1/100", "1/5000"])
def test_noise_has_its_law_by_chi_square(epsilon):
    """The last one is drawn by digits."""
    e, size = Fraction(epsilon), 20_000
    drawn = discrete_laplace(seeded(3), e, size)
    scale = float(1 / e)
    edges = np.unique(np.round(np.linspace(-3 * scale, 3 * scale, 14))) + 0.5
    law = stats.dlaplace(float(e))
    expected = np.diff(np.concatenate([[0], law.cdf(edges), [1]])) * size
    seen = np.histogram(drawn, np.concatenate([[-np.inf], edges, [np.inf]]))[0]
    assert stats.chisquare(seen, expected).pvalue > UNLIKELY


@pytest.mark.parametrize("epsilon", ["0", "-1", "40001/1000", "1000000"])
def test_an_epsilon_that_no_table_holds_is_refused(epsilon):
    with pytest.raises(ParameterError, match="is outside"):
        discrete_laplace(seeded(1), Fraction(epsilon), 3)


def test_the_table_of_the_largest_epsilon_still_holds_more_than_0():
    assert 4 <= len(geometric_law(Fraction(40), FIRST_BITS).lower)


def test_quotient_and_remainder_are_those_of_one_number():
    """The law of digits is the law of the number: P[X >= k] at and beside multiples of a digit."""
    e = Fraction(1, 5000)
    drawn = geometric(seeded(4), e, 40_000)
    for k in (1, 100, DIGIT - 1, DIGIT, DIGIT + 1, 2 * DIGIT, 3 * DIGIT + 7):
        chance = math.exp(-float(e) * k)
        assert stats.binomtest(int((drawn >= k).sum()), drawn.size, chance).pvalue > UNLIKELY


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 2**128 - 1), st.integers(-1, 1))
def test_a_number_at_a_jump_is_decided_by_its_last_bit(jump, step):
    """P[X <= 0] has 128 bits: the words that spell it, and one more or less at the end."""
    number = min(max(jump + step, 0), 2**128 - 1)
    table = InversionTable([jump << 256], [jump << 256], 384, whole=True)
    words = scripted(number >> 64, number % FULL, 0, 0)
    assert [int(number >= jump)] == inverted(words, lambda _: table, 384, 1).tolist()


def test_the_largest_words_are_in_the_tail_and_need_further_ones():
    tail = scripted(FULL - 1, 1 << 40, 0, 0)
    (drawn,) = geometric(tail, Fraction(1), 1).tolist()
    exact = 64 * math.log(2)
    assert exact - 1 <= drawn <= exact + 60


def test_undecided_words_widen_the_table():
    """A table of few bits leaves the first word open; one of more decides it."""
    low, _ = power_bounds(Fraction(1), 128)
    first = ((1 << 128) - low) >> 64
    asked = []

    def tables(bits):
        asked.append(bits)
        return geometric_law(Fraction(1), bits)

    drawn = inverted(scripted(first, 0, 0), tables, 64, 1)
    assert [64, 128] == asked[:2]
    assert drawn.tolist() in ([0], [1])
