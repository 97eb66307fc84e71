"""What every command answers: few lines that fit a screen, in words that a reader knows."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

import graphveil as gv
from graphveil.cli import run
from graphveil.io import datasets

MOST_LINES, WIDTH, MOST_LINES_OF_DEMO = 24, 100, 60

PAPERS = ["vrq", "half L1", "NS08", "named", "nobody known", "arenas", "Kolmogorov"]
"""Words that no answer has: of papers, of networks that others know, and of ours."""

LIMITS = re.compile(r"^Not covered:.*?^Cost:", re.DOTALL | re.MULTILINE)
"""What a method does not protect against: text of its own."""

SNAPSHOTS = Path(__file__).parent / "answers"

KINDS = {
    "graph": ("copenhagen-calls", "k-degree", ("--kind", "graph"), ()),
    "features": ("spect-heart", "smooth-k", ("--kind", "bipartite"), ()),
    "table": ("adult-sample", "adaptive", ("--kind", "table"), ("--categories", "?")),
}
"""For each kind of data: what ships with the package, a method, and how the file is read."""

ROWS = {"features": 701, "table": 161}
"""So many lines of the file are taken."""

STRENGTH = {"k-degree": ("--k", 5), "smooth-k": ("--k", 5), "adaptive": ("--levels", 5)}


def original(folder, kind):
    """Write the data of a kind into a folder: so many people that attacks are quick."""
    name = KINDS[kind][0]
    shutil.copy(datasets.path_of(name), folder / "people.csv")
    if kind != "graph":
        rows = (folder / "people.csv").read_text().splitlines(keepends=True)
        (folder / "people.csv").write_text("".join(rows[: ROWS[kind]]))


COMMANDS = {
    "measure": ("measure", "people.csv", "--k", 5),
    "evaluate": ("evaluate", "out", "--original", "people.csv", "--seed", 1),
    "attack": ("attack", "out", "--original", "people.csv", "--seed", 1),
    "verify": ("verify", "out", "--original", "people.csv"),
    "convert": ("convert", "people.csv", "--out", "copy.csv"),
}
SEEDED = {"features": ("--seed", 1), "table": ("--seed", 1), "graph": ()}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return what every command answers of every kind of data, seeded."""
    printed = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("graphveil.verbs.attack.QUICK_SECONDS", 0.0)  # measured: not the same twice
        for kind, (_, method, reading, more) in KINDS.items():
            folder = tmp_path_factory.mktemp(kind)
            original(folder, kind)
            patched.chdir(folder)
            strength = STRENGTH[method]
            made = ("anonymize", method, "people.csv", *strength, *reading, *more)
            printed[kind, "anonymize"] = printed_by((*made, "--seed", 1, "--out", "out"))
            for verb, words in COMMANDS.items():
                words = (*words, *(SEEDED[kind] if verb == "measure" else ()))  # noqa: PLW2901
                asked = (*words, *(reading if verb in {"measure", "convert"} else ()), *more)
                printed[kind, verb] = printed_by(asked)
    return printed


def printed_by(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(word) for word in words])
    assert 0 == code, err.getvalue()
    return out.getvalue(), err.getvalue()


EVERY = [(kind, verb) for kind in KINDS for verb in ("anonymize", *COMMANDS)]


@pytest.mark.parametrize(("kind", "verb"), EVERY)
def test_an_answer_fits_a_screen_and_cuts_no_word(answers, kind, verb):
    lines = answers[kind, verb][0].splitlines()
    assert 0 < len(lines) <= MOST_LINES
    assert [] == [line for line in lines if len(line) > WIDTH and not line.startswith("next: ")]
    assert [] == [line for line in lines if line.endswith(("...", "…"))]


@pytest.mark.parametrize(("kind", "verb"), EVERY)
def test_the_first_line_is_a_sentence_and_the_last_one_a_command(answers, kind, verb):
    lines = answers[kind, verb][0].splitlines()
    paragraph = " ".join(lines).partition("  ")[0]
    assert re.search(r"\.( |$)", paragraph)
    assert lines[0][0].isdigit() or lines[0][0].isupper()
    assert verb == "verify" or lines[-1].startswith("next: graphveil ")


@pytest.mark.parametrize(("kind", "verb"), EVERY)
def test_no_answer_speaks_as_a_paper_does(answers, kind, verb):
    out, _ = answers[kind, verb]
    out = LIMITS.sub("", out)
    assert [] == [word for word in PAPERS if word in out]


@pytest.mark.parametrize(("kind", "verb"), EVERY)
def test_two_warnings_are_said_at_most_and_the_others_are_counted(answers, kind, verb):
    err = answers[kind, verb][1].splitlines()
    assert len([line for line in err if "graphveil: warning: " in line]) <= 2


@pytest.mark.parametrize(("kind", "verb"), EVERY)
def test_an_answer_is_the_one_that_a_person_has_read(answers, kind, verb):
    path = SNAPSHOTS / f"{verb}-{kind}.txt"
    text = steady(answers[kind, verb][0])
    if not path.exists():  # a new one is written, looked at and committed
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"{path.name} was not there: read it")
    assert path.read_text(encoding="utf-8") == text


FLOATING = re.compile(r"a copy of the network|who knows most edges|^  communities")
"""Lines whose figures depend on the rounding of large matrices, or on threads."""


WITH_A_COPY = re.compile(r"^An attacker who has a copy [^.]*? re-identifies [^)]*\)\.", re.DOTALL)
"""The first sentence where copies with and without known people re-identify about as many."""


NOT_RUN = re.compile(r"^Not run: .*(\n  \S.*)*", re.MULTILINE)


def steady(text):
    """Return an answer without what the machine decides: times, and figures of large matrices."""
    text = NOT_RUN.sub(lambda some: some[0].replace("\n ", ""), text)  # lines end by the times
    text = re.sub(r"about \d+ (second|minute|hour)s?", "about N seconds", text)
    text = WITH_A_COPY.sub("An attacker who has a copy re-identifies N of 100 people.", text)
    lines = text.splitlines(keepends=True)
    return "".join(
        re.sub(r" +\d+(\.\d+)?(?= +(\d|of 100))", " N", line) if FLOATING.search(line) else line
        for line in lines
    )


def test_the_demo_is_the_whole_way_and_ends_with_two_pages(graphveil_here, cwd, listing):
    done = graphveil_here("demo", "--out", "demo")
    lines = done.out.splitlines()
    assert (0, True) == (done.code, len(lines) <= MOST_LINES_OF_DEMO)
    assert [] == [line for line in lines if len(line) > WIDTH]
    assert 6 == sum(bool(re.match(r"\d\. ", line)) for line in lines)
    pages = [line.partition(": ")[2] for line in lines if line.endswith(".html")]
    assert ["demo.private/report.html", "demo-report.html"] == pages
    assert all((cwd / page).read_text().startswith("<!doctype html>") for page in pages)
    assert "next: graphveil measure YOUR-FILE.csv" == lines[-1]
    for said in ("The guarantee holds: every person of the release", "Guarantee:", "Not covered:"):
        assert said in done.out
    before = listing()
    again = graphveil_here("demo", "--out", "demo")
    assert (2, True) == (again.code, "--force" in again.err)
    assert before == listing()
    assert 0 == graphveil_here("verify", "demo").code


def test_all_prints_every_row_and_json_and_files_hold_them_whatever_is_printed(graphveil_here, cwd):
    gv.KDegree(k=2, edits="any").anonymize(gv.read_graph(cwd / "friends.csv")).write(cwd / "out")
    asked = ("evaluate", "out", "--original", "friends.csv", "--seed", 1)
    few, every = graphveil_here(*asked, "--out", "rows.json"), graphveil_here(*asked, "--all")
    rows = gv.evaluate_release(cwd / "out", cwd / "friends.csv", seed=1)
    assert len(few.out.splitlines()) <= MOST_LINES < len(every.out.splitlines())
    assert all(row.question in every.out and row.part in every.out for row in rows)
    assert len(rows) == (cwd / "rows.json").read_text().count('"question"')


def test_what_was_not_run_is_said_with_its_time_and_the_flag_that_runs_it(answers):
    out = " ".join(answers["graph", "attack"][0].split())
    for name in ("seed-propagation", "alignment", "edge-gain"):
        assert re.search(rf"{name} \(about \d+ (second|minute)s?\)", out)
    assert "Run one with --attacks NAME" in out
    assert "In our benchmarks of k-degree (k=2 to 20): an attacker who has a complete copy" in out


def test_a_failing_release_says_what_fails_and_nothing_else(graphveil_here, cwd):
    gv.KDegree(k=2).anonymize(gv.read_graph(cwd / "friends.csv")).write(cwd / "out")
    with (cwd / "out" / "data.csv").open("a") as file:
        file.write("0,3\n")
    done = graphveil_here("verify", "out")
    lines = done.out.splitlines()
    assert 1 == done.code
    assert lines[0].startswith(("The guarantee is not true: ", "The folder is not as it was"))
    assert len(lines) <= MOST_LINES
    assert "holds  " not in done.out
    every = graphveil_here("verify", "out", "--all")
    assert 1 == every.code
    assert "holds  " in every.out


def test_the_remarks_that_are_not_said_are_counted_and_kept(graphveil_here, cwd):
    rows = "".join(f"u{n},{item}\n" for n in range(9) for item in ("tea", f"own{n}"))
    (cwd / "likes.csv").write_text(f"user,item\n{rows}")
    asked = ("anonymize", "smooth-k", "likes.csv", "--kind", "bipartite", "--k", 3, "--seed", 1)
    done = graphveil_here(*asked, "--out", "one")
    record = (cwd / "one.private" / "record.json").read_text()
    kept = len(gv.read_release(cwd / "one").private.warnings)
    assert 2 < kept, record
    assert 2 == done.err.count("graphveil: warning: ")
    assert f"{kept - 2} more note" in done.err
    every = graphveil_here(*asked, "--out", "two", "--all")
    assert kept + 1 == every.err.count("graphveil: warning: ")  # one release lies beside it now


def test_hostile_names_are_quoted_in_answers(graphveil_here, cwd):
    hostile = "\x1b[2J\u202egpj"
    header = f'"{hostile}","town"\n'
    rows = "".join(f"{n % 5},{n % 3}\n" for n in range(12))
    (cwd / "people.csv").write_text(header + rows)
    made = graphveil_here(
        *("anonymize", "adaptive", "people.csv", "--kind", "table", "--levels", 3, "--out", "out")
    )
    assert 0 == made.code, made.err
    shown = [
        graphveil_here("measure", "people.csv", "--kind", "table", "--columns", hostile),
        graphveil_here("evaluate", "out", "--original", "people.csv"),
        graphveil_here("attack", "out", "--original", "people.csv"),
    ]
    for done in (made, *shown):
        assert 0 == done.code, done.err
        assert "\x1b" not in done.out + done.err
        assert "\u202e" not in done.out + done.err
    assert r"\x1b[2J\u202egpj" in shown[0].out
