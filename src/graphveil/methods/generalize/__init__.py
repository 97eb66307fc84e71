"""Local recoding of tables by hierarchies: classes of equal rows that lose little.

`method` is the method; the rest is functions of tables, which claim nothing.
"""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
