"""People by what is published of their known attributes: colors, each of at least k people.

Rows of attributes that fewer than k people have cannot be published. They are suppressed whole, or
put together by a method for tables and published where the rows of a group agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import SUPPRESSED, Network, Table
from graphveil.errors import InfeasibleError, option
from graphveil.randomness import Randomness

Merge = Literal["suppress", "mondrian", "smooth", "none"]
"""What becomes of people whose attributes fewer than k have: all of theirs are suppressed; they are
put together by mondrian, or by suppress-k (which is smooth-k with theta 1), and what a group does
not share is suppressed; or the data is refused."""

Ints = NDArray[np.int64]
TABLE_ROOM = 8
"""Colors are looked up in a table of so many entries a person, at most."""

MOST_ROWS = 1 << 62
"""Of fewer possible rows each has a number."""

BATCHES = 8
"""Further people are suppressed in so many batches, and the method plans anew between them."""


class Colors(NamedTuple):
    """People by what is published of their known attributes.

    Attributes
    ----------
    table
        The known attributes as published, a row a person; None where none are known.
    of_person
        int64, shape (n,): the color of everyone, from 0 on without a gap, numbered as people have
        them first; None where all have the same.
    """

    table: Table | None
    of_person: Ints | None

    def n_suppressed(self, network: Network) -> int:
        """Return how many people had a known attribute in the network that is suppressed now."""
        table = self.table
        before = None if table is None else network.with_attributes(table.columns).people
        if table is None or before is None:
            return 0
        lost = (table.codes == SUPPRESSED) & (before.codes != SUPPRESSED)
        return int(np.count_nonzero(lost.any(axis=1)))


def colors_of(
    network: Network, known: tuple[str, ...], k: int, merge: Merge, randomness: Randomness
) -> Colors:
    """Return colors of at least k people each.

    Only people whose known attributes fewer than k have lose some of them; while these are fewer
    than k, those of the next smallest color join them.

    Raises
    ------
    InfeasibleError
        Where `merge` is ``none`` and a color is too small.

    Examples
    --------
    >>> from graphveil import Graph
    >>> sex = Table.from_columns({"sex": ["f", "f", "f", "m", "m", "x"]})
    >>> network = Network({"ties": Graph.from_edges([0], [1], n=6)}, sex)
    >>> colors_of(network, ("sex",), 2, "suppress", Randomness(seed=1)).of_person.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    if not known or network.people is None:
        return Colors(None, None)
    chosen = network.with_attributes(known).people
    table = chosen if chosen is not None else network.people
    of_person, sizes = _classes(table)
    small = sizes < k
    if merge == "none" and np.any(small):
        few = int(sizes[small].sum())
        raise InfeasibleError(
            f"{few} of {network.n_nodes} people share {', '.join(known)} with fewer than "
            f"{k - 1} others. Say {option('merge', 'suppress')}, group values, or drop a column."
        )
    if merge in {"mondrian", "smooth"}:
        rare = _joined(small, sizes, k)[of_person]
        if not rare.any():
            return Colors(table, of_person)
        return _put_together(table, rare, k, merge, randomness)
    hidden = (table.codes[_first_of(of_person)] == SUPPRESSED).all(axis=1)
    small &= ~hidden
    if not small.any() and not hidden.any():
        return Colors(table, of_person)
    return with_suppressed(table, _joined(small | hidden, sizes, k)[of_person])


def _joined(starred: NDArray[np.bool_], sizes: Ints, k: int) -> NDArray[np.bool_]:
    """Return these colors, and the next smallest while they have fewer than k people."""
    starred = starred.copy()
    while starred.any() and sizes[starred].sum() < k and not starred.all():
        rest = np.flatnonzero(~starred)
        starred[rest[np.argmin(sizes[rest])]] = True
    return starred


def _put_together(
    table: Table, who: NDArray[np.bool_], k: int, merge: Merge, randomness: Randomness
) -> Colors:
    """Return the colors once some people are in groups of k, which show what their rows share."""
    codes = table.codes.copy()
    rows = Table(codes[who], table.columns, table.categories)
    groups = _groups_of(rows, k, merge, randomness)
    codes[who] = shared_cells(rows.codes, groups)
    shown = Table(codes, table.columns, table.categories)
    return Colors(shown, _classes(shown)[0])


def _groups_of(rows: Table, k: int, merge: Merge, randomness: Randomness) -> NDArray[np.integer]:
    """Return the group of every row, as the method for tables forms them."""
    from graphveil.methods.mondrian import Mondrian  # noqa: PLC0415  methods, when needed
    from graphveil.methods.smooth_k.suppress import SuppressK  # noqa: PLC0415  as above

    if merge == "mondrian":
        return Mondrian(k=k, split="balanced").groups(rows.one_hot())
    return SuppressK(k=k).groups(rows.one_hot(), randomness.stream("rare attributes"))


def shared_cells(codes: NDArray[np.int32], groups: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return the rows with what all rows of their group share; other cells are suppressed.

    Examples
    --------
    >>> codes = np.array([[1, 0], [1, 2], [3, 3]], dtype=np.int32)
    >>> shared_cells(codes, np.array([0, 0, 1])).tolist()
    [[1, -1], [1, -1], [3, 3]]
    """
    _, of_row = np.unique(groups, return_inverse=True)
    n_groups = int(of_row.max(initial=-1)) + 1
    least = np.full((n_groups, codes.shape[1]), np.iinfo(np.int32).max, dtype=np.int32)
    most = np.full_like(least, SUPPRESSED)
    np.minimum.at(least, of_row, codes)
    np.maximum.at(most, of_row, codes)
    return np.where(least == most, least, np.int32(SUPPRESSED))[of_row]


def with_suppressed(table: Table, who: NDArray[np.bool_]) -> Colors:
    """Return the colors of these rows, once all cells of some people are suppressed."""
    codes = table.codes.copy()
    codes[who] = SUPPRESSED
    shown = Table(codes, table.columns, table.categories)
    return Colors(shown, _classes(shown)[0])


def numbered_colors(colors: Ints | None, n: int) -> Ints:
    """Return colors numbered as people have them first, so that nothing hangs on their names.

    Examples
    --------
    >>> numbered_colors(np.array([7, 3, 7]), 3).tolist(), numbered_colors(None, 2).tolist()
    ([0, 1, 0], [0, 0])
    """
    if colors is None:
        return np.zeros(n, dtype=np.int64)
    least = colors.min(initial=0)
    if colors.max(initial=0) - least < TABLE_ROOM * n:
        labels = colors - least
        first = _first_of(labels)
        shown = np.flatnonzero(first < n)
        number = np.empty(first.size, dtype=np.int64)
        number[shown[np.argsort(first[shown])]] = np.arange(shown.size)
        numbered: Ints = number[labels]
        return numbered
    _, first, labels = np.unique(colors, return_index=True, return_inverse=True)
    by_first: Ints = np.argsort(np.argsort(first))[labels.reshape(-1)]
    return by_first


def _first_of(labels: Ints) -> Ints:
    """Return the first person of every label, and the number of people where it has none."""
    first = np.full(int(labels.max(initial=-1)) + 1, labels.size, dtype=np.int64)
    first[labels[::-1]] = np.arange(labels.size)[::-1]  # of several, the last one written stays
    return first


def _classes(table: Table) -> tuple[Ints, Ints]:
    """Return the class of equal rows of everyone, as they come, and how many rows each has.

    Values have codes in the order of their names, on which nothing shall hang.
    """
    rows = 1
    for values in table.categories:
        rows *= values.size + 1
    if rows < MOST_ROWS:
        of_row = np.zeros(table.n_rows, dtype=np.int64)
        for column, values in enumerate(table.categories):
            of_row *= values.size + 1
            of_row += table.codes[:, column] + 1
    else:
        of_row = np.unique(table.codes, axis=0, return_inverse=True)[1].reshape(-1)
    of_person = numbered_colors(of_row, table.n_rows)
    return of_person, np.bincount(of_person).astype(np.int64)


def suppressed_further(
    colors: Colors, share: float, k: int, change: Callable[[Ints], Ints]
) -> Colors:
    """Return colors with up to a share of the people suppressed besides: who costs most.

    Where a batch of them gains nothing, half as many are tried.

    Parameters
    ----------
    colors
        Where it starts.
    share
        The most people, of all.
    k
        No color is left with fewer.
    change
        Gives, for colors, by how much the plan of the method changes everyone.
    """
    table, of_person = colors.table, colors.of_person
    if table is None or of_person is None or share <= 0:
        return colors
    budget = int(share * of_person.size + 1e-9)
    batch = max(k, budget // BATCHES)
    best, least = colors, int(change(of_person).sum())
    while 0 < batch <= budget:
        of_person, shown = best.of_person, best.table
        if of_person is None or shown is None:
            break
        hidden = (shown.codes == SUPPRESSED).all(axis=1)
        if batch < k and not hidden.any():
            break
        spare = np.bincount(of_person) - k
        chosen = np.zeros(of_person.size, dtype=np.bool_)
        wanted = change(of_person)
        for person in np.argsort(-wanted, kind="stable").tolist():
            if wanted[person] == 0 or np.count_nonzero(chosen) == batch:
                break
            if not hidden[person] and spare[of_person[person]] > 0:
                chosen[person] = True
                spare[of_person[person]] -= 1
        if np.count_nonzero(chosen) < (1 if hidden.any() else k):
            break
        tried = with_suppressed(table, hidden | chosen)
        after = int(change(tried.of_person).sum()) if tried.of_person is not None else least
        if after >= least:
            batch //= 2  # fewer at once may gain
            continue
        best, least, budget = tried, after, budget - int(np.count_nonzero(chosen))
    return best
