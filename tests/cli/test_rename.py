from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

import pytest


def test_a_key_is_made_once_and_two_files_agree_by_it(graphveil_here, cwd):
    (cwd / "people.csv").write_text("name,sex\nann,f\nbob,m\nzoe,f\n")
    made = graphveil_here("key", "people.key")
    assert (0, "") == (made.code, made.out)
    assert "--key people.key" in made.err
    for words in (
        ("friends.csv", "--out", "friends"),
        ("people.csv", "--kind", "table", "--ids", "name", "--out", "people"),
    ):
        done = graphveil_here("anonymize", "rename", *words, "--key", "people.key")
        assert 0 == done.code
        promise = "This release carries no guarantee. Only the ids were replaced"
        assert done.out.startswith(promise)
    nodes = set((cwd / "friends" / "nodes.csv").read_text().split()[1:])
    rows = [line.split(",")[0] for line in (cwd / "people" / "data.csv").read_text().split()[1:]]
    assert 2 == len(nodes & set(rows))
    original = ("--original", "people.csv", "--key", "people.key", "--json")
    checked = graphveil_here("verify", "people", *original)
    checks = {check["name"]: check["outcome"] for check in json.loads(checked.out)["checks"]}
    assert (0, "holds") == (checked.code, checks["ids from the key"])


def test_a_key_replaces_nothing(graphveil_here, cwd, assert_one_line):
    refused = graphveil_here("key", "friends.csv")
    assert_one_line(refused, "friends.csv exists")
    assert "--force" not in refused.err
    assert (cwd / "friends.csv").read_text().startswith("source,target")


def test_a_key_in_the_folder_that_is_written_is_refused(graphveil_here, cwd, assert_one_line):
    out = ("anonymize", "rename", "friends.csv", "--out", "out", "--force")
    assert 0 == graphveil_here(*out).code
    (cwd / "out.private" / "people.key").write_text("00" * 32)
    done = graphveil_here(*out, "--key", "out.private/people.key")
    assert_one_line(done, "people.key is in", "Choose a different location")
    assert (cwd / "out.private" / "people.key").exists()
    for place in ("out", "out/people.key"):
        assert_one_line(graphveil_here("key", place), place)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("out/new.ledger", "new.ledger is in out, which this run writes. Choose a different"),
        (
            "out.private/new.ledger",
            "new.ledger is in out.private, which this run writes. Choose a different location",
        ),
    ],
)
def test_a_ledger_in_a_folder_that_is_written_is_refused_before_it_is_charged(
    graphveil_here, listing, assert_one_line, name, said
):
    assert 0 == graphveil_here("anonymize", "rename", "friends.csv", "--out", "out").code
    before = listing()
    words = ("friends.csv", "--epsilon", "1", "--out", "out", "--force", "--ledger", name)
    done = graphveil_here("anonymize", "randomized-response", *words)
    assert_one_line(done, said)
    assert before == listing()


def test_without_a_key_where_one_is_named_nothing_is_written(graphveil_here, listing):
    before = listing()
    done = graphveil_here("anonymize", "rename", "friends.csv", "--out", "out", "--key", "no.key")
    assert 2 == done.code
    assert "graphveil key FILE" in done.err.splitlines()[-1]
    assert before == listing()


@pytest.mark.parametrize("names", [("f.csv", "n.csv", "k"), ("my f's.csv", "my n.csv", "my key")])
def test_the_command_that_checks_a_release_can_be_pasted(graphveil_here, cwd, names):
    data, nodes, key = names
    (cwd / data).write_text("source,target\nann,bob\nbob,cyd\n")
    (cwd / nodes).write_text("id\nann\nbob\ncyd\ndan\n")
    made = graphveil_here("key", key)
    assert f"--key {shlex.quote(key)} --out DIR" in made.err
    out = f"out of {data}"
    done = graphveil_here(
        *("anonymize", "rename", data, "--nodes", nodes, "--key", key, "--out", out)
    )
    words = shlex.split(done.out.splitlines()[-1].removeprefix("next: "))
    assert ["graphveil", "verify", out, "--original", data] == words[:5]
    checked = graphveil_here(*words[1:])
    assert (0, True) == (checked.code, "not checked" not in checked.out)


def test_names_that_begin_with_a_dash_can_be_pasted(graphveil_here, cwd):
    (cwd / "-f.csv").write_text("sex,town\n" + "-x,Oslo\nf,Rome\n" * 10)
    done = graphveil_here("advise", "./-f.csv", "--kind", "table", "--suppressed=-x", "--all")
    line = next(line for line in done.out.splitlines() if "anonymize rename" in line)
    words = shlex.split(line)
    made = graphveil_here(*words[1:])
    assert (0, True) == (made.code, "read 10 cells as missing" in made.err)
    check = made.out.splitlines()[-1].removeprefix("next: ")
    assert 0 == graphveil_here(*shlex.split(check)[1:]).code


@pytest.mark.skipif(os.name != "posix", reason="pipes have names under POSIX alone")
def test_what_came_from_a_pipe_is_a_dash_in_commands_to_paste(graphveil_here):
    def piped(content="source,target\nann,bob\nbob,cyd\n"):
        end, start = os.pipe()
        os.write(start, content.encode())
        os.close(start)
        return f"/dev/fd/{end}"

    advice = graphveil_here("advise", piped(), "--all")
    assert any(line.startswith("-: a network") for line in advice.out.splitlines()[:5])
    assert "graphveil anonymize rename - --kind graph --out stdin-rename" in advice.out
    key = ("--key", piped("00" * 32))
    done = graphveil_here("anonymize", "rename", piped(), *key, "--kind", "graph", "--out", "out")
    assert "next: graphveil verify out --original -" == done.out.splitlines()[-1]


def test_a_key_comes_from_the_standard_input_too(graphveil_here, cwd, assert_one_line):
    words = ["anonymize", "rename", "friends.csv", "--key"]
    (cwd / "a.key").write_text("ab" * 32)
    assert 0 == graphveil_here(*words, "a.key", "--out", "by-file").code
    command = [sys.executable, "-m", "graphveil", *words, "-", "--out", "piped"]
    subprocess.run(command, input=b"ab" * 32, cwd=cwd, check=True, capture_output=True)
    by_file, piped = ((cwd / out / "data.csv").read_bytes() for out in ("by-file", "piped"))
    assert by_file == piped
    twice = graphveil_here("anonymize", "rename", "-", "--key", "-", "--out", "neither")
    assert_one_line(twice, "- (standard input) can be given only once")
