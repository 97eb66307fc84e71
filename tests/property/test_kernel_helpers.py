"""Sorting and drawing inside kernels do what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from graphveil.core.kernels.arrays import below, sort
from graphveil.core.kernels.leaf import wide


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@given(data=st.data())
def test_values_are_sorted_in_place(kind, data):
    values = data.draw(arrays.arrays(kind, st.integers(0, 40), elements=st.integers(-9, 9)))
    expected = np.sort(values)
    sort(values)
    assert expected.tolist() == values.tolist()


@given(st.integers(0, 2**32), st.lists(st.integers(1, 2**32 - 1), max_size=50))
def test_a_number_below_a_bound_is_the_one_that_numpy_draws(seed, bounds):
    ours, theirs = (np.random.Generator(np.random.PCG64DXSM(seed)) for _ in range(2))
    assert [int(theirs.integers(bound)) for bound in bounds] == [below(ours, b) for b in bounds]
    assert theirs.random() == ours.random()


@pytest.mark.parametrize("bound", [1, 0, -1])
def test_below_a_bound_that_leaves_no_choice_nothing_is_drawn(bound):
    ours, theirs = (np.random.Generator(np.random.PCG64DXSM(1)) for _ in range(2))
    assert 0 == below(ours, bound)
    assert theirs.random() == ours.random()


def test_a_number_of_32_bits_becomes_one_of_64():
    assert -3 == wide(np.int32(-3))
