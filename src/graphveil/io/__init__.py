"""Readers and writers: one module per family of formats, and the table `FORMATS` that lists them.

`load_network`, `load_bipartite` and `load_table` return data and a report of what was dropped; the
functions `read_...` return the data and warn. Names load when used, so that ``--help`` stays quick.
"""

from graphveil.core.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
