"""What a file system keeps of a release folder beside the bytes of its files: links, attributes."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from graphveil.verify.verdict import Check, counted, judged, not_checked, shown

LINKS, ATTRIBUTES = "no links", "no extended attributes"

_LABELS = {"security.selinux"}
"""Attributes that a system gives to every file by itself."""


def strict_checks(folder: Path | None) -> list[Check]:
    """Return whether the folder holds nothing but plain files with one name and no attributes.

    Names of other files, and bytes that no digest counts, could stand in what is looked for here.
    An archive of the folder, or a copy of it, may carry them along.

    Parameters
    ----------
    folder
        The release folder, itself perhaps named by a link; None at an address.
    """
    if folder is None:
        why = "what a store keeps beside the bytes of objects is not read"
        return [not_checked(LINKS, why), not_checked(ATTRIBUTES, why)]
    paths = sorted(_inside(folder))
    links = [problem for path in paths if (problem := _link_problem(path, folder))]
    plain = f"{counted(len(paths), 'file')}, none a link, each with one name"
    return [judged(LINKS, links, plain), _attributes(folder, paths)]


def _inside(folder: Path) -> Iterator[Path]:
    """Yield whatever lies in a folder, at any depth; no link is followed."""
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *files))


def _link_problem(path: Path, folder: Path) -> str | None:
    """Return why a path is no file with one name, or None; of a folder the links are its own."""
    name, status = shown(path.relative_to(folder).as_posix()), path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return f"{name} is a symbolic link"
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        return f"{name} has {status.st_nlink} names: others are hard links to it"
    return None


def _attributes(folder: Path, paths: list[Path]) -> Check:
    """Whether nothing has an extended attribute, the folder itself included."""
    if not hasattr(os, "listxattr"):
        return not_checked(ATTRIBUTES, "this system, or its Python, does not list them")
    problems = []
    try:
        for path in (folder, *paths):
            # The folder may be named by a link; of the links inside, their own are meant.
            listed = os.listxattr(path, follow_symlinks=path == folder)
            name = "the folder" if path == folder else shown(path.relative_to(folder).as_posix())
            problems += [f"{name} has {shown(one)}" for one in sorted({*listed} - _LABELS)]
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            return not_checked(ATTRIBUTES, f"they cannot be listed ({error.strerror})")
    n = counted(len(paths), "file")
    return judged(ATTRIBUTES, problems, f"neither the folder nor one of {n} has any")
