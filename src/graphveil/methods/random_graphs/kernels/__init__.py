"""Loops over drawn graphs: hierarchies of nodes, triangles by class, exchanges of edges."""
