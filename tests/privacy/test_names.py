"""Names are names: no path, file, column or item is taken for a pattern, an address or a statement.

What a pattern would find lies beside every run: an unfinished run and a release of other people.
"""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from tampering import smallest

import graphveil as gv
from contract.conftest import quick
from forged.readers import readings_of
from graphveil import io
from graphveil.cli import run as command_line
from graphveil.cli import say_warnings
from graphveil.core.atomic import working_folder
from graphveil.core.errors import GraphveilWarning, InputError
from graphveil.engines import LocalEngine
from graphveil.engines.local import written
from graphveil.engines.processes import Query
from graphveil.methods import METHODS
from graphveil.methods.smooth_k import Chunks
from graphveil.release import read_record, read_release
from graphveil.verbs.anonymize import anonymize_rows
from odd_engines import Interrupted

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

NAMES = {
    "brackets": "run[1]",
    "a class that excludes": "[!a]",
    "star": "run*",
    "two stars": "**",
    "question mark": "run?",
    "quote": "it's",
    "double quote": 'say "x"',
    "percent": "100%s %20",
    "backslash": "run\\1",
    "new line": "two\nlines",
    "semicolon": "x; DROP TABLE rows; --",
    "braces": "{run1,run2}",
    "letters of other scripts": "ünï 日本 \N{GRINNING FACE}",
    "spaces": " two  spaces ",
    "a partition of the users": "user=1",
    "a partition of the items": "item=*",
    "an address": "file:",
    "another address": "s3:",
    "home": "~",
    "a variable": "$HOME",
    "a flag": "-rf",
    "a comment": "#run",
    "markup": "[red]run",
}
"""Names that mean something else to some library, by what is strange in them."""

FOLDERS = NAMES | ({"bytes that are no text": "run\udcff"} if sys.platform == "linux" else {})
TEXT_NAMES = {what: name for what, name in NAMES.items() if what != "new line"}
"""Those that a cell of a text file can hold."""

ALL_AT_ONCE = "a[1]*?'\"%s\\;{b}\nü ~$=1"
LIKES = "user,item\n" + "".join(f"{u},{i}\n" for u in range(6) for i in (50 + u % 2, 52 + u % 3))
PEOPLE = gv.Bipartite.from_pairs(
    [u for u in range(6) for _ in "ab"], [i for u in range(6) for i in (50 + u % 2, 52 + u % 3)]
)
EDGES = [(u, v) for u in range(8) for v in (u + 1, u + 2) if v < 8]
FRIENDS = "source,target\n" + "".join(f"{u},{v}\n" for u, v in EDGES)
METHOD = gv.SuppressK(k=2, chunks=Chunks(rows=4, order="none"))
ALONE = LocalEngine(jobs=1, memory_mib=64)


class Folder(NamedTuple):
    """A folder of a strange name, with people to anonymize."""

    path: Path
    likes: Path
    friends: Path


@pytest.fixture
def folder(request, tmp_path, monkeypatch, unfinished):
    """Return the folder, as a path from where we are, beside what a pattern would find."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for decoy in ("run1", "run2", "a1", "home", "x"):
        shutil.copytree(unfinished, tmp_path / decoy)
    path = Path(request.param)
    path.mkdir()
    likes, friends = path / f"{request.param}.csv", path / "friends.csv"
    likes.write_text(LIKES)
    friends.write_text(FRIENDS)
    return Folder(path, likes, friends)


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    """Return a folder with an unfinished run of other people, at the same names."""
    folder = tmp_path_factory.mktemp("others")
    (folder / "others.csv").write_text("user,item\n" + "".join(f"{u},9\n" for u in range(900, 912)))

    with pytest.raises(KeyboardInterrupt):
        anonymize_rows(METHOD, folder / "others.csv", folder / "out", engine=Interrupted(jobs=1))
    assert working_folder(folder / "out").is_dir()
    return folder


each_folder = pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS, indirect=True)
one_folder = pytest.mark.parametrize("folder", [ALL_AT_ONCE], ids=["all at once"], indirect=True)


def inside(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def assert_released(out, original):
    """Whether a release holds these people alone, nothing is left beside it, and it verifies."""
    assert original.size == read_release(out).data.size
    labels = read_record(out) and parquet_of(f"{out}.private/linkage.parquet")["original"]
    assert original.labels().tolist() == labels.to_pylist()
    verdict = gv.verify_release(out, original=original)
    assert verdict.ok, verdict
    assert not [check for check in verdict.checks if check.outcome == "not checked"]
    assert not [path for path in out.parent.iterdir() if path.name.startswith(f".{out.name}.")]


def parquet_of(path):
    with Path(path).open("rb") as stream:
        return parquet.read_table(stream)


# folders and files


@each_folder
def test_the_release_itself_may_have_the_name(folder):
    inner = folder.path / folder.path.name
    out = anonymize_rows(METHOD, folder.likes, inner, engine=ALONE, format="parquet")
    assert_released(out, PEOPLE)


@each_folder
def test_a_release_from_memory_lies_where_it_should(folder):
    release = METHOD.anonymize(gv.read_bipartite(folder.likes))
    for kind in ("csv", "parquet", "tsv"):
        place = folder.path / kind
        place.mkdir()
        assert release.data == read_release(release.write(place / "out", format=kind)).data
    assert_released(place / "out", PEOPLE)


@each_folder
def test_every_verb_of_the_command_line_takes_the_name(folder, tmp_path, capsys):
    out, rows, risk = folder.path / "out", folder.path / "rows.parquet", folder.path / "risk.csv"

    def run(*words):
        code = command_line([str(word) for word in words])
        shown = capsys.readouterr()
        assert 0 == code, shown.err
        return shown

    before = inside(tmp_path)
    dashed = f"./{folder.likes}"
    run("anonymize", "suppress-k", dashed, "--k=2", "--chunk-rows=4", "--on-disk", "--jobs=1",
        f"--out={out}")  # fmt: skip
    assert_released(out, PEOPLE)
    assert "data.csv" in inside(out)
    assert "FAILS" not in run("verify", f"./{out}", f"--original={folder.likes}").out
    run("evaluate", f"./{out}", f"--original={folder.likes}", f"--out={rows}")
    assert parquet_of(rows).num_rows
    run("measure", f"./{folder.friends}", f"--at-risk={risk}")
    assert risk.read_bytes().startswith(b'"node"')
    new = set(inside(tmp_path)) - set(before)
    assert {Path(name).parts[0] for name in new} == {folder.path.name}


@one_folder
@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_all_of_them_at_once(folder, name):
    method = quick(METHODS[name])
    kind = method.accepts[0]
    rows = folder.likes.with_name(f"rows {folder.likes.name}")
    if kind is gv.Table:
        rows.write_text("sex,age\n" + "f,30\nm,*\n" * 6)
    path, read = {
        gv.Graph: (folder.friends, gv.read_graph),
        gv.Bipartite: (folder.likes, gv.read_bipartite),
        gv.Table: (rows, gv.read_table),
        gv.Network: (folder.friends, partial(io.read, kind="network", directed="keep")),
    }[kind]
    data = read(path)
    small = smallest(METHODS[name])
    out = small.anonymize(data).write(folder.path / "out")
    verdict = gv.verify_release(out, original=data)
    assert verdict.ok, verdict
    gv.evaluate_release(out, original=data)


@pytest.mark.parametrize("folder", ["back\\slash", "[1]", "*"], indirect=True)
def test_what_does_not_fit_into_memory_is_kept_in_the_folder_of_the_run(
    folder, tmp_path, monkeypatch
):
    (tmp_path / "back" / "slash").mkdir(parents=True)
    many = 3_000_000
    table = pa.table({"user": pa.array(range(many)), "items": pa.array([1, 2, 3] * (many // 3))})
    with (folder.path / "x.parquet").open("wb") as stream:
        parquet.write_table(table, stream)
    work = folder.path / "work"
    work.mkdir()
    spilled = []

    def noting(path, schema):
        spilled.extend(path.name for path in (work / "spill").iterdir())
        return written(path, schema)

    monkeypatch.setattr("graphveil.engines.local.written", noting)
    query = Query('SELECT items, "user" FROM {rows} ORDER BY items, "user"', ("items", "user"))
    with LocalEngine(jobs=1, memory_mib=64).at(work) as tables:
        rows = tables.select(query, rows=tables.rows([folder.path / "x.parquet"]))
        first = next(tables.batches(rows, None))
    assert spilled
    assert ["slash"] == inside(tmp_path / "back")
    assert list(range(0, 30, 3)) == first["user"].to_pylist()[:10]
    assert ["selected-001"] == sorted(path.name for path in work.iterdir())


# columns and items


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("on_disk", [False, True], ids=["in memory", "on disk"])
def test_items_of_every_name_are_published_as_they_are(tmp_path, kind, on_disk):
    names = list((TEXT_NAMES if kind == "csv" else NAMES).values())
    table = pa.table({"user": [*range(4)] * len(names), "item": sorted(names * 4)})
    path = tmp_path / f"likes.{kind}"
    csv.write_csv(table, path) if kind == "csv" else parquet.write_table(table, path)
    original = gv.read_bipartite(path)
    if on_disk:
        out = anonymize_rows(METHOD, path, tmp_path / "out", engine=ALONE)
    else:
        out = METHOD.anonymize(original).write(tmp_path / "out", format=kind)
    assert_released(out, original)
    assert sorted(names) == sorted(read_release(out).data.feature_labels().tolist())
    gv.evaluate_release(out, original=original)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_columns_of_every_name_are_published_as_they_are(tmp_path, kind):
    awkward = NAMES if kind == "parquet" else TEXT_NAMES
    names = [
        *(name.strip() for name in awkward.values() if kind == "parquet" or '"' not in name),
        "a",
        "a_1",
        "c1",
        "c0",
        "raw",
        "handed_over",
        "filename",
    ]
    if kind == "parquet":
        names += [" x"]
    table = gv.Table.from_columns({name: ["p", "p", "q", "q"] for name in names})
    likes = gv.Bipartite.from_lists([["a"], ["a"], ["b"], ["b"]])
    like = gv.SuppressK(k=2).anonymize(likes)
    release = gv.Release(
        data=table, guarantee=like.guarantee, conditions=(), provenance=like.provenance
    )
    out = release.write(tmp_path / "out", format=kind)
    assert table == read_release(out).data
    checks = {check.name: check.outcome for check in gv.verify_release(out).checks}
    assert "holds" == checks["data"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize(
    "names", [["age", ""], ["age", "Age"], ["age", " x"], ["age", 'say "x"'], ["\ufeffage", "zip"]]
)
def test_a_column_whose_name_programs_read_in_different_ways_is_not_released(tmp_path, kind, names):
    """That some do, the forged names of columns show: the checker refuses each of them."""
    table = gv.Table.from_columns({name: ["p", "p"] for name in names})
    out = tmp_path / "out"
    if kind == "parquet" and "" not in names and "Age" not in names:
        assert gv.verify_release(gv.Rename().anonymize(table).write(out, format=kind)).ok
        return
    with pytest.raises(InputError, match=r"misread the column .*Rename it"):
        gv.Rename().anonymize(table).write(out, format=kind)
    path = tmp_path / "people.parquet"
    io.write(table, path)
    words = ["anonymize", "rename", str(path), "--kind", "table", "--out", str(out)]
    words += ["--format", kind]
    assert 2 == command_line(words)
    assert not out.exists()


def test_the_columns_of_a_table_keep_every_name(tmp_path):
    table = gv.Table.from_columns({name: ["p", "p", "q", "q"] for name in NAMES.values()})
    out = gv.Mondrian(k=2).anonymize(table).write(tmp_path / "out", format="parquet")
    read = read_release(out).data
    assert set(NAMES.values()) == set(read.columns)
    assert {"p", "q"} == {cell for row in read.to_arrow().to_pylist() for cell in row.values()}
    assert gv.verify_release(out, original=table).ok


# what the checker is given


@pytest.mark.parametrize("name", ["data.[0-9].csv", "data.*", "data.csv.?", "data.x=1.csv"])
def test_a_listed_file_of_a_strange_name_is_read_alone(tmp_path, name):
    likes = gv.Bipartite.from_lists([["a"], ["a"], ["b"], ["b"]])
    out = gv.SuppressK(k=2).anonymize(likes).write(tmp_path / "out")
    (out / "data.csv").rename(out / name)
    text = (out / "release.json").read_text().replace('"data.csv"', json.dumps(name))
    (out / "release.json").write_text(text)
    checks = {check.name: check for check in gv.verify_release(out).checks}
    assert "fails" == checks["description"].outcome
    assert "4 users, 2 items, 4 entries" == checks["counts"].detail


@pytest.mark.parametrize("name", ["original=1", "[1]", "*", "a\\b"])
def test_the_folder_for_temporary_files_is_no_pattern_either(tmp_path, monkeypatch, name):
    scratch = tmp_path / name
    scratch.mkdir()
    likes = gv.Bipartite.from_lists([["a"], ["a"], ["b"], ["b"]])
    out = gv.SuppressK(k=2).anonymize(likes).write(tmp_path / "out")
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with pytest.raises(gv.GraphveilError, match="has only letters and digits"):
        gv.verify_release(out, original=likes)


def test_a_warning_of_a_strange_folder_is_one_line(tmp_path, capsys):
    with warnings.catch_warnings():
        command_line(["methods"])
        capsys.readouterr()
        warnings.warn(f"kept in {tmp_path}/two\nlines\x1b[31m", GraphveilWarning, stacklevel=1)
        say_warnings()
    assert 1 == len(capsys.readouterr().err.splitlines())
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("value", ["two\nlines", "a\rb"])
def test_a_cell_with_a_line_break_is_refused_before_the_run_and_comes_back_from_parquet(
    tmp_path, form, value
):
    table = gv.Table.from_columns({"note": [value] * 4, "sex": ["f"] * 4})
    release = gv.ClusterK(k=2).anonymize(table)
    with pytest.raises(InputError, match=r"column note: .* contains a line break .*parquet"):
        release.write(tmp_path / "out", format=form)
    assert gv.verify_release(release.write(tmp_path / "out", format="parquet")).ok


@pytest.mark.parametrize("form", ["csv", "tsv", "text"])
@pytest.mark.parametrize("value", ["\x01", "\x1ftea", "tea\x9f"])
def test_a_name_of_control_characters_is_read_as_it_is(tmp_path, form, value):
    likes = gv.Bipartite.from_lists([[value, "rye"]] * 4)
    folder = gv.SuppressK(k=2).anonymize(likes).write(tmp_path / "likes", format=form)
    assert gv.verify_release(folder, original=likes).ok
    assert 1 == len({str(sorted(seen)) for seen in readings_of(folder).values()})


@pytest.mark.parametrize("form", ["csv", "tsv", "text"])
@pytest.mark.parametrize("value", ["\x0btea", "tea\x0b", "\x0b", "\x1ctea", "tea\x85"])
def test_a_name_that_ends_a_line_is_refused_in_text_and_comes_back_from_parquet(
    tmp_path, form, value
):
    likes = gv.Bipartite.from_lists([[value, "rye"]] * 4)
    release = gv.SuppressK(k=2).anonymize(likes)
    with pytest.raises(InputError, match=r'end of a line.*format="parquet"'):
        release.write(tmp_path / "likes", format=form)
    folder = release.write(tmp_path / "likes", format="parquet")
    assert gv.verify_release(folder, original=likes).ok
    assert 1 == len({str(sorted(seen)) for seen in readings_of(folder).values()})
