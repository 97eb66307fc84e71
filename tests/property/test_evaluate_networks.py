"""Metrics of networks against NetworkX and slow counts, and where nothing was changed."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.randomness import Randomness
from graphveil.evaluate.comparison import NetworkComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.evaluate.metrics.network_entries import NETWORK_METRICS
from graphveil.evaluate.metrics.networks import assortative_mixing

NAMES = ("sex", "town")
PERFECT = {
    ("arcs-kept", "share"): 1.0,
    ("profile-distribution", "out, half L1"): 0.0,
    ("profile-distribution", "out, Kolmogorov-Smirnov"): 0.0,
    ("profile-distribution", "in, half L1"): 0.0,
    ("profile-distribution", "in, Kolmogorov-Smirnov"): 0.0,
    ("reciprocity", "absolute difference"): 0.0,
    **{("suppressed-attributes", f"{name}, count"): 0.0 for name in NAMES},
    **{("suppressed-attributes", f"{name}, share"): 0.0 for name in NAMES},
    **{("homophily", f"{name}, absolute difference"): 0.0 for name in NAMES},
    **{("mixing-matrix", f"{name}, half L1"): 0.0 for name in NAMES},
}


@st.composite
def networks(draw, n=None, directed=None):
    n = draw(st.integers(2, 9)) if n is None else n
    directed = draw(st.booleans()) if directed is None else directed
    pairs = [(u, v) for u in range(n) for v in range(n) if (u != v if directed else u < v)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1))
    source, target = np.array(chosen).T
    layer = (
        gv.Layer.from_arcs(source, target, n=n)
        if directed
        else gv.Layer.of(gv.Graph.from_edges(source, target, n=n))
    )
    values = st.sampled_from(["a", "b", "c", "*"])
    said = {name: draw(st.lists(values, min_size=n, max_size=n)) for name in NAMES}
    return gv.Network((layer,), gv.Table.from_columns(said))


@st.composite
def pairs(draw):
    before = draw(networks())
    after = draw(networks(n=before.n_nodes, directed=before.layers[0].directed))
    order = np.array(draw(st.permutations(range(before.n_nodes))))
    return NetworkComparison.of(before, after, order, Randomness(seed=1))


def figures(pair):
    values = {}
    for metric in NETWORK_METRICS:
        try:
            values |= {(metric.name, one.part): one.value for one in metric.figures(pair)}
        except NotMeasuredError:
            assert not pair.networks[0].layers[0].directed
    return values


def cells(network, name):
    table = network.people
    codes = table.codes[:, table.columns.index(name)].tolist()
    names = table.categories[table.columns.index(name)]
    return [None if code < 0 else str(names[code]) for code in codes]


def as_networkx(network, name):
    layer = network.layers[0]
    graph = nx.DiGraph() if layer.directed else nx.Graph()
    graph.add_nodes_from(range(network.n_nodes))
    graph.add_edges_from(zip(*(end.tolist() for end in layer.ties()), strict=True))
    nx.set_node_attributes(graph, dict(enumerate(cells(network, name))), name)
    return graph


def mixing(network, name):
    """Return the share of ties between each two values; one without direction counts each way."""
    values, counts = cells(network, name), Counter()
    for u, v in as_networkx(network, name).edges:
        counts[values[u], values[v]] += 1
        if not network.layers[0].directed:
            counts[values[v], values[u]] += 1
    return {key: count / counts.total() for key, count in counts.items()}


@settings(deadline=None)
@given(pairs())
def test_every_figure_is_that_of_a_slow_count(pair):
    before, after = pair.networks
    values = figures(pair)
    arcs = [set(as_networkx(network, "sex").edges) for network in (before, after)]
    placed = {tuple(pair.position[[u, v]].tolist()) for u, v in arcs[0]}
    if before.layers[0].directed:
        kept = len(placed & arcs[1])
        assert values["arcs-kept", "count"] == kept
        assert values["arcs-kept", "share"] == pytest.approx(kept / len(placed))
        for when, network in (("original", before), ("released", after)):
            expected = nx.overall_reciprocity(as_networkx(network, "sex"))
            assert values["reciprocity", when] == pytest.approx(expected)
    for name in NAMES:
        lost = cells(after, name).count(None) - cells(before, name).count(None)
        assert values["suppressed-attributes", f"{name}, count"] == lost
        one, other = mixing(before, name), mixing(after, name)
        apart = sum(abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other}) / 2
        assert values["mixing-matrix", f"{name}, half L1"] == pytest.approx(apart)


@settings(deadline=None)
@given(networks(), st.sampled_from(NAMES))
def test_homophily_is_the_assortativity_of_those_who_have_a_value(network, name):
    layer, codes = network.layers[0], network.codes_of(name)
    graph = as_networkx(network, name)
    graph.remove_nodes_from([v for v, value in enumerate(cells(network, name)) if value is None])
    coefficient = assortative_mixing(layer, codes)
    ends = {graph.nodes[v][name] for edge in graph.edges for v in edge}
    if graph.number_of_edges() == 0 or len(ends) == 1:
        assert coefficient is None
    else:
        expected = nx.attribute_assortativity_coefficient(graph, name)
        assert coefficient == pytest.approx(expected)


@settings(deadline=None)
@given(networks(), st.data())
def test_on_a_release_that_changed_nothing_every_metric_is_perfect(network, data):
    order = np.array(data.draw(st.permutations(range(network.n_nodes))))
    position = np.argsort(order)
    same = network.permuted(order)
    values = figures(NetworkComparison.of(network, same, position, Randomness(seed=1)))
    judged = {key: value for key, value in values.items() if key in PERFECT}
    assert {key: PERFECT[key] for key in judged} == pytest.approx(judged, abs=1e-12)
    assert all(values[key] == 1.0 for key in values if key[0] == "kept-by-group")
    assert {("suppressed-attributes", "sex, count")} <= set(judged)


def test_the_group_that_keeps_least_is_named():
    n = 12
    ring = [(v, (v + 1) % n) for v in range(n)]
    layer = gv.Layer.from_arcs(*np.array(ring).T, n=n)
    people = gv.Table.from_columns({"sex": ["f"] * 6 + ["m"] * 6})
    fewer = gv.Layer.from_arcs(*np.array(ring[:9]).T, n=n)
    pair = NetworkComparison.of(
        gv.Network((layer,), people), gv.Network((fewer,), people), np.arange(n), Randomness(seed=1)
    )
    values = figures(pair)
    assert values["kept-by-group", "sex, least (m)"] == pytest.approx(7 / 12)
    assert values["kept-by-group", "sex, everybody"] == pytest.approx(9 / 12)
