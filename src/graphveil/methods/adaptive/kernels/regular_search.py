"""Search for fewer stars while every degree stays the same.

graphveil's own, on top of the pairs of Algorithm 1 of Choromanski, Jebara & Tang. A trial removes
stars from a row and a few similar ones, reroutes every pair that no longer fits along the cheapest
path, on which records may get new stars, and prunes (see `pruning`). It is kept if it does not cost
more or, as in simulated annealing, with a probability that falls with its cost. Otherwise
everything is as before: changed rows are copied back.

The flow passes nothing on, so that all degrees stay exactly the level. If degrees could grow, the
search would exploit that: a few records would fit nearly everybody, and some people would be
matched to their own record almost certainly.

A trial visits all n records for each layer of equal price on a path: O(n n) at most, times the
pairs that no longer fit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints, Words
from graphveil.core.kernels.arrays import below, first_bit
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.flow import (
    CHOSEN,
    FREE,
    NO_BIT,
    ONE_BIT,
    SENDERS,
    WORD,
    Flow,
    fits,
    is_set,
    send,
    turn,
    turn_chosen,
    turn_free,
)
from graphveil.methods.adaptive.kernels.paths import expand, reroute
from graphveil.methods.adaptive.kernels.planes import Packed, differing
from graphveil.methods.adaptive.kernels.pruning import prune

Shorts = NDArray[np.int32]
Flags = NDArray[np.int8]

MORE_ROWS = 4
"""How many rows lose stars together with the first one, at most. More rows make larger changes."""

MOST_TRIES = 8
"""How often a first row is sampled at most to find one that has stars."""

MOST_WORSE = 40
"""A trial that needs this many more stars is abandoned before it is pruned, which bounds the time
spent on hopeless ones. A larger value prunes more of them."""

FAR: int = np.int64(1 << 62)  # type: ignore[assignment]
"""The price of a path that does not exist."""

CHANGED, NEIGHBOR = 1, 2
"""Marks of rows: changed by the trial, and paired with a changed one. Both are pruned."""

RESOLUTION: int = np.int64(1 << 30)  # type: ignore[assignment]
"""The resolution of the random number that accepts a trial."""


class TrialState(NamedTuple):
    """What a trial changes.

    Parameters
    ----------
    words
        uint64, shape (4, n, words): the pairs of a flow.
    passed
        int64, shape (n,): what is passed on.
    stars
        uint64, shape (n, words): what is suppressed.
    """

    words: Words
    passed: Ints
    stars: Words


class SearchBuffers(NamedTuple):
    """What a search reads, and where it writes.

    Parameters
    ----------
    prices
        int64, shape (n, bits): what a star costs in row i at bit b; -1 for no cell.
    cheapest
        The least of these prices.
    near
        int32, shape (n, m): the rows that are most similar to each row.
    before
        The state before the trial.
    broken
        int32, shape (5 n, 2): scratch: the pairs that no longer fit.
    dist
        int64, shape (n,): scratch: the price of the cheapest path to every person; -1 once settled.
    missing
        int64, shape (n, n): the price of the stars that record i lacks to fit person j.
    counted
        uint64, shape (n, words): the stars with which `missing` was computed.
    marks
        int8, shape (n,): scratch: 0, `CHANGED` or `NEIGHBOR`.
    needs
        int64, shape (bits,): scratch: how many pairs need each cell of a row.
    cells, ordered
        int64, shape (n bits, 3) and (n bits, 2): scratch: the cells to prune with how many pairs
        need them, and in the order in which they are tried.
    """

    prices: Ints
    cheapest: int
    near: Shorts
    before: TrialState
    broken: Shorts
    dist: Ints
    missing: Ints
    counted: Words
    marks: Flags
    needs: Ints
    cells: Ints
    ordered: Ints


def buffers_for(flow: Flow, stars: Words, prices: Ints, near: Shorts) -> SearchBuffers:
    """Return buffers for a search over a flow with these stars.

    Parameters
    ----------
    flow, stars
        What will be searched.
    prices
        int64, shape (n, bits): what a star costs, by row and by position among the bits; -1 for no
        cell.
    near
        int32, shape (n, m), m at least 1: the rows that are most similar to each row.
    """
    n, bits = prices.shape
    return SearchBuffers(
        prices=prices,
        cheapest=int(prices.min(initial=FAR, where=prices >= 0)),
        near=near,
        before=TrialState(flow.words.copy(), flow.passed.copy(), stars.copy()),
        broken=np.empty((n * (MORE_ROWS + 1), 2), dtype=np.int32),
        dist=np.empty(n, dtype=np.int64),
        missing=np.empty((n, n), dtype=np.int64),
        counted=~stars,
        marks=np.empty(n, dtype=np.int8),
        needs=np.empty(bits, dtype=np.int64),
        cells=np.empty((n * bits, 3), dtype=np.int64),
        ordered=np.empty((n * bits, 2), dtype=np.int64),
    )


@leaf
def _copy_changed(changed: Flags, one: TrialState, other: TrialState) -> None:
    """Copy state `other` into `one` for all nodes that have changed, and clear their marks."""
    n = one.passed.size
    for node in range(2 * n):
        if changed[node] == 0:
            continue
        changed[node] = 0
        is_person = 1 if node >= n else 0
        i = node - n if is_person else node
        # The views of a record have even numbers, those of a person odd ones.
        for kind in range(is_person, 4, 2):
            for w in range(one.words.shape[2]):
                one.words[kind, i, w] = other.words[kind, i, w]
        if not is_person:
            one.passed[i] = other.passed[i]
            for w in range(one.stars.shape[1]):
                one.stars[i, w] = other.stars[i, w]


@leaf
def _price_of_row(rows: Packed, stars: Words, prices: Ints, i: int) -> int:
    """Return what the stars of a row cost, without those of missing cells."""
    price = ZERO
    for w in range(stars.shape[1]):
        bits = stars[i, w] & ~rows.stars[i, w]
        while bits:
            price += prices[i, w * WORD + first_bit(bits)]
            bits &= bits - ONE_BIT
    return price


@leaf
def price_of(rows: Packed, stars: Words, prices: Ints) -> int:
    """Return what all stars cost, without those of missing cells."""
    total = ZERO
    for i in range(stars.shape[0]):
        total += _price_of_row(rows, stars, prices, i)
    return total


@leaf
def _compare(rows: Packed, stars: Words, flow: Flow, work: SearchBuffers) -> tuple[int, bool]:
    """Return how much more all stars cost than before the trial, and whether they are the same."""
    more, is_same, before = ZERO, True, work.before.stars
    for i in range(flow.passed.size):
        if flow.changed[i]:
            more += _price_of_row(rows, stars, work.prices, i)
            more -= _price_of_row(rows, before, work.prices, i)
            for w in range(stars.shape[1]):
                is_same = is_same and stars[i, w] == before[i, w]
    return more, is_same


@leaf
def _wipe(
    rows: Packed,
    stars: Words,
    flow: Flow,
    work: SearchBuffers,
    i: int,
    parts: int,
    rng: np.random.Generator,
) -> None:
    """Remove stars of a row: all of them, or each with probability 1 / parts."""
    work.marks[i] = CHANGED
    flow.changed[i] = 1
    for w in range(stars.shape[1]):
        bits = stars[i, w] & ~rows.stars[i, w]
        # Stars of missing cells stay.
        while bits:
            b = first_bit(bits)
            bits &= bits - ONE_BIT
            if below(rng, parts) == 0:
                stars[i, w] &= ~(ONE_BIT << np.uint64(b))


@leaf
def _refit(rows: Packed, stars: Words, flow: Flow, work: SearchBuffers, i: int, broken: int) -> int:
    """Update which persons record i fits with its stars; give up chosen pairs that no longer fit.

    Return how many pairs are listed in ``work.broken`` by now.
    """
    for j in range(flow.passed.size):
        if j == i:
            continue
        fit = fits(rows, stars, i, j)
        # A chosen pair that no longer fits is given up and listed.
        if is_set(flow.words[CHOSEN, i], j):
            if not fit:
                turn_chosen(flow, i, j)
                work.broken[broken, 0], work.broken[broken, 1] = i, j
                broken += 1
        # A free pair appears or disappears.
        elif fit != (is_set(flow.words[FREE, i], j) > 0):
            turn_free(flow, i, j)
    return broken


@leaf
def _wipe_some(
    rows: Packed, stars: Words, flow: Flow, work: SearchBuffers, rng: np.random.Generator
) -> int:
    """Remove stars from a row and some similar ones; return how many pairs no longer fit."""
    # Step 1: half of the trials wipe rows, three in ten wipe each star with probability 1/2, the
    # others with probability 1/4.
    kind = below(rng, 10 * ONE)
    parts = ONE if kind < 5 else 2 * ONE if kind < 8 else 4 * ONE
    n = work.marks.size
    for i in range(n):
        work.marks[i] = 0
    # Step 2: a first row that has stars, and up to four of the rows similar to it.
    first = below(rng, n)
    for _ in range(MOST_TRIES):
        if _price_of_row(rows, stars, work.prices, first) > 0:
            break
        first = below(rng, n)
    other = wide(first)
    for _ in range(1 + below(rng, (MORE_ROWS + 1) * ONE)):
        _wipe(rows, stars, flow, work, other, parts, rng)
        # The next row, one of the rows similar to the first; the same row may come twice.
        other = wide(work.near[first, below(rng, work.near.shape[1])])
    # Step 3: which pairs no longer fit, in random order (Fisher-Yates).
    broken = ZERO
    for i in range(n):
        if work.marks[i]:
            broken = _refit(rows, stars, flow, work, i, broken)
    for last in range(broken - 1, 0, -1):
        swapped = below(rng, last + 1)
        for side in range(2):
            kept = work.broken[last, side]
            work.broken[last, side] = work.broken[swapped, side]
            work.broken[swapped, side] = kept
    return broken


@leaf
def _price_to_fit(rows: Packed, stars: Words, prices: Ints, i: int, j: int) -> int:
    """Return what the stars cost that record i lacks to fit person j."""
    price = ZERO
    for w in range(stars.shape[1]):
        bits = differing(rows, i, rows, j, w) & ~stars[i, w]
        while bits:
            price += prices[i, w * WORD + first_bit(bits)]
            bits &= bits - ONE_BIT
    return price


@leaf
def _count_missing(rows: Packed, stars: Words, work: SearchBuffers, i: int) -> None:
    """Write into missing[i, j] the price of the stars that record i lacks to fit person j.

    It is kept from call to call, and computed anew only if the stars of the record have changed.
    """
    # Unchanged stars since the last count mean unchanged prices.
    is_counted = True
    for w in range(stars.shape[1]):
        is_counted = is_counted and work.counted[i, w] == stars[i, w]
        work.counted[i, w] = stars[i, w]
    if is_counted:
        return
    for j in range(work.dist.size):
        work.missing[i, j] = _price_to_fit(rows, stars, work.prices, i, j)
    work.missing[i, i] = FAR


@leaf
def _block_chosen(flow: Flow, missing: Ints, i: int, price: int) -> None:
    """Write a price into `missing` for every person that record i is paired with."""
    for w in range(flow.words.shape[2]):
        bits = flow.words[CHOSEN, i, w]
        while bits:
            missing[w * WORD + first_bit(bits)] = price
            bits &= bits - ONE_BIT


@leaf
def _relax(rows: Packed, stars: Words, flow: Flow, work: SearchBuffers, i: int, price: int) -> None:
    """Offer every person that record i is not paired with a path by i, from this price on."""
    _count_missing(rows, stars, work, i)
    missing, dist, came_from, n = work.missing[i], work.dist, flow.came_from[0], work.dist.size
    # A chosen pair carries its unit already: it is blocked while the others are compared.
    _block_chosen(flow, missing, i, FAR)
    for j in range(n):
        by_record = price + missing[j]
        is_less = by_record < dist[j]
        dist[j] = by_record if is_less else dist[j]
        came_from[n + j] = i if is_less else came_from[n + j]
    _block_chosen(flow, missing, i, ZERO)


@leaf
def _cheapest_path(
    rows: Packed, stars: Words, flow: Flow, work: SearchBuffers, record: int, goal: int
) -> int:
    """Return what the cheapest path from a record to a person costs; write it into ``came_from``.

    Dijkstra's algorithm with layers of equal price. A record goes on to any person that it is not
    paired with, for the price of the stars that it lacks; a person to a record that is paired with
    it, for nothing.
    """
    n = flow.passed.size
    # Step 1: only the record itself is reached. The direct pair, if it is not chosen, is an upper
    # bound.
    for j in range(n):
        work.dist[j] = FAR
    for w in range(flow.seen.shape[1]):
        flow.seen[0, w] = NO_BIT
        flow.seen[1, w] = NO_BIT
    turn(flow.seen[0], record)
    flow.queue[0, 0] = record
    if not is_set(flow.words[CHOSEN, record], goal):
        work.dist[goal] = _price_to_fit(rows, stars, work.prices, record, goal)
        flow.came_from[0, n + goal] = record
    start, begun, end = ZERO, ZERO, ONE
    price: int = ZERO
    while True:
        # Step 2: everything that can be reached at this price over pairs that fit already.
        while start < end:
            end = expand(flow, ZERO, wide(flow.queue[0, start]), end)
            start += 1
        if is_set(flow.seen[1], goal):
            return price
        # Step 3: records of this layer offer new pairs, unless even the cheapest star leads beyond
        # the best price known for the goal.
        helps = price + work.cheapest < work.dist[goal]
        for number in range(begun, end):
            node = wide(flow.queue[0, number])
            if node >= n:
                work.dist[node - n] = MINUS_ONE
            elif helps:
                _relax(rows, stars, flow, work, node, price)
        # Step 4: the next layer is that of the least price; the search ends if the goal is in it.
        begun, price = end, work.dist[goal]
        for j in range(n):
            if 0 <= work.dist[j] < price:
                price = work.dist[j]
        if price == work.dist[goal]:
            return price
        for j in range(n):
            if work.dist[j] == price:
                turn(flow.seen[1], j)
                flow.queue[0, end] = n + j
                end += 1


@leaf
def _suppress(rows: Packed, stars: Words, flow: Flow, work: SearchBuffers, i: int, j: int) -> None:
    """Suppress in record i what it lacks to fit person j, and update whom else it then fits."""
    work.marks[i] = CHANGED
    flow.changed[i] = 1
    for w in range(stars.shape[1]):
        stars[i, w] |= differing(rows, i, rows, j, w)
    _refit(rows, stars, flow, work, i, ZERO)


@leaf
def _reroute(
    rows: Packed, stars: Words, flow: Flow, work: SearchBuffers, record: int, person: int
) -> bool:
    """Send a unit from a record to a person along the cheapest path, if there is one."""
    # Step 1: a path over pairs that fit already costs nothing.
    if reroute(flow, record, person, ZERO) >= 0:
        return True
    # Step 2: otherwise the cheapest one, suppressing on the way what new pairs need.
    if _cheapest_path(rows, stars, flow, work, record, person) >= FAR:
        return False
    n = flow.passed.size
    node = n + person
    while node != record:
        before = wide(flow.came_from[0, node])
        j = node - n
        # From a record to a person that it does not fit yet: the record gets the stars that it
        # lacks.
        if before < n and j != before and not is_set(flow.words[FREE, before], j):
            _suppress(rows, stars, flow, work, before, j)
        send(flow, before, node)
        node = before
    return True


@leaf
def _mark_neighbors(flow: Flow, marks: Flags) -> None:
    """Mark the other rows that are paired with a changed one."""
    for i in range(marks.size):
        if marks[i] == CHANGED:
            for w in range(flow.words.shape[2]):
                bits = flow.words[SENDERS, i, w] | flow.words[CHOSEN, i, w]
                while bits:
                    j = w * WORD + first_bit(bits)
                    bits &= bits - ONE_BIT
                    if marks[j] == 0:
                        marks[j] = NEIGHBOR


@leaf
def _try_change(
    rows: Packed, stars: Words, flow: Flow, work: SearchBuffers, most: int, rng: np.random.Generator
) -> tuple[bool, bool]:
    """Change some rows; return whether that may be kept, and whether it is to be pruned first.

    `most`: how much more all stars may cost before pruning, in units of `SearchBuffers.prices`.
    """
    # Step 1: remove stars, and reroute each pair that no longer fits.
    for number in range(_wipe_some(rows, stars, flow, work, rng)):
        record, person = wide(work.broken[number, 0]), wide(work.broken[number, 1])
        if not _reroute(rows, stars, flow, work, record, person):
            return False, False
    # Step 2: abandon the trial if it costs far too much; without any difference there is nothing to
    # prune.
    more, is_same = _compare(rows, stars, flow, work)
    if more > most or is_same:
        return is_same, False
    _mark_neighbors(flow, work.marks)
    return True, True


@leaf
def _count_needs(rows: Packed, flow: Flow, needs: Ints, i: int) -> None:
    """Write how many pairs of record i need each of its cells suppressed."""
    for b in range(needs.size):
        needs[b] = 0
    for word in range(flow.words.shape[2]):
        persons = flow.words[CHOSEN, i, word]
        # Every chosen person of the record adds one to each column in which the two differ.
        while persons:
            j = word * WORD + first_bit(persons)
            persons &= persons - ONE_BIT
            for w in range(rows.stars.shape[1]):
                bits = differing(rows, i, rows, j, w)
                while bits:
                    needs[w * WORD + first_bit(bits)] += 1
                    bits &= bits - ONE_BIT


@leaf
def _to_prune(rows: Packed, stars: Words, flow: Flow, work: SearchBuffers) -> int:
    """Write the stars of marked rows into `ordered`, least needed first; return how many."""
    # Step 1: list the stars of marked rows with how many pairs need them.
    cells, most, ordered = ZERO, ZERO, ZERO
    for i in range(work.marks.size):
        if work.marks[i] == 0:
            continue
        _count_needs(rows, flow, work.needs, i)
        for w in range(stars.shape[1]):
            bits = stars[i, w] & ~rows.stars[i, w]
            while bits:
                b = w * WORD + first_bit(bits)
                bits &= bits - ONE_BIT
                work.cells[cells, 0], work.cells[cells, 1] = i, b
                work.cells[cells, 2] = work.needs[b]
                most = max(most, work.needs[b])
                cells += 1
    # Step 2: sort them by that number.
    for number in range(most + 1):
        for cell in range(cells):
            if work.cells[cell, 2] == number:
                work.ordered[ordered, 0] = work.cells[cell, 0]
                work.ordered[ordered, 1] = work.cells[cell, 1]
                ordered += 1
    return cells


@leaf
def search(
    rows: Packed,
    stars: Words,
    flow: Flow,
    work: SearchBuffers,
    trials: int,
    heat: float,
    unit: int,
    rng: np.random.Generator,
) -> int:
    """Change some rows again and again, keep what costs little more; return what stars cost.

    Before the first trial and after the last one, all rows are pruned. A trial that costs more is
    kept with probability ``exp(-more / heat)``.

    Parameters
    ----------
    rows
        The rows.
    stars, flow
        What is suppressed, and the pairs, after `load`; overwritten.
    work
        From `buffers_for`; overwritten.
    trials
        How many changes are tried.
    heat
        The temperature in stars at first; it falls linearly to 0.
    unit
        What a star of the highest price costs.
    rng
        The random stream.
    """
    state = TrialState(flow.words, flow.passed, stars)
    for trial in range(trials + 2):
        # Step 1: remember the state before the trial: only rows that have changed are copied.
        all_rows = trial == 0 or trial > trials
        may_stay, pruning = True, True
        _copy_changed(flow.changed, work.before, state)
        if all_rows:
            for i in range(work.marks.size):
                work.marks[i] = CHANGED
        else:
            # Step 2: the change itself.
            may_stay, pruning = _try_change(rows, stars, flow, work, MOST_WORSE * unit, rng)
        # Step 3: prune the rows concerned once; all rows at both ends, until nothing goes.
        while pruning:
            cells = _to_prune(rows, stars, flow, work)
            pruning = prune(rows, stars, flow, work.ordered[:cells]) > 0 and all_rows
        # Step 4: accept or take back, at a temperature that falls to 0.
        more, _ = _compare(rows, stars, flow, work)
        if may_stay and more > 0:
            warm = heat * unit * (1.0 - (trial - 1) * 1.0 / trials)
            may_stay = below(rng, RESOLUTION) < np.exp(-more * 1.0 / warm) * RESOLUTION
        if not may_stay:
            _copy_changed(flow.changed, state, work.before)
    return price_of(rows, stars, work.prices)
