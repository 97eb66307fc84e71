"""Compiled loops of attacks on networks: percolation of marks, plans, exchanges."""
