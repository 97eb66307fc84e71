"""What all kernels share: how they are compiled and kept. Only folders ``kernels`` import Numba.

A kernel is a compiled loop: arrays in, arrays out. It is next to the method that it serves.

Kernels let go of the interpreter lock, so that a progress bar moves while they run. With
``NUMBA_DISABLE_JIT=1`` they run as Python; with a Numba that was not tried, as it compiles them.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numba

from graphveil.core.kernels.cache import use_own_folder


def _seams() -> ModuleType | None:
    """Return what builds on private names of Numba; None where one is gone, or Numba is off."""
    config: Any = numba.config  # its names are set when it is loaded
    if config.DISABLE_JIT:
        return None
    try:
        from graphveil.core.kernels import _numba  # noqa: PLC0415  where Numba has what it builds on
    except (ImportError, AttributeError):
        return None
    use_own_folder(_numba)
    return _numba


seams = _seams()
