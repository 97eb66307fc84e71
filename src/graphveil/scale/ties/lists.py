"""Arcs into sorted neighbor lists on disk: the same lists that a container has in memory.

Keys go to files by ranges of nodes; each file is sorted in memory when it is taken back. A key
holds a node above 32 bits of whatever else is known of its edge.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.data.csr import Dropped

BUCKET_KEYS = 1 << 24
"""About how many keys a file has: 8 bytes each, and one file is in memory at a time."""

MOST_BUCKETS = 512
"""The most files that are open at a time."""

NODE_BITS = 32
"""The bits of the lower half of a key; the upper half has the node that the key begins with."""


def cuts_of(sample: Ints, n_keys: int, n_nodes: int, bucket_keys: int) -> list[int]:
    """Return the first node of every bucket, and the number of nodes after the last.

    `sample`: nodes of some keys, in order; `n_keys`: how many keys there are. Quantiles of the
    sample give buckets of nearly equal size; the keys of a node are never divided.
    """
    n_buckets = min(MOST_BUCKETS, max(1, -(-n_keys // bucket_keys)))
    if not sample.size:
        return [0, n_nodes]
    inner = sample[np.arange(1, n_buckets) * sample.size // n_buckets]
    cuts: list[int] = np.unique(np.concatenate([[0], inner, [n_nodes]])).tolist()
    return cuts


class Buckets:
    """Files of keys, one per range of nodes; `cuts`: first nodes, then the number of nodes."""

    def __init__(self, folder: Path, cuts: list[int]) -> None:
        self.folder = folder
        self.cuts = cuts
        self._ends = np.array(cuts[1:], dtype=np.int64) << NODE_BITS
        self._files: list[IO[bytes]] = []
        self._stack = ExitStack()

    def __len__(self) -> int:
        """Return the number of buckets."""
        return len(self.cuts) - 1

    def path(self, number: int) -> Path:
        """Return the file of a bucket."""
        return self.folder / f"keys-{number:04d}"

    def __enter__(self) -> Self:
        """Open the files to be written."""
        opened = (self.path(number).open("wb", buffering=0) for number in range(len(self)))
        self._files = [self._stack.enter_context(file) for file in opened]
        return self

    def __exit__(self, *error: object) -> None:
        """Close the files."""
        self._stack.close()
        self._files = []

    def add(self, keys: Ints) -> None:
        """Write some keys, which are put in order here."""
        # Sorted keys fall into buckets as consecutive pieces.
        keys.sort()
        ends = np.searchsorted(keys, self._ends).tolist()
        for file, (start, end) in zip(self._files, pairwise([0, *ends]), strict=True):
            content = memoryview(keys[start:end].data).cast("B")
            while content:  # the system may take less at once
                content = content[file.write(content) :]

    def taken(self, start: int = 0) -> Iterator[tuple[int, range, Ints]]:
        """Yield every bucket's number, its nodes and its keys in order, from one bucket on.

        A file is deleted when the next bucket is asked for.
        """
        for number in range(start, len(self)):
            path = self.path(number)
            keys = np.fromfile(path, dtype=np.int64)
            keys.sort()
            yield number, range(*self.cuts[number : number + 2]), keys
            del keys
            path.unlink()


INDICES, DEGREES = "indices", "degrees"
_NEIGHBOR = (1 << (NODE_BITS - 1)) - 1
"""The bits of the neighbor in a key, above the bit that says whether the arc was turned."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Arcs in buckets."""

    arcs: int
    loops: int
    cuts: list[int]


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """How far neighbor lists are written."""

    buckets: int = 0
    entries: int = 0
    arcs: int = 0


class NeighborLists(NamedTuple):
    """Neighbor lists whose `indices` are mapped from the disk: pages are read when looked at."""

    indptr: Ints
    indices: NDArray[np.int32]


def spread(arcs: Iterable[tuple[NDArray[np.int32], ...]], buckets: Buckets) -> Spread:
    """Write every arc in both directions, by the node that it begins with, and count loops.

    `arcs`: int32 sources and targets, some at a time.
    """
    n = loops = 0
    for source, target in arcs:
        # Both directions of each arc, the second one marked as turned.
        keys = np.empty(2 * source.size, dtype=np.int64)
        _pack(source, target, 0, keys[: source.size])
        _pack(target, source, 1, keys[source.size :])
        # Self-loops are counted and dropped.
        apart = source != target
        if not apart.all():
            loops += int(source.size - np.count_nonzero(apart))
            keys = keys[np.concatenate([apart, apart])]
        n += keys.size // 2
        buckets.add(keys)
    return Spread(arcs=n, loops=loops, cuts=buckets.cuts)


def _pack(first: NDArray[np.int32], second: NDArray[np.int32], turned: int, out: Ints) -> None:
    """Write one key per arc: where it begins, where it leads, whether it was turned."""
    out[:] = first
    out <<= NODE_BITS - 1
    out |= second
    out <<= 1
    out |= turned


def listed(buckets: Buckets, folder: Path, so_far: Listed) -> Iterator[Listed]:
    """Write the lists bucket by bucket, and yield how far they are before the keys are deleted.

    What an interrupted run wrote after its last note is written again.
    """
    n = buckets.cuts[-1]
    if not so_far.buckets:
        np.zeros(n, dtype=np.int64).tofile(folder / DEGREES)
        (folder / INDICES).write_bytes(b"")
    degrees = np.memmap(folder / DEGREES, dtype=np.int64, mode="r+", shape=(n,))
    with (folder / INDICES).open("r+b") as file:
        # Cut off what an interrupted run wrote after its last note.
        file.truncate(4 * so_far.entries)
        file.seek(0, os.SEEK_END)
        for number, nodes, keys in buckets.taken(so_far.buckets):
            # Distinct arcs; then without the direction bit, distinct entries.
            arcs = int(np.count_nonzero(keys[1:] != keys[:-1])) + min(keys.size, 1)
            distinct = _without_repeats(np.right_shift(keys, 1, out=keys))
            # Degrees of the nodes of this bucket, and their lists, which are sorted by neighbor.
            counted = np.bincount((distinct >> (NODE_BITS - 1)) - nodes.start, minlength=len(nodes))
            degrees[nodes.start : nodes.stop] = counted
            distinct &= _NEIGHBOR
            distinct.astype(np.int32).tofile(file)
            # Both are on disk before the progress is noted.
            file.flush()
            degrees.flush()
            so_far = Listed(
                buckets=number + 1, entries=so_far.entries + distinct.size, arcs=so_far.arcs + arcs
            )
            del keys, distinct
            yield so_far


def _without_repeats(keys: Ints) -> Ints:
    """Return the distinct ones of sorted keys."""
    first = np.ones(keys.size, dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys if first.all() else keys[first]


def dropped(counted: Spread, lists: Listed) -> Dropped:
    """Return what building the lists omitted, as in memory."""
    arcs, edges = lists.arcs // 2, lists.entries // 2
    return Dropped(counted.loops, counted.arcs - arcs, arcs - edges)


def mapped(folder: Path) -> NeighborLists:
    """Return the lists that were written into a folder, their neighbors mapped into memory."""
    degrees = np.fromfile(folder / DEGREES, dtype=np.int64)
    indptr = np.zeros(degrees.size + 1, dtype=np.int64)
    np.cumsum(degrees, out=indptr[1:])
    if not indptr[-1]:
        return NeighborLists(indptr, np.empty(0, dtype=np.int32))
    return NeighborLists(indptr, np.memmap(folder / INDICES, dtype=np.int32, mode="r"))
