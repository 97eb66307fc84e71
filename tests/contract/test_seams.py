"""Releases of users with items and of tables, through a method that lives in this test alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

import graphveil as gv
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.core.errors import InputError
from graphveil.core.parameters import parameter
from graphveil.methods.base import Anonymizer
from graphveil.methods.card import MethodCard
from graphveil.release.draft import Draft

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


CARD = MethodCard(
    promise="The data is released as it is.",
    source="a test",
    limits="It protects nothing.",
    cost="linear",
    example={},
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class AsItIs(Anonymizer[Any]):
    """The data is released as it is.

    The guarantee is that of any data: everyone looks like themselves.
    """

    name: ClassVar[str] = "as-it-is"
    accepts = (gv.Graph, gv.Bipartite, gv.Table)
    card: ClassVar[MethodCard] = CARD

    suppress: str = parameter(default="", text="feature or category that is not published")

    @property
    def guarantee(self):
        return StructuralKAnonymity(k=2)

    def draft(self, data, randomness):
        del randomness
        return Draft(self._without(data))

    def _without(self, data):
        if isinstance(data, gv.Bipartite) and self.suppress:
            hidden = data.feature_labels().tolist().index(self.suppress)
            matrix = data.to_scipy().tolil()
            matrix[:, hidden] = 0
            return gv.Bipartite.from_scipy(matrix.tocsr(), users=data.users, features=data.features)
        if isinstance(data, gv.Table) and self.suppress:
            codes = data.codes.copy()
            for place, values in enumerate(data.categories):
                known = [str(value) for value in values.tolist()]
                if self.suppress in known:
                    codes[codes[:, place] == known.index(self.suppress), place] = -1
            return gv.Table(codes, data.columns, data.categories, data.ids)
        return data


def likes(users=("ann-secret", "bob-secret", "cyd-secret", "dan-secret")):
    """Return users and items; the last but one has none."""
    user = [users[0], users[0], users[1], users[3], users[3]]
    item = ["tea", "rye, dark", "tea", "schnäpse", '"quoted"']
    return gv.Bipartite.from_pairs(user, item, users=list(users))


def numbered():
    matrix = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 0], [0, 1, 0]])
    return gv.Bipartite.from_scipy(matrix)


def people():
    return gv.Table.from_columns(
        {
            "sex": ["f", "m", "*", "f", "m"],
            "age": [30, 40, 30, None, 40],
            "zip code": ["01234", "98765", "01234", "*", "00001"],
        },
        ids=[f"{name}-secret" for name in ("ann", "bob", "cyd", "dan", "eve")],
    )


def rows(data):
    """Return the data as people see it: items or cells of every row, in order."""
    if isinstance(data, gv.Bipartite):
        names = data.feature_labels().tolist()
        return [sorted(names[item] for item in data.row(user)) for user in range(data.n_users)]
    listed = data.to_arrow().to_pylist()
    return [tuple(row.values()) for row in listed]


TEXT_FORMATS = ["csv", "tsv", "parquet"]


@pytest.mark.parametrize("form", TEXT_FORMATS)
@pytest.mark.parametrize("make", [likes, people])
def test_a_release_of_users_or_rows_is_read_back_as_written(tmp_path, make, form):
    data = make()
    release = AsItIs().anonymize(data, seed=1)
    folder = release.write(tmp_path / "out", format=form)
    back = gv.read_release(folder)
    assert release.data == back.data
    assert release.private.linkage.released.tolist() == back.private.linkage.released.tolist()
    order = back.private.linkage.released
    published = rows(back.data)
    assert rows(data) == [published[order[place]] for place in range(data.size)]


@pytest.mark.parametrize("form", [*TEXT_FORMATS, "text"])
def test_numbered_users_and_items_are_read_back_from_every_format(tmp_path, form):
    release = AsItIs().anonymize(numbered(), seed=1)
    back = gv.read_release(release.write(tmp_path / "out", format=form)).data
    assert rows(release.data) == rows(back)
    assert release.data == back


@pytest.mark.parametrize("make", [likes, people])
def test_no_id_of_a_person_is_in_any_public_file(tmp_path, make, public_bytes):
    folder = AsItIs().anonymize(make()).write(tmp_path / "out")
    assert b"secret" not in b"".join(public_bytes(folder).values())


def test_users_without_items_stand_in_users_csv(tmp_path):
    folder = AsItIs().anonymize(likes()).write(tmp_path / "out")
    assert ["data.csv", "release.json", "users.csv"] == sorted(p.name for p in folder.iterdir())
    assert ["user", "0", "1", "2", "3"] == (folder / "users.csv").read_text().split()
    assert "user,item" == (folder / "data.csv").read_text().splitlines()[0]
    data = gv.read_release(folder).data
    assert 4 == data.n_users
    assert 1 == sum(not items for items in rows(data))


def test_names_of_items_are_published_as_they_are(tmp_path):
    folder = AsItIs().anonymize(likes()).write(tmp_path / "out")
    names = set(gv.read_release(folder).data.feature_labels().tolist())
    assert {"tea", "rye, dark", "schnäpse", '"quoted"'} == names


def test_suppressed_cells_are_stars_in_text_and_nulls_elsewhere(tmp_path):
    release = AsItIs().anonymize(people())
    text = release.write(tmp_path / "text").joinpath("data.csv").read_text()
    assert 3 == text.count("*")
    assert "sex,age,zip code" == text.splitlines()[0].replace('"', "")
    folder = release.write(tmp_path / "columns", format="parquet")
    from pyarrow import parquet  # noqa: PLC0415  needed here only

    assert 3 == sum(column.null_count for column in parquet.read_table(folder / "data.parquet"))


@pytest.mark.parametrize("make", [likes, people])
def test_a_table_or_a_bipartite_manifest_counts_what_was_released(tmp_path, make):
    release = AsItIs().anonymize(make())
    folder = release.write(tmp_path / "out")
    described = msgspec.json.decode((folder / "release.json").read_bytes())["data"]
    if isinstance(release.data, gv.Table):
        assert {"rows": 5, "columns": 3, "suppressed_cells": 3} == described["counts"]
        assert ["sex", "age", "zip code"] == described["files"][0]["columns"]
        assert "`*`" in described["suppressed_cells"]
    else:
        assert {"users": 4, "items": 4, "entries": 5} == described["counts"]
        assert ["user", "item"] == described["files"][0]["columns"]
        assert ["data", "users"] == [file["role"] for file in described["files"]]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(("make", "hidden"), [(likes, "rye, dark"), (people, "98765")])
def test_what_was_suppressed_everywhere_is_in_no_public_file(
    tmp_path, make, hidden, form, public_bytes
):
    release = AsItIs(suppress=hidden).anonymize(make())
    folder = release.write(tmp_path / "out", format=form)
    files = public_bytes(folder)
    parameters = files.pop("release.json")
    assert 1 == parameters.count(hidden.encode())
    assert hidden.encode() not in b"".join(files.values())
    assert rows(release.data) == rows(gv.read_release(folder).data)


def test_what_was_suppressed_everywhere_is_not_in_the_release_in_memory():
    likes_left = AsItIs(suppress="rye, dark").anonymize(likes()).data
    assert "rye, dark" not in likes_left.feature_labels().tolist()
    people_left = AsItIs(suppress="98765").anonymize(people()).data
    assert "98765" not in people_left.categories[2].tolist()


@pytest.mark.parametrize("form", ["gml", "metis", "graphml"])
def test_a_format_that_cannot_hold_the_data_is_refused_and_leaves_nothing(tmp_path, form):
    with pytest.raises(InputError, match=form):
        AsItIs().anonymize(people()).write(tmp_path / "out", format=form)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("make", [likes, people])
def test_the_digest_knows_the_same_users_or_rows_again(make):
    digests = {AsItIs().anonymize(make()).private.input_sha256 for _ in range(2)}
    assert 1 == len(digests)
    assert digests != {AsItIs().anonymize(numbered()).private.input_sha256}


def test_releases_of_all_kinds_can_be_empty_of_entries(tmp_path):
    lonely = gv.Bipartite.from_pairs([], [], users=["ann", "bob"])
    back = gv.read_release(AsItIs().anonymize(lonely).write(tmp_path / "out")).data
    assert (2, 0) == (back.n_users, back.n_entries)
    hidden = gv.Table.from_columns({"sex": ["*", "*"], "age": ["*", "*"]})
    back = gv.read_release(AsItIs().anonymize(hidden).write(tmp_path / "all")).data
    assert 4 == back.n_suppressed
