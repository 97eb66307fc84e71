"""Annealing over the flips of a pool of pairs, for any measure."""
