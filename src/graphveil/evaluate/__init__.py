"""What a release kept: metrics over released files and the original, never a method's internals."""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
