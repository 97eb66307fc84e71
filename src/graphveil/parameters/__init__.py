"""Parameters of methods: fields with a help text and a range, checked where they are given.

Options that exclude each other, or mean something together only, are types (`Options`): a field of
a method holds one of them, or None. On the command line, in files and in manifests they stand flat;
`graphveil.parameters.flat` turns one form into the other.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import (
    Any,
    ClassVar,
    Literal,
    Protocol,
    TypeGuard,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from graphveil.errors import ParameterError, one_of


def parameter(
    *,
    default: Any = MISSING,
    text: str,
    minimum: float | None = None,
    maximum: float | None = None,
    unset: str | None = None,
    private: bool = False,
    flat: str | None = None,
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
        Whether the public manifest leaves it out, and the owner's record keeps it: it says
        something of the data, or how long a search looked, which no reader needs.
    flat
        The name on the command line and in files, where it is another than the field's.
    """
    metadata = {
        "help": text,
        "minimum": minimum,
        "maximum": maximum,
        "unset": unset,
        "private": private,
        "flat": flat,
    }
    return dataclasses.field(default=default, metadata=metadata)


class DescribedField(Protocol):
    """A parameter as it is checked: a field of a dataclass, or a flat parameter."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its help text and its range, as `parameter` writes them."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Parameters that mean something together only: one value of one field of a method.

    A subclass is a frozen dataclass with fields made by `parameter`, and a label. A field of a
    method that may hold one of several subclasses is a choice among their labels; one that may hold
    a subclass or None is on or off.
    """

    label: ClassVar[str]
    """What a choice calls it, and what help texts and errors call its fields."""

    def __post_init__(self) -> None:
        """Check every field against its type and range."""
        check_fields(self)


class Spelled(Protocol):
    """A kind of parameter that has a spelling: `parse` reads what `str` writes."""

    @staticmethod
    def parse(text: str) -> Any:
        """Return the value that a text spells."""


def is_spelled(kind: Any) -> TypeGuard[type[Spelled]]:
    """Whether values of this kind are read from text by its `parse`."""
    return isinstance(kind, type) and hasattr(kind, "parse")


_HINTS: dict[type[Any], dict[str, Any]] = {}


def hints_of(owner: type[Any]) -> Mapping[str, Any]:
    """Return the types of the fields of a class, evaluated once."""
    if owner not in _HINTS:
        _HINTS[owner] = get_type_hints(owner)
    return _HINTS[owner]


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


def option_classes(hint: Any) -> tuple[type[Options], ...]:
    """Return the classes of options that a field may hold; none where it is an ordinary one."""
    return tuple(
        kind for kind in options_of(hint) if isinstance(kind, type) and issubclass(kind, Options)
    )


def check_fields(owner: Any) -> None:
    """Check every field of a frozen dataclass, and write it back as its type.

    Raises
    ------
    ParameterError
        As in `checked`.
    """
    hints = hints_of(type(owner))
    for item in dataclasses.fields(owner):
        value = checked(getattr(owner, item.name), hints[item.name], item)
        object.__setattr__(owner, item.name, value)


def checked(value: Any, hint: Any, item: DescribedField) -> Any:
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
    classes = option_classes(hint)
    if classes:
        return _chosen(value, classes, name)
    kind = next(option for option in options if option is not type(None))
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ParameterError(
                f"{name}={value!r} is unknown. {one_of(value, get_args(kind), verb='Choose')}"
            )
        return value
    if is_spelled(kind):
        return value if isinstance(value, kind) else kind.parse(value)
    value = _converted(value, kind, name)
    if kind is float and not math.isfinite(value):
        raise ParameterError(f"{name}={value} is no finite number. Give one.")
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ParameterError(f"{name}={value} is out of range. Give a value {bounds}.")
    return value


def _chosen(value: Any, classes: tuple[type[Options], ...], name: str) -> Options:
    """Return options as they are."""
    if isinstance(value, classes):
        return value
    wanted = " or ".join(f"{kind.__name__}()" for kind in classes)
    raise ParameterError(f"{name}={value!r} holds no options. Give {wanted}.")


def _converted(given: Any, kind: Any, name: str) -> Any:
    value = _plain(given)
    if kind is bool and isinstance(value, bool):
        return value
    if kind is int and isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind is str and isinstance(value, str):
        return value
    raise ParameterError(f"{name}={given!r} is not of type {kind.__name__}. Give one.")


DIGITS = 5
"""The most significant digits of a published real number: more could hold a message."""


def check_digits(name: str, value: float) -> None:
    """Refuse a real number that is published with more digits than anybody needs.

    Raises
    ------
    ParameterError
        Where it has more than `DIGITS` significant digits.

    Examples
    --------
    >>> check_digits("epsilon", 6.931)
    """
    rounded = float(f"{value:.{DIGITS}g}")
    if rounded != value:
        raise ParameterError(
            f"{name}={value} has more than {DIGITS} significant digits, and is published. Give "
            f"{rounded:g}."
        )


def _plain(value: Any) -> Any:
    """Return a number of NumPy's as one of Python's; anything else as it is."""
    if isinstance(value, bool | int | float | str):
        return value
    return value.item() if isinstance(value, np.generic) else value
