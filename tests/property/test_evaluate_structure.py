"""Spectra, ranks, triangles and graphlets against slow twins."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import graphveil as gv
from graphveil.core.randomness import Randomness
from graphveil.evaluate import GraphComparison, graph_structure
from graphveil.evaluate.graph_structure import triangles_at, wedges_of
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.evaluate.metrics import graphlets, spectra
from graphveil.evaluate.metrics.centrality import (
    core_correlation,
    core_distribution,
    core_numbers,
    eigenvector_correlation,
    pagerank,
    pagerank_correlation,
    rank_correlation,
)
from graphveil.evaluate.metrics.communities import median_run, modularities
from graphveil.evaluate.metrics.graphlets import NAMES, frequencies
from graphveil.evaluate.metrics.spectra import leading_vector, spectral_gap, spectral_radius

OF_FOUR = {
    "path": nx.path_graph(4),
    "star": nx.star_graph(3),
    "cycle": nx.cycle_graph(4),
    "paw": nx.lollipop_graph(3, 1),
    "diamond": nx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
    "clique": nx.complete_graph(4),
}
LARGE = {
    "tree and pieces": nx.disjoint_union_all(
        [nx.barabasi_albert_graph(300, 1, seed=1), nx.cycle_graph(12), nx.star_graph(40)]
    ),
    "two of one size": nx.disjoint_union_all(
        [nx.barabasi_albert_graph(270, 2, seed=2), nx.watts_strogatz_graph(270, 6, 0.2, seed=3)]
    ),
    "cliques in a ring": nx.ring_of_cliques(40, 7),
}
"""Graphs of more nodes than a matrix is written out for."""


def rng(seed=1):
    return Randomness(seed=seed).stream("a test")


@st.composite
def graphs(draw, fewest=1, most=9):
    n = draw(st.integers(fewest, most))
    pairs = list(itertools.combinations(range(n), 2))
    graph = nx.empty_graph(n)
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])
    return graph


def ours(graph):
    return gv.Graph.from_networkx(graph)


def compared(original, released):
    return GraphComparison(
        original=ours(original),
        released=ours(released),
        position=np.arange(len(original)),
        randomness=Randomness(seed=1),
    )


@settings(deadline=None, max_examples=100)
@given(graph=graphs(), steps=st.sampled_from([1, 7, 20_000_000]))
def test_triangles_and_wedges_are_those_of_looking_at_every_three(graph, steps):
    inside = [graph.subgraph(three).number_of_edges() for three in itertools.combinations(graph, 3)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(graph_structure, "STEPS", steps)
        assert list(nx.triangles(graph).values()) == triangles_at(ours(graph)).tolist()
    assert 3 * inside.count(3) + inside.count(2) == wedges_of(ours(graph))


def shares_by_looking(graph):
    """Return the share of each graphlet among connected sets of four nodes, or None."""
    counts = dict.fromkeys(NAMES, 0)
    for four in itertools.combinations(graph, 4):
        inside = graph.subgraph(four)
        if nx.is_connected(inside):
            (name,) = [name for name, one in OF_FOUR.items() if nx.is_isomorphic(one, inside)]
            counts[name] += 1
    total = sum(counts.values())
    return [counts[name] / total for name in NAMES] if total else None


@settings(deadline=None, max_examples=100)
@given(graph=graphs(most=8))
def test_graphlets_are_those_of_looking_at_every_four(graph):
    found = frequencies(ours(graph), rng())
    expected = shares_by_looking(graph)
    assert (expected is None) == (found is None)
    if found is not None:
        assert expected == pytest.approx(found.shares.tolist())
        assert None is found.size
        assert None is found.estimate(0).sample


@pytest.mark.parametrize("name", OF_FOUR)
def test_a_graphlet_alone_is_all_there_is(name):
    found = frequencies(ours(OF_FOUR[name]), rng())
    assert {name: 1.0} == {n: s for n, s in zip(NAMES, found.shares, strict=True) if s}


def test_sampled_graphlets_are_near_those_of_looking_and_say_how_many_were_drawn(monkeypatch):
    graph = nx.gnp_random_graph(22, 0.3, seed=1)
    monkeypatch.setattr(graphlets, "GRAPHLET_PATHS", 900)
    monkeypatch.setattr(graphlets, "OPEN", 100)
    found = frequencies(ours(graph), rng())
    assert 900 == found.size
    assert shares_by_looking(graph) == pytest.approx(found.shares.tolist(), abs=0.06)
    assert np.all((found.low <= found.shares) & (found.shares <= found.high))
    assert 0 < (found.high - found.low).max() < 0.15


def test_graphlets_of_a_network_of_triangles_are_not_guessed_from_a_few(monkeypatch):
    monkeypatch.setattr(graphlets, "GRAPHLET_PATHS", 5_000)
    triangles_and_a_clique = nx.disjoint_union_all(
        [nx.complete_graph(4), *[nx.complete_graph(3)] * 2_000]
    )
    with pytest.raises(NotMeasuredError, match=r"fewer than 1,000 of 5,000 .* are open"):
        frequencies(ours(triangles_and_a_clique), rng())


@settings(deadline=None, max_examples=100)
@given(graph=graphs())
def test_the_spectral_radius_is_the_largest_eigenvalue(graph):
    matrix = nx.to_numpy_array(graph)
    expected = np.linalg.eigvalsh(matrix)[-1] if graph.number_of_edges() else None
    assert expected == (None if expected is None else pytest.approx(spectral_radius(ours(graph))))


def gap_by_laplacian(graph):
    components = [graph.subgraph(nodes) for nodes in nx.connected_components(graph)]
    size = max(map(len, components))
    if size == 1:
        return None
    return min(
        np.linalg.eigvalsh(nx.normalized_laplacian_matrix(part).toarray())[1]
        for part in components
        if len(part) == size
    )


@settings(deadline=None, max_examples=100)
@given(graph=graphs())
def test_the_spectral_gap_is_that_of_the_laplacian_of_the_largest_component(graph):
    expected = gap_by_laplacian(graph)
    gap = spectral_gap(ours(graph), rng())
    assert expected == (None if gap is None else pytest.approx(gap, abs=1e-9))


@pytest.mark.parametrize("name", LARGE)
def test_iterated_eigenvalues_are_those_of_the_whole_matrix(name):
    graph = LARGE[name]
    values, vectors = np.linalg.eigh(nx.to_numpy_array(graph))
    assert values[-1] == pytest.approx(spectral_radius(ours(graph)), abs=1e-7)
    assert gap_by_laplacian(graph) == pytest.approx(spectral_gap(ours(graph), rng()), abs=1e-7)
    assert spectra.DENSE_UP_TO < len(graph)
    vector = leading_vector(ours(graph))
    if values[-1] - values[-2] > 1e-6:
        assert np.abs(vectors[:, -1]) == pytest.approx(vector, abs=1e-9)


def test_many_components_of_one_size_are_all_looked_at(monkeypatch):
    pieces = [nx.complete_graph(4)] * 5 + [nx.cycle_graph(4), nx.star_graph(3), nx.path_graph(4)]
    graph = nx.disjoint_union_all([*pieces, nx.path_graph(3)])
    expected = gap_by_laplacian(graph)
    assert 0.5 == pytest.approx(expected)
    for cells in (1, 40, 4_000_000):
        monkeypatch.setattr(spectra, "CELLS", cells)
        assert expected == pytest.approx(spectral_gap(ours(graph), rng()))


def test_an_iteration_that_does_not_converge_gives_no_value(monkeypatch):
    monkeypatch.setattr(spectra, "ROUNDS", 3)
    path = ours(nx.path_graph(3_000))
    for eigenvalue in (spectral_radius, leading_vector, lambda graph: spectral_gap(graph, rng())):
        with pytest.raises(NotMeasuredError, match="did not converge in 3 rounds"):
            eigenvalue(path)


@settings(deadline=None, max_examples=60)
@given(graph=graphs(fewest=2).filter(lambda graph: graph.number_of_edges()))
def test_the_leading_vector_is_where_multiplying_ends(graph):
    power = nx.to_numpy_array(graph) + np.eye(len(graph))
    for _ in range(40):  # two to the 40th power
        power = power @ power
        power /= np.abs(power).max()
    expected = power @ np.ones(len(graph))
    assert expected / np.linalg.norm(expected) == pytest.approx(
        leading_vector(ours(graph)), abs=1e-6
    )


@settings(deadline=None, max_examples=60)
@given(graph=graphs())
def test_pagerank_and_core_numbers_are_those_of_networkx(graph):
    expected = nx.pagerank(graph, tol=1e-13, max_iter=2_000)
    assert [expected[v] for v in range(len(graph))] == pytest.approx(
        pagerank(ours(graph)).tolist(), abs=1e-10
    )
    assert list(nx.core_number(graph).values()) == core_numbers(ours(graph)).tolist()


@settings(deadline=None, max_examples=100)
@given(scores=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=10))
def test_the_rank_correlation_is_that_of_spearman(scores):
    before, after = (np.array([pair[side] for pair in scores], dtype=float) for side in (0, 1))
    defined = len(set(before)) > 1 < len(set(after))
    expected = stats.spearmanr(before, after).statistic if defined else None
    found = rank_correlation(before, after)
    assert expected == (found if found is None else pytest.approx(found))


def pair_of_edges(pair):
    return pair.original.n_edges, pair.released.n_edges


@settings(deadline=None, max_examples=60)
@given(n=st.integers(2, 9), data=st.data())
def test_people_are_compared_by_their_ranks(n, data):
    before, after = (data.draw(graphs(n, n)) for _ in range(2))
    scores = {
        core_correlation: lambda g: list(nx.core_number(g).values()),
        pagerank_correlation: lambda g: [
            round(share * n, 9) for share in nx.pagerank(g, tol=1e-13, max_iter=2_000).values()
        ],
        eigenvector_correlation: lambda g: (
            leading_vector(ours(g)).round(9) if g.number_of_edges() else [0] * n
        ),
    }
    pair = compared(before, after)
    for compute, by_hand in scores.items():
        left, right = by_hand(before), by_hand(after)
        defined = len(set(left)) > 1 < len(set(right))
        if defined:
            (figure,) = compute(pair)
            assert stats.spearmanr(left, right).statistic == pytest.approx(figure.value)
        elif by_hand is scores[eigenvector_correlation] and 0 in pair_of_edges(pair):
            assert [] == list(compute(pair))
        else:
            with pytest.raises(NotMeasuredError, match="all nodes have the same"):
                list(compute(pair))
    numbers = [nx.core_number(g).values() for g in (before, after)]
    furthest = max(
        abs(sum(x <= at for x in numbers[0]) - sum(x <= at for x in numbers[1])) / n
        for at in range(n)
    )
    assert [furthest] == pytest.approx([figure.value for figure in core_distribution(pair)])


def partitions(nodes):
    """Yield every way to put nodes into communities."""
    if not nodes:
        yield []
        return
    first, *others = nodes
    for rest in partitions(others):
        yield [{first}, *rest]
        for number, group in enumerate(rest):
            yield [*rest[:number], group | {first}, *rest[number + 1 :]]


@settings(deadline=None, max_examples=40)
@given(graph=graphs(fewest=2, most=6).filter(lambda graph: graph.number_of_edges()))
def test_the_modularity_of_a_run_is_that_of_some_communities_and_of_the_best_at_times(graph):
    every = [nx.community.modularity(graph, groups) for groups in partitions(list(graph))]
    values = modularities(ours(graph), rng(), 4)
    assert all(min(abs(value - one) for one in every) < 1e-9 for value in values)
    assert -1e-9 < max(every) - values.max() < 0.05


def test_ten_runs_lie_around_their_median():
    values = np.array([7.0, 1.0, 9.0, 3.0, 0.0, 2.0, 8.0, 4.0, 6.0, 5.0])
    assert (4.5, (10, 1.0, 8.0)) == tuple(median_run(values))
