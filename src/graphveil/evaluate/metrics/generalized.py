"""Tables in the words of the field: how general the cells are, and the risk of being found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import GraphveilError
from graphveil.core.lazy import lazy_module
from graphveil.core.text import printable
from graphveil.data.ids import as_text
from graphveil.evaluate.comparison import Levels, TableComparison
from graphveil.evaluate.metric import Figure, Figures, NotMeasuredError
from graphveil.evaluate.metrics.cells import sizes_of

special = lazy_module("scipy.special")

LONGEST = 40
"""The most characters of a value that a message shows."""

SHARE = "1 - mean loss of cells"


def granularity(pair: TableComparison) -> Figures:
    """Yield 1 less the mean loss of the published known cells, and that of every column."""
    if not pair.known or not pair.released.n_rows:
        return
    levels = _levels(pair)
    kept = {}
    for at in pair.known:
        name = pair.released.columns[at]
        kept[name] = 1 - float(_losses(pair, at, levels.losses(name)).mean())
    yield Figure("all", float(np.mean(list(kept.values()))), SHARE)
    for name, value in kept.items():
        yield Figure(f"column {name}", value, SHARE)


def granularity_bound(pair: TableComparison) -> Figures:
    """Yield a granularity that no release with true cells in classes of k can exceed."""
    k = pair.claimed.k
    if k is None:
        raise NotMeasuredError("the release has no guarantee of classes of k equal rows")
    if not pair.known or pair.original.n_rows < k:
        return
    levels = _levels(pair)
    try:
        most = levels.most_granular(k, pair.randomness.stream("granularity: numbers of nodes"))
    except GraphveilError as error:
        raise NotMeasuredError(str(error)) from error
    yield Figure("at most", most, SHARE, judged=False)


def _levels(pair: TableComparison) -> Levels:
    """Return the levels of the known columns."""
    if pair.claimed.levels is None:
        raise NotMeasuredError("requires the owner's record, which has the rules of the levels")
    try:
        return pair.claimed.levels()
    except GraphveilError as error:
        raise NotMeasuredError(f"the levels cannot be read again: {error}") from error


def _losses(pair: TableComparison, at: int, losses: Mapping[str, float]) -> NDArray[np.float64]:
    """Return what every published cell of a column loses."""
    shown = as_text(pair.released.categories[at]).tolist()
    strange = next((text for text in shown if text not in losses), None)
    if strange is not None:
        name = pair.released.columns[at]
        raise NotMeasuredError(
            f"{printable(strange, LONGEST)} in column {printable(name, LONGEST)} is neither a "
            "value of the original nor a node of its levels"
        )
    of_codes = np.array([*(losses[text] for text in shown), 1.0])
    return of_codes[pair.released.codes[:, at]]


def risks(pair: TableComparison) -> Figures:
    """Yield the chances that rows are found by their known columns; none without rows."""
    for part, codes in (("original", pair.before), ("released", pair.after)):
        sizes = sizes_of(codes[:, pair.known])
        if not sizes.size:
            return
        n, judged = int(sizes.sum()), part == "released"
        unit = "chance of finding a row"
        yield Figure(f"{part} prosecutor, highest", 1 / int(sizes.min()), unit, judged=judged)
        yield Figure(f"{part} marketer", sizes.size / n, "share of rows found", judged=judged)
        population = pair.claimed.population
        if population is None:
            continue
        chances = chance_in_population(sizes, n / population)
        alone = int(np.count_nonzero(sizes == 1)) / population
        found = float(sizes @ chances) / n
        yield Figure(f"{part} journalist, highest", float(chances.max()), unit, judged=judged)
        yield Figure(f"{part} journalist, mean", found, unit, judged=judged)
        yield Figure(f"{part} alone in the population", alone, "share of rows", judged=judged)


def chance_in_population(sizes: NDArray[np.int64], share: float) -> NDArray[np.float64]:
    """Return the mean of 1/F, where F people of the population are in a class of which f are seen.

    Parameters
    ----------
    sizes
        int64: f, how many rows of the sample are in each class, from 1.
    share
        What share of the population is in the sample, above 0 and at most 1.

    Notes
    -----
    A simple random sample, and F given f as f plus a negative binomial number of people who are
    not in it: Benedetti and Franconi 1998. The mean is share / f times 2F1(1, 1; f + 1; 1 - share).

    Examples
    --------
    >>> chance_in_population(np.array([1, 2]), 0.5).round(4).tolist()  # log 2, and 1 - log 2
    [0.6931, 0.3069]
    >>> chance_in_population(np.array([1, 4]), 1.0).tolist()
    [1.0, 0.25]
    """
    means: NDArray[np.float64] = share / sizes * special.hyp2f1(1.0, 1.0, sizes + 1.0, 1 - share)
    return means
