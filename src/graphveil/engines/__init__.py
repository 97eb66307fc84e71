"""Where the work is done: chunks over processes, sorting past memory."""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
