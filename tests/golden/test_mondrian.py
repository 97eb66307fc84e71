"""Mondrian on the data of the smooth-anonymity specification, against its table (a prototype's)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import graphveil as gv
from shared_data import script, shared

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
FOLDERS = {"adult": "adult", "playstore": "googleplaystore"}


@cache
def load(name):
    sets = script("benchmarks/smooth_anonymity/data.py")
    if name == "stochastic":
        return sets.stochastic(0)
    return getattr(sets, name)(shared(FOLDERS[name]).parent)


def jaccard(data, **parameters):
    """Return 100 J of a release with k=8, recounted from the release and the linkage."""
    release = gv.Mondrian(k=8, **parameters).anonymize(data)
    order = release.private.linkage.released
    column = {name: position for position, name in enumerate(data.feature_labels().tolist())}
    columns = np.array([column[name] for name in release.data.feature_labels().tolist()])
    shown = release.data
    after = shown.rows().astype(np.int64), columns[shown.indices]
    back = np.empty(order.size, dtype=np.int64)
    back[order] = np.arange(order.size)
    had = data.rows().astype(np.int64) * data.n_features + data.indices
    has = back[after[0]] * data.n_features + after[1]
    both = np.intersect1d(had, has).size
    return 100 * both / (had.size + has.size - both)


def by_first_appearance(data):
    """Return the data with features in the order in which the rows show them first."""
    _, first = np.unique(data.indices, return_index=True)
    matrix = data.to_scipy()[:, np.argsort(first)]
    return gv.Bipartite.from_scipy(matrix, features=data.feature_labels()[np.argsort(first)])


@pytest.mark.parametrize("order", ["given", "sorted"])
@pytest.mark.parametrize(
    ("name", "split", "expected", "within"),
    [
        ("adult", "first", 58.3, 2),
        ("adult", "balanced", 73.9, 2),
        ("stochastic", "first", 2.7, 0.5),
        ("playstore", "first", 45.4, 2),
    ],
)
def test_as_much_is_kept_as_by_the_prototype(name, split, expected, within, order):
    actual = jaccard(load(name), split=split, column_order=order)
    assert actual == pytest.approx(expected, abs=within)


def test_the_order_of_first_appearance_keeps_less_of_adult():
    actual = jaccard(by_first_appearance(load("adult")), column_order="given")
    assert actual == pytest.approx(55.1, abs=2)


@pytest.mark.parametrize(
    ("name", "split", "low", "high"),
    [
        ("adult", "first", 89.4, 90.7),
        ("adult", "balanced", 89.4, 90.7),
        ("stochastic", "first", 31.9, 31.9),
        ("stochastic", "balanced", 55.2, 55.2),
    ],
)
def test_by_majority_as_much_is_kept_as_by_the_prototype(name, split, low, high):
    actual = jaccard(load(name), split=split, release="majority")
    assert low - 2 <= actual <= high + 2
