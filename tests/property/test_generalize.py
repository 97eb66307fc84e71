"""Local recoding: kernels and classes against slow twins, exhaustive optima and conditions."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.errors import InfeasibleError
from graphveil.methods.generalize import recode as method
from graphveil.methods.generalize.conditions import Condition
from graphveil.methods.generalize.hierarchy import Hierarchy
from graphveil.methods.generalize.kernels.clusters import clusters_of, gather, room_for
from graphveil.methods.generalize.kernels.lattice import agreeing_of, publish
from graphveil.methods.generalize.kernels.search import dissolve, improve, join
from graphveil.methods.generalize.rest import violation
from graphveil.methods.generalize.vectors import chained

FLAWS = [
    {
        "name": "a row leaves a class of k rows",
        "means": "Somebody is in a class of fewer than k equal rows.",
        "file": "src/graphveil/methods/generalize/kernels/search.py",
        "old": "spare = state.size[a] > k and",
        "new": "spare = state.size[a] >= k and",
    },
]


def rng_of(seed):
    return np.random.Generator(np.random.PCG64(seed))


@st.composite
def problems(draw, most_rows=40, most_columns=4, least_rows=4):
    """Return leaves, hierarchies, k, the codes of an attached column, and a generator."""
    rng = rng_of(draw(st.integers(0, 100_000)))
    n, d = draw(st.integers(least_rows, most_rows)), draw(st.integers(1, most_columns))
    hierarchies = []
    for _ in range(d):
        m = int(rng.integers(1, 9))
        halves = [[f"{level}:{leaf >> level}" for leaf in range(m)] for level in range(3)]
        hierarchies.append(Hierarchy.of(halves[: int(rng.integers(1, 4))]))
    leaves = np.stack([rng.integers(0, h.nodes.shape[1], size=n) for h in hierarchies], axis=1)
    k = draw(st.integers(2, max(2, min(n // 2, 5))))
    return leaves, hierarchies, k, rng.integers(0, 3, size=n), rng


def loss_of(members, leaves, hierarchies):
    """Return what each of some rows loses, by the lowest levels at which they agree."""
    lost = 0.0
    for j, h in enumerate(hierarchies):
        mine = leaves[members, j]
        level = next(v for v in range(len(h.nodes)) if len(set(h.nodes[v, mine].tolist())) == 1)
        lost += h.losses[level, mine[0]]
    return lost / len(hierarchies)


def total_of(labels, leaves, hierarchies):
    members = defaultdict(list)
    for row, label in enumerate(labels.tolist()):
        members[label].append(row)
    return sum(len(rows) * loss_of(rows, leaves, hierarchies) for rows in members.values())


def partitions(rows, k):
    """Yield all ways to divide rows into classes of at least k."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for chosen in product([False, True], repeat=len(rest)):
        mine = [first, *(row for row, taken in zip(rest, chosen, strict=True) if taken)]
        if len(mine) >= k:
            others = [row for row, taken in zip(rest, chosen, strict=True) if not taken]
            for division in partitions(others, k):
                yield [mine, *division]


def bound_of(leaves, hierarchies, k):
    """Return the mean over rows of the least loss at levels where k rows of the table agree."""
    best = np.full(len(leaves), np.inf)
    for vector in product(*(range(len(h.nodes)) for h in hierarchies)):
        shown = [
            h.nodes[v, leaves[:, j]]
            for j, (h, v) in enumerate(zip(hierarchies, vector, strict=True))
        ]
        keys = list(zip(*(one.tolist() for one in shown), strict=True))
        times = Counter(keys)
        lost = sum(
            h.losses[v, leaves[:, j]]
            for j, (h, v) in enumerate(zip(hierarchies, vector, strict=True))
        )
        enough = np.array([times[key] >= k for key in keys])
        best = np.where(enough, np.minimum(best, lost / len(hierarchies)), best)
    return float(best.mean())


def running(state):
    return float((state.size * state.loss).sum())


@settings(max_examples=40, deadline=None)
@given(problems())
def test_classes_have_k_rows_lose_no_more_than_before_the_search_and_no_less_than_the_bound(
    problem,
):
    leaves, hierarchies, k, _, rng = problem
    done = method.recode(leaves, hierarchies, k=k, rng=rng)
    assert min(Counter(done.labels.tolist()).values()) >= k
    assert done.end <= done.start + 1e-9
    assert done.end * len(leaves) == pytest.approx(total_of(done.labels, leaves, hierarchies))
    assert done.losses.mean() == pytest.approx(done.end)
    assert done.end >= bound_of(leaves, hierarchies, k) - 1e-9


@settings(max_examples=15, deadline=None)
@given(problems(most_rows=8, most_columns=3))
def test_few_rows_never_lose_less_than_the_best_division_and_seldom_much_more(problem):
    leaves, hierarchies, k, _, rng = problem
    done = method.recode(leaves, hierarchies, k=k, rng=rng)
    best = min(
        sum(len(rows) * loss_of(rows, leaves, hierarchies) for rows in division)
        for division in partitions(list(range(len(leaves))), k)
    )
    assert best - 1e-9 <= done.end * len(leaves) <= best + 0.35 * len(leaves)


def all_of(codes):
    """Return how many values a column has, of which all are known."""
    return int(codes.max()) + 1


@settings(max_examples=25, deadline=None)
@given(
    problems(), st.sampled_from([(2, 1.0, "1"), (1, 1.5, "1"), (1, 1.0, "0.3"), (2, 1.2, "0.4")])
)
def test_every_class_meets_the_conditions_or_not_even_all_rows_do(problem, wanted):
    leaves, hierarchies, k, codes, rng = problem
    distinct, entropy, close = wanted
    condition = Condition(codes, all_of(codes), distinct, entropy, Fraction(close))
    shares = np.bincount(codes)[np.unique(codes)] / codes.size
    if len(shares) < distinct or -(shares * np.log(shares)).sum() < np.log(entropy) - 1e-12:
        with pytest.raises(InfeasibleError, match="even as one class"):
            method.recode(leaves, hierarchies, k=k, conditions=[condition], rng=rng)
        return
    done = method.recode(leaves, hierarchies, k=k, conditions=[condition], rng=rng)
    every = Counter(codes.tolist())
    for label in set(done.labels.tolist()):
        mine = Counter(codes[done.labels == label].tolist())
        size = sum(mine.values())
        apart = sum(abs(Fraction(mine[v], size) - Fraction(every[v], len(codes))) for v in every)
        inside = np.array(list(mine.values())) / size
        assert size >= k
        assert len(mine) >= distinct
        assert apart / 2 <= Fraction(close)
        assert -(inside * np.log(inside)).sum() >= np.log(entropy) - 1e-9


@settings(max_examples=15, deadline=None)
@given(problems(), st.integers(0, 1000))
def test_the_order_of_the_rows_changes_no_published_row(problem, seed):
    leaves, hierarchies, k, codes, _ = problem
    order = rng_of(seed).permutation(len(leaves))
    shown = []
    for chosen in (np.arange(len(leaves)), order):
        condition = Condition(codes[chosen], all_of(codes), close=Fraction("0.5"))
        done = method.recode(
            leaves[chosen], hierarchies, k=k, conditions=[condition], rng=rng_of(seed)
        )
        mine = leaves[chosen]
        shown.append(
            Counter(
                tuple(
                    (int(v), int(h.nodes[v, x]))
                    for v, h, x in zip(levels, hierarchies, row, strict=True)
                )
                for levels, row in zip(done.levels, mine, strict=True)
            )
        )
    assert shown[0] == shown[1]


def started(problem, *, divided=True):
    """Return rows, conditions, clusters of a division, and room for a search."""
    leaves, hierarchies, k, codes, rng = problem
    rows = method._rows_of(leaves, hierarchies, None, rng)
    conditions = method._conditions_of(
        [Condition(codes, all_of(codes), close=Fraction("0.6"))], np.arange(len(codes))
    )
    n, d = leaves.shape
    state = clusters_of(n, d, conditions.totals.size, k)
    labels = np.minimum(np.arange(n) // k, n // k - 1)
    if divided:
        gather(rows, conditions, state, labels, n // k)
    return rows, conditions, state, room_for(n, d, k, most_near=len(rows.near) * 13)


@settings(max_examples=25, deadline=None)
@given(problems())
def test_what_a_search_says_it_lost_is_what_its_clusters_lose(problem):
    leaves, hierarchies, k, codes, rng = problem
    rows, conditions, state, room = started(problem)
    lost = running(state)
    assert lost == pytest.approx(total_of(state.label, leaves, hierarchies))
    for _ in range(2):
        moves = improve(rows, conditions, state, rng.permutation(len(leaves)), k, 4, room)
        assert running(state) == pytest.approx(total_of(state.label, leaves, hierarchies))
        assert running(state) < lost if moves else running(state) == lost
        lost = running(state)
        before = state.label.copy()
        gone = dissolve(rows, conditions, state, np.arange(len(state.size)), 6, room)
        assert running(state) == pytest.approx(total_of(state.label, leaves, hierarchies))
        assert running(state) < lost if gone else np.array_equal(before, state.label)
        lost = running(state)
    assert (np.bincount(state.label, minlength=len(state.size)) == state.size).all()
    sizes = state.size[state.size > 0]
    assert sizes.min() >= k
    assert len(state.size) - np.count_nonzero(state.size) == state.used[0]
    for c in np.flatnonzero(state.size).tolist():
        expected = np.bincount(codes[state.label == c], minlength=int(codes.max()) + 1)
        assert expected.tolist() == state.counts[c].tolist()


@settings(max_examples=25, deadline=None)
@given(problems())
def test_rows_agree_at_the_first_levels_at_which_k_of_those_left_do(problem):
    leaves, hierarchies, k, codes, rng = problem
    rows, _, state, _ = started(problem, divided=False)
    conditions = method._conditions_of(
        [Condition(codes, all_of(codes), distinct=2)], np.arange(len(codes))
    )
    words = [rng.integers(0, 2**63, size=h.nodes.shape, dtype=np.uint64) for h in hierarchies]
    for j, h in enumerate(hierarchies):
        for level in range(len(h.nodes)):
            words[j][level] = words[j][level][h.nodes[level]]
    vectors = list(product(*(range(len(h.nodes)) for h in hierarchies)))
    limit = float(rng.uniform(0.3, 1.1))
    labels = np.full(len(leaves), -1)
    room = agreeing_of(np.concatenate([w.T.ravel() for w in words]), len(leaves))
    publish(rows, np.array(vectors, dtype=np.int32), limit, k, room, conditions, state, labels)
    slow = np.full(len(leaves), -1)
    for number, vector in enumerate(vectors):
        groups = defaultdict(list)
        for row in np.flatnonzero(slow < 0).tolist():
            shown = [
                h.nodes[v, leaves[row, j]]
                for j, (h, v) in enumerate(zip(hierarchies, vector, strict=True))
            ]
            groups[tuple(map(int, shown))].append(row)
        for members in groups.values():
            lost = np.mean(
                [
                    h.losses[v, leaves[members[0], j]]
                    for j, (h, v) in enumerate(zip(hierarchies, vector, strict=True))
                ]
            )
            if len(members) >= k and lost <= limit and len(set(codes[members].tolist())) >= 2:
                slow[members] = number * 1000 + members[0]
    together = {frozenset(np.flatnonzero(slow == one).tolist()) for one in set(slow[slow >= 0])}
    assert together == {
        frozenset(np.flatnonzero(labels == one).tolist()) for one in set(labels[labels >= 0])
    }
    assert not state.counts.any()


@settings(max_examples=25, deadline=None)
@given(problems(least_rows=6))
def test_a_row_joins_the_cluster_in_which_all_lose_least(problem):
    leaves, hierarchies, k, codes, _ = problem
    rows, _, state, _ = started(problem, divided=False)
    conditions = method._conditions_of([Condition(codes, all_of(codes))], np.arange(len(codes)))
    labels = np.arange(len(leaves)) % max(len(leaves) // k, 1)
    last = len(leaves) - 1
    labels[last] = -1
    gather(rows, conditions, state, labels, int(labels.max()) + 1)
    left = np.array([last])
    assert 0 == join(rows, conditions, state, left, int(labels.max()) + 1)
    totals = []
    for c in range(int(labels.max()) + 1):
        tried = labels.copy()
        tried[last] = c
        totals.append(total_of(tried, leaves, hierarchies))
    assert total_of(state.label, leaves, hierarchies) == pytest.approx(min(totals))


def test_clusters_are_merged_when_no_single_one_takes_the_rest():
    codes = np.array([0] * 4 + [1] * 8)
    leaves = np.arange(12)[:, None]
    hierarchies = [Hierarchy.of([[str(i) for i in range(12)], ["a"] * 4 + ["b"] * 8])]
    condition = Condition(codes, all_of(codes), close=Fraction("0.05"))
    done = method.recode(leaves, hierarchies, k=3, conditions=[condition], rng=rng_of(1))
    for label in set(done.labels.tolist()):
        mine = codes[done.labels == label]
        assert abs(Fraction(int((mine == 0).sum()), len(mine)) - Fraction(1, 3)) <= Fraction("0.05")


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 60))
def test_drawn_vectors_form_chains_from_no_level_to_all_of_them(seed, count):
    rng = rng_of(seed)
    means = [np.cumsum([0, *rng.random(rng.integers(1, 4))]).tolist() for _ in range(20)]
    shown = [(6 - np.array(column)).tolist() for column in means]
    vectors = chained(means, shown, count, rng)
    assert len(set(vectors)) == len(vectors) <= count + sum(map(len, means))
    assert (0,) * 20 in vectors
    assert tuple(len(column) - 1 for column in means) in vectors
    for vector in set(vectors) - {(0,) * 20}:
        below = [(*vector[:j], v - 1, *vector[j + 1 :]) for j, v in enumerate(vector)]
        assert set(below) & set(vectors)


def test_rows_of_many_columns_are_put_in_classes_by_few_vectors():
    rng = rng_of(3)
    hierarchies = [Hierarchy.of([["a", "b", "c"], ["ab", "ab", "c"]]) for _ in range(14)]
    leaves = rng.integers(0, 3, size=(60, 14))
    done = method.recode(leaves, hierarchies, k=3, rng=rng)
    assert min(Counter(done.labels.tolist()).values()) >= 3
    assert done.end * 60 == pytest.approx(total_of(done.labels, leaves, hierarchies))


def test_violations_of_many_clusters_are_those_of_each():
    rng = rng_of(1)
    codes = rng.integers(0, 4, size=60)
    asked = [
        Condition(codes, all_of(codes), 3, 1.0, Fraction(1)),
        Condition(codes, all_of(codes), 1, 2.5, Fraction("0.2")),
    ]
    conditions = method._conditions_of(asked, np.arange(60))
    labels = rng.integers(0, 9, size=60)
    counts = np.array([np.bincount(codes[labels == c], minlength=4) for c in range(9)] * 2)
    both = np.concatenate([counts[:9], counts[:9]], axis=1)
    every = Counter(codes.tolist())
    for mine, missed in zip(counts[:9].tolist(), violation(conditions, both), strict=True):
        size = sum(mine)
        apart = sum(abs(Fraction(m, size) - Fraction(every[v], 60)) for v, m in enumerate(mine))
        shares = [m / size for m in mine if m]
        lacking = np.log(2.5) + sum(s * np.log(s) for s in shares)
        wanted = (
            max(0, 3 - len(shares)) + max(0, lacking) + float(max(0, apart / 2 - Fraction(1, 5)))
        )
        assert missed == pytest.approx(wanted)
