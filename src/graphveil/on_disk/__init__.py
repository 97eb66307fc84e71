"""A run larger than memory: rows on the disk, chunks over an engine, a release folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.lazy import lazy_names

if TYPE_CHECKING:
    from graphveil.on_disk.run import anonymize_file as anonymize_file

__all__, __getattr__, __dir__ = lazy_names(__name__, {"anonymize_file": "graphveil.on_disk.run"})
