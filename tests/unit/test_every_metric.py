"""Whatever the release is, every metric gives rows that can be read, or one line that says why not.

A metric that is added to `METRICS` is held to this without a line here.
"""

from __future__ import annotations

import json
import math

import msgspec
import networkx as nx
import numpy as np
import pytest

import graphveil as gv
from graphveil.claims.guarantees import KAnonymity
from graphveil.core.errors import UsageError
from graphveil.evaluate import METRICS
from graphveil.evaluate.measuring import NEEDS_LINKAGE
from graphveil.evaluate.metric import UNDEFINED
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.evaluate import evaluate_release as evaluate

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

IN_PIECES = nx.disjoint_union_all(
    [nx.barbell_graph(4, 1), nx.cycle_graph(5), nx.star_graph(3), nx.empty_graph(2)]
)
"""Components of several sizes and forms, and people without ties: 20 nodes."""

CONNECTED = nx.barabasi_albert_graph(20, 2, seed=1)


def users(rows, features="abcdef"):
    pairs = [(user, feature) for user, row in enumerate(rows) for feature in row]
    return gv.Bipartite.from_pairs(
        np.array([user for user, _ in pairs], dtype=np.int64),
        np.array([feature for _, feature in pairs], dtype="T"),
        users=range(len(rows)),
        features=np.array(list(features), dtype="T"),
    )


def table(rows):
    return gv.Table.from_columns({"sex": [row[0] for row in rows], "town": [r[1] for r in rows]})


def graph(plain):
    return gv.Graph.from_networkx(plain)


def network(plain):
    """Return a graph whose ties lead one way, the other way and both, and a sex and a town each."""
    edges = graph(plain).edges()
    turn = np.arange(len(edges)) % 3
    arcs = np.concatenate([edges[turn != 1], edges[turn != 0][:, ::-1]])
    n = plain.number_of_nodes()
    layer = gv.Layer.from_arcs(arcs[:, 0], arcs[:, 1], n=n)
    said = {"sex": (["f", "m", "f", "*"] * n)[:n], "town": (["x"] * 3 + ["y"] * 2) * n}
    return gv.Network((layer,), gv.Table.from_columns({k: v[:n] for k, v in said.items()}))


DATA = {
    gv.Graph: {
        "some": graph(CONNECTED),
        "in pieces": graph(IN_PIECES),
        "empty": graph(nx.empty_graph(20)),
        "all alike": graph(nx.cycle_graph(20)),
        "one": graph(nx.empty_graph(1)),
        "two": graph(nx.path_graph(2)),
    },
    gv.Network: {
        "some": network(CONNECTED),
        "in pieces": network(IN_PIECES),
        "empty": network(nx.empty_graph(20)),
        "all alike": network(nx.cycle_graph(20)),
        "one": network(nx.empty_graph(1)),
        "two": network(nx.path_graph(2)),
    },
    gv.Bipartite: {
        "some": users(["ab", "abc", "d", ""]),
        "in pieces": users(["a", "b", "c", "def"]),
        "empty": users(["", "", "", ""]),
        "all alike": users(["ab", "ab", "ab", "ab"]),
        "one": users(["ab"]),
        "two": users(["a", "b"]),
    },
    gv.Table: {
        "some": table(["fx", "fy", "mx", "m*"]),
        "in pieces": table(["ab", "cd", "ef", "gh"]),
        "empty": table(["**", "**", "**", "**"]),
        "all alike": table(["fx", "fx", "fx", "fx"]),
        "one": table(["fx"]),
        "two": table(["fx", "my"]),
    },
}

CASES = [
    ("some", "some"),
    ("some", "in pieces"),
    ("in pieces", "some"),
    ("some", "empty"),
    ("empty", "some"),
    ("empty", "empty"),
    ("some", "all alike"),
    ("all alike", "some"),
    ("one", "one"),
    ("two", "two"),
]


def released(data, original, *, linked=True):
    """Return a release of this data, everybody at another place than in the original."""
    positions = np.roll(np.arange(data.size), 1)
    people = Linkage(np.arange(data.size), positions) if linked else None
    return Release(
        data=data,
        guarantee=KAnonymity(k=1),
        provenance=Provenance(method="by-hand", source="a test", limits="all", parameters={}),
        private=Private(input_sha256=digest_of(original), linkage=people),
    )


def measured(name, before, after, *, linked=True):
    data = DATA[METRICS[name].kind]
    release = released(data[after], data[before], linked=linked)
    return evaluate(release, original=data[before], metrics=[name], seed=1)


def check(evaluation, name):
    """Check the rows one by one, or the line in their stead."""
    assert bool(evaluation) != bool(evaluation.not_measured)
    for reason in evaluation.not_measured.values():
        assert reason == " ".join(reason.split())
    for row in evaluation:
        assert (name, True) == (row.question, bool(row.part and row.unit))
        assert row.direction in {METRICS[name].direction, "for comparison"}
        assert math.isfinite(row.value)
        assert (row.known == "sampled") == (row.sample_size is not None)
        assert (row.low is None) == (row.high is None)
        if row.low is not None:
            assert row.sample_size
            assert -math.inf < row.low <= row.value <= row.high < math.inf
    assert len(evaluation) == len({row.part for row in evaluation})
    json.loads(msgspec.json.encode(evaluation.summary()))


@pytest.mark.parametrize("case", CASES, ids=" to ".join)
@pytest.mark.parametrize("name", METRICS)
def test_a_metric_gives_rows_or_one_line(name, case):
    check(measured(name, *case), name)


@pytest.mark.parametrize("case", [("some", "in pieces"), ("one", "one")], ids=" to ".join)
@pytest.mark.parametrize("name", METRICS)
def test_without_linkage_a_metric_gives_rows_or_says_that_it_needs_it(name, case):
    evaluation = measured(name, *case, linked=False)
    check(evaluation, name)
    if METRICS[name].needs_linkage:
        assert {name: NEEDS_LINKAGE} == evaluation.not_measured
    else:
        assert measured(name, *case) == evaluation


@pytest.mark.parametrize("name", METRICS)
def test_another_original_is_refused_in_one_line(name):
    data = DATA[METRICS[name].kind]
    with pytest.raises(UsageError, match="this is not the original") as refused:
        evaluate(released(data["some"], data["some"]), original=data["in pieces"], metrics=[name])
    assert 1 == len(str(refused.value).splitlines())


@pytest.mark.parametrize("name", METRICS)
def test_another_kind_is_refused_in_one_line(name):
    for kind, data in DATA.items():
        read = METRICS[name].kind
        if kind is read or (kind is gv.Table and METRICS[name].reads_tables):
            continue
        if (kind, read) in ((gv.Network, gv.Graph), (gv.Table, gv.Bipartite)):
            continue  # metrics of graphs read the ties of networks, those of features a table's
        release = released(data["some"], data["some"])
        with pytest.raises(UsageError, match=f"{name} requires a {METRICS[name].kind.__name__}"):
            evaluate(release, original=data["some"], metrics=[name])


UNDEFINED_WITHOUT_EDGES = {
    *("power-law", "transitivity", "assortativity", "clustering", "graphlets"),
    *("shortest-path", "characteristic-length", "effective-diameter", "diameter"),
    *("distance-distribution", "spectral-radius", "spectral-gap", "modularity"),
    *("core-correlation", "pagerank-correlation", "eigenvector-correlation"),
}
UNDEFINED_WHERE_ALL_ARE_ALIKE = {
    *("power-law", "assortativity", "core-correlation"),
    *("pagerank-correlation", "eigenvector-correlation"),
}


def has_errors_alone(name):
    """Whether all that a metric says is relative to the original, where that may be 0."""
    return {"relative error"} == {row.part for row in measured(name, "some", "some")}


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("empty", UNDEFINED_WITHOUT_EDGES),
        ("all alike", UNDEFINED_WHERE_ALL_ARE_ALIKE),
        ("one", UNDEFINED_WITHOUT_EDGES),
    ],
)
def test_what_a_graph_has_not_is_missing_and_no_zero(what, expected):
    graphs = [name for name, metric in METRICS.items() if metric.kind is gv.Graph]
    other = "one" if what == "one" else "some"
    for before, after in ((what, what), (what, other), (other, what)):
        missing = {name: measured(name, before, after).not_measured for name in graphs}
        reasoned = {name for name, reasons in missing.items() if reasons}
        assert expected <= reasoned
        assert all(has_errors_alone(name) for name in reasoned - expected)
        assert all(
            reasons[name] == UNDEFINED or reasons[name].startswith("undefined: all nodes")
            for name, reasons in missing.items()
            if reasons
        )


def test_the_gap_of_a_network_in_pieces_is_that_of_its_largest_piece():
    rows = measured("spectral-gap", "in pieces", "in pieces")
    piece = nx.normalized_laplacian_matrix(nx.barbell_graph(4, 1)).toarray()
    assert np.linalg.eigvalsh(piece)[1] == pytest.approx(rows[0].value)
    assert rows[0].value > 0.05
