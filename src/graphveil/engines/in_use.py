"""Which engine runs the chunks of methods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from graphveil.engines.engine import Engine
from graphveil.engines.local import LocalEngine

_engine: ContextVar[Engine | None] = ContextVar("engine", default=None)


@contextmanager
def using(engine: Engine) -> Iterator[Engine]:
    """Run the chunks of methods called inside this block through an engine.

    Which engine runs them never changes a release. Without this, they run one after the other in
    the process that calls: a library starts no processes unless asked.

    Examples
    --------
    >>> with using(LocalEngine(jobs=1)) as engine:
    ...     list(engine.map_chunks(len, ["a", "bc"]))
    [1, 2]
    """
    token = _engine.set(engine)
    try:
        yield engine
    finally:
        _engine.reset(token)


def current() -> Engine:
    """Return the engine in use.

    Examples
    --------
    >>> current().jobs
    1
    """
    return _engine.get() or LocalEngine(jobs=1)
