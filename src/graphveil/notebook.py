"""Stages of work in a notebook: one line of plain text at a time, and none where no kernel runs."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from graphveil.terminal import visible

PATIENCE_SECONDS = 2.0
"""How long work may take before a line is shown."""

BETWEEN_SECONDS = 0.25
"""How long a line stands before it is written again."""

WIDTH = 30
"""The characters of a bar."""

_numbers = itertools.count()


def publisher() -> Any | None:
    """Return what publishes the output of the notebook that runs this; None where none does.

    Examples
    --------
    >>> publisher() is None
    True
    """
    ipython = sys.modules.get("IPython")
    shell: Any = None if ipython is None else ipython.get_ipython()
    return None if getattr(shell, "kernel", None) is None else shell.display_pub


@dataclass
class _Stage:
    name: str
    total: int | None
    done: int = 0

    def words(self, seconds: float) -> str:
        """Return the stage on one line, with the seconds of all the work."""
        if not self.total:
            return f"{visible(self.name)}  {seconds:.0f} s"
        share = min(self.done / self.total, 1.0)
        filled = round(WIDTH * share)
        bar = "#" * filled + "." * (WIDTH - filled)
        return f"{visible(self.name)}  [{bar}] {100 * share:.0f} %  {seconds:.0f} s"


@dataclass
class _Line:
    """One output of a cell, written again as work goes on."""

    publish: Callable[..., None]
    stages: list[_Stage] = field(default_factory=list)
    owner: int = field(default_factory=threading.get_ident)
    started: float = field(default_factory=time.monotonic)
    written: float = 0.0
    is_shown: bool = False

    def __post_init__(self) -> None:
        self.id = f"graphveil-{os.getpid()}-{next(_numbers)}"
        self.lock = threading.Lock()
        self.timer = threading.Timer(PATIENCE_SECONDS, self.write)
        self.timer.daemon = True
        self.timer.start()

    def write(self) -> None:
        """Write the innermost stage, once work has taken long enough."""
        now = time.monotonic()
        with self.lock:
            if not self.stages or now - self.started < PATIENCE_SECONDS:
                return
            self._put(self.stages[-1].words(now - self.started))
            self.written = now

    def advance(self, stage: _Stage, done: int) -> None:
        """Note that more of a stage is done."""
        stage.done += done
        if time.monotonic() - self.written >= BETWEEN_SECONDS:
            self.write()

    def end(self) -> None:
        """Leave nothing of the line."""
        self.timer.cancel()
        with self.lock:
            if self.is_shown:
                self._put("")

    def _put(self, text: str) -> None:
        data = {"text/plain": text}
        self.publish(data, {}, transient={"display_id": self.id}, update=self.is_shown)
        self.is_shown = True


_line: _Line | None = None


@contextmanager
def line(
    publish: Callable[..., None], name: str, total: int | None
) -> Iterator[Callable[[int], None]]:
    """Show a stage in the one line of output; a stage inside another takes its place for a while.

    Parameters
    ----------
    publish
        As the `publish` of IPython's publisher.
    name, total
        As in `graphveil.progress.stage`.
    """
    global _line  # noqa: PLW0603  there is one line, whoever works
    outermost = _line is None
    if _line is None:
        _line = _Line(publish)
    here = _line
    if here.owner != threading.get_ident():
        yield lambda _: None
        return
    stage = _Stage(name, total)
    here.stages.append(stage)
    here.write()
    try:
        yield lambda done: here.advance(stage, done)
    finally:
        here.stages.remove(stage)
        if outermost:
            _line = None
            here.end()
        else:
            here.write()
