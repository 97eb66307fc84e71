"""Whose record is whose in tables: who is known nearby, and what another run may start from."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

import graphveil as gv
from graphveil.claims.guarantees import KAnonymity
from graphveil.measures import matchings
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

WORDS = {"method": "a-method", "source": "a test", "limits": "it leaves all open"}
BLOCKS = 30


def released(original, codes, *, k=1):
    """Return a release in an order of its own; row i of the codes is the record of person i."""
    n = original.size
    order = np.random.Generator(np.random.PCG64(n)).permutation(n)
    table = gv.Table(codes.astype(np.int32), original.columns, original.categories)
    linkage = Linkage(original.labels(), np.argsort(order))
    return Release(
        data=table.permuted(order),
        guarantee=KAnonymity(k=k),
        provenance=Provenance(parameters={}, **WORDS),
        private=Private(input_sha256=digest_of(original), linkage=linkage),
    )


def attacked(release, original, seed, rerun=None):
    told = gv.attack_release(
        release, original=original, attacks=["matching"], seed=seed, rerun=rerun
    )
    return {row.part: row for row in told}


def blocks(size):
    """Return people in blocks of so many equal rows, and a release that changes nothing."""
    block = np.repeat(np.arange(BLOCKS), size)
    order = np.random.Generator(np.random.PCG64(size)).permutation(block.size)
    original = gv.Table.from_columns({"block": [f"b{value}" for value in block[order].tolist()]})
    return original, released(original, original.codes, k=size)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_who_is_known_nearby_could_own_the_record_of_the_victim(size):
    """Of a block of so many, m are known: what is left is the level less m, and not more.

    Of people from anywhere, most stand in blocks of their own, which have lost one each.
    """
    original, release = blocks(size)
    for seed in range(4):
        told = attacked(release, original, seed)
        for number in (1, 2, 3):
            nearby = told.get(f"{number} known nearby, margin")
            assert (number < size) == (nearby is not None)
            assert nearby is None or nearby.value == 0
            assert nearby is None or 0 == told[f"{number} known nearby, short"].value


@pytest.mark.parametrize("size", [3, 5])
def test_who_is_known_from_anywhere_seldom_stands_in_one_block(size):
    original, release = blocks(size)
    margins = [attacked(release, original, seed)["2 known, margin"].value for seed in range(8)]
    assert {0.0, 1.0} >= set(margins)
    assert 1.0 in margins


COLUMNS = 5
STARS = np.array(list(product([False, True], repeat=COLUMNS)))
"""Which cells of a row are suppressed: every choice of columns once."""
EQUAL = gv.Table.from_columns(
    {f"c{number}": ["x"] * len(STARS) for number in range(COLUMNS)},
    ids=[f"p{number}" for number in range(len(STARS))],
)


def by_position(data, seed=None):
    """Run a method in which the stars of a row hang on its position alone."""
    del seed
    return released(data, np.where(STARS, -1, data.codes))


def test_another_run_starts_from_another_order_of_people():
    """Who knows the order has everybody: then every guess would be right."""
    n = len(STARS)
    shares = [
        attacked(by_position(EQUAL), EQUAL, seed, by_position)["re-run, right guess"].value
        for seed in range(12)
    ]
    assert sum(shares) / len(shares) == pytest.approx(1 / n, abs=5 / np.sqrt(12) / n)
    assert len(set(shares)) > 1


def test_another_run_is_given_everybody_with_their_cells_in_an_order_that_the_seed_draws():
    cells = np.random.Generator(np.random.PCG64(2)).integers(0, 3, (40, 3))
    columns = {f"c{number}": column.tolist() for number, column in enumerate(cells.T)}
    original = gv.Table.from_columns(columns, ids=[f"p{number}" for number in range(40)])
    release, orders = released(original, original.codes), []
    row_of = dict(zip(original.labels().tolist(), original.codes.tolist(), strict=True))

    def rerun(data, seed):
        del seed
        labels = data.labels().tolist()
        assert row_of == dict(zip(labels, data.codes.tolist(), strict=True))
        orders.append(labels)
        return released(data, data.codes)

    for seed in (1, 2, 2):
        attacked(release, original, seed, rerun)
    first, second, again = orders[::8]
    assert first != second == again
    for order in (first, second):
        kept = sum(one == other for one, other in zip(order, row_of, strict=True))
        assert kept < 8


def test_people_who_are_known_are_different_people(monkeypatch):
    known, allowed = Counter(), matchings.allowed

    def noted(pairs, without=None):
        known[0 if without is None else int(np.count_nonzero(without))] += 1
        return allowed(pairs, without)

    monkeypatch.setattr(matchings, "allowed", noted)
    original = gv.Table.from_columns({"block": ["a", "a", "b", "b"]})
    attacked(released(original, original.codes, k=2), original, 1)
    # Known from anywhere are one, two and three of four people, each ten times; known nearby is
    # the only other person of a block.
    assert {1: 20, 2: 10, 3: 10} == {number: known[number] for number in (1, 2, 3)}
