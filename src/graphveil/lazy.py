"""Imports that happen at first use, so that asking for help costs no heavy library."""

from __future__ import annotations

import importlib
from typing import Any


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

    Examples
    --------
    >>> sparse = lazy_module("scipy.sparse")
    >>> sparse.eye_array(2).nnz
    2
    """
    return _LazyModule(name)
