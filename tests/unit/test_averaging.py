"""The mean of several releases: statistics first, then their errors."""

from __future__ import annotations

import warnings

import pytest

import graphveil as gv
from graphveil.errors import ParameterError, UsageError
from graphveil.evaluate import Evaluation, averaged

PATH = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
RELEASES = (
    gv.Graph.from_edges([0], [1], n=4),
    gv.Graph.from_edges([0, 0, 0, 1, 1], [1, 2, 3, 2, 3], n=4),
)
"""Of 1 and of 5 edges, where the original has 3."""


def evaluated(graph, *metrics, original=PATH):
    """Return the evaluation of a graph that stands for a release."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gv.GraphveilWarning)
        release = gv.Rename().anonymize(graph)
    alone = gv.Release(
        data=release.data,
        guarantee=release.guarantee,
        conditions=release.conditions,
        provenance=release.provenance,
        private=None,
    )
    return gv.evaluate_release(alone, original=original, metrics=list(metrics))


def values(evaluation, metric):
    return {row.part: row.value for row in evaluation if row.metric == metric}


def test_statistics_are_averaged_before_their_error():
    each = [evaluated(graph, "mean-degree", "degree-distribution") for graph in RELEASES]
    assert [1 / 1.5, 1 / 1.5] == [values(e, "mean-degree")["relative error"] for e in each]
    mean = averaged(each)
    assert {
        "original": 1.5,
        "released": 1.5,
        "absolute difference": 0.0,
        "relative error": 0.0,
    } == values(mean, "mean-degree")
    parts = [values(e, "degree-distribution")["half L1"] for e in each]
    assert sum(parts) / 2 == pytest.approx(values(mean, "degree-distribution")["half L1"])
    assert {"mean of 2 releases"} == {row.release for row in mean}


def test_one_evaluation_is_its_own_mean():
    once = evaluated(RELEASES[0], "mean-degree", "shortest-path", "degree-distribution")
    assert [(row.metric, row.part, row.value) for row in once] == [
        (row.metric, row.part, row.value) for row in averaged([once])
    ]


def test_a_metric_without_a_value_in_one_release_is_not_measured():
    empty = gv.Graph.from_edges([], [], n=4)
    mean = averaged([evaluated(graph, "transitivity", "mean-degree") for graph in (PATH, empty)])
    assert {"mean-degree"} == {row.metric for row in mean}
    assert "(1 of 2 releases)" in mean.not_measured["transitivity"]


def test_evaluations_of_different_originals_are_refused():
    other = evaluated(RELEASES[0], "mean-degree", original=RELEASES[1])
    with pytest.raises(UsageError, match=r"their mean-degree is 1\.5 and 2\.5"):
        averaged([evaluated(RELEASES[0], "mean-degree"), other])


def test_no_evaluation_has_no_mean():
    with pytest.raises(ParameterError, match="Give at least one"):
        averaged([])
    assert 0 == len(averaged([Evaluation(rows=[], not_measured={"mean-degree": "heavy"})]))
