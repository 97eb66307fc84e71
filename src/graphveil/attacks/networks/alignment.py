"""Re-identification by a copy of the network with nobody known: the attack `alignment`.

Based on FUGAL (Bommakanti, Vonteri, Skitsas, Ranu, Mottin and Karras, NeurIPS 2024), written anew:
two graphs of equal size are aligned by a relaxation over all one-to-one assignments with features
of nodes (`assignment/fugal.py`). Departures: the relaxation is one of several starts
(`assignment/one_to_one.py`), each is improved by assigning again until no more edges are kept, and
the start that keeps most edges wins. Above `ALL_PAIRS` nodes the search runs among the nearest
candidates of every node alone (`assignment/near_candidates.py`).

Names, baseline and intervals are those of `copies/reidentification.py`. Cost of a copy: n cubed for
assignments, n times edges for each step; above `ALL_PAIRS` edges times candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from graphveil.attacks.attack import Attack, AttackInput, AttackOptions, Outcome, ends_of
from graphveil.attacks.networks.assignment import forecast, fugal, one_to_one
from graphveil.attacks.networks.assignment.frank_wolfe import Match, Ties
from graphveil.attacks.networks.assignment.near_candidates import near_match
from graphveil.attacks.networks.assignment.surroundings import distances
from graphveil.attacks.networks.copies import paired_copy, reidentification
from graphveil.attacks.networks.copies.side_information import COPY, CopyOf, words_of
from graphveil.core.parameters import parameter
from graphveil.core.progress import stage
from graphveil.core.rows import Setting
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison

ALL_PAIRS = 3_000
"""Up to this many nodes all pairs of nodes are held at once; above, only the nearest candidates.
The relaxation needs several n times n arrays of float64, each 72 MB at the limit."""

OVERLAPS = (1.0, 0.9, 0.8, 0.7, 0.6)
"""The shares of correct edges in the copy that are tried by default."""


@dataclass(frozen=True, kw_only=True)
class AlignmentOptions(AttackOptions, label="alignment"):
    """What the copy shares with the original, and how many copies are made."""

    overlap: float | None = paired_copy.overlaps_parameter(OVERLAPS)
    people: float = parameter(default=1.0, text=paired_copy.PEOPLE, minimum=0, maximum=1)
    copy: CopyOf = parameter(default="network", text=COPY)
    draws: int = parameter(default=3, text="number of copies for each overlap", minimum=1)

    @property
    def overlaps(self) -> tuple[float, ...]:
        """Every overlap that is tried."""
        return OVERLAPS if self.overlap is None else (self.overlap,)


def alignment(situation: AttackInput[GraphComparison], options: AlignmentOptions) -> Outcome:
    """Return how many people are named by aligning copies of the original with the release."""
    pair = situation.comparison
    search = forecast.OF_NEAREST if pair.original.n_nodes > ALL_PAIRS else ""
    knows, people = words_of(pair, options.copy), options.people
    settings = [
        Setting(overlap=overlap, knows=knows, people=people, search=search)
        for overlap in options.overlaps
    ]
    return reidentification.named_by_copies(
        situation, "alignment", settings, partial(_try_copies, pair, options)
    )


PER_PAIR, PER_WALK = 1e-5, 1e-7
"""Seconds of the relaxation for every pair of nodes, and for every node and end of an edge."""


def seconds(situation: AttackInput[GraphComparison], options: AlignmentOptions) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    n = pair.original.n_nodes
    # Among candidates the search of `seeded-matching`; among all pairs the relaxation comes on top.
    if n > ALL_PAIRS:
        forecast.check_size(pair)
        every = [forecast.seconds_of_near_match(pair, overlap) for overlap in options.overlaps]
    else:
        last = PER_PAIR * n * n + PER_WALK * n * ends_of(pair)
        every = [
            forecast.seconds_of_all_pairs(pair, overlap, options.people, last)
            for overlap in options.overlaps
        ]
    return options.draws * sum(every)


def _try_copies(
    pair: GraphComparison,
    options: AlignmentOptions,
    setting: Setting,
    kinds: reidentification.NodeKinds,
    rng: np.random.Generator,
) -> reidentification.CopyTrials:
    """Return how good the names of all copies under one setting are."""
    namings, overlap = [], setting.overlap or 0.0
    for draw in range(options.draws):
        with stage(f"aligning a copy of overlap {overlap:g}, {draw + 1} of {options.draws}"):
            # A new copy and a new order each time; nobody is known.
            two = paired_copy.pairing(pair, overlap, rng, people=options.people, copy=options.copy)
            namings.append(reidentification.Naming.of(two, aligned(two, rng), kinds))
    return reidentification.CopyTrials(setting, namings)


def aligned(two: paired_copy.Pairing, rng: np.random.Generator) -> Match:
    """Return the released node of every node of the copy, nobody known; -1 where none is likely.

    Parameters
    ----------
    two : Pairing
        The copy next to the release.
    rng : numpy.random.Generator
        Chance between assignments of equal worth, and noise added by the attacker.

    Returns
    -------
    int64, shape (n,)
        A one-to-one assignment; above `ALL_PAIRS` nodes -1 where no candidate is left.
    """
    # No seeds: no pair is known.
    nobody = np.full(two.truth.size, paired_copy.NOBODY, dtype=np.int64)
    if two.truth.size > ALL_PAIRS:
        return near_match(two, nobody, rng)
    ties = Ties.of(two, nobody, rng)
    return one_to_one.best_assignment(ties, _starts(ties, two, rng))


def _starts(
    ties: Ties, two: paired_copy.Pairing, rng: np.random.Generator
) -> Iterator[one_to_one.Start]:
    """Yield the starts of both attacks, and that of the relaxation, which takes longest."""
    yield from one_to_one.common_starts(ties, two, rng)
    # Last, FUGAL: reached only if no two earlier starts agree.
    relaxed = fugal.relaxed_alignment(two.copy, two.released, two.side_information)
    last = (
        fugal.assigned(relaxed)
        if ties.excluded is None
        else ties.assigned(relaxed.astype(np.float32))
    )
    yield one_to_one.Start(last, next(distances(two)))


ALIGNMENT = Attack(
    name="alignment",
    kind=Graph,
    knows="a copy of the network that shares some of its edges, has random pairs in place of "
    "the others and may lack nodes. It has the edge directions, edge types and published "
    "attributes if the release has them. No released node is known",
    definition="share of people who are assigned their own released node by the best one-to-one "
    "alignment of the two graphs; pairs are reassigned until no more edges are kept. Only "
    "people with an edge both in the copy and in the release are counted",
    source="based on FUGAL, Bommakanti et al., NeurIPS 2024; repeated, and with other starts, "
    "as in seeded-matching",
    cost=f"nodes cubed, up to {ALL_PAIRS:,} nodes: minutes for 1,000; {forecast.COST}; "
    "not run by default",
    compute=alignment,
    seconds=seconds,
    options=AlignmentOptions,
    by_name=True,
    said=reidentification.said_of_copies(", by alignment"),
)
