"""The table of attacks: each with what its adversary knows, definition and source."""

from __future__ import annotations

from typing import Any

from graphveil.attacks.attack import Attack
from graphveil.attacks.cell_membership import EDGE_MEMBERSHIP, ENTRY_MEMBERSHIP
from graphveil.attacks.edge_rerun import EDGE_RE_RUN
from graphveil.attacks.features.class_truth import CLASS_TRUTH
from graphveil.attacks.features.homogeneity import HOMOGENEITY
from graphveil.attacks.features.intersection import INTERSECTION
from graphveil.attacks.features.item_membership import ITEM_MEMBERSHIP
from graphveil.attacks.features.linkage import LINKAGE
from graphveil.attacks.features.membership import MEMBERSHIP
from graphveil.attacks.features.rerunning import RE_RUN
from graphveil.attacks.matching import MATCHING
from graphveil.attacks.networks.alignment import ALIGNMENT
from graphveil.attacks.networks.candidate_set import CANDIDATE_SET
from graphveil.attacks.networks.edge_gain import EDGE_GAIN
from graphveil.attacks.networks.fake_edge import FAKE_EDGE
from graphveil.attacks.networks.seed_propagation import SEED_PROPAGATION

_ALL: tuple[Attack[Any, Any], ...] = (
    MATCHING,
    LINKAGE,
    MEMBERSHIP,
    ITEM_MEMBERSHIP,
    CLASS_TRUTH,
    HOMOGENEITY,
    INTERSECTION,
    RE_RUN,
    CANDIDATE_SET,
    SEED_PROPAGATION,
    ALIGNMENT,
    FAKE_EDGE,
    EDGE_GAIN,
    ENTRY_MEMBERSHIP,
    EDGE_MEMBERSHIP,
    EDGE_RE_RUN,
)

ATTACKS: dict[str, Attack[Any, Any]] = {attack.name: attack for attack in _ALL}
"""Every attack by its name: an entry here appears in the command line and the docs."""
