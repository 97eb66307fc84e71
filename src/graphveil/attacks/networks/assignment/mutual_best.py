"""x."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphveil.attacks.networks.assignment.expand_when_stuck import Match
from graphveil.attacks.networks.copies import paired_copy
from graphveil.attacks.networks.copies.side_information import SideInformation, totals
from graphveil.core.progress import in_time
from graphveil.data import Graph
from graphveil.evaluate.comparison import Ints, sparse

LEAST_COMMON = 2

ENOUGH_UNCHANGED = 0.999

_FLOPS = 20_000_000


def refine(
    one: Graph,
    two: Graph,
    match: Match,
    seeds: Match,
    rounds: int,
    more: SideInformation | None = None,
) -> Match:
    """Return a matching of nodes that are each other's likest by their matched neighbors.

    How like nodes are is the number of pairs of their neighbors that are matched, at least 2, over
    the root of the product of their degrees. Every round costs at most the squares of the degrees.
    """
    more = SideInformation.of_graphs(one, two) if more is None else more
    for _ in range(rounds):
        new = _mutual(more, match)
        known = seeds[seeds >= 0]
        new[np.isin(new, known)] = paired_copy.NOBODY
        new = np.where(seeds >= 0, seeds, new)
        unchanged = np.count_nonzero(new == match)
        match = new
        if unchanged >= ENOUGH_UNCHANGED * match.size:
            break
    return match


def _mutual(more: SideInformation, match: Match) -> Match:
    """Return pairs that are the likest of their row and their column, the first of equals."""
    n_one, n_two = (lists[0].indptr.size - 1 for lists in (more.copy, more.released))
    best = np.zeros(n_two)
    parts = []
    for block in _similarity_blocks(more, match):
        np.maximum.at(best, block.col, block.data)
        largest = np.zeros(n_one)
        np.maximum.at(largest, block.row, block.data)
        some = block.data == largest[block.row]
        parts.append((block.row[some], block.col[some], block.data[some]))
    new = np.full(n_one, paired_copy.NOBODY, dtype=np.int64)
    if not parts:
        return new
    row, column, value = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    mutual = value == best[column]
    row, column = row[mutual], column[mutual]
    first = np.unique(row, return_index=True)[1]
    row, column = row[first], column[first]
    first = np.unique(column, return_index=True)[1]
    new[row[first]] = column[first]
    return new


def _similarity_blocks(more: SideInformation, match: Match) -> Iterator[sparse.coo_array]:
    """Yield how like nodes are, a block of rows of the first graph at a time."""
    first, second, turned = more.matrices(np.int32)
    shape = (first[0].shape[0], second[0].shape[0])
    matched = np.flatnonzero(match >= 0)
    ones = np.ones(matched.size, dtype=np.int32)
    pairs = sparse.csr_array((ones, (matched, match[matched])), shape=shape)
    paired = sparse.hstack([lists @ pairs for lists in first], format="csr")
    beyond = sparse.vstack(turned, format="csr")
    near = np.diff(beyond.indptr)
    work = np.concatenate([[0], np.cumsum(near[paired.indices])])[paired.indptr]
    roots = [np.sqrt(totals(lists)) for lists in (more.copy, more.released)]
    for start, end in in_time(row_blocks(work)):
        block = (paired[start:end] @ beyond).tocoo()
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
        end = int(np.searchsorted(work, work[start] + _FLOPS, side="right")) - 1
        end = min(max(end, start + 1), last)
        yield start, end
        start = end
