"""Smooth k-anonymity of user-feature data, and k-anonymity by suppression."""

from __future__ import annotations

from graphveil.methods.smooth_k.options import Chunks, Facility, Greedy, LocalSearch
from graphveil.methods.smooth_k.smooth_k import SmoothK, SuppressK

__all__ = ["Chunks", "Facility", "Greedy", "LocalSearch", "SmoothK", "SuppressK"]
