"""How long attacks take: counts of operations times measured rates.

Rates are seconds of CPU time on one core of 2020 or later, from ``benchmarks/attack_costs``. A
forecast is good to a factor of two there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphveil.core.errors import GraphveilError
from graphveil.core.progress import worked
from graphveil.data import Bipartite, Graph
from graphveil.evaluate.comparison import GraphComparison

ENTRY = 3e-8
"""A few passes over the entries of original and release."""


def run_again(situation: Any) -> float:
    """Return how long the run of the method took that made the release; 0 where nobody noted it.

    It stands in the owner's record: CPU seconds without compiling, or how long a run on disk took.
    The first run in a process also loads code, so a quicker one that was timed since counts.
    """
    private = situation.release.private
    if situation.rerun is None or private is None:
        return 0.0
    people, noted = situation.comparison.original.size, float(sum(private.seconds.values()))
    quickest: float = getattr(situation.rerun, "timed", {}).get(people, noted)
    return min(noted, quickest)


def seconds_of_one(run: Callable[[], object]) -> float:
    """Return the CPU seconds of a run: the second of two, as one may compile; 0 if refused."""
    try:
        run()
        started = worked()
        run()
    except GraphveilError:
        return 0.0
    return worked() - started


def seconds_of_passes(situation: Any, _options: object) -> float:
    """Return how long an attack takes that passes over original and release a few times."""
    pair = situation.comparison
    return ENTRY * float(_entries(pair.original) + _entries(pair.released))


def _entries(data: Graph | Bipartite) -> int:
    return data.size + data.indices.size


def ends_of(pair: GraphComparison) -> int:
    """Return how many nodes and ends of edges the release has."""
    return _entries(pair.released)


def squares(pair: GraphComparison) -> int:
    """Return the sum of the squared degrees: of the original or of the release, the larger one."""
    return max(int(np.square(g.degrees()).sum()) for g in (pair.original, pair.released))
