"""What attacks learn of small releases stays within what each method is for.

Each test fails where a method is flawed in a way that its attack can see: see tests/planted.
"""

from __future__ import annotations

import itertools
import secrets
from functools import cache

import pytest

import graphveil as gv
from graphveil.methods import METHODS
from graphveil.verbs.attack import attack_release as attack
from networks_data import random_graph, rng_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

K = 5


@cache
def hearts():
    return gv.datasets.load("spect-heart")


def made(name, **parameters):
    return METHODS[name].from_parameters(parameters)


def values_of(told):
    return {row.part: row.value for row in told}


def learned(release, original, name, **options):
    told = gv.attack_release(
        release, original=original, attacks=[name], seed=1, options={name: options}
    )
    return values_of(told)


@pytest.mark.parametrize("name", ["suppress-k", "mondrian"])
def test_where_nothing_is_added_every_published_entry_is_true_of_its_whole_class(name):
    release = made(name, k=K).anonymize(hearts(), seed=1)
    told = learned(release, hearts(), "class-truth")
    assert 1.0 == told["entries true of the whole class"] == told["entries true, mean"]


def test_a_published_entry_is_true_of_at_least_half_of_its_class():
    told = learned(made("smooth-k", k=K).anonymize(hearts(), seed=1), hearts(), "class-truth")
    assert 0.5 <= told["entries true, mean"] < 1


def test_a_nested_second_release_leaves_nobody_with_fewer_than_were_promised():
    first = made("smooth-k", k=K).anonymize(hearts(), seed=1)
    second = made("smooth-k", k=2 * K).anonymize(hearts(), seed=2, nested_in=first)
    told = gv.attack_release(
        first, original=hearts(), attacks=["intersection"], second=second, seed=1
    )
    assert 0.0 == values_of(told)["joint class smaller than promised"]
    apart = made("smooth-k", k=2 * K).anonymize(hearts(), seed=2)
    told = gv.attack_release(
        first, original=hearts(), attacks=["intersection"], second=apart, seed=1
    )
    assert 0.0 < values_of(told)["joint class smaller than promised"]


def lists(n=60):
    rng = rng_of(2)
    rows = [rng.choice(12, 4, replace=False).tolist() for _ in range(n)]
    return gv.Bipartite.from_lists([[f"item {item}" for item in row] for row in rows])


RUNS = {"trials": 40, "releases": 2}
MOST_GUESSED = 0.8
"""Of 40 trials at a half: more are right with a chance of 1e-5; where runs repeat, all are."""


@pytest.mark.parametrize("seeds", ["given", "from entropy"])
def test_who_runs_the_method_again_does_not_get_the_release_again(seeds, monkeypatch):
    """Entropy is replaced by numbers that another test run gives again."""
    numbers, method = itertools.count(1), made("smooth-k", k=8)
    monkeypatch.setattr(secrets, "randbits", lambda _: next(numbers))

    def again(data, seed):
        return method.anonymize(data, seed=seed if seeds == "given" else None)

    data = lists()
    told = attack(
        method.anonymize(data, seed=1),
        original=data,
        attacks=["re-run"],
        seed=1,
        options={"re-run": RUNS},
        rerun=again,
    )
    assert values_of(told)["seed unknown, right guess"] <= MOST_GUESSED


CELLS = [
    ("randomized-response", {"epsilon": 1.0}),
    ("randomized-response", {"epsilon": 4.0}),
    ("asymmetric-response", {"epsilon": 1.0}),
    ("asymmetric-response", {"epsilon": 4.0}),
    ("top-m-filter", {"epsilon": 1.0, "epsilon_count": 0.1}),
    ("top-m-filter", {"epsilon": 4.0, "epsilon_count": 0.1}),
]


@pytest.mark.parametrize(("name", "parameters"), CELLS)
def test_no_release_shows_a_larger_epsilon_than_it_states(name, parameters):
    original = random_graph(150, 2_000)
    told = learned(
        made(name, **parameters).anonymize(original, seed=1), original, "edge-membership"
    )
    stated = told["epsilon of a cell, stated"]
    assert 0 < told["epsilon, lower bound at 99.9%"] <= stated <= parameters["epsilon"]


@pytest.mark.parametrize("name", ["randomized-response", "asymmetric-response", "top-m-filter"])
def test_false_edges_of_a_random_network_look_like_its_others(name):
    original = random_graph(150, 1_000)
    release = made(name, epsilon=5.0).anonymize(original, seed=1)
    told = learned(release, original, "fake-edge")
    areas = {part: area for part, area in told.items() if part.startswith("AUC")}
    assert all(0.4 < area < 0.6 for area in areas.values()), areas


@pytest.mark.parametrize(
    "name",
    [
        "degree-prior-response",
        "mixing-prior-response",
        "dp-1k",
        "degree-triangle-model",
        "hrg-mcmc",
        "density-explore-reconstruct",
    ],
)
def test_at_a_small_epsilon_a_copy_of_the_network_names_hardly_anybody(name):
    original = random_graph(60, 400)
    release = made(name, epsilon=0.5).anonymize(original, seed=1)
    told = learned(release, original, "seed-propagation", overlap=1.0, known=10, draws=4)
    assert told["overlap 1, 10 known: right"] < 0.2
