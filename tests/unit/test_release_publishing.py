"""One way into a release folder, for data in memory and for data on the disk."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.errors import ReleaseError
from graphveil.records.manifest import MANIFEST
from graphveil.records.record import LINKAGE, RECORD
from graphveil.release import Linkage, Private, read_manifest, read_record
from graphveil.release.files import write_data
from graphveil.release.publishing import Publication, WriteOptions, check_publishable, publish

PACKAGE = Path(gv.__file__).parent
LIKES = gv.Bipartite.from_lists([["tea"], ["tea"], ["rye"], ["rye"]])
LINKAGE_OF = Linkage(np.array([7, 8, 9, 10]), np.array([3, 1, 0, 2]))


def published(folder, *, private=True, linkage=None, options=None, sha256="a"):
    """Publish four rows, and return the folder."""

    def write(public):
        assert [] == list(public.iterdir())
        assert not folder.exists()
        method = gv.SuppressK(k=2)
        return Publication(
            described=write_data(LIKES, public, "csv"),
            guarantee=method.guarantee,
            provenance=method.provenance,
            private=Private(input_sha256=sha256, warnings=("mind the gap",)) if private else None,
            linkage=linkage,
        )

    return publish(folder, write, input_sha256=sha256, options=options or WriteOptions())


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_release_has_its_data_its_manifest_and_its_record(tmp_path):
    out = published(tmp_path / "out", linkage=[LINKAGE_OF.table()])
    expected = [f"out.private/{LINKAGE}", f"out.private/{RECORD}"]
    expected += ["out/data.csv", f"out/{MANIFEST}", "out/users.csv"]
    assert sorted(expected) == files_in(tmp_path)
    assert gv.verify_release(out).ok
    assert ["mind the gap"] == read_record(out).warnings
    assert "suppress-k" == read_manifest(out).method.name == read_record(out).method


def test_a_linkage_may_come_in_parts(tmp_path):
    table = LINKAGE_OF.table()
    out = published(tmp_path / "out", linkage=iter([table.slice(0, 3), table.slice(3)]))
    assert table.equals(parquet.read_table(f"{out}.private/{LINKAGE}"))
    assert 0o600 == Path(f"{out}.private/{LINKAGE}").stat().st_mode & 0o777


def test_a_linkage_that_is_not_wanted_is_not_even_asked_for(tmp_path):
    def never():
        pytest.fail("the linkage was asked for")
        yield

    out = published(tmp_path / "out", linkage=never(), options=WriteOptions(linkage=False))
    assert [RECORD] == files_in(Path(f"{out}.private"))
    assert read_record(out).linkage_sha256 is None


def test_without_an_owner_there_is_no_private_folder(tmp_path):
    published(tmp_path / "out", private=False, linkage=[LINKAGE_OF.table()])
    assert ["out"] == [path.name for path in tmp_path.iterdir()]


def test_the_options_of_reading_stand_in_the_private_record(tmp_path):
    out = published(tmp_path / "out", options=WriteOptions(reading={"header": "yes"}))
    assert {"header": "yes"} == read_record(out).reading


def test_the_same_input_is_refused_before_anything_is_written_unless_told(tmp_path):
    published(tmp_path / "one")
    before = files_in(tmp_path)
    with pytest.raises(ReleaseError, match=r"one\.private"):
        published(tmp_path / "two")
    with pytest.raises(ReleaseError, match=r"one\.private"):
        check_publishable(tmp_path / "two", "a", WriteOptions())
    assert before == files_in(tmp_path)
    published(tmp_path / "two", options=WriteOptions(again=True))
    published(tmp_path / "three", sha256="b")


# one implementation of each


def calls_in(source):
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]


def is_rename(call):
    """Whether this gives a file another name: texts are replaced by two arguments, never by one."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "replace":
        return len(call.args) == 1 and not call.keywords
    return name in {"rename", "mkstemp", "NamedTemporaryFile"}


def files_where(predicate):
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    return [
        path.relative_to(PACKAGE).as_posix()
        for path, source in sources.items()
        if any(map(predicate, calls_in(source)))
    ]


@pytest.mark.parametrize("kind", ["Manifest", "Record"])
def test_one_file_makes_manifests_and_records(kind):
    makes = files_where(lambda call: kind == getattr(call.func, "id", ""))
    assert ["release/publishing.py"] == makes


def test_one_file_gives_files_another_name():
    assert ["atomic.py"] == files_where(is_rename)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("part.replace(path)", True),
        ("os.rename(one, two)", True),
        ("text.replace('a', 'b')", False),
        ("dataclasses.replace(options, k=2)", False),
        ("tempfile.NamedTemporaryFile()", True),
    ],
)
def test_a_rename_is_told_from_a_text(source, expected):
    [call] = calls_in(source)
    assert expected == is_rename(call)
