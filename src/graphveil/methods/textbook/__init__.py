"""Algorithms as the papers print them, for study and comparison: no release is made by them.

They load compiled code, so they are imported when they are first used.
"""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
