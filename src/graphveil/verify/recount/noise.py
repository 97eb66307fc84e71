"""Whether noise is plausible: tail bounds, parts of equal weight, exchanges of edges, and chances.

Of random graphs whose pairs are sampled with odds x_u x_v, all with the same degrees are equally
likely (Park & Newman, Statistical mechanics of networks, 2004). So edges a-b and c-d are as likely
as a-d and c-b in their place: of exchanges that change how many edges are in both, as many gain as
lose. Tail bounds are Chernoff's, or sums of the distribution itself.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import BlockFlips

IMPOSSIBLE = 1e-9
"""Noise that far out, or that near, has at most this probability."""

_STEPS = 400
_NOTHING = 60
"""e to the minus so much is nothing."""


def is_strange(noise: Sequence[int], epsilon: float) -> bool:
    """Whether independent discrete Laplace numbers cannot be: too large, small or one-sided."""
    q, count = math.exp(-epsilon), len(noise)

    def of_sizes(power: float) -> float:
        decay = q * math.exp(power)
        return count * math.log((1 - q) / (1 + q) * (1 + decay) / (1 - decay))

    def of_numbers(power: float) -> float:
        there, back = 1 - q * math.exp(power), 1 - q * math.exp(-power)
        return count * math.log((1 - q) ** 2 / (there * back))

    sizes, total = sum(map(abs, noise)), abs(sum(noise))
    powers = [epsilon * (step + 0.5) / _STEPS for step in range(_STEPS)]
    negative = [-20 * power for power in powers]
    largest = max(map(abs, noise))
    return (
        count * 2 * q**largest / (1 + q) < IMPOSSIBLE
        or _bound(of_sizes, sizes, powers) < IMPOSSIBLE
        or _bound(of_sizes, sizes, negative) < IMPOSSIBLE
        or _bound(of_numbers, total, powers) < IMPOSSIBLE
    )


def _bound(cumulant: Callable[[float], float], total: int, powers: Sequence[float]) -> float:
    """Return a bound on the chance of a sum so far out."""
    exponent = min(cumulant(power) - power * total for power in powers)
    return math.exp(min(exponent, 0.0))


def reach_of(count: int, epsilon: float) -> int:
    """Return how far out one of so many discrete Laplace numbers may lie, to be believed.

    >>> reach_of(1, 1.0), reach_of(1000, 0.275)
    (22, 103)
    """
    return math.ceil(math.log(2 * count / IMPOSSIBLE) / epsilon)


def is_strange_on_ladder(distance: int, counts: int, first: int, most: int, rate: float) -> bool:
    """Whether a vector of counts with the noise of a ladder cannot lie so far from the true one."""
    nearer = farther = total = 0.0
    reach, before, step, highest = 0, 0, 0, -math.inf
    while True:
        vectors = _vectors(counts, reach)
        log_chance = math.log(vectors - before) - rate * step
        highest = max(highest, log_chance)
        if log_chance < highest - _NOTHING:
            break
        chance = math.exp(log_chance)
        total += chance
        if reach <= distance:
            nearer += chance
        else:
            within = max(_vectors(counts, distance) - before, 0)
            nearer += math.exp(math.log(within) - rate * step) if within else 0.0
        farther += chance if reach >= distance else 0.0
        before, reach, step = vectors, reach + min(first + step, most), step + 1
    return min(nearer, farther) < IMPOSSIBLE * total


def _vectors(counts: int, reach: int) -> int:
    """Return how many vectors of whole numbers have sizes that sum to at most `reach`."""
    return sum(2**i * math.comb(counts, i) * math.comb(reach, i) for i in range(counts + 1))


ROUNDS = 200
"""Of expectation and maximization: the parts follow from the histogram after so many."""

LEAST = 1e-3
"""The least degree that is expected of anybody."""

SLACK = 1e-6
"""For a part: so near to its end a noisy degree may be on either side."""

_NO_PARTS = 1e-300

Numbers = NDArray[np.float64]


def expected(noisy: Sequence[int], epsilon: float, edges: int) -> Numbers:
    """Return the degree that is expected of every node, by its noisy one and all others."""
    n, q = len(noisy), math.exp(-epsilon)
    seen = np.array([min(max(degree, 0), n - 1) for degree in noisy])
    chances = likeliest(seen, q, ROUNDS)
    of_seen = np.maximum(_around(chances, q), _NO_PARTS)
    means = _around(chances * np.arange(chances.size), q) / of_seen
    degrees: Numbers = np.maximum(means, LEAST)[seen]
    degrees = degrees * (2 * edges / degrees.sum())
    return np.clip(degrees, LEAST, max(n - 1, LEAST))


def likeliest(seen: NDArray[np.int64], q: float, rounds: int) -> Numbers:
    """Return the share of every degree from 0 on that makes noisy ones likeliest.

    >>> likeliest(np.array([0, 1, 1, 3]), 0.01, 200).round(2).tolist()
    [0.25, 0.5, 0.0, 0.25]
    """
    times = np.bincount(seen).astype(np.float64)
    chances: Numbers = np.full(times.size, 1 / times.size)
    for _ in range(rounds):
        chances *= _around(times / np.maximum(_around(chances, q), _NO_PARTS), q)
        chances /= chances.sum()
    return chances


def _around(values: Numbers, q: float) -> Numbers:
    """Return the sum over all places of q^distance times the value there, for every place."""
    from scipy.signal import lfilter  # noqa: PLC0415  heavy, and few releases need it

    before = lfilter([1.0], [1.0, -q], values)
    behind = lfilter([1.0], [1.0, -q], values[::-1])[::-1]
    both: Numbers = before + behind - values
    return both


def wrong_parts(
    noisy: Sequence[int], weights: Numbers, cuts: Sequence[int], most: int
) -> list[int]:
    """Return the noisy degrees at which a part begins and must not, or must and does not."""
    values, starts = sorted(set(noisy)), set(cuts)
    places = {value: place for place, value in enumerate(values)}
    mass = np.bincount([places[degree] for degree in noisy], weights=weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum() * most
    begins = np.array([value in starts for value in values[1:]], dtype=np.bool_)
    may = _ends_between(middle[:-1] - SLACK, middle[1:] + SLACK, most)
    must = _ends_between(middle[:-1] + SLACK, middle[1:] - SLACK, most)
    return [values[1 + place] for place in np.flatnonzero((begins & ~may) | (must & ~begins))]


def _ends_between(low: Numbers, high: Numbers, most: int) -> NDArray[np.bool_]:
    """Whether one of the whole numbers 1 to most - 1 is above low, and high at least it."""
    last, first = np.minimum(np.floor(high), most - 1), np.maximum(np.floor(low), 0)
    between: NDArray[np.bool_] = last > first
    return between


Ints = NDArray[np.int64]

_ROUNDS = 12


class Exchanges(NamedTuple):
    """Exchanges of two edges of a release, no two of which share a node.

    `telling`: how many would change how many edges are in both; `more`: in how many of them the
    release, as it is, has more edges of the original.
    """

    telling: int
    more: int


def exchanges(released: Ints, original: Ints, n: int) -> Exchanges:
    """Return what exchanges of two released edges would change.

    Which edges are exchanged depends on which nodes they join, never on how: nodes are drawn by a
    digest of the release, fours of them are chosen without looking at their edges again.
    """
    released, original = (edges.astype(np.int64, copy=False) for edges in (released, original))
    a, b, c, d = _fours(released, n).T
    degrees = np.bincount(released.ravel(), minlength=n)
    largest = np.maximum(degrees[a], degrees[b]) * np.maximum(degrees[c], degrees[d])
    largest = np.maximum(largest, np.maximum(degrees[a] * degrees[b], degrees[c] * degrees[d]))
    keys, truly = _keys(released[:, 0], released[:, 1], n), _keys(original[:, 0], original[:, 1], n)
    new = [_keys(a, d, n), _keys(c, b, n)]
    possible = ~np.isin(new[0], keys) & ~np.isin(new[1], keys)
    possible &= 2 * largest <= released.shape[0]
    before = np.isin(_keys(a, b, n), truly) * 1 + np.isin(_keys(c, d, n), truly)
    after = np.isin(new[0], truly) * 1 + np.isin(new[1], truly)
    gain = (before - after)[possible]
    return Exchanges(int(np.count_nonzero(gain)), int(np.count_nonzero(gain > 0)))


def _fours(edges: Ints, n: int) -> Ints:
    """Return the ends of pairs of edges, shape (pairs, 4), such that no node is in two of them."""
    chosen = [np.empty((0, 4), dtype=np.int64)]
    free = np.ones(n, dtype=bool)
    words = _words(edges)
    pairs = edges[np.argsort(words, kind="stable")]
    pairs = pairs[: pairs.shape[0] // 2 * 2].reshape(-1, 4)
    turned = words[: pairs.shape[0]] >> np.uint64(63) > 0
    pairs[turned] = pairs[turned][:, [0, 1, 3, 2]]
    ordered = np.sort(pairs, axis=1)
    pairs = pairs[(np.diff(ordered, axis=1) > 0).all(axis=1)]
    for _ in range(_ROUNDS):
        pairs = pairs[free[pairs].all(axis=1)]
        if not pairs.size:
            break
        rank = np.arange(pairs.shape[0])
        first = np.full(n, pairs.shape[0], dtype=np.int64)
        np.minimum.at(first, pairs.ravel(), np.repeat(rank, 4))
        own = pairs[(first[pairs] == rank[:, None]).all(axis=1)]
        free[own.ravel()] = False
        chosen.append(own)
    return np.concatenate(chosen)


def _words(edges: Ints) -> NDArray[np.uint64]:
    """Return a word for each edge that nobody can foresee without all of them: by SplitMix64.

    It is not a chance that is guaranteed to anybody: the words say which edges are compared.
    """
    start = hashlib.sha256(np.ascontiguousarray(edges).tobytes()).digest()[:8]
    steps = np.arange(1, edges.shape[0] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = steps + np.frombuffer(start, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def _keys(u: Ints, v: Ints, n: int) -> Ints:
    """Return one number for each pair of nodes."""
    return np.minimum(u, v) * n + np.maximum(u, v)


FULL = 1 << 64

_DIGITS = Context(prec=120, rounding=ROUND_FLOOR)
_RELATIVE_ERROR = Fraction(1, 10**100)

NEVER_BY_CHANCE = 1e-12
"""A number of flips that far out, or farther, has at most this probability."""


class Factor(NamedTuple):
    """Two fractions with e^epsilon between them."""

    low: Fraction
    high: Fraction


def factor_of(epsilon: Fraction) -> Factor:
    """Return bounds on e^epsilon that are closer than one part in 10^99.

    An epsilon of at least 0 has a factor of at least 1, however few digits it has left.

    >>> factor_of(Fraction(1, 10**300)).low, factor_of(Fraction(-1)).high < 1
    (Fraction(1, 1), True)
    """
    rounded = Decimal(epsilon.numerator) / 1
    power = Fraction(_DIGITS.exp(_DIGITS.divide(rounded, Decimal(epsilon.denominator))))
    low = power * (1 - _RELATIVE_ERROR)
    return Factor(max(low, Fraction(1)) if epsilon >= 0 else low, power * (1 + _RELATIVE_ERROR))


def keeps_its_claim(zero: int, one: int, epsilon: Fraction) -> bool:
    """Whether no cell's value changes any probability by a factor above e^epsilon, exactly."""
    largest = factor_of(epsilon).low
    return one <= largest * zero and FULL - zero <= largest * (FULL - one)


def thresholds(prior: Fraction, epsilon: Fraction) -> tuple[int, int]:
    """Return the two chances, times 2^64, that publish most ones for the expected size.

    With L = e^epsilon a cell of 0 has prior / (1 - prior + prior L), rounded up; a cell of 1 has L
    times that, or the most that keeps the chances of not being published within L where that is
    less. Of a prior above 1/2 zeros and ones swap roles. They may be off by one.
    """
    if prior > Fraction(1, 2):
        zero, one = thresholds(1 - prior, epsilon)
        return FULL - one, FULL - zero
    largest = factor_of(epsilon).low
    zero = math.ceil(FULL * prior / (1 - prior + prior * largest))
    return zero, min(math.floor(largest * zero), FULL - math.ceil((FULL - zero) / largest))


def filter_thresholds(cells: int, count: int, epsilon: Fraction) -> tuple[int, int]:
    """Return the two chances, times 2^64, that the thresholds of the Top-m Filter give.

    Where epsilon > x = ln(cells/count - 1), the threshold x/(2 epsilon) + 1/2 lies between both
    kinds of cells: a zero passes with exp(-(x + epsilon)/2)/2 and a one fails with
    exp((x - epsilon)/2)/2. Else both pass with tails, of cells/count - 1 + exp(epsilon). A one
    passes at least as often as a zero, whatever rounding does.
    """
    odds, factor = Fraction(cells, count) - 1, factor_of(epsilon).low
    if factor > odds:
        root = Fraction(math.isqrt(math.floor(odds / factor * (1 << 600))), 1 << 300)
        zero, one = root / odds / 2, 1 - root / 2
    else:
        zero = 1 / (odds + factor)
        one = factor * zero
    rounded = math.ceil(FULL * zero)
    most = min(math.floor(factor * rounded), FULL - math.ceil((FULL - rounded) / factor))
    return rounded, max(rounded, min(math.floor(FULL * one), most))


def is_unbelievable(count: int, trials: int, chance: float) -> bool:
    """Whether so many independent events, or farther from their mean, are too rare to believe."""
    mean = trials * chance
    usual = 4 * math.sqrt(mean * max(1 - chance, 0.0)) + 1
    if abs(count - mean) <= max(usual, 1e-12 * trials) and 0 < chance < 1:
        return False
    return 2 * tail(count, trials, chance) < NEVER_BY_CHANCE


def tail(count: int, trials: int, chance: float) -> float:
    """Return how likely a binomial number is so far to its side of the mean, or farther.

    Both tails are incomplete beta functions, which take any number of trials: SciPy's own binomial
    tails take 2^31 at most, and pairs of 65,537 people are more.
    """
    from scipy.special import betainc  # noqa: PLC0415  where something looks wrong alone

    if not 0 <= count <= trials:
        return 0.0
    if count > trials * chance:
        return float(betainc(count, trials - count + 1, chance)) if count else 1.0
    return float(betainc(trials - count, count + 1, 1 - chance)) if count < trials else 1.0


class CellBlock(NamedTuple):
    """The pairs of nodes of two classes."""

    cells: int
    zero: int
    one: int


def blocks_of(flips: BlockFlips) -> Iterator[CellBlock]:
    """Yield every block, of the classes a <= b."""
    largest = factor_of(Fraction(flips.epsilon_cells)).low
    for a, size in enumerate(flips.sizes):
        for b in range(a, len(flips.sizes)):
            cells = size * (size - 1) // 2 if a == b else size * flips.sizes[b]
            yield CellBlock(cells, *_chances(_prior(flips, a, b), largest))


def _prior(flips: BlockFlips, a: int, b: int) -> int:
    """Return the share of edges that is assumed between two classes, times 2^64."""
    odds = Fraction(int(flips.weights[a]) * int(flips.weights[b]), flips.UNIT**2)
    share = odds / (1 + odds) * _factor(flips, a, b)
    return max(1, min(int(FULL * share), FULL * 999 // 1000))


def _factor(flips: BlockFlips, a: int, b: int) -> Fraction:
    if not flips.groups:
        return Fraction(1)
    g, h = sorted((flips.groups[a], flips.groups[b]))
    size = max(flips.groups) + 1
    row = g * size - g * (g - 1) // 2
    return Fraction(int(flips.factors[row + h - g]), flips.UNIT)


def _chances(prior: int, largest: Fraction) -> tuple[int, int]:
    """Return the two chances for a share of edges, times 2^64; above 1/2 the two swap roles."""
    if 2 * prior > FULL:
        zero, one = _chances(FULL - prior, largest)
        return FULL - one, FULL - zero
    up, down = largest.as_integer_ratio()
    zero = 1 + (FULL * prior * down - 1) // ((FULL - prior) * down + prior * up)
    lost = 1 + ((FULL - zero) * down - 1) // up
    return zero, min(up * zero // down, FULL - lost)
