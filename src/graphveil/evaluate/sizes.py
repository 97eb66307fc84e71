"""Up to which sizes metrics are exact, and how much they draw above."""

from __future__ import annotations

TOP_PAIRS = 100

GRAPHLET_PATHS = 200_000
"""How many 3-paths are drawn; where a graph has no more, all are looked at."""

DAMPING = 0.85

EXACT_UP_TO_NODES = 20_000

SAMPLED_SOURCES = 1_024

BETWEENNESS_TOP = 100

BETWEENNESS_EXACT_UP_TO = 100_000_000
"""The most nodes times edges of the original up to which the scores are exact."""

BETWEENNESS_PIVOTS = 1_024

COMMUNITY_RUNS = 10

MODULARITY_RUNS = 10

HIDDEN_UNITS = 10
"""Hidden units of the perceptron."""

FACTORS = 50

RECOMMENDED = 10
