"""Chunks of rows: what they hold, what they draw from, and that processes change nothing."""

from __future__ import annotations

import multiprocessing
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.errors import GraphveilWarning
from graphveil.core.progress import shown
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.engines import LocalEngine, using
from graphveil.methods.equivalence_classes.rule import collapse
from graphveil.methods.smooth_k import Chunks, Facility, Greedy, SmoothK, smooth_k
from graphveil.methods.smooth_k.chunks import in_chunks, whole_clusters
from graphveil.methods.smooth_k.row_orders import minhash_order
from graphveil.methods.smooth_k.smooth_k import chunks_demanded
from thorough import in_fuzz_alone

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def in_pairs(rows, rng):
    """Put rows together two by two, at random; a last one joins the last pair."""
    position = rng.permutation(rows.n_rows)
    return np.minimum(position // 2, max(rows.n_rows // 2 - 1, 0)).astype(np.int32)


def run(data, *, chunk_rows=8, order="minhash", rounds=0, cluster=in_pairs, refine=None, seed=1):
    return in_chunks(
        data,
        chunks=Chunks(rows=chunk_rows, order=order, rounds=rounds),
        cluster=cluster,
        refine=refine,
        randomness=Randomness(seed=seed),
    )


def some_data(n, seed=0, n_features=30):
    rng = np.random.default_rng(seed)
    return Bipartite.from_scipy((rng.random((n, n_features)) < 0.15).astype(np.int8))


@settings(deadline=None, max_examples=40)
@given(
    st.integers(2, 60),
    st.integers(4, 40),
    st.sampled_from(["minhash", "label-propagation", "none"]),
)
def test_clusters_are_numbered_without_gaps_and_hold_at_least_k_rows(n, chunk_rows, order):
    labels = run(some_data(n), chunk_rows=chunk_rows, order=order)
    sizes = np.bincount(labels)
    assert labels.shape == (n,)
    assert min(2, n) <= sizes.min()


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 60), st.integers(4, 40))
def test_chunks_are_nearly_equal_pieces_of_the_order(n, chunk_rows):
    data = some_data(n)
    seen = []

    def noted(rows, rng):
        seen.append(rows.n_rows)
        return in_pairs(rows, rng)

    labels = run(data, chunk_rows=chunk_rows, cluster=noted)
    assert len(seen) == max(1, round(n / chunk_rows))
    assert max(seen) - min(seen) <= 1
    order = minhash_order(data, Randomness(seed=1).stream("order of rows"))
    homes = {}
    for chunk, piece in enumerate(np.array_split(order, len(seen))):
        for label in labels[piece].tolist():
            assert chunk == homes.setdefault(label, chunk)


def test_every_chunk_sees_its_rows_over_their_own_features():
    data = Bipartite.from_lists([[0, 5], [0, 5], [0], [0], [2, 3], [2], [3], [2, 3]])
    seen = []

    def noted(rows, rng):
        seen.append((rows.n_features, sorted(rows.degrees()[rows.kinds].tolist())))
        return in_pairs(rows, rng)

    run(data, chunk_rows=4, order="none", cluster=noted)
    assert [(2, [1, 1, 2, 2]), (2, [1, 1, 2, 2])] == seen


def test_every_chunk_draws_from_a_stream_of_its_own():
    drawn = []

    def noted(rows, rng):
        drawn.append(rng.integers(0, 2**62))
        return in_pairs(rows, rng)

    run(some_data(40), cluster=noted)
    first = list(drawn)
    drawn.clear()
    run(some_data(40), cluster=noted)
    assert len(set(first)) == len(first) == 5
    assert first == drawn


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 80), st.integers(4, 30), st.integers(0, 5))
def test_a_round_keeps_clusters_whole(n, chunk_rows, seed):
    data = some_data(n, seed)
    labels = run(data, chunk_rows=16, seed=seed)
    pieces = whole_clusters(data, labels, chunk_rows, Randomness(seed=seed).stream("order"))
    assert list(range(n)) == sorted(np.concatenate(pieces).tolist())
    homes = [set(labels[piece].tolist()) for piece in pieces]
    assert sum(map(len, homes)) == len(set().union(*homes))
    assert len(pieces) <= max(1, round(n / chunk_rows))


def test_like_clusters_meet_in_a_round():
    data = Bipartite.from_lists([[0, 1], [2, 3], [0, 1], [2, 3], [0, 1], [2, 3], [0, 1], [2, 3]])
    labels = np.array([0, 1, 0, 1, 2, 3, 2, 3], dtype=np.int32)
    pieces = whole_clusters(data, labels, 4, Randomness(seed=1).stream("order"))
    assert [[0, 2, 4, 6], [1, 3, 5, 7]] == sorted(sorted(piece.tolist()) for piece in pieces)


def test_a_round_refines_clusters_that_are_numbered_without_gaps():
    seen = []

    def noted(rows, labels, rng):
        seen.append(np.array_equal(np.unique(labels), np.arange(labels.max() + 1)))
        assert rows.n_rows == labels.size
        del rng
        return labels

    before = run(some_data(50))
    after = run(some_data(50), rounds=2, refine=noted)
    assert seen
    assert all(seen)
    assert _partition(before) == _partition(after)


def _partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


def test_stages_are_announced_with_the_number_of_chunks():
    announced = []

    @contextmanager
    def show(name, total):
        announced.append((name, total))
        yield lambda _: None

    with shown(show):
        run(some_data(40))
    assert ("clusters of chunks", 5) in announced


@pytest.mark.thorough
@in_fuzz_alone
def test_any_number_of_processes_gives_the_same_release():
    method = SmoothK(k=2, chunks=Chunks(rows=20, rounds=1))
    data = some_data(60)
    alone = method.anonymize(data, seed=3)
    with using(LocalEngine(jobs=2)):
        together = method.anonymize(data, seed=3)
    assert alone.data == together.data
    assert [] == multiprocessing.active_children()


@pytest.mark.parametrize("algorithm", [Greedy(), Facility()], ids=repr)
def test_a_chunked_release_keeps_its_promise(algorithm):
    method = SmoothK(k=3, chunks=Chunks(rows=25), algorithm=algorithm)
    data = some_data(101)
    release = method.anonymize(data, seed=5)
    assert release.verify(data).ok


def test_data_of_very_common_features_is_anonymized_in_chunks_unasked_and_says_so(monkeypatch):
    monkeypatch.setattr(smooth_k, "MOST_COMPARISONS", 50)
    monkeypatch.setattr(smooth_k, "FEWEST_ROWS", 4)
    monkeypatch.setattr(smooth_k, "FEWEST_CLUSTERS", 2)
    monkeypatch.setattr(smooth_k, "ROUNDED_TO", 1)
    data = Bipartite.from_lists([["tea", f"jam {u}"] for u in range(20)])
    with pytest.warns(GraphveilWarning, match="in independent chunks of about 4"):
        release = SmoothK(k=2).anonymize(data, seed=1)
    assert release.private.withheld["chunk_rows"] is None
    assert any("chunk_rows=20 for a single chunk" in said for said in release.private.warnings)
    with pytest.warns(GraphveilWarning) as caught:
        SmoothK(k=2).anonymize(data, seed=1)
    assert any("--chunk-rows 20 for a single chunk" in one.message.message.flags for one in caught)
    assert release.verify(data).ok


def test_a_chunk_that_the_data_demands_fits_the_work_and_many_clusters():
    assert chunks_demanded(10**6, 10**10, k=2) is None
    assert 500_000 == chunks_demanded(10**6, 2 * 10**10, k=2).rows
    assert 10_000 == chunks_demanded(10**6, 10**14, k=2).rows
    assert 50_000 == chunks_demanded(10**6, 10**14, k=500).rows
    assert chunks_demanded(9_000, 10**14, k=2) is None


def test_comparisons_are_the_pairs_of_distinct_rows_once_a_common_feature():
    rows = [{1, 2, 3}, {2, 3}, {3}, {2, 3}]
    distinct = [set(row) for row in {frozenset(row) for row in rows}]
    expected = sum(len(a & b) for a in distinct for b in distinct)
    assert expected == collapse(Bipartite.from_lists([sorted(row) for row in rows])).comparisons
