"""Loops of annealing over edits.

From the ground up: `classes` (equivalence classes and neighbor lists under single flips), `values`
(the values of any measure under flips), `pooled` and `target` (the state of a walk over a pool of
pairs, and of one with aims), `anneal` (the loop of all walks, proposals, and starts).
"""
