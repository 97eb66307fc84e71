"""How a command reads its input: flags in, container out, the reading report on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphveil import io
from graphveil.cli.console import say
from graphveil.data import Data, Graph
from graphveil.data.kinds import KINDS, Container
from graphveil.errors import UsageError
from graphveil.io.report import ReadingReport
from graphveil.progress import stage


def read_input(path: Path, options: io.AnyOptions) -> Data:
    """Return the container in a file; what was dropped is said on stderr."""
    with stage(f"reading {path.name}"):
        data, report = io.load(path, options)
    say_report(path, report)
    checked: Data = data
    return checked


@contextmanager
def input_on_disk(path: Path, options: io.GraphOptions) -> Iterator[Graph]:
    """Give the graph in a file, whose ties stay on the disk; what was dropped is said on stderr."""
    from graphveil.on_disk import graph_on_disk  # noqa: PLC0415  heavy, and few need it

    with graph_on_disk(path, options) as (graph, report):
        say_report(path, report)
        yield graph


def say_report(path: Path, report: ReadingReport) -> None:
    """Say on stderr how a file was read and what was dropped."""
    for line in report.lines():
        say(f"{path.name}: {line.flags}")


def released_kind(path: Path, given: Mapping[str, Any]) -> Container | None:
    """Return the kind of the data in a release folder; None where the path is none.

    Raises
    ------
    UsageError
        Where flags say how a file is read: a release says itself what it is.
    """
    from graphveil.records.manifest import MANIFEST, read_manifest  # noqa: PLC0415  not for files

    if not (path / MANIFEST).is_file():
        return None
    flags = [name for name, value in given.items() if value is not None and name != "known"]
    if flags:
        raise UsageError(
            f"--{flags[0].replace('_', '-')} says how a file is read, and {path.name} is a "
            "release, which says itself what it is. Leave it out."
        )
    return KINDS[read_manifest(path).data.kind].container


def released_data(path: Path) -> Data:
    """Return what is published in a release folder."""
    from graphveil.release import read_release  # noqa: PLC0415  as above

    data: Data = read_release(path).data
    return data
