"""Networks of the plainest shapes, and names that change nothing: what methods make of them."""

import csv
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.errors import DataError, InfeasibleError
from graphveil.methods.profile.targets import classes

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N, K = 12, 3

EVERYBODY = [(u, v) for u in range(N) for v in range(N) if u != v]
SHAPES = {
    "no arcs": [],
    "all arcs mutual": sorted({arc for v in range(1, 9) for arc in ((v, v // 2), (v // 2, v))}),
    "every arc there is": EVERYBODY,
    "a star out": [(0, v) for v in range(1, N)],
    "a star in": [(v, 0) for v in range(1, N)],
    "people without ties": [(0, 1), (1, 2), (2, 0), (0, 2), (3, 1)],
}

ATTRIBUTES = {
    "one color": ["f"] * N,
    "two colors": ["f", "m"] * (N // 2),
    "every color below k": [f"v{person // 2}" for person in range(N)],
    "some colors below k": ["f"] * (N - 3) + ["m", "m", "x"],
}


def network(arcs, values, *, directed):
    """Return a network of calls, or of who has ties at all where they have no directions."""
    source, target = zip(*arcs, strict=True) if arcs else ((), ())
    if directed:
        layer = gv.Layer.from_arcs(source, target, n=N)
    else:
        layer = gv.Layer.of(gv.Graph.from_edges(source, target, n=N, directed="symmetrize"))
    return gv.Network((layer,), gv.Table.from_columns({"sex": values}), [f"p{v}" for v in range(N)])


METHODS = {
    "profile": {edits: gv.Profile(k=K, known="sex", edits=edits) for edits in ("any", "add")},
    "k-degree": {edits: gv.KDegree(k=K, known="sex", edits=edits) for edits in ("any", "add")},
}


def cells_of(folder, *, directed):
    """Count from the published files alone who has which attribute and numbers of ties."""
    with (folder / "data.csv").open() as file:
        ties = list(csv.reader(file))[1:]
    out, into = Counter(u for u, _ in ties), Counter(v for _, v in ties)
    with (folder / "people.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert N == len(rows)
    if directed:
        return Counter((row["sex"], out[row["node"]], into[row["node"]]) for row in rows)
    return Counter((row["sex"], out[row["node"]] + into[row["node"]]) for row in rows)


@pytest.mark.parametrize(
    ("values", "edits"),
    [*((values, "any") for values in ATTRIBUTES), ("some colors below k", "add")],
)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", METHODS)
def test_the_plainest_networks_are_released_with_classes_of_k(name, shape, values, edits, tmp_path):
    directed = name == "profile"
    data = network(SHAPES[shape], ATTRIBUTES[values], directed=directed)
    release = METHODS[name][edits].anonymize(data, seed=1)
    folder = release.write(tmp_path / "out")
    cells = cells_of(folder, directed=directed)
    assert min(cells.values()) >= K
    verdict = gv.verify_release(folder, data)
    assert [] == verdict.failures()
    assert verdict.complete
    stars = sum(size for cell, size in cells.items() if cell[0] == "*")
    assert stars == {"every color below k": N, "some colors below k": 3}.get(values, 0)
    if shape in {"no arcs", "every arc there is"}:
        assert 0 == release.private.cost["edits"]


@pytest.mark.parametrize("name", METHODS)
def test_attributes_that_name_everybody_are_refused(name):
    data = network(SHAPES["a star out"], [f"v{v}" for v in range(N)], directed=name == "profile")
    with pytest.raises(DataError, match="nearly identifies them and cannot be known"):
        METHODS[name]["any"].anonymize(data)


@pytest.mark.parametrize("name", METHODS)
def test_colors_below_k_are_refused_where_nobody_may_be_suppressed(name):
    data = network([], ATTRIBUTES["every color below k"], directed=name == "profile")
    method = METHODS[name]["any"]
    with pytest.raises(InfeasibleError, match="12 of 12 nodes share sex with fewer than 2"):
        type(method).from_parameters({**method.parameters(), "merge": "none"}).anonymize(data)


def in_other_names(column, other):
    names = dict(zip("fmx", other, strict=True))
    return [names.get(value) for value in column]


def assert_same_but_names(method, ties, values, other, seed):
    """Whoever has other names for what people are gets the same release in these names."""
    one, two = (
        method.anonymize(network(ties, some, directed=method.name == "profile"), seed=seed)
        for some in (values, in_other_names(values, other))
    )
    assert one.guarantee == two.guarantee
    assert one.data.layers == two.data.layers
    assert one.private.cost == two.private.cost
    shown, renamed = (each.data.people_to_arrow()["sex"].to_pylist() for each in (one, two))
    assert in_other_names(shown, other) == renamed


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(EVERYBODY), unique=True, max_size=40),
    st.sampled_from([METHODS[name][edits] for name in METHODS for edits in METHODS[name]]),
    st.lists(st.sampled_from("fmx"), min_size=N, max_size=N),
    st.permutations("fmx"),
    st.integers(0, 2**32),
)
def test_attributes_of_other_names_give_the_same_edits(ties, method, values, other, seed):
    assert_same_but_names(method, ties, values, other, seed)


@pytest.mark.parametrize("suppress", [0.0, 0.4])
@pytest.mark.parametrize("method", [gv.KDegree, gv.Profile])
def test_whoever_is_suppressed_besides_does_not_hang_on_names(method, suppress):
    chosen = method(k=2, known="sex", suppress=suppress)
    ties = [EVERYBODY[at] for at in np.random.default_rng(3).choice(len(EVERYBODY), 30)]
    assert_same_but_names(chosen, ties, [*"fmxxmf" * 2], "xfm", 7)


@pytest.mark.parametrize("measure", ["count", "degree"])
def test_a_search_finds_the_same_under_other_names(measure):
    ties = [EVERYBODY[at] for at in np.random.default_rng(3).choice(len(EVERYBODY), 30)]
    chosen = gv.StructuralAnonymity(
        k=2, known="sex", measure=measure, goal="budget:.5", heuristic="search", iterations=500
    )
    assert_same_but_names(chosen, ties, [*"fmxxmf" * 2], "xfm", 7)


@settings(deadline=None)
@given(st.lists(st.sampled_from(EVERYBODY), unique=True, max_size=40))
def test_of_ties_both_ways_as_many_lead_away_as_back_and_as_a_person_has(arcs):
    both = sorted({*arcs, *((v, u) for u, v in arcs)})
    values = ATTRIBUTES["two colors"]
    directed, plain = (network(both, values, directed=each) for each in (True, False))
    degrees = plain.profiles()[:, 0]
    assert degrees.tolist() == [len({v for u, v in both if u == w}) for w in range(N)]
    assert np.array_equal(directed.profiles(), np.column_stack([degrees, degrees]))
    profile, degree = (gv.measure(data, known=["sex"], k=K) for data in (directed, plain))
    assert ("profile", "degree") == (profile.measure, degree.measure)
    assert profile.uniqueness == degree.uniqueness
    assert classes(profile.labels)[1].tolist() == classes(degree.labels)[1].tolist()
