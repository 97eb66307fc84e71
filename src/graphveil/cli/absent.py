"""Libraries that commands do without: others import them where they are installed, for nothing.

The process is the command's alone, and no object of these libraries is handed in. In a process that
is not ours nothing is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType

WITHOUT = {
    "networkit": ("matplotlib", "networkx", "pandas", "sklearn"),
    "numba.np.arraymath": ("scipy", "scipy.linalg"),
}
"""What a module would import if it could, and offers no more than a convenience for.

NetworKit has ways to draw graphs, and to and from other libraries (.9 s); Numba multiplies matrices
by SciPy's BLAS (.1 s), and no kernel of ours does.
"""


class _Absent:
    """Finds that some modules are not there, as `sys.meta_path` asks it."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise the error of a module that is not there, if it is one of these."""
        del path, target
        if name in self._names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


@contextmanager
def absent(*names: str) -> Iterator[None]:
    """Let these modules not be there for what is imported inside, unless they are in use already.

    Examples
    --------
    >>> with absent("wave"):
    ...     import wave
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: No module named 'wave'
    """
    finder = _Absent(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Loader(SourceFileLoader):
    """Loads a module while those that it can do without are not there."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        with absent(*WITHOUT[self.name]):
            super().exec_module(module)


class _Finder:
    """Finds the modules of `WITHOUT` as they are, and loads them alone."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how such a module is loaded; None where it is another one, or no file."""
        if name not in WITHOUT:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or type(spec.loader) is not SourceFileLoader:
            return spec
        return spec_from_file_location(
            name,
            spec.origin,
            loader=_Loader(name, spec.origin),
            submodule_search_locations=spec.submodule_search_locations,
        )


def leave_out() -> None:
    """Load modules of `WITHOUT` without what they can do without, from now on in this process."""
    sys.meta_path.insert(0, _Finder())


def leave_out_pandas() -> None:
    """Let Arrow decide that there is no pandas: it would import it (.5 s) to look for its types."""
    if "pandas" in sys.modules:
        return
    import pyarrow as pa  # noqa: PLC0415  heavy: a page of help needs none of it

    with absent("pandas"):
        pa.array([0])
