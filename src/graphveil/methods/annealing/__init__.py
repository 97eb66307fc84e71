"""Simulated annealing over edits of edges, for the methods that look for few of them."""
