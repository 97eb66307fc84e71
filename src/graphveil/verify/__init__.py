"""The independent checker: a release is verified from its files, by SQL.

It shares no code with methods, kernels, measures or the readers and writers of `graphveil.io`.
"""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
