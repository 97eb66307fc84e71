"""The page of a sweep: its numbers, its size, what is crossed out, and hostile names."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest

import graphveil as gv
from graphveil.core.rows import Row, Setting
from graphveil.pages.charts import percent
from graphveil.pages.frontiers import Axis, Dot, Panel, scatter
from graphveil.pages.sweep import page_text, panels_of
from graphveil.verbs.sweep import points, results
from graphveil.verbs.sweep.grid import Result
from graphveil.verbs.sweep.results import Sweep, lines_of, warning_of

RING = gv.Graph.from_edges([*range(12), 0, 3], [*range(1, 12), 0, 6, 9])
GRID = {"k-degree": {"k": [2, 3, 13]}, "randomized-response": {"epsilon": [2.0, 6.0]}}
QUICK = {"metrics": ["edge-jaccard"], "attacks": ["candidate-set"], "jobs": 1, "seed": 1}


@pytest.fixture(scope="module")
def swept():
    return gv.sweep(GRID, RING, repeats=2, **QUICK)


@pytest.fixture(scope="module")
def page(swept):
    return page_text(swept)


def row_of(page, number):
    return re.search(rf'<tr id="p{number}".*?</tr>', page, re.DOTALL)[0]


def test_the_numbers_of_the_page_are_those_of_the_table(swept, page):
    rows = swept.rows.to_pylist()
    for number, setting in enumerate(swept.settings, start=1):
        points = {point.number for point in setting.points}
        values = [
            row["value"]
            for row in rows
            if row["point"] in points and (row["question"], row["part"]) == ("edge-jaccard", "all")
        ]
        if values:
            mean = sum(values) / len(values)
            assert f"connections kept and true {percent(mean)}" in row_of(page, number)
        else:
            assert setting.failure is not None


def test_a_point_without_a_release_is_crossed_out_with_its_reason_everywhere(swept, page):
    assert "<del>k-degree k=13</del>: infeasible." in page
    assert "<del>k-degree k=13</del>" in row_of(page, 3)
    assert "needs at least 13 people" in row_of(page, 3)
    [promised] = [panel for panel in panels_of(swept) if panel.title.endswith(": k")]
    [crossed] = [dot for dot in promised.dots if dot.y is None]
    assert (13.0, 3) == (crossed.x, crossed.number)
    assert 2 == str(scatter(promised)).count('href="#mx"')


def test_there_is_a_picture_of_each_promise_and_one_of_a_measured_attack(swept):
    titles = [panel.title for panel in panels_of(swept)]
    assert ["k", "epsilon"] == [title.rpartition(" ")[2] for title in titles[:2]]
    assert "A measured attack and what is kept" == titles[2]
    assert {0, 1} == {dot.series for dot in panels_of(swept)[2].dots}


def test_a_line_joins_the_points_of_a_method_that_no_other_of_it_beats():
    grid = {"k-degree": {"k": [2, 3, 4], "edits": ["add", "any"]}}
    for panel in panels_of(gv.sweep(grid, RING, **QUICK)):
        sign = 1 if panel.title.endswith(": k") else -1
        for dot in panel.dots:
            beaten = any(
                (other.x, other.y) != (dot.x, dot.y)
                and sign * other.x >= sign * dot.x
                and other.y >= dot.y
                for other in panel.dots
            )
            assert beaten is not dot.on_line
        assert len({dot.on_line for dot in panel.dots}) == 2 or panel.title.startswith("A measured")


def test_every_point_has_the_command_that_makes_it_anew(page):
    assert "graphveil anonymize k-degree INPUT --out INPUT-k-degree --k 2" in row_of(page, 1)
    assert "--epsilon 6.0" in row_of(page, 5)
    assert "--seed" not in row_of(page, 1)


def setting(number, *shown, failure=None):
    """Return a setting of one point, with a figure of an attack and one of use."""
    of = dict(zip((ATTACK, USE), shown, strict=False))
    return SimpleNamespace(
        first=SimpleNamespace(number=number, words=f"p{number}", method="", given=""),
        points=[SimpleNamespace(number=number)],
        failure=failure,
        figure=lambda axis: None if of.get(axis) is None else SimpleNamespace(mean=of[axis]),
    )


ATTACK, USE = points.Axis("candidate-set", "right guess"), points.Axis("edge-jaccard", "all")


def test_lines_begin_with_what_meets_the_bounds_then_with_what_no_other_beats():
    late = SimpleNamespace(status="out of time", reason="10 s are up")
    settings = [
        setting(1, failure=late),
        setting(2, 0.25, 0.5),  # beaten by 3
        setting(3, 0.125, 0.75),
        setting(4, 0.5, 0.875),
        setting(5, None, 0.5),
        setting(6, 0.375, 0.25),  # beaten, but it meets the bounds
    ]
    directions = {ATTACK: "lower is better", USE: "higher is better"}
    sweep = SimpleNamespace(settings=settings, usual=([], ATTACK, USE), axes=directions)
    sweep.chosen = lambda *_: (ATTACK, USE)
    sweep.frontier = lambda: points.SweptPoints.frontier(sweep)
    said = [(figures.split(), words) for figures, words in lines_of(sweep, {6})]
    assert [
        ("0.375", "25%", "p6 (meets every bound)"),
        ("0.125", "75%", "p3 (no other point dominates it)"),
        ("0.5", "87.5%", "p4 (no other point dominates it)"),
        ("0.25", "50%", "p2"),
        (results.NO_FIGURE, "50%", "p5"),
        ("out", "of", "time:", "p1: 10 s are up"),
    ] == [(*figures, words) for figures, words in said[2:]]


def attacked(swept, shares, *, guess=0.08, weaker=0.05):
    """Return a sweep of k-degree, one k a point, of which two attacks reach these shares."""
    first = swept.plan.points[0]
    points, found = [], {}
    for n, (k, share) in enumerate(shares.items(), start=1):
        parameters = {**first.parameters, "k": k}
        points.append(
            msgspec.structs.replace(
                first, number=n, parameters=parameters, given=f"k={k}", method="k-degree"
            )
        )
        row = Row(release="x", question="candidate-set", figure="right guess", guess=guess)
        rows = [
            replace(row, part=knows, setting=Setting(knows=knows), value=value, unit="share")
            for knows, value in (("degree", weaker), ("vrq", share))
        ]
        found[n] = Result(number=n, status="finished", rows=[one.as_dict() for one in rows])
    return Sweep(plan=msgspec.structs.replace(swept.plan, points=points, repeats=1), results=found)


HARDLY = (
    "The strongest attack here re-identifies 38% of its targets with k-degree k=2, and 34% with "
    "k-degree k=20. A larger k hardly lowers this share. Consider a method with differential "
    "privacy, such as asymmetric-response."
)


def test_a_sweep_says_where_a_larger_k_hardly_lowers_the_strongest_attack(swept):
    sweep = attacked(swept, {20: 0.34, 2: 0.38, 5: 0.36})
    assert HARDLY == warning_of(sweep)
    assert HARDLY in page_text(sweep)
    assert repr(sweep).endswith(HARDLY)


@pytest.mark.parametrize(
    ("shares", "guess"), [({2: 0.38, 20: 0.26}, 0.08), ({2: 0.38}, 0.08), ({2: 0.3, 20: 0.3}, 0.3)]
)
def test_a_k_that_helps_one_k_and_a_mere_guess_are_no_warning(swept, shares, guess):
    assert "" == warning_of(attacked(swept, shares, guess=guess))


def test_the_warning_names_the_private_method_that_the_sweep_shows_to_leak_least(swept):
    reached = {}
    for row in swept.rows.to_pylist():
        if row["method"] == "randomized-response" and row["part"].endswith("right guess"):
            reached.setdefault((row["epsilon"], row["part"]), []).append(row["value"])
    means = {key: sum(values) / len(values) for key, values in reached.items()}
    most = {epsilon: max(means[key] for key in means if key[0] == epsilon) for epsilon, _ in means}
    epsilon = min(most, key=most.get)
    named = f"randomized-response epsilon={epsilon} (here {percent(most[epsilon])})."
    assert warning_of(swept).endswith(f"such as {named}")


def test_ks_of_other_parameters_and_points_without_a_release_are_no_pair(swept):
    sweep = attacked(swept, {2: 0.38, 20: 0.34})
    last = sweep.plan.points[-1]
    other = msgspec.structs.replace(last, parameters={**last.parameters, "edits": "add"})
    plan = msgspec.structs.replace(sweep.plan, points=[sweep.plan.points[0], other])
    assert "" == warning_of(Sweep(plan=plan, results=sweep.results))
    failed = {**sweep.results, 2: Result(number=2, status="failed", reason="x")}
    assert "" == warning_of(Sweep(plan=sweep.plan, results=failed))


def test_an_axis_is_in_percent_or_in_powers_where_its_figure_is(swept, page):
    k, epsilon, attack = panels_of(swept)
    assert [(False, True), (False, False), (True, False)] == [
        (panel.x.share, panel.x.logarithmic) for panel in (k, epsilon, attack)
    ]
    assert all(panel.y.share and not panel.y.logarithmic for panel in (k, epsilon, attack))
    assert {dot.number for dot in k.dots} == {1, 2, 3}
    assert {dot.number for dot in epsilon.dots} == {4, 5}
    facts = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", page, re.DOTALL)
    assert {("Combinations", "5"), ("Seed", "given"), ("Repeats", "2")} <= set(facts)


def test_the_one_script_is_the_one_that_the_policy_names(page):
    [policy] = re.findall(r"script-src '(sha256-[^']+)'", page)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    digest = hashlib.sha256(script.encode()).digest()
    assert f"sha256-{base64.b64encode(digest).decode()}" == policy
    assert "default-src 'none'" in page
    assert [] == re.findall(r"https?://", page)


def many(swept, number):
    """Return a sweep of so many points, each with as many figures as real ones."""
    first, result = swept.plan.points[0], swept.results[1]
    points = [
        msgspec.structs.replace(
            first, number=n, parameters={**first.parameters, "k": n + 1}, given=f"k={n + 1}"
        )
        for n in range(1, number + 1)
    ]
    rows = [{**row, "part": f"{row['part']}{copy}"} for copy in range(4) for row in result.rows]
    results = {
        n: Result(number=n, status="finished", promise=result.promise, rows=[*result.rows, *rows])
        for n in range(1, number + 1)
    }
    plan = msgspec.structs.replace(swept.plan, points=points, repeats=1)
    return Sweep(plan=plan, results=results)


def test_the_page_of_500_points_stays_below_2_megabytes(swept):
    text = page_text(many(swept, 500))
    assert 500 == text.count("<tr id=")
    assert len(text.encode()) < 2_000_000


def test_hostile_texts_are_shown_and_never_obeyed(swept):
    hostile = "</script><script>alert(1)</script>\x1b\u202e{{7*7}}" + "a" * 10_000
    row = {**swept.results[1].rows[0], "question": hostile, "part": hostile, "value": 1.0}
    row["direction"] = "lower is better"
    results = dict(swept.results)
    results[1] = msgspec.structs.replace(results[1], rows=[*results[1].rows, row])
    results[2] = msgspec.structs.replace(results[2], rows=[*results[2].rows, row])
    results[3] = Result(number=3, status="failed", reason=hostile)
    text = page_text(Sweep(plan=swept.plan, results=results))
    assert 2 == text.count("<script") == text.count("</script>")
    assert not any(one in text for one in ("\x1b", "\u202e", "alert(1)</script>"))
    assert "{{7*7}}" in text


def test_bars_span_the_repeats_and_a_lone_point_still_has_axes():
    one = Dot(1, 0, "a", 0.5, 0.5, (0.4, 0.6), (0.5, 0.5))
    picture = str(scatter(Panel("t", Axis("x", share=True), Axis("y", share=True), [one])))
    assert 2 == picture.count('class="ends c0"')
    assert "nan" not in picture
    alone = str(scatter(Panel("t", Axis("x"), Axis("y"), [Dot(1, 0, "a", 0.0, 0.0)])))
    assert 'class="grid"' in alone


def test_a_notebook_shows_the_pictures(swept):
    report = gv.report_sweep(swept)
    html = report._repr_html_()
    assert len(report.figures) == html.count("<svg") > 1
    assert "<script" not in html
    assert "k-degree" in html


def test_a_sweep_without_figures_has_a_page_too():
    done = gv.sweep({"k-degree": {"k": 13}}, RING, **QUICK)
    text = page_text(done)
    assert "1 point: 1 infeasible." in text
    assert "<svg viewBox" in text
