"""The metrics of graphs against slow twins, and what must hold of any comparison."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.core.randomness import Randomness
from graphveil.evaluate import METRICS
from graphveil.evaluate import comparison as searches
from graphveil.evaluate.distances import distances, searched
from graphveil.evaluate.graph_structure import triangles_at
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.evaluate.metrics.betweenness import (
    betweenness,
    dependencies,
    estimates,
    interval,
    overlap_of_top,
)
from graphveil.evaluate.metrics.communities import (
    consensus_communities,
    normalized_mutual_information,
)
from graphveil.evaluate.metrics.degrees import degree_assortativity
from graphveil.evaluate.metrics.graphlets import NAMES
from graphveil.evaluate.metrics.path_lengths import average_of
from graphveil.evaluate.metrics.structure import average_clustering
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.evaluate import evaluate_release as evaluate

GRAPH = [name for name, metric in METRICS.items() if metric.kind is gv.Graph]
SAMPLED = {"communities", "modularity"}
UNDEFINED_AT_TIMES = [
    *("mean-degree", "largest-degree", "degree-variance", "power-law", "transitivity"),
    *("characteristic-length", "effective-diameter", "diameter", "triangles", "wedges"),
    *("spectral-radius", "spectral-gap", "modularity"),
]
"""Properties that some graphs do not have; an error relative to 0 is none, either."""
CORRELATIONS = ["core-correlation", "pagerank-correlation", "eigenvector-correlation"]
PERFECT = {
    ("edges-kept", "share"): 1.0,
    ("edges-added", "count"): 0.0,
    ("edges-added", "share"): 0.0,
    ("edges-removed", "count"): 0.0,
    ("edges-removed", "share"): 0.0,
    ("edge-jaccard", "all"): 1.0,
    ("edge-edit-distance", "count"): 0.0,
    ("edge-edit-distance", "share"): 0.0,
    ("degree-distribution", "half L1"): 0.0,
    ("degree-distribution", "Kolmogorov-Smirnov"): 0.0,
    ("assortativity", "absolute difference"): 0.0,
    ("clustering", "absolute difference"): 0.0,
    ("clustering", "relative error"): 0.0,
    ("largest-component", "absolute difference"): 0.0,
    ("largest-component", "relative error"): 0.0,
    ("shortest-path", "absolute difference"): 0.0,
    ("shortest-path", "relative error"): 0.0,
    ("distance-distribution", "half L1"): 0.0,
    **{
        (metric, part): 0.0
        for metric in UNDEFINED_AT_TIMES
        for part in ("absolute difference", "relative error")
    },
    ("graphlets", "half L1"): 0.0,
    **{("graphlets", f"{name}, absolute difference"): 0.0 for name in NAMES},
    ("core-numbers", "Kolmogorov-Smirnov"): 0.0,
    **{(metric, "Spearman"): 1.0 for metric in CORRELATIONS},
    ("betweenness", "overlap"): 1.0,
    ("communities", "released against original"): 1.0,
}
"""What a release that changed nothing scores; edges kept are as many as there are."""


def plain_graph(n, edges):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return graph


@st.composite
def graphs(draw, nodes=None):
    n = draw(st.integers(0, 10)) if nodes is None else nodes
    pairs = [(u, v) for v in range(n) for u in range(v)]
    return plain_graph(n, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


@st.composite
def comparisons(draw):
    """Draw an original, a release of as many nodes, and the released id of every node."""
    n = draw(st.integers(1, 10))
    return draw(graphs(n)), draw(graphs(n)), draw(st.permutations(range(n)))


def release_of(original, released, position):
    return Release(
        data=gv.Graph.from_networkx(released),
        guarantee=StructuralKAnonymity(k=1),
        provenance=Provenance(method="k-degree", source="a test", limits="all", parameters={}),
        private=Private(
            input_sha256=digest_of(gv.Graph.from_networkx(original)),
            linkage=Linkage(np.arange(len(position)), np.array(position, dtype=np.int64)),
        ),
    )


def figures(original, released, position, *, only=GRAPH):
    names = list(only)
    release = release_of(original, released, position)
    evaluation = evaluate(release, original=gv.Graph.from_networkx(original), metrics=names, seed=1)
    return {(row.question, row.part): row.value for row in evaluation}


def share(number, whole):
    """Return a share of a set; none of an empty one."""
    return number / len(whole) if whole else None


def rng(seed=1):
    return Randomness(seed=seed).stream("a test")


@settings(deadline=None, max_examples=100)
@given(case=comparisons())
def test_edges_are_compared_person_by_person_as_sets_are(case):
    original, released, position = case
    before = {frozenset((position[u], position[v])) for u, v in original.edges()}
    after = {frozenset(edge) for edge in released.edges()}
    values = figures(*case, only=[name for name in GRAPH if name.startswith("edge")])
    kept, union = len(before & after), len(before | after)
    assert kept == values["edges-kept", "count"]
    assert share(kept, before) == values.get(("edges-kept", "share"))
    assert len(after - before) == values["edges-added", "count"]
    assert share(len(after - before), after) == values.get(("edges-added", "share"))
    assert len(before - after) == values["edges-removed", "count"]
    assert share(len(before - after), before) == values.get(("edges-removed", "share"))
    assert (kept / union if union else 1.0) == values["edge-jaccard", "all"]
    assert len(before ^ after) == values["edge-edit-distance", "count"]
    assert share(len(before ^ after), before) == values.get(("edge-edit-distance", "share"))


@settings(deadline=None, max_examples=100)
@given(case=comparisons())
def test_degree_distributions_are_compared_as_by_counting(case):
    n = case[0].number_of_nodes()
    shares = [
        [count / n for count in nx.degree_histogram(graph) + [0] * n][:n] for graph in case[:2]
    ]
    differences = [x - y for x, y in zip(*shares, strict=True)]
    values = figures(*case, only=["degree-distribution"])
    half_l1 = sum(map(abs, differences)) / 2
    furthest = max(abs(sum(differences[: i + 1])) for i in range(n))
    assert half_l1 == pytest.approx(values["degree-distribution", "half L1"])
    assert furthest == pytest.approx(values["degree-distribution", "Kolmogorov-Smirnov"])


@settings(deadline=None, max_examples=100)
@given(graph=graphs())
def test_clustering_is_that_of_networkx_where_degrees_below_two_count_as_zero(graph):
    values = nx.clustering(graph).values()
    frequent = any(graph.degree(node) >= 2 for node in graph)
    expected = pytest.approx(sum(values) / len(values), abs=1e-12) if frequent else None
    converted = gv.Graph.from_networkx(graph)
    assert expected == average_clustering(converted, triangles_at(converted))


@settings(deadline=None, max_examples=100)
@given(graph=graphs())
def test_assortativity_is_the_correlation_over_edges_in_both_directions(graph):
    ends = [(graph.degree(u), graph.degree(v)) for u, v in graph.edges()]
    ends += [(y, x) for x, y in ends]
    left, right = [x for x, _ in ends], [y for _, y in ends]
    defined = len(set(left)) > 1
    expected = pytest.approx(statistics.correlation(left, right), abs=1e-9) if defined else None
    assert expected == degree_assortativity(gv.Graph.from_networkx(graph))


@settings(deadline=None, max_examples=100)
@given(case=comparisons())
def test_components_and_paths_are_those_of_networkx_before_and_after(case):
    parts = {"largest-component": [], "shortest-path": []}
    values = figures(*case, only=parts)
    for graph in case[:2]:
        largest = max(map(len, nx.connected_components(graph)))
        parts["largest-component"].append(largest / graph.number_of_nodes())
        lengths = [
            length
            for source, targets in nx.all_pairs_shortest_path_length(graph)
            for target, length in targets.items()
            if source != target
        ]
        parts["shortest-path"].append(sum(lengths) / len(lengths) if lengths else None)
    if None in parts["shortest-path"]:
        assert [] == [figure for figure in values if figure[0] == "shortest-path"]
        del parts["shortest-path"]
    for metric, (before, after) in parts.items():
        assert before == pytest.approx(values[metric, "original"])
        assert after == pytest.approx(values[metric, "released"])
        apart = abs(after - before)
        assert apart == pytest.approx(values[metric, "absolute difference"], abs=1e-12)


def average_distance(graph, rng, **sampling):
    return average_of(distances(graph, rng, **sampling), graph.n_nodes)


@pytest.mark.parametrize("n", [63, 64, 65, 130])
def test_searches_from_more_sources_than_a_word_has_bits_are_grouped(n):
    graph = nx.gnp_random_graph(n, 3 / n, seed=n)
    lengths = [
        [length for length in targets.values() if length]
        for _, targets in nx.all_pairs_shortest_path_length(graph)
    ]
    groups = [lengths[start : start + 64] for start in range(0, n, 64)]
    counts = searched(gv.Graph.from_networkx(graph), np.arange(n))
    assert [sum(map(len, group)) for group in groups] == counts.sum(axis=1).tolist()
    assert [sum(map(sum, group)) for group in groups] == (
        counts @ np.arange(counts.shape[1])
    ).tolist()


@settings(deadline=None, max_examples=60)
@given(graph=graphs().filter(len), few=st.sampled_from([0, 2, 10**9]))
def test_searches_that_follow_few_arcs_count_as_those_that_follow_all(graph, few):
    lengths = nx.all_pairs_shortest_path_length(graph)
    expected = Counter(length for _, row in lengths for length in row.values() if length)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(searches, "FEW", few)
        counts = searched(gv.Graph.from_networkx(graph), np.arange(len(graph)))
    assert expected == {d: times for d, times in enumerate(counts.sum(axis=0).tolist()) if times}


@pytest.mark.parametrize("n", [400, 1_300])
def test_paths_longer_than_searches_go_together_are_measured_too(n):
    alone = plain_graph(n + 1, itertools.pairwise(range(n)))
    average = average_distance(gv.Graph.from_networkx(alone), rng())
    assert (n + 1) / 3 == pytest.approx(average.value)
    assert None is average.sample


@settings(deadline=None, max_examples=100)
@given(graph=graphs())
def test_betweenness_counts_every_path_both_ways(graph):
    expected = nx.betweenness_centrality(graph, normalized=False)
    scores = betweenness(gv.Graph.from_networkx(graph))
    assert [2 * expected[v] for v in range(len(graph))] == pytest.approx(scores.tolist())


@settings(deadline=None, max_examples=60)
@given(graph=graphs())
def test_every_node_as_a_pivot_once_gives_the_exact_betweenness(graph):
    converted = gv.Graph.from_networkx(graph)
    matrix = converted.to_scipy().astype(np.float64)
    found = [dependencies(matrix, source) for source in range(len(graph))]
    assert betweenness(converted).tolist() == pytest.approx(
        np.reshape(found, (len(graph),) * 2).sum(axis=0).tolist()
    )


def diamonds(number):
    """Return diamonds in a row: each one doubles the number of shortest paths from end to end."""
    at = np.arange(0, 3 * number, 3)
    ends = np.concatenate([(at, at + 1), (at, at + 2), (at + 1, at + 3), (at + 2, at + 3)], axis=1)
    return gv.Graph.from_edges(*ends, n=3 * number + 1)


def test_more_paths_than_a_number_holds_are_not_measured():
    rng = Randomness(seed=1).stream("a test")
    with pytest.raises(NotMeasuredError, match="more than 1e308 shortest paths"):
        betweenness(diamonds(1_030))
    with pytest.raises(NotMeasuredError, match="more than 1e308 shortest paths"):
        estimates(diamonds(2_200), rng, pivots=4, batches=2)


def place_of(scores, node, top):
    above = sum(score > scores[node] for score in scores)
    tied = sum(score == scores[node] for score in scores)
    return min(Fraction(1), max(Fraction(0), Fraction(top - above, tied)))


@settings(deadline=None, max_examples=150)
@given(
    scores=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8),
    data=st.data(),
)
def test_the_overlap_shares_the_last_places_among_those_tied(scores, data):
    before, after = zip(*scores, strict=True)
    top = data.draw(st.integers(1, len(scores)))
    expected = sum(
        min(place_of(before, node, top), place_of(after, node, top)) for node in range(len(scores))
    )
    overlap = overlap_of_top(np.array(before, dtype=float), np.array(after, dtype=float), top)
    assert float(expected / top) == pytest.approx(overlap)


@settings(deadline=None, max_examples=150)
@given(labels=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=10))
def test_mutual_information_is_that_of_counting(labels):
    n = len(labels)
    left, right = Counter(x for x, _ in labels), Counter(y for _, y in labels)
    entropies = [-sum(c / n * math.log(c / n) for c in side.values()) for side in (left, right)]
    mutual = sum(
        c / n * math.log(c * n / (left[x] * right[y])) for (x, y), c in Counter(labels).items()
    )
    expected = 2 * mutual / sum(entropies) if sum(entropies) else 1.0
    agreement = normalized_mutual_information(*np.array(labels).T)
    assert expected == pytest.approx(agreement, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(graph=graphs(10), seed=st.integers(0, 5))
def test_every_community_is_connected(graph, seed):
    community = consensus_communities(gv.Graph.from_networkx(graph), rng(seed))
    for label in set(community.tolist()):
        members = np.flatnonzero(community == label).tolist()
        assert nx.is_connected(graph.subgraph(members))


@settings(deadline=None, max_examples=40)
@given(sizes=st.lists(st.integers(2, 6), min_size=1, max_size=5), seed=st.integers(0, 5))
def test_cliques_that_nothing_joins_are_the_communities(sizes, seed):
    cliques = nx.disjoint_union_all([nx.complete_graph(size) for size in sizes])
    community = consensus_communities(gv.Graph.from_networkx(cliques), rng(seed)).tolist()
    expected = [number for number, size in enumerate(sizes) for _ in range(size)]
    assert expected == community


@settings(deadline=None, max_examples=60)
@given(graph=graphs().filter(len), data=st.data())
def test_a_release_that_changed_nothing_scores_perfectly(graph, data):
    position = data.draw(st.permutations(range(len(graph))))
    values = figures(graph, nx.relabel_nodes(graph, dict(enumerate(position))), position)
    open_keys = {"distance-distribution", "shortest-path", "assortativity", "clustering"}
    open_keys |= {"graphlets", *CORRELATIONS, *UNDEFINED_AT_TIMES}
    shares = set() if graph.number_of_edges() else {"share"}
    expected = [k for k in PERFECT if k in values or not (k[0] in open_keys or k[1] in shares)]
    judged = {key: values[key] for key in expected if key[0] not in SAMPLED}
    assert {key: PERFECT[key] for key in judged} == pytest.approx(judged, abs=1e-9)
    assert graph.number_of_edges() == values["edges-kept", "count"]


@settings(deadline=None, max_examples=20)
@given(sizes=st.lists(st.integers(2, 6), min_size=2, max_size=5), data=st.data())
def test_plain_communities_that_did_not_change_agree_perfectly(sizes, data):
    graph = nx.disjoint_union_all([nx.complete_graph(size) for size in sizes])
    position = data.draw(st.permutations(range(len(graph))))
    values = figures(
        graph, nx.relabel_nodes(graph, dict(enumerate(position))), position, only=SAMPLED
    )
    key = ("communities", "released against original")
    assert PERFECT[key] == values[key] == values["communities", "original against itself"]
    apart = ("modularity", "absolute difference")
    assert PERFECT[apart] == pytest.approx(values[apart], abs=1e-12)


def test_every_figure_that_is_judged_has_a_perfect_value():
    graph = nx.barbell_graph(3, 1)
    graph.add_edge(0, 7)
    original = gv.Graph.from_networkx(graph)
    evaluation = evaluate(release_of(graph, graph, range(8)), original=original)
    judged = {(row.question, row.part) for row in evaluation if row.direction != "for comparison"}
    assert judged == {*PERFECT, ("edges-kept", "count")}


@settings(deadline=None, max_examples=40)
@given(case=comparisons(), data=st.data())
def test_other_released_ids_change_no_figure(case, data):
    original, released, position = case
    other = data.draw(st.permutations(range(len(position))))
    renamed = nx.relabel_nodes(released, dict(enumerate(other)))
    moved = [other[released_id] for released_id in position]
    alike = [name for name in GRAPH if name != "modularity"]  # its runs begin elsewhere
    expected = figures(original, released, position, only=alike)
    values = figures(original, renamed, moved, only=alike)
    assert expected == pytest.approx(values, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(case=comparisons(), data=st.data())
def test_other_original_ids_change_no_figure_that_is_not_sampled(case, data):
    original, released, position = case
    other = data.draw(st.permutations(range(len(position))))
    renamed = nx.relabel_nodes(original, dict(enumerate(other)))
    moved = [position[node] for node in np.argsort(other)]
    exact = [name for name in GRAPH if name not in SAMPLED]
    expected = figures(original, released, position, only=exact)
    values = figures(renamed, released, moved, only=exact)
    assert expected == pytest.approx(values, abs=1e-9)


def test_all_nodes_as_a_sample_give_the_exact_distance_and_no_interval():
    graph = gv.Graph.from_networkx(nx.gnp_random_graph(100, 0.03, seed=4))
    exact = average_distance(graph, rng())
    sampled = average_distance(graph, rng(), exact_up_to=0, n_sources=100)
    assert exact.value == pytest.approx(sampled.value)
    assert [sampled.value] * 2 == pytest.approx(sampled.interval)


def test_estimated_betweenness_is_near_the_exact_one():
    graph = gv.Graph.from_networkx(nx.barabasi_albert_graph(600, 2, seed=4))
    exact = betweenness(graph)
    batches = estimates(graph, rng(), pivots=200, batches=8)
    estimated = batches.mean(axis=0)
    assert 0.99 < np.corrcoef(exact, estimated)[0, 1] < 1.0
    assert 0.8 < overlap_of_top(exact, estimated, 50) < 1.0
    assert np.array_equal(batches, estimates(graph, rng(), pivots=200, batches=8))


def test_the_interval_does_not_hide_that_few_batches_say_different_things():
    before = np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
    low, high = interval(before, before[::-1], 1, rng())
    assert (0.0, 1.0) == (low, high)
