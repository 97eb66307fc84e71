"""Loops over generated graphs: trees over nodes, triangles by class, exchanges of edges."""
