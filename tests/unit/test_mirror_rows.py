"""Figures of the evidence for `structural` on mirrors are those of the rows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from raw_rows import read_rows

ROOT = Path(__file__).parents[2]
ROWS = ROOT / "benchmarks/anonymization_problem/results/mirrors.parquet"
NAMES = {
    "radoslaw-email": "radoslaw",
    "primary": "primaryschool",
    "polblogs": "polblogs",
    "chameleon": "chameleon",
    "polbooks": "polbooks",
    "moreno-innovation": "moreno-innovation",
}


def lines():
    page = (ROOT / "docs/evidence/methods.md").read_text()
    table = page.partition("| network | edges | measure | k |")[2].partition("\n\n")[0]
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


@pytest.mark.parametrize("cells", lines(), ids=lambda cells: "-".join(cells[:4]))
def test_figures_of_mirrors_on_the_page_are_of_the_rows(cells):
    name, ties, measure, k, kept, clustering = cells
    rows = {row["key"]: row for row in read_rows(ROWS)}
    key = f"{NAMES[name.split()[0]]}/{measure}/{k}/full"
    before, now = rows[f"{key}/before/1.0/1"], rows[f"{key}/now/1.0/1"]
    assert 0 == before["left"] == now["left"]
    assert f"{now['edges']:,}" == ties
    assert f"{100 * before['kept']:.1f}, {100 * now['kept']:.1f}" == kept
    close = now["clustering_before"], before["clustering"], now["clustering"]
    assert ", ".join(f"{each:.2f}" for each in close) == clustering


def test_there_are_such_figures():
    assert len(lines()) >= 4
