"""An audit of differential privacy: the law of every release of every graph on four nodes.

A mechanism is a function from a state, the six cells of such a graph, to the probability of every
release, as fractions. The audit takes the largest ratio over all pairs of neighbors and releases.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

CELLS = 6
FULL = 1 << 64
STATES = list(itertools.product([0, 1], repeat=CELLS))

State = tuple[int, ...]
Law = Mapping[Any, Fraction]
Mechanism = Callable[[State], Law]


@cache
def below_exp(epsilon: Fraction) -> Fraction:
    """Return a fraction below e^epsilon: Taylor's series, cut off."""
    terms = itertools.accumulate(range(1, 150), lambda t, k: t * epsilon / k, initial=Fraction(1))
    unit = 1 << 400
    return Fraction(math.floor(sum(terms) * unit), unit)


def count_law(ones: int, epsilon: Fraction) -> dict[int, Fraction]:
    """Return the law of a count under discrete Laplace noise, brought into 1..CELLS-1."""
    q = 1 / below_exp(epsilon)
    point = [(1 - q) / (1 + q) * q ** abs(c - ones) for c in range(CELLS)]
    up_to_one = q ** (ones - 1) / (1 + q) if ones else 1 - q**2 / (1 + q)
    law = {1: up_to_one} | {c: point[c] for c in range(2, CELLS - 1)}
    return law | {CELLS - 1: 1 - sum(law.values())}


def cells_law(state: State, zero: Fraction, one: Fraction) -> dict[State, Fraction]:
    """Return the law of cells that are published independently with these chances."""
    kept, born = [(1 - zero, zero), (1 - one, one)], {}
    for out in STATES:
        chances = [kept[cell][published] for cell, published in zip(state, out, strict=True)]
        born[out] = math.prod(chances, start=Fraction(1))
    return born


def neighbors(state: State) -> list[State]:
    """Return the states that differ in one cell."""
    return [(*state[:i], 1 - state[i], *state[i + 1 :]) for i in range(CELLS)]


def largest_factor(mechanism: Mechanism) -> Fraction | None:
    """Return the largest ratio of probabilities of one release; None where it has no bound.

    Mechanisms do not tell one cell from another: of states with as many ones, one is taken.
    """
    worst = Fraction(1)
    law = cache(mechanism)
    for ones in range(CELLS + 1):
        state = (1,) * ones + (0,) * (CELLS - ones)
        mine = law(state)
        assert sum(mine.values()) == 1
        for near in {neighbors(state)[0], neighbors(state)[-1]}:
            other = law(near)
            for release, chance in mine.items():
                if chance and not other.get(release):
                    return None
                worst = max(worst, chance / other[release]) if chance else worst
    return worst
