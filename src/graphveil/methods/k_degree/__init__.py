"""k-degree anonymity of networks (Liu & Terzi, SIGMOD 2008)."""

from __future__ import annotations

from graphveil.methods.k_degree.method import KDegree

__all__ = ["KDegree"]
