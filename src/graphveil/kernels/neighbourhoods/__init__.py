"""Loops over the neighbourhoods of nodes: triangles, balls, multisets, refinement."""
