"""Noise recomputed: tail bounds, probabilities of flips, and graphs generated from a seed."""
