"""Intervals around what attacks count cover the truth about as often as they say."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from graphveil.attacks import intervals
from graphveil.attacks.cell_membership import AttackedCells
from graphveil.attacks.cell_membership import _figures as of_cells
from graphveil.attacks.features import rerunning
from graphveil.attacks.features.classes import People, ReleasedClasses
from graphveil.attacks.features.linkage import _figures as of_targets
from graphveil.attacks.features.linkage import _marginals, known_items
from graphveil.attacks.features.rerunning import Changed, _trial
from graphveil.attacks.features.scoring import guesses
from graphveil.attacks.features.taking_part import evidence
from graphveil.attacks.intervals import (
    bootstrap_auc,
    bootstrap_difference,
    bootstrap_mean,
    bootstrap_ratio,
    median_of_draws,
)
from graphveil.attacks.networks.candidate_set import figures_of
from graphveil.attacks.networks.naming import Drawn, Naming, NodeKinds, summary
from graphveil.attacks.networks.signatures import CandidateSets, Signatures, candidates
from graphveil.data import Bipartite
from graphveil.evaluate.intervals import wilson
from networks_data import random_graph

LEAST_COVERED = 920
"""Of 1,000 runs: a correct interval of 95 % falls below with a chance of 2e-5."""


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch):
    """Draw 400 times: the ends scatter more, which is enough to see how often they cover."""
    monkeypatch.setattr(intervals, "RESAMPLES", 400)


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


@pytest.mark.parametrize("size", [10, 150])
def test_the_interval_of_ratios_covers_the_truth(size):
    draws = rng(2)
    covered = 0
    for _ in range(1000):
        below = draws.integers(1, 9, size).astype(float)
        sample = bootstrap_ratio(draws.binomial(below.astype(int), 0.3), below, draws)
        covered += sample.low <= 0.3 <= sample.high
    assert covered >= LEAST_COVERED


@pytest.mark.parametrize("size", [5, 30, 150])
def test_the_interval_of_medians_covers_the_truth(size):
    draws = rng(3)
    samples = [median_of_draws(draws.integers(0, 101, size)) for _ in range(1000)]
    assert sum(s.low <= 50 <= s.high for s in samples) >= LEAST_COVERED


@pytest.mark.parametrize(("draws", "chance"), [(10, 0.1), (200, 0.004)])
def test_the_interval_of_an_attack_that_hardly_ever_succeeds_covers_the_truth(draws, chance):
    """Draws succeed wholly or not at all; of many runs none succeeds in any draw."""
    numbers, covered, never = rng(12), 0, 0
    for _ in range(1000):
        hits = 50.0 * (numbers.random(draws) < chance)
        sample = bootstrap_ratio(hits, np.full(draws, 50.0), numbers)
        covered += sample.low <= chance <= sample.high
        never += not hits.any()
    assert never > 200
    assert covered >= LEAST_COVERED


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


def naming_of(n, rate, draws):
    everybody = np.ones(n, dtype=bool)
    right = draws.random(n) < rate
    return Naming(everybody, everybody, right, right)


@pytest.mark.parametrize("spread", ["all draws alike", "draws differ"])
def test_the_interval_of_ten_draws_of_an_attack_covers_the_truth(spread):
    draws, covered = rng(5), 0
    kinds = NodeKinds(np.arange(60), np.ones(60, dtype=bool), np.ones(60, dtype=bool))
    for _ in range(1000):
        rates = np.full(10, 0.8) if spread == "all draws alike" else draws.beta(8, 2, 10)
        drawn = Drawn("a copy", [naming_of(60, rate, draws) for rate in rates])
        figures = {figure.part: figure for figure in summary([drawn], kinds, draws).figures}
        sample = figures["a copy: right"].sample
        covered += sample.low <= 0.8 <= sample.high
    assert covered >= LEAST_COVERED


def test_the_interval_of_people_drawn_covers_what_all_people_give():
    original, published = random_graph(150, 450), random_graph(150, 430, seed=2)
    own, other = Signatures.of(original), Signatures.of(published)
    every = candidates(own, other, np.arange(150), np.arange(150))
    everybody = CandidateSets(*(counts[1] for counts in every))
    exact = {figure.part: figure.value for figure in figures_of("a", everybody, 150, rng())}
    draws, covered = rng(6), Counter()
    for _ in range(1000):
        some = draws.permutation(150)[:60]
        near = CandidateSets(*(counts[some] for counts in everybody))
        for figure in figures_of("a", near, 150, draws):
            if figure.sample.low is not None:
                sample = figure.sample
                covered[figure.part] += sample.low - 1e-12 <= exact[figure.part] <= sample.high
    assert 3 == len(covered)
    assert min(covered.values()) >= LEAST_COVERED, covered


def test_the_intervals_of_hits_and_false_alarms_cover_the_chances():
    draws, covered = rng(7), Counter()
    for _ in range(1000):
        hits, alarms = draws.binomial(300, 0.7), draws.binomial(900, 0.1)
        told = of_cells(AttackedCells(1200, 300, int(hits + alarms), int(hits)), Fraction(1))
        for figure, truth in zip(told, (0.7, 0.1), strict=False):
            covered[figure.part] += figure.sample.low <= truth <= figure.sample.high
    assert min(covered.values()) >= LEAST_COVERED, covered


def test_the_interval_of_running_again_covers_a_half_where_runs_tell_nothing(monkeypatch):
    """Every run draws rows that have nothing to do with the data."""
    monkeypatch.setattr(rerunning, "with_another_item", lambda data, _: Changed(0, data))
    data = Bipartite.from_lists([["tea"], ["rye"], ["tea", "rye", "ale"], ["ale"]])
    kinds = [b"a", b"b", b"c", b"d"]
    covered, draws = 0, rng(8)

    def run(some, seed):
        del some
        return Counter([kinds[seed % 4], kinds[seed // 4 % 4], kinds[seed // 16 % 4]])

    for _ in range(1000):
        right = sum(_trial(data, run, 2, draws).right for _ in range(20))
        sample = wilson(right, 20)
        covered += sample.low <= 0.5 <= sample.high
    assert covered >= LEAST_COVERED


def people_beside_rows_of_others(n=300):
    """Return people, and a release of rows that were drawn without looking at them."""
    draws = rng(9)
    matrices = []
    for rows in (n, 40):
        picked = [draws.choice(12, 5, replace=False) for _ in range(rows)]
        ends = np.arange(0, 5 * rows + 1, 5)
        ones = np.ones(5 * rows)
        matrices.append(sparse.csr_array((ones, np.concatenate(picked), ends), shape=(rows, 12)))
        matrices[-1].sort_indices()
    before, rows = matrices
    sizes = draws.integers(4, 9, 40)
    frequency = np.maximum(sizes @ rows, 1) / sizes.sum()
    classes = ReleasedClasses(rows, sizes, frequency, truth=0.7, suppressed=0.4)
    return People(before, draws.integers(0, 40, n), classes)


def test_the_interval_of_an_area_covers_a_half_where_taking_part_leaves_no_trace():
    draws, covered = rng(10), 0
    people = people_beside_rows_of_others()
    scores = evidence(people.before, people.classes)[:, 0]
    for _ in range(1000):
        drawn = draws.permutation(300)
        sample = bootstrap_auc(scores[drawn[:30]], scores[drawn[30:60]], draws)
        covered += sample.low <= 0.5 <= sample.high
    assert covered >= LEAST_COVERED


def test_the_intervals_of_targets_drawn_cover_what_all_people_give():
    everybody, draws = people_beside_rows_of_others(), rng(11)
    covered, measured = Counter(), Counter()
    known = known_items(everybody, np.arange(300), (3, 0, 300), draws)
    made, marginals = guesses(known, everybody), _marginals(known, everybody)
    exact = {f.part: f.value for f in of_targets("a", made, marginals, everybody, draws)}
    for _ in range(1000):
        some = draws.permutation(300)[:60]
        drawn = (chosen(counts, some) for counts in (made, *marginals))
        made_of_some, *by_marginals = drawn
        for figure in of_targets("a", made_of_some, tuple(by_marginals), everybody, draws):
            low, high = figure.sample.low - 1e-12, figure.sample.high + 1e-12
            covered[figure.part] += low <= exact[figure.part] <= high
            measured[figure.part] += 1
    assert {"a: own row", "a: own class", "a: other items, recall"} <= set(covered)
    shares = {part: number / measured[part] for part, number in covered.items()}
    assert min(shares.values()) >= LEAST_COVERED / 1000, shares


def chosen(counts, some):
    """Return what was concluded of some of the targets."""
    parts = [chosen(c, some) if isinstance(c, tuple) else c[some] for c in counts]
    return type(counts)(*parts)
