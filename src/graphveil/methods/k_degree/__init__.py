"""k-degree anonymity of networks (Liu & Terzi, SIGMOD 2008)."""

from __future__ import annotations

from graphveil.methods.k_degree.k_degree import KDegree

__all__ = ["KDegree"]
