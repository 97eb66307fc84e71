"""Turn targets of profiles into edits of arcs: what is owed is paid step by step, round by round.

Arcs go and come between those who have too many and too few, then change an end, then lead to or
from settled people of large cells, who step into the next. What even this leaves is planned anew on
the edited arcs. At the latest all arcs or none are left, which is legal for every k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Layer
from graphveil.kernels.hashing import new_table
from graphveil.kernels.profile import steps
from graphveil.kernels.profile.arcs import LESS, MORE, MORE_BACK, ArcEdits, Cells, changed_arcs
from graphveil.methods.profile.level import cells_of, leveled, unmet
from graphveil.methods.profile.plan import (
    ADDITIONS,
    Ints,
    Prices,
    classes,
    plan_of_profiles,
)
from graphveil.randomness import Randomness

ROUNDS = 24
REROUTE_TRIES = 256
REROUTE_BUDGET = 1 << 18
THROUGH_TRIES = 1_000
PRICES = (Prices(1, 1), Prices(4, 5), Prices(2, 3), ADDITIONS)
"""Arcs that go must be there, arcs that come need not: a unit less may count for more."""

FREE_WORK = 600_000
"""A small network gets more attempts than one for each price, as many as fit into this work."""

LITTLE_WORK = 30_000_000
"""A large one gets one attempt alone."""

FEWEST_ATTEMPTS, MOST_ATTEMPTS = 3, 8


class ArcChanges(NamedTuple):
    """Edits of arcs, as sorted keys ``u * n + v``, and how far from the best they can be.

    Attributes
    ----------
    added, deleted
        int64: what comes and what goes.
    change
        The sum of all changes of numbers that was planned.
    rounds
        How often it was planned.
    """

    added: Ints
    deleted: Ints
    change: int
    rounds: int

    @property
    def cost(self) -> int:
        """How many arcs come or go."""
        return self.added.size + self.deleted.size


def realize(
    layer: Layer,
    colors: Ints,
    k: int,
    *,
    additions: bool,
    randomness: Randomness,
    most: int = MOST_ATTEMPTS,
) -> ArcChanges:
    """Return few edits of arcs after which at least k people of one color share every profile.

    Parameters
    ----------
    layer
        Directed ties of n people.
    colors
        int64, shape (n,), from 0 on; each is of at least k people.
    k
        1 <= k <= n.
    additions
        Whether arcs may only come.
    randomness
        The same seed gives the same edits.
    most
        No more attempts than these.

    Examples
    --------
    >>> star = Layer.from_arcs([0, 0, 0], [1, 2, 3], n=4)
    >>> changes = realize(star, np.zeros(4, dtype=np.int64), 4, additions=False,
    ...                   randomness=Randomness(seed=1))
    >>> changes.cost
    5
    """
    best = None
    prices = (ADDITIONS,) if additions else PRICES
    work = layer.n_ties + layer.n_nodes * (1 + k * k)
    attempts = min(MOST_ATTEMPTS, FREE_WORK // work)
    attempts = max(attempts, max(len(prices), FEWEST_ATTEMPTS) if work < LITTLE_WORK else 1)
    for attempt in range(min(attempts, most)):
        rng = randomness.stream(f"profile {attempt}")
        changes = _attempt(layer, colors, k, prices[attempt % len(prices)], rng)
        if best is None or changes.cost < best.cost:
            best = changes
        if best.cost == 0:
            break
    if best is None:
        raise AssertionError("nothing was tried")
    check(layer, colors, k, best)
    return best


def _attempt(
    layer: Layer, colors: Ints, k: int, prices: Prices, rng: np.random.Generator
) -> ArcChanges:
    """Plan and pay, round by round, until every profile is shared."""
    n = layer.n_nodes
    first = keys_of(layer)
    now, change, rounds = first, 0, 0
    while rounds < ROUNDS:
        arcs = np.divmod(now, max(n, 1))
        edits_of = [Layer.from_arcs(*ends, n=n) for ends in (arcs, arcs[::-1])]
        points = np.column_stack(edits_of[0].degrees())
        if classes(colors, *points.T)[1].min(initial=k) >= k:
            break
        plan = plan_of_profiles(points, colors, k, prices, rng)
        change = change or int(plan.change(points).sum())
        target = leveled(plan, points, colors, k, prices, rng)
        edits = _start(edits_of[0], edits_of[1], target)
        _pay(edits, cells_of(target, colors), k, prices, rng)
        added, deleted = (np.unique(changed_arcs(edits, sign)) for sign in (1, -1))
        now = np.union1d(np.setdiff1d(now, deleted, assume_unique=True), added)
        rounds += 1
    else:
        now = _last_resort(first, n, prices)
    return ArcChanges(
        added=np.setdiff1d(now, first, assume_unique=True),
        deleted=np.setdiff1d(first, now, assume_unique=True),
        change=change,
        rounds=rounds,
    )


def keys_of(layer: Layer) -> Ints:
    """Return every arc as ``u * n + v``, ascending."""
    source, target = (end.astype(np.int64) for end in layer.ties())
    keys: Ints = source * layer.n_nodes + target
    return keys


def _last_resort(keys: Ints, n: int, prices: Prices) -> Ints:
    """Return all arcs, or none where that needs fewer edits and arcs may go."""
    if not prices.rises and keys.size <= n * (n - 1) // 2:
        return keys[:0]
    every = np.arange(n * n, dtype=np.int64)
    arcs: Ints = every[every // n != every % n]
    return arcs


def _start(layer: Layer, back: Layer, target: Ints) -> ArcEdits:
    """Return the state without edits, with room for what a unit of need may write."""
    owed, owed_back = (target - np.column_stack(layer.degrees())).T.copy()
    room = 3 * unmet(owed, owed_back) + 64
    table, shift = new_table(2 * room)
    return ArcEdits(
        pointers=layer.indptr,
        lists=layer.indices,
        back_pointers=back.indptr,
        back_lists=back.indices,
        table=table,
        added=np.empty(room, dtype=np.int64),
        deleted=np.empty(room, dtype=np.int64),
        tally=np.array([0, 0, shift], dtype=np.int64),
        owed=owed,
        owed_back=owed_back,
        turned=0,
    )


def _turned(edits: ArcEdits, cells: Cells) -> tuple[ArcEdits, Cells]:
    """Return the same state seen the other way round."""
    return edits._replace(
        pointers=edits.back_pointers,
        lists=edits.back_lists,
        back_pointers=edits.pointers,
        back_lists=edits.lists,
        owed=edits.owed_back,
        owed_back=edits.owed,
        turned=1 - edits.turned,
    ), cells._replace(beside=np.ascontiguousarray(cells.beside[:, [2, 3, 0, 1]]))


def by_need(owed: Ints, sign: int, rng: np.random.Generator) -> Ints:
    """Return who is owed arcs of this sign, the largest need first, ties at random."""
    need = owed * sign
    people = rng.permutation(np.flatnonzero(need > 0))
    in_order: Ints = people[np.argsort(-need[people], kind="stable")]
    return in_order


def _pay(edits: ArcEdits, cells: Cells, k: int, prices: Prices, rng: np.random.Generator) -> None:
    """Take the steps, the cheapest first: by what they need of edits for a unit."""
    sides = ((edits, cells), _turned(edits, cells))
    signs = (1,) if prices.rises else (-1, 1)

    def both(sign: int) -> tuple[Ints, Ints]:
        return by_need(edits.owed, sign, rng), by_need(edits.owed_back, sign, rng)

    if not prices.rises:
        steps.cut_surplus(edits, *both(-1))
    steps.join_owed(edits, *both(1))
    for sign in signs:
        steps.reroute(edits, *both(sign), sign, REROUTE_TRIES, REROUTE_BUDGET, rng)
    if not prices.rises:
        for side, _ in sides:
            steps.change_tails(side, by_need(side.owed, 1, rng), by_need(side.owed, -1, rng), rng)
    steps.change_own(edits, cells, rng.permutation(_left(edits)), k)
    for side, beside in sides:
        _absorb(side, beside, k, prices, rng)
    if not prices.rises and _left(edits).size:
        steps.part_through_others(edits, *both(-1), rng)
        steps.pay_through_others(edits, *both(1), THROUGH_TRIES, rng)
        for side, beside in sides:
            able = _able(beside, MORE, k, rng)
            steps.hand_over(side, beside, by_need(side.owed, -1, rng), able, k, rng)
            able = _able(beside, LESS, k, rng)
            steps.take_over(side, beside, by_need(side.owed, 1, rng), able, k, rng)


def _absorb(
    edits: ArcEdits, cells: Cells, k: int, prices: Prices, rng: np.random.Generator
) -> None:
    if not prices.rises:
        steps.absorb_surplus(edits, cells, by_need(edits.owed, -1, rng), k, rng)
    owed = by_need(edits.owed, 1, rng)
    if owed.size:
        steps.absorb_owed(edits, cells, owed, _able(cells, MORE_BACK, k, rng), k)


def _left(edits: ArcEdits) -> Ints:
    return np.flatnonzero((edits.owed != 0) | (edits.owed_back != 0))


def _able(cells: Cells, way: int, k: int, rng: np.random.Generator) -> Ints:
    """Return who may change to the next cell this way, in random order."""
    spare = (cells.members > k) & (cells.beside[:, way] >= 0)
    return rng.permutation(np.flatnonzero(spare[cells.of_person]))


def edited(layer: Layer, changes: ArcChanges) -> Layer:
    """Return the ties with these edits.

    Examples
    --------
    >>> layer = Layer.from_arcs([0], [1], n=3)
    >>> changes = ArcChanges(np.array([5]), np.array([1]), 4, 1)
    >>> edited(layer, changes).ties().target.tolist()
    [2]
    """
    kept = np.setdiff1d(keys_of(layer), changes.deleted, assume_unique=True)
    source, target = np.divmod(np.union1d(kept, changes.added), max(layer.n_nodes, 1))
    return Layer.from_arcs(source, target, n=layer.n_nodes, name=layer.name)


def check(layer: Layer, colors: NDArray[np.int64], k: int, changes: ArcChanges) -> None:
    """Count the promise again from the edits alone.

    Raises
    ------
    AssertionError
        Where a profile is shared by fewer than k people of a color, or an edit changes nothing: a
        bug of ours.
    """
    keys = keys_of(layer)
    added = np.isin(changes.added, keys).any()
    if added or not np.isin(changes.deleted, keys).all():
        raise AssertionError("an edit repeats itself, or changes nothing")
    sizes = classes(colors, *edited(layer, changes).degrees())[1]
    if sizes.min(initial=k) < k:
        raise AssertionError(f"the realized profiles are not {k}-anonymous")
