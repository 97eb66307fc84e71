"""Everything graphveil raises on purpose.

::

    GraphveilError              what a user can correct; carries the exit code of the command line
    ├── UsageError              2  the options cannot be used together, or with this data
    │   ├── ParameterError      2  one parameter is out of its range
    │   └── InfeasibleError     2  no release can keep this promise on this data (n < k)
    ├── InputError              2  a file or an object that cannot be read as what it should be
    │   └── DataError           2  arrays that break a container's rules
    ├── ReleaseError            2  a folder that is not a release, or that must not be overwritten
    └── ResourceError           3  out of disk, read-only target, interrupted

A message says what happened, the value, and the way out, in one line. Programming errors are
ordinary Python exceptions and do not derive from `GraphveilError`.
"""

from __future__ import annotations

import inspect
import warnings
from typing import ClassVar


class GraphveilError(Exception):
    """A problem that the user can correct; the message says how."""

    exit_code: ClassVar[int] = 2


class UsageError(GraphveilError):
    """The options cannot be used together, or not with this data."""


class ParameterError(UsageError):
    """One parameter is outside its range."""


class InfeasibleError(UsageError):
    """No release can keep this promise on this data."""


class InputError(GraphveilError):
    """A file or an object cannot be read as what it should be."""


class DataError(InputError):
    """Arrays break the rules of the container they were given to."""


class ReleaseError(GraphveilError):
    """A folder is not a release, or must not be overwritten."""


class ResourceError(GraphveilError):
    """The machine could not do what was asked: no space, no permission, interrupted."""

    exit_code: ClassVar[int] = 3


class GraphveilWarning(UserWarning):
    """Something was done that the owner of the data should know."""


_OURS = {"graphveil", "contextlib"}
"""Modules whose lines tell nobody where a warning comes from."""


def warn(text: str) -> None:
    """Warn the owner of the data, at the line of the first caller outside of the package.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("mind the gap")
    >>> caught[0].category.__name__, str(caught[0].message)
    ('GraphveilWarning', 'mind the gap')
    """
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, GraphveilWarning, stacklevel=level)
