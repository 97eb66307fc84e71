"""Heavy libraries, each imported when one of its names is first used.

Asking for help loads none of them, and a run only those that it uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.core.lazy import lazy_module

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import rustworkx as rx
    from pyarrow import parquet
    from scipy import optimize, sparse, special
    from scipy.sparse import csgraph, linalg
    from scipy.spatial import distance
else:
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")
    parquet = lazy_module("pyarrow.parquet")
    rx = lazy_module("rustworkx")
    sparse = lazy_module("scipy.sparse")
    csgraph = lazy_module("scipy.sparse.csgraph")
    linalg = lazy_module("scipy.sparse.linalg")
    distance = lazy_module("scipy.spatial.distance")
    optimize = lazy_module("scipy.optimize")
    special = lazy_module("scipy.special")

__all__ = [
    "csgraph",
    "distance",
    "linalg",
    "optimize",
    "pa",
    "parquet",
    "pc",
    "rx",
    "sparse",
    "special",
]
