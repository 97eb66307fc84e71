"""structural among people of one color: every class of color and measure is counted again."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.core.randomness import Randomness
from graphveil.methods.annealing.bounds import lower_bound
from graphveil.methods.annealing.task import Task
from graphveil.methods.structural.recount import applied
from graphveil.methods.structural.run import run

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

SEARCHED = ("count", "edge-count", "degree")
HEURISTICS = (
    "es",
    "degree",
    "affected",
    "unique",
    "ua",
    "ua-only",
    "search",
    "strip",
    "cut",
    "target",
)


@st.composite
def colored(draw, most=12):
    n = draw(st.integers(4, most))
    pairs = [(u, v) for v in range(n) for u in range(v)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1, max_size=2 * n))
    colors = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return gv.Graph.from_edges(*np.array(edges).T, n=n), np.array(colors, dtype=np.int64)


def task_of(graph, colors, measure, edits, k=2, allowed=1):
    return Task(
        graph=graph,
        measure=measure,
        distance=1,
        k=k,
        edits=edits,
        budget=graph.n_edges,
        allowed=allowed,
        colors=colors,
    )


def settings_of(heuristic):
    method = gv.StructuralAnonymity(heuristic=heuristic, iterations=300)
    return method.settings()


def look(graph, measure, v):
    """Return what a measure says of a node, by NetworkX."""
    plain = nx.Graph(graph.edges().tolist())
    plain.add_nodes_from(range(graph.n_nodes))
    near = plain.subgraph([v, *plain[v]])
    degree, edges = plain.degree(v), near.number_of_edges()
    return {
        "count": (degree, edges),
        "edge-count": edges,
        "degree": degree,
        "vrq": tuple(sorted(plain.degree(u) for u in near)),
    }[measure]


@settings(deadline=None)
@given(colored(), st.sampled_from(HEURISTICS), st.sampled_from([*SEARCHED, "vrq"]), st.data())
def test_whoever_is_called_protected_shares_color_and_measure_with_k(
    case, heuristic, measure, data
):
    graph, colors = case
    if measure == "vrq" and heuristic in {"search", "strip", "cut"}:
        return
    if heuristic == "target":
        measure = "count"
    kinds = ["delete"] if heuristic in {"strip", "cut"} else ["delete", "any", "add"]
    kinds = ["any"] if heuristic == "target" else kinds
    task = task_of(graph, colors, measure, data.draw(st.sampled_from(kinds)))
    chosen = settings_of("ua")._replace(heuristic=heuristic, iterations=300)
    result = run(task, chosen, Randomness(seed=data.draw(st.integers(0, 9))))
    after = applied(graph, result.edited)
    looks = [(int(colors[v]), look(after, measure, v)) for v in range(graph.n_nodes)]
    sizes = Counter(looks)
    alone = [v for v, value in enumerate(looks) if sizes[value] < task.k]
    assert alone == result.unprotected.tolist()
    assert len(alone) == result.edited.unprotected


@settings(deadline=None)
@given(colored(), st.sampled_from([*SEARCHED, "vrq"]), st.integers(0, 9))
def test_one_color_is_none(case, measure, seed):
    graph, _ = case
    results = [
        run(
            task_of(graph, colors, measure, "delete"),
            settings_of("ua"),
            Randomness(seed=seed),
        )
        for colors in (None, np.zeros(graph.n_nodes, dtype=np.int64))
    ]
    assert results[0].graph == results[1].graph
    assert results[0].unprotected.tolist() == results[1].unprotected.tolist()
    assert results[0].lower_bound == results[1].lower_bound


@settings(deadline=None)
@given(colored(most=10), st.sampled_from(["delete", "any"]))
def test_the_bound_of_colors_is_that_of_each_added_up(case, edits):
    graph, colors = case
    task = task_of(graph, colors, "count", edits, allowed=0)
    sizes = np.bincount(colors)
    bound = lower_bound(task)
    if sizes[sizes > 0].min() < task.k:
        assert bound is None
    else:
        assert bound is not None
        assert bound >= (lower_bound(task._replace(colors=None)) or 0)


def network(n=30):
    rng = np.random.default_rng(3)
    ends = rng.integers(0, n, size=(2, 4 * n))
    graph = gv.Graph.from_edges(*ends, n=n, directed="symmetrize")
    people = {"sex": ["f", "m"] * (n // 2), "town": ["Oslo", "Tau", "Bergen"] * (n // 3)}
    return gv.Network({"ties": graph}, gv.Table.from_columns(people), [f"p{v}" for v in range(n)])


@pytest.mark.parametrize("goal", ["full", "partial:0.9", "budget:0.2"])
def test_a_network_is_released_with_its_attributes_and_verifies(goal, tmp_path):
    method = gv.StructuralAnonymity(k=2, goal=goal, known="sex", attach="town", iterations=2_000)
    release = method.anonymize(network(), seed=1)
    assert ("town", "sex") == tuple(sorted(release.data.attributes, reverse=True))
    folder = release.write(tmp_path / "out")
    verdict = gv.verify_release(folder, network())
    assert [] == verdict.failures()
    assert verdict.complete
    assert "the same sex, and the same numbers of nodes and edges" in release.guarantee.sentence


def test_a_network_without_more_gives_the_release_of_its_graph_byte_for_byte(tmp_path):
    method = gv.StructuralAnonymity(k=2, iterations=1_000)
    bare = network().without("sex", "town")
    folders = [
        method.anonymize(data, seed=3).write(tmp_path / name)
        for name, data in (("graph", bare.graph()), ("network", bare))
    ]
    for file in folders[0].iterdir():
        assert file.read_bytes() == (folders[1] / file.name).read_bytes()


def test_what_does_not_know_attributes_is_refused_with_the_way_out():
    for given_ in ({"heuristic": "search", "measure": "vrq"},):
        with pytest.raises(ParameterError, match="Use ua, or auto"):
            gv.StructuralAnonymity(known="sex", **given_)
    with pytest.raises(DataError, match="no role given for sex"):
        gv.StructuralAnonymity(k=2).anonymize(network())
    with pytest.raises(InfeasibleError, match="Use merge="):
        gv.StructuralAnonymity(k=16, known="sex", attach="town", merge="none").anonymize(network())


def test_colors_that_leave_no_room_for_triangles_are_refused():
    graph = gv.Graph.from_edges([0], [1], n=3)
    task = task_of(graph, np.array([0, 1, 1 << 16]), "count", "delete")
    with pytest.raises(InfeasibleError, match="use measure=degree"):
        task.colored(graph.degrees())
