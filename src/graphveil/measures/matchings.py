"""How likely each pair of a record and a person is, if all full assignments are equally likely.

Which pairs occur in one is exact for any size. How many assignments have a pair is exact for small
parts; for larger ones belief propagation estimates it: counting is #P-complete (Valiant 1979).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import ParameterError
from graphveil.core.progress import in_time
from graphveil.data import Graph
from graphveil.data.codes import SUPPRESSED
from graphveil.measures.values import classes_of, triangles

if TYPE_CHECKING:
    from graphveil.measures.kernels.neighborhoods import NeighborPairs

Ints: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"

EXACT_ROWS = 20
"""Up to so many records in a strong component all assignments are counted: 20! fits 64 bits."""

_ROUNDS = 1_000
_DAMPING = 0.1
_TOLERANCE = 1e-7


PRIOR = 0.5
"""Runs that hid a cell, and runs that did not, before the first one is seen."""

_BLOCK = 1 << 16


class NodePairs(NamedTuple):
    """Which records fit which persons, record i being that of person i, who is among them once."""

    indptr: Ints
    indices: Ints

    @property
    def n(self) -> int:
        """The number of records, and of persons."""
        return self.indptr.size - 1

    @property
    def records(self) -> Ints:
        """The record of every pair."""
        return np.repeat(np.arange(self.n), np.diff(self.indptr))


class Posteriors(NamedTuple):
    """How likely each allowed pair is; `exact`: every share was counted, and none estimated."""

    pairs: NodePairs
    chance: Floats
    exact: bool

    def true_pairs(self) -> Floats:
        """Return for every person how likely their own record is."""
        own: Floats = self.chance[self.pairs.records == self.pairs.indices]
        return own

    def best_guesses(self) -> Floats:
        """Return for every person how likely the likeliest record is."""
        best = np.zeros(self.pairs.n)
        np.maximum.at(best, self.pairs.indices, self.chance)
        return best


def allowed(pairs: NodePairs, without: NDArray[np.bool_] | None = None) -> NodePairs:
    """Return the pairs that occur in some full assignment."""
    return _within(pairs, _components(pairs, without))


def posteriors(pairs: NodePairs) -> Posteriors:
    """Return how likely each pair is, all full assignments being equally likely.

    Parts that no assignment joins are counted one by one, exactly up to `EXACT_ROWS` records each.
    Of larger parts the shares are those at which damped belief propagation rests.
    """
    component = _components(pairs, None)
    inside = _within(pairs, component)
    sizes = np.bincount(component, minlength=1)
    of_pair = component[inside.records]
    chance = np.ones(inside.indices.size)
    order = np.argsort(of_pair, kind="stable")
    starts = np.searchsorted(of_pair[order], np.arange(sizes.size + 1))
    for number in np.flatnonzero((sizes > 1) & (sizes <= EXACT_ROWS)).tolist():
        some = order[starts[number] : starts[number + 1]]
        chance[some] = _counted(inside.records[some], inside.indices[some])
    large = np.flatnonzero(sizes[of_pair] > EXACT_ROWS)
    chance[large] = _propagated(inside.records[large], inside.indices[large], inside.n)
    return Posteriors(inside, chance, large.size == 0)


def _components(pairs: NodePairs, without: NDArray[np.bool_] | None) -> Ints:
    """Return the strong component of every record; one whose pair is known is one of its own."""
    from scipy import sparse  # noqa: PLC0415  heavy: not for help
    from scipy.sparse import csgraph  # noqa: PLC0415  heavy: not for help

    arcs = np.ones(pairs.indices.size, dtype=bool)
    if without is not None:
        arcs = ~(without[pairs.records] | without[pairs.indices])
    ends = pairs.records[arcs], pairs.indices[arcs]
    matrix = sparse.csr_array((np.ones(ends[0].size, np.int8), ends), shape=(pairs.n, pairs.n))
    _, labels = csgraph.connected_components(matrix, directed=True, connection="strong")
    component: Ints = labels.astype(np.int64)
    return component


def _within(pairs: NodePairs, component: Ints) -> NodePairs:
    records = pairs.records
    kept = component[records] == component[pairs.indices]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(records[kept], minlength=pairs.n))])
    return NodePairs(indptr.astype(np.int64), pairs.indices[kept])


def _counted(records: Ints, persons: Ints) -> Floats:
    """Return the exact shares of the pairs of one part, by sums over sets of persons."""
    members, record = np.unique(records, return_inverse=True)
    person = np.searchsorted(members, persons)
    n = members.size
    fits = np.zeros((n, n), dtype=bool)
    fits[record, person] = True
    sets = np.arange(1 << n)
    sizes = np.bitwise_count(sets)
    by_size = [sets[sizes == size] for size in range(n + 1)]
    before = _ways(fits, by_size)
    after = _ways(fits[::-1], by_size)
    everybody = (1 << n) - 1
    ways = np.zeros((n, n), dtype=np.int64)
    for row, column in zip(*np.nonzero(fits), strict=True):
        some = by_size[row]
        some = some[(some >> column) & 1 == 0]
        rest = everybody ^ some ^ (1 << int(column))
        ways[row, column] = (before[some] * after[rest]).sum()
    shares: Floats = ways[record, person] / ways[0].sum()
    return shares


def _ways(fits: NDArray[np.bool_], by_size: list[Ints]) -> Ints:
    """Return for each set of persons how many ways give it to as many first records."""
    ways = np.zeros(1 << fits.shape[0], dtype=np.int64)
    ways[0] = 1
    for row, sets in zip(fits, by_size, strict=False):
        for column in np.flatnonzero(row).tolist():
            some = sets[(sets >> column) & 1 == 0]
            ways[some | (1 << column)] += ways[some]
    return ways


def _propagated(records: Ints, persons: Ints, n: int) -> Floats:
    """Return the shares at which damped belief propagation rests (Huang and Jebara 2009)."""
    from_record, from_person = np.zeros(records.size), np.zeros(records.size)
    chance = np.zeros(records.size)
    for _ in range(_ROUNDS):
        from_record = _damped(from_record, _others(from_person, records, n))
        from_person = _damped(from_person, _others(from_record, persons, n))
        odds = np.exp(from_record + from_person)
        last, chance = chance, odds / (1 + odds)
        if not chance.size or np.abs(chance - last).max() < _TOLERANCE:
            break
    return chance


def _others(message: Floats, ends: Ints, n: int) -> Floats:
    """Return minus the logarithm of the sum of all other messages at the same end."""
    weights = np.exp(message)
    rest = np.bincount(ends, weights, minlength=n)[ends] - weights
    others: Floats = -np.log(np.maximum(rest, 1e-12 * weights))
    return others


def _damped(before: Floats, after: Floats) -> Floats:
    return _DAMPING * before + (1 - _DAMPING) * after


def log_chances(
    pairs: NodePairs, records: NDArray[np.int32], runs: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return how likely every record that fits a person is theirs, as a logarithm.

    `records`: the published cells; `runs`: which cells every run hid of every person.
    """
    hiding = (runs.sum(axis=0) + PRIOR) / (len(runs) + 2 * PRIOR)
    odds, shown = np.log(hiding) - np.log1p(-hiding), np.log1p(-hiding).sum(axis=1)
    hidden, owners = records == SUPPRESSED, pairs.records
    made: NDArray[np.float64] = shown[pairs.indices]
    for start in in_time(range(0, owners.size, _BLOCK)):
        some = slice(start, start + _BLOCK)
        made[some] += (hidden[owners[some]] * odds[pairs.indices[some]]).sum(axis=1)
    return made


def given_records(
    pairs: NodePairs, chances: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the record that everybody is given, one each."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  heavy: not for help

    order, shuffled = rng.permutation(pairs.n), rng.permutation(pairs.n)
    gain = np.full((pairs.n, pairs.n), chances.min() - pairs.n * (np.ptp(chances) + 1))
    gain[order[pairs.indices], shuffled[pairs.records]] = chances
    people, records = linear_sum_assignment(gain, maximize=True)
    given = np.empty(pairs.n, dtype=np.int64)
    given[np.argsort(order)[people]] = np.argsort(shuffled)[records]
    return given


def hits_of(given: NDArray[np.int64], records: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return how often everybody has the own record, equal ones being shared."""
    alike, sizes = np.unique(records, axis=0, return_inverse=True, return_counts=True)[1:]
    hits: NDArray[np.float64] = (alike[given] == alike) / sizes[alike]
    return hits


HEARD = 10
"""Factors by which a number is heard too small or too large, evenly spaced."""

ROUNDING = 1e-9

MOST = 2**40
"""No number of triangles or neighbors is larger."""


def candidate_set_sizes(graph: Graph, *, phi: float) -> Ints:
    """Return the size of every node's candidate set under count, itself included.

    A node of degree a in b triangles is similar to one of degree a' in b' triangles if a' is at
    most phi percent of a away from a, and b' at most phi percent of b away from b. That is not
    symmetric.

    Parameters
    ----------
    graph
        The network.
    phi
        Percent, at least 0. The decimal number as it is written is meant, so 0.1 is a thousandth.

    Returns
    -------
    sizes
        int64, shape (n,).

    Raises
    ------
    ParameterError
        Where phi is negative, or no number.

    Examples
    --------
    >>> fan = Graph.from_edges([0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 2, 3, 5], n=6)
    >>> [candidate_set_sizes(fan, phi=phi).tolist() for phi in (0, 50)]
    [[2, 2, 2, 2, 2, 2], [4, 4, 2, 2, 2, 2]]
    """
    from graphveil.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    check_phi(phi)
    labels, pairs, first = _distinct_pairs(graph)
    second = pairs.second
    distinct = first[pairs.start[:-1]]
    reach, reach_inside = _reach(first, phi), _reach(second, phi)
    boxes = kernels.Boxes(
        np.searchsorted(distinct, first - reach, side="left"),
        np.searchsorted(distinct, first + reach, side="right"),
        second - reach_inside,
        second + reach_inside,
    )
    sizes_of_nodes: Ints = kernels.nodes_in_boxes(pairs, boxes)[labels]
    return sizes_of_nodes


def _distinct_pairs(graph: Graph) -> tuple[Ints, NeighborPairs, Ints]:
    """Return the class of every node, the distinct pairs, and the degree of each pair."""
    from graphveil.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    degrees, inner = graph.degrees(), triangles(graph)
    labels = classes_of(degrees, inner)
    sizes = np.bincount(labels)
    model = np.empty(sizes.size, dtype=np.int64)
    model[labels] = np.arange(graph.n_nodes)
    first = degrees[model]
    start = np.unique(first, return_index=True)[1]
    before = np.concatenate([[0], np.cumsum(sizes)])
    pairs = kernels.NeighborPairs(np.append(start, first.size), inner[model], before)
    return labels, pairs, first


def noisy_share(graph: Graph, *, phi: float, k: int) -> float:
    """Return the share of nodes with fewer than k candidates for an attacker with inexact numbers.

    Degree and triangles are each heard multiplied by a factor in 1 - phi/100 .. 1 + phi/100: a mean
    over 10 x 10 evenly spaced pairs. Candidates are at most phi percent of their own numbers away.
    Exact look-alikes are always candidates together.
    """
    from graphveil.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    check_phi(phi)
    _, pairs, first = _distinct_pairs(graph)
    second = pairs.second
    sizes = np.diff(pairs.before)
    few = sizes < k
    distinct = first[pairs.start[:-1]]
    share, unprotected = phi / 100, 0
    factors = 1 + share * (2 * np.arange(HEARD) + 1 - HEARD) / HEARD
    for one, other in product(np.maximum(factors, 0).tolist(), repeat=2):
        low, high = _heard_as(first[few] * one, share)
        low_inside, high_inside = _heard_as(second[few] * other, share)
        boxes = kernels.Boxes(
            np.searchsorted(distinct, low, side="left"),
            np.searchsorted(distinct, high, side="right"),
            low_inside,
            high_inside,
        )
        found = kernels.nodes_in_boxes(pairs, boxes)
        unprotected += int(sizes[few][found < k].sum())
    return unprotected / (HEARD * HEARD * max(graph.n_nodes, 1))


def _heard_as(heard: NDArray[np.float64], share: float) -> tuple[Ints, Ints]:
    """Return the least and the greatest whole number that may be heard so."""
    low = np.ceil(heard / (1 + share) - ROUNDING)
    most = np.full(heard.size, MOST, dtype=np.int64)
    if share < 1:
        most = np.minimum(np.floor(heard / (1 - share) + ROUNDING), MOST).astype(np.int64)
    return low.astype(np.int64), most


def check_phi(phi: float) -> None:
    """Refuse what is not a percentage."""
    if not (math.isfinite(phi) and phi >= 0):
        raise ParameterError(f"phi={phi} is not a valid uncertainty. Give a percentage >= 0.")


def _reach(values: Ints, phi: float) -> Ints:
    """Return the largest whole number that is at most phi percent of every value, exactly."""
    share = Fraction(str(phi)) / 100
    distinct, ranks = np.unique(values, return_inverse=True)
    reaches = [min(int(share * value), MOST) for value in distinct.tolist()]
    return np.array(reaches, dtype=np.int64)[ranks]
