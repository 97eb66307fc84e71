"""Trees over nodes and the walk on them, against recounts from the tree's shape alone."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import graphveil as gv
from graphveil.core.randomness import Randomness
from graphveil.methods.noise.laws import words_from
from graphveil.methods.random_graphs.hierarchy import (
    blocks_of,
    largest_change,
    paired_tree,
    sampled_edges,
    tree_of_walk,
)
from graphveil.methods.random_graphs.kernels.hierarchy import (
    count_edges,
    edges_between,
    first_below,
    log_likelihood,
    walk,
)


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


def random_graph(n, seed, p=0.4):
    pairs = np.array(list(combinations(range(n), 2)))
    chosen = pairs[generator(seed).random(len(pairs)) < p]
    return gv.Graph.from_edges(chosen[:, 0], chosen[:, 1], n=n)


def leaves_below(tree, node):
    if tree.left[node] < 0:
        return [node]
    return leaves_below(tree, tree.left[node]) + leaves_below(tree, tree.right[node])


def recounted(tree, graph):
    """Return the edges between the two sides of every inner node, and the log-likelihood."""
    edges, total = {tuple(sorted(pair)) for pair in graph.edges().tolist()}, 0.0
    counts = []
    for node in range(graph.n_nodes, 2 * graph.n_nodes - 1):
        one, other = (leaves_below(tree, side[node]) for side in (tree.left, tree.right))
        count = sum(tuple(sorted((int(u), int(v)))) in edges for u in one for v in other)
        density = count / (len(one) * len(other))
        counts.append(count)
        if 0 < density < 1:
            rest = len(one) * len(other) - count
            total += count * math.log(density) + rest * math.log(1 - density)
    return counts, total


def assert_sound(tree, graph):
    n = graph.n_nodes
    root = 2 * n - 2
    assert tree.order.tolist() == leaves_below(tree, root)
    assert list(range(n)) == tree.order[tree.position].tolist()
    for node in range(2 * n - 1):
        leaves = leaves_below(tree, node)
        start = first_below(tree, node)
        assert leaves == tree.order[start : start + tree.size[node]].tolist()
        if node >= n:
            assert {node} == {int(tree.parent[c]) for c in (tree.left[node], tree.right[node])}
    assert -1 == tree.parent[root]


@settings(deadline=None, max_examples=30)
@given(st.integers(3, 9), st.integers(0, 2**32), st.floats(0.0, 5.0))
def test_after_every_step_the_tree_is_sound_and_counts_what_a_recount_counts(n, seed, rate):
    graph, rng = random_graph(n, seed), generator(seed)
    tree = paired_tree(graph, rng.permutation(n))
    for _ in range(12):
        mean = walk(tree, graph.indptr, graph.indices, 1, rate, rng)
        assert_sound(tree, graph)
        counts, total = recounted(tree, graph)
        assert counts == tree.edges[n:].tolist()
        assert total == pytest.approx(mean, abs=1e-9)
        assert total == pytest.approx(log_likelihood(tree), abs=1e-9)
    again = tree._replace(edges=np.zeros_like(tree.edges))
    count_edges(again, graph.indptr, graph.indices)
    assert tree.edges.tolist() == again.edges.tolist()
    left, right = int(tree.left[-1]), int(tree.right[-1])
    assert tree.edges[-1] == edges_between(tree, left, right, graph.indptr, graph.indices)


def test_the_walk_stays_at_a_tree_as_long_as_its_likelihood_says():
    """Of three nodes there are three trees: which one joins the two others last."""
    graph, rng, rate = gv.Graph.from_edges([0], [1], n=3), generator(4), 1.5
    tree = paired_tree(graph, np.arange(3))
    visits = np.zeros(3)
    for _ in range(6000):
        walk(tree, graph.indptr, graph.indices, 4, rate, rng)
        alone = [node for node in (tree.left[-1], tree.right[-1]) if node < 3]
        visits[alone[0]] += 1
    # a pair without edge, or with one, says it all; two pairs with one edge have density 1/2
    likelihoods = np.array([2 * math.log(0.5), 2 * math.log(0.5), 0.0])
    weights = np.exp(rate * likelihoods)
    assert stats.chisquare(visits, weights / weights.sum() * visits.sum()).pvalue > 1e-4


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 7), st.integers(0, 2**32))
def test_no_edge_changes_the_log_likelihood_by_more_than_the_bound(n, seed):
    graph = random_graph(n, seed)
    rng = generator(seed)
    order = rng.permutation(n)
    one, other = rng.choice(n, 2, replace=False)
    pairs = {tuple(pair) for pair in graph.edges().tolist()}
    ends = np.array(sorted(pairs ^ {(min(one, other), max(one, other))})).reshape(-1, 2)
    near = gv.Graph.from_edges(ends[:, 0], ends[:, 1], n=n)
    apart = abs(
        log_likelihood(paired_tree(graph, order)) - log_likelihood(paired_tree(near, order))
    )
    assert apart <= (largest_change(n) if n > 2 else 0) + 1e-9


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 40.0, 1e6])
@pytest.mark.parametrize("n", [2, 3, 12])
def test_blocks_hold_every_pair_and_every_edge_once(n, epsilon):
    graph = random_graph(n, 5)
    blocks = blocks_of(paired_tree(graph, np.arange(n)), epsilon)
    assert n * (n - 1) // 2 == blocks.pairs.sum()
    assert graph.n_edges == blocks.edges.sum()


def test_small_subtrees_are_one_block_where_noise_would_outweigh_them():
    tree = paired_tree(random_graph(64, 6), np.arange(64))
    assert [1, 63] == [blocks_of(tree, epsilon).pairs.size for epsilon in (0.001, 1000.0)]
    middle = blocks_of(tree, 1.0)
    assert {8} == set(middle.rows[middle.columns == 0].tolist())


@pytest.mark.parametrize("full", [False, True])
def test_without_noise_an_empty_and_a_complete_graph_are_drawn_as_they_are(full):
    n, rng = 9, generator(7)
    graph = random_graph(n, 1, p=float(full))
    tree, words = paired_tree(graph, rng.permutation(n)), words_from(Randomness(seed=1), "noise")
    for epsilon in (40, 1):
        blocks = blocks_of(tree, epsilon)
        ends = sampled_edges(tree, blocks, 40, words, rng)
        assert graph == gv.Graph.from_edges(ends[:, 0], ends[:, 1], n=n)


def test_edges_are_drawn_with_the_density_of_their_block():
    n, rng = 8, generator(8)
    graph = random_graph(n, 2)
    tree, words = paired_tree(graph, np.arange(n)), words_from(Randomness(seed=2), "noise")
    blocks, counts = blocks_of(tree, 1e9), np.zeros((n, n))
    for _ in range(2000):
        ends = sampled_edges(tree, blocks, 40, words, rng)
        counts[ends.min(axis=1), ends.max(axis=1)] += 1
    for first, other, rows, columns, edges in zip(*blocks, strict=True):
        share = counts[first : first + rows, other : other + columns] / 2000
        assert np.abs(share - edges / (rows * columns)).max() < 0.06


def test_the_number_of_edges_of_a_block_has_noise_of_its_epsilon():
    n, rng = 40, generator(10)
    tree = paired_tree(random_graph(n, 11, p=0.5), np.arange(n))
    words, epsilon = words_from(Randomness(seed=3), "noise"), Fraction(1, 50)
    blocks = blocks_of(tree, 1e-4)
    assert 1 == blocks.edges.size
    drawn_edges = [len(sampled_edges(tree, blocks, epsilon, words, rng)) for _ in range(300)]
    # noise of scale 50 has a variance of 5,000, the draw of the edges one of 195
    assert 5_000 < np.var(drawn_edges) + 1_000 < 8_500


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes as plain Python")
def test_a_large_epsilon_leads_to_a_more_likely_tree():
    graph = gv.datasets.load("copenhagen-calls")
    likely = [log_likelihood(tree_of_walk(graph, epsilon, generator(9))) for epsilon in (0.1, 40.0)]
    assert likely[0] + 300 < likely[1]
