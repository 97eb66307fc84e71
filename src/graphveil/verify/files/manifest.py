"""Whether the manifest is the one that graphveil writes: its bytes, seal, words and version.

Claim checked: the bytes are the canonical encoding of their content; the seal is the digest of
the content; the sentences are those that the typed guarantee has in this version; the tool's name
and version are plain. A manifest of another version may word the same guarantee differently: that
is *not checked* rather than wrong.

What the files cannot show: who wrote a manifest. The seal finds accidents, not a forger, who can
compute it as well; a forged claim is refused by the checks of the data.
"""

from __future__ import annotations

import re
from pathlib import Path

from graphveil.claims.manifest import MANIFEST, Manifest, decode_manifest, encode, seal_of
from graphveil.core.errors import GraphveilError
from graphveil.core.text import counted
from graphveil.core.version import __version__
from graphveil.verify import verdict
from graphveil.verify.files.canonical_text import first_difference
from graphveil.verify.files.owner import (
    LINKAGE_FILE,
    OWNER,
    Owner,
    further_file_checks,
    linkage_file_check,
    record_check,
)
from graphveil.verify.verdict import Check, fails, holds, judged, not_checked, one_line, shown

TOOL = "graphveil"
"""The name of the program that a manifest must state."""

_VERSION = re.compile(r"(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){1,2}((a|b|rc|\.dev)[0-9]{1,3})?")
"""The form of a version: anything longer could carry a message. Another one is undecided."""

BYTES, SEAL, WORDS, PRODUCER = "manifest", "seal", "claim in words", "tool"


def decoded(raw: bytes) -> Manifest | Check:
    """Return the manifest in these bytes, or the failing check that says why there is none."""
    try:
        return decode_manifest(raw, where=Path(MANIFEST))
    except (GraphveilError, RecursionError) as error:
        return fails(one_line(error))


def manifest_checks(raw: bytes, manifest: Manifest, owner: Owner) -> list[Check]:
    """Return the checks on the manifest's bytes and words."""
    of_manifest = {BYTES: _bytes(raw, manifest), SEAL: _seal(manifest)}
    of_owner = {OWNER: record_check(raw, owner), LINKAGE_FILE: linkage_file_check(owner)}
    in_words = {PRODUCER: _producer(manifest), WORDS: _words(manifest)}
    return verdict.named(of_manifest | of_owner | further_file_checks(owner) | in_words)


def _bytes(raw: bytes, manifest: Manifest) -> Check:
    # Encode the decoded manifest again: any other spelling of the same values could carry a
    # message.
    canonical = encode(manifest)
    if raw == canonical:
        return holds(f"the {counted(len(raw), 'byte')} of {MANIFEST} are canonical")
    position = first_difference(raw, canonical)
    line = raw[:position].count(b"\n") + 1
    return fails(
        f"{MANIFEST}, line {line}: byte {position} differs from the canonical form that graphveil "
        "writes"
    )


def _seal(manifest: Manifest) -> Check:
    seal = seal_of(manifest)
    if manifest.seal == seal:
        return holds(f"the seal {seal[:12]} matches {MANIFEST}")
    return fails(
        f"{MANIFEST} has the seal {shown(manifest.seal[:12])}, but the seal of its content is "
        f"{seal[:12]}"
    )


def _producer(manifest: Manifest) -> Check:
    """Whether this version of the tool wrote the release; undecided for another version."""
    if manifest.tool != TOOL:
        return fails(f"the tool is {shown(manifest.tool)}, not {TOOL}")
    if not _VERSION.fullmatch(manifest.version):
        return fails(f"{shown(manifest.version)} is not a version of {TOOL}")
    # Another version may define formats and words differently, so nothing is decided here.
    if manifest.version != __version__:
        return not_checked(
            f"written by version {shown(manifest.version)}, this is version {__version__}: verify "
            "it with the version that wrote it",
            needs=f"version {shown(manifest.version)}",
        )
    return holds(f"{TOOL} {manifest.version}")


def _words(manifest: Manifest) -> Check:
    """Whether every sentence of the claim is the one that the guarantee has.

    Another version may word the same guarantee differently: there it is not decided.
    """
    claim, guarantee = manifest.claim, manifest.claim.guarantee
    # What the manifest says in words must be what the typed guarantee says in this version.
    worded = [
        f"{name} is {shown(stated)}, but for this guarantee it must be {shown(own)}"
        for name, stated, own in (
            ("sentence", claim.sentence, guarantee.sentence),
            ("threat_model", claim.threat_model, guarantee.threat_model),
            ("check", claim.check, guarantee.check_word),
            ("why", claim.why, guarantee.why),
        )
        if stated != own
    ]
    # A condition that is stated twice, or that the guarantee implies, adds nothing but bits.
    repeated = [c for c in claim.conditions if claim.conditions.count(c) > 1]
    twice = bool(repeated) or bool(set(claim.conditions) & set(guarantee.implied))
    if worded and not twice and manifest.version != __version__:
        return not_checked(
            f"this version words the claim differently: {worded[0]}",
            needs=f"version {shown(manifest.version)}",
        )
    problems = [*worded, *(["a condition is stated twice"] if twice else [])]
    return judged(problems, "sentence, threat_model, check and why are those of the guarantee")
