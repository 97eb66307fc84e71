"""Re-identification by a copy, maybe of a part, with some known people: `seeded-matching`.

The strongest attack on networks here, and the first on networks that runs unasked. The attacker
assigns every person of the copy to a released node, one-to-one, such that as many edges as possible
are kept: FAQ (Vogelstein et al., PLOS ONE 2015) with known pairs (Fishkind et al., Pattern
Recognition 2019), from several starts, among them graduated assignments after Gold and Rangarajan
(IEEE TPAMI 1996). What an assignment keeps is visible to the attacker, so the best start is chosen
by it. Then the likeliest nodes around it are assigned (`assignment/one_to_one.py`).

Departures: known people are optional; the copy may lack people; edge types, directions and
attributes are used; above `ALL_PAIRS` nodes the search runs among nearest candidates alone.

Names, baseline and intervals are those of `copies/reidentification.py`. Cost of a copy: n cubed,
above `ALL_PAIRS` edges times candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from graphveil.attacks.attack import Attack, AttackInput, AttackOptions, Outcome
from graphveil.attacks.networks.assignment import forecast, one_to_one
from graphveil.attacks.networks.assignment.frank_wolfe import Match, Ties, faq
from graphveil.attacks.networks.assignment.near_candidates import near_match
from graphveil.attacks.networks.copies import paired_copy, reidentification
from graphveil.attacks.networks.copies.side_information import COPY, CopyOf, words_of
from graphveil.attacks.networks.propagation import known_people
from graphveil.core.array_types import Ints
from graphveil.core.parameters import parameter
from graphveil.core.progress import stage
from graphveil.core.rows import Setting
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison

ALL_PAIRS = 4_000
"""Up to this many nodes all pairs of nodes are held at once; above, only the nearest candidates. A
float32 array of all pairs has 64 MB at the limit."""

KNOWN = (0, 20)
"""How many known people are tried by default."""

DRAWS = 5
"""How many copies are made with known people: depending on who is known, hardly anybody or nearly
everybody is re-identified. With nobody known there is one copy."""

STARTS = 5
"""From this many starts the best is taken; from fewer where two agree."""


@dataclass(frozen=True, kw_only=True)
class SeededMatchingOptions(AttackOptions, label="seeded-matching"):
    """What the copy shares with the original, whom it lacks, and how many people are known."""

    overlap: float = parameter(default=1.0, text=paired_copy.OVERLAP, minimum=0, maximum=1)
    people: float = parameter(default=1.0, text=paired_copy.PEOPLE, minimum=0, maximum=1)
    known: int | None = paired_copy.known_parameter(KNOWN)
    copy: CopyOf = parameter(default="network", text=COPY)
    draws: int | None = parameter(
        default=None,
        text="number of copies, each with different known people",
        minimum=1,
        unset=f"{DRAWS}, or 1 with no one known",
    )

    def draws_of(self, known: int) -> int:
        """Return how many copies are made if that many people are known."""
        if self.draws is not None:
            return self.draws
        return DRAWS if known else 1

    @property
    def settings(self) -> tuple[int, ...]:
        """Every number of known people that is tried."""
        return KNOWN if self.known is None else (self.known,)


def seeded_matching(
    situation: AttackInput[GraphComparison], options: SeededMatchingOptions
) -> Outcome:
    """Return how many people are named by the assignment of a copy that keeps most edges."""
    pair = situation.comparison
    # Which search the size of the network allows; it is named in the setting, so that figures of
    # both can be told apart.
    large = pair.original.n_nodes > ALL_PAIRS
    search = forecast.OF_NEAREST if large else f"best of {STARTS} starts"
    has = Setting(overlap=options.overlap, people=options.people, search=search)
    has = has._replace(knows=words_of(pair, options.copy))
    settings = [has._replace(known=known) for known in options.settings]
    return reidentification.named_by_copies(
        situation, "seeded-matching", settings, partial(_try_copies, pair, options)
    )


def _try_copies(
    pair: GraphComparison,
    options: SeededMatchingOptions,
    setting: Setting,
    kinds: reidentification.NodeKinds,
    rng: np.random.Generator,
) -> reidentification.CopyTrials:
    """Return how good the names of all copies under one setting are."""
    known = setting.known or 0
    draws, namings = options.draws_of(known), []
    for draw in range(draws):
        with stage(f"matching, {known or 'nobody'} known, {draw + 1} of {draws}"):
            # A new copy, a new order and new known people each time.
            two = paired_copy.pairing(
                pair, options.overlap, rng, people=options.people, copy=options.copy
            )
            chosen = known_people(two, known, rng)
            match = best_match(two, chosen, rng)
        namings.append(reidentification.Naming.of(two, match, kinds, chosen))
    return reidentification.CopyTrials(setting, namings)


def best_match(two: paired_copy.Pairing, known: Ints, rng: np.random.Generator) -> Match:
    """Return the released node of every node of the copy, by the edges that an assignment keeps.

    Parameters
    ----------
    two : Pairing
        The copy next to the release; its linkage is read for known people alone.
    known : int64 array
        The nodes of the copy whose released node is known.
    rng : numpy.random.Generator
        Chance between assignments of equal worth, and noise added by the attacker.

    Returns
    -------
    int64, shape (n,)
        A one-to-one assignment; in large networks -1 where no candidate is likely.
    """
    # Seeds: the linkage of the known people, and of nobody else.
    seeds = np.full(two.truth.size, paired_copy.NOBODY, dtype=np.int64)
    seeds[known] = two.truth[known]
    if two.truth.size > ALL_PAIRS:
        return near_match(two, seeds, rng)
    # All pairs: the best of several starts.
    ties = Ties.of(two, seeds, rng)
    return one_to_one.best_assignment(ties, _starts(ties, two, rng))


def _starts(
    ties: Ties, two: paired_copy.Pairing, rng: np.random.Generator
) -> Iterator[one_to_one.Start]:
    """Yield assignments of both common searches, and the one that FAQ reaches from the middle."""
    # FAQ from the barycenter uses no distances while it searches; those of the last start serve to
    # tell equal assignments apart afterwards.
    last: one_to_one.Start | None = None
    for last in one_to_one.common_starts(ties, two, rng):
        yield last
    if last is not None:
        yield one_to_one.Start(faq(ties, one_to_one.middle(two.truth.size)), last.far)


def seconds(situation: AttackInput[GraphComparison], options: SeededMatchingOptions) -> float:
    """Return about how many seconds it takes: copies times the forecast of one."""
    pair = situation.comparison
    # Both searches have forecasts of their own; every copy of every setting costs one.
    if pair.original.n_nodes > ALL_PAIRS:
        forecast.check_size(pair)
        seconds_of_copy = forecast.seconds_of_near_match(pair, options.overlap)
    else:
        seconds_of_copy = forecast.seconds_of_all_pairs(pair, options.overlap, options.people)
    return sum(options.draws_of(known) for known in options.settings) * seconds_of_copy


SEEDED_MATCHING = Attack(
    name="seeded-matching",
    kind=Graph,
    knows="a copy of the network that shares some of its edges, has random pairs in place of the "
    "others and may lack nodes. It has the edge directions, edge types and published attributes if "
    "the release has them. Also the released nodes of 20 people, or of no one",
    definition="share of people who are assigned their own released node by the one-to-one "
    "assignment that keeps most edges (best of several starts; in large networks "
    "only among each person's nearest candidates). Only people in the copy with an "
    "edge both in it and in the release are counted, excluding known people",
    source="FAQ: Vogelstein et al., PLOS ONE 2015; Fishkind et al., Pattern Recognition 2019; "
    "graduated starts based on Gold & Rangarajan, IEEE TPAMI 1996",
    cost=f"nodes cubed, up to {ALL_PAIRS:,} nodes: 10 to 20 seconds for 1,000; {forecast.COST}",
    compute=seeded_matching,
    seconds=seconds,
    options=SeededMatchingOptions,
    said=reidentification.said_of_copies(),
    shorter=SeededMatchingOptions(draws=1),
)
