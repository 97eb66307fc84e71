"""Stages of work that may take long: a bar on a terminal, a line in a notebook, else silent.

Where nobody listens, a library says nothing; `heard` and `shown` listen, and a notebook does.

Code says ``with stage("reading"):`` or, where it can count, ``with stage("edits", total=m) as
advance:``. Whoever wants to show stages (the command line) works inside `shown`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from graphveil import notebook

Advance = Callable[[int], None]
Display = Callable[[str, int | None], AbstractContextManager[Advance]]


def _in_a_notebook(name: str, total: int | None) -> AbstractContextManager[Advance]:
    """Show a stage where a notebook runs this; else it is silent."""
    publisher = notebook.publisher()
    if publisher is None:
        return nullcontext(lambda _: None)
    return notebook.line(publisher.publish, name, total)


_notices: ContextVar[Callable[[str], None] | None] = ContextVar("notices", default=None)
_display: ContextVar[Display] = ContextVar("display", default=_in_a_notebook)


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
    with _display.get()(name, total) as advance:
        yield advance


def notice(text: str) -> bool:
    """Say something that a user who waits wants to know; returns whether somebody listens.

    The text is in words without a full stop. A new thread has no listener unless it gets one.

    Examples
    --------
    >>> with heard(print):
    ...     listened = notice("compiling once for this machine")
    compiling once for this machine
    >>> listened, notice("nobody hears this")
    (True, False)
    """
    say = _notices.get()
    if say is not None:
        say(text)
    return say is not None


@contextmanager
def heard(say: Callable[[str], None]) -> Iterator[None]:
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
    token = _notices.set(say)
    try:
        yield
    finally:
        _notices.reset(token)


@contextmanager
def shown(display: Display) -> Iterator[None]:
    """Show the stages inside this block through `display`."""
    token = _display.set(display)
    try:
        yield
    finally:
        _display.reset(token)
