"""The context of some work: listeners, the display of its stages, and its engine.

Code says ``with stage("reading"):`` or, if it can count, ``with stage("edits", total=m) as
advance:``. A library is silent if nobody listens; `heard` and `shown` listen, and a notebook shows
one line of plain text at a time. All of it is one value, the `Context`. A thread inherits the
context of its parent if it is started by `contextvars.copy_context().run`, as `asyncio.to_thread`
does; the process that started an engine's workers receives what they report.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from graphveil.core.visible import visible

T = TypeVar("T")

PATIENCE_SECONDS = 2.0
"""How long work may take before a line is shown."""

BETWEEN_SECONDS = 0.25
"""How long a line stands before it is written again."""

WIDTH = 30
"""The characters of a bar."""

_numbers = itertools.count()


def display_publisher() -> Any | None:
    """Return what publishes the output of the notebook that runs this; None where none does.

    >>> display_publisher() is None
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
        return f"{visible(self.name)}  [{bar}] {100 * share:.0f}%  {seconds:.0f} s"


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
    """Show a stage in the one line of output; a stage inside another replaces it for a while."""
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


LINES_EVERY = "GRAPHVEIL_PROGRESS"
"""The variable of the environment that asks for lines in place of bars: seconds between two."""

LINE_START = "graphveil: running: "
"""How such a line begins."""

Advance = Callable[[int], None]
Display = Callable[[str, int | None], AbstractContextManager[Advance]]


def _in_a_notebook(name: str, total: int | None) -> AbstractContextManager[Advance]:
    """Show a stage where a notebook runs this; else it is silent."""
    publisher = display_publisher()
    if publisher is None:
        return nullcontext(lambda _: None)
    return line(publisher.publish, name, total)


class OutOfTimeError(Exception):
    """Work has reached its deadline; it leaves no result."""


PATIENCE = 10
"""How many times as long work may take by the clock as in CPU time."""


_paused = [0.0]
"""CPU seconds of this process that were no work of a user's, added up."""


def pause(seconds: float) -> None:
    """Count some CPU time of this process as no work, such as compiling once for this machine."""
    _paused[0] += seconds


def worked() -> float:
    """Return how many CPU seconds this process has worked, compiling not counted.

    Differences of it decide what a run has time for: a busy machine or a first run changes nothing.

    >>> started = worked()
    >>> pause(2.0)
    >>> worked() - started < 0
    True
    """
    return time.process_time() - _paused[0]


class Deadline:
    """The end of the time that some work has, which asks for it itself.

    It is CPU time of this process, so that a busy machine changes no result; by the clock it is
    over after `PATIENCE` times as long, whatever else runs.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = worked() + seconds
        self._latest = time.monotonic() + PATIENCE * seconds

    @property
    def left(self) -> float:
        """How many seconds are left; below 0 where it is over."""
        return min(self._end - worked(), self._latest - time.monotonic())

    def check(self) -> None:
        """Stop the work if its time is over."""
        if self.left <= 0:
            raise OutOfTimeError


@dataclass(frozen=True, kw_only=True)
class Context:
    """What surrounds some work.

    `notices`: hears notices; None where nobody does; `display`: shows a stage of so many units;
    `engine`: runs chunks (see `graphveil.engines`); None where they run one after the other
    in the process that calls; `deadline`: ends the work; None where it may take as long as it
    likes; `work`: what all stages are part of: their names begin with it. Empty where each says
    enough.
    """

    notices: Callable[[str], None] | None = None
    display: Display = _in_a_notebook
    engine: Any = None
    deadline: Deadline | None = None
    work: str = ""


_NOTHING = Context()
_context: ContextVar[Context] = ContextVar("graphveil", default=_NOTHING)


def context() -> Context:
    """Return what surrounds the work of this thread.

    >>> context().engine is None
    True
    """
    return _context.get()


@contextmanager
def within(**changes: Any) -> Iterator[Context]:
    """Work inside this block in a context that differs in these fields.

    >>> with within(notices=print) as inner:
    ...     inner == context()
    True
    """
    token = _context.set(replace(_context.get(), **changes))
    try:
        yield _context.get()
    finally:
        _context.reset(token)


def check_time() -> None:
    """Stop the work of this thread if it has reached its deadline.

    >>> with within(deadline=Deadline(0.0)):
    ...     check_time()
    Traceback (most recent call last):
    ...
    graphveil.core.progress.OutOfTimeError
    """
    deadline = _context.get().deadline
    if deadline is not None:
        deadline.check()


def in_time(items: Iterable[T]) -> Iterator[T]:
    """Yield items, each once the deadline was checked: for loops whose rounds take long.

    >>> list(in_time(range(3)))
    [0, 1, 2]
    """
    for item in items:
        check_time()
        yield item


@contextmanager
def stage(name: str, *, total: int | None = None) -> Iterator[Advance]:
    """Announce a stage; yields a function that reports how many more units are done.

    The deadline is checked at its beginning, and whenever more is done.

    >>> with stage("counting", total=3) as advance:
    ...     advance(3)
    """
    check_time()
    here = _context.get()
    with here.display(f"{here.work}: {name}" if here.work else name, total) as advance:

        def advanced(done: int) -> None:
            advance(done)
            check_time()

        yield advanced


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Note how many seconds the work inside this block takes, once it is done.

    >>> seconds = {}
    >>> with timed(seconds, "read"):
    ...     pass
    >>> list(seconds)
    ['read']
    """
    started = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - started


def notice(text: str) -> bool:
    """Say something that a user who waits wants to know; returns whether someone listens.

    >>> with heard(print):
    ...     listened = notice("compiling once for this machine")
    compiling once for this machine
    >>> listened, notice("nobody hears this")
    (True, False)
    """
    say = _context.get().notices
    if say is not None:
        say(text)
    return say is not None


def heard(say: Callable[[str], None]) -> AbstractContextManager[Context]:
    """Pass the notices inside this block to `say`, such as that something is compiled.

    Parameters
    ----------
    say
        Gets every notice, a text without a full stop.

    Examples
    --------
    >>> from graphveil import Graph, KDegree
    >>> ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> notices = []
    >>> with heard(notices.append):
    ...     release = KDegree(k=2).anonymize(ring)
    """
    return within(notices=say)


def shown(display: Display) -> AbstractContextManager[Context]:
    """Show the stages inside this block through `display`."""
    return within(display=display)
