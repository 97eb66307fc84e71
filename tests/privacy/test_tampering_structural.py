"""What the checker says of structural releases that were changed, or that claim too much."""

from __future__ import annotations

import numpy as np
import pytest
from tampering import (
    contradiction,
    edges_of,
    failed,
    manifest_of,
    provenance_of,
    replace_edges,
    reseal,
    write_linkage,
)

from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.data import Graph
from graphveil.methods import StructuralAnonymity
from graphveil.release import Private, Release, claiming, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.verify import verify_release as verify

MEASURES = ("count", "edge-count", "degree-distribution", "dk", "vrq", "hybrid")
PAW = [(0, 1), (0, 2), (1, 2), (0, 3)]
TWO_PAWS = [*PAW, *((u + 4, v + 4) for u, v in PAW)]


def graph_of(edges, n) -> Graph:
    return Graph.from_edges([u for u, _ in edges], [v for _, v in edges], n=n)


def parameters_of(**changed) -> dict:
    return {
        "measure": "count",
        "distance": 1,
        "k": 2,
        "goal": "full",
        "edits": "delete",
        "heuristic": "auto",
        "preserve_triangles": False,
    } | changed


def release_of(original, after, *, share=1.0, **changed) -> tuple[Release, list[int]]:
    """Return a release of `after` as made from the original, and the published id of every node."""
    order = np.random.default_rng(original.size).permutation(original.size)
    released = np.argsort(order)
    parameters = parameters_of(**changed)
    named = {name: parameters[name] for name in ("k", "measure", "distance")}
    method = StructuralAnonymity.from_parameters(parameters)
    before, now = ({tuple(edge) for edge in graph.edges().tolist()} for graph in (original, after))
    release = Release(
        data=after.permuted(order),
        guarantee=StructuralKAnonymity(share=share, phi=parameters.get("phi", 0.0), **named),
        conditions=method.conditions,
        provenance=claiming.provenance_of(method)
        if method.phi or "budget" in parameters["goal"]
        else provenance_of("structural", parameters),
        private=Private(
            input_sha256=digest_of(original),
            cost={"edges_added": len(now - before), "edges_deleted": len(before - now)},
            linkage=Linkage(original.labels(), released),
        ),
    )
    return release, released.tolist()


def two_paws(tmp_path, *, extra=((3, 5), (1, 6)), **changed):
    """Write two triangles with a tail each; the original had more edges. Return folder and ids."""
    original = graph_of([*TWO_PAWS, *extra], 8)
    release, ids = release_of(original, graph_of(TWO_PAWS, 8), **changed)
    return release.write(tmp_path / "release"), ids, original


def reclaim(folder, *, both=True, **changed) -> None:
    """Let the manifest claim something else, in every place where it says so."""
    manifest = manifest_of(folder)
    guarantee = manifest["claim"]["guarantee"]
    known = {name: guarantee.get(name) for name in ("k", "measure", "distance", "share", "phi")}
    promise = StructuralKAnonymity(
        **{name: value for name, value in known.items() if value is not None} | changed
    )
    guarantee |= changed
    manifest["claim"] |= {"sentence": promise.sentence, "threat_model": promise.threat_model}
    if both:
        kept = {name: value for name, value in changed.items() if name != "share"}
        manifest["method"]["parameters"] |= kept
    reseal(folder, manifest)


def set_parameters(folder, **changed) -> None:
    manifest = manifest_of(folder)
    manifest["method"]["parameters"] |= changed
    reseal(folder, manifest)


HUBS = [(0, leaf) for leaf in range(1, 12)] + [(12, leaf) for leaf in range(13, 23)]
HUBS_OF_OWN = [(0, 12), (1, 2)]


def two_hubs(tmp_path, **changed):
    """Write hubs of 11 and 10 leaves: each is within 10% of the other, not of 9."""
    original = graph_of([*HUBS, *HUBS_OF_OWN], 23)
    release, _ = release_of(original, graph_of(HUBS, 23), phi=10.0, **changed)
    return release.write(tmp_path / "release"), original


def test_what_similar_look_alikes_promise_holds_where_it_is_kept(tmp_path):
    folder, original = two_hubs(tmp_path)
    verdict = verify(folder, original=original)
    assert {} == failed(verdict)
    assert verdict.complete


@pytest.mark.parametrize("phi", [9.0909, 9.0, 0.0])
def test_a_smaller_uncertainty_than_is_kept_is_refused(tmp_path, phi):
    folder, original = two_hubs(tmp_path)
    assert "classes" not in failed(verify(folder, original=original))
    reclaim(folder, phi=phi)
    assert "classes" in failed(verify(folder, original=original))


def test_a_larger_uncertainty_holds_and_is_not_what_the_method_was_asked_for(tmp_path):
    folder, _ = two_hubs(tmp_path)
    reclaim(folder, both=False, phi=20.0)
    verdict = verify(folder)
    assert {"claim and parameters", "owner's record"} <= set(failed(verdict))
    assert "classes" not in failed(verdict)


def test_an_uncertainty_of_the_manifest_alone_is_noticed(tmp_path):
    folder, _, original = two_paws(tmp_path)
    reclaim(folder, both=False, phi=10.0)
    assert {"method", "owner's record"} == set(failed(verify(folder, original=original)))


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_whole_release_holds_and_nothing_stays_unchecked(tmp_path, measure, distance):
    folder, _, original = two_paws(tmp_path, measure=measure, distance=distance)
    verdict = verify(folder, original=original)
    assert {} == failed(verdict)
    assert verdict.complete


def test_a_whole_release_holds_for_the_degree(tmp_path):
    folder, _, original = two_paws(tmp_path, measure="degree", goal="budget:2edges")
    verdict = verify(folder, original=original)
    assert {} == failed(verdict)
    assert verdict.complete


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_moved_edge_that_leaves_a_node_alone_names_that_node(tmp_path, measure, distance):
    folder, ids, original = two_paws(tmp_path, measure=measure, distance=distance)
    old, new = ({ids[u], ids[v]} for u, v in ((0, 3), (7, 3)))
    edges = [edge for edge in edges_of(folder) if set(edge) != old]
    replace_edges(folder, sorted([*edges, sorted(new)]))
    problems = failed(verify(folder, original=original))
    assert {"owner's record", "classes", "subgraph", "edits"} == set(problems)
    named = problems["classes"].split("fewer than k=2: ")[1].split(" (")[0]
    assert int(named) in {ids[3], ids[7], ids[4]}


def test_a_moved_edge_is_named_with_the_class_and_all_that_stand_alone(tmp_path):
    folder, ids, _ = two_paws(tmp_path)
    old = {ids[0], ids[3]}
    edges = [edge for edge in edges_of(folder) if set(edge) != old]
    replace_edges(folder, sorted([*edges, sorted([ids[7], ids[3]])]))
    assert (
        f"the class of degree 1, 0 triangles holds 1 node, fewer than k=2: {ids[3]} "
        "(3 nodes in 3 classes below k, 0 allowed)" == failed(verify(folder))["classes"]
    )


@pytest.mark.parametrize("measure", ["degree", *MEASURES])
def test_a_larger_k_than_was_reached_fails(tmp_path, measure):
    folder, _, _ = two_paws(tmp_path, measure=measure)
    reclaim(folder, k=3)
    problems = failed(verify(folder))
    assert {"owner's record", "classes"} == set(problems)
    assert "holds 2 nodes, fewer than k=3" in problems["classes"]


def wheel(first, rim) -> list[tuple[int, int]]:
    """Return a hub, numbered `first`, linked to six nodes that have these edges among them."""
    spokes = [(first, first + 1 + node) for node in range(6)]
    return [*spokes, *((first + 1 + u, first + 1 + v) for u, v in rim)]


RING = [(node, (node + 1) % 6) for node in range(6)]
TRIANGLES = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]


def test_neighborhoods_of_equal_counts_that_are_not_isomorphic_fail_as_shapes(tmp_path):
    after = graph_of([*wheel(0, RING), *wheel(7, TRIANGLES)], 14)
    release, ids = release_of(after, after)
    folder = release.write(tmp_path / "release")
    assert {} == failed(verify(folder, original=after))
    reclaim(folder, measure="degree-distribution")
    assert "classes" not in failed(verify(folder, original=after))
    reclaim(folder, measure="dk")
    detail = failed(verify(folder, original=after))["classes"]
    assert "7 nodes and 12 edges within distance 1 holds 1 node, fewer than k=2" in detail
    assert int(detail.split("fewer than k=2: ")[1].split(" (")[0]) in {ids[0], ids[7]}
    assert "2 nodes in 2 classes below k" in detail


def test_a_finer_measure_than_was_reached_fails(tmp_path):
    path = graph_of([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (6, 7), (7, 8)], 9)
    release, _ = release_of(path, path)
    folder = release.write(tmp_path / "release")
    assert {} == failed(verify(folder, original=path))
    reclaim(folder, measure="vrq")
    assert "degrees 2, 1, 1 within distance 1 holds 1 node" in failed(verify(folder))["classes"]


def test_a_larger_distance_than_was_reached_fails(tmp_path):
    rings = [(0, 1), (1, 2), (2, 3), (0, 3), (4, 5), (5, 6), (6, 7), (7, 8), (4, 8)]
    graph = graph_of(rings, 9)
    release, ids = release_of(graph, graph, k=5)
    folder = release.write(tmp_path / "release")
    assert {} == failed(verify(folder, original=graph))
    reclaim(folder, distance=2)
    problems = failed(verify(folder, original=graph))
    assert {"owner's record", "classes"} == set(problems)
    named = ", ".join(map(str, sorted(ids[:4])))
    told = "4 nodes and 4 edges within distance 2 holds 4 nodes, fewer than k=5"
    assert f"{told}: {named} (" in problems["classes"]


def test_a_larger_share_than_was_reached_fails(tmp_path):
    edges = [*TWO_PAWS, (8, 9), (8, 10), (8, 11), (8, 12)]
    graph = graph_of(edges, 13)
    release, ids = release_of(graph, graph, share=12 / 13, goal="partial:0.9")
    folder = release.write(tmp_path / "release")
    verdict = verify(folder, original=graph)
    assert {} == failed(verdict)
    detail = next(item.detail for item in verdict.checks if item.name == "classes")
    assert detail.endswith("; 1 node in smaller classes, 1 allowed")
    reclaim(folder, share=0.95)
    detail = failed(verify(folder, original=graph))["classes"]
    assert f"holds 1 node, fewer than k=2: {ids[8]} (1 node in 1 class below k, 0 allow" in detail


@pytest.mark.parametrize(
    "changed", [{"k": 1}, {"measure": "edge-count"}, {"distance": 2}, {"k": 1, "measure": "vrq"}]
)
def test_a_claim_that_its_parameters_do_not_lead_to_fails(tmp_path, changed):
    folder, _, _ = two_paws(tmp_path)
    reclaim(folder, both=False, **changed)
    problems = failed(verify(folder))
    assert {"owner's record", "claim and parameters", "method"} >= set(problems)
    for name, value in changed.items():
        assert (
            f"the claim states {name}={value}, but the parameter is"
            in problems["claim and parameters"]
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("k", value) for value in (3, "2", 2.0, None, [2])),
        *(("distance", value) for value in (2, True, 1.0)),
        *(("measure", value) for value in ("dk", None, ["count"], {})),
        *(("edits", value) for value in ("drop", None, ["delete"], {})),
        *(
            ("goal", value)
            for value in ("", "fully", None, ["full"], 1, "partial:0", "partial:1.1")
        ),
        *(("goal", f"budget:{value}") for value in ("0edges", "-1", "2e9", "9" * 400, "1edge", "")),
    ],
)
def test_a_parameter_that_cannot_be_is_named_and_stops_nothing(tmp_path, name, value):
    folder, _, original = two_paws(tmp_path)
    set_parameters(folder, **{name: value})
    assert contradiction(failed(verify(folder, original=original)))


@pytest.mark.parametrize("value", [["add"], {}, None, 3])
def test_edits_of_k_degree_that_cannot_be_are_named(folder, value):
    set_parameters(folder, edits=value)
    assert "edits=" in contradiction(failed(verify(folder)))


def test_an_added_edge_is_named_where_edges_are_only_deleted(tmp_path):
    original = graph_of([*TWO_PAWS[:-1], (1, 5)], 8)
    release, ids = release_of(original, graph_of(TWO_PAWS, 8))
    problems = failed(verify(release.write(tmp_path / "release"), original=original))
    assert ["subgraph"] == list(problems)
    u, v = sorted((ids[4], ids[7]))
    told = "1 of the release's 8 edges are not in the original, the first is between nodes"
    assert f"{told} {u} and {v}" == problems["subgraph"]


def test_a_deleted_edge_is_named_where_edges_are_only_added(tmp_path):
    folder, ids, original = two_paws(tmp_path, extra=[(1, 5)], edits="add")
    problems = failed(verify(folder, original=original))
    assert {"supergraph", "degrees grow"} == set(problems)
    u, v = sorted((ids[1], ids[5]))
    assert f"the first is between its nodes {u} and {v}" in problems["supergraph"]


PATHS = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)]
REWIRED = [(0, 1), (1, 6), (2, 3), (4, 5), (5, 2), (6, 7)]


def rewired(tmp_path, after=REWIRED, **changed):
    """Write two paths that exchanged their tails."""
    original = graph_of(PATHS, 8)
    release, ids = release_of(original, graph_of(after, 8), **{"edits": "rewire"} | changed)
    return release.write(tmp_path / "release"), ids, original


def test_a_rewired_release_keeps_every_degree(tmp_path):
    folder, _, original = rewired(tmp_path, goal="budget:1edges")
    verdict = verify(folder, original=original)
    assert {} == failed(verdict)
    assert verdict.complete
    details = {item.name: item.detail for item in verdict.checks}
    assert "the 8 sorted degrees are those of the original" == details["degree sequence"]
    assert "every node has the same degree as in the original" == details["degrees kept"]
    assert "4 edges were added or deleted; the budget allows 4" == details["budget"]


def test_nodes_that_exchanged_their_degrees_are_named(tmp_path):
    after = [(0, 1), (0, 2), (2, 3), *PATHS[3:]]
    folder, ids, original = rewired(tmp_path, after)
    problems = failed(verify(folder, original=original))
    assert ["degrees kept"] == list(problems)
    first = min(ids[0], ids[1])
    was = {ids[0]: (2, 1), ids[1]: (1, 2)}[first]
    told = f"node {first} has degree {was[0]}, but {was[1]} in the original; 2 nodes differ"
    assert told == problems["degrees kept"]


def test_other_degrees_are_found_without_the_linkage(tmp_path):
    original = graph_of([*PATHS, (3, 4)], 8)
    release, _ = release_of(original, graph_of(PATHS, 8), edits="rewire")
    folder = release.write(tmp_path / "release", linkage=False)
    verdict = verify(folder, original=original)
    told = (
        "the degree at rank 5 (largest first) is 1 in the release, but 2 in the original; "
        "2 of 8 differ"
    )
    assert {"degree sequence": told} == failed(verdict)
    unchecked = {item.name for item in verdict.checks if item.outcome == "not checked"}
    assert {"linkage", "order says nothing", "degrees kept", "edits"} == unchecked


@pytest.mark.parametrize(
    ("goal", "edits", "kept"),
    [
        ("budget:2edges", "delete", True),
        ("budget:1edges", "delete", False),
        ("budget:0.2", "delete", True),
        ("budget:0.1", "delete", False),
        ("budget:0.11", "delete", True),
        ("budget:1edges", "any", True),
        ("budget:1e-05", "any", True),
    ],
)
def test_a_budget_that_was_overdrawn_is_found(tmp_path, goal, edits, kept):
    folder, _, original = two_paws(tmp_path, goal=goal, edits=edits)
    problems = failed(verify(folder, original=original))
    assert ([] if kept else ["budget"]) == list(problems)
    if not kept:
        assert "2 edges were added or deleted; the budget allows 1" == problems["budget"]


def test_what_needs_the_linkage_or_the_original_is_not_checked(tmp_path):
    folder, _, original = two_paws(tmp_path, goal="budget:2edges")
    alone = {item.name: item.needs for item in verify(folder).checks if item.needs}
    names = ("original", "same size", "linkage", "order says nothing", "subgraph", "budget")
    names += ("edits", "no original ids")
    assert dict.fromkeys(names, "--original") == alone
    (folder.with_name("release.private") / "linkage.parquet").unlink()
    unlinked = {
        item.name: item.needs
        for item in verify(folder, original=original).checks
        if item.outcome == "not checked"
    }
    names = ("linkage file", "linkage", "order says nothing", "subgraph", "budget", "edits")
    assert dict.fromkeys(names, "the private linkage") == unlinked


def test_a_swapped_linkage_is_found(tmp_path):
    folder, ids, original = two_paws(tmp_path)
    ids[0], ids[7] = ids[7], ids[0]
    write_linkage(folder, list(range(8)), ids)
    problems = failed(verify(folder, original=original))
    assert {"linkage file", "subgraph", "edits"} == set(problems)


@pytest.mark.parametrize("goal", ["full", "partial:0.95", "budget:0.05", "budget:200edges"])
def test_ids_that_are_also_in_the_spelling_of_a_goal_are_no_leak(tmp_path, goal):
    names = ["0", "95", "05", "full", "partial", "budget", "200edges", "count"]
    original = Graph.from_edges([u for u, _ in TWO_PAWS], [v for _, v in TWO_PAWS], ids=names)
    release, _ = release_of(original, original, goal=goal)
    verdict = verify(release.write(tmp_path / "release"), original=original)
    assert {} == failed(verdict)


def test_an_id_hidden_in_a_parameter_is_found(tmp_path):
    names = [f"person{place}" for place in range(8)]
    original = Graph.from_edges([u for u, _ in TWO_PAWS], [v for _, v in TWO_PAWS], ids=names)
    release, _ = release_of(original, original)
    folder = release.write(tmp_path / "release")
    set_parameters(folder, heuristic="budget:person3")
    problems = failed(verify(folder, original=original))
    assert "1 of 8 original ids are in 'budget:person3'" == problems["no original ids"]
