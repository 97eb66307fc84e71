"""Small calls of kernels run as plain Python: compilation starts once it can pay.

To compile a kernel takes tenths of a second, to load a compiled one hundredths. What a network of a
hundred nodes asks of most kernels takes less than that. So each kernel called from Python adds up
the estimated steps of its calls, and runs as plain Python until they pass a threshold
(`_numba.FEW_STEPS`). The results are the same, bit for bit. What a kernel calls runs as the kernel
itself does.

A step is about a microsecond of plain Python. An estimate need not be exact: it decides when a
kernel is compiled, never what it returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from graphveil.core.kernels import seams

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def precompile() -> None:
    """Compile every kernel at its first call in this process, however little it has to do.

    Use it in a process that lives longer than one call, such as a server or a sweep: otherwise a
    later call may be the one that waits. Interactive sessions, such as a notebook, do so by
    themselves.

    Examples
    --------
    >>> import graphveil as gv
    >>> gv.precompile()
    """
    if seams is not None:
        seams.TieredKernel.few_steps = -1


if hasattr(sys, "ps1") or sys.flags.interactive:
    precompile()


def entries(*arguments: object) -> int:
    """Return the total number of entries of all arrays among the arguments, in tuples too.

    Examples
    --------
    >>> entries(np.zeros(3), (np.zeros((2, 2)), 7))
    7
    """
    return sum(
        each.size if isinstance(each, np.ndarray) else entries(*each)
        for each in arguments
        if isinstance(each, (np.ndarray, tuple))
    )


def tiered(steps_of: Callable[..., int] = entries) -> Callable[[Kernel], Kernel]:
    """Return a decorator: run a kernel as plain Python until its calls came to many steps.

    Parameters
    ----------
    steps_of
        From the arguments of a call to about how many steps it takes; by default the entries of all
        arrays.
    """

    def tier(kernel: Kernel) -> Kernel:
        if seams is not None:
            dispatcher: Any = kernel
            dispatcher.__class__ = seams.TieredKernel
            dispatcher.steps_of = steps_of
        return kernel

    return tier


def for_each_entry(steps: float) -> Callable[..., int]:
    """Return an estimate for `tiered`: this many steps for each entry of the arrays.

    Examples
    --------
    >>> for_each_entry(0.5)(np.zeros(8))
    4
    """
    return lambda *arguments: int(steps * entries(*arguments))


def for_each_call(steps: int) -> Callable[..., int]:
    """Return an estimate for `tiered`: this many steps, whatever the arguments are.

    Examples
    --------
    >>> for_each_call(5)(np.zeros(8))
    5
    """
    return lambda *_arguments: steps
