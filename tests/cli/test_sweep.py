"""The command sweep: its answer, what ends it, and how it goes on."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.io import datasets
from thorough import in_fuzz_alone

TIMES = ["seconds", "cpu_seconds"]
GRID = ("sweep", "k-degree", "friends.csv", "--k", "2,3", "--edits", "add,any", "--seed", 7)
QUICK = ("--metrics", "edge-jaccard", "--attacks", "candidate-set")
RUN = (*GRID, *QUICK, "--jobs", 1, "--out", "sweep")


def table(folder):
    return parquet.read_table(folder / "sweep.parquet").drop_columns(TIMES)


def test_the_answer_comes_first_fits_the_screen_and_ends_with_the_next_command(graphveil_here):
    done = graphveil_here(*GRID[:4], "2,3,9", *GRID[5:], *QUICK, "--jobs", 1, "--out", "sweep")
    lines = done.out.splitlines()
    assert 0 == done.code, done.err
    assert "6 points: 4 finished, 2 infeasible." == lines[0]
    assert "next: graphveil report sweep" == lines[-1]
    assert len(lines) <= 24
    assert [] == [line for line in lines if len(line) > 100]
    assert 2 == done.out.count("  infeasible: k-degree k=9")


def test_many_points_still_fit_the_screen_and_all_prints_every_one(graphveil_here, cwd):
    shutil.copy(datasets.path_of("copenhagen-calls"), cwd / "friends.csv")
    run = (*GRID[:4], ",".join(map(str, range(2, 30))), "--kind", "graph", "--seed", 1)
    run = (*run, "--prove", "never")
    run = (*run, "--metrics", "edge-jaccard", "--attacks", "candidate-set", "--jobs", 1)
    few = graphveil_here(*run, "--out", "sweep")
    every = graphveil_here(*run, "--out", "sweep", "--all")
    assert (0, 0) == (few.code, every.code), few.err
    assert len(few.out.splitlines()) <= 24
    assert "(--all)" in few.out
    assert all(f"k-degree k={k}" in every.out for k in range(2, 30))


def test_the_same_command_goes_on_and_runs_no_finished_point_again(graphveil_here, cwd):
    assert 0 == graphveil_here(*RUN).code
    expected = table(cwd / "sweep")
    kept = {p: p.stat().st_mtime_ns for p in (cwd / "sweep").rglob("*") if "0002" not in str(p)}
    (cwd / "sweep/results/0002.json").unlink()
    shutil.rmtree(cwd / "sweep/points/0002-k-degree")
    (cwd / "sweep/sweep.parquet").unlink()
    assert 0 == graphveil_here(*RUN).code
    assert expected.equals(table(cwd / "sweep"))
    again = {path: path.stat().st_mtime_ns for path in kept if path.is_file()}
    again.pop(cwd / "sweep/sweep.parquet")
    assert again == {path: kept[path] for path in again}


TABLE = ("sweep", "adaptive", "people.csv", "--kind", "table", "--levels", "2,3", "--seed", 1)


@pytest.mark.parametrize(
    "reading", [(), ("--categories", "?"), ("--suppressed", "*", "-", "--drop", "town")]
)
def test_a_sweep_of_a_table_goes_on_however_it_is_read(graphveil_here, cwd, reading):
    rows = "".join(f"{n % 5},{n % 3},{n % 2}\n" for n in range(24))
    (cwd / "people.csv").write_text(f"age,town,sex\n{rows}")
    run = (*TABLE, *reading, "--metrics", "cells-shown", "--attacks", "matching", "--jobs", 1)
    first = graphveil_here(*run, "--out", "sweep")
    assert 0 == first.code, first.err
    expected = table(cwd / "sweep")
    (cwd / "sweep/results/0002.json").unlink()
    again = graphveil_here(*run, "--out", "sweep")
    assert (0, first.out) == (again.code, again.out), again.err
    assert expected.equals(table(cwd / "sweep"))


def test_a_changed_input_or_grid_is_refused_with_the_way_out(graphveil_here, cwd):
    assert 0 == graphveil_here(*RUN).code
    other = graphveil_here(*RUN[:4], "2,3,4", *RUN[5:])
    assert 2 == other.code
    assert "not include k-degree k=4, edits=add" in other.err
    assert "Choose a different --out" in other.err
    with (cwd / "friends.csv").open("a") as file:
        file.write("bob,eve\n")
    changed = graphveil_here(*RUN)
    assert 2 == changed.code
    assert "its input has changed since" in changed.err


def test_several_methods_come_from_a_file_and_flags_win(graphveil_here, cwd):
    (cwd / "grid.toml").write_text(
        '[sweep]\nrepeats = 3\nmetrics = ["edge-jaccard"]\nattacks = []\n'
        "[sweep.k-degree]\nk = [2, 3]\n[sweep.randomized-response]\nepsilon = 2\n"
    )
    run = ("sweep", "friends.csv", "--config", "grid.toml", "--out", "sweep", "--jobs", 1)
    done = graphveil_here(*run, "--repeats", 2)
    assert 0 == done.code, done.err
    assert done.out.startswith("6 points: 6 finished.")
    sweep = gv.read_sweep(cwd / "sweep")
    assert {"k-degree", "randomized-response"} == {p.method for p in sweep.plan.points}
    assert ["edge-jaccard"] == sweep.plan.metrics


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sweep]\nrepeat = 3\n[sweep.k-degree]\nk = 2\n", "unknown option 'repeat'"),
        ("[sweep]\nrepeats = 3\n", "names no method"),
        ("[sweep.k-degre]\nk = 2\n", "Did you mean k-degree"),
        ("[sweep.k-degree]\nk = 'two'\n", "k='two'"),
        ("sweep = 3\n", "is not a table"),
        ("[sweep", "is not valid TOML"),
    ],
)
def test_a_file_that_means_nothing_is_refused(graphveil_here, cwd, text, words):
    (cwd / "grid.toml").write_text(text)
    done = graphveil_here("sweep", "friends.csv", "--config", "grid.toml", "--out", "sweep")
    assert 2 == done.code
    assert words in done.err
    assert not (cwd / "sweep").exists()


def test_without_a_method_or_a_file_the_way_out_is_said(graphveil_here, assert_one_line):
    assert_one_line(graphveil_here("sweep", "friends.csv", "--out", "x"), "no method given")


def test_bounds_mark_what_keeps_them_and_the_code_says_whether_any_does(graphveil_here):
    done = graphveil_here(*RUN, "--until", "kept >= 1", "--until", "largest class risk <= 0.34")
    assert 0 == done.code, done.err
    assert "meets every bound" in done.out
    assert "kept >= 1 and largest class risk <= 0.34." in done.out.splitlines()[0]
    none = graphveil_here(*RUN, "--until", "largest class risk <= 0.01")
    assert 1 == none.code
    assert none.out.startswith("No point meets largest class risk <= 0.01.")
    unknown = graphveil_here(*RUN, "--until", "edge-jaccard: none <= 0.1")
    assert 2 == unknown.code
    assert "no point has 'edge-jaccard: none'" in unknown.err


def test_a_bound_on_what_nobody_measures_is_refused_before_anything_runs(graphveil_here, cwd):
    done = graphveil_here(*RUN, "--until", "clustering: relative error <= 0.1")
    assert 2 == done.code
    assert "'clustering' is not measured on this data" in done.err
    assert not (cwd / "sweep").exists()


def test_json_holds_every_point_with_its_rows(graphveil_here):
    done = graphveil_here(*RUN, "--json", "--until", "kept >= 1")
    value = json.loads(done.out)
    assert [1, 2, 3, 4] == [point["point"] for point in value["points"]]
    assert {"add", "any"} == {point["parameters"]["edits"] for point in value["points"]}
    assert all(point["rows"] for point in value["points"])
    assert set(value["meeting"]) <= {1, 2, 3, 4}


def test_a_figure_is_the_one_that_the_commands_print_for_the_release(graphveil_here, cwd):
    assert 0 == graphveil_here(*RUN).code
    rows = {
        (r["release"], r["question"], r["part"]): r["value"]
        for r in table(cwd / "sweep").to_pylist()
    }
    folder = "sweep/points/0003-k-degree"
    given = (folder, "--original", "friends.csv", "--seed", 7, "--json")
    for verb, flag, name in (("evaluate", *QUICK[:2]), ("attack", *QUICK[2:])):
        by_hand = json.loads(graphveil_here(verb, *given, flag, name).out)["rows"]
        assert by_hand
        for row in by_hand:
            assert row["value"] == rows[row["release"], row["question"], row["part"]]


def test_a_page_is_made_of_a_whole_sweep_and_of_no_other(graphveil_here, cwd):
    assert 0 == graphveil_here(*RUN).code
    done = graphveil_here("report", "sweep")
    assert 0 == done.code, done.err
    page = (cwd / "sweep/report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert 0o600 == (cwd / "sweep/report.html").stat().st_mode & 0o777
    public = graphveil_here("report", "sweep", "--public")
    assert 2 == public.code
    assert "is a sweep" in public.err
    (cwd / "sweep/results/0001.json").unlink()
    unfinished = graphveil_here("report", "sweep")
    assert 2 == unfinished.code
    assert "1 of 4 points are not finished" in unfinished.err


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The table of a sweep that nobody disturbed."""
    home = tmp_path_factory.mktemp("undisturbed")
    shutil.copy(datasets.path_of("copenhagen-calls"), home / "friends.csv")
    done = subprocess.run(command("whole"), cwd=home, capture_output=True, check=False)
    assert 0 == done.returncode, done.stderr
    return table(home / "whole")


@pytest.fixture
def network(cwd, undisturbed):
    """A network whose points take a second each, and the table of a sweep of it."""
    shutil.copy(datasets.path_of("copenhagen-calls"), cwd / "friends.csv")
    return undisturbed


def command(out):
    words = [*GRID, "--kind", "graph", "--metrics", "edge-jaccard", "--jobs", 2, "--out", out]
    return [sys.executable, "-m", "graphveil", *map(str, words)]


def begun(cwd):
    """Start the sweep, and return its process once a point is finished."""
    process = subprocess.Popen(
        command("cut"), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 100
    while time.monotonic() < until and not list((cwd / "cut/results").glob("*.json")):
        time.sleep(0.02)
    assert process.poll() is None
    return process


def workers_of(process):
    """Return the processes that any thread of a process started."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [worker for thread in threads for worker in thread.read_text().split()]


def assert_goes_on(cwd, expected):
    assert not (cwd / "cut/sweep.parquet").exists()
    assert len(list((cwd / "cut/results").glob("*.json"))) < 4
    again = subprocess.run(command("cut"), cwd=cwd, capture_output=True, text=True, check=False)
    assert 0 == again.returncode, again.stderr
    assert expected.equals(table(cwd / "cut"))
    assert 8 == len(list((cwd / "cut/points").iterdir()))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up as Linux has them")
@pytest.mark.thorough
@in_fuzz_alone
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_ended_goes_on_to_the_same_table(cwd, network, number):
    process = begun(cwd)
    workers = workers_of(process)
    assert workers
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (-signal.SIGKILL if number == signal.SIGKILL else 3) == process.returncode
    if number != signal.SIGKILL:
        assert "graphveil: error: interrupted." in err.splitlines()[-1]
    until = time.monotonic() + 30
    while time.monotonic() < until and any(Path(f"/proc/{w}/cwd").exists() for w in workers):
        time.sleep(0.05)
    assert [] == [worker for worker in workers if Path(f"/proc/{worker}/cwd").exists()]
    if number != signal.SIGKILL:
        done = len(list((cwd / "cut/results").glob("*.json")))
        assert 2 * done == len(list((cwd / "cut/points").iterdir()))
    assert_goes_on(cwd, network)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up as Linux has them")
@pytest.mark.thorough
@in_fuzz_alone
def test_a_worker_that_is_killed_takes_its_point_alone_and_the_code_is_3(cwd, network):
    process = begun(cwd)
    os.kill(int(workers_of(process)[0]), signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    if process.returncode == 0:
        assert network.equals(table(cwd / "cut"))  # it had no point at that moment
        return
    assert (3, "") == (process.returncode, out)
    assert "1 of 4 points did not end" in err.splitlines()[-1]
    assert "run the same sweep again, perhaps with --jobs 1" in err.splitlines()[-1]
    assert 3 == len(list((cwd / "cut/results").glob("*.json")))
    assert_goes_on(cwd, network)


def test_a_full_disk_ends_it_with_code_3_and_it_goes_on_with_space(
    graphveil_here, cwd, monkeypatch
):
    real, calls = os.fsync, []

    def full(number):
        calls.append(number)
        if len(calls) > 12:
            raise OSError(28, "No space left on device")
        real(number)

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        done = graphveil_here(*RUN)
    assert (3, "") == (done.code, done.out)
    assert "o space left" in done.err
    assert "Finished points are kept: run the same sweep again." in done.err
    finished = list((cwd / "sweep/results").glob("*.json"))
    assert 0 < len(finished) < 4
    assert not (cwd / "sweep/sweep.parquet").exists()
    assert 0 == graphveil_here(*RUN).code
    expected = gv.sweep(
        {"k-degree": {"k": [2, 3], "edits": ["add", "any"]}},
        gv.read_graph(cwd / "friends.csv"),
        metrics=["edge-jaccard"],
        attacks=["candidate-set"],
        seed=7,
        jobs=1,
    )
    assert expected.rows.drop_columns(TIMES).equals(table(cwd / "sweep"))


def test_two_sweeps_at_once_do_not_meet(graphveil_here, cwd, monkeypatch):
    assert 0 == graphveil_here(*RUN).code
    monkeypatch.setattr("graphveil.verbs.sweep.folder.PATIENCE_SECONDS", 0.1)
    descriptor = os.open(cwd / "sweep", os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        done = graphveil_here(*RUN)
    finally:
        os.close(descriptor)
    assert 3 == done.code
    assert "another run is using sweep" in done.err


def test_hostile_names_do_nothing_on_the_terminal_or_the_page(graphveil_here, cwd):
    hostile = "\x1b[2J\u202e<script>alert(1)</script>"
    rows = "".join(f"{n % 3},{n % 2}\n" for n in range(12))
    (cwd / "people.csv").write_text(f'"{hostile}","=cmd()"\n{rows}')
    run = ("sweep", "suppress-k", "people.csv", "--kind", "table", "--k", "2,3", "--seed", 1)
    done = graphveil_here(*run, "--jobs", 1, "--out", "<script>{{7*7}}")
    assert 0 == done.code, done.err
    report = graphveil_here("report", "<script>{{7*7}}")
    assert 0 == report.code, report.err
    page = (cwd / "<script>{{7*7}}" / "report.html").read_text()
    assert not any(one in done.out + report.out + page for one in ("\x1b", "\u202e"))
    assert "&lt;script&gt;{{7*7}}" in page
    assert 2 == page.count("<script")
    assert 2 == page.count("</script>")
