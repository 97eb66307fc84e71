"""Differential privacy: what epsilon is for, and where the noise came from.

Claim checked: the unit of epsilon (an edge, an entry, a value, a person) is one that the data
has, and a guarantee is claimed only if the owner's record knows of no seed. With a seed the noise
can be computed again, so a seeded run claims nothing.

What the files cannot show: noise. Whether it came from the operating system's entropy is what the
record says of it; everything else here only finds contradictions.
"""

from __future__ import annotations

from graphveil.claims.guarantees import EdgeDP, Guarantee, NodeDP, NotClaimed
from graphveil.core.text import counted
from graphveil.data.kinds import KINDS
from graphveil.verify.evidence import Evidence
from graphveil.verify.verdict import Check, fails, holds, judged

NOISE = "source of the noise"
UNIT = "unit of epsilon"


def source_of_noise(evidence: Evidence, promise: Guarantee) -> Check:
    """Return whether a guarantee is claimed only if the owner's record has no seed."""
    # With a seed anybody can compute the noise again, so nothing may be claimed.
    seed = None if evidence.record is None else evidence.record.seed
    if isinstance(promise, NotClaimed):
        which = "no" if seed is None else "a"
        return holds(f"the record contains {which} seed, and no guarantee is claimed")
    if seed is None:
        return holds(
            "the record contains no seed: the noise came from the operating system's entropy"
        )
    return fails("the record contains a seed, so no guarantee may be claimed")


def unit_of_epsilon(evidence: Evidence, promise: EdgeDP | NodeDP) -> Check:
    """Whether the data has the unit of epsilon, and the lists that count as public."""
    kind = KINDS[evidence.manifest.data.kind]
    # The lists that the guarantee takes as public must exist in this kind of data.
    problems = [
        f"the list of {one} is named as collected, but {kind.words} has no such list"
        for one in promise.collected
        if one not in kind.lists
    ]
    # Values need items of the form column=value; items that are people have a unit of their own.
    if isinstance(promise, EdgeDP) and promise.of == "value":
        problems += _not_values(evidence)
    if isinstance(promise, EdgeDP) and evidence.has_people != (promise.of == "listing"):
        are = "people" if evidence.has_people else "not people"
        problems.append(f"epsilon is for one {promise.of}, but items are {are}")
    what = promise.of if isinstance(promise, EdgeDP) else "person"
    return judged(
        problems, f"epsilon is for one {what}, given the lists of {' and '.join(kind.lists)}"
    )


def _not_values(evidence: Evidence) -> list[str]:
    """Return a problem if items are not values of columns."""
    if evidence.manifest.data.kind != "bipartite":
        return [f"data of kind {evidence.manifest.data.kind} has no column values"]
    other = evidence.tables.number(
        "SELECT count(*) FROM (SELECT DISTINCT item FROM entries) "
        "WHERE position('=' IN item::VARCHAR) = 0"
    )
    return [f"{counted(other, 'item', 'is')} not named column=value"] if other else []
