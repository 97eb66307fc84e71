"""Collapsed rows, the keep rule and what it keeps, against dictionaries, fractions and sets."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.errors import ParameterError
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import (
    MOST_DENOMINATOR,
    Rule,
    Theta,
    classes_of,
    collapse,
    kept,
    profiles_of,
    released,
)

THETAS = st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(9, 10), Fraction(1)])
RULES = THETAS.map(Rule) | st.just(Rule(ties="drop"))


def bipartite(rows, n_features):
    """Return the data of these sets of features."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([f for row in rows for f in sorted(row)], dtype=np.int32)
    return Bipartite(indptr, indices, n_features)


@st.composite
def tables(draw, largest=12, features=6):
    """Draw sets of features, some of them equal, and the number of features."""
    n_features = draw(st.integers(0, features))
    row = st.sets(st.integers(0, n_features - 1)) if n_features else st.just(set())
    return draw(st.lists(row, min_size=1, max_size=largest)), n_features


@st.composite
def clustered(draw, largest=12, features=6):
    """Draw rows with a cluster each, numbered without gaps."""
    rows, n_features = draw(tables(largest, features))
    drawn = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    labels = np.unique(np.array(drawn), return_inverse=True)[1].astype(np.int32)
    return rows, n_features, labels


def is_legal(count, size, rule):
    """Whether a feature that so many of a cluster's rows have may be kept, by fractions."""
    share = Fraction(count, size)
    return count >= 1 and (share > Fraction(1, 2) if rule.ties == "drop" else share >= rule.theta)


def counts_of(rows, labels):
    """How many rows of every cluster have each feature, and the clusters' sizes."""
    counts = Counter(
        (int(cluster), f) for row, cluster in zip(rows, labels, strict=True) for f in row
    )
    return counts, Counter(labels.tolist())


def rows_of(data):
    return [set(data.row(user).tolist()) for user in range(data.n_users)]


def jaccard(rows, others):
    either = sum(len(row | other) for row, other in zip(rows, others, strict=True))
    both = sum(len(row & other) for row, other in zip(rows, others, strict=True))
    return Fraction(both, either) if either else Fraction(1)


@given(st.lists(st.sets(st.sampled_from([0, 1, 255, 256, 257, 65_536])), min_size=1, max_size=30))
@settings(deadline=None, max_examples=100)
def test_distinct_rows_are_the_keys_of_a_dictionary_shorter_ones_first(data):
    n_features = 65_537
    rows = collapse(bipartite(data, n_features))
    twin = Counter(tuple(sorted(row)) for row in data)
    keys = sorted(twin, key=lambda row: (len(row), row))
    pairs = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    assert keys == [tuple(rows.indices[first:stop].tolist()) for first, stop in pairs]
    assert [twin[key] for key in keys] == rows.weights.tolist()
    assert [keys.index(tuple(sorted(row))) for row in data] == rows.kinds.tolist()
    assert (len(data), len(keys), n_features) == (rows.n_rows, rows.n_distinct, rows.n_features)
    assert [len(key) for key in keys] == rows.degrees().tolist()
    assert [np.int64, np.int32, np.int64, np.int32] == [part.dtype for part in rows[:4]]


@given(tables(largest=30), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=50)
def test_distinct_rows_do_not_depend_on_the_order_of_the_rows(table, shuffler):
    data, n_features = table
    moved = list(data)
    shuffler.shuffle(moved)
    one, other = (collapse(bipartite(rows, n_features)) for rows in (data, moved))
    assert all(np.array_equal(a, b) for a, b in zip(one[:3], other[:3], strict=True))


@given(st.integers(1, MOST_DENOMINATOR), st.integers(0, 2 * MOST_DENOMINATOR))
@settings(deadline=None, max_examples=200)
def test_theta_is_the_fraction_written_or_an_error(denominator, numerator):
    exact = Fraction(numerator, denominator)
    text = f"{numerator}/{denominator}"
    if Fraction(1, 2) <= exact <= 1:
        assert exact == Theta.parse(text)
    else:
        with pytest.raises(ParameterError, match=text):
            Theta.parse(text)


@given(st.integers(5000, 10_000))
@settings(deadline=None, max_examples=50)
def test_theta_of_a_decimal_number_is_what_its_digits_say(digits):
    assert Fraction(digits, 10_000) == Theta.parse(digits / 10_000)


@given(st.fractions(Fraction(1, 2), 1, max_denominator=MOST_DENOMINATOR), st.integers(1, 10**9))
@settings(deadline=None, max_examples=200)
def test_the_least_count_is_the_first_whose_share_reaches_theta(theta, size):
    least = int(Rule(theta).least(np.array([size]))[0])
    assert is_legal(least, size, Rule(theta))
    assert not is_legal(least - 1, size, Rule(theta))
    drop = Rule(ties="drop")
    least = int(drop.least(np.array([size]))[0])
    assert [False, True] == [is_legal(count, size, drop) for count in (least - 1, least)]


@given(clustered(), RULES)
@settings(deadline=None, max_examples=100)
def test_profiles_count_what_a_dictionary_counts_and_keep_what_is_legal(drawn, rule):
    rows, n_features, labels = drawn
    counts, sizes = counts_of(rows, labels)
    profiles = profiles_of(collapse(bipartite(rows, n_features)), labels)
    pairs = list(zip(profiles.clusters.tolist(), profiles.features.tolist(), strict=True))
    assert sorted(counts) == pairs
    assert [counts[pair] for pair in pairs] == profiles.counts.tolist()
    assert [sizes[cluster] for cluster in range(len(sizes))] == profiles.sizes.tolist()
    legal = [is_legal(counts[pair], sizes[pair[0]], rule) for pair in pairs]
    assert legal == profiles.kept(rule).tolist()


@given(clustered(), RULES)
@settings(deadline=None, max_examples=100)
def test_a_release_is_that_of_a_dense_table_and_its_numbers_are_recounted(drawn, rule):
    rows, n_features, labels = drawn
    data = bipartite(rows, n_features)
    distinct = collapse(data)
    profiles = profiles_of(distinct, labels)
    release = rows_of(released(data, profiles, profiles.kept(rule), labels))
    counts, sizes = counts_of(rows, labels)
    expected = [
        {f for f in range(n_features) if is_legal(counts[c, f], sizes[c], rule)}
        for c in labels.tolist()
    ]
    assert expected == release
    value = kept(distinct, labels, rule)
    assert sum(map(len, rows)) == value.before
    assert sum(len(a & b) for a, b in zip(rows, release, strict=True)) == value.kept
    assert sum(len(b - a) for a, b in zip(rows, release, strict=True)) == value.added
    assert float(jaccard(rows, release)) == value.jaccard
    if rule.theta == 1:
        assert value.added == 0


@given(clustered(features=3), RULES)
@settings(deadline=None, max_examples=100)
def test_clusters_released_alike_are_one_class_in_which_the_rule_holds(drawn, rule):
    rows, n_features, labels = drawn
    data = bipartite(rows, n_features)
    profiles = profiles_of(collapse(data), labels)
    is_kept = profiles.kept(rule)
    release = [frozenset(row) for row in rows_of(released(data, profiles, is_kept, labels))]
    classes = classes_of(profiles, is_kept)
    pairs = list(zip(classes.clusters.tolist(), classes.features.tolist(), strict=True))
    published = [frozenset(f for c, f in pairs if c == n) for n in range(classes.sizes.size)]
    assert Counter(release) == dict(zip(published, classes.sizes.tolist(), strict=True))
    true = Counter(
        (released_as, f)
        for row, released_as in zip(rows, release, strict=True)
        for f in released_as & row
    )
    assert [true[published[c], f] for c, f in pairs] == classes.counts.tolist()
    assert classes.kept(rule).all()


@given(clustered(largest=6, features=3), RULES)
@settings(deadline=None, max_examples=60)
def test_no_other_legal_choice_of_features_has_a_larger_jaccard(drawn, rule):
    rows, n_features, labels = drawn
    counts, sizes = counts_of(rows, labels)
    legal = [pair for pair in counts if is_legal(counts[pair], sizes[pair[0]], rule)]
    choices = chain.from_iterable(combinations(legal, r) for r in range(len(legal) + 1))
    best = max(
        jaccard(rows, [{f for cluster, f in choice if cluster == c} for c in labels.tolist()])
        for choice in choices
    )
    assert float(best) == kept(collapse(bipartite(rows, n_features)), labels, rule).jaccard
