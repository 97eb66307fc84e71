"""The share that is as far off, against slow twins: samples as releases, curves point by point."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

import graphveil as gv
from graphveil.claims.guarantees import KAnonymity
from graphveil.core.randomness import Randomness
from graphveil.evaluate import METRICS
from graphveil.evaluate.utility_loss import DRAWS, RATES, falling, kept_at_random, read_back
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.evaluate import evaluate_release

rng = np.random.default_rng(3)

GRAPH = gv.Graph.assemble(rng.integers(0, 60, 300), rng.zipf(1.7, 300) % 60, n=60)[0]
LIKES = gv.Bipartite.assemble(
    rng.integers(0, 40, 500), rng.zipf(1.5, 500) % 30, users=range(40), features=range(30)
)[0]
TABLE = gv.Table.from_columns(
    {"a": rng.integers(0, 4, 80), "b": np.where(rng.random(80) < 0.2, "*", rng.integers(0, 9, 80))}
)
CASES = {"graph": GRAPH, "likes": LIKES, "table": TABLE}
SIZES = {"graph": GRAPH.n_edges, "likes": LIKES.n_entries, "table": TABLE.n_rows}


def slow_part(data, kept):
    """Return the part of the data that is kept, built anew from one tie, entry, row at a time."""
    if isinstance(data, gv.Graph):
        edges = [
            tuple(edge) for edge, keep in zip(data.edges().tolist(), kept, strict=True) if keep
        ]
        source, target = zip(*edges, strict=True) if edges else ([], [])
        return gv.Graph.from_edges(list(source), list(target), n=data.n_nodes)
    if isinstance(data, gv.Bipartite):
        named = sorted(range(data.n_features), key=lambda f: data.feature_labels()[f])
        pairs = [
            (user, feature)
            for user in range(data.n_users)
            for feature in named
            if feature in data.indices[data.indptr[user] : data.indptr[user + 1]]
        ]
        chosen = [pair for pair, keep in zip(pairs, kept, strict=True) if keep]
        users, features = zip(*chosen, strict=True) if chosen else ([], [])
        return gv.Bipartite.assemble(
            list(users),
            list(features),
            users=data.labels().tolist(),
            features=data.feature_labels().tolist(),
        )[0]
    rows = [
        row if keep else [-1] * data.n_columns for row, keep in zip(data.codes, kept, strict=True)
    ]
    return gv.Table(np.array(rows, dtype=np.int32), data.columns, data.categories, data.ids)


def shuffled_release(data, original):
    """Return a release of the data in another order, under new ids."""
    order = np.random.default_rng(data.size).permutation(data.size)
    people = np.empty_like(order)
    people[order] = np.arange(order.size)
    return Release(
        data=data.permuted(order),
        guarantee=KAnonymity(k=1),
        provenance=Provenance(method="by-hand", source="a test", limits="all", parameters={}),
        private=Private(
            input_sha256=digest_of(original), linkage=Linkage(np.arange(data.size), people)
        ),
    )


def slow_share(distance, distances):
    """Return the share by the library's isotonic regression and its interpolation."""
    curve = optimize.isotonic_regression(distances.mean(axis=1), increasing=False).x
    finely = np.linspace(RATES[0], RATES[-1], 200_001)
    near = np.abs(np.interp(finely, RATES, curve) - distance)
    if distance > curve[0]:
        return 0.0
    fitting = finely[near <= near.min() + 1e-12]
    return RATES[-1] if fitting[-1] == RATES[-1] else (fitting[0] + fitting[-1]) / 2


@pytest.mark.parametrize("case", CASES)
def test_shares_are_those_of_samples_that_are_released_and_evaluated_like_any_other(case):
    original, seed = CASES[case], 11
    names = [n for n, m in METRICS.items() if m.as_sample and m.kind is type(original)]
    changed = slow_part(original, kept_at_random(SIZES[case], 0.77, 0, Randomness(seed=99)))

    def sample(rate, draw):
        return slow_part(original, kept_at_random(SIZES[case], rate, draw, Randomness(seed=seed)))

    def rows_of(data, **asked):
        release = shuffled_release(data, original)
        return evaluate_release(release, original=original, metrics=names, seed=seed, **asked)

    rows = rows_of(changed, as_sample=True)
    itself = rows_of(original)
    samples = [[rows_of(sample(rate, draw)) for draw in range(DRAWS)] for rate in RATES]
    compared = [row for row in rows if row.as_sample is not None]
    assert set(names) == {row.question for row in compared}
    for row in compared:
        key = row.question, row.part
        sign = 1 if row.direction == "lower is better" else -1
        best = itself[key].value
        distances = sign * (np.array([[r[key].value for r in each] for each in samples]) - best)
        slow = slow_share(sign * (row.value - best), distances)
        assert row.as_sample == pytest.approx(slow, abs=1e-4), key


@given(st.lists(st.floats(-100, 100, allow_nan=False), min_size=1, max_size=9))
def test_a_falling_sequence_is_the_isotonic_regression_of_the_library(values):
    slow = optimize.isotonic_regression(np.array(values), increasing=False).x
    assert falling(np.array(values)).tolist() == pytest.approx(slow.tolist(), abs=1e-9)


@given(
    distance=st.integers(0, 12),
    draws=st.lists(st.lists(st.integers(0, 10), min_size=3, max_size=3), min_size=9, max_size=9),
)
def test_a_distance_is_read_back_as_by_trying_all_shares(distance, draws):
    distances = np.array(draws, dtype=float)
    share = read_back(float(distance), distances)
    if np.ptp(distances) == 0:
        assert share is None
        return
    assert 0 <= share.low <= share.middle <= share.high <= 0.99
    assert share.middle == pytest.approx(slow_share(float(distance), distances), abs=1e-4)


@given(n=st.integers(0, 200), rate=st.sampled_from(RATES), draw=st.integers(0, 2))
def test_a_sample_has_its_share_and_each_draw_has_its_stream(n, rate, draw):
    kept, again, other = (
        kept_at_random(n, rate, i, Randomness(seed=2)) for i in (draw, draw, draw + 3)
    )
    assert round(rate * n) == kept.sum() == other.sum()
    assert kept.tolist() == again.tolist()
    assert comb(n, round(rate * n)) < 10**8 or kept.tolist() != other.tolist()


def test_everything_is_kept_equally_often():
    times = sum(kept_at_random(40, 0.3, i, Randomness(seed=4)).astype(int) for i in range(4_000))
    expected, spread = 4_000 * 0.3, (4_000 * 0.3 * 0.7) ** 0.5
    assert np.abs(times - expected).max() < 4.5 * spread
