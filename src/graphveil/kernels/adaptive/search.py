"""Fewer stars by trial: some rows lose theirs, and pairs that fit no longer are led anew.

Where the flow passes nothing on, all degrees stay as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.adaptive.flow import (
    ONE_BIT,
    WORD,
    Flow,
    Ints,
    Words,
    fits,
    is_set,
    send,
    turn,
)
from graphveil.kernels.adaptive.planes import Packed, differing
from graphveil.kernels.adaptive.pruning import prune
from graphveil.kernels.bits import first_bit
from graphveil.kernels.draws import below
from graphveil.kernels.leaf import ONE, ZERO, leaf, wide

Shorts = NDArray[np.int32]
Flags = NDArray[np.int8]

MORE_ROWS = 4
"""So many rows lose stars with the first one at most."""

MOST_WORSE = 40
"""A trial that needs so many stars more is given up before it is pruned."""

FAR: int = np.int64(1 << 62)  # type: ignore[assignment]
CHANGED, NEIGHBOUR = 1, 2
DRAWS: int = np.int64(1 << 30)  # type: ignore[assignment]


class Room(NamedTuple):
    """What a search reads, and where it writes.

    ``prices[i, b]`` is what a star costs in row i at bit b, ``near[i]`` are the rows that are most
    like row i. The rest is scratch: pairs that fit no longer, the price of the way to every person,
    who is settled, which rows changed, how many pairs need a row's cells, the cells to prune with
    those numbers and in their order, and what was there before the trial.
    """

    prices: Ints
    near: Shorts
    broken: Shorts
    way: Ints
    settled: Flags
    marks: Flags
    needs: Ints
    cells: Ints
    ordered: Ints
    numbers: Ints
    stars: Words
    free: Words
    senders: Words
    passed: Ints


def room_for(flow: Flow, stars: Words, prices: Ints, near: Shorts) -> Room:
    """Return room for a search over a flow with these stars.

    Parameters
    ----------
    flow, stars
        What will be searched.
    prices
        Shape (n, bits): what a star costs, by row and by place among the bits.
    near
        Shape (n, m), m at least 1: the rows that are most like each row.
    """
    n, bits = prices.shape
    return Room(
        prices=prices,
        near=near,
        broken=np.empty((n * (MORE_ROWS + 1), 2), dtype=np.int32),
        way=np.empty(n, dtype=np.int64),
        settled=np.empty(n, dtype=np.int8),
        marks=np.empty(n, dtype=np.int8),
        needs=np.empty(bits, dtype=np.int64),
        cells=np.empty((n * bits, 3), dtype=np.int64),
        ordered=np.empty((n * bits, 2), dtype=np.int64),
        numbers=np.empty(n + 1, dtype=np.int64),
        stars=stars.copy(),
        free=flow.free.copy(),
        senders=flow.senders.copy(),
        passed=flow.passed.copy(),
    )


@leaf
def _copy(one: Words, other: Words) -> None:
    for i in range(one.shape[0]):
        for w in range(one.shape[1]):
            one[i, w] = other[i, w]


@leaf
def _keep(room: Room, stars: Words, flow: Flow) -> None:
    """Write down what is there before a trial."""
    _copy(room.stars, stars)
    _copy(room.free, flow.free)
    _copy(room.senders, flow.senders)
    for i in range(flow.passed.size):
        room.passed[i] = flow.passed[i]


@leaf
def _undo(room: Room, stars: Words, flow: Flow) -> None:
    """Write what was there before a trial."""
    _copy(stars, room.stars)
    _copy(flow.free, room.free)
    _copy(flow.senders, room.senders)
    for i in range(flow.passed.size):
        flow.passed[i] = room.passed[i]


@leaf
def price_of(rows: Packed, stars: Words, prices: Ints) -> int:
    """Return what all stars cost, but for missing cells."""
    total = ZERO
    for i in range(stars.shape[0]):
        for w in range(stars.shape[1]):
            bits = stars[i, w] & ~rows.stars[i, w]
            while bits:
                total += prices[i, w * WORD + first_bit(bits)]
                bits &= bits - ONE_BIT
    return total


@leaf
def _wipe(
    rows: Packed, stars: Words, marks: Flags, i: int, parts: int, rng: np.random.Generator
) -> None:
    """Take stars of a row away: each, or where parts is more than 1 one in so many."""
    marks[i] = CHANGED
    for w in range(stars.shape[1]):
        bits = stars[i, w] & ~rows.stars[i, w]
        while bits:
            b = first_bit(bits)
            bits &= bits - ONE_BIT
            if below(rng, parts) == 0:
                stars[i, w] &= ~(ONE_BIT << np.uint64(b))


@leaf
def _break(rows: Packed, stars: Words, flow: Flow, room: Room, i: int, broken: int) -> int:
    """Give up the pairs of record i that fit no longer; return how many are given up by now."""
    for j in range(flow.passed.size):
        if j == i:
            continue
        fit = fits(rows, stars, i, j)
        if is_set(flow.senders[j], i):
            if not fit:
                turn(flow.senders[j], i)
                room.broken[broken, 0], room.broken[broken, 1] = i, j
                broken += 1
        elif fit != (is_set(flow.free[i], j) > 0):
            turn(flow.free[i], j)
    return broken


@leaf
def _missing(rows: Packed, stars: Words, prices: Ints, i: int, j: int) -> int:
    """Return what the stars cost that record i lacks to fit person j."""
    price = ZERO
    for w in range(stars.shape[1]):
        bits = differing(rows, i, rows, j, w) & ~stars[i, w]
        while bits:
            price += prices[i, w * WORD + first_bit(bits)]
            bits &= bits - ONE_BIT
    return price


@leaf
def _offer(rows: Packed, stars: Words, flow: Flow, room: Room, i: int, goal: int) -> None:
    """Offer every person the way by record i, which is reached by whom it has from `came_from`."""
    n = flow.passed.size
    by = flow.came_from[i]
    least = ZERO if by < 0 else room.way[by - n]
    for j in range(n):
        if j == i or room.way[j] <= least or is_set(flow.senders[j], i):
            continue
        price = least
        if not is_set(flow.free[i], j):
            price += _missing(rows, stars, room.prices, i, j)
        if price < room.way[j] and price < room.way[goal]:
            room.way[j] = price
            flow.came_from[n + j] = i
    if flow.passed[i] > 0 and least < room.way[i]:
        room.way[i] = least
        flow.came_from[n + i] = i


@leaf
def _nearest(room: Room, goal: int) -> int:
    """Return the person to whom the way is cheapest of those not settled; -1 where none is left."""
    best, price = -1, room.way[goal]
    for j in range(room.way.size):
        if not room.settled[j] and room.way[j] < price:
            best, price = j, room.way[j]
    return best


@leaf
def _find_way(rows: Packed, stars: Words, flow: Flow, room: Room, record: int, goal: int) -> int:
    """Return what the cheapest way from a record to a person costs; write it into ``came_from``.

    A record goes on to any person that it is not paired with, for the stars that it lacks; a person
    to a record that is paired with it.
    """
    n, words = flow.passed.size, flow.free.shape[1]
    room.way[:] = FAR
    room.settled[:] = 0
    for w in range(words):
        flow.seen[0, w] = 0
    turn(flow.seen[0], record)
    flow.came_from[record] = -1
    _offer(rows, stars, flow, room, record, goal)
    person = wide(_nearest(room, goal))
    while person >= 0:
        room.settled[person] = 1
        if flow.passes and not is_set(flow.seen[0], person):
            turn(flow.seen[0], person)
            flow.came_from[person] = n + person
            _offer(rows, stars, flow, room, person, goal)
        for w in range(words):
            bits = flow.senders[person, w] & ~flow.seen[0, w]
            flow.seen[0, w] |= bits
            while bits:
                other = w * WORD + first_bit(bits)
                bits &= bits - ONE_BIT
                flow.came_from[other] = n + person
                _offer(rows, stars, flow, room, other, goal)
        person = wide(_nearest(room, goal))
    price: int = room.way[goal]
    return price


@leaf
def _show_less(rows: Packed, stars: Words, flow: Flow, i: int, j: int) -> None:
    """Suppress in record i what it lacks to fit person j, and note whom else it fits then."""
    for w in range(stars.shape[1]):
        stars[i, w] |= differing(rows, i, rows, j, w)
    for other in range(flow.passed.size):
        if (
            other != i
            and not is_set(flow.senders[other], i)
            and not is_set(flow.free[i], other)
            and fits(rows, stars, i, other)
        ):
            turn(flow.free[i], other)


@leaf
def _lead(rows: Packed, stars: Words, flow: Flow, room: Room, record: int, person: int) -> int:
    """Lead a unit from a record to a person the cheapest way; return what its stars cost."""
    n = flow.passed.size
    price = _find_way(rows, stars, flow, room, record, person)
    if price >= FAR:
        return price
    node = n + person
    while node != record:
        before = wide(flow.came_from[node])
        if before < n and node - n != before and not is_set(flow.free[before], node - n):
            _show_less(rows, stars, flow, before, node - n)
            room.marks[before] = CHANGED
        send(flow, before, node)
        node = before
    return price


@leaf
def _mark_neighbours(flow: Flow, marks: Flags, rng: np.random.Generator) -> None:
    """Mark every other row that is paired with one that changed."""
    for i in range(marks.size):
        if marks[i] == CHANGED:
            for j in range(marks.size):
                paired = is_set(flow.senders[j], i) | is_set(flow.senders[i], j)
                if paired and marks[j] == 0 and below(rng, 2 * ONE) == 0:
                    marks[j] = NEIGHBOUR


@leaf
def _add_cells(rows: Packed, stars: Words, flow: Flow, room: Room, i: int, cells: int) -> int:
    """Add the stars of a row to those to prune, with the pairs that need them; return how many."""
    room.needs[:] = 0
    for j in range(flow.passed.size):
        if is_set(flow.senders[j], i):
            for w in range(stars.shape[1]):
                bits = differing(rows, i, rows, j, w)
                while bits:
                    room.needs[w * WORD + first_bit(bits)] += 1
                    bits &= bits - ONE_BIT
    for w in range(stars.shape[1]):
        bits = stars[i, w] & ~rows.stars[i, w]
        while bits:
            b = w * WORD + first_bit(bits)
            bits &= bits - ONE_BIT
            room.cells[cells, 0], room.cells[cells, 1] = i, b
            room.cells[cells, 2] = room.needs[b]
            room.numbers[room.needs[b]] += 1
            cells += 1
    return cells


@leaf
def _to_prune(rows: Packed, stars: Words, flow: Flow, room: Room) -> int:
    """Write the stars of marked rows into `ordered`, least needed first; return how many."""
    cells = ZERO
    room.numbers[:] = 0
    for i in range(room.marks.size):
        if room.marks[i]:
            cells = _add_cells(rows, stars, flow, room, i, cells)
    before = ZERO
    for number in range(room.numbers.size):
        before += room.numbers[number]
        room.numbers[number] = before - room.numbers[number]
    for cell in range(cells):
        number = room.cells[cell, 2]
        at = room.numbers[number]
        room.numbers[number] += 1
        room.ordered[at, 0], room.ordered[at, 1] = room.cells[cell, 0], room.cells[cell, 1]
    return cells


@leaf
def _wipe_some(rows: Packed, stars: Words, flow: Flow, room: Room, rng: np.random.Generator) -> int:
    """Take stars from a row and some like it; return how many pairs fit no longer, shuffled."""
    kind = below(rng, 10 * ONE)
    parts = ONE if kind < 5 else 2 * ONE if kind < 8 else 4 * ONE
    first = below(rng, room.marks.size)
    room.marks[:] = 0
    _wipe(rows, stars, room.marks, first, parts, rng)
    for _ in range(below(rng, (MORE_ROWS + 1) * ONE)):
        other = wide(room.near[first, below(rng, room.near.shape[1])])
        _wipe(rows, stars, room.marks, other, parts, rng)
    broken = ZERO
    for i in range(room.marks.size):
        if room.marks[i]:
            broken = _break(rows, stars, flow, room, i, broken)
    for one in range(broken - 1, 0, -1):
        other = below(rng, one + 1)
        for side in range(2):
            kept = room.broken[one, side]
            room.broken[one, side] = room.broken[other, side]
            room.broken[other, side] = kept
    return broken


@leaf
def _try(
    rows: Packed, stars: Words, flow: Flow, room: Room, most: int, rng: np.random.Generator
) -> int:
    """Change some rows; return what all stars cost then, at once where that is above `most`."""
    broken = _wipe_some(rows, stars, flow, room, rng)
    price = price_of(rows, stars, room.prices)
    for number in range(broken):
        record, person = wide(room.broken[number, 0]), wide(room.broken[number, 1])
        price += _lead(rows, stars, flow, room, record, person)
        if price > most:
            return price
    _mark_neighbours(flow, room.marks, rng)
    cells = _to_prune(rows, stars, flow, room)
    prune(rows, stars, flow, room.ordered[:cells])
    return price_of(rows, stars, room.prices)


@leaf
def search(
    rows: Packed,
    stars: Words,
    flow: Flow,
    room: Room,
    trials: int,
    heat: float,
    unit: int,
    rng: np.random.Generator,
) -> int:
    """Change some rows again and again, and keep what costs little more; return what stars cost.

    A trial takes stars from a row and up to four like it, leads every pair that fits no longer the
    cheapest way, and prunes. One that costs more is kept with a chance of exp(-more / heat).

    Parameters
    ----------
    rows
        The rows.
    stars, flow
        What is suppressed, and pairs that fit, after `load`; overwritten.
    room
        From `room_for`; overwritten.
    trials
        How many changes are tried.
    heat
        In stars, at first; it falls to 0.
    unit
        What a star costs.
    rng
        What is drawn from.
    """
    price = price_of(rows, stars, room.prices)
    for trial in range(trials):
        _keep(room, stars, flow)
        tried = _try(rows, stars, flow, room, price + MOST_WORSE * unit, rng)
        warm = heat * unit * (1.0 - trial * 1.0 / trials)
        chance = np.exp((price - tried) * 1.0 / warm)
        if tried <= price or below(rng, DRAWS) < chance * DRAWS:
            price = tried
        else:
            _undo(room, stars, flow)
    return price
