"""What a type checker says of code that uses the package, as its strictest setting does."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="needs mypy, a development dependency")

HEAD = """
import graphveil as gv

graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
users = gv.Bipartite.from_pairs(["ann", "bob"], ["tea", "tea"])
"""


def errors_in(tmp_path, body):
    """Return the lines in which mypy sees an error."""
    path = tmp_path / "user.py"
    path.write_text(HEAD + body)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", path],
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in done.stdout.splitlines() if "error: " in line]
    assert done.returncode == bool(errors), done.stderr
    return [line.partition("error: ")[2] for line in errors]


def test_the_data_of_a_release_is_of_the_kind_that_its_method_makes(tmp_path):
    body = """
edges: int = gv.KDegree(k=2).anonymize(graph).data.n_edges
entries: int = gv.SmoothK(k=2, algorithm=gv.Greedy()).anonymize(users).data.n_entries
anything: gv.Release[gv.Graph] = gv.StructuralAnonymity(k=2).anonymize(graph)
"""
    assert [] == errors_in(tmp_path, body)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("gv.KDegree(k=2).anonymize(graph).data.n_users", 'has no attribute "n_users"'),
        ('gv.SmoothK(k=2, algorithm="greedy")', 'incompatible type "str"'),
    ],
)
def test_what_would_fail_is_an_error(tmp_path, body, says):
    (error,) = errors_in(tmp_path, body)
    assert says in error
