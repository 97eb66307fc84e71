"""Annealing over a pool of pairs: the heuristics search, strip and cut."""
