"""The flags of an original, which is read again as it was when the release was made."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.cli.flags import INPUT_FORMAT, READING_GROUP, flag, flags_of, not_for, values_for
from graphveil.cli.pipes import a_file, is_pipe
from graphveil.cli.shell_words import command_line, file_word, flag_words
from graphveil.data.kinds import KINDS
from graphveil.io import kind_read, options_of

if TYPE_CHECKING:
    from graphveil.places.address import Place
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


def reading_words(options: Any) -> list[str]:
    """Return the flags that read a file as these options do.

    Examples
    --------
    >>> from graphveil.io import TableOptions
    >>> reading_words(TableOptions(categories=("?",)))
    ['--categories', '?']
    """
    words: list[str] = []
    for field in fields(options):
        value = getattr(options, field.name)
        default = field.default if field.default is not MISSING else None
        if field.default_factory is not MISSING:
            default = field.default_factory()
        if value == default or value is None:
            continue
        name = INPUT_FORMAT if field.name == "format" else field.name
        if value is True:
            words.append(f"--{name.replace('_', '-')}")
        elif isinstance(value, Path):
            words += () if is_pipe(value) else flag_words(name, file_word(value))
        elif isinstance(value, Mapping):
            words += flag_words(name, *(f"{one}={how}" for one, how in value.items()))
        else:
            several = value if isinstance(value, tuple | list) else (value,)
            words += flag_words(name, *map(str, several))
    return words


def command_beside(verb: str, folder: Path, original: str, options: object, *words: str) -> str:
    """Return a command on a release and its original; the private record says how to read.

    Parameters
    ----------
    verb
        The command.
    folder
        The release.
    original
        The original's file, as it can be given again.
    options
        How it was read: files that belong to it are named again. What came from a second pipe
        could not be read again, and is left out.
    words
        Further words.
    """
    given = [verb, file_word(folder), "--original", original]
    for name, value in vars(options).items():
        if isinstance(value, Path) and not is_pipe(value):
            given += flag_words(name, file_word(value))
    return command_line(*given, *words)


@contextmanager
def original_of(
    folder: Place, path: Path, given: dict[str, Any], *, on_disk: bool = False
) -> Iterator[Original]:
    """Give the original of a release, from a file or a pipe, and the file as long as it is there.

    Raises
    ------
    UsageError
        Where a flag belongs to another kind of data.
    """
    from graphveil.verbs.read import (  # noqa: PLC0415  not for help
        original_on_disk,
        read_original,
        recorded_options,
    )

    kind = kind_read(recorded_options(folder))
    with a_file(path, given.get(INPUT_FORMAT)) as file:
        asked = values_for(options_of(kind), given)
        wrong = [name for name, value in given.items() if value is not None]
        if wrong:
            raise not_for(wrong[0], kind.container)
        if on_disk:
            with original_on_disk(folder, file, asked) as original:
                yield original
        else:
            yield read_original(folder, file, asked)
