"""What is kept of real tables whose cells are suppressed, counted on the published rows alone.

The bars on the census records are those of the comparison with other tools; the others are what
growing clusters and searching kept before clusters started by masks, run once.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

import graphveil as gv
from shared_data import script, shared

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
FILES = {
    "adult": "adult/adult.data.gz",
    "adult-test": "adult-test/adult-test.csv.gz",
    "googleplaystore": "googleplaystore/googleplaystore.csv.gz",
    "heart": "spect-heart/SPECT.test.gz",
    "hepatitis": "hepatitis/hepatitis.data.gz",
}


@cache
def columns_of(name):
    return script("benchmarks/finest_masks/run.py").columns_of(shared(FILES[name]).parents[1], name)


def rows_of(release, names):
    """Return the published rows as {column: text}, a suppressed cell left out."""
    if isinstance(release.data, gv.Table):
        return [
            {name: str(row[name]) for name in names if row[name] is not None}
            for row in release.data.to_arrow().to_pylist()
        ]
    lists = release.data.to_lists()["items"].to_pylist()
    return [dict(item.split("=", 1) for item in items) for items in lists]


@pytest.mark.parametrize("method", [gv.SuppressK, gv.ClusterK], ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("name", "k", "bar"),
    [
        ("adult", 5, 0.865),
        ("adult", 10, 0.828),
        ("googleplaystore", 5, 0.622),
        ("heart", 5, 0.6175),
        ("hepatitis", 5, 0.8767),
    ],
)
def test_as_many_cells_are_kept_and_none_is_changed(method, name, k, bar):
    columns = columns_of(name)
    names = list(columns)
    release = method(k=k).anonymize(gv.Table.from_columns(columns), seed=1)
    shown = rows_of(release, names)
    assert len(shown) == len(columns[names[0]])
    assert min(Counter(tuple(sorted(row.items())) for row in shown).values()) >= k
    assert sum(map(len, shown)) >= bar * len(shown) * len(names)
    original = np.array([columns[one] for one in names]).T
    for position, row in zip(release.private.linkage.released, original, strict=True):
        published = shown[position]
        assert all(row[names.index(one)] == cell for one, cell in published.items())


@pytest.mark.parametrize("k", [5, 10])
def test_more_is_kept_than_by_grown_clusters_where_nothing_was_tuned(k):
    """Growing and searching kept less of the other half of the census records."""
    columns = columns_of("adult-test")
    table = gv.Table.from_columns(columns)
    grown = gv.Greedy(seed_order="cost")
    before = gv.SuppressK(k=k, algorithm=grown).anonymize(table, seed=1)
    after = gv.SuppressK(k=k).anonymize(table, seed=1)
    assert after.data.n_suppressed < before.data.n_suppressed
