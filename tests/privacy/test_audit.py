"""The audit of methods under edge privacy, and the flaws that it must find."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from mechanisms import (
    PAIRS,
    M,
    asymmetric,
    chances,
    filtered,
    lower_bound,
    picked_again,
    printed_threshold,
)

import graphveil as gv
from audit import CELLS, FULL, STATES, below_exp, cells_law, largest_factor
from graphveil.methods.noise.cells import channel, flipped
from graphveil.methods.noisy_cells.top_m_filter import thresholds_of

EPSILONS = [0.1, 1.0, 2.0, 7.3]


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
    through = channel(Fraction(1, 2), Fraction(0.1))
    law = {True: Fraction(through.one, FULL), False: Fraction(through.zero, FULL)}
    assert law[True] / law[False] > below_exp(Fraction(1, 10))
    exact = channel(Fraction(1, 2), Fraction(1, 10))
    assert Fraction(exact.one, exact.zero) <= below_exp(Fraction(1, 10))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_over_all_counts_and_releases_the_independent_filter_keeps_its_epsilon(epsilon):
    """Below and above x = ln(N/m - 1), where the threshold changes its form."""
    worst = largest_factor(filtered(gv.TopMFilter(epsilon=epsilon, epsilon_count=0.05)))
    assert worst <= below_exp(Fraction(repr(epsilon)))
    assert math.log(worst) > 0.75 * epsilon


@pytest.mark.parametrize(
    ("epsilon", "printed", "again"), [(0.1, 1.169, 0.746), (1.0, 2.164, 1.315)]
)
def test_a_measured_epsilon_finds_the_printed_threshold_and_picking_again(epsilon, printed, again):
    """And leaves the honest methods alone: what it finds of them stays below their epsilon."""
    exact, ones = Fraction(repr(epsilon)), np.arange(M)
    honest = [channel(Fraction(M, PAIRS), exact), thresholds_of(PAIRS, M, exact)]
    for through in honest:
        found = lower_bound(lambda w, t=through: flipped(w, ones, PAIRS, t)[0], ones, PAIRS, 50)
        assert 0.6 * epsilon - 0.1 < found <= epsilon
    one = thresholds_of(PAIRS, M, exact).one
    for threshold, expected in ((printed_threshold(epsilon), printed), (one, again)):
        found = lower_bound(lambda w, t=threshold: picked_again(w, t), ones, PAIRS, 50)
        assert epsilon < found <= expected + 0.02
        assert found == pytest.approx(expected, abs=0.15)


def test_picking_failed_edges_again_is_found_out_by_enumeration_too():
    """Line 19 fills among all cells that were not published, failed edges included."""

    def repicked(state):
        law = dict.fromkeys(STATES, Fraction(0))
        for kept, chance in cells_law(state, Fraction(0), Fraction(2, 5)).items():
            outs = [out for out in STATES if sum(out) == max(sum(kept), 3)]
            outs = [out for out in outs if all(o or not k for o, k in zip(out, kept, strict=True))]
            for out in outs:
                law[out] += chance / len(outs)
        return law

    assert largest_factor(repicked) is None


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
