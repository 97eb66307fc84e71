"""The owner's private folder next to a release: record, linkage, levels and chosen pairs.

Claim checked: the record belongs to this manifest (by its digest), and the other private files
have the digests that the record states. A reader of the release has none of these: then the
checks are *not checked*. A file in their place that cannot be read as one fails.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from graphveil.claims.manifest import MANIFEST
from graphveil.claims.record import (
    LEVELS,
    LINKAGE,
    WITNESS,
    Record,
    digest_of_parts,
    linkage_files,
    private_folder,
    read_record,
)
from graphveil.core.errors import GraphveilError
from graphveil.verify import verdict
from graphveil.verify.files.released import sha256_of
from graphveil.verify.verdict import Check, fails, holds, not_checked, one_line, shown

OWNER, LINKAGE_FILE = "owner's record", "linkage file"
LEVELS_FILE, PAIRS_FILE = "levels file", "file of chosen pairs"


class Owner(NamedTuple):
    """What is in the private folder next to the release."""

    record: Record | None
    problem: str | None = None
    linkage: tuple[Path, ...] = ()
    levels: Path | None = None
    witness: Path | None = None


def read_owner(folder: Path | None) -> Owner:
    """Return the owner's files; none at an address, or if the folder is another user's.

    A file in its place that is not a record is a problem, not an error.
    """
    if folder is None:
        return Owner(None)
    # Names only, no contents yet: linkage, levels and pairs are read by the checks that need them.
    private = private_folder(folder)
    linkage: tuple[Path, ...] = ()
    files: list[Path | None] = [None, None]
    try:
        linkage = tuple(linkage_files(private))
        paths = [private / name for name in (LEVELS, WITNESS)]
        files = [path if path.is_file() else None for path in paths]
        return Owner(read_record(folder), None, linkage, *files)
    # Someone else's private folder: this reader is not the owner.
    except PermissionError:
        return Owner(None)
    except (GraphveilError, OSError, RecursionError) as error:
        return Owner(None, one_line(error), linkage, *files)


def record_check(raw: bytes, owner: Owner) -> Check:
    """Whether the private record belongs to this manifest, by the digest of its bytes."""
    if owner.problem:
        return fails(owner.problem)
    if owner.record is None:
        return not_checked("there is no private record next to the folder", needs=verdict.RECORD)
    # The manifest is public and may be replaced: the owner's record pins its bytes.
    digest = hashlib.sha256(raw).hexdigest()
    if owner.record.manifest_sha256 == digest:
        return holds(f"the record belongs to {MANIFEST} {digest[:12]}")
    return fails(
        f"the record belongs to a {MANIFEST} with SHA-256 "
        f"{shown(owner.record.manifest_sha256[:12])}, but this one has {digest[:12]}"
    )


def linkage_file_check(owner: Owner) -> Check:
    """Whether the linkage is the file that was written with the record."""
    if owner.record is None:
        return not_checked("there is no private record", needs=verdict.RECORD)
    # A linkage in parts is digested part by part, as it was written.
    written = owner.record.linkage_sha256
    files = owner.linkage
    digest = sha256_of(files[0]) if files else None
    if files and files[0].name != LINKAGE:
        digest = digest_of_parts(map(sha256_of, files))
    return _as_recorded(LINKAGE, digest, written, verdict.LINKAGE)


def further_file_checks(owner: Owner) -> dict[str, Check]:
    """Whether the levels and the chosen pairs have the recorded digests, where there are such."""
    record = owner.record
    if record is None:
        return {}
    levels = LEVELS, owner.levels, record.levels_sha256, verdict.LEVELS_NEEDED
    pairs = WITNESS, owner.witness, record.witness_sha256, verdict.PAIRS_NEEDED
    return {
        check: _as_recorded(name, None if path is None else sha256_of(path), written, needed)
        for check, (name, path, written, needed) in ((LEVELS_FILE, levels), (PAIRS_FILE, pairs))
        if path or written
    }


def _as_recorded(name: str, digest: str | None, written: str | None, needed: str) -> Check:
    """Whether an owner's file has the digest that the record states."""
    # None on both sides: the file was not kept, and is not there.
    if digest == written:
        kept = f"has the SHA-256 {digest[:12]}, as the record states" if digest else "was not kept"
        return holds(f"{name} {kept}")
    if digest is None:
        return not_checked(f"{name} is missing", needs=needed)
    stated = shown(written[:12]) if written else "none"
    return fails(f"{name} has the SHA-256 {digest[:12]}, but the record states {stated}")
