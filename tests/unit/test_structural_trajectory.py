"""The trajectory of a heuristic: every point recounted by hand, functions beside names."""

from __future__ import annotations

from collections import Counter

import numba
import numpy as np
import pytest

import graphveil as gv
from graphveil.core.errors import InputError, ParameterError

CALLS = gv.datasets.load("copenhagen-calls")


def values(rows):
    return [row.value for row in rows]


def degrees(graph):
    return graph.degrees()


def even(graph, edges, unique):
    del graph, unique
    return np.ones(len(edges))


def test_it_begins_with_the_measured_share_goes_down_and_up_and_ends_without_edges():
    rows = gv.trajectory(CALLS, heuristic="es", seed=1)
    alone = [one for one in gv.measure(CALLS, measure="count").own_sizes.tolist() if one == 1]
    assert len(alone) / CALLS.n_nodes == rows[0].value
    assert (101, 0, 621) == (len(rows), rows[0].setting.edits, rows[100].setting.edits)
    assert 0.0 == rows[100].value
    assert any(np.diff(values(rows)) > 0), "rises are shown"
    assert [point * 621 // 100 for point in range(101)] == [row.setting.edits for row in rows]
    assert [f"{point}% of the edges" for point in range(101)] == [row.part for row in rows]
    assert 31 == rows["trajectory", "5% of the edges"].setting.edits


def test_every_point_is_the_share_of_values_that_one_node_has():
    seen = []

    def told(graph):
        seen.append(graph)
        return np.stack([graph.degrees(), graph.degrees() % 2], axis=1)

    rows = gv.trajectory(CALLS, heuristic=even, measure=told, points=6, seed=2)
    for graph, row in zip(seen, rows, strict=True):
        counts = Counter(graph.degrees().tolist())
        unique = sum(times for times in counts.values() if times == 1)
        assert unique / CALLS.n_nodes == row.value
        assert CALLS.n_edges - graph.n_edges == row.setting.edits
        assert 0 == (graph.to_scipy() > CALLS.to_scipy()).nnz, "nodes keep their positions"


def test_functions_equal_the_names_that_they_spell():
    given = {"points": 21, "seed": 3}
    own = gv.trajectory(CALLS, heuristic=even, measure=degrees, **given)
    assert values(gv.trajectory(CALLS, heuristic="es", measure="degree", **given)) == values(own)


def test_functions_that_numba_compiled_get_arrays():
    @numba.njit
    def weight(indptr, indices, edges, unique):  # noqa: ARG001  as it is called
        made = np.zeros(len(edges))
        for number in range(len(edges)):
            made[number] = 1 + unique[edges[number, 0]] + unique[edges[number, 1]]
        return made

    @numba.njit
    def degree(indptr, indices):  # noqa: ARG001  as it is called
        return indptr[1:] - indptr[:-1]

    def plain(graph, edges, unique):
        return weight.py_func(graph.indptr, graph.indices, edges, unique)

    given = {"points": 6, "seed": 4}
    compiled = gv.trajectory(CALLS, heuristic=weight, measure=degree, **given)
    assert values(gv.trajectory(CALLS, heuristic=plain, measure="degree", **given)) == values(
        compiled
    )


def test_an_edge_of_weight_0_goes_last():
    star = gv.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)
    left = []

    def told(graph):
        left.append(graph.edges().tolist())
        return graph.degrees()

    def not_the_last(graph, edges, unique):
        del graph, unique
        return (edges.min(axis=1) == 0) * 1.0

    gv.trajectory(star, heuristic=not_the_last, measure=told, points=5, seed=1)
    assert [[1, 2]] == left[3]


def test_several_trajectories_are_one_picture():
    both = [gv.trajectory(CALLS, heuristic=one, points=5, seed=1) for one in ("es", "ua")]
    figure = gv.plot(gv.Rows([*both[0], *both[1]]))
    assert ("es", "ua") == figure.methods
    assert 10 == len(figure.panel.dots)
    assert ">ua<" in figure.svg


@pytest.mark.parametrize("edits", ["add", "rewire", "any"])
def test_other_edits_have_a_trajectory_too(edits):
    rows = gv.trajectory(CALLS, heuristic="ua", edits=edits, share=0.05, points=3, seed=1)
    assert [0, 15, 31] == [row.setting.edits for row in rows]
    assert ["0% of the edges", "2.5% of the edges", "5% of the edges"] == [r.part for r in rows]


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"heuristic": "search"}, ParameterError, "heuristic='search'"),
        ({"heuristic": even, "edits": "add"}, ParameterError, "edits=add"),
        ({"measure": "size"}, ParameterError, "unknown measure 'size'"),
        ({"points": 1}, ParameterError, "points=1"),
        ({"share": 0.0}, ParameterError, "share=0.0"),
        ({"heuristic": lambda *_: [1.0]}, InputError, "must return 621 finite weights"),
        ({"heuristic": lambda _, edges, __: -np.ones(len(edges))}, InputError, "none below 0"),
        ({"measure": lambda _: 3}, InputError, "must return 536 values"),
    ],
)
def test_what_cannot_be_is_refused(given, kind, said):
    with pytest.raises(kind, match=said):
        gv.trajectory(CALLS, **{"points": 3, "seed": 1, **given})
