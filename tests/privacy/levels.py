"""Small releases in which everybody asked for a number of records, and brute-force twins."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from graphveil.claims.guarantees import AdaptiveAnonymity
from graphveil.data import Table
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.files import OwnersLevels, Witness
from graphveil.release.release import Linkage
from stars import stars_by_row

PEOPLE = ["alice", "bob", "carol", "dave", "eve", "fred"]
BEFORE = ["1000", "0000", "0011", "1011", "1100", "0111"]
BIPARTITE = ["*000", "**00", "*011", "**11", "1*00", "0*11"]
SYMMETRIC = ["**00", "*000", "**11", "*011", "1*00", "0*11"]
ORDER = [4, 0, 3, 5, 1, 2]


def table_of(rows, *, ids=None):
    columns = {f"q{place}": [row[place] for row in rows] for place in range(len(rows[0]))}
    return Table.from_columns(columns, ids=ids)


def people(n):
    return [f"person-{place}" for place in range(n)] if n > len(PEOPLE) else PEOPLE[:n]


def fits_of(before, after):
    """Return which record (of a person, by position) fits which person."""
    n = len(before)
    return np.array(
        [
            [
                all(
                    y in ("*", x) and (x != "*" or y == "*")
                    for y, x in zip(after[i], before[j], strict=True)
                )
                for j in range(n)
            ]
            for i in range(n)
        ],
        dtype=bool,
    ).reshape(n, n)


def allowed_of(fits):
    """Return which pairs are part of a permutation in which all pairs fit: all are tried."""
    n = len(fits)
    pairs = np.zeros_like(fits)
    for persons in permutations(range(n)):
        if all(fits[range(n), persons]):
            pairs[range(n), persons] = True
    return pairs


def keeps(before, after, levels):
    """Whether every person has as many allowed records as asked for, and their record people."""
    allowed = allowed_of(fits_of(before, after))
    wanted = np.array(levels)
    return bool((allowed.sum(axis=0) >= wanted).all() and (allowed.sum(axis=1) >= wanted).all())


def release_of(before, after, *, level=2, levels=None, order=None, pairs=None) -> Release:
    """Return the release of these rows; of pairs (record of i, person j) the chosen ones."""
    original = table_of(before, ids=people(len(before)))
    order = np.array(order if order is not None else range(len(before)))
    fits = fits_of(before, after) if pairs is None else pairs
    chosen = [np.flatnonzero(row).astype(np.int32) for row in fits]
    indptr = np.concatenate([[0], np.cumsum([row.size for row in chosen])]).astype(np.int64)
    asked = None if levels is None else OwnersLevels(original.labels(), np.array(levels))
    pairs_of = zip(after, before, strict=True)
    added = sum(y == "*" != x for row, had in pairs_of for y, x in zip(row, had, strict=True))
    return Release(
        data=table_of([after[place] for place in order]).without_unused(),
        guarantee=AdaptiveAnonymity(level=level, common=levels is None),
        conditions=(stars_by_row(row.count("*") for row in after),),
        provenance=Provenance(
            method="by-hand", source="a test", limits="Not re-runs.", parameters={}
        ),
        private=Private(
            input_sha256=digest_of(original),
            cost={"stars_added": added},
            linkage=Linkage(original.labels(), np.argsort(order)),
            levels=asked,
            witness=Witness(indptr, np.concatenate(chosen)),
        ),
    )
