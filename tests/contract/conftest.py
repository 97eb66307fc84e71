"""Every method with many parameters, on sample data of the kind that it accepts.

A new method is covered as soon as it is in METHODS; a new kind of data needs an entry in SAMPLES.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Literal, NamedTuple, get_args, get_origin
from typing import get_type_hints as hints_of

import numpy as np
import pytest

import graphveil as gv
from graphveil.errors import UsageError
from graphveil.methods import METHODS

N = 40
MOST_PAIRS = 20
QUICK = {"structural": {"iterations": 1000}}
"""Parameters that make a method quick on the small samples: quality is not tested here."""


class Case(NamedTuple):
    """A method with its parameters."""

    method: type
    parameters: dict[str, Any]

    @property
    def anonymizer(self):
        return self.method.from_parameters(self.parameters)

    def __str__(self):
        shown = " ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.method.name} {shown}"


def values_of(item, hint):
    """Return values of a parameter that are worth trying."""
    kinds = get_args(hint) if get_origin(hint) is types.UnionType else (hint,)
    kind = next(kind for kind in kinds if kind is not type(None))
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if kind is bool:
        return [False, True]
    low = item.metadata["minimum"]
    if kind is int and low is not None:
        return [low, low + 1]
    return []


def variants(method):
    """Yield the example, it with one parameter changed, and with two, some 20 pairs at most."""
    hints = hints_of(method)
    changes = [
        {item.name: value}
        for item in dataclasses.fields(method)
        for value in values_of(item, hints[item.name])
    ]
    pairs = [one | two for i, one in enumerate(changes) for two in changes[:i]]
    pairs = pairs[:: max(1, len(pairs) // MOST_PAIRS)]
    seen = []
    for change in [{}, *changes, *pairs]:
        parameters = {**method.example, **QUICK.get(method.name, {}), **change}
        try:
            full = method.from_parameters(parameters).parameters()
        except UsageError:
            continue
        if full not in seen:
            seen.append(full)
            yield Case(method, parameters)


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


SAMPLES = {gv.Graph: sample_graph}
"""A function of ids that makes the sample, by the kind of data."""

VARIANTS = [case for method in METHODS.values() for case in variants(method)]
"""The example, and every one and every two of its parameters changed."""
FEW = [case for method in METHODS.values() for case in list(variants(method))[:6]]
"""The example, and each of its first parameters changed alone."""


def pytest_generate_tests(metafunc):
    """Give `case` every variant, `few` some of each method, `method` every method once."""
    for name, values in (("case", VARIANTS), ("few", FEW)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, values, ids=str)
    if "method" in metafunc.fixturenames:
        metafunc.parametrize("method", METHODS.values(), ids=METHODS)


@pytest.fixture(scope="session")
def sample():
    """Return a function from a method to sample data under text ids, or under large integers."""

    def make(method, *, ids=text_ids):
        return SAMPLES[method.accepts](ids)

    make.text_ids, make.big_ids = text_ids, big_ids
    return make


@pytest.fixture
def public_bytes():
    """Return a function from a release folder to the bytes of every file in it."""

    def read(folder):
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    return read
