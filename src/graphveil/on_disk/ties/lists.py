"""Arcs into sorted neighbor lists on the disk: the same lists that a container has in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from graphveil.data.csr import Dropped
from graphveil.on_disk.ties.buckets import NODE_BITS, Buckets

INDICES, DEGREES = "indices", "degrees"
_NEIGHBOR = (1 << (NODE_BITS - 1)) - 1


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Arcs in buckets.

    Parameters
    ----------
    arcs
        How many, loops left out.
    loops
        How many loops were left out.
    cuts
        Those of the buckets.
    """

    arcs: int
    loops: int
    cuts: list[int]


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """How far neighbor lists are written.

    Parameters
    ----------
    buckets
        How many are in the lists.
    entries
        Entries of lists that are written: two an edge.
    arcs
        Distinct arcs, each counted at both of its ends.
    """

    buckets: int = 0
    entries: int = 0
    arcs: int = 0


class NeighborLists(NamedTuple):
    """Neighbor lists of which the disk holds the neighbors.

    Parameters
    ----------
    indptr
        int64, shape (n + 1,).
    indices
        int32, shape (2 m,), mapped into memory: pages are read when they are looked at.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]


def spread(arcs: Iterable[tuple[NDArray[np.int32], ...]], buckets: Buckets) -> Spread:
    """Write every arc in both directions, by the node that it begins with, and count loops.

    Parameters
    ----------
    arcs
        Sources and targets, some at a time.
    buckets
        The open files.
    """
    n = loops = 0
    for source, target in arcs:
        keys = np.empty(2 * source.size, dtype=np.int64)
        _pack(source, target, 0, keys[: source.size])
        _pack(target, source, 1, keys[source.size :])
        apart = source != target
        if not apart.all():
            loops += int(source.size - np.count_nonzero(apart))
            keys = keys[np.concatenate([apart, apart])]
        n += keys.size // 2
        buckets.add(keys)
    return Spread(arcs=n, loops=loops, cuts=buckets.cuts)


def _pack(
    first: NDArray[np.int32], second: NDArray[np.int32], turned: int, out: NDArray[np.int64]
) -> None:
    """Write one key an arc: where it begins, where it leads, whether it was turned."""
    out[:] = first
    out <<= NODE_BITS - 1
    out |= second
    out <<= 1
    out |= turned


def listed(buckets: Buckets, folder: Path, so_far: Listed) -> Iterator[Listed]:
    """Write the lists bucket by bucket, and yield how far they are before its keys are deleted.

    Parameters
    ----------
    buckets
        Files of keys of `spread`.
    folder
        Where the files `INDICES`, of int32, and `DEGREES`, of int64, are written.
    so_far
        What an interrupted run has noted; what it wrote behind that is written anew.
    """
    n = buckets.cuts[-1]
    if not so_far.buckets:
        np.zeros(n, dtype=np.int64).tofile(folder / DEGREES)
        (folder / INDICES).write_bytes(b"")
    degrees = np.memmap(folder / DEGREES, dtype=np.int64, mode="r+", shape=(n,))
    with (folder / INDICES).open("r+b") as file:
        file.truncate(4 * so_far.entries)
        file.seek(0, os.SEEK_END)
        for number, nodes, keys in buckets.taken(so_far.buckets):
            arcs = _count_distinct(keys)
            distinct = _without_repeats(np.right_shift(keys, 1, out=keys))
            counted = np.bincount((distinct >> (NODE_BITS - 1)) - nodes.start, minlength=len(nodes))
            degrees[nodes.start : nodes.stop] = counted
            distinct &= _NEIGHBOR
            distinct.astype(np.int32).tofile(file)
            file.flush()
            degrees.flush()
            so_far = Listed(
                buckets=number + 1,
                entries=so_far.entries + distinct.size,
                arcs=so_far.arcs + arcs,
            )
            del keys, distinct
            yield so_far


def _count_distinct(keys: NDArray[np.int64]) -> int:
    """Return how many distinct ones there are among sorted keys."""
    return int(np.count_nonzero(keys[1:] != keys[:-1])) + min(keys.size, 1)


def _without_repeats(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct ones of sorted keys."""
    first = np.ones(keys.size, dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys if first.all() else keys[first]


def dropped(counted: Spread, lists: Listed) -> Dropped:
    """Return what building the lists left out, as in memory.

    Every distinct arc stands at both of its ends, and so does every edge.
    """
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
