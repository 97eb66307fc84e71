"""Who took part, by likelihood ratio: against plain loops, and where all or nothing is told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import graphveil as gv
from graphveil.attacks import likelihood_ratio
from graphveil.attacks.features.membership import evidence
from graphveil.attacks.features.released_classes import ReleasedClasses
from graphveil.attacks.likelihood_ratio import ShadowModel, ShadowScores, ratios, scored_of
from graphveil.attacks.roc_curve import Curve, Scored
from graphveil.data import Bipartite
from graphveil.engines import LocalEngine, using
from graphveil.verbs.attack import attack_release as attack
from networks_data import rng_of
from thorough import in_fuzz_alone

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

ROW = "a whole row"


def scored(seed, n=40, people=12):
    rng = rng_of(seed)
    positive = rng.random(n) < 0.5
    positive[:2] = True, False
    return Scored(rng.integers(0, 9, n) + 2.0 * positive, positive, rng.integers(0, people, n))


@pytest.mark.parametrize("seed", range(6))
def test_a_curve_is_that_of_all_pairs_and_of_every_threshold(seed):
    some = scored(seed)
    first, second = some.value[some.positive], some.value[~some.positive]
    pairs = [(a > b) + (a == b) / 2 for a in first for b in second]
    curve = Curve(some)
    assert np.mean(pairs) == pytest.approx(curve.area())
    for false in (0.0, 0.1, 0.3, 1.0):
        found = [
            np.mean(first > least)
            for least in [-np.inf, *some.value]
            if np.mean(second > least) <= false
        ]
        assert max(found) == pytest.approx(curve.recall_at(false))


def test_the_intervals_of_a_curve_cover_what_many_people_give():
    rng, covered = rng_of(1), np.zeros(2)
    truth = stats.norm.cdf(1 / np.sqrt(2 * (1 + 0.5))), stats.norm.sf(stats.norm.isf(0.1) - 1)
    for _ in range(200):
        person = np.repeat(np.arange(60), 4)
        positive = rng.random(240) < 0.5
        own = rng.normal(size=60)[person] * np.sqrt(0.5)
        value = positive + own + rng.normal(size=240)
        curve = Curve(Scored(value, positive, person))
        low, high = curve.area_sample()[1:]
        covered[0] += low <= truth[0] <= high
        curve = Curve(Scored(positive + rng.normal(size=240), positive, person))
        low, high = curve.recall_sample(0.1, rng)[1:]
        covered[1] += low <= truth[1] <= high
    assert (covered >= [180, 175]).all(), covered


@pytest.mark.parametrize("seed", range(4))
def test_a_ratio_is_that_of_normal_scores_target_by_target(seed):
    rng = rng_of(seed)
    inside = rng.random((9, 5)) < 0.5
    inside[:4] = [[True] * 5, [False] * 5, [True] * 5, [False] * 5]
    scores = rng.normal(size=(9, 5, 1)) + 3 * inside[:, :, None]
    others = np.arange(9) != 8
    ins = [scores[others & inside[:, t], t, 0] for t in range(5)]
    outs = [scores[others & ~inside[:, t], t, 0] for t in range(5)]
    off = [((some - some.mean()) ** 2).sum() for some in (*ins, *outs)]
    noise = sum(off) / (8 * 5 - 2 * 5)
    added = np.array([i.mean() - o.mean() for i, o in zip(ins, outs, strict=True)])
    error = np.array([noise * (1 / i.size + 1 / o.size) for i, o in zip(ins, outs, strict=True)])
    spread = max(added.var(ddof=1) - error.mean(), 0)
    shrunk = added.mean() + spread / (spread + error) * (added - added.mean())
    expected = []
    for t in range(5):
        every = np.concatenate([ins[t], outs[t]])
        share = ins[t].size / every.size
        means = every.mean() + np.array([1 - share, -share]) * shrunk[t]
        density = stats.norm(means, np.sqrt(noise)).logpdf(scores[8, t, 0])
        expected.append(density[0] - density[1])
    assert expected == pytest.approx(ShadowModel(scores, inside).ratio(8), rel=1e-4)


def test_whom_the_attacked_release_holds_is_not_looked_at():
    rng = rng_of(3)
    inside = rng.random((12, 30)) < 0.5
    scores = rng.normal(size=(12, 30, 2)) + inside[:, :, None]
    turned = inside.copy()
    turned[5] = ~inside[5]
    one, other = (ratios(ShadowScores(scores, some), ([0], [0, 1])) for some in (inside, turned))
    assert one[5] == pytest.approx(other[5])
    assert one[4] != pytest.approx(other[4])


def lists(n=60, items=12, mean=4, seed=2):
    rng = rng_of(seed)
    rows = [rng.choice(items, mean, replace=False).tolist() for _ in range(n)]
    return Bipartite.from_lists([[f"item {item}" for item in row] for row in rows])


def told_of(data, rerun=None, **options):
    release = gv.Rename().anonymize(data, seed=1)
    again = {} if rerun is None else {"rerun": rerun}
    told = attack(
        release,
        original=data,
        attacks=["membership"],
        seed=1,
        options={"membership": options},
        **again,
    )
    assert {} == told.not_measured
    return {row.part: row for row in told}


def test_of_a_release_that_changes_nothing_almost_everybody_is_found():
    told = told_of(lists(items=40))
    assert told[ROW].low > 0.99
    assert told[f"{ROW}, found at 1% false alarms"].value > 0.9


def test_of_a_release_of_other_people_nobody_is_found():
    """As many rows as there are people in it, drawn without looking at them."""
    draws = rng_of(7)

    def others(data, seed):
        del seed
        rows = lists(data.size, seed=int(draws.integers(1 << 30)))
        return gv.Rename().anonymize(rows.permuted(np.arange(data.size), ids=data.labels()), seed=1)

    told = told_of(lists(), others)
    for part in (ROW, f"{ROW}, by one score of the release", f"{ROW}, found at 1% false alarms"):
        assert told[part].low <= told[part].guess <= told[part].high


def test_other_names_and_orders_of_people_change_no_score():
    data = lists()
    rows, turned = data.to_scipy().astype(float), rng_of(1).permutation(data.size)
    shown = rows[:20]
    frequency = np.maximum(np.asarray(shown.mean(axis=0)).ravel(), 0.05)
    classes = ReleasedClasses(shown, np.ones(20, dtype=np.int64), frequency, 0.9, 0.1)
    moved = classes._replace(rows=shown[np.arange(20)[::-1]])
    made, again = evidence(rows, classes), evidence(rows[turned], moved)
    assert made[turned] == pytest.approx(again, abs=1e-3)


@pytest.mark.thorough
@in_fuzz_alone
def test_processes_change_no_figure(monkeypatch):
    monkeypatch.setattr(likelihood_ratio, "WORTH_PROCESSES", 0.0)
    figures = []
    for jobs in (1, 2):
        with using(LocalEngine(jobs=jobs)):
            figures.append(told_of(lists(), shadows=8))
    assert figures[0] == figures[1]


def test_what_cannot_be_handed_to_a_process_is_done_without(monkeypatch):
    monkeypatch.setattr(likelihood_ratio, "WORTH_PROCESSES", -1.0)

    def sized(number):
        return number + 1

    assert [1, 2, 3, 4] == likelihood_ratio.shadow_results(sized, range(4))
    assert not likelihood_ratio._portable(sized)


def test_likelihoods_find_more_people_than_the_release_alone():
    told = told_of(lists(120, items=30, mean=6), smooth)
    assert told[ROW].low > told[f"{ROW}, by one score of the release"].high


def smooth(data, seed):
    return gv.SmoothK(k=4).anonymize(data, seed=seed)


def test_members_are_shared_out_among_classes_as_large_as_they_are():
    """Of two people whom a class of one fits, one is its member: the one who fits better."""
    rows = Bipartite.from_lists([["a", "b"], ["a"], ["c"]]).to_scipy().astype(float)
    classes = ReleasedClasses(rows[[0]], np.array([1]), np.full(3, 0.5), 0.9, 0.1)
    odds = np.exp(evidence(rows, classes)[:, 4])
    assert 1 == pytest.approx((odds / (1 + odds)).sum(), abs=0.01)
    assert odds[0] > odds[1] > odds[2]


def test_guesses_about_targets_that_all_hold_are_left_out():
    inside = np.ones((8, 2), dtype=bool)
    inside[::2, 1] = False
    made = np.array([ShadowModel(np.zeros((8, 2, 1)), inside).ratio(number) for number in range(8)])
    assert {1} == set(scored_of(made, inside).person.tolist())
