"""Eigenvalues of the adjacency matrix and of the normalized Laplacian.

Small graphs are solved densely, O(n^3); others by the Lanczos iteration of ARPACK, O(m) for each
product. An iteration that does not converge is reported as not measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphveil.core.array_types import Floats
from graphveil.core.libraries import linalg
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison, csgraph, sparse
from graphveil.evaluate.metric import Figures, NotMeasuredError, compared

DENSE_UP_TO = 256
"""The most nodes whose matrix is written out and solved densely."""

VECTORS, ROUNDS = 40, 100
"""How many vectors the Lanczos iteration keeps, and how often it is restarted with the best of
them: more vectors converge in fewer restarts and take more memory; the restarts bound the time."""

ACCURACY = 1e-9
"""The largest residual of an eigenvalue, as a share of it."""

VECTOR_ACCURACY = 1e-12
"""The largest residual of an eigenvector: smaller, since the ranks of its entries are compared."""

CELLS = 4_000_000
"""How many cells of dense blocks are in memory at a time: 32 MB."""


def radius(pair: GraphComparison) -> Figures:
    """Yield the largest eigenvalue of the adjacency matrix, before and after.

    At least the mean degree; nothing without edges. Ying and Wu, SDM 2008.
    """
    return compared(pair, spectral_radius, "eigenvalue")


def spectral_radius(graph: Graph) -> float | None:
    """Return the largest eigenvalue of the adjacency matrix; None without edges."""
    if graph.n_edges == 0:
        return None
    if graph.n_nodes <= DENSE_UP_TO:
        return float(np.linalg.eigvalsh(graph.to_scipy().toarray().astype(np.float64))[-1])
    matrix = graph.to_scipy().astype(np.float64)
    return float(_iterated(matrix, np.ones(graph.n_nodes), ACCURACY)[0])


def leading_vector(graph: Graph) -> Floats:
    """Return the limit of equal scores under multiplication by the adjacency matrix.

    float64, shape (n,), of length 1. If several components have the largest eigenvalue, each has a
    part.
    """
    matrix, ones = graph.to_scipy().astype(np.float64), np.ones(graph.n_nodes)
    if graph.n_nodes <= DENSE_UP_TO:
        values, vectors = np.linalg.eigh(matrix.toarray())
        # Project equal scores on the eigenspace of the largest eigenvalue, of one or more
        # dimensions.
        leading = vectors[:, values > values[-1] - ACCURACY * values[-1]]
        vector = leading @ (leading.T @ ones)
    else:
        vector = _iterated(matrix, ones, VECTOR_ACCURACY)[1]
    # Fix the sign, so that equal graphs have equal scores.
    length = np.linalg.norm(vector) * (1 if vector.sum() > 0 else -1)
    return np.asarray(vector / length)


def gap(pair: GraphComparison) -> Figures:
    """Yield the second-smallest eigenvalue of the normalized Laplacian, before and after.

    Above 0 and at most 2: the larger, the better connected. Only the largest component counts.
    Chung 1997.
    """
    rng = pair.randomness.stream("spectral gap: first vector")
    return compared(pair, lambda graph: spectral_gap(graph, rng), "eigenvalue")


def spectral_gap(graph: Graph, rng: np.random.Generator) -> float | None:
    """Return the second-smallest eigenvalue of the normalized Laplacian of the largest component.

    It is 1 less the second-largest of D^-1/2 A D^-1/2. Of several components of that size the
    least is given; None where they are single nodes.

    Chung 1997.
    """
    # Step 1: the largest components, each with its nodes next to each other.
    _, component = csgraph.connected_components(graph.to_scipy(), directed=False)
    sizes = np.bincount(component, minlength=1)
    size = int(sizes.max())
    if size < 2:
        return None
    members = np.flatnonzero(sizes[component] == size)
    members = members[np.argsort(component[members], kind="stable")]
    # Step 2: D^-1/2 A D^-1/2, whose eigenvalues are 1 less those of the normalized Laplacian.
    root = np.sqrt(np.maximum(graph.degrees(), 1))
    scaled = sparse.diags_array(1 / root)
    walk = sparse.csr_array(scaled @ graph.to_scipy().astype(np.float64) @ scaled)
    walk = walk[members][:, members]
    # Step 3: the second-largest eigenvalue of each of them; the largest is 1.
    if size <= DENSE_UP_TO:
        return 1 - max(_second_dense(walk, size))
    root = root[members]
    starts = range(0, members.size, size)
    blocks = ((walk[s : s + size, s : s + size], root[s : s + size]) for s in starts)
    return 1 - max(_second(block, known, rng) for block, known in blocks)


def _second_dense(walk: sparse.csr_array, size: int) -> Iterator[float]:
    """Yield the largest second eigenvalue of some blocks of this size at a time."""
    entries = sparse.coo_array(walk)
    row, column = entries.coords
    block = row // size
    at_once = max(CELLS // size**2, 1)
    for first in range(0, walk.shape[0] // size, at_once):
        inside = (block >= first) & (block < first + at_once)
        number = min(at_once, walk.shape[0] // size - first)
        dense = np.zeros((number, size, size))
        dense[block[inside] - first, row[inside] % size, column[inside] % size] = entries.data[
            inside
        ]
        yield float(np.linalg.eigvalsh(dense)[:, -2].max())


def _second(walk: sparse.csr_array, known: Floats, rng: np.random.Generator) -> float:
    """Return the second-largest eigenvalue of a connected block.

    `known`: the eigenvector of the largest one, which is 1.
    """
    known = known / np.linalg.norm(known)

    # Deflation: the known eigenvalue 1 becomes -1, so that the second is the largest.
    def without_first(vector: Floats) -> Floats:
        vector = vector.ravel()
        return np.asarray(walk @ vector - 2 * known * (known @ vector))

    operator = linalg.LinearOperator(walk.shape, matvec=without_first, dtype=np.float64)
    return float(_iterated(operator, rng.standard_normal(known.size), ACCURACY)[0])


def _iterated(matrix: sparse.csr_array, first: Floats, accuracy: float) -> tuple[float, Floats]:
    """Return the largest eigenvalue and its vector, by Lanczos iteration from vector `first`."""
    try:
        values, vectors = linalg.eigsh(
            matrix, k=1, which="LA", v0=first, ncv=VECTORS, maxiter=ROUNDS, tol=accuracy
        )
    except linalg.ArpackNoConvergence as error:
        raise NotMeasuredError(
            f"the iteration for an eigenvalue did not converge in {ROUNDS} rounds, because "
            "other eigenvalues are too close"
        ) from error
    return values[0], vectors[:, 0]
