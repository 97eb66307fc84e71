"""Mechanisms that are audited, honest and with planted flaws, and a bound that releases measure."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy import stats

from audit import CELLS, FULL, cells_law, count_law
from graphveil.core.randomness import Randomness
from graphveil.methods.noise.laws import bernoulli, contains, words_from
from graphveil.methods.noisy_cells.noisy import resized

M, PAIRS = 441, 5460
"""The edges and pairs of polbooks."""


def chances(flips):
    return Fraction(int(flips.T0), FULL), Fraction(int(flips.T1), FULL)


def asymmetric(method, *, flips=None):
    """Return the mechanism: noisy count and cells are released."""
    draw = flips or (lambda count, _: chances(method.flips(CELLS, count)))

    def mechanism(state):
        counts = count_law(sum(state), method.parts["epsilon_count"])
        return {
            (count, out): chance * born
            for count, chance in counts.items()
            for out, born in cells_law(state, *draw(count, sum(state))).items()
        }

    return mechanism


def filtered(method, *, flips=None):
    """Return the mechanism of the filter: its count is brought into 1..2 of 6 cells."""

    def mechanism(state):
        counts = count_law(sum(state), method.parts["epsilon_count"])
        few = {1: counts[1], 2: sum(chance for count, chance in counts.items() if count > 1)}
        return {
            (count, out): chance * born
            for count, chance in few.items()
            for out, born in cells_law(state, *(flips or draw)(count)).items()
        }

    def draw(count):
        return chances(method.flips(CELLS, count))

    return mechanism


def lower_bound(draw, ones, n_cells, runs):
    """Return a lower bound on epsilon from releases, of confidence 99.9%: Clopper-Pearson.

    Averaged over cells, which is right where all edges, and all others, have one chance.
    """
    m = ones.size
    hits = others = 0
    for seed in range(runs):
        cells = draw(words_from(Randomness(seed=seed), "audit"))
        kept = int(contains(ones, cells).sum())
        hits, others = hits + kept, others + cells.size - kept
    bounds = []
    for one, zero in ((hits, others), (runs * m - hits, runs * (n_cells - m) - others)):
        low = stats.beta.ppf(2.5e-4, one, runs * m - one + 1)
        high = stats.beta.isf(2.5e-4, zero + 1, runs * (n_cells - m) - zero)
        bounds.append(math.log(low / high))
    return max(bounds)


def picked_again(words, threshold):
    """Return edges that pass, filled up to M among all cells not published yet, edges included."""
    ones = np.arange(M)
    kept = ones[bernoulli(words, threshold, M)]
    return resized(words, kept, PAIRS, M)


def printed_threshold(epsilon):
    """Return the chance of an edge by algorithm 1 as it is printed: swapped, and without 1/2."""
    e, x = epsilon, math.log(PAIRS / M - 1)
    theta = math.log(PAIRS / (2 * M) + (e - 1) / 2) / e if e > x else x / (2 * e)
    t = e * (theta - 1)
    return int((math.exp(-t) / 2 if t > 0 else 1 - math.exp(t) / 2) * FULL)
