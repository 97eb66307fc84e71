"""A graph with noisy degrees, mixing and triangles: for small epsilon."""

from graphveil.methods.degree_triangle.method import DegreeTriangleModel

__all__ = ["DegreeTriangleModel"]
