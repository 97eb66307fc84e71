"""Checks on `release.json` itself: its bytes, its seal, its words, and the owner's record."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from graphveil.claims.manifest import MANIFEST, Manifest, decode_manifest, encode, seal_of
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
from graphveil.core.text import counted
from graphveil.core.version import __version__
from graphveil.verify.files.canonical import first_difference
from graphveil.verify.files.folder import sha256_of
from graphveil.verify.verdict import (
    LEVELS_NEEDED,
    PAIRS_NEEDED,
    RECORD,
    Check,
    fails,
    holds,
    judged,
    not_checked,
    one_line,
    shown,
)
from graphveil.verify.verdict import LINKAGE as LINKAGE_NEEDED

TOOL = "graphveil"

_VERSION = re.compile(r"(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){1,2}((a|b|rc|\.dev)[0-9]{1,3})?")
"""The form of a version: anything longer could carry a message. Another one is undecided."""

BYTES, SEAL, WORDS, PRODUCER = "manifest", "seal", "claim in words", "tool"
OWNER, LINKAGE_FILE = "owner's record", "linkage file"
LEVELS_FILE, PAIRS_FILE = "levels file", "file of chosen pairs"


class Owner(NamedTuple):
    """What lies in the private folder beside the release."""

    record: Record | None
    problem: str | None = None
    linkage: tuple[Path, ...] = ()
    levels: Path | None = None
    witness: Path | None = None


def read_owner(folder: Path | None) -> Owner:
    """Return the owner's part; none where it belongs to somebody else, or beside an address.

    A record that is there but is none is a problem, not an error.
    """
    if folder is None:
        return Owner(None)
    private = private_folder(folder)
    linkage: tuple[Path, ...] = ()
    files: list[Path | None] = [None, None]
    try:
        linkage = tuple(linkage_files(private))
        paths = [private / name for name in (LEVELS, WITNESS)]
        files = [path if path.is_file() else None for path in paths]
        return Owner(read_record(folder), None, linkage, *files)
    except PermissionError:
        return Owner(None)
    except (GraphveilError, OSError, RecursionError) as error:
        return Owner(None, one_line(error), linkage, *files)


def decoded(raw: bytes) -> Manifest | Check:
    """Return the manifest in these bytes, or the failing check that says why there is none."""
    try:
        return decode_manifest(raw, where=Path(MANIFEST))
    except (GraphveilError, RecursionError) as error:
        return fails(BYTES, one_line(error))


def manifest_checks(raw: bytes, manifest: Manifest, owner: Owner) -> list[Check]:
    """Return the checks on the manifest's bytes and words."""
    return [
        _bytes(raw, manifest),
        _seal(manifest),
        _owner(raw, owner),
        _linkage_file(owner),
        *_further_files(owner),
        _producer(manifest),
        _words(manifest),
    ]


def _bytes(raw: bytes, manifest: Manifest) -> Check:
    canonical = encode(manifest)
    if raw == canonical:
        return holds(BYTES, f"the {counted(len(raw), 'byte')} of {MANIFEST} are canonical")
    position = first_difference(raw, canonical)
    line = raw[:position].count(b"\n") + 1
    return fails(
        BYTES,
        (
            f"{MANIFEST}, line {line}: byte {position} differs from the canonical "
            "form that graphveil writes"
        ),
    )


def _seal(manifest: Manifest) -> Check:
    seal = seal_of(manifest)
    if manifest.seal == seal:
        return holds(SEAL, f"the seal {seal[:12]} matches {MANIFEST}")
    return fails(
        SEAL,
        (
            f"{MANIFEST} has the seal {shown(manifest.seal[:12])}, but the seal of its "
            f"content is {seal[:12]}"
        ),
    )


def _owner(raw: bytes, owner: Owner) -> Check:
    if owner.problem:
        return fails(OWNER, owner.problem)
    if owner.record is None:
        return not_checked(OWNER, "there is no private record next to the folder", needs=RECORD)
    digest = hashlib.sha256(raw).hexdigest()
    if owner.record.manifest_sha256 == digest:
        return holds(OWNER, f"the record belongs to {MANIFEST} {digest[:12]}")
    return fails(
        OWNER,
        f"the record belongs to a {MANIFEST} with SHA-256 "
        f"{shown(owner.record.manifest_sha256[:12])}, but this one has {digest[:12]}",
    )


def _linkage_file(owner: Owner) -> Check:
    """Whether the linkage is the file that was written with the record."""
    if owner.record is None:
        return not_checked(LINKAGE_FILE, "there is no private record", needs=RECORD)
    written = owner.record.linkage_sha256
    files = owner.linkage
    digest = sha256_of(files[0]) if files else None
    if files and files[0].name != LINKAGE:
        digest = digest_of_parts(map(sha256_of, files))
    return _as_recorded(LINKAGE_FILE, LINKAGE, digest, written, LINKAGE_NEEDED)


def _further_files(owner: Owner) -> list[Check]:
    """Whether levels and chosen pairs are as they were written; nothing where there are none."""
    if owner.record is None:
        return []
    files = (
        (LEVELS_FILE, LEVELS, owner.levels, owner.record.levels_sha256, LEVELS_NEEDED),
        (PAIRS_FILE, WITNESS, owner.witness, owner.record.witness_sha256, PAIRS_NEEDED),
    )
    return [
        _as_recorded(check, name, None if path is None else sha256_of(path), written, needed)
        for check, name, path, written, needed in files
        if path or written
    ]


def _as_recorded(
    check: str, name: str, digest: str | None, written: str | None, needed: str
) -> Check:
    """Whether an owner's file has the digest that the record states."""
    if digest == written:
        kept = f"has the SHA-256 {digest[:12]}, as the record states" if digest else "was not kept"
        return holds(check, f"{name} {kept}")
    if digest is None:
        return not_checked(check, f"{name} is missing", needs=needed)
    stated = shown(written[:12]) if written else "none"
    return fails(check, f"{name} has the SHA-256 {digest[:12]}, but the record states {stated}")


def _producer(manifest: Manifest) -> Check:
    """Whether this version of the tool wrote the release; of another one nothing can be said."""
    if manifest.tool != TOOL:
        return fails(PRODUCER, f"the tool is {shown(manifest.tool)}, not {TOOL}")
    if not _VERSION.fullmatch(manifest.version):
        return fails(PRODUCER, f"{shown(manifest.version)} is not a version of {TOOL}")
    if manifest.version != __version__:
        return not_checked(
            PRODUCER,
            f"written by version {shown(manifest.version)}, this is version {__version__}: verify "
            "it with the version that wrote it",
            needs=f"version {shown(manifest.version)}",
        )
    return holds(PRODUCER, f"{TOOL} {manifest.version}")


def _words(manifest: Manifest) -> Check:
    """Whether every sentence of the claim is the one that the guarantee has.

    Another version may word the same guarantee differently: there it is not decided.
    """
    claim, guarantee = manifest.claim, manifest.claim.guarantee
    worded = [
        f"{name} is {shown(said)}, but for this guarantee it must be {shown(own)}"
        for name, said, own in (
            ("sentence", claim.sentence, guarantee.sentence),
            ("threat_model", claim.threat_model, guarantee.threat_model),
            ("check", claim.check, guarantee.check_word),
            ("why", claim.why, guarantee.why),
        )
        if said != own
    ]
    repeated = [c for c in claim.conditions if claim.conditions.count(c) > 1]
    twice = bool(repeated) or bool(set(claim.conditions) & set(guarantee.implied))
    if worded and not twice and manifest.version != __version__:
        return not_checked(
            WORDS,
            f"this version words the claim differently: {worded[0]}",
            needs=f"version {shown(manifest.version)}",
        )
    problems = [*worded, *(["a condition is stated twice"] if twice else [])]
    return judged(
        WORDS, problems, ("sentence, threat_model, check and why are those of the guarantee")
    )
