"""How a kernel is compiled that only kernels call: it gets no machine code of its own.

Numba optimizes every kernel and makes machine code of it, and does both again for each kernel that
it is linked into. What Python never calls needs neither: it is optimized with its callers. That
takes a fifth off a first run. The names of Numba that this builds on are no public ones.
"""

# mypy: disable-error-code="misc,no-untyped-call,no-any-return"
# Numba has no types here.
from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags


class _WithoutEnvironment:
    """Stands for the code generator where what only raising and printing asks for is set up."""

    def set_env(self, env_name: str, env: object) -> None:
        """Set nothing: there is no code that was loaded."""


class LinkedCode(JITCodeLibrary):
    """The code of a kernel that waits to be linked into others; it is never loaded."""

    @property
    def codegen(self) -> Any:
        """What sets up loaded code."""
        return _WithoutEnvironment()

    def _optimize_final_module(self) -> None:
        """Leave it to whoever it is linked into."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return no address of the entry from Python, since there is none."""
        del name
        self._ensure_finalized()
        return 0


class LinkedCompiler(CompilerBase):
    """Numba's compiler for kernels that only kernels call."""

    def define_pipelines(self) -> list[Any]:
        """Return Numba's own passes, with another library for what they make."""
        state = self.state
        state["library"] = LinkedCode(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class QuickFlags(Flags):
    """Options of a compilation that are compared in no time.

    Numba asks a thousand times a kernel whether two of them are equal, and lists all fifty each
    time, those that nobody has set too; their hashes are all the same.
    """

    def __eq__(self, other: object) -> Any:
        """Return whether all options have the same values."""
        if not isinstance(other, Flags):
            return NotImplemented
        mine, others = self._values, other._values
        for name in mine.keys() | others.keys():
            default = _DEFAULTS[name]
            if mine.get(name, default) != others.get(name, default):
                return False
        return True

    def __hash__(self) -> int:
        """Return the hash that Numba gives to any options."""
        return _HASH


_HASH = hash(Flags())
_DEFAULTS = {name: option.default for name, option in Flags.options.items()}


def quick_flags(flags: Flags) -> Flags:
    """Return the same options, quick to compare."""
    return QuickFlags(flags)
