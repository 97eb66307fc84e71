"""Pairs of records and persons as a flow, in bits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import leaf
from graphveil.methods.adaptive.kernels.planes import Packed, differing

Ints = NDArray[np.int64]
PairMatrix = NDArray[np.int8]
Words = NDArray[np.uint64]

WORD = 64
NO_BIT: np.uint64 = np.uint64(0)
ONE_BIT: np.uint64 = np.uint64(1)
PART = 64
"""So many records are looked at in one go."""

MOST_STEPS = 32
"""Times n: a star that more steps would free stays."""

FREE, SENDERS, CHOSEN, FITTING = 0, 1, 2, 3
"""What stands in the words of a flow, see `Flow`; those of a record and a person make 3."""


class Flow(NamedTuple):
    """Pairs that fit, which of them are chosen, and what is passed on.

    Bit j of ``words[FREE, i]`` is set where record i fits person j and the pair is not chosen, and
    so is bit i of ``words[FITTING, j]``; bit i of ``words[SENDERS, j]`` where it is chosen, and so
    is bit j of ``words[CHOSEN, i]``. ``passed[j]`` is what person j passes on; `passes` is 1 where
    that may change, 0 where all degrees stay as they are. ``changed[v]`` is 1 for every node whose
    pairs have changed. The rest is scratch, twice where a search goes from both ends: the node
    before, whom it has seen (records, then persons), its queue; the persons that a record has lost,
    the steps that can be undone, and the row before.
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
        """The pairs that fit and are not chosen, by record."""
        words: Words = self.words[FREE]
        return words

    @property
    def senders(self) -> Words:
        """The pairs that are chosen, by person."""
        words: Words = self.words[SENDERS]
        return words


def flow_of(rows: Packed, passed: Ints, *, may_exceed: bool = True) -> Flow:
    """Return a flow, still to be filled by `load`; whether its degrees may come to differ."""
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
    """Write into stars[i] the missing cells of row i and those that its pairs need suppressed."""
    i, j = np.nonzero(pairs)
    i, j = i[i != j], j[i != j]
    stars[:] = rows.stars
    for w in range(stars.shape[1]):
        np.bitwise_or.at(stars[:, w], i, _differing(rows, i, j, w))


def _differing(rows: Packed, i: Ints, j: Ints, w: int) -> Words:
    """Return the columns of word w in which rows i and rows j do not agree, as `differing`."""
    bits: Words = rows.stars[i, w] | rows.stars[j, w]
    for p in range(rows.offsets[w], rows.offsets[w + 1]):
        bits |= rows.planes[i, p] ^ rows.planes[j, p]
    return bits


@leaf
def is_set(bits: Words, i: int) -> np.uint64:
    """Return bit i."""
    bit: np.uint64 = (bits[i >> 6] >> np.uint64(i & 63)) & ONE_BIT
    return bit


@leaf
def turn(bits: Words, i: int) -> None:
    """Set bit i where it is not set, and clear it where it is."""
    bits[i >> 6] ^= ONE_BIT << np.uint64(i & 63)


@leaf
def fits(rows: Packed, stars: Words, i: int, j: int) -> bool:
    """Whether record i, with these stars, fits person j."""
    shown = NO_BIT
    for w in range(stars.shape[1]):
        shown |= differing(rows, i, rows, j, w) & ~stars[i, w]
    fits: bool = shown == NO_BIT
    return fits


@leaf
def turn_free(flow: Flow, i: int, j: int) -> None:
    """Note that record i fits person j without being chosen where that was not so, or was."""
    turn(flow.words[FREE, i], j)
    turn(flow.words[FITTING, j], i)
    flow.changed[i] = 1
    flow.changed[flow.passed.size + j] = 1


@leaf
def turn_chosen(flow: Flow, i: int, j: int) -> None:
    """Choose the pair of record i and person j where that was not so; give it up where it was."""
    turn(flow.words[CHOSEN, i], j)
    turn(flow.words[SENDERS, j], i)
    flow.changed[i] = 1
    flow.changed[flow.passed.size + j] = 1


def load(rows: Packed, stars: Words, pairs: PairMatrix, flow: Flow) -> None:
    """Write which pairs fit and which are chosen."""
    fit = np.empty_like(pairs)
    fitting(rows, stars, fit)
    np.fill_diagonal(fit, 0)
    fit &= 1 - pairs
    for kind, bits in ((FREE, fit), (CHOSEN, pairs)):
        flow.words[kind] = _words_of(bits)
        flow.words[3 - kind] = _words_of(bits.T)


def _words_of(bits: NDArray[np.int8]) -> Words:
    """Return rows of 0 and 1 as words, the first of 64 the lowest bit."""
    n, words = bits.shape[0], -(-bits.shape[1] // WORD)
    padded = np.zeros((n, words * WORD // 8), dtype=np.uint8)
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)


def unload(flow: Flow, pairs: PairMatrix) -> None:
    """Write the chosen pairs into pairs, 1 or 0; nothing on the diagonal."""
    little = flow.words[CHOSEN].astype("<u8", copy=False).view(np.uint8)
    pairs[:] = np.unpackbits(little, axis=1, bitorder="little", count=pairs.shape[1])


@leaf
def send(flow: Flow, one: int, other: int) -> None:
    """Send a unit from one node to another: choose a pair, give one up, pass on more or less."""
    n = flow.passed.size
    record, person = min(one, other), max(one, other) - n
    if record == person:
        flow.passed[record] += 1 if one > other else -1
        flow.changed[record] = 1
    else:
        turn_free(flow, record, person)
        turn_chosen(flow, record, person)


def fitting(rows: Packed, stars: Words, pairs: PairMatrix) -> None:
    """Write 1 into pairs[i, j] where record i fits person j, else 0; 1 for i = j."""
    n = stars.shape[0]
    persons = np.arange(n)
    for start in range(0, n, PART):
        records = np.arange(start, min(n, start + PART))[:, np.newaxis]
        shown = np.zeros((records.size, n), dtype=np.bool_)
        for w in range(stars.shape[1]):
            shown |= (_differing(rows, records, persons, w) & ~stars[records, w]) != 0
        pairs[start : start + PART] = ~shown
    np.fill_diagonal(pairs, 1)
