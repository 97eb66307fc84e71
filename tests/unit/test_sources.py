"""A method says from which sources it takes data; one from outside that says so gets them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import graphveil as gv
from graphveil import io
from graphveil.claims.guarantees import KAnonymity, StructuralKAnonymity
from graphveil.claims.record import OwnersNotes
from graphveil.cli import run as command_line
from graphveil.core.errors import UsageError
from graphveil.data import Graph
from graphveil.engines import LocalEngine
from graphveil.methods import METHODS, register
from graphveil.methods.base import Anonymizer, SourceName
from graphveil.methods.card import MethodCard
from graphveil.methods.equivalence_classes.rule import Rule
from graphveil.methods.registry import methods_from
from graphveil.methods.smooth_k.smooth_k import Clustered
from graphveil.release.draft import Draft, EditedEdges
from graphveil.release.options import RunOptions
from graphveil.verbs.anonymize import anonymize_file

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

ALONE = LocalEngine(jobs=1)
NOTHING = np.zeros((0, 2), dtype=np.int32)


def _cost(graph):
    return {"edges_before": graph.n_edges, "edges_added": 0, "edges_deleted": 0, "edits": 0}


ONLY_IDS_CARD = MethodCard(
    promise="Every node of the release has the same degree as at least 1 other.",
    source="this test",
    limits="It hides nothing.",
    cost="linear in the edges",
    example={},
)
"""All that is only said of `OnlyIds`."""


@dataclass(frozen=True, kw_only=True)
class OnlyIds(Anonymizer[Graph]):
    """Every node of the release has the same degree as at least 1 other."""

    name: ClassVar[str] = "only-ids"
    accepts = (Graph,)
    card: ClassVar[MethodCard] = ONLY_IDS_CARD
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "ties")

    @property
    def guarantee(self):
        return StructuralKAnonymity(k=2)

    def draft(self, data, _):
        return Draft(data=data, notes=OwnersNotes(cost=_cost(data)))

    def from_edges_on_disk(self, graph, _):
        def check(degrees):
            assert graph.degrees().tolist() == degrees.tolist()

        notes = OwnersNotes(cost=_cost(graph), warnings=("it hides nothing",))
        return EditedEdges(NOTHING, NOTHING, check, notes)


EVERYTHING_CARD = MethodCard(
    promise="Every row of the release equals at least k-1 others.",
    source="this test",
    limits="It keeps what anybody of a class has.",
    cost="linear in the entries",
    example={"k": 2},
)
"""All that is only said of `Everything`."""


@dataclass(frozen=True, kw_only=True)
class Everything(Clustered):
    """Every row of the release equals at least k-1 others."""

    name: ClassVar[str] = "everything"
    card: ClassVar[MethodCard] = EVERYTHING_CARD

    @property
    def rule(self):
        return Rule(theta=Fraction(1))

    @property
    def guarantee(self):
        return KAnonymity(k=self.k)


@pytest.fixture(autouse=True)
def _registered():
    for method in (OnlyIds, Everything):
        register(method)
    yield
    for method in (OnlyIds, Everything):
        del METHODS._entries[method.name]


@pytest.fixture
def ties(tmp_path):
    path = tmp_path / "friends.csv"
    path.write_text("source,target\nann,bob\nbob,cyd\ncyd,dan\n")
    return path


@pytest.fixture
def likes(tmp_path):
    path = tmp_path / "likes.csv"
    path.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\n")
    return path


def test_a_method_from_outside_takes_ties_from_the_disk(tmp_path, ties):
    out = tmp_path / "out"
    run = RunOptions(out=out, seed=1, on_disk=True)
    anonymize_file(OnlyIds(), ties, run, options=io.GraphOptions())
    release = gv.read_release(out)
    assert 3 == release.data.n_edges
    assert "it hides nothing" in release.private.warnings
    assert gv.verify_release(out, original=ties).ok
    assert "only-ids" in methods_from("ties")


def test_its_command_has_the_flag(tmp_path, ties):
    words = ["anonymize", "only-ids", str(ties), "--on-disk", "--out", str(tmp_path / "out")]
    assert 0 == command_line(words)
    assert gv.verify_release(tmp_path / "out", original=ties).ok


def test_a_method_from_outside_takes_rows_from_the_disk(tmp_path, likes):
    out = gv.anonymize_rows(Everything(k=2), likes, tmp_path / "out", engine=ALONE)
    assert 4 == gv.read_release(out).data.n_users
    assert gv.verify_release(out, original=likes).ok


def test_a_source_that_a_method_does_not_name_is_refused_with_those_that_do(tmp_path, ties, likes):
    out = tmp_path / "out"
    run = RunOptions(out=out, on_disk=True)
    with pytest.raises(
        UsageError, match=r"all edges in memory. To run on disk, use k-degree or .* or only-ids;"
    ):
        anonymize_file(gv.HrgMcmc(epsilon=1.0), ties, run, options=io.GraphOptions())
    with pytest.raises(
        UsageError, match="To run on disk, use smooth-k or suppress-k or everything"
    ):
        gv.anonymize_rows(gv.ClusterK(k=2), likes, out)
    with pytest.raises(UsageError, match="only-ids reads edges from disk, not rows"):
        gv.anonymize_rows(OnlyIds(), likes, out)


@pytest.mark.parametrize("name", [*METHODS])
def test_every_method_takes_data_from_memory(name):
    assert "memory" in METHODS[name].sources
