"""Little work runs as plain Python: a kernel is compiled once its calls came to many steps.

To compile a kernel takes tenths of a second, to load a compiled one hundredths; what a network of a
hundred nodes asks of most of them takes less. The result is the same, bit for bit. What a kernel
calls runs as the kernel itself does. A step is about a microsecond of plain Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from graphveil.core.kernels import seams

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def precompile() -> None:
    """Let this process compile every kernel that is called, however little it has to do.

    For a process that lives longer than one call, as a server's or a sweep's: else its second call
    may be the one that waits. One with a prompt, as a notebook's, does so by itself.

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
    """Return how many entries the arrays have that a kernel is given, those in tuples included.

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
    """Run a kernel as plain Python until its calls came to many steps.

    Parameters
    ----------
    steps_of
        From the arguments of a call, about how many steps it takes.
    """

    def tier(kernel: Kernel) -> Kernel:
        if seams is not None:
            dispatcher: Any = kernel
            dispatcher.__class__ = seams.TieredKernel
            dispatcher.steps_of = steps_of
        return kernel

    return tier


def for_each_entry(steps: float) -> Callable[..., int]:
    """Return a rule: so many steps for each entry of the arrays.

    Examples
    --------
    >>> for_each_entry(0.5)(np.zeros(8))
    4
    """
    return lambda *arguments: int(steps * entries(*arguments))


def for_each_call(steps: int) -> Callable[..., int]:
    """Return a rule: so many steps, whatever is given.

    Examples
    --------
    >>> for_each_call(5)(np.zeros(8))
    5
    """
    return lambda *_arguments: steps
