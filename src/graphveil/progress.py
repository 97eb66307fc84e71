"""Stages of work that may take long: silent in a library, a bar on a terminal.

Code says ``with stage("reading"):`` or, where it can count, ``with stage("edits", total=m) as
advance:``. Whoever wants to show it (the command line) sets `show` once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Advance = Callable[[int], None]
Shower = Callable[[str, int | None], AbstractContextManager[Advance]]


def _silent(name: str, total: int | None) -> AbstractContextManager[Advance]:
    del name, total
    return nullcontext(lambda _: None)


_shower: ContextVar[Shower] = ContextVar("shower", default=_silent)


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
    with _shower.get()(name, total) as advance:
        yield advance


@contextmanager
def shown(shower: Shower) -> Iterator[None]:
    """Show the stages inside this block through `shower`."""
    token = _shower.set(shower)
    try:
        yield
    finally:
        _shower.reset(token)
