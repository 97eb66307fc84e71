"""One way into a release folder, for data in memory and for data on the disk."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.claims.manifest import MANIFEST
from graphveil.claims.neighbors import owners_of_others
from graphveil.claims.record import LINKAGE, RECORD, private_folder
from graphveil.core.atomic import stale_temporaries, whole_folders
from graphveil.core.errors import GraphveilWarning, InputError, UsageError
from graphveil.core.warning_channel import each_once
from graphveil.release import (
    Linkage,
    Private,
    Release,
    read_manifest,
    read_record,
    read_release,
)
from graphveil.release.claiming import provenance_of
from graphveil.release.files import check_names, release_format, write_data
from graphveil.release.options import RunOptions
from graphveil.release.publishing import Publication, publish, warn_of_others

PACKAGE = Path(gv.__file__).parent
LIKES = gv.Bipartite.from_lists([["tea"], ["tea"], ["rye"], ["rye"]])
LINKAGE_OF = Linkage(np.array([7, 8, 9, 10]), np.array([3, 1, 0, 2]))


def published(folder, *, private=True, linkage=None, linked=True, reading=None, sha256="a"):
    """Publish four rows, and return the folder."""

    def write(public):
        assert [] == list(public.iterdir())
        assert not folder.exists()
        method = gv.SuppressK(k=2)
        return Publication(
            described=write_data(LIKES, public, "csv"),
            guarantee=method.guarantee,
            provenance=provenance_of(method),
            private=Private(input_sha256=sha256, warnings=("mind the gap",)) if private else None,
            linkage=linkage,
        )

    run = RunOptions(out=folder, linkage=linked)
    publish(run, write, input_digests=frozenset([sha256]), reading=reading or {})
    return folder


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("file_format", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("mark", ["*", ""])
def test_no_format_of_a_release_takes_a_value_that_reads_as_a_suppressed_cell(
    tmp_path, file_format, mark
):
    table = gv.Table.from_columns({"a": [mark, mark, "x", "x"]}, suppressed=["?"])
    release = gv.ClusterK(k=2).anonymize(table)
    with pytest.raises(
        InputError, match=r"column a: the category '\*?' would be read as a suppressed"
    ):
        release.write(tmp_path / "out", format=file_format)
    with pytest.raises(InputError, match="Rename it"):
        check_names(table, release_format(file_format, "table"))
    assert [] == list(tmp_path.iterdir())


def test_a_value_that_no_cell_shows_is_no_obstacle(tmp_path):
    table = gv.Table([[0], [0]], ("a",), (["x", "*"],))
    check_names(table, release_format("csv", "table"))
    assert write_data(table, tmp_path, "csv").counts["suppressed_cells"] == 0


def test_a_release_has_its_data_its_manifest_and_its_record(tmp_path):
    out = published(tmp_path / "out", linkage=[LINKAGE_OF.table()])
    expected = [f"out.private/{LINKAGE}", f"out.private/{RECORD}"]
    expected += ["out/data.csv", f"out/{MANIFEST}", "out/users.csv"]
    assert sorted(expected) == files_in(tmp_path)
    assert gv.verify_release(out).ok
    assert ("mind the gap",) == read_record(out).warnings
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

    out = published(tmp_path / "out", linkage=never(), linked=False)
    assert [RECORD] == files_in(Path(f"{out}.private"))
    assert read_record(out).linkage_sha256 is None


def test_without_an_owner_there_is_no_private_folder(tmp_path):
    published(tmp_path / "out", private=False, linkage=[LINKAGE_OF.table()])
    assert ["out"] == [path.name for path in tmp_path.iterdir()]


def test_the_options_of_reading_stand_in_the_private_record(tmp_path):
    out = published(tmp_path / "out", reading={"header": "yes"})
    assert {"header": "yes"} == read_record(out).reading


def told_in(folder):
    return [text for text in read_record(folder).warnings if "of this input" in text]


def test_other_releases_of_the_input_are_warned_of_and_noted(tmp_path):
    assert [] == told_in(published(tmp_path / "one"))
    with pytest.warns(GraphveilWarning, match="1 other release of this input is next to it, one:"):
        two = published(tmp_path / "two")
    with pytest.warns(
        GraphveilWarning, match="2 other releases .* are next to it, the first is one:"
    ):
        three = published(tmp_path / "three")
    assert [1, 1] == [len(told_in(folder)) for folder in (two, three)]
    assert ("mind the gap", *told_in(two)) == read_record(two).warnings
    assert [] == told_in(published(tmp_path / "of others", sha256="b"))


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_the_other_release_that_is_named_is_the_oldest_whatever_its_name(tmp_path):
    for hour, name in enumerate(("walnut", "almond", "hazel")):
        record = private_folder(published(tmp_path / name)) / RECORD
        os.utime(record, (hour * 3600, hour * 3600))
    [text] = told_in(published(tmp_path / "cashew"))
    assert "3 other releases" in text
    assert "the first is walnut:" in text
    assert ["walnut.private", "almond.private", "hazel.private"] == [
        path.name for path in owners_of_others(tmp_path / "cashew", frozenset("a"))
    ]


def test_what_force_replaces_is_no_other_release(tmp_path):
    published(tmp_path / "one")
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphveilWarning)
        write = Release(data=LIKES, guarantee=gv.SuppressK(k=2).guarantee, private=Private(
            input_sha256="a"), provenance=provenance_of(gv.SuppressK(k=2))).write  # fmt: skip
        assert [] == told_in(write(tmp_path / "one", force=True))


def test_what_was_said_before_the_work_is_noted_and_not_said_again(tmp_path):
    published(tmp_path / "one")
    with each_once():
        with pytest.warns(GraphveilWarning, match="1 other release") as said:
            texts = warn_of_others(tmp_path / "two", frozenset("a"))
        assert 1 == len(said)
        with warnings.catch_warnings():
            warnings.simplefilter("error", GraphveilWarning)
            two = published(tmp_path / "two")
    assert list(texts) == told_in(two)


def test_a_release_is_not_warned_of_those_it_is_nested_in(tmp_path):
    data = gv.Bipartite.from_lists([["tea"], ["tea"], ["rye"], ["rye"]] * 2)
    first = gv.SuppressK(k=2).anonymize(data)
    second = gv.SuppressK(k=4).anonymize(data, nested_in=first)
    one, two = first.write(tmp_path / "one"), second.write(tmp_path / "two")
    third = gv.SuppressK(k=8).anonymize(data, nested_in=two).write(tmp_path / "three")
    assert [[], [], []] == [told_in(folder) for folder in (one, two, third)]
    alone = gv.SuppressK(k=2).anonymize(data).write(tmp_path / "zero")
    assert told_in(alone)[0].startswith("3 other releases")
    beside = gv.SuppressK(k=4).anonymize(data, nested_in=one).write(tmp_path / "beside")
    assert told_in(beside)[0].startswith("3 other releases")


def test_a_release_with_the_seed_of_one_it_is_nested_in_is_warned_of(tmp_path):
    data = gv.Bipartite.from_lists([["tea"], ["tea"], ["rye"], ["rye"]] * 4)
    one = gv.SmoothK(k=2).anonymize(data, seed=3).write(tmp_path / "one")
    gv.SuppressK(k=2).anonymize(data, seed=3).write(tmp_path / "two")
    again = gv.SmoothK(k=2).anonymize(data, seed=3)
    for base in (one, read_release(one), again):
        three = gv.SmoothK(k=4).anonymize(data, nested_in=base)
        [text] = told_in(three.write(tmp_path / "three", force=True))
        assert "1 other release of this input is next to it, two:" in text
    record = Path(f"{one}.private", RECORD)
    fields = json.loads(record.read_bytes())
    del fields["release_id"]
    record.write_text(json.dumps(fields))
    assert fields["manifest_sha256"] == read_release(one).private.release_id
    four = gv.SmoothK(k=8).anonymize(data, nested_in=one).write(tmp_path / "four")
    assert "2 other releases" in told_in(four)[0]


# what a killed run left


@pytest.mark.parametrize("name", ["out", "out.private"])
@pytest.mark.parametrize("purpose", ["partial", "replaced"])
def test_what_a_killed_run_left_is_named_and_left_where_it_is(tmp_path, name, purpose):
    left = tmp_path / f".{name}.{purpose}-0123456789ab"
    left.mkdir()
    (left / "data.csv").write_text("people")
    (tmp_path / ".other.partial-0123456789ab").mkdir()
    with pytest.warns(GraphveilWarning, match="left behind by a run that was killed") as said:
        published(tmp_path / "out")
    assert [str(left)] == [str(w.message).split(" was ")[0] for w in said]
    assert "people" == (left / "data.csv").read_text()
    assert not any("killed" in text for text in read_record(tmp_path / "out").warnings)


def test_what_a_running_process_writes_is_not_what_a_killed_one_left(tmp_path):
    with whole_folders({tmp_path / "out": 0o700}) as [part]:
        (part / "x").write_text("half")
        assert (part,) != (tmp_path / "out",)
        assert [] == stale_temporaries(tmp_path / "out")
    script = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from graphveil.core.atomic import whole_folders\n"
        "with whole_folders({Path(sys.argv[1]): 0o700}) as [part]:\n"
        "    (part / 'x').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "new")], check=False)
    assert -9 == done.returncode
    [left] = stale_temporaries(tmp_path / "new")
    assert "half" == (left / "x").read_text()
    assert 0o700 == left.stat().st_mode & 0o777


# one implementation of each


@cache
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
    assert ["core/atomic.py", "core/kernels/cache.py"] == files_where(is_rename)


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


def test_what_only_the_owner_may_see_shows_neither_seed_nor_ids():
    ties = gv.Graph.from_edges(["annika"] * 3 + ["bobby"], ["bobby", "cydney", "danica", "eveline"])
    release = gv.StructuralAnonymity(k=2, goal=gv.Partial(share=0.2)).anonymize(ties, seed=987654)
    shown = repr(release.private)
    assert "987654" not in shown
    assert [] == [name for name in ties.labels().tolist() if name in shown]
    assert release.private.input_sha256 not in shown
    assert "edges_added" in shown
    assert release.private.cost == release.cost


def test_a_release_without_its_private_part_says_what_it_lacks(tmp_path):
    graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    folder = gv.KDegree(k=2).anonymize(graph).write(tmp_path / "out")
    shutil.rmtree(tmp_path / "out.private")
    with pytest.raises(UsageError, match="without its private folder"):
        gv.read_release(folder).cost  # noqa: B018  a property that refuses
