"""Methods from elsewhere: a function or a command, measured beside all others."""

from __future__ import annotations

import shutil
import sys
import time

import numpy as np
import pytest

import graphveil as gv
from graphveil.core.errors import InputError, ParameterError, ResourceError, UsageError
from graphveil.verbs.attack import rerun_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "external: a record names a command, and attack runs it",
        "means": "A folder from elsewhere runs a program on the machine of anyone who attacks it.",
        "file": "src/graphveil/methods/external.py",
        "old": "return self.command in _RUN_HERE",
        "new": "return bool(self.command)",
    },
    {
        "name": "external: nodes by their place in the output",
        "means": "Edges are released between people who have none.",
        "file": "src/graphveil/methods/external.py",
        "old": "edges = number.astype(np.int64)[released.edges()]",
        "new": "edges = released.edges()",
    },
    {
        "name": "external: the order of a function's result",
        "means": "The linkage of the release names other people.",
        "file": "src/graphveil/methods/external.py",
        "old": "return made.permuted(order.astype(np.int64))",
        "new": "return made",
    },
]

STAR = gv.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=6)
"""Two of its six nodes have no edge."""

TOY = """
import random, sys
source, target, seed, share = sys.argv[1:]
draw = random.Random(int(seed))
lines = [line for line in open(source) if draw.random() >= float(share)]
draw.shuffle(lines)
open(target, "w").writelines(lines)
"""
"""A program that deletes a share of the edges, and writes the others in another order."""


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    return f"{sys.executable} {tmp_path / 'toy.py'} {{input}} {{output}} {{seed}}"


def run(code, **given):
    """Release the star by what a shell does of it."""
    command = f"sh -c '{code}' sh {{input}} {{output}}"
    return gv.External(command=command, **given).anonymize(STAR, seed=1)


def at_the_positions_of_the_input(release):
    """Return the edges of a release between positions of the input."""
    new = release.private.linkage.released
    back = np.empty(new.size, dtype=np.int64)
    back[new] = np.arange(new.size)
    return sorted(map(tuple, np.sort(back[release.data.edges()], axis=1).tolist()))


@pytest.mark.parametrize("exchange", ["text", "csv", "tsv", "graphml", "gml", "pajek", "mtx"])
def test_a_command_gets_the_network_in_a_format_and_its_output_keeps_every_node(exchange):
    release = run("cp $1 $2", exchange=exchange)
    assert STAR.edges().tolist() == [list(pair) for pair in at_the_positions_of_the_input(release)]
    assert 6 == release.data.n_nodes


def test_nodes_that_the_output_leaves_out_have_no_edges_and_others_keep_their_numbers():
    release = run("echo 5 3 > $2")
    assert [(3, 5)] == at_the_positions_of_the_input(release)
    assert gv.verify_release(release, STAR).failures() == []
    assert gv.NotClaimed(reasons=("unproved",)) == release.guarantee


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("true", "wrote nothing to {output}"),
        (": > $2", "wrote nothing to {output}"),
        ("exit 3", "with exit code 3 and printed nothing"),
        ("echo no such network >&2; exit 3", "with exit code 3: no such network"),
        ("cat $2", "cat: output.txt: No such file"),
        ("kill -9 $$", "by signal 9"),
        ("echo 0 6 > $2", "has the node 6, but nodes are numbered from 0 to 5"),
        ("echo 0 ann > $2; echo 1 bob >> $2", "has the node ann"),
        ("echo 0 1 2 3 > $2", "cannot be read as text"),
        ("head -c 999 /dev/zero > $2", "cannot be read as text"),
    ],
)
def test_a_command_that_fails_is_refused_in_one_line(code, said):
    with pytest.raises(InputError) as caught:
        run(code)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "/graphveil-" not in str(caught.value)


def test_a_program_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"cannot start the command \./nobody: No such file"):
        gv.External(command="./nobody {input} {output}").anonymize(STAR)


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(tmp_path):
    late = tmp_path / "late"
    started = time.monotonic()
    with pytest.raises(ResourceError, match=r"longer than 0\.3 s"):
        run(f"(sleep 1; touch {late}) & sleep 60", time_limit_seconds=0.3)
    assert 30 > time.monotonic() - started
    time.sleep(1.2)
    assert not late.exists()


@pytest.mark.parametrize("command", ["./anonet", "./anonet {input}", "x '{input} {output}", 3])
def test_a_command_without_input_or_output_is_refused(command):
    with pytest.raises(ParameterError, match="command="):
        gv.External(command=command)


def test_nothing_of_the_command_is_published(tmp_path):
    release = run("cp $1 $2 # secret")
    release.write(tmp_path / "out")
    published = "".join(p.read_text() for p in (tmp_path / "out").iterdir())
    assert "secret" not in published
    assert "secret" in gv.read_release(tmp_path / "out").private.withheld["command"]


def test_a_toy_command_is_swept_beside_k_degree(toy):
    grid = {"external": {"command": [f"{toy} .2", f"{toy} .6", "false {input} {output}"]}}
    grid["k-degree"] = {"k": [2]}
    given = {"metrics": ["edge-jaccard"], "attacks": ["candidate-set"], "seed": 3}
    calls = gv.datasets.load("copenhagen-calls")
    alone = gv.sweep(grid, calls, jobs=1, **given)
    assert {"finished": 3, "failed": 1} == alone.counts
    results = list(alone.results.values())
    kept = [
        next(row["value"] for row in one.rows if row["question"] == "edge-jaccard")
        for one in (results[0], results[1], results[3])
    ]
    assert kept[0] == pytest.approx(0.8, abs=0.06)
    assert kept[1] == pytest.approx(0.4, abs=0.06)
    assert kept[2] > 0.9
    assert all(any(row["question"] == "candidate-set" for row in results[n].rows) for n in (0, 1))


def test_an_attack_runs_the_command_again():
    again = rerun_of(run("cp $1 $2"))
    assert 4 == again(STAR, 1).data.n_edges


def test_a_command_in_a_private_record_is_not_run_unless_it_was_run_here(monkeypatch, tmp_path):
    folder = run(f"touch {tmp_path}/ran; cp $1 $2").write(tmp_path / "out")
    (tmp_path / "ran").unlink()
    again = rerun_of(gv.read_release(folder))
    again(STAR, 1)
    assert (tmp_path / "ran").exists(), "the attack has the owner's command in the same process"
    (tmp_path / "ran").unlink()
    monkeypatch.setattr("graphveil.methods.external._RUN_HERE", set())
    with pytest.raises(UsageError, match="only in a sweep, or in the process"):
        again(STAR, 1)
    rows = gv.attack_release(folder, STAR, attacks=["edge-re-run", "tie-membership"])
    assert gv.verify_release(folder, STAR).failures() == []
    assert not (tmp_path / "ran").exists()
    assert [] == [row for row in rows if row.question == "edge-re-run"]


def test_verify_needs_no_private_record(tmp_path):
    for method in (gv.External(command="cp {input} {output}"), Thinned()):
        folder = method.anonymize(STAR).write(tmp_path / method.name)
        shutil.rmtree(f"{folder}.private")
        assert [] == gv.verify_release(folder).failures()


def thinned(graph: gv.Graph, *, share: float = 0.5, seed: int) -> gv.Graph:
    """Delete a share of the edges."""
    kept = np.random.default_rng(seed).random(graph.n_edges) >= share
    return gv.Graph.from_edges(*graph.edges()[kept].T, n=graph.n_nodes)


def mixed(table: gv.Table, *, seed: int) -> gv.Table:
    """Return the rows as they are."""
    del seed
    return table


Thinned = gv.method_from(thinned, name="thinned")


def test_the_arguments_of_a_function_are_the_parameters_of_a_method():
    assert {"share": 0.5} == Thinned().parameters()
    assert 0 == Thinned(share=1.0).anonymize(STAR).data.n_edges
    one, other = (Thinned().anonymize(STAR, seed=seed).data for seed in (1, 1))
    assert one == other
    with pytest.raises(ParameterError, match="share='much'"):
        Thinned(share="much")
    with pytest.raises(ParameterError, match="no parameter 'k'"):
        Thinned.from_parameters({"k": 2})


def test_a_function_is_swept_beside_others_also_over_processes():
    methods = [Thinned(share=0.2), Thinned(share=0.6), gv.KDegree(k=2)]
    given = {"metrics": ["edge-jaccard"], "attacks": [], "seed": 3}
    alone, over_two = (gv.sweep(methods, STAR, jobs=jobs, **given) for jobs in (1, 2))
    assert {"finished": 3} == alone.counts == over_two.counts
    pairs = zip(alone.results.values(), over_two.results.values(), strict=True)
    assert all(one.rows == two.rows for one, two in pairs)
    assert "thinned share=0.2" == alone.plan.points[0].words
    local = gv.method_from(lambda graph: graph, name="local")
    with pytest.raises(UsageError, match="worker processes do not find it"):
        gv.sweep([local()], STAR, jobs=2)


def test_a_result_in_another_order_is_put_at_the_positions_of_the_input():
    named = gv.Graph.from_edges(["ann", "bob", "ann"], ["bob", "cyd", "dan"])

    def turned(graph):
        return graph.permuted(np.arange(4)[::-1], ids=graph.labels()[::-1])

    release = gv.method_from(turned, name="turned")().anonymize(named)
    expected = [tuple(pair) for pair in named.edges().tolist()]
    assert expected == at_the_positions_of_the_input(release)


def test_a_function_may_return_an_object_of_another_library():
    method = gv.method_from(lambda graph: graph.to_networkx(), name="copied")
    assert 4 == method().anonymize(STAR).data.n_edges


def test_a_table_and_features_go_through_a_function():
    table = gv.Table.from_columns({"age": [30, 40, 30]}, person="row")
    method = gv.method_from(mixed, name="mixed", accepts=(gv.Table, gv.Bipartite))
    assert 3 == method().anonymize(table).data.n_rows
    lists = gv.Bipartite.from_lists([["tea"], ["rye", "tea"]])
    assert 3 == method().anonymize(lists).data.n_entries


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda _: 1 / 0, "raised ZeroDivisionError: division by zero"),
        (lambda _: gv.Graph.from_edges([0], [1], n=2), "has 2 nodes, the data has 6"),
        (lambda _: gv.Graph.from_edges([0], [1], ids=[*"abcdef"]), "has other ids"),
        (lambda _: "graph.csv", "the result of wrong takes a Graph"),
        (lambda _: gv.Table.from_columns({"a": [1]}), "the result of wrong takes a Graph"),
    ],
)
def test_a_function_that_fails_is_refused_in_one_line(function, said):
    method = gv.method_from(function, name="wrong")
    with pytest.raises((InputError, UsageError)) as caught:
        method().anonymize(STAR)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "Two Words"}, "name='Two Words'"),
        ({"accepts": gv.Network}, "accepts="),
        ({"function": 3}, "is not a function"),
        ({"function": lambda: 1}, "takes no data"),
        ({"function": lambda graph, what: (graph, what)}, "the argument 'what'"),
        ({"function": lambda graph, *rest: (graph, rest)}, "the argument 'rest'"),
    ],
)
def test_what_is_no_method_is_refused(given, said):
    asked = {"function": lambda graph: graph, "name": "mine", **given}
    with pytest.raises(ParameterError, match=said):
        gv.method_from(asked.pop("function"), **asked)


def test_a_registered_function_is_known_by_its_name_and_can_be_run_again(monkeypatch, tmp_path):
    monkeypatch.setattr(gv.METHODS, "_entries", dict(gv.METHODS._entries))
    method = gv.register(gv.method_from(thinned, name="thinned-again"))
    swept = gv.sweep({"thinned-again": {"share": [0.2]}}, STAR, attacks=[], metrics=[], jobs=1)
    assert {"finished": 1} == swept.counts
    release = method().anonymize(STAR)
    folder = release.write(tmp_path / "out")
    shutil.rmtree(f"{folder}.private")
    assert [] == gv.verify_release(folder).failures()
    verdict = gv.verify_release(release, STAR)
    assert ([], None) == (verdict.failures(), verdict.unknown_method)
    with pytest.raises(UsageError, match="external is already"):
        gv.register(gv.method_from(thinned, name="external"))
