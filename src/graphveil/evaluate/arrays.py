"""Short names for the types of arrays, and SciPy's modules, which are loaded when they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.lazy import lazy_module

if TYPE_CHECKING:
    from scipy import sparse, special
    from scipy.sparse import csgraph
else:
    sparse, special = lazy_module("scipy.sparse"), lazy_module("scipy.special")
    csgraph = lazy_module("scipy.sparse.csgraph")

__all__ = ["Bools", "Floats", "Int32s", "Ints", "csgraph", "sparse", "special"]

Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
Int32s: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
