"""Tables that are drawn: people of some types, six attributes, one column a value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

VALUES = (4, 3, 31, 36, 9, 18)
"""How many values each attribute has: 101 columns."""

TYPES = 60
LOYAL = 0.7
"""The chance that somebody has the value of the own type."""


def indicator_table(n: int, seed: int) -> NDArray[np.int32]:
    """Return n rows of 101 columns: a 1 for the value of each of six attributes.

    Everybody is of one of 60 types, the more frequent the lower its number, and has the type's
    value of an attribute with probability 0.7, else any, lower ones more often.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    frequency = 1.0 / np.arange(1, TYPES + 1)
    kind = rng.choice(TYPES, size=n, p=frequency / frequency.sum())
    columns = []
    for size in VALUES:
        weight = 1.0 / np.arange(1, size + 1)
        of_type = rng.choice(size, size=TYPES, p=weight / weight.sum())
        other = rng.choice(size, size=n, p=weight / weight.sum())
        value = np.where(rng.random(n) < LOYAL, of_type[kind], other)
        columns.append((value[:, np.newaxis] == np.arange(size)).astype(np.int32))
    return np.concatenate(columns, axis=1)


def network(n: int, seed: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return a table of n people as `indicator_table`, and how many ties each of them has.

    People have an inclination to tie, drawn from a lognormal law; a tie between two is as likely as
    the product of theirs. About 43 ties a person.
    """
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    inclination = rng.lognormal(0.0, 0.9, size=n)
    chance = np.outer(inclination, inclination)
    chance *= 43 * n / chance.sum()
    tied = np.triu(rng.random((n, n)) < np.minimum(chance, 1.0), 1)
    return indicator_table(n, seed), (tied | tied.T).sum(axis=1)
