"""What surrounds some work: who hears of it, who shows its stages, and what runs its chunks.

Code says ``with stage("reading"):`` or, where it can count, ``with stage("edits", total=m) as
advance:``. Where nobody listens, a library says nothing; `heard` and `shown` listen, and a notebook
does. All of it is one value, the `Context`. A thread has that of its parent where it is started by
`contextvars.copy_context().run`, as `asyncio.to_thread` does; what processes of an engine notice is
heard in the process that started them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from graphveil import notebook

LINES_EVERY = "GRAPHVEIL_PROGRESS"
"""The variable of the environment that asks for lines in place of bars: seconds between two."""

LINE_START = "graphveil: at work: "
"""How such a line begins."""

Advance = Callable[[int], None]
Display = Callable[[str, int | None], AbstractContextManager[Advance]]


def _in_a_notebook(name: str, total: int | None) -> AbstractContextManager[Advance]:
    """Show a stage where a notebook runs this; else it is silent."""
    publisher = notebook.publisher()
    if publisher is None:
        return nullcontext(lambda _: None)
    return notebook.line(publisher.publish, name, total)


@dataclass(frozen=True, kw_only=True)
class Context:
    """What surrounds some work.

    Parameters
    ----------
    notices
        Hears notices; None where nobody does.
    display
        Shows a stage of so many units.
    engine
        Runs chunks (see `graphveil.engines`); None where they run one after the other in the
        process that calls.
    """

    notices: Callable[[str], None] | None = None
    display: Display = _in_a_notebook
    engine: Any = None


_NOTHING = Context()
_context: ContextVar[Context] = ContextVar("graphveil", default=_NOTHING)


def context() -> Context:
    """Return what surrounds the work of this thread.

    Examples
    --------
    >>> context().engine is None
    True
    """
    return _context.get()


@contextmanager
def within(**changes: Any) -> Iterator[Context]:
    """Work inside this block in a context that differs in these fields.

    Examples
    --------
    >>> with within(notices=print) as inner:
    ...     inner == context()
    True
    """
    token = _context.set(replace(_context.get(), **changes))
    try:
        yield _context.get()
    finally:
        _context.reset(token)


@contextmanager
def stage(name: str, *, total: int | None = None) -> Iterator[Advance]:
    """Announce a stage; yields a function that reports how many more units are done.

    Parameters
    ----------
    name
        What is going on, in a word or two.
    total
        The number of units, where it is known.

    Examples
    --------
    >>> with stage("counting", total=3) as advance:
    ...     advance(3)
    """
    with _context.get().display(name, total) as advance:
        yield advance


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Note how many seconds the work inside this block takes, once it is done.

    Examples
    --------
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
    """Say something that a user who waits wants to know; returns whether somebody listens.

    The text is in words without a full stop.

    Examples
    --------
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
