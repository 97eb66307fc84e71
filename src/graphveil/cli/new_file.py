"""A file that a command writes beside its answer: new, whole, for its owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.errors import UsageError
from graphveil.records.manifest import MANIFEST


def check_new_file(path: Path, inputs: Iterable[Path | None], *, force: bool) -> None:
    """Refuse a file that must not be written, before any work is done.

    Parameters
    ----------
    path
        The file.
    inputs
        What the command reads: it is never overwritten.
    force
        Whether a file that exists is replaced.

    Raises
    ------
    UsageError
        Where it is an input or a folder, it would stand in a release folder, or it exists and force
        is off.
    """
    if any(given is not None and is_same_file(given, path) for given in inputs):
        raise UsageError(f"{path} is the input, so it is not overwritten. Choose another name.")
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name a file.")
    if os.path.lexists(path.parent / MANIFEST):
        raise UsageError(
            f"{path} would stand in a release, which is for the public. Name a file elsewhere."
        )
    if os.path.lexists(path) and not force:
        raise UsageError(f"{path} exists. Choose another name, or replace it with --force.")


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[Path]:
    """Give an empty file to write for its owner alone; it gets its name once it is whole.

    Raises
    ------
    UsageError
        Where a file of that name appeared meanwhile and force is off.
    """
    try:
        with whole_file(path, mode=OWNER_ONLY, replace=force) as part:
            yield part
    except FileExistsError as error:
        raise UsageError(
            f"{path} appeared meanwhile. Choose another name, or replace it with --force."
        ) from error


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether two names are those of one file, whether it exists or not."""
    try:
        return one.samefile(other)
    except OSError:
        return one.resolve() == other.resolve()
