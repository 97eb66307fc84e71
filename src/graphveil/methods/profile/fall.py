"""Ties whose deletion lets profiles fall to those of groups: planned, and realized by flows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from graphveil.methods.profile.layers import columns_of_layers
from graphveil.methods.profile.plan import ADDITIONS, Ints, classes, plan_of_profiles
from graphveil.methods.profile.pool import ProfileTask, keys_of

ROUNDS = 12
"""Profiles are planned again from what is left so many times, while ties go."""

SIDES = (0, 1)


class _Side(NamedTuple):
    """How many ties everyone may lose at one end, and each group of people together.

    ``group`` and ``most`` are None where people are bound by their own number alone.
    """

    room: Ints
    group: Ints | None = None
    most: Ints | None = None


def falling(task: ProfileTask, rng: np.random.Generator) -> Ints:
    """Return ties without which all, or nearly all, profiles are shared by k people of a color.

    Parameters
    ----------
    task
        The network, and what may be known.
    rng
        Where curves of the plan are shifted.

    Returns
    -------
    Ints
        Their keys, ascending, as of `ChangedTies`.

    Notes
    -----
    The plan is that of profiles that only rise, seen from above. Of each directed layer a maximum
    flow deletes as many of the planned ties as there are from people to people who have too many;
    what is left over falls to people of classes above k who step down into another one of k. What
    then still lacks is planned again. Layers without directions stay.

    Examples
    --------
    >>> from graphveil.data import Layer, Network
    >>> arcs = Layer.from_arcs([0, 0, 1, 2], [2, 3, 3, 3], n=5)
    >>> task = ProfileTask(Network((arcs,)), np.zeros(5, dtype=np.int64), 2, "delete", 4, 0,
    ...                    by_budget=False)
    >>> falling(task, np.random.Generator(np.random.PCG64(1))).tolist()
    [2]
    """
    network, n = task.network, task.n_nodes
    ends = [tuple(end.astype(np.int64) for end in layer.ties()) for layer in network.layers]
    stay = [np.ones(source.size, dtype=np.bool_) for source, _ in ends]
    columns = columns_of_layers(network)
    for _ in range(ROUNDS):
        points = _points(ends, stay, columns, n)
        _, sizes = labels = classes(task.colors, *points.T)
        if np.count_nonzero(sizes[labels[0]] < task.k) <= task.allowed:
            break
        mirrored = points.max(axis=0) - points
        plan = plan_of_profiles(mirrored, task.colors, task.k, ADDITIONS, rng)
        excess = plan.target - mirrored
        gone = 0
        for at, layer in enumerate(network.layers):
            if layer.directed:
                gone += _lower(task, (ends, stay, columns), at, excess)
        if gone == 0:
            break
    gone_ones: Ints = keys_of(network.layers)[~np.concatenate(stay)]
    return gone_ones


def _points(
    ends: list[tuple[Ints, ...]], stay: list[NDArray[np.bool_]], columns: list[list[int]], n: int
) -> Ints:
    """Return the numbers of ties of everyone, of the ties that stay."""
    points = np.zeros((n, columns[-1][-1] + 1), dtype=np.int64)
    for pair, here, of_layer in zip(ends, stay, columns, strict=True):
        for end, side in zip(pair, (of_layer[0], of_layer[-1]), strict=True):
            points[:, side] += np.bincount(end[here], minlength=n)
    return points


def _lower(
    task: ProfileTask,
    state: tuple[list[tuple[Ints, ...]], list[NDArray[np.bool_]], list[list[int]]],
    at: int,
    excess: Ints,
) -> int:
    """Delete arcs of a layer by what everyone has too many; return how many."""
    ends, stay, columns = state
    n, of_layer = task.n_nodes, columns[at]
    rooms = [_Side(excess[:, column]) for column in of_layer]
    arcs = _flow(ends[at], stay[at], rooms, n)
    stay[at][arcs] = False
    for side in SIDES:
        excess[:, of_layer[side]] -= np.bincount(ends[at][side][arcs], minlength=n)
    gone = arcs.size
    for side in SIDES[::-1]:
        points = _points(ends, stay, columns, n)
        rooms = [_Side(excess[:, column]) for column in of_layer]
        rooms[side] = _spare(points, task, of_layer[side], np.max(excess, axis=1) == 0)
        arcs = _flow(ends[at], stay[at], rooms, n)
        stay[at][arcs] = False
        paying = 1 - side
        excess[:, of_layer[paying]] -= np.bincount(ends[at][paying][arcs], minlength=n)
        gone += arcs.size
    return gone


def _spare(points: Ints, task: ProfileTask, column: int, idle: NDArray[np.bool_]) -> _Side:
    """Return who may lose a tie and stand in a class of k again, and how many of each class."""
    lower = points.copy()
    lower[:, column] -= 1
    n = task.n_nodes
    both, _ = classes(np.tile(task.colors, 2), *np.concatenate([points, lower]).T)
    now, then = both[:n], both[n:]
    size = np.bincount(now, minlength=int(both.max(initial=0)) + 1)
    able = idle & (points[:, column] > 0) & (size[now] > task.k) & (size[then] >= task.k)
    return _Side(able.astype(np.int64), now, np.maximum(size - task.k, 0))


def _flow(ends: tuple[Ints, ...], stay: NDArray[np.bool_], sides: list[_Side], n: int) -> Ints:
    """Return as many arcs as can go, none beyond what tails and heads may lose."""
    source, target = ends
    tails, heads = sides
    arcs = np.flatnonzero(stay & (tails.room[source] > 0) & (heads.room[target] > 0))
    if not arcs.size:
        return arcs
    groups = [0 if side.most is None else side.most.size for side in sides]
    first, last = 2 * n + sum(groups), 2 * n + sum(groups) + 1
    parts = [(source[arcs], n + target[arcs], np.ones(arcs.size, dtype=np.int64))]
    for at, side in enumerate(sides):
        people, outer = np.flatnonzero(side.room > 0), (first, last)[at]
        inner: Ints = np.full(people.size, outer, dtype=np.int64)
        if side.group is not None and side.most is not None:
            base = 2 * n + at * groups[0]
            inner = base + side.group[people]
            each = base + np.arange(side.most.size)
            parts.append(_towards(at, np.full(each.size, outer), each, side.most))
        parts.append(_towards(at, inner, at * n + people, side.room[people]))
    row, column, most = (np.concatenate(part) for part in zip(*parts, strict=True))
    shape = (last + 1, last + 1)
    network = csr_array((most.astype(np.int32), (row, column)), shape=shape)
    flow = maximum_flow(network, first, last).flow
    going: NDArray[np.bool_] = np.asarray(flow[parts[0][0], parts[0][1]]).ravel() > 0
    return arcs[going]


def _towards(at: int, outer: Ints, inner: Ints, most: Ints) -> tuple[Ints, Ints, Ints]:
    """Return edges from the source's side inwards, or from inside to the sink's."""
    return (outer, inner, most) if at == 0 else (inner, outer, most)
