"""Imports that happen at first use, so that asking for help costs no heavy library."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from graphveil.core.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

T = TypeVar("T")
P = ParamSpec("P")

_IMPORT = re.compile(r"^from ([\w.]+) import (?:\(\s*)?(\w+|\*)(?: as (\w+))?", re.MULTILINE)
"""An import of a stub, of one name: reading these takes a hundredth of the time of parsing Python.

A line that would be too long stands in parentheses.
"""


_OPTIONAL = {"pandas", "polars", "networkx", "igraph"}
"""Libraries whose objects are returned on request, and which nothing here requires."""


def needs_library(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that says how to install the library of what it returns."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except ModuleNotFoundError as error:
            if error.name not in _OPTIONAL:
                raise
            raise UsageError(
                f"{function.__name__} needs {error.name}. Install it: pip install {error.name}"
            ) from error

    return called


class _Absent(NamedTuple):
    """Finds that some modules are not there, as `sys.meta_path` asks it."""

    names: tuple[str, ...]

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        """Raise the error of a module that is not there, if it is one of these."""
        if name in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextmanager
def absent(*names: str) -> Iterator[None]:
    """Let modules not be there for what is imported inside, unless they are in use already."""
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
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


def lazy_module(name: str) -> Any:
    """Return a stand-in that imports the module of this name when one of its names is used.

    >>> sparse = lazy_module("scipy.sparse")
    >>> sparse.eye_array(2).nnz
    2
    """
    return _LazyModule(name)


def resolve(home: str) -> Any:
    """Return what a text ``module:name`` stands for; its module is imported now.

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


def homes_in(stub: Path) -> dict[str, tuple[str, str]]:
    """Return the module and the name there of every name that a stub imports, in its order.

    ``from room import *`` stands for the names of that room's own stub.
    """
    homes: dict[str, tuple[str, str]] = {}
    for module, name, other in _IMPORT.findall(stub.read_text(encoding="utf-8")):
        if name == "*":
            homes |= homes_in(stub.parent / module.rpartition(".")[2] / "__init__.pyi")
        else:
            homes[other or name] = module, name
    return homes


def lazy_names(package: str, file: str) -> LazyNames:
    """Return the `__all__`, `__getattr__` and `__dir__` of a package that loads names when used.

    The stub next to the package, ``__init__.pyi``, says where every public name is defined: to type
    checkers, and to this.

    >>> import graphveil.io
    >>> names = lazy_names("graphveil.io", graphveil.io.__file__)
    >>> "read" in names.all, names.getattr("FORMATS")["csv"].extensions
    (True, ('.csv',))
    """
    homes = homes_in(Path(file).with_name("__init__.pyi"))
    public = sorted(homes)

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = homes[name]
        value = getattr(importlib.import_module(module), attribute, None)
        if value is None:  # a folder, such as datasets
            value = importlib.import_module(f"{module}.{attribute}")
        setattr(sys.modules[package], name, value)
        return value

    return LazyNames(public, load, public.copy)


class Registry(Mapping[str, T]):
    """Entries by name, in order; what belongs to an entry is imported when it is asked for.

    `homes`: where entries are defined, ``module:name``, by their names; `line`: the text that
    stands behind the name of an entry in the repr.

    >>> numbers = Registry({"half": "fractions:Fraction"}, line=lambda entry: entry.__name__)
    >>> numbers["half"](1, 2), list(numbers), numbers
    (Fraction(1, 2), ['half'], half  Fraction)
    """

    def __init__(self, homes: Mapping[str, str], *, line: Callable[[T], str]) -> None:
        self._entries: dict[str, str | T] = dict(homes)
        self._line = line

    def __getitem__(self, name: str) -> T:
        """Return an entry."""
        entry = self._entries[name]
        loaded: T = resolve(entry) if isinstance(entry, str) else entry
        return loaded

    def __iter__(self) -> Iterator[str]:
        """Return the names."""
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        """Whether there is an entry of this name."""
        return name in self._entries

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._entries)

    def __repr__(self) -> str:
        """Return the names, a line each."""
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {self._line(self[name])}" for name in self)

    def enter(self, name: str, entry: T) -> T:
        """Enter what is defined elsewhere, and return it."""
        if name in self and self[name] is not entry:
            raise UsageError(
                f"{name} is already the name of another entry. Choose a different name."
            )
        self._entries.setdefault(name, entry)
        return entry

    def homes(self) -> list[str]:
        """Return where the entries of this package are defined, ``module:name``."""
        return [entry for entry in self._entries.values() if isinstance(entry, str)]


class AsFrame:
    """Base of everything that becomes a data frame of another library, by way of `to_arrow`."""

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table.

        Returns
        -------
        pyarrow.Table
            One row for each row, one column for each field.

        Examples
        --------
        >>> import graphveil as gv
        >>> kept = gv.Row(release="a", question="edges-kept", part="share", value=0.5, unit="share")
        >>> gv.Rows([kept]).to_arrow()["value"].to_pylist()
        [0.5]
        """
        raise NotImplementedError

    @needs_library
    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    @needs_library
    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a polars data frame."""
        import polars as pl  # noqa: PLC0415  an optional library, accepted but never required

        return pl.DataFrame(self.to_arrow())


class AsStream(AsFrame):
    """Base of everything that other libraries also accept in place of a data frame."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand the rows to any library that speaks the Arrow C stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)
