"""graphveil: publish networks, tables and user-item data, with guarantees that can be checked.

The way of the data::

    file -> read -> Graph | Bipartite | Table -> method.anonymize -> Release -> write -> folder
                                                  verify, evaluate <-------------------- |

Names are loaded when they are first used, so that importing the package is cheap.

Examples
--------
>>> import graphveil as gv
>>> graph = gv.Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
>>> release = gv.KDegree(k=2).anonymize(graph)
>>> release.verify(graph).ok
True
"""

from graphveil.core.lazy import lazy_names

__all__, _load, __dir__ = lazy_names(__name__, __file__)


def __getattr__(name: str) -> object:
    """Return a public name, or a warning by the short name that `gv.warnings` has it under."""
    if name.endswith("Warning") and name not in __all__:
        return getattr(_load("warnings"), name)
    return _load(name)
