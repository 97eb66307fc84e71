"""Figures: the marks of a page as SVG, PDF and PNG, and nothing that was not measured."""

from __future__ import annotations

import stat
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest

import graphveil as gv
from graphveil.core.rows import Setting
from graphveil.pages import charts, figures
from graphveil.pages import print_figures as paper
from graphveil.pages.charts import Bin, Mark
from networks_data import random_graph

HOSTILE = "<script>alert(1)</script> $\\frac{1}{0}$ \u202e \x00 & " + "x" * 200
SVG = "{http://www.w3.org/2000/svg}"


def row(question, part="all", value=0.5, **more):
    return gv.Row(
        release="a",
        question=question,
        part=part,
        value=value,
        **({"unit": "share of ties", "direction": "higher is better"} | more),
    )


@pytest.fixture(scope="module")
def graph():
    return gv.datasets.load("copenhagen-calls")


@pytest.fixture(scope="module")
def release(graph):
    return gv.KDegree(k=5).anonymize(graph, seed=1)


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314


def test_a_measure_draws_how_many_people_have_at_most_so_many_look_alikes(graph):
    measured = gv.measure(graph, k=5)
    figure = gv.plot(measured)
    sizes = measured.own_sizes
    for one in figure.bins:
        assert one.after == np.count_nonzero((sizes >= one.low) & (sizes <= one.high))
    assert graph.n_nodes == sum(one.after for one in figure.bins)
    assert all(one.before is None for one in figure.bins)
    assert "size of the equivalence class, at most" in texts(figure.svg)


def test_an_attack_draws_its_figures_beside_the_guess(graph, release):
    rows = gv.attack_release(release, graph, attacks=["candidate-set"], seed=1)
    marks = {mark.label: mark for mark in gv.plot(rows).marks}
    for label, part in (
        ("number of connections", "degree, right guess"),
        ("numbers of connections of everyone they know", "vrq, right guess"),
    ):
        one = rows["candidate-set", part]
        assert (one.value, one.guess) == (marks[label].after, marks[label].guess)


def test_an_evaluation_draws_before_and_after_as_one_mark(graph, release):
    rows = gv.evaluate_release(release, graph, metrics=["edges-kept", "clustering"], seed=1)
    marks = {mark.label: mark for mark in gv.plot(rows).marks}
    assert {"edges-kept: share", "clustering"} == set(marks)
    assert rows["clustering", "original"].value == marks["clustering"].before
    assert rows["clustering", "released"].value == marks["clustering"].after
    assert marks["edges-kept: share"].before is None


def test_what_is_no_share_is_not_drawn():
    rows = gv.Rows([row("a", unit="edges"), row("b", value=1.5), row("c", value=0.25)])
    assert ["c"] == [mark.label for mark in gv.plot(rows).marks]
    with pytest.raises(gv.GraphveilError, match=r"No row is a share from 0 to 1\. .*to_pandas"):
        gv.plot(gv.Rows([row("a", unit="edges")]))


def test_parts_before_and_after_are_one_mark_and_their_difference_is_none():
    values = {"original": 0.2, "released": 0.3, "absolute difference": 0.1}
    path = Setting(of="path")
    rows = gv.Rows(
        [
            row("graphlets", f"path, {figure}", value, figure=figure, setting=path)
            for figure, value in values.items()
        ]
    )
    assert (Mark("graphlets: path", 0.3, 0.2),) == gv.plot(rows).marks


def test_more_rows_than_can_be_read_are_counted_in_the_title():
    figure = gv.plot(gv.Rows([row(f"metric {number}") for number in range(40)]))
    assert figures.MOST_MARKS == len(figure.marks)
    assert figure.title.endswith("the first 30 of 40")


def test_nobody_cannot_be_drawn():
    with pytest.raises(gv.GraphveilError, match="There are no people in this data"):
        gv.plot(gv.measure(gv.Graph.from_edges([], [], n=0), k=2))


@pytest.mark.parametrize("ending", [".svg", ".pdf", ".png"])
@pytest.mark.parametrize(
    "figure",
    [
        figures.Plot(
            title=HOSTILE, marks=(Mark(HOSTILE, 0.5, 0.25, 0.4, 0.6, 0.1), Mark("b", 0.0))
        ),
        figures.Plot(title=HOSTILE, bins=(Bin(0, 0, 1, 2), Bin(1, 9, 3, 1)), axis=HOSTILE),
        figures.Plot(title="One", bins=(Bin(0, 0, None, 2),), axis="ties"),
    ],
    ids=["marks", "bins", "one bin"],
)
def test_a_file_is_written_for_its_owner_with_the_same_bytes_each_time(figure, ending, tmp_path):
    one, another = (figure.write(tmp_path / f"{name}{ending}") for name in "ab")
    assert one.read_bytes() == another.read_bytes()
    head = {".svg": b"<svg", ".pdf": b"%PDF", ".png": b"\x89PNG"}[ending]
    assert one.read_bytes().startswith(head)
    assert 0o600 == stat.S_IMODE(one.stat().st_mode)
    with pytest.raises(gv.GraphveilError, match="exists"):
        figure.write(one)
    assert one == figure.write(one, force=True)


def test_hostile_words_stay_words_in_a_picture():
    figure = figures.Plot(title=HOSTILE, marks=(Mark(HOSTILE, 0.5),))
    root = ET.fromstring(figure.svg)  # noqa: S314  what a reader's program does
    assert [] == [element for element in root.iter() if element.tag.endswith("script")]
    assert figure.svg == figure._repr_html_()
    assert not {"\x00", "\u202e"} & set(figure.svg)
    assert all(len(text) < 120 for text in texts(figure.svg))


def test_paper_shows_the_same_figures_as_the_page():
    marks = (Mark("a", 0.5, 0.25, 0.4, 0.6, 0.1), Mark("b", 0.75))
    [axes] = paper.dots(marks).axes
    drawn = {}
    for line in axes.get_lines():
        drawn.setdefault(line.get_label(), []).append([float(x) for x in line.get_xdata()])
    assert [[0.5], [0.75]] == drawn["release"]
    assert [[0.25]] == drawn["original"]
    assert [[0.1]] == drawn["guess without the release"]
    assert [[0.4, 0.6]] == drawn["95% interval"]
    assert ["a", "b"] == [text.get_text() for text in axes.get_yticklabels()]


def test_steps_on_paper_reach_all_people():
    [axes] = paper.steps([Bin(0, 0, 1, 2), Bin(1, 9, 3, 2)], "ties").axes
    heights = {line.get_label(): list(map(float, line.get_ydata())) for line in axes.get_lines()}
    assert {"original": [0.25, 1.0, 1.0], "release": [0.5, 1.0, 1.0]} == heights


def test_without_matplotlib_an_error_names_the_extra_and_svg_needs_none(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "graphveil.pages.print_figures", raising=False)
    monkeypatch.delattr("graphveil.pages.print_figures", raising=False)
    figure = figures.Plot(title="a", marks=(Mark("a", 0.5),))
    assert figure.write(tmp_path / "a.svg").exists()
    with pytest.raises(gv.GraphveilError, match=r"pip install 'graphveil\[figures\]'"):
        figure.write(tmp_path / "a.pdf")
    assert ["a.svg"] == [path.name for path in tmp_path.iterdir()]


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(gv.GraphveilError, match=r"a\.jpg does not end in \.svg, \.pdf or \.png"):
        figures.Plot(title="a", marks=(Mark("a", 0.5),)).write(tmp_path / "a.jpg")


def swept():
    ring = gv.Graph.from_edges([*range(20), 0, 3], [*range(1, 20), 0, 6, 9])
    grid = {"k-degree": {"k": [2, 3, 21]}, "randomized-response": {"epsilon": [2.0, 6.0]}}
    asked = {"metrics": ["edge-jaccard"], "attacks": ["candidate-set"], "jobs": 1, "seed": 1}
    return gv.sweep(grid, ring, repeats=2, **asked)


def test_a_sweep_draws_two_figures_of_every_point(tmp_path):
    sweep = swept()
    frontier = sweep.frontier().to_pylist()
    figure = gv.plot(sweep)
    drawn = sorted((dot.x, dot.y) for dot in figure.panel.dots if dot.y is not None)
    assert drawn == sorted((row["x"], row["y"]) for row in frontier)
    for name in ("k-degree", "randomized-response", "A measured attack and what is kept"):
        assert name in texts(figure.svg)
    crossed = gv.plot(sweep, x="k", y="kept")
    assert 1 == crossed.svg.count('href="#mx" x=')
    assert "randomized-response" not in texts(crossed.svg)
    for number, ending in enumerate((".svg", ".pdf", ".png")):
        one, two = (figure.write(tmp_path / f"{number}{copy}{ending}") for copy in "ab")
        assert one.read_bytes() == two.read_bytes()
    with pytest.raises(gv.core.errors.ParameterError):
        gv.plot(sweep, x="treasure")


def test_the_pictures_of_a_sweep_and_of_a_report_are_those_of_their_pages(tmp_path):
    written = gv.report_sweep(swept()).write_figures(tmp_path / "swept")
    assert "frontier-1.svg" in {path.name for path in written}
    graph = random_graph(40, 80)
    release = gv.KDegree(k=3).anonymize(graph, seed=1)
    report = release.report(graph, seed=1)
    named = {path.stem for path in report.write_figures(tmp_path / "report")}
    assert set(report.figures) == named
    for name, figure in report.figures.items():
        assert (tmp_path / "report" / f"{name}.svg").read_text() == figure.svg
        for mark in figure.marks:
            assert str(mark.label)[:20] in report.text
    with pytest.raises(gv.core.errors.UsageError, match="exists"):
        report.write_figures(tmp_path / "report")
    with pytest.raises(gv.core.errors.UsageError, match="no figures"):
        release.report(form="json").write_figures(tmp_path / "none")


def test_steps_rise_at_each_number_by_its_share_and_end_at_the_last():
    bins = [SimpleNamespace(low=1, high=2), SimpleNamespace(low=2, high=4)]
    expected = [(1, 0.0), (1, 0.0), (1, 0.25), (2, 0.25), (2, 1.0), (4, 1.0)]
    assert expected == list(charts._corners(bins, [1, 3]))
