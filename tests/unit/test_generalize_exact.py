"""Intervals of numbers that floats do not hold: what is published is true of every row in it."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest

import graphveil as gv
from graphveil.core.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "large integers are put into intervals as floats",
        "means": "A row is published in an interval that its value is not in.",
        "file": "src/graphveil/methods/generalize/levels.py",
        "old": "return np.array([bisect_right(edges, number) for number in exact], dtype=np.int64)",
        "new": 'return np.searchsorted(np.array(edges, dtype=np.float64), numbers, side="right")',
        "tests": ["tests/unit/test_generalize_exact.py"],
        "methods": ["generalize"],
    },
]

LARGE = 2**53


@pytest.mark.parametrize("levels", ["edges:9007199254740993,9007199254741003", "10,20"])
@pytest.mark.parametrize("start", [LARGE, 2**62])
def test_intervals_of_large_integers_verify(levels, start):
    frame = pd.DataFrame({"x": [start + i for i in range(40)], "sex": ["m", "f"] * 20})
    table = gv.Table.from_arrow(frame, person="row")
    release = gv.Generalize(k=4, known=("x", "sex"), levels={"x": levels}).anonymize(table, seed=1)
    verdict = release.verify(table)
    assert [] == verdict.failures()
    assert verdict.ok


def test_a_value_below_an_edge_is_never_above_it():
    edges = f"edges:{LARGE + 1},{LARGE + 3}"
    frame = {"x": [LARGE, LARGE + 1, LARGE + 2, LARGE + 3] * 5, "sex": ["f"] * 20}
    table = gv.Table.from_columns(frame, person="row")
    released = gv.Generalize(k=5, known=("x", "sex"), levels={"x": edges}).anonymize(table, seed=1)
    assert released.verify(table).ok


def test_numbers_of_more_digits_than_intervals_hold_are_refused():
    frame = pd.DataFrame({"x": pd.Series([10**26 + i for i in range(40)], dtype=object)})
    table = gv.Table.from_arrow(frame.assign(sex=["m", "f"] * 20), person="row")
    with pytest.raises(DataError, match="too large for intervals"):
        gv.Generalize(k=4, known=("x", "sex"), levels={"x": "5,10"}).anonymize(table)


def test_decimals_without_a_digit_before_the_point_are_numbers_with_fractions():
    frame = pd.DataFrame({"x": [Decimal("0.1") + Decimal(i) / 10**20 for i in range(12)]})
    with pytest.raises(DataError, match="column x is numeric"):
        gv.Table.from_arrow(frame, person="row")
