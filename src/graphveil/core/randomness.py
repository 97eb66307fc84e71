"""The only source of randomness: the operating system's entropy, or a seed given on purpose.

A method receives a `Randomness` and asks it for one named stream per purpose. Streams are
independent, so that drawing more in one place never shifts what another place sees, and so that
results do not depend on the number of threads.
"""

from __future__ import annotations

import hashlib
import operator
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import ParameterError


def _entropy() -> int:
    return secrets.randbits(256)


@dataclass(frozen=True, slots=True)
class Randomness:
    """Independent random streams, unpredictable unless a seed was given.

    `seed`: none draws 256 bits from the operating system. An integer >= 0 makes every stream, the
    new ids included, repeatable by anyone who knows it: a seed is a secret of the data's owner.

    >>> Randomness(seed=7).permutation(4).tolist() == Randomness(seed=7).permutation(4).tolist()
    True
    >>> Randomness().seeded
    False
    """

    seed: int | None = None
    _root: int = field(default_factory=_entropy, repr=False)

    def __post_init__(self) -> None:
        """Check the seed."""
        if self.seed is None:
            return
        try:
            object.__setattr__(self, "seed", operator.index(self.seed))
        except TypeError as error:
            raise ParameterError(
                f"seed={self.seed!r} is not an integer. Give one >= 0, or None for randomness "
                "from the operating system."
            ) from error
        if self.seed < 0:
            raise ParameterError(
                f"seed={self.seed} is negative. Give an integer >= 0, or None for randomness "
                "from the operating system."
            )

    @property
    def seeded(self) -> bool:
        """Whether a seed was given, so that the run can be repeated."""
        return self.seed is not None

    def stream(self, purpose: str) -> np.random.Generator:
        """Return the generator of this purpose: the same purpose gives the same stream anew.

        `purpose`: a name that nothing else in the same run uses, such as ``"roles"``.
        """
        key = self.secret(purpose)
        words = np.frombuffer(key, dtype=np.uint32)
        return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(words.tolist())))

    def secret(self, purpose: str) -> bytes:
        """Return 256 bits of this purpose, of which nobody learns the root or those of another.

        >>> len(Randomness().secret("keys of chunk 0"))
        32
        """
        root = self._root if self.seed is None else self.seed
        return hashlib.blake2b(f"{root}/{purpose}".encode(), digest_size=32).digest()

    def permutation(self, n: int) -> NDArray[np.int64]:
        """Return a uniform permutation of 0..n-1, for the ids of a release.

        Without a seed every key comes straight from the operating system: no generator's state
        stands between its entropy and the ids.
        """
        stream = self.stream("release ids")
        while True:
            if self.seed is None:
                keys = np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64)
            else:
                keys = stream.integers(0, 2**64, size=n, dtype=np.uint64, endpoint=False)
            order = np.argsort(keys, kind="stable")
            in_order = keys[order]
            if not np.any(in_order[1:] == in_order[:-1]):
                return order.astype(np.int64, copy=False)


def public_stream(seed: int) -> np.random.Generator:
    """Return the generator of a seed that is published: for what reads released numbers alone.

    >>> bool(public_stream(7).integers(100) == public_stream(7).integers(100))
    True
    """
    return np.random.Generator(np.random.PCG64DXSM(seed))


def public_words(seed: int, count: int, purpose: int = 0) -> Iterator[NDArray[np.uint64]]:
    """Yield words of 64 bits, so many at a time; `public_stream` makes its numbers of the first.

    `seed`: a whole number, at least 0; `count`: the words of each block; `purpose`: each purpose
    has words of its own; 0 has those of `public_stream`.

    >>> next(public_words(7, 2)).size
    2
    """
    bits = np.random.PCG64DXSM([seed, purpose] if purpose else seed)
    while True:
        yield bits.random_raw(count)
