"""How likely pairs are, against all permutations of small tables."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.measures import matchings
from graphveil.measures.matchings import NodePairs, allowed, posteriors


def shares_by_hand(fits):
    """Return the share of the permutations in which all pairs fit that have each pair."""
    n = len(fits)
    shares = np.zeros((n, n))
    good = [p for p in permutations(range(n)) if all(fits[range(n), p])]
    for persons in good:
        shares[range(n), persons] += 1 / len(good)
    return shares


def pairs_of(fits):
    _, persons = np.nonzero(fits)
    indptr = np.concatenate([[0], np.cumsum(fits.sum(axis=1))])
    return NodePairs(indptr.astype(np.int64), persons.astype(np.int64))


def matrix_of(found):
    shares = np.zeros((found.pairs.n,) * 2)
    shares[found.pairs.records, found.pairs.indices] = found.chance
    return shares


@st.composite
def squares(draw, most=6):
    n = draw(st.integers(1, most))
    cells = st.lists(st.sampled_from([False, True]), min_size=n * n, max_size=n * n)
    return np.array(draw(cells)).reshape(n, n) | np.eye(n, dtype=bool)


@settings(deadline=None, max_examples=100)
@given(squares())
def test_shares_are_those_of_all_permutations(fits):
    expected = shares_by_hand(fits)
    found = posteriors(pairs_of(fits))
    assert found.exact
    assert matrix_of(found) == pytest.approx(expected)
    assert np.diag(expected) == pytest.approx(found.true_pairs())
    assert expected.max(axis=0) == pytest.approx(found.best_guesses())
    assert np.count_nonzero(expected) == allowed(pairs_of(fits)).indices.size


@settings(deadline=None, max_examples=60)
@given(squares(), st.data())
def test_a_known_pair_takes_part_in_no_other(fits, data):
    n = len(fits)
    known = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    rest = np.flatnonzero(~known)
    expected = np.zeros((n, n), dtype=bool)
    expected[np.ix_(rest, rest)] = shares_by_hand(fits[np.ix_(rest, rest)]) > 0
    expected[known, known] = True
    left = allowed(pairs_of(fits), known)
    found = np.zeros((n, n), dtype=bool)
    found[left.records, left.indices] = True
    assert expected.tolist() == found.tolist()


@settings(deadline=None, max_examples=60)
@given(squares())
def test_belief_propagation_comes_near(fits):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matchings, "EXACT_ROWS", 1)
        found = posteriors(pairs_of(fits))
    shares = matrix_of(found)
    assert np.abs(shares - shares_by_hand(fits)).max() < 0.15
    assert shares.sum(axis=0) == pytest.approx(1, abs=1e-6)
    assert shares.sum(axis=1) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("n", [2, 20, 21, 60])
def test_of_equal_rows_every_pair_is_as_likely(n):
    found = posteriors(pairs_of(np.ones((n, n), dtype=bool)))
    assert np.full(n * n, 1 / n) == pytest.approx(found.chance)
    assert (n <= matchings.EXACT_ROWS) == found.exact


def test_nobody_has_no_pairs():
    found = posteriors(NodePairs(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64)))
    assert (0, True) == (found.chance.size, found.exact)
