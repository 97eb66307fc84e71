"""Re-identification by a copy of the network and a few known people: the attack `seed-propagation`.

After Narayanan and Shmatikov (IEEE S&P 2009) in its idea and Kazemi, Hassani and Grossglauser
(PVLDB 2015) in its algorithm. The attacker has a copy that shares some edges with the original and
knows the released nodes of some people, or of nobody. Steps for one copy (`guess`):

1. With known people: grow a matching from them by marks (`expand_when_stuck.py`). With nobody
   known: begin with the few pairs whose surroundings are far more similar than any others
   (`seedless_start.py`).
2. Refine it: match nodes again that are each other's most similar by their matched neighbors, until
   hardly anything changes (`mutual_best.py`); graphveil's own.

A pair gets a name only if both nodes agree, so that precision is high where recall is not:
`seeded-matching` names more people. Names are scored in `copies/reidentification.py`, with its
baseline and intervals. Cost of a copy: the sum of squared degrees, times up to 12 or 25 rounds;
with nobody known n squared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.networks.assignment.expand_when_stuck import Match, expand
from graphveil.attacks.networks.assignment.mutual_best import refine
from graphveil.attacks.networks.assignment.seedless_start import high_confidence_pairs
from graphveil.attacks.networks.copies import paired_copy, reidentification
from graphveil.attacks.networks.copies.side_information import COPY, CopyOf, words_of
from graphveil.core.array_types import Ints
from graphveil.core.parameters import parameter
from graphveil.core.progress import in_time, stage
from graphveil.core.rows import Setting
from graphveil.core.text import counted
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import NotMeasuredError

MOST_NODES, MOST_SQUARES = 100_000, 400_000_000
"""Larger networks, by nodes or by the sum of squared degrees, are refused; at the limit of squares
a copy takes about four minutes by the forecast of `seconds_of_draw`."""

MOST_NODES_UNKNOWN = 6_000
"""Up to this many nodes the attack runs with nobody known: distances of all pairs are in memory at
once, 288 MB at the limit."""

SMALLER = "Use a release with fewer nodes"
"""The way out that refusals name."""

OVERLAPS, KNOWN = (1.0, 0.9, 0.8), (0, 5, 10, 20, 50)
"""What is tried by default: overlaps of the copy, and numbers of known people."""

ROUNDS, ROUNDS_UNKNOWN = 12, 25
"""Refinement rounds at most, from known people and from none; without known people matching begins
with few pairs, so it needs more rounds to spread."""

_LEAST_DEGREE = 2
"""Known people have at least two edges in both graphs: a pair needs two marks to be matched."""


@dataclass(frozen=True, kw_only=True)
class SeedPropagationOptions(attack.AttackOptions, label="seed-propagation"):
    """What the copy shares with the original, and how many people are known."""

    overlap: float | None = paired_copy.overlaps_parameter(OVERLAPS)
    known: int | None = paired_copy.known_parameter(KNOWN)
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
    """One copy matched: the copy next to the release, who is known, and who was given which node.

    Parameters
    ----------
    pairing : Pairing
        The two graphs.
    known : int64 array
        The nodes of the copy whose released node the attacker knows.
    match : int64, shape (n,)
        The released node of every node of the copy, or -1.
    capped : bool
        Whether the matching was stopped at the limit of marks before it came to its end.
    """

    pairing: paired_copy.Pairing
    known: Ints
    match: Match
    capped: bool


def seed_propagation(
    situation: attack.AttackInput[GraphComparison], options: SeedPropagationOptions
) -> attack.Outcome:
    """Return how many people are named by matching copies of the original with the release."""
    pair = situation.comparison
    knows = words_of(pair, options.copy)
    # One setting per overlap and number of known people.
    settings = [
        Setting(overlap=overlap, knows=knows, people=options.people, known=known)
        for overlap, known in options.settings
    ]
    return reidentification.named_by_copies(
        situation, "seed-propagation", settings, partial(_try_copies, pair, options)
    )


def check_matching(pair: GraphComparison) -> None:
    """Refuse where nodes or edges are too many for a matching."""
    n, total = pair.original.n_nodes, attack.squares(pair)
    attack.refuse_more_nodes(n, MOST_NODES, SMALLER)
    if total > MOST_SQUARES:
        raise attack.TooLargeError(
            f"the sum of squared degrees, {total:,}, exceeds the limit of {MOST_SQUARES:,}. "
            f"{SMALLER}"
        )


PER_END, PER_MARK, PER_PAIR = 1e-6, 1.5e-7, 4e-8
"""Seconds for one copy per end of an edge, per mark, and with nobody known per pair of nodes. There
are about as many marks as the squares of the degrees add up to."""

NEAR_BY, GROWTH, FARTHEST = 500_000, 0.38, 25_000_000
"""Up to `NEAR_BY` marks the table is in the cache; then each mark costs more, by the power `GROWTH`
of how many times as many there are, until `FARTHEST`."""


def seconds(
    situation: attack.AttackInput[GraphComparison], options: SeedPropagationOptions
) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    check_matching(pair)
    settings = options.settings
    # Settings with nobody known compare all pairs of nodes once, if the network is small enough.
    unknown = sum(not known for _, known in settings)
    n = pair.original.n_nodes
    if unknown == len(settings) and n > MOST_NODES_UNKNOWN:
        raise attack.TooLargeError(_too_many_unknown(n))
    of_pairs = 0.0 if n > MOST_NODES_UNKNOWN else unknown * PER_PAIR * n * n
    return options.draws * (len(settings) * seconds_of_draw(pair) + of_pairs)


def seconds_of_draw(pair: GraphComparison) -> float:
    """Return about how long one copy takes to be matched, with some people known."""
    # Marks beyond the cache cost more, up to a limit.
    marks = attack.squares(pair)
    farther: float = (min(max(marks, NEAR_BY), FARTHEST) / NEAR_BY) ** GROWTH
    return PER_END * attack.ends_of(pair) + PER_MARK * marks * farther


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
    """Return how good the names of all copies are; the setting says in how many it was stopped."""
    namings = []
    capped, overlap, known = 0, setting.overlap or 0.0, setting.known or 0
    with stage(f"matching a copy of {setting.text}"):
        # A new copy, new orders and new known people each time; whether the limit of marks was
        # reached is counted.
        for _ in in_time(range(options.draws)):
            two = paired_copy.pairing(pair, overlap, rng, people=options.people, copy=options.copy)
            matched = guess(two, known, rng)
            namings.append(reidentification.Naming.of(two, matched.match, kinds, matched.known))
            capped += matched.capped
    return reidentification.CopyTrials(setting._replace(capped=capped or None), namings)


def known_people(two: paired_copy.Pairing, known: int, rng: np.random.Generator) -> Ints:
    """Return some nodes of the copy, sampled from those with two edges in both graphs."""
    # Only people with two edges on both sides can help to match others.
    fewest = np.minimum(two.copy.degrees(), two.released.degrees()[two.truth])
    people = np.flatnonzero(fewest >= _LEAST_DEGREE)
    if people.size < known:
        raise NotMeasuredError(
            f"only {counted(people.size, 'person', 'has', spec=',')} at least two edges both in "
            f"the copy and in the release; {known:,} should be known"
        )
    return rng.choice(people, known, replace=False)


def guess(two: paired_copy.Pairing, known: int, rng: np.random.Generator) -> Guess:
    """Return who is given which released node once some people, sampled uniformly, are known.

    Parameters
    ----------
    two : Pairing
        The copy next to the release.
    known : int
        How many people are known; 0 for nobody.
    rng : numpy.random.Generator
        Draws the known people.

    Returns
    -------
    Guess
        The match, and whether it was stopped.

    Raises
    ------
    NotMeasuredError
        If fewer people can be known.
    TooLargeError
        If nobody is known and there are too many nodes.
    """
    n = two.truth.size
    if not known and n > MOST_NODES_UNKNOWN:
        raise attack.TooLargeError(_too_many_unknown(n))
    # The linkage is read for the known people alone.
    chosen = known_people(two, known, rng)
    seeds = np.full(n, paired_copy.NOBODY, dtype=np.int64)
    seeds[chosen] = two.truth[chosen]
    # With nobody known: a few surest pairs, then refinement spreads from these.
    if not known:
        surest = high_confidence_pairs(two.copy, two.released, two.side_information)
        match = refine(surest, seeds, ROUNDS_UNKNOWN, two.side_information)
        return Guess(two, chosen, match, capped=False)
    # With known people: marks spread from them, then refinement corrects and completes.
    grown = expand(seeds, two.side_information)
    match = refine(grown.match, seeds, ROUNDS, two.side_information)
    return Guess(two, chosen, match, capped=grown.stopped)


SEED_PROPAGATION = attack.Attack(
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
