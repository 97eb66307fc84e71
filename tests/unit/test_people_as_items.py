"""People among the items: recognized, asked for, and published under the ids that they have."""

from __future__ import annotations

import dataclasses
import json
import warnings
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

import graphveil as gv
from graphveil.claims.conditions import ItemsAreUsers
from graphveil.claims.manifest import encode, read_manifest
from graphveil.core.errors import DataError, GraphveilWarning, InputError
from graphveil.data import Bipartite, Graph
from graphveil.engines.local import LocalEngine
from graphveil.io import BipartiteOptions, load_bipartite
from graphveil.methods import METHODS
from graphveil.methods.smooth_k import Chunks, SuppressK
from graphveil.verify import Verdict, verify

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.core.errors.GraphveilWarning")

FOLLOWS = "user,item\nann,bob\nann,cyd\nbob,cyd\ncyd,bob\ndan,bob\ndan,eve\n"
NUMBERED = "user,item\n10,900\n10,7000\n900,7000\n7000,900\n8000,900\n8000,9000\n"
FILMS = "user,item\n1,1\n1,2\n2,1\n2,2\n3,1\n3,3\n4,1\n4,3\n"
ALARM = (
    "2 of 3 item ids (66.7%) are also user ids, as in a network. Items are published unchanged, "
    "so these would be people under their ids. Use --items people to give them new ids, or "
    "--items things if they are not people."
)
QUESTION = (
    "users and items are both numbered from the start, so items may be "
    "people. Use --items things, or --items people if they are the same "
    "people."
)


def read(tmp_path: Path, content: str, **options) -> Bipartite:
    path = tmp_path / "follows.csv"
    path.write_text(content)
    return load_bipartite(path, BipartiteOptions(**options)).data


@pytest.mark.parametrize(
    ("content", "expected"), [(FOLLOWS, ALARM), (NUMBERED, ALARM), (FILMS, QUESTION)]
)
@pytest.mark.parametrize("method", ["smooth-k", "suppress-k", "mondrian", "randomized-response"])
def test_ids_of_users_among_the_items_are_asked_for(tmp_path, content, expected, method):
    data = read(tmp_path, content)
    parameters = {"epsilon": 1.0} if method == "randomized-response" else {"k": 2}
    with pytest.raises(DataError) as caught:
        METHODS[method](**parameters).anonymize(data)
    assert expected == caught.value.message.flags
    METHODS[method](**parameters).anonymize(data.with_items("things"))


@pytest.mark.parametrize(
    ("content", "expected"), [(FOLLOWS, ALARM), (NUMBERED, ALARM), (FILMS, QUESTION)]
)
def test_ids_of_users_among_the_items_are_asked_for_on_the_disk(tmp_path, content, expected):
    path = tmp_path / "follows.csv"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        on_disk(path, tmp_path / "out")
    assert f"follows.csv: {expected}" == caught.value.message.flags
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "data",
    [
        Bipartite.from_pairs(["ann", "bob"], ["tea", "tea"]),
        Bipartite.from_pairs([10, 20], [30, 40]),
        Bipartite.from_pairs([1, 2], ["tea", "x1"]),
        Bipartite.from_lists([["tea", "rye"], ["tea"]]),
        Bipartite.from_scipy(np.ones((3, 2))),
        gv.Table.from_columns({"sex": ["f", "f"]}).one_hot(),
    ],
)
def test_nobody_is_asked_where_no_id_is_shared(data):
    data.check_items()


@pytest.mark.parametrize(
    "data",
    [
        Bipartite.from_scipy(sparse.eye_array(4)),
        Bipartite.from_pairs([0, 1, 2], [0, 0, 1]),
        Bipartite.from_pairs([1, 2, 3], ["1", "x", "x"]),
        Bipartite.from_pairs([15 * 10**17 + n for n in range(3)], ["15" + "0" * 17, "x", "x"]),
        Bipartite.from_lists([[0, 1], [0, 1], [1]]),
        Bipartite.from_graph(gv.Graph.from_edges(["ann"], ["bob"])).without_unused(),
        Bipartite.from_arrow(pa.table({"user": [0, 1, 2], "item": [0, 0, 1]})),
    ],
)
def test_the_owner_is_asked_of_square_matrices_and_of_numbers_that_are_shared(data):
    with pytest.raises(DataError, match='items="things"'):
        data.check_items()


def test_items_that_are_people_become_users(tmp_path):
    data = read(tmp_path, FOLLOWS, items="people")
    assert ["ann", "bob", "cyd", "dan", "eve"] == data.labels().tolist()
    assert [[1, 2], [2], [1], [1, 4], []] == [data.row(u).tolist() for u in range(5)]
    assert data.features is data.users


def test_the_features_of_people_are_the_users_one_by_one():
    with pytest.raises(DataError, match="not match the users one by one"):
        Bipartite([0, 1, 1], [1], 2, ["ann", "bob"], ["bob", "ann"], "people")


def on_disk(path: Path, out: Path, **options) -> Path:
    return gv.anonymize_rows(
        SuppressK(k=2, chunks=Chunks(rows=4)),
        path,
        out,
        engine=LocalEngine(jobs=1),
        reading=BipartiteOptions(**options),
    )


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {check.name: check.outcome for check in verdict.checks}


def pairs_back(folder: Path) -> set[tuple[str, str]]:
    """Return the published pairs under the original ids, by the linkage."""
    linkage = parquet.read_table(folder.with_name(f"{folder.name}.private") / "linkage.parquet")
    name = dict(
        zip(*(linkage[column].to_pylist() for column in ("released", "original")), strict=True)
    )
    rows = (folder / "data.csv").read_text().split()[1:]
    return {tuple(str(name[int(cell)]) for cell in row.split(",")) for row in rows}


def in_memory(path: Path, out: Path, **options) -> Path:
    data = load_bipartite(path, BipartiteOptions(**options)).data
    return SuppressK(k=2).anonymize(data).write(out, reading=options)


@pytest.mark.parametrize("content", [FOLLOWS, NUMBERED])
@pytest.mark.parametrize("anonymized", [in_memory, on_disk])
def test_people_have_one_new_id_as_users_and_as_items(tmp_path, content, anonymized):
    path = tmp_path / "follows.csv"
    path.write_text(content)
    folder = anonymized(path, tmp_path / "out", items="people")
    original = {tuple(row.split(",")) for row in content.split()[1:]}
    published = pairs_back(folder)
    assert published
    assert published <= original
    data = load_bipartite(path, BipartiteOptions(items="people")).data
    verdict = verify(folder, original=data)
    assert [] == verdict.failures()
    assert verdict.complete
    assert [ItemsAreUsers()] == [
        value for value in read_manifest(folder).claim.conditions if value == ItemsAreUsers()
    ]
    record = json.loads((tmp_path / "out.private" / "record.json").read_bytes())
    assert "people" == record["reading"]["items"]
    assert any(text.startswith("items are people with the ids") for text in record["warnings"])


def test_lists_of_people_are_read_on_the_disk_as_in_memory(tmp_path):
    lists = pa.table({"user": ["ann", "bob", "dan"], "items": [["bob", "cyd"], [], ["bob", "eve"]]})
    path = tmp_path / "follows.parquet"
    parquet.write_table(lists, path)
    folder = on_disk(path, tmp_path / "out", items="people")
    data = load_bipartite(path, BipartiteOptions(items="people")).data
    assert 5 == data.n_users
    assert verify(folder, original=data).complete


def test_a_graph_is_the_neighbors_of_everyone(tmp_path):
    graph = Graph.from_edges(["ann", "ann", "bob", "bob"], ["cyd", "dan", "cyd", "dan"])
    with pytest.warns(GraphveilWarning, match="items are people"):
        release = gv.SuppressK(k=2).anonymize(graph)
    folder = release.write(tmp_path / "out")
    assert {("ann", "cyd"), ("ann", "dan"), ("bob", "cyd"), ("bob", "dan")} <= pairs_back(folder)
    verdict = verify(folder, original=graph)
    assert (True, True) == (verdict.ok, verdict.complete)


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("unit", ["edge", "node"])
def test_an_epsilon_covers_the_rows_that_list_a_person_too(unit, seed):
    data = gv.Bipartite.from_graph(Graph.from_edges(["ann", "bob"], ["bob", "cyd"]))
    method = gv.RandomizedResponse(epsilon=2.0, unit=unit)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        release = method.anonymize(data, seed=seed)
    said = [*(str(one.message) for one in raised), *release.private.warnings]
    assert ItemsAreUsers() in release.conditions
    assert [] == [text for text in said if "own row" in text]


def test_verify_reads_items_as_the_manifest_says(tmp_path):
    path = tmp_path / "follows.csv"
    path.write_text(FOLLOWS)
    folder = in_memory(path, tmp_path / "out", items="people")
    assert verify(folder, original=load_bipartite(path).data).complete


def test_an_item_under_the_id_of_another_person_is_noticed(tmp_path):
    path = tmp_path / "follows.csv"
    path.write_text(FOLLOWS)
    folder = in_memory(path, tmp_path / "out", items="people")
    rows = (folder / "data.csv").read_text().split()
    users = {row.split(",")[1] for row in rows[1:]}
    other = next(str(number) for number in range(5) if str(number) not in users)
    changed = [rows[0], *(f"{row.split(',')[0]},{other}" for row in rows[1:])]
    (folder / "data.csv").write_text("\n".join(changed) + "\n")
    original = load_bipartite(path, BipartiteOptions(items="people")).data
    assert not verify(folder, original=original).ok


def test_people_that_the_manifest_no_longer_calls_so_are_noticed(tmp_path):
    path = tmp_path / "follows.csv"
    path.write_text(NUMBERED)
    folder = in_memory(path, tmp_path / "out", items="people")
    manifest = read_manifest(folder)
    kept = [value for value in manifest.claim.conditions if value != ItemsAreUsers()]
    claim = msgspec.structs.replace(manifest.claim, conditions=kept)
    (folder / "release.json").write_bytes(
        encode(msgspec.structs.replace(manifest, claim=claim).sealed())
    )
    original = load_bipartite(path, BipartiteOptions(items="people")).data
    assert "fails" == outcomes(verify(folder, original=original))["items"]


def test_things_that_the_manifest_calls_people_are_noticed(tmp_path):
    path = tmp_path / "likes.csv"
    path.write_text("user,item\nann,tea\nbob,tea\n")
    folder = in_memory(path, tmp_path / "out")
    manifest = read_manifest(folder)
    claim = msgspec.structs.replace(
        manifest.claim, conditions=[*manifest.claim.conditions, ItemsAreUsers()]
    )
    (folder / "release.json").write_bytes(
        encode(msgspec.structs.replace(manifest, claim=claim).sealed())
    )
    checks = {check.name: check.detail for check in verify(folder).failures()}
    assert "1 item of 1 are not ids of users, the first is 'tea'" == checks["people as items"]


def test_integers_that_are_ids_and_items_are_not_checked(tmp_path):
    path = tmp_path / "films.csv"
    path.write_text(FILMS)
    folder = in_memory(path, tmp_path / "out", items="things")
    data = load_bipartite(path, BipartiteOptions(items="things")).data
    (check,) = [c for c in verify(folder, original=data).checks if c.name == "no original ids"]
    assert "not checked" == check.outcome
    assert check.detail.endswith("and integers cannot be distinguished from other numbers")


def test_integers_of_a_graph_are_nowhere_in_a_manifest_without_text(tmp_path):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    folder = gv.KDegree(k=2).anonymize(graph).write(tmp_path / "out")
    (check,) = [c for c in verify(folder, original=graph).checks if c.name == "no original ids"]
    expected = "no text parameter could hold one of 4 original ids"
    assert ("holds", expected) == (check.outcome, check.detail)


def test_what_items_are_is_kept_by_copies_and_ignored_by_comparison():
    data = Bipartite.from_pairs(["ann", "bob"], ["bob", "ann"], items="people")
    assert "people" == dataclasses.replace(data, left_out=("age",)).items
    assert data == Bipartite.from_pairs(["ann", "bob"], ["bob", "ann"])
