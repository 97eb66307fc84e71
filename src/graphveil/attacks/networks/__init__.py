"""Attacks on networks: what is known of one person, a copy of the network, edges, attributes.

`signatures.py` has what can be known of one person and counts candidates; `neighbor_degrees.py`
compares the degrees of neighbors after edits, and says whom these rule out; `candidate_set.py`,
`degree_matching.py` and `neighbor_attributes.py` are attacks with such knowledge. ``copies`` makes
a copy of the network next to a release and scores the names that an attack gives by it;
`seeded_matching.py`, `propagation.py` and `alignment.py` give them, by the searches in
``assignment``. `edge_gain.py`, `fake_edge.py` and `tie_membership.py` ask about edges,
`attribute_inference.py` about values.
"""
