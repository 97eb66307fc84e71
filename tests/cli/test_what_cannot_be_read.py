"""What is no file of data, or lacks the original, is refused at once, with the way out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import graphveil as gv


@pytest.fixture
def release(in_folder):
    """Write a release into the working folder."""
    assert 0 == in_folder("anonymize", "k-degree", "friends.csv", "--k", 2, "--out", "out").code
    return in_folder


@pytest.fixture
def in_folder(cwd, monkeypatch, graphveil_here):
    monkeypatch.chdir(cwd)
    Path("friends.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\ne,a\n")
    return graphveil_here


@pytest.mark.parametrize(
    "words",
    [
        ("measure", "/dev/zero"),
        ("anonymize", "k-degree", "/dev/urandom", "--k", 2, "--out", "out"),
        ("convert", "/dev/zero", "--out", "copy.csv"),
    ],
)
def test_a_device_that_never_ends_is_refused_at_once(in_folder, words):
    done = in_folder(*words)
    assert 2 == done.code
    device = next(word for word in words if str(word).startswith("/dev/"))
    assert f"{device}: this is a device, which may never end" in done.err
    assert not Path("out").exists()
    assert not Path("copy.csv").exists()


def test_python_refuses_such_a_device_too():
    with pytest.raises(gv.GraphveilError, match="may never end"):
        gv.read_graph("/dev/zero", format="csv")


@pytest.mark.parametrize("verb", ["attack", "evaluate"])
def test_without_the_original_only_the_owner_can_run_it(release, verb):
    done = release(verb, "out")
    assert 2 == done.code
    assert "add --original FILE" in done.err
    assert "graphveil verify DIR" in done.err


def test_an_archive_of_a_release_is_to_be_unpacked_first(release):
    shutil.make_archive("out", "zip", "out")
    done = release("verify", "out.zip")
    assert 2 == done.code
    assert "Unpack it" in done.err


def test_a_ledger_that_is_no_file_is_refused_before_any_work(release):
    words = ("randomized-response", "friends.csv", "--epsilon", 2, "--out", "noisy")
    done = release("anonymize", *words, "--ledger", "/dev/null")
    assert 2 == done.code
    assert "/dev/null is not a file" in done.err
    assert not Path("noisy").exists()


def test_changed_line_ends_are_named(release):
    data = Path("out/data.csv")
    data.write_bytes(data.read_bytes().replace(b"\n", b"\r\n"))
    done = release("verify", "out")
    assert 1 == done.code
    assert "data.csv has CR LF line ends" in done.out
    assert "b'" not in done.out
