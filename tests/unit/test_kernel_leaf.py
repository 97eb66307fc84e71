"""Kernels that serve kernels alone refuse a call from Python; public ones have an entry."""

from __future__ import annotations

from operator import attrgetter

import pytest
from numba import int64
from numba.core.compiler import Flags

from graphveil.core.kernels._numba import LinkedCode, QuickFlags
from graphveil.core.kernels.leaf import leaf
from kernels_data import dispatchers


def _twice(value):
    return 2 * value


def twice(value):
    return 2 * value


_double = leaf(_twice)


code_of = attrgetter("library")


def quadruple(value):
    """Return four times the value."""
    return _double(_double(value))


def test_a_private_kernel_that_python_calls_is_an_error_and_not_the_end_of_the_process():
    with pytest.raises(TypeError, match="_twice is compiled for use by other kernels only"):
        leaf(_twice)(1)


def test_every_private_kernel_refuses_a_call_and_no_public_one_is_of_that_kind():
    refusing = type(leaf(_twice))
    kernels = dispatchers()
    private = {name for name in kernels if name.rpartition(".")[2].startswith("_")}
    assert len(private) > 50
    assert private == {name for name, kernel in kernels.items() if isinstance(kernel, refusing)}


def test_a_kernel_that_kernels_call_is_linked_into_them_without_code_of_its_own():
    assert 12 == leaf(quadruple)(3)
    _double.compile((int64,))
    compiled = _double.overloads[int64,]
    code = code_of(compiled)
    assert isinstance(code, LinkedCode)
    assert 0 == code.get_pointer_to_function(compiled.fndesc.mangled_name)


def test_quick_options_of_a_compilation_equal_those_that_they_stand_for_and_no_others():
    flags, others = Flags(), Flags()
    flags.nrt, others.nrt = True, False
    quick = QuickFlags(flags)
    assert isinstance(quick, QuickFlags)
    assert (quick, hash(quick)) == (flags, hash(flags))
    assert quick == QuickFlags(flags)
    assert quick != others
    assert quick != QuickFlags(others)
    assert quick != "flags"
