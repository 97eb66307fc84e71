"""Local recoding of tables by hierarchies: classes of equal rows that lose little."""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
