"""Tasks that models learned from the release solve for held-back people.

A hidden item is recommended by factors; a label is predicted by classifiers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite
from graphveil.data.ids import as_text
from graphveil.evaluate.comparison import sparse
from graphveil.evaluate.metric import (
    Figure,
    Figures,
    wilson,
)

NO_TEST = (
    "requires test people who are not in the original. Use --test FILE, or test=DATA in Python"
)

UNIT = "share of test people"


def under(data: Bipartite, columns: NDArray[Any]) -> sparse.csr_array:
    """Return who has which of these features; others are omitted.

    >>> under(Bipartite.from_lists([["tea", "rye"]]), np.array(["oat", "tea"])).toarray().tolist()
    [[0, 1]]
    """
    position = {name: number for number, name in enumerate(columns.tolist())}
    own = as_text(data.feature_labels()).tolist()
    column = np.array([position.get(name, -1) for name in own], dtype=np.int64)[data.indices]
    kept = column >= 0
    ones = np.ones(int(kept.sum()), dtype=np.int8)
    shape = (data.n_users, columns.size)
    return sparse.csr_array((ones, (data.rows()[kept], column[kept])), shape=shape)


def correct_share(part: str, hits: int, size: int) -> Figures:
    """Yield the share of test people classified correctly; only that of the release is judged."""
    sample, judged = wilson(hits, size), part == "released"
    yield Figure(part, hits / size, UNIT, judged=judged, sample=sample)
