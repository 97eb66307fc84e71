"""A run that misses its goal claims what it reached, whatever the method; of nobody, nothing."""

import numpy as np
import pytest

import graphveil as gv
from graphveil.core.errors import InfeasibleError
from graphveil.measures import measure
from graphveil.methods.profile import realize as layers

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N, K = 40, 4


def calls():
    rng = np.random.default_rng(5)
    ends = (N * rng.random((2, 90)) ** 1.5).astype(np.int64)
    return gv.Network((gv.Layer.from_arcs(*ends, n=N),))


def stubborn(network, colors, k, *, additions, randomness):
    """Return a network as it is, as if no edits could be found."""
    del colors, k, additions, randomness
    kept = tuple(layers.EditedLayer(layer, 0, 0) for layer in network.layers)
    return layers.EditedLayers(kept, 0, 1)


def of_profiles(monkeypatch):
    monkeypatch.setattr(layers, "realize_layers", stubborn)
    return gv.Profile(k=K), calls()


def of_surroundings(monkeypatch):
    del monkeypatch
    return gv.StructuralAnonymity(measure="directed-count", k=K, edits="add", effort=0.01), calls()


def of_rewiring(monkeypatch):
    del monkeypatch
    hub = gv.Graph.from_edges([0] * 9, range(1, 10), n=N)
    return gv.StructuralAnonymity(measure="degree", k=K, edits="rewire", effort=0.01), hub


RUNS = pytest.mark.parametrize("run", [of_profiles, of_surroundings, of_rewiring])


@RUNS
def test_a_full_goal_that_is_missed_is_claimed_as_the_share_reached(run, monkeypatch):
    method, data = run(monkeypatch)
    release = method.anonymize(data, seed=1)
    risk = measure(release.data, measure=method.guarantee.measure, k=K)
    rare = risk.unprotected().size
    assert 0 < rare < N
    who = "1 node is" if rare == 1 else f"{rare} nodes are"
    missed = f"goal full was not reached: {who} unprotected, 0 allowed"
    assert any(missed in words for words in release.private.warnings)
    assert np.floor((1 - release.guarantee.share) * N + 1e-9) == rare
    assert release.guarantee.sentence.startswith("At least ")
    assert release.verify(data).ok


@pytest.mark.parametrize("run", [of_profiles, of_surroundings])
def test_a_run_that_protects_nobody_is_refused(run, monkeypatch):
    method, _ = run(monkeypatch)
    chain = [(u, v) for u in range(5) for v in range(u)]
    alone = gv.Network((gv.Layer.from_arcs(*zip(*chain, strict=True), n=5),))
    with pytest.raises(InfeasibleError, match="could be made 4-anonymous within goal=full"):
        method.anonymize(alone, seed=1)
