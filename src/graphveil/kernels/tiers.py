"""Little work runs as plain Python: a kernel is compiled once its calls came to many steps.

To compile a kernel takes tenths of a second, to load a compiled one hundredths; what a network of a
hundred nodes asks of most of them takes less. The result is the same, bit for bit. What a kernel
calls runs as the kernel itself does. A step is about a microsecond of plain Python.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numba.core.registry import CPUDispatcher

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

FEW_STEPS = 100_000
"""After so many steps, a tenth of a second, a kernel is compiled: that takes longer."""


class _Thread(threading.local):
    """How this thread runs kernels."""

    interprets = False


_thread = _Thread()


class PublicKernel(CPUDispatcher):
    """A kernel that Python calls."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        """Let another process take the kernel of this name from its module."""
        return _kernel_of, (self.py_func.__module__, self.py_func.__name__)

    def __call__(self, *arguments: object) -> Any:
        """Run it compiled, or as the kernel that calls it runs."""
        if _thread.interprets:
            return self.py_func(*arguments)
        return super().__call__(*arguments)


class PrivateKernel(CPUDispatcher):
    """A kernel without an entry from Python, where a compiled call would end the process."""

    def __call__(self, *arguments: object) -> Any:
        """Run it for a kernel that runs as Python; refuse it to any other caller."""
        if _thread.interprets:
            return self.py_func(*arguments)
        raise TypeError(
            f"{self.py_func.__name__} is compiled for other kernels alone, not for Python. "
            "Call a kernel that uses it."
        )


class TieredKernel(PublicKernel):
    """A kernel that is compiled once its calls came to many steps."""

    few_steps = FEW_STEPS
    steps_of: Callable[..., int]
    steps = 0

    def __call__(self, *arguments: object) -> Any:
        """Run it as Python while its steps are few."""
        if not _thread.interprets and self.steps <= self.few_steps:
            self.steps += self.steps_of(*arguments)
            if self.steps <= self.few_steps:
                return self.interpreted(*arguments)
        return super().__call__(*arguments)

    def interpreted(self, *arguments: object) -> Any:
        """Run it as Python, where numbers wrap round without a word as compiled ones do."""
        _thread.interprets = True
        try:
            with np.errstate(all="ignore"):
                return self.py_func(*arguments)
        finally:
            _thread.interprets = False


def _kernel_of(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def compile_at_once() -> None:
    """Let this process compile every kernel that is called, however little it has to do."""
    TieredKernel.few_steps = -1


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
        if isinstance(kernel, PublicKernel):  # else Numba is off
            dispatcher: Any = kernel
            dispatcher.__class__ = TieredKernel
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
