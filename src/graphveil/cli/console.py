"""What people see: results on stdout, everything else on stderr; bars only on a terminal."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import msgspec

from graphveil.core.hints import Message
from graphveil.core.progress import LINE_START, LINES_EVERY, Advance, Display
from graphveil.core.visible import visible, visible_json

if TYPE_CHECKING:
    from rich.progress import TaskID

PATIENCE_SECONDS = 2.0
"""How long a stage may take before a bar is shown."""


def say(text: str) -> None:
    """Print one line to stderr, its options as flags: progress, warnings, summaries."""
    print(visible(_as_flags(text)), file=sys.stderr)  # noqa: T201  the command line speaks here


def _as_flags(text: str) -> str:
    return text.flags if isinstance(text, Message) else text


def result(text: str) -> None:
    """Print one line to stdout, of what was asked for, options in it as flags."""
    print(visible(_as_flags(text)))  # noqa: T201  the command line answers here


def result_json(value: Any) -> None:
    """Print a value to stdout as JSON, for the next program in the pipe."""
    raw = msgspec.json.format(msgspec.json.encode(value, enc_hook=_as_flags), indent=2)
    print(visible_json(raw.decode()))  # noqa: T201  as above


def result_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Iterable[int] = (),
    whole: Iterable[int] = (),
) -> None:
    """Print a table to stdout; text from data or files is shown as it is, never as markup."""
    from rich import box  # noqa: PLC0415  loaded when a table is printed
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    aligned_right, on_one_line = set(right), set(whole)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(columns):
        table.add_column(
            name,
            justify="right" if number in aligned_right else "left",
            overflow="fold",
            no_wrap=number in on_one_line,
        )
    for row in rows:
        table.add_row(*(Text(visible(str(cell))) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160, no_color=True)
    console.print(table)


class TerminalBars:
    """The bars of stages inside each other: the innermost alone is shown, on one line.

    They appear once the outermost stage has taken two seconds.
    """

    def __init__(self) -> None:
        self.tasks: list[TaskID] = []

    @contextmanager
    def __call__(self, name: str, total: int | None) -> Iterator[Advance]:
        """Show a stage instead of the one around it."""
        if self.tasks:
            self.progress.update(self.tasks[-1], visible=False)
        else:
            self._start()
        task = self.progress.add_task(visible(name), total=total)
        self.tasks.append(task)
        try:
            yield lambda done: self.progress.advance(task, done)
        finally:
            self._end()

    def _start(self) -> None:
        from rich.console import Console  # noqa: PLC0415  loaded when a bar may be shown
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        words = TextColumn("{task.description}", markup=False)
        columns = (SpinnerColumn(), words, BarColumn(), TimeRemainingColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.starter = threading.Timer(PATIENCE_SECONDS, self.progress.start)
        self.starter.daemon = True
        self.starter.start()
        self.started = time.monotonic()

    def _end(self) -> None:
        """Show the stage around the one that ends; without one, nothing."""
        self.progress.remove_task(self.tasks.pop())
        if self.tasks:
            self.progress.update(self.tasks[-1], visible=True)
            return
        self.starter.cancel()
        if time.monotonic() - self.started >= PATIENCE_SECONDS:
            self.starter.join()
            self.progress.stop()


class Lines:
    """A line on stderr for the innermost stage, at most one in so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.said = time.monotonic()

    @contextmanager
    def __call__(self, name: str, total: int | None) -> Iterator[Advance]:
        """Say how far a stage is."""
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            self._say(name if total is None else f"{name}, {done:,} of {total:,}")

        advance(0)
        yield advance

    def _say(self, text: str) -> None:
        if time.monotonic() - self.said >= self.seconds:
            self.said = time.monotonic()
            print(f"{LINE_START}{visible(text)}", file=sys.stderr)  # noqa: T201  as `say`


def bars() -> Display:
    """Return what shows stages: bars on a terminal, anywhere else lines where they are asked for.

    The environment asks for them: `LINES_EVERY` is the number of seconds between two.
    """
    if sys.stderr.isatty():
        return TerminalBars()
    try:
        return Lines(float(os.environ[LINES_EVERY]))
    except (KeyError, ValueError):
        pass
    return lambda _name, _total: nullcontext(lambda _: None)
