"""How kernels are compiled: as little as can be, since a first run waits for it.

Every option is said outright: a kernel that left one open would take it from whichever kernel calls
it first. A private kernel gets no entry from Python: only kernels can call it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numba.core.options
import numpy as np
from numba import njit

from graphveil.kernels.tiers import PrivateKernel, PublicKernel

_njit: Any = njit  # Numba's types do not name all its options
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_HAS_NRT = hasattr(getattr(numba.core.options, "DefaultOptions", None), "_nrt")
"""Whether Numba still has this option, no public one: where it is gone, kernels are slower."""

_TRIED = ("0.68",)
"""The versions of Numba on which `linked` was tried: it builds on names that are no public ones."""
_LINKS = numba.__version__.rpartition(".")[0] in _TRIED
"""Whether kernels that only kernels call get no machine code; else a first run takes longer."""


def _compiled(kernel: Callable[..., Any], *, counts: bool) -> Any:
    """Return a kernel that has an entry from Python only once Python calls it.

    What takes arguments out of Python objects is half of the code of a small kernel, and half of
    the time to compile it. Other kernels call a second compilation, which has none of it and is not
    kept on disk: whoever calls it is kept with it inside.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    if _HAS_NRT:
        options["_nrt"] = counts
    inner = {"no_cpython_wrapper": True, **options}
    if _LINKS:
        inner["pipeline_class"] = _linked().LinkedCompiler
    from_kernels = _njit(**inner)(kernel)
    if from_kernels is kernel:  # Numba is off
        return kernel
    from_kernels.__class__ = PrivateKernel
    private = kernel.__name__.startswith("_")
    from_python = from_kernels if private else _njit(cache=True, **options)(kernel)
    if _LINKS:
        for each in (from_kernels, from_python):
            each._compiler._customize_flags = _linked().quick_flags  # noqa: SLF001  as `_TRIED`
    if private:
        return from_kernels
    from_python.__class__ = PublicKernel
    from_python.get_call_template = from_kernels.get_call_template
    from_python.get_overload = from_kernels.get_overload
    return from_python


def _linked() -> Any:
    from graphveil.kernels import linked  # noqa: PLC0415  where Numba has what it builds on

    return linked


def allocating(kernel: Kernel) -> Kernel:
    """Compile a kernel that makes arrays."""
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


wide.__class__ = PublicKernel


ONE: int = np.int64(1)  # type: ignore[assignment]
MINUS_ONE: int = np.int64(-1)  # type: ignore[assignment]
ZERO: int = np.int64(0)  # type: ignore[assignment]
"""Numbers whose type is no constant's: a kernel is compiled once more for every constant."""
