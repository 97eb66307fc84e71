"""Loops of the heuristic target: its state, its moves, its edits."""
