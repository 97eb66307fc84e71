from __future__ import annotations

import gzip
import json
import stat

import pytest

import graphveil as gv
from graphveil.claims.ledger import Ledger
from graphveil.core.errors import UsageError
from graphveil.core.rows import Rows
from graphveil.io import FORMATS
from graphveil.pages.report import sections

ANONYMIZE = ("anonymize", "k-degree", "friends.csv")


def k_of(folder):
    return json.loads((folder / "release.json").read_text())["method"]["parameters"]["k"]


def test_an_existing_folder_is_refused_and_force_replaces_it(graphveil_here, cwd, assert_one_line):
    assert 0 == graphveil_here(*ANONYMIZE, "--k", 2, "--out", "out").code
    before = (cwd / "out" / "release.json").read_bytes()
    done = graphveil_here(*ANONYMIZE, "--k", 3, "--out", "out")
    assert 2 == done.code
    assert_one_line(done, "out already exists", "--force")
    assert before == (cwd / "out" / "release.json").read_bytes()

    done = graphveil_here(*ANONYMIZE, "--k", 3, "--out", "out", "--force", "--no-linkage")
    assert 0 == done.code
    assert 3 == k_of(cwd / "out")
    assert ["friends.csv", "out", "out.private"] == sorted(p.name for p in cwd.iterdir())
    assert ["record.json"] == [path.name for path in (cwd / "out.private").iterdir()]
    assert 0 == graphveil_here("verify", "out").code


def test_rules_for_columns_are_repeated_and_not_separated_by_commas(graphveil_here, cwd):
    (cwd / "t.csv").write_text("age,job\n31,a\n47,b\n")
    read = ("anonymize", "generalize", "t.csv", "--kind", "table", "--k", 2, "--out", "out")
    done = graphveil_here(*read, "--levels", "age=auto,job=stars")
    assert 2 == done.code
    assert "Repeat --levels for each column instead of separating rules by commas." in done.err


def test_a_repeated_release_says_where_it_reads_files_of_relative_names(graphveil_here, cwd):
    (cwd / "t.csv").write_text("age,job\n" + "31,a\n47,b\n" * 6)
    (cwd / "age.csv").write_text("31;low\n47;high\n")
    read = ("anonymize", "generalize", "t.csv", "--kind", "table", "--k", 2, "--person", "row")
    rules = ("--levels", "age=age.csv", "--levels", "job=stars")
    assert 0 == graphveil_here(*read, *rules, "--out", "one").code
    done = graphveil_here("anonymize", "t.csv", "--from", "one", "--out", "two")
    assert 0 == done.code, done.err
    assert f"levels age.csv: read from {cwd / 'age.csv'}" in done.err
    one, two = (json.loads((cwd / name / "release.json").read_text()) for name in ("one", "two"))
    assert one["method"] == two["method"]


def test_the_choices_of_a_release_are_repeated_on_another_file(
    graphveil_here, cwd, assert_one_line
):
    rows = [f"{'fm'[n % 2]},{'abc'[n % 3]},{'?x'[n % 5 > 0]}" for n in range(60)]
    (cwd / "last.csv").write_text("\n".join(["sex,town,job", *rows]))
    (cwd / "next.csv").write_text("\n".join(["sex,town,job", *rows[:50]]))
    (cwd / "more.csv").write_text("\n".join(["sex,town,job,ill", *(f"{row},a" for row in rows)]))
    read = ("--suppressed", "?", "--person", "row", "--drop", "town")
    first = ("anonymize", "generalize", "last.csv", *read, "--k", 3, "--levels", "sex=stars")
    assert 0 == graphveil_here(*first, "--out", "one").code
    done = graphveil_here("anonymize", "next.csv", "--from", "one", "--out", "two")
    assert 0 == done.code, done.err
    assert "choices of one: generalize" in done.err
    one, two = (json.loads((cwd / name / "release.json").read_text()) for name in ("one", "two"))
    assert one["method"] == two["method"]
    assert one["claim"]["guarantee"] == two["claim"]["guarantee"]
    assert (["sex", "job"], 50) == (
        two["data"]["files"][0]["columns"],
        two["data"]["files"][0]["rows"],
    )
    flags = ("--from=one", "--k", 5, "--drop", "town,ill")
    assert 0 == graphveil_here("anonymize", "generalize", "more.csv", *flags, "--out", "three").code
    assert 5 == k_of(cwd / "three")
    repeated = gv.choices_of(cwd / "one").anonymize(cwd / "next.csv", seed=1)
    assert ("sex", "job") == tuple(repeated.data.columns)
    for words, said in (
        (
            ("more.csv", "--from", "one"),
            "columns that one did not have: ill. Set their role (--known",
        ),
        (("smooth-k", "next.csv", "--from", "one"), "one was made with generalize"),
        (("next.csv", "--from", "next.csv"), "holds no choices"),
    ):
        refused = graphveil_here("anonymize", *words, "--out", "four")
        assert 2 == refused.code
        assert_one_line(refused, said)
    (cwd / "one.private").rename(cwd / "gone")
    refused = graphveil_here("anonymize", "next.csv", "--from", "one", "--out", "four")
    assert_one_line(refused, "no private folder next to it says how a file was read")


def test_the_answers_of_a_release_hold_for_its_original_and_for_the_next_file(
    graphveil_here, cwd, monkeypatch
):
    """An age that determines zip and sex looks like a person; each row is one, it is said once."""
    rows = [(f"n{n}", f"c{n // 2}", 20 + n % 20, 9000 + n % 5, "fm"[n % 2]) for n in range(40)]
    lines = [",".join(map(str, row)) for row in rows]
    (cwd / "last.csv").write_text("\n".join(["name,card,age,zip,sex", *lines]))
    without = [line.partition(",")[2] for line in lines[:30]]
    (cwd / "next.csv").write_text("\n".join(["card,age,zip,sex", *without]))
    asked = graphveil_here("anonymize", "generalize", "last.csv", "--k", 4, "--out", "one")
    assert "column age may identify people with several rows" in asked.err
    answers = ("--kind", "table", "--drop", "name,card", "--levels", "age=10", "zip=2")
    answers += ("--person", "row")
    first = ("anonymize", "generalize", "last.csv", "--k", 4, *answers, "--attach", "sex")
    done = graphveil_here(*first, "--known", "age,zip", "--may-narrow", 0.1, "--out", "one")
    assert 0 == done.code, done.err
    done = graphveil_here("anonymize", "next.csv", "--from", "one", "--out", "two")
    assert 0 == done.code, done.err
    one, two = (json.loads((cwd / name / "release.json").read_text()) for name in ("one", "two"))
    assert one["method"] == two["method"]
    assert 0.1 == two["method"]["parameters"]["may_narrow"]
    assert ["card"] == json.loads((cwd / "two.private/record.json").read_text())["reading"]["drop"]
    # A report verifies and evaluates, and would attack the release and its original under new ids.
    monkeypatch.setattr(sections, "_attacked", lambda *_: Rows([]))
    done = graphveil_here("report", "one", "--original", "last.csv")
    assert 0 == done.code, done.err
    assert "attached columns narrow up to 10%" in (cwd / "one.private/report.html").read_text()


def test_a_repeated_release_spends_from_the_same_ledger_and_names_nobody(
    graphveil_here, cwd, assert_one_line
):
    (cwd / "people.txt").write_text("dan\n")
    listed = ("anonymize", "k-degree", "friends.csv", "--k", 2, "--people", "people.txt")
    assert 0 == graphveil_here(*listed, "--out", "some").code
    done = graphveil_here("anonymize", "friends.csv", "--from", "some", "--out", "again")
    assert 0 == done.code, done.err
    assert "--people listed" in done.err
    assert "dan" not in done.err
    noisy = ("anonymize", "asymmetric-response", "friends.csv", "--epsilon", 1)
    assert 0 == graphveil_here(*noisy, "--ledger", "spent", "--out", "one").code
    assert 0 == graphveil_here("anonymize", "friends.csv", "--from", "one", "--out", "two").code
    assert ["1.0", "1.0"] == [one.epsilon for one in Ledger(cwd / "spent").entries()]
    (cwd / "spent").rename(cwd / "gone")
    refused = graphveil_here("anonymize", "friends.csv", "--from", "one", "--out", "three")
    assert 2 == refused.code
    assert_one_line(refused, "which is not there. Restore it")
    with pytest.raises(UsageError, match="which is not there"):
        gv.choices_of(cwd / "one").anonymize(cwd / "friends.csv")


@pytest.mark.parametrize("name", ["out", "out.private"])
def test_force_never_deletes_a_folder_that_is_no_release(
    graphveil_here, cwd, assert_one_line, name
):
    (cwd / name).mkdir()
    (cwd / name / "thesis.txt").write_text("years of work")
    done = graphveil_here(*ANONYMIZE, "--k", 2, "--out", "out", "--force")
    assert 2 == done.code
    assert_one_line(done, name, "not replaced")
    assert "years of work" == (cwd / name / "thesis.txt").read_text()
    assert ["friends.csv", name] == sorted(path.name for path in cwd.iterdir())


def test_a_second_release_of_the_same_input_is_a_warning_before_the_work(graphveil_here, cwd):
    assert 0 == graphveil_here(*ANONYMIZE, "--k", 2, "--out", "one").code
    (cwd / "same.tsv").write_text("cyd\tbob\nann\tbob\ncyd\tann\nann\teve\nann\tdan\ncyd\tdan\n")
    same = ("anonymize", "k-degree", "same.tsv", "--k", 3)
    done = graphveil_here(*same, "--out", "two")
    assert 0 == done.code
    told = [line for line in done.err.splitlines() if "of this input" in line]
    expected = "1 other release of this input is next to it, one: publish only one of them, or "
    assert [f"graphveil: warning: {expected}nest them."] == told
    warnings = json.loads((cwd / "two.private" / "record.json").read_text())["warnings"]
    assert [f"{expected}nest them"] == [text for text in warnings if "of this input" in text]
    third = json.loads(graphveil_here(*same, "--out", "three", "--json").out)
    assert any(text.startswith("2 other releases of this input") for text in third["warnings"])
    assert "of this input" not in (cwd / "two" / "release.json").read_text()


def test_there_is_no_flag_to_release_twice(graphveil_here):
    done = graphveil_here(*ANONYMIZE, "--k", 2, "--out", "one", "--again")
    assert 2 == done.code


def test_options_come_from_a_file_and_flags_win(graphveil_here, cwd):
    (cwd / "options.toml").write_text(
        '[anonymize.k-degree]\nk = 3\nedits = "any"\nnear = false\nout = "out"\n'
    )
    assert 0 == graphveil_here(*ANONYMIZE, "--config", "options.toml").code
    parameters = json.loads((cwd / "out" / "release.json").read_text())["method"]["parameters"]
    assert (3, "any", False) == tuple(parameters[name] for name in ("k", "edits", "near"))
    flags = ("--k", 2, "--near", "--out", "other")
    assert 0 == graphveil_here("--config=options.toml", *ANONYMIZE, *flags).code
    parameters = json.loads((cwd / "other" / "release.json").read_text())["method"]["parameters"]
    assert (2, "any", True) == tuple(parameters[name] for name in ("k", "edits", "near"))
    assert "--config" in graphveil_here("--help").out


BAD_CONFIGS = {
    "an unknown option": ("[anonymize.k-degree]\nshoe_size = 43\n", "shoe_size"),
    "an unknown command": ("[anonymise.k-degree]\nk = 2\n", "anonymise"),
    "an option outside a table": ("k = 2\n", "unknown command 'k'"),
    "a value out of range": ("[anonymize.k-degree]\nrestarts = 0\n", "restarts"),
    "a value of another type": ('[anonymize.k-degree]\nrestarts = "many"\n', "many"),
    "no TOML": ("k = = 2\n", "line 1"),
}


def test_a_bad_configuration_is_refused(graphveil_here, cwd, listing, assert_one_line):
    command = (*ANONYMIZE, "--k", 2, "--out", "out", "--config")
    for name, (content, _) in BAD_CONFIGS.items():
        (cwd / f"{name}.toml").write_text(content)
    before = listing()
    words = {(f"{name}.toml",): word for name, (_, word) in BAD_CONFIGS.items()}
    words |= {("none.toml",): "none.toml", (): "--config needs a file"}
    words |= {(name,): "is not a regular file" for name in ("/dev/zero", ".")}
    for given, word in words.items():
        done = graphveil_here(*command, *given)
        assert 2 == done.code
        assert_one_line(done, word)
    assert before == listing()


def test_every_format_that_holds_a_graph_can_be_released_and_verified(cwd):
    """Run in this process: a command for each would take long and show no more."""
    graph = gv.read_graph(cwd / "friends.csv")
    every = FORMATS.items()
    for form in [name for name, form in every if "graph" in form.kinds and not form.released_as]:
        with pytest.warns(gv.GraphveilWarning):
            release = gv.KDegree(k=2).anonymize(graph)
        folder = release.write(cwd / form, format=form)
        verdict = gv.verify_release(folder, original=graph)
        assert verdict.ok, (form, verdict.failures())
        assert verdict.complete, form
        assert release.data == gv.read_release(folder).data, form


def test_the_format_is_the_one_that_came_in_or_the_one_asked_for(graphveil_here, cwd):
    packed = gzip.compress((cwd / "friends.csv").read_bytes())
    (cwd / "packed.csv.gz").write_bytes(packed)
    command = ("anonymize", "k-degree", "packed.csv.gz", "--k", 2)
    done = graphveil_here(*command, "--out", "same")
    assert 0 == done.code
    note = "packed.csv.gz: the release is written as csv: gzip is not a format for a release"
    assert note in done.err.splitlines()
    assert (cwd / "same" / "data.csv").is_file()
    assert 0 == graphveil_here(*command, "--out", "columns", "--format", "parquet").code
    assert (cwd / "columns" / "data.parquet").is_file()
    assert 0 == graphveil_here(*command, "--out", "marked", "--format", "graphml").code
    assert ["data.graphml", "release.json"] == sorted(p.name for p in (cwd / "marked").iterdir())
    for folder in ("same", "columns", "marked"):
        done = graphveil_here("verify", folder, "--original", "packed.csv.gz")
        assert (0, "") == (done.code, done.err)
        assert "not checked" not in done.out


def test_an_unknown_format_is_refused_before_any_work(graphveil_here, listing, assert_one_line):
    for form in ("nix", "csv.bz2", "parquet.gz", "exe", "csv.gz", "tsv.zst", "npz", "arrow"):
        done = graphveil_here(*ANONYMIZE, "--k", 2, "--out", "out", "--format", form)
        assert 2 == done.code
        assert_one_line(done, form, "Use ")
    assert ["friends.csv"] == listing()


def test_the_private_folder_is_its_owners_alone_whatever_the_umask(graphveil, cwd):
    assert 0 == graphveil(*ANONYMIZE, "--k", 2, "--out", "out", umask=0).code
    private = cwd / "out.private"
    assert 0o700 == stat.S_IMODE(private.stat().st_mode)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in private.iterdir()}
    assert {"record.json": 0o600, "linkage.parquet": 0o600} == modes


def test_the_original_is_read_again_as_it_was_read_before(graphveil_here, cwd):
    (cwd / "weighted.txt").write_text("ann bob 3\nbob cyd 1\ncyd dan 2\n")
    command = ("anonymize", "k-degree", "weighted.txt", "--k", 2, "--out", "out")
    done = graphveil_here(*command)
    assert 2 == done.code
    assert "--ignore-weights" in done.err
    columns = ("--source-column", 1, "--target-column", 2)
    assert 0 == graphveil_here(*command, *columns, "--ignore-weights").code
    done = graphveil_here("verify", "out", "--original", "weighted.txt", "--all")
    assert (0, "") == (done.code, done.err)
    open_checks = [line for line in done.out.splitlines() if "not checked " in line]
    assert ["the original read by a second reader"] == [
        line.split(":")[0].split("  ")[-1] for line in open_checks
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("anonymize friends.csv --k 5 --out a", "friends.csv is a file: name a method first."),
        ("evaluate out friends.csv", "Did you mean --original friends.csv?"),
        ("convert friends.csv", "--out is required. Add --out NAME."),
        ("anonymize k-degree friends.csv --out a", "--k is required. Add --k VALUE."),
    ],
)
def test_what_is_missing_on_the_command_line_is_named(graphveil_here, assert_one_line, words, said):
    done = graphveil_here(*words.split())
    assert 2 == done.code
    assert_one_line(done, said)
