"""Flags for what a file holds: the kind of its data, and how that kind is read."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Literal

from graphveil.cli.console import say
from graphveil.cli.flags import INPUT_FORMAT, READING_GROUP, flag, flags_of, values_for
from graphveil.cli.reading import READERS, AnyOptions
from graphveil.data.encoding import Container
from graphveil.errors import UsageError
from graphveil.io import kind_in_columns
from graphveil.io.options import Header
from graphveil.release.files import kind_of


def reading_flags(kinds: tuple[Container, ...]) -> list[inspect.Parameter]:
    """Return the flags of the readers of these kinds, each once, and `--kind` where it is open."""
    readers = [READERS[kind] for kind in kinds]
    if len(readers) == 1:
        return flags_of(readers[0].options, READING_GROUP)
    names = tuple(kind_of(kind) for kind in kinds)
    kind = flag(
        "kind",
        Literal[names] | None,
        "What the file holds. Without this: what its columns are named after (source and target, "
        f"user and item), else a {names[0]}.",
        default=None,
        group=READING_GROUP,
    )
    every = {item.name: item for r in readers for item in flags_of(r.options, READING_GROUP)}
    return [kind, *(item.replace(default=None) for item in every.values())]


def reading_options(kinds: tuple[Container, ...], path: Path, given: dict[str, Any]) -> AnyOptions:
    """Return the options to read the file with, and take those of every kind out.

    Where `--kind` is not given, the columns of the file say what it holds, else it is the first of
    the kinds.

    Raises
    ------
    UsageError
        Where one is given that belongs to another kind of data.
    """
    asked = given.pop("kind", None)
    named = None if asked or len(kinds) == 1 else _in_columns(path, given)
    container = named if named in kinds else kinds[0]
    if asked:
        container = next(kind for kind in kinds if kind_of(kind) == asked)
    elif container is not kinds[0]:
        say(f"{path.name}: read as a {kind_of(container)}, as its columns are named")
    options: AnyOptions = READERS[container].options(
        **values_for(READERS[container].options, given)
    )
    for other in kinds:
        for name in values_for(READERS[other].options, given):
            raise UsageError(
                f"--{name.replace('_', '-')} is not for a {container.__name__}. Leave it out."
            )
    return options


def _in_columns(path: Path, given: dict[str, Any]) -> Container | None:
    header: Header = given.get("header") or "auto"
    delimiter = given.get("delimiter")
    return kind_in_columns(path, given.get(INPUT_FORMAT), header=header, delimiter=delimiter)
