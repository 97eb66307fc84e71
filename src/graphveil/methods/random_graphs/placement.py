"""Which person is at which place of a generated graph, and in which groups people are exchanged.

A graph that is generated from noisy degrees has a *place* for each of them, in ascending order. The
noisy degree of every place is published, and the place of every released id. The person at a place
is not: inside each of at most eight groups of similar noisy degree, people are assigned to places
at random, in secret. So a released node shows the group of its person's noisy degree alone.

Groups are cut from noisy degrees, which are released: no part of this reads the original.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims import conditions
from graphveil.core.array_types import Ints
from graphveil.core.randomness import Randomness, public_words


def as_text(values: Iterable[int]) -> str:
    """Return numbers as text, with one blank between two."""
    return " ".join(map(str, map(int, values)))


GROUPS = 8
"""The most groups: edges are counted between them, and people are assigned at random in them.

More groups keep more of how degrees mix; fewer keep distances better, and tell less of a person's
noisy degree.
"""


class Cuts(NamedTuple):
    """Nodes in parts of similar noisy degree.

    Parameters
    ----------
    least
        int64, shape (parts,): the least noisy degree of each part, rising.
    of_node
        int64, shape (n,): the part of every node.
    """

    least: Ints
    of_node: Ints


def cut(noisy: Ints, weights: NDArray[np.float64], most: int) -> Cuts:
    """Return at most `most` parts of about equal weight; equal noisy degrees stay together.

    `noisy`: the noisy degrees; `weights`: of every node. A noisy degree is in the part in which the
    middle of its nodes' weight falls.
    """
    values, of_value = np.unique(noisy, return_inverse=True)
    mass = np.bincount(of_value, weights=weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    part = np.minimum((middle * most).astype(np.int64), most - 1)
    _, firsts, dense = np.unique(part, return_index=True, return_inverse=True)
    return Cuts(values[firsts], dense.astype(np.int64)[of_value])


def numbers_from(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return for each word a number from 0 to below 1: its first 53 bits, as a float."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Places(NamedTuple):
    """The person at each place, and the released id of each place.

    Parameters
    ----------
    people
        int64, shape (n,): the position in the input of the person at each place.
    ids
        int64, shape (n,): the released id of each place.
    assignment
        The secret from which the assignment follows, in hexadecimal digits, for the owner: with it
        and the linkage, the noise of every degree can be checked.
    """

    people: Ints
    ids: Ints
    assignment: str

    @property
    def order(self) -> Ints:
        """The position of the input of every released id."""
        order = np.empty_like(self.people)
        order[self.ids] = self.people
        return order


def places_of(noisy: Ints, groups: Ints, randomness: Randomness, seed: int) -> Places:
    """Return places in ascending order of noisy degrees, with people assigned within their groups.

    So a released node shows only the group of its person's noisy degree. The exact one follows from
    the secret, with which the owner can check the noise.

    Parameters
    ----------
    noisy
        int64, shape (n,): the noisy degree of every person.
    groups
        int64, shape (n,): the group of every place, rising.
    randomness
        That of the run, for the secret and for the order of equal degrees.
    seed
        The public seed, from which the released ids of the places follow.
    """
    # Order people by noisy degree, equal ones at random; then shuffle them inside their groups:
    # words of the secret sort the places of each group. Groups rise with the places, so nobody
    # leaves their group.
    secret = randomness.secret("places within groups")[:16]
    shuffled = randomness.permutation(noisy.size)
    ranked = shuffled[np.argsort(noisy[shuffled], kind="stable")]
    words = next(public_words(int.from_bytes(secret), noisy.size, conditions.WITHIN_GROUPS))
    people = ranked[np.lexsort((words, groups))]
    # Ids follow from the public seed, so that anyone can find the place of an id, and with it its
    # group: `verify` generates the graph again over places, and compares the edges.
    words = next(public_words(seed, noisy.size, conditions.IDS))
    return Places(people, np.argsort(words, kind="stable"), secret.hex())
