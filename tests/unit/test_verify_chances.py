"""A release with more or fewer changes than its stated chances make believable is refused."""

from __future__ import annotations

import dataclasses
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import graphveil as gv
from graphveil.claims.conditions import BlockFlips, RandomizedCells, TopMThresholds
from graphveil.methods import METHODS
from graphveil.verify.promises.noise.cell_flips import CHANCES
from graphveil.verify.recount.noise import flip_probabilities

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N, ITEMS, ONES = 150, 120, 2_400
FLIPS = {RandomizedCells, TopMThresholds, BlockFlips}
CASES = [
    (method, kind)
    for method in METHODS.values()
    if FLIPS.intersection(method.from_parameters(method.card.example).states)
    for kind in method.accepts
    if kind in {gv.Graph, gv.Bipartite}
]


def cells_of(kind):
    """Return every cell of such data, shape (n, 2)."""
    if kind is gv.Graph:
        return np.column_stack(np.triu_indices(N, k=1))
    return np.argwhere(np.ones((N, ITEMS), dtype=bool))


def data_of(kind, pairs):
    """Return data of these cells; an item that nobody has is left out."""
    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    if kind is gv.Graph:
        return gv.Graph.from_edges(ends[:, 0], ends[:, 1], n=N)
    lists = [[] for _ in range(N)]
    for user, item in ends.tolist():
        lists[user].append(f"item {item:03d}")
    return gv.Bipartite.from_lists(lists)


@cache
def original(kind):
    cells = cells_of(kind)
    every = cells[np.random.Generator(np.random.PCG64(3)).permutation(len(cells))]
    return data_of(kind, map(tuple, every[:ONES].tolist()))


def pairs_in(data, ids=None):
    """Return the cells of 1 of some data, people under the ids given."""
    if isinstance(data, gv.Graph):
        new = np.arange(data.size) if ids is None else ids
        return {tuple(sorted(new[pair].tolist())) for pair in data.edges()}
    names = [int(name.removeprefix("item ")) for name in data.feature_labels().tolist()]
    new = range(data.size) if ids is None else ids.tolist()
    return {(new[user], names[item]) for user in range(data.size) for item in data.row(user)}


@cache
def released(method, kind):
    """Return a release, the true cells under its ids, those kept, those added, and all false."""
    epsilon = {"epsilon": 2.0}
    release = method.from_parameters({**method.card.example, **epsilon}).anonymize(original(kind))
    linkage = release.private.linkage
    ids = linkage.positions_of(original(kind).labels(), release.data.labels())
    before, after = pairs_in(original(kind), ids), pairs_in(release.data)
    never = set(map(tuple, cells_of(kind).tolist())) - before
    return release, before, before & after, after - before, never


def some(pairs, number):
    ordered = sorted(pairs)
    rng = np.random.Generator(np.random.PCG64(number))
    return {ordered[at] for at in rng.permutation(len(ordered))[:number]}


FORGED = {
    "nothing is removed": lambda before, _kept, added, _never: before | added,
    "nothing is kept": lambda _before, _kept, added, _never: added,
    "nothing is added": lambda _before, kept, _added, _never: kept,
    "much is added": lambda _before, kept, _added, never: kept | some(never, 9 * len(never) // 10),
}


def chances_of(release, kind):
    checks = {check.name: check for check in release.verify(original(kind)).checks}
    return checks[CHANCES]


@pytest.mark.parametrize(("method", "kind"), CASES, ids=lambda value: value.__name__)
def test_what_the_method_drew_is_believable(method, kind):
    release, _, kept, added, _ = released(method, kind)
    assert min(len(kept), len(added)) > 75
    assert "holds" == chances_of(release, kind).outcome


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize(("method", "kind"), CASES, ids=lambda value: value.__name__)
def test_other_numbers_of_flips_than_the_chances_allow_are_noticed(method, kind, forged):
    release, *cells = released(method, kind)
    data = data_of(kind, FORGED[forged](*cells))
    check = chances_of(dataclasses.replace(release, data=data), kind)
    assert "fails" == check.outcome, check.detail


def test_the_two_chances_of_a_cell_are_these_and_swap_above_one_half():
    third = Fraction(3)  # e^epsilon
    for prior, expected in ((1, [1 / 6, 1 / 2]), (2, [1 / 4, 3 / 4]), (3, [1 / 2, 5 / 6])):
        found = flip_probabilities._chances(flip_probabilities.FULL * prior // 4, third)
        assert expected == pytest.approx(
            [one / flip_probabilities.FULL for one in found], rel=1e-15
        )


def test_bounds_on_a_power_of_e_lie_on_both_sides_and_close_together():
    e = "2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457138"
    low, high = flip_probabilities.factor_of(Fraction(1))
    assert low < high < low * (1 + Fraction(1, 10**99))
    assert abs(Fraction(e) - low) < Fraction(1, 10**85)
    e = Fraction(Decimal(1).exp(Context(prec=150)))
    assert low < e < high
