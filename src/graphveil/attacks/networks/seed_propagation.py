"""Who is who for an adversary who holds a copy of the network and knows a few people, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import (
    Attack,
    AttackInput,
    AttackOptions,
    Outcome,
    TooLargeError,
    refuse_more_nodes,
)
from graphveil.attacks.costs import ends_of, squares
from graphveil.attacks.networks.besides import COPY, CopyOf, words_of
from graphveil.attacks.networks.copies import Pairing, of_people, pairing
from graphveil.attacks.networks.naming import NOBODY, Drawn, Naming, NodeKinds, summary
from graphveil.attacks.networks.propagation import Match, expand, refine, surest_pairs
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.parameters import parameter
from graphveil.progress import stage

MOST_NODES, MOST_SQUARES = 100_000, 400_000_000
"""Up to so many nodes, and so large a sum of squared degrees, graphs are matched."""

MOST_NODES_UNKNOWN = 6_000
"""Up to so many nodes they are matched with nobody known: all pairs of nodes are held at once."""

SMALLER = "Try it on a release of a part of the people"

OVERLAPS, KNOWN = (1.0, 0.9, 0.8), (0, 5, 10, 20, 50)
ROUNDS, ROUNDS_UNKNOWN = 12, 25
_LEAST_DEGREE = 2


@dataclass(frozen=True, kw_only=True)
class SeedPropagationOptions(AttackOptions):
    """What the copy shares with the original, and how many people are known."""

    label: ClassVar[str] = "seed-propagation"

    overlap: float | None = parameter(
        default=None,
        text="share of the edges between people of the copy that stand in it, random pairs for "
        "the others",
        minimum=0,
        maximum=1,
        unset=", ".join(f"{overlap:g}" for overlap in OVERLAPS),
    )
    known: int | None = parameter(
        default=None,
        text="people whose released node is known; 0 is nobody",
        minimum=0,
        unset=", ".join(map(str, KNOWN)),
    )
    people: float = parameter(
        default=1.0, text="share of the people whom the copy has", minimum=0, maximum=1
    )
    copy: CopyOf = parameter(default="network", text=COPY)
    draws: int = parameter(default=10, text="copies, each with other known people", minimum=1)

    @property
    def settings(self) -> list[tuple[float, int]]:
        """Every overlap and number of known people that is tried."""
        overlaps = OVERLAPS if self.overlap is None else (self.overlap,)
        known = KNOWN if self.known is None else (self.known,)
        return [(overlap, number) for overlap in overlaps for number in known]


class Guess(NamedTuple):
    """One draw: the copy beside the release, who is known, and who was given which node.

    Parameters
    ----------
    pairing
        The two graphs.
    known
        int64: the nodes of the copy whose released node the adversary knows.
    match
        int64, shape (n,): the released node of every node of the copy, or -1.
    capped
        Whether the matching was stopped before it came to its end.
    """

    pairing: Pairing
    known: NDArray[np.int64]
    match: Match
    capped: bool


def seed_propagation(
    situation: AttackInput[GraphComparison], options: SeedPropagationOptions
) -> Outcome:
    """Return how many people are named by matching copies of the original with the release.

    Raises
    ------
    NotMeasuredError
        Where there are no nodes, or nobody could be known.
    """
    pair = situation.comparison
    check_people(pair)
    rng = situation.rng("seed-propagation")
    kinds = NodeKinds.of(pair.original)
    drawn: list[Drawn] = []
    missing: dict[str, str] = {}
    for overlap, known in options.settings:
        copy = f"overlap {overlap:g}{words_of(pair, options.copy)}{of_people(options.people)}"
        label = f"{copy}, {known or 'nobody'} known"
        try:
            with stage(f"matching a copy of {label}"):
                drawn.append(_drawn(pair, label, overlap, known, options, kinds, rng))
        except NotMeasuredError as error:
            missing[label] = str(error)
    if not drawn:
        raise NotMeasuredError("; ".join(dict.fromkeys(missing.values())))
    outcome = summary(drawn, kinds, rng)
    return outcome._replace(not_measured={**outcome.not_measured, **missing})


def check_people(pair: GraphComparison) -> None:
    """Refuse where there are no nodes.

    Raises
    ------
    NotMeasuredError
        With the reason.
    """
    if pair.original.n_nodes == 0:
        raise NotMeasuredError("there are no people")


def check_matching(pair: GraphComparison) -> None:
    """Refuse where nodes or edges are too many for a matching.

    Raises
    ------
    TooLargeError
        With the reason.
    """
    n, total = pair.original.n_nodes, squares(pair)
    refuse_more_nodes(n, MOST_NODES, SMALLER)
    if total > MOST_SQUARES:
        raise TooLargeError(
            f"the squares of the degrees add up to {total:,}, more than {MOST_SQUARES:,}. {SMALLER}"
        )


PER_END, PER_MARK, PER_PAIR = 1e-6, 1.5e-7, 4e-8
"""Seconds of one draw for every end of an edge, for every mark, and with nobody known for every
pair of nodes. Marks are about as many as the squares of the degrees add up to."""

NEAR_BY, GROWTH, FARTHEST = 500_000, 0.38, 25_000_000
"""Up to so many marks they lie in the cache; then each costs more, by a power, up to so many."""


def seconds(situation: AttackInput[GraphComparison], options: SeedPropagationOptions) -> float:
    """Return about how long it takes.

    Raises
    ------
    TooLargeError
        Where nodes or edges are too many.
    """
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
    return f"{n:,} nodes are more than {MOST_NODES_UNKNOWN:,}. Let some people be known, such as 20"


def _drawn(
    pair: GraphComparison,
    label: str,
    overlap: float,
    known: int,
    options: SeedPropagationOptions,
    kinds: NodeKinds,
    rng: np.random.Generator,
) -> Drawn:
    """Return how good the names of all draws are; a label says where one was stopped."""
    namings = []
    capped = 0
    for _ in range(options.draws):
        two = pairing(pair, overlap, rng, people=options.people, copy=options.copy)
        made = guess(two, known, rng)
        namings.append(Naming.of(two, made.match, kinds, made.known))
        capped += made.capped
    return Drawn(f"{label}, capped in {capped} draws" if capped else label, namings)


def known_people(two: Pairing, known: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return so many nodes of the copy, drawn evenly among those of two ties in either graph.

    Raises
    ------
    NotMeasuredError
        Where they are fewer.
    """
    fewest = np.minimum(two.copy.degrees(), two.released.degrees()[two.truth])
    people = np.flatnonzero(fewest >= _LEAST_DEGREE)
    if people.size < known:
        raise NotMeasuredError(f"{people.size:,} people with two ties in both are fewer")
    return rng.choice(people, known, replace=False)


def guess(two: Pairing, known: int, rng: np.random.Generator) -> Guess:
    """Return who is given which released node once some people are known, drawn evenly.

    Parameters
    ----------
    two
        The copy and the release.
    known
        How many people; all of them have two ties in either graph.
    rng
        Draws them.

    Raises
    ------
    NotMeasuredError
        Where fewer people could be known, or nodes are too many with nobody known.
    """
    n = two.truth.size
    if not known and n > MOST_NODES_UNKNOWN:
        raise TooLargeError(_too_many_unknown(n))
    chosen = known_people(two, known, rng)
    seeds = np.full(n, NOBODY, dtype=np.int64)
    seeds[chosen] = two.truth[chosen]
    if not known:
        surest = surest_pairs(two.copy, two.released, two.more)
        match = refine(two.copy, two.released, surest, seeds, ROUNDS_UNKNOWN, two.more)
        return Guess(two, chosen, match, capped=False)
    grown = expand(two.copy, two.released, seeds, more=two.more)
    match = refine(two.copy, two.released, grown.match, seeds, ROUNDS, two.more)
    return Guess(two, chosen, match, capped=grown.stopped)


SEED_PROPAGATION = Attack(
    name="seed-propagation",
    kind=Graph,
    knows="a copy of the network that shares some of its edges, random pairs in place of the "
    "others, and may lack people, with the directions and kinds of ties and the published "
    "attributes where the release has them; and the released nodes of 5 to 50 people, or of nobody",
    definition="of the people with a tie in the copy and one in the release, known people aside, "
    "how many are given their own released node by what matched neighbors say, and how many of "
    "those who are given one",
    source="Narayanan & Shmatikov, S&P 2009; Kazemi, Hassani & Grossglauser, PVLDB 2015; "
    "refinement, and the start with nobody known: ours",
    needs_linkage=True,
    cost=f"heavy, up to {MOST_NODES:,} nodes and a sum of squared degrees of {MOST_SQUARES:,}, "
    f"with nobody known up to {MOST_NODES_UNKNOWN:,} nodes; run where asked for",
    compute=seed_propagation,
    seconds=seconds,
    options=SeedPropagationOptions,
    by_name=True,
)
"""The entry of this attack."""
