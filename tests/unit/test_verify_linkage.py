"""Of every short list of pairs, those alone are a linkage that pair everybody with one id."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest

from emptied import emptied_database
from graphveil.verify.recount.linkage import linkage_problems
from thorough import part_of


def tables(most, originals, released):
    """Return every list of so many such pairs at most, in one order each."""
    pairs = list(product(originals, released))
    return [some for size in range(most + 1) for some in combinations_with_replacement(pairs, size)]


def problems(linkage, originals, published):
    one, other = zip(*linkage, strict=True) if linkage else ((), ())
    with emptied_database() as db:
        db.put(
            "linkage",
            {"original": pa.array(one, pa.string()), "released": pa.array(other, pa.int64())},
        )
        db.put("originals", {"id": pa.array(originals, pa.string())})
        if published == tuple(range(len(originals))):
            return linkage_problems(db, "linkage.parquet")
        db.put("keyed", {"person": np.array(published, dtype=np.int64)})
        return linkage_problems(db, "linkage.parquet", "SELECT person AS i FROM keyed")


def is_one_to_one(linkage, originals, published):
    """Whether everybody is in it once, with an id of their own, and all ids are."""
    one, other = [pair[0] for pair in linkage], [pair[1] for pair in linkage]
    return (
        all(word is not None for word in one)
        and all(number is not None for number in other)
        and sorted(one) == sorted(originals)
        and sorted(other) == sorted(published)
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("originals", "published", "every"),
    [
        ("ab", (0, 1), tables(2, ["a", "b", "x", None], [0, 1, 2, None])),
        ("ab", (0, 1), tables(3, "abx", [0, 1, 2])),
        ("abc", (0, 1, 2), tables(3, "abc", [0, 1, 2])),
        ("ab", (5, 9), tables(2, ["a", "b", "x"], [0, 5, 9])),
        ("ab", (5, 9), tables(3, "ab", [5, 9])),
    ],
    ids=["two", "rows too many", "three", "ids of a key", "ids of a key, rows too many"],
)
def test_a_linkage_passes_where_it_is_one_to_one(originals, published, every):
    right = [one for one in every if is_one_to_one(one, originals, published)]
    tried = [*part_of(every, every=4), *right]
    passed = [one for one in tried if not problems(one, list(originals), published)]
    assert [one for one in tried if one in right] == passed
    assert passed
