"""Items that are whole numbers: of any length and type, in order, and stated as integers."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.data.ids import as_numbers
from graphveil.engines import LocalEngine

LONG = ["9", "10", str(2**63 - 1)]
ROWS = {
    "integers of 19 digits": [[9, 10, 2**63 - 1]] * 4,
    "numbers as text": [["9", "10", "100"]] * 4,
    "long numbers as text": [LONG] * 4,
    "text beside them is not published": [LONG] * 4 + [[*LONG, "tea"]],
    "text and numbers": [["9", "10", "9a"]] * 4,
    "leading zeros": [["9", "10", "09"]] * 4,
    "nothing is published": [["tea"], ["jam"], ["rye"], ["gin"]],
}
pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
METHOD = gv.SuppressK(k=2, chunks=gv.Chunks(rows=8))


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_an_honest_release_of_numbers_verifies(tmp_path, rows, form):
    data = gv.Bipartite.from_lists(rows, items="things")
    folder = gv.SuppressK(k=2).anonymize(data, seed=1).write(tmp_path / "out", format=form)
    assert [] == gv.verify_release(folder, original=data).failures()


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_an_honest_release_of_numbers_made_on_the_disk_verifies(tmp_path, rows, form):
    path = tmp_path / "likes.parquet"
    pairs = [(f"u{user}", item) for user, row in enumerate(rows) for item in row]
    users, items = zip(*pairs, strict=True)
    parquet.write_table(pa.table({"user": users, "item": items}), path)
    alone = LocalEngine(jobs=1)
    folder = gv.anonymize_rows(METHOD, path, tmp_path / "out", format=form, engine=alone)
    original = gv.read_bipartite(path)
    assert [] == gv.verify_release(folder, original=original).failures()


@pytest.mark.parametrize(
    ("names", "published"),
    [(["10", "9"], [10, 9]), (["10", "09"], ["10", "09"]), ([str(2**63)], [str(2**63)])],
)
def test_names_are_numbers_where_each_is_written_as_one(names, published):
    assert published == as_numbers(pa.array(names)).to_pylist()
