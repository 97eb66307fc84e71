"""Kernels that serve kernels alone refuse a call from Python; public ones have an entry."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from numba import njit
from numba.core.dispatcher import Dispatcher

import graphveil.kernels
from graphveil.kernels.inlined import NOWHERE
from graphveil.kernels.leaf import leaf


def _twice(value):
    return 2 * value


def test_a_private_kernel_gets_no_machine_code_of_its_own_and_works_in_its_caller():
    inner = leaf(_twice)

    @njit
    def outer(value):
        return inner(value) + 1

    assert 43 == outer(21)
    for kernel, has_code in ((inner, False), (outer, True)):
        (compiled,) = kernel.overloads.values()
        address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        assert has_code == (address != NOWHERE)


def dispatchers():
    """Return {name: kernel} of all kernels, each in the module that defines it."""
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(graphveil.kernels.__path__, "graphveil.kernels.")
    ]
    return {
        f"{module.__name__}.{name}": kernel
        for module in modules
        for name, kernel in vars(module).items()
        if isinstance(kernel, Dispatcher) and kernel.py_func.__module__ == module.__name__
    }


def test_a_private_kernel_that_python_calls_is_an_error_and_not_the_end_of_the_process():
    with pytest.raises(TypeError, match="_twice is compiled for other kernels alone"):
        leaf(_twice)(1)


def test_every_private_kernel_refuses_a_call_and_no_public_one_is_of_that_kind():
    refusing = type(leaf(_twice))
    kernels = dispatchers()
    private = {name for name in kernels if name.rpartition(".")[2].startswith("_")}
    assert len(private) > 50
    assert private == {name for name, kernel in kernels.items() if isinstance(kernel, refusing)}
