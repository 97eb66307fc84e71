"""Users and items, whichever way a file lists them."""

from __future__ import annotations

import polars as pl
import pytest

from graphveil.core.errors import InputError
from graphveil.data import Bipartite
from graphveil.io import BipartiteOptions, load_bipartite, read_bipartite

EXPECTED = {"ann": ["rye", "tea"], "bob": ["tea"]}


def listed(data: Bipartite) -> dict[str, list[str]]:
    names = data.feature_labels()
    return {str(user): [names[f] for f in data.row(u)] for u, user in enumerate(data.labels())}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "user,item\nann,tea\nbob,tea\nann,rye\n"),
        ("a.csv", "ann,tea\nbob,tea\nann,rye\n"),
        ("a.tsv", "item\tuser\ntea\tann\ntea\tbob\nrye\tann\n"),
        ("a.txt", "ann tea\nbob tea\nann rye\n"),
        ("a.txt", "ann tea rye\nbob tea\n"),
        ("a.csv", "ann,tea,rye\nbob,tea\n"),
    ],
)
def test_pairs_and_lists_give_the_same_rows(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    assert listed(read_bipartite(path)) == EXPECTED


def test_users_and_items_may_share_names(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,1\n2,1\n2,2\n")
    data = read_bipartite(path)
    assert ([1, 2], [1, 2], 3) == (
        data.labels().tolist(),
        data.feature_labels().tolist(),
        data.n_entries,
    )


def test_integer_users_stay_integers_beside_text_items(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("10,tea\n9,tea\n")
    assert [9, 10] == read_bipartite(path).labels().tolist()


def test_lists_of_equal_length_are_read_as_told(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1 5 6\n2 5 7\n")
    with pytest.raises(InputError, match="3 columns without names"):
        load_bipartite(path)
    lists = load_bipartite(path, BipartiteOptions(layout="lists")).data
    items = load_bipartite(path, BipartiteOptions(layout="items")).data
    assert ([1, 2], [5, 6, 7]) == (lists.labels().tolist(), lists.feature_labels().tolist())
    assert ([0, 1], [1, 2, 5, 6, 7]) == (items.labels().tolist(), items.feature_labels().tolist())


def test_a_user_without_items_is_kept_in_lists(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("ann tea\nbob\n")
    data, report = load_bipartite(path)
    assert (2, 1) == (data.n_users, report.isolated)


def test_a_users_file_keeps_users_without_items(tmp_path):
    pairs, users = tmp_path / "a.csv", tmp_path / "users.csv"
    pairs.write_text("user,item\nann,tea\n")
    users.write_text("user\nann\nbob\n")
    data, report = load_bipartite(pairs, BipartiteOptions(users=users))
    assert (["ann", "bob"], 1) == (data.labels().tolist(), report.isolated)


def test_repeated_pairs_are_counted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ann,tea\nann,tea\nbob,tea\n")
    data, report = load_bipartite(path)
    assert (2, 1) == (data.n_entries, report.duplicates)


def test_ratings_are_left_out_only_when_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user,item,rating\nann,tea,5\nbob,rye,4\n")
    with pytest.raises(InputError, match="Extra: rating"):
        load_bipartite(path)
    report = load_bipartite(path, BipartiteOptions(ignore_weights=True)).report
    assert ("rating",) == report.columns_ignored


@pytest.mark.parametrize("write", ["write_parquet", "write_ipc"])
def test_a_column_of_lists_is_read(tmp_path, write):
    path = tmp_path / ("a.parquet" if write == "write_parquet" else "a.arrow")
    frame = pl.DataFrame({"user": ["bob", "ann", "cyd"], "items": [["tea"], ["tea", "rye"], []]})
    getattr(frame, write)(path)
    data = read_bipartite(path)
    assert EXPECTED | {"cyd": []} == listed(data)


def test_lists_without_users_are_numbered(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"items": [[3, 1], [1]]}).write_parquet(path)
    data = read_bipartite(path)
    assert ([0, 1], [[0, 1], [0]]) == (
        data.labels().tolist(),
        [data.row(u).tolist() for u in range(2)],
    )


def test_a_user_in_two_rows_of_lists_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"user": ["a", "a"], "items": [["x"], ["y"]]}).write_parquet(path)
    with pytest.raises(InputError, match="a user appears in two rows"):
        read_bipartite(path)
