"""A file that a command writes beside its answer: new, whole, for its owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.errors import UsageError


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
        Where it is an input, or it exists and force is off.
    """
    if any(given is not None and _is_same(given, path) for given in inputs):
        raise UsageError(f"{path} is the input, so it is not overwritten. Choose another name.")
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


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
