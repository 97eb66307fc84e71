"""Cuts of rows against a dense, recursive twin, and what every release of them must be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.errors import GraphveilWarning
from graphveil.methods.equivalence_classes.kernels import cuts as kernel
from graphveil.methods.equivalence_classes.rule import collapse

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def allowed(part, k, split):
    """Return the columns along which a dense part may be cut, in order, and the smaller sides."""
    s = len(part)
    for column in range(part.shape[1]):
        o = int(part[:, column].sum())
        z = s - o
        fits = s // 2 >= k and z >= s // 2 if split == "first" else True
        if o >= k and z >= k and fits:
            yield column, min(o, z)


def cut_densely(matrix, members, k, split):
    """Yield the parts of some rows, the paper's way: recursively, on a table of all cells."""
    part = matrix[members]
    cuts = list(allowed(part, k, split))
    if not cuts:
        yield frozenset(members)
        return
    most = max(side for _, side in cuts)
    column = next(c for c, side in cuts if split == "first" or side == most)
    for side in (1, 0):
        yield from cut_densely(
            matrix, [row for row in members if matrix[row, column] == side], k, split
        )


def published(matrix, parts, release):
    """Return the cells that the parts publish."""
    out = np.zeros_like(matrix)
    for part in parts:
        members = sorted(part)
        ones = matrix[members].sum(axis=0)
        kept = ones == len(members) if release == "suppress" else 2 * ones >= len(members)
        out[members] = kept & (ones > 0)
    return out


def cells_of(release, n_features):
    """Return the released cells in the order of the original's rows and features, dense."""
    linkage = release.private.linkage
    cells = np.zeros((release.data.n_users, n_features), dtype=np.int8)
    names = release.data.feature_labels()
    for row, user in enumerate(linkage.released.tolist()):
        cells[row, names[release.data.row(user)].astype(np.int64)] = 1
    return cells


matrices = st.integers(2, 24).flatmap(
    lambda n: st.integers(1, 6).flatmap(
        lambda d: st.lists(
            st.lists(st.integers(0, 1), min_size=d, max_size=d), min_size=n, max_size=n
        )
    )
)


@settings(deadline=None, max_examples=300)
@given(
    rows=matrices,
    k=st.integers(2, 5),
    split=st.sampled_from(["first", "balanced"]),
    release=st.sampled_from(["suppress", "majority"]),
)
@example(rows=[[0]] * 3, k=3, split="first", release="majority")
def test_the_release_is_that_of_the_recursive_twin_on_dense_cells(rows, k, split, release):
    matrix = np.array(rows, dtype=np.int8)
    k = min(k, len(matrix))
    method = gv.Mondrian(k=k, split=split, release=release, column_order="given")
    made = method.anonymize(gv.Bipartite.from_scipy(matrix, items="things"))
    parts = list(cut_densely(matrix, list(range(len(matrix))), k, split))
    expected = published(matrix, parts, release)
    assert expected.tolist() == cells_of(made, matrix.shape[1]).tolist()
    assert len(parts) == made.private.cost["clusters"]
    kept, either = int((matrix & expected).sum()), int((matrix | expected).sum())
    assert (kept / either if either else 1.0) == made.private.cost["jaccard"]
    assert kept == made.private.cost["entries_kept"]
    assert either - int(matrix.sum()) == made.private.cost["entries_created"]


@settings(deadline=None, max_examples=200)
@given(rows=matrices, k=st.integers(2, 5), split=st.sampled_from(["first", "balanced"]))
def test_the_parts_of_the_kernel_are_those_of_the_recursive_twin(rows, k, split):
    matrix = np.array(rows, dtype=np.int8)
    k = min(k, len(matrix))
    data = collapse(gv.Bipartite.from_scipy(matrix, items="things"))
    distinct = kernel.Distinct(data.indptr, data.indices, data.weights)
    work = kernel.work_for(distinct, data.n_features)
    parts = np.empty(data.n_distinct, dtype=np.int32)
    choice = kernel.FIRST if split == "first" else kernel.BALANCED
    n_parts = kernel.divide(distinct, work, k, choice, parts)
    expected = set(cut_densely(matrix, list(range(len(matrix))), k, split))
    part_of_row = parts[data.kinds]
    assert list(range(n_parts)) == sorted(set(parts.tolist()))
    assert expected == {
        frozenset(np.flatnonzero(part_of_row == part).tolist()) for part in range(n_parts)
    }


@settings(deadline=None, max_examples=100)
@given(rows=matrices, k=st.integers(2, 5), split=st.sampled_from(["first", "balanced"]))
def test_every_class_holds_k_rows_and_suppression_adds_nothing(rows, k, split):
    matrix = np.array(rows, dtype=np.int8)
    k = min(k, len(matrix))
    data = gv.Bipartite.from_scipy(matrix, items="things")
    for release in ("suppress", "majority"):
        made = gv.Mondrian(k=k, split=split, release=release).anonymize(data)
        cells = cells_of(made, matrix.shape[1])
        _, which, sizes = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        assert sizes.min() >= k
        share = np.array([matrix[which == row].mean(axis=0) for row in which])
        assert np.all(share[cells == 1] >= (1 if release == "suppress" else 0.5))


@settings(deadline=None, max_examples=60)
@given(rows=matrices, seed=st.integers(0, 99))
def test_the_order_of_the_rows_changes_no_class(rows, seed):
    matrix = np.array(rows, dtype=np.int8)
    order = np.random.default_rng(seed).permutation(len(matrix))
    method = gv.Mondrian(k=2)
    cells = [
        cells_of(
            method.anonymize(gv.Bipartite.from_scipy(version, items="things")), matrix.shape[1]
        )
        for version in (matrix, matrix[order])
    ]
    assert cells[0][order].tolist() == cells[1].tolist()


def test_cuts_as_deep_as_there_are_rows_are_made_without_recursion():
    n = 20_000
    wide = gv.Bipartite(np.arange(n + 1), np.arange(n) // 2, n_features=n // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphveilWarning)
        made = gv.Mondrian(k=2, column_order="given").anonymize(wide)
    assert n // 2 == made.private.cost["clusters"]
    assert 1.0 == made.private.cost["jaccard"]
