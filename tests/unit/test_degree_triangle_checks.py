"""What is checked of a release of `degree-triangle-model`, and which forgeries that notices."""

from __future__ import annotations

import json
import time
from fractions import Fraction

import msgspec
import numpy as np
import pytest

import graphveil as gv
from degree_triangle_data import clustered_graph
from forged.kit import read_manifest, reseal
from forged.networks import failed
from graphveil.claims.conditions import NoisyStatistics
from graphveil.claims.guarantees import EdgeDP
from graphveil.core.errors import ParameterError
from graphveil.methods.noisy_cells import noisy_statistics
from graphveil.methods.random_graphs.placement import Cuts, as_text
from graphveil.methods.random_graphs.triangle_model import Shape, generated_graph, stubs_between
from graphveil.methods.random_graphs.triangle_statistics import Statistics
from graphveil.verify import verify
from graphveil.verify.promises.noise import noisy_statistics as noisy_statistics_checks
from graphveil.verify.recount.noise import triangle_graph
from graphveil.verify.recount.noise.noise_tails import reach_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "a graph that is not drawn again",
        "means": "A release of any edges passes as one that follows from noisy statistics.",
        "file": "src/graphveil/verify/promises/noise/noisy_statistics.py",
        "old": 'differing = len(generated ^ _edges(evidence, "edges", "source", "target"))',
        "new": "differing = 0",
        "verify": ["tests/unit/test_degree_triangle_checks.py", "-k", "other_edges"],
    },
    {
        "name": "cuts that nobody computes again",
        "means": "Somebody chooses groups by whom they are to hold, and they pass.",
        "file": "src/graphveil/verify/promises/noise/noisy_statistics.py",
        "old": "elif wrong := wrong_parts(parts.noisy, weight, cuts, most):",
        "new": "elif wrong := wrong_parts(parts.noisy, weight, cuts, most)[most:]:",
        "verify": ["tests/unit/test_degree_triangle_checks.py", "-k", "cuts_that_do_not_follow"],
    },
    {
        "name": "noisy numbers of any size",
        "means": "A noisy degree that no graph has passes, and could hold a message.",
        "file": "src/graphveil/verify/promises/noise/noisy_statistics.py",
        "old": "if not -reach <= one <= most + reach]",
        "new": "if not -reach <= one]",
        "verify": ["tests/unit/test_degree_triangle_checks.py", "-k", "noise_does_not_reach"],
    },
    {
        "name": "statistics of edges beside a promise about people",
        "means": "Noise that hides one edge is said to hide all of a person.",
        "file": "src/graphveil/verify/promises/noise/noisy_statistics.py",
        "old": 'if not isinstance(promise, EdgeDP) or promise.of != "entry":',
        "new": "if not isinstance(promise, EdgeDP):",
        "verify": ["tests/unit/test_degree_triangle_checks.py", "-k", "carry_no_promise"],
    },
    {
        "name": "degrees that nobody draws again",
        "means": "A graph that was drawn from the exact degrees passes as one of noisy ones.",
        "methods": ["degree-triangle-model"],
        "file": "src/graphveil/verify/promises/noise/noisy_statistics.py",
        "old": "problems += _wrong_ladder(value, parts) or _wrong_shape(value, parts)",
        "new": "problems += _wrong_ladder(value, parts)",
        "verify": ["tests/unit/test_degree_triangle_checks.py", "-k", "drawn_from_the_true"],
    },
    {
        "name": "odds that nobody computes again",
        "means": "dp-1k's odds of edges may be those of the exact degrees.",
        "methods": ["dp-1k"],
        "file": "src/graphveil/verify/promises/noise/noisy_statistics.py",
        "old": "        problems += _wrong_classes(value)",
        "new": "        problems += []",
        "verify": ["tests/unit/test_degree_triangle_checks.py", "-k", "odds_of_dp_1k"],
    },
    {
        "name": "noise that no test can tell from none holds",
        "means": "A verdict says that noise is there where exact numbers would pass as well.",
        "methods": ["dp-1k", "degree-triangle-model"],
        "file": "src/graphveil/verify/promises/noise/noisy_statistics.py",
        "old": "    if not is_strange([0] * len(noise), float(part)):",
        "new": "    if not noise:",
        "tests": ["tests/unit/test_degree_triangle_checks.py", "-k", "could_be_none"],
    },
    {
        "name": "no noise passes as noise",
        "means": "Statistics that were released as they are pass for noisy ones.",
        "file": "src/graphveil/verify/recount/noise/noise_tails.py",
        "old": "or _bound(of_sizes, sizes, negative) < IMPOSSIBLE",
        "new": "or _bound(of_sizes, sizes, powers) < IMPOSSIBLE",
        "verify": ["tests/unit/test_degree_triangle_checks.py", "-k", "without_noise"],
    },
]


NOISE = "noise on degrees", "noise between groups", "noise on triangles"
COUNT = "noise on the edge count"
ONE_IN_1E19 = Fraction(1, 10**19)


@pytest.fixture(scope="module")
def graph():
    return clustered_graph()


@pytest.fixture(scope="module")
def folder(graph, tmp_path_factory):
    release = gv.DegreeTriangleModel(epsilon=2.0).anonymize(graph)
    return release.write(tmp_path_factory.mktemp("made") / "release")


@pytest.fixture
def copy(folder, tmp_path):
    """Return a copy of the release and its private folder, to be forged."""
    for name in (folder.name, f"{folder.name}.private"):
        there = tmp_path / name
        there.mkdir()
        for file in (folder.parent / name).iterdir():
            (there / file.name).write_bytes(file.read_bytes())
    return tmp_path / folder.name


def statistics_of(manifest):
    return next(c for c in manifest["claim"]["conditions"] if c["type"] == "noisy-statistics")


def failures(folder, original=None):
    return {check.name for check in verify(folder, original=original).failures()}


def test_every_check_of_a_release_holds_and_none_is_left_out(folder, graph):
    verdict = verify(folder, original=graph)
    assert ([], "by construction") == (verdict.failures(), verdict.word)
    left = {check.name for check in verdict.checks if check.outcome == "not checked"}
    assert {COUNT} <= left <= {COUNT, "noise on triangles"}
    assert EdgeDP(epsilon=2.0, collected=("people",)).sentence == verdict.sentence


def test_statistics_beside_a_seed_and_none_without_one_fail(graph, copy, tmp_path):
    manifest, seeded = read_manifest(copy), tmp_path / "seeded"
    conditions = manifest["claim"]["conditions"]
    manifest["claim"]["conditions"] = []
    reseal(copy, manifest)
    assert "which degree-triangle-model always states" in failed(copy)["method"]
    gv.DegreeTriangleModel(epsilon=2.0).anonymize(graph, seed=5).write(seeded)
    manifest = read_manifest(seeded)
    manifest["claim"]["conditions"] = conditions
    reseal(seeded, manifest)
    assert "degree-triangle-model does not state" in failed(seeded)["method"]


@pytest.mark.parametrize(
    ("field", "value", "noticed_by"),
    [
        ("epsilon_degrees", "1", "noisy statistics"),
        ("rate", "31/50", "noisy statistics"),
        ("floor", 30, "noisy statistics"),
        ("noisy_count", "99999999", "noisy statistics"),
        ("class_cuts", "-900", "noisy statistics"),
        ("degrees", "1 1", "noisy statistics"),
        ("nodes", 149, "noisy statistics"),
        ("seed_of_drawing", "5", "drawing"),
        ("unmended", 9, "drawing"),
    ],
)
def test_forged_numbers_fail(copy, field, value, noticed_by):
    manifest = read_manifest(copy)
    assert statistics_of(manifest)[field] != value
    statistics_of(manifest)[field] = value
    reseal(copy, manifest)
    assert noticed_by in failures(copy)


def test_forged_stubs_and_aims_fail(copy):
    manifest = read_manifest(copy)
    said = statistics_of(manifest)
    first, *others = said["stubs"].split(" ")
    said["stubs"] = " ".join([str(int(first) + 1), *others])
    reseal(copy, manifest)
    assert {"noisy statistics", "drawing"} <= failures(copy)
    said["stubs"] = " ".join([first, *others])
    said["aims"] = " ".join(str(int(one) + 1) for one in said["aims"].split(" "))
    reseal(copy, manifest)
    assert "drawing" in failures(copy)


@pytest.mark.parametrize(
    "guarantee",
    [
        {"type": "node-differential-privacy", "epsilon": 0.1, "collected": ["people"]},
        {"type": "edge-differential-privacy", "epsilon": 0.1, "collected": ["people"]}
        | {"of": "value"},
        {"type": "k-anonymity", "k": 2},
    ],
    ids=["of a person", "applies to one value", "of classes"],
)
def test_statistics_of_edges_carry_no_promise_about_more_than_one_edge(copy, guarantee):
    manifest = read_manifest(copy)
    manifest["claim"]["guarantee"] = guarantee
    reseal(copy, manifest)
    check = next(c for c in verify(copy).checks if c.name == "noisy statistics")
    assert "fails" == check.outcome
    assert "about a single edge" in check.detail


@pytest.mark.parametrize(
    "forged",
    [
        {"epsilon_count": f"1/{10**19}", "epsilon_mixing": str(Fraction(14, 50) - ONE_IN_1E19)},
        {"epsilon_triangles": f"1/{10**19}", "rate": f"1/{2 * 10**19}"},
        {"noisy_triangles": 10**17},
        {"noisy_triangles": -(10**18)},
        {"noisy_mixing": 10**18},
    ],
)
def test_numbers_out_of_all_proportion_fail_in_no_time(copy, graph, forged):
    manifest = read_manifest(copy)
    said = statistics_of(manifest)
    for name, value in forged.items():
        rest = said[name].split(" ")[1:] if isinstance(value, int) else []
        said[name] = " ".join([str(value), *rest])
    reseal(copy, manifest)
    started = time.process_time()
    checks = {check.name: check for check in [*verify(copy, original=graph).checks]}
    assert time.process_time() - started < 4
    assert "fails" in {checks[name].outcome for name in ("noisy statistics", *NOISE)}


def test_a_graph_of_other_edges_fails_without_the_original(copy):
    """An edge of the original that was slipped in needs no original to be noticed."""
    file = next(copy.glob("data.*"))
    lines = file.read_text().split("\n")
    taken = {tuple(line.split(",")) for line in lines}
    v = next(str(v) for v in range(1, 150) if ("0", str(v)) not in taken)
    rows = sorted([*lines[1:-1], f"0,{v}"], key=lambda row: tuple(map(int, row.split(","))))
    file.write_text("\n".join([lines[0], *rows, ""]))
    manifest = read_manifest(copy)
    manifest["data"]["counts"]["edges"] += 1
    next(f for f in manifest["data"]["files"] if f["name"] == file.name)["rows"] += 1
    reseal(copy, manifest)
    assert {"drawing", "owner's record"} == failures(copy)


@pytest.mark.parametrize("method", [gv.DegreeTriangleModel, gv.OneKSeries])
@pytest.mark.parametrize(("shift", "outcome"), [(0, "fails"), (40, "fails"), (None, "holds")])
def test_degrees_without_noise_or_with_too_much_fail_beside_the_original(
    graph, tmp_path, monkeypatch, method, shift, outcome
):
    if shift is not None:
        monkeypatch.setattr(
            noisy_statistics, "discrete_laplace", lambda _, __, count: np.full(count, shift)
        )
    folder = method(epsilon=1.0).anonymize(graph).write(tmp_path / "release")
    checks = {check.name: check for check in verify(folder, original=graph).checks}
    assert "holds" == checks["noisy statistics"].outcome, checks["noisy statistics"].detail
    assert "holds" == checks["drawing"].outcome
    assert outcome == checks["noise on degrees"].outcome, checks["noise on degrees"].detail


@pytest.mark.parametrize("method", [gv.DegreeTriangleModel, gv.OneKSeries])
def test_noise_that_could_be_none_is_not_checked(tmp_path, method):
    """At epsilon 40 nearly no degree gets any noise: exact ones look the same."""
    few = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=5)
    folder = method(epsilon=40.0).anonymize(few).write(tmp_path / "release")
    verdict = verify(folder, original=few)
    outcomes = {check.name: check.outcome for check in verdict.checks}
    assert [] == verdict.failures()
    assert {"not checked"} == {outcomes[name] for name in ("noise on degrees", COUNT)}


def test_without_the_owners_secret_noise_is_not_checked(copy, graph):
    record = copy.parent / f"{copy.name}.private" / "record.json"
    said = json.loads(record.read_bytes())
    assert 32 == len(said["assignment"])
    record.write_bytes(msgspec.json.format(msgspec.json.encode(said | {"assignment": None})))
    outcomes = {c.name: c.outcome for c in verify(copy, original=graph).checks}
    assert ["not checked"] * 3 == [outcomes[name] for name in NOISE]


def forged_shape(release, changed):
    """Return a release whose graph was drawn from other degrees, and that says so consistently."""
    [said] = release.conditions
    n, noisy = said.nodes, np.array(said.numbers("noisy_degrees"))
    groups, classes = (
        np.searchsorted(cuts, noisy, side="right") - 1
        for cuts in (said.numbers("group_cuts"), said.numbers("class_cuts"))
    )
    least = [np.array(said.numbers(name)) for name in ("group_cuts", "class_cuts")]
    upper = np.triu_indices(least[0].size)
    mixing = np.zeros((least[0].size,) * 2, dtype=np.int64)
    mixing[upper] = said.numbers("noisy_mixing")
    statistics = Statistics(
        int(said.noisy_count),
        noisy,
        Cuts(least[0], groups),
        Cuts(least[1], classes),
        mixing,
        said.floor,
        Fraction(said.rate),
        np.array(said.numbers("noisy_triangles")),
    )
    degrees = changed(said)
    between = stubs_between(mixing, statistics.groups, degrees, np.full(mixing.shape, 0.5))
    again = generated_graph(statistics, Shape(degrees, between), int(said.seed_of_drawing))
    ends = np.argsort(said.place_of_id())[again.ends]
    stated = msgspec.structs.replace(
        said,
        degrees=as_text(degrees),
        stubs=as_text(between[upper]),
        aims=as_text(again.aims),
        unmended=again.unmended,
    )
    return gv.Release(
        data=gv.Graph.from_edges(ends[:, 0], ends[:, 1], n=n),
        guarantee=release.guarantee,
        provenance=release.provenance,
        conditions=(stated,),
        private=release.private,
    )


def test_a_graph_drawn_from_the_true_degrees_fails_from_the_files_alone(graph, tmp_path):
    """The degrees that are drawn towards follow from the seed: nobody may choose them."""
    release = gv.DegreeTriangleModel(epsilon=1.0).anonymize(graph)
    order = np.argsort(release.private.linkage.released)

    def true_degrees(said):
        return graph.degrees()[order][np.argsort(said.place_of_id())].astype(np.int64)

    folder = forged_shape(release, true_degrees).write(tmp_path / "forged")
    checks = {check.name: check for check in verify(folder).checks}
    assert "fails" == checks["noisy statistics"].outcome
    for name in ("degrees", "stubs"):
        said = f"{name} differ from those that follow from noisy numbers and the seed"
        assert said in checks["noisy statistics"].detail


@pytest.mark.parametrize("weights", [("0",), ("7", "7")])
def test_odds_of_dp_1k_that_do_not_follow_from_noisy_degrees_fail(graph, tmp_path, weights):
    """Otherwise they could be those of the true degrees."""
    folder = gv.OneKSeries(epsilon=1.0).anonymize(graph).write(tmp_path / "release")
    manifest = read_manifest(folder)
    [said] = manifest["claim"]["conditions"]
    said["weights"] = [*weights, *said["weights"][len(weights) :]]
    reseal(folder, manifest)
    check = next(c for c in verify(folder).checks if c.name == "noisy statistics")
    assert f"weights contain {weights[0]}, but recomputed as" in check.detail


@pytest.mark.parametrize("name", ["noisy_degrees", "noisy_mixing"])
def test_numbers_that_noise_does_not_reach_fail_from_the_files_alone(copy, name):
    """They could hold a message, where nobody has the original."""
    manifest = read_manifest(copy)
    said = statistics_of(manifest)
    parts = {"noisy_degrees": Fraction(11, 20), "noisy_mixing": Fraction(6, 25)}
    others = said[name].split(" ")[1:]
    reach = reach_of(1 + len(others), float(parts[name]))
    most = {"noisy_degrees": 149, "noisy_mixing": 150 * 149 // 2}[name]
    for value in (-reach - 1, -reach, most + reach, most + reach + 1):
        stated = [*map(int, others), value]
        said[name] = as_text(sorted(stated) if name == "noisy_degrees" else stated)
        reseal(copy, manifest)
        check = next(c for c in verify(copy).checks if c.name == "noisy statistics")
        beyond = value not in (-reach, most + reach)
        assert beyond == (
            f"{name} contains {value}, which is out of reach of plausible noise" in check.detail
        )


@pytest.mark.parametrize("name", ["group_cuts", "class_cuts"])
def test_cuts_that_do_not_follow_from_noisy_degrees_fail_from_the_files_alone(copy, name):
    """Cuts that somebody chose could put those into a group whose ties are to be counted."""
    manifest = read_manifest(copy)
    said = statistics_of(manifest)
    least, first, *others = map(int, said[name].split(" "))
    noisy = sorted({*map(int, said["noisy_degrees"].split(" "))})
    chosen = next(one for one in noisy if one > least and one != first)
    said[name] = " ".join(map(str, [least, *sorted({chosen, *others})]))
    reseal(copy, manifest)
    check = next(c for c in verify(copy).checks if c.name == "noisy statistics")
    assert "fails" == check.outcome
    assert f"{name} differ from those recomputed: " in check.detail


@pytest.mark.parametrize(
    ("field", "value"),
    [("degrees", "1  2"), ("aims", ""), ("rate", "2/4"), ("noisy_count", "-1"), ("stubs", "01")],
)
def test_a_number_is_spelled_in_one_way(folder, field, value):
    said = json.loads((folder / "release.json").read_bytes())
    fields = statistics_of(said)
    fields.pop("type")
    NoisyStatistics(**fields)
    with pytest.raises(ParameterError):
        NoisyStatistics(**(fields | {field: value}))


def test_triangles_of_too_many_ways_are_not_counted_again_and_all_else_is(
    folder, graph, monkeypatch
):
    ways = int((graph.degrees() ** 2).sum())
    for most, counted in ((ways, True), (ways - 1, False)):
        monkeypatch.setattr(noisy_statistics_checks, "MOST_WAYS", most)
        checks = {check.name: check for check in verify(folder, original=graph).checks}
        assert {"holds"} == {checks[name].outcome for name in NOISE[:2]}
        assert counted == ("paths of two steps" not in checks[NOISE[2]].detail)


def test_triangles_are_aimed_at_where_noise_is_less_likely_than_they_are():
    # 2 * 4 * 4 = 32 lies above 5 * 5, and 4 - 25 / 8 = .875; 2 * 3 * 3 = 18 does not.
    model = triangle_graph.Model([], [], [], [], [4, 3, 9], Fraction(5))
    assert [1, 0, 5 + 1] == triangle_graph.aims_of(model, [0, 0, 5])
