"""The metrics of the Top-m Filter's figures on real networks, against published and own values."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.evaluate.distances import distances
from graphveil.evaluate.graph_structure import triangles_at
from graphveil.evaluate.metrics.degrees import exponent
from graphveil.evaluate.metrics.path_lengths import average_of, harmonic_of, within_90_percent
from graphveil.evaluate.metrics.structure import closed_share
from shared_data import network

GOLDEN = {
    "polbooks": (8.4, 25, 29.6876, 0.3484, 2.5708, 3.0788, 5, 2.5184, 7),
    "polblogs": (27.3121, 351, 1473.40, 0.2260, 3.6938, 2.7375, 4, 2.5115, 8),
    "as20graph": (3.8838, 1458, 624.9948, 0.0096, 2.2532, 3.705, 5, 3.4435, 9),
}
"""Mean, largest and variance of degrees, transitivity, power law, mean distance, effective
diameter, characteristic length, diameter."""


@pytest.mark.parametrize("name", GOLDEN)
def test_the_eleven_metrics_have_their_known_values(name):
    graph = network(name)
    degrees, n = graph.degrees(), graph.n_nodes
    found = distances(graph, np.random.Generator(np.random.PCG64(1)))
    values = (
        degrees.mean(),
        degrees.max(),
        degrees.var(),
        closed_share(graph, triangles_at(graph).sum() // 3),
        exponent(degrees),
        average_of(found, n).value,
        within_90_percent(found, n).value,
        harmonic_of(found, n).value,
        found.pairs.size - 1,
    )
    assert GOLDEN[name] == pytest.approx(values, rel=2e-5, abs=5.1e-5)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 9), st.integers(0, 2**32), st.floats(0.1, 0.9))
def test_transitivity_and_lengths_are_those_of_networkx(n, seed, p):
    plain = nx.gnp_random_graph(n, p, seed=seed)
    graph = gv.Graph.from_networkx(plain)
    wedges = sum(d * (d - 1) for _, d in plain.degree())
    expected = nx.transitivity(plain) if wedges else None
    assert expected == (
        None if not wedges else pytest.approx(closed_share(graph, triangles_at(graph).sum() // 3))
    )
    found = distances(graph, np.random.Generator(np.random.PCG64(1)))
    lengths = [d for _, row in nx.all_pairs_shortest_path_length(plain) for d in row.values() if d]
    assert np.bincount(lengths, minlength=1).tolist() == found.pairs.tolist()
    if lengths:
        harmonic = len(lengths) / sum(1 / d for d in lengths)
        assert harmonic == pytest.approx(harmonic_of(found, n).value)
        assert np.sort(lengths)[-(-9 * len(lengths) // 10) - 1] == within_90_percent(found, n).value


def test_undefined_is_missing_and_no_zero():
    assert None is exponent(np.array([0, 3, 3, 3]))
    assert None is exponent(np.array([], dtype=np.int64))
    assert None is closed_share(gv.Graph.from_edges([0], [1], n=3), 0)


def test_sampled_distances_of_a_diameter_are_a_lower_bound():
    ring = gv.Graph.from_edges(np.arange(400), (np.arange(400) + 1) % 400, n=400)
    rng = np.random.Generator(np.random.PCG64(1))
    found = distances(ring, rng, exact_up_to=100, n_sources=128)
    assert 128 == found.sources
    assert found.pairs.size - 1 <= 200
    average = average_of(found, 400)
    low, high = average.interval
    assert low - 1e-9 <= 40_000 / 399 <= high + 1e-9
