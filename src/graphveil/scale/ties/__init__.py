"""Edges on the disk: neighbor lists in one file, edited there, and released from there."""
