"""Readers and writers: one module per family of formats, and the table `FORMATS` that lists them.

`load_graph`, `load_bipartite` and `load_table` return data and a report of what was dropped;
`read_graph`, `read_bipartite` and `read_table` return the data and warn. Names load when used, so
that ``--help`` stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.lazy import lazy_names

if TYPE_CHECKING:
    from graphveil.io.formats import FORMATS as FORMATS
    from graphveil.io.formats import Format as Format
    from graphveil.io.formats import compression_of as compression_of
    from graphveil.io.formats import format_of as format_of
    from graphveil.io.kinds import columns_of as columns_of
    from graphveil.io.options import AnyOptions as AnyOptions
    from graphveil.io.options import BipartiteOptions as BipartiteOptions
    from graphveil.io.options import GraphOptions as GraphOptions
    from graphveil.io.options import TableOptions as TableOptions
    from graphveil.io.reading import kind_read as kind_read
    from graphveil.io.reading import load as load
    from graphveil.io.reading import load_bipartite as load_bipartite
    from graphveil.io.reading import load_graph as load_graph
    from graphveil.io.reading import load_table as load_table
    from graphveil.io.reading import options_of as options_of
    from graphveil.io.reading import read as read
    from graphveil.io.reading import read_bipartite as read_bipartite
    from graphveil.io.reading import read_graph as read_graph
    from graphveil.io.reading import read_table as read_table
    from graphveil.io.report import Reading as Reading
    from graphveil.io.report import ReadingReport as ReadingReport
    from graphveil.io.writing import write as write

_HOMES = {
    "AnyOptions": "graphveil.io.options",
    "BipartiteOptions": "graphveil.io.options",
    "FORMATS": "graphveil.io.formats",
    "Format": "graphveil.io.formats",
    "GraphOptions": "graphveil.io.options",
    "Reading": "graphveil.io.report",
    "ReadingReport": "graphveil.io.report",
    "TableOptions": "graphveil.io.options",
    "columns_of": "graphveil.io.kinds",
    "compression_of": "graphveil.io.formats",
    "format_of": "graphveil.io.formats",
    "kind_read": "graphveil.io.reading",
    "load": "graphveil.io.reading",
    "load_bipartite": "graphveil.io.reading",
    "load_graph": "graphveil.io.reading",
    "load_table": "graphveil.io.reading",
    "options_of": "graphveil.io.reading",
    "read": "graphveil.io.reading",
    "read_bipartite": "graphveil.io.reading",
    "read_graph": "graphveil.io.reading",
    "read_table": "graphveil.io.reading",
    "write": "graphveil.io.writing",
}
"""Where every public name is defined; the imports above say the same to type checkers."""

__all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
