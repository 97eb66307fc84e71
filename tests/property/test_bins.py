"""What the label of an interval says is true of every number in it, in the number's own type."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.data.codes import binned

WHOLE = {
    kind: st.integers(np.iinfo(kind).min, np.iinfo(kind).max)
    | st.sampled_from([np.iinfo(kind).min, np.iinfo(kind).max, np.iinfo(kind).max - 1])
    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
}
FLOATS = {kind: st.floats(width=int(kind[-2:])) for kind in ("float16", "float32", "float64")}
FLOATS["float64"] |= st.sampled_from([1e308, -1e308, 5e-324, np.inf, -np.inf, 0.1 + 0.2])
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=3).filter(
    lambda value: abs(value) < 10**30
)
NEAR = st.integers(2**53 - 3, 2**53 + 3) | st.integers(2**63 - 4, 2**63 - 1)


@st.composite
def columns(draw):
    """Return numbers, their Arrow type, and how a text is read as a number of it."""
    name = draw(st.sampled_from([*WHOLE, *FLOATS, "decimal", "text", "near"]))
    if name in WHOLE:
        return draw(st.lists(WHOLE[name], min_size=1)), getattr(pa, name)(), Decimal
    if name in FLOATS:
        kind = np.dtype(name).type
        return draw(st.lists(FLOATS[name], min_size=1)), getattr(pa, name)(), kind
    if name == "near":
        return draw(st.lists(NEAR, min_size=1)), pa.int64(), Decimal
    values = draw(st.lists(DECIMALS, min_size=1))
    if name == "decimal":
        return values, pa.decimal256(70, 3), Decimal
    return [f"{value:f}" for value in values], pa.string(), Decimal


RULES = st.sampled_from(["median", "quantiles:4", "quantiles:20"]) | st.lists(
    DECIMALS | NEAR.map(Decimal) | st.sampled_from([Decimal("0.1"), Decimal("0.1000000000000001")]),
    min_size=1,
    unique=True,
).map(lambda edges: f"edges:{','.join(str(edge) for edge in sorted(edges))}")

LABEL = re.compile(r"(?:(?P<above>.+)<x<=(?P<upto>.+)|<=(?P<most>.+)|>(?P<over>.+)|any)")


@given(columns(), RULES)
def test_an_interval_is_true_of_every_number_in_it(column, rule):
    values, kind, read = column
    with np.errstate(all="ignore"):  # a wide edge is infinite as a narrow float
        shown = binned(pa.array(values, kind), rule, name="x").to_pylist()
        for value, label in zip(values, shown, strict=True):
            own = read(value)
            if own != own:  # noqa: PLR0124  NaN is a missing value
                assert label is None
                continue
            said = LABEL.fullmatch(label)
            low, high = said["above"] or said["over"], said["upto"] or said["most"]
            assert low is None or own > read(low), (value, label)
            assert high is None or own <= read(high), (value, label)


@pytest.mark.parametrize(
    ("values", "rule", "shown"),
    [
        ([2**53, 2**53 + 1], f"edges:{2**53}", [f"<={2**53}", f">{2**53}"]),
        ([1.0, 2.0], "edges:0.1234567890123,0.1234567890124,1.5", None),
        (["0.30000000000000004"], "edges:0.3,0.30000000000000004", ["0.3<x<=0.30000000000000004"]),
        ([np.float32(0.1)], "edges:0.1", ["<=0.1"]),
        ([np.inf, -np.inf], "edges:5", [">5", "<=5"]),
        ([1e308, -1e308, 0.0], "median", [">0", "<=0", "<=0"]),
        ([39, 50], "edges:40", ["<=40", ">40"]),
    ],
)
def test_two_edges_never_have_one_label(values, rule, shown):
    labels = binned(pa.array(values), rule, name="x").to_pylist()
    if shown is None:
        assert ["0.1234567890124<x<=1.5", ">1.5"] == labels
    else:
        assert shown == labels
