"""Priors of edges from what was released under differential privacy: noisy degrees and counts.

Nothing here sees the data. A prior only decides how the noise is spread; whatever it is, the cells
keep their part of epsilon.
"""
