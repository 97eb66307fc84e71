"""`graphveil warm` compiles beforehand what usual runs need, or says that it did not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import takewhile

import numpy as np
import pyarrow as pa
import pytest

from graphveil.cli.commands import warm
from graphveil.core.errors import DataError, ParameterError, UsageError
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.measures import MEASURES
from graphveil.measures.registry import DIRECTED_COUNT
from graphveil.methods import METHODS, Mondrian, Rename, StructuralAnonymity, SuppressK
from graphveil.scale.chunks import InChunks


def run_command(home, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "graphveil", *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def assert_compiling(home, *arguments):
    """Assert that a command says that it compiles, and stop it once it did."""
    once = "compiling the code that this run needs, once for this machine"
    said = f"graphveil: {once}; the result is kept in {home}.\n"
    command = [sys.executable, "-m", "graphveil", *map(str, arguments)]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(home)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        lines = list(takewhile(lambda line: line != said, process.stderr))
        process.kill()
    assert -signal.SIGKILL == process.returncode, "".join(lines)


def test_a_warmed_method_compiles_nothing_more(tmp_path):
    rows = tmp_path / "rows.csv"
    pairs = [f"u{i},i{i % step}\n" for i in range(6000) for step in (89, 97)]
    rows.write_text("user,item\n" + "".join(pairs))
    anonymize = ("anonymize", "mondrian", rows, "--k", "3", "--out")
    assert_compiling(tmp_path / "cold", *anonymize, tmp_path / "one")
    warmed = run_command(tmp_path / "warm", "warm", "mondrian")
    assert (0, "mondrian: compiled") == (warmed.returncode, warmed.stderr.splitlines()[-1])
    after = run_command(tmp_path / "warm", *anonymize, tmp_path / "two")
    assert 0 == after.returncode
    assert "compiling" not in after.stderr


def test_what_cannot_be_warmed_is_named(tmp_path):
    done = run_command(tmp_path, "warm", "mondriaan")
    assert 2 == done.returncode
    assert "mondriaan" in done.stderr


def test_a_method_of_which_every_run_is_refused_is_an_error(monkeypatch, capsys):
    def refuse(*_, **__):
        raise ParameterError("k is odd.")

    monkeypatch.setattr(Mondrian, "anonymize", refuse)
    with pytest.raises(UsageError, match=r"mondrian: nothing was compiled.*k is odd\."):
        warm.command("mondrian")
    assert "compiled" not in capsys.readouterr().err


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_warmed_with_data_of_every_kind_that_it_takes(name):
    method = METHODS[name]
    accepted = set()
    for data in warm._data_for(method):
        with suppress(DataError):
            method.from_parameters(dict(method.card.example)).anonymize(data, seed=1)
            accepted.add(type(data))
    assert ({Bipartite} if method.accepts[0] is Bipartite else set(method.accepts)) == accepted


def test_chunks_are_also_cut_as_executors_cut_them(monkeypatch):
    cut = []
    monkeypatch.setattr("graphveil.cli.commands.warm._anonymize", lambda *_: None)
    monkeypatch.setattr("graphveil.cli.commands.warm._nest", lambda *_: None)
    monkeypatch.setattr(InChunks, "__call__", lambda _, batch: cut.append(1) or chunked(batch))
    for run in warm._anonymizations(SuppressK):
        run()
    assert cut


def chunked(batch):
    number = pa.array(np.arange(batch.num_rows) % 2, pa.int32())
    return pa.RecordBatch.from_arrays(
        [batch["user"], batch["items"], number], names=["user", "items", "chunk"]
    )


def test_structural_is_run_with_every_measure_distance_heuristic_and_kind_of_goal(monkeypatch):
    runs = []
    monkeypatch.setattr(
        StructuralAnonymity, "anonymize", lambda method, *_, **__: runs.append(method)
    )
    warm.command("structural")
    assert {*MEASURES, DIRECTED_COUNT} == {run.measure for run in runs}
    assert {1, 2} == {run.distance for run in runs}
    assert {"Full", "Partial", "Budget"} == {type(run.goal).__name__ for run in runs}
    assert {"auto", "es", "ua", "search", "cut", "target"} <= {run.heuristic for run in runs}
    assert all(run.iterations == 20_000 for run in runs)


def test_a_method_for_several_kinds_of_data_is_run_on_each(monkeypatch):
    kinds = []
    monkeypatch.setattr(Rename, "anonymize", lambda _, data, **__: kinds.append(type(data)))
    warm.command("rename")
    assert {Graph, Bipartite, Table, Network} == set(kinds)


def test_the_help_has_no_line_that_breaks_where_its_source_does():
    lines = run_command("nowhere", "warm", "--help").stdout.splitlines()
    assert "Compile in advance what common runs would compile on first use." in lines
    assert "Use it for container images, or for a folder set by NUMBA_CACHE_DIR." in lines
