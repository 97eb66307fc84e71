"""Whether the files of a release are those that the manifest lists: sizes, digests, and no others.

Claim checked: each listed file is there with the stated number of bytes and SHA-256; nothing else
is in the folder. A file that was only converted to CR LF, packed, or left behind by an operating
system gets a message that says so: these are accidents of copying.

Cost: one pass over the bytes. A file above the limit is not read at all, unless its data is read
some rows at a time.
"""

from __future__ import annotations

import hashlib
import re

from graphveil.claims import parts
from graphveil.claims.manifest import MANIFEST, DataFile, Manifest
from graphveil.core.errors import ResourceError
from graphveil.core.hints import option
from graphveil.core.text import counted
from graphveil.verify import verdict
from graphveil.verify.evidence import CheckedKind
from graphveil.verify.files.canonical_text import CRLF, DELIMITERS
from graphveil.verify.files.description import description_check
from graphveil.verify.files.released import Released, is_plain_name, sha256_of
from graphveil.verify.verdict import Check, fails, judged, shown

_STRAY = re.compile(
    r"\.ds_store|\._.*|__macosx|thumbs\.db|ehthumbs\.db|desktop\.ini|\.directory", re.IGNORECASE
)
"""Names of files that operating systems write into folders that someone looks at."""

FILES, OTHERS, DESCRIPTION = "files", "no other files", "description"


def file_checks(
    released: Released, manifest: Manifest, kind: CheckedKind, limit_bytes: int
) -> list[Check]:
    """Return the checks of the listed files, of other files, and of their description."""
    files = manifest.data.files
    # Data that is read some rows at a time has no limit on its bytes; all else must fit into
    # memory.
    limits = {
        file.name: None if file.role == "data" and file.format in kind.unrolled else limit_bytes
        for file in files
    }
    found = (file_problem(released, file, limits[file.name]) for file in files)
    problems = [problem for problem in found if problem]
    n = len(files)
    what = "1 file has the size and SHA-256" if n == 1 else f"{n} files have the sizes and SHA-256"
    as_stated = {FILES: judged(problems, f"{what} that {MANIFEST} states")}
    description = {DESCRIPTION: description_check(manifest.data, kind)}
    return verdict.named(as_stated | _others(released, files) | description)


_PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip")
"""Endings of packed files: a missing file may be there in one of these forms."""

_MOST_READ = 1 << 28
"""The largest file, in bytes, of which CR LF line ends are recognized where no limit is set: it
is read whole. A larger one gets the plain message about its size."""


def no_file(released: Released, name: str) -> str:
    """Return why a listed file has no size: it is missing, perhaps packed, or no plain file."""
    there = released.names(with_parts=True)
    if not is_plain_name(name) or name in there:
        return f"{shown(name)} is not the name of a regular file in the folder"
    packed = next((f"{name}{end}" for end in _PACKED if f"{name}{end}" in there), None)
    return f"{name} is missing" + (f"; {packed} is there: unpack it" if packed else "")


def _has_crlf(released: Released, file: DataFile, size: int, limit_bytes: int | None) -> bool:
    """Whether a text file is the described one with all line ends converted to CR LF."""
    if file.format not in DELIMITERS or not file.bytes < size <= (limit_bytes or _MOST_READ):
        return False
    try:
        content = released.path(file.name).read_bytes()
    except OSError:
        return False
    text = content.replace(b"\r\n", b"\n")
    return len(text) == file.bytes and hashlib.sha256(text).hexdigest() == file.sha256


def file_problem(released: Released, file: DataFile, limit_bytes: int | None) -> str | None:
    """Return why a listed file is not the one described, or None."""
    # From cheap to dear: is it there, does it have the stated size, is it small enough to be read,
    # does it have the stated digest?
    size = released.size(file.name)
    if size is None:
        return no_file(released, file.name)
    # A copy through a system that writes CR LF is recognized, so that the message can say so.
    if size != file.bytes and _has_crlf(released, file, size, limit_bytes):
        return f"{file.name} {CRLF}"
    if size != file.bytes:
        return f"{file.name} has {size} bytes, but {MANIFEST} states {file.bytes}"
    if limit_bytes is not None and size > limit_bytes:
        why = verdict.beyond(file.name, size, limit_bytes)
        raise ResourceError(f"{why}. Raise {option('limit')} if you trust it")
    try:
        digest = sha256_of(released.path(file.name))
    except OSError as error:
        return f"{file.name} cannot be read ({error.strerror})"
    if digest != file.sha256:
        return (
            f"{file.name} has SHA-256 {digest[:12]}, but {MANIFEST} states "
            f"{shown(file.sha256[:12])}"
        )
    return None


def _others(released: Released, files: list[DataFile]) -> dict[str, Check]:
    """Return whether no other files are there; files of operating systems have their own check."""
    listed = {file.name for file in files} | {MANIFEST}
    try:
        names = released.names(with_parts=parts.in_parts(files))
    except OSError as error:
        return {OTHERS: fails(f"the folder cannot be listed ({error.strerror})")}
    # Whatever is not listed fails; files that operating systems write get a check of their own.
    others = [name for name in names if name not in listed]
    stray = [name for name in others if _STRAY.fullmatch(name.rpartition("/")[2])]
    problems = [
        f"{shown(name)} is in the folder but is not listed in the manifest"
        for name in others
        if name not in stray
    ]
    if released.folder is not None and (released.folder / MANIFEST).is_symlink():
        problems.append(f"{MANIFEST} is a link to another file")
    n = counted(len(names) - len(stray), "file")
    checks = {OTHERS: judged(problems, f"the folder contains {n}, all listed")}
    if stray:
        delete = "delete it" if len(stray) == 1 else "delete them"
        whose = f"an operating system wrote {'it' if len(stray) == 1 else 'them'}"
        checks[verdict.STRAY] = fails(f"{', '.join(map(shown, stray[:3]))}: {whose}, {delete}")
    return checks
