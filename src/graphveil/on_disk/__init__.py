"""A run larger than memory: rows on the disk, chunks over an engine, a release folder."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.on_disk.run import anonymize_file

__all__ = ["anonymize_file"]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'graphveil.on_disk' has no attribute {name!r}")
    return getattr(import_module("graphveil.on_disk.run"), name)
