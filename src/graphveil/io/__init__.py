"""Readers and writers: one module per family of formats, and the table `FORMATS` that lists them.

`load_graph`, `load_bipartite` and `load_table` return data and a report of what was dropped;
`read_graph`, `read_bipartite` and `read_table` return the data and warn. Names load when used, so
that ``--help`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.io.formats import FORMATS, Format, compression_of, format_of
    from graphveil.io.options import BipartiteOptions, GraphOptions, TableOptions
    from graphveil.io.reading import (
        load_bipartite,
        load_graph,
        load_table,
        read,
        read_bipartite,
        read_graph,
        read_table,
    )
    from graphveil.io.report import Reading, ReadingReport
    from graphveil.io.writing import write_bipartite, write_graph, write_table

_HOMES = {
    "formats": ("FORMATS", "Format", "compression_of", "format_of"),
    "options": ("BipartiteOptions", "GraphOptions", "TableOptions"),
    "reading": (
        "load_bipartite",
        "load_graph",
        "load_table",
        "read",
        "read_bipartite",
        "read_graph",
        "read_table",
    ),
    "report": ("Reading", "ReadingReport"),
    "writing": ("write_bipartite", "write_graph", "write_table"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "FORMATS",
    "BipartiteOptions",
    "Format",
    "GraphOptions",
    "Reading",
    "ReadingReport",
    "TableOptions",
    "compression_of",
    "format_of",
    "load_bipartite",
    "load_graph",
    "load_table",
    "read",
    "read_bipartite",
    "read_graph",
    "read_table",
    "write_bipartite",
    "write_graph",
    "write_table",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'graphveil.io' has no attribute {name!r}")
    return getattr(import_module(f"graphveil.io.{_HOME[name]}"), name)
