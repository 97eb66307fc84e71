"""Profiles over several edge types: what a release promises, verify recounts, and files say."""

import csv
import json
import re
import shutil
from collections import Counter

import msgspec
import numpy as np
import pytest

import graphveil as gv
from forged.networks import failed, sealed_anew
from graphveil.core.errors import DataError, InfeasibleError
from graphveil.core.randomness import Randomness
from graphveil.methods.profile import realize as of_layers

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N, K = 60, 3


def three_kinds(n=N):
    """Return calls and mails, which are directed, and family, which is not, of n people."""
    rng = np.random.default_rng(7)
    ends = iter((n * rng.random((3, 2, 3 * n)) ** 2).astype(np.int64))
    calls, mails = (gv.Layer.from_arcs(*next(ends), n=n, name=name) for name in ("calls", "mails"))
    family = gv.Graph.from_edges(*next(ends)[:, :n], n=n, directed="symmetrize")
    sexes = gv.Table.from_columns({"sex": ["f", "m", "f"] * (n // 3)})
    ids = [f"p{v:03}" for v in range(n)]
    return gv.Network({"calls": calls, "mails": mails, "family": family}, sexes, ids)


def bare():
    return three_kinds().without("sex")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    place = tmp_path_factory.mktemp("whole")
    method = gv.Profile(k=K, known="sex", edits="add")
    return method.anonymize(three_kinds(), seed=5).write(place / "out")


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole.parent, tmp_path / "copy")
    return tmp_path / "copy" / "out"


def ties_of(folder):
    with (folder / "data.csv").open() as file:
        return [(int(u), int(v), layer) for u, v, layer in list(csv.reader(file))[1:]]


def write_ties(folder, ties):
    lines = ["source,target,layer", *(",".join(map(str, tie)) for tie in ties)]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")


def profiles_of(folder):
    counted = Counter()
    for u, v, layer in ties_of(folder):
        counted[u, layer, "out" if layer != "family" else ""] += 1
        counted[v, layer, "in" if layer != "family" else ""] += 1
    with (folder / "people.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    sides = ("calls", "out"), ("calls", "in"), ("mails", "out"), ("mails", "in"), ("family", "")
    return {int(node): (sex, *(counted[int(node), *side] for side in sides)) for node, sex in rows}


def test_the_released_files_keep_the_promise_about_all_kinds_together_by_a_count(folder):
    cells = profiles_of(folder)
    assert N == len(cells)
    assert min(Counter(cells.values()).values()) >= K
    verdict = gv.verify_release(folder, three_kinds())
    assert [] == verdict.failures()
    assert verdict.complete
    assert {"supergraph", "degrees grow", "own attributes"} <= {c.name for c in verdict.checks}


def test_a_release_is_read_back_as_it_was_made(folder):
    again = gv.Profile(k=K, known="sex", edits="add").anonymize(three_kinds(), seed=5)
    read = gv.read_release(folder)
    assert again.data == read.data
    assert ("calls", "family", "mails") == read.guarantee.layers
    assert "each layer (calls, family, mails), counted by direction" in read.guarantee.sentence


@pytest.mark.parametrize("form", ["tsv", "parquet"])
def test_other_formats_of_ties_are_verified_and_read_back(form, tmp_path):
    release = gv.Profile(k=2).anonymize(bare(), seed=1)
    folder = release.write(tmp_path / "out", format=form)
    assert gv.verify_release(folder, bare()).complete
    assert release.data == gv.read_release(folder).data


@pytest.mark.parametrize("edits", ["any", "add"])
@pytest.mark.parametrize("k", [2, 5, N])
def test_every_profile_over_all_kinds_is_shared_and_additions_keep_every_tie(k, edits):
    network = bare()
    after = gv.Profile(k=k, edits=edits).anonymize(network, seed=2)
    _, sizes = np.unique(after.data.profiles(), axis=0, return_counts=True)
    assert sizes.min() >= k
    cost = after.private.cost
    assert after.data.n_ties == network.n_ties + cost["edges_added"] - cost["edges_deleted"]
    assert edits == "any" or 0 == cost["edges_deleted"]
    assert cost["edits"] < network.n_ties or k == N


def test_whoever_shares_all_numbers_already_keeps_every_tie():
    ring = gv.Layer.from_arcs(range(12), [(v + 1) % 12 for v in range(12)], n=12)
    pairs = gv.Graph.from_edges(range(0, 12, 2), range(1, 12, 2), n=12)
    network = gv.Network({"ring": ring, "pairs": pairs})
    assert 0 == gv.Profile(k=12).anonymize(network, seed=1).private.cost["edits"]


def test_layers_alone_are_not_enough_and_their_pairs_are_counted():
    """Every number is shared in each layer alone; together they are not."""
    n = 8
    one = gv.Graph.from_edges([0, 2], [1, 3], n=n)
    other = gv.Graph.from_edges([0, 4, 6], [2, 5, 7], n=n)
    network = gv.Network({"one": one, "other": other})
    for layer in network.layers:
        assert np.bincount(layer.degrees()[0]).min() >= 2
    _, sizes = np.unique(network.profiles(), axis=0, return_counts=True)
    assert sizes.tolist() == [4, 2, 2]
    wide = gv.Network({"one": one, "other": gv.Graph.from_edges([0, 4], [4, 5], n=n)})
    after = gv.Profile(k=4).anonymize(wide, seed=1).data
    assert np.unique(after.profiles(), axis=0, return_counts=True)[1].min() >= 4


def test_names_and_the_order_of_layers_change_nothing_but_names():
    network = bare()
    named = {layer.name: layer for layer in network.layers}
    turned = gv.Network(
        {name: named[name] for name in sorted(named, reverse=True)}, ids=network.ids
    )
    assert network == turned
    one, two = (gv.Profile(k=K).anonymize(some, seed=4) for some in (network, turned))
    assert one.data == two.data


def test_one_layer_gives_what_it_gave_alone():
    calls = three_kinds().layers[0]
    colors = np.zeros(N, dtype=np.int64)
    done = of_layers.realize_layers(
        gv.Network((calls,)), colors, K, additions=False, randomness=Randomness(seed=3)
    )
    alone = of_layers.realize(calls, colors, K, additions=False, randomness=Randomness(seed=3))
    assert done.layers[0].cost == alone.cost
    assert done.layers[0].layer == of_layers.edited(calls, alone)


def moved(folder):
    """Call a tie one of another kind: all sums over kinds stay."""
    ties, cells = ties_of(folder), profiles_of(folder)
    sizes = Counter(cells.values())
    u, v, layer = next(
        (u, v, layer)
        for u, v, layer in ties
        if layer == "calls" and (u, v, "mails") not in ties and sizes[cells[u]] == K
    )
    write_ties(folder, sorted({*ties} - {(u, v, layer)} | {(u, v, "mails")}))


def turned_round(folder):
    ties = ties_of(folder)
    u, v, layer = next(
        tie for tie in ties if tie[2] != "family" and (tie[1], tie[0], tie[2]) not in ties
    )
    write_ties(folder, sorted({*ties} - {(u, v, layer)} | {(v, u, layer)}))


@pytest.mark.parametrize("forge", [moved, turned_round])
def test_a_tie_of_another_kind_or_direction_leaves_a_class_below_k(folder, forge):
    forge(folder)
    sealed_anew(folder)
    problems = failed(folder)
    assert ["classes"] == list(problems)
    assert re.search(
        r"calls out-degree \d+, calls in-degree \d+, family degree \d+, mails", problems["classes"]
    )
    assert "supergraph" in failed(folder, three_kinds())


def reversed_family(folder):
    ties = ties_of(folder)
    u, v, layer = next(tie for tie in ties if tie[2] == "family")
    write_ties(folder, sorted({*ties} - {(u, v, layer)} | {(v, u, layer)}))


def both_ways(folder):
    ties = ties_of(folder)
    u, v, layer = next(tie for tie in ties if tie[2] == "family")
    write_ties(folder, sorted({*ties} | {(v, u, layer)}))


def out_of_order(folder):
    ties = ties_of(folder)
    at = next(n for n in range(len(ties) - 1) if ties[n][:2] == ties[n + 1][:2])
    ties[at], ties[at + 1] = ties[at + 1], ties[at]
    write_ties(folder, ties)


def twice(folder):
    ties = ties_of(folder)
    write_ties(folder, sorted([*ties, ties[4]]))


def unknown_kind(folder):
    ties = ties_of(folder)
    write_ties(folder, sorted([*ties[1:], (*ties[0][:2], "faxes")]))


@pytest.mark.parametrize(
    ("forge", "check", "says"),
    [
        (reversed_family, "canonical order", "its smaller end is second"),
        (both_ways, "canonical order", "its smaller end is second"),
        (out_of_order, "canonical order", "is not in ascending order"),
        (twice, "simple graph", "appears 2 times"),
        (unknown_kind, "simple graph", "edges are in the layer 'faxes'"),
    ],
)
def test_rows_that_are_not_in_the_one_form_are_caught(folder, forge, check, says):
    forge(folder)
    sealed_anew(folder)
    assert says in failed(folder)[check]


def renamed(manifest):
    manifest["data"]["layers"][0]["name"] = "called"


def dropped(manifest):
    del manifest["data"]["layers"][2]


@pytest.mark.parametrize(
    ("change", "checks"),
    [
        (renamed, {"simple graph", "classes"}),
        (dropped, {"simple graph", "classes"}),
        (lambda m: m["data"]["layers"][0].update(directed=False), {"canonical order"}),
        (lambda m: m["data"]["layers"][1].update(directed=True), {"classes"}),
        (lambda m: m["claim"]["guarantee"].update(layers=["calls", "mails"]), {"classes"}),
        (lambda m: m["claim"]["guarantee"].update(layers=[]), {"classes"}),
        (lambda m: m["claim"]["guarantee"].update(measure="degree", layers=[]), {"classes"}),
    ],
)
def test_another_description_of_the_same_files_is_caught(folder, change, checks):
    def both(manifest):
        change(manifest)
        guarantee = msgspec.convert(manifest["claim"]["guarantee"], gv.StructuralKAnonymity)
        manifest["claim"]["sentence"] = guarantee.sentence
        manifest["claim"]["threat_model"] = guarantee.threat_model

    sealed_anew(folder, both)
    assert checks <= set(failed(folder))


def test_a_kind_of_the_original_that_is_called_otherwise_is_not_its_original(folder):
    network = three_kinds()
    shutil.rmtree(folder.with_name("out.private"))
    others = [layer for layer in network.layers if layer.name != "mails"]
    for some in (others, [*others, gv.Layer.of(network.layers[1], name="mails")]):
        assert "layer" in failed(folder, gv.Network(tuple(some), network.people, network.ids))


def test_a_tie_that_is_missing_in_one_kind_and_stands_in_another_is_no_supergraph(folder):
    ties, calls = ties_of(folder), three_kinds().layers[0]
    linkage = gv.read_release(folder).private.linkage
    place = dict(zip(linkage.original.tolist(), linkage.released.tolist(), strict=True))
    known = {(place[f"p{u:03}"], place[f"p{v:03}"]) for u, v in zip(*calls.ties(), strict=True)}
    u, v = next((u, v) for u, v in sorted(known) if (u, v, "mails") not in ties)
    write_ties(folder, sorted({*ties} - {(u, v, "calls")} | {(u, v, "mails")}))
    sealed_anew(folder)
    assert f"between its nodes {u} and {v}" in failed(folder, three_kinds())["supergraph"]


def test_a_layer_that_lost_all_its_ties_is_still_there(tmp_path):
    lone = gv.Graph.from_edges([0], [1], n=12)
    ring = gv.Layer.from_arcs(range(12), [(v + 1) % 12 for v in range(12)], n=12)
    network = gv.Network({"ring": ring, "lone": lone})
    release = gv.Profile(k=4).anonymize(network, seed=1)
    assert [0, 12] == [layer.n_ties for layer in release.data.layers]
    folder = release.write(tmp_path / "out")
    assert release.data == gv.read_release(folder).data
    assert gv.verify_release(folder, network).complete


def test_a_kind_of_ties_that_is_called_as_a_person_is_is_not_passed_over(tmp_path):
    network = bare()
    named = ["calls", *network.labels().tolist()[1:]]
    other = gv.Network(network.layers, None, named)
    folder = gv.Profile(k=2).anonymize(other, seed=1).write(tmp_path / "out")
    checks = {check.name: check for check in gv.verify_release(folder, other).checks}
    assert "not checked" == checks["no original ids"].outcome
    assert "1 of 60 original ids are names of layers" in checks["no original ids"].detail


def test_descriptions_for_machines_say_which_columns_are_numbers(folder):
    text = gv.report_release(folder, public=True, form="datapackage").text
    data, people = (
        {field["name"]: field["type"] for field in resource["schema"]["fields"]}
        for resource in json.loads(text)["resources"]
    )
    assert {"source": "integer", "target": "integer", "layer": "string"} == data
    assert {"node": "integer", "sex": "string"} == people


def test_too_many_kinds_and_too_few_people_are_refused():
    ring = gv.Layer.from_arcs([0, 1], [1, 0], n=4)
    many = gv.Network({f"kind{number}": ring for number in range(5)})
    with pytest.raises(DataError, match="give 10 numbers per node, more than 8"):
        gv.Profile(k=2).anonymize(many)
    with pytest.raises(InfeasibleError):
        gv.Profile(k=N + 1).anonymize(bare())
    with pytest.raises(DataError, match=r"several edge types \(calls, family, mails\)"):
        gv.KDegree(k=2).anonymize(bare())


def test_metrics_and_attacks_speak_of_each_kind(folder):
    table = gv.evaluate_release(folder, original=three_kinds())
    parts = {(figure.question, figure.part) for figure in table}
    assert {("arcs-kept", "calls: share"), ("arcs-kept", "mails: count")} <= parts
    assert ("arcs-kept", "family: share") in parts
    assert ("homophily", "family: sex, original") in parts
    kept = next(f.value for f in table if (f.question, f.part) == ("arcs-kept", "calls: share"))
    assert kept == 1
    attacked = gv.attack_release(folder, original=three_kinds(), attacks=["candidate-set"])
    assert any("ties of each kind" in figure.part for figure in attacked)


@pytest.mark.parametrize("edits", ["add", "any"])
def test_a_cell_that_is_given_up_leaves_nobody_behind(edits):
    """The hub of a star can join no leaf: it takes k - 1 of five leaves, and one cannot stay."""
    hub, leaves = np.zeros(5, dtype=np.int64), np.arange(1, 6)
    ends = np.concatenate([hub, leaves]), np.concatenate([leaves, hub])
    layers = tuple(gv.Layer.from_arcs(*ends, n=6, name=name) for name in ("calls", "mails"))
    release = gv.Profile(k=4, edits=edits).anonymize(gv.Network(layers), seed=1)
    assert min(Counter(map(tuple, release.data.profiles().tolist())).values()) >= 4
