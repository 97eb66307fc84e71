"""What reaches a terminal: labels are shown and never obeyed, color only where it is wanted."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from graphveil.cli import console

ESCAPE = "\x1b"
HOSTILE = [
    "[red]bold[/red]",
    f"{ESCAPE}[31mred",
    f"{ESCAPE}]0;title\x07",
    "back\x08\x08\x08space",
    "tab\tstop",
    "right\u202eleft",
    "\x9b31mcsi",
    "=1+cmd()",
    "x" * 5000,
]


@pytest.fixture
def hostile(cwd):
    """A JSON-free file whose ids try to speak to the terminal; each is unique by its degree."""
    lines = ["graph ["]
    for number, label in enumerate(HOSTILE):
        quoted = label.replace('"', "&quot;")
        lines.append(f' node [ id {number} label "{quoted}" ]')
    lines += [f" edge [ source 0 target {i} ]" for i in range(1, len(HOSTILE))]
    lines += [f" edge [ source 1 target {i} ]" for i in range(2, 5)]
    lines.append("]")
    (cwd / "hostile.gml").write_text("\n".join(lines), encoding="utf-8")
    return "hostile.gml"


def controls(text):
    return sorted({c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160})


def test_labels_in_results_are_shown_and_not_obeyed(graphveil_here, hostile):
    done = graphveil_here("measure", hostile, "--k", 9)
    assert 0 == done.code
    assert [] == controls(done.out) + controls(done.err)
    assert "\u202e" not in done.out
    assert "[red]bold[/red]" in done.out
    assert "\\x1b[31mred" in done.out
    assert "\\u202e" in done.out
    assert max(map(len, done.out.splitlines())) < 4000
    printed = json.loads(graphveil_here("measure", hostile, "--k", 9, "--json").out)
    assert set(HOSTILE) == set(printed["unprotected"])


def test_labels_in_errors_are_shown_and_not_obeyed(graphveil_many, cwd, assert_one_line):
    (cwd / "odd.csv").write_text(f"ann,bob\ncyd,{ESCAPE}[31mdan,eve\n")
    name = f"{ESCAPE}[31m.csv"
    (cwd / name).write_text("ann\n")
    lines = {
        ("measure", "odd.csv"): "line 2",
        ("measure", name): "31m.csv",
        ("verify", name): "31m.csv",
        (name,): "31m.csv",
        ("measure", "a\nb.csv"): "b.csv",
    }
    commands = [(cwd, arguments) for arguments in lines]
    for arguments, done in zip(lines, graphveil_many(commands), strict=True):
        assert 2 == done.code
        assert [] == controls(done.err)
        assert_one_line(done, lines[arguments])


def test_a_hostile_file_name_stays_a_name_all_the_way(graphveil_here, cwd):
    name = f"{ESCAPE}[31mfriends\n.csv"
    (cwd / "friends.csv").rename(cwd / name)
    done = graphveil_here("anonymize", "k-degree", name, "--k", 2, "--out", f"{ESCAPE}[31mout")
    assert 0 == done.code
    assert [] == controls(done.err)
    done = graphveil_here("verify", f"{ESCAPE}[31mout", "--original", name)
    assert 0 == done.code
    assert [] == controls(done.out)


@pytest.mark.parametrize("arguments", [["--help"], ["methods"], ["measure", "friends.csv"]])
def test_there_is_no_color_outside_a_terminal(graphveil_here, arguments):
    done = graphveil_here(*arguments)
    assert 0 == done.code
    assert ESCAPE not in done.out + done.err


def on_a_terminal(arguments, cwd, **env):
    """Return what a command prints when both its streams are a terminal."""
    pty = pytest.importorskip("pty", reason="needs a pseudo-terminal")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **env}
    command = [sys.executable, "-m", "graphveil", *arguments]
    with subprocess.Popen(
        command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                block = os.read(ours, 65536)
            except OSError:
                break
            if not block:
                break
            shown += block
        os.close(ours)
    assert 0 == process.returncode
    return shown.decode()


@pytest.mark.parametrize("arguments", [["methods"], ["measure", "friends.csv"], ["--help"]])
def test_no_color_is_obeyed_on_a_terminal(cwd, arguments):
    shown = on_a_terminal(arguments, cwd, NO_COLOR="1")
    colored = [code for code in range(30, 50) if f"{ESCAPE}[{code}m" in shown]
    assert [] == colored
    assert f"{ESCAPE}[38;" not in shown


def test_every_check_fits_into_a_terminal_and_stays_on_one_line_of_a_pipe(graphveil_here, cwd):
    graphveil_here("anonymize", "k-degree", "friends.csv", "--k", "2", "--out", "out")
    words = ["verify", "out", "--all"]
    shown = on_a_terminal(words, cwd, NO_COLOR="1").replace("\r", "").splitlines()
    piped = graphveil_here(*words).out.splitlines()
    assert max(map(len, shown)) <= 100 < max(map(len, piped))
    assert " ".join(shown).split() == " ".join(piped).split()


def test_labels_are_not_obeyed_on_a_terminal_either(cwd, hostile):
    shown = on_a_terminal(["measure", hostile, "--k", "9"], cwd, NO_COLOR="1")
    assert f"{ESCAPE}[31m" not in shown
    assert f"{ESCAPE}]0;" not in shown
    assert "[red]bold[/red]" in shown


def test_an_output_of_another_encoding_is_no_bug(graphveil, cwd):
    (cwd / "names.csv").write_text("source,target\njosé,zoë\nzoë,ann\n", encoding="utf-8")
    done = graphveil("measure", "names.csv", env={"PYTHONIOENCODING": "ascii"})
    assert 0 == done.code
    assert "zo\\xeb" in done.out


def test_one_bar_is_shown_at_a_time(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(console, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    shown_at_once = []
    bars = console.bars()
    with bars("outer", None):
        bars.starter.join()
        with bars("inner", 4) as advance:
            advance(2)
            shown_at_once.append([t.description for t in bars.progress.tasks if t.visible])
        shown_at_once.append([t.description for t in bars.progress.tasks if t.visible])
        bars.progress.refresh()
    assert [["inner"], ["outer"]] == shown_at_once
    assert [] == bars.tasks
    assert not bars.progress.live.is_started
    assert "outer" in terminal.getvalue()
