"""How far attached columns narrow what a release hides of its known columns, beyond chance.

A known cell is hidden if rows that publish the same value have several original values. It is
narrowed if, among the rows that publish the same value and have the same attached value, only one
original value is left. A year of birth next to an age of ``30-39`` narrows every cell; a column
that has nothing to do with the age narrows those that few rows share, by chance.

Chance is exact: the expected number of narrowed cells if the attached values were permuted among
the rows that publish the same value. Of n rows with sizes n_v of original values, a group of m rows
has one value with the probability

    q = sum over v of C(n_v, m) / C(n, m).

Whether more cells are narrowed than chance explains is tested, since few hidden cells say little.
Each group contributes the factor q^(-t) if it has one value, else 1, divided by the expectation of
this, q^(1-t) + 1 - q. If groups were independent, the product would exceed e^7 less often than once
in e^7 times (Markov's inequality). A power t of 1/2 finds columns that narrow much and allows for
two groups that are one event; 1/8 finds those that narrow many groups a little.

A column that is a known one under other names, each value for one value, needs no test: it is
found in tables of three rows.

Cost: O(rows) for each known and attached column, and sorting; groups and values of the same size
are handled at once, so there are at most 2 n pairs of sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphveil.claims.conditions import LEAST_NARROWED
from graphveil.core.array_types import Flags, Floats, Ints
from graphveil.data import SUPPRESSED, Data, Network, Table

EVIDENCE = 7.0
"""The logarithm of the evidence against chance from which narrowing counts. A lower value asks
about columns that say nothing: of 18,000 random columns of 12 to 1,000 rows, one exceeded 5."""

POWERS = (0.5, 0.125)
"""The powers t of the test, see above. With 1/2 alone, 5,000 pairs of rows narrowed in 35% of the
cases instead of 25% would be close to no evidence."""

MOST_OF_THE_REST = 0.5
"""The share of what chance leaves hidden above which a narrowing column is refused."""

TABLE_ROOM = 8
"""Combinations of codes are numbered by a lookup table of at most so many entries per row, which
costs less than sorting."""


class Narrowing(NamedTuple):
    """How far some attached columns narrow one known column.

    Parameters
    ----------
    known
        The known column.
    attached
        The attached columns, read together.
    hidden
        The number of its hidden cells.
    share, chance
        The shares of them that are narrowed to one value, and that chance would narrow.
    evidence
        The logarithm of the evidence against chance.
    is_same
        Whether each attached value goes with one value of the known column, and the reverse.
    """

    known: str
    attached: tuple[str, ...]
    hidden: int
    share: float
    chance: float
    evidence: float
    is_same: bool

    @property
    def beyond(self) -> float:
        """The share of hidden cells that are narrowed beyond chance; 0 where chance explains it."""
        excess = self.share - self.chance
        return excess if self.evidence >= EVIDENCE and excess > LEAST_NARROWED else 0.0

    @property
    def is_refused(self) -> bool:
        """Whether no release publishes these columns: they show most of what is hidden."""
        return self.is_same or self.beyond > MOST_OF_THE_REST * (1 - self.chance)


def narrowings(original: Data, released: Data, attached: Sequence[str]) -> list[Narrowing]:
    """Return how far attached columns narrow known ones: each alone, and all of them together.

    Parameters
    ----------
    original
        The data: a table, or a network with attributes.
    released
        What is published of it; position i stands for position i of the original.
    attached
        The names of the attached columns.

    Returns
    -------
    list of Narrowing
        For each known column with hidden cells, in the order of the release: one for each attached
        column, then one for all of them if there are several.

    Examples
    --------
    >>> before = Table.from_columns({"age": [31, 32, 32, 31], "birth": [1, 2, 2, 1]})
    >>> after = Table.from_columns({"age": ["30-39"] * 4, "birth": [1, 2, 2, 1]})
    >>> [(found.share, found.is_same) for found in narrowings(before, after, ["birth"])]
    [(1.0, True)]
    """
    before, after = _columns_of(original), _columns_of(released)
    if before is None or after is None:
        return []
    names = [name for name in after.columns if name in attached]
    values: dict[tuple[str, ...], Ints] = {(name,): _codes(after, name) for name in names}
    if len(names) > 1:
        values[tuple(names)] = _numbered(*values.values())
    found = []
    for name in after.columns:
        if name in names or name not in before.columns:
            continue
        # A cell that the original does not have is not hidden by the release.
        own, shown = _codes(before, name), _codes(after, name)
        has = own != SUPPRESSED
        known = _known(own[has], shown[has])
        if known.hidden.any():
            found += [
                _narrowing(name, columns, known, codes[has]) for columns, codes in values.items()
            ]
    return found


def _columns_of(data: Data) -> Table | None:
    """Return a table, or the attributes of a network; None without any."""
    if isinstance(data, Network):
        return data.people
    return data if isinstance(data, Table) else None


def _codes(table: Table, name: str) -> Ints:
    codes: Ints = table.codes[:, table.columns.index(name)].astype(np.int64)
    return codes


class _Known(NamedTuple):
    """A known column: its values, what is published of them, and which cells are hidden.

    All are of shape (rows,): `own, shown`, int64, numbers of original and of published values;
    `hidden`, bool.
    """

    own: Ints
    shown: Ints
    hidden: Flags


def _known(own: Ints, shown: Ints) -> _Known:
    """Return a known column with what is hidden of it: published values of several own ones."""
    pair = _numbered(shown, own)
    shown = _numbered(shown)
    several = np.bincount(shown[_first(pair)]) > 1
    return _Known(_numbered(own), shown, several[shown])


def _narrowing(name: str, columns: tuple[str, ...], known: _Known, attached: Ints) -> Narrowing:
    """Return how far attached codes, int64, shape (rows,), narrow a known column."""
    # Step 1: is it the known column under other names, with a value that repeats?
    values = [int(numbers.max()) + 1 for numbers in (known.own, _numbered(attached))]
    pairs = int(_numbered(known.own, attached).max()) + 1
    is_same = values == [pairs, pairs] and pairs < known.own.size
    # Step 2: the rows whose cell is hidden, by published value; in it the groups of one attached
    # value, and the sizes of groups and of original values.
    hidden = known.hidden
    own, shown, groups = known.own[hidden], known.shown[hidden], attached[hidden]
    shown = _numbered(shown)
    group, value = _numbered(shown, groups), _numbered(shown, own)
    of_group, of_value = _first(group), _first(value)
    rows, group_size, value_size = (np.bincount(numbers) for numbers in (shown, group, value))
    # Step 3: a group is narrowed if each of its rows has the value of its first row.
    narrowed = np.bincount(group, own != own[of_group][group]) == 0
    # Step 4: groups of one published value with the same size have the same chance.
    base = int(rows.max()) + 1
    sizes, of_size, number = np.unique(
        shown[of_group] * base + group_size, return_inverse=True, return_counts=True
    )
    log_chance = _log_chances(sizes, np.sort(shown[of_value] * base + value_size), rows, base)
    chance = np.exp(log_chance)
    # Step 5: the shares of hidden cells, and the evidence against chance.
    expected = float((number * (sizes % base)) @ chance)
    by_size = np.bincount(of_size[narrowed], minlength=sizes.size)
    occurs = by_size > 0
    surprise = -float(by_size[occurs] @ log_chance[occurs])
    evidence = max(
        power * surprise - float(number @ np.log1p(np.exp((1 - power) * log_chance) - chance))
        for power in POWERS
    )
    return Narrowing(
        name,
        columns,
        int(own.size),
        float(group_size[narrowed].sum() / own.size),
        expected / own.size,
        evidence,
        is_same,
    )


def _log_chances(groups: Ints, values: Ints, rows: Ints, base: int) -> Floats:
    """Return the logarithm of the chance that a group has one original value, float64.

    `groups`: int64, shape (sizes,), distinct, ``published value * base + rows of the group``;
    `values`: the same of each original value, ascending; `rows`: int64, the rows of each published
    value.
    """
    from scipy.special import gammaln  # noqa: PLC0415  heavy: not for help

    distinct, times = np.unique(values, return_counts=True)
    # Each size of groups meets the sizes of values of its published value that are not smaller.
    low = np.searchsorted(distinct, groups)
    high = np.searchsorted(distinct, (groups // base + 1) * base)
    met = high - low
    of_group = np.repeat(np.arange(groups.size), met)
    of_value = np.arange(of_group.size) - np.repeat(np.cumsum(met) - met, met) + low[of_group]
    m, n_v = groups[of_group] % base, distinct[of_value] % base
    n = rows[groups[of_group] // base]
    log = gammaln(n_v + 1) - gammaln(n_v - m + 1) + gammaln(n - m + 1) - gammaln(n + 1)
    log += np.log(times[of_value])
    # The logarithm of the sum: sums of terms below e^-700 would be 0.
    most = np.full(groups.size, -np.inf)
    np.maximum.at(most, of_group, log)
    terms = np.exp(log - most[of_group])
    with np.errstate(divide="ignore"):
        found: Floats = most + np.log(np.bincount(of_group, terms, groups.size))
    return np.minimum(found, 0.0)


def _numbered(*columns: Ints) -> Ints:
    """Return the number of each combination of codes, int64, shape (rows,), without gaps."""
    number: Ints = np.zeros(columns[0].size, dtype=np.int64)
    for codes in columns:
        least = int(codes.min(initial=0))
        number = number * (int(codes.max(initial=0)) - least + 1) + (codes - least)
        # A lookup table where numbers are small, else sorting.
        top = int(number.max(initial=0)) + 1
        if top <= TABLE_ROOM * number.size:
            place = np.cumsum(np.bincount(number, minlength=top) > 0) - 1
            number = place[number]
        else:
            number = np.unique(number, return_inverse=True)[1].reshape(-1)
    return number


def _first(numbers: Ints) -> Ints:
    """Return a row of each number, int64, shape (numbers,)."""
    first: Ints = np.empty(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    first[numbers] = np.arange(numbers.size)
    return first
