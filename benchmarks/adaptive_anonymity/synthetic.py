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
