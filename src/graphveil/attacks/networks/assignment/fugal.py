"""x."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.copies.side_information import Relations, SideInformation, degrees
from graphveil.core.lazy import lazy_module
from graphveil.core.progress import in_time
from graphveil.data import Graph
from graphveil.evaluate.comparison import Floats, Ints
from graphveil.measures.values import triangles

if TYPE_CHECKING:
    from graphveil.attacks.kernels import candidates
else:
    candidates = lazy_module("graphveil.attacks.kernels.candidates")

Matrix: TypeAlias = "Floats"

Singles: TypeAlias = "NDArray[np.float32]"

PENALTIES, STEPS = 10, 10
"""Weights 0..9 of the pull towards one-to-one, each for so many steps."""

FAR_OFF = 1e4
"""How far nodes are from people whose attributes are others."""

ROUNDS, TOLERANCE = 200, 1e-3
"""How long rows and columns are scaled in turn: until each sum is that near to 1."""

_LEAST = float(np.finfo(np.float32).tiny)


def features(graph: Graph) -> Matrix:
    """Return what each node's surroundings are like, float64, shape (n, 4).

    >>> features(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4))[3].round(3).tolist()
    [1.0, 0.0, 3.0, 0.333]
    """
    ties = graph.degrees().astype(np.float64)
    pairs = ties * (ties - 1) / 2
    clustering = triangles(graph) / np.maximum(pairs, 1)
    own = np.column_stack([ties, clustering])
    around = graph.to_scipy().astype(np.float64) @ own / np.maximum(ties, 1)[:, None]
    return np.hstack([own, around])


def _all_features(graph: Graph, relations: Relations) -> Matrix:
    """Return the features, and degrees of every kind and direction where there are several."""
    own = features(graph)
    return np.column_stack([own, degrees(relations).T]) if len(relations) > 1 else own


def sinkhorn(
    cost: Matrix | Singles,
    *,
    rounds: int = ROUNDS,
    tolerance: float = TOLERANCE,
    columns: Singles | None = None,
) -> Singles:
    """Return the matrix exp(-cost), rows and columns scaled in turn until each sums to about 1.

    `columns` begin the scaling and become what was reached: similar costs take fewer rounds then.
    """
    near = cost.min(axis=1, keepdims=True, initial=np.inf) - cost
    plan: Singles = np.exp(near.astype(np.float32, copy=False))
    if columns is None:
        columns = np.ones(plan.shape[1], dtype=np.float32)
    rows, sums = np.empty(plan.shape[0], dtype=np.float32), np.empty_like(columns)
    turned = np.ascontiguousarray(plan.T)
    candidates.scaled(
        plan, turned, candidates.Factors(rows, columns, sums), rounds, tolerance, _LEAST
    )
    return plan


def relaxed_alignment(
    one: Graph, two: Graph, side_information: SideInformation | None = None
) -> Matrix:
    """Return how well every node of one graph fits every node of another of the same size.

    Frank-Wolfe steps on -tr(A P B P^T) + tr(D^T P) + lambda tr(P^T (1 - P)) with lambda 0 to 9, A
    and B the adjacency matrices and D the distances between features; the linear step is one of
    optimal transport with entropy. Each step takes time in n times edges and n^2.
    """
    from scipy.spatial import distance  # noqa: PLC0415  heavy: not for help

    side_information = (
        SideInformation.of_graphs(one, two) if side_information is None else side_information
    )
    firsts, seconds, _ = side_information.matrices(np.float64)
    n = one.n_nodes
    far = distance.cdist(
        _all_features(one, side_information.copy), _all_features(two, side_information.released)
    )
    if side_information.rows is not None:
        far[side_information.rows.excluded()] = FAR_OFF
    plan = np.full((n, n), 1 / n)
    for penalty in range(PENALTIES):
        for step in in_time(range(STEPS)):
            cost = sum(
                (second @ (first @ plan).T).T for first, second in zip(firsts, seconds, strict=True)
            )
            cost *= -2
            cost += far
            cost += penalty
            cost -= 2 * penalty * plan
            plan += 2 / (2 + step) * (sinkhorn(cost) - plan)
    return plan


def assigned(plan: Matrix) -> Ints:
    """Return the one-to-one assignment of the largest sum: a column for every row.

    >>> assigned(np.array([[0.6, 0.4], [0.9, 0.1]])).tolist()
    [1, 0]
    """
    from scipy import optimize  # noqa: PLC0415  heavy: not for help

    _, columns = optimize.linear_sum_assignment(-plan)
    return np.asarray(columns, dtype=np.int64)
