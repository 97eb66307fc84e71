"""Counting over rows: equal and agreeing ones, cells next to the original, who could own which."""
