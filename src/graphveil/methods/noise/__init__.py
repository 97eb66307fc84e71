"""Exact sampling for differential privacy: whole numbers, fair bits, no real-valued noise.

A probability is a *threshold*, an integer T that stands for T / 2^64. Every sampler has exactly
the law it names, provided that its words are independent and uniform: they come from the operating
system, or from a seeded generator, under which nothing is claimed.
"""

from graphveil.methods.noise.cells import Channel, channel, flipped
from graphveil.methods.noise.laws import (
    Words,
    below,
    bernoulli,
    binomial,
    discrete_laplace,
    distinct,
    words_from,
)

__all__ = [
    "Channel",
    "Words",
    "below",
    "bernoulli",
    "binomial",
    "channel",
    "discrete_laplace",
    "distinct",
    "flipped",
    "words_from",
]
