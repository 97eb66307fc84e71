"""The flags of an original, which is read again as it was when the release was made."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.cli.flags import INPUT_FORMAT, READING_GROUP, flag, flags_of, not_for, values_for
from graphveil.cli.pipes import a_file
from graphveil.data.kinds import KINDS
from graphveil.io import kind_read, options_of

if TYPE_CHECKING:
    from graphveil.verbs.read import Original


def original_flags(*, required: bool) -> list[inspect.Parameter]:
    """Return `--original` and, each once, the flags of the readers."""
    original: inspect.Parameter = flag(
        "original",
        Path if required else Path | None,
        "The file that the release was made from.",
        default=inspect.Parameter.empty if required else None,
    )
    flags = {
        item.name: item
        for kind in KINDS.values()
        for item in flags_of(options_of(kind), READING_GROUP)
    }
    return [original, *(item.replace(default=None) for item in flags.values())]


@contextmanager
def original_of(folder: Path, path: Path, given: dict[str, Any]) -> Iterator[Original]:
    """Give the original of a release, from a file or a pipe, and the file as long as it is there.

    Raises
    ------
    UsageError
        Where a flag belongs to another kind of data.
    """
    from graphveil.verbs.read import read_original, recorded_options  # noqa: PLC0415  not for help

    kind = kind_read(recorded_options(folder))
    with a_file(path, given.get(INPUT_FORMAT)) as file:
        asked = values_for(options_of(kind), given)
        wrong = [name for name, value in given.items() if value is not None]
        if wrong:
            raise not_for(wrong[0], kind.container)
        yield read_original(folder, file, asked)
