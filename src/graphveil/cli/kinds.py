"""Flags for what a file holds: the kind of its data, and how that kind is read."""

from __future__ import annotations

import inspect
from typing import Any, Literal

from graphveil.cli.flags import READING_GROUP, flag, flags_of, values_for
from graphveil.cli.reading import READERS, AnyOptions
from graphveil.data.encoding import Container
from graphveil.errors import UsageError
from graphveil.release.files import kind_of


def reading_flags(kinds: tuple[Container, ...]) -> list[inspect.Parameter]:
    """Return the flags of the readers of these kinds, each once, and `--kind` where it is open."""
    readers = [READERS[kind] for kind in kinds]
    if len(readers) == 1:
        return flags_of(readers[0].options, READING_GROUP)
    names = tuple(kind_of(kind) for kind in kinds)
    kind = flag(
        "kind", Literal[names], "What the file holds.", default=names[0], group=READING_GROUP
    )
    every = {item.name: item for r in readers for item in flags_of(r.options, READING_GROUP)}
    return [kind, *(item.replace(default=None) for item in every.values())]


def reading_options(kinds: tuple[Container, ...], given: dict[str, Any]) -> AnyOptions:
    """Return the options to read the file with, and take those of every kind out.

    Raises
    ------
    UsageError
        Where one is given that belongs to another kind of data.
    """
    asked = given.pop("kind", None) or kind_of(kinds[0])
    container = next(kind for kind in kinds if kind_of(kind) == asked)
    options: AnyOptions = READERS[container].options(
        **values_for(READERS[container].options, given)
    )
    for other in kinds:
        for name in values_for(READERS[other].options, given):
            raise UsageError(
                f"--{name.replace('_', '-')} is not for a {container.__name__}. Leave it out."
            )
    return options
