"""The relaxation of FUGAL, and Sinkhorn's scaling: one of the starts of `alignment`.

Bommakanti, Vonteri, Skitsas, Ranu, Mottin and Karras, *FUGAL: Feature-fortified unrestricted graph
alignment*, NeurIPS 2024: the idea, written anew. Over doubly stochastic plans P it minimizes -tr(A
P B P') + tr(D' P) + lambda tr(P' (1 - P)), with A and B the adjacency matrices, D the distances
between features of nodes, and lambda rising from 0 to 9, which pulls P towards an assignment.
Frank-Wolfe steps solve the linear part as optimal transport with entropy.

Departures: edge types and directions are summed over; nodes with different attributes are
`FAR_OFF`; the scaling stops at a tolerance.

Cost: `PENALTIES` times `STEPS` steps, each n times edges and n squared times rounds of scaling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.copies.side_information import Relations, SideInformation, degrees
from graphveil.core.array_types import Floats, Ints
from graphveil.core.lazy import lazy_module
from graphveil.core.libraries import distance, optimize
from graphveil.core.progress import in_time
from graphveil.data import Graph
from graphveil.measures.values import triangles

if TYPE_CHECKING:
    from graphveil.attacks.kernels import candidates
else:
    candidates = lazy_module("graphveil.attacks.kernels.candidates")

Matrix: TypeAlias = "Floats"

Singles: TypeAlias = "NDArray[np.float32]"

PENALTIES, STEPS = 10, 10
"""Weights 0 to 9 of the pull towards one-to-one, each for this many steps."""

FAR_OFF = 1e4
"""The distance between nodes whose attributes differ: far above all distances of features, so that
the plan has nearly no weight there."""

ROUNDS, TOLERANCE = 200, 1e-3
"""How long rows and columns are scaled in turn: until each sum is this near to 1, or for so many
rounds. A larger tolerance is quicker and leaves a plan that is less one-to-one."""

_LEAST = float(np.finfo(np.float32).tiny)
"""The least normal float32: sums are taken for at least this much before they divide."""


def features(graph: Graph) -> Matrix:
    """Return what each node's surroundings are like, float64, shape (n, 4).

    Degree, clustering coefficient, and the means of both over neighbors, as in FUGAL.

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

    Parameters
    ----------
    cost : float32 or float64, shape (n, m)
        The cost of each pair.
    rounds, tolerance : int, float
        How long it is scaled.
    columns : float32, shape (m,), optional
        Factors of columns to begin with; they become what was reached. Similar costs then take
        fewer rounds.

    Returns
    -------
    float32, shape (n, m)
        The plan.
    """
    # Only differences within a row matter: its least cost becomes 0, so that exp does not
    # underflow.
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


def relaxed_alignment(one: Graph, two: Graph, side_information: SideInformation) -> Matrix:
    """Return how well every node of one graph fits every node of another of the same size.

    Parameters
    ----------
    one, two : Graph
        The copy and the release, of n nodes each.
    side_information : SideInformation
        Edge types, directions and attributes; without any, the edges of both graphs.

    Returns
    -------
    float64, shape (n, n)
        The relaxed plan: rows and columns sum to about 1.
    """
    firsts, seconds, _ = side_information.matrices(np.float64)
    n = one.n_nodes
    # D: Euclidean distances of features; different attributes are far off.
    far = distance.cdist(
        _all_features(one, side_information.copy), _all_features(two, side_information.released)
    )
    if side_information.rows is not None:
        far[side_information.rows.excluded()] = FAR_OFF
    plan = np.full((n, n), 1 / n)
    # Outer loop: the pull towards one-to-one grows. Inner loop: Frank-Wolfe steps of length 2 / (2
    # + t).
    for penalty in range(PENALTIES):
        for step in in_time(range(STEPS)):
            # The gradient of the objective at the plan: -2 A P B + D + lambda (1 - 2 P).
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
    _, columns = optimize.linear_sum_assignment(-plan)
    return np.asarray(columns, dtype=np.int64)
