"""Stages of work that may take long: silent in a library, a bar on a terminal.

Where nobody listens, a library says nothing; `heard` and `shown` listen.

Code says ``with stage("reading"):`` or, where it can count, ``with stage("edits", total=m) as
advance:``. Whoever wants to show stages (the command line) works inside `shown`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Advance = Callable[[int], None]
Display = Callable[[str, int | None], AbstractContextManager[Advance]]


def _silent(name: str, total: int | None) -> AbstractContextManager[Advance]:
    del name, total
    return nullcontext(lambda _: None)


def _unheard(text: str) -> None:
    del text


_notices: ContextVar[Callable[[str], None]] = ContextVar("notices", default=_unheard)
_display: ContextVar[Display] = ContextVar("display", default=_silent)


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


def notice(text: str) -> None:
    """Say something that a user who waits wants to know, in words without a full stop.

    Examples
    --------
    >>> with heard(print):
    ...     notice("compiling once for this machine, about 8 s")
    compiling once for this machine, about 8 s
    """
    _notices.get()(text)


@contextmanager
def heard(say: Callable[[str], None]) -> Iterator[None]:
    """Pass the notices inside this block to `say`."""
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
