"""What is read from a verified release is the same, whichever program reads it."""

from __future__ import annotations

import pytest

import graphveil as gv
from forged.kit import reseal
from forged.readers import readings_of
from forged.test_text import GRAPH, written
from graphveil.core.errors import InputError
from graphveil.verify import verify

PLAIN = ["NA", "nan", "null", "None", "1e5", "true", "007", "+5", "=1+1", "@x", "-3", "x y", "tea"]
PLAIN += ["\u00e9", "e\u0301", "\u65e5\u672c", "<NA>", "N/A", "1_0", "0xA", "it's", "\\N", "$1"]
AWKWARD = ["a,b", 'say "x"', " lead", "trail ", "#tag", "a;b", "50%", "tab\there", '"', '""', ","]
ROWS = [PLAIN, PLAIN, [], ["tea"], [*PLAIN[:5]]]
MIXED = [[*PLAIN, *AWKWARD], [*PLAIN, *AWKWARD], [], ["tea", " lead"]]
CELLS = {
    "name, in full": ["NA", "nan", "null", "true", "*", "a,b", 'x "y"', " z", "=1"],
    "zip": ["01", "02", "*", "1e5x", "e\u0301", "\u00e9", "*", "#1", "%"],
}
NUMBERED = gv.Bipartite.from_lists([[5, 7, 100], [5, 7, 100], [], [], [2], [2]])
GRAPHS = ["csv", "tsv", "text", "parquet", "graphml"]


def check(folder, expected):
    """Assert that a release is whole, and that everybody reads from it what was written."""
    reseal(folder)
    shape = ("data", "files", "manifest")
    assert not {check.name for check in verify(folder).failures()} & set(shape)
    readings = readings_of(folder)
    assert len(readings) >= 3
    for name, content in readings.items():
        assert expected == content, name


@pytest.mark.parametrize("form", GRAPHS)
def test_everybody_reads_the_same_graph(tmp_path, form):
    expected = [tuple(edge) for edge in GRAPH.edges().tolist()]
    check(written(GRAPH, tmp_path, form), expected)


@pytest.mark.parametrize("form", ["csv", "tsv", "text", "parquet"])
@pytest.mark.parametrize("rows", [ROWS, MIXED], ids=["plain", "quoted"])
def test_everybody_reads_the_same_items(tmp_path, form, rows):
    data = gv.Bipartite.from_lists(rows)
    names = data.feature_labels().tolist()
    expected = [(user, names[i]) for user in range(data.n_users) for i in data.row(user)]
    check(written(data, tmp_path, form), expected)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_everybody_reads_the_same_numbered_items(tmp_path, form):
    names = NUMBERED.feature_labels().tolist()
    rows = range(NUMBERED.n_users)
    expected = [(user, str(names[i])) for user in rows for i in NUMBERED.row(user)]
    check(written(NUMBERED, tmp_path, form), expected)


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_everybody_reads_the_same_cells(tmp_path, form):
    expected = [tuple(CELLS), *zip(*CELLS.values(), strict=True)]
    check(written(gv.Table.from_columns(CELLS), tmp_path, form), expected)


@pytest.mark.parametrize("name", ["", "two\nlines", "a\rb", "NUL\0"])
def test_a_name_that_programs_read_in_different_ways_is_not_written_as_text(tmp_path, name):
    data = gv.Bipartite.from_lists([["tea", name], ["tea", name]])
    with pytest.raises(InputError, match='Use format="parquet"'):
        written(data, tmp_path, "csv")


def test_lines_in_a_name_come_back_from_parquet(tmp_path):
    data = gv.Bipartite.from_lists([["two\nlines", "a\rb"], ["two\nlines"]])
    names = data.feature_labels().tolist()
    expected = [(user, names[i]) for user in range(data.n_users) for i in data.row(user)]
    check(written(data, tmp_path, "parquet"), expected)
