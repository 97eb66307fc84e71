"""The audit of methods under edge privacy, and the flaws that it must find."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from audit import CELLS, FULL, STATES, below_exp, cells_law, count_law, largest_factor

import graphveil as gv

EPSILONS = [0.1, 1.0, 2.0, 7.3]


def chances(flips):
    return Fraction(int(flips.T0), FULL), Fraction(int(flips.T1), FULL)


def asymmetric(method, *, flips=None):
    """Return the mechanism: noisy count and cells are released."""
    draw = flips or (lambda count, _: chances(method.flips(CELLS, count)))

    def mechanism(state):
        counts = count_law(sum(state), method.parts["epsilon_count"])
        return {
            (count, out): chance * born
            for count, chance in counts.items()
            for out, born in cells_law(state, *draw(count, sum(state))).items()
        }

    return mechanism


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_over_all_counts_and_releases_asymmetric_response_keeps_its_epsilon(epsilon):
    worst = largest_factor(asymmetric(gv.AsymmetricResponse(epsilon=epsilon)))
    assert worst <= below_exp(Fraction(repr(epsilon)))
    assert epsilon == pytest.approx(math.log(worst), rel=1e-9)


def test_the_cells_alone_use_exactly_what_the_count_leaves():
    """At a noisy count of 2 of 6 cells the factor of one cell is that of its part of epsilon."""
    for epsilon in (0.1, 1.0, 2.0):
        method = gv.AsymmetricResponse(epsilon=epsilon)
        zero, one = chances(method.flips(CELLS, 2))
        worst = max(one / zero, (1 - zero) / (1 - one))
        assert worst <= below_exp(method.epsilon_cells)
        assert math.log(worst) == pytest.approx(float(method.epsilon_cells), rel=1e-12)


def test_chances_from_the_true_count_are_found_out():
    method = gv.AsymmetricResponse(epsilon=1.0)
    flawed = asymmetric(
        method, flips=lambda _, ones: chances(method.flips(CELLS, min(max(ones, 1), CELLS - 1)))
    )
    assert math.log(largest_factor(flawed)) > 1.05


def test_a_double_for_epsilon_is_found_out():
    """The double next to .1 is too large by 5.6e-18, and so was the factor of a cell."""
    from graphveil.noise import channel  # noqa: PLC0415  the flaw is planted here alone

    through = channel(Fraction(1, 2), Fraction(0.1))
    law = {True: Fraction(through.one, FULL), False: Fraction(through.zero, FULL)}
    assert law[True] / law[False] > below_exp(Fraction(1, 10))
    exact = channel(Fraction(1, 2), Fraction(1, 10))
    assert Fraction(exact.one, exact.zero) <= below_exp(Fraction(1, 10))


def filled(state, zero_of, size):
    """Return the law of passing edges, filled with uniform empty cells up to a size."""
    law = dict.fromkeys(STATES, Fraction(0))
    for kept, chance in cells_law(state, Fraction(0), zero_of).items():
        missing = max(size - sum(kept), 0)
        empty = [i for i in range(CELLS) if not state[i]]
        missing = min(missing, len(empty))
        outs = [
            out
            for out in STATES
            if sum(out) == sum(kept) + missing
            and all(out[i] == kept[i] for i in range(CELLS) if state[i])
        ]
        for out in outs:
            law[out] += chance / len(outs)
    return law


def test_a_fixed_size_filled_with_empty_cells_has_no_bound():
    """Top-m Filter as published: more edges than the noisy count says show that all are true."""
    assert largest_factor(lambda state: filled(state, Fraction(1, 2), 2)) is None


def test_a_size_equal_to_the_true_one_has_no_bound():
    assert largest_factor(lambda state: filled(state, Fraction(1, 2), sum(state))) is None
