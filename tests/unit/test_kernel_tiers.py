"""A kernel that runs as Python for little work gives what it gives compiled, bit for bit."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import graphveil as gv
from graphveil.core.kernels._numba import FEW_STEPS, PublicKernel, TieredKernel
from graphveil.core.kernels.arrays import count_bits, first_bit
from graphveil.core.kernels.leaf import leaf
from graphveil.core.kernels.tiers import for_each_call, tiered
from kernels_data import dispatchers
from networks_data import random_graph

STRUCTURAL = [
    {},
    {"edits": "any"},
    {"edits": "rewire"},
    {"measure": "count", "distance": 2},
    {"measure": "degree-distribution"},
    {"measure": "dk"},
    {"measure": "vrq"},
    {"phi": 10.0},
    {"k": 2, "heuristic": "mirror", "effort": 0.01},
]
DELETED = {
    "k": 4,
    "effort": 0.1,
    "measure": "count",
    "goal": gv.Partial(share=0.8),
    "edits": "delete",
}
RUNS = {
    "k-degree": [("k-degree", {"k": 4, "edits": edits}) for edits in ("add", "any")]
    + [("k-degree", {"k": 4, "edits": "add", "target": "greedy"})],
    "structural": [("structural", {"k": 4, "effort": 0.1, **more}) for more in STRUCTURAL]
    + [
        ("structural dense", DELETED),
        ("structural directed", {"k": 3, "effort": 0.1, "measure": "directed-count"}),
        ("structural", {"k": 2, "effort": 0.1, "goal": gv.Budget(share=0.1), "edits": "delete"}),
    ],
    "smooth-k": [
        (method, {"k": 4}) for method in ("smooth-k", "smooth-k popular", "mondrian", "suppress-k")
    ],
    "profile": [("profile", {"k": 3, "edits": edits}) for edits in ("add", "any")],
    "measures": [("hrg-mcmc", {"epsilon": 2.0})],
    "degree-triangle": [("degree-triangle-model", {"epsilon": 4.0})],
    "super-nodes": [("super-nodes", {"k": 4, "sweeps": 5})],
}
KERNELS = {
    "k-degree": "methods.k_degree.",
    "profile": "methods.profile.",
    "structural": ("methods.structural.", "methods.annealing.", "measures."),
    "smooth-k": ("methods.smooth_k.", "methods.equivalence_classes."),
    "measures": "methods.random_graphs.kernels.hierarchy.",
    "degree-triangle": "methods.random_graphs.kernels.triangle",
    "super-nodes": (
        "methods.random_graphs.kernels.super_nodes.",
        "attacks.kernels.group_exchange.",
    ),
}
"""The kernels whose tests need no other room's."""
ATTACKED = {"super-nodes": "group-assignment"}
"""The attacks that have kernels of a room."""
EVER = 1 << 60


def same(one, other):
    """Return whether two values are equal, bit for bit, with all that they hold."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.random.Generator):
        return same(str(one.bit_generator.state), str(other.bit_generator.state))
    return one == other


@pytest.fixture
def compared(monkeypatch):
    """Let every call run both ways, and return the names of the kernels that were."""
    names = set()
    interpret = TieredKernel.interpreted

    def run_both_ways(kernel, *arguments):
        as_python = copy.deepcopy(arguments)
        expected = interpret(kernel, *as_python)
        actual = PublicKernel.__call__(kernel, *arguments)
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
        names.add(name.removeprefix("graphveil."))
        assert same(as_python, arguments), f"{name} writes something else into its arguments"
        if not name.endswith("make_ball"):  # it returns room that nothing has written to yet
            assert same(expected, actual), f"{name} returns another value"
        return actual

    monkeypatch.setattr(TieredKernel, "interpreted", run_both_ways)
    monkeypatch.setattr(TieredKernel, "few_steps", EVER)
    return names


def data_for(method):
    if method == "smooth-k popular":  # an item that all have
        return gv.Bipartite.from_lists([["item", f"item {number}"] for number in range(600)])
    if method == "smooth-k":  # of few items, so that many clusters share some
        rng = np.random.Generator(np.random.PCG64(1))
        names = np.array([f"item {number}" for number in range(8)])
        return gv.Bipartite.from_lists([rng.choice(names, 3, replace=False) for _ in range(300)])
    if method in {"mondrian", "adaptive", "suppress-k"}:
        rng = np.random.Generator(np.random.PCG64(1))
        return gv.Table.from_columns({c: rng.integers(0, 3, 40).tolist() for c in "abc"})
    if method in {"profile", "structural directed"}:
        ends = (100 * np.random.Generator(np.random.PCG64(1)).random((2, 150)) ** 2).astype(int)
        return gv.Network((gv.Layer.from_arcs(*ends[:, ends[0] != ends[1]], n=100),))
    return random_graph(30, 200 if method == "structural dense" else 70)


@pytest.mark.parametrize("room", RUNS)
def test_a_tiered_kernel_gives_the_same_as_python_and_compiled(room, compared):
    for method, parameters in RUNS[room]:
        data = data_for(method)
        release = gv.anonymize(data, method.partition(" ")[0], seed=1, **parameters)
        if room in ATTACKED:
            gv.attack_release(release, data, attacks=[ATTACKED[room]], seed=1)
    known = {
        name.removeprefix("graphveil.")
        for name, kernel in dispatchers().items()
        if isinstance(kernel, TieredKernel)
    }
    assert {name for name in known if name.startswith(KERNELS[room])} <= compared


def test_every_tiered_kernel_belongs_to_a_room():
    rooms = tuple("graphveil." + start for start in flat(KERNELS.values()))
    tiered_ones = [name for name, each in dispatchers().items() if isinstance(each, TieredKernel)]
    assert len(tiered_ones) > 30
    assert [] == [name for name in tiered_ones if not name.startswith(rooms)]


def flat(starts):
    return [each for some in starts for each in (some if isinstance(some, tuple) else (some,))]


def halve(value):
    return _half(value)


def _halved(value):
    return value // 2


_half = leaf(_halved)


@pytest.fixture
def in_tiers(monkeypatch):
    monkeypatch.setattr(TieredKernel, "few_steps", FEW_STEPS)


@pytest.mark.usefixtures("in_tiers")
def test_a_kernel_is_compiled_once_its_calls_came_to_many_steps():
    kernel = tiered(for_each_call(FEW_STEPS // 2))(leaf(halve))
    counts = []
    for _ in range(4):
        assert 3 == kernel(7)
        counts.append(len(kernel.overloads))
    assert [0, 0, 1, 1] == counts


@pytest.mark.parametrize(
    ("begun", "at_once"), [("", False), ("sys.ps1 = '>>> '", True), ("gv.precompile()", True)]
)
def test_a_process_that_lives_on_compiles_at_once(begun, at_once):
    script = f"""if 1:
        import sys
        import graphveil as gv
        {begun}
        from graphveil.measures.kernels.neighborhoods import ball_sizes
        print(ball_sizes.few_steps < 0)
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert f"{at_once}\n" == done.stdout.decode()


@pytest.mark.usefixtures("in_tiers")
def test_an_error_in_python_leaves_other_kernels_compiled():
    kernel = tiered(for_each_call(1))(leaf(halve))
    with pytest.raises(TypeError):
        kernel("seven")
    with pytest.raises(TypeError, match="compiled for use by other kernels only"):
        _half(7)


@pytest.mark.parametrize(
    "name",
    ["measures.kernels.neighborhoods.ball_sizes", "methods.annealing.kernels.anneal.anneal"],
)
def test_another_process_gets_a_kernel_by_its_name(name):
    kernel = dispatchers()[f"graphveil.{name}"]
    assert pickle.loads(pickle.dumps(kernel)) is kernel  # noqa: S301  our own bytes


def test_bits_of_a_word_are_counted_as_by_the_processor():
    @leaf
    def both(word):
        return count_bits(word), first_bit(word)

    for word in map(np.uint64, (1, 2, 12, 2**63, 2**64 - 1, 0xF0F0)):
        assert (count_bits(word), first_bit(word)) == both(word)
