"""The published methods: `METHODS` lists them by name, each is a module or a room here."""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
