"""With `strict`, what a file system keeps beside the bytes of a release is refused as well."""

from __future__ import annotations

import errno
import os
import shutil
from collections import Counter

import pytest
from tampering import original_graph, release_of

import graphveil as gv
from graphveil.cli.app import call
from graphveil.verify.files.filesystem_metadata import ATTRIBUTES, LINKS

FILES = ["data.csv", "nodes.csv", "release.json"]
STRICT = {LINKS, ATTRIBUTES}

on_posix = pytest.mark.skipif(os.name != "posix", reason="links and attributes of POSIX")


def failed(folder, *, strict=True):
    verdict = gv.verify_release(folder, strict=strict)
    return {check.name: check.detail for check in verdict.failures()}


def noted(path):
    """Give a path an extended attribute, where the file system keeps such."""
    try:
        os.setxattr(path, "user.note", b"ann is 0")
    except (AttributeError, OSError) as error:
        pytest.skip(f"no extended attributes here: {error}")


def test_an_untouched_folder_passes_and_two_more_checks_are_said(folder):
    plain, strict = (gv.verify_release(folder, strict=strict) for strict in (False, True))
    assert plain.ok
    assert strict.ok
    more = Counter(check.name for check in strict.checks)
    more.subtract(check.name for check in plain.checks)
    assert dict.fromkeys(STRICT, 1) == {name: n for name, n in more.items() if n}
    assert plain.exit_code == strict.exit_code


@pytest.mark.parametrize("form", ["csv", "parquet", "graphml"])
def test_a_release_of_every_sort_of_file_passes(form, tmp_path):
    folder = release_of(original_graph()).write(tmp_path / "release", format=form)
    assert {} == failed(folder)


def test_a_release_in_memory_passes():
    assert gv.verify_release(release_of(original_graph()), strict=True).ok


@pytest.mark.parametrize("name", [*FILES, "."])
def test_an_extended_attribute_of_any_file_or_of_the_folder_is_named(name, folder):
    noted(folder / name)
    assert {} == failed(folder, strict=False)
    problems = failed(folder)
    assert [ATTRIBUTES] == list(problems)
    assert "'user.note'" in problems[ATTRIBUTES]
    assert ("the folder" if name == "." else repr(name)) in problems[ATTRIBUTES]


def test_an_attribute_that_a_system_gives_to_every_file_is_none(folder, monkeypatch):
    def listed(*names):
        monkeypatch.setattr(os, "listxattr", lambda *_, **__: list(names), raising=False)
        return failed(folder)

    assert {} == listed("security.selinux")
    assert [ATTRIBUTES] == list(listed("security.selinux", "system.posix_acl_access"))


def test_where_the_system_lists_no_attributes_they_are_not_checked(folder, monkeypatch):
    monkeypatch.delattr(os, "listxattr", raising=False)
    checks = {check.name: check.outcome for check in gv.verify_release(folder, strict=True).checks}
    assert ("not checked", "holds") == (checks[ATTRIBUTES], checks[LINKS])


@pytest.mark.parametrize(
    ("number", "outcome"), [(errno.ENOTSUP, "holds"), (errno.EACCES, "not checked")]
)
def test_a_file_system_without_attributes_has_none(number, outcome, folder, monkeypatch):
    def refused(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "listxattr", refused, raising=False)
    checks = {check.name: check.outcome for check in gv.verify_release(folder, strict=True).checks}
    assert outcome == checks[ATTRIBUTES]


@on_posix
@pytest.mark.parametrize("name", FILES)
def test_a_second_name_of_any_file_is_noticed(name, folder, tmp_path):
    (tmp_path / "ann is 0").hardlink_to(folder / name)
    assert {} == failed(folder, strict=False)
    assert {LINKS: f"{name!r} has 2 names: the others are hard links to it"} == failed(folder)


@on_posix
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_a_symbolic_link_is_noticed_as_such(name, folder, tmp_path):
    (folder / name).rename(tmp_path / "away")
    (folder / name).symlink_to(tmp_path / "away")
    assert f"{name!r} is a symbolic link" == failed(folder)[LINKS]


@on_posix
@pytest.mark.parametrize("target", ["/etc/hostname", "ann is 0", "."])
def test_a_further_link_is_noticed_wherever_it_leads(target, folder):
    (folder / "more").symlink_to(target)
    (folder / "deeper").mkdir()
    (folder / "deeper" / "more").symlink_to(target)
    assert "'deeper/more' is a symbolic link; 'more' is a symbolic link" == failed(folder)[LINKS]


@on_posix
def test_the_folder_itself_may_be_named_by_a_link(folder, tmp_path):
    """What the link points to is checked: where it stands is no part of the release."""
    (tmp_path / "latest").symlink_to(folder)
    assert {} == failed(tmp_path / "latest")
    noted(folder)
    assert [ATTRIBUTES] == list(failed(tmp_path / "latest"))


@on_posix
def test_a_copy_has_no_hard_links_and_passes(folder, tmp_path):
    for name in FILES:
        (tmp_path / f"other {name}").hardlink_to(folder / name)
    shutil.copytree(folder, tmp_path / "copy")
    assert LINKS in failed(folder)
    assert {} == failed(tmp_path / "copy")


@on_posix
def test_the_command_fails_where_it_is_told_to_be_strict(folder, tmp_path, capsys):
    (tmp_path / "who").hardlink_to(folder / "data.csv")
    assert 0 == call(["verify", str(folder)])
    assert LINKS not in capsys.readouterr().out
    assert 1 == call(["verify", str(folder), "--strict"])
    first = capsys.readouterr().out.replace("\n", " ")
    assert first.startswith("The folder is not as it was published: 'data.csv' has 2 names")
    assert f"({LINKS}; 1 of " in first
