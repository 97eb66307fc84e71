"""Figures of the network that ships with the package: published ones, and a slow twin's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import graphveil as gv


@pytest.fixture(scope="module")
def calls():
    return gv.datasets.load("copenhagen-calls")


def cheapest(degrees, k, middle):
    """Return the least total change that makes a sequence k-anonymous, over every cut."""
    d = sorted(degrees, reverse=True)
    cost = [0] + [np.inf] * len(d)
    for end in range(k, len(d) + 1):
        for begin in range(max(0, end - 2 * k + 1), end - k + 1):
            group = d[begin:end]
            target = group[len(group) // 2] if middle else group[0]
            change = sum(abs(target - degree) for degree in group)
            cost[end] = min(cost[end], cost[begin] + change)
    return cost[-1]


def test_the_network_has_the_published_size_and_uniqueness(calls):
    assert (536, 621) == (calls.n_nodes, calls.n_edges)
    assert pytest.approx(0.0075, abs=5e-5) == gv.measure(calls).uniqueness
    assert 18 == calls.degrees().max()


@pytest.mark.parametrize("k", [2, 5, 10, 50])
@pytest.mark.parametrize("edits", ["add", "any"])
def test_the_edits_are_few_and_the_bound_is_that_of_the_slow_twin(calls, k, edits):
    due = cheapest(calls.degrees().tolist(), k, middle=edits == "any")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gv.GraphveilWarning)
        release = gv.KDegree(k=k, edits=edits).anonymize(calls, seed=1)
        plain = gv.KDegree(k=k, edits=edits, prove="never").anonymize(calls, seed=1)
    cost, least = release.private.cost, -(-due // 2)
    assert due == cost["degree_change_optimum"]
    assert least == plain.private.cost["edits_lower_bound"] <= cost["edits_lower_bound"]
    assert cost["edits_lower_bound"] <= cost["edits"] <= plain.private.cost["edits"]
    assert cost["edits"] <= 1.6 * least + 2
    assert k <= np.unique(release.data.degrees(), return_counts=True)[1].min()
    assert release.verify(calls).ok
