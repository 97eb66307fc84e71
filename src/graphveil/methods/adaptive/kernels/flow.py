"""Pairs of records and persons as a flow, in bits.

The compatibility graph H of Choromanski, Jebara & Tang has an edge if record i, with its stars,
fits person j. The chosen graph G within H is a flow: record i sends one unit to every person it is
paired with, and a person who gets more than needed passes the rest to the own record. Node i is
record i, node n + j person j. The pair of a person and the own record is not stored.

Rows of n bits, 64 to a word, make a step of a search for rerouting paths O(n / 64). Removing a star
takes edges out of H; `pruning` does that as long as the flow can be rerouted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints, Words
from graphveil.core.kernels.leaf import leaf
from graphveil.methods.adaptive.kernels.planes import Packed, differing

PairMatrix = NDArray[np.int8]

WORD = 64
"""Bits of a word."""

NO_BIT: np.uint64 = np.uint64(0)
"""A word without bits."""

ONE_BIT: np.uint64 = np.uint64(1)
"""The lowest bit, in a type of the words."""

PART = 64
"""How many records are compared with all persons at a time, which bounds the memory of `fitting`.
"""

MOST_STEPS = 32
"""Times n: the length of the journal of rerouted steps. A star that more steps would free stays; a
larger value frees more of them and takes more memory."""

FREE, SENDERS, CHOSEN, FITTING = 0, 1, 2, 3
"""The index of ``Flow.words``: pairs that fit and are not chosen, by record (`FREE`) and by person
(`FITTING`); chosen pairs by record (`CHOSEN`) and by person (`SENDERS`). The two views of the
same pairs add up to 3."""


class Flow(NamedTuple):
    """Pairs that fit, which of them are chosen, and what is passed on; and scratch for searches.

    Parameters
    ----------
    words
        uint64, shape (4, n, words). Bit j of ``words[FREE, i]`` is set if record i fits person j
        and the pair is not chosen, and so is bit i of ``words[FITTING, j]``. Bit j of
        ``words[CHOSEN, i]`` is set if the pair is chosen, and so is bit i of ``words[SENDERS, j]``.
    passed
        int64, shape (n,): the units that person j passes on to the own record.
    passes
        1 if that may change, 0 if all degrees stay as they are.
    changed
        int8, shape (2n,): 1 for every node whose pairs have changed. Set here; cleared by
        `regular_search`.
    came_from
        int32, shape (2, 2n): scratch: the previous node on a path, from either end.
    seen
        uint64, shape (4, words): scratch: the records (0) and persons (1) to which a unit can go
        from the start, and the records (2) and persons (3) from which it can come to the end.
    queue
        int32, shape (2, 2n): scratch: the nodes to visit, from either end.
    lost
        int32, shape (n,): scratch: the persons that a record has lost.
    journal
        int32, shape (32 n, 2): scratch: the steps that can be undone.
    row_before
        uint64, shape (words,): scratch: the free pairs of a record before a star was removed.
    """

    words: Words
    passed: Ints
    passes: int
    changed: PairMatrix
    came_from: NDArray[np.int32]
    seen: Words
    queue: NDArray[np.int32]
    lost: NDArray[np.int32]
    journal: NDArray[np.int32]
    row_before: Words

    @property
    def free(self) -> Words:
        """The pairs that fit and are not chosen, by record: uint64, shape (n, words)."""
        words: Words = self.words[FREE]
        return words

    @property
    def senders(self) -> Words:
        """The pairs that are chosen, by person: uint64, shape (n, words)."""
        words: Words = self.words[SENDERS]
        return words


def flow_of(rows: Packed, passed: Ints, *, may_exceed: bool = True) -> Flow:
    """Return a flow, still to be filled by `load`.

    Parameters
    ----------
    rows
        The rows.
    passed
        int64, shape (n,): what every person passes on.
    may_exceed
        Whether degrees may come to differ from the levels.
    """
    n, words = rows.stars.shape[0], -(-rows.stars.shape[0] // WORD)
    return Flow(
        words=np.zeros((4, n, words), dtype=np.uint64),
        passed=passed.copy(),
        passes=int(may_exceed),
        changed=np.zeros(2 * n, dtype=np.int8),
        came_from=np.zeros((2, 2 * n), dtype=np.int32),
        seen=np.zeros((4, words), dtype=np.uint64),
        queue=np.zeros((2, 2 * n), dtype=np.int32),
        lost=np.zeros(n, dtype=np.int32),
        journal=np.zeros((MOST_STEPS * n, 2), dtype=np.int32),
        row_before=np.zeros(words, dtype=np.uint64),
    )


def cover(rows: Packed, pairs: PairMatrix, stars: Words) -> None:
    """Write into stars[i] the missing cells of row i and those that its pairs need suppressed.

    Parameters
    ----------
    rows
        The rows.
    pairs
        int8, shape (n, n): 1 if record i is to fit person j.
    stars
        uint64, shape (n, words), overwritten.
    """
    i, j = np.nonzero(pairs)
    i, j = i[i != j], j[i != j]
    stars[:] = rows.stars
    for w in range(stars.shape[1]):
        np.bitwise_or.at(stars[:, w], i, _differing(rows, i, j, w))


def _differing(rows: Packed, i: Ints, j: Ints, w: int) -> Words:
    """Return the columns of word w in which rows i and rows j do not agree, for arrays of rows."""
    bits: Words = rows.stars[i, w] | rows.stars[j, w]
    for p in range(rows.offsets[w], rows.offsets[w + 1]):
        bits |= rows.planes[i, p] ^ rows.planes[j, p]
    return bits


@leaf
def is_set(bits: Words, i: int) -> np.uint64:
    """Return bit i: 1 or 0."""
    bit: np.uint64 = (bits[i >> 6] >> np.uint64(i & 63)) & ONE_BIT
    return bit


@leaf
def turn(bits: Words, i: int) -> None:
    """Toggle bit i."""
    bits[i >> 6] ^= ONE_BIT << np.uint64(i & 63)


@leaf
def fits(rows: Packed, stars: Words, i: int, j: int) -> bool:
    """Return whether record i, with these stars, fits person j."""
    # The columns in which both rows differ, but the record shows its value.
    conflicts = NO_BIT
    for w in range(stars.shape[1]):
        conflicts |= differing(rows, i, rows, j, w) & ~stars[i, w]
    fits: bool = conflicts == NO_BIT
    return fits


@leaf
def turn_free(flow: Flow, i: int, j: int) -> None:
    """Toggle whether record i fits person j without being chosen, in both views."""
    turn(flow.words[FREE, i], j)
    turn(flow.words[FITTING, j], i)
    flow.changed[i] = 1
    flow.changed[flow.passed.size + j] = 1


@leaf
def turn_chosen(flow: Flow, i: int, j: int) -> None:
    """Toggle whether the pair of record i and person j is chosen, in both views."""
    turn(flow.words[CHOSEN, i], j)
    turn(flow.words[SENDERS, j], i)
    flow.changed[i] = 1
    flow.changed[flow.passed.size + j] = 1


def load(rows: Packed, stars: Words, pairs: PairMatrix, flow: Flow) -> None:
    """Fill a flow: which pairs fit with these stars, and which are chosen.

    Parameters
    ----------
    rows, stars
        The rows, and what is suppressed.
    pairs
        int8, shape (n, n): 1 for chosen pairs.
    flow
        From `flow_of`; its words are overwritten.
    """
    # Free pairs are those that fit and are not chosen; each kind is stored by record and by person.
    fit = np.empty_like(pairs)
    fitting(rows, stars, fit)
    np.fill_diagonal(fit, 0)
    fit &= 1 - pairs
    for kind, bits in ((FREE, fit), (CHOSEN, pairs)):
        flow.words[kind] = _words_of(bits)
        flow.words[3 - kind] = _words_of(bits.T)


def _words_of(bits: NDArray[np.int8]) -> Words:
    """Return rows of 0 and 1 as words, the first of 64 as the lowest bit."""
    n, words = bits.shape[0], -(-bits.shape[1] // WORD)
    padded = np.zeros((n, words * WORD // 8), dtype=np.uint8)
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)


def unload(flow: Flow, pairs: PairMatrix) -> None:
    """Write the chosen pairs into pairs, 1 or 0: int8, shape (n, n); nothing on the diagonal."""
    little = flow.words[CHOSEN].astype("<u8", copy=False).view(np.uint8)
    pairs[:] = np.unpackbits(little, axis=1, bitorder="little", count=pairs.shape[1])


@leaf
def send(flow: Flow, source: int, target: int) -> None:
    """Send a unit from one node to another along a residual arc.

    Between record and person of different rows that chooses a pair or gives it up. Between those of
    one row, the person passes on one unit more or less.
    """
    # Nodes of the same row: from person to record passes a unit on, the other way takes one back.
    n = flow.passed.size
    record, person = min(source, target), max(source, target) - n
    if record == person:
        flow.passed[record] += 1 if source > target else -1
        flow.changed[record] = 1
    else:
        # Otherwise the pair changes sides: a free one becomes chosen, or a chosen one free.
        turn_free(flow, record, person)
        turn_chosen(flow, record, person)


def fitting(rows: Packed, stars: Words, pairs: PairMatrix) -> None:
    """Write 1 into pairs[i, j] if record i fits person j, else 0; 1 for i = j.

    Parameters
    ----------
    rows, stars
        The rows, and what is suppressed.
    pairs
        int8, shape (n, n), overwritten.
    """
    n = stars.shape[0]
    persons = np.arange(n)
    for start in range(0, n, PART):
        # Compare a block of records with all persons: no shown cell may differ.
        records = np.arange(start, min(n, start + PART))[:, np.newaxis]
        conflict = np.zeros((records.size, n), dtype=np.bool_)
        for w in range(stars.shape[1]):
            conflict |= (_differing(rows, records, persons, w) & ~stars[records, w]) != 0
        pairs[start : start + PART] = ~conflict
    np.fill_diagonal(pairs, 1)
