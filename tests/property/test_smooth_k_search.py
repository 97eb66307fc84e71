"""Local search on random rows: exact differences, running sums and rollback against recounts."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import Rule, collapse, kept
from graphveil.methods.smooth_k.candidates import rank_clusters
from graphveil.methods.smooth_k.kernels import search, search_state
from graphveil.methods.smooth_k.kernels import search as kernel
from graphveil.methods.smooth_k.kernels.candidates import index_of
from graphveil.methods.smooth_k.local_search import clusters_of, refined_clusters

RULES = st.sampled_from(
    [Rule(), Rule(Fraction(2, 3)), Rule(Fraction(1)), Rule(Fraction(1, 2), "drop")]
)
LAMBDAS = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(7, 8), Fraction(1)])
SEEDS = st.integers(0, 2**32)


def generator(seed):
    return Randomness(seed=seed).stream("test")


def rows_of(sets, n_features):
    """Return the distinct rows of these sets of features."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in sets])]).astype(np.int64)
    indices = np.array([f for row in sets for f in sorted(row)], dtype=np.int32)
    return collapse(Bipartite(indptr, indices, n_features))


@st.composite
def tables(draw, smallest=4, largest=14):
    """Draw sets of features, many of them equal, and the number of features."""
    n_features = draw(st.integers(1, 7))
    patterns = draw(st.lists(st.sets(st.integers(0, n_features - 1)), min_size=1, max_size=10))
    sets = draw(st.lists(st.sampled_from(patterns), min_size=smallest, max_size=largest))
    return [frozenset(row) for row in sets], n_features


@st.composite
def clustered(draw, least=1, smallest=4, largest=14):
    """Draw a table and a cluster for every row, each of at least `least` rows."""
    sets, n_features = draw(tables(smallest=smallest, largest=largest))
    n_clusters = draw(st.integers(1, max(1, min(4, len(sets) // least))))
    first = [c for c in range(n_clusters) for _ in range(least)]
    rest = draw(
        st.lists(
            st.integers(0, n_clusters - 1),
            min_size=len(sets) - len(first),
            max_size=len(sets) - len(first),
        )
    )
    labels = draw(st.permutations(first + rest))
    return sets, n_features, np.array(labels, dtype=np.int32)


def keeps(count, size, rule):
    if rule.ties == "drop":
        return 2 * count > size
    return count >= 1 and count >= rule.theta * size


def recounted(sets, labels, rule):
    """Return what is shared and what is created, cluster by cluster and feature by feature."""
    shared = created = 0
    for cluster in set(labels) - {search_state.NONE}:
        members = [row for row, label in zip(sets, labels, strict=True) if label == cluster]
        for count in Counter(f for row in members for f in row).values():
            if keeps(count, len(members), rule):
                shared += count
                created += len(members) - count
    return shared, created


def objective(sets, labels, rule, lam):
    """I - lam U, but for the entries of the original."""
    shared, created = recounted(sets, list(labels), rule)
    return shared - lam * created


def jaccard(sets, labels, rule):
    shared, created = recounted(sets, list(labels), rule)
    either = sum(map(len, sets)) + created
    return Fraction(shared, either) if either else Fraction(1)


def relabeled(labels, changes):
    changed = labels.copy()
    for row, label in changes.items():
        changed[row] = label
    return changed


def contents(state):
    """Return the table as a dictionary."""
    return {key: count for key, count in state.table.tolist() if key != search_state.FREE}


def members_of(state, cluster):
    members, row = [], state.heads[cluster]
    while row != search_state.NONE:
        members.append(int(row))
        row = state.links[row, search_state.NEXT]
    return sorted(members)


def assert_counted(rows, clusters, rule):
    """Compare every number of the state with one that is built from its labels."""
    state = clusters.state
    fresh = clusters_of(rows, state.labels, rule).state
    present = len(fresh.clusters)
    assert contents(fresh) == contents(state)
    assert fresh.clusters.tolist() == state.clusters[:present].tolist()
    assert fresh.tally.tolist() == state.tally.tolist()
    for cluster in range(len(state.clusters)):
        assert np.nonzero(state.labels == cluster)[0].tolist() == members_of(state, cluster)


def test_numbers_of_32_bits_are_widened():
    assert [5, -1] == [kernel.wide(np.int32(number)) for number in (5, -1)]


@given(clustered(), RULES)
@settings(deadline=None, max_examples=60)
def test_the_state_counts_what_a_recount_finds(drawn, rule):
    sets, n_features, labels = drawn
    rows = rows_of(sets, n_features)
    clusters = clusters_of(rows, labels, rule)
    shared, created = recounted(sets, labels.tolist(), rule)
    assert [shared, shared + created] == clusters.state.tally.tolist()
    assert float(jaccard(sets, labels, rule)) == clusters.jaccard
    assert kept(rows, labels, rule).jaccard == clusters.jaccard
    for cluster, (size, n_kept, entries) in enumerate(clusters.state.clusters.tolist()):
        own = [row for row, label in zip(sets, labels, strict=True) if label == cluster]
        counts = Counter(f for row in own for f in row)
        kept_counts = [x for x in counts.values() if keeps(x, size, rule)]
        assert (len(own), len(kept_counts), sum(kept_counts)) == (size, n_kept, entries)
        assert counts == {
            f: count
            for f in range(n_features)
            if (
                count := search_state.count_of(
                    clusters.state.table, search_state.key_of(cluster, f)
                )
            )
        }


@given(clustered(), RULES, LAMBDAS, st.data())
@settings(deadline=None, max_examples=150)
def test_adding_a_row_gains_what_a_recount_finds(drawn, rule, lam, data):
    sets, n_features, labels = drawn
    row = data.draw(st.integers(0, len(sets) - 1))
    labels[row] = search_state.NONE
    clusters = clusters_of(rows_of(sets, n_features), labels, rule)
    before = objective(sets, labels, rule, lam)
    for cluster in set(labels.tolist()) - {search_state.NONE}:
        after = objective(sets, relabeled(labels, {row: cluster}), rule, lam)
        actual = search_state.gain_of_adding(
            clusters.data, clusters.state, float(lam), row, cluster
        )
        assert float(after - before) == pytest.approx(actual, abs=1e-9)


@given(clustered(), RULES, LAMBDAS)
@settings(deadline=None, max_examples=150)
def test_removing_a_row_gains_what_a_recount_finds(drawn, rule, lam):
    sets, n_features, labels = drawn
    clusters = clusters_of(rows_of(sets, n_features), labels, rule)
    before = objective(sets, labels, rule, lam)
    for row in range(len(sets)):
        after = objective(sets, relabeled(labels, {row: search_state.NONE}), rule, lam)
        actual = search_state.gain_of_removing(clusters.data, clusters.state, float(lam), row)
        assert float(after - before) == pytest.approx(actual, abs=1e-9)


@given(clustered(), RULES, LAMBDAS, st.data())
@settings(deadline=None, max_examples=100)
def test_what_a_row_adds_is_a_base_and_a_term_for_each_of_its_features(drawn, rule, lam, data):
    sets, n_features, labels = drawn
    row = data.draw(st.integers(0, len(sets) - 1))
    clusters = clusters_of(rows_of(sets, n_features), labels, rule)
    least = clusters.data.least
    for cluster in set(labels.tolist()):
        own = [other for other, label in zip(sets, labels, strict=True) if label == cluster]
        counts, size = Counter(f for other in own for f in other), len(own)
        before = sum(g_of(x, size, rule, lam) for x in counts.values())
        grown = sum(g_of(x, size + 1, rule, lam) for x in counts.values())
        base = search_state.base_of_adding(clusters.data, clusters.state, float(lam), cluster)
        assert float(grown - before) == pytest.approx(base, abs=1e-9)
        for f in sets[row]:
            x = counts[f]
            term = search_state.term_of_adding(float(lam), x, int(least[size + 1]), size)
            expected = g_of(x + 1, size + 1, rule, lam) - g_of(x, size + 1, rule, lam)
            assert float(expected) == pytest.approx(term, abs=1e-9)
            if keeps(x, size, rule):
                worth = search_state.worth(float(lam), x, size)
                assert float(g_of(x, size, rule, lam)) == pytest.approx(worth, abs=1e-9)


def g_of(count, size, rule, lam):
    """What the objective counts for a feature that so many of so many rows have."""
    return (1 + lam) * count - lam * size if keeps(count, size, rule) else 0


@given(clustered(), RULES)
@settings(deadline=None, max_examples=100)
def test_a_row_is_its_profile_if_it_has_what_its_cluster_keeps(drawn, rule):
    sets, n_features, labels = drawn
    clusters = clusters_of(rows_of(sets, n_features), labels, rule)
    for row, cluster in enumerate(labels.tolist()):
        own = [other for other, label in zip(sets, labels, strict=True) if label == cluster]
        counts = Counter(f for other in own for f in other)
        profile = {f for f, count in counts.items() if keeps(count, len(own), rule)}
        is_its = search_state.is_its_profile(clusters.data, clusters.state, row)
        assert (profile == sets[row]) is is_its


@given(clustered(), RULES, st.data())
@settings(deadline=None, max_examples=100)
def test_rows_that_enter_and_leave_are_counted_and_listed(drawn, rule, data):
    sets, n_features, labels = drawn
    rows = rows_of(sets, n_features)
    clusters = clusters_of(rows, np.full(len(sets), search_state.NONE, dtype=np.int32), rule)
    state = clusters.state._replace(
        clusters=np.zeros((4, 3), dtype=np.int64),
        heads=np.full(4, search_state.NONE, dtype=np.int32),
    )
    state.labels[:] = labels
    search_state.fill(clusters.data, state)
    assert_counted(rows, clusters._replace(state=state), rule)
    for row in data.draw(st.lists(st.integers(0, len(sets) - 1), unique=True)):
        search_state.count_out(clusters.data, state, row, int(state.labels[row]))
        search_state.delist(state, row)
        state.labels[row] = search_state.NONE
        assert_counted(rows, clusters._replace(state=state), rule)
        cluster = data.draw(st.integers(0, 3))
        search_state.count_in(clusters.data, state, row, cluster)
        search_state.enlist(state, row, cluster)
        assert_counted(rows, clusters._replace(state=state), rule)


@given(clustered(), RULES, LAMBDAS, st.data())
@settings(deadline=None, max_examples=100)
def test_rows_without_a_cluster_enter_one_by_one_where_a_recount_gains_most(drawn, rule, lam, data):
    sets, n_features, labels = drawn
    alone = data.draw(st.lists(st.integers(0, len(sets) - 1), unique=True, max_size=len(sets) - 1))
    labels[alone] = search_state.NONE
    rows = rows_of(sets, n_features)
    clusters = clusters_of(rows, labels, rule)
    n_clusters = len(clusters.state.clusters)
    search_state.insert_unclustered(
        clusters.data, clusters.state, float(lam), np.array(alone, dtype=np.int64)
    )
    assert_counted(rows, clusters, rule)
    for row in alone:
        gains = [
            objective(sets, relabeled(labels, {row: cluster}), rule, lam)
            for cluster in range(n_clusters)
        ]
        chosen = int(clusters.state.labels[row])
        assert float(max(gains)) == pytest.approx(float(gains[chosen]), abs=1e-9)
        labels[row] = chosen


def scratch_for(clusters, lam, row):
    """Return room for swaps of this row: the counts of its cluster without it, and their prices."""
    data, state, _ = clusters
    counts = np.zeros((2, data.n_features), dtype=np.int32)
    scratch = search.Scratch(*counts, *np.zeros((2, state.labels.size + 2)))
    search.count_cluster(data, state, state.labels[row], scratch.ours, 1)
    search.count_row(data, row, scratch.ours, -1)
    size = state.clusters[state.labels[row], search_state.SIZE]
    search.price(data, lam, size, scratch.our_rises)
    return scratch


@given(clustered(), RULES, LAMBDAS, st.data())
@settings(deadline=None, max_examples=150)
def test_the_best_swap_gains_what_a_recount_finds_to_be_most(drawn, rule, lam, data):
    sets, n_features, labels = drawn
    row = data.draw(st.integers(0, len(sets) - 1))
    clusters = clusters_of(rows_of(sets, n_features), labels, rule)
    scratch = scratch_for(clusters, float(lam), row)
    before = objective(sets, labels, rule, lam)
    own = int(labels[row])
    for other in set(labels.tolist()) - {own}:
        gains = {
            q: objective(sets, relabeled(labels, {row: other, q: own}), rule, lam) - before
            for q in np.nonzero(labels == other)[0].tolist()
        }
        partner, actual = search.best_swap(
            clusters.data, clusters.state, float(lam), row, other, scratch
        )
        assert float(gains[partner]) == pytest.approx(actual, abs=1e-9)
        assert float(max(gains.values())) == pytest.approx(actual, abs=1e-9)
        assert not scratch.theirs.any()


@given(clustered(), RULES, st.lists(st.tuples(st.integers(0, 13), st.integers(0, 3)), max_size=40))
@settings(deadline=None, max_examples=80)
def test_the_running_index_equals_a_recount_after_any_moves(drawn, rule, moves):
    sets, n_features, labels = drawn
    rows = rows_of(sets, n_features)
    clusters = clusters_of(rows, labels, rule)
    n_clusters = len(clusters.state.clusters)
    for row, cluster in moves:
        if row < len(sets) and cluster < n_clusters:
            search_state.move(clusters.data, clusters.state, row, cluster)
            labels[row] = cluster
    assert labels.tolist() == clusters.state.labels.tolist()
    assert float(jaccard(sets, labels, rule)) == clusters.jaccard
    assert_counted(rows, clusters, rule)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.booleans()), max_size=200))
@settings(deadline=None, max_examples=100)
def test_a_table_that_is_almost_full_counts_like_a_dictionary(steps):
    table = np.zeros((25, 2), dtype=np.int64)
    table[:, 0] = search_state.FREE
    twin = Counter()
    for cluster, feature, up in steps:
        if up or twin[cluster, feature]:
            before = search_state.shift(
                table, search_state.key_of(cluster, feature), 1 if up else -1
            )
            assert twin[cluster, feature] == before
            twin[cluster, feature] += 1 if up else -1
    for cluster in range(4):
        for feature in range(6):
            key = search_state.key_of(cluster, feature)
            assert twin[cluster, feature] == search_state.count_of(table, key)
    assert sum(count > 0 for count in twin.values()) == np.count_nonzero(table[:, 0] != -1)


def choice_for(clusters, lam, candidates):
    """Return the candidates of every row by an index of the present clusters."""
    data, state, _ = clusters
    index = index_of(data, state, lam)
    near = np.empty((data.indptr.size - 1, candidates + 1), dtype=np.int32)
    rank_clusters(data, index, near)
    roomy = np.argsort(-index.bases, kind="stable").astype(np.int32)
    pair = np.append(roomy, search_state.NONE).astype(np.int32)[:2]
    changed = np.zeros(len(state.clusters), dtype=np.int32)
    return search.SearchChoice(near, pair, changed, np.empty(candidates + 2, dtype=np.int32))


@given(clustered(least=2), RULES, LAMBDAS, st.integers(1, 3))
@settings(deadline=None, max_examples=100)
def test_candidates_are_those_that_gain_most_by_a_feature_of_the_row(drawn, rule, lam, wanted):
    sets, n_features, labels = drawn
    rows = rows_of(sets, n_features)
    clusters = clusters_of(rows, labels, rule)
    near = choice_for(clusters, float(lam), wanted).near
    for row, features in enumerate(sets):
        gains = {}
        for cluster in range(len(clusters.state.clusters)):
            own = [other for other, label in zip(sets, labels, strict=True) if label == cluster]
            count = Counter(f for other in own for f in other)
            if any(keeps(count[f] + 1, len(own) + 1, rule) for f in features if count[f]):
                gains[cluster] = search_state.gain_of_adding(
                    clusters.data, clusters.state, float(lam), row, cluster
                )
        actual = [c for c in near[rows.kinds[row]].tolist() if c != search_state.NONE]
        best = sorted(gains.values(), reverse=True)[: wanted + 1]
        assert best == pytest.approx([gains[c] for c in actual], abs=1e-9)


@given(clustered(least=2), RULES, LAMBDAS)
@settings(deadline=None, max_examples=150)
def test_clusters_dissolve_if_that_gains_and_are_as_before_if_not(drawn, rule, lam):
    sets, n_features, labels = drawn
    rows = rows_of(sets, n_features)
    clusters = clusters_of(rows, labels, rule)
    data, state, _ = clusters
    choice = choice_for(clusters, float(lam), 2)
    plan = search.SearchPlan(float(lam), 2, 16, 1, True)
    for cluster in range(len(state.clusters)):
        before = objective(sets, state.labels, rule, lam)
        then = [contents(state), *(array.tolist() for array in state[1:])]
        done = search.try_to_dissolve(data, state, plan, choice, cluster)
        if done:
            assert objective(sets, state.labels, rule, lam) > before
            assert 0 == state.clusters[cluster, search_state.SIZE]
        else:
            assert then == [contents(state), *(array.tolist() for array in state[1:])]
        assert_counted(rows, clusters, rule)


@given(clustered(least=2), RULES, LAMBDAS)
@settings(deadline=None, max_examples=100)
def test_small_clusters_dissolve_in_the_order_of_what_a_row_of_them_is_worth(drawn, rule, lam):
    sets, n_features, labels = drawn
    rows = rows_of(sets, n_features)
    plan = search.SearchPlan(float(lam), 2, 16, 1, True)
    one, other = (clusters_of(rows, labels, rule) for _ in range(2))
    choices = [choice_for(clusters, float(lam), 2) for clusters in (one, other)]
    done = search.dissolve(
        one.data, one.state, plan, choices[0], search.small_clusters(one.state, plan)
    )
    small = {}
    for cluster, (size, n_kept, entries) in enumerate(other.state.clusters.tolist()):
        if 0 < size < 2 * plan.k:
            worth = (1 + float(lam)) * entries - float(lam) * size * n_kept
            small[cluster] = worth / size
    expected = 0
    for cluster in sorted(small, key=lambda c: (small[c], c)):
        if other.state.clusters[cluster, search_state.SIZE] < 2 * plan.k:
            expected += search.try_to_dissolve(other.data, other.state, plan, choices[1], cluster)
    assert expected == done
    assert other.state.labels.tolist() == one.state.labels.tolist()
    assert_counted(rows, one, rule)


def best_visit(sets, labels, row, choice, kind, *, rule, lam, k, limit):
    """Return the most that a row gains by a move or a swap with a candidate, by recounts."""
    own, sizes = int(labels[row]), Counter(labels.tolist())
    near = [c for c in choice.near[kind].tolist() if c != search_state.NONE]
    near = [c for c in near[: choice.near.shape[1]] if c != own][: choice.near.shape[1] - 1]
    roomy = next((c for c in choice.roomy.tolist() if c != own), search_state.NONE)
    candidates = {*near, roomy} - {search_state.NONE}
    before = objective(sets, labels, rule, lam)
    if sizes[own] > k:
        changes = [{row: c} for c in candidates]
    else:
        within = [c for c in candidates if sizes[c] <= limit]
        changes = [{row: c, q: own} for c in within for q in np.nonzero(labels == c)[0].tolist()]
    gains = [objective(sets, relabeled(labels, c), rule, lam) - before for c in changes]
    return max(gains, default=Fraction(-1000))


@given(clustered(least=2), RULES, LAMBDAS, st.data())
@settings(deadline=None, max_examples=150)
def test_a_visit_makes_the_best_move_or_swap_if_it_gains(drawn, rule, lam, data):
    sets, n_features, labels = drawn
    rows = rows_of(sets, n_features)
    clusters = clusters_of(rows, labels, rule)
    choice = choice_for(clusters, float(lam), 2)
    row = data.draw(st.integers(0, len(sets) - 1))
    is_its_profile = search_state.is_its_profile(clusters.data, clusters.state, row)
    most = best_visit(sets, labels, row, choice, rows.kinds[row], rule=rule, lam=lam, k=2, limit=16)
    before = objective(sets, labels, rule, lam)
    n = len(sets)
    scratch = search.Scratch(
        *np.zeros((2, n_features), dtype=np.int32), *np.zeros((2, n + 2), dtype=np.float64)
    )
    plan = search.SearchPlan(float(lam), 2, 16, 1, True)
    order, bars = np.array([row]), np.array([search.TINY])
    search.sweep(clusters.data, clusters.state, plan, choice, scratch, order, bars)
    after = objective(sets, clusters.state.labels, rule, lam)
    gains = most > search.TINY and not is_its_profile
    assert float(after - before) == pytest.approx(float(most) if gains else 0.0, abs=1e-9)
    assert gains or labels.tolist() == clusters.state.labels.tolist()
    assert np.bincount(clusters.state.labels).min() >= 2
    assert_counted(rows, clusters, rule)


@given(
    clustered(least=2, largest=20),
    RULES,
    SEEDS,
    st.sampled_from([None, 1, 2]),
    st.sampled_from([None, 0.3, 3.0]),
)
@settings(deadline=None, max_examples=80)
def test_refined_clusters_keep_no_less_and_have_k_rows(drawn, rule, seed, list_cap, anneal):
    sets, n_features, labels = drawn
    rows = rows_of(sets, n_features)
    options = {"k": 2, "rule": rule, "list_cap": list_cap, "anneal": anneal}
    given_labels = labels.copy()
    refined = refined_clusters(rows, labels, rng=generator(seed), **options)
    assert jaccard(sets, refined, rule) >= jaccard(sets, labels, rule)
    assert np.bincount(refined).min() >= 2
    assert labels.tolist() == given_labels.tolist()
    again = refined_clusters(rows, labels, rng=generator(seed), **options)
    assert refined.tolist() == again.tolist()


@given(clustered(least=3, smallest=6), SEEDS)
@settings(deadline=None, max_examples=40)
def test_with_theta_one_nothing_is_created(drawn, seed):
    sets, n_features, labels = drawn
    rows = rows_of(sets, n_features)
    rule = Rule(Fraction(1))
    refined = refined_clusters(rows, labels, k=3, rule=rule, rng=generator(seed))
    assert 0 == kept(rows, refined, rule).added
    assert np.bincount(refined).min() >= 3
