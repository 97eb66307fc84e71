"""A database that is emptied after every use: to open one takes longer than to count a few rows."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from graphveil.verify.database import Database, database
from graphveil.verify.evidence import Evidence
from graphveil.verify.kinds.registry import CHECKED_KINDS
from graphveil.verify.verdict import LIMIT_BYTES


@cache
def _shared() -> Database:
    """Return a database of the checker's own, which may read what lies among temporary files."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(database([Path(tempfile.gettempdir())], size=0))


@contextmanager
def emptied_database(
    folders: object = (), *, limit_bytes: int = LIMIT_BYTES, size: object = None
) -> Iterator[Database]:
    """Give a database without tables, as `database` does; what is made in it goes afterwards.

    What the checker would leave behind makes the next use fail: no name can be taken twice.
    """
    del folders, size
    db = _shared()
    assert not db._tables
    db._limit_bytes = limit_bytes
    try:
        yield db
    finally:
        for kind in ("VIEW", "TABLE"):
            for name in [name for name, made in db._tables.items() if made == kind]:
                db.run(f"DROP {kind} {name}")
        for alias in db._folder.iterdir():
            alias.unlink()


def of_a_graph(db: Database) -> Evidence:
    """Return what there is of a release of a graph: its tables, and that it has no layers."""
    manifest: Any = SimpleNamespace(data=SimpleNamespace(layers=None))
    return Evidence(manifest, CHECKED_KINDS["graph"], db)
