"""Full assignments of records to persons: whether there is one, and which pairs are part of one.

A pair is allowed if some full assignment has it. Given one full assignment, which is searched for
and never assumed, a pair of it and others can be exchanged along a cycle: a pair is allowed if
and only if its record and its person are in one strongly connected component of the digraph that
leads from a record to the records that the assignment gives to the persons it fits (Dulmage and
Mendelsohn).

Cost: a maximum matching (Hopcroft-Karp, by SciPy), and two searches of the digraph, each of which
reads every row of masks a few times: O(n * n / 64) words for masks, O(pairs) for listed pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.libraries import csgraph, sparse
from graphveil.verify.recount.rows.fitting_pairs import Masks, members, packed, turned

NONE = -1
"""No person, or no record."""

ALL_PAIRS = 2_000_000
SOME = 16
"""Up to `ALL_PAIRS` pairs, a search for an assignment starts from all of them; above, from
`SOME` of each record. More pairs make the first matching larger and its matrix, too; what it
leaves is found from all pairs anyway."""


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
    """There is no full assignment: a largest one leaves this record without a person."""

    record: int


def allowed_of_masks(fits: Masks) -> Allowed | NoAssignment:
    """Return the allowed pairs among all that fit, as `fitting_persons` gives them."""
    # Step 1: one full assignment. Without one, no pair is allowed at all.
    person_of = full_assignment(fits)
    if isinstance(person_of, NoAssignment):
        return person_of
    n = fits.shape[0]
    # Step 2: strong components of the digraph of exchanges (Dulmage and Mendelsohn).
    other = turned(fits)
    component = _components(fits, other, person_of)
    # Step 3: within a component, every pair that fits is allowed. A record alone in its component
    # has only the person that it was given.
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
    # Step 1: one full assignment among the listed pairs: the owner's own if these pairs hold it,
    # else a maximum matching.
    ones = np.ones(records.size, dtype=np.int8)
    matrix = sparse.csr_array((ones, (records, persons)), shape=(n, n))
    if likely is not None and _is_assignment(records, persons, likely):
        person_of = likely
    else:
        person_of = _largest(matrix)
        if (person_of == NONE).any():
            return NoAssignment(int(np.argmax(person_of == NONE)))
    # Step 2: the digraph from each record to the records of the persons that it fits, and its
    # strong components.
    record_of = _inverse(person_of)
    arcs = sparse.csr_array((ones, (records, record_of[persons])), shape=(n, n))
    _, labels = sparse.csgraph.connected_components(arcs, directed=True, connection="strong")
    component = labels.astype(np.int64)
    # Step 3: a pair is allowed if its record and its person's record are in one component.
    together = component[records] == component[record_of[persons]]
    of_record = np.bincount(records[together], minlength=n)
    of_person = np.bincount(persons[together], minlength=n)
    return Allowed(person_of, component, of_record, of_person)


def allowed_masks(fits: Masks, allowed: Allowed) -> Masks:
    """Return the pairs that are allowed, for every record the persons."""
    masks = np.zeros_like(fits)
    n = fits.shape[0]
    # Every record has the person that it was given, and within its component all who fit.
    masks[np.arange(n), allowed.person_of // 64] = np.uint64(1) << (allowed.person_of % 64).astype(
        np.uint64
    )
    for records in _groups(allowed.component):
        masks[records] = fits[records] & _mask(allowed.person_of[records], n)
    return masks


def full_assignment(fits: Masks) -> Ints | NoAssignment:
    """Return a person for every record such that each pair fits, or a record that goes without."""
    n = fits.shape[0]
    # A maximum matching of some pairs leaves few records without a person; these are added one by
    # one along augmenting paths, over all pairs. If none is found, there is no full assignment.
    person_of = _first_assignment(fits)
    record_of = np.full(n, NONE, dtype=np.int64)
    given = np.flatnonzero(person_of != NONE)
    record_of[person_of[given]] = given
    for record in np.flatnonzero(person_of == NONE).tolist():
        if not _give_one_more(fits, person_of, record_of, record):
            return NoAssignment(record)
    return person_of


def has_disjoint_assignments(fits: Masks, number: int) -> bool:
    """Return whether `number` full assignments exist of which no two share a pair.

    They exist if and only if so many units flow through each record and each person, one at most
    through each pair: a graph of equal degrees on both sides is a sum of assignments (König).
    """
    # A flow network: source to records and persons to sink with room for `number` units, and one
    # unit at most through each pair that fits.
    n = fits.shape[0]
    sizes = np.bitwise_count(fits).sum(axis=1, dtype=np.int64)
    records = np.repeat(np.arange(n), sizes)
    persons = np.concatenate([np.empty(0, dtype=np.int64), *map(members, fits)])
    everyone, source, sink = np.arange(n), 2 * n, 2 * n + 1
    tails = np.concatenate([np.full(n, source), records, n + everyone])
    heads = np.concatenate([everyone, n + persons, np.full(n, sink)])
    room = np.concatenate([np.full(n, number), np.ones(records.size), np.full(n, number)])
    # All records saturated means that many units pass each, which decompose into assignments.
    shape = (2 * n + 2, 2 * n + 2)
    network = sparse.csr_array((room.astype(np.int32), (tails, heads)), shape=shape)
    return bool(sparse.csgraph.maximum_flow(network, source, sink).flow_value == n * number)


def _first_assignment(fits: Masks) -> Ints:
    """Return a large assignment of some pairs that fit; -1 for a record that goes without."""
    n = fits.shape[0]
    most = n if int(np.bitwise_count(fits).sum()) <= ALL_PAIRS else SOME
    chosen = [_spread(members(mask), most, record) for record, mask in enumerate(fits)]
    indptr = np.concatenate([[0], np.cumsum([persons.size for persons in chosen])]).astype(np.int64)
    indices = np.concatenate([np.empty(0, dtype=np.int64), *chosen])
    ones = np.ones(indices.size, dtype=np.int8)
    return _largest(sparse.csr_array((ones, indices, indptr), shape=(n, n)))


def _spread(persons: Ints, most: int, start: int) -> Ints:
    """Return at most `most` of these persons, spread evenly and starting elsewhere per record."""
    if persons.size <= most:
        return persons
    return persons[(start + np.arange(most) * persons.size // most) % persons.size]


def _largest(matrix: object) -> Ints:
    matched = csgraph.maximum_bipartite_matching(matrix, perm_type="column")
    return np.asarray(matched, dtype=np.int64)


def _give_one_more(fits: Masks, person_of: Ints, record_of: Ints, record: int) -> bool:
    """Give a record a person along an augmenting path; return whether there is one.

    Persons are tried in widening rings: each person once, so n rows are read at most.
    """
    n = fits.shape[0]
    # Breadth first: persons who fit and were not seen; the first of them who is free ends the path.
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
    # Walk back along the path, and give each record the person that it asked for.
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
    # Kosaraju: in reverse order of finish, all that lead to the root are its component.
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
    """Return the records in the order in which a depth-first search finishes them."""
    n = fits.shape[0]
    record_of = _inverse(person_of)
    unseen = _mask(np.arange(n), n)
    finished: list[int] = []
    for root in range(n):
        person = int(person_of[root])
        if not int(unseen[person >> 6]) >> (person & 63) & 1:
            continue
        _take(unseen, person)
        # An iterative depth-first search; the lowest unseen bit is the next person.
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
    """Whether these persons, one for each record, are distinct and all among the pairs."""
    n = likely.size
    if np.unique(likely).size != n:
        return False
    return bool(np.isin(np.arange(n) * n + likely, records * n + persons).all())


def _inverse(person_of: Ints) -> Ints:
    record_of = np.empty_like(person_of)
    record_of[person_of] = np.arange(person_of.size)
    return record_of
