"""Refining a matching: nodes that are each other's most similar by their matched neighbors.

How similar a node of one graph is to one of the other: the number of pairs of their neighbors that
are matched, over the root of the product of their degrees. Narayanan and Shmatikov (IEEE S&P 2009)
divide by the root of a degree, too. In every round all pairs are forgotten except the known ones,
and a pair is matched if each is the most similar one for the other (their reverse match). Errors of
the first matching die out, since few of their neighbors confirm them. Repeating it for all nodes at
once is graphveil's own.

With A and B the adjacency matrices and P the matching, the numbers are A P B: one product of sparse
matrices per round, in blocks of rows. Cost of a round: the sum of squared degrees.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphveil.attacks.networks.assignment.expand_when_stuck import Match
from graphveil.attacks.networks.copies import paired_copy
from graphveil.attacks.networks.copies.side_information import SideInformation, totals
from graphveil.core.array_types import Ints
from graphveil.core.progress import in_time
from graphveil.evaluate.comparison import sparse

LEAST_COMMON = 2
"""Fewer matched pairs of neighbors do not count as evidence: one may be a coincidence of large
degrees."""

ENOUGH_UNCHANGED = 0.999
"""Rounds end if at least this share of the matching stays as it was."""

FLOPS = 20_000_000
"""Multiplications per block of rows: it bounds the memory of a block to a few hundred megabytes."""


def refine(match: Match, seeds: Match, rounds: int, more: SideInformation) -> Match:
    """Return a matching of nodes that are each other's most similar by their matched neighbors.

    Parameters
    ----------
    match : int64, shape (n_one,)
        The matching to begin with.
    seeds : int64, shape (n_one,)
        Known pairs, which are kept; -1 for the others.
    rounds : int
        How many rounds there are at most.
    more : SideInformation
        The edges of the copy and of the release, with types, directions and attributes.

    Returns
    -------
    int64, shape (n_one,)
        The refined matching, -1 for nodes without a mutual best.
    """
    for _ in range(rounds):
        # Match everything anew, then put the known pairs back and take their nodes from others.
        new = _mutual(more, match)
        known = seeds[seeds >= 0]
        new[np.isin(new, known)] = paired_copy.NOBODY
        new = np.where(seeds >= 0, seeds, new)
        # End when hardly any node is matched differently.
        unchanged = np.count_nonzero(new == match)
        match = new
        if unchanged >= ENOUGH_UNCHANGED * match.size:
            break
    return match


def _mutual(more: SideInformation, match: Match) -> Match:
    """Return pairs that are the most similar of their row and their column, the first of equals."""
    n_one, n_two = (lists[0].indptr.size - 1 for lists in (more.copy, more.released))
    best = np.zeros(n_two)
    parts = []
    # Keep, block by block, the best of every row, and the value of the best of every column.
    for block in _similarity_blocks(more, match):
        np.maximum.at(best, block.col, block.data)
        largest = np.zeros(n_one)
        np.maximum.at(largest, block.row, block.data)
        best_of_row = block.data == largest[block.row]
        parts.append((block.row[best_of_row], block.col[best_of_row], block.data[best_of_row]))
    new = np.full(n_one, paired_copy.NOBODY, dtype=np.int64)
    if not parts:
        return new
    row, column, value = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    # A pair stays if its value is also the best of its column; of equal ones the first is taken, on
    # either side: both graphs are in random order.
    mutual = value == best[column]
    row, column = row[mutual], column[mutual]
    first = np.unique(row, return_index=True)[1]
    row, column = row[first], column[first]
    first = np.unique(column, return_index=True)[1]
    new[row[first]] = column[first]
    return new


def _similarity_blocks(more: SideInformation, match: Match) -> Iterator[sparse.coo_array]:
    """Yield how similar nodes are, a block of rows of the first graph at a time.

    Each block is sparse, n_one times n_two, with entries for its rows alone and only for pairs with
    at least `LEAST_COMMON` matched pairs of neighbors.
    """
    # A P for every list, side by side; the lists of the other graph, turned round, below each
    # other: one product sums A P B over all lists.
    first, second, turned = more.matrices(np.int32)
    shape = (first[0].shape[0], second[0].shape[0])
    matched = np.flatnonzero(match >= 0)
    ones = np.ones(matched.size, dtype=np.int32)
    pairs = sparse.csr_array((ones, (matched, match[matched])), shape=shape)
    paired = sparse.hstack([lists @ pairs for lists in first], format="csr")
    beyond = sparse.vstack(turned, format="csr")
    # The work of a row: how many multiplications its product takes.
    near = np.diff(beyond.indptr)
    work = np.concatenate([[0], np.cumsum(near[paired.indices])])[paired.indptr]
    roots = [np.sqrt(totals(lists)) for lists in (more.copy, more.released)]
    for start, end in in_time(row_blocks(work)):
        block = (paired[start:end] @ beyond).tocoo()
        # Too few matched neighbors say nothing, and different attributes exclude a pair.
        common = block.data >= LEAST_COMMON
        row, column = block.row[common] + start, block.col[common]
        data = block.data[common] / (roots[0][row] * roots[1][column])
        if more.rows is not None:
            data = np.where(more.rows.fit(row, column), data, 0)
        yield sparse.coo_array((data, (row, column)), shape=shape)


def row_blocks(work: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of about equal work; `work` is that of all rows before each, and all."""
    start, last = 0, work.size - 1
    while start < last:
        end = int(np.searchsorted(work, work[start] + FLOPS, side="right")) - 1
        end = min(max(end, start + 1), last)
        yield start, end
        start = end
