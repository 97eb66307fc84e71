"""Metrics of tables: suppressed, replaced and generalized cells, classes, entropy, risk.

A cell is suppressed if the original has a value there and the release has ``*``; a cell without a
value in the original is missing. Only the linkage tells them apart, so figures without it are of
both together, and say so.

Comparing cells one by one needs the linkage; how many are suppressed, how general cells are, and
the risk of re-identification do not. All take O(n d) time for n rows and d columns, classes also a
sort.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import GraphveilError
from graphveil.core.text import printable
from graphveil.data.ids import as_text
from graphveil.evaluate.comparison import Int32s, Levels, TableComparison, special
from graphveil.evaluate.metric import Figure, Figures, NotMeasuredError, counted, share_of

STAR = -1
"""The code of a missing or suppressed cell."""

QUANTILES_OF_CLASSES = {"median": 0.5, "75% quantile": 0.75, "95% quantile": 0.95}


def stars(pair: TableComparison) -> Figures:
    """Yield how many cells have no value before and after, and their share in the release.

    Before, these are the missing ones, and after, those missing or suppressed. Choromanski, Jebara
    and Tang, Adaptive Anonymity via b-Matching.
    """
    before, after = (int(np.count_nonzero(codes == STAR)) for codes in (pair.before, pair.after))
    yield Figure("original", before, "cells", judged=False)
    yield Figure("released", after, "cells")
    yield from share_of(after, pair.after.size, "share of cells", part="released share")


def stars_added(pair: TableComparison) -> Figures:
    """Yield how many known cells of the original are suppressed in the release, and their share.

    0 if none is. Only the columns that are released count.
    """
    known = pair.before != STAR
    added = int(np.count_nonzero(known & (pair.after[pair.linked] == STAR)))
    return counted(added, int(known.sum()), "cells", "share of the original's known cells")


def utility(pair: TableComparison) -> Figures:
    """Yield the share of cells that show a value: 1 - stars / (rows x columns).

    From 0 to 1, and 1 if no cell is missing or suppressed, or there are no cells. Choromanski,
    Jebara and Tang.
    """
    shown = np.count_nonzero(pair.after != STAR)
    yield Figure("all", shown / pair.after.size if pair.after.size else 1.0, "share of cells")


def replaced(pair: TableComparison) -> Figures:
    """Yield how many cells show a different value than the original, or fill an empty one.

    0 if every published value is true. A more general value, such as 30-39, replaces none: no
    original has it. Our own metric.
    """
    # Published cells whose value differs; both sides have one numbering of values.
    after = pair.after[pair.linked]
    shown = after != STAR
    other = shown & (after != pair.before)
    # Values that no original has are more general ones: their codes follow those of the original.
    if pair.claimed.generalized:
        names = pair.original.columns
        columns = [names.index(name) for name in pair.released.columns]
        other &= after < np.array([len(pair.original.categories[at]) for at in columns])
    # Apart: cells that are missing in the original, and that the release fills.
    missing = pair.before == STAR
    number, filled = (int(np.count_nonzero(other & at)) for at in (~missing, missing))
    published = int(np.count_nonzero(shown))
    yield from counted(number, published, "cells", "share of the published cells")
    if filled:
        yield Figure("filled", filled, "cells")
        yield from share_of(filled, published, "share of the published cells", part="filled share")


def stars_by_column(pair: TableComparison) -> Figures:
    """Yield the share of missing or suppressed cells by column; nothing without rows."""
    for name, codes in zip(pair.released.columns, pair.after.T, strict=True):
        number = int(np.count_nonzero(codes == STAR))
        yield from share_of(number, codes.size, "share of rows", part=name)


def stars_by_row(pair: TableComparison) -> Figures:
    """Yield how missing or suppressed cells are distributed over rows; nothing without rows.

    Mean, quantiles and maximum from 0 to the number of columns, and the share of rows that show
    nothing.
    """
    by_row = np.count_nonzero(pair.after == STAR, axis=1)
    if not by_row.size:
        return
    yield Figure("mean", float(by_row.mean()), "cells")
    for part, share in QUANTILES_OF_CLASSES.items():
        yield Figure(part, float(np.quantile(by_row, share, method="inverted_cdf")), "cells")
    yield Figure("maximum", int(by_row.max()), "cells")
    whole = np.count_nonzero(by_row == pair.after.shape[1])
    yield Figure("nothing shown", float(whole / by_row.size), "share of rows")


def class_sizes(pair: TableComparison) -> Figures:
    """Yield the sizes of the equivalence classes of rows by their known columns.

    Before and after; a suppressed cell counts as a value of its own. Discernibility is the sum of
    squared class sizes (Bayardo and Agrawal 2005): at least n k for classes of k or more. The
    average size follows LeFevre et al. 2006.
    """
    for part, codes in (("original", pair.before), ("released", pair.after)):
        sizes = sizes_of(codes[:, pair.known])
        if not sizes.size:
            return
        rows, number = int(sizes.sum()), sizes.size
        judged = part == "released"
        yield Figure(f"{part} classes", number, "classes", judged=False)
        yield Figure(f"{part} smallest", int(sizes.min()), "rows", judged=False)
        yield Figure(f"{part} average", rows / number, "rows", judged=judged)
        yield Figure(f"{part} largest", int(sizes.max()), "rows", judged=False)
        pairs = int((sizes.astype(np.int64) ** 2).sum())
        yield Figure(f"{part} discernibility", pairs, "pairs of rows", judged=judged)


def column_entropy(pair: TableComparison) -> Figures:
    """Yield by how many bits per cell each column says less than before.

    0 if nothing is lost; at most log2 of the column's number of values. Nothing without cells.
    Shannon 1948.
    """
    if not pair.after.size:
        return
    losses = []
    for column, name in enumerate(pair.released.columns):
        losses.append(_bits(pair.before[:, column]) - _bits(pair.after[:, column]))
        yield Figure(name, losses[-1], "bits")
    yield Figure("mean of columns", float(np.mean(losses)), "bits")


def sizes_of(codes: Int32s) -> Ints:
    """Return how many rows equal each distinct row, int64; all are equal without columns."""
    if codes.size == 0:
        return np.full(min(codes.shape[0], 1), codes.shape[0], dtype=np.int64)
    return np.asarray(np.unique(codes, axis=0, return_counts=True)[1].astype(np.int64))


def _bits(codes: Int32s) -> float:
    """Return the share of known cells times the entropy of their values, in bits."""
    counts = np.bincount(codes[codes != STAR])
    shares = counts[counts > 0] / max(int(counts.sum()), 1)
    known = counts.sum() / codes.size
    # The 0.0 turns a negative zero into zero.
    return float(-(shares * np.log2(shares)).sum() * known) + 0.0


LONGEST = 40
"""The most characters of a value that a message shows."""

SHARE = "1 - mean loss of cells"


def granularity(pair: TableComparison) -> Figures:
    """Yield 1 less the mean loss of the published known cells, for all columns and for each.

    From 0 (all cells suppressed) to 1 (no cell generalized). The loss of a cell is that of Iyengar,
    KDD 2002: the share of the other values that a node of the hierarchy covers. It needs the
    owner's record.
    """
    if not pair.known or not pair.released.n_rows:
        return
    levels, names = _levels(pair), pair.released.columns
    losses = {names[at]: _losses(pair, at, levels.losses(names[at])) for at in pair.known}
    kept = {name: 1 - float(of_cells.mean()) for name, of_cells in losses.items()}
    yield Figure("all", float(np.mean(list(kept.values()))), SHARE)
    for name, value in kept.items():
        yield Figure(f"column {name}", value, SHARE)


def granularity_bound(pair: TableComparison) -> Figures:
    """Yield a granularity that no release with true cells in classes of k can exceed.

    An upper bound to compare `granularity` with. Our own: the least loss at levels where k rows
    agree.
    """
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


def _losses(pair: TableComparison, at: int, losses: Mapping[str, float]) -> Floats:
    """Return what every published cell of a column loses, float64, shape (rows,), from 0 to 1."""
    # Every published value must be a node of the levels that the owner's record describes.
    shown = as_text(pair.released.categories[at]).tolist()
    strange = next((text for text in shown if text not in losses), None)
    if strange is not None:
        name = pair.released.columns[at]
        raise NotMeasuredError(
            f"{printable(strange, LONGEST)} in column {printable(name, LONGEST)} is neither a "
            "value of the original nor a node of its levels"
        )
    # The last entry is for code -1: a suppressed cell loses everything.
    of_codes = np.array([*(losses[text] for text in shown), 1.0])
    return of_codes[pair.released.codes[:, at]]


def risks(pair: TableComparison) -> Figures:
    """Yield the chances that rows are re-identified by their known columns; nothing without rows.

    For an attacker who knows the known columns of a person: the prosecutor knows that the person is
    in the table, the journalist only that they are in the population (El Emam 2013). The marketer
    re-identifies as many rows as possible: the share of classes to rows. All are from 0 to 1.
    """
    for part, codes in (("original", pair.before), ("released", pair.after)):
        sizes = sizes_of(codes[:, pair.known])
        if not sizes.size:
            return
        # Prosecutor: one over the smallest class; marketer: one row per class is right on average.
        n, judged = int(sizes.sum()), part == "released"
        unit = "chance of finding a row"
        yield Figure(f"{part} prosecutor, highest", 1 / int(sizes.min()), unit, judged=judged)
        yield Figure(f"{part} marketer", sizes.size / n, "share of rows found", judged=judged)
        # Journalist: classes of the population are larger, by an unknown number that is estimated.
        population = pair.claimed.population
        if population is None:
            continue
        chances = chance_in_population(sizes, n / population)
        alone = int(np.count_nonzero(sizes == 1)) / population
        found = float(sizes @ chances) / n
        yield Figure(f"{part} journalist, highest", float(chances.max()), unit, judged=judged)
        yield Figure(f"{part} journalist, mean", found, unit, judged=judged)
        yield Figure(f"{part} alone in the population", alone, "share of rows", judged=judged)


def chance_in_population(sizes: Ints, share: float) -> Floats:
    """Return the mean of 1/F, where F people of the population are in a class of f in the sample.

    `sizes`: int64: f of every class; `share`: the sampling fraction, n over the population. A
    simple random sample, and F given f as f plus a negative binomial number of people who are not
    in it (Benedetti and Franconi 1998). The mean is share / f times 2F1(1, 1; f + 1; 1 - share).

    >>> chance_in_population(np.array([1, 2]), 0.5).round(4).tolist()  # log 2, and 1 - log 2
    [0.6931, 0.3069]
    >>> chance_in_population(np.array([1, 4]), 1.0).tolist()
    [1.0, 0.25]
    """
    return np.asarray(share / sizes * special.hyp2f1(1.0, 1.0, sizes + 1.0, 1 - share))
