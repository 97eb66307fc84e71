from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import graphveil as gv
from graphveil.claims.conditions import BlockFlips
from graphveil.claims.facts import changes_between
from graphveil.claims.guarantees import EdgeDP
from graphveil.claims.manifest import decode_manifest, encode
from graphveil.core.errors import ParameterError
from graphveil.core.randomness import Randomness
from graphveil.methods.noise.cells import (
    Channel,
    background,
    block_chances,
    block_sizes,
    cells_of,
    flipped_in_blocks,
)
from graphveil.methods.noise.laws import words_from
from graphveil.methods.noisy_cells import noisy_statistics
from graphveil.methods.noisy_cells.degree_estimation import ROUNDS, expected_degrees
from graphveil.methods.noisy_cells.prior_model import (
    GROUPS,
    classes_of,
    configuration,
    groups_of,
    mixing_factors,
    priors_of,
    stated_prior,
    sums_between,
)
from graphveil.verify import verify
from graphveil.verify.promises.noise.block_flips import PARTS, WEIGHTS, _exchanges
from graphveil.verify.promises.noise.cell_flips import CELLS, CHANCES
from graphveil.verify.recount.noise.edge_exchanges import edge_exchanges
from graphveil.verify.recount.noise.flip_probabilities import blocks_of, keeps_its_claim

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FULL = 2**64
METHODS = [gv.DegreePriorResponse, gv.MixingPriorResponse]


def seeded(seed=0):
    return words_from(Randomness(seed=seed), "test")


def scripted(*values):
    source = iter(values)
    return lambda count: np.array(list(itertools.islice(source, count)), dtype=np.uint64)


def random_graph(n, m, seed=1):
    rng = np.random.Generator(np.random.PCG64(seed))
    chosen = rng.choice(n * (n - 1) // 2, size=m, replace=False)
    u, v = (ends[chosen] for ends in np.triu_indices(n, 1))
    return gv.Graph.from_edges(u, v, n=n)


def hub(n):
    """Return a graph with one node that all others are tied to, and a path among the others."""
    path = np.arange(1, n - 1)
    source = np.concatenate([np.zeros(n - 1, dtype=np.int64), path])
    return gv.Graph.from_edges(source, np.concatenate([np.arange(1, n), path + 1]), n=n)


def slow_degrees(noisy, epsilon, total):
    """Return what `expected_degrees` does, from the full matrix of likelihoods."""
    n = len(noisy)
    values = np.clip(noisy, 0, n - 1)
    degrees = np.arange(values.max() + 1)
    likelihood = np.exp(-float(epsilon) * abs(values[:, None] - degrees[None, :]))
    share = np.full(degrees.size, 1 / degrees.size)
    for _ in range(ROUNDS):
        posterior = likelihood * share
        share = (posterior / posterior.sum(axis=1, keepdims=True)).mean(axis=0)
    posterior = likelihood * share
    means = np.maximum(posterior @ degrees / posterior.sum(axis=1), 1e-3)
    return np.clip(means * 2 * total / means.sum(), 1e-3, n - 1)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(-30, 60), min_size=3, max_size=30), st.sampled_from(["1/9", "1", "5"]))
def test_expected_degrees_are_those_of_the_full_matrix(noisy, epsilon):
    values, e = np.array(noisy), Fraction(epsilon)
    expected = slow_degrees(values, e, 40)
    assert np.allclose(expected, expected_degrees(values, e, 40), rtol=1e-6, atol=1e-9)


def test_the_configuration_gives_every_class_its_degree():
    degrees = np.concatenate([np.full(60, 2.0), np.full(20, 9.0), [30.0, 41.5]])
    classes = classes_of(degrees, 50)
    odds = np.outer(*[configuration(classes)] * 2)
    prior = odds / (1 + odds)
    assert [60, 20, 1, 1] == classes.sizes.tolist()
    expected = prior @ classes.sizes - np.diag(prior)
    assert np.allclose(classes.degrees, expected, rtol=1e-3)


def test_classes_and_groups_are_few_and_in_order_of_degree():
    degrees = np.sort(np.random.Generator(np.random.PCG64(3)).pareto(1.2, 5000) + 0.001)
    classes = classes_of(degrees, 200)
    groups = groups_of(classes)
    assert 100 < classes.sizes.size <= 200
    assert np.all(np.diff(classes.of_node) >= 0)
    assert np.all(np.diff(classes.degrees) > 0)
    assert groups.max() < GROUPS
    assert set(np.diff(groups)) <= {0, 1}


def test_factors_bring_the_expected_counts_to_the_noisy_ones():
    classes = classes_of(np.repeat([2.0, 9.0, 30.0], [400, 160, 50]), 9)
    groups = groups_of(classes)
    size = int(groups.max()) + 1
    wanted = np.arange(1.0, 1 + size * size).reshape(size, size) * 20
    wanted = wanted + wanted.T
    total = int(np.triu(wanted).sum())
    weights = configuration(classes)
    factors = mixing_factors(classes, weights, groups, wanted, scale=1e-6, total=total)
    odds = np.outer(weights, weights)
    prior = np.minimum(odds / (1 + odds) * factors[np.ix_(groups, groups)], 0.999)
    cells = np.zeros((classes.sizes.size,) * 2)
    cells[np.triu_indices(cells.shape[0])] = block_sizes(classes.sizes)
    expected = sums_between(np.triu(cells * prior), groups)
    assert np.allclose(wanted, expected, rtol=0.02)


@pytest.mark.parametrize("classes", [[0, 0, 1, 1], [1, 0, 1, 1], [0, 1, 2, 0]])
def test_cells_of_blocks_are_independent_with_their_chances_by_chi_square(classes):
    """Chances of one pool and of several; the release of edges and others over all 64 outcomes."""
    labels = np.array(classes)
    k = int(labels.max()) + 1
    zeros = [FULL // 3, FULL // 4, FULL // 5, FULL // 2, FULL // 3 * 2, FULL // 9]
    pairs = [Channel(zeros[i], FULL - zeros[i] // 2) for i in range(k * (k + 1) // 2)]
    chances = block_chances(pairs, k)
    graph = gv.Graph.from_edges([0, 1], [1, 3], n=4)
    order = cells_of(gv.Graph.from_edges(*np.triu_indices(4, 1), n=4))
    ends = {int(c): e for c, e in zip(order, gv_ends(order, 4), strict=True)}
    law = {}
    for out in itertools.product([0, 1], repeat=6):
        weight = 1.0
        for cell, published in zip(range(6), out, strict=True):
            u, v = ends[cell]
            matrix = chances.one if v in graph.neighbors(u) else chances.zero
            chance = float(matrix[labels[u], labels[v]]) / FULL
            weight *= chance if published else 1 - chance
        law[out] = weight
    runs, words = 1200, seeded(len(classes) + k)
    seen = Counter()
    for _ in range(runs):
        cells, kept = flipped_in_blocks(words, graph, labels, chances)
        assert kept == len(set(cells.tolist()) & set(cells_of(graph).tolist()))
        seen[tuple(int(c in cells) for c in range(6))] += 1
    common = [out for out in law if law[out] * runs >= 5]
    rare = runs - sum(seen[out] for out in common)
    expected = [law[out] * runs for out in common]
    counts = [seen[out] for out in common]
    if len(common) < len(law):
        expected, counts = [*expected, runs - sum(expected)], [*counts, rare]
    assert stats.chisquare(counts, expected).pvalue > 1e-6


def gv_ends(cells, n):
    from graphveil.methods.noise.cells import ends_of  # noqa: PLC0415  for this one test

    return np.sort(ends_of(cells, n), axis=1).tolist()


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_every_cell_belongs_to_one_block(classes):
    """Chances next to 1 publish every cell once; chances next to 0 none."""
    labels = np.unique(np.array(classes), return_inverse=True)[1]
    k, n = int(labels.max()) + 1, labels.size
    for chance, expected in ((FULL - 1, list(range(n * (n - 1) // 2))), (1, [])):
        chances = block_chances([Channel(chance, chance)] * (k * (k + 1) // 2), k)
        assert expected == background(seeded(n), labels, chances.zero).tolist()


def test_a_pool_keeps_a_cell_exactly_below_its_threshold():
    """One cell, T = 5 in the pool of 8: it is tried with 8/2^64 and kept with 5/8."""
    chances = block_chances([Channel(5, 5)], 1)
    for top, expected in ((4, [0]), (5, [])):
        words = scripted(FULL - 1, top << 61)
        drawn = background(words, np.zeros(2, dtype=np.int64), chances.zero)
        assert expected == drawn.tolist()


@st.composite
def block_flips(draw):
    k = draw(st.integers(1, 5))
    groups = sorted(draw(st.lists(st.integers(0, 2), min_size=k, max_size=k)))
    groups = np.unique(groups, return_inverse=True)[1]
    size = int(groups.max()) + 1
    sizes = draw(st.lists(st.integers(1, 9), min_size=k, max_size=k))
    numbers = st.builds(
        lambda digits, zeros: str(digits * 10**zeros), st.integers(0, 999), st.integers(0, 25)
    )
    with_factors = draw(st.booleans())
    count = size * (size + 1) // 2
    return BlockFlips(
        cells="9",
        epsilon_cells=str(draw(st.fractions(Fraction(1, 1000), 40, max_denominator=1000))),
        noisy_count="3",
        sizes=tuple(sizes),
        weights=tuple(draw(st.lists(numbers, min_size=k, max_size=k))),
        groups=tuple(groups.tolist()) if with_factors else (),
        factors=tuple(draw(st.lists(numbers, min_size=count, max_size=count)))
        if with_factors
        else (),
    )


@settings(deadline=None, max_examples=40)
@given(block_flips())
def test_the_checkers_blocks_are_those_of_the_method_and_keep_their_epsilon(flips):
    method = gv.DegreePriorResponse(epsilon=1.0)
    epsilon = Fraction(flips.epsilon_cells)
    checked = list(blocks_of(flips))
    assert [(b.zero, b.one) for b in checked] == [tuple(c) for c in method.channels(flips)]
    assert block_sizes(np.array(flips.sizes)).tolist() == [b.cells for b in checked]
    assert all(keeps_its_claim(b.zero, b.one, epsilon) for b in checked)
    assert all(1 <= b.zero <= b.one < FULL for b in checked)


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 8.0])
def test_a_prior_is_kept_on_average(epsilon):
    """pi p1 + (1 - pi) p0 = pi: as many are published as the prior expects."""
    classes = classes_of(np.repeat([2.0, 9.0, 30.0], [200, 60, 10]), 9)
    budget = {"cells": "36315", "epsilon_cells": "1", "noisy_count": "500"}
    flips = stated_prior(budget, classes, configuration(classes))
    method = gv.DegreePriorResponse(epsilon=epsilon)
    for prior, through in zip(priors_of(flips), method.channels(flips), strict=True):
        pi = prior / FULL
        assert pi == pytest.approx((pi * through.one + (1 - pi) * through.zero) / FULL, abs=1e-12)


@pytest.fixture
def released(monkeypatch):
    """Return a function that makes noise such that given counts are released, whatever is true."""

    def release(method, graph, count, degrees, mixing=7):
        def noise(_, __, size):
            if size == graph.n_nodes:
                return degrees - graph.degrees()
            return np.full(size, mixing) - counted(size)

        def counted(size):
            return np.array(truth.pop()) if truth else np.zeros(size, dtype=np.int64)

        truth = []
        monkeypatch.setattr(noisy_statistics, "noisy_count", lambda *_: count)
        monkeypatch.setattr(noisy_statistics, "discrete_laplace", noise)
        if isinstance(method, gv.MixingPriorResponse):
            bincount = np.bincount

            def recorded(values, **how):
                counts = bincount(values, **how)
                side = math.isqrt(counts.size)
                if how.get("minlength") == counts.size and side * side == counts.size:
                    truth.append(counts.reshape(side, side)[np.triu_indices(side)])
                return counts

            monkeypatch.setattr(noisy_statistics.np, "bincount", recorded)
        try:
            return method._prior(graph, Randomness(seed=0))
        finally:
            monkeypatch.undo()

    return release


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_neighbors_with_the_same_released_counts_have_the_same_chances(method, seed, released):
    """So the only thing that tells them apart is the noise of the counts, and the one cell."""
    rng = np.random.Generator(np.random.PCG64(seed))
    n = 30
    graph = random_graph(n, 60, seed=seed)
    ends = graph.edges()
    near = gv.Graph.from_edges(ends[1:, 0], ends[1:, 1], n=n)
    degrees = rng.integers(-3, 12, size=n)
    (one, first), (other, second) = (
        released(method(epsilon=2.0), g, 58, degrees) for g in (graph, near)
    )
    assert one == other
    assert first.tolist() == second.tolist()
    for block in blocks_of(one):
        assert keeps_its_claim(block.zero, block.one, Fraction(one.epsilon_cells))


@pytest.mark.parametrize("method", METHODS)
def test_noise_has_the_part_that_is_its_own(method, monkeypatch):
    """An edge changes two degrees, one count between groups and the number of edges by one."""
    made = []

    def noise(_, epsilon, size):
        made.append((epsilon, size))
        return np.zeros(size, dtype=np.int64)

    chosen = method(epsilon=2.0)
    monkeypatch.setattr("graphveil.methods.noisy_cells.noisy.discrete_laplace", noise)
    monkeypatch.setattr(noisy_statistics, "discrete_laplace", noise)
    flips, _ = chosen._prior(random_graph(40, 90), Randomness(seed=0))
    parts = chosen.parts
    expected = [(parts["epsilon_count"], 1), (parts["epsilon_degrees"] / 2, 40)]
    if "epsilon_mixing" in parts:
        expected.append((parts["epsilon_mixing"], len(flips.factors)))
    assert expected == made
    assert Fraction(2) == Fraction(flips.epsilon_cells) + sum(parts.values())


@pytest.mark.parametrize(
    ("method", "parts"),
    [
        (METHODS[0], {"epsilon_count": "1/25", "epsilon_degrees": "7/10"}),
        (METHODS[1], {"epsilon_count": "1/25", "epsilon_degrees": "3/5", "epsilon_mixing": "1/5"}),
    ],
)
def test_the_parts_are_those_of_the_specification(method, parts):
    assert {name: Fraction(text) for name, text in parts.items()} == method(epsilon=2.0).parts
    largest = {"epsilon_count": "1/10", "epsilon_degrees": "7/10", "epsilon_mixing": "3/10"}
    expected = {name: Fraction(largest[name]) for name in parts}
    assert expected == method(epsilon=16.0).parts
    with pytest.raises(ParameterError, match="leaves nothing"):
        method(epsilon=1.0, epsilon_degrees=1.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "graph",
    [
        *(gv.Graph.from_edges([], [], n=n) for n in (1, 2, 3, 30)),
        gv.Graph.from_edges(*np.triu_indices(20, 1), n=20),
        hub(40),
    ],
    ids=["one node", "two nodes", "three nodes", "no edges", "complete", "hub"],
)
def test_the_smallest_and_fullest_graphs_give_releases_that_verify(method, graph):
    for epsilon in (0.0001, 40.0):
        release = method(epsilon=epsilon).anonymize(graph)
        assert EdgeDP(epsilon=epsilon, collected=("people",)) == release.guarantee
        assert graph.n_nodes == release.data.n_nodes
    verdict = release.verify(graph)
    left = {check.name for check in verdict.checks if check.outcome == "not checked"}
    assert [] == verdict.failures()
    assert {WEIGHTS} <= left <= {WEIGHTS, CHANCES}


@pytest.mark.parametrize("method", METHODS)
def test_degrees_are_kept_where_hardly_any_edge_is(method):
    graph = hub(900)
    draft = method(epsilon=3.0).draft(graph, Randomness(seed=2))
    assert changes_between(graph, draft.data).kept < 0.95 * graph.n_edges
    hubs = np.sort(draft.data.degrees())[-2:]
    assert 850 < hubs[1] <= 899
    assert hubs[0] < 60
    plain = gv.AsymmetricResponse(epsilon=3.0).draft(graph, Randomness(seed=2))
    assert plain.data.degrees().max() < 200


def changed(folder, parameters=(), **stated):
    path = folder / "release.json"
    manifest = json.loads(path.read_text())
    manifest["claim"]["conditions"][0] |= stated
    manifest["method"]["parameters"] |= dict(parameters)
    raw = json.dumps(manifest).encode()
    path.write_bytes(encode(decode_manifest(raw, where=path).sealed()))


@pytest.mark.parametrize(
    ("stated", "check"),
    [
        ({"epsilon_cells": "3"}, PARTS),
        ({"noisy_count": "0"}, PARTS),
        ({"noisy_count": "780"}, PARTS),
        ({"noisy_count": None}, PARTS),
        ({"cells": "9"}, CELLS),
        ({"sizes": [39], "weights": ["1"]}, CELLS),
    ],
    ids=str,
)
def test_statements_that_do_not_fit_are_caught(stated, check, tmp_path):
    graph = random_graph(40, 90)
    folder = gv.DegreePriorResponse(epsilon=3.0).anonymize(graph).write(tmp_path / "out")
    changed(folder, **stated)
    assert check in {item.name for item in gv.verify_release(folder).failures()}


def test_edges_of_nodes_that_are_not_listed_are_exchanged_with_none():
    ends = np.array([[0, 1], [2, 3], [4, 9], [5, 8]])
    tables = SimpleNamespace(pairs=lambda *_: ends, number=lambda _: 5)
    for of_itself in (False, True):
        found = _exchanges(SimpleNamespace(tables=tables), of_itself=of_itself)
        assert edge_exchanges(ends[:2], ends[:2], 5) == found


@pytest.mark.parametrize(
    ("parameters", "fits"),
    [
        ({}, True),
        ({"epsilon_count": 0.04}, True),  # the other part has its default, which nobody states
        ({"epsilon_count": 0.04, "epsilon_degrees": 0.7}, True),
        ({"epsilon_count": 0.04, "epsilon_degrees": 0.6}, False),
        ({"epsilon_count": 0.7, "epsilon_degrees": 0.7}, False),
        ({"epsilon_degrees": 1.9}, False),
        ({"epsilon_degrees": 0.74}, False),  # which leaves nothing for the count
        ({"epsilon_degrees": -0.1}, False),
        ({"epsilon_degrees": 0}, False),
        ({"epsilon_degrees": "0.1"}, False),
        ({"epsilon_degrees": True}, False),
    ],
    ids=str,
)
def test_the_parts_of_epsilon_that_are_stated_sum_to_the_claim(parameters, fits, tmp_path):
    folder = gv.DegreePriorResponse(epsilon=2.0).anonymize(hub(40)).write(tmp_path / "out")
    changed(folder, parameters)
    failures = {item.name for item in verify(folder).failures()} - {"owner's record"}
    assert (set() if fits else {PARTS}) == failures


def test_what_no_file_shows_of_weights_is_not_said_to_be_checked():
    release = gv.DegreePriorResponse(epsilon=2.0).anonymize(hub(40))
    outcomes = {check.name: check.outcome for check in release.verify().checks}
    assert ("holds", "not checked") == (outcomes[PARTS], outcomes[WEIGHTS])
    lines = release.verify().lines()
    assert [] == [line for line in lines if "thresholds" in line]


def test_a_release_with_less_noise_than_stated_is_caught(tmp_path):
    graph = random_graph(60, 400)
    folder = gv.DegreePriorResponse(epsilon=30.0).anonymize(graph).write(tmp_path / "out")
    changed(folder, epsilon_cells="1/2")
    failures = {item.name for item in gv.verify_release(folder, original=graph).failures()}
    assert CHANCES in failures


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": (4, 4)},
        {"weights": ("x",)},
        {"groups": (1,)},
        {"weights": ("1234",)},
        {"weights": ("1" + "0" * 28,)},
        {"factors": ("1",)},
        {"sizes": (0,)},
    ],
    ids=str,
)
def test_numbers_that_do_not_belong_together_are_no_condition(wrong):
    honest = {"cells": "6", "epsilon_cells": "1", "noisy_count": "3"}
    with pytest.raises(ParameterError):
        BlockFlips(**(honest | {"sizes": (4,), "weights": ("1",)} | wrong))
