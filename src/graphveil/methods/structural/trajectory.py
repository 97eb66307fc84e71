"""The trajectory of a heuristic: how many nodes are unique after every share of the edits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.errors import InputError, ParameterError, one_of
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows, Setting
from graphveil.data import Graph
from graphveil.data.measures.registry import check_distance, known
from graphveil.data.measures.values import classes_of
from graphveil.data.objects import as_container
from graphveil.methods.structural.kernels.paper import lists_of
from graphveil.methods.structural.paper import (
    EdgeCandidates,
    SamplingState,
    one_round,
    ranked,
    state_of,
)
from graphveil.methods.structural.task import EditKind, Sampling, Task

TRAJECTORY = "trajectory"
"""The question of the rows."""

_STANDS_IN = "dk"
"""A function as a measure is classed anew after every batch, as this one is; an edit is taken to
affect the nodes near both of its ends."""

Heuristic = Callable[..., ArrayLike]
OwnMeasure = Callable[..., ArrayLike]


def trajectory(  # noqa: PLR0913  one argument for each part of Algorithm 1
    graph: Any,
    *,
    heuristic: str | Heuristic = "ua",
    measure: str | OwnMeasure = "count",
    distance: int = 1,
    k: int = 2,
    edits: EditKind = "delete",
    share: float = 1.0,
    points: int = 101,
    seed: int | None = None,
) -> Rows:
    """Return the share of unique nodes after every hundredth of the edges, rises included.

    This is Algorithm 1 of the paper without its end: it goes on where the share rises. Nothing is
    released. A heuristic and a measure may be functions of yours; see the notes.

    Parameters
    ----------
    graph
        A `Graph`, or an object of another library that holds one.
    heuristic
        ``"es"``, ``"degree"``, ``"affected"``, ``"unique"``, ``"ua"`` or ``"ua-only"``; or a
        function P that returns the weight of every edge, by which edges to delete are drawn.
    measure, distance
        What an attacker knows: a name of `MEASURES`; or a function M that returns the value of
        every node, a number or a row of numbers: nodes with equal values look alike.
    k
        Nodes are counted that look like fewer than k-1 others; with 2 these are the unique ones.
    edits
        As of `StructuralAnonymity`; for a function P ``"delete"`` alone.
    share
        Where the trajectory ends: edits as a share of the edges.
    points
        How many points it has, the input included; the classes are recounted at each.
    seed
        Makes the draws repeatable.

    Returns
    -------
    Rows
        A row for each point, named by the share of the edges, such as ``5% of the edges``: its
        setting has the number of edits, that share of the edges rounded down. `Rows.plot` draws the
        curve; rows of several trajectories can be put together, ``Rows([*one, *other])``.

    Raises
    ------
    ParameterError
        Where a parameter is out of range.
    InputError
        Where a function returns no weights, or no values.

    Notes
    -----
    P is called with the graph, the edges (two columns of positions) and whether each node is
    unique; M with the graph. Functions that Numba compiled get arrays in place of the graph: its
    ``indptr`` and ``indices``. A function M says nothing of which nodes an edit affects; for
    ``affected``, ``ua`` and ``ua-only`` these are taken to be the nodes near both ends.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)
    >>> [row.value for row in trajectory(star, points=5, seed=1)][::4]
    [0.5, 0.0]
    >>> def hubs_first(graph, edges, unique):
    ...     return graph.degrees()[edges].max(axis=1)
    >>> len(trajectory(star, heuristic=hubs_first, measure=lambda graph: graph.degrees(), points=3))
    3
    """
    container = cast("Graph", as_container(graph, (Graph,), wanted_by=TRAJECTORY))
    _check(heuristic, edits, k, share, points)
    if isinstance(measure, str):
        check_distance(known(measure), distance)
    order, original = ranked(container)
    own = _OwnMeasured if callable(measure) else Task
    budget = round(share * container.n_edges)
    name = _STANDS_IN if callable(measure) else measure
    task = own(container, name, distance, k=k, edits=edits, budget=budget, allowed=-1)
    back = _Back(container, order)
    if isinstance(task, _OwnMeasured):
        task.value_of, task.back = cast("OwnMeasure", measure), back
    draw = cast("Sampling", heuristic) if isinstance(heuristic, str) else back.weigher(heuristic)
    rng = Randomness(seed=seed).stream(TRAJECTORY)
    title = heuristic if isinstance(heuristic, str) else heuristic.__name__
    state, done = state_of(original, task), 0
    rows: list[Row] = []
    for point in range(points):
        wanted = point * budget // (points - 1)
        while done < wanted:
            forward, more = one_round(state, draw, task, wanted - done, rng)
            if more == 0:
                ended = done / max(container.n_edges, 1)
                return Rows([*rows, _row(title, state, done, ended)])
            done += more
            state = state_of(forward, task)
        rows.append(_row(title, state, done, share * point / (points - 1)))
    return Rows(rows)


def _row(title: str, state: SamplingState, edits: int, of_edges: float) -> Row:
    return Row(
        release=title,
        question=TRAJECTORY,
        part=f"{100 * of_edges:.4g}% of the edges",
        figure="unique nodes",
        setting=Setting(edits=edits, of=title),
        value=state.n_unprotected / max(state.degrees.size, 1),
        unit="share",
        direction="lower is better",
    )


def _check(heuristic: str | Heuristic, edits: str, k: int, share: float, points: int) -> None:
    if isinstance(heuristic, str) and heuristic not in get_args(Sampling):
        raise ParameterError(
            f"heuristic={heuristic!r} is not valid. {one_of(heuristic, get_args(Sampling))}"
        )
    if edits not in get_args(EditKind):
        raise ParameterError(f"edits={edits!r} is not valid. {one_of(edits, get_args(EditKind))}")
    if callable(heuristic) and edits != "delete":
        raise ParameterError(
            f"edits={edits} cannot be combined with a function as heuristic, which weighs edges. "
            "Use delete."
        )
    for name, value, least in (("k", k, 2), ("points", points, 2)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(f"{name}={value!r} is not an integer of at least {least}.")
    if not 0 < share <= 1:
        raise ParameterError(f"share={share} is out of range. Choose a value above 0, at most 1.")


class _Back:
    """Shows functions the graph of the trajectory with its nodes as the owner numbered them."""

    def __init__(self, graph: Graph, order: NDArray[np.int64]) -> None:
        self.ids, self.order = graph.ids, order
        self.rank = np.empty(order.size, dtype=np.int64)
        self.rank[order] = np.arange(order.size)

    def called(self, function: Callable[..., ArrayLike], graph: Graph, *more: Any) -> Any:
        """Return what a function makes of a graph under ranks, and of further arguments."""
        own = graph.permuted(self.rank, ids=self.ids)
        compiled = hasattr(function, "py_func")
        return np.asarray(function(*((own.indptr, own.indices) if compiled else (own,)), *more))

    def weigher(
        self, heuristic: Heuristic
    ) -> Callable[[SamplingState, EdgeCandidates], NDArray[np.float64]]:
        """Return a heuristic as the rounds ask for it: the weight of every candidate."""

        def weights(state: SamplingState, pool: EdgeCandidates) -> NDArray[np.float64]:
            edges = np.stack([self.order[nodes] for nodes in pool.nodes], axis=1)
            graph = Graph(*lists_of(state.forward))
            given = self.called(heuristic, graph, edges, state.unprotected[self.rank])
            wrong = given.shape != (len(edges),) or given.dtype.kind not in "biuf"
            if wrong or not np.all(np.isfinite(given) & (given >= 0)):
                raise InputError(
                    f"the heuristic {heuristic.__name__} must return {len(edges)} finite weights, "
                    "one for each edge, none below 0. Correct the function."
                )
            weight: NDArray[np.float64] = given.astype(np.float64)
            return np.where(weight > 0, weight, LEAST)

        return weights


LEAST = 2.0**-1000
"""The weight of what a function gives 0: it is drawn only where nothing else is left."""


class _OwnMeasured(Task):
    """A task whose classes are those of a function."""

    value_of: OwnMeasure
    back: _Back

    def labels_of(self, graph: Graph) -> NDArray[np.int64]:
        """Return the class of every node: equal where the function returns equal values."""
        values = self.back.called(self.value_of, graph)
        if values.ndim not in {1, 2} or len(values) != graph.n_nodes or values.dtype.kind in "OV":
            raise InputError(
                f"the measure {self.value_of.__name__} must return {graph.n_nodes} values, one "
                "for each node: a number each, or a row of numbers. Correct the function."
            )
        columns = values.reshape(graph.n_nodes, -1).T
        return classes_of(*columns)[self.back.order]
