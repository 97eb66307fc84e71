"""A method that a test defines is a method like any other: the package did not change for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphveil.data import Bipartite, Graph
from graphveil.methods.base import Anonymizer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

TOY = '''
from dataclasses import dataclass
from typing import ClassVar

from graphveil.methods.base import Anonymizer
from graphveil.methods.card import MethodCard
from graphveil.release.draft import Draft
from graphveil.claims.conditions import EditBudget, Subgraph
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.data import Graph
from graphveil.methods import register
from graphveil.core.parameters import parameter


@register
@dataclass(frozen=True, kw_only=True)
class Toy(Anonymizer[Graph]):
    """No node of the release has a neighbor.

    >>> Toy(k=2).anonymize(Graph.from_edges([0], [1], n=2)).data.n_edges
    0
    """

    name: ClassVar[str] = "toy"
    accepts = (Graph,)
    card: ClassVar[MethodCard] = MethodCard(
        promise="No node of the release has a neighbor.",
        source="a test",
        limits="It protects from nobody who needs the edges. Not attacked by us.",
        cost="linear in the nodes",
        example={"k": 2},
    )

    k: int = parameter(text="smallest class of nodes without neighbors", minimum=2)
    guarantee = property(lambda self: StructuralKAnonymity(k=self.k))
    conditions = (Subgraph(), EditBudget(share=1.0))
    rows_needed = property(lambda self: self.k)

    def draft(self, data, randomness):
        del randomness
        empty = Graph.from_edges([], [], ids=data.labels())
        return Draft(empty)
'''
"""The whole of it: what a plugin for the command line and for these tests holds."""


@pytest.fixture(autouse=True)
def _toy(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)


def python(*arguments, cwd):
    """Run Python in a process of its own where the toy can be imported."""
    path = os.pathsep.join([str(cwd), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )


def command(*tokens, cwd):
    """Run the command line in a process that knows the toy."""
    return python("-c", "import sys, toy; from graphveil.cli import main; main()", *tokens, cwd=cwd)


def test_it_is_listed_has_a_help_page_and_releases_what_verify_accepts(tmp_path):
    (tmp_path / "ties.csv").write_text("source,target\nann,bob\nbob,cyd\n")
    listed = json.loads(command("methods", "--json", cwd=tmp_path).stdout)
    assert "toy" in [method["name"] for method in listed]
    page = command("anonymize", "toy", "--help", cwd=tmp_path).stdout
    assert "smallest class of nodes without neighbors" in page
    done = command("anonymize", "toy", "ties.csv", "--k", "3", "--out", "out", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    checked = command("verify", "out", "--original", "ties.csv", "--json", cwd=tmp_path)
    assert 0 == checked.returncode, checked.stdout
    checks = {check["name"]: check["outcome"] for check in json.loads(checked.stdout)["checks"]}
    assert {"holds"} == set(checks.values())
    assert {"classes", "subgraph", "budget", "edits", "method"} <= set(checks)


def test_without_the_program_that_knows_it_the_promise_is_checked_all_the_same(tmp_path):
    (tmp_path / "ties.csv").write_text("source,target\nann,bob\nbob,cyd\n")
    command("anonymize", "toy", "ties.csv", "--k", "3", "--out", "out", cwd=tmp_path)
    elsewhere = python("-m", "graphveil", "verify", "out", "--json", cwd=tmp_path)
    assert 4 == elsewhere.returncode, elsewhere.stdout
    verdict = json.loads(elsewhere.stdout)
    checks = {check["name"]: check for check in verdict["checks"]}
    assert ("undecided", "toy") == (verdict["answer"], verdict["unknown_method"])
    assert "holds" == checks["classes"]["outcome"]
    assert "not checked" == checks["method"]["outcome"]
    words = python("-m", "graphveil", "verify", "out", cwd=tmp_path).stdout.splitlines()
    assert words[0].startswith("Undecided: the method 'toy' is unknown to this version")
    trusted = ("--trust-method", "toy")
    vouched = python("-m", "graphveil", "verify", "out", *trusted, cwd=tmp_path)
    assert 0 == vouched.returncode, vouched.stdout
    assert vouched.stdout.startswith("The guarantee holds: ")


@pytest.mark.parametrize("kinds", [Graph, Graph | Bipartite])
def test_one_that_accepts_no_tuple_of_kinds_is_refused(kinds):
    with pytest.raises(TypeError, match=r"Odd.accepts is .*Use a tuple of types"):
        type("Odd", (Anonymizer,), {"accepts": kinds})


def test_the_contract_tests_run_on_it_by_themselves(tmp_path):
    done = python(
        *("-m", "pytest", "-q", "-p", "toy", "-p", "no:cacheprovider", "-k", "toy"),
        *(
            "--ignore",
            str(Path(__file__)),
            str(HERE),
            "-c",
            str(HERE.parents[1] / "pyproject.toml"),
        ),
        cwd=tmp_path,
    )
    assert 0 == done.returncode, done.stdout[-3000:]
    assert int(done.stdout.split(" passed")[0].split()[-1].split(",")[-1]) >= 20
