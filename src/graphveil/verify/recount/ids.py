"""Whether published ids are 0..n-1, or integers from a key, in order; and whether order is random.

New ids must be a permutation as chance would give it: their order must reveal nothing.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.core.text import counted
from graphveil.verify.database import Database
from graphveil.verify.verdict import Check, fails, holds, judged

IDS, ORDER = "ids", "canonical order"


def ids_check(db: Database, table: str, column: str, *, keyed: bool) -> Check:
    """Return whether the column holds exactly 0..n-1, each once; keyed, any integers from 0 on.

    Parameters
    ----------
    table, column
        Names of this program, never of the release.
    keyed
        Whether the ids come from a key.
    """
    if keyed:
        return _keyed_ids(db, table, column)
    n, what = db.number(f"SELECT count(*) FROM {table}"), _one_of(table)
    if misplaced(db, table, column, keyed=False) is None:
        return holds(IDS, _all_ids(n, table))
    repeated = db.first(
        f"SELECT {column}, count(*) FROM {table} GROUP BY {column} HAVING count(*) > 1 "
        f"ORDER BY {column} LIMIT 1"
    )
    missing = db.first(
        f"SELECT i FROM range({n}) AS all_ids(i) WHERE i NOT IN (SELECT {column} FROM {table}) "
        "ORDER BY i LIMIT 1"
    )
    problems = []
    if repeated:
        problems.append(f"{what} {repeated[0]} appears {repeated[1]} times in {table}")
    if missing:
        problems.append(f"{what} {missing[0]} is missing among {counted(n, what)}")
    return judged(IDS, problems, _all_ids(n, table))


def _one_of(table: str) -> str:
    """Return what a row of a table is."""
    return {"people": "person"}.get(table, table.removesuffix("s"))


def _keyed_ids(db: Database, table: str, column: str) -> Check:
    n = db.number(f"SELECT count(*) FROM {table}")
    low = db.first(f"SELECT min({column}), count(DISTINCT {column}) FROM {table}") or (0, 0)
    if n and (low[0] < 0 or low[1] != n):
        return fails(
            IDS, f"{n - low[1]} of {counted(n, 'id')} are duplicates, or an id is negative"
        )
    return holds(IDS, f"{counted(n, 'id')} from a key, each once")


def misplaced(db: Database, table: str, column: str, *, keyed: bool) -> str | None:
    """Return the first row whose id is not in its place; None where there is none.

    The place of an id is its number, counted from 0. Ids from a key stand in ascending order.
    """
    if keyed:
        return _not_ascending(db, table, column)
    row = db.first(
        f"SELECT rowid + 1, {column} FROM {table} WHERE {column} <> rowid ORDER BY rowid LIMIT 1"
    )
    what = _one_of(table)
    return f"row {row[0]} of the {table} is {what} {row[1]}, which is out of place" if row else None


def _not_ascending(db: Database, table: str, column: str) -> str | None:
    row = db.first(
        f"SELECT number, id FROM (SELECT row_number() OVER () AS number, {column} AS id, "
        f"lag({column}) OVER () AS above FROM {table}) WHERE id <= above ORDER BY number LIMIT 1"
    )
    return f"row {row[0]} of the {table}, {row[1]}, is not in ascending order" if row else None


def _all_ids(n: int, table: str) -> str:
    if n > 1:
        return f"the {n} {table} are 0..{n - 1}, each once"
    return f"the one id in {table} is 0" if n else "no ids"


CHANCE = 3e-10
"""A count that chance gives more rarely speaks: three are looked at, 10^-9 in all."""

_EXACT_UP_TO = 40
"""The people up to whom tails are counted exactly; above, a bound is close to them."""


def telling_order(released: NDArray[np.int64], labels: NDArray[Any] | None) -> list[str]:
    """Return what the new ids say of the old order; nothing where chance explains it.

    Parameters
    ----------
    released
        int64, shape (n,): the published id of everybody, in the order of the original.
    labels
        The ids of the original where they are integers, in the same order; else None.

    Examples
    --------
    >>> telling_order(np.arange(30), None)[0]
    '29 of 29 consecutive pairs of the original are in the same order in the release'
    >>> telling_order(np.array([2, 0, 1]), np.array([2, 0, 1]))
    []
    """
    n = released.size
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(released, kind="stable")] = np.arange(n)
    problems = []
    ascents = int(np.count_nonzero(np.diff(rank) > 0))
    if n > 1 and tail_of_ascents(ascents, n) < CHANCE:
        same = f"{ascents} of {n - 1} consecutive pairs of the original are in the same order"
        problems.append(f"{same} in the release")
    fixed = int(np.count_nonzero(rank == np.arange(n)))
    if tail_of_equal(fixed) < CHANCE:
        problems.append(f"{fixed} of {counted(n, 'person')} have the same position in both")
    equal = 0 if labels is None else int(np.count_nonzero(labels == released))
    if tail_of_equal(equal) < CHANCE:
        problems.append(f"{equal} of {n} published ids equal the original id")
    return problems


def tail_of_equal(count: int) -> float:
    """Return at most how likely a uniform permutation has so many equal places, or more.

    The expected number of sets of f equal places is 1/f!, whatever the number of people.

    Examples
    --------
    >>> tail_of_equal(0), tail_of_equal(3)
    (1.0, 0.16666666666666666)
    """
    return 1 / math.factorial(min(count, 170))


def tail_of_ascents(ascents: int, n: int) -> float:
    """Return how likely a uniform permutation is as far from n/2 ascents, or farther, at most.

    Ascents are distributed as the whole part of a sum of n uniform numbers (Stanley, Eulerian
    partitions of a unit hypercube, 1977), a sum that is sub-Gaussian with variance n/12.

    Examples
    --------
    >>> tail_of_ascents(2, 3), tail_of_ascents(1, 3)
    (0.3333333333333333, 1.0)
    >>> tail_of_ascents(999, 1000) < 1e-99 < tail_of_ascents(470, 1000)
    True
    """
    low = min(ascents, n - 1 - ascents)
    if n <= _EXACT_UP_TO:
        below = sum(_eulerian(n)[: low + 1])
        return min(1.0, 2 * below / math.factorial(n))
    apart = max(n / 2 - (low + 1), 0.0)
    return min(1.0, 2 * math.exp(-6 * apart * apart / n))


@cache
def _eulerian(n: int) -> tuple[int, ...]:
    """Return how many permutations of n have 0, 1, ..., n-1 ascents."""
    row = [1]
    for size in range(2, n + 1):
        padded = [0, *row, 0]
        row = [(k + 1) * padded[k + 1] + (size - k) * padded[k] for k in range(size)]
    return tuple(row)
