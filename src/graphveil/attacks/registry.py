"""The table of attacks, in the order in which they are shown, and messages about their run times.

An entry is ``"name": "module:CONSTANT"``; a module is imported when its attack is first used. To
add an attack, write a module with one function from `AttackInput` and options to `Outcome` and one
`Attack` (see `attack.py` for the parts), put it into ``networks`` or ``features``, and add a line
here. A new kind of knowledge or a better linking step inside an attack that exists needs no line:
it becomes a `Setting` of that attack's figures (``known=``, ``knows=``, ``search=``), so that rows
of both can be compared.

`STRONGEST` orders the attacks that run unasked: put a stronger attack before the one that it beats.
"""

from __future__ import annotations

import math
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
        "homogeneity": "graphveil.attacks.homogeneity:HOMOGENEITY",
        "singling-out": "graphveil.attacks.features.cells.singling_out:SINGLING_OUT",
        "insider": "graphveil.attacks.features.cells.insider:INSIDER",
        "minimality": "graphveil.attacks.features.cells.minimality:MINIMALITY",
        "refinement": "graphveil.attacks.features.cells.refinement:REFINEMENT",
        "intersection": "graphveil.attacks.features.intersection:INTERSECTION",
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
        "group-assignment": "graphveil.attacks.networks.group_assignment:GROUP_ASSIGNMENT",
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

STRONGEST = ("matching", "group-assignment", "seeded-matching", "membership", "linkage")
"""The minute of unasked attacks is spent on these first."""

EVERY = "all"
"""In place of names of attacks: all that read the data."""

WORTH_SAYING = 3.0
"""Attacks forecast to take fewer seconds than this are not announced before they run."""

SECONDS_UNASKED = 60.0
"""How many seconds of CPU time all attacks have together if none is asked for by name and no other
limit is given."""

QUICK_SECONDS = 10.0
"""An attack forecast to take fewer seconds than this runs for a page, even if it runs only by its
name elsewhere."""

_STEPS = ((90.0, 1.0, "second"), (5_400.0, 60.0, "minute"), (math.inf, 3_600.0, "hour"))
"""Units of durations: up to how many seconds each is used, and how many seconds it has."""


def spelled(seconds: float) -> str:
    """Return a duration as people say it, at least a second, with two digits at most."""
    seconds = max(seconds, 1.0)
    size, unit = next((size, unit) for most, size, unit in _STEPS if seconds < most)
    number = round(seconds / size)
    return f"{number} {unit}{'' if number == 1 else 's'}"


def not_run(seconds: float) -> str:
    """Return why an attack was omitted that takes long."""
    return f"not run by default: takes about {spelled(seconds)} of CPU time; request it by name"


def stopped(seconds: float) -> str:
    """Return why an attack has no figure that was stopped by the limit of so many seconds.

    >>> stopped(60.0)[:58]
    'stopped at the limit of 60 seconds, before it had a result'
    """
    return (
        f"stopped at the limit of {spelled(seconds)}, before it had a result; give it more time "
        "with --seconds (seconds= in Python)"
    )
