"""Adaptive anonymity from the released table alone: records that agree with too few others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import graphveil as gv
from graphveil.claims.guarantees import AdaptiveAnonymity
from graphveil.release.claiming import provenance_of
from graphveil.verify.promises.rows.adaptive import LEVEL, PAIRS
from graphveil.verify.recount.rows import agreeing_rows
from graphveil.verify.recount.rows.agreeing_rows import fewest_agreeing

FLAWS = [
    {
        "name": "rows that agree with nobody",
        "means": "Different rows without a star pass as hidden among a hundred.",
        "file": "src/graphveil/verify/promises/rows/adaptive.py",
        "old": "    return judged([short] if number < promise.level else [], enough)",
        "new": "    return judged([short] if number < 0 else [], enough)",
        "verify": [
            "tests/privacy/test_agreeing_records.py::test_rows_that_all_differ_are_no_level"
        ],
        "methods": ["adaptive"],
    },
]


def slow(codes):
    """Return with how many rows each agrees, itself counted."""
    return [
        sum(all(a == b or -1 in {a, b} for a, b in zip(one, other, strict=True)) for other in codes)
        for one in codes
    ]


@given(
    st.tuples(st.integers(1, 12), st.integers(1, 4)).flatmap(
        lambda shape: arrays(np.int32, shape, elements=st.integers(-1, 2))
    )
)
def test_the_fewest_are_those_of_a_slow_count(codes):
    counts = slow(codes.tolist())
    row, number = fewest_agreeing(codes, enough=len(codes) + 1)
    assert (min(counts), min(counts)) == (number, counts[row])


@pytest.fixture
def different():
    """120 rows without a star, each unlike all others."""
    numbers = np.arange(120)
    columns = {"age": numbers % 12, "zip": numbers // 12, "sex": numbers % 2}
    return gv.Table.from_columns(columns, ids=numbers)


def released(table, level):
    genuine = gv.Adaptive(levels=2, compatibility="bipartite").anonymize(table)
    other = gv.Adaptive(levels=level)
    return gv.Release(
        data=table.permuted(np.arange(table.n_rows)),
        guarantee=AdaptiveAnonymity(level=level, common=True),
        provenance=provenance_of(other),
        conditions=genuine.conditions,
    )


def test_rows_that_all_differ_are_no_level(different, tmp_path):
    folder = released(different, 100).write(tmp_path / "forged")
    failed = {check.name: check.detail for check in gv.verify_release(folder).failures()}
    assert "agrees with only 0 others, level=100" in failed[LEVEL]


@pytest.mark.parametrize("levels", [2, 5])
@pytest.mark.parametrize("compatibility", ["bipartite", "symmetric"])
def test_a_genuine_release_agrees_and_is_not_called_proved(
    levels, compatibility, different, tmp_path
):
    method = gv.Adaptive(levels=levels, compatibility=compatibility)
    verdict = gv.verify_release(method.anonymize(different).write(tmp_path / "out"))
    checks = {check.name: check.outcome for check in verdict.checks}
    assert ("holds", "not checked") == (checks[LEVEL], checks[PAIRS])
    assert 4 == verdict.exit_code


def test_a_table_of_too_many_different_rows_is_not_called_compared(
    different, tmp_path, monkeypatch
):
    monkeypatch.setattr(agreeing_rows, "MOST_COMPARISONS", 10)
    verdict = gv.verify_release(
        gv.Adaptive(levels=2, compatibility="bipartite")
        .anonymize(different)
        .write(tmp_path / "out")
    )
    assert ["not checked"] == [check.outcome for check in verdict.checks if check.name == LEVEL]
