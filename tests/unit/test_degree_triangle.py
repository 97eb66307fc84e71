"""The method `degree-triangle-model`: what it keeps, and what its noisy statistics are."""

from __future__ import annotations

import numpy as np
import pytest

import graphveil as gv
from degree_triangle_data import clustered_graph
from graphveil.claims.guarantees import NotClaimed
from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.core.randomness import Randomness
from graphveil.methods.noisy_cells.noisy_statistics import edges_between
from graphveil.methods.random_graphs.placement import cut
from graphveil.methods.random_graphs.triangle_model import stubs_between
from graphveil.methods.random_graphs.triangle_statistics import (
    floor_of,
    noisy_statistics,
    triangles_and_steps,
)

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "groups by true degrees",
        "means": "A prior reads the true groups: one edge changes many of its counts.",
        "methods": ["degree-triangle-model"],
        "file": "src/graphveil/methods/random_graphs/triangle_statistics.py",
        "old": "noisy_mixing(data, groups.of_node, parts",
        "new": "noisy_mixing(data, np.clip(np.searchsorted("
        "groups.least, data.degrees(), 'right') - 1, 0, None), parts",
        "verify": ["tests/unit/test_degree_triangle.py", "-k", "groups"],
    },
    {
        "name": "true triangles by class",
        "means": "The counts of triangles are released without their noise.",
        "methods": ["degree-triangle-model"],
        "file": "src/graphveil/methods/random_graphs/triangle_statistics.py",
        "old": 'ladder(words_from(randomness, "noisy triangles"), counts, steps, rate)',
        "new": "counts",
        "tests": ["tests/unit/test_degree_triangle.py", "-k", "hardly_ever"],
    },
    {
        "name": "degree-triangle-model keeps true edges",
        "means": "Every tenth true edge is published among drawn ones.",
        "methods": ["degree-triangle-model"],
        "file": "src/graphveil/methods/random_graphs/degree_triangle.py",
        "old": "ends = places.people[graph.ends]",
        "new": "ends = np.r_[places.people[graph.ends], data.edges()[::10]]\n"
        "        ends = np.unique(np.sort(ends, 1), axis=0)",
        "tests": ["tests/unit/test_degree_triangle.py", "-k", "believable"],
    },
    {
        "name": "statistics beside a seed",
        "means": "The seed of a drawing tells whether a guess of the owner's seed is right.",
        "methods": ["degree-triangle-model"],
        "file": "src/graphveil/methods/random_graphs/baselines.py",
        "old": "conditions=() if randomness.seeded else (stated,),",
        "new": "conditions=(stated,),",
        "tests": ["tests/unit/test_degree_triangle.py", "-k", "follows_from_the_seed"],
    },
]


@pytest.fixture(scope="module")
def graph():
    return clustered_graph()


def test_noisy_groups_and_classes_are_those_of_noisy_degrees_and_noise_is_believable(graph):
    for _ in range(4):
        release = gv.DegreeTriangleModel(epsilon=4.0).anonymize(graph)
        assert [] == release.verify(graph).failures()


def test_of_a_run_with_a_seed_nothing_is_published_that_follows_from_the_seed(graph, tmp_path):
    """A seed of the samples that follows from the owner's would confirm a guess of it."""
    method = gv.DegreeTriangleModel(epsilon=4.0)
    releases = [method.anonymize(graph, seed=5) for _ in range(2)]
    one, other = (r.write(tmp_path / f"{i}") for i, r in enumerate(releases))
    assert () == releases[0].conditions
    assert NotClaimed(reasons=("repeatable",)) == releases[0].guarantee
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes()
    assert [] == gv.verify_release(one, graph).failures()


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 40.0])
@pytest.mark.parametrize(
    "made",
    [
        gv.Graph.from_edges([], [], n=3),
        gv.Graph.from_edges([0, 0, 1], [1, 2, 2], n=3),
        gv.Graph.from_edges([], [], n=30),
        gv.Graph.from_edges(*np.triu_indices(9, 1), n=9),
        gv.Graph.from_edges([0] * 20, range(1, 21), n=25),
    ],
    ids=["nobody tied", "triangle", "no edges", "complete", "star"],
)
def test_whatever_the_graph_is_a_release_is_made_and_holds(made, epsilon):
    release = gv.DegreeTriangleModel(epsilon=epsilon).anonymize(made)
    assert made.n_nodes == release.data.n_nodes
    assert [] == release.verify(made).failures()


def test_at_a_large_epsilon_degrees_and_triangles_are_kept_and_most_edges_are_not(graph):
    release = gv.DegreeTriangleModel(epsilon=40.0).anonymize(graph)
    said = release.conditions[0]
    assert sorted(graph.degrees()) == sorted(said.numbers("noisy_degrees"))
    pair = release.private.cost
    assert pair["edges_kept"] < 0.4 * graph.n_edges
    assert abs(release.data.n_edges - graph.n_edges) < 0.05 * graph.n_edges
    closed = [
        np.trace(np.linalg.matrix_power(g.to_scipy().toarray().astype(float), 3)) / 6
        for g in (graph, release.data)
    ]
    assert closed[1] == pytest.approx(closed[0], rel=0.15)


@pytest.mark.parametrize(
    ("made", "epsilon", "least"),
    [
        (gv.Graph.from_edges([0] * 600, range(1, 601), n=1000), 2.0, 0.5),
        (gv.Graph.from_edges(*np.triu_indices(9, 1), n=9), 10.0, 1.0),
    ],
    ids=["star", "complete"],
)
def test_where_degrees_tell_the_edges_most_released_ones_are_true_as_the_page_says(
    made, epsilon, least
):
    release = gv.DegreeTriangleModel(epsilon=epsilon).anonymize(made, seed=1)
    assert least <= release.private.cost["edges_kept"] / release.data.n_edges


def test_noisy_statistics_are_hardly_ever_the_true_ones(graph):
    """At epsilon 1 the chance that all triangles have no noise is below one in 10,000."""
    parts = gv.DegreeTriangleModel(epsilon=1.0).parts
    for seed in range(8):
        noisy = noisy_statistics(graph, Randomness(seed=seed), parts)
        counts, steps = triangles_and_steps(graph, noisy.classes, noisy.floor)
        assert steps.first >= noisy.floor
        assert counts.tolist() != noisy.triangles.tolist()
        assert graph.degrees().tolist() != noisy.degrees.tolist()
        upper = np.triu_indices(noisy.groups.least.size)
        between = edges_between(graph, noisy.groups.of_node, noisy.groups.least.size)
        assert between[upper].tolist() != noisy.mixing[upper].tolist()


def test_too_few_nodes_are_refused_and_an_epsilon_below_the_least():
    with pytest.raises(InfeasibleError, match="at least 3"):
        gv.DegreeTriangleModel(epsilon=1.0).anonymize(gv.Graph.from_edges([0], [1], n=2))
    with pytest.raises(ParameterError, match=r"0\.05"):
        gv.DegreeTriangleModel(epsilon=0.01)


def test_cuts_keep_nodes_of_one_noisy_degree_together_and_are_at_most_so_many():
    rng = np.random.default_rng(1)
    for _ in range(30):
        noisy = rng.integers(-5, 12, 40)
        parts = cut(noisy, rng.random(40) + 0.1, 4)
        assert parts.least.size <= 4
        assert (np.searchsorted(parts.least, noisy, side="right") - 1 == parts.of_node).all()
        assert 1 <= floor_of(noisy) <= 38


def test_edges_between_groups_give_every_group_its_degrees():
    rng = np.random.default_rng(2)
    for _ in range(60):
        noisy = rng.integers(0, 9, 12)
        groups = cut(noisy, noisy + 0.5, 5)
        degrees = rng.integers(0, 11, 12)
        degrees[0] += degrees.sum() % 2
        size = groups.least.size
        mixing = np.triu(rng.integers(-20, 40, (size, size)))
        between = stubs_between(mixing, groups, degrees, rng.random((size, size)))
        ends = np.bincount(groups.of_node, weights=degrees, minlength=size)
        assert between.min() >= 0
        assert (np.tril(between, -1) == 0).all()
        assert (between.sum(axis=0) + between.sum(axis=1)).tolist() == ends.tolist()
