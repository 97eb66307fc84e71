"""What the checker says of users and features that were changed, in every format."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import suppress

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from edit_counts import note
from features import (
    BEFORE,
    MAJORITY,
    SUPPRESSED,
    K,
    by_majority,
    lists,
    numbered,
    original,
    published,
    release_of,
    replace,
    replace_rows,
    replace_users,
    rows_of,
    suppressed,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from tampering import (
    changed,
    contradiction,
    failed,
    leaves,
    limits_of,
    linkage_of,
    manifest_of,
    private,
    put,
    reseal,
    write_linkage,
)

from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.core.errors import ParameterError
from graphveil.core.stated_parameters import published_parameters
from graphveil.data import Bipartite
from graphveil.methods import METHODS
from graphveil.release import read_manifest, read_release
from graphveil.verbs.verify import verify_release as verify
from graphveil.verify.database import database
from graphveil.verify.files.loading import load
from graphveil.verify.files.released import Released
from graphveil.verify.kinds.registry import CHECKED_KINDS

NAMED = ["csv", "tsv", "text", "parquet"]
MAKERS = {"suppress": suppressed, "majority": by_majority}


@pytest.fixture(params=MAKERS)
def release(request):
    return MAKERS[request.param]()


@pytest.mark.parametrize("form", NAMED)
def test_an_untouched_release_holds_in_every_condition(tmp_path, release, form):
    folder = release.write(tmp_path / "release", format=form)
    verdict = verify(folder, original=original())
    assert {} == failed(verdict)
    assert verdict.complete
    assert release.data == read_release(folder).data


@pytest.mark.parametrize("form", NAMED)
@pytest.mark.parametrize("kept", [SUPPRESSED, MAJORITY], ids=MAKERS)
def test_numbered_features_keep_their_numbers_and_show_no_unused_one(tmp_path, form, kept):
    how = "suppress" if kept is SUPPRESSED else "majority"
    whole = release_of(numbered(), numbered(kept), release=how)
    folder = whole.write(tmp_path / "release", format=form)
    verdict = verify(folder, original=numbered())
    assert {} == failed(verdict)
    unchecked = [check.name for check in verdict.checks if check.outcome == "not checked"]
    assert ["no original ids"] == unchecked
    numbers = [7, 10, 14] if kept is SUPPRESSED else [3, 7, 10, 14]
    back = read_release(folder).data
    assert numbers == back.feature_labels().tolist()
    assert whole.data == back
    public = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"99" not in public.split(b'"sha256"')[0]


def test_an_entry_dropped_leaves_a_class_that_is_named_with_its_users(tmp_path, release):
    folder = release.write(tmp_path / "release")
    shutil.rmtree(private(folder))
    user = published(release, "eve")
    rows = rows_of(folder)
    rows.remove((user, "rye, dark"))
    replace_rows(folder, rows)
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert f"with 1 feature holds 1 user, fewer than k={K}: {user} " in problems["classes"]
    assert "(3 users in 2 classes below k)" in problems["classes"]


def test_an_entry_added_leaves_a_class_that_is_named_with_its_users(tmp_path, release):
    folder = release.write(tmp_path / "release")
    shutil.rmtree(private(folder))
    user = published(release, "hal")
    replace_rows(folder, sorted([*rows_of(folder), (user, "eggs")]))
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert f"with 1 feature holds 1 user, fewer than k={K}: {user} " in problems["classes"]


def test_users_without_features_are_a_class_like_any_other(tmp_path, release):
    folder = release.write(tmp_path / "release")
    shutil.rmtree(private(folder))
    rows = [row for row in rows_of(folder) if row[0] != published(release, "gil")]
    replace_rows(folder, rows)
    problems = failed(verify(folder))
    pair = sorted(published(release, name) for name in ("eve", "fay"))
    told = f"with 2 features holds 2 users, fewer than k={K}: {pair[0]}, {pair[1]} "
    assert told in problems["classes"]
    assert "(2 users in 1 class below k)" in problems["classes"]


def test_an_empty_user_dropped_from_the_list_leaves_a_class_of_k_less_one(tmp_path):
    whole = release_of(original(), Bipartite.from_lists(lists(SUPPRESSED)))
    folder = whole.write(tmp_path / "release")
    assert 9 == max(published(whole, name) for name in ("hal", "ida", "jon"))
    replace_users(folder, range(9))
    problems = failed(verify(folder, original=original()))
    assert "a class of rows with 0 features holds 2 users" in problems["classes"]
    assert "9 users in the release, but 10 in the original" == problems["same size"]


def test_an_entry_of_a_user_that_is_not_listed_is_named(tmp_path, release):
    folder = release.write(tmp_path / "release")
    gone = published(release, "eve")
    replace_users(folder, [user for user in range(10) if user != gone])
    problems = failed(verify(folder))
    assert f"user {gone} has an item but is not listed" == problems["entries"]
    assert f"user {gone} is missing among 9 users" == problems["ids"]


def test_an_entry_that_stands_twice_is_named(tmp_path, release):
    folder = release.write(tmp_path / "release")
    rows = rows_of(folder)
    replace_rows(folder, [*rows, rows[0]])
    assert f"user {rows[0][0]} has the item" in failed(verify(folder))["entries"]


def everyone(folder, item, *, like):
    """Return the rows and one more entry for every user who has this item."""
    rows = rows_of(folder)
    return sorted([*rows, *((user, item) for user, held in rows if held == like)])


def test_a_feature_added_to_a_whole_class_is_found_with_the_original(tmp_path):
    whole = suppressed()
    folder = whole.write(tmp_path / "release")
    replace_rows(folder, everyone(folder, "eggs", like="rye, dark"))
    assert {"owner's record"} == set(failed(verify(folder)))
    problems = failed(verify(folder, original=original()))
    assert {"owner's record", "nothing added", "cost"} == set(problems)
    first = min(published(whole, name) for name in ("eve", "fay"))
    told = "2 of the release's 13 entries are not in the original, the first is user"
    assert f"{told} {first} with 'eggs'" in problems["nothing added"]
    assert "'created'" not in problems["cost"]
    assert "11 of 16 entries kept, 5 suppressed and 2 added" in problems["cost"]


def test_a_feature_of_too_few_of_its_class_is_found_with_the_original(tmp_path):
    whole = by_majority()
    folder = whole.write(tmp_path / "release")
    replace_rows(folder, everyone(folder, "eggs", like="rye, dark"))
    problems = failed(verify(folder, original=original()))
    assert {"owner's record", "entries true of their class", "cost"} == set(problems)
    first = min(published(whole, name) for name in ("eve", "fay", "gil"))
    assert (
        f"'eggs' is published for 3 users, the class of user {first}, but is true of only 1 of "
        "them (theta=1/2 required); 1 pair of a class and a feature in all"
    ) == problems["entries true of their class"]


def test_a_feature_of_exactly_half_of_its_class_is_enough_for_theta_one_half(tmp_path):
    before = Bipartite.from_lists([["a"], ["a"], ["b"], ["b"]])
    after = Bipartite.from_lists([["a", "b"]] * 4)
    folder = release_of(before, after, release="majority", k=4).write(tmp_path / "release")
    assert {} == failed(verify(folder, original=before))


def test_a_renamed_feature_is_found_with_the_original(tmp_path, release):
    folder = release.write(tmp_path / "release")
    rows = [(user, "zimt" if item == "bread" else item) for user, item in rows_of(folder)]
    replace_rows(folder, rows)
    assert {"owner's record"} == set(failed(verify(folder)))
    problems = failed(verify(folder, original=original()))
    told = problems.get("nothing added") or problems["entries true of their class"]
    assert "'zimt'" in told
    first = "1 of 3 published items" if "nothing added" in problems else "1 of 4 published items"
    assert f"{first} are not features of the original, the first is 'zimt'" == problems["items"]
    assert "the record states" in problems["cost"]


def test_two_features_whose_names_were_exchanged_are_found_with_the_original(tmp_path):
    whole = suppressed()
    folder = whole.write(tmp_path / "release")
    swap = {"bread": "rye, dark", "rye, dark": "bread"}
    replace_rows(folder, sorted((user, swap.get(item, item)) for user, item in rows_of(folder)))
    problems = failed(verify(folder, original=original()))
    assert {"owner's record", "nothing added", "cost"} == set(problems)


def test_a_swapped_linkage_is_found(tmp_path, release):
    folder = release.write(tmp_path / "release")
    names, released = linkage_of(folder)
    one, two = names.index("dan"), names.index("hal")
    released[one], released[two] = released[two], released[one]
    write_linkage(folder, names, released)
    problems = failed(verify(folder, original=original()))
    assert {"linkage file", "cost"} <= set(problems)


def test_a_linkage_swapped_inside_a_class_changes_nothing_that_is_claimed(tmp_path):
    whole = suppressed()
    folder = whole.write(tmp_path / "release")
    names, released = linkage_of(folder)
    one, two = names.index("ann"), names.index("cyd")
    released[one], released[two] = released[two], released[one]
    write_linkage(folder, names, released)
    assert {"linkage file"} == set(failed(verify(folder, original=original())))


def test_another_original_is_not_taken_for_it(tmp_path, release):
    folder = release.write(tmp_path / "release")
    other = Bipartite.from_lists(lists(["abcde", *BEFORE[1:]]), users=original().labels())
    verdict = verify(folder, original=other)
    assert ["original"] == list(failed(verdict))
    assert "a different digest" in failed(verdict)["original"]


def test_a_cost_that_the_record_misstates_is_found(tmp_path, release):
    folder = release.write(tmp_path / "release")
    path = private(folder) / "record.json"
    record = json.loads(path.read_bytes())
    record["cost"]["entries_kept"] += 1
    path.write_text(json.dumps(record))
    problems = failed(verify(folder, original=original()))
    assert ["cost"] == list(problems)
    kept = record["cost"]["entries_kept"]
    assert f"{kept - 1} of 16 entries kept" in problems["cost"]
    assert f"the record states {kept} of 16 entries kept" in problems["cost"]


def be_of(manifest, method, **parameters) -> None:
    """Let the manifest name another method, with all of its parameters and its words."""
    known = METHODS[method]
    chosen = known.from_parameters({**known.card.example, **parameters})
    whole = published_parameters(chosen)
    manifest["method"] |= {"name": method, "source": known.card.source, "parameters": whole}
    manifest["claim"]["does_not_protect_against"] = chosen.limits()


def set_claim(folder, promise, **parameters):
    """Let the manifest claim something else, in every place where it says so."""
    manifest = manifest_of(folder)
    manifest["claim"]["guarantee"] = msgspec.to_builtins(promise)
    manifest["claim"] |= {"sentence": promise.sentence, "threat_model": promise.threat_model}
    whole = manifest["method"]["parameters"]
    whole |= parameters
    with suppress(ParameterError):  # parameters that the method refuses have no limits
        manifest["claim"]["does_not_protect_against"] = limits_of(manifest["method"]["name"], whole)
    reseal(folder, manifest)


def test_a_raised_k_fails_although_every_sentence_was_raised_with_it(tmp_path):
    folder = suppressed().write(tmp_path / "release")
    shutil.rmtree(private(folder))
    set_claim(folder, KAnonymity(k=K + 1), k=K + 1)
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert "holds 3 users, fewer than k=4" in problems["classes"]
    assert "(6 users in 2 classes below k)" in problems["classes"]


def test_nothing_added_cannot_be_claimed_of_entries_that_were_created(tmp_path):
    folder = by_majority().write(tmp_path / "release")
    set_claim(folder, KAnonymity(k=K))
    assert "mondrian with these parameters claims: " in failed(verify(folder))["method"]
    set_claim(folder, KAnonymity(k=K), release="suppress")
    problems = failed(verify(folder, original=original()))
    assert {"owner's record", "nothing added"} == set(problems)


@pytest.mark.parametrize("theta", ["2/3", "1"])
def test_a_raised_theta_disagrees_with_the_method(tmp_path, theta):
    folder = by_majority().write(tmp_path / "release")
    set_claim(folder, SmoothKAnonymity(k=K, theta=theta))
    problems = failed(verify(folder))
    assert "mondrian with these parameters claims: " in problems["method"]


def test_a_raised_theta_fails_on_the_entries_although_the_parameters_say_so_too(tmp_path):
    before = Bipartite.from_lists([["a"], ["a"], ["b"], ["b"], ["a"]])
    after = Bipartite.from_lists([["a"]] * 5)
    folder = release_of(before, after, release="majority").write(tmp_path / "release")
    manifest = manifest_of(folder)
    be_of(manifest, "smooth-k", k=K)
    reseal(folder, manifest)
    for theta, holds in (("3/5", True), ("2/3", False)):
        set_claim(folder, SmoothKAnonymity(k=K, theta=theta), theta=theta)
        problems = failed(verify(folder, original=before))
        assert contradiction(problems) is None
        assert holds == ("entries true of their class" not in problems)


@pytest.mark.parametrize(
    ("method", "promise", "parameters", "told"),
    [
        ("smooth-k", KAnonymity(k=3), {"theta": "1"}, "smooth-k with these parameters claims"),
        ("smooth-k", SmoothKAnonymity(k=3), {"theta": None}, "the parameter is theta=None"),
        ("smooth-k", SmoothKAnonymity(k=3), {"theta": "2/3"}, "the parameter is theta='2/3'"),
        ("smooth-k", SmoothKAnonymity(k=3), {"theta": 0.5}, "the parameter is theta=0.5"),
        (
            "smooth-k",
            SmoothKAnonymity(k=3),
            {"beta": -3.0},
            "the private parameter beta is published",
        ),
        (
            "smooth-k",
            SmoothKAnonymity(k=3),
            {"passes": "garbage"},
            "the private parameter passes is published",
        ),
        ("smooth-k", SmoothKAnonymity(k=3), {"algorithm": "x"}, "algorithm='x' is not valid"),
        (
            "smooth-k",
            SmoothKAnonymity(k=3, theta="1"),
            {"theta": "1", "ties": "drop"},
            "ties=drop concerns features of exactly half",
        ),
        ("suppress-k", KAnonymity(k=3), {"theta": "1"}, "suppress-k has no parameter 'theta'"),
        (
            "mondrian",
            KAnonymity(k=3),
            {"nonsense": "HIV list of 2019"},
            "mondrian has no parameter 'nonsense'",
        ),
        ("smooth-k", SmoothKAnonymity(k=3), {"theta": "1/2", "k": 4}, "the parameter is k=4"),
        (
            "smooth-k",
            SmoothKAnonymity(k=3),
            {"theta": "1/2", "k": True},
            "the parameter is k=True",
        ),
        ("smooth-k", SmoothKAnonymity(k=3), {"theta": "1/2"}, None),
        ("suppress-k", SmoothKAnonymity(k=3), {}, "suppress-k with these parameters claims"),
        ("suppress-k", KAnonymity(k=3), {"k": "3"}, "the parameter is k='3'"),
        ("suppress-k", KAnonymity(k=3), {}, None),
        ("mondrian", KAnonymity(k=3), {"release": "other"}, "release='other' is not valid"),
        ("mondrian", KAnonymity(k=3), {"release": ["suppress"]}, "is not a plain value"),
        ("mondrian", SmoothKAnonymity(k=3), {}, "mondrian with these parameters claims"),
        ("k-degree", KAnonymity(k=3), {}, "k-degree produces a graph, not a bipartite"),
    ],
)
def test_a_claim_that_a_method_does_not_make_is_found(tmp_path, method, promise, parameters, told):
    folder = suppressed().write(tmp_path / "release")
    manifest = manifest_of(folder)
    be_of(manifest, method, k=K)
    reseal(folder, manifest)
    set_claim(folder, promise, **parameters)
    problem = contradiction(failed(verify(folder, original=original())))
    assert (told is None) == (problem is None)
    assert told is None or told in problem


HIDDEN_PLACES: set[str] = set()
"""What nobody can tell from the public files alone: it is not about the released data."""


def test_every_field_of_the_manifest_is_checked_against_data_or_claim(tmp_path, release):
    folder = release.write(tmp_path / "release")
    shutil.rmtree(private(folder))
    whole = manifest_of(folder)
    unnoticed = set()
    for path, value in leaves(whole):
        manifest = json.loads(json.dumps(whole))
        put(manifest, path, changed(value))
        reseal(folder, manifest)
        if verify(folder).ok and path != ("seal",):
            unnoticed.add(".".join(map(str, path)))
    assert HIDDEN_PLACES == unnoticed


@pytest.mark.parametrize(
    "content",
    [
        b"user,item\n0,tea\n\n1,tea\n",
        b"user,item\n+0,tea\n",
        b"user,item\r\n0,tea\r\n",
        b"user,item\n0,tea,ann\n",
        b"user,item\n0,\n",
        b'user,item\n0,""\n',
        b"user,item\n0\n",
        b"user,item\n,tea\n",
        b"user,item\nann,tea\n",
        b"item,user\ntea,0\n",
        b"# made of likes.csv\nuser,item\n0,tea\n",
        b"",
        b"user,item\n0,\xff\n",
    ],
)
def test_a_file_of_entries_holds_nothing_but_its_rows(tmp_path, content):
    folder = suppressed().write(tmp_path / "release")
    replace(folder, "data.csv", content)
    assert not verify(folder).ok


@pytest.mark.parametrize("extra", ["a column more", "another name", "users as text", "a null"])
def test_a_parquet_file_of_other_columns_is_found(tmp_path, extra):
    folder = suppressed().write(tmp_path / "release", format="parquet")
    table = pq.read_table(folder / "data.parquet")
    user, item = table["user"], table["item"]
    table = {
        "a column more": lambda: table.append_column("name", item),
        "another name": lambda: table.rename_columns(["user", "feature"]),
        "users as text": lambda: pa.table({"user": user.cast(pa.string()), "item": item}),
        "a null": lambda: pa.table({"user": user, "item": [None, *item.to_pylist()[1:]]}),
    }[extra]()
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=False)
    replace(folder, "data.parquet", sink.getvalue())
    assert "data.parquet" in failed(verify(folder))["data"]


@pytest.mark.parametrize("form", NAMED)
def test_a_row_emptied_in_any_format_leaves_a_class_that_is_too_small(tmp_path, form):
    rows = list(SUPPRESSED)
    rows[4] = ""
    less = release_of(numbered(), numbered(rows)).write(tmp_path / "less", format=form)
    problems = failed(verify(less, original=numbered()))
    assert ["classes"] == list(problems)
    assert "holds 2 users, fewer than k=3" in problems["classes"]


@pytest.mark.counts_edits("classes", "counts", "ids", "entries", "canonical order")
@settings(deadline=None, max_examples=60)
@given(
    form=st.sampled_from(["csv", "tsv", "parquet"]),
    place=st.integers(0, 3_000),
    drop=st.integers(0, 5),
    put_in=st.one_of(st.binary(max_size=3), st.sampled_from("0123456789"), st.text(max_size=3)),
)
def test_no_sealed_edit_is_read_by_the_checker_in_another_way_than_by_the_reader(
    tmp_path_factory, form, place, drop, put_in
):
    place_of = tmp_path_factory.mktemp("edit")
    folder = release_of(numbered(), numbered(SUPPRESSED)).write(place_of / "release", format=form)
    path = next(folder.glob("data.*"))
    content = path.read_bytes()
    place %= len(content)
    put_in = put_in if isinstance(put_in, bytes) else put_in.encode()
    replace(folder, path.name, content[:place] + put_in + content[place + drop :])
    verdict = verify(folder)
    note(failed(verdict))
    outcome = {item.name: item.outcome for item in verdict.checks}
    if all(outcome[name] == "holds" for name in ("data", "ids", "entries")):
        data = read_release(folder).data
        names = data.feature_labels().astype(np.dtypes.StringDType()).tolist()
        read = {(user, names[item]) for user in range(data.n_users) for item in data.row(user)}
        with database([folder]) as db:
            load(db, Released(folder), read_manifest(folder).data, CHECKED_KINDS["bipartite"])
            assert read == set(db.rows("SELECT person, item FROM entries"))


def test_a_nul_byte_in_an_item_is_no_text(tmp_path):
    folder = release_of(numbered(), numbered(SUPPRESSED)).write(tmp_path / "out")
    content = (folder / "data.csv").read_bytes()
    place = content.index(b",", 20) + 1
    replace(folder, "data.csv", content[:place] + b"\0" + content[place:])
    assert "contains a line break or NUL" in failed(verify(folder))["data"]


@pytest.mark.parametrize("name", ["users.csv", "data.csv"])
def test_users_in_another_order_than_that_of_their_published_ids_are_found(tmp_path, name):
    folder = suppressed().write(tmp_path / "release")
    shutil.rmtree(private(folder))
    rows = rows_of(folder)
    if name == "users.csv":
        replace_users(folder, [1, 0, *range(2, len(BEFORE))])
    else:
        replace_rows(folder, [*rows[-1:], *rows[:-1]])
    assert ["canonical order"] == list(failed(verify(folder)))
