"""The array types of annotations, each defined once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
"""Whole numbers, positions, counts and offsets, int64."""

Floats: TypeAlias = NDArray[np.float64]
"""Real numbers, float64."""

Flags: TypeAlias = NDArray[np.bool_]
"""Truth values, one byte each."""

Nodes: TypeAlias = NDArray[np.int32]
"""Node positions, int32: ends of edges, and neighbors in adjacency lists."""

Words: TypeAlias = NDArray[np.uint64]
"""Random or packed words, uint64."""
