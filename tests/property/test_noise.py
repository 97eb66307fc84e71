"""The samplers have exactly the law that they name: every draw is tried, or the law is computed."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import graphveil as gv
from graphveil.core.randomness import Randomness
from graphveil.methods.noise.cells import (
    Channel,
    cells_between,
    cells_of,
    cells_of_one,
    channel,
    ends_of,
    exp_below,
    flipped,
    number_of_cells,
    with_cells,
)
from graphveil.methods.noise.laws import (
    below,
    bernoulli,
    binomial,
    distinct,
    distribution,
    words_from,
)

FULL = 2**64
UNLIKELY = 1e-6


class NeedsMoreError(Exception):
    """A run asked for more words than its script has."""


def law_of(run, *, bits, most=99):
    """Return the exact probability of every result, by trying all words of so many top bits.

    Runs that need more than `most` words are left out; what is missing is their probability.
    """
    law, pending = Counter(), [()]
    while pending:
        script = pending.pop()
        source = iter(script)

        def words(count, source=source):
            taken = list(itertools.islice(source, count))
            if len(taken) < count:
                raise NeedsMoreError
            return np.array([value << (64 - bits) for value in taken], dtype=np.uint64)

        try:
            result = run(words)
        except NeedsMoreError:
            if len(script) < most:
                pending += [(*script, value) for value in range(2**bits)]
        else:
            assert next(source, None) is None
            law[result] += Fraction(1, 2 ** (bits * len(script)))
    return law


def seeded(seed):
    return words_from(Randomness(seed=seed), "test")


def scripted(*values):
    """Return words that are exactly these."""
    source = iter(values)
    return lambda count: np.array(list(itertools.islice(source, count)), dtype=np.uint64)


@pytest.mark.parametrize("eighths", range(9))
def test_an_event_has_its_probability_exactly(eighths):
    law = law_of(lambda w: bool(bernoulli(w, eighths * FULL // 8, 1)[0]), bits=3)
    expected = {True: Fraction(eighths, 8), False: Fraction(8 - eighths, 8)}
    assert {value: p for value, p in expected.items() if p} == law


@pytest.mark.parametrize(
    "threshold", [1, 2, 2**53 - 1, 2**53 + 1, FULL // 3, FULL - 2**11 + 1, FULL - 2, FULL - 1]
)
def test_an_event_is_decided_by_the_last_bit_of_its_word(threshold):
    """A coin of floating point, which has 53 bits, takes these words for one and the same."""
    words = [threshold - 1, threshold, 0, FULL - 1]
    assert [True, False, True, False] == bernoulli(scripted(*words), threshold, 4).tolist()


@pytest.mark.parametrize("through", [Channel(1, FULL - 1), Channel(0, FULL - 1), Channel(1, 1)])
def test_a_one_is_published_exactly_below_its_threshold(through):
    """The next word is the largest but one, or 0: no zero, or none of many, is published."""
    ones = np.arange(2)
    words = scripted(through.one - 1, through.one, 0, 0, 0)
    cells, kept = flipped(words, ones, 3, through)
    assert ([0], 1) == (cells.tolist(), kept)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8])
def test_integers_below_a_bound_are_equally_likely(n):
    law = law_of(lambda w: int(below(w, n, 1)[0]), bits=3, most=4)
    assert set(range(n)) == set(law)
    assert 1 == len(set(law.values()))
    assert sum(law.values()) >= 1 - Fraction(1, 2) ** 4


@pytest.mark.parametrize(("n", "count"), [(3, 0), (3, 1), (4, 1), (4, 2), (4, 3), (4, 4), (5, 2)])
@pytest.mark.parametrize("dense", [0, 16])
def test_sets_of_distinct_integers_are_equally_likely(n, count, dense, monkeypatch):
    monkeypatch.setattr("graphveil.methods.noise.laws.DENSE", dense)
    bits = (n - 1).bit_length()
    law = law_of(lambda w: tuple(distinct(w, n, count).tolist()), bits=bits, most=5)
    assert set(itertools.combinations(range(n), count)) == set(law)
    assert 1 == len(set(law.values()))
    assert sum(law.values()) > Fraction(3, 4)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 2**40), st.integers(0, 3000), st.integers(0, 2**32))
def test_distinct_integers_are_as_many_as_asked_for_sorted_and_in_range(n, count, seed):
    count = min(n, count)
    if 2 * count > n:
        n = min(n, 6000)
    found = distinct(seeded(seed), n, min(count, n))
    assert min(count, n) == found.size
    assert np.all(np.diff(found) > 0)
    assert np.all((found >= 0) & (found < n))


def binomial_law(trials, p):
    return {k: math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)}


@pytest.mark.parametrize(
    ("trials", "quarters", "bits"),
    [(1, 1, 4), (2, 1, 4), (2, 3, 4), (3, 2, 3), (4, 2, 4), (3, 1, 6)],
)
def test_the_binomial_law_is_exact_over_all_draws(trials, quarters, bits):
    law = law_of(partial(binomial, trials=trials, threshold=quarters * FULL // 4), bits=bits)
    assert binomial_law(trials, Fraction(quarters, 4)) == law


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(1, FULL // 2), st.sampled_from([256, 384]))
def test_the_bounds_of_the_distribution_function_enclose_it(trials, threshold, bits):
    table = distribution(trials, threshold, bits)
    law = binomial_law(trials, Fraction(threshold, FULL))
    exact = list(itertools.accumulate(law[k] * 2**bits for k in range(trials)))
    assert table.whole or len(table.lower) < trials
    assert (len(table.lower) == trials) == table.whole
    for low, value, high in zip(table.lower, exact, table.upper, strict=False):
        assert low <= value <= high
        assert high - low < 2 ** (bits - 100)
    if not table.whole:
        assert 2**bits - table.lower[-1] < 2 ** (bits - 100)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, FULL // 2), st.integers(2, 6), st.integers(-1, 1), st.booleans())
def test_a_draw_at_a_jump_is_decided_by_its_last_bit(threshold, trials, step, narrow):
    """P[X = 0] has 64 bits a trial: the words that spell it, and one more or less at the end."""
    jump = (FULL - threshold) ** trials + step
    spelled = [(jump >> (64 * place)) % FULL for place in reversed(range(trials))]
    with pytest.MonkeyPatch.context() as patch:
        if narrow:
            patch.setattr("graphveil.methods.noise.laws.FIRST_BITS", 192)
        found = binomial(scripted(*spelled, 0, 0, 0), trials, threshold)
    assert (0 if step < 0 else 1) == found


def test_the_largest_word_is_in_the_tail_and_needs_further_ones():
    assert 64 < binomial(scripted(FULL - 1, 1 << 40), 10**15, FULL // 10**13) < 1000
    assert 6 == binomial(scripted(FULL - 1, FULL - 1), 6, FULL // 3)


@pytest.mark.parametrize(
    ("trials", "threshold"), [(1000, FULL // 20), (10**12, FULL // 10**10 * 2), (700, FULL // 3)]
)
def test_large_binomials_have_their_law_by_chi_square(trials, threshold):
    words = seeded(5)
    found = np.array([binomial(words, trials, threshold) for _ in range(1500)])
    law = stats.binom(trials, threshold / FULL)
    edges = law.ppf(np.linspace(0, 1, 13)[1:-1])
    cuts = np.concatenate([[-np.inf], edges, [np.inf]])
    expected = np.diff(law.cdf(cuts)) * found.size
    seen = np.histogram(found, np.concatenate([[-np.inf], edges + 0.5, [np.inf]]))[0]
    assert stats.chisquare(seen, expected).pvalue > UNLIKELY


@pytest.mark.parametrize("trials", [0, 1, 5, 10**18])
def test_certain_and_impossible_trials_need_no_draw(trials):
    assert (0, trials) == (binomial(scripted(), trials, 0), binomial(scripted(), trials, FULL))


def exp_bounds(epsilon):
    """Return fractions on both sides of e^epsilon: Taylor's series, rounded down and up."""
    unit, low, high = 1 << 500, 1 << 500, 1 << 500
    total_low, total_high = low, high
    for k in range(1, 400):
        low = low * epsilon.numerator // (k * epsilon.denominator)
        high = -(-high * epsilon.numerator // (k * epsilon.denominator))
        total_low, total_high = total_low + low, total_high + high
    assert 2 * epsilon < 400
    return Fraction(total_low, unit), Fraction(total_high + high, unit)


EPSILONS = st.floats(1e-6, 40).map(Fraction) | st.fractions(
    Fraction(1, 10**6), 40, max_denominator=10**6
)


@settings(deadline=None, max_examples=25)
@given(EPSILONS)
def test_the_factor_is_below_that_of_epsilon_and_close_to_it(epsilon):
    low, high = exp_bounds(epsilon)
    found = exp_below(epsilon)
    assert found <= high
    assert found >= low * (1 - Fraction(1, 10**60))


@settings(deadline=None, max_examples=60)
@given(EPSILONS, st.fractions(0, 1, max_denominator=10**9).filter(lambda p: 0 < p < 1))
def test_no_ratio_of_a_channel_exceeds_e_to_epsilon(epsilon, prior):
    through = channel(prior, epsilon)
    low, _ = exp_bounds(epsilon)
    assert 0 <= through.zero <= through.one <= FULL
    assert through.one <= low * through.zero
    assert FULL - through.zero <= low * (FULL - through.one)


@settings(deadline=None, max_examples=40)
@given(st.floats(0.01, 30), st.fractions(0, 1, max_denominator=1000).filter(lambda p: 0 < p < 1))
def test_a_channel_publishes_as_many_as_assumed_up_to_rounding(epsilon, prior):
    through = channel(prior, Fraction(epsilon))
    published = prior * through.one + (1 - prior) * through.zero
    assert abs(published / FULL - prior) <= (math.exp(epsilon) + 2) / FULL


def test_at_one_half_both_kinds_are_flipped_alike():
    for epsilon in (Fraction(1, 7), Fraction(1), Fraction(8), Fraction(39)):
        through = channel(Fraction(1, 2), epsilon)
        wanted = 1 / (1 + math.exp(epsilon))
        assert through.zero / FULL == pytest.approx(wanted, rel=0.03)
        assert abs(through.zero - (FULL - through.one)) <= math.exp(epsilon) + 3


def test_the_largest_epsilon_loses_hardly_any_cell():
    """Its chance of a zero, 78.4 / 2^64, rounded down would lose 0.5% of the cells that are 1."""
    assert Channel(79, FULL - 79) == channel(Fraction(1, 2), Fraction(40))


def flips_law(ones, n_cells, through):
    """Return the law of independent cells."""
    law = Counter()
    for outcome in itertools.product([False, True], repeat=n_cells):
        weight = Fraction(1)
        for cell, published in enumerate(outcome):
            chance = Fraction(through.one if cell in ones else through.zero, FULL)
            weight *= chance if published else 1 - chance
        law[tuple(np.flatnonzero(outcome).tolist())] += weight
    return law


@pytest.mark.parametrize(
    ("quarters", "ones", "bits"),
    [
        *(((1, 3), ones, 4) for ones in [(), (0,), (1,)]),
        *(
            (quarters, ones, 2)
            for quarters in [(2, 3), (2, 2)]
            for ones in [(), (0,), (1,), (0, 1)]
        ),
    ],
)
def test_flips_have_the_law_of_independent_cells_over_all_draws(quarters, ones, bits):
    through = Channel(*(q * FULL // 4 for q in quarters))
    cells = np.array(ones, dtype=np.int64)
    law = law_of(lambda w: tuple(flipped(w, cells, 2, through)[0].tolist()), bits=bits)
    assert flips_law(ones, 2, through) == law


@pytest.mark.parametrize("ones", [(), (0, 3, 4), tuple(range(6))])
def test_flips_of_a_graph_of_four_nodes_have_their_law_by_chi_square(ones):
    through = channel(Fraction(1, 2), Fraction(3, 4))
    words, cells, runs = seeded(len(ones)), np.array(ones, dtype=np.int64), 8000
    seen = Counter(tuple(flipped(words, cells, 6, through)[0].tolist()) for _ in range(runs))
    law = flips_law(ones, 6, through)
    expected = [float(p) * runs for p in law.values()]
    assert stats.chisquare([seen[outcome] for outcome in law], expected).pvalue > UNLIKELY


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 300), st.data())
def test_what_is_kept_is_what_was_there_and_is_published(n_cells, data):
    ones = sorted(data.draw(st.sets(st.integers(0, n_cells - 1))))
    through = Channel(*sorted(data.draw(st.tuples(*[st.integers(0, FULL)] * 2))))
    cells, kept = flipped(seeded(n_cells), np.array(ones, dtype=np.int64), n_cells, through)
    assert sorted(set(cells.tolist())) == cells.tolist()
    assert len(set(cells.tolist()) & set(ones)) == kept


@pytest.mark.parametrize("n", range(8))
def test_the_pairs_of_nodes_are_numbered_one_to_one(n):
    complete = gv.Graph.from_edges(*np.triu_indices(n, k=1), n=n)
    assert list(range(number_of_cells(complete))) == cells_of(complete).tolist()
    assert complete == with_cells(complete, cells_of(complete))


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 60), st.integers(0, 2**32), st.floats(0, 1))
def test_a_graph_is_its_cells(n, seed, density):
    chosen = np.random.Generator(np.random.PCG64(seed)).random(n * (n - 1) // 2) < density
    ends = np.column_stack(np.triu_indices(n, k=1))[chosen]
    graph = gv.Graph.from_edges(ends[:, 0], ends[:, 1], n=n)
    assert graph == with_cells(graph, cells_of(graph))
    assert n - 1 == cells_of_one(graph)


def test_the_cells_of_the_largest_graphs_do_not_overflow():
    n = 2_000_000_011
    ends = np.array([[0, 1], [0, n // 2], [0, n - 1], [n - 2, n - 1]])
    cells = cells_between(ends, n)
    assert np.all((cells >= 0) & (cells < n * (n - 1) // 2))
    assert ends.tolist() == np.sort(ends_of(cells, n), axis=1).tolist()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 2**32))
def test_users_by_features_are_their_cells(n, width, seed):
    matrix = np.random.Generator(np.random.PCG64(seed)).random((n, width)) < 0.3
    data = gv.Bipartite.from_scipy(matrix.astype(np.int8))
    assert np.flatnonzero(matrix).tolist() == cells_of(data).tolist()
    assert data == with_cells(data, cells_of(data))
    assert (n * width, width) == (number_of_cells(data), cells_of_one(data))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_person_among_the_items_has_a_row_and_a_column(n):
    numbers = np.arange(n * n).reshape(n, n)
    data = gv.Bipartite.from_scipy(np.zeros((n, n), dtype=np.int8), items="people")
    own = {len({*numbers[p], *numbers[:, p]}) for p in range(n)} or {0}
    assert own == {cells_of_one(data)}


def test_words_of_the_system_differ_and_those_of_a_seed_are_the_same_again():
    one, two = (words_from(Randomness(), "noise")(4).tolist() for _ in range(2))
    assert one != two
    again = [words_from(Randomness(seed=3), "noise")(4).tolist() for _ in range(2)]
    assert again[0] == again[1]
    assert again[0] != words_from(Randomness(seed=3), "other")(4).tolist()


def test_without_a_seed_every_word_is_the_operating_systems(monkeypatch):
    monkeypatch.setattr("os.urandom", lambda count: bytes([255]) * count)
    assert [FULL - 1] * 3 == words_from(Randomness(), "noise")(3).tolist()
