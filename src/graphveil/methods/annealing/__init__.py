"""Simulated annealing over edges: what the methods `structural` and `profile` share.

A walk keeps a pool of node pairs that may be flipped (an edge deleted, added or rewired). It looks
at each flip exactly before making it, and remembers the best state it has seen.

- `task`: what a run is given and how two results are compared.
- `state`: the arrays of a walk; the kernels of this folder read and write them.
- `schedule`: how long a stretch of annealing is, how warm, and what it proposes.
- `walk`: walks, and the courses that several stretches make.
- `bounds`: how few edits any result needs.

The algorithm is graphveil's own. The problem (full, partial and budgeted anonymization) is that of
de Jong, van der Loo and Takes, *The anonymization problem in social networks*, section 4.
"""
