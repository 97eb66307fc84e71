"""Allowed pairs against brute force: all permutations of small tables."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.verify.recount.rows import assignments
from graphveil.verify.recount.rows.assignments import (
    NoAssignment,
    allowed_masks,
    allowed_of_masks,
    allowed_of_pairs,
    full_assignment,
    has_disjoint_assignments,
)
from graphveil.verify.recount.rows.fitting_pairs import (
    NOBODY,
    STAR,
    CodedCells,
    fitting_persons,
    members,
    packed,
    pairs_that_fit,
    turned,
)


def allowed_by_hand(fits):
    """Return the pairs of all permutations in which every pair fits; None where there is none."""
    n = len(fits)
    good = [p for p in permutations(range(n)) if all(fits[i, p[i]] for i in range(n))]
    if not good:
        return None
    pairs = np.zeros((n, n), dtype=bool)
    for persons in good:
        pairs[range(n), persons] = True
    return pairs


squares = st.integers(0, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([False, True, True]), min_size=n, max_size=n),
        min_size=n,
        max_size=n,
    ).map(lambda rows: np.array(rows, dtype=bool).reshape(n, n))
)


@settings(deadline=None, max_examples=120)
@given(squares, st.booleans(), st.data())
def test_allowed_pairs_are_those_of_all_permutations(fits, sparse_start, data):
    expected = allowed_by_hand(fits)
    with pytest.MonkeyPatch.context() as patch:
        if sparse_start:
            patch.setattr(assignments, "ALL_PAIRS", 0)
            patch.setattr(assignments, "SOME", 1)
        masks = allowed_of_masks(packed(fits))
    records, persons = np.nonzero(fits)
    likely = np.array(data.draw(st.permutations(range(len(fits)))), dtype=np.int64)
    pairs = allowed_of_pairs(records, persons, len(fits), likely=likely)
    if expected is None:
        assert isinstance(masks, NoAssignment)
        assert isinstance(pairs, NoAssignment)
        return
    for allowed in (masks, pairs):
        assert expected.sum(axis=1).tolist() == allowed.of_record.tolist()
        assert expected.sum(axis=0).tolist() == allowed.of_person.tolist()
        assert all(fits[range(len(fits)), allowed.person_of])
    shown = allowed_masks(packed(fits), masks)
    assert [np.flatnonzero(row).tolist() for row in expected] == [
        members(mask).tolist() for mask in shown
    ]


@settings(deadline=None, max_examples=60)
@given(squares.filter(lambda fits: 0 < len(fits) <= 4), st.integers(1, 3))
def test_assignments_that_share_no_pair_are_those_found_by_trying(fits, number):
    n = len(fits)
    good = [p for p in permutations(range(n)) if all(fits[i, p[i]] for i in range(n))]
    disjoint = any(
        all(one[i] != other[i] for one, other in combinations(some, 2) for i in range(n))
        for some in combinations(good, number)
    )
    assert disjoint == has_disjoint_assignments(packed(fits), number)


def test_a_likely_assignment_that_is_none_is_not_believed():
    records, persons = np.array([0, 0, 1]), np.array([0, 1, 1])
    for likely in ([1, 0], [0, 0], [1, 1]):
        allowed = allowed_of_pairs(records, persons, 2, likely=np.array(likely))
        assert [0, 1] == allowed.person_of.tolist()
        assert [1, 1] == allowed.of_record.tolist()


def test_a_record_that_goes_without_is_named():
    fits = packed(np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1]]) > 0)
    assert full_assignment(fits).record in (0, 1)


@pytest.mark.parametrize("n", [1, 64, 65, 300])
def test_masks_of_any_width_say_what_their_bits_say(n):
    bits = np.random.Generator(np.random.PCG64(n)).random((n, n)) < 0.1
    np.fill_diagonal(bits, 1)
    masks = packed(bits)
    assert [np.flatnonzero(row).tolist() for row in bits] == [members(m).tolist() for m in masks]
    assert packed(bits.T).tolist() == turned(masks).tolist()
    together = allowed_of_pairs(*np.nonzero(bits), n)
    assert together.of_person.tolist() == allowed_of_masks(masks).of_person.tolist()
    assert together.of_record.tolist() == allowed_of_masks(masks).of_record.tolist()


codes = st.integers(-2, 2)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 5).flatmap(
        lambda n: st.tuples(
            *(
                st.lists(st.tuples(codes, codes, codes), min_size=n, max_size=n).map(
                    lambda rows: np.array(rows, dtype=np.int32).reshape(-1, 3)
                )
                for _ in range(2)
            )
        )
    )
)
def test_a_record_fits_where_each_cell_is_a_star_or_the_persons(both):
    released, original = both[0], np.maximum(both[1], -1)
    n = len(released)
    by_hand = [
        [
            all(
                y == STAR or (y != NOBODY and y == x and x >= 0)
                for y, x in zip(released[i], original[j], strict=True)
            )
            for j in range(n)
        ]
        for i in range(n)
    ]
    cells = CodedCells(released, original)
    masks = fitting_persons(cells)
    assert [[bool(x) for x in row] for row in by_hand] == [
        [j in set(members(mask).tolist()) for j in range(n)] for mask in masks
    ]
    records, persons = (axis.ravel() for axis in np.mgrid[0:n, 0:n])
    assert (
        np.ravel(by_hand).astype(bool).tolist() == pairs_that_fit(cells, records, persons).tolist()
    )
