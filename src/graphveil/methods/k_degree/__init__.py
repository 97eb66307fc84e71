"""k-degree anonymity of networks (Liu & Terzi, SIGMOD 2008)."""

from graphveil.methods.k_degree.method import KDegree

__all__ = ["KDegree"]
