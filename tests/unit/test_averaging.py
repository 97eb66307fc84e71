"""The mean of several releases: statistics first, then their errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import graphveil as gv
from graphveil.core.errors import ParameterError
from graphveil.evaluate import averaged
from graphveil.evaluate.metrics import graphlets

PATH = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
ONE_EDGE = gv.Graph.from_edges([0], [1], n=4)
FIVE_EDGES = gv.Graph.from_edges([0, 0, 0, 1, 1], [1, 2, 3, 2, 3], n=4)


def released(graph):
    """Return a release of which only the data is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gv.GraphveilWarning)
        made = gv.Rename().anonymize(graph)
    return gv.Release(
        data=made.data,
        guarantee=made.guarantee,
        conditions=made.conditions,
        provenance=made.provenance,
        private=None,
    )


def values(evaluation, metric):
    return {row.part: row.value for row in evaluation if row.question == metric}


def mean_of(graphs, *metrics):
    return averaged([released(g) for g in graphs], original=PATH, metrics=list(metrics))


def test_statistics_are_averaged_before_their_error():
    for graph in (ONE_EDGE, FIVE_EDGES):
        alone = values(mean_of([graph], "mean-degree"), "mean-degree")
        assert pytest.approx(2 / 3) == alone["relative error"]
    mean = mean_of([ONE_EDGE, FIVE_EDGES], "mean-degree")
    assert {
        "original": 1.5,
        "released": 1.5,
        "absolute difference": 0.0,
        "relative error": 0.0,
    } == values(mean, "mean-degree")
    assert {"mean of 2 releases"} == {row.release for row in mean}


def test_distributions_are_averaged_before_they_are_compared():
    mean = mean_of([ONE_EDGE, FIVE_EDGES], "degree-distribution", "distance-distribution")
    # degrees 0 0 1 1 and 2 2 3 3 against 1 1 2 2; distances of pairs 6:4:2, 2 and 10:2
    degrees = np.abs(np.array([2, 2, 2, 2]) / 8 - np.array([0, 2, 2, 0]) / 4).sum() / 2
    apart = np.abs((np.array([1, 0, 0]) + np.array([10, 2, 0]) / 12) / 2 - np.array([3, 2, 1]) / 6)
    assert pytest.approx(degrees) == values(mean, "degree-distribution")["half L1"]
    assert pytest.approx(apart.sum() / 2) == values(mean, "distance-distribution")["half L1"]


def test_shares_of_graphlets_and_core_numbers_are_averaged_before_they_are_compared():
    star = gv.Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    mean = mean_of([PATH, PATH, star, star], "graphlets", "core-numbers")
    shares = values(mean, "graphlets")
    assert 0.5 == shares["path, released"] == shares["star, released"] == shares["half L1"]
    assert {1.0, 0.0} == {shares["path, original"], shares["star, original"]}
    assert {"Kolmogorov-Smirnov": 0.0} == values(mean, "core-numbers")
    apart = values(mean_of([PATH, FIVE_EDGES], "core-numbers"), "core-numbers")
    assert {"Kolmogorov-Smirnov": 0.5} == apart  # 1 1 1 1 and 2 2 2 2 against 1 1 1 1


def test_sampled_graphlets_have_a_mean_without_an_interval(monkeypatch):
    monkeypatch.setattr(graphlets, "GRAPHLET_PATHS", 11)
    monkeypatch.setattr(graphlets, "OPEN", 1)
    two = [released(FIVE_EDGES)] * 2
    mean = averaged(two, original=PATH, metrics=["graphlets"], seed=1)
    assert {(11, None)} == {(r.sample_size, r.low) for r in mean if "original" not in r.part}
    once = averaged(two[:1], original=PATH, metrics=["graphlets"], seed=1)
    sampled = [row for row in once if row.known == "sampled"]
    assert sampled
    assert all(row.low <= row.value <= row.high for row in sampled)


def test_the_mean_of_one_release_is_its_evaluation():
    metrics = ["mean-degree", "shortest-path", "degree-distribution", "distance-distribution"]
    metrics += ["graphlets", "core-numbers", "spectral-radius", "triangles"]
    release = released(FIVE_EDGES)
    once = gv.evaluate_release(release, original=PATH, metrics=metrics)
    mean = averaged([release], original=PATH, metrics=metrics)
    assert [(r.question, r.part, r.value) for r in once] == [
        (r.question, r.part, r.value) for r in mean
    ]


def test_a_metric_without_a_value_in_one_release_is_not_measured():
    mean = mean_of([PATH, gv.Graph.from_edges([], [], n=4)], "transitivity", "mean-degree")
    assert {"mean-degree"} == {row.question for row in mean}
    assert "(1 of 2 releases)" in mean.not_measured["transitivity"]


def test_no_release_has_no_mean():
    with pytest.raises(ParameterError, match="Give at least one"):
        averaged([], original=PATH)


def test_an_unknown_metric_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ParameterError, match="unknown metric 'loudness'"):
        averaged([tmp_path / "no release"], original=PATH, metrics=["loudness"])
    with pytest.raises(ParameterError, match="unknown metric 'loudness'"):
        gv.evaluate_release(tmp_path / "no release", original=PATH, metrics=["loudness"])
