"""What all kernels share: how they are compiled, cached and run.

Only folders ``kernels`` import Numba. A kernel is a compiled loop over arrays. It is in the folder
``kernels`` of the method or measure that it serves. It takes arrays and a few numbers, never
raises, and says in its docstring which arguments it writes. Its result does not depend on the
number of threads.

- `leaf`: the two decorators, `leaf` for kernels that allocate nothing and `allocating` for others.
- `tiers`: small calls run as plain Python, since compiling would take longer.
- `arrays`: sorting, a hash table, bits and bounded random numbers for use inside kernels.
- `cache`: in which folder compiled code is kept, and who may have written it.
- `_numba`: everything that depends on private names of Numba.

Kernels release the interpreter lock, so that a progress bar moves while they run. With
``NUMBA_DISABLE_JIT=1`` they run as plain Python; with a version of Numba that was not tried, they
are compiled as Numba does it by default. The results are the same in all cases.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numba

from graphveil.core.kernels.cache import use_own_folder


def _seams() -> ModuleType | None:
    """Return the module with private names of Numba; None if one is gone, or Numba is off."""
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
