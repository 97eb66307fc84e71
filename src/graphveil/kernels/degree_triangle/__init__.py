"""Kernels of `degree-triangle-model`: triangles counted by class, and a graph that has as many."""
