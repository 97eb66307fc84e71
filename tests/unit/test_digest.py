"""The digest of an input: other content has another one, whatever stands in its names."""

from __future__ import annotations

import hashlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil.claims.facts import (
    RowsDigest,
    RowsPart,
    digest_of,
    digest_of_rows,
    digests_of_files,
    is_digest_of,
    tokens_of,
)

NAMES = st.lists(st.text("a\x1f\x00é", max_size=3), min_size=1, max_size=6, unique=True)


def test_ids_and_columns_that_differ_in_where_they_are_parted_have_other_digests():
    ends = [0, 1], [1, 2]
    one, other = (
        gv.Graph.from_edges(*ends, ids=ids) for ids in (["a\x1fb", "c", "d"], ["a", "b\x1fc", "d"])
    )
    assert digest_of(one) != digest_of(other)
    wide, narrow = (
        gv.Table(np.zeros((2, 2), np.int32), names, (["x"], ["x"]))
        for names in (("a\x1fb", "c"), ("a", "b\x1fc"))
    )
    assert digest_of(wide) != digest_of(narrow)


@given(one=NAMES, other=NAMES)
def test_other_ids_have_another_digest(one, other):
    digests = {
        digest_of(gv.Bipartite.from_pairs(users, ["tea"] * len(users))) for users in (one, other)
    }
    assert len({tuple(sorted(one)), tuple(sorted(other))}) == len(digests)


@given(users=NAMES, cut=st.integers(0, 6), numbers=st.booleans())
def test_parts_in_any_order_have_the_digest_of_the_whole(users, cut, numbers):
    items = [7, 3] if numbers else ["tea", "rye"]
    rows = [(user, items[: len(user)]) for user in users]
    pairs = [(user, item) for user, row in rows for item in row] or [("", items[0])]
    data = gv.Bipartite.from_pairs(*zip(*pairs, strict=True))
    rows = [(user, sorted(row)) for user, row in rows if row] or [("", items[:1])]
    digest = RowsDigest()
    for part in (rows[cut:][::-1], rows[:cut]):
        names = [item for _, row in part for item in row]
        tokens = tokens_of(np.array(names, dtype=np.int64) if numbers else names)
        ends = np.cumsum([0, *(len(row) for _, row in part)])
        digest = digest.plus(digest_of_rows(RowsPart([user for user, _ in part], ends, tokens)))
    assert digest_of(data) == digest.text(user_is_integer=False, item_is_integer=numbers)


def test_one_file_has_its_own_digest_and_several_have_that_of_theirs_in_order(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"tea")
    other.write_bytes(b"rye")
    first, second = (hashlib.sha256(content).hexdigest() for content in (b"tea", b"rye"))
    assert (first, (first,)) == digests_of_files([one])
    both = hashlib.sha256(f"{second}{first}".encode()).hexdigest()
    assert (both, (second, first)) == digests_of_files([other, one])


EARLIER = "e9c6c04efe7c0ad14044100bec9953827bdf32b0f3e6f2f5acd48a6ee0384950"
"""What the version before gave for `users()`."""


def test_a_digest_of_an_earlier_version_is_that_of_the_same_data():
    data, other = users(), users(items=["x", "y", "x"])
    assert is_digest_of(digest_of(data), data)
    assert not is_digest_of(digest_of(data), other)
    assert is_digest_of(EARLIER, data)
    assert not is_digest_of(EARLIER, other)
    assert EARLIER != digest_of(data)


def graph(**changed):
    ends = {"source": [0, 1, 2], "target": [1, 2, 3], "ids": ["a", "b", "c", "d"]} | changed
    return gv.Graph.from_edges(ends["source"], ends["target"], ids=ends["ids"])


def users(**changed):
    pairs = {"users": ["a", "a", "b"], "items": ["x", "y", "y"]} | changed
    return gv.Bipartite.from_pairs(pairs["users"], pairs["items"])


def table(*, names=("sex", "zip"), ids=("a", "b", "c"), **changed):
    cells = {"one": ["f", "m", "f"], "other": [7, 8, None]} | changed
    return gv.Table.from_columns(dict(zip(names, cells.values(), strict=True)), ids=list(ids))


CONTENT = {
    "graph": graph(),
    "an edge more": graph(source=[0, 1, 2, 0], target=[1, 2, 3, 2]),
    "an edge less": graph(source=[0, 1], target=[1, 2]),
    "another edge": graph(target=[1, 3, 3]),
    "a node more": graph(ids=["a", "b", "c", "d", "e"]),
    "another name of a node": graph(ids=["a", "b", "c", "e"]),
    "names of nodes exchanged": graph(ids=["b", "a", "c", "d"]),
    "users": users(),
    "an entry less": users(users=["a", "b"], items=["x", "y"]),
    "another name of a user": users(users=["a", "a", "c"]),
    "names of users exchanged": users(users=["b", "b", "a"]),
    "another name of an item": users(items=["x", "z", "z"]),
    "names of items exchanged": users(items=["y", "x", "x"]),
    "table": table(),
    "another cell": table(one=["f", "m", "m"]),
    "a cell suppressed": table(one=["f", "m", None]),
    "a cell not suppressed": table(other=[7, 8, 8]),
    "another value": table(one=["f", "d", "f"]),
    "values exchanged": table(one=["m", "f", "m"]),
    "numbers as text": table(other=["7", "8", None]),
    "another name of a column": table(names=("sex", "job")),
    "names of columns exchanged": table(names=("zip", "sex")),
    "another name of a person": table(ids=("a", "b", "d")),
    "names of people exchanged": table(ids=("b", "a", "c")),
    "people without names": gv.Table.from_columns({"sex": ["f", "m", "f"], "zip": [7, 8, None]}),
}
"""Data of which each differs from the first of its kind in one thing."""


def test_whatever_differs_in_the_content_gives_another_digest():
    names: dict[str, list[str]] = {}
    for name, data in CONTENT.items():
        names.setdefault(digest_of(data), []).append(name)
    assert [] == [alike for alike in names.values() if len(alike) > 1]
    assert {type(data) for data in CONTENT.values()} == {gv.Graph, gv.Bipartite, gv.Table}


def test_the_same_content_has_the_same_digest():
    assert digest_of(graph()) == digest_of(graph(source=[3, 1, 1], target=[2, 2, 0]))
    assert digest_of(users()) == digest_of(users(users=["b", "a", "a"], items=["y", "y", "x"]))
    assert digest_of(table()) == digest_of(table())
