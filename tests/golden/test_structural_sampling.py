"""ua on 17 real networks, against the table of the structural specification (another program's).

A network's line: nodes not anonymous after ua with 5% of the edges (the share of all nodes), edges
kept until 95% and until all nodes are anonymous, and the bound on the latter; count, distance 1.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from graphveil.core.randomness import Randomness
from graphveil.methods.annealing.bounds import lower_bound
from graphveil.methods.annealing.task import Task
from graphveil.methods.structural.paper import ranked, sample_edits, state_of
from shared_data import network

SEEDS, SEEDS_TO_THE_END = range(3), range(10)
"""When the last node falls is chance: runs to the end differ by .1 of the edges."""
TABLE = {
    "CA-GrQc": (0.054, 0.830, 0.419, 1.000),
    "calls": (0.013, 1, 0.895, 0.997),
    "fb_friends": (0.423, 0.541, 0.308, 0.998),
    "out.arenas-email": (0.203, 0.707, 0.472, 0.998),
    "out.dimacs10-netscience": (0.029, 1, 0.775, 0.998),
    "out.dnc-temporalGraph": (0.084, 0.682, 0.207, 0.985),
    "out.gene_fusion": (0.015, 1, 0.824, 0.982),
    "out.maayan-faa": (0.020, 1, 0.817, 0.999),
    "out.moreno_health_health": (0.013, 0.990, 0.742, 1.000),
    "out.moreno_innovation": (0.188, 0.762, 0.646, 0.996),
    "out.opsahl-powergrid": (0.000, 1, 0.913, 1.000),
    "out.radoslaw_email": (0.756, 0.164, 0.086, 0.995),
    "out.subelj_euroroad_euroroad": (0.000, 1, 0.975, 0.999),
    "primaryschool": (0.975, 0.162, 0.054, 0.998),
    "sms": (0.002, 1, 0.933, 1.000),
    "socfb-Reed98": (0.740, 0.334, 0.079, 0.996),
    "socfb-Simmons81": (0.769, 0.350, 0.040, 0.998),
}
AT_K_5 = {
    "CA-GrQc": (544, 544),
    "fb_friends": (641, 617),
    "out.arenas-email": (537, 508),
    "out.dimacs10-netscience": (136, 133),
    "out.moreno_health_health": (381, 232),
    "out.moreno_innovation": (177, 150),
    "out.radoslaw_email": (144, 144),
    "socfb-Reed98": (903, 894),
}
"""Nodes not anonymous at the start, and after ua with 5% of the edges."""


@cache
def graph_of(name):
    return network(f"anonet/{name}.edges")


def sampled(name, seed, k, *, budget=1.0, allowed=0.0):
    graph = graph_of(name)
    m = graph.n_edges
    task = Task(
        graph=graph,
        measure="count",
        distance=1,
        k=k,
        edits="delete",
        budget=math.ceil(budget * m),
        allowed=math.floor(allowed * graph.n_nodes + 1e-9),
    )
    rng = Randomness(seed=seed).stream(f"{name} {budget} {allowed}")
    by_budget = budget < 1
    return sample_edits(task._replace(by_budget=by_budget), "ua", gap=math.ceil(m / 100), rng=rng)


@cache
def unprotected_at_start(name, k):
    graph = graph_of(name)
    return state_of(ranked(graph)[1], Task(graph, "count", 1, k, "delete", 0, 0)).n_unprotected


@cache
def unprotected_after_5_percent(name, k):
    return np.mean([sampled(name, seed, k, budget=0.05).unprotected for seed in SEEDS])


@cache
def kept(name, k, *, allowed=0.0):
    seeds = SEEDS if allowed else SEEDS_TO_THE_END
    costs = [sampled(name, seed, k, allowed=allowed).cost for seed in seeds]
    return 1 - np.mean(costs) / graph_of(name).n_edges


@pytest.mark.parametrize("name", TABLE)
def test_ua_leaves_and_keeps_what_the_published_program_does(name):
    left, partial, full, _ = TABLE[name]
    assert unprotected_after_5_percent(name, 2) / graph_of(name).n_nodes == pytest.approx(
        left, abs=0.03
    )
    assert kept(name, 2, allowed=0.05) == pytest.approx(partial, abs=0.03)
    assert kept(name, 2) == pytest.approx(full, abs=0.10)


@pytest.mark.parametrize("name", TABLE)
def test_the_bound_is_the_published_one(name):
    graph = graph_of(name)
    bound = lower_bound(Task(graph, "count", 1, 2, "delete", graph.n_edges, 0))
    assert TABLE[name][3] == round(1 - bound / graph.n_edges, 3)


@pytest.mark.parametrize("name", AT_K_5)
def test_ua_at_k_5_leaves_what_the_prototype_leaves(name):
    start, after = AT_K_5[name]
    assert start == unprotected_at_start(name, 5)
    assert unprotected_after_5_percent(name, 5) == pytest.approx(
        after, abs=0.03 * graph_of(name).n_nodes
    )


@pytest.mark.parametrize(
    ("k", "names", "made", "edges"),
    [(2, tuple(TABLE), 0.333, 0.529), (5, tuple(AT_K_5), 0.083, 0.385)],
)
def test_ua_does_on_average_what_the_prototype_does(k, names, made, edges):
    start = {name: unprotected_at_start(name, k) for name in names}
    shares = [1 - unprotected_after_5_percent(name, k) / start[name] for name in names]
    assert np.mean(shares) == pytest.approx(made, abs=0.05)
    assert np.mean([kept(name, k) for name in names]) == pytest.approx(edges, abs=0.05)


@pytest.mark.parametrize(
    ("name", "uniqueness"), [("email-Enron", 0.071), ("loc-Brightkite", 0.048)]
)
def test_ua_finishes_on_graphs_that_the_paper_gave_up(name, uniqueness):
    graph = network(name)
    budget = math.ceil(0.05 * graph.n_edges)
    task = Task(graph, "count", 1, 2, "delete", budget, 0)
    start = state_of(ranked(graph)[1], task).n_unprotected
    assert uniqueness == round(start / graph.n_nodes, 3)
    rng = Randomness(seed=1).stream(name)
    gap = math.ceil(graph.n_edges / 100)
    found = sample_edits(task._replace(by_budget=True), "ua", gap=gap, rng=rng)
    assert found.unprotected < start
    assert found.cost <= budget
