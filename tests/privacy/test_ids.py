from __future__ import annotations

import secrets
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from pyarrow import csv, parquet
from scipy import stats
from tampering import smallest

import graphveil as gv
from graphveil.core.randomness import Randomness
from graphveil.methods import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FALSE_ALARM = 1e-11
PATH = gv.Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
LIKES = gv.Bipartite.from_lists(
    [["tea"], ["tea", "rye"], [], ["rye"]], users=["ann", "bob", "cyd", "dan"]
)
ROWS = gv.Table.from_columns(
    {"sex": ["f", "f", "m", "m"], "age": ["30", "*", "30", "40"]}, ids=["ann", "bob", "cyd", "dan"]
)
ARCS = gv.Network((gv.Layer.from_arcs([0, 1, 2, 3], [1, 2, 3, 0], n=4),), None, PATH.labels())
FOUR = {gv.Graph: PATH, gv.Bipartite: LIKES, gv.Table: ROWS, gv.Network: ARCS}
"""Four people, by the kind of data."""
SEED = 918273645546372819


def ids_given(release):
    """Return the released id of every original node, in the order of the original."""
    linkage = release.private.linkage
    place = dict(zip(linkage.original.tolist(), linkage.released.tolist(), strict=True))
    return tuple(place[name] for name in PATH.labels().tolist())


def assert_uniform(counts, n):
    expected = sum(counts.values()) / len(list(permutations(range(n))))
    found = [counts[order] for order in permutations(range(n))]
    assert sum(found) == sum(counts.values()), "an order that is no permutation"
    statistic = sum((count - expected) ** 2 / expected for count in found)
    assert statistic < stats.chi2.isf(FALSE_ALARM, df=len(found) - 1)


def test_the_ids_of_a_release_are_one_uniform_permutation():
    counts = Counter(ids_given(gv.KDegree(k=2).anonymize(PATH)) for _ in range(1200))
    assert_uniform(counts, n=4)


@pytest.mark.parametrize("n", [4, 5])
def test_permutations_drawn_from_entropy_are_uniform(n):
    counts = Counter(tuple(Randomness().permutation(n).tolist()) for _ in range(12_000))
    assert_uniform(counts, n)


def test_the_test_of_uniformity_finds_an_order_that_is_kept():
    with pytest.raises(AssertionError):
        assert_uniform(Counter({(0, 1, 2, 3): 600, (1, 0, 2, 3): 600}), n=4)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_without_a_seed_the_ids_come_from_the_operating_system(method, monkeypatch):
    asked = []

    def keys(size):
        asked.append(size)
        return np.array([30, 10, 40, 20], dtype=np.uint64).tobytes()

    monkeypatch.setattr(secrets, "token_bytes", keys)
    least = smallest(method)
    releases = [least.anonymize(FOUR[method.accepts[0]]) for _ in range(2)]
    assert [32, 32] == asked
    by_draw = ("degree-triangle-model", "dp-1k", "super-nodes")  # a place follows from the draw
    if method.name not in by_draw:
        assert ids_given(releases[0]) == ids_given(releases[1])


def test_with_a_seed_no_entropy_reaches_the_ids(monkeypatch):
    monkeypatch.setattr(secrets, "token_bytes", lambda _: pytest.fail("entropy was drawn"))
    one, two = (gv.KDegree(k=2).anonymize(PATH, seed=5) for _ in range(2))
    assert ids_given(one) == ids_given(two)


def test_the_linkage_is_the_permutation_of_the_whole_file():
    graph = gv.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    release = gv.KDegree(k=2).anonymize(graph)
    linkage = release.private.linkage
    place = dict(zip(linkage.original.tolist(), linkage.released.tolist(), strict=True))
    moved = {frozenset((place[u], place[v])) for u, v in ("ab", "bc", "cd")}
    assert moved == {frozenset(edge) for edge in release.data.edges().tolist()}
    assert list(range(4)) == sorted(place.values())


def write_edges(path, rows):
    path.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in rows))
    return path


def released_bytes(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_order_and_direction_of_the_input_change_nothing_but_the_draw(tmp_path):
    rows = [("ann", "bob"), ("bob", "cyd"), ("cyd", "dan"), ("dan", "eve"), ("eve", "fay")]
    turned = [(v, u) for u, v in reversed(rows)]
    folders = []
    for name, listed in (("one", rows), ("two", turned)):
        graph = gv.read_graph(write_edges(tmp_path / f"{name}.csv", listed))
        release = gv.KDegree(k=2).anonymize(graph, seed=3)
        folders.append(release.write(tmp_path / name))
    assert released_bytes(folders[0]) == released_bytes(folders[1])


def test_nodes_that_come_first_in_the_input_get_no_early_ids():
    stars = gv.Graph.from_edges([0] * 3 + [4] * 3, [1, 2, 3, 5, 6, 7], n=8)
    firsts = [int(gv.KDegree(k=2).anonymize(stars).private.linkage.released[0]) for _ in range(800)]
    counts = np.bincount(firsts, minlength=8)
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_the_order_of_the_edges_in_the_file_is_that_of_the_new_ids(tmp_path, form):
    rng = np.random.Generator(np.random.PCG64(1))
    graph = gv.Graph.from_networkx(_random_graph(rng))
    folder = gv.KDegree(k=3).anonymize(graph).write(tmp_path / "out", format=form)
    path = folder / f"data.{form}"
    if form == "parquet":
        table = parquet.read_table(path)
    else:
        delimiter = {"csv": ",", "tsv": "\t"}[form]
        table = csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter))
    edges = list(zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True))
    assert ["source", "target"] == table.column_names
    assert all(u < v for u, v in edges)
    assert sorted(edges) == edges
    nodes = csv.read_csv(folder / "nodes.csv")["node"].to_pylist()
    assert list(range(graph.n_nodes)) == nodes


def _random_graph(rng):
    import networkx as nx  # noqa: PLC0415  needed here only

    graph = nx.Graph()
    graph.add_nodes_from(f"person-{i}" for i in range(30))
    ends = rng.integers(0, 30, size=(60, 2)).tolist()
    graph.add_edges_from((f"person-{u}", f"person-{v}") for u, v in ends if u != v)
    return graph


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_seed_stands_in_the_private_record_and_in_no_public_file(tmp_path, method):
    people = FOUR[method.accepts[0]]
    folder = smallest(method).anonymize(people, seed=SEED).write(tmp_path / "out")
    public = b"".join(released_bytes(folder).values())
    assert str(SEED).encode() not in public
    assert b'"seed"' not in public
    assert str(SEED).encode() in (tmp_path / "out.private" / "record.json").read_bytes()


def test_two_releases_of_one_input_have_different_ids():
    big = gv.Graph.from_edges(np.arange(40), (np.arange(40) + 1) % 40, n=40)
    one, two = (gv.KDegree(k=2).anonymize(big).private.linkage.released for _ in range(2))
    assert one.tolist() != two.tolist()
