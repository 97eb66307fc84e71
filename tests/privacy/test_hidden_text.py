"""What a release folder holds is the published data and the manifest: no text hides in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyarrow import parquet

import graphveil as gv

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

PATH = gv.Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
LIKES = gv.Bipartite.from_pairs(
    ["ann", "bob", "cyd", "dan"], ["tea"] * 4, users=["ann", "bob", "cyd", "dan"]
)
RELEASES = {"graph": (gv.KDegree(k=2), PATH), "users": (gv.Mondrian(k=2), LIKES)}


@pytest.mark.parametrize("name", RELEASES)
def test_a_released_table_carries_no_text_beside_its_columns(name, tmp_path):
    method, data = RELEASES[name]
    folder = method.anonymize(data).write(tmp_path / "out", format="parquet")
    file = folder / "data.parquet"
    assert not parquet.read_metadata(file).metadata
    table = parquet.read_table(file)
    assert not table.schema.metadata
    assert [None] * table.num_columns == [field.metadata for field in table.schema]


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_file_is_flushed_to_the_disk_before_the_release_has_its_name(
    name, form, tmp_path, monkeypatch
):
    method, data = RELEASES[name]
    flushed, real = set(), os.fsync

    def fsync(number):
        flushed.add(Path(f"/proc/self/fd/{number}").readlink().name)
        real(number)

    monkeypatch.setattr(os, "fsync", fsync)
    folder = method.anonymize(data).write(tmp_path / "out", format=form)
    private = folder.with_name("out.private")
    assert {path.name for part in (folder, private) for path in part.iterdir()} <= flushed
