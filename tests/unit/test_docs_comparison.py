"""The comparison with other tools says nothing that has no source."""

from __future__ import annotations

import csv
import datetime as dt
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNKNOWN = "not known to us"
DATA = tomllib.loads((ROOT / "docs" / "comparison.toml").read_text(encoding="utf-8"))
WANTED = {
    *("ARX", "sdcMicro", "Amnesia", "Anonymeter", "SmartNoise", "OpenDP", "Tumult Analytics"),
    *("PGB", "SecGraph", "NetworkX", "igraph", "SDNist", "DP Wizard", "pyCANON", "ANJANA"),
}


def problems(tool, sources, columns):
    """Return what is wrong with the row of a tool."""
    said = {name: cell for name, cell in tool.items() if name != "name"}
    wrong = [f"{name}: no such cell" for name in set(columns) ^ set(said)]
    for name, cell in said.items():
        if isinstance(cell, str):
            wrong += [] if cell == UNKNOWN else [f"{name}: {cell!r} has no source"]
        elif set(cell) != {"text", "source"} or not cell["text"].strip():
            wrong.append(f"{name}: a text and a source")
        elif cell["source"] not in sources:
            wrong.append(f"{name}: no source {cell['source']!r}")
    return wrong


@pytest.mark.parametrize("tool", DATA["tools"], ids=lambda tool: tool["name"])
def test_every_cell_has_a_source_or_says_that_it_is_not_known(tool):
    assert [] == problems(tool, DATA["sources"], DATA["columns"])


@pytest.mark.parametrize(
    ("cell", "wrong"),
    [
        ("yes", "data: 'yes' has no source"),
        ({"text": "yes"}, "data: a text and a source"),
        ({"text": " ", "source": "arx"}, "data: a text and a source"),
        ({"text": "yes", "source": "hearsay"}, "data: no source 'hearsay'"),
    ],
)
def test_a_cell_without_a_source_is_noticed(cell, wrong):
    assert [wrong] == problems({"name": "a", "data": cell}, DATA["sources"], {"data": "reads"})


def test_a_missing_cell_is_noticed():
    assert ["page: no such cell"] == problems({"name": "a"}, {}, {"page": "a page"})


@pytest.mark.parametrize("name", DATA["sources"])
def test_a_source_has_an_address_a_version_and_a_day_and_is_used(name):
    source = DATA["sources"][name]
    assert {"url", "version", "read"} == set(source)
    assert re.match(r"https://|\w+\.md$", source["url"])
    assert source["version"]
    assert isinstance(source["read"], dt.date)
    cells = [cell for tool in DATA["tools"] for cell in tool.values() if isinstance(cell, dict)]
    assert name in {cell["source"] for cell in cells}


def test_the_tools_that_people_ask_about_are_there_and_the_page_shows_them():
    assert {"graphveil"} == {tool["name"] for tool in DATA["tools"]} - WANTED
    assert set() == WANTED - {tool["name"] for tool in DATA["tools"]}
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert "{{ comparison_of_results }}" in page
    assert "{{ comparison_of_checks }}" in page
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    shown = re.findall(r"\bcomparison\(([^)]*)\),", conf)
    assert list(DATA["columns"]) == re.findall(r'"(\w+)"', ", ".join(shown))
    assert "{{ comparison_sources }}" in page
    assert "\ncomparison\n" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def test_the_row_of_anjana_is_the_best_that_was_measured():
    stored = ROOT / "benchmarks" / "generalize" / "results" / "anjana.csv"
    with stored.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    best = [
        max((row for row in rows if row["k"] == k), key=lambda row: float(row["granularity"]))
        for k in ("5", "10")
    ]
    cells = " | ".join(row["granularity"] for row in best)
    seconds = " and ".join(row["cpu_seconds"] for row in best)
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert f"the best of eight limits of suppressed rows | {cells} | {seconds}, the call" in page
