"""Noise for ties on the disk: the law of independent cells, drawn once, entered in a ledger."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil import io
from graphveil.claims.guarantees import EdgeDP, NotClaimed
from graphveil.cli import run as command_line
from graphveil.core.errors import (
    GraphveilWarning,
    InfeasibleError,
    InputError,
    ReleaseError,
    UsageError,
)
from graphveil.core.randomness import Randomness
from graphveil.methods.noise.cells import Channel, channel
from graphveil.methods.noise.laws import FULL, distinct, words_from
from graphveil.methods.noisy_cells.noisy import resized
from graphveil.release.claiming import promised
from graphveil.release.files import read_linkage
from graphveil.scale import anonymize_ties
from graphveil.scale.ties import noise
from graphveil.scale.ties import run as stages
from graphveil.scale.ties.lists import NeighborLists

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "edges that are added to an exact size although they are there",
        "means": "A release of an exact size has fewer edges than it says, or edges twice.",
        "file": "src/graphveil/scale/ties/noise.py",
        "old": 'np.searchsorted(others_before, here, side="right")',
        "new": 'np.searchsorted(others_before, here, side="left")',
    },
    {
        "name": "an exact size of the true number of edges",
        "means": "The number of ties is published as it is, outside of epsilon.",
        "file": "src/graphveil/scale/ties/run.py",
        "old": "resize(lists, drawn_file, drawn, int(size), words, file)",
        "new": "resize(lists, drawn_file, drawn, graph.n_edges, words, file)",
    },
]

METHODS = [gv.AsymmetricResponse(epsilon=3.0), gv.RandomizedResponse(epsilon=3.0)]
EXACT = gv.AsymmetricResponse(epsilon=3.0, exact_size=True)


def drawn(graph, through, path, *, seed=0, block_cells=2):
    lists, words = NeighborLists(graph.indptr, graph.indices), words_from(Randomness(seed), "cells")
    counts = noise.draw(lists, through, words, path, lambda _: None, block_cells=block_cells)
    keys = np.concatenate([np.empty(0, np.int64), *noise.read(path)])
    return counts, [(int(key >> 32), int(key & 0xFFFFFFFF)) for key in keys]


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 9))
    pairs = [*itertools.combinations(range(n), 2)]
    edges = draw(st.sets(st.sampled_from(pairs)))
    ends = np.array([*edges], dtype=np.int64).reshape(-1, 2)
    return gv.Graph.from_edges(*ends.T, n=n)


@given(graph=graphs(), block_cells=st.sampled_from([1, 3, 1000]))
def test_certain_chances_give_the_edges_and_all_other_pairs(graph, block_cells, tmp_path_factory):
    path = tmp_path_factory.mktemp("noise") / "cells"
    edges = [tuple(edge) for edge in graph.edges().tolist()]
    pairs = [*itertools.combinations(range(graph.n_nodes), 2)]
    counts, cells = drawn(graph, Channel(0, FULL), path, block_cells=block_cells)
    assert (edges, (len(edges), len(edges))) == (cells, tuple(counts))
    others = [pair for pair in pairs if pair not in edges]
    counts, cells = drawn(graph, Channel(FULL, 0), path, block_cells=block_cells)
    assert (others, (len(others), 0)) == (cells, tuple(counts))


def test_cells_of_all_blocks_are_independent_with_their_chances(tmp_path):
    graph = gv.Graph.from_edges([0, 0, 1, 2], [1, 3, 2, 3], n=4)
    through = channel(Fraction(1, 2), Fraction(1))
    pairs = [*itertools.combinations(range(4), 2)]
    edges = [tuple(edge) for edge in graph.edges().tolist()]
    chances = {p: (through.one if p in edges else through.zero) / FULL for p in pairs}
    words, runs = words_from(Randomness(7), "cells"), 6000
    lists, seen = NeighborLists(graph.indptr, graph.indices), {}
    for _ in range(runs):
        noise.draw(lists, through, words, tmp_path / "cells", lambda _: None, block_cells=1)
        keys = np.fromfile(tmp_path / "cells", dtype=np.int64)
        outcome = frozenset((int(key >> 32), int(key & 0xFFFFFFFF)) for key in keys)
        seen[outcome] = seen.get(outcome, 0) + 1
    squares = 0.0
    for size in range(len(pairs) + 1):
        for chosen in map(frozenset, itertools.combinations(pairs, size)):
            expected = runs * math.prod(
                chances[pair] if pair in chosen else 1 - chances[pair] for pair in pairs
            )
            squares += (seen.get(chosen, 0) - expected) ** 2 / expected
    assert squares < 63 + 4 * math.sqrt(2 * 63)


# exact sizes


def put(path, pairs):
    np.array([(u << 32) | v for u, v in pairs], dtype=np.int64).tofile(path)


@given(graph=graphs(), published=st.sets(st.integers(0, 35)), data=st.data())
def test_what_is_removed_or_added_is_what_the_same_words_give_in_memory(
    graph, published, data, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("noise")
    pairs = [*itertools.combinations(range(graph.n_nodes), 2)]
    cells = np.array(sorted(cell for cell in published if cell < len(pairs)), dtype=np.int64)
    edges = {tuple(edge) for edge in graph.edges().tolist()}
    kept = sum(pairs[cell] in edges for cell in cells.tolist())
    size = data.draw(st.integers(0, len(pairs)))
    put(folder / "before", [pairs[cell] for cell in cells.tolist()])
    before = noise.NoisyEdgeCounts(cells.size, kept)
    lists = NeighborLists(graph.indptr, graph.indices)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(noise, "READ", data.draw(st.integers(1, 9)))
        words = words_from(Randomness(1), "size")
        after = noise.resize(lists, folder / "before", before, size, words, folder / "after")
    words = words_from(Randomness(1), "size")
    if size <= cells.size:
        expected = np.delete(cells, distinct(words, cells.size, cells.size - size))
    else:
        expected = resized(words, cells, len(pairs), size)
    chosen = [pairs[cell] for cell in expected.tolist()]
    keys = np.fromfile(folder / "after", dtype=np.int64).tolist()
    assert chosen == [(key >> 32, key & 0xFFFFFFFF) for key in keys]
    assert (size, sum(pair in edges for pair in chosen)) == after


def law_of_memory(chances, size):
    """Return the chance of every set of so many of some cells, drawn with these and resized."""
    law = dict.fromkeys(map(frozenset, itertools.combinations(range(len(chances)), size)), 0.0)
    for n in range(len(chances) + 1):
        for first in map(frozenset, itertools.combinations(range(len(chances)), n)):
            chance = math.prod(c if i in first else 1 - c for i, c in enumerate(chances))
            after = [one for one in law if one <= first or first <= one]
            for one in after:
                law[one] += chance / len(after)
    return law


def test_a_draw_of_an_exact_size_has_the_law_of_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(noise, "READ", 2)
    graph = gv.Graph.from_edges([0, 0, 1], [1, 3, 2], n=4)
    through = channel(Fraction(1, 2), Fraction(1))
    pairs, size, runs = [*itertools.combinations(range(4), 2)], 3, 600
    edges = {tuple(edge) for edge in graph.edges().tolist()}
    chances = [(through.one if pair in edges else through.zero) / FULL for pair in pairs]
    law = law_of_memory(chances, size)
    words, lists = words_from(Randomness(5), "size"), NeighborLists(graph.indptr, graph.indices)
    seen = dict.fromkeys(law, 0)
    for flags in np.random.default_rng(0).random((runs, 6)) < chances:
        first = [pair for pair, is_drawn in zip(pairs, flags, strict=True) if is_drawn]
        put(tmp_path / "a", first)
        before = noise.NoisyEdgeCounts(len(first), len(edges.intersection(first)))
        noise.resize(lists, tmp_path / "a", before, size, words, tmp_path / "b")
        keys = np.fromfile(tmp_path / "b", dtype=np.int64).tolist()
        seen[frozenset(pairs.index((key >> 32, key & 0xFFFFFFFF)) for key in keys)] += 1
    squares = sum((seen[one] - runs * p) ** 2 / (runs * p) for one, p in law.items())
    assert abs(1 - sum(law.values())) < 1e-12
    assert squares < 19 + 4 * math.sqrt(2 * 19)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_release_of_an_exact_size_has_it_and_states_it(tmp_path, seed):
    file, options = ties(tmp_path)
    out = anonymize_ties(EXACT, file, tmp_path / "out", reading=options, seed=seed)
    release = gv.read_release(out)
    flips, size = release.conditions
    assert flips.noisy_count == size.size == str(release.data.n_edges)
    graph = io.load_graph(file, options).data
    assert gv.verify_release(out, graph).ok
    record = json.loads(Path(f"{out}.private", "record.json").read_text())
    linkage = read_linkage(out)
    new = dict(zip(linkage.original.tolist(), linkage.released.tolist(), strict=True))
    true = {frozenset(new[int(graph.labels()[v])] for v in edge) for edge in graph.edges().tolist()}
    assert record["cost"]["edges_kept"] == sum(frozenset(e) in true for e in release.data.edges())


def ties(tmp_path, n=60, m=240):
    rng = np.random.default_rng(1)
    graph = gv.Graph.from_edges(*rng.integers(0, n, (2, m)), n=n, directed="symmetrize")
    path = tmp_path / "ties.csv"
    rows = [f"{u},{v}" for u, v in graph.edges().tolist()]
    path.write_text("\n".join(["source,target", *rows, ""]))
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("\n".join(["id", *map(str, range(n)), ""]))
    return path, io.GraphOptions(nodes=nodes)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_noisy_release_claims_what_memory_claims_and_verifies(method, tmp_path):
    file, options = ties(tmp_path)
    out = anonymize_ties(method, file, tmp_path / "out", reading=options)
    graph = io.load_graph(file, options).data
    release = gv.read_release(out)
    assert release.guarantee == promised(method, graph) == EdgeDP(epsilon=3.0, collected=())
    assert gv.verify_release(out, graph).ok
    record = json.loads(Path(f"{out}.private", "record.json").read_text())
    before = method.anonymize(graph).for_owner()
    assert set(before.cost) == set(record["cost"])
    assert graph.n_edges == record["cost"]["edges_before"]
    seeded = anonymize_ties(method, file, tmp_path / "seeded", reading=options, seed=3)
    assert isinstance(gv.read_release(seeded).guarantee, NotClaimed)
    again = anonymize_ties(method, file, tmp_path / "again", reading=options, seed=3)
    assert (seeded / "data.csv").read_bytes() == (again / "data.csv").read_bytes()


def test_noise_is_drawn_once_however_often_a_run_is_continued(tmp_path, monkeypatch):
    file, options = ties(tmp_path)
    out, seen = tmp_path / "out", []

    def stop(*_):
        seen.append((next(tmp_path.glob(".out.working")) / "noise" / "cells").read_bytes())
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stages, "write_files", stop)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                anonymize_ties(METHODS[0], file, out, reading=options)
    assert seen[0] == seen[1]
    monkeypatch.setattr(stages, "draw", None)
    anonymize_ties(METHODS[0], file, out, reading=options)
    assert gv.verify_release(out, io.load_graph(file, options).data).ok


def test_epsilon_is_entered_once_in_a_ledger_before_noise_is_drawn(tmp_path, monkeypatch):
    file, options = ties(tmp_path)
    ledger = gv.Ledger(tmp_path / "spent.json", limit=5.0)

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stages, "write_files", stop)
        with pytest.raises(KeyboardInterrupt):
            anonymize_ties(METHODS[0], file, tmp_path / "out", reading=options, ledger=ledger)
    assert Fraction(3) == ledger.total("edge")
    anonymize_ties(METHODS[0], file, tmp_path / "out", reading=options, ledger=ledger)
    assert Fraction(3) == ledger.total("edge")
    assert gv.verify_release(tmp_path / "out").ok
    with pytest.raises(UsageError, match="limit"):
        anonymize_ties(METHODS[0], file, tmp_path / "more", reading=options, ledger=ledger)
    assert not (tmp_path / "more").exists()


@pytest.mark.parametrize("error", [ReleaseError("it appears there"), InputError("no such rows")])
def test_noise_that_was_drawn_is_kept_whatever_refuses_the_release(tmp_path, monkeypatch, error):
    file, options = ties(tmp_path)
    ledger = gv.Ledger(tmp_path / "spent.json")

    def refuse(*_, **__):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr("graphveil.release.pipeline.publish", refuse)
        with pytest.raises(type(error)), pytest.warns(GraphveilWarning, match="unfinished run"):
            anonymize_ties(METHODS[0], file, tmp_path / "out", reading=options, ledger=ledger)
    monkeypatch.setattr(stages, "draw", None)
    anonymize_ties(METHODS[0], file, tmp_path / "out", reading=options, ledger=ledger)
    assert Fraction(3) == ledger.total("edge")


def test_what_is_refused_before_noise_is_drawn_leaves_nothing(tmp_path, monkeypatch):
    file, options = ties(tmp_path)

    def refuse(*_, **__):
        raise InputError("no such rows")

    monkeypatch.setattr("graphveil.release.pipeline.warn_of_others", refuse)
    with pytest.raises(InputError):
        anonymize_ties(METHODS[0], file, tmp_path / "out", reading=options)
    assert [] == list(tmp_path.glob(".out*"))


def test_other_edges_than_those_drawn_are_not_published(tmp_path, monkeypatch):
    file, options = ties(tmp_path)
    monkeypatch.setattr(stages, "read", lambda path: (keys[1:] for keys in noise.read(path)))
    with pytest.raises(RuntimeError, match="about to publish edges other"):
        anonymize_ties(METHODS[0], file, tmp_path / "out", reading=options)
    assert not (tmp_path / "out").exists()


def test_what_noise_on_the_disk_cannot_do_is_refused(tmp_path):
    with pytest.raises(InfeasibleError, match="Raise max_edges"):
        anonymize_ties(
            gv.RandomizedResponse(epsilon=0.1, max_edges=1000), _many(tmp_path), tmp_path / "out"
        )


def _many(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("\n".join(["source,target", *(f"{v},{v + 1}" for v in range(80)), ""]))
    return path


def test_the_command_line_draws_noise_on_the_disk(tmp_path, capsys):
    file, options = ties(tmp_path)
    out = tmp_path / "out"
    flags = ["--epsilon", "3", "--on-disk", "--nodes", str(options.nodes), "--out", str(out)]
    ledger = tmp_path / "spent.json"
    flags += ["--ledger", str(ledger)]
    assert 0 == command_line(["anonymize", "asymmetric-response", str(file), *flags])
    assert Fraction(3) == gv.Ledger(ledger).total("edge")
    assert "Guarantee: " in capsys.readouterr().out
    original = ["--original", str(file), "--nodes", str(options.nodes), "--on-disk"]
    assert 0 == command_line(["verify", str(out), *original])
