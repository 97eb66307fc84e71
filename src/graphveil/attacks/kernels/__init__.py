"""Compiled loops of attacks on networks: percolation of marks, and plans among few candidates."""
