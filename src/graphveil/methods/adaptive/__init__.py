"""Rows that fit each other by suppressed cells: `adaptive` and `cluster-k`."""

from __future__ import annotations

from graphveil.methods.adaptive.adaptive import Adaptive
from graphveil.methods.adaptive.cluster_k import ClusterK

__all__ = ["Adaptive", "ClusterK"]
