"""On a release that is a random share of the original, every linear metric says that share."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import graphveil as gv
from graphveil.claims.guarantees import KAnonymity
from graphveil.evaluate import METRICS
from graphveil.evaluate.utility_loss import WORDS
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.evaluate import evaluate_release

RATES = [0.95, 0.9, 0.7, 0.5, 0.3]
BETWEEN = [0.85, 0.6, 0.4]
FELT = [name for name, metric in METRICS.items() if metric.as_sample]


def network(rng):
    """Return a network of hubs of all sizes, with many people who have one tie or none."""
    n = 20_000
    hubs = rng.zipf(1.6, 150_000) - 1
    ends = rng.integers(0, n, hubs.size)
    hubs = np.where(hubs < n, hubs, rng.integers(0, n, hubs.size))
    apart = hubs != ends
    return gv.Graph.assemble(hubs[apart], ends[apart], n=n)[0]


def likes(rng):
    """Return users who have one item to hundreds."""
    n, items = 4_000, 800
    chances = np.sort(rng.beta(0.3, 4.0, items))[::-1]
    user, item = np.nonzero(rng.random((n, items)) < chances * rng.uniform(0.1, 1.0, (n, 1)))
    return gv.Bipartite.assemble(user, item, users=range(n), features=range(items))[0]


def survey(rng):
    """Return a table of columns of two values to forty, some cells unknown."""
    n = 20_000
    first = rng.geometric(0.1, n) % 40
    columns = {"age": first, "sex": (first + rng.integers(0, 2, n)) % 2, "town": rng.zipf(2, n) % 9}
    cells = {name: np.where(rng.random(n) < 0.02, "*", cell) for name, cell in columns.items()}
    return gv.Table.from_columns(cells)


MAKE = {gv.Graph: network, gv.Bipartite: likes, gv.Table: survey}
ORIGINALS = {kind: make(np.random.default_rng(5)) for kind, make in MAKE.items()}


def kept_at_random(data, rate, rng):
    """Return as many people with a share of the ties, entries or rows alone."""
    if isinstance(data, gv.Graph):
        edges = rng.permutation(data.edges())[: round(rate * data.n_edges)]
        return gv.Graph.from_edges(edges[:, 0], edges[:, 1], n=data.n_nodes)
    if isinstance(data, gv.Bipartite):
        kept = np.sort(rng.permutation(data.n_entries)[: round(rate * data.n_entries)])
        return gv.Bipartite.assemble(
            data.labels()[data.rows()[kept]],
            data.feature_labels()[data.indices[kept]],
            users=data.labels(),
            features=data.feature_labels(),
        )[0]
    codes = data.codes.copy()
    codes[rng.permutation(data.n_rows)[round(rate * data.n_rows) :]] = -1
    return gv.Table(codes, data.columns, data.categories, data.ids)


def release_of(data, original):
    people = Linkage(np.arange(data.size), np.arange(data.size))
    return Release(
        data=data,
        guarantee=KAnonymity(k=1),
        provenance=Provenance(method="by-hand", source="a test", limits="all", parameters={}),
        private=Private(input_sha256=digest_of(original), linkage=people),
    )


def rows_with_shares(kind, rate, drawn=1, **asked):
    original = ORIGINALS[kind]
    data = kept_at_random(original, rate, np.random.default_rng(drawn + 100))
    names = [name for name in FELT if METRICS[name].kind is kind]
    asked = {"metrics": names, "seed": 1, "as_sample": True} | asked
    return evaluate_release(release_of(data, original), original=original, **asked)


@pytest.mark.parametrize("rate", [*RATES, *BETWEEN])
@pytest.mark.parametrize("kind", MAKE)
def test_a_random_share_of_the_original_is_as_far_off_as_that_share(kind, rate):
    rows, off = rows_with_shares(kind, rate), 0.05 if rate in BETWEEN else 0.03
    names = {name for name in FELT if METRICS[name].kind is kind}
    assert names == {row.question for row in rows if row.as_sample is not None}
    for row in rows:
        if METRICS[row.question].felt(row.part) and row.direction != "for comparison":
            assert abs(row.as_sample - rate) <= off, (row.question, row.part)
            assert row.as_sample_low <= row.as_sample <= row.as_sample_high
            assert WORDS[kind] == row.as_sample_of
            assert f"keeping {row.as_sample:.0%}" in gv.felt(row)


@pytest.mark.parametrize("kind", MAKE)
def test_a_seed_repeats_the_shares_and_another_draws_others(kind):
    rows, same, other = (rows_with_shares(kind, 0.8, 1, seed=seed) for seed in (7, 7, 8))
    assert rows == same
    assert rows != other


@pytest.mark.parametrize("kind", MAKE)
def test_all_else_in_the_rows_is_as_without_the_shares(kind):
    names = [name for name, metric in METRICS.items() if metric.kind is kind and not metric.by_name]
    asked = [name for name in names if METRICS[name].cost == "linear" or name in FELT]
    with_shares = rows_with_shares(kind, 0.8, metrics=asked)
    without = rows_with_shares(kind, 0.8, metrics=asked, as_sample=False)
    assert {None} == {row.as_sample for row in without}
    none = {"as_sample": None, "as_sample_low": None, "as_sample_high": None, "as_sample_of": ""}
    assert list(without) == [dataclasses.replace(row, **none) for row in with_shares]
    assert {row.question for row in with_shares if row.as_sample is None} >= set(asked) - set(FELT)


@pytest.mark.parametrize("kind", MAKE)
def test_the_original_itself_is_as_far_off_as_all_but_nothing_left_out(kind):
    original = ORIGINALS[kind]
    names = [name for name in FELT if METRICS[name].kind is kind]
    release = release_of(original, original)
    rows = evaluate_release(release, original=original, metrics=names, seed=1, as_sample=True)
    shares = {row.as_sample for row in rows if row.direction != "for comparison"}
    assert {0.99} == shares - {None}
    assert "99% or more" in gv.felt(next(row for row in rows if row.as_sample is not None))


def test_a_release_that_keeps_nothing_is_farther_off_than_a_tenth():
    original = ORIGINALS[gv.Graph]
    none = gv.Graph.from_edges([], [], n=original.n_nodes)
    release = release_of(none, original)
    rows = evaluate_release(release, original=original, metrics=["edges-kept"], as_sample=True)
    assert {0.0} == {row.as_sample for row in rows}
    assert gv.felt(rows[0]) == "comparable to keeping less than 10% of the edges at random"


def test_where_samples_cannot_be_told_apart_no_share_is_said():
    ring = gv.Graph.from_edges([], [], n=5)
    release = release_of(ring, ring)
    rows = evaluate_release(release, original=ring, metrics=FELT[:10], as_sample=True)
    assert {None} == {row.as_sample for row in rows}
    assert {""} == set(map(gv.felt, rows))


def test_a_release_on_the_other_side_of_the_original_has_no_share():
    """Values that were drawn evenly say more than those of the original: that is no sample."""
    original = gv.Table.from_columns({"town": ["a"] * 900 + ["b", "c", "d", "e"] * 25})
    even = (np.arange(1_000) % 5).astype(np.int32)[:, None]
    even[:50] = -1
    release = release_of(gv.Table(even, original.columns, original.categories), original)
    names = ["column-entropy", "stars-added"]
    rows = evaluate_release(release, original=original, metrics=names, seed=1, as_sample=True)
    assert rows["column-entropy", "town"].value < 0
    assert {None} == {row.as_sample for row in rows["column-entropy"]}
    assert rows["stars-added", "share"].as_sample == pytest.approx(0.95, abs=0.001)


def test_a_wide_interval_is_said_with_the_share():
    row = gv.Row(release="a", question="q", as_sample=0.64, as_sample_of="ties")
    row = dataclasses.replace(row, as_sample_low=0.3, as_sample_high=0.99)
    assert "comparable to keeping 64% (30% to 100%) of the ties at random" == gv.felt(row)
    row = dataclasses.replace(row, as_sample_low=0.6, as_sample_high=0.68)
    assert "comparable to keeping 64% of the ties at random" == gv.felt(row)
