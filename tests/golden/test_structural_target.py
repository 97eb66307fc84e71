"""The heuristic target on real networks, against the figures of a reference prototype."""

from __future__ import annotations

import math
from functools import cache

import networkx as nx
import numpy as np
import pytest

from graphveil.methods.annealing.task import Task
from graphveil.methods.structural.recount import applied
from graphveil.methods.structural.target import target
from shared_data import network

# name, share of the nodes to be anonymous, proposals, edits and clustering of the prototype
GOALS = [
    ("out.dimacs10-netscience", 1.0, None, 0.041, 0.672),
    ("out.arenas-email", 0.95, 500_000, 0.057, 0.220),
]


@cache
def graph_of(name):
    return network(f"anonet/{name}.edges")


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize(("name", "share", "proposals", "edits", "clustering"), GOALS)
def test_a_goal_takes_as_few_edits_and_keeps_as_many_triangles(
    name, share, proposals, edits, clustering
):
    graph = graph_of(name)
    allowed = math.floor((1 - share) * graph.n_nodes + 1e-9)
    task = Task(graph, "count", 1, 2, "any", graph.n_edges, allowed)
    edited = target(task, iterations=proposals, rng=generator(1))
    assert edited.unprotected <= allowed
    assert edited.cost / graph.n_edges <= edits + 0.02
    kept = nx.average_clustering(applied(graph, edited).to_networkx())
    assert kept == pytest.approx(clustering, abs=0.015)


def test_a_budget_leaves_as_few_nodes():
    graph = graph_of("out.dnc-temporalGraph")
    budget = math.ceil(0.05 * graph.n_edges)
    task = Task(graph, "count", 1, 2, "any", budget, 0)
    edited = target(task._replace(by_budget=True), iterations=None, rng=generator(1))
    assert edited.cost <= budget
    assert edited.unprotected <= 36 + 5
