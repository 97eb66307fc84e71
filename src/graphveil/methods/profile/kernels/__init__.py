"""Loops of profile anonymity: groups of people with similar numbers of edges, and edits of arcs."""
