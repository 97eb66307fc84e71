"""Text that readers read in different ways is refused, and the untouched twin verifies."""

from __future__ import annotations

import re

import pytest

import graphveil as gv
from forged.kit import (
    ITEMS,
    LINES,
    SPELLINGS,
    forge,
    reseal,
    swapped_rows,
)
from graphveil.claims.guarantees import KAnonymity, StructuralKAnonymity
from graphveil.release import Provenance, Release

GRAPH = gv.Graph.from_edges([*range(60), *range(60)], [*range(60, 120), *range(61, 121)], n=124)
ROWS = gv.Bipartite.from_lists([["gin", "jam"], ["gin", "jam"], [], [], ["tea"], ["tea"]])
COMMAS = gv.Bipartite.from_lists([["gin, dry", 'the "jam"'], ["gin, dry", 'the "jam"'], [], []])


def written(data, folder, form):
    """Return the folder of a release that claims no more than its data keeps."""
    folder.mkdir(exist_ok=True)
    graph = isinstance(data, gv.Graph)
    words = {"source": "where it was published", "limits": "what it leaves open"}
    return Release(
        data=data,
        guarantee=StructuralKAnonymity(k=1) if graph else KAnonymity(k=1),
        provenance=Provenance(method="a-method", parameters={}, **words),
    ).write(folder / "release", format=form)


VERIFIED = set()
"""Releases that verified, by the bytes of their files: what a check says follows from them."""


def assert_whole(folder):
    """Assert that a release verifies, once for many tests that forge the same one."""
    content = tuple((path.name, path.read_bytes()) for path in sorted(folder.iterdir()))
    if content not in VERIFIED:
        assert [] == gv.verify_release(folder).failures()
        VERIFIED.add(content)


def check(path, forgery):
    """Assert that the release verifies sealed anew, and does not once it is forged."""
    reseal(path.parent)
    assert_whole(path.parent)
    before = path.read_bytes()
    forge(path, forgery)
    assert before != path.read_bytes()
    verdict = gv.verify_release(path.parent)
    assert verdict.failures()
    noticed = {item.name: item.detail for item in verdict.failures()}
    assert path.name in " ".join(noticed.values()) or "canonical order" in noticed


@pytest.mark.parametrize("form", ["csv", "tsv", "text"])
@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES])
def test_another_spelling_of_a_graph_is_refused(tmp_path, form, forgery):
    folder = written(GRAPH, tmp_path, form)
    check(next(folder.glob("data.*")), {**SPELLINGS, **LINES}[forgery])


@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES])
def test_another_spelling_in_a_format_of_graphs_is_refused(tmp_path, forgery):
    folder = written(GRAPH, tmp_path, "graphml")
    check(next(folder.glob("data.*")), {**SPELLINGS, **LINES}[forgery])


@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES])
def test_another_spelling_of_the_list_of_ids_is_refused(tmp_path, forgery):
    check(written(GRAPH, tmp_path, "csv") / "nodes.csv", {**SPELLINGS, **LINES}[forgery])


@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES])
def test_another_spelling_of_the_list_of_users_is_refused(tmp_path, forgery):
    check(written(ROWS, tmp_path, "csv") / "users.csv", {**SPELLINGS, **LINES}[forgery])


@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES, *ITEMS])
def test_another_spelling_of_users_and_items_is_refused(tmp_path, forgery):
    folder = written(ROWS, tmp_path, "csv")
    check(next(folder.glob("data.*")), {**SPELLINGS, **LINES, **ITEMS}[forgery])


@pytest.mark.parametrize("data", [ROWS, COMMAS], ids=["plain", "quoted"])
@pytest.mark.parametrize("name", ["users.csv", "data.csv"])
def test_another_order_of_rows_is_refused(tmp_path, data, name):
    folder = written(data, tmp_path, "csv")
    forge(folder / name, swapped_rows)
    assert ["canonical order"] == [item.name for item in gv.verify_release(folder).failures()]


@pytest.mark.parametrize("name", ["nodes.csv", "data.csv"])
def test_another_order_of_nodes_and_edges_is_refused(tmp_path, name):
    folder = written(GRAPH, tmp_path, "csv")
    forge(folder / name, swapped_rows)
    assert ["canonical order"] == [item.name for item in gv.verify_release(folder).failures()]


def test_quotes_that_no_item_needs_and_missing_ones_are_refused(tmp_path):
    folder = written(COMMAS, tmp_path, "csv")
    check(folder / "data.csv", lambda content: content.replace(b'"the ""jam"""', b"the jam"))
    plain = written(ROWS, tmp_path / "plain", "csv")
    every = b"user,item\n" + b"".join(
        b'%d,"%s"\n' % (user, item.encode())
        for user, row in enumerate([["gin", "jam"]] * 2 + [[], []] + [["tea"]] * 2)
        for item in row
    )
    check(plain / "data.csv", lambda _: every)


@pytest.mark.parametrize("form", ["graphml", "csv"])
def test_node_100_has_one_spelling(tmp_path, form):
    path = next(written(GRAPH, tmp_path, form).glob("data.*"))
    check(path, lambda content: re.sub(rb"\b100\b", b"1e2", content, count=1))


@pytest.mark.parametrize("field", ["method", "source", "limits"])
def test_an_original_id_in_the_words_of_an_unknown_method_is_noticed(tmp_path, field):
    original = gv.Graph.from_edges(["algorithm", "bob"], ["bob", "people"])
    words = {
        "method": "m",
        "source": "where it was published, algorithm 1",
        "limits": "what it leaves open to people",
    }
    data = gv.Graph.from_edges([0, 1], [1, 2], n=3)
    for said, outcome in (("", "not checked"), (", as bob knows", "fails")):
        stated = {**words, field: f"{words[field]}{said}"}
        folder = Release(
            data=data,
            guarantee=StructuralKAnonymity(k=1),
            provenance=Provenance(parameters={}, **stated),
        ).write(tmp_path / f"out{len(said)}", format="csv")
        checks = {c.name: c for c in gv.verify_release(folder, original=original).checks}
        assert outcome == checks["method"].outcome
        assert ("'bob'" in checks["method"].detail) == bool(said)
