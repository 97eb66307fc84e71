"""What theorems say for one's own data: bounds on epsilon, on hidden cells, and on leaked pairs.

Each function returns rows for the owner of the data; nothing is released.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import binom

from graphveil.core.errors import InfeasibleError, ParameterError, UsageError
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows, Setting
from graphveil.data import Bipartite, Graph, Table
from graphveil.data.kinds import as_container
from graphveil.evaluate.comparison import TableComparison
from graphveil.evaluate.measuring import comparison_of
from graphveil.methods.adaptive.bipartite import Solver
from graphveil.methods.adaptive.levels_and_weights import checked_levels
from graphveil.methods.adaptive.problem import UNIT
from graphveil.methods.noise.cells import cells_of, number_of_cells
from graphveil.methods.noisy_cells.noisy import entries_of_one
from graphveil.release import Release

__all__ = [
    "after_leaks",
    "epsilon_to_keep",
    "least_epsilon",
    "most_jaccard",
    "of",
    "stars_at_least",
]


def __dir__() -> list[str]:
    """Return the names that are for users."""
    return __all__


MOST_ROWS = 5_000
"""Rows are compared in pairs: more would take too much memory."""

COUNT_SHARE, COUNT_MOST = 0.05, 0.1
"""What asymmetric-response spends on its count by default: a share of epsilon, and at most this."""


def epsilon_to_keep(data: Any, share: float = 0.9) -> Rows:
    """Return which epsilon keeps a share of the edges or entries on average, in closed form.

    Parameters
    ----------
    data
        A `Graph` or `Bipartite`, or an object of another library that holds one.
    share
        The share of the edges or entries that stay, above 0 and below 1.

    Returns
    -------
    Rows
        For ``asymmetric-response`` (with its default part for the count, as if the count had no
        noise) and ``randomized-response``: epsilon, and the share of the released edges that are
        false on average.

    Raises
    ------
    ParameterError
        Where the share is out of range.
    InfeasibleError
        Where no cell is 1, or more than half of them are.

    Notes
    -----
    With m of N cells equal to 1, asymmetric-response keeps ``e^x / (N/m - 1 + e^x)`` of them where
    x is the part of epsilon for a cell, and publishes m cells on average. Randomized response keeps
    ``e^x / (1 + e^x)``, and publishes ``(N - m) / (1 + e^x)`` false ones.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    >>> rows = epsilon_to_keep(ring, 0.5)
    >>> [(row.part, round(row.value, 3)) for row in rows if row.unit == "epsilon"]
    [('asymmetric-response: epsilon', 0.0), ('randomized-response: epsilon', 0.0)]
    """
    container, ones, cells = _cells(data)
    _check_share("share", share)
    odds = math.log(share / (1 - share))
    entries = entries_of_one(container)
    needed = entries * max(odds + math.log(cells / ones - 1), 0.0)
    counted = needed / (1 - COUNT_SHARE)
    if counted * COUNT_SHARE > COUNT_MOST:
        counted = needed + COUNT_MOST
    made_up = (cells - ones) * (1 - share)
    answers = (
        ("asymmetric-response", counted, 1 - share),
        ("randomized-response", entries * max(odds, 0.0), made_up / (made_up + share * ones)),
    )
    rows = []
    for method, epsilon, false in answers:
        rows += [
            _row("epsilon to keep edges", f"{method}: epsilon", epsilon, "epsilon"),
            _row("epsilon to keep edges", f"{method}: false of the released", false, "share"),
        ]
    return Rows(rows)


def least_epsilon(data: Any, jaccard: float = 0.5, *, delta: float = 0.05) -> Rows:
    """Return lower bounds on the epsilon with which a release is so similar to the data.

    Parameters
    ----------
    data
        As of `epsilon_to_keep`.
    jaccard
        The Jaccard index of the edges or entries of release and data, above 0 and below 1.
    delta
        Below the first bound, randomized response reaches the index with at most this probability.

    Returns
    -------
    Rows
        ``randomized response``: as Theorem 4.1 asks, by quantiles of its two counts, since the
        theorem as printed is false. ``any mechanism``: Theorem 4.3, for every mechanism with
        epsilon for one edge, whose mean Jaccard index is at least this for every graph with at most
        one edge more; 0 where it says nothing.

    Raises
    ------
    ParameterError
        Where a parameter is out of range.
    InfeasibleError
        Where no cell is 1, or more than half of them are.

    Notes
    -----
    Theorems 4.1 and 4.3 of Esfandiari et al., *Smooth Anonymity for Sparse Graphs*; see
    its page under papers for what is wrong with the first.

    Examples
    --------
    >>> sparse = Graph.from_edges([0], [1], n=1000)
    >>> [round(row.value, 2) for row in least_epsilon(sparse, 0.5)]
    [11.4, 9.66]
    """
    container, ones, cells = _cells(data)
    _check_share("jaccard", jaccard)
    _check_share("delta", delta)
    low, high = 0.0, 64.0
    if most_jaccard(ones, cells, 0.0, delta=delta) >= jaccard:
        high = 0.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if most_jaccard(ones, cells, middle, delta=delta) >= jaccard:
            high = middle
        else:
            low = middle
    any_mechanism = math.log(jaccard**2 * cells / (4 * (ones + 1)))
    question, entries = "least epsilon for a Jaccard index", entries_of_one(container)
    rows = [_row(question, "randomized response", entries * low, "epsilon")]
    if entries > 1:
        why = "the theorem adds one entry, but a change of a value changes two"
        return Rows([*rows, Row(release="theory", question=question, reason=why)])
    return Rows([*rows, _row(question, "any mechanism", max(any_mechanism, 0.0), "epsilon")])


SHARES, LEVELS = (0.5, 0.9, 0.99), (2, 5, 10)
"""What is asked where nothing else is."""


def of(data: Any) -> Rows:
    """Return the answers for some data: for shares of 50, 90 and 99%, or levels of 2, 5 and 10.

    Parameters
    ----------
    data
        A `Graph`, `Bipartite` or `Table`, or an object of another library that holds one.

    Raises
    ------
    InfeasibleError
        Where the closed forms do not apply, or there are too many rows.

    Examples
    --------
    >>> [row.question for row in of(Table.from_columns({"age": [1, 2]}))][:2]
    ['fewest hidden cells at level 2', 'fewest hidden cells at level 2']
    """
    container = as_container(data, (Graph, Bipartite, Table), wanted_by="theory")
    if isinstance(container, Table):
        asked = [
            (f"at level {one}", stars_at_least(container, one))
            for one in LEVELS
            if one <= container.n_rows
        ]
    else:
        asked = [(f"({one:.0%})", epsilon_to_keep(container, one)) for one in SHARES]
        asked += [(f"of {one}", least_epsilon(container, one)) for one in SHARES]
    return Rows(
        dataclasses.replace(row, question=f"{row.question} {words}")
        for words, rows in asked
        for row in (*rows, *rows.missing)
    )


def most_jaccard(ones: int, cells: int, epsilon: float, *, delta: float) -> float:
    """Return what the Jaccard index of randomized response exceeds with at most this probability.

    Kept ones and published zeros are binomial with ``1 - q`` and ``q = 1 / (1 + e^epsilon)``. Each
    is on the wrong side of its quantile with probability delta / 2 at most.
    """
    flip = 1 / (1 + math.exp(epsilon))
    kept = float(binom.isf(delta / 2, ones, 1 - flip))
    false = float(binom.ppf(delta / 2, cells - ones, flip))
    return kept / (ones + false)


def stars_at_least(data: Any, levels: Any, *, release: Release[Any] | None = None) -> Rows:
    """Return how many cells any release at these levels hides at least, and how far one is above.

    Parameters
    ----------
    data
        A `Table`, or an object of another library that holds one: at most 5,000 rows.
    levels
        The level of everybody, or one for each row.
    release
        A release of it by `Adaptive` or `ClusterK`; None for the bounds alone.

    Returns
    -------
    Rows
        ``any release``: the record of a person fits as many others as the level asks for, so it
        hides at least as many cells as separate the person from the last of the nearest ones.
        ``each record fits exactly its level``: after Theorem 1, the fewest differing cells of all
        assignments (the first iteration of Algorithm 1) over the largest level less one. With a
        release: the cells that it hides in addition to missing ones, and how many times the bound
        that is.

    Raises
    ------
    InfeasibleError
        Where a level exceeds the number of rows, or there are more than 5,000 rows.

    Notes
    -----
    Theorem 1 of Choromanski, Jebara and Tang is about graphs in which each record fits exactly as
    many persons as its level. Releases may let records fit more, and can then hide fewer cells than
    the second bound.

    Examples
    --------
    >>> table = Table.from_columns({"age": [1, 1, 2, 2], "town": [1, 2, 3, 3]})
    >>> [(row.part, row.value) for row in stars_at_least(table, 2)]
    [('any release', 2.0), ('each record fits exactly its level', 2.0)]
    """
    table = cast("Table", as_container(data, (Table,), wanted_by="theory"))
    n = _rows_in_pairs(table)
    given = np.full(n, levels) if np.ndim(levels) == 0 else levels
    needs = checked_levels(given, n) - 1
    codes = np.ascontiguousarray(table.codes)
    bounds = {"any release": _by_row(codes, needs), "each record fits exactly its level": 0.0}
    if needs.any():
        solver = Solver(np.ascontiguousarray(codes.T), needs + 1)
        prices = np.where(codes < 0, 0, UNIT).astype(np.int64)
        chosen = solver.cheapest(prices)
        differing = int(solver.costs(prices)[chosen > 0].sum()) // UNIT
        bounds["each record fits exactly its level"] = math.ceil(differing / int(needs.max()))
    question = "fewest hidden cells"
    rows = [_row(question, part, float(value), "cells") for part, value in bounds.items()]
    if release is not None:
        rows += _above(table, release, bounds["any release"])
    return Rows(rows)


def _by_row(codes: NDArray[np.int32], needs: NDArray[np.int64]) -> float:
    """Return the sum over rows of the distance to the last of the nearest rows that they need."""
    total = 0
    for row, need in zip(codes, needs.tolist(), strict=True):
        differing = np.count_nonzero((codes != row) & (row >= 0), axis=1)
        total += int(np.partition(differing, need)[need])  # the row itself is at distance 0
    return float(total)


def _above(table: Table, release: Release[Any], bound: float) -> Iterator[Row]:
    pair = comparison_of(release, table, Randomness(seed=0), wanted_by="theory")
    if not isinstance(pair, TableComparison):
        raise UsageError("the release is not of a table. Give a release of this table.")
    hidden = float(np.count_nonzero((pair.after[pair.position] < 0) & (pair.before >= 0)))
    yield _row("hidden cells", "release", hidden, "cells")
    if bound:
        yield _row("hidden cells", "times the bound of any release", hidden / bound, "ratio")
    elif not hidden:
        yield _row("hidden cells", "times the bound of any release", 1.0, "ratio")


def after_leaks(
    release: Release[Any], data: Any, leaked: int, *, draws: int = 200, seed: int | None = None
) -> Rows:
    """Return how many records everybody may still own once some people's own records are known.

    It is counted, not claimed: in the pairs of person and record that fit the data, those that are
    in no full assignment with the known pairs fall away. Lemmas 4.3 and 4.5 say that at least the
    level less the known pairs remain, if classes are equal or every pair fits both ways.

    Parameters
    ----------
    release
        A release of a table in which cells are suppressed, by `Adaptive`, `ClusterK` or another.
    data
        The table that it was made from.
    leaked
        How many people's own records the attacker knows.
    draws
        How many sets of known people are tried; all of them where there are no more.
    seed
        Makes the draws repeatable.

    Returns
    -------
    Rows
        The fewest records that remain for anybody else, and for the mean person, before and after:
        the worst of the sets that were tried.

    Raises
    ------
    ParameterError
        Where everybody is known, or nobody is drawn.
    UsageError
        Where the release is of other data, or has no linkage.

    Examples
    --------
    >>> import warnings
    >>> from graphveil import ClusterK
    >>> table = Table.from_columns({"age": [1, 2, 3, 7, 8, 9]}, person="row")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     release = ClusterK(k=3).anonymize(table, seed=1)
    >>> rows = after_leaks(release, table, leaked=1)
    >>> rows["records after leaks", "fewest"].value >= 2
    True
    """
    table = cast("Table", as_container(data, (Table,), wanted_by="theory"))
    pair = comparison_of(release, table, Randomness(seed=0), wanted_by="theory")
    if not isinstance(pair, TableComparison):
        raise UsageError("the release is not of a table. Give a release of a table.")
    n = _rows_in_pairs(table)
    if not 0 <= leaked < n:
        raise ParameterError(f"leaked={leaked} is not from 0 to {n - 1}. Leave a person unknown.")
    if draws < 1:
        raise ParameterError(f"draws={draws} is below 1. Give a number of sets of known people.")
    fits = fitting(pair.after[pair.position], pair.before)
    every = math.comb(n, leaked) <= draws
    before = allowed(fits, np.empty(0, dtype=np.int64))
    fewest, mean = n, float(n)
    for known in _sets(n, leaked, draws, Randomness(seed=seed), every=every):
        left = allowed(fits, known)
        unknown = np.setdiff1d(np.arange(n), known)
        fewest = min(fewest, int(left[unknown].min()))
        mean = min(mean, float(left[unknown].mean()))
    tried = math.comb(n, leaked) if every else draws
    setting = Setting(known=leaked)
    question, how = "records after leaks", "exact" if every else "sampled"
    return Rows(
        Row(
            release="theory",
            question=question,
            part=part,
            setting=setting,
            value=float(value),
            unit="records",
            direction="higher is better",
            known="exact" if part.startswith("before") else how,  # type: ignore[arg-type]
            sample_size=None if part.startswith("before") else tried,
        )
        for part, value in (
            ("before: fewest", int(before.min())),
            ("before: mean", float(before.mean())),
            ("fewest", fewest),
            ("mean", mean),
        )
    )


def _sets(
    n: int, leaked: int, draws: int, randomness: Randomness, *, every: bool
) -> Iterator[NDArray[np.int64]]:
    if every:
        yield from (np.array(one, dtype=np.int64) for one in combinations(range(n), leaked))
        return
    rng = randomness.stream("leaks")
    for _ in range(draws):
        yield np.sort(rng.choice(n, size=leaked, replace=False))


def fitting(released: NDArray[np.int32], original: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which record may be whose: every cell that it shows is the person's.

    >>> fitting(np.array([[1], [-1]]), np.array([[1], [2]])).tolist()
    [[True, False], [True, True]]
    """
    return np.stack([((row < 0) | (original == row)).all(axis=1) for row in released])


def allowed(fits: NDArray[np.bool_], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for how many records each person is in a full assignment with the known pairs.

    A pair of a record and a person is in a full assignment if the step from the one to the other
    is on a cycle: the true assignment is then turned along it.

    >>> ring = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    >>> allowed(ring, np.array([], dtype=np.int64)).tolist(), allowed(ring, np.array([0])).tolist()
    ([2, 2, 2], [1, 1, 1])
    """
    free = np.ones(len(fits), dtype=np.bool_)
    free[known] = False
    steps = fits & free[:, None] & free[None, :]
    _, part = connected_components(csr_array(steps), directed=True, connection="strong")
    counted: NDArray[np.int64] = (steps & (part[:, None] == part[None, :])).sum(axis=0)
    counted[known] = 1
    return counted


def _cells(data: Any) -> tuple[Graph | Bipartite, int, int]:
    """Return the data, how many of its cells are 1, and how many there are."""
    container = cast(
        "Graph | Bipartite", as_container(data, (Graph, Bipartite), wanted_by="theory")
    )
    ones, cells = int(cells_of(container).size), number_of_cells(container)
    if not 0 < 2 * ones <= cells:
        raise InfeasibleError(
            f"{ones:,} of {cells:,} cells are 1. The closed forms need at least one, and at most "
            "half of them."
        )
    return container, ones, cells


def _rows_in_pairs(table: Table) -> int:
    """Return how many rows there are; refuse more than can be compared in pairs."""
    if table.n_rows > MOST_ROWS:
        rows = f"{table.n_rows:,} rows exceed the {MOST_ROWS:,}"
        raise InfeasibleError(f"{rows} that are compared in pairs.")
    return table.n_rows


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ParameterError(f"{name}={value} is out of range. Choose a value between 0 and 1.")


def _row(question: str, part: str, value: float, unit: str) -> Row:
    return Row(release="theory", question=question, part=part, value=value, unit=unit)
