"""A generated network such as registers of people give: three kinds of ties, and attributes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.randomness import Randomness
from graphveil.data import Graph, Layer, Network, Table

REGIONS = ("north", "east", "south", "west")
AGES = ("0-17", "18-34", "35-49", "50-64", "65+")
HOUSEHOLDS = (0.4, 0.3, 0.12, 0.12, 0.06)
"""The shares of households of one to five people."""

LARGEST_FAMILY, MOST_COLLEAGUES = 5, 30


def generated_register(n: int, *, seed: int) -> Network:
    """Return n people with family and work, which have no direction, and calls, which have one.

    A family is a household of one to five people, all tied. Adults know some of those they work
    with; places of work have sizes of a power law. People call family, colleagues and others, some
    far more than most; a third of the calls to others is answered. Everybody has an age in five
    groups, a region, and a sex. It is made up by these rules, to try methods on; nobody is in it.

    Parameters
    ----------
    n
        The number of people, at least 2.
    seed
        The same seed gives the same network.

    Examples
    --------
    >>> network = generated_register(300, seed=1)
    >>> [(layer.name, layer.directed) for layer in network.layers], network.attributes
    ([('calls', True), ('family', False), ('work', False)], ('age', 'region', 'sex'))
    """
    rng = Randomness(seed=seed).stream("register")
    household = np.repeat(np.arange(n), rng.choice(range(1, 6), n, p=HOUSEHOLDS))[:n]
    family = _ties_within(household, np.full(n, LARGEST_FAMILY), rng)
    age = rng.choice(len(AGES), n, p=(0.18, 0.24, 0.2, 0.2, 0.18))
    adults = np.flatnonzero((age > 0) & (age < len(AGES) - 1) & (rng.random(n) < 0.85))
    sizes = np.minimum((3 * rng.pareto(1.3, n) + 2).astype(np.int64), max(n // 20, 5))
    employer = np.full(n, -1)
    employer[rng.permutation(adults)] = np.repeat(np.arange(n), sizes)[: adults.size]
    colleagues = np.minimum(rng.geometric(0.22, n), MOST_COLLEAGUES)
    work = _ties_within(employer, colleagues, rng)
    near = np.concatenate([family, family[:, ::-1], work, work[:, ::-1]])
    near = near[rng.random(len(near)) < 0.45]
    talk = rng.lognormal(0.0, 1.1, n)
    others = rng.choice(n, size=(2, 3 * n), p=talk / talk.sum())
    answered = others[::-1, rng.random(3 * n) < 0.3]
    calls = np.concatenate([near.T, others, answered], axis=1)
    region = rng.choice(len(REGIONS), n, p=(0.4, 0.3, 0.2, 0.1))[household]
    people = Table.from_columns(
        {
            "age": [AGES[code] for code in age],
            "region": [REGIONS[code] for code in region],
            "sex": ["fm"[code] for code in rng.integers(0, 2, n)],
        }
    )
    layers = {
        "calls": Layer.from_arcs(*calls, n=n),
        "family": Graph.from_edges(*family.T, n=n),
        "work": Graph.from_edges(*work.T, n=n),
    }
    return Network(layers, people)  # type: ignore[arg-type]  # layers come by name, too


def _ties_within(
    group: NDArray[np.int64], most: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return distinct pairs of people of one group, below 0 none: so many others each, or all."""
    order = np.argsort(group, kind="stable")
    order = order[group[order] >= 0]
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    pairs = []
    for members in np.split(order, starts[1:]):
        for person in members.tolist():
            others = rng.permutation(members[members != person])[: most[person]]
            pairs += [(min(person, other), max(person, other)) for other in others.tolist()]
    return np.unique(np.array(pairs, dtype=np.int64).reshape(-1, 2), axis=0)
