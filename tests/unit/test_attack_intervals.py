"""Intervals around what attacks count cover the truth about as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from graphveil.attacks.intervals import (
    bootstrap_auc,
    bootstrap_difference,
    bootstrap_mean,
    bootstrap_ratio,
    median_of_draws,
)
from graphveil.evaluate.intervals import wilson

LEAST_COVERED = 920
"""Of 1,000 runs: a correct interval of 95 % falls below with a chance of 2e-5."""


def rng(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_the_interval_of_shares_covers_the_truth(share):
    hits = rng().binomial(200, share, size=1000)
    samples = [wilson(int(number), 200) for number in hits]
    assert sum(s.low <= share <= s.high for s in samples) >= LEAST_COVERED


def test_the_interval_of_shares_stays_between_0_and_1():
    assert 0.0 == wilson(0, 3).low < wilson(0, 3).high < 1
    assert 1.0 == wilson(3, 3).high > wilson(3, 3).low > 0


def test_the_interval_of_shares_is_where_the_normal_test_accepts():
    sample = wilson(30, 100)
    for end in (sample.low, sample.high):
        assert abs(abs(0.3 - end) / np.sqrt(end * (1 - end) / 100) - 1.959964) < 1e-5


def test_the_interval_of_means_covers_the_truth():
    draws = rng()
    samples = [bootstrap_mean(draws.exponential(2.0, 150), draws) for _ in range(1000)]
    assert sum(s.low <= 2.0 <= s.high for s in samples) >= LEAST_COVERED


def test_the_interval_of_ratios_covers_the_truth():
    draws = rng(2)
    covered = 0
    for _ in range(1000):
        below = draws.integers(1, 9, 150).astype(float)
        sample = bootstrap_ratio(draws.binomial(below.astype(int), 0.3), below, draws)
        covered += sample.low <= 0.3 <= sample.high
    assert covered >= LEAST_COVERED


@pytest.mark.parametrize("size", [5, 30, 150])
def test_the_interval_of_medians_covers_the_truth(size):
    draws = rng(3)
    samples = [median_of_draws(draws.integers(0, 101, size)) for _ in range(1000)]
    assert sum(s.low <= 50 <= s.high for s in samples) >= LEAST_COVERED


def test_a_ratio_of_nothing_has_no_interval():
    assert bootstrap_ratio(np.zeros(4), np.zeros(4), rng()).low is None


def test_the_interval_of_differences_covers_the_truth():
    draws, ones = rng(3), np.ones(120)
    covered = 0
    for _ in range(1000):
        first, second = (draws.binomial(1, share, 120).astype(float) for share in (0.6, 0.3))
        sample = bootstrap_difference((first, ones), (second, ones), draws)
        covered += sample.low <= 0.3 <= sample.high
    assert covered >= LEAST_COVERED


def test_the_interval_of_areas_under_the_curve_covers_the_truth():
    draws, covered = rng(4), 0
    for _ in range(1000):
        positives, negatives = draws.normal(1.0, 1.0, 40), draws.normal(0.0, 1.0, 40)
        sample = bootstrap_auc(positives, negatives, draws)
        covered += sample.low <= 0.7602499 <= sample.high
    assert covered >= LEAST_COVERED


def test_scores_that_are_all_the_same_give_an_area_of_a_half():
    assert (0.5, 0.5) == bootstrap_auc(np.ones(5), np.ones(7), rng())[1:]
