"""What attackers learn of small users by features, against counts by hand and dense twins."""

from __future__ import annotations

import dataclasses
from collections import Counter

import msgspec
import numpy as np
import pytest
from scipy import stats

import graphveil as gv
from graphveil.attacks import ATTACKS, Attached
from graphveil.attacks.features import (
    counterfactual,
    linkage,
    membership,
    released_classes,
    scoring,
)
from graphveil.attacks.features.cells.published_cells import column_of_features
from graphveil.attacks.features.item_membership import asked_of
from graphveil.attacks.features.membership import TRUTHS, evidence
from graphveil.attacks.features.released_classes import FALSE_SHARE, people_of
from graphveil.attacks.features.rerunning import with_another_item
from graphveil.attacks.intervals import of_paired_area, positives_above
from graphveil.claims.guarantees import AdaptiveAnonymity, KAnonymity, SmoothKAnonymity
from graphveil.core.errors import ParameterError, ResourceError, UsageError
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite, Table
from graphveil.evaluate import BipartiteComparison
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.attack import attack_release as attack

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

SEEDS = range(6)


def users(lists, names="abcdefgh"):
    user = np.repeat(np.arange(len(lists)), [len(row) for row in lists])
    pairs = [name for row in lists for name in sorted(row)]
    return Bipartite.from_pairs(
        user, np.array(pairs, dtype=str), users=np.arange(len(lists)), features=list(names)
    )


def release_of(before, after, *, order=None, guarantee=None, linkage=True):
    order = np.arange(len(before)) if order is None else np.array(order)
    original = users(before)
    release = Release(
        data=users([after[place] for place in order]),
        guarantee=guarantee or SmoothKAnonymity(k=2),
        provenance=Provenance(method="by-hand", source="a test", limits="All.", parameters={}),
        private=Private(
            input_sha256=digest_of(original),
            cost={},
            linkage=Linkage(original.labels(), np.argsort(order)) if linkage else None,
        ),
    )
    return release, original


def attacked(name, before, after, *, options=None, rerun=None, second=None, attached=None, **how):
    release, original = release_of(before, after, **how)
    return attack(
        release,
        original=original,
        attacks=[name],
        seed=1,
        options={name: options or {}},
        rerun=rerun,
        second=second,
        attached=attached,
    )


def figures(*case, **how):
    return {row.part: row.value for row in attacked(*case, **how)}


def drawn(seed, n=9):
    """Return random rows, and rows of which two or three are always equal, in a random order."""
    rng = np.random.Generator(np.random.PCG64(seed))
    before = ["".join(rng.choice(list("abcdefgh"), rng.integers(1, 6), False)) for _ in range(n)]
    shown = ["".join(rng.choice(list("abcdefgh"), rng.integers(0, 6), False)) for _ in range(4)]
    return before, [shown[group] for group in rng.integers(0, 4, n)], rng.permutation(n)


def people(before, after, order):
    release, original = release_of(before, after, order=order)
    pair = BipartiteComparison(
        original=original,
        released=release.data,
        position=np.argsort(order),
        randomness=Randomness(seed=1),
    )
    return people_of(pair)


class Twin:
    """The release as sets, and every formula written out."""

    def __init__(self, before, after):
        self.before = [set(row) for row in before]
        rows = Counter("".join(sorted(row)) for row in after)
        self.classes = [(set(row), size) for row, size in rows.items()]
        self.own = [list(rows).index("".join(sorted(row))) for row in after]
        n, entries = len(before), sum(map(len, after))
        support = Counter(name for row in after for name in row)
        self.f = {name: max(support[name], 1) / n for name in "abcdefgh"}
        kept = sum(len(set(x) & set(y)) for x, y in zip(before, after, strict=True))
        self.a = min(kept / entries if entries else 1, 0.999)
        hidden = max(1 - kept / sum(map(len, before)), 0.001)
        self.b = {name: max(hidden * share, 1e-7) for name, share in self.f.items()}
        self.n = n

    def weight(self, name, w):
        f = self.f[name]
        return np.log((1 - w) * self.a + w * f) - np.log((1 - w) * self.b[name] + w * f)

    def scores(self, known, w):
        return np.array(
            [
                np.log(size) + sum(self.weight(name, w) for name in known if name in shown)
                for shown, size in self.classes
            ]
        )

    def chances(self, known, w):
        likely = np.exp(self.scores(known, w))
        return likely / likely.sum()

    def others(self, known, w):
        chances = self.chances(known, w)
        return {
            name
            for name in self.f
            if name not in known
            and sum(
                chance * (self.a if name in shown else self.b[name])
                for chance, (shown, _) in zip(chances, self.classes, strict=True)
            )
            > 0.5
        }

    def eccentric(self, known):
        rarity = {name: 1 / np.log(max(round(f * self.n), 2)) for name, f in self.f.items()}
        score = [sum(rarity[name] for name in known if name in c) for c, _ in self.classes]
        rows = np.repeat(score, [size for _, size in self.classes])
        second, best = sorted(score)[-2:]
        named = best > second and best - second >= 1.5 * rows.std()
        return named, int(np.argmax(score))

    def likelihood(self, row, truth):
        explained = [
            sum(np.log(truth / self.f[i]) for i in row & shown)
            + sum(np.log((1 - truth) / (1 - min(self.f[i], 0.999))) for i in shown - row)
            for shown, _ in self.classes
        ]
        return max(explained)


def known_of(everybody, number, wrong=0):
    rng = np.random.Generator(np.random.PCG64(5))
    return linkage.known_items(everybody, np.arange(len(everybody.own)), (number, wrong, 99), rng)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("number", "wrong"), [(1, 0), (2, 1), (3, 0)])
def test_guesses_are_those_of_the_formulas_written_out(seed, number, wrong):
    before, after, order = drawn(seed)
    everybody, twin = people(before, after, order), Twin(before, after)
    known = known_of(everybody, number, wrong)
    made = scoring.guesses(known, everybody)
    w = wrong / number if wrong else FALSE_SHARE
    for at, person in enumerate(known.people):
        items = {"abcdefgh"[place] for place in known.items[[at]].indices}
        assert number == len(items)
        assert wrong == len(items - twin.before[person])
        scores, own = twin.scores(items, w), twin.own[person]
        best = {place for place, score in enumerate(scores) if score >= scores.max() - 1e-9}
        rows = sum(twin.classes[place][1] for place in best)
        assert (own in best) / len(best) == pytest.approx(made.own_class[at])
        assert (own in best) / rows == pytest.approx(made.own_row[at])
        chances = twin.chances(items, w)
        assert chances.max() == pytest.approx(made.chance[at])
        guessed, true = twin.others(items, w), twin.before[person] - items
        rare = {name for name, share in twin.f.items() if share <= scoring.RARE}
        for counts, some in ((made.others, set(twin.f)), (made.rare, rare)):
            expected = [len(s & some) for s in (guessed, guessed & true, true)]
            assert expected == [column[at] for column in counts]
        named, whom = twin.eccentric(items)
        assert named == made.eccentric[at]
        if named:
            shown = everybody.classes.rows[[everybody.own[person]]].indices
            own_is_named = twin.classes[whom][0] == {"abcdefgh"[place] for place in shown}
            assert own_is_named == made.eccentric_is_own[at]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_is_as_likely_as_the_formula_written_out_says(seed):
    before, after, order = drawn(seed)
    everybody, twin = people(before, after, order), Twin(before, after)
    made = evidence(everybody.before, everybody.classes)
    for place, truth in enumerate(TRUTHS):
        assert [twin.likelihood(row, truth) for row in twin.before] == pytest.approx(made[:, place])


def test_features_that_are_likely_of_whose_row_lacks_them_are_guessed():
    before = ["ab", "ab", "ab", "c", "d", "e", "f", "g", "h"]
    after = ["a", "a", "a", "a", "a", "a", "a", "a", ""]
    everybody, twin = people(before, after, np.arange(9)), Twin(before, after)
    classes = everybody.classes
    assert classes.hidden.max() > 0.5
    known = known_of(everybody, 1)
    made = scoring.guesses(known, everybody)
    for at in range(9):
        items = {"abcdefgh"[place] for place in known.items[[at]].indices}
        assert len(twin.others(items, FALSE_SHARE)) == made.others.guessed[at]


def test_scoring_a_few_at_once_changes_nothing(monkeypatch):
    everybody = people(*drawn(3))
    known = known_of(everybody, 2)
    whole = scoring.guesses(known, everybody)
    monkeypatch.setattr(membership, "MOST_JOINT_CELLS", 0)
    rows = evidence(everybody.before, everybody.classes)
    monkeypatch.setattr(released_classes, "CELLS_AT_ONCE", 30)
    for one, other in zip(whole, scoring.guesses(known, everybody), strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))
    assert rows.tolist() == evidence(everybody.before, everybody.classes).tolist()


WHOLE = ["abc", "abd", "acd", "bcd", "efg", "efh", "egh"]


def test_unprotected_rows_of_which_none_lies_in_another_are_all_named():
    options = {"known": 3, "wrong": 0}
    told = figures("linkage", WHOLE, WHOLE, options=options, order=[4, 0, 3, 5, 1, 2, 6])
    assert 1.0 == told["3 known, 0 false: own row"] == told["3 known, 0 false: own class"]
    release = gv.Rename().anonymize(users(WHOLE), seed=1)
    rows = {
        r.part: r
        for r in gv.attack_release(
            release, original=users(WHOLE), seed=1, options={"linkage": options}
        )
    }
    assert 1.0 == rows["3 known, 0 false: own row"].value
    assert 1 / 7 == rows["3 known, 0 false: own row"].guess


@pytest.mark.parametrize("row_of_all", ["ab", ""])
def test_a_release_of_equal_rows_leaves_one_in_n(row_of_all):
    rows = {r.part: r for r in attacked("linkage", WHOLE, [row_of_all] * 7)}
    row = rows["2 known, 0 false: own row"]
    assert 1 / 7 == pytest.approx(row.value)
    assert row.low - 1e-12 <= 1 / 7 <= row.high + 1e-12
    assert 1.0 == rows["2 known, 0 false: own class"].guess


def test_who_stands_where_changes_nothing_where_whole_rows_are_known():
    options = {"known": 3, "wrong": 0}
    after = ["abc", "abc", "acd", "acd", "efg", "efg", "efg"]
    one, two = (
        {r.part: r.value for r in attacked("linkage", WHOLE, after, options=options, order=order)}
        for order in (range(7), [4, 0, 3, 5, 1, 2, 6])
    )
    assert one == pytest.approx(two)
    assert one
    turned = [2, 6, 0, 5, 1, 4, 3]
    permuted = ([rows[place] for place in turned] for rows in (WHOLE, after))
    assert one == pytest.approx(figures("linkage", *permuted, options=options))


def test_everybodys_risk_is_the_chance_that_their_own_row_is_picked():
    release, original = release_of(WHOLE, ["ab"] * 7)
    pair = BipartiteComparison(
        original=original,
        released=release.data,
        position=np.arange(7),
        randomness=Randomness(seed=1),
    )
    situation = gv.attacks.AttackInput(comparison=pair, release=release)
    outcome = linkage.linkage(situation, linkage.LinkageOptions(known=(3,), wrong=(0,)))
    assert [1 / 7] * 7 == outcome.risk.tolist() == outcome.baseline.tolist()
    outcome = linkage.linkage(situation, linkage.LinkageOptions(known=(3,), wrong=(0,), targets=2))
    assert 5 == np.isnan(outcome.risk).sum() == np.isnan(outcome.baseline).sum()


def test_a_hidden_item_is_guessed_by_how_many_hide_it_and_how_many_others_have_it():
    """Nobody of two has what is hidden; of three members all but one."""
    everybody = ["a"] * 6
    [row] = attacked("insider", ["h", "h", *everybody], ["h", "h", *everybody])[1:]
    assert "hidden cells of others, right guess" == row.part
    assert (1.0, 1.0) == (row.value, row.guess)
    [row] = attacked("insider", ["ha", "ha", "h", *everybody], ["h", "h", "h", *everybody])[1:]
    others = 7 * 6 * 5 + 6 * 3 * 2
    assert row.value == row.guess == (others + 2 * 2) / (others + 3 * 2)


def test_what_cannot_be_measured_is_missing_with_its_reason(monkeypatch):
    short = attacked("linkage", ["a", "b"], ["a", "b"], options={"known": 2})
    assert [] == list(short)
    assert "no one has 2 items" in short.not_measured["linkage: 2 known, 0 false"]
    assert "too few rows to exclude some" in short.not_measured[f"linkage: {counterfactual.TWIN}"]
    more = attacked("linkage", WHOLE, WHOLE, options={"known": 1, "wrong": 2}).not_measured
    assert "2 of 1 item cannot be false" == more["linkage: 1 known, 2 false"]
    unknown = attacked("linkage", many(), many()).not_measured
    assert "does not know the method" in unknown[f"linkage: {counterfactual.TWIN}"]
    assert "linkage" in attacked("linkage", WHOLE, WHOLE, linkage=False).not_measured["linkage"]
    for name in ("linkage", "membership", "class-truth"):
        assert "the data has no rows" == attacked(name, [], []).not_measured[name]
    few = attacked("membership", ["abc"], ["abc"])
    assert "only 1 of 1 row has at least 3 features; 20" in few.not_measured["membership"]
    empty = attacked("class-truth", ["abc"], [""])
    assert "no entries were published" == empty.not_measured["class-truth"]
    monkeypatch.setattr(released_classes, "MOST_CELLS", 5)
    with pytest.raises(ResourceError, match=r"(exceed the limit of|more than) 5"):
        attacked("linkage", WHOLE, WHOLE)


def test_one_person_is_always_named():
    told = figures("linkage", ["abc"], ["abc"], options={"known": 2})
    assert 1.0 == told["2 known, 0 false: own row"]
    assert 0.0 == told["2 known, 0 false: NS08 named"]


def test_parameters_that_do_not_fit_are_refused():
    for options, words in (
        ({"known": "2,x"}, "is not a list of integers"),
        ({"targets": 0}, "targets=0 is out of range"),
        ({"known": "0,2"}, "known=0,2 contains 0"),
        ({"target": 3}, "the attack linkage has no parameter 'target'"),
    ):
        with pytest.raises(ParameterError, match=words):
            attacked("linkage", WHOLE, WHOLE, options=options)


def many(n=60, seed=0):
    rng = np.random.Generator(np.random.PCG64(seed))
    return ["".join(sorted(rng.choice(list("abcdefgh"), 4, False))) for _ in range(n)]


def test_somebody_left_out_is_told_from_who_is_inside_where_nothing_is_protected():
    lists = [[f"x{5 * u + j}" for j in range(5)] for u in range(60)]
    original = Bipartite.from_lists(lists)
    release = gv.Rename().anonymize(original, seed=1)
    rows = {
        (r.question, r.part): r
        for r in gv.attack_release(
            release,
            original=original,
            attacks=["membership", "linkage"],
            seed=1,
            options={"linkage": {"known": 2, "wrong": 0}},
        )
    }
    assert (1.0, 0.5) == (
        rows["membership", "a whole row"].value,
        rows["membership", "a whole row"].guess,
    )
    part = "2 known: rare other items, recall"
    assert 0.0 == rows["linkage", f"{part} of people left out"].value
    inside = rows["linkage", f"{part} of people inside"]
    assert (1.0, 0.0) == (inside.value, inside.guess)
    harm = rows["linkage", f"{part}, harm of being inside"]
    assert (1.0, 1.0, 1.0) == (harm.value, harm.low, harm.high)


def blank(data, seed):
    """Return the release in which all rows are equal."""
    del seed
    if isinstance(data, Table):
        rows = Table.from_columns({name: ["*"] * data.n_rows for name in data.columns})
    else:
        rows = users(["a"] * data.n_users)
    release, _ = release_of(["a"], ["a"])
    linkage_of = Linkage(data.labels(), np.arange(data.size))
    private = msgspec.structs.replace(release.private, linkage=linkage_of)
    return dataclasses.replace(release, data=rows, private=private)


def test_of_equal_rows_nobody_is_told_from_people_left_out():
    same = ["abcd"] * 60
    row = attacked("membership", same, ["a"] * 60, rerun=blank)[0]
    assert (0.5, 60) == (row.value, row.sample_size)
    different = attacked("membership", many(), ["a"] * 60, rerun=blank)[0]
    assert different.low <= 0.5 <= different.high


def test_a_method_that_refuses_the_smaller_data_is_the_reason():
    def refuse(data, seed):
        del data, seed
        raise ResourceError("no room. Make some.")

    told = attacked("membership", many(), many(), rerun=refuse)
    assert {"membership": "no room. Make some."} == told.not_measured
    told = attacked("linkage", many(), many(), rerun=refuse)
    assert "no room. Make some." == told.not_measured[f"linkage: {counterfactual.TWIN}"]
    told = attacked("re-run", many(), many(), rerun=refuse)
    assert {"re-run": "no room. Make some."} == told.not_measured


def test_tables_are_attacked_by_their_values_and_run_again_as_tables():
    rows = many()
    table = Table.from_columns({f"c{at}": [row[at] for row in rows] for at in range(4)})
    release = gv.Rename().anonymize(table, seed=1)
    kinds = []

    def again(data, seed):
        kinds.append(type(data))
        return blank(data, seed)

    told = attack(
        release,
        original=table,
        attacks=["linkage", "re-run"],
        seed=1,
        rerun=again,
        options={"linkage": {"known": 4, "wrong": 0}, "re-run": {"trials": 2}},
    )
    values = {(row.question, row.part): row.value for row in told}
    groups = Counter(rows)
    share = sum(1 for _ in groups) / 60
    assert share == pytest.approx(values["linkage", "4 known, 0 false: own row"])
    assert {Table} == set(kinds)
    assert 0.0 == values["re-run", "seed known, releases differ"]


def class_truth_by_hand(before, after, theta):
    classes = {}
    for row, shown in zip(before, after, strict=True):
        classes.setdefault("".join(sorted(shown)), []).append(set(row))
    entries = sure = having = proved = 0
    proved_people = absent_people = 0
    for shown, members in classes.items():
        size, least = len(members), int(np.ceil(theta * len(members)))
        counts = Counter(name for member in members for name in member)
        entries += size * len(shown)
        having += sum(counts[name] for name in shown)
        sure += sum(size for name in shown if counts[name] == size)
        proving = {name for name in shown if counts[name] == least}
        absent = {name for name, number in counts.items() if number == least - 1} - set(shown)
        proved += sum(counts[name] for name in proving)
        proved_people += sum(1 for member in members if member & proving)
        absent_people += sum(1 for member in members if absent - member)
    n, total = len(before), sum(map(len, before))
    return {
        "entries true of the whole class": sure / entries,
        "entries true, mean": having / entries,
        "entries that the class makes certain": sure / total,
        "threshold, entries proved": proved / total,
        "threshold, people with a proved entry": proved_people / n,
        "threshold, people with an item proved absent": absent_people / n,
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_class_tells_is_what_is_counted_member_by_member(seed):
    before, after, order = drawn(seed)
    expected = class_truth_by_hand(before, after, 0.5)
    told = figures("class-truth", before, after, order=order)
    expected = {part: value for part, value in expected.items() if part in told}
    assert expected == pytest.approx(told)
    assert len(told) >= 4


def test_thresholds_of_a_release_that_keeps_to_the_rule_prove_items_absent_as_well():
    before = ["ab", "abc", "ac", "bc", "bd", "d", "d", "bd"]
    after = ["abc"] * 4 + ["bd"] * 4
    told = figures("class-truth", before, after)
    assert class_truth_by_hand(before, after, 0.5) == pytest.approx(told)


def test_where_frequent_items_are_left_out_nothing_proves_an_item_absent():
    told = attacked("class-truth", ["ab", "ab"], ["a", "a"])
    assert {"class-truth: threshold, absent items proved"} == set(told.not_measured)


def test_all_that_is_only_suppressed_is_certain_and_no_threshold_is_promised():
    told = attacked("class-truth", ["ab", "ac"], ["a", "a"], guarantee=KAnonymity(k=2))
    assert [1.0, 1.0, 0.5] == [row.value for row in told]
    assert [1.0, 1.0, 0.5] == [row.guess for row in told]
    assert {"class-truth: threshold"} == set(told.not_measured)


def risks(name, before, after, **how):
    release, original = release_of(before, after)
    pair = BipartiteComparison(
        original=original,
        released=release.data,
        position=np.arange(len(before)),
        randomness=Randomness(seed=1),
    )
    situation = gv.attacks.AttackInput(comparison=pair, release=release, **how)
    entry = ATTACKS[name]
    return entry.compute(situation, entry.options())


def test_the_risk_of_a_class_is_the_share_of_rare_items_that_it_makes_certain():
    before = ["abc", "abd", *["a"] * 38]
    outcome = risks("class-truth", before, ["ab", "ab", *["a"] * 38])
    assert [0.5, 0.5] == outcome.risk[:2].tolist()
    assert [(2 / 40 + 1 / 40) / 2] * 2 == pytest.approx(outcome.baseline[:2].tolist())
    assert np.isnan(outcome.risk[2:]).all()


CLASSES = ["a", "a", "b", "b", "b", "c", "c"]
INCOME = ["high", "high", "low", "low", "high", "low", "low"]


def test_classes_of_one_value_give_it_away():
    attached = Attached("income", np.array(INCOME))
    rows = {r.part: r for r in attacked("homogeneity", CLASSES, CLASSES, attached=attached)}
    part = "in a class of one value"
    assert (4 / 7, 0.0) == (rows[part].value, rows[part].guess)
    assert [2 / 3, 2 / 4] == [rows[f"{part}: {value}"].value for value in ("high", "low")]
    commonest = rows["commonest value of the class"]
    assert (6 / 7, 4 / 7) == pytest.approx((commonest.value, commonest.guess))
    outcome = risks("homogeneity", CLASSES, CLASSES, attached=attached)
    assert [1, 1, 2 / 3, 2 / 3, 1 / 3, 1, 1] == pytest.approx(outcome.risk)
    assert [3 / 7, 3 / 7, 4 / 7] == pytest.approx(outcome.baseline[:3])


def test_a_column_of_one_value_is_known_without_the_release():
    attached = Attached("income", np.array(["low"] * 7))
    rows = attacked("homogeneity", CLASSES, CLASSES, attached=attached)
    assert {(1.0, 1.0)} == {(row.value, row.guess) for row in rows}


def test_a_column_with_values_for_other_people_is_refused():
    with pytest.raises(UsageError, match="'income' has 2 values, but the original has 7 people"):
        attacked("homogeneity", CLASSES, CLASSES, attached=Attached("income", np.array(["a", "b"])))


def test_without_a_column_or_a_second_release_the_words_say_how_to_give_one():
    told = attacked("homogeneity", CLASSES, CLASSES).not_measured["homogeneity"]
    assert "--attached FILE --attached-column NAME" in told
    told = attacked("intersection", CLASSES, CLASSES).not_measured["intersection"]
    assert "--with DIR" in told


def test_two_releases_leave_who_shares_both_classes():
    second, _ = release_of(
        CLASSES, ["a", "b", "b", "b", "a", "a", "a"], order=[3, 1, 0, 2, 6, 5, 4]
    )
    rows = {r.part: r for r in attacked("intersection", CLASSES, CLASSES, second=second)}
    joint = [1, 1, 2, 2, 1, 2, 2]
    parts = {
        "joint class, median": (np.median(joint), 2.0),
        "joint class smaller than promised": (3 / 7, 0.0),
        "alone in the joint class": (3 / 7, 0.0),
    }
    assert parts == {part: (row.value, row.guess) for part, row in rows.items()}
    unlike = AdaptiveAnonymity(level=2)
    told = attacked("intersection", CLASSES, CLASSES, second=second, guarantee=unlike)
    assert {"intersection: joint class smaller than promised"} == set(told.not_measured)
    bare, _ = release_of(CLASSES, CLASSES, linkage=False)
    told = attacked("intersection", CLASSES, CLASSES, second=bare)
    assert "linkage of the second release" in told.not_measured["intersection"]


def unprotected(data, seed):
    return gv.Rename().anonymize(data, seed=seed)


def test_an_item_of_a_release_that_hides_nothing_is_always_guessed():
    rows = attacked("re-run", many(), many(), rerun=unprotected, options={"trials": 5})
    assert [1.0, 1.0] == [row.value for row in rows]
    assert [0.0, 0.5] == [row.guess for row in rows]


def test_more_people_than_asked_for_are_drawn_from_and_the_words_say_capped():
    options = {"trials": 2, "people": 40, "releases": 1}
    told = attacked("re-run", many(), many(), rerun=unprotected, options=options)
    assert {"capped at 40 people"} == {row.part.partition(":")[0] for row in told}


def test_running_again_is_tried_only_where_it_is_asked_for():
    release, original = release_of(WHOLE, WHOLE)
    told = attack(release, original=original, seed=1)
    assert "re-run" not in {row.question for row in told}
    assert "does not know the method" in told.not_measured["re-run"]
    assert "does not know the method" in attacked("re-run", WHOLE, WHOLE).not_measured["re-run"]
    nothing = attacked("re-run", ["a", "a"], ["a", "a"], rerun=unprotected).not_measured["re-run"]
    assert "no item could be replaced by a different item" in nothing


def test_one_item_of_one_person_is_another_one_and_in_a_table_of_the_same_column():
    rng = np.random.Generator(np.random.PCG64(1))
    table = Table.from_columns({"sex": list("fmfm"), "town": list("xyzz")})
    for data in (table, table.one_hot(), users(WHOLE)):
        for _ in range(20):
            person, changed = with_another_item(data, rng)
            one, other = ((d.one_hot() if isinstance(d, Table) else d) for d in (data, changed))
            rows = [np.nonzero(abs(one.to_scipy() - other.to_scipy()).toarray())[0]]
            assert [person, person] == rows[0].tolist()
            assert one.n_entries == other.n_entries
    columns = column_of_features(table.one_hot())
    for _ in range(20):
        _, changed = with_another_item(table.one_hot(), rng)
        for user in range(4):
            assert [0, 1] == columns[changed.row(user)].tolist()


INSIDE, OUT = "one item of people inside", "one item of people left out"


@pytest.mark.parametrize("seed", SEEDS)
def test_an_item_is_as_likely_as_the_classes_show_it(seed):
    before, after, order = drawn(seed)
    released, by_hand = people(before, after, order), Twin(before, after)
    asked = asked_of(released, np.arange(len(before)), 9, np.random.Generator(np.random.PCG64(1)))
    for items in (asked.item, asked.other):
        likely = released_classes.chances(asked.known, items, released.classes)
        for place, person in enumerate(asked.people.tolist()):
            name = "abcdefgh"[items[place]]
            known = set(before[person]) - {"abcdefgh"[asked.item[place]]}
            score = by_hand.scores(known, FALSE_SHARE)
            chance = np.exp(score) / np.exp(score).sum()
            shown = np.array([name in row for row, _ in by_hand.classes])
            expected = (chance * np.where(shown, by_hand.a, by_hand.b[name])).sum()
            assert expected == pytest.approx(likely[place])


@pytest.mark.parametrize("seed", SEEDS)
def test_one_item_is_theirs_the_other_is_not_and_both_are_unknown(seed):
    before, after, order = drawn(seed)
    asked = asked_of(
        people(before, after, order),
        np.arange(len(before)),
        9,
        np.random.Generator(np.random.PCG64(1)),
    )
    for place, person in enumerate(asked.people.tolist()):
        own = set(before[person])
        assert "abcdefgh"[asked.item[place]] in own
        assert "abcdefgh"[asked.other[place]] not in own
        known = {"abcdefgh"[item] for item in asked.known[[place]].indices}
        assert own - {"abcdefgh"[asked.item[place]]} == known


def of_two_kinds(n=240):
    """Return people of two kinds with some items of their own."""
    draw = np.random.default_rng(3)
    kinds = ["abcd", "efgh"]
    return ["".join(draw.choice(list(kinds[i % 2]), 3, replace=False)) for i in range(n)]


def test_a_release_of_equal_rows_tells_no_more_than_frequencies():
    rows = of_two_kinds()
    [row] = [r for r in attacked("item-membership", rows, ["ab"] * len(rows)) if r.part == INSIDE]
    assert row.low <= 0.5 <= row.high
    assert (row.guess, len(rows)) == (pytest.approx(row.value, abs=0.1), row.sample_size)


def test_a_release_that_changed_nothing_tells_kinds_of_people_apart():
    rows = of_two_kinds()
    [row] = [r for r in attacked("item-membership", rows, rows) if r.part == INSIDE]
    assert row.value > row.low > 0.85
    assert row.guess < 0.6


def test_people_left_out_are_told_by_what_is_told_of_their_like():
    data = Bipartite.from_lists([list(row) for row in of_two_kinds()])
    release = gv.SmoothK(k=4).anonymize(data, seed=1)
    told = gv.attack_release(release, original=data, attacks=["item-membership"], seed=1)
    rows = {row.part: row for row in told}
    assert rows[OUT].sample_size == 12
    assert rows[OUT].value > 0.6
    assert {} == told.not_measured


def test_what_cannot_be_told_says_why():
    told = attacked("item-membership", ["abc", "abc"], ["abc", "abc"])
    assert "no one has at least 3 items" in told.not_measured["item-membership"]
    told = attacked("item-membership", ["abc", "abd"], ["abc", "abd"])
    assert "does not know the method" not in told.not_measured.get("item-membership", "")
    assert any("without some people" in name for name in told.not_measured)


@pytest.mark.parametrize("truth", [0.03, 0.3, 0.76, 0.98])
def test_an_interval_of_pairs_covers_the_truth(truth):
    """Scores of two normal laws, 20 people with one of each: the area is known."""
    draw = np.random.Generator(np.random.PCG64(7))
    added = np.sqrt(2) * stats.norm.ppf(truth)
    covered = 0
    for _ in range(200):
        positive, negative = draw.standard_normal(20) + added, draw.standard_normal(20)
        sample = of_paired_area(positives_above(positive, negative))
        covered += sample.low <= truth <= sample.high
    assert covered >= 183
