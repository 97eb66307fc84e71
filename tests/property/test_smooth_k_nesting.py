from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Bipartite
from graphveil.kernels.smooth_k import nesting as kernel
from graphveil.methods.equal_rows.rows import collapse
from graphveil.methods.equal_rows.rule import Rule, kept, profiles_of
from graphveil.methods.smooth_k.nesting import _threshold, _units, nested_clusters

RULES = st.sampled_from([Rule(), Rule(ties="drop"), Rule(Fraction(2, 3)), Rule(Fraction(1))])


@st.composite
def classed_rows(draw):
    """Draw rows of up to five features, and their classes of two rows or more."""
    features = st.lists(st.integers(0, 4), max_size=5, unique=True)
    lists = draw(st.lists(features, min_size=4, max_size=16))
    n = len(lists)
    labels = np.arange(n) // 2 - (n % 2) * (np.arange(n) == n - 1)
    order = np.array(draw(st.permutations(range(n))))
    pairs = [(row, item) for row, items in enumerate(lists) for item in items]
    data = Bipartite.from_pairs(
        np.array([row for row, _ in pairs], dtype=np.int64),
        np.array([item for _, item in pairs], dtype=np.int64),
        users=np.arange(n),
        features=np.arange(5),
    )
    return data, labels[order].astype(np.int32)


def rng(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


@settings(deadline=None, max_examples=60)
@given(classed_rows(), RULES, st.integers(2, 8))
def test_every_cluster_is_a_union_of_classes_with_at_least_k_rows(drawn, rule, k):
    data, first = drawn
    k = min(k, data.n_users)
    labels = nested_clusters(collapse(data), first, k=k, rule=rule, rng=rng())
    assert set(range(labels.max() + 1)) == set(labels.tolist())
    assert np.bincount(labels).min() >= k
    for one in set(first.tolist()):
        assert 1 == len(set(labels[first == one].tolist()))


@settings(deadline=None, max_examples=60)
@given(classed_rows(), RULES, st.floats(0, 1), st.data())
def test_the_value_of_a_chain_is_the_recounted_objective(drawn, rule, price, data):
    original, first = drawn
    rows = collapse(original)
    profiles = profiles_of(rows, first)
    n = profiles.sizes.size
    units = _units(profiles, rule, rows.n_features)
    chains = kernel.Chains(
        cluster=np.full(n, -1, dtype=np.int32),
        after=np.full(n, -1, dtype=np.int32),
        head=np.full(n, -1, dtype=np.int32),
        total=np.zeros(n, dtype=np.int64),
        seen=np.zeros(rows.n_features, dtype=np.int64),
        shared=np.zeros(n, dtype=np.int64),
        touched=np.empty(rows.n_features, dtype=np.int32),
    )
    members = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True))
    for unit in members:
        if chains.head[0] < 0:
            kernel._open(units, chains, unit, 0)
        else:
            kernel._join(units, chains, unit, 0)
    out = data.draw(st.sampled_from([-1, *members]))
    rest = [unit for unit in range(n) if unit not in members]
    extra = data.draw(st.sampled_from([-1, *rest]))
    threshold = _threshold(rule, price)
    got = kernel.value(units, chains, threshold, chains.head[0], out, extra)
    chosen = [u for u in [*members, extra] if u not in {out, -1}]
    dense = original.to_scipy().toarray()[np.isin(first, chosen)]
    size, counts = dense.shape[0], dense.sum(axis=0)
    needed = int(rule.least(np.array([size]))[0])
    expected = sum((1 + price) * c - price * size for c in counts.tolist() if c >= needed)
    assert np.isclose(expected, got)
    assert 0 == chains.seen.sum()


@settings(deadline=None, max_examples=40)
@given(classed_rows(), RULES)
def test_classes_that_are_large_enough_stay_as_they_are(drawn, rule):
    data, first = drawn
    labels = nested_clusters(collapse(data), first, k=2, rule=rule, rng=rng())
    same = labels[:, None] == labels[None, :]
    finer = first[:, None] == first[None, :]
    assert np.array_equal(finer, same)


def test_alike_classes_are_put_together():
    lists = [["a", "b"]] * 2 + [["x", "y"]] * 2 + [["a", "b"]] * 2 + [["x", "y"]] * 2
    data = Bipartite.from_lists(lists)
    first = np.repeat(np.arange(4, dtype=np.int32), 2)
    labels = nested_clusters(collapse(data), first, k=4, rule=Rule(), rng=rng())
    assert labels[0] == labels[4] != labels[2] == labels[6]
    assert 1.0 == kept(collapse(data), labels, Rule()).jaccard
