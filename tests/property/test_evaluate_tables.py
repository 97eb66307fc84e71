"""The metrics of tables against slow twins."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.claims.guarantees import KAnonymity
from graphveil.core.errors import UsageError
from graphveil.evaluate import METRICS
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.evaluate import evaluate_release as evaluate

TABLE = [name for name, metric in METRICS.items() if metric.kind is gv.Table]
PERFECT = {
    ("stars-added", "count"): 0.0,
    ("stars-added", "share"): 0.0,
    ("column-entropy", "mean of columns"): 0.0,
}
"""What a release that changed nothing scores; stars are as many as there were."""


def table_of(rows, columns, *, more=()):
    values = {name: [row[place] for row in rows] for place, name in enumerate(columns)}
    return gv.Table.from_columns({**dict(more), **values})


@st.composite
def comparisons(draw):
    """Draw rows before and after, of as many people and columns, and everybody's new place."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    cell = st.sampled_from(["a", "b", "7", "*"])
    rows = st.lists(st.tuples(*[cell] * d), min_size=n, max_size=n)
    return draw(rows), draw(rows), draw(st.permutations(range(n)))


def figures(before, after, position, *, linked=True):
    """Return the figures of a release; a column of the original is not in it."""
    columns = [f"q{place}" for place in range(len(before[0]))]
    original = table_of(before, columns, more={"asked": ["2"] * len(before)}.items())
    linkage = Linkage(np.arange(len(position)), np.array(position, dtype=np.int64))
    release = Release(
        data=table_of(after, columns),
        guarantee=KAnonymity(k=1),
        provenance=Provenance(method="by-hand", source="a test", limits="all", parameters={}),
        private=Private(input_sha256=digest_of(original), linkage=linkage if linked else None),
    )
    evaluation = evaluate(release, original=original)
    missing = set() if linked else {"cells-replaced", "stars-added"}
    assert missing == set(evaluation.not_measured) - {"granularity"}  # of values it never had
    return {(row.question, row.part): row.value for row in evaluation}


@settings(deadline=None, max_examples=100)
@given(case=comparisons())
def test_stars_are_those_counted_cell_by_cell(case):
    before, after, position = case
    values = figures(*case)
    n, d = len(before), len(before[0])
    by_row = [row.count("*") for row in after]
    assert sum(row.count("*") for row in before) == values["stars", "original"]
    assert sum(by_row) == values["stars", "released"]
    assert sum(by_row) / (n * d) == values["stars", "released share"]
    assert 1 - sum(by_row) / (n * d) == pytest.approx(values["cells-shown", "all"])
    known = [(i, c) for i in range(n) for c in range(d) if before[i][c] != "*"]
    added = sum(after[position[i]][c] == "*" for i, c in known)
    assert added == values["stars-added", "count"]
    assert (added / len(known) if known else None) == values.get(("stars-added", "share"))
    for c in range(d):
        assert sum(row[c] == "*" for row in after) / n == values["stars-by-column", f"q{c}"]
    assert sum(by_row) / n == pytest.approx(values["stars-by-row", "mean"])
    assert max(by_row) == values["stars-by-row", "maximum"]
    assert by_row.count(d) / n == values["stars-by-row", "nothing shown"]
    for part, share in {"median": 0.5, "75% quantile": 0.75, "95% quantile": 0.95}.items():
        assert sorted(by_row)[math.ceil(share * n) - 1] == values["stars-by-row", part]


@settings(deadline=None, max_examples=100)
@given(case=comparisons())
def test_classes_and_entropies_are_those_of_counters(case):
    before, after, _ = case
    values = figures(*case, linked=False)
    for part, rows in (("original", before), ("released", after)):
        sizes = Counter(rows).values()
        at = {
            name: values["class-sizes", f"{part} {name}"]
            for name in ("classes", "smallest", "average", "largest", "discernibility")
        }
        assert {
            "classes": len(sizes),
            "smallest": min(sizes),
            "average": len(rows) / len(sizes),
            "largest": max(sizes),
            "discernibility": sum(size * size for size in sizes),
        } == at
    losses = []
    for column in range(len(before[0])):
        losses.append(bits(before, column) - bits(after, column))
        assert losses[-1] == pytest.approx(values["column-entropy", f"q{column}"])
    mean = sum(losses) / len(losses)
    assert mean == pytest.approx(values["column-entropy", "mean of columns"])


def bits(rows, column):
    known = Counter(row[column] for row in rows if row[column] != "*")
    total = sum(known.values())
    return -sum(c / len(rows) * math.log2(c / total) for c in known.values())


@settings(deadline=None, max_examples=30)
@given(case=comparisons())
def test_a_release_that_changed_nothing_has_lost_nothing(case):
    before, _, position = case
    after = [before[position.index(place)] for place in range(len(before))]
    values = figures(before, after, position)
    known = any(cell != "*" for row in before for cell in row)
    expected = {key: value for key, value in PERFECT.items() if known or key[1] != "share"}
    assert expected == {key: pytest.approx(values[key]) for key in expected}
    assert values["stars", "original"] == values["stars", "released"]
    same = {
        values["class-sizes", f"original {name}"] == values["class-sizes", f"released {name}"]
        for name in ("classes", "smallest", "average", "largest", "discernibility")
    }
    assert {True} == same


def test_a_released_column_that_the_original_lacks_is_named():
    original = gv.Table.from_columns({"sex": ["f"]})
    release = Release(
        data=gv.Table.from_columns({"age": ["30"]}),
        guarantee=KAnonymity(k=1),
        provenance=Provenance(method="by-hand", source="a test", limits="all", parameters={}),
    )
    with pytest.raises(UsageError, match="the original has no column 'age'"):
        evaluate(release, original=original)


def test_every_metric_of_tables_is_measured():
    values = figures([("a",)], [("a",)], [0])
    by_name = {name for name in TABLE if METRICS[name].by_name}
    assert set(TABLE) == {name for name, _ in values} | by_name
