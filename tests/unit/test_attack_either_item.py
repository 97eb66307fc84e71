"""Which of two items is a person's, by releases of data with either."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import graphveil as gv
from graphveil.attacks import ATTACKS
from graphveil.attacks.features.released_classes import ReleasedClasses
from graphveil.attacks.features.swapped_items import BY_RELEASES, seen_of, swapped
from graphveil.data import Bipartite, Table
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.verbs.attack import attack_release as attack
from networks_data import rng_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "an adversary who reads the linkage to tell either item",
        "means": "The row with the own item is scored by what was true: every method looks open.",
        "file": "src/graphveil/attacks/features/swapped_items.py",
        "old": "return seen_of(own, other, people.classes, self.size / n)",
        "new": "return seen_of(own, other, people.classes, 1.0) + (people.own[self.data.people]"
        " >= 0)[:, None]",
    },
    {
        "name": "releases that hold the own item in both worlds",
        "means": "Nothing is told apart that is the same: every method looks safe.",
        "file": "src/graphveil/attacks/features/swapped_items.py",
        "old": "rows[self.people[~own]] = n + np.flatnonzero(~own)",
        "new": "rows[self.people[~own]] = self.people[~own]",
    },
    {
        "name": "another item that is the own one",
        "means": "Both worlds are one: every method looks safe.",
        "file": "src/graphveil/attacks/features/swapped_items.py",
        "old": "if own != other and own >= 0 and other >= 0:",
        "new": "if own >= 0 and other >= 0:",
    },
]


def table(n=150, seed=2):
    rng = rng_of(seed)
    return Table.from_columns({name: rng.integers(0, 4, n).astype(str) for name in "abcde"})


def lists(n=150, seed=2):
    rng = rng_of(seed)
    rows = [rng.choice(30, 5, replace=False).tolist() for _ in range(n)]
    return Bipartite.from_lists([[f"item {item}" for item in row] for row in rows])


def told_of(data, rerun=None, release=None, **options):
    release = gv.Rename().anonymize(data, seed=1) if release is None else release
    again = {} if rerun is None else {"rerun": rerun}
    told = attack(
        release,
        original=data,
        attacks=["item-membership"],
        seed=1,
        options={"item-membership": {"shadows": 10, **options}},
        **again,
    )
    return {row.part: row for row in told}, told.not_measured


@pytest.mark.parametrize("data", [table(), lists(), table().one_hot()], ids=["table", "lists", "1"])
def test_people_are_asked_about_with_one_item_exchanged_and_everything_else_as_it_is(data):
    made = swapped(data, rng_of(4).permutation(150), 30, rng_of(5))
    assert 30 == made.people.size == np.unique(made.people).size
    one_hot = (lambda some: some.one_hot()) if isinstance(data, Table) else (lambda some: some)
    rows, before = (one_hot(some).to_scipy().toarray() for some in (made.rows, data))
    assert (before == rows[:150]).all()
    change = rows[150:].astype(int) - before[made.people]
    assert {(1, 1)} == {((row == 1).sum(), (row == -1).sum()) for row in change}
    if not isinstance(data, Table):
        return
    width = [len(values) for values in data.categories]
    column = np.repeat(np.arange(len(width)), width)
    assert [column[row == 1] for row in change] == [column[row == -1] for row in change]


def test_a_half_is_the_data_with_the_other_item_of_those_who_are_not_in_it():
    made = swapped(table(), np.arange(150), 30, rng_of(5))
    own = rng_of(3).random(30) < 0.5
    codes = made.rows.codes[made.of_half(own)]
    differs = (codes != table().codes).any(axis=1)
    assert made.people[~own].tolist() == np.flatnonzero(differs).tolist()


@pytest.mark.parametrize("data", [table(), lists()], ids=["table", "lists"])
def test_of_a_release_that_changes_nothing_either_item_is_told(data):
    told, missing = told_of(data)
    assert told[BY_RELEASES].low > 0.85
    assert told[f"{BY_RELEASES}, found at 1% false alarms"].value > 0.6
    assert {} == missing


def test_of_a_release_of_equal_rows_nothing_is_told():
    data = table()
    equal = Table.from_columns({name: ["*"] * data.size for name in "abcde"})

    def suppressed(some, seed):
        del seed
        return gv.Rename().anonymize(
            equal.permuted(np.arange(some.size), ids=some.labels()), seed=1
        )

    told, _ = told_of(data, suppressed)
    assert told[BY_RELEASES].low <= 0.5 <= told[BY_RELEASES].high
    assert told[f"{BY_RELEASES}, found at 1% false alarms"].value <= 0.05


def test_of_a_release_of_other_people_nothing_is_told():
    """Rows that were drawn without looking at anybody."""
    draws = rng_of(7)

    def others(some, seed):
        del seed
        rows = table(some.size, seed=int(draws.integers(1 << 30)))
        return gv.Rename().anonymize(rows.permuted(np.arange(some.size), ids=some.labels()), seed=1)

    told, _ = told_of(table(), others)
    for part, row in told.items():
        if part.startswith(BY_RELEASES):
            assert row.low <= row.guess <= row.high, part


def test_what_releases_teach_is_more_than_one_release_says():
    data = table(400)
    release = gv.SuppressK(k=2).anonymize(data, seed=1)
    told, _ = told_of(data, release=release, shadows=16)
    assert told[BY_RELEASES].low > told[f"{BY_RELEASES}, by one score of the release"].high


def test_scores_hang_on_no_order_of_classes_or_people():
    made = swapped(table(), np.arange(150), 30, rng_of(5))
    rows = sparse.csr_array(made.rows.one_hot().to_scipy().astype(float))
    own, other, shown = rows[made.people], rows[150:], rows[:60]
    frequency = np.maximum(np.asarray(shown.mean(axis=0)).ravel(), 1 / 60)
    classes = ReleasedClasses(shown, np.ones(60, dtype=np.int64), frequency, 0.9, 0.1)
    moved = classes._replace(rows=shown[np.arange(60)[::-1]])
    order = rng_of(6).permutation(30)
    seen = seen_of(own, other, classes, 0.2)
    assert seen[order] == pytest.approx(seen_of(own[order], other[order], moved, 0.2), abs=1e-3)
    assert -seen == pytest.approx(seen_of(other, own, classes, 0.2), abs=1e-9)


def test_who_may_not_be_asked_about_is_said():
    with pytest.raises(NotMeasuredError, match="only 3 rows can be tested"):
        swapped(table(), np.arange(3), 30, rng_of(5))
    with pytest.raises(NotMeasuredError, match="only 0 rows can be tested"):
        swapped(Table.from_columns({"a": ["x"] * 30}), np.arange(30), 30, rng_of(5))


def test_without_releases_of_its_own_the_release_alone_is_read():
    told, missing = told_of(table(), shadows=0)
    assert "one item of people inside" in told
    assert "--item-membership.shadows 24" in missing[f"item-membership: {BY_RELEASES}"]
    entry = ATTACKS["item-membership"]
    assert 0 == entry.shorter.shadows
