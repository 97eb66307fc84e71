"""The metrics of users by features against slow twins, and what must hold of any comparison."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.evaluate import METRICS
from graphveil.evaluate.metrics import user_items
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.evaluate import evaluate_release as evaluate

BIPARTITE = [
    name for name, metric in METRICS.items() if metric.kind is gv.Bipartite and not metric.by_name
]
QUANTILES = {"5% quantile": 0.05, "25% quantile": 0.25, "median": 0.5, "75% quantile": 0.75}
SPREAD = ["mean", "minimum", *QUANTILES]
PERFECT = {
    ("entry-jaccard", "all"): 1.0,
    **{("entries-suppressed", part): 0.0 for part in ("count", "share")},
    **{("entries-created", part): 0.0 for part in ("count", "share")},
    **{("user-jaccard", part): 1.0 for part in SPREAD},
    **{("feature-jaccard", part): 1.0 for part in SPREAD},
    ("feature-frequency", "Kolmogorov-Smirnov"): 0.0,
    ("feature-frequency", "mean change"): 0.0,
    ("feature-frequency", "largest change"): 0.0,
    ("pair-frequency", "mean relative error"): 0.0,
    ("pair-frequency", "largest relative error"): 0.0,
}
"""What a release that changed nothing scores; empty rows are as many as there were."""


class Side(NamedTuple):
    """What each user has, and the features that there are, in any order."""

    rows: list[set[str]]
    names: list[str]

    def data(self):
        pairs = [(user, name) for user, row in enumerate(self.rows) for name in row]
        return gv.Bipartite.from_pairs(
            np.array([user for user, _ in pairs], dtype=np.int64),
            np.array([name for _, name in pairs], dtype="T"),
            users=range(len(self.rows)),
            features=np.array(self.names, dtype="T"),
        )

    def entries(self, position):
        return {(position[user], name) for user, row in enumerate(self.rows) for name in row}

    def users_of(self, name):
        return sum(name in row for row in self.rows)


@st.composite
def sides(draw, users):
    names = draw(st.lists(st.sampled_from("abcdef"), unique=True))
    row = st.sets(st.sampled_from(names)) if names else st.just(set())
    return Side(draw(st.lists(row, min_size=users, max_size=users)), names)


@st.composite
def comparisons(draw):
    """Draw an original, a release of as many users, and the released id of every user."""
    n = draw(st.integers(1, 6))
    return draw(sides(n)), draw(sides(n)), draw(st.permutations(range(n)))


def rows_of(original, released, position):
    linkage = Linkage(np.arange(len(position)), np.array(position, dtype=np.int64))
    release = Release(
        data=released.data(),
        guarantee=StructuralKAnonymity(k=1),
        provenance=Provenance(method="k-degree", source="a test", limits="all", parameters={}),
        private=Private(input_sha256=digest_of(original.data()), linkage=linkage),
    )
    return evaluate(release, original=original.data())


def figures(*case):
    return {(row.question, row.part): row.value for row in rows_of(*case)}


def parts_of(metric, values):
    return {part: value for (name, part), value in values.items() if name == metric}


def index(left, right):
    return len(left & right) / len(left | right) if left | right else 1.0


def spread(values):
    if not values:
        return {}
    ordered = sorted(values)
    at = {part: ordered[math.ceil(q * len(ordered)) - 1] for part, q in QUANTILES.items()}
    return {"mean": sum(ordered) / len(ordered), "minimum": ordered[0], **at}


@settings(deadline=None, max_examples=100)
@given(case=comparisons())
def test_entries_are_compared_person_by_person_and_by_name_as_sets_are(case):
    original, released, position = case
    before, after = original.entries(position), released.entries(range(len(position)))
    values = figures(*case)
    assert index(before, after) == values["entry-jaccard", "all"]
    assert len(before - after) == values["entries-suppressed", "count"]
    gone, new = (
        len(side) / len(before) if before else None for side in (before - after, after - before)
    )
    assert gone == values.get(("entries-suppressed", "share"))
    assert len(after - before) == values["entries-created", "count"]
    assert new == values.get(("entries-created", "share"))
    empty = [sum(not row for row in side.rows) for side in (original, released)]
    assert empty == [values["empty-rows", part] for part in ("original", "released")]
    assert empty[1] / len(position) == values["empty-rows", "released share"]


@settings(deadline=None, max_examples=100)
@given(case=comparisons())
def test_single_users_and_features_are_compared_as_sets_are(case):
    original, released, position = case
    values = figures(*case)
    users = [index(row, released.rows[position[user]]) for user, row in enumerate(original.rows)]
    sets = {
        name: [
            {user for user, row in enumerate(side.rows) if name in row}
            for side in (Side([original.rows[u] for u in np.argsort(position)], []), released)
        ]
        for name in "abcdef"
    }
    columns = [index(*both) for both in sets.values() if set.union(*both)]
    for metric, indices in (("user-jaccard", users), ("feature-jaccard", columns)):
        assert spread(indices) == pytest.approx(parts_of(metric, values))


@settings(deadline=None, max_examples=100)
@given(case=comparisons())
def test_popularity_of_features_is_compared_as_by_counting(case):
    original, released, position = case
    values = figures(*case)
    n, names = len(position), sorted({*original.names, *released.names})
    pairs = [(original.users_of(name), released.users_of(name)) for name in names]
    if not names:
        assert {} == parts_of("feature-frequency", values)
        return
    furthest = max(
        abs(sum(x <= at for x, _ in pairs) - sum(y <= at for _, y in pairs)) / len(names)
        for at in range(n + 1)
    )
    assert furthest == pytest.approx(values["feature-frequency", "Kolmogorov-Smirnov"], abs=1e-12)
    changes = [abs(x - y) / n for x, y in pairs]
    assert max(changes) == pytest.approx(values["feature-frequency", "largest change"])
    assert sum(changes) / len(changes) == pytest.approx(values["feature-frequency", "mean change"])


def pairs_of(rows):
    return Counter(pair for row in rows for pair in itertools.combinations(sorted(row), 2))


@settings(deadline=None, max_examples=100)
@given(case=comparisons(), most=st.integers(1, 6))
def test_the_counts_of_pairs_are_compared_as_by_counting(case, most):
    original, released, _ = case
    before, after = pairs_of(original.rows), pairs_of(released.rows)
    top = sorted(before, key=lambda pair: (-before[pair], pair))[:most]
    errors = [abs(after[pair] - before[pair]) / before[pair] for pair in top]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(user_items, "TOP_PAIRS", most)
        values = figures(*case)
    expected = {}
    if errors:
        mean = sum(errors) / len(errors)
        expected = {"mean relative error": mean, "largest relative error": max(errors)}
    assert expected == pytest.approx(parts_of("pair-frequency", values))


@settings(deadline=None, max_examples=100)
@given(
    rows=st.lists(st.sets(st.integers(0, 11)), max_size=12),
    most=st.integers(1, 8),
    first=st.integers(1, 3),
    block=st.integers(1, 3),
)
def test_the_most_frequent_pairs_do_not_depend_on_how_many_are_counted_at_once(
    rows, most, first, block
):
    counted = pairs_of(rows)
    expected = sorted(counted, key=lambda pair: (-counted[pair], pair))[:most]
    matrix = gv.Bipartite.from_pairs(
        np.array([user for user, row in enumerate(rows) for _ in row], dtype=np.int64),
        np.array([feature for row in rows for feature in row], dtype=np.int64),
        users=range(len(rows)),
        features=range(12),
    ).to_scipy()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(user_items, "FIRST_BLOCK", first)
        patched.setattr(user_items, "BLOCK", block)
        pairs = user_items.top_pairs(matrix.astype(np.int32), most)
    assert expected == list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    assert [counted[pair] for pair in expected] == pairs.users.tolist()


@settings(deadline=None, max_examples=60)
@given(case=comparisons(), data=st.data())
def test_a_release_that_changed_nothing_scores_perfectly(case, data):
    original, _, position = case
    used = sorted(set().union(*original.rows))
    back = np.argsort(position)
    same = Side([original.rows[user] for user in back], data.draw(st.permutations(used)))
    values = figures(original, same, position)
    used_twice = any(len(row) > 1 for row in original.rows)
    undefined = {
        *([] if used else ["feature-jaccard", "feature-frequency", "entries"]),
        *([] if used_twice else ["pair-frequency"]),
    }
    expected = {
        key: value
        for key, value in PERFECT.items()
        if key[0] not in undefined and not (key[1] == "share" and "entries" in undefined)
    }
    assert expected == pytest.approx({key: values[key] for key in expected})
    assert values["empty-rows", "original"] == values["empty-rows", "released"]


def test_every_figure_that_is_judged_has_a_perfect_value():
    side = Side([{"a", "b"}, {"b"}], ["a", "b"])
    rows = rows_of(side, side, [1, 0])
    judged = {(row.question, row.part) for row in rows if row.direction != "for comparison"}
    assert BIPARTITE == list(dict.fromkeys(row.question for row in rows))
    assert judged == {*PERFECT, ("empty-rows", "released"), ("empty-rows", "released share")}


@settings(deadline=None, max_examples=60)
@given(case=comparisons(), data=st.data())
def test_other_ids_and_another_order_of_features_change_no_figure(case, data):
    original, released, position = case
    n = len(position)
    old, new = (data.draw(st.permutations(range(n))) for _ in range(2))
    moved = [
        Side(
            [side.rows[user] for user in np.argsort(order)], data.draw(st.permutations(side.names))
        )
        for side, order in ((original, old), (released, new))
    ]
    moved_position = [new[position[user]] for user in np.argsort(old)]
    assert figures(*case) == pytest.approx(figures(*moved, moved_position), abs=1e-12)
