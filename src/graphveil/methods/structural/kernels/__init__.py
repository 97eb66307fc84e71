"""Loops of the heuristics of the paper: classes of a batch of edits, and affected nodes."""
