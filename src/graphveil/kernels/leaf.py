"""How kernels are compiled: quickly where only other kernels call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba.core.options
from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_DEFAULTS = getattr(numba.core.options, "DefaultOptions", None)
_NO_COUNTS: dict[str, Any] = {"_nrt": False} if hasattr(_DEFAULTS, "_nrt") else {}
"""No public option of Numba's: where it is gone, kernels are slower."""
_njit: Any = njit  # Numba's types do not name all its options


def leaf(kernel: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, and so needs no counts of references to arrays.

    With them a walk of small steps takes more than twice as long. An argument that is None takes
    the branches that ask for it out of the compiled code.
    """
    return cast("Kernel", _compiled(kernel, **_NO_COUNTS))


def branch(kernel: Kernel) -> Kernel:
    """Compile a kernel that allocates arrays."""
    return cast("Kernel", _compiled(kernel))


def _compiled(kernel: Callable[..., Any], **options: bool) -> Any:
    """Return a kernel that has a way in from Python only once Python calls it.

    What takes arguments out of Python objects is half of the code of a small kernel, and takes half
    of the time to compile it. Other kernels call a second compilation, which has none of it and is
    not kept on disk: whoever calls it is kept with it inside.
    """
    options |= {"nogil": True, "no_cfunc_wrapper": True}
    from_python = _njit(cache=True, **options)(kernel)
    from_kernels = _njit(no_cpython_wrapper=True, **options)(kernel)
    if from_kernels is not kernel:  # else Numba is switched off
        from_python.get_call_template = from_kernels.get_call_template
        from_python.get_overload = from_kernels.get_overload
    return from_python
