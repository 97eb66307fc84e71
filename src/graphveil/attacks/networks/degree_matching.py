"""Matching by rank: people and released nodes sorted by degree, the attack `degree-matching`.

The attacker knows the degree of every person in the original. People and released nodes are sorted
by degree and paired by rank; equal numbers are in random order on both sides. The attacker reads
all that is published: if a manifest states the noisy degrees that a graph was generated from, these
are sorted, since they say more than the generated graph.

This finds people with large degrees, whose ranks hardly move, where `candidate-set` finds nobody
because no degree is as it was. The attack is graphveil's own. The baseline is 1/n, also among the
largest degrees: the attacker then still guesses one of all n nodes. All people are counted, with
expected values over random orders of equal numbers: no interval is needed. Cost: n log n.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.networks.candidate_set import same_for_look_alikes
from graphveil.attacks.wording import GUESSED, singled_out
from graphveil.claims.conditions import Drawing
from graphveil.core.array_types import Floats, Ints
from graphveil.core.rows import Setting
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import NotMeasuredError

LARGEST = (20, 5)
"""Separate figures for this many people with the largest degrees: noise moves their ranks least."""

RIGHT, AMONG = "right guess", "the {} largest"
"""Names of the figure, and of the part of the people that it is about."""


def degree_matching(situation: AttackInput[GraphComparison], _options: AttackOptions) -> Outcome:
    """Return how often people and nodes of the same rank by degree belong together."""
    pair = situation.comparison
    known = pair.original.degrees().astype(np.int64)
    n = known.size
    if n == 0:
        raise NotMeasuredError("the network has no nodes")
    # Chances over random orders of equal numbers, so that nothing is sampled.
    risk = right_by_rank(known, _noisy_or_degrees(situation)[pair.linked])
    figures = [_by_rank(risk, n)]
    # People with at least the degree of the last of the largest: equal degrees are all included.
    for top in LARGEST:
        if top < n:
            least = np.partition(known, n - top)[n - top]
            figures.append(_by_rank(risk[known >= least], n, AMONG.format(top)))
    return Outcome(figures, risk, np.full(n, 1 / n))


def _by_rank(right: Floats, n: int, among: str = "") -> AttackFigure:
    share = float(right.mean())
    return AttackFigure(RIGHT, share, "share of people", 1 / n, setting=Setting(among=among))


def _noisy_or_degrees(situation: AttackInput[GraphComparison]) -> Ints:
    """Return the number that is published of every released node: with noise, or its degree."""
    # A stated noisy degree says more than the degree of a node that was generated from it.
    for condition in situation.release.conditions:
        if isinstance(condition, Drawing):
            noisy = np.array(condition.numbers("noisy_degrees"), dtype=np.int64)
            return noisy[condition.place_of_id()]
    return situation.comparison.released.degrees().astype(np.int64)


def right_by_rank(known: Ints, published: Ints) -> Floats:
    """Return how likely each person is matched with their own node when both sides are sorted.

    Parameters
    ----------
    known : int64, shape (n,)
        The number known of every person.
    published : int64, shape (n,)
        The number published of each person's own node.

    Returns
    -------
    float64, shape (n,)
        Chances over random orders of equal numbers on both sides.

    Examples
    --------
    >>> right_by_rank(np.array([5, 1, 1]), np.array([4, 2, 1])).tolist()
    [1.0, 0.5, 0.5]
    """
    # Equal numbers occupy a range of ranks: from how many are smaller, to how many are not larger.
    ranks = []
    for numbers in (known, published):
        in_order = np.sort(numbers)
        ranks.append([np.searchsorted(in_order, numbers, side=side) for side in ("left", "right")])
    (first, behind), (own_first, own_behind) = ranks
    # A person is at each rank of their range equally often, and so is their node: they meet at
    # ranks in both ranges, with the product of both chances.
    both = np.minimum(behind, own_behind) - np.maximum(first, own_first)
    return np.asarray(np.maximum(both, 0) / ((behind - first) * (own_behind - own_first)))


DEGREE_MATCHING = Attack(
    name="degree-matching",
    kind=Graph,
    knows="the degree of every person in the original, and all that is published: also the noisy "
    "degrees that a manifest states",
    definition="how often a person and the released node of the same rank belong together, with "
    "equal numbers in random order; ranks are those of degrees, or of stated noisy degrees. "
    f"For all people, and for the {LARGEST[0]} and the {LARGEST[1]} with the largest degrees",
    source="matching of sorted degrees; graphveil's own",
    cost="n log n",
    compute=degree_matching,
    said=(
        singled_out(
            RIGHT,
            does=f"knows all degrees and seeks one of the {LARGEST[0]} largest",
            label=f"the {LARGEST[0]} most connected people",
            says=f"{GUESSED}, among the {LARGEST[0]} with the largest degrees",
            when=lambda setting: setting.among == AMONG.format(LARGEST[0]),
            if_measured=True,
            covered=partial(same_for_look_alikes, "degree"),
        ),
    ),
)
