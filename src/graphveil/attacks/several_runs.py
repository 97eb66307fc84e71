"""Whose record is whose, for someone who runs the method several times on the original table.

The cells that each run hides of a person say how likely the published run hid them; records are
given to people, one each, so that all of it is as likely as can be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.data.codes import SUPPRESSED
from graphveil.measures.matchings import NodePairs

PRIOR = 0.5
"""Runs that hid a cell, and runs that did not, before the first one is seen."""

MOST_PEOPLE = 3_000
"""Up to so many people: the assignment looks at all of them with all records."""

_BLOCK = 1 << 16


def log_chances(
    pairs: NodePairs, records: NDArray[np.int32], runs: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return how likely every record that fits a person is theirs, as a logarithm.

    Parameters
    ----------
    pairs
        Records and the people whom they fit.
    records
        int32, shape (n, columns): the published cells.
    runs
        bool, shape (runs, n, columns): which cells every run hid of every person.

    Examples
    --------
    >>> pairs = NodePairs(np.array([0, 2, 4]), np.array([0, 1, 0, 1]))
    >>> hidden = np.array([[[True], [False]]])
    >>> made = log_chances(pairs, np.array([[-1], [3]]), hidden)
    >>> bool(made[0] > made[1]), bool(made[3] > made[2])
    (True, True)
    """
    hiding = (runs.sum(axis=0) + PRIOR) / (len(runs) + 2 * PRIOR)
    odds, shown = np.log(hiding) - np.log1p(-hiding), np.log1p(-hiding).sum(axis=1)
    hidden, owners = records == SUPPRESSED, pairs.records
    made: NDArray[np.float64] = shown[pairs.indices]
    for start in range(0, owners.size, _BLOCK):
        some = slice(start, start + _BLOCK)
        made[some] += (hidden[owners[some]] * odds[pairs.indices[some]]).sum(axis=1)
    return made


def given_records(
    pairs: NodePairs, chances: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the record that everybody is given, one each.

    Parameters
    ----------
    pairs
        Records and the people whom they fit; some full assignment fits.
    chances
        As `log_chances` gives them.
    rng
        Draws among equally likely ones: who stands where does not count.

    Examples
    --------
    >>> pairs = NodePairs(np.array([0, 2, 4]), np.array([0, 1, 0, 1]))
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> given_records(pairs, np.log([0.9, 0.8, 0.8, 0.1]), rng).tolist()
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  heavy: not for help

    order, shuffled = rng.permutation(pairs.n), rng.permutation(pairs.n)
    gain = np.full((pairs.n, pairs.n), chances.min() - pairs.n * (np.ptp(chances) + 1))
    gain[order[pairs.indices], shuffled[pairs.records]] = chances
    people, records = linear_sum_assignment(gain, maximize=True)
    given = np.empty(pairs.n, dtype=np.int64)
    given[np.argsort(order)[people]] = np.argsort(shuffled)[records]
    return given


def hits_of(given: NDArray[np.int64], records: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return how often everybody has the own record, equal ones being shared.

    Parameters
    ----------
    given
        int64, shape (n,): whose record everybody is given; that of person i is record i.
    records
        int32, shape (n, columns): the published cells.

    Examples
    --------
    >>> hits_of(np.array([1, 0, 2]), np.array([[-1], [-1], [3]])).tolist()
    [0.5, 0.5, 1.0]
    """
    alike, sizes = np.unique(records, axis=0, return_inverse=True, return_counts=True)[1:]
    hits: NDArray[np.float64] = (alike[given] == alike) / sizes[alike]
    return hits
