"""Nothing of the file system says more than the files: no links, no extended attributes.

Claim checked, with ``strict`` alone: the folder holds plain files with one name each and without
extended attributes. Digests count the bytes of files; names of other files and attributes could
carry what a reader of the data looks for, and an archive or a copy may carry them along.

What the files cannot show: at an address (an object store) what is kept in addition to the bytes
is not read, so both are *not checked*.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from graphveil.core.text import counted
from graphveil.verify import verdict
from graphveil.verify.verdict import Check, judged, not_checked, shown

LINKS, ATTRIBUTES = "no links", "no extended attributes"
_LABELS = {"security.selinux"}
"""Attributes that a system gives to every file by itself: they say nothing of the data."""


def strict_checks(folder: Path | None) -> list[Check]:
    """Return whether the folder holds nothing but plain files with one name and no attributes.

    Names of other files, and bytes that no digest counts, could stand in what is looked for here.
    An archive of the folder, or a copy of it, may carry them along.
    """
    if folder is None:
        why = "what a store keeps in addition to the bytes of objects is not read"
        return verdict.named(dict.fromkeys((LINKS, ATTRIBUTES), not_checked(why)))
    # Everything beneath the folder; links are listed and never followed.
    paths = sorted(folder.rglob("*"))  # which follows no link
    # A symbolic link or a second hard link is a name that no digest counts.
    links = [problem for path in paths if (problem := _link_problem(path, folder))]
    plain = f"no symbolic link and no second hard link among {counted(len(paths), 'file')}"
    return verdict.named({LINKS: judged(links, plain), ATTRIBUTES: _attributes(folder, paths)})


def _link_problem(path: Path, folder: Path) -> str | None:
    """Return why a path is a link or has several names; None if it is a plain file or folder."""
    name, status = shown(path.relative_to(folder).as_posix()), path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return f"{name} is a symbolic link"
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        return f"{name} has {status.st_nlink} names: the others are hard links to it"
    return None


def _attributes(folder: Path, paths: list[Path]) -> Check:
    """Whether nothing has an extended attribute, the folder itself included."""
    # Extended attributes exist on few systems: where they cannot be listed, nothing is said.
    if not hasattr(os, "listxattr"):
        return not_checked("this system or its Python cannot list them")
    problems = []
    try:
        for path in (folder, *paths):
            # The folder may be named by a link; of the links inside, their own are meant.
            listed = os.listxattr(path, follow_symlinks=path == folder)
            name = "the folder" if path == folder else shown(path.relative_to(folder).as_posix())
            problems += [
                f"{name} has the extended attribute {shown(one)}"
                for one in sorted({*listed} - _LABELS)
            ]
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            return not_checked(f"they cannot be listed ({error.strerror})")
    n = counted(len(paths), "file")
    return judged(problems, f"neither the folder nor any of {n} has an extended attribute")
