"""Turn targets of profiles into added and deleted arcs, and edit networks of several layers.

A directed layer is edited in rounds (`realize`). In a round targets are planned
(`plan_of_profiles`, `leveled`), and the steps of `arcs` pay what every node is owed, the cheapest
steps first: by how many arcs they need per unit. What no step pays is planned again on the edited
arcs. After `ROUNDS` rounds all arcs or none are left, which is legal for every k, so that it always
succeeds. Several attempts with other prices and random numbers are made, and the one with the
fewest edits wins.

Several layers are edited one by one (`realize_layers`). For one layer, nodes are of one color if
they have the same attributes and the same degrees in all other layers. Each such color has at least
k nodes, so each layer alone has a solution, and an edited layer never spoils another one.
Undirected layers are edited by the method k-degree.

The guarantee is checked on the edited arcs alone, without the kernels, before anything is returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator

from graphveil.core.array_types import Ints
from graphveil.core.kernels.arrays import new_table
from graphveil.core.randomness import Randomness
from graphveil.data import Layer, Network
from graphveil.methods.attributes import numbered_colors
from graphveil.methods.k_degree.realize import apply_edits
from graphveil.methods.k_degree.realize import realize as realize_edges
from graphveil.methods.profile import targets
from graphveil.methods.profile.kernels import arcs as steps
from graphveil.methods.profile.kernels.arcs import ArcEdits, Cells
from graphveil.methods.profile.targets import ADDITIONS, Prices, cells_of, classes

ROUNDS = 24
"""Rounds of planning and paying, before all arcs or none are left.

Each round plans again what the one before could not pay. More rounds make the last resort rarer.
"""
REROUTE_TRIES = 256
"""The most edits of the log that are tried to pay one pair."""
REROUTE_BUDGET = 1 << 18
"""The most edits of the log that are tried in all for pairs that fail: it bounds the run time."""
THROUGH_TRIES = 1_000
"""Random third nodes that are tried to pay one pair by three arcs."""
PRICES = (Prices(1, 1), Prices(4, 5), Prices(2, 3), ADDITIONS)
"""The prices of a rise and of a fall that attempts use in turn.

A deleted arc must exist, an added one need not, so that falls are harder to realize: some attempts
count a unit of fall for more than one of rise.
"""

FREE_WORK = 600_000
"""Work that a small network may use for more attempts than one for each price.

Work is edges plus nodes times ``1 + k**2``: see `realize`.
"""

LITTLE_WORK = 30_000_000
"""From this work on a network gets one attempt only."""

FEWEST_ATTEMPTS, MOST_ATTEMPTS = 3, 8
"""The least number of attempts below `LITTLE_WORK`, and the most of any network."""


Tried = TypeVar("Tried", "ArcChanges", "EditedLayers")


def cheapest(tries: Iterator[Tried]) -> Tried:
    """Return the result with the fewest edits, the first of equals; stop at one without any."""
    best = next(tries)
    while best.cost and (other := next(tries, None)) is not None:
        best = min(best, other, key=lambda result: result.cost)
    return best


class ArcChanges(NamedTuple):
    """Edits of one directed layer.

    Parameters
    ----------
    added, deleted
        int64: keys ``u * n + v``, ascending.
    change
        The total change of degrees of the first plan; every solution by this plan needs at least
        half of it as edits.
    rounds
        How many rounds were needed.
    """

    added: Ints
    deleted: Ints
    change: int
    rounds: int

    @property
    def cost(self) -> int:
        """The number of arcs added or deleted."""
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
    """Return few edits of arcs after which at least k nodes of one color share every profile.

    Parameters
    ----------
    layer
        A directed layer.
    colors
        int64, shape (n,).
    k
        The smallest size of a class.
    additions
        Whether arcs may only be added.
    randomness
        One stream for each attempt.
    most
        The most attempts.
    """
    prices = (ADDITIONS,) if additions else PRICES
    work = layer.n_ties + layer.n_nodes * (1 + k * k)
    attempts = min(MOST_ATTEMPTS, FREE_WORK // work)
    attempts = max(attempts, max(len(prices), FEWEST_ATTEMPTS) if work < LITTLE_WORK else 1)
    best = cheapest(
        _attempt(layer, colors, k, prices[n % len(prices)], randomness.stream(f"profile {n}"))
        for n in range(min(attempts, most))
    )
    check(layer, colors, k, best)
    return best


def _attempt(layer: Layer, colors: Ints, k: int, prices: Prices, rng: Generator) -> ArcChanges:
    """Plan and pay, round by round, until every profile is shared by k nodes of a color."""
    n = layer.n_nodes
    original = keys_of(layer)
    present, change, rounds = original, 0, 0
    while rounds < ROUNDS:
        # Step 1: the present arcs, forwards and backwards, and the profiles.
        arcs = np.divmod(present, max(n, 1))
        both_ways = [Layer.from_arcs(*ends, n=n) for ends in (arcs, arcs[::-1])]
        points = np.column_stack(both_ways[0].degrees())
        if classes(colors, *points.T)[1].min(initial=k) >= k:
            break
        # Step 2: plan targets, and level them.
        plan = targets.plan_of_profiles(points, colors, k, prices, rng)
        change = change or int(plan.change(points).sum())
        target = targets.leveled(plan, points, colors, k, prices, rng)
        # Step 3: pay what the targets ask for. What is left unpaid is planned again from the arcs
        # as they are then.
        edits = _start(both_ways[0], both_ways[1], target)
        _pay(edits, cells_of(target, colors), k, prices, rng)
        added, deleted = (np.unique(steps.changed_arcs(edits, sign)) for sign in (1, -1))
        present = np.union1d(np.setdiff1d(present, deleted, assume_unique=True), added)
        rounds += 1
    else:
        # No round succeeded.
        present = _last_resort(original, n, prices)
    return ArcChanges(
        added=np.setdiff1d(present, original, assume_unique=True),
        deleted=np.setdiff1d(original, present, assume_unique=True),
        change=change,
        rounds=rounds,
    )


def keys_of(layer: Layer) -> Ints:
    """Return every arc as ``u * n + v``, int64, ascending."""
    source, target = (end.astype(np.int64) for end in layer.ties())
    keys: Ints = source * layer.n_nodes + target
    return keys


def _last_resort(keys: Ints, n: int, prices: Prices) -> Ints:
    """Return all arcs; or none, if that needs fewer edits and arcs may be deleted."""
    if not prices.rises and keys.size <= n * (n - 1) // 2:
        return keys[:0]
    all_pairs = np.arange(n * n, dtype=np.int64)
    arcs: Ints = all_pairs[all_pairs // n != all_pairs % n]
    return arcs


def _start(layer: Layer, back: Layer, target: Ints) -> ArcEdits:
    """Return edits of nothing yet, with what every node is owed, and room for what is to come.

    A step makes at most two edits for each unit that it pays; there is room for three.
    """
    owed, owed_back = (target - np.column_stack(layer.degrees())).T.copy()
    room = 3 * int(np.abs(owed).sum() + np.abs(owed_back).sum()) + 64
    table, shift = new_table(2 * room)
    lists = layer.indptr, layer.indices, back.indptr, back.indices
    added, deleted = (np.empty(room, dtype=np.int64) for _ in range(2))
    tally = np.array([0, 0, shift], dtype=np.int64)
    return ArcEdits(*lists, table, added, deleted, tally, owed, owed_back, turned=0)


def _turned(edits: ArcEdits, cells: Cells) -> tuple[ArcEdits, Cells]:
    """Return the same state with the roles of tails and heads exchanged: see `ArcEdits`."""
    return edits._replace(
        pointers=edits.back_pointers,
        lists=edits.back_lists,
        back_pointers=edits.pointers,
        back_lists=edits.lists,
        owed=edits.owed_back,
        owed_back=edits.owed,
        turned=1 - edits.turned,
    ), cells._replace(next_cell=np.ascontiguousarray(cells.next_cell[:, [2, 3, 0, 1]]))


def by_need(owed: Ints, sign: int, rng: Generator) -> Ints:
    """Return the nodes owed arcs of this sign, largest need first, equal ones at random."""
    need = owed * sign
    people = rng.permutation(np.flatnonzero(need > 0))
    return people[np.argsort(-need[people], kind="stable")]


def _pay(edits: ArcEdits, cells: Cells, k: int, prices: Prices, rng: Generator) -> None:
    """Take the steps of `arcs` in the order of what they need per unit, cheapest first."""
    sides = ((edits, cells), _turned(edits, cells))
    signs = (1,) if prices.rises else (-1, 1)

    def both(sign: int) -> tuple[Ints, Ints]:
        return by_need(edits.owed, sign, rng), by_need(edits.owed_back, sign, rng)

    # One arc pays a unit on both sides: CUT and JOIN.
    if not prices.rises:
        steps.cut_surplus(edits, *both(-1))
    steps.join_owed(edits, *both(1))
    # An edit led elsewhere (REROUTE): one edit more for a unit on both sides.
    for sign in signs:
        steps.reroute(edits, *both(sign), sign, REROUTE_TRIES, REROUTE_BUDGET, rng)
    # Two edits move a unit from one node to another: TAIL and, turned, HEAD.
    if not prices.rises:
        for side, _ in sides:
            steps.change_tails(side, by_need(side.owed, 1, rng), by_need(side.owed, -1, rng), rng)
    # No edit, if an owed node may change cells (OWN CELL); or one, with a settled node (ABSORB).
    steps.change_own(edits, cells, rng.permutation(_left(edits)), k)
    for side, side_cells in sides:
        _absorb(side, side_cells, k, prices, rng)
    # The rest: THREE, HAND OVER and TRANSFER.
    if not prices.rises and _left(edits).size:
        steps.part_through_others(edits, *both(-1), rng)
        steps.balance_via_neighbors(edits, *both(1), THROUGH_TRIES, rng)
        for side, side_cells in sides:
            able = _able(side_cells, steps.MORE, k, rng)
            steps.hand_over(side, side_cells, by_need(side.owed, -1, rng), able, k, rng)
            able = _able(side_cells, steps.LESS, k, rng)
            steps.transfer_arcs(side, side_cells, by_need(side.owed, 1, rng), able, k, rng)


def _absorb(edits: ArcEdits, cells: Cells, k: int, prices: Prices, rng: Generator) -> None:
    """Take the steps ABSORB, for surplus first."""
    if not prices.rises:
        steps.absorb_surplus(edits, cells, by_need(edits.owed, -1, rng), k, rng)
    owed = by_need(edits.owed, 1, rng)
    if owed.size:
        steps.absorb_owed(edits, cells, owed, _able(cells, steps.MORE_BACK, k, rng), k)


def _left(edits: ArcEdits) -> Ints:
    """Return the nodes that are not settled."""
    return np.flatnonzero((edits.owed != 0) | (edits.owed_back != 0))


def _able(cells: Cells, way: int, k: int, rng: Generator) -> Ints:
    """Return the nodes that may change to the next cell this way, in random order."""
    spare = (cells.members > k) & (cells.next_cell[:, way] >= 0)
    return rng.permutation(np.flatnonzero(spare[cells.of_person]))


def edited(layer: Layer, changes: ArcChanges) -> Layer:
    """Return the layer with these edits."""
    kept = np.setdiff1d(keys_of(layer), changes.deleted, assume_unique=True)
    source, target = np.divmod(np.union1d(kept, changes.added), max(layer.n_nodes, 1))
    return Layer.from_arcs(source, target, n=layer.n_nodes, name=layer.name)


def check(layer: Layer, colors: Ints, k: int, changes: ArcChanges) -> None:
    """Check the guarantee on the edits alone.

    Raises
    ------
    AssertionError
        If an edit changes nothing, or a class is smaller than k: a bug of this package.
    """
    keys = keys_of(layer)
    added = np.isin(changes.added, keys).any()
    if added or not np.isin(changes.deleted, keys).all():
        raise AssertionError("an edit is repeated, or changes nothing")
    sizes = classes(colors, *edited(layer, changes).degrees())[1]
    if sizes.min(initial=k) < k:
        raise AssertionError(f"the realized profiles are not {k}-anonymous")


PASSES, PASSES_OF_MANY = 4, 2
"""The most passes over all layers, of small networks and of large ones."""

MUCH_WORK = 3_000_000
"""From this work on a network is a large one: see `work_of`."""

ATTEMPTS, ATTEMPTS_LATER = 4, 2
"""The most attempts for a directed layer in the first pass, and in later ones."""

FREE_WORK_OF_LAYERS = 300_000
"""Work that a small network may use to try several orders of its layers."""

MOST_ORDERS = 3
"""The most orders of layers that are tried."""

RESTARTS = 2
"""Random starts for an undirected layer: see `KDegree`."""


class EditedLayer(NamedTuple):
    """A layer after its edits, and how many edges were added and deleted."""

    layer: Layer
    added: int
    deleted: int

    @property
    def cost(self) -> int:
        """The number of edges added or deleted."""
        return self.added + self.deleted


class EditedLayers(NamedTuple):
    """All layers after their edits, in the order of the network.

    Parameters
    ----------
    layers
        Each layer.
    change
        The total change of degrees by the plan.
    rounds
        Rounds of one layer, or passes over several.
    """

    layers: tuple[EditedLayer, ...]
    change: int
    rounds: int

    @property
    def cost(self) -> int:
        """The number of edges added or deleted, in all layers."""
        return sum(each.cost for each in self.layers)


class _LayersTask(NamedTuple):
    """A network, the colors within which nodes may share, and which edits are allowed."""

    network: Network
    colors: Ints
    k: int
    additions: bool
    randomness: Randomness


def realize_layers(
    network: Network, colors: Ints, k: int, *, additions: bool, randomness: Randomness
) -> EditedLayers:
    """Return few edits after which at least k nodes of one color share every profile.

    If arcs may also be deleted, additions alone are tried as well, unless a plan shows that they
    need more.

    Parameters
    ----------
    network
        The network.
    colors
        int64, shape (n,): the known attributes, by number.
    k
        The smallest size of a class.
    additions
        Whether edges may only be added.
    randomness
        One stream for each attempt and order.
    """
    task = _LayersTask(network, colors, k, additions, randomness)
    changed = _of_some_orders(task)
    if additions or changed.cost == 0:
        return changed
    small = work_of(network, k) <= FREE_WORK_OF_LAYERS
    if not small:  # a plan of additions alone: each pays two units
        points, rng = network.profiles(), randomness.stream("profile additions")
        plan = targets.plan_of_profiles(points, colors, k, ADDITIONS, rng)
        if int(plan.change(points).sum()) // 2 >= changed.cost:
            return changed
    added = _of_some_orders(task._replace(additions=True))
    return added if added.cost < changed.cost else changed


def _of_some_orders(task: _LayersTask) -> EditedLayers:
    """Return the fewest edits over some random orders of the layers."""
    network, colors, k, additions, randomness = task
    if len(network.layers) == 1:
        layer = network.layers[0]
        arcs = realize(layer, colors, k, additions=additions, randomness=randomness)
        after = EditedLayer(edited(layer, arcs), arcs.added.size, arcs.deleted.size)
        return EditedLayers((after,), arcs.change, arcs.rounds)
    attempts = min(max(FREE_WORK_OF_LAYERS // work_of(network, k), 1), MOST_ORDERS)
    streams = (randomness.stream(f"profile layers {attempt}") for attempt in range(attempts))
    orders = (rng.permutation(len(network.layers)).tolist() for rng in streams)
    best = cheapest(_in_order(task, order) for order in orders)
    check_layers(network, colors, k, best)
    return best


def _in_order(task: _LayersTask, order: list[int]) -> EditedLayers:
    """Plan for all layers, then edit one after another until a pass gains nothing."""
    network, colors, k, additions, randomness = task
    # Step 1: one plan for all coordinates; until a layer is edited, its planned degrees count.
    points = network.profiles()
    prices = ADDITIONS if additions else Prices()
    rng = randomness.stream(f"profile plan {order}")
    planned = targets.plan_of_profiles(points, colors, k, prices, rng).target
    columns = columns_of_layers(network)
    done: dict[int, EditedLayer] = {}
    rounds = 0
    passes = PASSES if work_of(network, k) < MUCH_WORK else PASSES_OF_MANY
    while rounds < passes:
        rounds, gained = rounds + 1, False
        for at in order:
            layer = network.layers[at]
            # Step 2: edit one layer, given the degrees in all others; keep it if it needs fewer
            # edits than before.
            others = np.delete(planned, columns[at], axis=1)
            of_others = numbered_colors(classes(colors, *others.T)[0], layer.n_nodes)
            most = ATTEMPTS_LATER if at in done else ATTEMPTS
            tried = _edited_alone(task, layer, of_others, most)
            if at not in done or tried.cost < done[at].cost:
                done[at] = tried
                planned[:, columns[at]] = np.column_stack(tried.layer.degrees())
                gained = True
        if not gained or sum(each.cost for each in done.values()) == 0:
            break
    return EditedLayers(
        tuple(done[at] for at in range(len(network.layers))),
        int(np.abs(planned - points).sum()),
        rounds,
    )


def _edited_alone(task: _LayersTask, layer: Layer, colors: Ints, most: int) -> EditedLayer:
    """Edit one layer, in which nodes of different colors share nothing."""
    k, additions, randomness = task[2:]
    if layer.directed:
        arcs = realize(layer, colors, k, additions=additions, randomness=randomness, most=most)
        return EditedLayer(edited(layer, arcs), arcs.added.size, arcs.deleted.size)
    # An undirected layer: k-degree anonymity within colors.
    graph = Network((layer,)).graph()
    edges = realize_edges(
        (graph.indptr, graph.indices),
        k,
        edits="add" if additions else "any",
        target="exact",
        near=True,
        restarts=RESTARTS,
        randomness=randomness,
        colors=colors,
    )
    ties = apply_edits(graph, edges)
    after = replace(layer, indptr=ties.indptr, indices=ties.indices)
    return EditedLayer(after, len(edges.added), len(edges.deleted))


def work_of(network: Network, k: int) -> int:
    """Return about how many steps it takes to plan and edit every layer once."""
    return len(network.layers) * (network.n_ties + network.n_nodes * (1 + k * k)) + 1


def columns_of_layers(network: Network) -> list[list[int]]:
    """Return which columns of the profiles belong to each layer: two if directed, else one."""
    columns, start = [], 0
    for layer in network.layers:
        width = 2 if layer.directed else 1
        columns.append(list(range(start, start + width)))
        start += width
    return columns


def check_layers(network: Network, colors: Ints, k: int, changed: EditedLayers) -> None:
    """Check the guarantee on the layers alone.

    Raises
    ------
    AssertionError
        If a class is smaller than k: a bug of this package.
    """
    after = Network(tuple(each.layer for each in changed.layers)).profiles()
    sizes = classes(colors, *after.T)[1]
    if sizes.min(initial=k) < k or after.shape != network.profiles().shape:
        raise AssertionError(f"the realized profiles are not {k}-anonymous")
