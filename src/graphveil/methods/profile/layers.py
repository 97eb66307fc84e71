"""Profiles over several layers: one plan for all, then layer by layer.

A layer is edited while what all others have is as good as given: people are of one color who have
the same attributes and the same numbers of ties in all other layers. Every such color is of at
least k people, so each layer alone has a solution, and after each all profiles are shared by k.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from graphveil.data import Layer, Network
from graphveil.methods.colors import numbered_colors
from graphveil.methods.k_degree.realize import apply_edits
from graphveil.methods.k_degree.realize import realize as realize_edges
from graphveil.methods.profile.plan import ADDITIONS, Ints, Prices, classes, plan_of_profiles
from graphveil.methods.profile.realize import edited, realize
from graphveil.randomness import Randomness

PASSES, PASSES_OF_MANY = 4, 2
"""Every layer is edited so many times, or until nothing gains."""

MUCH_WORK = 3_000_000
"""From here on a network is a large one."""

ATTEMPTS, ATTEMPTS_LATER = 4, 2
"""So often directed ties are edited when their turn comes first, and later."""

FREE_WORK = 300_000
"""A small network is edited in more than one order of layers, as far as this work goes."""

MOST_ORDERS = 3

RESTARTS = 2
"""The least number of random starts of a layer without directions."""


class EditedLayer(NamedTuple):
    """A layer after its edits.

    Attributes
    ----------
    layer
        Its ties now.
    added, deleted
        How many ties came and went.
    """

    layer: Layer
    added: int
    deleted: int

    @property
    def cost(self) -> int:
        """How many ties came or went."""
        return self.added + self.deleted


class EditedLayers(NamedTuple):
    """All layers after their edits.

    Attributes
    ----------
    layers
        In the order of the network.
    change
        The sum of all changes of numbers.
    rounds
        How often all layers were gone through.
    """

    layers: tuple[EditedLayer, ...]
    change: int
    rounds: int

    @property
    def cost(self) -> int:
        """How many ties came or went."""
        return sum(each.cost for each in self.layers)


def realize_layers(
    network: Network, colors: Ints, k: int, *, additions: bool, randomness: Randomness
) -> EditedLayers:
    """Return few edits after which at least k people of one color share every profile.

    Parameters
    ----------
    network
        Its layers; one without directions has one number, a directed one two.
    colors
        int64, shape (n,), from 0 on; each is of at least k people.
    k
        1 <= k <= n.
    additions
        Whether ties may only come.
    randomness
        The same seed gives the same edits.

    Examples
    --------
    >>> from graphveil import Graph
    >>> ring = Layer.from_arcs([0, 1, 2, 3], [1, 2, 3, 0], n=4, name="calls")
    >>> both = Network({"calls": ring, "family": Graph.from_edges([0], [1], n=4)})
    >>> done = realize_layers(both, np.zeros(4, dtype=np.int64), 4, additions=False,
    ...                       randomness=Randomness(seed=1))
    >>> [(each.added, each.deleted) for each in done.layers]
    [(0, 0), (0, 1)]
    """
    changed = _of_some_orders(network, colors, k, additions=additions, randomness=randomness)
    if additions or changed.cost == 0:
        return changed
    small = work_of(network, k) <= FREE_WORK
    if not small and _few_additions(network, colors, k, randomness) >= changed.cost:
        return changed
    added = _of_some_orders(network, colors, k, additions=True, randomness=randomness)
    return added if added.cost < changed.cost else changed


def _of_some_orders(
    network: Network, colors: Ints, k: int, *, additions: bool, randomness: Randomness
) -> EditedLayers:
    """Return the fewest edits of some orders of layers, by plans of these edits."""
    if len(network.layers) == 1:
        return _only(network.layers[0], colors, k, additions=additions, randomness=randomness)
    best = None
    attempts = min(max(FREE_WORK // work_of(network, k), 1), MOST_ORDERS)
    for attempt in range(attempts):
        rng = randomness.stream(f"profile layers {attempt}")
        order = rng.permutation(len(network.layers)).tolist()
        tried = _in_order(network, colors, k, order, additions=additions, randomness=randomness)
        if best is None or tried.cost < best.cost:
            best = tried
        if best.cost == 0:
            break
    if best is None:
        raise AssertionError("nothing was tried")
    check(network, colors, k, best)
    return best


def _few_additions(network: Network, colors: Ints, k: int, randomness: Randomness) -> int:
    """Return how many ties a plan of additions alone adds: each pays two units."""
    rng = randomness.stream("profile additions")
    points = network.degrees()
    plan = plan_of_profiles(points, colors, k, ADDITIONS, rng)
    return int(plan.change(points).sum()) // 2


def _only(
    layer: Layer, colors: Ints, k: int, *, additions: bool, randomness: Randomness
) -> EditedLayers:
    """Edit directed ties of one kind."""
    arcs = realize(layer, colors, k, additions=additions, randomness=randomness)
    after = EditedLayer(edited(layer, arcs), arcs.added.size, arcs.deleted.size)
    return EditedLayers((after,), arcs.change, arcs.rounds)


def _in_order(
    network: Network,
    colors: Ints,
    k: int,
    order: list[int],
    *,
    additions: bool,
    randomness: Randomness,
) -> EditedLayers:
    """Plan for all layers, then edit one after another until a pass gains nothing."""
    points = network.degrees()
    prices = ADDITIONS if additions else Prices()
    rng = randomness.stream(f"profile plan {order}")
    now = plan_of_profiles(points, colors, k, prices, rng).target
    columns = columns_of_layers(network)
    done: dict[int, EditedLayer] = {}
    rounds = 0
    passes = PASSES if work_of(network, k) < MUCH_WORK else PASSES_OF_MANY
    while rounds < passes:
        rounds, gained = rounds + 1, False
        for at in order:
            layer = network.layers[at]
            others = np.delete(now, columns[at], axis=1)
            of_others = numbered_colors(classes(colors, *others.T)[0], layer.n_nodes)
            most = ATTEMPTS_LATER if at in done else ATTEMPTS
            tried = _edited_alone(
                layer, of_others, k, additions=additions, randomness=randomness, most=most
            )
            if at not in done or tried.cost < done[at].cost:
                done[at] = tried
                now[:, columns[at]] = np.column_stack(tried.layer.degrees())
                gained = True
        if not gained or sum(each.cost for each in done.values()) == 0:
            break
    return EditedLayers(
        tuple(done[at] for at in range(len(network.layers))),
        int(np.abs(now - points).sum()),
        rounds,
    )


def _edited_alone(
    layer: Layer, colors: Ints, k: int, *, additions: bool, randomness: Randomness, most: int
) -> EditedLayer:
    """Edit one layer, in which people of different colors share nothing."""
    if layer.directed:
        arcs = realize(layer, colors, k, additions=additions, randomness=randomness, most=most)
        return EditedLayer(edited(layer, arcs), arcs.added.size, arcs.deleted.size)
    graph = layer.graph()
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
    """Return which columns of the profiles are those of each layer.

    Examples
    --------
    >>> arcs = Layer.from_arcs([0], [1], n=2, name="a")
    >>> columns_of_layers(Network((arcs, Layer.of(Network((arcs,)).undirected()))))
    [[0, 1], [2]]
    """
    columns, start = [], 0
    for layer in network.layers:
        width = 2 if layer.directed else 1
        columns.append(list(range(start, start + width)))
        start += width
    return columns


def check(network: Network, colors: Ints, k: int, changed: EditedLayers) -> None:
    """Count the promise again from the layers alone.

    Raises
    ------
    AssertionError
        Where a profile is shared by fewer than k people of a color: a bug of ours.
    """
    after = Network(tuple(each.layer for each in changed.layers)).degrees()
    sizes = classes(colors, *after.T)[1]
    if sizes.min(initial=k) < k or after.shape != network.degrees().shape:
        raise AssertionError(f"the realized profiles are not {k}-anonymous")
