"""Imports that happen at first use, so that asking for help costs no heavy library."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

LEFT_OUT: dict[str, tuple[str, ...]] = {}
"""What a module that is loaded lazily imports if it can, and shall not in this process."""


class _Absent(NamedTuple):
    """Finds that some modules are not there, as `sys.meta_path` asks it."""

    names: tuple[str, ...]

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Raise the error of a module that is not there, if it is one of these."""
        del path, target
        if name in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextmanager
def absent(*names: str) -> Iterator[None]:
    """Let modules not be there for what is imported inside, unless they are in use already.

    Examples
    --------
    >>> with absent("wave"):
    ...     import wave
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: No module named 'wave'
    """
    finder: Any = _Absent(names)  # None in `sys.modules` would do, but Cython imports it
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _LazyModule:
    """Stands for a module until an attribute of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        with absent(*LEFT_OUT.get(self._name, ())):
            module = importlib.import_module(self._name)
        value = getattr(module, attribute)
        setattr(self, attribute, value)
        return value


def lazy_module(name: str) -> Any:
    """Return a stand-in that imports the module of this name when one of its names is used.

    Examples
    --------
    >>> sparse = lazy_module("scipy.sparse")
    >>> sparse.eye_array(2).nnz
    2
    """
    return _LazyModule(name)


def resolve(home: str) -> Any:
    """Return what a text ``module:name`` stands for; its module is imported now.

    Examples
    --------
    >>> resolve("fractions:Fraction")(1, 2)
    Fraction(1, 2)
    """
    module, _, name = home.partition(":")
    return getattr(importlib.import_module(module), name)


class LazyNames(NamedTuple):
    """What a package with lazily loaded names defines, in this order."""

    all: list[str]
    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]


def lazy_names(package: str, homes: Mapping[str, str]) -> LazyNames:
    """Return the `__all__`, `__getattr__` and `__dir__` of a package that loads names when used.

    Parameters
    ----------
    package
        The full name of the package.
    homes
        Where every public name is defined: ``module``, or ``module:attribute`` where it has
        another name there; without an attribute behind the colon it is the module itself.

    Examples
    --------
    >>> names = lazy_names("graphveil", {"fractions": "fractions:", "Ratio": "fractions:Fraction"})
    >>> names.all, names.getattr("Ratio")(1, 2)
    (['Ratio', 'fractions'], Fraction(1, 2))
    """
    public = sorted(homes)

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, colon, attribute = homes[name].partition(":")
        module = importlib.import_module(home)
        value = module if colon and not attribute else getattr(module, attribute or name)
        setattr(sys.modules[package], name, value)
        return value

    return LazyNames(public, load, public.copy)
