"""Loops of profile anonymity: groups of people with like numbers of ties, and edits of arcs."""
