"""Loops of profile anonymity: groups of nodes with similar profiles, and edits of arcs."""
