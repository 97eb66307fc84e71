"""Orders of rows against loops that do the same one number at a time."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Bipartite
from graphveil.methods.smooth_k.kernels.label_propagation import Incidence, spread_labels
from graphveil.methods.smooth_k.kernels.min_hash import PRIME, row_signatures, text_hashes
from graphveil.methods.smooth_k.row_orders import (
    HASHES,
    MinHash,
    _communities,
    hashes_of,
    in_order,
    label_propagation_order,
    minhash_order,
    order_of,
    piece_of,
)

QUICK = settings(deadline=None, max_examples=60)

lists = st.lists(st.sets(st.integers(0, 11), max_size=6), min_size=1, max_size=25)
seeds = st.integers(0, 2**32)


def rng_of(seed):
    return np.random.Generator(np.random.PCG64DXSM(seed))


def data_of(rows):
    indptr = np.cumsum([0, *map(len, rows)])
    indices = [feature for row in rows for feature in sorted(row)]
    return Bipartite(indptr, np.array(indices, dtype=np.int32), 12)


def slow_hash(name):
    if isinstance(name, int):
        word = name
    else:
        word = 0xCBF29CE484222325
        for byte in name.encode():
            word = (word ^ byte) * 0x100000001B3 % 2**64
    word = (word + 0x9E3779B97F4A7C15) % 2**64
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def slow_minhash_order(rows, rng, users, features):
    a = rng.integers(1, PRIME, HASHES).tolist()
    b = rng.integers(0, PRIME, HASHES).tolist()
    x = [(slow_hash(name) >> 33) + 1 for name in features]

    def signature(u):
        return tuple(
            min(((a[j] * x[f] + b[j]) % PRIME for f in rows[u]), default=PRIME)
            for j in range(HASHES)
        )

    return sorted(range(len(rows)), key=lambda u: (signature(u), slow_hash(users[u])))


def slow_commonest(rows, labels, sample, rng):
    chosen = (
        rows
        if len(rows) <= sample
        else [rows[int(rng.random() * len(rows))] for _ in range(sample)]
    )
    counts = Counter(labels[u] for u in chosen)
    return min(counts, key=lambda label: (-counts[label], label))


def slow_spread(features_of, n, n_features, cap, rng, sample=200, iterations=6):
    rows_of = [[u for u in range(n) if f in features_of[u]] for f in range(n_features)]
    weights = [1 / np.log2(2.0 + len(rows)) for rows in rows_of]
    labels = list(range(n))
    order = list(range(n))
    for _ in range(iterations):
        of_feature = [
            slow_commonest(rows, labels, sample, rng) if rows else None for rows in rows_of
        ]
        for i in range(n - 1, 0, -1):
            j = int(rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
        before = list(labels)
        for u in order:
            sums = {labels[u]: 0.0}
            for f in sorted(features_of[u]):
                sums[of_feature[f]] = sums.get(of_feature[f], 0.0) + weights[f]
            own = labels[u]
            allowed = {x for x in sums if x == own or labels.count(x) < cap}
            labels[u] = min(allowed, key=lambda x: (-sums[x], x != own, x))
        if labels == before:
            break
    return labels


def slow_label_propagation_order(rows, chunk_rows, rng):
    n = len(rows)
    levels, labels = [], list(range(n))
    for cap in (max(chunk_rows // 8, 1), 64, 64):
        united = [set() for _ in range(n)]
        for u in range(n):
            united[labels[u]] |= rows[u]
        spread = slow_spread(united, n, 12, cap, rng)
        labels = [spread[label] for label in labels]
        levels.append(labels)
    fine, middle, coarse = levels
    return sorted(range(n), key=lambda u: (not rows[u], coarse[u], middle[u], fine[u], u))


@QUICK
@given(lists, seeds, st.booleans())
def test_minhash_order_is_that_of_the_definition(rows, seed, text):
    data, users, features = data_of(rows), list(range(len(rows))), list(range(12))
    if text:
        users, features = [f"ü{user}" for user in users], [f"item {name}" for name in features]
        names = {"users": np.array(users), "features": np.array(features)}
        data = Bipartite(data.indptr, data.indices, 12, **names)
    expected = slow_minhash_order(rows, rng_of(seed), users, features)
    assert expected == minhash_order(data, rng_of(seed)).tolist()


@QUICK
@given(lists, seeds, seeds)
def test_minhash_order_is_a_function_of_the_set_of_rows(rows, seed, shuffled):
    users, features = rng_of(shuffled).permutation(len(rows)), rng_of(shuffled).permutation(12)
    names = np.empty(12, dtype=np.int64)
    names[features] = np.arange(12)
    moved = data_of([{int(features[f]) for f in rows[u]} for u in users])
    moved = Bipartite(moved.indptr, moved.indices, 12, users=users, features=names)
    order = minhash_order(data_of(rows), rng_of(seed)).tolist()
    assert order == users[minhash_order(moved, rng_of(seed))].tolist()


@QUICK
@given(st.lists(st.text(max_size=8)))
def test_the_kernel_hashes_the_bytes_of_every_text(texts):
    letters = [text.encode() for text in texts]
    starts = np.cumsum([0, *map(len, letters)], dtype=np.int64)
    hashes = np.zeros(len(texts), dtype=np.uint64)
    joined = np.frombuffer(b"".join(letters), dtype=np.uint8)
    starts.flags.writeable = False
    text_hashes(starts, joined, hashes)
    for text, word in zip(letters, hashes.tolist(), strict=True):
        expected = 0xCBF29CE484222325
        for byte in text:
            expected = (expected ^ byte) * 0x100000001B3 % 2**64
        assert expected == word


@QUICK
@given(st.lists(st.integers(0, 2**63 - 1), min_size=1), st.lists(st.text(max_size=8), min_size=1))
def test_ids_are_hashed_as_by_the_definition(numbers, texts):
    named = np.array(texts, dtype=np.dtypes.StringDType())
    assert list(map(slow_hash, numbers)) == hashes_of(np.array(numbers)).tolist()
    assert list(map(slow_hash, texts)) == hashes_of(named).tolist()


def test_hashes_are_the_published_ones():
    assert 0xE220A8397B1DCDAF == hashes_of(np.array([0])).tolist()[0]  # splitmix64 of Java 8
    out = np.zeros(1, dtype=np.uint64)
    starts, letters = np.array([0, 1]), np.frombuffer(b"a", dtype=np.uint8)
    starts.flags.writeable = False
    text_hashes(starts, letters, out)
    assert [0xAF63DC4C8601EC8C] == out.tolist()


@QUICK
@given(lists, st.lists(st.integers(0, 2**64 - 1), min_size=12, max_size=12), seeds)
def test_the_kernel_of_signatures_lowers_to_the_least_of_every_row(rows, hashes, seed):
    smallest = np.full((len(rows), 3), PRIME // 2, dtype=np.int32)
    indptr, indices = _csr(rows)
    a, b = rng_of(seed).integers(1, PRIME, 3), rng_of(seed).integers(0, PRIME, 3)
    entries = np.array(hashes, dtype=np.uint64)[indices]
    entries.flags.writeable = False
    row_signatures(indptr, entries, a, b, smallest)
    expected = [
        [
            min(
                [
                    PRIME // 2,
                    *((int(a[j]) * ((hashes[f] >> 33) + 1) + int(b[j])) % PRIME for f in row),
                ]
            )
            for j in range(3)
        ]
        for row in rows
    ]
    assert expected == smallest.tolist()


@pytest.mark.parametrize("x", [0, 1, 2**31 - 3, 2**31 - 2, 2**31 - 1])
def test_hashes_at_the_ends_are_those_modulo_the_prime(x):
    entries = np.array([x << 33], dtype=np.uint64)
    hashes = MinHash((1, PRIME - 1, 2, 1, 1, 1, 5, 7), (0, 0, PRIME - 1, 1, PRIME - 1, 2, 3, 4))
    factors = zip(hashes.multipliers, hashes.offsets, strict=True)
    expected = [(a * (x + 1) + b) % PRIME for a, b in factors]
    assert [expected] == hashes.signatures(np.array([0, 1]), entries).tolist()


words = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20)


@QUICK
@given(words, words)
def test_a_row_lies_in_the_piece_of_its_cuts(rows, cuts):
    in_order_of = sorted(cuts)
    expected = [sum(cut <= row for cut in in_order_of) for row in rows]
    arrays = (np.array(pairs, dtype=np.uint64) for pairs in (rows, in_order_of))
    assert expected == piece_of(*arrays).tolist()


@QUICK
@given(words)
def test_rows_are_put_in_the_order_of_their_words(rows):
    expected = sorted(range(len(rows)), key=lambda u: rows[u])
    assert expected == in_order(np.array(rows, dtype=np.uint64)).tolist()


@QUICK
@given(lists, seeds, st.integers(1, 30), st.integers(1, 5), st.integers(1, 4))
def test_labels_spread_as_by_the_definition(rows, seed, cap, sample, iterations):
    indptr, indices = _csr(rows)
    rows_of_feature = [[u for u in range(len(rows)) if f in rows[u]] for f in range(12)]
    degrees = np.array([len(having) for having in rows_of_feature])
    incidence = Incidence(
        row_starts=np.array(indptr),
        features=np.array(indices),
        feature_starts=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
        rows=np.array([u for having in rows_of_feature for u in having], dtype=np.int32),
    )
    weights = 1 / np.log2(2.0 + degrees)
    expected = slow_spread(
        rows, len(rows), 12, cap, rng_of(seed), sample=sample, iterations=iterations
    )
    spread = spread_labels(incidence, weights, cap, sample, iterations, rng_of(seed))
    assert expected == spread.tolist()


@QUICK
@given(lists, seeds, st.integers(4, 80))
def test_label_propagation_order_is_that_of_the_definition(rows, seed, chunk_rows):
    expected = slow_label_propagation_order(rows, chunk_rows, rng_of(seed))
    assert expected == label_propagation_order(data_of(rows), chunk_rows, rng_of(seed)).tolist()


@QUICK
@given(lists, seeds)
def test_equal_rows_stand_together_in_minhash_order(rows, seed):
    order = minhash_order(data_of(rows), rng_of(seed)).tolist()
    signatures = signatures_of(rows, seed)
    in_order = [tuple(signatures[u]) for u in order]
    runs = 1 + sum(a != b for a, b in pairwise(in_order))
    assert len(set(in_order)) == runs


def signatures_of(rows, seed):
    indptr, indices = _csr(rows)
    return MinHash.sampled(rng_of(seed)).signatures(indptr, hashes_of(np.arange(12))[indices])


def _csr(rows):
    data = data_of(rows)
    return data.indptr, data.indices


@QUICK
@given(lists, seeds, st.integers(1, 6))
def test_no_community_grows_above_its_cap(rows, seed, cap):
    data = data_of(rows)
    labels = _communities(data.rows().astype(np.int64), data.indices, data, cap, rng_of(seed))
    assert cap >= max(Counter(labels.tolist()).values())


@QUICK
@given(lists, seeds, st.sampled_from(["minhash", "label-propagation", "none"]))
def test_every_order_holds_every_row_once(rows, seed, order):
    actual = order_of(data_of(rows), order, 16, rng_of(seed)).tolist()
    assert list(range(len(rows))) == sorted(actual)


@QUICK
@given(lists, seeds, st.sampled_from(["minhash", "label-propagation"]))
def test_rows_without_features_stand_last(rows, seed, order):
    actual = order_of(data_of(rows), order, 16, rng_of(seed)).tolist()
    empty = [not rows[u] for u in actual]
    assert sorted(empty) == empty


def test_a_feature_of_many_rows_is_sampled_as_by_the_definition():
    rows = [{u % 3, 3 + u % 2} for u in range(500)]
    expected = slow_label_propagation_order(rows, 400, rng_of(5))
    assert expected == label_propagation_order(data_of(rows), 400, rng_of(5)).tolist()


def test_planted_communities_stand_together():
    rng = rng_of(1)
    blocks = rng.permutation(np.repeat(np.arange(8), 40))
    rows = [{int(12 * b + f) for f in rng.choice(12, 6, replace=False)} for b in blocks]
    data = Bipartite.from_lists([sorted(row) for row in rows])
    order = label_propagation_order(data, 320, rng_of(2))
    changes = int(np.count_nonzero(np.diff(blocks[order])))
    assert changes == 7


def test_hashes_agree_about_as_often_as_rows_are_alike():
    names = rng_of(3).choice(10_000, 80, replace=False)
    indices = np.concatenate([np.sort(names[:60]), np.sort(names[20:])])
    data = Bipartite([0, 60, 120], indices, 10_000)
    agreed = 0
    for seed in range(100):
        hashes = hashes_of(data.indices.astype(np.int64))
        actual = MinHash.sampled(rng_of(seed)).signatures(data.indptr, hashes)
        agreed += int(np.count_nonzero(actual[0] == actual[1]))
    share, spread = 0.5, 5 * math.sqrt(0.25 / (100 * HASHES))
    assert abs(agreed / (100 * HASHES) - share) < spread
