"""The hash table of the kernels against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.kernels import arrays as hashing

KEYS = st.one_of(st.integers(0, 12), st.integers(0, 2**62), st.just(2**63 - 1))


@given(st.lists(st.tuples(KEYS, st.integers(-9, 9), st.booleans()), max_size=60))
@settings(deadline=None, max_examples=150)
def test_a_table_holds_what_a_dictionary_holds_after_any_changes(changes):
    table, shift = hashing.new_table(len({key for key, _, _ in changes}))
    twin = {}
    for key, value, removed in changes:
        if removed and key in twin:
            hashing.delete(table, shift, key)
            del twin[key]
        else:
            row = hashing.insert(table, shift, key, value)
            twin[key] = value
            assert [key, value] == table[row].tolist()
        for other, _, _ in changes:
            row = hashing.find(table, shift, other)
            expected = [other, twin[other]] if other in twin else [hashing.FREE, 0]
            assert expected == table[row].tolist()
    assert len(twin) == np.count_nonzero(table[:, 0] != hashing.FREE)
