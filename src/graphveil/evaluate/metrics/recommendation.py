"""Recommendation: a hidden item of each test person, recommended from the release.

PureSVD (Cremonesi, Koren and Turrin, RecSys 2010): a person's items are projected on the leading
singular vectors of the release, and the items of the largest scores recommended. The decomposition
takes about O(nnz) for each of `FACTORS` vectors; scoring takes people times items times factors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.core.libraries import linalg
from graphveil.data import Bipartite
from graphveil.data.ids import as_text, distinct
from graphveil.evaluate.comparison import BipartiteComparison, sparse
from graphveil.evaluate.metric import (
    Figures,
    NotMeasuredError,
    of_one,
)
from graphveil.evaluate.metrics.task_entries import FACTORS, RECOMMENDED
from graphveil.evaluate.metrics.tasks import NO_TEST, correct_share, under

_CELLS = 20_000_000
"""How many scores are in memory at a time: 160 MB."""

_DENSE = 200
"""Up to this many users or items, the decomposition is dense, and its rank is known."""


class HiddenEntries(NamedTuple):
    """Test people with two items or more, of whom one item is hidden.

    `known`: float64 ones, people by items: the others; `hidden`: int64, shape (people,): the item
    that is hidden; -1 where neither original nor release has it, so that nobody can recommend it.
    """

    known: sparse.csr_array
    hidden: Ints


def recommendation(pair: BipartiteComparison) -> Figures:
    """Yield how often the hidden item is recommended: by the release, the original, by popularity.

    From 0 to 1, with Wilson's 95% interval over test people.
    """
    if pair.held_back is None:
        raise NotMeasuredError(NO_TEST)
    test = pair.held_back.people
    if pair.original.items == "people":
        raise NotMeasuredError("items are people, so their names differ in the release")
    rng = pair.randomness.stream("recommendation")
    # Items of the original and the release, in one numbering.
    every = (pair.original, pair.released)
    columns = distinct(np.concatenate([as_text(data.feature_labels()) for data in every]))
    # Hide one item of each test person who has two; items of neither side may be hidden, too.
    asked = asked_of(under(test, columns), _missing(test, columns), rng)
    before, after = (under(data, columns).astype(np.float64) for data in every)
    # Equal scores are ordered at random, in the same order for all.
    order = rng.permutation(columns.size)
    for part, matrix in (("released", after), ("original", before)):
        hits = _hits(asked, factors_of(matrix, rng), order)
        yield from of_one("factors", correct_share(part, hits, asked.hidden.size))
    # The guess without learning: popularity in the original.
    popular = np.asarray(before.sum(axis=0)).ravel()
    yield from correct_share("popularity", _hits(asked, popular, order), asked.hidden.size)


def _missing(people: Bipartite, columns: NDArray[Any]) -> Ints:
    """Return how many items each person has that are in neither original nor release."""
    unknown = ~np.isin(as_text(people.feature_labels()), columns)
    return np.bincount(people.rows()[unknown[people.indices]], minlength=people.n_users)


def asked_of(items: sparse.csr_array, missing: Ints, rng: np.random.Generator) -> HiddenEntries:
    """Return the test people with two items or more, of whom one uniformly drawn item is hidden."""
    own = np.diff(items.indptr)
    people = np.flatnonzero(own + missing >= 2)
    if not people.size:
        raise NotMeasuredError("no test person has two items, one of which can be held out")
    known = items[people].astype(np.float64)
    # A place among all items of the person; places past the known ones are items of neither side.
    place = rng.integers(0, own[people] + missing[people])
    is_known = place < own[people]
    # Remove the hidden entry from what is known of the person.
    entry = known.indptr[:-1][is_known] + place[is_known]
    hidden = np.full(people.size, -1, dtype=np.int64)
    hidden[is_known] = known.indices[entry]
    known.data[entry] = 0
    known.eliminate_zeros()
    return HiddenEntries(known, hidden)


def factors_of(matrix: sparse.csr_array, rng: np.random.Generator) -> Floats:
    """Return the leading right singular vectors, float64, shape (items, at most 50)."""
    small = min(matrix.shape)
    if not matrix.nnz:
        return np.zeros((matrix.shape[1], 0))
    if small <= _DENSE:
        _, sizes, vectors = np.linalg.svd(matrix.toarray(), full_matrices=False)
        rank = int(np.count_nonzero(sizes > sizes[0] * 1e-10))
        return vectors[: min(rank, FACTORS)].T
    begin = rng.standard_normal(small)
    _, _, vectors = linalg.svds(matrix, k=FACTORS, v0=begin)
    return np.asarray(vectors.T)


def _hits(asked: HiddenEntries, by: Floats, order: Ints) -> int:
    """Return for how many people the hidden item is among the first ten recommended.

    `by`: the factors, float64, shape (items, factors), or the popularity of items, shape (items,);
    `order`: int64: a permutation of the items, which orders equal scores.
    """
    people, items = asked.known.shape
    hits, rows = 0, max(_CELLS // max(items, 1), 1)
    rank = np.empty(items, dtype=np.int64)
    rank[order] = np.arange(items)
    for start in range(0, people, rows):
        known, hidden = asked.known[start : start + rows], asked.hidden[start : start + rows]
        # Scores of some people at a time; rounding makes equal what differs by rounding errors
        # alone.
        scores = (known @ by) @ by.T if by.ndim == 2 else np.tile(by, (hidden.size, 1))
        scores = np.round(scores, 12)
        # Items that are known of a person are not recommended.
        scores[known.nonzero()] = -np.inf
        # The hidden item is a hit if fewer than ten items come before it.
        some = np.flatnonzero(hidden >= 0)
        own = scores[some, hidden[some]][:, None]
        before = (scores[some] > own) | ((scores[some] == own) & (rank < rank[hidden[some], None]))
        hits += int((before.sum(axis=1) < RECOMMENDED).sum())
    return hits
