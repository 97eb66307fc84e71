"""Which items a person has, for someone who knows all the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.costs import run_again
from graphveil.attacks.features.classes import FALSE_SHARE, People, people_of
from graphveil.attacks.features.linkage import TWIN, popular_items
from graphveil.attacks.features.scoring import MOST_CELLS, batches, classes_in, scores
from graphveil.attacks.features.twin import FEWEST_FEATURES, people_to_leave_out, twin
from graphveil.attacks.intervals import bootstrap_paired_auc, positives_above
from graphveil.data import Bipartite
from graphveil.errors import GraphveilError
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.parameters import parameter

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, kw_only=True)
class ItemMembershipOptions(AttackOptions):
    """How many people are attacked."""

    label: ClassVar[str] = "item-membership"

    targets: int = parameter(
        default=500, text="people who are attacked, one item each", minimum=1, maximum=5_000
    )


class ChallengedPairs(NamedTuple):
    """What the adversary knows of some people, and asks.

    Parameters
    ----------
    people
        int64, shape (targets,): who they are.
    known
        float64 ones, targets by features: all their items but one.
    item, other
        int64, shape (targets,): the item that is not known, and one that they do not have.
    """

    people: NDArray[np.int64]
    known: sparse.csr_array
    item: NDArray[np.int64]
    other: NDArray[np.int64]


def item_membership(
    situation: AttackInput[BipartiteComparison], options: ItemMembershipOptions
) -> Outcome:
    """Return how well an item that a person has is told from one that they do not have.

    Raises
    ------
    NotMeasuredError
        Where nobody has three items and lacks one.
    """
    people = people_of(situation.comparison)
    rng = situation.rng("item-membership")
    asked = asked_of(people, rng.permutation(people.own.size), options.targets, rng)
    figures = list(_figures("of people inside", asked, people, rng))
    missing = {}
    try:
        out = people_to_leave_out(people, options.targets, rng)
        beside = twin(situation, out, int(rng.integers(1 << 62)))
        asked_out = asked_of(beside, rng.permutation(out), options.targets, rng)
        figures.extend(_figures("of people left out", asked_out, beside, rng))
    except (NotMeasuredError, GraphveilError) as error:
        missing[TWIN] = str(error)
    risk, baseline = (np.full(people.own.size, np.nan) for _ in range(2))
    risk[asked.people] = _above(asked, people).mean(axis=1)
    baseline[asked.people] = _above_by_frequency(asked, people).mean(axis=1)
    return Outcome(figures, risk, baseline, missing)


def asked_of(
    people: People, order: NDArray[np.int64], targets: int, rng: np.random.Generator
) -> ChallengedPairs:
    """Return what is asked of the first people in an order.

    Parameters
    ----------
    people
        The people beside a release.
    order
        int64: people, those who are attacked first.
    targets
        Of how many at most.
    rng
        Draws the items; those that they do not have by popularity.

    Raises
    ------
    NotMeasuredError
        Where there are none.
    """
    used = int(np.count_nonzero(np.bincount(people.before.indices)))
    numbers = people.numbers[order]
    chosen = order[(numbers >= FEWEST_FEATURES) & (numbers < used)][:targets]
    if not chosen.size:
        raise NotMeasuredError(
            f"nobody has {FEWEST_FEATURES} items or more, and lacks one that others have"
        )
    item, other = (np.empty(chosen.size, dtype=np.int64) for _ in range(2))
    known = people.before[chosen].copy()
    for number, person in enumerate(chosen.tolist()):
        own = people.row(person)
        item[number] = rng.choice(own)
        other[number] = popular_items(people, own, 1, rng)[0]
        start, end = known.indptr[number : number + 2]
        known.data[start:end] = known.indices[start:end] != item[number]
    known.eliminate_zeros()
    return ChallengedPairs(chosen, known, item, other)


def chances_of(
    asked: ChallengedPairs, items: NDArray[np.int64], people: People
) -> NDArray[np.float64]:
    """Return how likely the adversary takes it that every target has one further item.

    Parameters
    ----------
    asked
        What is known of the targets.
    items
        int64, shape (targets,): the item of each.
    people
        The people beside the release.
    """
    from scipy import sparse  # noqa: PLC0415  heavy: not for help

    classes = people.classes
    weights, columns = classes.weights(FALSE_SHARE), sparse.csr_array(classes.rows.T)
    shown = np.empty(items.size)
    for some in batches(items.size, classes):
        score = scores(asked.known[some], classes, weights) + np.log(classes.sizes)
        chance = np.exp(score - score.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        shown[some] = np.asarray(columns[items[some]].multiply(chance).sum(axis=1)).ravel()
    likely: NDArray[np.float64] = classes.truth * shown + classes.hidden[items] * (1 - shown)
    return likely


def _above(asked: ChallengedPairs, people: People) -> NDArray[np.float64]:
    """Return whether everybody's item scores above everybody's other; ties are a half."""
    own, other = (chances_of(asked, items, people) for items in (asked.item, asked.other))
    return positives_above(own, other)


def _above_by_frequency(asked: ChallengedPairs, people: People) -> NDArray[np.float64]:
    """Return the same by how frequent the items are in the release, whoever is asked about."""
    frequency = people.classes.frequency
    return positives_above(frequency[asked.item], frequency[asked.other])


def _figures(
    whom: str, asked: ChallengedPairs, people: People, rng: np.random.Generator
) -> Iterator[AttackFigure]:
    """Yield the area under the curve, beside that of the items' frequencies."""
    above = _above(asked, people)
    yield AttackFigure(
        f"one item {whom}",
        float(above.mean()),
        "area under the curve",
        float(_above_by_frequency(asked, people).mean()),
        sample=bootstrap_paired_auc(above, rng),
    )


PER_CELL, PER_PAIR = 2e-7, 2e-7
"""Seconds for every target and class, and for every pair of targets, mostly to draw them again."""


def seconds(situation: AttackInput[BipartiteComparison], options: ItemMembershipOptions) -> float:
    """Return about how long it takes; with it one more run of the method.

    Raises
    ------
    TooLargeError
        Where classes and features are too many.
    """
    pair = situation.comparison
    classes = classes_in(pair)
    targets = min(options.targets, pair.original.n_users)
    return 2 * targets * (PER_CELL * classes + PER_PAIR * targets) + run_again(situation)


ITEM_MEMBERSHIP = Attack(
    name="item-membership",
    kind=Bipartite,
    knows="all items of a person but one, and how true the release is on the whole",
    definition="how often an item that somebody has scores higher than one that somebody else does "
    "not have, drawn by popularity, ties being a half: the area under the curve; beside it that of "
    "the items' frequencies alone, and the same for people whom a second run left out",
    source="graphveil's own likelihood",
    needs_linkage=True,
    cost="near-linear, one run of the method, on 500 people drawn; up to "
    f"{MOST_CELLS:,} distinct rows and features together",
    compute=item_membership,
    options=ItemMembershipOptions,
    seconds=seconds,
)
"""The entry of this attack."""
