"""A sweep: what its grid means, what its table says, what its releases claim, how it goes on."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import polars as pl
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.core.errors import ParameterError, ReleaseError, UsageError
from graphveil.core.parameters import FlatParameter
from graphveil.verbs.sweep import grid, results
from graphveil.verbs.sweep import sweep as sweep_point
from graphveil.verbs.sweep.folder import RESULTS, TABLE, release_folder
from graphveil.verbs.sweep.grid import methods_of, values_in
from graphveil.verbs.sweep.points import TIMES, SweptPoints, pareto_front
from thorough import in_fuzz_alone

RING = gv.Graph.from_edges([*range(12), 0, 3], [*range(1, 12), 0, 6, 9])
GRID = {"k-degree": {"k": [2, 3], "edits": ["add", "any"]}, "randomized-response": {"epsilon": 2.0}}
QUICK = {"metrics": ["edge-jaccard", "edges-kept"], "attacks": ["candidate-set"], "jobs": 1}


def steady(sweep):
    """Return the table without what differs from run to run."""
    return sweep.rows.drop_columns(list(TIMES))


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A seeded sweep, kept in a folder."""
    out = tmp_path_factory.mktemp("sweep") / "out"
    return gv.sweep(GRID, RING, seed=1, out=out, repeats=2, **QUICK)


def test_a_grid_is_every_combination_and_the_last_parameter_changes_first():
    made = methods_of({"k-degree": {"k": [2, 5], "edits": ["add", "any"]}})
    assert [(2, "add"), (2, "any"), (5, "add"), (5, "any")] == [(m.k, m.edits) for m in made]


def test_a_method_that_a_grid_gives_twice_is_run_once():
    assert 1 == len(methods_of([gv.KDegree(k=2), gv.KDegree(k=2)]))


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({}, "no method"),
        ({"k-degre": {"k": 2}}, "Did you mean k-degree"),
        ({"k-degree": {"q": 2}}, "no parameter 'q'"),
        ({"k-degree": {"k": [2, 0]}}, "k=0"),
        ({"k-degree": 5}, "is not a grid"),
        ([5], "is not a method"),
        ({"k-degree": {"k": list(range(2, 10_100))}}, "more than the maximum of 10,000"),
    ],
)
def test_a_grid_that_means_nothing_is_refused_before_anything_runs(grid, words, tmp_path):
    with pytest.raises(UsageError, match=words):
        gv.sweep(grid, RING, out=tmp_path / "out", **QUICK)
    assert [] == list(tmp_path.iterdir())


def test_a_comma_list_has_the_type_of_its_parameter():
    assert [True, False] == values_in(gv.SmoothK, "refine", "yes,no")
    assert [0.5, 2.0] == values_in(gv.RandomizedResponse, "epsilon", "0.5, 2")
    assert ["1/2", "3/4"] == values_in(gv.SmoothK, "theta", "1/2,3/4")


def test_every_figure_is_that_of_the_verb_run_by_hand_on_the_release(swept):
    seed = swept.plan.measuring_seed
    compared = 0
    for point in swept.plan.points:
        folder = release_folder(swept.folder, point)
        by_hand = [
            *gv.evaluate_release(folder, RING, metrics=QUICK["metrics"], seed=seed),
            *gv.attack_release(folder, RING, attacks=QUICK["attacks"], seed=seed),
        ]
        rows = swept.rows.filter(
            [point.number == number for number in swept.rows["point"].to_pylist()]
        ).to_pylist()
        table = {(row["question"], row["part"]): row for row in rows}
        for row in by_hand:
            mine = table[row.question, row.part]
            fields = ("release", "value", "unit", "direction", "known", "low", "high", "guess")
            assert {f: getattr(row, f) for f in fields} == {f: mine[f] for f in fields}
            compared += 1
    assert compared > 100


def test_the_rows_say_what_was_kept_and_false_as_the_record_does(swept):
    for point in swept.plan.points:
        cost = gv.read_release(release_folder(swept.folder, point)).cost
        rows = {(row["question"], row["part"]): row["value"] for row in swept.results[1].rows}
        if point.number == 1:
            kept = cost["edges_before"] - cost["edges_deleted"]
            assert kept / cost["edges_before"] == rows["kept", ""]
            assert cost["edges_added"] == rows["cost", "edges added"]


def test_the_table_is_one_of_polars_pandas_and_parquet(swept):
    frame = pl.from_arrow(swept.rows)
    assert {"method", "k", "edits", "epsilon", "question", "value", "status"} <= set(frame.columns)
    assert [2, 3, None] == frame["k"].unique(maintain_order=True).to_list()
    assert len(frame) == len(swept.to_pandas()) == len(swept.to_polars())
    assert parquet.read_table(swept.folder / TABLE).equals(swept.rows)


def test_the_same_seed_gives_the_same_table_in_one_process_and_over_several(swept):
    again = gv.sweep(GRID, RING, seed=1, repeats=2, **(QUICK | {"jobs": 2}))
    assert steady(swept).equals(steady(again))
    other = gv.sweep(GRID, RING, seed=2, repeats=2, **QUICK)
    assert not steady(swept).equals(steady(other))


def test_repeats_draw_anew_and_another_grid_changes_no_release(swept):
    seeds = [point.seed for point in swept.plan.points]
    assert len(seeds) == len(set(seeds))
    alone = gv.sweep({"k-degree": {"k": 3, "edits": "any"}}, RING, seed=1, repeats=2, **QUICK)
    assert [point.seed for point in alone.plan.points] == [
        point.seed for point in swept.plan.points if point.given == "k=3, edits=any"
    ]


def test_releases_are_trials_that_verify_and_none_warns_of_the_others(swept):
    promises = set()
    for point in swept.plan.points:
        folder = release_folder(swept.folder, point)
        verdict = gv.verify_release(folder, RING)
        assert verdict.ok
        record = (folder.with_name(f"{folder.name}.private") / "record.json").read_text()
        assert "publish at most one of them" in record
        assert "other release" not in record
        guarantee = gv.read_release(folder).guarantee
        promises.add(type(guarantee).__name__)
        if point.method == "randomized-response":
            assert ("repeatable", "trial") == guarantee.reasons
            assert "not claimed" == verdict.word
    assert {"StructuralKAnonymity", "NotClaimed"} == promises


def test_a_trial_of_a_noisy_method_claims_nothing_without_a_seed_too(tmp_path):
    made = gv.sweep([gv.RandomizedResponse(epsilon=2.0)], RING, out=tmp_path / "out", **QUICK)
    [point] = made.plan.points
    release = gv.read_release(release_folder(tmp_path / "out", point))
    assert ("trial",) == release.guarantee.reasons
    assert "This release carries no guarantee." == made.results[1].promise
    assert gv.verify_release(release_folder(tmp_path / "out", point), RING).ok


def test_the_folder_is_its_owners_alone(swept):
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in swept.folder.rglob("*")}
    assert 0o700 == stat.S_IMODE(swept.folder.stat().st_mode)
    for name in ("plan.json", TABLE, f"{RESULTS}/0001.json"):
        assert 0o600 == modes[swept.folder / name]
    for name in ("points", RESULTS, "points/0001-k-degree.private"):
        assert 0o700 == modes[swept.folder / name]


def test_points_without_a_release_are_rows_with_their_reason(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr(gv.RandomizedResponse, "draft", broken)
    grid = {"k-degree": {"k": [2, 13]}, "randomized-response": {"epsilon": 2.0}}
    done = gv.sweep(grid, RING, seed=1, **QUICK)
    assert {"finished": 1, "infeasible": 1, "failed": 1} == done.counts
    rows = [row for row in done.rows.to_pylist() if row["status"] != "finished"]
    assert [(2, "infeasible", None), (3, "failed", None)] == [
        (row["point"], row["status"], row["value"]) for row in rows
    ]
    assert "needs at least 13 nodes" in rows[0]["reason"]
    assert "bug in graphveil: RuntimeError: boom" in rows[1]["reason"]
    assert "infeasible" in repr(done)


def test_a_figure_that_is_not_finite_is_a_row_with_that_reason(monkeypatch, tmp_path):
    row = gv.Row(release="a", question="far", part="mean", value=float("inf"), unit="steps")
    monkeypatch.setattr(sweep_point, "evaluate_release", lambda *_, **__: gv.Rows([row]))
    done = gv.sweep({"k-degree": {"k": 2}}, RING, out=tmp_path / "out", **QUICK)
    [kept] = [one for one in done.rows.to_pylist() if one["question"] == "far"]
    assert (None, "it is not finite") == (kept["value"], kept["reason"])
    assert done.rows.equals(gv.read_sweep(tmp_path / "out").rows)


def test_a_release_that_could_not_be_measured_is_not_kept(monkeypatch, tmp_path):
    def broken(*_, **__):
        raise ValueError("boom")

    monkeypatch.setattr(sweep_point, "evaluate_release", broken)
    done = gv.sweep({"k-degree": {"k": 2}}, RING, out=tmp_path / "out", **QUICK)
    assert {"failed": 1} == done.counts
    assert [] == list((tmp_path / "out" / "points").iterdir())


@pytest.mark.thorough
@in_fuzz_alone
def test_a_point_out_of_time_is_given_up_and_the_others_are_not(tmp_path):
    asked = {"metrics": [], "attacks": ["alignment"], "jobs": 1, "seed": 1, "seconds": 8}
    grid = {"suppress-k": {"k": 2}, "k-degree": {"k": 2}}  # of which one is attacked for minutes
    done = gv.sweep(grid, gv.datasets.load("copenhagen-calls"), out=tmp_path / "out", **asked)
    assert {"finished": 1, "out of time": 1} == done.counts
    assert "it used more than 8 s of CPU time" == done.results[2].reason
    kept = {path.name for path in (tmp_path / "out" / "points").iterdir()}
    assert {"0001-suppress-k", "0001-suppress-k.private"} == kept


def test_a_finished_point_is_never_run_again(swept, monkeypatch):
    monkeypatch.setattr(sweep_point.PointRun, "__call__", None)
    again = gv.sweep(GRID, RING, seed=1, repeats=2, out=swept.folder, **QUICK)
    assert swept.rows.equals(again.rows)
    assert gv.read_sweep(swept.folder).rows.equals(swept.rows)


def test_what_is_not_finished_is_run_again_and_ends_with_the_same_table(tmp_path):
    out = tmp_path / "out"
    first = gv.sweep(GRID, RING, seed=1, out=out, **QUICK)
    (out / RESULTS / "0002.json").unlink()
    (out / TABLE).unlink()
    (out / "points" / ".0002-k-degree.partial-0123456789ab").mkdir()
    with pytest.raises(UsageError, match="1 of 5 points are not finished"):
        gv.read_sweep(out)
    again = gv.sweep(GRID, RING, seed=1, out=out, **QUICK)
    assert steady(first).equals(steady(again))
    assert [] == [path.name for path in (out / "points").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": gv.Graph.from_edges([0, 1, 2], [1, 2, 3])}, "other data"),
        ({"methods": {"k-degree": {"k": [2, 3]}}}, "as well, which is not requested now"),
        ({"methods": GRID | {"dp-1k": {"epsilon": 4.0}}}, "not include dp-1k"),
        ({"seed": 2}, "with seed 1, not 2"),
        ({"repeats": 1}, "with repeats 2, not 1"),
        ({"attacks": []}, "with attacks"),
        ({"seconds": 5.0}, "CPU time per point not given, not 5.0"),
    ],
)
def test_another_plan_or_other_data_is_refused_with_the_way_out(swept, change, words):
    asked = {"methods": GRID, "data": RING, "seed": 1, "repeats": 2} | QUICK | change
    if "data" in change:
        asked["methods"] = {"k-degree": {"k": 2}}
    before = {path: path.stat().st_mtime_ns for path in swept.folder.rglob("*")}
    with pytest.raises(UsageError, match=words) as caught:
        gv.sweep(asked.pop("methods"), asked.pop("data"), out=swept.folder, **asked)
    assert "Choose a different --out" in caught.value.message.flags
    assert "Choose a different out" in str(caught.value)
    assert before == {path: path.stat().st_mtime_ns for path in swept.folder.rglob("*")}


def test_another_version_does_not_go_on(swept, tmp_path):
    plan = json.loads((swept.folder / "plan.json").read_text())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "plan.json").write_text(json.dumps(plan | {"tool": "0.0.1"}))
    with pytest.raises(UsageError, match=r"started by graphveil 0\.0\.1"):
        gv.sweep(GRID, RING, seed=1, repeats=2, out=tmp_path / "out", **QUICK)


def test_a_folder_that_is_no_sweep_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(ReleaseError, match="is not a sweep"):
        gv.sweep(GRID, RING, out=tmp_path / "mine", **QUICK)
    with pytest.raises(ReleaseError, match="is not a sweep"):
        gv.read_sweep(tmp_path / "mine")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"metrics": ["edge-jacard"]}, "Did you mean edge-jaccard"),
        ({"metrics": ["stars"]}, "no metric 'stars' reads this data"),
        ({"attacks": ["linkage"]}, "no attack 'linkage' reads this data"),
        ({"jobs": 0}, "jobs=0"),
        ({"seconds": 0}, "seconds=0"),
        ({"repeats": 0}, "repeats=0"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**63}, "more than 63 bits"),
    ],
)
def test_options_that_no_point_could_keep_are_refused(asked, words, tmp_path):
    with pytest.raises(UsageError, match=words):
        gv.sweep(GRID, RING, out=tmp_path / "out", **(QUICK | asked))
    assert [] == list(tmp_path.iterdir())


def test_no_point_is_a_release_of_the_best_so_far():
    grid = {"structural": {"measure": "count", "k": 2, "on_interrupt": ["stop", "best"]}}
    with pytest.raises(UsageError, match="Remove on_interrupt"):
        gv.sweep(grid, RING, **QUICK)


def test_the_frontier_is_of_points_that_no_other_beats(swept):
    table = swept.frontier("k", "edge-jaccard: all").to_pylist()
    assert ["k=2, edits=add", "k=2, edits=any", "k=3, edits=add", "k=3, edits=any"] == [
        row["parameters"] for row in table
    ]
    for row in table:
        beaten = any(
            (other["x"], other["y"]) != (row["x"], row["y"])
            and other["x"] >= row["x"]
            and other["y"] >= row["y"]
            for other in table
        )
        assert beaten is not row["best"]
    with pytest.raises(ParameterError, match="Did you mean edge-jaccard: all"):
        swept.frontier("k", "edge-jacard: all")


def test_less_is_better_where_a_direction_says_so():
    pairs = [(1.0, 5.0), (2.0, 5.0), (2.0, 6.0)]
    assert [True, False, True] == pareto_front(pairs, ("lower is better", "higher is better"))


def test_only_settings_with_both_figures_are_compared_and_one_without_is_never_best():
    def setting(number, **figures):
        return SimpleNamespace(
            first=SimpleNamespace(number=number, method="", given=""),
            figure=lambda axis: SimpleNamespace(mean=figures[axis]) if axis in figures else None,
        )

    swept = SimpleNamespace(
        axes={"risk": "lower is better", "kept": "higher is better"},
        settings=[
            setting(1, risk=0.5, kept=0.5),
            setting(2, risk=0.5, kept=0.25),
            setting(3, risk=0.125),
            setting(4, kept=0.75),
            setting(5, risk=0.0, kept=0.125),
        ],
    )
    swept.usual, swept.chosen = ([], "risk", "kept"), lambda *_: ("risk", "kept")
    swept.frontier = lambda: SweptPoints.frontier(swept)
    assert {1, 5} == results.best_of(swept)


def test_bounds_say_which_points_keep_them(swept):
    kept = swept.meeting(["kept >= 1", "largest class risk <= 0.34"])
    words = {point.given for point in swept.plan.points if point.number in kept}
    assert {"k=3, edits=add"} <= words <= {"k=3, edits=add", "k=3, edits=any"}
    with pytest.raises(ParameterError, match="no point has"):
        swept.meeting(["diameter: original <= 3"])


def test_metrics_and_attacks_go_to_the_points_whose_data_they_read():
    grid = {"k-degree": {"k": 2}, "smooth-k": {"k": 2}}
    asked = {"metrics": ["edge-jaccard", "entry-jaccard"], "attacks": [], "jobs": 1, "seed": 1}
    done = gv.sweep(grid, RING, **asked)
    questions = [{row["question"] for row in result.rows} for result in done.results.values()]
    assert "edge-jaccard" in questions[0] - questions[1]
    assert "entry-jaccard" in questions[1] - questions[0]


def test_a_sweep_writes_its_table_and_nothing_else_under_that_name(swept, tmp_path):
    file = swept.write(tmp_path / "table.parquet")
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    with pytest.raises(UsageError, match="exists"):
        swept.write(file)
    with pytest.raises(UsageError, match=r"table\.csv is not \.parquet"):
        swept.write(Path(tmp_path, "table.csv"))


def test_a_table_that_was_lost_is_written_again(tmp_path):
    grid = {"k-degree": {"k": [2]}}
    table = gv.sweep(grid, RING, seed=1, out=tmp_path / "out", **QUICK).folder / TABLE
    before = table.read_bytes()
    table.unlink()
    gv.sweep(grid, RING, seed=1, out=tmp_path / "out", **QUICK)
    assert before == table.read_bytes()


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Literal["1", "add"] | int, "1", "1"),
        (Literal["1", "add"] | int, "2", 2),
        (Literal["add"], "sub", "sub"),
        (int | float, "2.5", 2.5),
        (bool, "yes", True),
        (bool, "FALSE", False),
        (str, "yes", "yes"),
    ],
)
def test_a_value_of_a_grid_is_read_as_its_type(monkeypatch, kind, text, value):
    item = FlatParameter("x", kind, default=None, metadata={})
    monkeypatch.setattr(grid, "flat_parameters", lambda _: (item,))
    [found] = values_in(gv.KDegree, "x", text)
    assert (type(value), value) == (type(found), found)
