"""Searches that match the nodes of a copy with those of a release.

`expand_when_stuck.py`, `mutual_best.py` and `seedless_start.py` match some nodes, by what matched
neighbors say. `near_candidates.py` (with `embedding.py`) and `one_to_one.py` (with
`frank_wolfe.py`, `graduated_assignment.py`, `fugal.py` and `surroundings.py`) match all of them
one-to-one, among nearest candidates and among all pairs of nodes. `forecast.py` says how long these
take. `group_counts.py` assigns them to groups with published numbers of edges.
"""
