"""Loops over neighborhoods of nodes: triangles, balls, multisets, colors, the cascade, boxes."""
