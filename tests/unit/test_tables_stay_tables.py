"""Methods that read a table as features release it as a table, and verify counts its cells."""

import dataclasses

import numpy as np
import pytest

import graphveil as gv
from graphveil.core.errors import GraphveilWarning
from graphveil.data import SUPPRESSED, Bipartite, Table
from graphveil.verbs.advise.trials import shares_of

HALVES = {
    "a=b": ["x", "x", "y", "y"],
    "age>=18": ["=", "=", "=", "="],
    "town": ["q", "r", "s", "t"],
}
"""Two values of the first column are each true of half of the rows."""

ROUND = {
    "age": [30, 30, 30, 41] * 3,
    "a=b": ["p", "p", "p", "p"] * 3,
    "sex": ["f", "f", "m", "m"] * 3,
    "name": list("abcdefghijkl"),
}


def table(columns):
    return Table.from_columns(columns, person="row")


def cells(release):
    return release.to_arrow().to_pylist()


@pytest.mark.parametrize(
    "method",
    [
        gv.SuppressK(k=3),
        gv.SmoothK(k=3),
        gv.SmoothK(k=4, ties="drop"),
        gv.Mondrian(k=3),
        gv.Mondrian(k=3, release="majority"),
    ],
    ids=str,
)
def test_the_columns_that_came_in_come_out_in_their_order_and_verify_counts_them(method, tmp_path):
    original = table(ROUND)
    release = method.anonymize(original, seed=1)
    assert release.data.columns == ("age", "a=b", "sex", "name")
    assert {row["name"] for row in cells(release)} == {None}
    folder = release.write(tmp_path / "release", format="csv")
    assert (folder / "data.csv").read_text().startswith("age,a=b,sex,name\n")
    verdict = gv.verify_release(folder, original)
    assert verdict.ok
    assert {"classes", "cost"} <= {check.name for check in verdict.checks}


def test_of_two_values_of_a_column_that_a_class_would_show_it_shows_none():
    with pytest.warns(GraphveilWarning, match=r"100\.0% of the published entries are true"):
        release = gv.SmoothK(k=4).anonymize(table(HALVES), seed=1)
    assert cells(release) == [{"a=b": None, "age>=18": "=", "town": None}] * 4
    assert release.cost["stars_added"] == 8


def test_one_hot_features_are_released_as_features_with_both_values():
    release = gv.SmoothK(k=4).anonymize(table(HALVES).one_hot(), seed=1)
    assert isinstance(release.data, Bipartite)
    assert len(release.data.row(0)) == 3


def test_values_that_most_of_a_class_have_are_counted_as_replaced_or_filled():
    columns = {"sex": ["f", "f", "f", "m", "*"], "town": ["x"] * 5}
    release = gv.SmoothK(k=5).anonymize(table(columns), seed=1)
    assert cells(release) == [{"sex": "f", "town": "x"}] * 5
    cost = release.cost
    assert (cost["cells_replaced"], cost["cells_filled"], cost["stars_added"]) == (1, 1, 0)
    assert cost["kept_share"] == pytest.approx(8 / 9)
    assert release.verify(table(columns)).ok
    rows = release.evaluate(table(columns), metrics=["cells-replaced"])
    assert {"count": 1, "share": 0.1, "filled": 1, "filled share": 0.1} == {
        row.part: row.value for row in rows if row.question == "cells-replaced"
    }


HOLES = {"sex": ["f", "f", "f", "m", "*", "*"], "town": ["x", "y", "y", "*", "x", "x"]}


@pytest.mark.parametrize(
    "method",
    [gv.SuppressK(k=2), gv.Adaptive(levels=2), gv.Generalize(k=2), gv.SmoothK(k=3)],
    ids=str,
)
def test_kept_is_a_share_of_the_cells_that_are_not_missing(method, tmp_path):
    original = table(HOLES)
    release = method.anonymize(original, seed=1)
    before, after = original.codes != SUPPRESSED, release.data.codes != SUPPRESSED
    shown = 1 - release.cost["stars_added"] / np.count_nonzero(before)
    lost = release.cost.get("cells_replaced", 0) / np.count_nonzero(before)
    assert release.cost["kept_share"] == pytest.approx(shown - lost)
    assert shares_of(release.cost)[0] == release.cost["kept_share"]
    if type(method) is gv.Generalize:
        exact = np.count_nonzero(after) / np.count_nonzero(before)
        assert release.cost["exact_share"] == pytest.approx(exact, abs=1e-6)
    assert gv.verify_release(release.write(tmp_path / "release", format="csv"), original).ok


def test_a_record_of_an_earlier_version_counts_missing_cells_too():
    original = table(HOLES)
    release = gv.SuppressK(k=2).anonymize(original, seed=1)
    cells, gone = original.codes.size, np.count_nonzero(release.data.codes == SUPPRESSED)
    release.private.cost["kept_share"] = 1.0 - int(gone) / cells
    assert release.verify(original).ok
    release.private.cost["kept_share"] = 0.99
    assert "cost" in failing(release, original)


def forged(release, columns):
    """Return a release with other cells, under the same linkage and claim."""
    return dataclasses.replace(release, data=Table.from_columns(columns))


def failing(release, original):
    return {check.name for check in release.verify(original).checks if check.outcome == "fails"}


def test_a_value_that_too_few_of_its_class_have_is_caught():
    original = table({"sex": ["f", "f", "m", "m", "m"], "town": ["x"] * 5})
    release = gv.SmoothK(k=5).anonymize(original, seed=1)
    assert {row["sex"] for row in cells(release)} == {"m"}
    wrong = forged(release, {"sex": ["f"] * 5, "town": ["x"] * 5})
    assert "entries true of their class" in failing(wrong, original)


def test_exactly_half_is_no_majority_where_ties_are_dropped():
    original = table({"sex": ["f", "f", "m", "m"], "town": ["x"] * 4})
    release = gv.SmoothK(k=4, ties="drop").anonymize(original, seed=1)
    wrong = forged(release, {"sex": ["f"] * 4, "town": ["x"] * 4})
    assert "no ties" in failing(wrong, original)
    assert "entries true of their class" not in failing(wrong, original)


def test_a_nested_release_of_a_table_puts_classes_of_the_first_together():
    original = table(ROUND)
    first = gv.SuppressK(k=3).anonymize(original, seed=1)
    second = gv.SuppressK(k=6).anonymize(original, seed=2, nested_in=first)
    assert second.verify(original).ok
    one, two = (rows_by_person(release, original) for release in (first, second))
    assert len(set(one)) > 1
    for row in set(one):
        assert len({after for before, after in zip(one, two, strict=True) if before == row}) == 1


def rows_by_person(release, original):
    place = release.private.linkage.positions_of(original.labels(), release.data.labels())
    rows = [tuple(row.values()) for row in cells(release)]
    return [rows[number] for number in place.tolist()]


def test_metrics_of_features_are_measured_on_tables_by_name():
    original = table(ROUND)
    release = gv.SmoothK(k=3).anonymize(original, seed=1)
    of_table = release.evaluate(original, metrics=["entries-created", "cells-replaced"])
    counts = {row.question: row.value for row in of_table if row.part == "count"}
    assert counts["cells-replaced"] == release.cost.get("cells_replaced", 0)
    assert {row.question for row in of_table} >= {"entries-created", "cells-replaced"}
