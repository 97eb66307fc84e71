"""The published methods, by name: the registry that every table, help page and test reads.

They are listed in the stub of the package, ``__init__.pyi``, for type checkers as for this. A class
is imported when it is first asked for: who verifies a release needs one of them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from graphveil.core.errors import ParameterError, UsageError
from graphveil.core.hints import one_of
from graphveil.core.lazy import Registry, homes_in
from graphveil.data.kinds import KINDS, Container, kind_of
from graphveil.methods.base import Anonymizer, SourceName

OTHER_NAMES = {"StructuralAnonymity": "structural", "OneKSeries": "dp-1k"}
"""Methods that are known by other names than those of their classes."""


def _homes() -> dict[str, str]:
    """Return where every method of the stub is defined, ``module:name``, by its name."""
    listed = homes_in(Path(__file__).with_name("__init__.pyi"))
    return {
        OTHER_NAMES.get(name, re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()): f"{module}:{name}"
        for name, (module, _) in listed.items()
        if module != __name__
    }


METHODS: Registry[type[Anonymizer[Any]]] = Registry(
    _homes(), line=lambda method: method.card.promise
)
"""Every method by its name on the command line."""


OUTSIDE: Registry[type[Anonymizer[Any]]] = Registry(
    {"external": "graphveil.methods.external:External"}, line=lambda method: method.card.promise
)
"""What runs a method of someone else: no published method, so lists of these omit it."""


def known_method(name: str) -> type[Anonymizer[Any]] | None:
    """Return the class of a method, of `METHODS` or `OUTSIDE`; None where there is none.

    >>> known_method("external").name, known_method("mondrain")
    ('external', None)
    """
    return METHODS.get(name) or OUTSIDE.get(name)


def method_named(name: str) -> type[Anonymizer[Any]]:
    """Return the class of a method."""
    method = known_method(name)
    if method is None:
        raise ParameterError(f"unknown method {name!r}. {one_of(name, METHODS)}")
    return method


def methods_from(source: SourceName) -> list[str]:
    """Return the names of the methods that take data from such a source."""
    return [name for name, method in METHODS.items() if source in method.sources]


def methods_for(*kinds: Container) -> str:
    """Return the methods that take each of these kinds of data, in sentences."""
    listed = {
        kind_of(kind).words: ", ".join(n for n, method in METHODS.items() if kind in method.accepts)
        for kind in kinds
    }
    return " ".join(f"Methods for {words}: {names}." for words, names in listed.items())


def check_kind(tokens: Sequence[str]) -> None:
    """Refuse a method, named first, for data of a kind that it does not take."""
    method = METHODS.get(tokens[0]) if tokens else None
    said = [token.partition("=")[2] for token in tokens if token.startswith("--kind=")]
    said += [word for flag, word in itertools.pairwise(tokens) if flag == "--kind"]
    kind = KINDS.get(said[-1]) if said else None
    if method is not None and kind is not None and kind.container not in method.accepts:
        takes = " or ".join(kind_of(one).words for one in method.accepts)
        raise UsageError(f"{method.name} takes {takes}. {methods_for(kind.container)}")


M = TypeVar("M", bound=type[Anonymizer[Any]])


def register(method: M) -> M:
    """Enter a method's class into `METHODS`, and return it: a decorator for methods from elsewhere.

    The command line, the contract tests and the tables of the documentation follow from the entry.

    Parameters
    ----------
    method
        A class that derives from `Anonymizer`.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    UsageError
        Where another class bears the name.

    Examples
    --------
    A name stands for one class. To enter the same class twice changes nothing.

    >>> import graphveil as gv
    >>> register(gv.KDegree).name
    'k-degree'
    >>> @register
    ... class Mine(gv.KDegree):
    ...     name = "k-degree"
    Traceback (most recent call last):
        ...
    graphveil.core.errors.UsageError: k-degree is already the name of another entry. Choose a ...
    """
    if method.name in OUTSIDE:
        raise UsageError(f"{method.name} is already the name of a method. Choose a different name.")
    METHODS.enter(method.name, method)
    return method
