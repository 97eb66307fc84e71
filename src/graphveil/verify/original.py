"""The checks that only the original decides: is it this one, and is the linkage one to one.

Claim checked: the data given is the one that the release was made from (its digest is in the
owner's record), both have the same size, the owner's linkage matches original and published ids
one to one, and neither the new ids nor their order say anything of the original.

Means: the original is what the program's reader made of it; nothing of the method is used. The
linkage is read from its file by SQL and is not trusted (`recount.linkage`). Once it holds, the
kind of data puts the original under its published ids, and the checks with the need ``linkage``
follow.

What the files cannot show: whether the ids were drawn at random. A permutation is refused only if
chance practically never gives it (`recount.order_leaks`).
"""

from __future__ import annotations

from typing import Any

import duckdb
import msgspec
import numpy as np

from graphveil.claims.facts import is_digest_of
from graphveil.claims.manifest import Manifest
from graphveil.claims.record import LINKAGE as LINKAGE_FILE
from graphveil.core.text import counted, singular
from graphveil.data import Data
from graphveil.data.kinds import KINDS, as_original, beside, kind_of
from graphveil.verify import verdict
from graphveil.verify.claim_check import UNREADABLE
from graphveil.verify.database import Database
from graphveil.verify.evidence import Evidence
from graphveil.verify.files.owner import Owner
from graphveil.verify.original_ids import no_original_ids
from graphveil.verify.recount.linkage import linkage_problems, load_linkage, released_ids
from graphveil.verify.recount.order_leaks import order_leaks
from graphveil.verify.rows_are_people import rows_are_as_said
from graphveil.verify.verdict import Check, fails, holds, judged, named, not_checked

SAME, SIZE, BIJECTION = "original", "same size", "linkage"
ORDER, NAMES = verdict.OF_EVERY_RELEASE

_OPEN = {
    ORDER: "whether new ids and their order reveal nothing about the original",
    NAMES: "whether no original id is published",
}
"""What is stated of every release and stays open without the original."""


def original_checks(
    evidence: Evidence, owner: Owner, original: Any
) -> tuple[list[Check], Evidence]:
    """Return the checks that need the original, and the evidence with the original linked."""
    # Without an original, every check here is reported as not made, with what it would need.
    manifest, db, kind = evidence.manifest, evidence.db, evidence.kind
    names = (SIZE, *kind.shared_names, BIJECTION, ORDER)
    if original is None:
        absent = "no original was given"
        every = dict.fromkeys((SAME, *names, NAMES), absent) | _OPEN
        unmade = {n: not_checked(why, needs=verdict.ORIGINAL) for n, why in every.items()}
        return named(unmade | rows_are_as_said(manifest, owner, None)), evidence
    # Step 1: bring the original into the container of this kind of data, and compare its digest
    # with the one in the owner's record: is it the data that the release was made from?
    container = KINDS[manifest.data.kind].container
    exact = manifest.data.columns is not msgspec.UNSET
    original = as_original(original, container, wanted_by="verify", exact=exact)
    original = beside(original, container, people=evidence.has_people)
    same = _same(manifest, owner, original)
    further = rows_are_as_said(manifest, owner, original) | {
        NAMES: no_original_ids(evidence, original)
    }
    if same.outcome == "fails" or db is None:
        why = UNREADABLE if db is None else "a different original was given"
        unlinked = {SAME: same, **dict.fromkeys(names, not_checked(why))}
        return named(unlinked | further), evidence._replace(why_not=why)
    # Step 2: the linkage. All comparisons below go through it, so it must be one to one between the
    # original and the published ids.
    published = kind.published if evidence.keyed else None
    linkage = _linkage(db, owner, original, published)
    linked = linkage.outcome == "holds"
    compared = evidence._replace(original=original, linked=linked)
    # Step 3: what can be compared without knowing who is whom: sizes and shared names.
    shared, why_not = kind.shared(compared)
    order = _order(db, original, linked=linked)
    size = db.number(f"SELECT count(*) FROM {kind.tables[0]}")
    people = KINDS[manifest.data.kind].people
    other = [f"{size} {people} in the release, but {original.size} in the original"]
    sizes = judged(other if size != original.size else [], f"{size} {people} in both")
    made = (same, sizes, *shared, linkage, order)
    checks = named(dict(zip((SAME, *names), made, strict=True)) | further)
    if why_not is not None:
        return checks, evidence._replace(why_not=why_not)
    # Step 4: put the original under the published ids, for the checks of the claim that follow.
    if linked:
        kind.link(db, original, released_ids(db))
    return checks, compared


def _same(manifest: Manifest, owner: Owner, original: Data) -> Check:
    kind = kind_of(original).name
    if kind != manifest.data.kind:
        return fails(
            f"the release is of kind {manifest.data.kind}, but the original given is of kind {kind}"
        )
    if owner.record is None:
        return not_checked("whether the release was made from this data", needs=verdict.RECORD)
    if is_digest_of(owner.record.input_sha256, original):
        return holds(f"the {kind} given has the digest stated in the private record")
    another = f"this is not the original: the {kind} given has a different digest"
    return fails(another + _another_number(manifest, original))


def _another_number(manifest: Manifest, original: Data) -> str:
    """Return advice for an original with another number of nodes or users than the release."""
    what = KINDS[manifest.data.kind].everyone
    released = manifest.data.counts.get(what or "")
    if what is None or released is None or released == original.size:
        return ""
    return (
        f" and {counted(original.size, singular(what))}, but the release has "
        f"{released}. If it was made with --{what}, give the same list again"
    )


def _linkage(db: Database, owner: Owner, original: Data, published: str | None) -> Check:
    """Whether the linkage is one to one between original and published ids."""
    if not owner.linkage:
        return not_checked("which node stands for which", needs=verdict.LINKAGE)
    try:
        load_linkage(db, owner.linkage, original)
    except duckdb.Error as error:
        return fails(f"{LINKAGE_FILE} cannot be read: {verdict.one_line(error)}")
    n = original.size
    otherwise = f"{n} original ids and {n} published ids, matched one to one"
    return judged(linkage_problems(db, LINKAGE_FILE, published), otherwise)


def _order(db: Database, original: Data, *, linked: bool) -> Check:
    """Whether new ids and their order are consistent with a random permutation."""
    if not linked:
        return not_checked(_OPEN[ORDER], needs=verdict.LINKAGE)
    labels = original.labels()
    released = np.asarray(released_ids(db), dtype=np.int64)
    integers = labels if labels.dtype.kind == "i" else None
    n = f"{original.size} new ids"
    return judged(order_leaks(released, integers), f"the order of {n} is consistent with chance")
