"""Tables and figures of the papers can be run again, by one command, with checked data."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.cli import run
from graphveil.core.errors import InputError, ParameterError, UsageError
from graphveil.evaluate.metrics.registry import METRICS, PRESETS
from graphveil.io.datasets import PAPERS
from graphveil.verbs.reproduce.names import PAPER_NAMES
from graphveil.verbs.reproduce.reproduce import ITEMS, KINDS, listed
from graphveil.verbs.reproduce.rows import coded
from shared_data import shared

PAGES = Path(__file__).resolve().parents[2] / "docs" / "papers"


def values(done, by):
    return {(row.data, row.figure): row.value for row in done.rows if row.by == by}


def test_every_paper_has_something_that_needs_no_further_data():
    assert set(ITEMS) == {item.paper for item in listed() if item.alone}
    assert {kind for items in ITEMS.values() for kind, _ in items} <= set(KINDS)
    assert {name for item in listed() for name in item.needs} <= set(PAPERS)
    assert gv.reproduce() == listed()
    assert gv.reproduce("k-degree") == listed("k-degree")


def test_every_item_is_named_on_the_page_of_its_paper():
    for paper, items in ITEMS.items():
        page = (PAGES / f"{paper}.md").read_text(encoding="utf-8")
        named = set(re.findall(rf"reproduce {paper} --(\w+) ([\d.]+)", page))
        assert named <= set(items)
        if paper != "anonymization-problem":
            assert any(key in named for key in items)


def test_the_worked_example_has_the_stars_of_the_paper_and_of_the_page():
    page = (PAGES / "adaptive-anonymity.md").read_text(encoding="utf-8")
    for number, stars in (("1", 10), ("2", 8)):
        done = gv.reproduce("adaptive-anonymity", figure=number)
        key = ("six people, four columns", "stars")
        assert [stars] * 3 == [values(done, by)[key] for by in ("paper", "published", "default")]
        assert re.search(rf"^\| Figure {number}, .* \| {stars} \| {stars} \|", page, re.MULTILINE)


def test_the_printed_threshold_lets_more_cells_pass_than_the_corrected_one():
    done = gv.reproduce("top-m-filter", algorithm=1)
    key = ("10 nodes, 5 edges, epsilon 1", "cells that pass")
    assert values(done, "paper")[key] == pytest.approx(9.47, abs=0.01)
    assert values(done, "published")[key] == pytest.approx(5)


def test_the_command_prints_side_by_side_and_writes_a_row_for_each_run(tmp_path, capsys):
    out = tmp_path / "rows.parquet"
    words = ["reproduce", "smooth-anonymity", "--theorem", "4.1"]
    assert run([*words, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"data +figure +paper +published +default", shown)
    assert re.search(r"0\.05 +0\.1801 +-", shown)
    assert {"paper", "published"} == set(parquet.read_table(out)["by"].to_pylist())
    assert run([*words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 4
    assert run([*words, "--out", str(out)]) == 2
    assert "already exists" in capsys.readouterr().err


def test_without_a_paper_the_command_says_what_there_is_and_what_it_needs(capsys):
    assert run(["reproduce"]) == 0
    shown = capsys.readouterr().out
    assert all(paper in shown for paper in ITEMS)
    assert "only with: adult" in shown
    assert run(["reproduce", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(listed())


def test_data_that_is_missing_is_named_with_its_address_and_digest(capsys):
    assert run(["reproduce", "smooth-anonymity", "--table", "1"]) == 2
    error = capsys.readouterr().err
    adult = PAPERS["adult"]
    assert all(word in error for word in (adult.file, adult.url, adult.sha256, "--data FOLDER"))
    done = gv.reproduce("smooth-anonymity", table=2)
    assert adult.url in done.not_run["adult"]
    assert done.not_run["adult"].endswith('use data="FOLDER".')
    assert run(["reproduce", "smooth-anonymity", "--table", "2"]) == 0
    shown = capsys.readouterr()
    assert "use --data FOLDER." in " ".join((shown.out + shown.err).split())
    assert run(["reproduce", "smooth-anonymity", "--table", "2", "--json"]) == 0
    assert "FOLDER" in json.loads(capsys.readouterr().out)["not_run"]["adult"]
    assert {"stochastic"} == {row.data for row in done.rows}


def test_a_file_with_other_content_is_refused(tmp_path):
    (tmp_path / "adult.data").write_text("39, State-gov\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has SHA-256 .*, expected 5b00264"):
        gv.reproduce("smooth-anonymity", table=1, data=tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        gv.reproduce("smooth-anonymity", table=1, data=tmp_path / "nowhere")


def test_a_file_of_the_papers_is_found_checked_and_read(tmp_path):
    path = shared("ecoli/ecoli.data.gz")
    folder = tmp_path / "ecoli"
    folder.mkdir()
    (folder / "ecoli.data").write_bytes(gzip.decompress(path.read_bytes()))
    assert folder / "ecoli.data" == gv.datasets.found_in("ecoli", tmp_path)
    assert (336, 8) == coded(folder / "ecoli.data", "ecoli").shape
    assert np.array_equal(coded(path, "ecoli"), coded(folder / "ecoli.data", "ecoli"))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"paper": "smoth-anonymity"}, ParameterError, "Did you mean smooth-anonymity"),
        ({"paper": "k-degree", "table": 9}, ParameterError, "Use algorithm 1"),
        ({"table": 3}, UsageError, "which paper"),
        ({"paper": "k-degree", "table": 1, "figure": 1}, UsageError, "are two items"),
        ({"paper": "smooth-anonymity", "table": 2, "repeats": 0}, ParameterError, "below 1"),
    ],
)
def test_what_cannot_be_run_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        gv.reproduce(**given)


# ---- the models of the papers


@pytest.mark.parametrize(("n", "m"), [(2, 1), (5, 10), (500, 4000), (3, 0), (40_000, 3)])
def test_a_random_graph_has_so_many_edges(n, m):
    graph = gv.datasets.erdos_renyi(n, m, seed=3)
    assert (n, m) == (graph.n_nodes, graph.n_edges)
    assert graph == gv.datasets.erdos_renyi(n, m, seed=3)


def test_every_pair_is_equally_likely():
    seen = [gv.datasets.erdos_renyi(4, 1, seed=s).edges()[0].tolist() for s in range(1200)]
    counts = [seen.count([i, j]) for i in range(4) for j in range(i + 1, 4)]
    assert 1200 == sum(counts)
    assert 140 < min(counts) <= max(counts) < 260


def test_growth_gives_hubs_and_rings_do_not():
    grown = gv.datasets.barabasi_albert(500, 2, seed=1)
    ring = gv.datasets.watts_strogatz(500, 4, seed=1)
    assert (996, 1000) == (grown.n_edges, ring.n_edges)
    assert grown.degrees().min() == 2
    assert grown.degrees().max() > 3 * ring.degrees().max()
    still = gv.datasets.watts_strogatz(9, 4, 0.0, seed=1)
    assert {4} == set(still.degrees().tolist())
    assert [1, 2, 7, 8] == sorted(still.neighbors(0).tolist())


def test_blocks_have_the_two_densities():
    data = gv.datasets.block_model(1024, seed=2)
    items = data.indices // 64 == np.repeat(np.arange(1024), np.diff(data.indptr)) // 64
    assert items.sum() / (1024 * 64) == pytest.approx(0.8, abs=0.01)
    assert (~items).sum() / (1024 * 960) == pytest.approx(0.01, abs=0.001)


@pytest.mark.parametrize(
    ("draw", "given"),
    [
        ("block_model", {"n": 10, "block": 3}),
        ("block_model", {"inner": 1.5}),
        ("erdos_renyi", {"n": 3, "m": 4}),
        ("barabasi_albert", {"n": 3, "k": 3}),
        ("watts_strogatz", {"n": 5, "k": 3}),
        ("watts_strogatz", {"n": 5, "k": 2, "p": 2.0}),
    ],
)
def test_a_model_refuses_what_it_cannot_draw(draw, given):
    with pytest.raises(ParameterError):
        getattr(gv.datasets, draw)(**given, seed=1)


# ---- the eleven metrics by one name


def test_the_eleven_metrics_of_the_filter_have_one_name():
    graph = gv.datasets.load("copenhagen-calls")
    with pytest.warns(gv.GraphveilWarning):
        release = gv.Rename().anonymize(graph)
    rows = gv.evaluate_release(release, original=graph, metrics=["top-m-filter"], seed=1)
    names = PRESETS["top-m-filter"]
    assert 11 == len(set(names) & set(METRICS))
    assert set(names) == {row.question for row in rows}
    with pytest.raises(ParameterError, match="Did you mean top-m-filter"):
        gv.evaluate_release(release, original=graph, metrics=["top-m-filte"])
    swept = gv.sweep([gv.Rename()], graph, metrics=["top-m-filter"], attacks=[], jobs=1)
    assert list(names) == swept.plan.metrics


def test_the_names_of_the_papers_are_those_of_their_pages_and_of_methods(capsys):
    assert run(["methods", "--papers", "--json"]) == 0
    names = json.loads(capsys.readouterr().out)
    assert names == [name._asdict() for name in PAPER_NAMES]
    for name in names:
        page = (PAGES / f"{name['paper']}.md").read_text(encoding="utf-8")
        assert f"{{{{ names_{name['paper'].replace('-', '_')} }}}}" in page
    assert run(["methods", "--papers"]) == 0
    assert "non-smooth" in capsys.readouterr().out


def test_the_page_of_a_method_that_a_paper_names_links_to_the_page_of_the_paper():
    methods = PAGES.parent / "methods"
    for method in METHODS_OF_PAPERS:
        text = (methods / f"{method}.md").read_text(encoding="utf-8")
        assert re.search(r"\(\.\./papers/[a-z-]+\.md[#)]", text), method


METHODS_OF_PAPERS = {name.ours.split()[0].rstrip(",") for name in PAPER_NAMES} & set(gv.METHODS)
