from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import graphveil as gv
from graphveil.core.errors import UsageError

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def lists(n=48, seed=5):
    rng = np.random.Generator(np.random.PCG64(seed))
    names = np.array(["tea", "rye", "gin", "oil", "salt", "jam", "fig"])
    rows = [names[rng.random(names.size) < 0.5].tolist() for _ in range(n)]
    return gv.Bipartite.from_lists(rows, users=np.array([f"person-{i:03d}" for i in range(n)]))


def class_of_person(release):
    rows = [tuple(row) for row in release.data.to_lists()["items"].to_pylist()]
    row_of = dict(zip(release.data.labels().tolist(), rows, strict=True))
    linkage = release.private.linkage
    pairs = zip(linkage.original.tolist(), linkage.released.tolist(), strict=True)
    return {person: row_of[new] for person, new in pairs}


@pytest.mark.parametrize("method", [gv.SmoothK, gv.SuppressK])
def test_who_sees_both_releases_is_left_with_the_class_of_the_first(method):
    data = lists()
    first = method(k=3).anonymize(data, seed=1)
    second = method(k=8).anonymize(data, seed=2, nested_in=first)
    earlier, later = class_of_person(first), class_of_person(second)
    joint = {person: (earlier[person], later[person]) for person in earlier}
    assert len(set(earlier.values())) == len(set(joint.values()))
    assert second.verify(data).ok
    assert 8 == second.guarantee.k


def test_it_nests_in_a_folder_as_well(tmp_path):
    data = lists()
    first = gv.SmoothK(k=3).anonymize(data, seed=1)
    folder = first.write(tmp_path / "first")
    second, other = (
        gv.SmoothK(k=8).anonymize(data, seed=2, nested_in=earlier) for earlier in (folder, first)
    )
    assert second.data == other.data


def test_a_table_is_nested_by_its_features():
    rng = np.random.Generator(np.random.PCG64(6))
    table = gv.Table.from_columns(
        {name: rng.choice(["a", "b", "c"], 30).tolist() for name in ("one", "two", "three")}
    )
    first = gv.SmoothK(k=3).anonymize(table, seed=1)
    second = gv.SmoothK(k=6).anonymize(table, seed=1, nested_in=first)
    assert second.verify(table).ok


def test_without_the_linkage_nothing_can_be_nested(tmp_path):
    data = lists()
    first = gv.SmoothK(k=3).anonymize(data, seed=1)
    folder = first.write(tmp_path / "first", linkage=False)
    with pytest.raises(UsageError, match="Keep the linkage"):
        gv.SmoothK(k=8).anonymize(data, nested_in=folder)
    with pytest.raises(UsageError, match="Keep the linkage"):
        gv.SmoothK(k=8).anonymize(data, nested_in=dataclasses.replace(first, private=None))


def test_other_people_are_refused():
    first = gv.SmoothK(k=3).anonymize(lists(), seed=1)
    with pytest.raises(UsageError, match="48 people, but they are not the 47"):
        gv.SmoothK(k=8).anonymize(lists(47), nested_in=first)


def test_a_network_is_no_first_release():
    graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    first = gv.KDegree(k=2).anonymize(graph, seed=1)
    with pytest.raises(UsageError, match="needs a release of user-item data"):
        gv.SmoothK(k=2).anonymize(lists(4), nested_in=first)


def test_chunks_and_nesting_exclude_each_other():
    data = lists()
    first = gv.SmoothK(k=3).anonymize(data, seed=1)
    with pytest.raises(UsageError, match="Remove chunk_rows"):
        gv.SmoothK(k=4, chunks=gv.Chunks(rows=16)).anonymize(data, nested_in=first)


@pytest.mark.filterwarnings("default::graphveil.GraphveilWarning")
def test_a_warning_points_at_the_line_that_asked_for_the_release():
    data = lists()
    first = gv.SmoothK(k=3).anonymize(data, seed=1)
    for nested_in in (None, first):
        with pytest.warns(gv.GraphveilWarning, match="seed") as caught:
            gv.SmoothK(k=6).anonymize(data, seed=1, nested_in=nested_in)
        assert {__file__} == {warning.filename for warning in caught}
