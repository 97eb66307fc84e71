"""All kernels, for tests of how they are compiled."""

from __future__ import annotations

import importlib
import pkgutil

from numba.core.dispatcher import Dispatcher

import graphveil


def dispatchers():
    """Return {name: kernel} of all kernels, each in the module that defines it."""
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(graphveil.__path__, "graphveil.")
        if ".kernels." in module.name
    ]
    return {
        f"{module.__name__}.{name}": kernel
        for module in modules
        for name, kernel in vars(module).items()
        if isinstance(kernel, Dispatcher) and kernel.py_func.__module__ == module.__name__
    }
