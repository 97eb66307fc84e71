"""Keys of ties in files by ranges of nodes: written as they come, taken back one file at a time.

A key holds a node above 32 bits of whatever else is said of its tie. Each file is sorted when it
is taken, in memory, so that the files together are one sorted sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

BUCKET_KEYS = 1 << 24
"""The keys of a file, about: 8 bytes each, of which one file is in memory."""

MOST_BUCKETS = 512
"""So many files are open at once, at most."""

NODE_BITS = 32


def cuts_of(sample: NDArray[np.int64], n_keys: int, n_nodes: int, bucket_keys: int) -> list[int]:
    """Return the first node of every bucket, and the number of nodes behind them.

    Parameters
    ----------
    sample
        int64, in order: the nodes of some keys, from all over them.
    n_keys, n_nodes
        How many keys there are, about, and nodes.
    bucket_keys
        The keys of a bucket, about. A node's keys are never divided.

    Examples
    --------
    >>> cuts_of(np.array([0, 1, 2, 3, 4, 5, 6, 7]), 80, 9, 20)
    [0, 2, 4, 6, 9]
    """
    n_buckets = min(MOST_BUCKETS, max(1, -(-n_keys // bucket_keys)))
    if not sample.size:
        return [0, n_nodes]
    inner = sample[np.arange(1, n_buckets) * sample.size // n_buckets]
    cuts: list[int] = np.unique(np.concatenate([[0], inner, [n_nodes]])).tolist()
    return cuts


class Buckets:
    """Files of keys, one a range of nodes.

    Parameters
    ----------
    folder
        Where the files lie.
    cuts
        The first node of every bucket, and the number of nodes behind them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as name:
    ...     buckets = Buckets(Path(name), [0, 2, 4])
    ...     with buckets:
    ...         buckets.add(np.array([3 << 32, 1 << 32, 0, 2 << 32]))
    ...     [(keys >> 32).tolist() for _, _, keys in buckets.taken()]
    [[0, 1], [2, 3]]
    """

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

    def add(self, keys: NDArray[np.int64]) -> None:
        """Write some keys, which are put in order here."""
        keys.sort()
        ends = np.searchsorted(keys, self._ends).tolist()
        for file, (start, end) in zip(self._files, pairwise([0, *ends]), strict=True):
            if end > start:
                _write_whole(file, keys[start:end])

    def taken(self, start: int = 0) -> Iterator[tuple[int, range, NDArray[np.int64]]]:
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


def _write_whole(file: IO[bytes], keys: NDArray[np.int64]) -> None:
    """Write all of some keys: the system may take less at once."""
    content = memoryview(keys.data).cast("B")
    while content:
        content = content[file.write(content) :]
