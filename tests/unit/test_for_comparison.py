"""Methods that are there to be compared with: they claim nothing, and say so everywhere."""

from __future__ import annotations

import json
import math
import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy import stats

import graphveil as gv
from graphveil.core.errors import InfeasibleError, ParameterError, UsageError
from graphveil.core.randomness import Randomness
from graphveil.methods.noise.laws import words_from
from graphveil.methods.random_graphs.block_sampling import distinct_in
from graphveil.methods.random_graphs.der import (
    EpsilonParts,
    Filling,
    Region,
    cut,
    depth_of,
    explored,
    part_of_level,
    placed_cells,
    true_ones,
)

METHODS = {
    gv.HrgMcmc: ("finite-chain", "Markov chain"),
    gv.DensityExploreReconstruct: ("unproved", "We know of no proof"),
}
SIZES = {
    "two nodes": gv.Graph.from_edges([0], [1], n=2),
    "no edge": gv.Graph.from_edges([], [], n=5),
    "one node": gv.Graph.from_edges([], [], n=1),
    "complete": gv.Graph.from_edges(*np.triu_indices(7, 1), n=7),
}

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", [0.0001, 2.0, 40.0])
def test_every_size_and_epsilon_gives_a_release_that_claims_nothing(method, size, epsilon):
    reason, _ = METHODS[method]
    release = method(epsilon=epsilon).anonymize(SIZES[size])
    assert (reason,) == release.guarantee.reasons
    assert SIZES[size].n_nodes == release.data.n_nodes
    assert release.verify(SIZES[size]).ok
    seeded = method(epsilon=epsilon).anonymize(SIZES[size], seed=1)
    assert ("repeatable", reason) == seeded.guarantee.reasons


@pytest.mark.parametrize("method", METHODS)
def test_the_first_line_of_its_help_its_manifest_and_a_warning_say_so(method, tmp_path):
    reason, words = METHODS[method]
    assert method.card.promise == method.__doc__.splitlines()[0]
    assert method.card.promise.startswith("No guarantee: ")
    with pytest.warns(gv.GraphveilWarning, match="carries no guarantee") as warned:
        release = method(epsilon=2.0).anonymize(SIZES["complete"])
    assert any(words in str(each.message) for each in warned)
    claim = json.loads((release.write(tmp_path / "out") / "release.json").read_text())["claim"]
    assert [reason] == claim["guarantee"]["reasons"]


@pytest.mark.parametrize("method", METHODS)
def test_more_nodes_than_allowed_are_refused_with_the_way_out(method):
    with pytest.raises(InfeasibleError, match="at most max_nodes=20,000 nodes; the data has") as no:
        method(epsilon=2.0).anonymize(gv.Graph.from_edges([0], [1], n=20_001))
    assert "Use asymmetric-response or mixing-prior-response, or raise max_nodes." in str(no.value)
    few = gv.Graph.from_edges([0], [1], n=1001)
    with pytest.raises(InfeasibleError):
        method(epsilon=2.0, max_nodes=1000).anonymize(few)
    assert 1001 == method(epsilon=2.0, max_nodes=1001).anonymize(few).data.n_nodes


@pytest.mark.parametrize("method", METHODS)
def test_a_ledger_refuses_it_unless_told(method, tmp_path):
    with pytest.raises(UsageError):
        method(epsilon=2.0).anonymize(SIZES["complete"], ledger=gv.Ledger(tmp_path / "ledger"))


def test_parts_of_epsilon_sum_to_it_and_leave_something():
    for method in METHODS:
        made = method(epsilon=0.3)
        assert sum(made.parts.values()) + made.epsilon_cells == pytest.approx(0.3)
    with pytest.raises(ParameterError, match="leaves nothing"):
        gv.HrgMcmc(epsilon=1.0, epsilon_tree=1.0)
    with pytest.raises(ParameterError, match="leaves nothing"):
        gv.DensityExploreReconstruct(epsilon=1.0, epsilon_counts=0.5, epsilon_cuts=0.5)


def regions_of(graph, budget, seed=1):
    words, rng = words_from(Randomness(seed=seed), "counts"), generator(seed)
    return list(explored(graph.edges().astype(np.int64), graph.n_nodes, budget, words, rng))


@pytest.mark.parametrize("epsilon", [0.1, 3.0, 30.0])
def test_regions_cover_every_cell_once_and_hold_its_ones(epsilon):
    graph = gv.datasets.load("copenhagen-calls")
    n = graph.n_nodes
    leaves = regions_of(graph, EpsilonParts(epsilon, epsilon))
    covered = np.zeros((n, n), dtype=int)
    for (row, column, height, width, rows, columns), _ in leaves:
        covered[row : row + height, column : column + width] += 1
        assert ((row <= rows) & (rows < row + height)).all()
        assert ((column <= columns) & (columns < column + width)).all()
    assert (covered == 1).all()
    assert 2 * graph.n_edges == sum(leaf.region.rows.size for leaf in leaves)


def test_the_whole_matrix_is_counted_with_noise_too():
    assert 0 == depth_of(7, 0.2)
    leaves = [regions_of(SIZES["complete"], EpsilonParts(0.2, 0.2), seed) for seed in range(200)]
    assert {1} == {len(each) for each in leaves}
    apart = np.array([each[0].noisy_ones - 42 for each in leaves])
    # an edge is two cells: |noise| is 2/epsilon on average, and a mean of 200 varies by .7
    assert 10 == pytest.approx(np.abs(apart).mean(), abs=3)


def test_the_levels_share_the_part_of_the_counts():
    for depth in (0, 3, 9):
        parts = [part_of_level(level, depth, 2.0) for level in range(depth + 1)]
        assert 2.0 == pytest.approx(sum(parts))
        assert parts == sorted(parts)


def test_a_cut_leaves_no_part_smaller_than_allowed_and_favors_uneven_densities():
    rng = generator(3)
    dense = np.array(list(product(range(20), range(12))))
    whole = Region(0, 0, 64, 64, dense[:, 0], dense[:, 1])
    for smallest in (1, 150, 1024):
        parts = cut(whole, smallest, 0.01, rng)
        assert min(part.cells for part in parts) >= smallest
        assert 64 * 64 == sum(part.cells for part in parts)
    assert [] == cut(whole, 1025, 1.0, rng)
    parts = cut(whole, 1, 1e9, rng)
    assert max(p.rows.size / p.cells for p in parts) == 1.0


@pytest.mark.parametrize(("cells", "ones", "placed"), [(9, 4, 5), (12, 5, 3), (8, 6, 6)])
def test_true_cells_are_kept_by_their_law(cells, ones, placed):
    epsilon, rng, runs = 0.7, generator(5), 4000
    k = np.arange(max(0, placed - cells + ones), min(ones, placed) + 1)
    weights = np.array(
        [
            math.comb(ones, i) * math.comb(cells - ones, placed - i) * math.exp(epsilon * i)
            for i in k
        ]
    )
    drawn = np.bincount(
        [true_ones(cells, ones, placed, epsilon, rng) - k[0] for _ in range(runs)], minlength=k.size
    )
    assert stats.chisquare(drawn, runs * weights / weights.sum()).pvalue > 1e-4


def test_every_set_of_cells_with_as_many_true_ones_is_as_likely():
    """Two regions: 1 of 2 true cells and 1 of 3 others; 2 of 4 others of which none is true."""
    filling = Filling(
        sizes=np.array([5, 4]),
        ones=np.array([2, 0]),
        placed=np.array([2, 2]),
        kept=np.array([1, 0]),
        cells=np.array([1, 3]),
    )
    rng, runs, seen = generator(6), 6000, {}
    for _ in range(runs):
        region, cell = placed_cells(filling, rng)
        key = tuple(sorted(zip(region.tolist(), cell.tolist(), strict=True)))
        seen[key] = seen.get(key, 0) + 1
    assert 2 * 3 * 6 == len(seen)
    assert all(1 == sum((0, c) in key for c in (1, 3)) for key in seen)
    assert stats.chisquare(list(seen.values())).pvalue > 1e-4


def test_cells_of_blocks_are_distinct_and_uniform():
    rng, sizes, counts = generator(7), np.array([4, 0, 5, 3]), np.array([1, 0, 4, 3])
    seen = np.zeros(12)
    for _ in range(3000):
        block, cell = distinct_in(rng, sizes, counts)
        assert counts.tolist() == np.bincount(block, minlength=4).tolist()
        key = (np.cumsum(sizes) - sizes)[block] + cell
        assert key.size == np.unique(key).size
        seen[key] += 1
    expected = 3000 * np.repeat(counts / np.maximum(sizes, 1), sizes)
    assert stats.chisquare(seen[:4]).pvalue > 1e-4
    assert np.abs(seen - expected).max() < 120


def test_the_matrix_is_never_formed():
    """20,000 nodes have 400 million cells; what is held grows with edges and nodes."""
    n = 20_000
    path = gv.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)
    tracemalloc.start()
    gv.DensityExploreReconstruct(epsilon=0.05).anonymize(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60_000_000
