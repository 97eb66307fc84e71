"""Every method with many parameters, on sample data of the kind that it accepts.

A new method is covered as soon as it is in METHODS; a new kind of data needs an entry in SAMPLES.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

import numpy as np
import pytest

import graphveil as gv
from emptied import emptied_database
from graphveil.core.errors import UsageError
from graphveil.core.parameters import flat_parameters, options_of
from graphveil.data.kinds import released_kind
from graphveil.methods import METHODS
from graphveil.methods.attributes import OF_ATTRIBUTES
from thorough import FUZZ, try_a_part

N = 40
MOST_PAIRS = {"adaptive": 3, "cluster-k": 3, "mondrian": 7, "smooth-k": 8, "suppress-k": 4}
"""How many pairs of changes are tried; 20 where nothing is said."""
QUICK = {
    "structural": {"iterations": 1000},
    "k-degree": {"prove": "never"},
    "profile": {"effort": 0.01},
}
"""Parameters that make a method quick on the small samples: quality is not tested here."""
TOGETHER = {
    "smooth-k": [
        {"chunk_rows": 16, "rounds": 1},
        {"chunk_rows": 16, "order": "label-propagation"},
        {"theta": "2/3", "threshold_noise": 1.0},
        {"algorithm": "facility", "refine": True, "cut": True},
    ],
    "suppress-k": [{"chunk_rows": 16, "algorithm": "facility"}],
    "profile": [
        {"goal": "partial:0.8", "edits": "delete"},
        {"goal": "partial:0.8", "edits": "any"},
    ],
}
"""Parameters that mean something together only."""
DIRECTED = {"measure": "directed-count"}
"""What a method asks of ties that have directions alone, and that has no other."""
ROLES = {"known": "sex,zip", "attach": "town", "suppress": 0.1}
"""What the attributes of the sample network are."""


class Case(NamedTuple):
    """A method with its parameters."""

    method: type
    parameters: dict[str, Any]
    kind: type

    @property
    def anonymizer(self):
        return self.method.from_parameters(self.parameters)

    def __str__(self):
        shown = " ".join(f"{name}={value}" for name, value in self.parameters.items())
        named = f"{self.kind.__name__} " if len(kinds_of(self.method)) > 1 else ""
        return f"{self.method.name} {named}{shown}"


def quick(method):
    """Return a method with the parameters of its example, made quick, for its first kind."""
    roles = roles_of(method, kinds_of(method)[0])
    return method.from_parameters({**method.card.example, **QUICK.get(method.name, {}), **roles})


def roles_of(method, kind):
    """Return what the attributes of the sample are, of a kind and a method that ask."""
    asked = {item.name for item in flat_parameters(method)} if kind is gv.Network else set()
    return {name: value for name, value in ROLES.items() if name in asked}


def kinds_of(method):
    """Return the kinds of data that a method takes and releases as they are."""
    kinds = method.accepts
    return [kind for kind in kinds if released_kind(kind, method.accepts[0]) is kind]


def values_of(item):
    """Return values of a parameter that are worth trying.

    A limit that is never below a thousand is beyond all samples: one value of it is like another.
    """
    kind = next(kind for kind in options_of(item.kind) if kind is not type(None))
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if kind is bool:
        return [False, True]
    low = item.metadata["minimum"]
    if kind is int and low is not None:
        return [low] if low >= 1000 else [low, low + 1]
    return []


def variants(method, kind):
    """Yield the example, it with one parameter changed, and in `make fuzz` with two."""
    changes = [{item.name: value} for item in flat_parameters(method) for value in values_of(item)]
    # on samples of this size auto does what always does, and takes seconds
    changes = [change for change in changes if change != {"prove": "auto"}]
    if kind is not gv.Network:
        changes = [change for change in changes if change != DIRECTED]
    if kind is gv.Network:  # the sample has people whose attributes few others have
        changes = [change for change in changes if change != {"merge": "none"}]
        if gv.Graph in kinds_of(method):  # what says nothing of attributes is tried on graphs
            changes = [change for change in changes if {*change} & {*OF_ATTRIBUTES, "edits"}]
            changes += [DIRECTED] if "measure" in method.card.example else []
    together = TOGETHER.get(method.name, [])
    if kind is gv.Table and gv.Bipartite in method.accepts:  # what is read as features is tried
        changes = [change for change in changes if {*change} & {"ties", "release"}]
        together = together[2:3]
    quick = [change for change in changes if change != {"prove": "always"}]
    pairs = [one | two for i, one in enumerate(quick) for two in quick[:i]]
    pairs = pairs[:: max(1, len(pairs) // MOST_PAIRS.get(method.name, 20))] if FUZZ else []
    seen = []
    roles = roles_of(method, kind)
    for change in [{}, *changes, *together, *pairs]:
        parameters = {**method.card.example, **QUICK.get(method.name, {}), **roles, **change}
        try:
            full = method.from_parameters(parameters).parameters()
        except UsageError:
            continue
        if full not in seen:
            seen.append(full)
            yield Case(method, parameters, kind)


def graph_ends():
    """Return the ends of a graph on N nodes with a hub, twins and, from N-4 on, isolated nodes."""
    rng = np.random.Generator(np.random.PCG64(20))
    ends = rng.integers(0, N - 4, size=(2 * N, 2))
    hub = np.column_stack([np.zeros(N // 2, dtype=np.int64), np.arange(1, N // 2 + 1)])
    ends = np.sort(np.concatenate([ends, hub]), axis=1)
    return np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)


def text_ids(n):
    return [f"person-{7 * i + 100_000}" for i in range(n)]


def big_ids(n):
    return [910_000_000_019 + 1_000_003 * i for i in range(n)]


def sample_graph(ids):
    ends = graph_ends()
    return gv.Graph.from_edges(ends[:, 0], ends[:, 1], ids=np.array(ids(N)))


def sample_lists():
    """Return what N users have: all have bread, three have nothing else and four rows are equal."""
    rng = np.random.Generator(np.random.PCG64(21))
    kinds = np.array(["tea", "rye, dark", "gin", "oil", "salt", "jam", '"mint"', "fig", "egg"])
    rows = [["bread", *kinds[rng.random(kinds.size) < 0.4].tolist()] for _ in range(N)]
    rows[:3] = [["bread"]] * 3
    rows[3:7] = [["bread", "fig", "tea"]] * 4
    return rows


def sample_bipartite(ids):
    """Return those lists as `Bipartite`; the last four users have nothing at all."""
    lists = [row if user < N - 4 else [] for user, row in enumerate(sample_lists())]
    return gv.Bipartite.from_lists(lists, users=np.array(ids(N)))


def sample_table(ids):
    """Return N rows of four columns; the last three rows are suppressed, four are equal."""
    rng = np.random.Generator(np.random.PCG64(22))
    sizes = {"sex": 2, "age": 4, "zip=code": 5, "of=age": 1}
    codes = np.column_stack([rng.integers(0, size, size=N) for size in sizes.values()])
    codes[N - 3 :] = -1
    codes[:4] = codes[0]
    columns = {
        name: [f"{name[:1]}{code}" if code >= 0 else "*" for code in codes[:, place].tolist()]
        for place, name in enumerate(sizes)
    }
    return gv.Table.from_columns(columns, ids=np.array(ids(N)))


def sample_network(ids):
    """Return the sample graph, and what is said of its people: a few say nothing, two are alone."""
    rng = np.random.Generator(np.random.PCG64(23))
    sex = [["f", "m"][code] for code in rng.integers(0, 2, size=N)]
    zips = [f"z, {code}" for code in rng.integers(0, 2, size=N)]
    zips[7], sex[11:14], zips[11:14] = "far away", ["*"] * 3, ["*"] * 3
    towns = [["Oslo", "Bergen", '"Tau"'][code] for code in rng.integers(0, 3, size=N)]
    columns = {"zip": zips, "town": towns, "sex": sex}
    return gv.Network({"ties": sample_graph(ids)}, gv.Table.from_columns(columns), ids(N))


def as_directed(network):
    """Return a network whose ties lead one way, the other way, and both ways, in turn."""
    n = network.n_nodes
    ends = np.column_stack(network.layers[0].ties())
    turn = np.arange(len(ends)) % 3
    arcs = np.concatenate([ends[turn != 1], ends[turn != 0][:, ::-1]])
    layer = gv.Layer.from_arcs(arcs[:, 0], arcs[:, 1], n=n)
    return gv.Network((layer,), network.people, network.ids)


def for_method(subject, data):
    """Return data as a method, or a case, takes it: with directions where it takes no other."""
    if isinstance(subject, Case):
        directed = subject.method.card.directed or DIRECTED.items() <= subject.parameters.items()
    else:
        directed = subject.card.directed
    return as_directed(data) if directed else data


def sample_of(subject, kind, ids):
    """Return the sample of a kind as a method, or a case, takes it."""
    return for_method(subject, SAMPLES[kind](ids))


SAMPLES = {
    gv.Graph: sample_graph,
    gv.Bipartite: sample_bipartite,
    gv.Table: sample_table,
    gv.Network: sample_network,
}
"""A function of ids that makes the sample, by the kind of data."""

SUBJECTS = [(method, kind) for method in METHODS.values() for kind in kinds_of(method)]
VARIANTS = [case for subject in SUBJECTS for case in variants(*subject)]
"""The example, and every one and every two of its parameters changed."""
FEW = [case for subject in SUBJECTS for case in list(variants(*subject))[:6]]
"""The example, and each of its first parameters changed alone."""

REST = [case for subject in SUBJECTS for case in list(variants(*subject))[6:]]
"""Every other variant."""


def claim_of(case):
    """Return what decides how `verify` checks a release: it knows promises, not methods."""
    anonymizer = case.anonymizer
    claim = anonymizer.guarantee
    conditions = {type(condition).__name__ for condition in anonymizer.conditions}
    return case.method, case.kind, type(claim), claim.check_word, frozenset(conditions)


CLAIMS = list({claim_of(case): case for case in reversed(VARIANTS)}.values())[::-1]
"""The first variant of a method with each type of claim and each set of types of conditions."""

BOUNDED = [case for case in FEW if case.anonymizer.rows_needed]
"""Those of the few that need some rows."""


def pytest_generate_tests(metafunc):
    """Give `case` every variant, `few` some of each method, `rest` the others, `claim` the claims.

    And `method` every method once, and `bounded` those of `few` that need some rows.
    """
    sets = (("case", VARIANTS), ("few", FEW), ("rest", REST), ("claim", CLAIMS))
    sets += (("bounded", BOUNDED),)
    for name, values in sets:
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, values, ids=str)
    if "method" in metafunc.fixturenames:
        metafunc.parametrize("method", METHODS.values(), ids=METHODS)


@pytest.fixture
def alike(few):
    """Which of the `few` of a method and a kind of data this one is, and how many there are."""
    every = [case for case in FEW if (case.method, case.kind) == (few.method, few.kind)]
    return every.index(few), len(every)


@pytest.fixture(scope="session")
def sample():
    """Return a function from a case, or a method, to data under text ids or large integers."""

    def make(subject, *, ids=text_ids, kind=None, directed=False):
        if directed:
            return as_directed(sample_network(ids))
        if isinstance(subject, Case):
            return sample_of(subject, kind or subject.kind, ids)
        return sample_of(subject, kind or kinds_of(subject)[0], ids)

    make.text_ids, make.big_ids, make.kinds_of = text_ids, big_ids, kinds_of
    make.quick, make.roles_of, make.for_method = quick, roles_of, for_method
    return make


def bare(ids):
    """Return the sample graph as a network of which nothing more is said."""
    return gv.Network({"ties": sample_graph(ids)}, ids=ids(N))


@pytest.fixture(scope="session")
def also():
    """Return a function from a method to the samples of every further kind that it takes."""

    def make(method, *, ids=text_ids):
        kinds = method.accepts[1:]
        return [bare(ids) if kind is gv.Network else SAMPLES[kind](ids) for kind in kinds]

    return make


@pytest.fixture
def one_database(monkeypatch):
    """Let releases be verified in one database, emptied after each: it halves what that takes.

    That verifying needs no more than a database of its own is seen where every variant is verified.
    """
    monkeypatch.setattr("graphveil.verify.check.database", emptied_database)


@pytest.fixture
def public_bytes():
    """Return a function from a release folder to the bytes of every file in it."""

    def read(folder):
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    return read


def method_and_kind(item):
    """Return which method a test looks at, and on which kind of data, where it says so."""
    params = item.callspec.params
    cases = [value for value in params.values() if isinstance(value, Case)]
    return (cases[0].method, cases[0].kind) if cases else params.get("method")


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    try_a_part(items, here / "test_methods.py", method_and_kind)
    try_a_part(items, here / "test_forgeries.py")
