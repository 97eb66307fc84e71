"""What tells rows of a session from others, and what is said where they cannot be read."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from graphveil.core.errors import InputError
from graphveil.scale.frame_source import FrameSource


class AnalysisError(Exception):
    """An error as Spark raises it."""


AnalysisError.__module__ = "pyspark.errors.exceptions.captured"


class Session:
    """A session whose catalog has one table of this type."""

    def __init__(self, frame, kind="MANAGED"):
        self.frame = frame
        self.catalog = SimpleNamespace(getTable=lambda _: SimpleNamespace(tableType=kind))

    def table(self, name):
        if name != "lake.lists":
            raise AnalysisError(
                f"\n[TABLE_OR_VIEW_NOT_FOUND] There is no `{name}`.\nSearch path: x"
            )
        return self.frame


def frame_of(query, *files, schema="two columns"):
    return SimpleNamespace(
        isStreaming=False,
        columns=["user", "items"],
        schema=SimpleNamespace(json=lambda: schema),
        inputFiles=lambda: list(files),
        semanticHash=lambda: query,
    )


def test_rows_without_files_are_told_apart_by_their_query_and_recognized_by_their_content():
    one, again, other, cast = (
        FrameSource.of(frame, None)
        for frame in (frame_of(5), frame_of(5), frame_of(6), frame_of(5, schema="others"))
    )
    assert one.digest == again.digest
    assert 3 == len({one.digest, other.digest, cast.digest})
    assert () == one.origins == other.origins


def test_rows_of_the_same_files_have_one_origin_whatever_is_made_of_them(tmp_path):
    path = tmp_path / "pärt 0%20.parquet"
    path.write_text("rows")
    files = [path.as_uri(), "s3a://lake/part-1.parquet"]
    one, other, fewer = (
        FrameSource.of(frame_of(query, *some), None)
        for query, some in ((5, files), (6, files[::-1]), (5, files[:1]))
    )
    assert one.digest != other.digest
    assert one.origins == other.origins != fewer.origins
    path.write_text("other rows")
    changed = FrameSource.of(frame_of(5, *files), None)
    assert one.origins != changed.origins
    assert one.digest != changed.digest


@pytest.mark.parametrize(
    ("kind", "told_apart"),
    [("MANAGED", False), ("EXTERNAL", False), ("VIEW", True), ("TEMPORARY", True)],
)
def test_a_table_is_the_same_in_every_session_and_a_view_a_query(kind, told_apart):
    one, other = (
        FrameSource.of("table:lake.lists", Session(frame_of(query, "s3a://lake/part-0"), kind))
        for query in (5, 6)
    )
    assert told_apart == (one.digest != other.digest)


def test_a_table_that_is_not_there_is_one_line_and_an_error_of_ours_is_none():
    with pytest.raises(InputError) as caught:
        FrameSource.of("table:nope", Session(frame_of(5)))
    assert str(caught.value) == (
        "cannot read table:nope: [TABLE_OR_VIEW_NOT_FOUND] There is no `nope`. Give rows "
        "that this session can read."
    )
    with pytest.raises(AttributeError):
        FrameSource.of("table:nope", SimpleNamespace())
