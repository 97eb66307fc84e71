"""What pages say in figures is what stored rows hold, a formula gives or a run finds now."""

from __future__ import annotations

import math
import re
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import pandas as pd
import pytest

import graphveil as gv
from graphveil.measures import cascade
from shared_data import network, shared

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "tools")]

import page_figures  # noqa: E402  a script beside the package

from raw_rows import read_rows  # noqa: E402  a script finds it there


def table(page, heading):
    """Return the cells of the rows below the first column of a heading, up to the table's end."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_the_odds_of_an_epsilon_are_those_of_its_formula():
    rows = table("guarantees/edge-differential-privacy.md", "epsilon")
    assert len(rows) >= 4
    for epsilon, factor, share in rows:
        largest = math.exp(float(epsilon))
        digits = 2 if largest < 10 else 0
        assert factor == f"{largest:,.{digits}f}"
        digits = len(share.removesuffix("%").partition(".")[2])
        assert share == f"{100 * largest / (1 + largest):.{digits}f}%"


@pytest.fixture(scope="module")
def calls():
    return gv.datasets.load("copenhagen-calls")


def test_the_page_on_measuring_counts_the_shipped_network(calls):
    text = (DOCS / "how-to" / "measure.md").read_text(encoding="utf-8")
    measured = gv.measure(calls, k=5)
    assert f"{len(measured.unprotected())} people are *unprotected* at k=5" in text
    around = gv.measure(calls, measure="count", k=5)
    reached = cascade(calls, measure="count", second="count")
    [unique, identified, people] = map(
        int,
        re.search(
            r"(\d+) people are unique under `count`, and (\d+) of (\d+)\s+are identified", text
        ).groups(),
    )
    assert int((around.own_sizes == 1).sum()) == unique
    assert int((reached.levels >= 0).sum()) == identified
    assert calls.n_nodes == people


SIZES = {"copenhagen-calls": (536, 621), "ca-GrQc": (5_241, 14_484)}
"""Networks of the table of super-nodes whose rows are made again; ca-HepPh takes long."""


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
@pytest.mark.parametrize(
    ("name", "k"),
    [*(("copenhagen-calls", k) for k in (2, 5)), *(("ca-GrQc", k) for k in (2, 5, 20))],
)
def test_the_table_of_super_nodes_is_what_runs_give(name, k, calls):
    [shown] = [
        cells
        for cells in table("methods/super-nodes.md", "data set")
        if cells[0].split(" (")[0] == name and cells[1] == str(k)
    ]
    graph = calls if name == "copenhagen-calls" else network("ca-GrQc")
    assert (graph.n_nodes, graph.n_edges) == SIZES[name]
    figures = []
    for certain in ("avoid", "allow"):
        cost = gv.SuperNodes(k=k, certain=certain).anonymize(graph, seed=1).private.cost
        for key in ("edges_kept", "certain_edges"):
            share = 100 * cost[key] / cost["edges_before"]
            figures.append(f"{share:.1f}%" if share else "0%")
    assert figures == shown[2:]


def test_what_chunks_keep_is_that_of_stored_rows():
    rows = {
        row["parameters"].get("chunk_rows"): row["jaccard"]
        for row in reversed(
            read_rows(ROOT / "benchmarks" / "smooth_anonymity" / "results" / "chunks.parquet")
        )
        if row.get("set") == "lists-100k" and row["parameters"]["algorithm"] == "greedy"
    }
    text = " ".join((DOCS / "how-to" / "larger-than-memory.md").read_text("utf-8").split())
    said = (
        f"{rows[None]:.0%} as a whole, {rows[20_000]:.0%} in chunks of 20,000, "
        f"{rows[5_000]:.0%} in chunks of 5,000 (Jaccard, k=8)"
    )
    assert said in text


def stored(*path):
    return read_rows(ROOT.joinpath("benchmarks", *path))


def test_the_table_of_profile_is_that_of_stored_rows():
    rows = {
        (f"{row['network'].split()[0]}, {row['people']:,}", row["k"], row["edits_kind"]): row
        for row in stored("profiles", "results", "profile.parquet")
        if not row.get("known")
    }
    shown = table("evidence/methods.md", "network | k | edges changed, `any`")
    assert len(shown) >= 9
    for name, k, *figures in shown:
        any_way, added = (
            rows[name.partition(" people")[0], int(k), kind] for kind in ("any", "add")
        )
        assert f" people, {any_way['arcs']:,} edges" in name
        kept = f"{100 * any_way['kept']:.1f}%"
        assert figures == [f"{any_way['edits']:,}", kept, f"{added['edits']:,}"]


def test_the_table_of_edges_on_the_disk_is_that_of_stored_rows():
    rows = {
        (row["ties"], row["work"]): row
        for row in stored("k_degree", "results", "ties.parquet")
        if row["stage"] == "whole"
    }
    shown = table("evidence/scale.md", "edges | people")
    assert len(shown) == 3
    for ties, people, *figures in shown:
        run, checked = (rows[int(ties.replace(",", "")), work] for work in ("disk", "verify"))
        assert people == f"{run['people']:,}"
        assert figures == [
            seconds_of(run["cpu"]),
            f"{run['mib']:,.0f} MiB",
            f"{run['disk'] / 1e9:.{2 if run['disk'] < 1e9 else 1}f} GB",
            seconds_of(checked["cpu"]),
            f"{checked['mib']:,.0f} MiB",
        ]


def seconds_of(cpu):
    return f"{cpu:.{1 if cpu < 10 else 0}f} s"


PAGES = page_figures.pages()
LISTED = page_figures.LIST.read_text(encoding="utf-8")


def differing(name, text):
    """Return the sections of a page whose figures are not those of the list."""
    said = tomllib.loads(LISTED)["listed"].get(name, {})
    shown = page_figures.figures(text)
    listed = {title: figures for title, (figures, _) in said.items()}
    return sorted(
        title for title in shown.keys() | listed.keys() if shown.get(title) != listed.get(title)
    )


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_of_a_page_is_listed(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    assert [] == differing(name, text), "look at each, then run tools/page_figures.py --write"


def test_a_figure_that_changes_is_noticed_wherever_a_page_shows_it():
    name = "methods/super-nodes.md"
    text = (DOCS / name).read_text(encoding="utf-8")
    assert "50.9%" in text
    assert ["Measured"] == differing(name, text.replace("50.9%", "44.1%"))
    shown = page_figures.figures("# A\n\nOf `7`, 5% and -1.5; .25\n\n```text\n8\n```\n[9](10.md)")
    assert {"A": "7 5% -1.5 .25 9"} == shown
    assert {"": "4"} == page_figures.figures("3<!-- size: adult/users --> and 4 but not k2")


def test_every_section_with_figures_says_where_they_come_from():
    for name, sections in tomllib.loads(LISTED)["listed"].items():
        for title, (_, origin) in sections.items():
            assert re.split(r"\W", origin)[0] in page_figures.ORIGINS, (name, title)
            for file in re.findall(r"\b(?:benchmarks|tests)/[\w./-]*\w", origin):
                assert (ROOT / file).exists(), (name, title)
            for constant in re.findall(r"\bgraphveil[\w.]*:[A-Z_]+", origin):
                assert resolve_name(constant), (name, title)


COMPUTED = tomllib.loads(LISTED)["computed"]


@pytest.mark.parametrize("entry", COMPUTED, ids=lambda entry: entry["page"])
def test_a_sentence_with_computed_figures_is_on_its_page(entry):
    text = " ".join((DOCS / entry["page"]).read_text(encoding="utf-8").split())
    assert page_figures.sentence(entry) in text


def test_the_page_on_attributes_counts_a_real_network():
    folder = shared("fb100-Reed98")
    people = pd.read_csv(folder / "nodes.tsv.gz", sep="\t", dtype=str, keep_default_na=False)
    edges = pd.read_csv(folder / "edges.tsv.gz", sep="\t", header=None, names=["source", "target"])
    people = people[["id", "gender", "year"]].astype({"id": edges["source"].dtype})
    network = gv.Network.from_arrow(edges, people, directed=False)
    alone = gv.measure(gv.Graph.from_arrow(edges)).uniqueness
    known = gv.measure(network, known=("gender", "year")).uniqueness
    text = " ".join((DOCS / "how-to" / "networks-with-attributes.md").read_text("utf-8").split())
    assert (
        f"network of {network.n_nodes} people with gender and year, {alone:.0%} are unique by "
        f"their degree, and {known:.0%} by gender, year and degree."
    ) in text
