"""What an attacker still learns: attacks on released files, next to guesses without them."""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
