"""The table of attacks: each with what its adversary knows, definition and source."""

from __future__ import annotations

from typing import Any

from graphveil.attacks.attack import Attack
from graphveil.core.lazy import Registry

ATTACKS: Registry[Attack[Any, Any]] = Registry(
    {
        "matching": "graphveil.attacks.matching:MATCHING",
        "linkage": "graphveil.attacks.features.linkage:LINKAGE",
        "membership": "graphveil.attacks.features.membership:MEMBERSHIP",
        "item-membership": "graphveil.attacks.features.item_membership:ITEM_MEMBERSHIP",
        "class-truth": "graphveil.attacks.features.class_truth:CLASS_TRUTH",
        "homogeneity": "graphveil.attacks.features.class_truth:HOMOGENEITY",
        "singling-out": "graphveil.attacks.features.singling_out:SINGLING_OUT",
        "insider": "graphveil.attacks.features.insider:INSIDER",
        "minimality": "graphveil.attacks.features.minimality:MINIMALITY",
        "refinement": "graphveil.attacks.features.refinement:REFINEMENT",
        "intersection": "graphveil.attacks.features.linkage:INTERSECTION",
        "re-run": "graphveil.attacks.features.rerunning:RE_RUN",
        "degree-matching": "graphveil.attacks.networks.degree_matching:DEGREE_MATCHING",
        "candidate-set": "graphveil.attacks.networks.candidate_set:CANDIDATE_SET",
        "attribute-inference": (
            "graphveil.attacks.networks.attribute_inference:ATTRIBUTE_INFERENCE"
        ),
        "neighbor-attributes": (
            "graphveil.attacks.networks.neighbor_attributes:NEIGHBOR_ATTRIBUTES"
        ),
        "seeded-matching": "graphveil.attacks.networks.seeded_matching:SEEDED_MATCHING",
        "seed-propagation": "graphveil.attacks.networks.propagation:SEED_PROPAGATION",
        "alignment": "graphveil.attacks.networks.alignment:ALIGNMENT",
        "fake-edge": "graphveil.attacks.networks.fake_edge:FAKE_EDGE",
        "edge-gain": "graphveil.attacks.networks.edge_gain:EDGE_GAIN",
        "entry-membership": "graphveil.attacks.cell_membership:ENTRY_MEMBERSHIP",
        "edge-membership": "graphveil.attacks.cell_membership:EDGE_MEMBERSHIP",
        "edge-re-run": "graphveil.attacks.edge_rerun:EDGE_RE_RUN",
        "tie-membership": "graphveil.attacks.networks.tie_membership:TIE_MEMBERSHIP",
    },
    line=lambda attack: attack.knows,
)
"""Every attack by its name: an entry here appears in the command line and the docs."""

STRONGEST = ("matching", "seeded-matching", "membership", "linkage")
"""On these the minute is spent first that attacks have which nobody asks for by name."""

EVERY = "all"
"""In place of names of attacks: all that read the data."""
