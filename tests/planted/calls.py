"""Write down which functions of the package each test calls, and how long it takes: for mutants.

A plugin of pytest. The environment names the file to write and, where only some of the tests that
are collected are to run, a file that lists these.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

WRITTEN, WANTED = "MUTANTS_CALLS", "MUTANTS_WANTED"
"""Variables of the environment: where to write, and where the tests to run are listed."""


class Calls:
    """What the tests of one process call: a functions' file and qualified name."""

    def __init__(self, package: Path, written: Path, wanted: set[str] | None) -> None:
        self.package, self.written, self.wanted = f"{package}{os.sep}", written, wanted
        self.found: dict[str, dict[str, set[str]]] = {}
        self.seconds: dict[str, float] = {}
        self.called: set[tuple[str, str]] = set()

    def note(self, frame: FrameType, _event: str, _arg: object) -> None:
        """Note a call; returning nothing, it is not told of the lines."""
        code: CodeType = frame.f_code
        self.called.add((code.co_filename, code.co_qualname))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave the tests that are not wanted, once all have been collected and marked."""
        if self.wanted is not None:
            left = [item for item in items if item.nodeid not in self.wanted]
            config.hook.pytest_deselected(items=left)
            items[:] = [item for item in items if item.nodeid in self.wanted]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Note what fixtures call: they may be made for the whole file."""
        yield from self._noted(f"{item.path}", item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Note what a test calls."""
        yield from self._noted(item.nodeid, item)

    def _noted(self, whose: str, item: pytest.Item) -> Iterator[None]:
        self.called = set()
        threading.settrace(self.note)
        sys.settrace(self.note)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            of = self.found.setdefault(item.nodeid.partition("::")[0], {})
            key = "" if whose == f"{item.path}" else whose
            names = of.setdefault(key, set())
            for file, name in self.called:
                if file.startswith(self.package):
                    names.add(f"{file.removeprefix(self.package)}:{name}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up how long a test takes with what it needs."""
        before = self.seconds.get(report.nodeid, 0.0)
        self.seconds[report.nodeid] = before + report.duration

    def pytest_sessionfinish(self) -> None:
        """Write it all."""
        found = {
            file: {test: sorted(names) for test, names in tests.items()}
            for file, tests in self.found.items()
        }
        self.written.write_text(json.dumps({"calls": found, "seconds": self.seconds}))


def pytest_configure(config: pytest.Config) -> None:
    """Begin, where the environment says where to write."""
    if WRITTEN in os.environ:
        listed = os.environ.get(WANTED)
        wanted = set(json.loads(Path(listed).read_text())) if listed else None
        package = config.rootpath / "src"
        config.pluginmanager.register(Calls(package, Path(os.environ[WRITTEN]), wanted))
