"""The state of a walk over edges of a network: which may come or go, and what each does to codes.

The walk is that of `graphveil.methods.annealing`, over a pool of pairs. This module makes the pool
and the codes:

- A code holds the degrees of a node in each layer and direction, each in bits of its own, and its
  color above them: equal codes are equal profiles and attributes. So that no number overflows into
  the next, each has the bits of the largest degree that it can reach.
- For profiles an edge adds a fixed step to the code of each end, which depends on layer and
  direction alone (`Pool.steps`); neighbor lists are not needed.
- For the measure directed-count an edge also changes the numbers of nodes connected to both of its
  ends, and the walk needs the neighbor lists with directions (`ArcRows`).

Edges are keys ``(layer * n + source) * n + target``; in undirected layers the smaller end comes
first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from graphveil.core.array_types import Ints
from graphveil.core.errors import InfeasibleError
from graphveil.data import Graph, Layer, Network
from graphveil.measures.registry import DIRECTED_COUNT, PROFILE
from graphveil.measures.values import directed_count, either_way
from graphveil.methods.annealing.kernels.anneal import MOST_FLIPS
from graphveil.methods.annealing.kernels.classes import NeighborRows, fill, new_classes, new_rows
from graphveil.methods.annealing.kernels.pooled import ArcRows, Pool, PoolState, count_common
from graphveil.methods.annealing.state import annealing_state_over, pool_of
from graphveil.methods.annealing.task import ChangedTies, ProfileTask, Watch
from graphveil.methods.annealing.walk import AnnealingWalk
from graphveil.methods.profile.realize import EditedLayer, EditedLayers, columns_of_layers
from graphveil.methods.profile.targets import classes

CODE_BITS = 62
"""The bits of a code, at most: codes are int64, 0 or more, and the sign stays free."""


def unprotected_in(network: Network, colors: Ints, k: int, *, measure: str = PROFILE) -> Ints:
    """Return the nodes of which fewer than k have the same color and value of the measure. int64.

    Parameters
    ----------
    network
        The network.
    colors
        int64, shape (n,): the known attributes, by number.
    k
        The smallest size of a class.
    measure
        `PROFILE` or `DIRECTED_COUNT`.
    """
    labels, sizes = classes(colors, *_known_of(network, measure))
    return np.flatnonzero(sizes[labels] < k)


def _known_of(network: Network, measure: str) -> list[Ints]:
    """Return the numbers that an attacker knows of every node, int64, shape (n,) each."""
    if measure == DIRECTED_COUNT:
        return [*directed_count(network.layers[0]).values()]
    return [*network.profiles().T]


class Pairs(NamedTuple):
    """What may be flipped: the present edges first, then the candidates, as keys.

    Parameters
    ----------
    keys
        int64, shape (p,).
    n_ties
        How many of them are edges of the network.
    """

    keys: Ints
    n_ties: int


def pairs_of(task: ProfileTask, planned: Ints, rng: Generator) -> Pairs:
    """Return the edges that may go, and those that may come: planned ones and random candidates.

    Parameters
    ----------
    task
        Which edits are allowed.
    planned
        int64: keys of additions that a plan makes, ascending.
    rng
        For the candidates.
    """
    keys = keys_of(task.network.layers)
    ties = keys[:0] if task.edits == "add" else keys
    if task.edits == "delete":
        return Pairs(ties, ties.size)
    others = np.setdiff1d(_candidates(task, rng), keys)
    return Pairs(np.concatenate([ties, np.union1d(others, planned)]), ties.size)


def keys_of(layers: tuple[Layer, ...]) -> Ints:
    """Return every edge as a key, int64, ascending."""
    parts = [np.empty(0, dtype=np.int64)]
    for at, layer in enumerate(layers):
        source, target = (end.astype(np.int64) for end in layer.ties())
        n = layer.n_nodes
        parts.append((at * n + source) * n + target)
    return np.concatenate(parts)


def _ends_of(keys: Ints, n: int) -> tuple[Ints, Ints, Ints]:
    """Return the layers, sources and targets of these keys."""
    rest, target = np.divmod(keys, n)
    layer, source = np.divmod(rest, n)
    return layer, source, target


def _candidates(task: ProfileTask, rng: Generator) -> Ints:
    """Return edges that may come, about as many as there are: half between unprotected nodes."""
    network, n = task.network, task.n_nodes
    rare = unprotected_in(network, task.colors, task.k, measure=task.measure)
    candidates = []
    for at, layer in enumerate(network.layers):
        half = layer.n_ties // 2 + 1
        # The other half between any nodes.
        near, far = rng.choice(rare, size=(2, half)), rng.integers(0, n, size=(2, half))
        source, target = np.concatenate([near, far], axis=1)
        if not layer.directed:
            source, target = np.minimum(source, target), np.maximum(source, target)
        candidates.append(((at * n + source) * n + target)[source != target])
    return np.unique(np.concatenate(candidates))


def changes_to(network: Network, layers: tuple[Layer, ...]) -> ChangedTies:
    """Return the edits that lead to these layers, in which every node is protected."""
    before, after = keys_of(network.layers), keys_of(layers)
    added = np.setdiff1d(after, before, assume_unique=True)
    return ChangedTies(added, np.setdiff1d(before, after, assume_unique=True), 0)


def walk_of(
    task: ProfileTask, pairs: Pairs, rng: Generator, watch: Watch | None = None
) -> AnnealingWalk[ProfileTask]:
    """Return a walk that starts at the network as it is."""
    layer, source, target = _ends_of(pairs.keys, max(task.n_nodes, 1))
    ends = np.column_stack([source, target]).astype(np.int32)
    make = _by_surroundings if task.measure == DIRECTED_COUNT else _by_profile
    state = make(task, pool_of(ends, task.n_nodes, pairs.n_ties), layer)
    return AnnealingWalk(task, rng, watch, annealing=annealing_state_over(state))


def _by_profile(task: ProfileTask, pool: Pool, layer: Ints) -> PoolState:
    """Return the state of a walk over profiles, where a pair adds fixed steps to two codes."""
    n = task.n_nodes
    codes, steps = _codes(task, layer, pool.one.astype(np.int64), pool.other.astype(np.int64))
    by_code = new_classes(codes, task.k, moves=2 * MOST_FLIPS, steps=(0, 0))
    fill(by_code)
    # Profiles need no neighbor lists: no kernel reads these empty ones.
    no_neighbors = np.empty(0, dtype=np.int32)
    rows = NeighborRows(
        np.zeros(n + 1, dtype=np.int64), np.zeros(n, dtype=np.int64), no_neighbors, no_neighbors
    )
    return PoolState(by_code, rows, pool._replace(steps=steps))


def _by_surroundings(task: ProfileTask, pool: Pool, _layer: Ints) -> PoolState:
    """Return the state of a walk over directed-count, with neighbor lists and directions."""
    n, absent = task.n_nodes, ~pool.present
    indptr, indices, ways = either_way(task.network.layers[0])
    # Each row has room for all candidates at its node.
    coming = np.concatenate([pool.one[absent], pool.other[absent]])
    rows = new_rows(indptr, indices, np.bincount(coming, minlength=n))
    of_rows = np.zeros(rows.neighbor.size, dtype=np.int8)
    of_rows[rows.neighbor >= 0] = ways
    codes, unit = _codes_of_surroundings(task, pool)
    by_code = new_classes(codes, task.k, moves=MOST_FLIPS * (rows.common.size + 2), steps=(0, 0))
    fill(by_code)
    state = PoolState(by_code, rows, pool, ArcRows(of_rows, unit))
    count_common(state)
    return state


def _codes_of_surroundings(task: ProfileTask, pool: Pool) -> tuple[Ints, Ints]:
    """Return the code of every node, and what each number adds to it: see `ArcRows`."""
    around = np.column_stack([*directed_count(task.network.layers[0]).values()])
    out, into = (np.bincount(end[~pool.present], minlength=task.n_nodes) for end in pool[:2])
    ties = task.n_edges + int(np.count_nonzero(~pool.present))
    coming = np.column_stack([out, into, out + into])
    # The largest value of each number that a walk can reach.
    most = [*(around[:, :3] + coming).max(axis=0, initial=0), ties]
    unit, above = _units(task, np.array(most, dtype=np.int64))
    return around @ unit + (task.colors << above), unit


def _units(task: ProfileTask, most: Ints) -> tuple[Ints, int]:
    """Return what one of each number adds to a code, and how many bits all of them take."""
    bits = [int(number).bit_length() for number in most]
    used = sum(bits) + int(task.colors.max(initial=0)).bit_length()
    if used > CODE_BITS:
        raise InfeasibleError(
            f"the degrees and attributes of a node take {used} bits, more than {CODE_BITS}. "
            "Read fewer edge types, or group attribute values."
        )
    return np.left_shift(1, np.cumsum([0, *bits[:-1]]), dtype=np.int64), sum(bits)


def _codes(task: ProfileTask, layer: Ints, source: Ints, target: Ints) -> tuple[Ints, Ints]:
    """Return the code of every node, (n,), and what each pair adds at its two ends, (p, 2)."""
    network = task.network
    columns = columns_of_layers(network)
    # The column of the profile that an edge changes at its source, and at its target.
    side = np.array([[each[0], each[-1]] for each in columns], dtype=np.int64)[layer]
    # The largest profile that each node can reach, if all of its pairs are edges.
    most = network.profiles()
    for at, ends in enumerate((source, target)):
        np.add.at(most, (ends, side[:, at]), 1)
    unit, above = _units(task, most.max(axis=0, initial=0))
    codes = network.profiles() @ unit + (task.colors << above)
    return codes, unit[side]


def checked(task: ProfileTask, pairs: Pairs, walk: AnnealingWalk[ProfileTask]) -> ChangedTies:
    """Return the best state of a walk, once an exact count of its unprotected nodes agrees.

    Raises
    ------
    AssertionError
        If it does not: a bug of this package.
    """
    changed, edge = walk.annealing.best.changed, np.arange(pairs.keys.size) < pairs.n_ties
    count, _ = walk.reached()
    edits = ChangedTies(np.sort(pairs.keys[changed & ~edge]), pairs.keys[changed & edge], count)
    after = Network(tuple(each.layer for each in applied(task.network, edits).layers))
    exact = unprotected_in(after, task.colors, task.k, measure=task.measure).size
    if exact != count:
        raise AssertionError(f"{count} nodes were counted as unprotected; a recount gives {exact}")
    return edits


def applied(network: Network, edits: ChangedTies) -> EditedLayers:
    """Return the layers of a network with these edits."""
    n = max(network.n_nodes, 1)
    keys = np.setdiff1d(keys_of(network.layers), edits.deleted, assume_unique=True)
    keys = np.union1d(keys, edits.added)
    of_layer, source, target = _ends_of(keys, n)
    layers = []
    # Each layer again from its keys, with the numbers of its edits.
    for at, layer in enumerate(network.layers):
        in_layer = of_layer == at
        ends = source[in_layer], target[in_layer]
        if layer.directed:
            after = Layer.from_arcs(*ends, n=layer.n_nodes, name=layer.name)
        else:
            after = Layer.of(Graph.from_edges(*ends, n=layer.n_nodes), name=layer.name)
        changed = [
            int(np.count_nonzero(some // n // n == at)) for some in (edits.added, edits.deleted)
        ]
        layers.append(EditedLayer(after, *changed))
    after_all = Network(tuple(each.layer for each in layers)).profiles()
    change = int(np.abs(after_all - network.profiles()).sum())
    return EditedLayers(tuple(layers), change, 1)
