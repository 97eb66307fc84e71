"""New ids: the data is the same apart from them, and they come from the owner's key.

Claim checked: `SameData` (each kind of data compares itself with the linked original), and
`KeyedIds`: nothing else is claimed with ids from a key, and every id is 63 bits of HMAC-SHA256 of
the original id under the owner's key, computed again from the key.

What the files cannot show: without the key, that ids depend on nothing but the original ids and
it.

Cost: one HMAC per id.
"""

from __future__ import annotations

import hmac

import numpy as np

from graphveil.claims.conditions import ItemsAreUsers, KeyedIds, SameData
from graphveil.claims.guarantees import NotClaimed
from graphveil.claims.manifest import ID_COLUMN
from graphveil.core.text import counted
from graphveil.data import Data
from graphveil.data.ids import as_text
from graphveil.verify.evidence import Evidence
from graphveil.verify.recount.linkage import released_ids
from graphveil.verify.verdict import Check, fails, holds, judged, not_checked, shown

SAME = "same data"
FREE, FROM_KEY = "ids of their own", "ids from the key"
KEY = "the owner's key (--key)"
ONLY_THE_KEY = "whether the ids depend on nothing but the original ids and the key"
_BESIDE_A_KEY = (KeyedIds, SameData, ItemsAreUsers)
"""Conditions that may be stated next to ids from a key: each is checked for any ids."""

_PURPOSE = b"graphveil rename 1\0"
"""What the HMAC is for: a key that is also used elsewhere gives other values there."""


def same_data(evidence: Evidence, _condition: SameData) -> Check:
    """Whether release and original are the same apart from the ids."""
    return evidence.kind.same(evidence)


def nothing_claimed(evidence: Evidence, _condition: KeyedIds) -> Check:
    """Whether nothing else is claimed: without the key nobody can check these ids."""
    # Ids that no reader can check could carry anything, so nothing else may be claimed next to
    # them.
    claim, problems = evidence.manifest.claim, []
    if not isinstance(claim.guarantee, NotClaimed):
        problems.append(
            "ids from a key cannot be combined with a guarantee, which requires ids 0, 1, 2, ..."
        )
    problems += [
        f"ids from a key cannot be combined with this condition: {stated.sentence}"
        for stated in claim.conditions
        if not isinstance(stated, _BESIDE_A_KEY)
    ]
    # Ids 0..n-1 do not come from a key.
    published = f"SELECT max(i), count(*) FROM ({evidence.kind.published})"
    most, n = evidence.tables.first(published) or (None, 0)
    if n > 1 and most is not None and most < n:
        problems.append(f"the ids are 0 to {n - 1}, which no key yields")
    if evidence.kind.changes is None and evidence.file().columns[:1] != [ID_COLUMN]:
        name = shown("".join(evidence.file().columns[:1]))
        problems.append(f"the column of ids is named {name}, not {ID_COLUMN!r}")
    return judged(problems, "no guarantee is claimed, so ids may differ from 0, 1, 2, ...")


def ids_from_key(evidence: Evidence, _condition: KeyedIds) -> Check:
    """Whether every published id is the one that the owner's key yields."""
    if evidence.key is None or evidence.original is None:
        return not_checked(ONLY_THE_KEY, needs=KEY)
    # HMAC of each original id, computed again with the key that was given.
    expected = _ids_of(evidence.key, evidence.original)
    other = int(np.count_nonzero(released_ids(evidence.tables) != expected))
    if other:
        return fails(
            f"{other} of {counted(expected.size, 'id')} are not those that the given key yields"
        )
    return holds(f"the given key yields all {counted(expected.size, 'id')}")


def _ids_of(key: bytes, original: Data) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return 63 bits of HMAC-SHA256 of every original id, as the condition says."""
    texts = as_text(original.labels()).tolist()
    whole = (
        hmac.digest(key, _PURPOSE + t.encode("utf-8", "surrogatepass"), "sha256") for t in texts
    )
    return np.array([int.from_bytes(digest[:8], "big") >> 1 for digest in whole], dtype=np.int64)
