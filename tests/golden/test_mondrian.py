"""Mondrian on the data of the smooth-anonymity specification, against its table (a prototype's)."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import graphveil as gv

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("GRAPHVEIL_SHARED_DATA", ROOT.parent / "shared" / "data"))

pytestmark = [
    pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning"),
    pytest.mark.skipif(not (DATA / "adult").is_dir(), reason="the shared data are not there"),
]


@cache
def sets():
    """Return the module of the data sets that the benchmarks use."""
    path = ROOT / "benchmarks" / "smooth_anonymity" / "data.py"
    spec = importlib.util.spec_from_file_location("smooth_anonymity_data", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def load(name):
    return sets().stochastic(0) if name == "stochastic" else getattr(sets(), name)(DATA)


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
