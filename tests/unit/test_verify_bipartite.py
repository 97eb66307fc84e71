"""The checker on users by features: its answers, and its arithmetic beside slow twins."""

from __future__ import annotations

import dataclasses
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import graphveil as gv
from emptied import emptied_database
from graphveil.claims.conditions import TrueOfMoreThanHalf
from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.core.stated_parameters import published_parameters, withheld_parameters
from graphveil.data import Bipartite, Graph, Table
from graphveil.methods import METHODS
from graphveil.release import Private, Provenance, Release, digest_of, read_release
from graphveil.release.claiming import provenance_of
from graphveil.release.release import Linkage
from graphveil.verify import verify
from graphveil.verify.evidence import Evidence
from graphveil.verify.kinds.registry import CHECKED_KINDS
from graphveil.verify.promises.rows.equal_rows import equal_rows

THETAS = ["1/2", "3/5", "2/3", "1"]


def parameters_of(method, promise, **changed) -> dict:
    """Return all parameters of a method as in a manifest, those of its example changed."""
    theta = {"theta": promise.theta} if isinstance(promise, SmoothKAnonymity) else {}
    whole = METHODS[method](**METHODS[method].card.example).parameters()
    return {**whole, "k": promise.k, **theta, **changed}


def of_rows(rows, users=None) -> Bipartite:
    """Return the data of rows of numbers, all of them text: eight features are always named."""
    pairs = [(user, f"f{item}") for user, row in enumerate(rows) for item in sorted(row)]
    data = Bipartite.from_pairs(
        [user for user, _ in pairs],
        np.array([item for _, item in pairs], dtype=np.dtypes.StringDType()),
        users=np.arange(len(rows)),
        features=[f"f{item}" for item in range(8)],
    )
    return Bipartite(data.indptr, data.indices, data.n_features, users, data.features)


def cost_of(before, after) -> dict[str, int]:
    had = {(user, item) for user, row in enumerate(before) for item in row}
    has = {(user, item) for user, row in enumerate(after) for item in row}
    return {
        "entries_before": len(had),
        "entries_kept": len(had & has),
        "entries_suppressed": len(had - has),
        "entries_created": len(has - had),
    }


def release_of(before, after, promise, *, method="suppress-k", original=None, **changed) -> Release:
    """Return a release of rows as made from other rows, or from an original that has these."""
    data = of_rows(before) if original is None else original
    parameters = parameters_of(method, promise, **changed)
    known = METHODS[method].from_parameters({**parameters, "k": max(promise.k, 2)})
    order = np.random.default_rng(len(before)).permutation(len(before))
    return Release(
        data=of_rows(after).permuted(order).without_unused(),
        guarantee=promise,
        conditions=known.conditions,
        provenance=dataclasses.replace(
            provenance_of(known),
            parameters={**published_parameters(known), "k": promise.k},
        ),
        private=Private(
            input_sha256=digest_of(data),
            cost=cost_of(before, after),
            linkage=Linkage(data.labels(), np.argsort(order)),
            withheld=withheld_parameters(known),
        ),
    )


def outcomes(verdict) -> dict[str, str]:
    return {condition.name: condition.outcome for condition in verdict.checks}


def details(verdict) -> dict[str, str]:
    return {condition.name: condition.detail for condition in verdict.checks}


OF_LISTS = SimpleNamespace(data=SimpleNamespace(kind="bipartite"))
"""As much of a manifest as these checks read."""

rows_of_users = st.lists(st.frozensets(st.integers(0, 3), max_size=3), min_size=1, max_size=9)


def classes_of(rows) -> Counter:
    """Return the sizes of the classes of equal rows, the slow way."""
    return Counter(tuple(sorted(row)) for row in rows)


def many(count, what) -> str:
    plural = {"user": "users", "class": "classes"}[what]
    return f"{count} {what if count == 1 else plural}"


@settings(deadline=None, max_examples=40)
@given(rows=rows_of_users, k=st.integers(1, 5))
def test_the_classes_of_equal_rows_are_those_of_a_slow_count(rows, k):
    sizes = classes_of(rows)
    with emptied_database() as db:
        entries = [(user, f"f{item}") for user, row in enumerate(rows) for item in row]
        db.put("users", {"person": np.arange(len(rows))})
        person = np.array([user for user, _ in entries], dtype=np.int64)
        db.put("entries", {"person": person, "item": [item for _, item in entries]})
        condition = equal_rows(Evidence(OF_LISTS, CHECKED_KINDS["bipartite"], db), KAnonymity(k=k))
    smallest = min(sizes.values())
    assert ("holds" if smallest >= k else "fails") == condition.outcome
    if smallest >= k:
        users, classes = many(len(rows), "user"), many(len(sizes), "class")
        told = f"{users} in {classes} of equal rows; the smallest holds {many(smallest, 'user')}"
        assert f"{told}, k={k}" == condition.detail
    else:
        least = min(rows.index(frozenset(row)) for row, size in sizes.items() if size == smallest)
        members = [user for user, row in enumerate(rows) if row == rows[least]]
        listed = ", ".join(map(str, members))
        assert f"fewer than k={k}: {listed} (" in condition.detail
        outside = [size for size in sizes.values() if size < k]
        told = f"({many(sum(outside), 'user')} in {many(len(outside), 'class')} below k)"
        assert told in condition.detail


@settings(deadline=None, max_examples=20)
@given(pairs=st.data(), theta=st.sampled_from(THETAS))
def test_every_condition_on_the_original_is_that_of_a_slow_count(tmp_path_factory, pairs, theta):
    before = pairs.draw(rows_of_users)
    n = len(before)
    kinds = pairs.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    shown = [pairs.draw(st.frozensets(st.integers(0, 3), max_size=3)) for _ in range(2)]
    after = [shown[kind] for kind in kinds]
    promise = SmoothKAnonymity(k=1, theta=theta)
    release = release_of(before, after, promise, method="smooth-k")
    release = dataclasses.replace(
        release,
        conditions=(TrueOfMoreThanHalf(),),
        provenance=dataclasses.replace(release.provenance, parameters={}),
    )
    folder = release.write(tmp_path_factory.mktemp("twin") / "release")
    verdict = verify(folder, original=of_rows(before))
    shares = [
        (item, Fraction(sum(item in before[user] for user in members), len(members)))
        for row in set(after)
        for members in [[user for user in range(n) if after[user] == row]]
        for item in row
    ]
    true = all(share >= Fraction(theta) for _, share in shares)
    assert true == (outcomes(verdict)["entries true of their class"] == "holds")
    untied = all(share > Fraction(1, 2) for _, share in shares)
    assert untied == (outcomes(verdict)["no ties"] == "holds")
    assert "holds" == outcomes(verdict)["cost"]
    assert verdict.complete
    added = release_of(before, after, KAnonymity(k=1)).write(folder.with_name("added"))
    verdict = verify(added, original=of_rows(before))
    within = all(row <= had for row, had in zip(after, before, strict=True))
    assert within == (outcomes(verdict)["nothing added"] == "holds")
    assert within == (not verdict.failures())


def test_a_release_without_users_has_no_class_that_is_too_small():
    with emptied_database() as db:
        db.run("CREATE TABLE users(person BIGINT)")
        db.run("CREATE TABLE entries(person BIGINT, item VARCHAR)")
        checked = CHECKED_KINDS["bipartite"]
        condition = equal_rows(Evidence(OF_LISTS, checked, db), SmoothKAnonymity(k=5))
    assert "holds" == condition.outcome
    assert "the release has no users, so no class is too small" == condition.detail


def test_rows_are_told_apart_by_their_lists_and_not_by_a_joined_text():
    with emptied_database() as db:
        db.put("users", {"person": np.arange(4)})
        item = ["a,b", "a", "b", "a", "b,", ""]
        db.put("entries", {"person": np.array([0, 1, 1, 2, 2, 3]), "item": item})
        condition = equal_rows(Evidence(OF_LISTS, CHECKED_KINDS["bipartite"], db), KAnonymity(k=1))
    assert "4 users in 4 classes of equal rows" in condition.detail


def test_the_order_of_the_entries_in_the_file_does_not_matter():
    with emptied_database() as db:
        db.put("users", {"person": np.arange(2)})
        db.put("entries", {"person": np.array([0, 1, 1, 0]), "item": ["a", "b", "a", "b"]})
        condition = equal_rows(Evidence(OF_LISTS, CHECKED_KINDS["bipartite"], db), KAnonymity(k=2))
    told = "2 users in 1 class of equal rows; the smallest holds 2 users, k=2"
    assert told == condition.detail


STRICT = ("entries true of their class", "no ties")


@pytest.mark.parametrize(
    ("method", "promise", "names"),
    [
        ("smooth-k", SmoothKAnonymity(k=2), ("entries true of their class", "cost")),
        ("smooth-k, strict", SmoothKAnonymity(k=2), (*STRICT, "cost")),
        ("suppress-k", KAnonymity(k=2), ("nothing added", "cost")),
        ("mondrian", KAnonymity(k=2), ("nothing added", "cost")),
    ],
)
def test_what_needs_the_linkage_or_the_original_is_not_checked(tmp_path, method, promise, names):
    rows = [{0, 1}, {0}, {2}, set()]
    after = [{0}, {0}, set(), set()]
    method, _, strict = method.partition(", ")
    changed = {"ties": "drop"} if strict else {}
    release = release_of(rows, after, promise, method=method, **changed)
    folder = release.write(tmp_path / "release")
    alone = {item.name: item.needs for item in verify(folder).checks if item.needs}
    shared = ("linkage", "order says nothing", *names)
    needed = ("original", "same size", "items", *shared, "no original ids")
    assert dict.fromkeys(needed, "--original") == alone
    (tmp_path / "release.private" / "linkage.parquet").unlink()
    verdict = verify(folder, original=of_rows(rows))
    unlinked = {item.name: item.needs for item in verdict.checks if item.needs}
    needed = ("linkage file", *shared)
    assert dict.fromkeys(needed, "the private linkage") == unlinked
    assert verdict.ok


def test_without_the_record_the_cost_is_not_checked(tmp_path):
    rows = [{0}, {0}]
    folder = release_of(rows, rows, KAnonymity(k=2)).write(tmp_path / "release")
    (tmp_path / "release.private" / "record.json").unlink()
    verdict = verify(folder, original=of_rows(rows))
    assert "holds" == outcomes(verdict)["nothing added"]
    needs = {item.name: item.needs for item in verdict.checks if item.needs}
    assert "the private record" == needs["cost"]


def test_features_that_the_release_does_not_show_are_counted_as_suppressed(tmp_path):
    before, after = [{0, 5}, {0, 6}], [{0}, {0}]
    folder = release_of(before, after, KAnonymity(k=2)).write(tmp_path / "release")
    verdict = verify(folder, original=of_rows(before))
    told = "2 of 4 entries kept, 2 suppressed and 0 added, as the record states"
    assert told == details(verdict)["cost"]


def people():
    return Table.from_columns(
        {"sex": ["f", "f", "m", "m"], "age=in years": ["30", "=40", "30", "*"]},
        ids=["ann=", "bob", "=cyd", "d=an"],
    )


def people_released(table):
    names = table.one_hot()
    after = Bipartite.from_lists([["sex=f"], ["sex=f"], ["sex=m"], ["sex=m"]])
    return Release(
        data=after,
        guarantee=KAnonymity(k=2, person="assumed"),
        provenance=Provenance(
            method="mondrian",
            source="Where it was published",
            limits="What it leaves open.",
            parameters=parameters_of("mondrian", KAnonymity(k=2)),
        ),
        private=Private(
            input_sha256=digest_of(names),
            cost=dict(
                zip(
                    ("entries_before", "entries_kept", "entries_suppressed", "entries_created"),
                    (7, 4, 3, 0),
                    strict=True,
                )
            ),
            linkage=Linkage(names.labels(), np.arange(4)),
        ),
    )


def test_a_table_is_compared_as_its_one_hot_encoding(tmp_path):
    folder = people_released(people()).write(tmp_path / "release")
    for original in (people(), people().one_hot()):
        verdict = verify(folder, original=original)
        assert [] == verdict.failures()
        assert verdict.complete
    other = Table.from_columns({"sex": ["f", "f", "m", "m"]}, ids=["ann=", "bob", "=cyd", "d=an"])
    verdict = verify(folder, original=other)
    assert ["original"] == [condition.name for condition in verdict.failures()]


def test_a_graph_is_no_original_of_users_by_features(tmp_path):
    folder = people_released(people()).write(tmp_path / "release")
    verdict = verify(folder, original=Graph.from_edges([0], [1], n=4))
    assert (
        "the release is of kind bipartite, but the original given is of kind graph"
        == details(verdict)["original"]
    )


def test_a_claim_about_rows_is_counted_in_a_table_too(tmp_path):
    table = people()
    made = people_released(table)
    folder = Release(
        data=table, guarantee=made.guarantee, provenance=made.provenance, private=None
    ).write(tmp_path / "release")
    told = details(verify(folder))["classes"]
    few = (
        "the class of line 2 of data.csv holds 1 row, fewer than k=2 (4 rows in 4 classes below k)"
    )
    assert few == told


def friends(users, names, *, method="suppress-k", **changed) -> tuple[Release, Bipartite]:
    """Return a release of four people, two by two alike, who like two features, and its input."""
    rows = [{0}, {0}, {1}, {1}]
    labels = np.array(names, dtype=np.dtypes.StringDType())
    made = release_of(rows, rows, KAnonymity(k=2), method=method, **changed)
    whole = Bipartite([0, 1, 2, 3, 4], [0, 0, 1, 1], 2, np.array(users), labels)
    order = made.private.linkage.released.argsort()
    release = Release(
        data=Bipartite(whole.indptr, whole.indices, 2, None, labels).permuted(order),
        guarantee=made.guarantee,
        provenance=made.provenance,
        private=Private(
            input_sha256=digest_of(whole),
            cost=made.private.cost,
            linkage=Linkage(whole.labels(), made.private.linkage.released),
        ),
    )
    return release, whole


def test_ids_that_are_published_as_items_are_counted_and_no_tick(tmp_path):
    release, data = friends(["ann", "bob", "cyd", "dan"], ["ann", "cyd"])
    verdict = verify(release.write(tmp_path / "release"), original=data)
    assert [] == verdict.failures()
    told = "2 of 4 original ids are names of published items, and the owner chose to leave "
    assert told + "open whether they are people there" == details(verdict)["no original ids"]
    assert "not checked" == outcomes(verdict)["no original ids"]


def test_ids_that_are_published_as_values_of_a_column_are_counted_and_no_tick(tmp_path):
    people = ["ann", "bob", "cyd", "dan"]
    table = gv.Table.from_columns({"boss": ["ann", "ann", "bob", "bob"]}, ids=people)
    folder = gv.ClusterK(k=2).anonymize(table).write(tmp_path / "release")
    verdict = verify(folder, original=table)
    assert [] == verdict.failures()
    told = "2 of 4 original ids are values of 'boss', and the owner chose to leave open whether"
    assert details(verdict)["no original ids"].startswith(told)
    assert "not checked" == outcomes(verdict)["no original ids"]
    plain = gv.Table.from_columns({"boss": ["x", "x", "y", "y"]}, ids=people)
    verdict = verify(gv.ClusterK(k=2).anonymize(plain).write(tmp_path / "plain"), original=plain)
    assert "holds" == outcomes(verdict)["no original ids"]


def test_ids_of_users_among_the_items_are_a_warning_and_no_promise(tmp_path):
    sent = gv.Bipartite.from_pairs(
        ["ann", "ann", "bob", "bob", "cyd", "cyd"], ["bob", "tea"] * 3
    ).with_items("things")
    with pytest.warns(
        gv.GraphveilWarning, match="1 of 2 items are ids of users, and are published"
    ):
        release = gv.SuppressK(k=3).anonymize(sent)
    verdict = verify(release.write(tmp_path / "release"), original=sent)
    assert "not checked" == outcomes(verdict)["no original ids"]


def test_an_item_renamed_to_a_user_fails_by_its_name_and_as_an_id(tmp_path):
    release, _ = friends(["ann", "bob", "cyd", "dan"], ["ann", "tea"])
    folder = release.write(tmp_path / "release")
    _, data = friends(["ann", "bob", "cyd", "dan"], ["rye", "tea"])
    (tmp_path / "release.private" / "record.json").unlink()
    found = {item.name: item.detail for item in verify(folder, original=data).failures()}
    assert {"items", "nothing added", "no original ids"} == set(found)
    told = "1 of 2 published items are not features of the original, the first is 'ann'"
    assert told == found["items"]
    told = "1 of 4 original ids are names of published items; 1 of them names no feature of the"
    assert f"{told} original" == found["no original ids"]


def test_items_are_compared_without_the_linkage(tmp_path):
    release, data = friends([7, 8, 9, 10], ["rye", "tea"])
    verdict = verify(release.write(tmp_path / "release", linkage=False), original=data)
    told = "every item of the release is a feature of the original, 2 in all"
    assert ("holds", told) == (outcomes(verdict)["items"], details(verdict)["items"])
    told = "no text parameter could hold one of 4 original ids"
    assert told == details(verdict)["no original ids"]


def test_an_id_among_the_parameters_is_named_unless_it_is_one_lower_case_word(tmp_path):
    for number, (text, leaks) in enumerate([("greedy", False), ("people: bob, dan", True)]):
        release, data = friends(["greedy", "bob", "cyd", "dan"], ["rye", "tea"])
        stated = {**release.provenance.parameters, "comment": text}
        provenance = dataclasses.replace(release.provenance, parameters=stated)
        release = dataclasses.replace(release, provenance=provenance)
        verdict = verify(release.write(tmp_path / str(number)), original=data)
        assert leaks == (outcomes(verdict)["no original ids"] == "fails")


@pytest.mark.parametrize("method", ["smooth-k", "suppress-k", "mondrian"])
def test_users_called_as_parameters_and_choices_are_no_leak(tmp_path, method):
    rows = [{0}, {0}, {1}, {1}, {1}, {1}]
    users = np.array(["chunk_rows", "theta", "greedy", "k", "first", "drop"])
    data = Bipartite([*range(7)], [0, 0, 1, 1, 1, 1], 8, users, of_rows(rows).features)
    promise = SmoothKAnonymity(k=2) if method == "smooth-k" else KAnonymity(k=2)
    release = release_of(rows, rows, promise, method=method, original=data)
    assert [] == verify(release.write(tmp_path / "release"), original=data).failures()


def test_an_original_with_another_number_of_users_is_told_so_with_the_flag(tmp_path):
    rows = [{0}, {0}, set()]
    folder = release_of(rows, rows, KAnonymity(k=1)).write(tmp_path / "release")
    told = details(verify(folder, original=of_rows(rows[:2])))["original"]
    assert told == (
        "this is not the original: the bipartite given has a different digest and 2 users, but the "
        "release has 3. If it was made with --users, give the same list again"
    )


@settings(deadline=None, max_examples=8)
@given(rows=st.lists(st.frozensets(st.integers(0, 12), max_size=4), min_size=1, max_size=6))
@example(rows=[frozenset()])
@example(rows=[frozenset({12}), frozenset()])
def test_unnamed_features_come_back_from_every_format_as_they_were_released(tmp_path_factory, rows):
    place = tmp_path_factory.mktemp("formats")
    indptr = np.cumsum([0, *map(len, rows)])
    wide = Bipartite(indptr, [item for row in rows for item in sorted(row)], n_features=40)
    released = wide.without_unused()
    used = sorted(set().union(*rows))
    assert used == released.feature_labels().tolist()
    provenance = Provenance(method="mondrian", source="S", limits="L", parameters={})
    made = Release(data=released, guarantee=KAnonymity(k=1), provenance=provenance)
    for form in ("csv", "parquet"):
        folder = made.write(place / form, format=form)
        assert released == read_release(folder).data, form
    found = outcomes(verify(place / "csv"))
    assert ["holds", "holds"] == [found["data"], found["counts"]]
