"""Profile anonymity: what a release promises, what verify recounts of it, and what is refused."""

import csv
import re
import shutil
from collections import Counter

import msgspec
import numpy as np
import pytest

import graphveil as gv
from forged.networks import failed, sealed_anew
from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.release.files import read_linkage

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N, K = 60, 3


def calls(n=N, arcs=240):
    """Return calls between n people, more of them to and from the first."""
    rng = np.random.default_rng(5)
    ends = (n * rng.random((2, arcs)) ** 2).astype(np.int64)
    layer = gv.Layer.from_arcs(*ends, n=n, name="calls")
    sexes = gv.Table.from_columns({"sex": ["f", "m", "f"] * (n // 3)})
    return gv.Network((layer,), sexes, [f"p{v}" for v in range(n)])


def bare():
    return calls().without("sex")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    place = tmp_path_factory.mktemp("whole")
    return gv.Profile(k=K, known="sex", edits="add").anonymize(calls(), seed=5).write(place / "out")


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole.parent, tmp_path / "copy")
    return tmp_path / "copy" / "out"


def arcs_of(folder):
    with (folder / "data.csv").open() as file:
        return [tuple(map(int, row)) for row in list(csv.reader(file))[1:]]


def write_arcs(folder, arcs):
    lines = ["source,target", *(f"{u},{v}" for u, v in sorted(arcs))]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")


def classes_of(folder):
    arcs = arcs_of(folder)
    out, into = Counter(u for u, _ in arcs), Counter(v for _, v in arcs)
    with (folder / "people.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    return {int(node): (sex, out[int(node)], into[int(node)]) for node, sex in rows}


def test_the_released_files_keep_the_promise_by_a_count(folder):
    cells = classes_of(folder)
    assert N == len(cells)
    assert min(Counter(cells.values()).values()) >= K
    verdict = gv.verify_release(folder, calls())
    assert [] == verdict.failures()
    assert verdict.complete
    assert {"supergraph", "degrees grow", "own attributes"} <= {c.name for c in verdict.checks}


@pytest.mark.parametrize("edits", ["any", "add"])
def test_whoever_shares_a_profile_with_k_people_already_keeps_every_arc(edits):
    ring = gv.Layer.from_arcs(range(12), [(v + 1) % 12 for v in range(12)], n=12)
    release = gv.Profile(k=12, edits=edits).anonymize(gv.Network((ring,)), seed=1)
    assert 0 == release.private.cost["edits"]
    assert 12 == release.data.n_ties


@pytest.mark.parametrize("edits", ["any", "add"])
def test_a_full_goal_is_claimed_of_everybody(edits):
    method = gv.Profile(k=3, edits=edits)
    assert method.guarantee == method.anonymize(bare(), seed=1).guarantee


@pytest.mark.parametrize("seed", [*range(8), 112])  # of 112 a plan of both edits needs one more
def test_any_needs_no_more_edits_than_add(seed):
    rng = np.random.default_rng([seed, 7])
    n, share, names = int(rng.integers(8, 16)), rng.uniform(0.08, 0.35), "ab"[: 1 + seed % 2]
    layers = [
        gv.Layer.from_arcs(*np.nonzero(rng.random((n, n)) < share), n=n, name=name)
        for name in names
    ]
    any_, add = (
        gv.Profile(k=2, edits=edits).anonymize(gv.Network(tuple(layers)), seed=1).private.cost
        for edits in ("any", "add")
    )
    assert any_["edits"] <= add["edits"]


def test_suppressing_rare_people_needs_fewer_changes():
    plain, fewer = (
        gv.Profile(k=6, known="sex", suppress=share).anonymize(calls(), seed=1).private.cost
        for share in (0.0, 0.4)
    )
    assert 0 == plain["people_suppressed"] < fewer["people_suppressed"] <= 0.4 * N
    assert fewer["profile_change"] < plain["profile_change"]


def test_names_of_people_and_of_colors_change_nothing_but_names():
    network = calls()
    other = gv.Network(
        network.layers,
        gv.Table.from_columns({"sex": ["x", "a", "x"] * (N // 3)}),
        [f"q{v}" for v in range(N)],
    )
    one, two = (gv.Profile(k=K, known="sex").anonymize(some, seed=4) for some in (network, other))
    assert one.data.layers == two.data.layers
    assert one.private.cost == two.private.cost


def turned(folder):
    """Turn an arc round that has none the other way; who is then in a class below k stays so."""
    arcs = arcs_of(folder)
    u, v = next(arc for arc in arcs if arc[::-1] not in arcs)
    write_arcs(folder, [*(arc for arc in arcs if arc != (u, v)), (v, u)])


def swapped(folder):
    """Exchange the ends of two arcs from people of other profiles: all sums stay."""
    cells, arcs = classes_of(folder), set(arcs_of(folder))
    u, v = next(arc for arc in sorted(arcs) if Counter(cells.values())[cells[arc[0]]] == K)
    w = next(
        w for w in sorted(cells) if cells[w] != cells[u] and w not in (u, v) and (w, v) not in arcs
    )
    write_arcs(folder, arcs - {(u, v)} | {(w, v)})


def led_elsewhere(folder):
    """Lead an arc to somebody else: ties out stay, the class of the old end does not."""
    cells, arcs = classes_of(folder), set(arcs_of(folder))
    sizes = Counter(cells.values())
    u, v = next(arc for arc in sorted(arcs) if sizes[cells[arc[1]]] == K)
    w = next(w for w in sorted(cells) if cells[w] != cells[v] and w != u and (u, w) not in arcs)
    write_arcs(folder, arcs - {(u, v)} | {(u, w)})


@pytest.mark.parametrize("forge", [turned, swapped, led_elsewhere])
def test_an_arc_that_is_turned_or_led_away_leaves_a_class_below_k(folder, forge):
    forge(folder)
    sealed_anew(folder)
    problems = failed(folder)
    assert ["classes"] == list(problems)
    assert re.search(r"equal sex and out-degree \d+ and in-degree \d+ holds", problems["classes"])
    assert "supergraph" in failed(folder, calls())


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda m: m["claim"]["guarantee"].update(measure="degree"), "classes"),
        (lambda m: m["data"]["layers"][0].update(directed=False), "classes"),
        (lambda m: m["claim"]["guarantee"].update(known=[]), "classes"),
        (lambda m: m["claim"]["guarantee"].update(k=K + 1), "claim and parameters"),
    ],
)
def test_another_promise_about_the_same_files_is_caught(folder, change, check):
    def both(manifest):
        change(manifest)
        guarantee = msgspec.convert(manifest["claim"]["guarantee"], gv.StructuralKAnonymity)
        manifest["claim"]["sentence"] = guarantee.sentence
        manifest["claim"]["threat_model"] = guarantee.threat_model

    sealed_anew(folder, both)
    assert check in failed(folder)


def test_a_layer_of_another_name_or_without_directions_is_not_the_original(folder):
    sealed_anew(folder, lambda m: m["data"]["layers"][0].update(name="mails"))
    assert "layer" in failed(folder, calls())


def test_an_arc_of_the_original_that_is_missing_is_no_supergraph(folder):
    assert "original" in failed(folder, bare())
    linkage = read_linkage(folder)
    number = dict(zip(linkage.original.tolist(), linkage.released.tolist(), strict=True))
    source, target = calls().layers[0].ties()
    u, v = (number[f"p{end}"] for end in (source[0], target[0]))
    arcs = set(arcs_of(folder))
    w = next(w for w in range(N) if w != u and (u, w) not in arcs)
    write_arcs(folder, arcs - {(u, v)} | {(u, w)})
    sealed_anew(folder)
    assert "supergraph" in failed(folder, calls())


def test_sorted_numbers_of_ties_in_that_fell_are_no_supergraph_without_the_linkage(folder):
    arcs, largest = set(arcs_of(folder)), int(calls().layers[0].degrees()[1].max())
    shutil.rmtree(folder.with_name("out.private"))
    assert "degrees grow" not in failed(folder, calls())
    into = Counter(v for _, v in arcs)
    for v in [v for v, number in into.items() if number >= largest]:
        for u in [u for u, end in sorted(arcs) if end == v][: into[v] - largest + 1]:
            w = min((w for w in range(N) if w != u and (u, w) not in arcs), key=lambda w: into[w])
            arcs = arcs - {(u, v)} | {(u, w)}
            into[w] += 1
    write_arcs(folder, arcs)
    sealed_anew(folder)
    assert (
        "in-degree: the degree at rank 1 (largest first)" in failed(folder, calls())["degrees grow"]
    )


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (gv.Network({"ties": gv.Graph.from_edges([0], [1], n=6)}), "edges are undirected"),
        (calls(), "no role given for sex"),
    ],
)
def test_what_has_no_profile_is_refused_with_the_way_out(network, words):
    with pytest.raises(DataError, match=words) as refused:
        gv.Profile(k=2).anonymize(network)
    assert 1 == len(str(refused.value).splitlines())


def test_fewer_people_than_k_and_shares_without_attributes_are_refused():
    with pytest.raises(InfeasibleError):
        gv.Profile(k=N + 1).anonymize(bare())
    with pytest.raises(ParameterError, match="suppresses known attributes, but none are"):
        gv.Profile(k=2, suppress=0.1)
    with pytest.raises(ParameterError, match="known and attached"):
        gv.Profile(k=2, known="sex", attach="sex")


def test_a_digraph_of_networkx_keeps_its_directions():
    graph = bare().to_networkx()
    release = gv.Profile(k=2).anonymize(graph, seed=2)
    assert release.data.layers[0].directed
    assert release.verify(graph).ok
