"""The table of attacks: each with what its adversary knows, definition and source."""

from __future__ import annotations

from typing import Any

from graphveil.attacks.attack import Attack
from graphveil.attacks.cells import EDGE_MEMBERSHIP, ENTRY_MEMBERSHIP
from graphveil.attacks.features.class_truth import CLASS_TRUTH
from graphveil.attacks.features.homogeneity import HOMOGENEITY
from graphveil.attacks.features.intersection import INTERSECTION
from graphveil.attacks.features.linkage import LINKAGE
from graphveil.attacks.features.membership import MEMBERSHIP
from graphveil.attacks.features.rerunning import RE_RUN
from graphveil.attacks.matching import MATCHING

_ALL: tuple[Attack[Any, Any], ...] = (
    MATCHING,
    LINKAGE,
    MEMBERSHIP,
    CLASS_TRUTH,
    HOMOGENEITY,
    INTERSECTION,
    RE_RUN,
    ENTRY_MEMBERSHIP,
    EDGE_MEMBERSHIP,
)

ATTACKS: dict[str, Attack[Any, Any]] = {attack.name: attack for attack in _ALL}
"""Every attack by its name: an entry here appears in the command line and the docs."""
