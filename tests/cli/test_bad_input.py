"""Each kind of bad input: exit code 2, one line that says what, where, the value, the way out."""

from __future__ import annotations

import copy
import csv
import gzip
import json
import shlex

import numpy as np
import pytest

import graphveil as gv
from graphveil.core.errors import GraphveilError

EDGES = "source,target\n" + "".join(f"p{i},p{i + 1}\n" for i in range(20))

FILES = {
    "a ragged line": ("ragged.csv", "source,target\nann,bob\nbob\ncyd,dan\n", ["line 3"]),
    "a longer line": ("ragged.csv", "source,target\nann,bob\nann,bob,cyd\n", ["line 3", "cyd"]),
    "no number where one is needed": ("net.graph", "3 2\n2\n1 x\n2\n", ["line 3", "x"]),
    "no numbers in a matrix": (
        "net.mtx",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 one\n",
        ["line 3", "one"],
    ),
    "an empty file": ("empty.csv", "", ["empty"]),
    "only a header": ("header.csv", "source,target\n", []),
    "only comments": ("comments.txt", "# nothing\n% at all\n", []),
    "another encoding": (
        "latin.csv",
        "source,target\nann,bob\ncyd,jos\xe9\n",
        ["line 3", "josé", "--encoding"],
    ),
    "UTF-16": ("wide.csv", EDGES.encode("utf-16"), ["utf-16"]),
    "a truncated gzip": ("cut.csv.gz", gzip.compress(EDGES.encode())[:-20], ["Copy"]),
    "no gzip": ("fake.csv.gz", EDGES, ["gzip"]),
    "a gzip by another name": ("packed.csv", gzip.compress(EDGES.encode()), [".gz"]),
    "a zip archive": ("data.zip", b"PK\x03\x04rest", ["Unzip"]),
    "a missing id": ("nan.csv", "source,target\nann,bob\n,cyd\n", ["line 3"]),
    "a NaN among numbers": ("nan.csv", "source,target\n1,2\nNaN,3\n4,1\n", ["NaN"]),
    "negative ids": ("minus.csv", "source,target\n1,2\n3,-7\n", ["-7", "line 3"]),
    "an unknown extension": ("data.xyz", EDGES, [".xyz"]),
    "weights": ("weights.csv", "source,target,weight\n1,2,3\n2,3,1\n", ["--ignore-weights"]),
    "a NUL byte": ("nul.csv", b"source,target\nann,bob\ncyd,d\0n\n", ["line 3"]),
    "one column": ("one.csv", "source\nann\nbob\n", []),
    "broken GML": ("net.gml", "graph [\n node [ id 1 ]\n edge [ source 1\n", []),
    "broken GraphML": ("net.graphml", "<graphml><graph><node id='1'>", []),
    "broken Parquet": ("data.parquet", b"PAR1 is how it starts", []),
    "broken npz": ("net.npz", b"PK\x03\x04 nothing more", []),
    "a directed graph": (
        "arcs.graphml",
        (
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">'
            '<node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
        ),
        ["--directed"],
    ),
}
"""By kind: the file's name, its content, and words of the one line."""


@pytest.fixture
def bad_files(tmp_path):
    """Write each bad file into a folder of its own; return the folders by kind."""
    folders = {}
    for number, (kind, (name, content, _)) in enumerate(FILES.items()):
        folder = tmp_path / f"case-{number}"
        folder.mkdir()
        raw = content.encode("latin-1") if isinstance(content, str) else content
        (folder / name).write_bytes(raw)
        folders[kind] = folder
    return folders


def everything(folder):
    return sorted(path.name for path in folder.rglob("*"))


def test_each_kind_of_bad_file_is_one_line_and_leaves_nothing(
    bad_files, graphveil_many, assert_one_line
):
    verbs = [("anonymize", "k-degree", "{}", "--k", "2", "--out", "out"), ("measure", "{}")]
    cases = [(kind, verb) for kind in FILES for verb in verbs]
    commands = [
        (bad_files[kind], [word.format(FILES[kind][0]) for word in verb]) for kind, verb in cases
    ]
    problems = []
    for (kind, verb), done in zip(cases, graphveil_many(commands), strict=True):
        name, _, words = FILES[kind]
        try:
            assert 2 == done.code
            assert_one_line(done, name, *words)
            assert done.err.rstrip().endswith((".", ")")) or "To answer all: graphveil" in done.err
            assert ". " in done.err, "the way out is missing"
            assert [name] == everything(bad_files[kind])
        except AssertionError as error:
            problems.append(f"{kind} ({verb[0]}): {done.code} {done.err!r} {str(error)[:80]}")
    assert not problems, "\n".join(problems)


def test_what_is_no_file_at_all_is_one_line(cwd, graphveil_many, listing, assert_one_line):
    (cwd / "folder").mkdir()
    (cwd / "loop.csv").symlink_to("loop.csv")
    before = listing()
    words = {"folder": "is a folder", "none.csv": "file not found", "loop.csv": "", "": ""}
    commands = [(cwd, ("anonymize", "k-degree", name, "--k", 2, "--out", "out")) for name in words]
    for word, done in zip(words.values(), graphveil_many(commands), strict=True):
        assert done.code in {2, 3}
        assert_one_line(done, word)
    assert before == listing()


def test_options_that_cannot_be_used_are_one_line(cwd, graphveil_many, listing, assert_one_line):
    (cwd / "two.txt").write_text("0 1\n")
    base = ("anonymize", "k-degree", "friends.csv")
    rows = ("anonymize", "suppress-k", "friends.csv", "--k", 2, "--items", "things", "--on-disk")
    out = ("--out", "out")
    lines = {
        (*base, "--k", 6, *out): ["k-degree", "6", "5", "Lower k"],
        ("anonymize", "dp-1k", "two.txt", "--epsilon", 2, *out): ["the data has 2. Provide more"],
        (*base, "--k", 0, *out): ["k=0", "at least 2"],
        (*base, "--k", "two", *out): ["--k", "two"],
        (*base, "--k", 2.5, *out): ["--k", "2.5"],
        (*base, *out): ["--k"],
        (*base, "--k", 2): ["--out"],
        (*base, "--k", 2, *out, "--edits", "many"): ["--edits", "many"],
        (*base, "--k", 2, *out, "--edits", "any", "--target", "greedy"): ["greedy", "Set edits"],
        (*base, "--k", 2, *out, "--restarts", 0): ["restarts=0"],
        (*base, "--k", 2, *out, "--seed", -1): ["seed=-1"],
        (*base, "--k", 2, *out, "--color", "blue"): ["--color"],
        (*base, "--k", 2, "--out", "none/out"): ["none", "Create"],
        (*base, "--k", 2, "--out", "."): ["."],
        (*base, "--k", 2, "--out", "friends.csv"): ["friends.csv already exists"],
        (*base, "--k", 2, *out, "--nodes", "none.csv"): ["none.csv"],
        (*base, "--k", 2, "--out", "s3a://me:word@lake/x"): ["s3a://lake/x is an address", "copy"],
        (*base, "--k", 2, "--out", "ftp://me:word@host/x"): ["ftp://host/x", "s3a", "hdfs", "file"],
        (*rows, "--out", "file:///none/x"): ["file:///none/x", "--private"],
        (*rows, "--out", "file:///none/x", "--private", "file:///none/x/y"): ["is inside"],
        (*rows, "--out", "file:///proc/x", "--private", "mine"): ["file:///proc/x", "written"],
        (*rows, "--out", "s3a://lake", "--private", "mine"): ["has no folder name", "s3a://bucket"],
        (*rows, "--out", "x", "--private", "s3a://lake/x"): ["s3a://lake/x", "folder for both"],
        ("verify", "s3a://lake/a/../b"): ["s3a://lake/a/../b", "Give a folder"],
        ("verify", "file:///none/x"): ["file:///none/x", "release.json"],
        ("evaluate", "file:/none/x", "--original", "friends.csv"): [],
        ("anonymize", "k-degre", "friends.csv"): ["k-degre"],
        ("measure", "friends.csv", "--k", 1): ["k=1"],
        ("measure", "friends.csv", "--measure", "fame"): ["fame"],
        ("measure",): [],
        ("verify", "none"): ["none"],
        ("verify", "friends.csv"): ["friends.csv", "anonymize"],
        ("verify", "."): ["release.json"],
        ("evaluate", ".", "--original", "friends.csv"): ["release.json"],
        ("dance",): ["dance"],
        ("--dance",): ["--dance"],
    }
    before = listing()
    commands = [(cwd, arguments) for arguments in lines]
    problems = []
    for arguments, done in zip(lines, graphveil_many(commands), strict=True):
        try:
            assert done.code == (3 if "none/out" in arguments else 2)
            assert_one_line(done, *lines[arguments])
        except AssertionError as error:
            problems.append(f"{arguments}: {done.code} {done.err!r} {str(error)[:80]}")
    assert not problems, "\n".join(problems)
    assert before == listing()


def forged(cwd):
    """Yield manifests that are well formed and describe no release."""
    with pytest.warns(gv.GraphveilWarning):
        release = gv.KDegree(k=2).anonymize(gv.read_graph(cwd / "friends.csv"))
    folder = release.write(cwd / "whole")
    whole = json.loads((folder / "release.json").read_text())
    edits = {
        "k-zero": lambda m: m["claim"]["guarantee"].update(k=0),
        "no-file-is-listed": lambda m: m["data"].update(files=[]),
        "a-file-elsewhere": lambda m: m["data"]["files"][0].update(name="../friends.csv"),
        "an-absolute-file": lambda m: m["data"]["files"][0].update(name="/etc/passwd"),
        "the-folder-itself": lambda m: m["data"]["files"][0].update(name="."),
        "the-folder-above": lambda m: m["data"]["files"][0].update(name=".."),
        "two-data-files": lambda m: m["data"]["files"][1].update(role="data"),
        "an-unknown-format": lambda m: m["data"]["files"][0].update(format="exe"),
        "another-kind": lambda m: m["data"].update(kind="table"),
        "another-schema": lambda m: m.update(schema=99),
        "an-unknown-method": lambda m: m["method"].update(name="k-magic"),
    }
    for name, edit in edits.items():
        manifest = copy.deepcopy(whole)
        edit(manifest)
        yield name, json.dumps(manifest).encode()


def test_a_release_that_was_damaged_is_judged_and_never_our_bug(cwd, graphveil_many, listing):
    folders = []
    broken = {
        "no-json": b"{",
        "empty": b"",
        "no-files": b'{"schema": 1}',
        "list": b"[]",
        "bytes": bytes(range(256)),
        **dict(forged(cwd)),
    }
    for name, content in broken.items():
        (cwd / name).mkdir()
        (cwd / name / "release.json").write_bytes(content)
        folders.append(name)
    before = listing()
    problems = []
    words = [("verify", "{}"), ("evaluate", "{}", "--original", "friends.csv")]
    commands = [(cwd, [word.format(name) for word in verb]) for name in folders for verb in words]
    for (_, arguments), done in zip(commands, graphveil_many(commands), strict=True):
        if done.code not in {1, 2} or len(done.err.splitlines()) > 1 or "root:" in done.out:
            problems.append(f"{arguments}: {done}")
    assert not problems, "\n".join(problems)
    assert before == listing()


def test_no_manifest_makes_evaluate_read_outside_the_folder(cwd, graphveil_many):
    names = []
    for name, manifest in forged(cwd):
        if "file" in name or "folder" in name:
            (cwd / name).mkdir()
            (cwd / name / "release.json").write_bytes(manifest)
            names.append(name)
    verb = ("evaluate", "{}", "--original", "friends.csv")
    commands = [(cwd, [word.format(name) for word in verb]) for name in names]
    for name, done in zip(names, graphveil_many(commands), strict=True):
        assert (2, "") == (done.code, done.out), name
        assert name in done.err or "data.csv" in done.err, done.err


def test_a_graph_of_one_node_is_refused_where_k_needs_more(cwd, graphveil_many, assert_one_line):
    matrix = {"data": np.zeros(0), "indices": np.zeros(0, dtype=np.int32)}
    np.savez(
        cwd / "one.npz",
        indptr=np.zeros(2, dtype=np.int32),
        shape=(1, 1),
        format="csr",
        **matrix,
    )
    (done,) = graphveil_many(
        [(cwd, ("anonymize", "k-degree", "one.npz", "--k", 2, "--out", "out"))]
    )
    assert 2 == done.code
    assert_one_line(done, "1 node", "one.npz")


# Every question of a file at once, and one command that answers them all


MESSY = {
    "patient_no": lambda n: f"P{1000 + n}",
    "zip": lambda n: ["0150", "0151", "5003"][n % 3],
    "city, town": lambda n: ["Oslo", "Bergen", "n/a"][n // 2 % 3],
    "sex": lambda n: "fm"[n % 2],
    "age": lambda n: 20 + 7 * n % 60,
    "height": lambda n: f"{1.5 + n % 37 / 100:.2f}",
    "income": lambda n: ["31.5", "40.25", "NA", "52.0"][n // 3 % 4],
    "admission": lambda n: f"{1 + n % 12:02}/{1 + n % 9:02}/2023",
    "birth_date": lambda n: f"19{n + 20}-01-01",
    "diagnosis": lambda n: ["flu", "cold", "?"][n // 5 % 3],
    "smoker": lambda n: ["yes", "no", "-"][n // 7 % 3],
    "insurer": lambda n: ["A", "B", "none"][n // 4 % 3],
    "score": lambda n: ["1", "2", "none"][n // 6 % 3],
    "age>=18": lambda n: ["yes", "no"][n // 8 % 2],
    "-note": lambda n: ["-x.5", "NULL"][n // 9 % 2],
    "comment": lambda n: "Total" if n == 59 else "fine",
}
"""By name of a column, its cell in every row: most of them raise a question."""


def messy(path):
    with path.open("w", newline="") as file:
        write = csv.writer(file)
        write.writerow(MESSY)
        write.writerows([cell(number) for cell in MESSY.values()] for number in range(60))


def answering(error):
    """Return the words of the command that an error proposes, without the program's name."""
    program, *words = shlex.split(error.strip().partition(" To answer all: ")[2])
    assert "graphveil" == program
    return words


@pytest.mark.parametrize("given", [(), ("--suppressed", "*", "-", "--drop=-note")])
def test_one_refusal_has_every_question_and_a_command_that_answers_them(given, cwd, graphveil_here):
    messy(cwd / "messy.csv")
    asked = graphveil_here("anonymize", "suppress-k", "messy.csv", "--k", 3, "--out", "out", *given)
    assert (2, 1) == (asked.code, len(asked.err.splitlines()))
    for said in ("height is numeric (1.50)", "income is numeric (31.5)", "income has NA (15x)"):
        assert said in asked.err
    assert bool(given) != ("kind of data" in asked.err)
    for said in (
        "town has n/a",
        "score has none",
        "diagnosis has ?",
        "has Total in column comment",
    ):
        assert said in asked.err
    for said in ("patient_no has a different value", "birth_date has a different value"):
        assert said in asked.err
    assert bool(given) == ("smoker has -" not in asked.err) == ("-note has NULL" not in asked.err)
    done = graphveil_here(*answering(asked.err))
    assert 0 == done.code, done.err
    verified = graphveil_here("verify", "out", "--original", "messy.csv")
    assert 0 == verified.code, verified.err


def test_the_first_person_is_not_proposed_as_names_of_columns(cwd, graphveil_here):
    rows = "39,Oslo,f,?\n" + "".join(f"{20 + n % 3},Rome,m,b\n39,Oslo,f,a\n" for n in range(9))
    (cwd / "people.csv").write_text(rows)
    asked = graphveil_here("measure", "people.csv")
    assert ["measure", "people.csv", "--kind", "table", "--header", "no"] == answering(asked.err)[
        :6
    ]
    assert "?" in answering(asked.err)
    done = graphveil_here(*answering(asked.err))
    assert 0 == done.code
    assert "read 19 rows" in done.err


def test_people_with_several_rows_are_asked_about_with_the_rest(cwd, graphveil_here):
    rows = "".join(f"c{n // 3},{1.5 + n % 3},{n % 2}\n" for n in range(90))
    (cwd / "visits.csv").write_text(f"customer,height,sex\n{rows}")
    command = ("anonymize", "suppress-k", "visits.csv", "--kind", "table", "--k", 3, "--out", "out")
    asked = graphveil_here(*command)
    assert "customer may identify people with several rows (30 values in 90 rows" in asked.err
    assert ["--bins", "height=median", "--person", "customer"] == answering(asked.err)[-4:]
    assert 0 == graphveil_here(*answering(asked.err)).code


def test_a_column_that_is_dropped_is_not_looked_at(cwd, graphveil_here):
    (cwd / "people.csv").write_text("sex,height,town\nf,1.5,NA\nm,NA,Rome\n")
    asked = graphveil_here("measure", "people.csv", "--kind", "table", "--drop", "height,town")
    assert 0 == asked.code, asked.err
    asked = graphveil_here("measure", "people.csv", "--kind", "table", "--drop", "hight")
    assert "no column 'hight' to drop. Did you mean height?" in asked.err


def test_dates_of_other_forms_get_levels_and_their_form(cwd, graphveil_here):
    days = [f"{1 + n % 28:02d}.{1 + n % 12:02d}.{1950 + n % 50}" for n in range(60)]
    both = [f"{1 + n % 12:02d}/{1 + n % 7:02d}/{1950 + n % 50}" for n in range(60)]
    rows = "".join(
        f"{a},{b},{'fm'[n % 2]}\n" for n, (a, b) in enumerate(zip(days, both, strict=True))
    )
    (cwd / "people.csv").write_text(f"birth,seen,sex\n{rows}")
    asked = graphveil_here("anonymize", "generalize", "people.csv", "--k", 3, "--out", "out")
    assert "--dates seen=%d/%m/%Y or --dates seen=%m/%d/%Y. The proposed levels are" in asked.err
    command = answering(asked.err)
    for word in ("birth=month,year,decade", "birth=%d.%m.%Y", "seen=year,decade", "seen=%d/%m/%Y"):
        assert word in command
    assert "--drop" not in command
    done = graphveil_here(*command)
    assert 0 == done.code, done.err
    assert 0 == graphveil_here("verify", "out", "--original", "people.csv").code


def test_mixed_columns_are_answered_by_one_refusal(cwd, graphveil_here):
    head = "patient,mail,birth,seen,zip,age,height,income,sex,job,score\n"
    rows = "".join(
        f"{1000 + n},a{n}@x.org,{1 + n % 28:02d}.{1 + n % 12:02d}.{1940 + n % 57},"
        f"2024-{1 + n % 12:02d}-{1 + n % 28:02d} {n % 24:02d}:{n % 60:02d},{10115 + n % 3},"
        f"{18 + n % 70},1.{50 + n % 49},{20000 + 37 * (n % 118)},{'fm'[n % 2]},"
        f"{('nurse', 'cook', 'NA')[n % 3]},{n % 4 or '?'}\n"
        for n in range(120)
    )
    (cwd / "people.csv").write_text(head + rows)
    command = ("anonymize", "generalize", "people.csv", "--k", 3, "--out", "out")
    answer = answering(graphveil_here(*command).err)
    for word in (
        "age=auto",
        "height=auto",
        "income=auto",
        "birth=month,year,decade",
        "seen=month,year",
    ):
        assert word in answer
    done = graphveil_here(*answer)
    assert 0 == done.code, done.err
    assert 0 == graphveil_here("verify", "out", "--original", "people.csv").code
    roles = ("--known", "age,sex", "--attach", "job,score", "--drop")
    answer = answering(
        graphveil_here(
            *command[:-1], "more", *roles, ",".join(head.split(",")[:5]) + ",height,income"
        ).err
    )
    assert "age=auto" in answer
    assert 0 == graphveil_here(*answer).code


def test_a_proposed_command_keeps_the_levels_that_were_given(cwd, graphveil_here):
    rows = "".join(f"{20 + n % 40},{1950 + n % 50}-03-{1 + n % 28:02d},?\n" for n in range(60))
    (cwd / "people.csv").write_text(f"age,birth,job\n{rows}")
    levels = ("--levels", "birth=year", "--levels", "age=10")
    command = ("anonymize", "generalize", "people.csv", "--k", 3, *levels, "--out", "out")
    answer = answering(graphveil_here(*command).err)
    assert ["birth=year"] == [word for word in answer if word.startswith("birth=")]
    assert 0 == graphveil_here(*answer).code


def test_roles_settle_that_a_file_is_a_table(cwd, graphveil_here):
    (cwd / "people.csv").write_text("sex,zip,ill\nf,1,x\nf,1,y\nm,2,y\nm,2,x\n")
    roles = ("--known", "sex,zip", "--attach", "ill")
    for method in ("suppress-k", "smooth-k"):
        command = ("anonymize", method, "people.csv", "--k", 2, "--out", method)
        assert "Give --kind" in graphveil_here(*command).err
        done = graphveil_here(*command, *roles)
        assert 0 == done.code, done.err


def test_conditions_on_attached_columns_name_the_method_that_keeps_them(cwd, graphveil_here):
    (cwd / "people.csv").write_text("sex,ill\nf,x\nf,y\n")
    for flag in ("--diverse=ill:2", "--close=ill:0.5"):
        given = ("people.csv", "--k", 2, "--known", "sex", "--attach", "ill", flag, "--out", "out")
        refused = graphveil_here("anonymize", "suppress-k", *given)
        assert 2 == refused.code
        assert "kept by the method generalize alone" in refused.err
    calls = (
        lambda: gv.SuppressK(k=2, diverse="ill:2"),
        lambda: gv.SuppressK.from_parameters({"k": 2, "diverse": "ill:2"}),
        lambda: gv.as_estimator(gv.SuppressK(k=2)).set_params(diverse="ill:2"),
    )
    for call in calls:
        with pytest.raises(GraphveilError, match="kept by the method generalize alone"):
            call()


HIERARCHIES = {
    "length": "nurse;Care;Indoor;*\ncook;Care;Indoor;*\nclerk;Office;*\n",
    "twice": "nurse;Care;*\ncook;Care;*\nseller;Sales;*\nclerk;Office;*\nclerk;Sales;*\n",
    "nest": "nurse;Care;Indoor;*\nclerk;Office;Indoor;*\ncook;Office;Work;*\n",
    "text": "nurse;Care;Other;*\ncook;Other;Work;*\nclerk;Office;Work;*\n",
    "lacks": "nurse;Care;*\nclerk;Office;*\n",
    "gap": "nurse;Care;*\ncook;;*\nclerk;Office;*\n",
}
PEOPLE = (
    "age,zip,birth,job,ill\n23,01067,1990-03-04,nurse,flu\n27,01069,1990-03-08,cook,cold\n"
    "31,10115,1981-07-01,clerk,flu\n38,10117,1981-08-01,clerk,gout\n"
)
NUMBERS = "size,sex\n" + "".join(f"{i % 5}.5,{'fm'[i % 2]}\n" for i in range(24))
NAMES = "name,sex\n" + "".join(f"p{i},{'fm'[i % 2]}\n" for i in range(24))
DATED = {
    "SLASHES": "birth,zip\n03/04/1990,10115\n05/06/1990,10117\n",
    "ONE_WAY": "birth,zip\n03/04/1990,10115\n25/04/1990,10117\n",
    "SPELLINGS": "birth,zip\n03/04/1990,10115\n25.04.1990,10117\n",
    "MIXED": "birth,zip\n1990-04-03,1067\n1990-04-04,01069\n",
    "ZEROS": "birth,zip\n1990-04-03,1067\n1990-04-04,10115\n",
}
MONTHS = "--person row --known birth,zip --levels birth=month --levels zip=prefix:3"
ROLES = "--known age,zip,birth,job --attach ill"
ALONE = "--person row --known job --attach ill --drop age,zip,birth"
ONE = "--person row --known {} --attach ill --drop {}"
BIRTH, AGE = ONE.format("birth", "age,zip,job"), ONE.format("age", "zip,birth,job")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (f"{ALONE} --levels job=length.csv", ["length.csv line 3 has 3 levels, line 1 has 4"]),
        (
            f"{ALONE} --levels job=twice.csv",
            ["twice.csv: clerk is on line 4 under Office and on line 5 under Sales"],
        ),
        (
            f"{ALONE} --levels job=nest.csv",
            ["nest.csv: Office is under Indoor (line 2) and under Work (line 3)"],
        ),
        (f"{ALONE} --levels job=text.csv", ["text.csv: Other", "line 2", "line 1", "Rename one"]),
        (
            f"{ALONE} --levels job=lacks.csv",
            ["lacks.csv lacks cook", "count 1, first in row 1", "--levels job=", "--suppressed"],
        ),
        (f"{ALONE} --levels job=gap.csv", ["gap.csv line 2 has no text on level 2"]),
        (f"{ALONE} --levels job=none.csv", ["none.csv cannot be read"]),
        (f"{AGE} --levels age=5,8", ["age=5,8: 8 is not a multiple of 5"]),
        (
            f"{BIRTH} --levels birth=5",
            ["birth: 1990-03-04 (row 0) is not a number", "--levels birth=month,year"],
        ),
        (
            f"{BIRTH} --levels birth=month --dates birth=%d/%m/%Y",
            ["birth: 1990-03-04 (row 0) is not a date written %d/%m/%Y", "--dates birth="],
        ),
        (
            f"{BIRTH} --levels birth=month --dates birth=%Y-03-%d",
            ["1990-03-04 (row 0) is a date", "1981-07-01 (row 2) is not", "--dates birth="],
        ),
        (
            "SLASHES",
            [
                "birth: 03/04/1990 (row 0) is not a date written YYYY-MM-DD",
                "may be 1990-03-04 or 1990-04-03",
                "Use --dates birth=%d/%m/%Y or --dates birth=%m/%d/%Y.",
            ],
        ),
        (
            "ONE_WAY",
            ["03/04/1990 (row 0)", "may be 1990-04-03. Use --dates birth=%d/%m/%Y."],
        ),
        (
            "SPELLINGS",
            ["03/04/1990 (row 0) and 25.04.1990 (row 1) are two spellings", "--dates birth="],
        ),
        ("ZEROS", ["zip: 1067 and 10115 have different lengths", "as text, with 01067"]),
        ("MIXED", ["zip: 1067 and 01069 have different lengths", "with 01067", "a file of levels"]),
        (f"{ROLES} --drop job", ["'job' is listed twice, in known and drop"]),
        (f"{ROLES} --label job", ["'job' is listed twice, in known and label"]),
        ("--known age,zip,birth,jbo --attach ill", ["'jbo' for known. Did you mean job?"]),
        ("--attach age,zip,birth,job,ill", ["none of the 5 columns", "--known"]),
        (f"{ROLES} --k 5", ["at least 5 rows; the data has 4"]),
        (f"{ALONE} --diverse ill:4", ["diverse ill=4: the column has 3 values"]),
        (f"{ALONE} --diverse ill:1", ["diverse ill=1", "from 2"]),
        (f"{ALONE} --close ill:2", ["close ill=2", "below 1"]),
        (f"{ALONE} --diverse ill:3", ["all 4 rows", "diverse ill=3"]),
        ("NAMES", ["name has 24 values in 24 rows", "--drop name", "--levels", "--attach name"]),
        (
            "NUMBERS",
            ["use --levels size=auto, widths such as", "--attach size", "--drop size"],
        ),
    ],
)
def test_what_is_wrong_is_named_by_the_command(graphveil_here, cwd, words, named):
    tables = {"NAMES": NAMES, "NUMBERS": NUMBERS, **DATED}
    (cwd / "people.csv").write_text(tables.get(words, PEOPLE))
    for name, lines in HIERARCHIES.items():
        (cwd / f"{name}.csv").write_text(lines)
    given = [] if words in tables else words.split()
    if words in DATED:
        given = MONTHS.split()
    k = [] if "--k" in given else ["--k", 2]
    done = graphveil_here("anonymize", "generalize", "people.csv", *k, *given, "--out", "out")
    assert (2, "", False) == (done.code, done.out, (cwd / "out").exists())
    errors = [line for line in done.err.splitlines() if not line.startswith("people.csv: read")]
    assert 1 == len(errors)
    assert errors[0].startswith("graphveil: error: ")
    for one in named:
        assert one in errors[0]
