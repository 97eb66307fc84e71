from __future__ import annotations

import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil.claims.conditions import TopMThresholds
from graphveil.claims.guarantees import EdgeDP, NotClaimed
from graphveil.claims.manifest import decode_manifest, encode
from graphveil.cli.app import call
from graphveil.core.errors import GraphveilWarning, InfeasibleError, ParameterError
from graphveil.core.randomness import Randomness
from graphveil.methods.noise.cells import channel, flipped
from graphveil.methods.noise.laws import words_from
from graphveil.methods.noisy_cells.top_m_filter import filled, thresholds_of
from graphveil.verify.promises.noise.cell_flips import CHANCES, THRESHOLDS
from graphveil.verify.recount.noise.flip_probabilities import filter_thresholds, keeps_its_claim

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FULL = 2**64


def random_graph(n, m, seed=1):
    rng = np.random.Generator(np.random.PCG64(seed))
    chosen = rng.choice(n * (n - 1) // 2, size=m, replace=False)
    u, v = (ends[chosen] for ends in np.triu_indices(n, 1))
    return gv.Graph.from_edges(u, v, n=n)


CASES = st.tuples(
    st.integers(6, 10**9),
    st.floats(1e-6, 0.499),
    st.fractions(Fraction(1, 1000), 39, max_denominator=1000),
)


@given(CASES)
def test_as_many_cells_are_above_the_threshold_as_the_count_says(case):
    """n1(theta) + n0(theta) = m, in both forms of the threshold, up to rounding of chances."""
    n_cells, share, epsilon = case
    count = max(1, min(int(share * n_cells), n_cells // 2 - 1))
    through = thresholds_of(n_cells, count, epsilon)
    expected = (count * through.one + (n_cells - count) * through.zero) / FULL
    rounding = n_cells * (1 + float(epsilon)) / FULL + count * 2 * math.exp(float(epsilon)) / FULL
    above = float(epsilon) > math.log(n_cells / count - 1)
    if above:
        e, odds = float(epsilon), n_cells / count - 1
        root = math.sqrt(odds / math.exp(e)) if e < 700 else 0
        law = count * (1 - root / 2) + (n_cells - count) * root / odds / 2
        assert expected == pytest.approx(law, rel=1e-9, abs=rounding)
        assert law == pytest.approx(count, rel=1e-9)
    else:
        assert expected == pytest.approx(count, rel=1e-9, abs=rounding)


@given(CASES)
def test_the_checkers_thresholds_are_those_of_the_filter_and_keep_their_epsilon(case):
    n_cells, share, epsilon = case
    count = max(1, min(int(share * n_cells), n_cells // 2 - 1))
    through = thresholds_of(n_cells, count, epsilon)
    expected = filter_thresholds(n_cells, count, epsilon)
    assert abs(through.zero - expected[0]) <= 1
    assert abs(through.one - expected[1]) <= 1 + math.exp(min(float(epsilon), 40))
    assert keeps_its_claim(through.zero, through.one, epsilon)


@pytest.mark.parametrize("beyond", ["1/10000000000000000", "1/18446744073709551616"])
@pytest.mark.parametrize(("n_cells", "count"), [(6, 2), (100, 10), (10**9, 3), (190, 94)])
def test_for_the_tiniest_parts_of_epsilon_no_chance_is_below_the_other(n_cells, count, beyond):
    through = thresholds_of(n_cells, count, Fraction(beyond))
    expected = filter_thresholds(n_cells, count, Fraction(beyond))
    assert 0 <= through.one - through.zero <= 1 + FULL * Fraction(beyond)
    assert max(abs(through.zero - expected[0]), abs(through.one - expected[1])) <= 1
    assert keeps_its_claim(through.zero, through.one, Fraction(beyond))


def test_the_least_that_a_count_can_leave_to_the_cells_is_drawn_and_verified():
    graph = random_graph(20, 60)
    release = gv.TopMFilter(epsilon=0.50001).anonymize(graph)
    assert [] == release.verify(graph).failures()


def test_up_to_x_the_filter_is_asymmetric_response_and_above_it_keeps_less():
    n_cells, count = 10_000, 100
    for epsilon in (Fraction(1), Fraction(4)):
        filtered, other = (
            thresholds_of(n_cells, count, epsilon),
            channel(Fraction(count, n_cells), epsilon),
        )
        assert abs(filtered.one - other.one) <= 4 * math.exp(4)
    for epsilon in (Fraction(6), Fraction(12)):
        other = channel(Fraction(count, n_cells), epsilon)
        assert thresholds_of(n_cells, count, epsilon).one < other.one


@pytest.mark.parametrize(("n", "m"), [(105, 441), (1224, 16715), (7115, 100762)])
def test_edit_distances_at_the_true_count_are_those_of_the_formula(n, m):
    n_cells, ones = n * (n - 1) // 2, np.arange(m, dtype=np.int64)
    k = n_cells / m - 1
    for epsilon in (2.0, math.log(n), 8.0, 16.0):
        through = thresholds_of(n_cells, m, Fraction(repr(epsilon)))
        if epsilon > math.log(k):
            expected = m * math.sqrt(k / math.exp(epsilon)) / 2
        else:
            expected = m * k / (k + math.exp(epsilon))
        words = words_from(Randomness(seed=4), "test")
        cells, kept = flipped(words, ones, n_cells, through)
        p0, p1 = through.zero / FULL, through.one / FULL
        error = math.sqrt(m * p1 * (1 - p1) + n_cells * p0 * (1 - p0)) / 2
        assert abs((m - kept + cells.size - kept) / 2 - expected) <= 4 * error + 0.01


def test_the_published_variant_has_the_noisy_size_or_more_and_fills_with_no_edge():
    words = words_from(Randomness(seed=1), "test")
    ones = np.array([0, 3, 4, 9])
    for size in (0, 2, 6, 20):
        cells = filled(words, ones, 20, FULL // 2, size)
        kept = np.intersect1d(cells, ones).size
        assert min(max(size, kept), kept + 16) == cells.size


def test_the_independent_variant_states_a_noisy_count_and_is_not_filled_up_to_it():
    """Cells that are drawn one by one are as many as the count in one of 25 releases or so."""
    graph = random_graph(60, 300)
    drafts = [gv.TopMFilter(epsilon=2.0).draft(graph, Randomness(seed=seed)) for seed in range(40)]
    counts = np.array([int(draft.conditions[0].noisy_count) for draft in drafts])
    sizes = np.array([draft.data.n_edges for draft in drafts])
    assert 1 < np.abs(counts - 300).mean() < 3, "noise of scale 2"
    assert np.count_nonzero(sizes == counts) < 10
    assert np.count_nonzero(sizes < counts) > 10
    assert abs(sizes.mean() - 300) < 4 * math.sqrt(300 / 40)


@pytest.mark.parametrize(
    ("variant", "seed", "expected"),
    [
        ("independent", None, EdgeDP(epsilon=2.0, collected=("people",))),
        ("independent", 1, NotClaimed(reasons=("repeatable",))),
        ("published", None, NotClaimed(reasons=("fixed-size",))),
        ("published", 1, NotClaimed(reasons=("repeatable", "fixed-size"))),
    ],
)
def test_the_published_variant_claims_nothing_and_warns(variant, seed, expected, tmp_path):
    graph = random_graph(60, 200)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        release = gv.TopMFilter(epsilon=2.0, variant=variant).anonymize(graph, seed=seed)
    texts = [str(w.message) for w in raised if issubclass(w.category, GraphveilWarning)]
    assert expected == release.guarantee
    assert (variant == "published") == any("carries no guarantee" in text for text in texts)
    verdict = release.verify(graph)
    assert ([], True) == (verdict.failures(), verdict.complete)
    folder = release.write(tmp_path / "out")
    why = json.loads((folder / "release.json").read_text())["claim"]["why"] or ""
    assert (variant == "published") == ("number of published edges is fixed" in why)


def test_the_first_line_of_help_says_what_claims_nothing(capsys):
    call(["anonymize", "top-m-filter", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "variant=published claims nothing." in shown[:400]


@pytest.mark.parametrize(
    "graph",
    [gv.Graph.from_edges([], [], n=4), gv.Graph.from_edges(*np.triu_indices(9, 1), n=9)],
    ids=["no edges", "complete"],
)
@pytest.mark.parametrize("variant", ["independent", "published"])
def test_counts_out_of_range_are_brought_into_it_whatever_is_true(graph, variant):
    for epsilon in (0.01, 39.0):
        method = gv.TopMFilter(epsilon=epsilon, epsilon_count=epsilon / 2, variant=variant)
        assert [] == method.anonymize(graph).verify(graph).failures()


def test_too_few_nodes_and_too_little_epsilon_are_one_line_with_the_way_out():
    with pytest.raises(InfeasibleError, match=r"at least 4 nodes.*Use asymmetric-response"):
        gv.TopMFilter(epsilon=2.0).anonymize(gv.Graph.from_edges([0], [1], n=3))
    with pytest.raises(ParameterError, match=r"leaves nothing for the cells.*epsilon_count=0\.5"):
        gv.TopMFilter(epsilon=0.5)


@pytest.mark.parametrize(("name", "step"), [("T0", 3), ("T1", -9), ("noisy_count", 5)])
def test_other_chances_than_the_filters_are_caught(name, step, tmp_path):
    graph = random_graph(60, 200)
    folder = gv.TopMFilter(epsilon=3.0).anonymize(graph).write(tmp_path / "out")
    path = folder / "release.json"
    manifest = json.loads(path.read_text())
    (flips,) = manifest["claim"]["conditions"]
    assert "top-m-flips" == flips["type"]
    flips[name] = str(int(flips[name]) + step)
    raw = json.dumps(manifest).encode()
    path.write_bytes(encode(decode_manifest(raw, where=path).sealed()))
    assert THRESHOLDS in {check.name for check in gv.verify_release(folder).failures()}


def test_the_kept_edges_are_judged_by_the_stated_chances():
    graph = random_graph(60, 200)
    release = gv.TopMFilter(epsilon=3.0).anonymize(graph)
    assert TopMThresholds is type(release.conditions[0])
    checks = {check.name: check.outcome for check in release.verify(graph).checks}
    assert "holds" == checks[CHANCES]


def test_dp_1k_looks_at_nothing_but_noisy_degrees_and_their_number():
    """Two graphs with the same degrees, and the same noise, give the same release."""
    ring = gv.Graph.from_edges(np.arange(60), (np.arange(60) + 1) % 60, n=60)
    nodes = np.arange(60)
    triangles = gv.Graph.from_edges(nodes, nodes + np.where(nodes % 3 < 2, 1, -2), n=60)
    method = gv.OneKSeries(epsilon=1.0)
    one, other = (method.draft(g, Randomness(seed=9)).data for g in (ring, triangles))
    assert one == other
    assert one.n_edges > 0


def test_dp_1k_keeps_degrees_and_spends_all_of_epsilon_on_them():
    method = gv.OneKSeries(epsilon=1.3)
    assert {
        "epsilon_count": Fraction(13, 200),
        "epsilon_degrees": Fraction(247, 200),
    } == method.parts
    hub = gv.Graph.from_edges(np.zeros(799, dtype=int), np.arange(1, 800), n=800)
    draft = method.draft(hub, Randomness(seed=3))
    assert draft.data.degrees().max() > 700
    assert abs(draft.data.n_edges - 799) < 200


def test_dp_1k_refuses_graphs_of_which_no_two_edges_can_be_told_apart():
    for n in (1, 2):
        with pytest.raises(InfeasibleError, match="3"):
            gv.OneKSeries(epsilon=1.0).anonymize(gv.Graph.from_edges([], [], n=n))


@pytest.mark.parametrize("n", [3, 4, 30])
@pytest.mark.parametrize("epsilon", [0.0001, 40.0])
def test_dp_1k_takes_the_smallest_graphs(n, epsilon):
    graph = gv.Graph.from_edges([], [], n=n)
    release = gv.OneKSeries(epsilon=epsilon).anonymize(graph)
    assert EdgeDP(epsilon=epsilon, collected=("people",)) == release.guarantee
    assert n == release.data.n_nodes
