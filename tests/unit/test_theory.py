"""What theorems say for one's own data, against brute force on small cases."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.stats import binom

import graphveil as gv
from graphveil.cli import run
from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.methods.noise.laws import FULL
from graphveil.verbs import theory

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

CALLS = gv.datasets.load("copenhagen-calls")


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 0.99])
def test_the_methods_keep_the_share_at_that_epsilon(share):
    rows = theory.epsilon_to_keep(CALLS, share)
    n, m = CALLS.n_nodes * (CALLS.n_nodes - 1) // 2, CALLS.n_edges
    epsilon = float(f"{rows['epsilon to keep edges', 'asymmetric-response: epsilon'].value:.5g}")
    through = gv.AsymmetricResponse(epsilon=epsilon).flips(n, m)
    assert float(Fraction(int(through.T1), FULL)) == pytest.approx(share, abs=2e-4)
    published = m * int(through.T1) + (n - m) * int(through.T0)
    false = (n - m) * int(through.T0) / published
    part = "asymmetric-response: false of the released"
    assert rows["epsilon to keep edges", part].value == pytest.approx(false, abs=2e-3)


def test_randomized_response_keeps_the_share_and_makes_up_so_many():
    rows = theory.epsilon_to_keep(CALLS, 0.999)
    epsilon = float(f"{rows['epsilon to keep edges', 'randomized-response: epsilon'].value:.5g}")
    cost = gv.RandomizedResponse(epsilon=epsilon).expected_cost(CALLS)
    false = cost["edges_added"] / (cost["edges_added"] + cost["edges_kept"])
    part = "randomized-response: false of the released"
    assert rows["epsilon to keep edges", part].value == pytest.approx(false, abs=1e-3)
    assert cost["edges_kept"] / CALLS.n_edges == pytest.approx(0.999, abs=2e-3)


def law_of_jaccard(ones, cells, epsilon):
    """Return the values of the Jaccard index of randomized response with their chances."""
    flip = 1 / (1 + np.exp(epsilon))
    kept, false = np.arange(ones + 1), np.arange(cells - ones + 1)
    chance = np.outer(binom.pmf(kept, ones, 1 - flip), binom.pmf(false, cells - ones, flip))
    union = np.maximum(ones + false[None, :], 1e-300)
    value = np.where(ones + false[None, :] == 0, 1.0, kept[:, None] / union)
    return value, chance


@pytest.mark.parametrize(("ones", "cells"), [(3, 40), (20, 400), (30, 60), (100, 20_000)])
@pytest.mark.parametrize("delta", [0.05, 0.5])
def test_randomized_response_is_rarely_above_its_bound(ones, cells, delta):
    for epsilon in (0.0, 1.0, 3.0, 6.0, 9.0):
        value, chance = law_of_jaccard(ones, cells, epsilon)
        bound = theory.most_jaccard(ones, cells, epsilon, delta=delta)
        assert chance[value > bound + 1e-12].sum() <= delta


@pytest.mark.parametrize("jaccard", [0.2, 0.5, 0.9])
def test_below_the_least_epsilon_the_index_is_not_reached(jaccard):
    low = theory.least_epsilon(CALLS, jaccard)[0].value
    n, m = CALLS.n_nodes * (CALLS.n_nodes - 1) // 2, CALLS.n_edges
    assert theory.most_jaccard(m, n, low - 1e-6, delta=0.05) < jaccard
    assert theory.most_jaccard(m, n, low + 1e-6, delta=0.05) >= jaccard


@pytest.mark.parametrize("epsilon", [4.0, 6.0, 8.0, 10.0])
def test_theorem_4_3_holds_for_randomized_response_on_every_graph_of_so_few_edges(epsilon):
    pairs = 29 * 30 // 2
    for edges in (1, 2, 4):
        reached = []
        for ones in range(edges + 2):
            value, chance = law_of_jaccard(ones, pairs, epsilon)
            reached.append(float((value * chance).sum()))
        graph = gv.Graph.from_edges(range(edges), range(10, 10 + edges), n=30)
        bound = theory.least_epsilon(graph, min(reached))["least epsilon for a Jaccard index"][1]
        assert bound.value <= epsilon
    assert theory.least_epsilon(graph, 0.9)[1].value > 1


def random_codes(rng, n, d):
    codes = rng.integers(0, 3, size=(n, d)).astype(np.int32)
    codes[rng.random(codes.shape) < 0.1] = -1
    return codes


def table_of(codes):
    columns = [["*" if one < 0 else f"v{one}" for one in column] for column in codes.T.tolist()]
    return gv.Table.from_columns({f"c{k}": column for k, column in enumerate(columns)})


def stars_needed(codes, graph):
    """Return how many cells a graph of records and persons suppresses, missing ones not counted."""
    stars = np.zeros(codes.shape, dtype=bool)
    for i, j in graph:
        stars[i] |= (codes[i] >= 0) & (codes[i] != codes[j])
    return int(stars.sum())


@pytest.mark.parametrize("level", [2, 3])
def test_no_release_hides_fewer_cells_than_the_bounds(level):
    rng = np.random.default_rng(level)
    n, others = 4, level - 1
    for _ in range(25):
        codes = random_codes(rng, n, 3)
        rows = theory.stars_at_least(table_of(codes), level)
        choices = [combinations([j for j in range(n) if j != i], others) for i in range(n)]
        graphs = [
            [(i, j) for i, chosen in enumerate(graph) for j in chosen]
            for graph in product(*choices)
        ]
        least = min(stars_needed(codes, graph) for graph in graphs)
        assert rows["fewest hidden cells", "any release"].value <= least
        regular = [
            g for g in graphs if set(np.bincount([j for _, j in g], minlength=n)) == {others}
        ]
        least = min(stars_needed(codes, graph) for graph in regular)
        assert rows["fewest hidden cells", "each record fits exactly its level"].value <= least


def test_at_level_two_the_second_bound_is_the_optimum_of_regular_graphs():
    rng = np.random.default_rng(7)
    for _ in range(20):
        codes = random_codes(rng, 5, 3)
        derangements = [p for p in permutations(range(5)) if all(i != j for i, j in enumerate(p))]
        least = min(stars_needed(codes, enumerate(p)) for p in derangements)
        found = theory.stars_at_least(table_of(codes), 2)
        assert least == found["fewest hidden cells", "each record fits exactly its level"].value


def test_a_release_is_said_to_be_so_many_times_above_the_bound():
    rng = np.random.default_rng(3)
    table = gv.Table.from_columns(
        {f"c{k}": rng.integers(0, 3, 40).tolist() for k in range(5)}, person="row"
    )
    release = gv.Adaptive(levels=4).anonymize(table, seed=1)
    rows = theory.stars_at_least(table, 4, release=release)
    hidden = int(np.count_nonzero(release.data.codes < 0))
    assert hidden == rows["hidden cells", "release"].value
    bound = rows["fewest hidden cells", "any release"].value
    ratio = rows["hidden cells", "times the bound of any release"].value
    assert ratio == pytest.approx(hidden / bound)
    assert ratio >= 1
    assert 0 == theory.stars_at_least(table, 1)[0].value


def by_hand(fits, known):
    """Return for how many records each person is in a full assignment, by trying all of them."""
    n = len(fits)
    owners = [set() for _ in range(n)]
    for assignment in permutations(range(n)):  # record i belongs to person assignment[i]
        if all(fits[i, j] for i, j in enumerate(assignment)) and all(
            assignment[i] == i for i in known
        ):
            for i, j in enumerate(assignment):
                owners[j].add(i)
    return [len(one) for one in owners]


def test_allowed_records_are_those_of_all_full_assignments():
    rng = np.random.default_rng(1)
    for _ in range(60):
        n = 5
        fits = (rng.random((n, n)) < 0.4) | np.eye(n, dtype=bool)
        for leaked in range(3):
            for known in combinations(range(n), leaked):
                found = theory.allowed(fits, np.array(known, dtype=np.int64))
                assert by_hand(fits, known) == found.tolist()


def test_lemma_4_5_where_every_pair_fits_both_ways():
    rng = np.random.default_rng(2)
    for _ in range(60):
        fits = np.eye(6, dtype=bool) | (rng.random((6, 6)) < 0.3)
        fits |= fits.T
        for leaked in range(3):
            for known in combinations(range(6), leaked):
                left = theory.allowed(fits, np.array(known, dtype=np.int64))
                unknown = [i for i in range(6) if i not in known]
                assert all(left[i] >= fits[:, i].sum() - leaked for i in unknown)


def test_leaks_are_counted_in_a_release_and_lemma_4_3_holds_for_equal_classes():
    rng = np.random.default_rng(5)
    table = gv.Table.from_columns(
        {f"c{k}": rng.integers(0, 3, 24).tolist() for k in range(4)}, person="row"
    )
    release = gv.ClusterK(k=4).anonymize(table, seed=1)
    for leaked, known in ((0, "exact"), (1, "exact"), (2, "sampled")):
        rows = theory.after_leaks(release, table, leaked, draws=100, seed=1)
        assert known == rows["records after leaks", "fewest"].known
        assert rows["records after leaks", "before: fewest"].value >= 4
        assert rows["records after leaks", "fewest"].value >= 4 - leaked
        assert leaked == rows[2].setting.known
    assert [1, 24] == [
        theory.after_leaks(release, table, leaked, draws=24)[2].sample_size for leaked in (0, 1)
    ]


def test_what_has_no_answer_is_refused():
    with pytest.raises(ParameterError, match=r"share=1\.0"):
        theory.epsilon_to_keep(CALLS, 1.0)
    with pytest.raises(InfeasibleError, match="0 of 3 cells"):
        theory.epsilon_to_keep(gv.Graph.from_edges([], [], n=3))
    with pytest.raises(InfeasibleError, match="3 of 3 cells"):
        theory.least_epsilon(gv.Graph.from_edges([0, 1, 2], [1, 2, 0]))
    table = gv.Table.from_columns({"age": [1, 2]}, person="row")
    release = gv.ClusterK(k=2).anonymize(table)
    with pytest.raises(ParameterError, match="leaked=2"):
        theory.after_leaks(release, table, 2)


def test_the_command_prints_what_the_functions_say(tmp_path, capsys):
    assert 0 == run(["advise", str(gv.datasets.path_of("copenhagen-calls")), "--theory", "--json"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["value"] for row in rows] == [row.value for row in theory.of(CALLS)]
    assert 18 == len(rows)
    (tmp_path / "people.csv").write_text("age,town\n1,a\n1,b\n2,c\n2,c\n")
    given = ["--kind", "table", "--person", "row", "--theory"]
    assert 0 == run(["advise", str(tmp_path / "people.csv"), *given])
    assert "fewest hidden cells at level 2" in capsys.readouterr().out
    assert 2 == run(["advise", str(tmp_path / "people.csv"), *given, "--until", "kept >= 0.9"])


def test_levels_rise_with_the_logarithm_of_the_degree():
    degrees = CALLS.degrees()
    levels = gv.levels_by_degree(CALLS, 10)
    largest = max(math.floor(math.log(one)) for one in degrees.tolist() if one)
    for degree, level in zip(degrees.tolist(), levels.tolist(), strict=True):
        assert max(10 - (largest - math.floor(math.log(max(degree, 1)))), 1) == level
    assert 10 == levels.max()
    assert 1 == gv.levels_by_degree(CALLS, 1).max()
    for wrong in (0, 537, 2.5, True):
        with pytest.raises(ParameterError, match="level="):
            gv.levels_by_degree(CALLS, wrong)
