"""What k-degree anonymity does where nothing but k is said."""

from __future__ import annotations

import warnings

import pytest

import graphveil as gv
from graphveil.claims.conditions import Supergraph
from graphveil.core.errors import ParameterError


def test_ties_are_deleted_as_well_unless_it_is_told_to_add_only():
    """The star's hub may lose ties: far fewer edits than joining all others."""
    star = gv.Graph.from_edges([0] * 30, range(1, 31), n=31)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gv.GraphveilWarning)
        default, added = gv.KDegree(k=3), gv.KDegree(k=3, edits="add")
        costs = [method.anonymize(star, seed=1).private.cost for method in (default, added)]
        same = gv.KDegree(k=3, edits="any").anonymize(star, seed=1)
    assert "any" == default.edits
    assert costs[0]["edges_deleted"] > 0 == costs[1]["edges_deleted"]
    assert costs[0]["edits"] < costs[1]["edits"]
    assert same.private.cost == costs[0]
    assert () == default.conditions
    assert (Supergraph(),) == added.conditions


def test_the_greedy_target_is_for_additions_only():
    with pytest.raises(ParameterError, match="only works with edits='add'"):
        gv.KDegree(k=3, target="greedy")
