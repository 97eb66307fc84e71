"""Full assignments of records to persons: whether there is one, and which pairs are part of one.

A record fits a person if each of its cells is that person's, or suppressed. A pair is allowed if
some full assignment has it. Given one full assignment, which is searched for and never assumed, a
pair of it and others can be exchanged along a cycle: a pair is allowed if and only if its record
and its person are in one strongly connected component of the digraph that leads from a record to
the records that the assignment gives to the persons it fits (Dulmage and Mendelsohn).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Table
from graphveil.data.ids import as_text, to_arrow

if TYPE_CHECKING:
    from graphveil.verify.database import Database

Codes: TypeAlias = "NDArray[np.signedinteger[Any]]"
Masks: TypeAlias = "NDArray[np.uint64]"
"""One bit a person, 64 in a word, a row of words each."""

STAR, NOBODY = -1, -2
"""Codes of a released cell that fits everybody, and of one whose value nobody has."""

_WORD = 64
_BLOCK_ROWS = 256
_BATCH = 1 << 15


class CodedCells(NamedTuple):
    """Released and original cells in one numbering, column by column.

    `released`: integers, shape (n, d): codes of values of the original, `STAR` or `NOBODY`;
    `original`: integers, shape (n, d): codes, -1 where a cell is missing: it fits stars alone.
    """

    released: Codes
    original: Codes


def cells_of(db: Database, original: Table, columns: Mapping[str, int]) -> CodedCells:
    """Return the cells of the released columns next to those of the original."""
    places = [original.columns.index(name) for name in columns]
    kind = _narrowest(max((original.categories[place].size for place in places), default=0))
    released = np.empty((original.n_rows, len(columns)), dtype=kind)
    texts = [to_arrow(as_text(original.categories[place])) for place in places]
    listed = ", ".join(f"c{number}" for number in columns.values())
    start = 0
    for batch in db.blocks(f"SELECT {listed} FROM shown", _BATCH):
        for number, known in enumerate(texts):
            released[start : start + len(batch), number] = _codes(batch.column(number), known)
        start += len(batch)
    return CodedCells(released, original.codes[:, places].astype(kind))


def _narrowest(categories: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest type for the codes of so many categories."""
    return next(
        (kind for kind in (np.int8, np.int16) if categories <= np.iinfo(kind).max), np.int32
    )


def _codes(cells: Any, known: Any) -> NDArray[np.int32]:
    """Return the codes of released cells, `NOBODY` for a value that is not a category."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and a release alone needs none of it
    import pyarrow.compute as pc  # noqa: PLC0415  as above

    cells = cells.cast(pa.string())
    codes = pc.fill_null(pc.index_in(cells, value_set=known.cast(pa.string())), NOBODY)
    shown: NDArray[np.int32] = pc.if_else(cells.is_null(), STAR, codes).to_numpy(
        zero_copy_only=False
    )
    return shown


def fitting_persons(cells: CodedCells) -> Masks:
    """Return for every record the persons that it fits: shape (n, words)."""
    n = cells.released.shape[0]
    fits = np.repeat(packed(np.ones((1, n), dtype=bool)), n, axis=0)
    for released, original in zip(cells.released.T, cells.original.T, strict=True):
        rows = np.flatnonzero(released != STAR)
        values, of_row = np.unique(released[rows], return_inverse=True)
        having = _persons_having(values, original)
        for start in range(0, rows.size, _BLOCK_ROWS):
            some = slice(start, start + _BLOCK_ROWS)
            fits[rows[some]] &= having[of_row[some]]
    return fits


def _persons_having(values: Codes, original: Codes) -> Masks:
    """Return the persons with each of some values of a column."""
    having = np.empty((values.size, -(-original.size // _WORD)), dtype=np.uint64)
    for start in range(0, values.size, _BLOCK_ROWS):
        some = values[start : start + _BLOCK_ROWS]
        having[start : start + _BLOCK_ROWS] = packed(some[:, None] == original[None, :])
    return having


def pairs_that_fit(
    cells: CodedCells, records: NDArray[np.int64], persons: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return for each pair of a record and a person whether it fits."""
    fit = np.empty(records.size, dtype=bool)
    for start in range(0, records.size, _BATCH):
        some = slice(start, start + _BATCH)
        released = cells.released[records[some]]
        same = released == cells.original[persons[some]]
        fit[some] = ((released == STAR) | same).all(axis=1)
    return fit


def packed(bits: NDArray[np.bool_]) -> Masks:
    """Return rows of bits as rows of words.

    >>> packed(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    words = -(-bits.shape[1] // _WORD)
    padded = np.zeros((bits.shape[0], words * 8), dtype=np.uint8)
    packed_bytes = np.packbits(bits, axis=1, bitorder="little")
    padded[:, : packed_bytes.shape[1]] = packed_bytes
    return padded.view(np.uint64)


def members(mask: Masks) -> NDArray[np.int64]:
    """Return the numbers of the bits of a row of words, ascending."""
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))


def turned(fits: Masks) -> Masks:
    """Return for every person the records that fit, of as many records as persons.

    >>> turned(np.array([[3], [2]], dtype=np.uint64)).tolist()
    [[1], [3]]
    """
    n = fits.shape[0]
    other = np.empty_like(fits)
    for start in range(0, n, _BLOCK_ROWS):
        columns = fits.view(np.uint8)[:, start // 8 : (start + _BLOCK_ROWS) // 8]
        bits = np.unpackbits(columns, axis=1, bitorder="little").T[: n - start]
        other[start : start + _BLOCK_ROWS] = packed(bits.astype(bool))
    return other


Ints = NDArray[np.int64]

NONE = -1
_ALL_PAIRS = 2_000_000
_SOME = 16
"""Up to so many pairs a search for an assignment starts from all, else from so many a record."""


class Allowed(NamedTuple):
    """Which pairs are part of a full assignment.

    `person_of`: int64, shape (n,): the person that one full assignment gives each record;
    `component`: int64, shape (n,): the strong component of each record. That of a person is its
    record's; `of_record, of_person`: int64, shape (n,): how many persons each record could belong
    to, and how many records each person could own, by some full assignment.
    """

    person_of: Ints
    component: Ints
    of_record: Ints
    of_person: Ints


class NoAssignment(NamedTuple):
    """There is no full assignment: this record goes without a person in a largest one."""

    record: int


def allowed_of_masks(fits: Masks) -> Allowed | NoAssignment:
    """Return the allowed pairs among all that fit, as `fitting_persons` gives them."""
    person_of = full_assignment(fits)
    if isinstance(person_of, NoAssignment):
        return person_of
    n = fits.shape[0]
    other = turned(fits)
    component = _components(fits, other, person_of)
    of_record, of_person = np.ones(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    for records in _groups(component):
        persons = person_of[records]
        of_record[records] = _number_in(fits[records], persons)
        of_person[persons] = _number_in(other[persons], records)
    return Allowed(person_of, component, of_record, of_person)


def allowed_of_pairs(
    records: Ints, persons: Ints, n: int, *, likely: Ints | None = None
) -> Allowed | NoAssignment:
    """Return the allowed pairs among distinct pairs of a record and a person, both in 0..n-1."""
    from scipy import sparse  # noqa: PLC0415  heavy, and few checks need it

    ones = np.ones(records.size, dtype=np.int8)
    matrix = sparse.csr_array((ones, (records, persons)), shape=(n, n))
    if likely is not None and _is_assignment(records, persons, likely):
        person_of = likely
    else:
        person_of = _largest(matrix)
        if (person_of == NONE).any():
            return NoAssignment(int(np.argmax(person_of == NONE)))
    record_of = _inverse(person_of)
    arcs = sparse.csr_array((ones, (records, record_of[persons])), shape=(n, n))
    _, labels = sparse.csgraph.connected_components(arcs, directed=True, connection="strong")
    component = labels.astype(np.int64)
    together = component[records] == component[record_of[persons]]
    of_record = np.bincount(records[together], minlength=n)
    of_person = np.bincount(persons[together], minlength=n)
    return Allowed(person_of, component, of_record, of_person)


def allowed_masks(fits: Masks, allowed: Allowed) -> Masks:
    """Return the pairs that are allowed, for every record the persons."""
    masks = np.zeros_like(fits)
    n = fits.shape[0]
    masks[np.arange(n), allowed.person_of // 64] = np.uint64(1) << (allowed.person_of % 64).astype(
        np.uint64
    )
    for records in _groups(allowed.component):
        masks[records] = fits[records] & _mask(allowed.person_of[records], n)
    return masks


def full_assignment(fits: Masks) -> Ints | NoAssignment:
    """Return a person for every record such that each pair fits, or a record that goes without."""
    n = fits.shape[0]
    person_of = _first_assignment(fits)
    record_of = np.full(n, NONE, dtype=np.int64)
    given = np.flatnonzero(person_of != NONE)
    record_of[person_of[given]] = given
    for record in np.flatnonzero(person_of == NONE).tolist():
        if not _give_one_more(fits, person_of, record_of, record):
            return NoAssignment(record)
    return person_of


def has_disjoint_assignments(fits: Masks, number: int) -> bool:
    """Return whether so many full assignments share no pair: each record fits as many persons.

    They exist if and only if so many units flow through each record and each person, one at most
    through each pair: a graph of equal degrees on both sides is a sum of assignments (König).
    """
    from scipy import sparse  # noqa: PLC0415  heavy, and few checks need it

    n = fits.shape[0]
    sizes = np.bitwise_count(fits).sum(axis=1, dtype=np.int64)
    records = np.repeat(np.arange(n), sizes)
    persons = np.concatenate([np.empty(0, dtype=np.int64), *map(members, fits)])
    everyone, source, sink = np.arange(n), 2 * n, 2 * n + 1
    tails = np.concatenate([np.full(n, source), records, n + everyone])
    heads = np.concatenate([everyone, n + persons, np.full(n, sink)])
    room = np.concatenate([np.full(n, number), np.ones(records.size), np.full(n, number)])
    shape = (2 * n + 2, 2 * n + 2)
    network = sparse.csr_array((room.astype(np.int32), (tails, heads)), shape=shape)
    return bool(sparse.csgraph.maximum_flow(network, source, sink).flow_value == n * number)


def _first_assignment(fits: Masks) -> Ints:
    """Return a large assignment of some pairs that fit; -1 for a record that goes without."""
    from scipy import sparse  # noqa: PLC0415  heavy, and few checks need it

    n = fits.shape[0]
    most = n if int(np.bitwise_count(fits).sum()) <= _ALL_PAIRS else _SOME
    chosen = [_spread(members(mask), most, record) for record, mask in enumerate(fits)]
    indptr = np.concatenate([[0], np.cumsum([persons.size for persons in chosen])]).astype(np.int64)
    indices = np.concatenate([np.empty(0, dtype=np.int64), *chosen])
    ones = np.ones(indices.size, dtype=np.int8)
    return _largest(sparse.csr_array((ones, indices, indptr), shape=(n, n)))


def _spread(persons: Ints, most: int, start: int) -> Ints:
    """Return at most so many of some persons, from another one on for each record."""
    if persons.size <= most:
        return persons
    return persons[(start + np.arange(most) * persons.size // most) % persons.size]


def _largest(matrix: object) -> Ints:
    from scipy.sparse import csgraph  # noqa: PLC0415  heavy, and few checks need it

    matched = csgraph.maximum_bipartite_matching(matrix, perm_type="column")
    return np.asarray(matched, dtype=np.int64)


def _give_one_more(fits: Masks, person_of: Ints, record_of: Ints, record: int) -> bool:
    """Give a record a person, if others can be given another one; whether it could be done.

    Persons are tried in widening rings: each person once, so n rows are read at most.
    """
    n = fits.shape[0]
    unseen = _mask(np.arange(n), n)
    asked_by = np.full(n, NONE, dtype=np.int64)
    waiting = [record]
    for asking in waiting:
        persons = members(fits[asking] & unseen)
        asked_by[persons] = asking
        unseen &= ~fits[asking]
        free = persons[record_of[persons] == NONE]
        if free.size:
            _exchange(person_of, record_of, asked_by, int(free[0]))
            return True
        waiting += record_of[persons].tolist()
    return False


def _exchange(person_of: Ints, record_of: Ints, asked_by: Ints, person: int) -> None:
    while person != NONE:
        record = int(asked_by[person])
        before = int(person_of[record])
        person_of[record], record_of[person] = person, record
        person = before


def _components(fits: Masks, other: Masks, person_of: Ints) -> Ints:
    """Return the strong components of the records (Kosaraju), each row of masks read few times."""
    n = fits.shape[0]
    component = np.full(n, NONE, dtype=np.int64)
    unseen = _mask(np.arange(n), n)
    for number, root in enumerate(reversed(_in_order_of_finish(fits, person_of))):
        if component[root] != NONE:
            continue
        component[root] = number
        unseen &= ~_mask(np.array([root]), n)
        waiting = [root]
        for record in waiting:
            before = members(other[person_of[record]] & unseen)
            unseen &= ~other[person_of[record]]
            component[before] = number
            waiting += before.tolist()
    return component


def _in_order_of_finish(fits: Masks, person_of: Ints) -> list[int]:
    """Return the records in the order in which a search in depth is done with them."""
    n = fits.shape[0]
    record_of = _inverse(person_of)
    unseen = _mask(np.arange(n), n)
    finished: list[int] = []
    for root in range(n):
        person = int(person_of[root])
        if not int(unseen[person >> 6]) >> (person & 63) & 1:
            continue
        _take(unseen, person)
        path = [root]
        while path:
            words = fits[path[-1]] & unseen
            word = int(np.argmax(words != 0))
            if words[word] == 0:
                finished.append(path.pop())
                continue
            bits = int(words[word])
            person = word * 64 + (bits & -bits).bit_length() - 1
            _take(unseen, person)
            path.append(int(record_of[person]))
    return finished


def _take(mask: Masks, person: int) -> None:
    mask[person >> 6] &= ~(np.uint64(1) << np.uint64(person & 63))


def _mask(numbers: Ints, n: int) -> Masks:
    """Return the row of words in which these bits of n are set."""
    bits = np.zeros((1, n), dtype=bool)
    bits[0, numbers] = True
    words: Masks = packed(bits)[0]
    return words


def _groups(component: Ints) -> list[Ints]:
    """Return the members of each component of two or more."""
    order = np.argsort(component, kind="stable")
    ends = np.flatnonzero(np.diff(component[order])) + 1
    return [group for group in np.split(order, ends) if group.size > 1]


def _number_in(masks: Masks, numbers: Ints) -> Ints:
    """Return how many of these numbers each row of words has."""
    among = _mask(numbers, masks.shape[1] * 64)
    numbers_in: Ints = np.bitwise_count(masks & among).sum(axis=1, dtype=np.int64)
    return numbers_in


def _is_assignment(records: Ints, persons: Ints, likely: Ints) -> bool:
    """Whether these persons, one a record, are distinct, and all among the pairs."""
    n = likely.size
    if np.unique(likely).size != n:
        return False
    return bool(np.isin(np.arange(n) * n + likely, records * n + persons).all())


def _inverse(person_of: Ints) -> Ints:
    record_of = np.empty_like(person_of)
    record_of[person_of] = np.arange(person_of.size)
    return record_of
