"""Data that is drawn: a network such as registers give, and the models that the papers measure on.

The papers' parameters stand at each model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import ParameterError
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite, Graph, Layer, Network, Table

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


def block_model(
    n: int = 1024, *, block: int = 64, inner: float = 0.8, outer: float = 0.01, seed: int
) -> Bipartite:
    """Return n users by n items of the bipartite stochastic block model.

    A user has each item of the own block with probability `inner`, each other one with `outer`.

    Parameters
    ----------
    n
        The number of users, and of items.
    block
        The users of a block, and its items; it divides n.
    inner, outer
        The two probabilities.
    seed
        The same seed gives the same data.

    Raises
    ------
    ParameterError
        If the blocks do not divide n, or a probability is outside 0..1.

    Notes
    -----
    Esfandiari and others, section 4.2. The defaults are those of their data set *stochastic*, with
    s = 64, q = 0.8 and p = 0.01.

    Examples
    --------
    >>> block_model(8, block=4, inner=1.0, outer=0.0, seed=1).n_entries
    32
    """
    if block < 1 or n < block or n % block:
        raise ParameterError(f"block={block} does not divide n={n}. Use a divisor of n.")
    for name, chance in (("inner", inner), ("outer", outer)):
        if not 0 <= chance <= 1:
            raise ParameterError(f"{name}={chance} is not between 0 and 1. Use a probability.")
    rng = Randomness(seed=seed).stream("block model")
    lists = []
    for first in (np.arange(n) // block * block).tolist():
        near, far = rng.binomial(block, inner), rng.binomial(n - block, outer)
        elsewhere = rng.choice(n - block, far, replace=False)
        own = first + rng.choice(block, near, replace=False)
        lists.append(np.sort(np.concatenate([own, elsewhere + block * (elsewhere >= first)])))
    indptr = np.concatenate([[0], np.cumsum([one.size for one in lists])])
    return Bipartite(indptr, np.concatenate(lists).astype(np.int32), n, items="things")


def erdos_renyi(n: int, m: int, *, seed: int) -> Graph:
    """Return n nodes with m edges, all such graphs being equally likely.

    Parameters
    ----------
    n, m
        The number of nodes and of edges.
    seed
        The same seed gives the same graph.

    Raises
    ------
    ParameterError
        If there are fewer than m pairs of nodes.

    Notes
    -----
    De Jong and others use n = 500 and mean degrees of 2, 4, 16 and 64: m = 500, 1,000, 4,000 and
    16,000.

    Examples
    --------
    >>> erdos_renyi(500, 1000, seed=1)
    Graph(n_nodes=500, n_edges=1,000)
    """
    cells = n * (n - 1) // 2
    if not 0 <= m <= cells:
        raise ParameterError(f"m={m} is not between 0 and the {cells} pairs of {n} nodes. Lower m.")
    rng = Randomness(seed=seed).stream("erdos-renyi")
    cell = rng.choice(cells, m, replace=False, shuffle=False) if m else np.empty(0, dtype=np.int64)
    larger = ((1 + np.sqrt(1 + 8 * cell)) / 2).astype(np.int64)
    larger -= larger * (larger - 1) // 2 > cell  # roots are rounded
    larger += larger * (larger + 1) // 2 <= cell
    return Graph.from_edges(cell - larger * (larger - 1) // 2, larger, n=n)


def barabasi_albert(n: int, k: int, *, seed: int) -> Graph:
    """Return a graph that grows: each new node joins k others, likelier those with many edges.

    Parameters
    ----------
    n
        The number of nodes.
    k
        The edges of a new node, 1 to n - 1. The first k + 1 nodes are a star.
    seed
        The same seed gives the same graph.

    Raises
    ------
    ParameterError
        If k is out of range.

    Notes
    -----
    De Jong and others use n = 500 and mean degrees of 2, 4, 16 and 64: k = 1, 2, 8 and 32.

    Examples
    --------
    >>> barabasi_albert(500, 2, seed=1)
    Graph(n_nodes=500, n_edges=996)
    """
    if not 1 <= k < n:
        raise ParameterError(f"k={k} is not between 1 and {n - 1}. Use fewer edges per node.")
    rng = Randomness(seed=seed).stream("barabasi-albert")
    ends = [0] * k + list(range(1, k + 1))  # every node as often as it has edges
    pairs = [(0, node) for node in range(1, k + 1)]
    for node in range(k + 1, n):
        chosen: set[int] = set()
        while len(chosen) < k:
            chosen.add(ends[int(rng.integers(len(ends)))])
        pairs += [(other, node) for other in sorted(chosen)]
        ends += [*sorted(chosen), *[node] * k]
    source, target = np.array(pairs).T
    return Graph.from_edges(source, target, n=n)


def watts_strogatz(n: int, k: int, p: float = 0.05, *, seed: int) -> Graph:
    """Return a ring whose nodes know their k nearest, with edges moved at random.

    Parameters
    ----------
    n
        The number of nodes.
    k
        The neighbors on the ring, an even number below n.
    p
        The probability that one end of an edge is moved to a node drawn at random.
    seed
        The same seed gives the same graph.

    Raises
    ------
    ParameterError
        If k is odd or out of range, or p is not a probability.

    Notes
    -----
    De Jong and others use n = 500, k = 2, 4, 16 and 64, and p = 0.05.

    Examples
    --------
    >>> watts_strogatz(500, 4, seed=1)
    Graph(n_nodes=500, n_edges=1,000)
    """
    if k % 2 or not 2 <= k < n:
        raise ParameterError(f"k={k} is not even, or not between 2 and {n - 1}. Use an even k.")
    if not 0 <= p <= 1:
        raise ParameterError(f"p={p} is not between 0 and 1. Use a probability.")
    rng = Randomness(seed=seed).stream("watts-strogatz")
    neighbors = [
        {(node + step) % n for step in range(-(k // 2), k // 2 + 1)} - {node} for node in range(n)
    ]
    for step in range(1, k // 2 + 1):
        for node in np.flatnonzero(rng.random(n) < p).tolist():
            other = (node + step) % n
            if other not in neighbors[node] or len(neighbors[node]) == n - 1:
                continue
            new = node
            while new == node or new in neighbors[node]:
                new = int(rng.integers(n))
            neighbors[node].remove(other)
            neighbors[other].remove(node)
            neighbors[node].add(new)
            neighbors[new].add(node)
    pairs = [(node, other) for node in range(n) for other in neighbors[node] if node < other]
    source, target = np.array(pairs).T
    return Graph.from_edges(source, target, n=n)
