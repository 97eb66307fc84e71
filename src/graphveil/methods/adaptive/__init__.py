"""Rows that fit each other by suppressed cells: `adaptive` and `cluster-k`."""

from __future__ import annotations

from graphveil.methods.adaptive.cluster_k import ClusterK
from graphveil.methods.adaptive.method import Adaptive

__all__ = ["Adaptive", "ClusterK"]
