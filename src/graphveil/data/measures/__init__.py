"""Structural measures: which nodes look alike to someone who knows a little of the network."""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
