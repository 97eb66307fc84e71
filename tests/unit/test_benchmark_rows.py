import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import raw_rows
from raw_rows import append_rows, read_rows, write_rows

KEPT = sorted(Path(raw_rows.__file__).parent.glob("*/results/*.parquet"))
ROWS = [
    {"key": "a", "seed": 1, "value": 0.1, "exact": True, "parameters": {"k": 2}},
    {"key": "b", "seed": None, "value": 2, "curve": [[0.0, 1], [0.5, 2]]},
    {"value": float("inf"), "parameters": {}, "key": ""},
]


def test_rows_come_back_with_the_keys_and_types_they_had(tmp_path):
    path = tmp_path / "results" / "part.parquet"
    write_rows(path, ROWS)
    assert list(map(repr, ROWS[:2])) == list(map(repr, read_rows(path)[:2]))
    assert ROWS[2] == read_rows(path)[2]


def test_rows_are_added_behind_those_that_are_there(tmp_path):
    path = tmp_path / "part.parquet"
    assert [] == read_rows(path)
    for row in ROWS:
        append_rows(path, row)
    append_rows(path, {"key": "c", "value": np.float64(0.5), "curve": (1, 2)})
    assert [*ROWS, {"key": "c", "value": 0.5, "curve": [1, 2]}] == read_rows(path)
    assert ["part.parquet"] == [file.name for file in tmp_path.iterdir()]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_what_is_kept_of_a_benchmark_can_be_read(path):
    assert all(len(row) > 1 for row in read_rows(path)[1:])
