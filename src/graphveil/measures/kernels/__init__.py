"""Loops over the neighborhoods of nodes: triangles, balls, multisets, refinement."""
