"""What noisy releases keep of a real network, beside figures that a prototype measured."""

from __future__ import annotations

import pytest

import graphveil as gv
from graphveil.evaluate import averaged
from shared_data import network

TEN = (
    "mean-degree",
    "largest-degree",
    "degree-variance",
    "transitivity",
    "shortest-path",
    "effective-diameter",
    "characteristic-length",
    "diameter",
    "degree-distribution",
    "distance-distribution",
)
"""The metrics of the Top-m Filter's figures but for the power law, which alone can be off by 2."""

MEASURED = {
    gv.AsymmetricResponse: {2.0: 0.444, 8.0: 0.044},
    gv.DegreePriorResponse: {2.0: 0.140, 8.0: 0.051},
    gv.MixingPriorResponse: {2.0: 0.147, 8.0: 0.069},
}
"""On polblogs, of 1 to 10 releases; the first with a larger part of epsilon for the count."""


@pytest.mark.parametrize("method", MEASURED)
@pytest.mark.parametrize("epsilon", [2.0, 8.0])
@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_the_mean_error_on_polblogs_is_that_of_the_prototype(method, epsilon):
    graph = network("polblogs")
    releases = [method(epsilon=epsilon).anonymize(graph, seed=seed) for seed in range(4)]
    rows = averaged(releases, original=graph, metrics=TEN)
    errors = [row.value for row in rows if row.part in ("relative error", "half L1")]
    assert 10 == len(errors)
    assert MEASURED[method][epsilon] == pytest.approx(sum(errors) / 10, abs=0.03)
