"""A run larger than memory: rows on the disk, chunks over an engine, a release folder."""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
