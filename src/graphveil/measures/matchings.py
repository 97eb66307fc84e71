"""Candidates of inexact knowledge, and how likely each pair of a record and a person is.

The module has two subjects.

**Pairs of records and persons** (`NodePairs` to `hits_of`). An attacker has one record per person,
in unknown order, and knows which records fit which persons. A *full assignment* gives every person
a different record that fits. If all full assignments are equally likely, the chance of a pair is
the share of them that contain it.

- Which pairs occur in one is exact for any size: since the true assignment is one, a pair occurs
  exactly if its record and its person are in one strong component (`allowed`).
- How many contain a pair is a ratio of permanents, #P-complete to compute (Valiant 1979).
  `posteriors` counts components of up to `EXACT_ROWS` records exactly, in O(r 2**r) for r
  records. Larger ones are estimated by belief propagation (Huang and Jebara 2009).

**Candidate sets** (`candidate_set_sizes`, `noisy_share`). An attacker knows the degree and the
triangles of a person only within phi percent. Candidates are the nodes in a rectangle around these
numbers, counted by the kernel `nodes_in_boxes` over the distinct pairs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import ParameterError
from graphveil.core.libraries import csgraph, optimize, sparse
from graphveil.core.progress import in_time
from graphveil.data import Graph
from graphveil.data.codes import SUPPRESSED
from graphveil.measures.values import classes_of, triangles

if TYPE_CHECKING:
    from graphveil.measures.kernels.neighborhoods import NeighborPairs

Ints: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"

EXACT_ROWS = 20
"""The most records of a component whose assignments are counted: 20! fits into 64 bits."""

# Belief propagation: the most rounds, the weight of the old messages, and the largest change of a
# chance at which it ends.
_ROUNDS = 1_000
_DAMPING = 0.1
_TOLERANCE = 1e-7


PRIOR = 0.5
"""Added to the runs that suppressed a cell and to those that did not (Jeffreys' prior).

So a cell that no run suppressed still has a chance above 0.
"""

_BLOCK = 1 << 16
"""Pairs that are looked at in one step of `log_chances`; it bounds memory."""


class NodePairs(NamedTuple):
    """Which records fit which persons. Record i is that of person i, and fits.

    Parameters
    ----------
    indptr, indices
        int64: the persons whom record i fits are ``indices[indptr[i]:indptr[i + 1]]``.

    Examples
    --------
    >>> pairs = NodePairs(np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 2]))
    >>> pairs.n, pairs.records.tolist()
    (3, [0, 0, 1, 1, 2])
    """

    indptr: Ints
    indices: Ints

    @property
    def n(self) -> int:
        """The number of records, and of persons."""
        return self.indptr.size - 1

    @property
    def records(self) -> Ints:
        """The record of every pair, int64, as long as `indices`."""
        return np.repeat(np.arange(self.n), np.diff(self.indptr))


class Posteriors(NamedTuple):
    """How likely each allowed pair is.

    Parameters
    ----------
    pairs
        The pairs that occur in some full assignment.
    chance
        float64: the chance of each of them.
    exact
        Whether every chance was counted, and none estimated.
    """

    pairs: NodePairs
    chance: Floats
    exact: bool

    def true_pairs(self) -> Floats:
        """Return for every person how likely their own record is, float64, shape (n,)."""
        own: Floats = self.chance[self.pairs.records == self.pairs.indices]
        return own

    def best_guesses(self) -> Floats:
        """Return for every person how likely the likeliest record is, float64, shape (n,)."""
        best = np.zeros(self.pairs.n)
        np.maximum.at(best, self.pairs.indices, self.chance)
        return best


def allowed(pairs: NodePairs, without: NDArray[np.bool_] | None = None) -> NodePairs:
    """Return the pairs that occur in some full assignment.

    Parameters
    ----------
    pairs
        Which records fit which persons.
    without
        bool, shape (n,): persons whose own record is known; they take no other. Default: nobody.

    Examples
    --------
    >>> pairs = NodePairs(np.array([0, 2, 3]), np.array([0, 1, 1]))
    >>> allowed(pairs).indices.tolist()
    [0, 1]
    """
    return _within(pairs, _components(pairs, without))


def posteriors(pairs: NodePairs) -> Posteriors:
    """Return how likely each pair is, all full assignments being equally likely.

    Components that no assignment connects are independent of each other. Each is counted exactly up
    to `EXACT_ROWS` records. For larger ones, chances are those at which damped belief propagation
    converges.

    Parameters
    ----------
    pairs
        Which records fit which persons.

    Returns
    -------
    Posteriors
        Only allowed pairs are in it.

    Notes
    -----
    Huang and Jebara, *Approximating the permanent with belief propagation*, 2009.

    Examples
    --------
    >>> pairs = NodePairs(np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 2]))
    >>> posteriors(pairs).chance.tolist()
    [0.5, 0.5, 0.5, 0.5, 1.0]
    """
    # Step 1: drop the pairs that are in no full assignment, and split the rest into components.
    component = _components(pairs, None)
    inside = _within(pairs, component)
    sizes = np.bincount(component, minlength=1)
    of_pair = component[inside.records]
    chance = np.ones(inside.indices.size)
    order = np.argsort(of_pair, kind="stable")
    starts = np.searchsorted(of_pair[order], np.arange(sizes.size + 1))
    # Step 2: count small components. A component of one record is certain.
    for number in np.flatnonzero((sizes > 1) & (sizes <= EXACT_ROWS)).tolist():
        some = order[starts[number] : starts[number + 1]]
        chance[some] = _counted(inside.records[some], inside.indices[some])
    # Step 3: estimate all large components at once.
    large = np.flatnonzero(sizes[of_pair] > EXACT_ROWS)
    chance[large] = _propagated(inside.records[large], inside.indices[large], inside.n)
    return Posteriors(inside, chance, large.size == 0)


def _components(pairs: NodePairs, without: NDArray[np.bool_] | None) -> Ints:
    """Return the strong component of every record, where an arc leads from a record to a person.

    Record and person i are one node, since they are a pair of the true assignment. Two assignments
    differ by cycles, and a cycle is inside one component. A known pair is a component of its own.
    """
    arcs = np.ones(pairs.indices.size, dtype=bool)
    # Known pairs are on no cycle with others: drop their arcs.
    if without is not None:
        arcs = ~(without[pairs.records] | without[pairs.indices])
    ends = pairs.records[arcs], pairs.indices[arcs]
    matrix = sparse.csr_array((np.ones(ends[0].size, np.int8), ends), shape=(pairs.n, pairs.n))
    _, labels = csgraph.connected_components(matrix, directed=True, connection="strong")
    component: Ints = labels.astype(np.int64)
    return component


def _within(pairs: NodePairs, component: Ints) -> NodePairs:
    """Return the pairs inside the components."""
    records = pairs.records
    kept = component[records] == component[pairs.indices]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(records[kept], minlength=pairs.n))])
    return NodePairs(indptr.astype(np.int64), pairs.indices[kept])


def _counted(records: Ints, persons: Ints) -> Floats:
    """Return the exact shares of the pairs of one component, by sums over sets of persons.

    The assignments that contain the pair (row, column) are those that give a set of persons to the
    rows before it, and the remaining persons to the rows after it. float64, one for each pair.
    """
    members, record = np.unique(records, return_inverse=True)
    person = np.searchsorted(members, persons)
    n = members.size
    # Step 1: which record fits which person, as a small matrix.
    fits = np.zeros((n, n), dtype=bool)
    fits[record, person] = True
    sets = np.arange(1 << n)
    sizes = np.bitwise_count(sets)
    by_size = [sets[sizes == size] for size in range(n + 1)]
    # Step 2: for every set of persons, the ways to assign it to the first rows, or to the last
    # ones.
    before = _ways(fits, by_size)
    after = _ways(fits[::-1], by_size)
    everybody = (1 << n) - 1
    ways = np.zeros((n, n), dtype=np.int64)
    # Step 3: for every pair, sum over the sets that the rows before it can take.
    for row, column in zip(*np.nonzero(fits), strict=True):
        some = by_size[row]
        some = some[(some >> column) & 1 == 0]
        rest = everybody ^ some ^ (1 << int(column))
        ways[row, column] = (before[some] * after[rest]).sum()
    shares: Floats = ways[record, person] / ways[0].sum()
    return shares


def _ways(fits: NDArray[np.bool_], by_size: list[Ints]) -> Ints:
    """Return for each set of persons in how many ways the first rows, as many, can take it.

    Sets are bits of an integer; int64, shape (2**n,).
    """
    ways = np.zeros(1 << fits.shape[0], dtype=np.int64)
    ways[0] = 1
    for row, sets in zip(fits, by_size, strict=False):
        for column in np.flatnonzero(row).tolist():
            some = sets[(sets >> column) & 1 == 0]
            ways[some | (1 << column)] += ways[some]
    return ways


def _propagated(records: Ints, persons: Ints, n: int) -> Floats:
    """Return the chances at which damped belief propagation converges (Huang and Jebara 2009).

    Messages are logarithms, one in each direction for each pair; the chance of a pair follows from
    their sum.
    """
    from_record, from_person = np.zeros(records.size), np.zeros(records.size)
    chance = np.zeros(records.size)
    for _ in range(_ROUNDS):
        # New messages from all records, then from all persons: see `_others`.
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
    # The bound avoids the logarithm of 0 when one message outweighs the others completely.
    others: Floats = -np.log(np.maximum(rest, 1e-12 * weights))
    return others


def _damped(before: Floats, after: Floats) -> Floats:
    """Return the mean of old and new messages; new ones alone may oscillate."""
    return _DAMPING * before + (1 - _DAMPING) * after


def log_chances(
    pairs: NodePairs, records: NDArray[np.int32], runs: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the logarithm of how likely every fitting record is to be that of its person.

    Each run of the method suppresses every cell of a person with a chance that is estimated from
    the runs; cells count as independent.

    Parameters
    ----------
    pairs
        Which records fit which persons.
    records
        int32, shape (n, columns): the published cells; `SUPPRESSED` marks suppressed ones.
    runs
        bool, shape (runs, n, columns): which cells each run suppressed, by person.

    Returns
    -------
    float64, one for each pair
    """
    hiding = (runs.sum(axis=0) + PRIOR) / (len(runs) + 2 * PRIOR)
    # A record with nothing suppressed has the sum of log(1 - p); each suppressed cell adds its log
    # odds.
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
    """Return the assignment of one record to each person with the largest sum of log chances.

    Among equally good ones a random one: both sides are shuffled.

    Parameters
    ----------
    pairs
        Which records fit which persons.
    chances
        float64, one for each pair: see `log_chances`.
    rng
        Shuffles.

    Returns
    -------
    int64, shape (n,): the record of each person
    """
    order, shuffled = rng.permutation(pairs.n), rng.permutation(pairs.n)
    # Pairs that do not fit get so low a value that none is used if a full assignment exists.
    gain = np.full((pairs.n, pairs.n), chances.min() - pairs.n * (np.ptp(chances) + 1))
    gain[order[pairs.indices], shuffled[pairs.records]] = chances
    people, records = optimize.linear_sum_assignment(gain, maximize=True)
    given = np.empty(pairs.n, dtype=np.int64)
    given[np.argsort(order)[people]] = np.argsort(shuffled)[records]
    return given


def hits_of(given: NDArray[np.int64], records: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return for each person how likely the assigned record is their own, equal ones being shared.

    Parameters
    ----------
    given
        int64, shape (n,): the record of each person.
    records
        int32, shape (n, columns): the published cells.

    Returns
    -------
    float64, shape (n,): 1 / c if the assigned record equals the own one, and c records do; else 0
    """
    alike, sizes = np.unique(records, axis=0, return_inverse=True, return_counts=True)[1:]
    hits: NDArray[np.float64] = (alike[given] == alike) / sizes[alike]
    return hits


HEARD = 10
"""How many factors between 1 - phi and 1 + phi stand for the numbers that an attacker may have.

Evenly spaced, for degree and triangles each: a mean over `HEARD` squared pairs. More factors give a
finer mean, at quadratic cost.
"""

ROUNDING = 1e-9
"""Slack for rounding of floating-point products: integers at the bound stay inside."""

MOST = 2**40
"""An upper bound on degrees and triangles, so that reaches fit into int64 whatever phi is."""


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
        If phi is negative or not a number.

    Notes
    -----
    Definition: the package's own, after *Fuzzy k-anonymity in complex networks* (arXiv 2605.12062).
    Boxes are computed with exact fractions.

    Examples
    --------
    >>> fan = Graph.from_edges([0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 2, 3, 5], n=6)
    >>> [candidate_set_sizes(fan, phi=phi).tolist() for phi in (0, 50)]
    [[2, 2, 2, 2, 2, 2], [4, 4, 2, 2, 2, 2]]
    """
    from graphveil.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    check_phi(phi)
    # Step 1: the distinct pairs (degree, triangles); nodes of one pair have one candidate set.
    labels, pairs, first = _distinct_pairs(graph)
    second = pairs.second
    distinct = first[pairs.start[:-1]]
    # Step 2: the box of each pair, degrees as places among the distinct ones.
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
    """Return the class of every node, the distinct pairs in order, and the degree of each pair."""
    from graphveil.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    degrees, inner = graph.degrees(), triangles(graph)
    labels = classes_of(degrees, inner)
    sizes = np.bincount(labels)
    # Any node of a class stands for it.
    model = np.empty(sizes.size, dtype=np.int64)
    model[labels] = np.arange(graph.n_nodes)
    first = degrees[model]
    # Classes are numbered by degree, then triangles, so that each degree is a range of pairs.
    start = np.unique(first, return_index=True)[1]
    before = np.concatenate([[0], np.cumsum(sizes)])
    pairs = kernels.NeighborPairs(np.append(start, first.size), inner[model], before)
    return labels, pairs, first


def noisy_share(graph: Graph, *, phi: float, k: int) -> float:
    """Return the share of nodes with fewer than k candidates for an attacker with inexact numbers.

    The attacker has the degree and the triangles of a person, each multiplied by a factor in 1 -
    phi/100 .. 1 + phi/100. Candidates are the nodes whose own numbers are within phi percent of
    what the attacker has. The result is a mean over 10 x 10 evenly spaced pairs of factors. Nodes
    with equal numbers are always candidates together.

    Parameters
    ----------
    graph
        The network.
    phi
        Percent, at least 0.
    k
        Nodes with fewer candidates are unprotected.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ParameterError
        If phi is negative or not a number.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> noisy_share(star, phi=10, k=2)
    0.25
    """
    from graphveil.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    check_phi(phi)
    _, pairs, first = _distinct_pairs(graph)
    second = pairs.second
    sizes = np.diff(pairs.before)
    # Only nodes in small classes can have fewer than k candidates.
    few = sizes < k
    distinct = first[pairs.start[:-1]]
    share, unprotected = phi / 100, 0
    factors = 1 + share * (2 * np.arange(HEARD) + 1 - HEARD) / HEARD
    for degree_factor, triangle_factor in product(np.maximum(factors, 0).tolist(), repeat=2):
        low, high = _heard_as(first[few] * degree_factor, share)
        low_inside, high_inside = _heard_as(second[few] * triangle_factor, share)
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
    """Return the least and the greatest integer that may be reported as this number."""
    low = np.ceil(heard / (1 + share) - ROUNDING)
    most = np.full(heard.size, MOST, dtype=np.int64)
    if share < 1:
        most = np.minimum(np.floor(heard / (1 - share) + ROUNDING), MOST).astype(np.int64)
    return low.astype(np.int64), most


def check_phi(phi: float) -> None:
    """Refuse what is not a percentage of at least 0."""
    if not (math.isfinite(phi) and phi >= 0):
        raise ParameterError(f"phi={phi} is not a valid uncertainty. Give a percentage >= 0.")


def _reach(values: Ints, phi: float) -> Ints:
    """Return the largest integer that is at most phi percent of every value, exactly."""
    share = Fraction(str(phi)) / 100
    distinct, ranks = np.unique(values, return_inverse=True)
    reaches = [min(int(share * value), MOST) for value in distinct.tolist()]
    return np.array(reaches, dtype=np.int64)[ranks]
