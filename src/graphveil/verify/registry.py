"""Which claim is checked by which functions: one table for every guarantee and condition.

A manifest states a guarantee and conditions as typed values (`graphveil.claims`). `CHECKED_BY`
names the checks of each type: the function, what it needs (the released data, the owner's record,
the original, or the linkage of original and published ids), and what stays open without that. A
type that is missing from the table cannot be verified, so a new guarantee or condition needs its
entry.

The table knows guarantees and conditions, never methods: the functions recompute a claim from the
released files with code of this room alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from graphveil.claims import conditions, guarantees
from graphveil.claims.conditions import Condition
from graphveil.claims.guarantees import Guarantee
from graphveil.claims.manifest import Manifest
from graphveil.data.kinds import KINDS
from graphveil.verify.claim_check import BESIDE, CLASSES, DATA, LINKED, ClaimCheck, Part
from graphveil.verify.evidence import Evidence
from graphveil.verify.promises import attached, renaming
from graphveil.verify.promises.networks import edges, protected_people, structural, super_nodes
from graphveil.verify.promises.noise import (
    block_flips,
    cell_flips,
    differential_privacy,
    noisy_statistics,
)
from graphveil.verify.promises.rows import (
    adaptive,
    different_people,
    diversity,
    equal_rows,
    generalized,
    items_are_users,
    published_values,
    suppression,
)
from graphveil.verify.verdict import Check

_EVERY = tuple(KINDS)
_GRAPH, _NETWORK, _USERS, _TABLE = ("graph",), ("network",), ("bipartite",), ("table",)
_NETWORKS = ("graph", "network")
_ROWS = ("bipartite", "table")
_CELLS = ("graph", "bipartite")


def _checks(kinds: tuple[str, ...], *parts: Part) -> ClaimCheck:
    return ClaimCheck(kinds, parts)


# What stays open where a check cannot be made: the end of "It was not checked whether ...".
_ENTROPY = "whether the noise came from the operating system's entropy"
_DEGREE_NOISE = "whether the noise on degrees is plausible"
_COUNT_NOISE = "whether the noise on the edge count is plausible"
_MIXING_NOISE = "whether the noise between groups is plausible"
_TRIANGLE_NOISE = "whether the noise is consistent with the ladder"
_NO_EDGE_REMOVED = "whether no edge was removed"
_NO_EDGE_ADDED = "whether no edge was added"
_WITHIN_BUDGET = "whether the edits stay within the budget"
_SAME_COUNTS = "whether numbers of edges are those of the original"
_SHARED_DEGREE = "whether everyone on the owner's list shares their degree with enough nodes"
_OWN_ATTRIBUTES = "whether attributes belong to their node"
_OWN_VALUES = "whether attached values belong to their node or row"
_NOT_SHOWN = "whether attached values show what known columns hide"
_NOTHING_ADDED = "whether nothing was added"
_TRUE_OF_ROWS = "whether each entry is true of enough rows of its class"
_TRUE_OF_MORE_THAN_HALF = "whether each entry is true of more than half of its class"
_TRUE_CELLS = "whether published values are true of their rows"
_FIT = "whether everybody's values fit enough rows"
_DIFFERENT_PEOPLE = "whether the rows of each class are of enough different people"
_ONLY_IDS = "whether only the ids changed"
_FLIPS_OPEN = "whether the number of flips matches the stated probabilities"
_DEGREES_KEPT = "whether every node kept its degree"

_EQUAL_ROWS = _checks(_ROWS, Part(CLASSES, equal_rows.equal_rows))

_NOISE_SOURCE = Part(
    differential_privacy.NOISE, differential_privacy.source_of_noise, ("record",), _ENTROPY
)
_EPSILON = _checks(
    _EVERY, Part(differential_privacy.UNIT, differential_privacy.unit_of_epsilon), _NOISE_SOURCE
)

_EQUAL_FLIPS = _checks(
    _CELLS,
    Part(cell_flips.THRESHOLDS, cell_flips.thresholds_follow),
    Part(cell_flips.CELLS, cell_flips.cells_match),
    Part(cell_flips.CHANCES, cell_flips.flips_are_plausible, LINKED, _FLIPS_OPEN),
)

_STATISTICS = (
    Part(noisy_statistics.STATISTICS, noisy_statistics.statistics_follow),
    Part(noisy_statistics.DRAWING, noisy_statistics.graph_is_redrawn),
    Part(noisy_statistics.ON_DEGREES, noisy_statistics.noise_on_degrees, LINKED, _DEGREE_NOISE),
    Part(noisy_statistics.ON_COUNT, noisy_statistics.noise_on_count, LINKED, _COUNT_NOISE),
)

CHECKED_BY: dict[type[Guarantee | Condition], ClaimCheck] = {
    # Equivalence classes of rows.
    guarantees.KAnonymity: _EQUAL_ROWS,
    guarantees.SmoothKAnonymity: _EQUAL_ROWS,
    guarantees.AdaptiveAnonymity: _checks(
        _TABLE,
        Part(adaptive.LEVEL, adaptive.records_agree),
        Part(adaptive.PAIRS, adaptive.allowed_pairs, BESIDE, adaptive.WHETHER_ENOUGH_PAIRS),
    ),
    # Equivalence classes of nodes.
    guarantees.StructuralKAnonymity: _checks(_NETWORKS, Part(CLASSES, structural.look_alikes)),
    guarantees.SuperNodeAnonymity: _checks(
        _GRAPH, Part(super_nodes.GROUPS, super_nodes.groups_are_large)
    ),
    # Noise.
    guarantees.EdgeDP: _EPSILON,
    guarantees.NodeDP: _EPSILON,
    guarantees.NotClaimed: _checks(_EVERY, _NOISE_SOURCE),
    conditions.RandomizedCells: _EQUAL_FLIPS,
    conditions.TopMThresholds: _EQUAL_FLIPS,
    conditions.BlockFlips: _checks(
        _GRAPH,
        Part(block_flips.PARTS, block_flips.parts_of_blocks),
        Part(block_flips.WEIGHTS, block_flips.weights_stay_open),
        Part(cell_flips.CELLS, block_flips.cells_of_blocks),
        Part(cell_flips.CHANCES, block_flips.flips_of_blocks_are_plausible, LINKED, _FLIPS_OPEN),
    ),
    conditions.ExactSize: _checks(_CELLS, Part(cell_flips.SIZE, cell_flips.exact_size)),
    conditions.NoisyDegrees: _checks(_GRAPH, *_STATISTICS),
    conditions.NoisyStatistics: _checks(
        _GRAPH,
        *_STATISTICS,
        Part(noisy_statistics.ON_MIXING, noisy_statistics.noise_on_mixing, LINKED, _MIXING_NOISE),
        Part(
            noisy_statistics.ON_TRIANGLES,
            noisy_statistics.noise_on_triangles,
            LINKED,
            _TRIANGLE_NOISE,
        ),
    ),
    # What happened to the edges of a network.
    conditions.Supergraph: _checks(
        _NETWORKS,
        Part(edges.SUPERGRAPH, edges.supergraph, LINKED, _NO_EDGE_REMOVED),
        Part(edges.DEGREES, edges.degrees_grow, BESIDE, _NO_EDGE_REMOVED),
    ),
    conditions.Subgraph: _checks(
        _NETWORKS, Part(edges.SUBGRAPH, edges.subgraph, LINKED, _NO_EDGE_ADDED)
    ),
    conditions.SameDegrees: _checks(
        _NETWORKS,
        Part(edges.SEQUENCE, edges.degree_sequence, BESIDE, _DEGREES_KEPT),
        Part(edges.KEPT, edges.degrees_kept, LINKED, _DEGREES_KEPT),
    ),
    conditions.EditBudget: _checks(
        _NETWORKS, Part(edges.BUDGET, edges.within_budget, LINKED, _WITHIN_BUDGET)
    ),
    conditions.SameGroupCounts: _checks(
        _GRAPH, Part(super_nodes.COUNTS, super_nodes.same_group_counts, LINKED, _SAME_COUNTS)
    ),
    # Whom a condition is about, and the values next to them.
    conditions.ProtectedPeople: _checks(
        _NETWORKS,
        Part(
            protected_people.PROTECTED,
            protected_people.protected_people,
            ("record", *LINKED),
            _SHARED_DEGREE,
        ),
    ),
    conditions.OwnAttributes: _checks(
        _NETWORK, Part(attached.OWN, attached.own_attributes, LINKED, _OWN_ATTRIBUTES)
    ),
    conditions.AttachedColumns: _checks(
        ("network", "table"),
        Part(attached.ATTACHED, attached.attached_columns),
        Part(attached.ATTACHED_CELLS, attached.attached_values, LINKED, _OWN_VALUES),
        Part(attached.HIDDEN, attached.hidden_cells, LINKED, _NOT_SHOWN),
    ),
    # What published entries and cells say of the original.
    conditions.NothingAdded: _checks(
        _ROWS,
        Part(
            published_values.NOTHING_ADDED, published_values.nothing_added, LINKED, _NOTHING_ADDED
        ),
    ),
    conditions.TrueOfShare: _checks(
        _ROWS, Part(published_values.TRUE, published_values.true_of_share, LINKED, _TRUE_OF_ROWS)
    ),
    conditions.TrueOfMoreThanHalf: _checks(
        _ROWS,
        Part(
            published_values.TIES,
            published_values.true_of_more_than_half,
            LINKED,
            _TRUE_OF_MORE_THAN_HALF,
        ),
    ),
    conditions.ItemsAreUsers: _checks(
        _USERS, Part(items_are_users.PEOPLE, items_are_users.items_are_users, any_ids=True)
    ),
    conditions.SuppressionHistogram: _checks(
        _TABLE, Part(suppression.STARS, suppression.stars_by_row)
    ),
    conditions.Generalized: _checks(
        _TABLE,
        Part(generalized.LEVELS, generalized.levels_nest),
        Part(generalized.TRUE_CELLS, generalized.cells_are_true, LINKED, _TRUE_CELLS),
        Part(generalized.CONSISTENT, generalized.values_fit_rows, BESIDE, _FIT),
    ),
    conditions.OwnersLevels: _checks(_TABLE, Part(generalized.OWNERS, generalized.levels_of_owner)),
    conditions.DifferentPeople: _checks(
        _TABLE,
        Part(
            different_people.DIFFERENT,
            different_people.different_people,
            LINKED,
            _DIFFERENT_PEOPLE,
        ),
    ),
    conditions.Diverse: _checks(_TABLE, Part(diversity.DIVERSE, diversity.classes_are_diverse)),
    conditions.Close: _checks(_TABLE, Part(diversity.CLOSE, diversity.classes_are_close)),
    # New ids.
    conditions.SameData: _checks(
        _EVERY, Part(renaming.SAME, renaming.same_data, LINKED, _ONLY_IDS, any_ids=True)
    ),
    conditions.KeyedIds: _checks(
        _EVERY,
        Part(renaming.FREE, renaming.nothing_claimed, any_ids=True),
        Part(renaming.FROM_KEY, renaming.ids_from_key, LINKED, renaming.ONLY_THE_KEY, any_ids=True),
    ),
}
"""The checks of every type of guarantee and condition, in the order in which they are reported."""


def claim_checks(evidence: Evidence, *, of: Literal["data", "original"]) -> list[Check]:
    """Return the checks of the guarantee, of what it implies, and of the stated conditions.

    Parameters
    ----------
    evidence
        What there is of the release.
    of
        ``data`` for the checks that the released data alone decides; ``original`` for all others.
    """
    claim = evidence.manifest.claim
    stated = dict.fromkeys([claim.guarantee, *claim.guarantee.implied, *claim.conditions])
    checks = []
    for value in stated:
        claim_check = CHECKED_BY[type(value)]
        some = [p for p in claim_check.parts if (p.needs == DATA) == (of == "data")]
        checks += claim_check.run(evidence, value, some)
    return checks


def decisive(manifest: Manifest) -> tuple[str, ...]:
    """Return the names of the checks without which nothing can be said of the guarantee.

    What it implies of the original, such as that nothing was added, is stated next to it and stays
    open without the original.
    """
    guarantee = manifest.claim.guarantee
    return _names(guarantee) if guarantee.check_word == "recomputed" else ()


def promised(manifest: Manifest) -> tuple[str, ...]:
    """Return the names of all checks of what the guarantee states, with what it implies.

    Noise is what its conditions say it is, so that they are part of such a guarantee.
    """
    claim = manifest.claim
    of_noise = claim.conditions if claim.guarantee.check_word == "by construction" else []
    return _names(claim.guarantee, *claim.guarantee.implied, *of_noise)


def asked_for(manifest: Manifest, checks: Sequence[Check]) -> tuple[Condition, ...]:
    """Return the conditions that the owner asked for and whose checks hold."""
    open_or_false = {check.name for check in checks if check.outcome != "holds"}
    made = {check.name for check in checks} - open_or_false
    asked = (one for one in manifest.claim.conditions if one.asked_for)
    return tuple(one for one in asked if made.issuperset(_names(one)))


def _names(*claims: Guarantee | Condition) -> tuple[str, ...]:
    names = (part.name for value in claims for part in CHECKED_BY[type(value)].parts)
    return tuple(dict.fromkeys(names))
