"""How a command reads its input: flags in, container out, the reading report on stderr."""

from __future__ import annotations

from pathlib import Path

from graphveil import io
from graphveil.cli.console import say
from graphveil.data import Data
from graphveil.io.report import ReadingReport
from graphveil.progress import stage


def read_input(path: Path, options: io.AnyOptions) -> Data:
    """Return the container in a file; what was dropped is said on stderr."""
    with stage(f"reading {path.name}"):
        data, report = io.load(path, options)
    say_report(path, report)
    checked: Data = data
    return checked


def say_report(path: Path, report: ReadingReport) -> None:
    """Say on stderr how a file was read and what was dropped."""
    for line in report.lines():
        say(f"{path.name}: {line.flags}")
