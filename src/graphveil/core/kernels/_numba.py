"""Everything that depends on private names of Numba, in one guarded module.

A first run waits for the compiler. This module makes it faster: by omitting the entry from Python
where none is needed, by linking private kernels without optimizing them twice, by comparing
compiler flags quickly, and by collecting garbage less often meanwhile. It also lets small calls run
as plain Python, and keeps compiled code in a folder of its own.

If a private name is gone, or this version of Numba was not tried, importing this module fails. Then
`leaf` compiles as Numba does by itself: every result is the same, and a first run takes three times
as long.
"""

# mypy: disable-error-code="misc,no-untyped-call,no-any-return"
# Numba has no types here.
from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numba
import numpy as np
from numba import njit
from numba.core import caching, event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.options import DefaultOptions
from numba.core.registry import CPUDispatcher
from numba.np.random.random_methods import buffered_bounded_lemire_uint32

from graphveil.core.progress import notice, pause

TRIED = ("0.61", "0.68")
"""The versions of Numba on which all of this was tried."""

NAMES = (
    (DefaultOptions, "_nrt"),
    (CPUDispatcher, "get_call_template get_overload"),
    (JITCodeLibrary, "_finalize_dynamic_globals _verify_declare_only_symbols codegen"),
    (JITCodeLibrary, "_optimize_final_module _finalize_final_module _ensure_finalized"),
    (caching._CacheLocator, "get_cache_path get_source_stamp get_disambiguator from_function"),  # noqa: SLF001  this module is for it
    (caching.CacheImpl, "_locator_classes"),
    (event, "Listener register"),
)
"""What is overridden or called by its private name; imports are checked by being made."""

# Fail here, at the import, rather than in the middle of a run.
if numba.__version__.rpartition(".")[0] not in TRIED:
    raise ImportError(f"Numba {numba.__version__} was not tested")
for _owner, _names in NAMES:
    for _name in _names.split():
        getattr(_owner, _name)

PATIENT = 50_000
"""The threshold of the garbage collector while something compiles: objects made before it runs.

Compiling makes many objects that live until the end. A larger value collects less often and takes
more memory.
"""

FEW_STEPS = 100_000
"""Steps after which a kernel is compiled: about a tenth of a second of plain Python.

Compiling takes longer than that. A larger value runs more calls as plain Python.
"""


def drawn_below(rng: np.random.Generator, bound: int) -> Any:
    """Return a random number from 0 to bound - 1, for a bound from 2 to 2**32 - 1; for kernels.

    Lemire's method on buffered 32-bit words, as in ``Generator.integers``: the same numbers.
    """
    return buffered_bounded_lemire_uint32(rng.bit_generator, np.uint32(bound - 1))


class _Thread(threading.local):
    """Whether kernels called from this thread are running as plain Python at the moment."""

    interprets = False


_thread = _Thread()


class PublicKernel(CPUDispatcher):
    """A kernel with an entry from Python."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        """Pickle as a name, so that a worker process takes the kernel from its module."""
        return _kernel_of, (self.py_func.__module__, self.py_func.__name__)

    def __call__(self, *arguments: object) -> Any:
        """Run it compiled, or as plain Python if the kernel that calls it runs so."""
        # A kernel that runs as plain Python calls others as plain Python, too.
        if _thread.interprets:
            return self.py_func(*arguments)
        return super().__call__(*arguments)


class PrivateKernel(CPUDispatcher):
    """A kernel without an entry from Python: a compiled call from there would crash."""

    def __call__(self, *arguments: object) -> Any:
        """Run it for a kernel that runs as plain Python; raise `TypeError` for any other caller."""
        if _thread.interprets:
            return self.py_func(*arguments)
        raise TypeError(
            f"{self.py_func.__name__} is compiled for use by other kernels only, not from "
            "Python. Call a kernel that uses it."
        )


class TieredKernel(PublicKernel):
    """A kernel that runs as plain Python until its calls came to many steps: see `tiers`."""

    few_steps = FEW_STEPS
    steps_of: Callable[..., int]
    steps = 0

    def __call__(self, *arguments: object) -> Any:
        """Run it as plain Python while its steps are few, else compiled."""
        # Count the steps of this call first: a single large call is compiled at once.
        if not _thread.interprets and self.steps <= self.few_steps:
            self.steps += self.steps_of(*arguments)
            if self.steps <= self.few_steps:
                return self.interpreted(*arguments)
        return super().__call__(*arguments)

    def interpreted(self, *arguments: object) -> Any:
        """Run it as plain Python, with integers that wrap round silently, as in compiled code."""
        _thread.interprets = True
        try:
            with np.errstate(all="ignore"):
                return self.py_func(*arguments)
        finally:
            _thread.interprets = False


def _kernel_of(module: str, name: str) -> Any:
    """Return the kernel of this name, for unpickling."""
    return getattr(import_module(module), name)


def compiled(kernel: Callable[..., Any], *, counts: bool) -> Any:
    """Return a kernel that has an entry from Python only once Python calls it.

    What takes arguments out of Python objects is half of the code of a small kernel, and half of
    the time to compile it. Other kernels call a second compilation, which has none of it and is not
    kept on disk: a kernel that calls it is kept with it inside.

    Every option is said outright: a kernel that left one open would take it from whichever kernel
    calls it first.

    Parameters
    ----------
    kernel
        The function; one whose name begins with an underscore gets no entry from Python.
    counts
        Whether it counts references to arrays, which it must where it makes any.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    options["_nrt"] = counts
    # The version for other kernels: not kept on disk, since each caller is kept with it inside.
    inner = {"no_cpython_wrapper": True, "pipeline_class": LinkedCompiler, **options}
    from_kernels: Any = njit(**inner)(kernel)
    from_kernels.__class__ = PrivateKernel
    from_kernels._compiler._customize_flags = QuickFlags  # noqa: SLF001  this module is for it
    if kernel.__name__.startswith("_"):
        return from_kernels
    # The version for Python; other kernels that name it get the first version.
    from_python: Any = njit(cache=True, **options)(kernel)
    from_python.__class__ = PublicKernel
    from_python._compiler._customize_flags = QuickFlags  # noqa: SLF001  this module is for it
    from_python.get_call_template = from_kernels.get_call_template
    from_python.get_overload = from_kernels.get_overload
    return from_python


class _WithoutEnvironment:
    """Stands in for the code generator when an environment is set up, which unloaded code lacks."""

    def set_env(self, env_name: str, env: object) -> None:
        """Set nothing: there is no code that was loaded."""


class LinkedCode(JITCodeLibrary):
    """The code of a private kernel: linked into its callers, never loaded by itself.

    Numba optimizes every kernel and makes machine code of it, and does both again for each kernel
    into which it is linked. A kernel that Python never calls needs neither: it is optimized with
    its callers. That takes a quarter off a first run.
    """

    @property
    def codegen(self) -> Any:
        """The code generator, without what only loaded code needs."""
        return _WithoutEnvironment()

    def _optimize_final_module(self) -> None:
        """Do nothing: the callers optimize it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0 as the address of the entry from Python: there is none."""
        del name
        self._ensure_finalized()
        return 0


class LinkedCompiler(CompilerBase):
    """Numba's compiler, for kernels that only kernels call."""

    def define_pipelines(self) -> list[Any]:
        """Return Numba's own passes, with `LinkedCode` to hold what they make."""
        # All passes of Numba as they are; only the library that collects their code differs.
        state = self.state
        state["library"] = LinkedCode(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class QuickFlags(Flags):
    """Compiler options that are compared quickly.

    Numba compares options a thousand times for a kernel; each time it lists all fifty, and hashes
    are all the same. Here only those that are set are compared.
    """

    def __eq__(self, other: object) -> Any:
        """Return whether all options have the same values."""
        if not isinstance(other, Flags):
            return NotImplemented
        # Options that neither has set are equal by default.
        mine, others = self._values, other._values
        for name in mine.keys() | others.keys():
            default = _DEFAULTS[name]
            if mine.get(name, default) != others.get(name, default):
                return False
        return True

    def __hash__(self) -> int:
        """Return the hash that Numba gives to all options."""
        return _HASH


_HASH = hash(Flags())
_DEFAULTS = {name: option.default for name, option in Flags.options.items()}


class Locator(caching._CacheLocator):  # noqa: SLF001  this module is for it
    """Tells Numba where the kernels of this package are kept, and no others."""

    sources: ClassVar[Path]
    kept_in: ClassVar[Path]

    def __init__(self, source: Path) -> None:
        self._source = source.relative_to(self.sources)
        self._py_file = str(source)  # Numba names it when it warns that a kernel cannot be kept

    def get_cache_path(self) -> str:
        """Return the folder for the kernels of one file."""
        return str(self.kept_in / self._source.parent)

    def get_source_stamp(self) -> str:
        """Return an empty stamp: the digest in the folder's name covers the sources."""
        return ""

    def get_disambiguator(self) -> str:
        """Return an empty disambiguator, for the same reason."""
        return ""

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Locator | None:
        """Return a locator for a kernel of this package; None for any other function."""
        del py_func
        # Only sources of this package in a folder ``kernels``; all others keep Numba's own
        # locators.
        source = Path(py_file).resolve()
        ours = source.is_relative_to(cls.sources) and "kernels" in source.parts
        return cls(source) if ours else None


class Announcer(event.Listener):
    """Says once that kernels are being compiled, and collects garbage less often meanwhile.

    Garbage collection takes a tenth of the time: Numba makes many objects that live until the end.
    The time for compiling, which is spent once on a machine, does not count as work in the
    progress.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._said = False
        self._depth = 0
        self._thresholds = gc.get_threshold()
        self._started = 0.0

    def on_start(self, event: Any) -> None:
        """Say it at the first compilation, and raise the threshold of the garbage collector."""
        if not _is_ours(event):
            return
        if self._depth == 0:
            self._thresholds = gc.get_threshold()
            # A threshold of 0 means that the collector is off: it stays off.
            first, *later = self._thresholds
            gc.set_threshold(first and PATIENT, *later)
            self._started = time.process_time()
        self._depth += 1
        if not self._said:
            self._said = notice(self._text)

    def on_end(self, event: Any) -> None:
        """Restore the threshold once the outermost compilation has ended."""
        if not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._thresholds)
            pause(time.process_time() - self._started)


def _is_ours(event: Any) -> bool:
    """Return whether the kernel that is compiled is one of this package."""
    module = str(event.data["dispatcher"].py_func.__module__)
    return module.startswith("graphveil.") and ".kernels." in module


def keep_kernels(sources: Path, *, kept_in: Path, text: str) -> None:
    """Make Numba keep the compiled kernels of a folder of sources in another folder, and say so.

    Parameters
    ----------
    sources
        The folder whose folders ``kernels`` hold the sources.
    kept_in
        Where compiled code is kept.
    text
        What is said once, when the first kernel is compiled.
    """
    Locator.sources, Locator.kept_in = sources, kept_in
    locators: list[Any] = caching.CacheImpl._locator_classes  # noqa: SLF001  this module is for it
    # In front of Numba's own locators, which are asked in order.
    locators.insert(0, Locator)
    event.register("numba:compile", Announcer(text))
