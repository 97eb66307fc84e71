"""How messages spell options (arguments in Python, flags on the command line); shared choices."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Directed = Literal["symmetrize", "refuse"]
"""What to do with ties whose directions matter: forget them, or refuse the data."""

Items = Literal["people", "things"]
"""What the items of users are."""

_FLAGS: ContextVar[bool] = ContextVar("flags", default=False)
_CALL: ContextVar[str] = ContextVar("call", default="")
_ARGUMENTS = {"input_format": "format", "limit": "limit_bytes"}
"""Flags that Python calls otherwise."""


@contextmanager
def as_flags() -> Iterator[None]:
    """Spell options as flags as long as this is open.

    Examples
    --------
    >>> with as_flags():
    ...     option("directed", "symmetrize")
    '--directed symmetrize'
    """
    before = _FLAGS.set(True)
    try:
        yield
    finally:
        _FLAGS.reset(before)


@contextmanager
def as_argument_of(call: str) -> Iterator[None]:
    """Spell options in Python as an argument of this call as long as this is open.

    Parameters
    ----------
    call
        The call as far as its next argument.

    Examples
    --------
    >>> with as_argument_of("graphveil.Graph.from_networkx(data, "):
    ...     option("directed", "symmetrize")
    'graphveil.Graph.from_networkx(data, directed="symmetrize")'
    """
    before = _CALL.set(call)
    try:
        yield
    finally:
        _CALL.reset(before)


def option(name: str, value: str | int | None = None) -> str:
    """Return an option with its value as the one who reads the message would write it.

    Parameters
    ----------
    name
        The name of the flag, with underscores.
    value
        Its value; None for the name alone.

    Examples
    --------
    >>> option("directed", "symmetrize"), option("ignore_weights", True), option("nodes")
    ('directed="symmetrize"', 'ignore_weights=True', 'nodes')
    """
    if not _FLAGS.get():
        argument = _ARGUMENTS.get(name, name)
        spelled = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else value
        return argument if value is None else _in_call(f"{argument}={spelled}")
    flag = f"--{name.replace('_', '-')}"
    if value is None or value is True:
        return flag
    return f"{flag} {shlex.quote(str(value))}"


def options(**values: str | int) -> str:
    """Return several options with their values, to copy.

    Examples
    --------
    >>> options(source_column=1, target_column=2)
    'source_column=1, target_column=2'
    """
    if _FLAGS.get():
        return " ".join(map(option, values, values.values()))
    with as_argument_of(""):
        listed = ", ".join(map(option, values, values.values()))
    return _in_call(listed)


def several(name: str, *values: str) -> str:
    """Return an option with several values at once.

    Examples
    --------
    >>> several("suppressed", "*", "?")
    'suppressed=("*", "?")'
    """
    if _FLAGS.get():
        return " ".join(option(name, value) for value in values)
    spelled = ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
    return _in_call(f"{name}=({spelled})")


def either(name: str, *values: str) -> str:
    """Return the advice to choose one of several values of an option.

    Examples
    --------
    >>> either("header", "yes", "no")
    'Say header="yes" or header="no".'
    """
    return f"Say {' or '.join(option(name, value) for value in values)}."


def leave_out() -> str:
    """Return the advice on weights and further columns.

    Examples
    --------
    >>> leave_out()
    'Say ignore_weights=True to leave them out.'
    """
    return f"Say {option('ignore_weights', value=True)} to leave them out."


def mapping(name: str, key: str, value: str) -> str:
    """Return an option that maps a name to a value.

    Examples
    --------
    >>> mapping("bins", "age", "median")
    'bins={"age": "median"}'
    """
    if _FLAGS.get():
        return f"--{name} {shlex.quote(f'{key}={value}')}"
    return _in_call(f"{name}={json.dumps({key: value}, ensure_ascii=False)}")


def _in_call(arguments: str) -> str:
    call = _CALL.get()
    return f"{call}{arguments})" if call else arguments
