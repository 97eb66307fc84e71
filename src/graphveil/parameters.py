"""Parameters of methods: fields with a help text and a range, checked where they are given."""

from __future__ import annotations

import dataclasses
import math
import types
from dataclasses import MISSING
from typing import Any, Literal, Protocol, TypeGuard, Union, get_args, get_origin

import numpy as np

from graphveil.errors import ParameterError


def parameter(
    *,
    default: Any = MISSING,
    text: str,
    minimum: float | None = None,
    maximum: float | None = None,
    unset: str | None = None,
    private: bool = False,
) -> Any:
    """Return a dataclass field with its help text and its range.

    Parameters
    ----------
    default
        The default; none makes it required.
    text
        What it means, in one line, with its unit.
    minimum, maximum
        The ends of the range, both allowed.
    unset
        Where the default is None: what that stands for, in words.
    private
        Whether the public manifest leaves it out: it says something of the data.
    """
    metadata = {
        "help": text,
        "minimum": minimum,
        "maximum": maximum,
        "unset": unset,
        "private": private,
    }
    return dataclasses.field(default=default, metadata=metadata)


class Spelled(Protocol):
    """A kind of parameter that has a spelling: `parse` reads what `str` writes."""

    @staticmethod
    def parse(text: str) -> Any:
        """Return the value that a text spells."""


def is_spelled(kind: Any) -> TypeGuard[type[Spelled]]:
    """Whether values of this kind are read from text by its `parse`."""
    return isinstance(kind, type) and hasattr(kind, "parse")


def options_of(hint: Any) -> tuple[Any, ...]:
    """Return the types that a field may have: those of a union, or the one.

    Examples
    --------
    >>> from typing import Optional
    >>> options_of(int | None) == options_of(Optional[int]) == (int, type(None))
    True
    """
    is_union = get_origin(hint) in {types.UnionType, Union}
    return get_args(hint) if is_union else (hint,)


def checked(value: Any, hint: Any, item: dataclasses.Field[Any]) -> Any:
    """Return the value of a field as its type, once it is in its range.

    Raises
    ------
    ParameterError
        Where it is of another type, no choice, or out of range.
    """
    name, low, high = item.name, item.metadata["minimum"], item.metadata["maximum"]
    options = options_of(hint)
    if value is None and type(None) in options:
        return None
    kind = next(option for option in options if option is not type(None))
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ParameterError(
                f"{name}={value!r} is unknown. Choose one of {', '.join(map(str, get_args(kind)))}."
            )
        return value
    if is_spelled(kind):
        return value if isinstance(value, kind) else kind.parse(_converted(value, str, name))
    value = _converted(value, kind, name)
    if kind is float and not math.isfinite(value):
        raise ParameterError(f"{name}={value} is no finite number. Give one.")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ParameterError(f"{name}={value} is out of range. Give a value {bounds}.")
    return value


def _converted(value: Any, kind: Any, name: str) -> Any:
    is_bool = isinstance(value, bool | np.bool_)
    if kind is bool and is_bool:
        return bool(value)
    if kind is int and isinstance(value, int | np.integer) and not is_bool:
        return int(value)
    if kind is float and isinstance(value, int | float | np.number) and not is_bool:
        return float(value)
    if kind is str and isinstance(value, str):
        return value
    raise ParameterError(f"{name}={value!r} is not of type {kind.__name__}. Give one.")
