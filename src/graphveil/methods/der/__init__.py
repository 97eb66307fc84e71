"""Regions of a matrix explored under noise, and filled again: for comparison, without a claim."""

from graphveil.methods.der.method import DensityExploreReconstruct

__all__ = ["DensityExploreReconstruct"]
