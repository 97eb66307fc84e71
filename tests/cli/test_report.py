"""`graphveil report`: where pages lie, who can read them, and how it ends."""

from __future__ import annotations

import html
import json
import re
import shlex
import stat

import pytest

import graphveil as gv
from graphveil.core.errors import UsageError
from thorough import in_fuzz_alone


def released(graphveil_here):
    done = graphveil_here("anonymize", "k-degree", "friends.csv", "--k", 2, "--out", "out")
    assert done.code == 0, done.err


def test_the_page_of_an_owner_lies_in_the_private_folder_for_its_owner_alone(graphveil_here, cwd):
    released(graphveil_here)
    done = graphveil_here("report", "out", "--original", "friends.csv")
    assert done.code == 0, done.err
    page = cwd / "out.private" / "report.html"
    assert 0o600 == stat.S_IMODE(page.stat().st_mode)
    lines = done.out.splitlines()
    assert len(lines) <= 24
    assert lines[0].startswith("The guarantee holds: ")
    assert any(line.startswith("Can a person be singled out? ") for line in lines)
    assert "written: out.private/report.html" == lines[-1]
    again = graphveil_here("report", "out", "--original", "friends.csv")
    assert again.code == 2
    assert "--force" in again.err
    assert graphveil_here("report", "out", "--original", "friends.csv", "--force").code == 0


def test_a_page_without_the_original_names_the_way_and_gives_place_to_one_with_it(
    graphveil_here, cwd
):
    released(graphveil_here)
    first = graphveil_here("report", "out")
    assert 0 == first.code, first.err
    assert "Not tested: needs the original (add --original FILE)." in " ".join(first.out.split())
    page = cwd / "out.private" / "report.html"
    assert "it needs the original" in page.read_text()
    again = graphveil_here("report", "out")
    assert (2, True) == (again.code, "overwrite it with --force" in again.err)
    own = page.read_text()
    seal = json.loads((cwd / "out" / "release.json").read_text())["seal"]
    of_another = own.replace(seal, "0" * 64)
    page.write_text(of_another)
    assert 2 == graphveil_here("report", "out", "--original", "friends.csv").code
    assert of_another == page.read_text()
    page.write_text(own)
    done = graphveil_here("report", "out", "--original", "friends.csv")
    assert 0 == done.code, done.err
    assert "it needs the original" not in page.read_text()


@pytest.mark.parametrize("words", [(), ("--public",), ("--as", "json"), ("--as", "croissant")])
def test_a_report_replaces_nothing_but_a_report(graphveil_here, cwd, words):
    released(graphveil_here)
    before = (cwd / "friends.csv").read_text()
    for force in ((), ("--force",)):
        done = graphveil_here("report", "out", *words, "--out", "friends.csv", *force)
        assert 2 == done.code
        assert "--force" not in done.err
        assert before == (cwd / "friends.csv").read_text()
    assert "friends.csv was not written by graphveil, so it is not replaced." in done.err
    assert 0 == graphveil_here("report", "out", *words, "--out", "page").code
    assert 0 == graphveil_here("report", "out", *words, "--out", "page", "--force").code
    report = gv.read_release(cwd / "out").report(public=True)
    with pytest.raises(UsageError, match=r"was not written by graphveil"):
        report.write(cwd / "friends.csv", force=True)


def test_a_release_with_its_page_is_replaced_and_the_old_page_goes(graphveil_here, cwd):
    released(graphveil_here)
    page = cwd / "out.private" / "report.html"
    page.write_text("of the release that is replaced")
    anonymized = ("anonymize", "k-degree", "friends.csv", "--k", 2, "--out", "out", "--force")
    assert 0 == graphveil_here(*anonymized).code
    assert not page.exists()


def test_the_public_page_lies_beside_the_release(graphveil_here, cwd):
    released(graphveil_here)
    assert graphveil_here("report", "out", "--public").code == 0
    assert (cwd / "out-report.html").is_file()
    assert ["data.csv", "nodes.csv", "release.json"] == sorted(
        p.name for p in (cwd / "out").iterdir()
    )
    refused = graphveil_here("report", "out", "--public", "--original", "friends.csv")
    assert refused.code == 2


def test_a_folder_from_elsewhere_gets_the_public_page(graphveil_here, cwd):
    released(graphveil_here)
    (cwd / "out.private").rename(cwd / "kept")
    assert graphveil_here("report", "out").code == 0
    assert (cwd / "out-report.html").is_file()


def test_a_release_that_does_not_verify_gets_a_page_and_exit_code_1(graphveil_here, cwd):
    released(graphveil_here)
    with (cwd / "out" / "data.csv").open("a") as stream:
        stream.write("0,0\n")
    done = graphveil_here("report", "out", "--public", "--out", "page.html")
    assert done.code == 1
    assert "The folder is not as it was published" in " ".join(done.out.split())
    assert "Verification failed: " in (cwd / "page.html").read_text()


def test_what_is_no_release_and_another_original_are_refused(graphveil_here, cwd):
    released(graphveil_here)
    (cwd / "other.csv").write_text("source,target\na,b\n")
    for arguments in (("report", "."), ("report", "out", "--original", "other.csv")):
        done = graphveil_here(*arguments)
        assert done.code == 2, done
        assert 1 == done.err.count("error:")
        assert not (cwd / "out.private" / "report.html").exists()


def test_descriptions_for_machines_lie_beside_the_release(graphveil_here, cwd):
    released(graphveil_here)
    for form in ("croissant", "datapackage", "json"):
        assert graphveil_here("report", "out", "--as", form).code == 0
    named = {"out-croissant.json", "out-datapackage.json", "out-report.json"}
    assert named <= {path.name for path in cwd.iterdir()}


def test_its_pictures_are_written_into_a_new_folder(graphveil_here, cwd):
    released(graphveil_here)
    done = graphveil_here("report", "out", "--original", "friends.csv", "--figures", "pictures")
    assert 0 == done.code, done.err
    names = sorted(path.name for path in (cwd / "pictures").iterdir())
    assert {"distribution.svg", "distribution.pdf"} <= set(names)
    assert all(f"written: pictures/{name}" in done.out for name in names)
    assert 0o700 == stat.S_IMODE((cwd / "pictures").stat().st_mode)
    for wrong, words in (
        (["--figures", "pictures"], "exists"),
        (["--figures", "nowhere/pictures"], "does not exist"),
        (["--figures", "out/pictures"], "is inside a release"),
        (["--figures", "new", "--as", "json"], "--figures draws pictures of the page"),
    ):
        refused = graphveil_here("report", "out", "--force", *wrong)
        assert 2 == refused.code
        assert words in refused.err
    assert not (cwd / "new").exists()


def test_a_no_says_to_whom_and_what_it_leaves_open(graphveil_here):
    released(graphveil_here)
    said = " ".join(graphveil_here("report", "out", "--public").out.split())
    assert (
        "singled out? No (verified), by an attacker who knows the number of a person's neighbors"
        in said
    )
    assert "By someone with any other knowledge: not tested." in said
    assert "every node of the release has the same degree" in said


DIVERSE = (
    "Each class of rows that are equal in the known columns has at least 2 different known "
    "values of column_4; missing cells and the 63 words for missing that the claim lists do not "
    "count"
)

ROWS = "".join(f"{20 + i % 9},{'abc'[i % 3]},{i % 7},{'xy'[i % 2]}\n" for i in range(60))


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("generalize", "--k", 4, "--levels", "column_1=5,10", "column_3=auto",
         "--drop", "column_4"), marks=[pytest.mark.thorough, in_fuzz_alone]),
        ("mondrian", "--k", 4, "--bins", "column_1=quantiles:3", "column_3=median"),
        ("generalize", "--k", 3, "--known", "column_1,column_2", "--attach", "column_3,column_4",
         "--diverse", "column_4=2", "--levels", "column_1=5"),
    ],
)  # fmt: skip
def test_the_command_of_a_page_makes_the_same_data(graphveil_here, cwd, words):
    (cwd / "my rows.csv").write_text(ROWS)
    reading = ("--kind", "table", "--header", "no", "--out", "out")
    made = graphveil_here("anonymize", words[0], "my rows.csv", *words[1:], *reading)
    assert made.code == 0, made.err
    verified = graphveil_here("verify", "out")
    assert 0 == graphveil_here("report", "out", "--original", "my rows.csv").code
    page = (cwd / "out.private" / "report.html").read_text()
    command, *_ = commands_of_page(page)
    again = graphveil_here(*shlex.split(command)[1:])
    assert again.code == 0, again.err
    one, other = ((cwd / name / "data.csv").read_text() for name in ("out", "out-again"))
    assert sorted(one.splitlines()) == sorted(other.splitlines())
    assert 0 == graphveil_here("report", "out", "--public").code
    public = (cwd / "out-report.html").read_text()
    first, *others = commands_of_page(public)
    assert first.startswith(f"# Published parameters: {words[0]} --k ")
    assert ["graphveil verify RELEASE", "graphveil report RELEASE --public"] == others
    for said in (made.out, verified.out, page, public):
        assert ("--diverse" in words) == (DIVERSE in " ".join(said.split()))


def commands_of_page(page):
    listed = re.search(r'<h2 id="repeat">.*?<pre>(.*?)</pre>', page, re.DOTALL)
    return html.unescape(listed[1]).strip().splitlines()
