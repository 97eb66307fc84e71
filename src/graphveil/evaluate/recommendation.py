"""A hidden item of held-back people, recommended by factors that were learned from the release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite
from graphveil.data.ids import as_text, distinct
from graphveil.evaluate.classification import NO_TEST, under
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.intervals import wilson
from graphveil.evaluate.metric import Figure, Figures, NotMeasuredError
from graphveil.evaluate.sizes import FACTORS, RECOMMENDED

if TYPE_CHECKING:
    from scipy import sparse

UNIT = "share of test people"

_CELLS = 20_000_000
_DENSE = 200


class HiddenEntries(NamedTuple):
    """Test people with two items or more, of whom one item is hidden.

    Parameters
    ----------
    known
        float64 ones, people by items: the others.
    hidden
        int64, shape (people,): the item that is hidden; -1 where neither original nor release has
        it, so that nobody can recommend it.
    """

    known: sparse.csr_array
    hidden: NDArray[np.int64]


def recommendation(pair: BipartiteComparison) -> Figures:
    """Yield how often a hidden item is recommended: by the release, the original, popularity.

    Raises
    ------
    NotMeasuredError
        Where there are no held-back people, all have fewer than two items, or items are people.
    """
    if pair.held_back is None:
        raise NotMeasuredError(NO_TEST)
    test = pair.held_back.people
    if pair.original.items == "people":
        raise NotMeasuredError("items are people: their names are other ones in the release")
    rng = pair.randomness.stream("recommendation")
    every = (pair.original, pair.released)
    columns = distinct(np.concatenate([as_text(data.feature_labels()) for data in every]))
    asked = asked_of(under(test, columns), _missing(test, columns), rng)
    before, after = (under(data, columns).astype(np.float64) for data in every)
    order = rng.permutation(columns.size)
    for part, matrix in (("released", after), ("original", before)):
        factors = factors_of(matrix, rng)
        hits = _hits(asked, factors, order)
        size = asked.hidden.size
        judged = part == "released"
        sample = wilson(hits, size)
        yield Figure(f"factors, {part}", hits / size, UNIT, judged=judged, sample=sample)
    popular = np.asarray(before.sum(axis=0)).ravel()
    hits = _hits(asked, popular, order)
    sample = wilson(hits, asked.hidden.size)
    yield Figure("popularity", hits / asked.hidden.size, UNIT, judged=False, sample=sample)


def _missing(people: Bipartite, columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many items everybody has that no column stands for."""
    unknown = ~np.isin(as_text(people.feature_labels()), columns)
    rows = people.rows()[unknown[people.indices]]
    missing: NDArray[np.int64] = np.bincount(rows, minlength=people.n_users)
    return missing


def asked_of(
    items: sparse.csr_array, missing: NDArray[np.int64], rng: np.random.Generator
) -> HiddenEntries:
    """Return what is asked: one item of everybody who has two, drawn evenly, is hidden.

    Parameters
    ----------
    items
        Ones, people by items.
    missing
        int64, shape (people,): how many further items everybody has, which no column stands for.
    rng
        Draws the items.

    Raises
    ------
    NotMeasuredError
        Where nobody has two.

    Examples
    --------
    >>> from scipy import sparse
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> some = sparse.csr_array(np.array([[1, 1, 0], [0, 0, 1]]))
    >>> asked = asked_of(some, np.zeros(2, dtype=np.int64), rng)
    >>> asked.known.nnz, asked.hidden.size
    (1, 1)
    """
    own = np.diff(items.indptr)
    people = np.flatnonzero(own + missing >= 2)
    if not people.size:
        raise NotMeasuredError("nobody of the test people has two items, one to be hidden")
    known = items[people].astype(np.float64)
    place = rng.integers(0, own[people] + missing[people])
    is_known = place < own[people]
    entry = known.indptr[:-1][is_known] + place[is_known]
    hidden = np.full(people.size, -1, dtype=np.int64)
    hidden[is_known] = known.indices[entry]
    known.data[entry] = 0
    known.eliminate_zeros()
    return HiddenEntries(known, hidden)


def factors_of(matrix: sparse.csr_array, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the leading right singular vectors, float64, shape (items, at most 50).

    Parameters
    ----------
    matrix
        float64 ones, people by items.
    rng
        Draws the vector with which the search begins.

    Examples
    --------
    >>> from scipy import sparse
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> factors_of(sparse.csr_array(np.array([[1.0, 1.0, 0.0]])), rng).shape
    (3, 1)
    """
    from scipy.sparse import linalg  # noqa: PLC0415  heavy: not for help

    small = min(matrix.shape)
    if not matrix.nnz:
        return np.zeros((matrix.shape[1], 0))
    if small <= _DENSE:
        _, sizes, vectors = np.linalg.svd(matrix.toarray(), full_matrices=False)
        rank = int(np.count_nonzero(sizes > sizes[0] * 1e-10))
        return vectors[: min(rank, FACTORS)].T
    begin = rng.standard_normal(small)
    _, _, vectors = linalg.svds(matrix, k=FACTORS, v0=begin)
    factors: NDArray[np.float64] = vectors.T
    return factors


def _hits(asked: HiddenEntries, by: NDArray[np.float64], order: NDArray[np.int64]) -> int:
    """Return of how many people the hidden item is among the first ten that they are recommended.

    Parameters
    ----------
    asked
        The people.
    by
        Factors, shape (items, factors), or one score an item for everybody.
    order
        int64: the order of items with equal scores.
    """
    people, items = asked.known.shape
    hits, rows = 0, max(_CELLS // max(items, 1), 1)
    rank = np.empty(items, dtype=np.int64)
    rank[order] = np.arange(items)
    for start in range(0, people, rows):
        known, hidden = asked.known[start : start + rows], asked.hidden[start : start + rows]
        scores = (known @ by) @ by.T if by.ndim == 2 else np.tile(by, (hidden.size, 1))
        scores = np.round(scores, 12)
        scores[known.nonzero()] = -np.inf
        some = np.flatnonzero(hidden >= 0)
        own = scores[some, hidden[some]][:, None]
        before = (scores[some] > own) | ((scores[some] == own) & (rank < rank[hidden[some], None]))
        hits += int((before.sum(axis=1) < RECOMMENDED).sum())
    return hits
