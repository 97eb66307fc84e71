"""Who knows what a structural promise is about finds at least k nearest candidates."""

from __future__ import annotations

import pytest

import graphveil as gv
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.methods import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

SIGNATURES_OF = {
    "degree": ("degree",),
    "count": ("degree and triangles",),
    "vrq": ("vrq", "vrq by quantiles", "vrq by quantiles and all degrees"),
    "profile": ("ties out and in",),
    "directed-count": ("ties and people around",),
}
K = 3


def structural(method):
    example = method.from_parameters(method.card.example)
    return isinstance(example.guarantee, StructuralKAnonymity) and "k" in example.parameters()


def measures_of(method):
    """Return the measures that a method with a choice has, or its own."""
    if "measure" in method.card.example:
        return [measure for measure in SIGNATURES_OF if measure != "profile"]
    return [method.from_parameters(method.card.example).guarantee.measure]


PROMISES = [
    (name, measure)
    for name, method in METHODS.items()
    if structural(method)
    for measure in measures_of(method)
]


@pytest.mark.parametrize(("name", "measure"), PROMISES)
def test_the_nearest_candidates_and_their_ties_are_never_fewer_than_k(name, measure, sample):
    method = METHODS[name]
    graph = sample(method, directed=True) if measure == "directed-count" else sample(method)
    graph = graph.without(*graph.attributes) if isinstance(graph, gv.Network) else graph
    asked = {"k": K}
    if "measure" in method.card.example:
        asked |= {"measure": measure, "goal": "full", "iterations": 5_000}
    release = method.from_parameters({**method.card.example, **asked}).anonymize(graph, seed=1)
    assert release.guarantee == StructuralKAnonymity(k=K, measure=measure)
    told = gv.attack_release(release, original=graph, attacks=["candidate-set"], seed=1)
    values = {row.part: row.value for row in told}
    for knows in SIGNATURES_OF[measure]:
        assert values[f"{knows}, nearest, fewest"] >= K


def test_there_are_methods_to_ask():
    assert {"k-degree", "profile", "structural"} <= {name for name, _ in PROMISES}
