"""The decorators of kernels: compile as little as possible, since a first run waits for it.

Choose `leaf` for a kernel that allocates no array, and `allocating` for one that does. A name that
begins with an underscore marks a kernel that only kernels call: it gets no entry from Python.
Kernels are compiled once for each combination of argument types; an argument that is None is a type
of its own, so that an optional part of a state costs nothing where it is absent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from graphveil.core.kernels import seams

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def _compiled(kernel: Callable[..., Any], *, counts: bool) -> Any:
    if seams is not None:
        return seams.compiled(kernel, counts=counts)
    # Without the private names: Numba's own cache, one compilation for all callers.
    plain: Any = njit(cache=True, nogil=True, error_model="numpy")(kernel)
    if plain is kernel:  # Numba is off: numbers wrap round without a word, as compiled ones do
        return np.errstate(all="ignore")(kernel)
    return plain


def allocating(kernel: Kernel) -> Kernel:
    """Compile a kernel that makes arrays; a private one gets no entry from Python.

    It counts references to arrays, which `leaf` does without.
    """
    return cast("Kernel", _compiled(kernel, counts=True))


def leaf(kernel: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, and so needs no counts of references to arrays.

    With them it takes up to half as long again to compile, and a walk of small steps more than
    twice as long to run. An argument that is None takes the branches that ask for it out of the
    compiled code.
    """
    return cast("Kernel", _compiled(kernel, counts=False))


@njit(inline="always")
def wide(value: int) -> int:
    """Return the value in 64 bits, so that one compiled version of a kernel serves all callers."""
    return np.int64(value)  # type: ignore[return-value]


if seams is not None:
    wide.__class__ = seams.PublicKernel


ONE: int = np.int64(1)  # type: ignore[assignment]
MINUS_ONE: int = np.int64(-1)  # type: ignore[assignment]
ZERO: int = np.int64(0)  # type: ignore[assignment]
"""The integers 1, -1 and 0 with the type of a variable.

Numba compiles a kernel once more for every literal that it is called with; these avoid that.
"""
