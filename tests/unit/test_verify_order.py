"""The order of rows, for every short list of rows: ascending and each once, or it is refused."""

from __future__ import annotations

from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from emptied import emptied_database
from graphveil.verify.kinds.registry import CHECKED_KINDS
from graphveil.verify.recount.ids import IDS, ORDER
from thorough import part_of

pytestmark = pytest.mark.thorough

PAIRS = list(product(range(3), repeat=2))
EDGES = [(u, v) for u, v in PAIRS if u < v]
NUMBERS, WORDS = ("9", "10"), ("B", "a")
"""Items in ascending order: as numbers and as text, where "10" would stand before "9"."""


def lists_of(values, most):
    """Return every list of these values, of so many at most."""
    return [some for size in range(most + 1) for some in product(values, repeat=size)]


def ascending(values, key=lambda value: value):
    return all(key(one) < key(other) for one, other in pairwise(values))


IDS_IN_ANY_ORDER = part_of(lists_of(range(4), 3), every=2)


def outcomes(kind, tables, *, keyed):
    """Return what the checker says of the shape of some data, by the names of its checks."""
    with emptied_database() as db:
        for name, columns in tables.items():
            db.put(name, columns)
        of_graph = SimpleNamespace(layers=None, files=[])
        checks = CHECKED_KINDS[kind].shape(db, of_graph, keyed)
        return {name: check.outcome for name, check in checks.items()}


def wrong(cases, kind, *, keyed=False):
    """Return the rows of which the checker says another thing than the slow count.

    A case is rows, the tables that hold them, and whether they are in order.
    """
    return [
        rows
        for rows, tables, expected in cases
        if ("holds" if expected else "fails") != outcomes(kind, tables, keyed=keyed)[ORDER]
    ]


def numbers(values):
    return np.array(values, dtype=np.int64)


def texts(values):
    return pa.array(values, pa.string())


def graph(edges, nodes=(0, 1, 2)):
    ends = {"source": [u for u, _ in edges], "target": [v for _, v in edges]}
    return {
        "nodes": {"node": numbers(nodes)},
        "edges": {name: numbers(values) for name, values in ends.items()},
    }


def features(entries, users=(0, 1)):
    return {
        "users": {"person": numbers(users)},
        "entries": {
            "person": numbers([user for user, _ in entries]),
            "item": texts([item for _, item in entries]),
        },
    }


@pytest.mark.parametrize("keyed", [False, True])
def test_edges_are_in_order_where_each_is_above_the_last_with_its_smaller_end_first(keyed):
    cases = [
        (edges, graph(edges), ascending(edges) and all(u < v for u, v in edges))
        for edges in part_of([*lists_of(PAIRS, 2), *lists_of(EDGES, 3)], every=3)
    ]
    assert [] == wrong(cases, "graph", keyed=keyed)


@pytest.mark.parametrize("keyed", [False, True])
def test_a_graph_whose_edges_repeat_or_are_loops_is_not_simple(keyed):
    passed = [
        edges
        for edges in part_of(lists_of(PAIRS, 2), every=2)
        if (len(set(map(frozenset, edges))) == len(edges) and all(u != v for u, v in edges))
        != (outcomes("graph", graph(edges), keyed=keyed)["simple graph"] == "holds")
    ]
    assert [] == passed


@pytest.mark.parametrize("items", [NUMBERS, WORDS], ids=["numbers", "text"])
@pytest.mark.parametrize("keyed", [False, True])
def test_entries_are_in_order_where_users_ascend_and_their_items_do(items, keyed):
    """A user with an item twice is not in order, whatever else is looked at."""
    cases = [
        (entries, features(entries), ascending([(u, items.index(i)) for u, i in entries]))
        for entries in part_of(lists_of(list(product((0, 1), items)), 3), every=2)
    ]
    assert [] == wrong(cases, "bipartite", keyed=keyed)


@pytest.mark.parametrize("kind", ["graph", "bipartite"])
def test_ids_are_in_order_where_each_is_its_own_number(kind):
    made = graph if kind == "graph" else features
    cases = [(ids, made([], ids), list(ids) == [*range(len(ids))]) for ids in IDS_IN_ANY_ORDER]
    assert [] == wrong(cases, kind)


@pytest.mark.parametrize("kind", ["graph", "bipartite", "table"])
def test_ids_of_a_key_are_in_order_where_they_ascend_each_once(kind):
    def made(ids):
        if kind == "table":
            return {"cells": {"c0": texts(map(str, ids))}}
        return graph([], ids) if kind == "graph" else features([], ids)

    cases = [(ids, made(ids), ascending(ids)) for ids in IDS_IN_ANY_ORDER]
    assert [] == wrong(cases, kind, keyed=True)
    repeated = [ids for ids in IDS_IN_ANY_ORDER if len(set(ids)) < len(ids)]
    assert {"fails"} == {outcomes(kind, made(ids), keyed=True)[IDS] for ids in repeated}
