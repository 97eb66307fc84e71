"""How kernels are compiled that allocate nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba.core.options
from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True}
if hasattr(getattr(numba.core.options, "DefaultOptions", None), "_nrt"):
    _OPTIONS["_nrt"] = False  # no public option of Numba's: where it is gone, kernels are slower


def leaf(kernel: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, and so needs no counts of references to arrays.

    With them a walk of small steps takes more than twice as long. An argument that is None takes
    the branches that ask for it out of the compiled code.
    """
    return cast("Kernel", njit(**_OPTIONS)(kernel))
