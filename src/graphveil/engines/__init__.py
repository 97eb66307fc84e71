"""Where the work is done: chunks over processes, sorting past memory."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.engines.engine import Engine, current, using
    from graphveil.engines.local import LocalEngine

_HOME = {"Engine": "engine", "LocalEngine": "local", "current": "engine", "using": "engine"}

__all__ = ["Engine", "LocalEngine", "current", "using"]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'graphveil.engines' has no attribute {name!r}")
    return getattr(import_module(f"graphveil.engines.{_HOME[name]}"), name)
