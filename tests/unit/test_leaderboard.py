"""The leaderboard: every method is on it, and its page is that of the stored rows."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import graphveil as gv

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "leaderboard" / "run.py"
spec = importlib.util.spec_from_file_location("leaderboard_run", SCRIPT)
board = importlib.util.module_from_spec(spec)
spec.loader.exec_module(board)

STORED = board.stored()


def test_the_page_is_that_of_the_stored_rows_and_a_changed_row_changes_it():
    text = board.PAGE.read_text(encoding="utf-8")
    assert text == board.page(text, STORED), "run benchmarks/leaderboard/run.py --page"
    changed = [STORED[0] | {"cpu_seconds": "12345.67"}, *STORED[1:]]
    assert "12345.67" in board.page(text, changed)


def test_every_method_is_a_line_and_every_kind_of_data_has_a_set():
    assert set(gv.METHODS) == {entry.method for entry in board.ENTRIES}
    assert {entry.kind for entry in board.ENTRIES} == {one.kind for one in board.SETS.values()}


def test_every_line_is_measured_on_the_quick_sets():
    measured = {board.place_of(row) for row in STORED}
    assert len(measured) == len(STORED)
    for name, one in board.SETS.items():
        for entry in board.ENTRIES:
            if one.quick and one.kind == entry.kind:
                assert board.place_of(board.key_of(name, entry)) in measured, (name, entry)


def test_what_has_a_guarantee_was_verified_and_what_has_none_says_so():
    for row in STORED:
        if not row["verified"]:
            assert row["not run"]
        elif row["target"] in {board.NOTHING, board.NO_PROOF}:
            assert "nothing claimed" == row["verified"]
        else:
            word = "by construction" if row["target"] == board.EDGES else "recomputed"
            assert f"holds, {word}" == row["verified"], row["data"]


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_a_row_is_what_verify_evaluate_and_attack_say_of_the_files(tmp_path):
    data = gv.datasets.barabasi_albert(40, 2, seed=1)
    release = gv.KDegree(k=5).anonymize(data, seed=1)
    path = release.write(tmp_path / "release")
    assert {"guarantee": "StructuralKAnonymity", "verified": "holds, recomputed"}.items() <= (
        board.reached(release, gv.verify_release(path, data)).items()
    )
    [jaccard] = gv.evaluate_release(path, data, metrics=["edge-jaccard"])
    assert {"edge-jaccard: all": f"{jaccard.value:.4f}"} == board.kept(
        path, data, ["edge-jaccard: all"]
    )
    found = board.strongest(path, data, ["candidate-set"], 20.0)
    rows = gv.attack_release(path, data, attacks=["candidate-set"], seed=1)
    shares = [row.value for row in rows if row.part.endswith("right guess")]
    assert f"{max(shares):.4f}" == found["re-identified"]
    assert "candidate-set" == found["attack"] == found["attacks run"]
    assert board.strongest(path, data, ["alignment"], 1e-9)["not run"] == "alignment"
    (path / "edges.csv").write_text("source,target\n0,1\n")
    assert "fails" in board.reached(release, gv.verify_release(path, data))["verified"]
