from __future__ import annotations

import functools
import itertools
import json
import math
import shutil
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import graphveil as gv
from forged.claims import forged_claims
from graphveil.claims.conditions import ExactSize, RandomizedCells
from graphveil.claims.guarantees import EdgeDP, NotClaimed
from graphveil.claims.manifest import decode_manifest, encode
from graphveil.core.errors import GraphveilWarning, ParameterError
from graphveil.core.randomness import Randomness
from graphveil.data.kinds import kind_of
from graphveil.methods.noise import laws as laplace
from graphveil.methods.noise.cells import Channel, cells_of, flipped, number_of_cells
from graphveil.methods.noise.laws import words_from
from graphveil.methods.noisy_cells.noisy import noisy_count, resized
from graphveil.verify.promises.noise.cell_flips import CHANCES, SIZE, THRESHOLDS

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FULL = 2**64


def seeded(seed=0):
    return words_from(Randomness(seed=seed), "test")


def graph_of(cells, n):
    pairs = np.array(list(itertools.combinations(range(n), 2)), dtype=np.int64).reshape(-1, 2)
    chosen = pairs[np.array(list(cells), dtype=np.int64)]
    return gv.Graph.from_edges(chosen[:, 0], chosen[:, 1], n=n)


def users_of(rows):
    return gv.Bipartite.from_scipy(np.array(rows, dtype=np.int8), items="things")


def random_graph(n, m, seed=1):
    rng = np.random.Generator(np.random.PCG64(seed))
    chosen = rng.choice(n * (n - 1) // 2, size=m, replace=False)
    u, v = (ends[chosen] for ends in np.triu_indices(n, 1))
    return gv.Graph.from_edges(u, v, n=n)


def condition(release, kind):
    return next(c for c in release.conditions if isinstance(c, kind))


@pytest.mark.parametrize("epsilon", [0.0001, 0.1, 0.7, 1.1, 2.0, 40.0])
@pytest.mark.parametrize("asked", [None, 0.00003])
def test_the_parts_of_epsilon_are_fractions_that_sum_to_the_printed_number(epsilon, asked):
    method = gv.AsymmetricResponse(epsilon=epsilon, epsilon_count=asked)
    assert Fraction(repr(epsilon)) == method.epsilon_cells + sum(method.parts.values())
    expected = min(Fraction(repr(epsilon)) / 20, Fraction(1, 10))
    assert (expected if asked is None else Fraction("0.00003")) == method.parts["epsilon_count"]


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 41.0, float("nan"), float("inf"), 0.00001])
def test_an_epsilon_out_of_range_is_one_line_with_the_way_out(epsilon):
    with pytest.raises(
        ParameterError, match=r"epsilon=.*(Choose a value between|is not a finite number)"
    ) as caught:
        gv.AsymmetricResponse(epsilon=epsilon)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", [1.0, 2.0])
def test_a_count_that_leaves_nothing_for_the_cells_is_refused(part):
    with pytest.raises(ParameterError, match=r"epsilon=1\.0 leaves nothing.*epsilon_count"):
        gv.AsymmetricResponse(epsilon=1.0, epsilon_count=part)


@pytest.mark.parametrize(
    "data",
    [
        graph_of([], 1),
        graph_of([], 2),
        graph_of([0], 2),
        graph_of([], 3),
        graph_of([], 30),
        graph_of(range(435), 30),
        gv.Bipartite.from_pairs([], [], users=["ann", "bob"]),
        users_of([[1]]),
        users_of([[0, 0, 0]] * 9),
        gv.Bipartite.from_pairs(["ann"], ["tea"], users=["ann", "bob"], features=["rye", "tea"]),
    ],
    ids=[
        *("one node", "two apart", "two tied", "three", "no edges", "complete"),
        *("no items", "one entry", "no entries", "an item nobody has"),
    ],
)
@pytest.mark.parametrize(("epsilon", "exact"), [(0.0001, False), (40.0, True)])
def test_the_smallest_and_fullest_data_give_releases_that_verify(data, epsilon, exact):
    method = gv.AsymmetricResponse(epsilon=epsilon, exact_size=exact)
    release = method.anonymize(data)
    assert data.size == release.data.size
    assert EdgeDP(epsilon=epsilon, collected=kind_of(data).lists) == release.guarantee
    flips = condition(release, RandomizedCells)
    if number_of_cells(data) > 1:
        assert 0 < int(flips.noisy_count) < number_of_cells(data)
    if exact:
        after = release.data.n_edges if isinstance(data, gv.Graph) else release.data.n_entries
        assert str(after) == condition(release, ExactSize).size
    assert [] == release.verify(data).failures()


def edit_distance(n, m, epsilon):
    """Return the formula: of m edges a share of e^eps/(K + e^eps) survives, K = N/m - 1."""
    k = n * (n - 1) / 2 / m - 1
    return m * (1 - math.exp(epsilon) / (k + math.exp(epsilon)))


@pytest.mark.parametrize(("n", "m"), [(105, 441), (1224, 16715), (6474, 12572), (7115, 100762)])
def test_edit_distances_at_the_true_count_are_those_of_the_formula(n, m):
    """Sizes of polbooks, polblogs, as20graph and wiki-Vote; missing plus added edges, halved."""
    n_cells, ones = n * (n - 1) // 2, np.arange(m, dtype=np.int64)
    for epsilon in (2.0, round(math.log(n), 2), 8.0, 16.0):
        method = gv.AsymmetricResponse(epsilon=round(epsilon + 0.1, 2), epsilon_count=0.1)
        flips = method.flips(n_cells, m)
        p0, p1 = int(flips.T0) / FULL, int(flips.T1) / FULL
        cells, kept = flipped(seeded(3), ones, n_cells, Channel(int(flips.T0), int(flips.T1)))
        distance = (m - kept + cells.size - kept) / 2
        error = math.sqrt(m * p1 * (1 - p1) + (n_cells - m) * p0 * (1 - p0)) / 2
        assert abs(distance - edit_distance(n, m, epsilon)) <= 4 * error + 0.01


def test_noise_of_a_count_has_the_scale_of_its_part_and_stays_in_range(monkeypatch):
    monkeypatch.setattr(laplace, "geometric_law", functools.cache(laplace.geometric_law))
    words, part = seeded(5), Fraction(1, 2)
    noisy = np.array([noisy_count(words, 500, 1000, part) for _ in range(400)])
    edges = np.array([495.5, 497.5, 499.5, 500.5, 502.5, 504.5])
    expected = np.diff([0, *stats.dlaplace(0.5, loc=500).cdf(edges), 1]) * 400
    seen = np.histogram(noisy, [-np.inf, *edges, np.inf])[0]
    assert stats.chisquare(seen, expected).pvalue > 1e-6
    ends = {noisy_count(words, ones, 10, part) for ones in (0, 9) for _ in range(60)}
    assert (1, 9) == (min(ends), max(ends))


def test_a_resized_set_is_any_of_its_size_and_keeps_what_it_can():
    cells = np.array([0, 3, 4])
    smaller = [tuple(resized(seeded(s), cells, 6, 2).tolist()) for s in range(600)]
    larger = [tuple(resized(seeded(s), cells, 6, 5).tolist()) for s in range(600)]
    for drawn, expected in (
        (smaller, list(itertools.combinations([0, 3, 4], 2))),
        (larger, [tuple(sorted([0, 3, 4, *two])) for two in itertools.combinations([1, 2, 5], 2)]),
    ):
        assert set(expected) == set(drawn)
        assert stats.chisquare([drawn.count(one) for one in expected]).pvalue > 1e-6


def test_a_measured_epsilon_does_not_exceed_the_claim(monkeypatch):
    """Events of the noisy count, of the edge, and of both, with and without an edge."""
    monkeypatch.setattr(laplace, "geometric_law", functools.cache(laplace.geometric_law))
    method, runs = gv.AsymmetricResponse(epsilon=1.0, epsilon_count=0.5), 500

    def events(graph):
        seen = np.zeros(4)
        for _ in range(runs):
            draft = method.draft(graph, Randomness())
            edge = 1 in draft.data.neighbors(0)
            high = draft.conditions[0].noisy_count == "2"
            seen += [edge, high, edge and high, not edge and not high]
        return seen

    ones, zeros = events(graph_of([0], 3)), events(graph_of([], 3))
    for hits, others in zip([*ones, *(runs - zeros)], [*zeros, *(runs - ones)], strict=True):
        low = stats.beta.ppf(1e-6, hits, runs - hits + 1) if hits else 0.0
        high = stats.beta.isf(1e-6, others + 1, runs - others) if others < runs else 1.0
        assert low <= math.e * high
    assert ones[2] > 1.5 * zeros[2]


FROM_THE_NOISY_COUNT = "false ones hide them too little"
"""The one warning that reads more than the size: the noisy count, which is published."""


def test_warnings_and_errors_are_the_same_for_all_data_of_one_size():
    method = gv.AsymmetricResponse(epsilon=1.0)
    texts = set()
    for cells in ([], range(40), range(780)):
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            method.anonymize(graph_of(cells, 40))
        ours = [str(w.message) for w in raised if issubclass(w.category, GraphveilWarning)]
        texts.add(tuple(text for text in ours if FROM_THE_NOISY_COUNT not in text))
    assert 1 == len(texts)


def test_the_folder_holds_the_noisy_count_and_no_other_figure_of_the_input(tmp_path):
    graph = random_graph(300, 3571)
    folder = gv.AsymmetricResponse(epsilon=1.0).anonymize(graph).write(tmp_path / "out")
    manifest = json.loads((folder / "release.json").read_text())
    (flips,) = manifest["claim"]["conditions"]
    assert {"type", "cells", "epsilon_cells", "T0", "T1", "noisy_count"} == set(flips)
    assert {"nodes": 300, "edges": gv.read_release(folder).data.n_edges} == manifest["data"][
        "counts"
    ]
    assert {"epsilon", "epsilon_count", "exact_size"} == set(manifest["method"]["parameters"])


def test_a_run_with_a_seed_claims_nothing():
    release = gv.AsymmetricResponse(epsilon=1.5).anonymize(graph_of([1], 5), seed=0)
    assert NotClaimed(reasons=("repeatable",)) == release.guarantee


@pytest.fixture
def reseal():
    """Return a function that changes the first condition as a careful hand does."""

    def change(folder, **stated):
        path = folder / "release.json"
        manifest = json.loads(path.read_text())
        conditions = manifest["claim"]["conditions"]
        for name, value in stated.items():
            owner = next(c for c in conditions if name in c)
            owner[name] = value(owner[name]) if callable(value) else value
        path.write_bytes(
            encode(decode_manifest(json.dumps(manifest).encode(), where=path).sealed())
        )
        return {check.name for check in gv.verify_release(folder).failures()}

    return change


def add(step):
    return lambda text: str(int(text) + step)


@pytest.mark.parametrize(
    "stated",
    [
        {"T0": add(2)},
        {"T1": add(-2)},
        {"noisy_count": add(1)},
        {"noisy_count": "0"},
        {"noisy_count": None},
        {"epsilon_cells": "2"},
        {"epsilon_cells": "199/100"},
    ],
    ids=" ".join,
)
def test_chances_counts_and_parts_that_do_not_fit_are_caught(stated, reseal, tmp_path):
    graph = random_graph(40, 90)
    folder = gv.AsymmetricResponse(epsilon=2.0).anonymize(graph).write(tmp_path / "out")
    assert THRESHOLDS in reseal(folder, **stated)


def test_a_part_of_epsilon_with_more_digits_is_caught_though_chances_are_the_same(reseal, tmp_path):
    graph = random_graph(40, 90)
    folder = gv.AsymmetricResponse(epsilon=2.0).anonymize(graph).write(tmp_path / "out")
    failed = reseal(folder, epsilon_cells=lambda text: str(Fraction(text) - Fraction(7, 10**30)))
    assert "method" in failed
    assert THRESHOLDS not in failed


@pytest.mark.parametrize("part", [0.05, 1.0])
def test_a_part_of_the_count_that_does_not_sum_with_the_cells_is_caught(part, reseal, tmp_path):
    method = gv.AsymmetricResponse(epsilon=2.0, epsilon_count=0.1)
    folder = method.anonymize(random_graph(40, 90)).write(tmp_path / "out")
    assert [] == gv.verify_release(folder).failures()
    path = folder / "release.json"
    path.write_text(path.read_text().replace('"epsilon_count": 0.1', f'"epsilon_count": {part}'))
    assert THRESHOLDS in reseal(folder)


@pytest.mark.parametrize(
    "stated",
    [{"size": add(1)}, {"noisy_count": add(1)}],
    ids=" ".join,
)
def test_an_exact_size_that_is_not_there_is_caught(stated, reseal, tmp_path):
    graph = random_graph(40, 90)
    method = gv.AsymmetricResponse(epsilon=2.0, exact_size=True)
    folder = method.anonymize(graph).write(tmp_path / "out")
    verdict = gv.verify_release(folder, original=graph)
    assert ([], ["holds"]) == (
        verdict.failures(),
        [check.outcome for check in verdict.checks if check.name == CHANCES],
    )
    assert SIZE in reseal(folder, **stated)


@pytest.mark.parametrize("exact", [False, True])
def test_a_release_with_less_noise_than_its_chances_is_caught(exact, reseal, tmp_path):
    graph = random_graph(60, 400)
    less = gv.AsymmetricResponse(epsilon=20.0, exact_size=exact)
    folder = less.anonymize(graph).write(tmp_path / "out")
    manifest = json.loads((folder / "release.json").read_text())
    count = int(manifest["claim"]["conditions"][0]["noisy_count"])
    honest = gv.AsymmetricResponse(epsilon=1.0).flips(1770, count)
    reseal(folder, epsilon_cells=honest.epsilon_cells, T0=honest.T0, T1=honest.T1)
    verdict = gv.verify_release(folder, original=graph)
    assert CHANCES in {check.name for check in verdict.failures()}


def test_conditions_in_another_order_are_noticed(tmp_path):
    method = gv.AsymmetricResponse(epsilon=2.0, exact_size=True)
    folder = method.anonymize(random_graph(40, 60)).write(tmp_path / "out")
    shutil.rmtree(tmp_path / "out.private")
    assert [] == gv.verify_release(folder).failures()
    forged = forged_claims(folder)["another order of conditions"]
    forged.forge(folder)
    assert ["method"] == [check.name for check in gv.verify_release(folder).failures()]


def test_counts_of_a_release_without_its_noise_have_the_mean_of_the_original():
    """What the how-to for receivers computes: (size - N p0) / (p1 - p0)."""
    graph = random_graph(200, 1500)
    ones, n_cells = cells_of(graph), number_of_cells(graph)
    flips = gv.AsymmetricResponse(epsilon=4.0).flips(n_cells, 1300)
    through = Channel(int(flips.T0), int(flips.T1))
    p0, p1 = through.zero / FULL, through.one / FULL
    words = seeded(8)
    sizes = np.array([flipped(words, ones, n_cells, through)[0].size for _ in range(60)])
    estimates = (sizes - n_cells * p0) / (p1 - p0)
    assert abs(estimates.mean() - 1500) < 5 * estimates.std() / math.sqrt(60)
