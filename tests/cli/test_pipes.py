from __future__ import annotations

import gzip
import io
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from graphveil.cli import inputs
from graphveil.cli.commands import measure as verb
from graphveil.core.errors import InputError
from graphveil.io import read_graph, write

FRIENDS = b"source,target\nann,bob\nbob,cyd\ncyd,dan\ndan,ann\nann,cyd\neve,ann\n"


@pytest.fixture
def piped(graphveil_here, monkeypatch):
    """Return a function that runs a command with these bytes on its standard input."""

    def command(content, *arguments):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return graphveil_here(*arguments)

    return command


@pytest.fixture
def seen(monkeypatch):
    """Return what the command reads: the path, its mode and that of its folder."""
    looked_at = []

    def read(path, options):
        looked_at.append((path, path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777))
        return before(path, options)

    before = verb.inputs.read_input
    monkeypatch.setattr(verb.inputs, "read_input", read)
    return looked_at


def test_a_dash_reads_the_standard_input_from_a_private_file_that_is_removed(piped, seen):
    done = piped(FRIENDS, "measure", "-", "--json")
    assert 0 == done.code
    assert '"nodes": 5' in done.out
    ((path, mode, folder_mode),) = seen
    assert "stdin.csv" == path.name
    if os.name == "posix":
        assert (0o600, 0o700) == (mode, folder_mode)
    assert not path.parent.exists()


def test_the_private_file_is_removed_where_reading_fails(piped, monkeypatch, seen):
    assert 2 == piped(b"", "measure", "-").code
    ((path, _, _),) = seen
    assert not path.parent.exists()

    def interrupt(path, _):
        seen.append((path, 0, 0))
        raise KeyboardInterrupt

    monkeypatch.setattr(verb.inputs, "read_input", interrupt)
    assert 3 == piped(FRIENDS, "measure", "-").code
    assert not seen[-1][0].parent.exists()


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("friends.csv", ()),
        ("friends.csv.gz", ()),
        ("friends.parquet", ()),
        ("friends.gml", ("--input-format", "gml")),
        ("friends.json", ("--input-format", "node-link")),
    ],
)
def test_a_pipe_brings_every_format(piped, cwd, name, flags):
    write(read_graph(cwd / "friends.csv"), cwd / name)
    done = piped((cwd / name).read_bytes(), "convert", "-", *flags, "--out", "copy.tsv", "--force")
    assert 0 == done.code, done.err
    assert read_graph(cwd / "friends.csv") == read_graph(cwd / "copy.tsv")


def test_a_release_of_a_pipe_is_verified_and_evaluated_against_a_pipe(piped, cwd):
    done = piped(FRIENDS, "anonymize", "k-degree", "-", "--k", 2, "--out", "out")
    assert 0 == done.code
    assert (cwd / "out" / "data.csv").is_file()
    checked = piped(FRIENDS, "verify", "out", "--original", "-")
    assert (0, True) == (checked.code, "not checked" not in checked.out)
    figures = piped(FRIENDS, "evaluate", "out", "--original", "-", "--metrics", "edges-kept")
    assert (0, True) == (figures.code, "edges kept" in figures.out)


def test_advice_on_a_pipe_gives_commands_for_a_pipe(piped):
    done = piped(FRIENDS, "advise", "-")
    last = done.out.splitlines()[-1]
    assert re.fullmatch(r"next: graphveil anonymize ([a-z-]+) - --k 5 --out stdin-\1", last)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are those of POSIX")
def test_a_named_pipe_is_read_once(graphveil_here, cwd):
    os.mkfifo(cwd / "friends.fifo")
    writer = threading.Thread(target=Path(cwd / "friends.fifo").write_bytes, args=[FRIENDS])
    writer.start()
    done = graphveil_here("measure", "friends.fifo", "--input-format", "csv", "--json")
    writer.join()
    assert (0, True) == (done.code, '"nodes": 5' in done.out)


def test_a_real_pipe_into_a_real_process(cwd):
    done = subprocess.run(
        [sys.executable, "-m", "graphveil", "measure", "-"],
        input=gzip.compress(FRIENDS),
        cwd=cwd,
        capture_output=True,
        check=False,
    )
    assert (0, True) == (done.returncode, b"5 people" in done.stdout)


def test_a_terminal_is_no_pipe(graphveil_here, monkeypatch, assert_one_line):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert_one_line(graphveil_here("measure", "-"), "nothing is piped in")


@pytest.mark.parametrize("delimiter", [("--delimiter=-",), ("--delimiter", "-")])
def test_a_dash_may_still_be_a_delimiter(graphveil_here, cwd, delimiter):
    (cwd / "a.txt").write_text("0-1\n1-2\n")
    assert 0 == graphveil_here("measure", "a.txt", *delimiter).code
    with pytest.raises(InputError):
        read_graph(cwd / "a.txt")


def test_a_dash_may_stand_for_a_suppressed_cell(graphveil_here, cwd):
    (cwd / "people.csv").write_text("sex,town\nf,-\nm,-\nf,Oslo\nm,Oslo\n")
    for suppressed in (("-",), ("?", "-")):
        out = cwd / f"out-{len(suppressed)}"
        done = graphveil_here(
            *("anonymize", "rename", "people.csv", "--kind", "table"),
            *("--suppressed", *suppressed, "--out", out),
        )
        assert 0 == done.code, done.err
        assert ["*", "*", "Oslo", "Oslo"] == sorted(
            line.split(",")[1] for line in (out / "data.csv").read_text().splitlines()[1:]
        )


def test_the_standard_input_is_given_once(piped, assert_one_line):
    done = piped(FRIENDS, "measure", "-", "--nodes", "-")
    assert_one_line(done, "- (standard input) can be given only once")


def test_a_dash_is_no_number(graphveil_here, assert_one_line):
    assert_one_line(graphveil_here("measure", "friends.csv", "--k", "-"), "'-' is not an integer")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are those of POSIX")
def test_a_silent_pipe_is_waited_for_and_that_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(inputs, "PATIENCE_SECONDS", 0.0)
    fifo = tmp_path / "late"
    os.mkfifo(fifo)

    def write():
        time.sleep(0.3)
        fifo.write_text("a,b\nb,c\n")

    writer = threading.Thread(target=write)
    writer.start()
    with inputs.a_file(fifo, None) as path:
        assert "a,b\nb,c\n" == path.read_text()
        assert "-" == inputs.file_word(path)
    writer.join()
    assert "-: waiting for data from the pipe" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are those of POSIX")
def test_a_pipe_that_nobody_writes_is_waited_for_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "PATIENCE_SECONDS", 0.0)
    fifo = tmp_path / "never"
    os.mkfifo(fifo)
    said, waits = [], threading.Event()
    monkeypatch.setattr(inputs, "say", lambda text: said.append(text) or waits.set())

    def write():  # the pipe opens only for a writer, who comes once the waiting has been said
        waits.wait(20)
        fifo.write_text("a,b\n")

    writer = threading.Thread(target=write)
    writer.start()
    with inputs.a_file(fifo, None) as path:
        assert "a,b\n" == path.read_text()
    writer.join()
    assert waits.is_set()
    assert "waiting for data from the pipe" in said[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are those of POSIX")
def test_python_refuses_a_pipe_since_a_file_is_read_twice(tmp_path):
    os.mkfifo(tmp_path / "p.csv")
    with pytest.raises(InputError, match="this is a pipe"):
        read_graph(tmp_path / "p.csv")


@pytest.mark.parametrize("letters", [226, 255])
def test_a_name_that_is_too_long_is_refused_before_the_work(
    graphveil_here, cwd, assert_one_line, letters
):
    """Its private folder and the hidden folders beside both have longer names."""
    name = letters * "b"
    done = graphveil_here("anonymize", "rename", cwd / "friends.csv", "--out", name)
    assert_one_line(done, "can be written here. Choose a shorter one.")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no sockets in folders")
def test_a_socket_is_named_as_what_it_is(graphveil_here, monkeypatch, cwd, assert_one_line):
    monkeypatch.chdir(cwd)  # a path may be too long to bind
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.csv")
        for words in (("measure", "s.csv"), ("describe", "s.csv")):
            done = graphveil_here(*words)
            assert 2 == done.code
            assert_one_line(done, "s.csv: this is a socket, which holds no data", "Give a file")
