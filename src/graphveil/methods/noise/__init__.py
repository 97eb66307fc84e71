"""Exact sampling for differential privacy: whole numbers, fair bits, no real-valued noise.

A probability is a *threshold*, an integer T that stands for T / 2^64. Every sampler has exactly
the law that it names, provided that its words are independent and uniform. They come from the
operating system, or from a seeded generator: a run with a seed carries no guarantee.

`laws` has the samplers of numbers and sets, `ladder` the noise of counts without a fixed
sensitivity, and `cells` the channels through which edges and entries are published.
"""
