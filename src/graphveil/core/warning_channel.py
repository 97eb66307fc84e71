"""The one channel of warnings: each is given once a run, and names the caller's line."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from graphveil.core.errors import GraphveilError, GraphveilWarning
from graphveil.core.hints import Message


@contextmanager
def as_argument_of(call: str) -> Iterator[None]:
    """Have errors raised inside of this spell their options in Python as arguments of this call.

    Parameters
    ----------
    call
        The call as far as its next argument.

    Examples
    --------
    >>> from graphveil.core.errors import DataError
    >>> from graphveil.core.hints import option
    >>> try:
    ...     with as_argument_of("graphveil.Graph.from_networkx(data, "):
    ...         raise DataError(f"say {option('directed', 'symmetrize')}")
    ... except DataError as error:
    ...     print(error)
    say graphveil.Graph.from_networkx(data, directed="symmetrize")
    """
    try:
        yield
    except GraphveilError as error:
        error.call = error.call or call
        raise


_OURS = {"graphveil", "contextlib"}
"""Modules whose lines tell nobody where a warning comes from."""


_SAID: ContextVar[set[str] | None] = ContextVar("said", default=None)
"""What was said in the block of `each_once` that is being run."""


@contextmanager
def each_once() -> Iterator[None]:
    """Warn of each text once within the block, however often `warn` is called with it.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught, each_once():
    ...     warnings.simplefilter("always")
    ...     warn("mind the gap")
    ...     warn("mind the gap")
    >>> len(caught)
    1
    """
    token = _SAID.set(set() if (said := _SAID.get()) is None else said)
    try:
        yield
    finally:
        _SAID.reset(token)


def warn(text: str, kind: type[GraphveilWarning] | None = None) -> None:
    """Warn the owner of the data, at the line of the first caller outside of the package.

    Parameters
    ----------
    text
        What is said.
    kind
        The class of the warning. Where not given: that of the text, if it knows one.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("mind the gap")
    >>> caught[0].category.__name__, str(caught[0].message)
    ('GraphveilWarning', 'mind the gap')
    """
    said = _SAID.get()
    if said is not None:
        if text in said:
            return
        said.add(text)
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    category = kind or getattr(text, "kind", None) or GraphveilWarning
    text = text.text if isinstance(text, Message) else text
    warnings.warn(category(text), stacklevel=level)
