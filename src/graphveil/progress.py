"""Stages of work that may take long: silent in a library, a bar on a terminal.

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


@contextmanager
def shown(display: Display) -> Iterator[None]:
    """Show the stages inside this block through `display`."""
    token = _display.set(display)
    try:
        yield
    finally:
        _display.reset(token)
