"""The original of a release, read again as it was read when the release was made."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any, NamedTuple

from graphveil.cli.flags import READING_GROUP, flag, flags_of, not_for, values_for
from graphveil.data import Data, Table
from graphveil.data.kinds import KINDS
from graphveil.io import AnyOptions, load, options_of
from graphveil.io.options import from_record
from graphveil.progress import stage

READ_ALIKE = {"items", "directed", "ignore_weights", "nodes", "users"}
"""Options that change what is made of the cells of a file, but not which cells are ids."""

SAME = {"header": "yes", "layout": "pairs"}
"""Values of other options under which a plain file is read as by default."""


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


class Original(NamedTuple):
    """The original as it was read, and its file where another reader would read it alike."""

    original: Data
    original_file: Path | None
    options: AnyOptions


def read_original(folder: Path, path: Path, given: dict[str, Any]) -> Original:
    """Return the original; what the flags do not say is taken from the private record.

    Raises
    ------
    UsageError
        Where a flag belongs to another kind of data.
    """
    from graphveil.records import manifest, record  # noqa: PLC0415  help needs none of it

    private = record.read_record(folder)
    name = private.reading.get("kind") if private else None
    kind = KINDS[name or manifest.read_manifest(folder).data.kind]
    kept = from_record(options_of(kind)(), private.reading if private else {})
    asked = values_for(options_of(kind), given)
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        raise not_for(wrong[0], kind.container)
    options = dataclasses.replace(kept, **asked)
    with stage(f"reading {path.name}"):
        data: Data = load(path, options).data
    as_recorded = isinstance(data, Table) and options == kept
    file = path if as_recorded or _is_plainly_read(options) else None
    return Original(data, file, options)


def _is_plainly_read(options: AnyOptions) -> bool:
    """Whether these options leave it to the file which cells are ids."""
    return all(
        field.name in READ_ALIKE
        or getattr(options, field.name) in (field.default, SAME.get(field.name))
        for field in dataclasses.fields(options)
    )
