from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import Rule, collapse, kept, profiles_of
from graphveil.methods.smooth_k.kernels import nesting
from graphveil.methods.smooth_k.nesting import _no_chains, _threshold, _units, nested_clusters

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
    chains = _no_chains(n, rows.n_features)
    members = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True))
    for unit in members:
        if chains.head[0] < 0:
            nesting.open_chain(units, chains, unit, 0)
        else:
            nesting.join(units, chains, unit, 0)
    out = data.draw(st.sampled_from([-1, *members]))
    rest = [unit for unit in range(n) if unit not in members]
    extra = data.draw(st.sampled_from([-1, *rest]))
    threshold = _threshold(rule, price)
    got = nesting.value(units, chains, threshold, chains.head[0], out, extra)
    chosen = [u for u in [*members, extra] if u not in {out, -1}]
    dense = original.to_scipy().toarray()[np.isin(first, chosen)]
    size, counts = dense.shape[0], dense.sum(axis=0)
    needed = int(rule.least(np.array([size]))[0])
    expected = sum((1 + price) * c - price * size for c in counts.tolist() if c >= needed)
    assert np.isclose(expected, got)
    assert 0 == chains.seen.sum()


class Twin:
    """Growth and improvement of unions of classes, by recounts of dictionaries."""

    def __init__(self, profiles, rule, price):
        self.rule, self.price = rule, price
        self.sizes = profiles.sizes.tolist()
        self.counts = [{} for _ in self.sizes]
        pairs = (profiles.clusters, profiles.features, profiles.counts)
        for unit, feature, count in zip(*(column.tolist() for column in pairs), strict=True):
            self.counts[unit][feature] = count
        self.published = [
            [f for f, count in own.items() if self.keeps(count, size)]
            for own, size in zip(self.counts, self.sizes, strict=True)
        ]
        self.home = [-1] * len(self.sizes)
        self.chains = []

    def keeps(self, count, size):
        return count >= int(self.rule.least(np.array([size]))[0])

    def rows(self, units):
        return sum(self.sizes[unit] for unit in units)

    def value(self, units):
        size, total = self.rows(units), 0.0
        counts = Counter()
        for unit in units:
            counts.update(self.counts[unit])
        for count in counts.values():
            if self.keeps(count, size):
                total += (1 + self.price) * count - self.price * size
        return total

    def likest(self, source, may_join):
        """Return the units that share most published features, of equals the first in the lists."""
        others = [
            other
            for unit in source
            for feature in sorted(self.counts[unit])
            for other in range(len(self.sizes))
            if feature in self.published[other] and may_join(other)
        ]
        scores = {
            other: 2 * shared - len(self.published[other])
            for other, shared in Counter(others).items()
        }
        return sorted(scores, key=lambda other: -scores[other])[: nesting.TRIED]

    def join(self, unit, cluster):
        self.home[unit] = cluster
        self.chains[cluster].insert(0, unit)

    def leave(self, unit):
        self.chains[self.home[unit]].remove(unit)

    def grow(self, order, k):
        for unit in order:
            if self.sizes[unit] >= k:
                self.chains.append([])
                self.join(unit, len(self.chains) - 1)
        for seed in order:
            waiting = [unit for unit in order if self.home[unit] < 0]
            if self.home[seed] >= 0 or self.rows(waiting) < k:
                continue
            self.chains.append([])
            self.join(seed, len(self.chains) - 1)
            while self.rows(self.chains[-1]) < k:
                chain = self.chains[-1]
                alike = self.likest(chain, lambda other: self.home[other] < 0)
                gains = [self.value([*chain, u]) - self.value([u]) for u in alike]
                waiting = [unit for unit in order if self.home[unit] < 0]
                best = alike[gains.index(max(gains))] if alike else waiting[-1]
                self.join(best, len(self.chains) - 1)
        for unit in order:
            if self.home[unit] < 0:
                self.chains = self.chains or [[]]
                losses = [self.value([*c, unit]) - self.value(c) for c in self.chains]
                self.join(unit, losses.index(max(losses)))

    def improve(self, order, k):
        changes = 0
        for unit in order:
            home = self.home[unit]
            here = self.chains[home]
            without = [u for u in here if u != unit]
            most, best = 1e-9, None
            for other in self.likest([unit], lambda o, home=home: self.home[o] != home):
                there = self.chains[self.home[other]]
                rest = [u for u in there if u != other]
                before = self.value(here) + self.value(there)
                for ours, theirs in (
                    (without, [*there, unit]),
                    ([*without, other], [*rest, unit]),
                ):
                    gain = self.value(ours) + self.value(theirs) - before
                    if min(self.rows(ours), self.rows(theirs)) >= k and gain > most:
                        most, best = gain, (other, other in ours)
            if best is not None:
                other, swaps = best
                goal = self.home[other]
                self.leave(unit)
                if swaps:
                    self.leave(other)
                    self.join(other, home)
                self.join(unit, goal)
                changes += 1
        return changes


@settings(deadline=None, max_examples=150)
@given(classed_rows(), RULES, st.integers(0, 8), st.integers(2, 8), st.data())
def test_unions_grow_and_improve_as_those_of_a_twin(drawn, rule, eighths, k, data):
    original, first = drawn
    rows = collapse(original)
    profiles = profiles_of(rows, first)
    price, n = eighths / 8, profiles.sizes.size
    units, threshold = _units(profiles, rule, rows.n_features), _threshold(rule, price)
    chains, twin = _no_chains(n, rows.n_features), Twin(profiles, rule, price)
    order, again = (data.draw(st.permutations(range(n))) for _ in range(2))
    n_clusters = nesting.grow(units, chains, threshold, np.array(order, dtype=np.int32), k)
    twin.grow(order, k)
    assert (twin.home, len(twin.chains)) == (chains.cluster.tolist(), n_clusters)
    changes = nesting.improve(units, chains, threshold, np.array(again, dtype=np.int32), k)
    assert twin.improve(again, k) == changes
    assert twin.home == chains.cluster.tolist()
    assert [twin.rows(chain) for chain in twin.chains] == chains.total[:n_clusters].tolist()


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
