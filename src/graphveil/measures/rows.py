"""Classes of equal rows, and the share of people whom a few of their items single out.

`equal_rows` is exact, and compares complete rows or some columns. `singled_out` asks what an
attacker finds who knows only q items of a person: the *unicity* of de Montjoye et al. (2013),
estimated from random people and random items. It never compares all pairs of people: for each draw
it counts the people who have all q items, either through the list of people of the rarest item, or
by bits if all of its items are popular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import ParameterError
from graphveil.core.hints import did_you_mean
from graphveil.core.libraries import special
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite, Table
from graphveil.data.kinds import as_container
from graphveil.measures.values import Labels


def equal_rows(data: Bipartite | Table, *, columns: Sequence[str] | None = None) -> Labels:
    """Return the class of every row, numbered in order of appearance: equal rows have one class.

    Exact, in O(entries). A suppressed cell equals a suppressed cell.

    Parameters
    ----------
    data
        A table, or user-item data.
    columns
        For a table: the columns that are compared. Default: all.

    Returns
    -------
    labels
        int64, shape (n,), 0..C-1.

    Raises
    ------
    ParameterError
        If a column is unknown, or columns are given for user-item data.

    Examples
    --------
    >>> people = Table.from_columns({"sex": ["f", "m", "f"], "age": ["30", "30", "40"]})
    >>> equal_rows(people).tolist(), equal_rows(people, columns=["sex"]).tolist()
    ([0, 1, 2], [0, 1, 0])
    """
    if isinstance(data, Table):
        codes = np.ascontiguousarray(data.codes[:, known_columns(data, columns)])
        ends = np.arange(data.n_rows + 1, dtype=np.int64) * codes.shape[1]
        return _numbered(codes.ravel(), ends)
    if columns is not None:
        raise ParameterError(
            "columns apply to tables only; users are compared by all their features."
        )
    return _numbered(data.indices, data.indptr)


def known_columns(table: Table, columns: Sequence[str] | None) -> list[int]:
    """Return the positions of these columns of a table, or of all if none are given.

    Raises
    ------
    ParameterError
        If a column is unknown.
    """
    for name in columns or ():
        if name not in table.columns:
            known = ", ".join(table.columns)
            raise ParameterError(
                f"no column {name!r}. {did_you_mean(name, table.columns)}Columns: {known}."
            )
    chosen = table.columns if columns is None else tuple(columns)
    return [table.columns.index(name) for name in chosen]


def _numbered(values: NDArray[np.int32], ends: NDArray[np.int64]) -> Labels:
    """Return a number for every run ``values[ends[i]:ends[i + 1]]``; equal runs have the same.

    Runs are compared as bytes, by Python's dictionary: exactly, hashes decide nothing.
    """
    raw = values.tobytes()
    size = values.dtype.itemsize
    numbers: dict[bytes, int] = {}
    runs = pairwise((ends * size).tolist())
    labels = [numbers.setdefault(raw[start:end], len(numbers)) for start, end in runs]
    return np.array(labels, dtype=np.int64)


KNOWN = (1, 2, 4, 8)
"""How many items an attacker knows, by default."""

PEOPLE = 10_000
"""How many people are sampled by default: the 95% interval is then at most about 2 points wide."""
AT_ONCE = 2_000_000
"""About how many candidates are looked at in one step of `_listed`; it bounds memory."""

RARE = 256
"""An item is rare if fewer than one person in so many has it.

Rare items are followed through lists of people, popular ones through bits. A larger value uses
lists for fewer items; results are the same.
"""

BYTES = 1 << 28
"""The most memory for the bits of popular items; items beyond it are followed through lists."""

Ints: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, kw_only=True)
class SingledOut:
    """The share of people whom a few of their items single out.

    Parameters
    ----------
    items
        How many random items of a person the attacker knows; all of those who have no more.
    share
        The share of people who are the only ones with all these items.
    people
        How many people were sampled for that, each with one sample of items.
    low, high
        The 95% interval of the share among all people and samples; the share itself if everybody
        was looked at and nobody has more items.

    Examples
    --------
    >>> data = Bipartite.from_lists([["tea", "rye"], ["tea"], ["tea", "oat"], ["tea"]])
    >>> singled_out(data, items=[2])[0].people
    4
    """

    items: int
    share: float
    people: int
    low: float
    high: float


def singled_out(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    items: Sequence[int] = KNOWN,
    people: int = PEOPLE,
    seed: int | None = None,
) -> tuple[SingledOut, ...]:
    """Return how many people some random items of theirs single out, for each number of items.

    An item is a feature of a user, or a cell of a row that is not suppressed. An attacker who knows
    q of them is left with the people who have all q. Nothing is returned if there is nobody.

    Parameters
    ----------
    data
        A `Bipartite` or `Table`, or an object of another library that holds one.
    columns
        For a table: the columns whose cells may be known. Default: all.
    items
        How many items are known, each at least 1.
    people
        How many people are sampled, without replacement; everybody if there are no more.
    seed
        Repeats the samples. Default: entropy.

    Returns
    -------
    tuple of SingledOut
        One for each number in `items`, in their order.

    Raises
    ------
    ParameterError
        If a number is below 1, a column is unknown, or columns are given for user-item data.
    UsageError
        If the object can be read in more than one way, or in none.

    Notes
    -----
    De Montjoye et al. 2013 (unicity). The items that are known in a larger number include those of
    a smaller. Interval of Clopper and Pearson 1934: people are sampled without replacement, which
    makes it wider than it need be.

    Examples
    --------
    >>> data = Bipartite.from_lists([["tea", "rye"], ["tea"], ["tea", "oat"], ["tea"]])
    >>> [(each.items, each.share) for each in singled_out(data, items=[2])]
    [(2, 0.5)]
    """
    kinds = Bipartite, Table
    container = cast("Bipartite | Table", as_container(data, kinds, wanted_by="singled_out"))
    if not items or min(items) < 1 or people < 1:
        raise ParameterError(f"items={list(items)}, people={people}. Give numbers >= 1.")
    if columns is not None and isinstance(container, Bipartite):
        raise ParameterError("columns apply to tables only; remove them for user-item data.")
    # Step 1: sample people, and for each a random order of their items; q items are the first q.
    rows = _items_of(container, columns)
    rng = Randomness(seed=seed).stream("singled out")
    drawn = np.sort(rng.permutation(rows.n)[:people])
    known = _drawn_items(rows, drawn, max(items), rng)
    if not drawn.size:
        return ()
    # Step 2: who is the only person with all q items.
    alone = {q: _alone(rows, known[:, :q]) for q in sorted(set(items))}
    # Exact, without an interval, if everybody was looked at and q items are all that anybody has.
    complete = rows.longest if drawn.size == rows.n else np.inf
    return tuple(_estimated(q, alone[q], exact=q >= complete) for q in items)


class _Rows(NamedTuple):
    """The items of every person, and the people of every item. All int64.

    Parameters
    ----------
    indptr, indices
        The items of person v are ``indices[indptr[v]:indptr[v + 1]]``, ascending.
    keys
        ``person * items + item`` of every entry, ascending: for binary search.
    people, starts
        The people who have item i are ``people[starts[i]:starts[i + 1]]``.
    """

    indptr: Ints
    indices: Ints
    keys: Ints
    people: Ints
    starts: Ints

    @property
    def n(self) -> int:
        return self.indptr.size - 1

    @property
    def longest(self) -> int:
        return int(np.diff(self.indptr).max(initial=0))

    def have(self, people: Ints, items: Ints) -> NDArray[np.bool_]:
        """Return whether each person has the item at the same position."""
        wanted = people * (self.starts.size - 1) + items
        at = np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)
        return np.asarray(self.keys[at] == wanted)


def _items_of(data: Bipartite | Table, columns: Sequence[str] | None) -> _Rows:
    """Return the items of everybody; for a table its cells that are shown, by column and value."""
    if isinstance(data, Bipartite):
        indptr, indices, n_items = data.indptr, data.indices.astype(np.int64), data.n_features
    else:
        # A table: each column and value is an item, numbered column after column, but for
        # suppressed cells.
        chosen = known_columns(data, columns)
        sizes = [len(data.categories[column]) for column in chosen]
        codes = data.codes[:, chosen].astype(np.int64)
        shown = codes >= 0
        first = np.cumsum([0, *sizes])
        indptr = np.concatenate([[0], np.cumsum(shown.sum(axis=1))]).astype(np.int64)
        indices, n_items = (codes + first[:-1])[shown], int(first[-1])
    # The same entries by person, and by item.
    owners = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    order = np.argsort(indices, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(indices, minlength=n_items))])
    return _Rows(indptr, indices, owners * n_items + indices, owners[order], starts)


def _drawn_items(rows: _Rows, people: Ints, most: int, rng: np.random.Generator) -> Ints:
    """Return items of each person in random order, int64, shape (people, most); -1 if no more."""
    sizes = np.diff(rows.indptr)[people]
    person = np.repeat(np.arange(people.size), sizes)
    within = np.arange(person.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # Sort the items of each person by random keys.
    order = np.lexsort((rng.random(person.size), person))
    items = rows.indices[rows.indptr[people][person] + within][order]
    known = np.full((people.size, most), -1, dtype=np.int64)
    kept = within < most
    known[person[kept], within[kept]] = items[kept]
    return known


def _alone(rows: _Rows, known: Ints) -> NDArray[np.bool_]:
    """Return whether exactly one person has all known items of each row. bool, shape (rows,).

    Rows whose rarest item is rare go through its people; the others through bits for everybody. An
    empty row is had by everybody.
    """
    # The rarest item first: it leaves the fewest candidates.
    popularity = np.append(np.diff(rows.starts), rows.n + 1)  # the last one for no item
    rarest = popularity[known].argsort(axis=1)
    known = np.take_along_axis(known, rarest, axis=1)
    least = popularity[known[:, 0]]
    having = np.full(len(known), rows.n)
    many = (least >= _popular_from(rows)) & (known[:, 0] >= 0)
    few = ~many & (known[:, 0] >= 0)
    having[few] = _listed(rows, known[few], least[few])
    having[many] = _marked(rows, known[many])
    return np.asarray(having == 1)


def _popular_from(rows: _Rows) -> int:
    """Return how many people an item needs so that bits are kept for it.

    As many of the most popular items as fit into `BYTES`, but none that is rare.
    """
    popularity = np.sort(np.diff(rows.starts))[::-1]
    most = max(BYTES // max(rows.n // 8, 1), 1)
    bar = int(popularity[most]) + 1 if most < popularity.size else 1
    return max(bar, rows.n // RARE)


def _listed(rows: _Rows, known: Ints, sizes: Ints) -> Ints:
    """Return how many people have all items of each row, by filtering the people of the first.

    Parameters
    ----------
    rows
        The items.
    known
        int64, shape (rows, items): the rarest item first, -1 for none.
    sizes
        int64, shape (rows,): how many people have the first item.
    """
    having = np.zeros(len(known), dtype=np.int64)
    # In blocks of about `AT_ONCE` candidates.
    block = np.cumsum(sizes) // AT_ONCE
    for number in np.unique(block):
        inside = np.flatnonzero(block == number)
        row = np.repeat(inside, sizes[inside])
        people = rows.people[_ranges(rows.starts[known[inside, 0]], sizes[inside])]
        # Keep the candidates who have the next item, too.
        for items in known.T[1:]:
            kept = (items[row] < 0) | rows.have(people, items[row])
            row, people = row[kept], people[kept]
        having += np.bincount(row, minlength=len(known))
    return having


def _marked(rows: _Rows, known: Ints) -> Ints:
    """Return how many people have all items of each row, by bits: one for each person and item."""
    used, numbers = np.unique(known, return_inverse=True)
    bits = np.empty((used.size, -(-rows.n // 8)), dtype=np.uint8)
    # One row of bits for each item that occurs; all bits are set for "no item".
    for number, item in enumerate(used):
        has = np.full(rows.n, item < 0)
        has[rows.people[rows.starts[item] : rows.starts[item + 1]] if item >= 0 else ()] = True
        bits[number] = np.packbits(has)
    having = np.empty(len(known), dtype=np.int64)
    at_once = max(4 * AT_ONCE // bits.shape[1], 1)
    for start in range(0, len(known), at_once):
        block = numbers.reshape(known.shape)[start : start + at_once].T
        common = bits[block[0]]
        for others in block[1:]:
            common &= bits[others]
        having[start : start + at_once] = np.bitwise_count(common).sum(axis=1, dtype=np.int64)
    return having


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """Return the ranges of these starts and sizes, one after the other."""
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) + np.repeat(starts - ends + sizes, sizes)


def _estimated(items: int, alone: NDArray[np.bool_], *, exact: bool) -> SingledOut:
    """Return the share of rows that one person has, with the interval of Clopper and Pearson."""
    people, hits = alone.size, int(alone.sum())
    share = hits / people
    low, high = share, share
    if not exact:
        low = float(special.betaincinv(hits, people - hits + 1, 0.025)) if hits else 0.0
        high = float(special.betaincinv(hits + 1, people - hits, 0.975)) if hits < people else 1.0
    return SingledOut(items=items, share=share, people=people, low=low, high=high)
