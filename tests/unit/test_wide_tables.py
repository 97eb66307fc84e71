"""Tables of thousands of columns: verify reads each, and names the one that is wrong."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

import graphveil as gv
from graphveil import io
from graphveil.verify.database import COLUMNS_AT_ONCE, database
from graphveil.verify.recount.rows.row_classes import equal_classes
from graphveil.verify.recount.rows.table_cells import rows_by_stars, table_classes

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

ROWS = 12


def table_of(n_columns, *, rows=ROWS):
    """Return rows in which no two columns need be equal."""
    cells = np.random.default_rng(n_columns).integers(0, 2, (rows, n_columns))
    return gv.Table.from_columns(
        {f"c{number}": [f"v{value}" for value in cells[:, number]] for number in range(n_columns)}
    )


def test_a_table_of_700_columns_in_classes_is_verified_whole(tmp_path):
    table = table_of(700)
    folder = gv.ClusterK(k=2).anonymize(table).write(tmp_path / "out", format="parquet")
    verdict = gv.verify_release(folder, table)
    assert [] == verdict.failures()
    assert {"holds"} == {check.outcome for check in verdict.checks}


def test_a_table_of_1600_columns_is_verified_whole(tmp_path):
    file = tmp_path / "people.csv"
    io.write(table_of(1600, rows=2), file)  # so few that nothing looks like people
    release = gv.Rename().anonymize(gv.read_table(file))
    folder = release.write(tmp_path / "out", format="csv")
    verdict = gv.verify_release(folder, file)
    assert {"holds"} == {check.outcome for check in verdict.checks}
    details = {check.name: check.detail for check in verdict.checks}
    assert "2 rows, 1600 columns, 0 suppressed cells" == details["counts"]
    assert "3200 cells in both, under new ids" == details["same data"]


def test_one_changed_cell_of_500_columns_is_named(tmp_path):
    table = table_of(500)
    folder = gv.Rename().anonymize(table).write(tmp_path / "out", format="csv")
    lines = [line.split(",") for line in (folder / "data.csv").read_text().splitlines()]
    lines[3][432] = "v1" if lines[3][432] == "v0" else "v0"
    (folder / "data.csv").write_text("".join(f"{','.join(line)}\n" for line in lines))
    manifest = json.loads((folder / "release.json").read_text())
    manifest["data"]["files"][0]["sha256"] = digest(folder / "data.csv")
    (folder / "release.json").write_text(json.dumps(manifest))
    found = {check.name: check.detail for check in gv.verify_release(folder, table).failures()}
    assert "line 4 of data.csv has a different value of 'c432'" in found["same data"]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("n_columns", [COLUMNS_AT_ONCE, COLUMNS_AT_ONCE + 1])
def test_rows_are_equal_where_all_their_cells_are_however_many(n_columns):
    rows = [["a"] * n_columns, ["a"] * n_columns, ["a"] * (n_columns - 1) + ["b"]]
    rows += [["*"] + ["a"] * (n_columns - 1)] * 2 + [["*"] * n_columns]
    with database() as db:
        db.put("cells", {f"c{n}": [row[n] for row in rows] for n in range(n_columns)})
        names = ", ".join(f"nullif(c{n}, '*') AS c{n}" for n in range(n_columns))
        db.run(f"CREATE VIEW shown AS SELECT rowid AS row, {names} FROM cells")  # noqa: S608  names of this file
        assert (6, 4, 1) == equal_classes(db, table_classes(db), 1)[:3]
        assert ((0, 3), (1, 2), (n_columns, 1)) == rows_by_stars(db)


def test_the_first_cell_that_meets_a_condition_is_named():
    with database() as db:
        columns = {f"c{n}": ["x", "x", "x"] for n in range(150)}
        db.put("cells", columns | {"c140": ["x", "", ""], "c149": ["", "x", "x"]})
        assert ("c140", 1) == db.first_cell("cells", list(columns), "{} = ''")
        assert db.first_cell("cells", list(columns), "{} = 'y'") is None


def test_columns_of_numbers_alone_are_those_without_another_cell():
    with database() as db:
        late = ["7"] * 2000 + ["x"]
        db.put("cells", {"a": ["7"] * 2001, "b": late, "c": ["-7"] * 2001, "d": ["07"] * 2001})
        assert ["a"] == db.columns_of_numbers("cells", ["a", "b", "c", "d"])
