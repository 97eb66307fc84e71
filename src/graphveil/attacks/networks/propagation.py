"""Re-identification by an attacker who has a copy of the network and knows a few people, or none.

Two graphs are matched by what matched neighbors say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackInput,
    AttackOptions,
    Outcome,
    TooLargeError,
    ends_of,
    refuse_more_nodes,
    squares,
)
from graphveil.attacks.networks.assignment.expand_when_stuck import Match, expand
from graphveil.attacks.networks.assignment.mutual_best import refine
from graphveil.attacks.networks.assignment.seedless_start import high_confidence_pairs
from graphveil.attacks.networks.copies import paired_copy, reidentification
from graphveil.attacks.networks.copies.side_information import COPY, CopyOf, words_of
from graphveil.core.parameters import parameter
from graphveil.core.progress import in_time, stage
from graphveil.core.rows import Setting
from graphveil.core.text import counted
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison, Ints
from graphveil.evaluate.metric import NotMeasuredError

MOST_NODES, MOST_SQUARES = 100_000, 400_000_000
"""Up to so many nodes, and so large a sum of squared degrees, graphs are matched."""

MOST_NODES_UNKNOWN = 6_000
"""Up to so many nodes they are matched with nobody known: all pairs of nodes are held at once."""

SMALLER = "Use a release with fewer nodes"

OVERLAPS, KNOWN = (1.0, 0.9, 0.8), (0, 5, 10, 20, 50)

ROUNDS, ROUNDS_UNKNOWN = 12, 25

_LEAST_DEGREE = 2


@dataclass(frozen=True, kw_only=True)
class SeedPropagationOptions(AttackOptions, label="seed-propagation"):
    """What the copy shares with the original, and how many people are known."""

    overlap: float | None = parameter(
        default=None,
        text=paired_copy.OVERLAP,
        minimum=0,
        maximum=1,
        unset=", ".join(f"{overlap:g}" for overlap in OVERLAPS),
    )
    known: int | None = parameter(
        default=None,
        text="number of people whose released node is known; 0 for none",
        minimum=0,
        unset=", ".join(map(str, KNOWN)),
    )
    people: float = parameter(default=1.0, text=paired_copy.PEOPLE, minimum=0, maximum=1)
    copy: CopyOf = parameter(default="network", text=COPY)
    draws: int = parameter(
        default=10, text="number of copies, each with different known people", minimum=1
    )

    @property
    def settings(self) -> list[tuple[float, int]]:
        """Every overlap and number of known people that is tried."""
        overlaps = OVERLAPS if self.overlap is None else (self.overlap,)
        known = KNOWN if self.known is None else (self.known,)
        return [(overlap, number) for overlap in overlaps for number in known]


class Guess(NamedTuple):
    """One draw: the copy next to the release, who is known, and who was given which node.

    `pairing`: the two graphs; `known`: int64: the nodes of the copy whose released node the
    attacker knows; `match`: int64, shape (n,): the released node of every node of the copy, or -1;
    `capped`: whether the matching was stopped before it came to its end.
    """

    pairing: paired_copy.Pairing
    known: Ints
    match: Match
    capped: bool


def seed_propagation(
    situation: AttackInput[GraphComparison], options: SeedPropagationOptions
) -> Outcome:
    """Return how many people are named by matching copies of the original with the release."""
    pair = situation.comparison
    knows = words_of(pair, options.copy)
    settings = [
        Setting(overlap=overlap, knows=knows, people=options.people, known=known)
        for overlap, known in options.settings
    ]
    return reidentification.named_by_copies(
        situation, "seed-propagation", settings, partial(_try_copies, pair, options)
    )


def check_matching(pair: GraphComparison) -> None:
    """Refuse where nodes or edges are too many for a matching."""
    n, total = pair.original.n_nodes, squares(pair)
    refuse_more_nodes(n, MOST_NODES, SMALLER)
    if total > MOST_SQUARES:
        raise TooLargeError(
            f"the sum of squared degrees, {total:,}, exceeds the limit of {MOST_SQUARES:,}. "
            f"{SMALLER}"
        )


PER_END, PER_MARK, PER_PAIR = 1e-6, 1.5e-7, 4e-8
"""Seconds of one draw for every end of an edge, for every mark, and with nobody known for every
pair of nodes. Marks are about as many as the squares of the degrees add up to."""

NEAR_BY, GROWTH, FARTHEST = 500_000, 0.38, 25_000_000
"""Up to so many marks they are in the cache; then each costs more, by a power, up to so many."""


def seconds(situation: AttackInput[GraphComparison], options: SeedPropagationOptions) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    check_matching(pair)
    settings = options.settings
    unknown = sum(not known for _, known in settings)
    n = pair.original.n_nodes
    if unknown == len(settings) and n > MOST_NODES_UNKNOWN:
        raise TooLargeError(_too_many_unknown(n))
    of_pairs = 0.0 if n > MOST_NODES_UNKNOWN else unknown * PER_PAIR * n * n
    return options.draws * (len(settings) * seconds_of_draw(pair) + of_pairs)


def seconds_of_draw(pair: GraphComparison) -> float:
    """Return about how long one copy takes to be matched, with some people known."""
    marks = squares(pair)
    farther: float = (min(max(marks, NEAR_BY), FARTHEST) / NEAR_BY) ** GROWTH
    return PER_END * ends_of(pair) + PER_MARK * marks * farther


def _too_many_unknown(n: int) -> str:
    """Return why nobody can be matched without known people."""
    return (
        f"{n:,} nodes exceed the limit of {MOST_NODES_UNKNOWN:,} if no one is known. Set a "
        "number of known people, such as 20"
    )


def _try_copies(
    pair: GraphComparison,
    options: SeedPropagationOptions,
    setting: Setting,
    kinds: reidentification.NodeKinds,
    rng: np.random.Generator,
) -> reidentification.CopyTrials:
    """Return how good the names of all draws are; the setting says in how many it was stopped."""
    namings = []
    capped, overlap, known = 0, setting.overlap or 0.0, setting.known or 0
    with stage(f"matching a copy of {setting.text}"):
        for _ in in_time(range(options.draws)):
            two = paired_copy.pairing(pair, overlap, rng, people=options.people, copy=options.copy)
            made = guess(two, known, rng)
            namings.append(reidentification.Naming.of(two, made.match, kinds, made.known))
            capped += made.capped
    return reidentification.CopyTrials(setting._replace(capped=capped or None), namings)


def known_people(two: paired_copy.Pairing, known: int, rng: np.random.Generator) -> Ints:
    """Return so many nodes of the copy, drawn evenly among those of two edges in either graph."""
    fewest = np.minimum(two.copy.degrees(), two.released.degrees()[two.truth])
    people = np.flatnonzero(fewest >= _LEAST_DEGREE)
    if people.size < known:
        raise NotMeasuredError(
            f"only {counted(people.size, 'person', 'has', spec=',')} at least two edges both in "
            f"the copy and in the release; {known:,} should be known"
        )
    return rng.choice(people, known, replace=False)


def guess(two: paired_copy.Pairing, known: int, rng: np.random.Generator) -> Guess:
    """Return who is given which released node once some people are known, drawn evenly."""
    n = two.truth.size
    if not known and n > MOST_NODES_UNKNOWN:
        raise TooLargeError(_too_many_unknown(n))
    chosen = known_people(two, known, rng)
    seeds = np.full(n, paired_copy.NOBODY, dtype=np.int64)
    seeds[chosen] = two.truth[chosen]
    if not known:
        surest = high_confidence_pairs(two.copy, two.released, two.more)
        match = refine(two.copy, two.released, surest, seeds, ROUNDS_UNKNOWN, two.more)
        return Guess(two, chosen, match, capped=False)
    grown = expand(two.copy, two.released, seeds, more=two.more)
    match = refine(two.copy, two.released, grown.match, seeds, ROUNDS, two.more)
    return Guess(two, chosen, match, capped=grown.stopped)


SEED_PROPAGATION = Attack(
    name="seed-propagation",
    kind=Graph,
    knows="a copy of the network that shares some of its edges, has random pairs in place of the "
    "others and may lack nodes. It has the edge directions, edge types and published attributes if "
    "the release has them. Also the released nodes of 5 to 50 people, or of no one",
    definition="share of people who are assigned their own released node from their matched "
    "neighbors, and the same share among those who are assigned a node. Only people with an edge "
    "both in the copy and in the release are counted, excluding known people",
    source="Narayanan & Shmatikov, S&P 2009; Kazemi, Hassani & Grossglauser, PVLDB 2015; the "
    "refinement and the start with no one known are graphveil's own",
    cost=f"heavy, up to {MOST_NODES:,} nodes ({MOST_NODES_UNKNOWN:,} with no one known) and a "
    f"sum of squared degrees of {MOST_SQUARES:,}; not run by default",
    compute=seed_propagation,
    seconds=seconds,
    options=SeedPropagationOptions,
    by_name=True,
    said=reidentification.said_of_copies(", by propagation"),
)
