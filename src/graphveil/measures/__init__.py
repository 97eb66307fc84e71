"""Structural measures: which nodes look the same to an attacker who knows a little."""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
