"""A trial of every method claims what its files show, verifies, and says that it is a trial."""

from __future__ import annotations

import pytest

import graphveil as gv
from graphveil.methods import METHODS
from graphveil.verbs.sweep.folder import release_folder

NOISY = {name for name, method in METHODS.items() if method.card.spends}
DATA = {
    gv.Graph: gv.Graph.from_edges([*range(40), *range(0, 40, 4)], [*range(1, 40), 0, *[22] * 10]),
    gv.Bipartite: gv.Bipartite.from_lists([["gin", "tea"], ["gin", "jam"], ["rye"]] * 14),
    gv.Table: gv.Table.from_columns({"age": ["a", "b"] * 20, "town": ["x", "x", "y", "z"] * 10}),
    gv.Network: gv.Network(
        (gv.Layer.from_arcs([*range(39), 5, 9, 9], [*range(1, 40), 2, 4, 6], n=40),)
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("name", METHODS)
def test_a_trial_claims_no_epsilon_and_verifies(name, seed, tmp_path):
    method = METHODS[name].from_parameters(dict(METHODS[name].card.example))
    data = DATA[method.accepts[0]]
    out = tmp_path / "out"
    done = gv.sweep([method], data, metrics=[], attacks=[], jobs=1, seed=seed, out=out)
    folder = release_folder(out, done.plan.points[0])
    assert {"finished": 1} == done.counts, done.results[1].reason
    verdict = gv.verify_release(folder, data)
    assert verdict.ok
    guarantee = gv.read_release(folder).guarantee
    if method.guarantee.check_word == "recomputed":
        assert type(method.guarantee) is type(guarantee)
        assert "recomputed" == verdict.word
    else:
        assert "trial" in guarantee.reasons
        assert "not claimed" == verdict.word
    assert name not in NOISY or isinstance(guarantee, gv.NotClaimed)
