"""What attackers learn of small tables, against counts by hand."""

from __future__ import annotations

import dataclasses
import stat
from itertools import permutations

import msgspec
import numpy as np
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.attacks import ATTACKS, matching
from graphveil.claims.guarantees import AdaptiveAnonymity, KAnonymity
from graphveil.core.errors import ParameterError, ResourceError, UsageError
from graphveil.measures import matchings
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.files import OwnersLevels
from graphveil.release.release import Linkage
from graphveil.verbs.attack import attack_release as attack
from graphveil.verbs.attack import rerun_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

NAMES = ["alice", "bob", "carol", "dave", "eve", "fred"]
BEFORE = ["1000", "0000", "0011", "1011", "1100", "0111"]
FIGURE_1 = ["*000", "**00", "*011", "**11", "1*00", "0*11"]
SYMMETRIC = ["**00", "*000", "**11", "*011", "1*00", "0*11"]
ORDER = np.array([4, 0, 3, 5, 1, 2])


def table_of(rows, *, ids=None):
    columns = {f"q{place}": [row[place] for row in rows] for place in range(len(rows[0]))}
    return gv.Table.from_columns(columns, ids=ids)


def release_of(before, after, *, guarantee=None, levels=None, order=None, linkage=True):
    ids = NAMES if len(before) == len(NAMES) else None
    original = table_of(before, ids=ids)
    order = np.arange(len(before)) if order is None else np.array(order)
    asked = None if levels is None else OwnersLevels(original.labels(), np.array(levels))
    release = Release(
        data=table_of([after[place] for place in order]),
        guarantee=guarantee or AdaptiveAnonymity(level=2, common=levels is None),
        provenance=Provenance(method="by-hand", source="a test", limits="All.", parameters={}),
        private=Private(
            input_sha256=digest_of(original),
            cost={"stars_added": "".join(after).count("*")},
            linkage=Linkage(original.labels(), np.argsort(order)) if linkage else None,
            levels=asked,
        ),
    )
    return release, original


def attacked(before, after, *, seed=1, rerun=None, **how):
    release, original = release_of(before, after, **how)
    return attack(release, original=original, attacks=["matching"], seed=seed, rerun=rerun)


def figures(*case, **how):
    return {row.part: row.value for row in attacked(*case, **how)}


def shares_by_hand(before, after):
    """Return the share of the full assignments that give record i to person j."""
    n = len(before)
    shares = np.zeros((n, n))
    fits = [[all(y in ("*", x) for y, x in zip(r, p, strict=True)) for p in before] for r in after]
    good = [p for p in permutations(range(n)) if all(fits[i][p[i]] for i in range(n))]
    for persons in good:
        shares[range(n), persons] += 1 / len(good)
    return shares


@pytest.mark.parametrize("after", [FIGURE_1, SYMMETRIC], ids=["bipartite", "symmetric"])
def test_chances_of_the_worked_example_are_those_of_all_assignments(after):
    shares = shares_by_hand(BEFORE, after)
    own = np.diag(shares)
    values = figures(BEFORE, after, order=ORDER)
    assert own.mean() == pytest.approx(values["true pair, mean"])
    assert own.max() == pytest.approx(values["true pair, largest"])
    assert (own > 0.5 + 1e-9).mean() == values["true pair above 1/level"]
    assert shares.max(axis=0).mean() == pytest.approx(values["best guess, mean"])
    assert (shares > 0).sum(axis=0).min() == values["allowed records, fewest"]
    assert (shares > 0).sum() / 6 == pytest.approx(values["allowed records, mean"])
    assert 0 == values["allowed records, short"]


def test_the_symmetric_optimum_is_no_better_against_who_counts_assignments():
    assert 2 / 3 == pytest.approx(figures(BEFORE, SYMMETRIC)["true pair, largest"])
    assert 4 / 6 == pytest.approx(figures(BEFORE, SYMMETRIC)["true pair above 1/level"])


def test_a_release_that_changed_nothing_tells_everything_and_one_of_stars_nothing():
    told = figures(BEFORE, BEFORE)
    assert [1, 1, 1] == [told[part] for part in ("true pair, mean", "best guess, mean",
                                                 "allowed records, fewest")]  # fmt: skip
    told = attacked(BEFORE, ["****"] * 6)
    values = {row.part: row for row in told}
    for part in ("true pair, mean", "true pair, largest", "best guess, mean"):
        assert 1 / 6 == pytest.approx(values[part].value)
        assert 1 / 6 == values[part].guess
        assert "exact" == values[part].known
    assert [0, 6] == [
        values[part].value for part in ("true pair above 1/level", "allowed records, fewest")
    ]


def test_known_pairs_leave_fewer_candidates_and_equal_rows_exactly_as_many_fewer():
    equal = figures(["01"] * 5, ["01"] * 5, guarantee=KAnonymity(k=5))
    known = {part: value for part, value in equal.items() if "known" in part}
    assert {0.0} == set(known.values())
    assert {"1 known, short", "2 known nearby, margin", "3 known, margin"} <= set(known)
    assert 1 / 5 == pytest.approx(equal["true pair, largest"])
    assert 0 == equal["true pair above 1/level"]
    chain = ["*0", "0*", "**"]
    found = figures(["00", "01", "10"], chain, guarantee=AdaptiveAnonymity(level=2))
    shares = shares_by_hand(["00", "01", "10"], chain)
    assert (shares > 0).sum(axis=0).min() == found["allowed records, fewest"]


def test_levels_of_people_are_their_own():
    levels = [1, 1, 2, 2, 3, 1]
    own = np.diag(shares_by_hand(BEFORE, FIGURE_1))
    above = (own > 1 / np.array(levels) + 1e-9).mean()
    assert above == figures(BEFORE, FIGURE_1, levels=levels)["true pair above 1/level"]
    short = (shares_by_hand(BEFORE, FIGURE_1) > 0).sum(axis=0) < levels
    found = figures(BEFORE, FIGURE_1, levels=levels)["allowed records, short"]
    assert short.mean() == found


KNOWN_LEVELS = [2, 2, 2, 2, 2, 4, 4]
WITH_LEVELS = ["111", "010", "100", "100", "010", "110", "010"]
BY_LEVELS = ["11*", "*10", "100", "100", "010", "*1*", "*10"]


def test_who_knows_levels_that_differ_rules_candidates_out_and_the_attack_counts_them():
    levels = np.array(KNOWN_LEVELS)
    possible = shares_by_hand(WITH_LEVELS, BY_LEVELS) > 0
    assert (np.minimum(possible.sum(axis=0), possible.sum(axis=1)) >= levels).all()
    possible &= levels <= possible.sum(axis=1)[:, None]
    remaining = np.zeros_like(possible)
    for persons in permutations(range(7)):
        if possible[range(7), persons].all():
            remaining[range(7), persons] = True
    values = figures(WITH_LEVELS, BY_LEVELS, levels=KNOWN_LEVELS)
    assert 0 == values["allowed records, short"]
    assert 3 / 7 == (remaining.sum(axis=0) < levels).mean()
    assert 3 / 7 == pytest.approx(values["levels known, short"])


def test_levels_that_are_all_the_same_rule_nobody_out():
    assert "levels known, short" not in figures(BEFORE, FIGURE_1)
    short = matching.short_where_levels_are_known
    pairs = matchings.NodePairs(np.array([0, 2, 4]), np.array([0, 1, 0, 1]))
    assert 0 == short(pairs, np.array([2, 2]))


def test_without_levels_there_is_no_figure_of_them():
    told = figures(BEFORE, FIGURE_1, guarantee=AdaptiveAnonymity(level=1, common=False))
    assert not [part for part in told if "level" in part or "known" in part]


def test_who_stands_where_changes_nothing_but_what_is_drawn():
    drawn = ("known", "re-run")
    one, two = (
        {part: value for part, value in figures(BEFORE, FIGURE_1, order=order).items()
         if not any(word in part for word in drawn)}
        for order in (range(6), ORDER)
    )  # fmt: skip
    assert one == pytest.approx(two)


def test_larger_parts_are_marked_as_estimates():
    many = ["0", "1"] * 12
    told = attacked(many, ["*"] * 24)
    marks = {row.part: row.known for row in told}
    assert {"estimate"} == {marks[part] for part in marks if part.startswith(("true", "best"))}
    assert 1 / 24 == pytest.approx({row.part: row.value for row in told}["true pair, largest"])


def test_of_a_run_that_gives_the_same_rows_again_the_nearest_candidate_is_guessed():
    release, original = release_of(BEFORE, FIGURE_1, order=ORDER)

    def again(data, seed):
        assert sorted(NAMES) == sorted(data.labels().tolist())
        assert seed >= 0
        rows = [FIGURE_1[NAMES.index(name)] for name in data.labels().tolist()]
        linkage = Linkage(data.labels(), np.arange(6))
        private = msgspec.structs.replace(release.private, linkage=linkage)
        return dataclasses.replace(release, data=table_of(rows), private=private)

    rows = attack(release, original=original, attacks=["matching"], seed=3, rerun=again)
    row = {r.part: r for r in rows}["re-run, right guess"]
    assert (1.0, 1 / 6, "sampled", 6) == (row.value, row.guess, row.known, row.sample_size)
    assert (1.0, 1.0) == (row.low, row.high)


def test_ties_of_the_nearest_candidates_are_shared():
    pairs = matchings.NodePairs(np.array([0, 2, 4, 5]), np.array([0, 1, 0, 1, 2]))
    records = np.array([[0, -1], [0, -1], [1, 1]])
    shares = matching.nearest_candidates(pairs, records, np.array([[0, 0], [-1, -1], [7, 7]]))
    assert [0.5, 0.5, 1.0] == shares.tolist()


def test_a_run_that_fails_is_missing_with_its_reason():
    def again(data, seed):
        del data, seed
        raise ResourceError("no room. Make some.")

    told = attacked(BEFORE, FIGURE_1, rerun=again)
    assert {"matching: re-run, right guess": "no room. Make some."} == told.not_measured
    unknown = attacked(BEFORE, FIGURE_1)
    assert {"matching: re-run, right guess"} == set(unknown.not_measured)


def test_what_cannot_be_measured_says_why(monkeypatch):
    assert "linkage" in attacked(BEFORE, FIGURE_1, linkage=False).not_measured["matching"]
    wrong = attacked(BEFORE, ["0000", *FIGURE_1[1:]])
    assert "do not fit their owners" in wrong.not_measured["matching"]
    monkeypatch.setattr(matching, "MOST_PAIRS", 3)
    with pytest.raises(ResourceError, match="consistent pairs exceed the limit of 3"):
        attacked(BEFORE, FIGURE_1)
    monkeypatch.setattr(matching, "MOST_ROWS", 5)
    with pytest.raises(ResourceError, match="6 rows exceed the limit of 5"):
        attacked(BEFORE, FIGURE_1)


def test_unknown_attacks_and_other_kinds_of_data_are_refused():
    release, original = release_of(BEFORE, FIGURE_1)
    with pytest.raises(
        ParameterError,
        match=r"unknown attack 'mathcing'\. Did you mean matching\? Use one of matching",
    ):
        attack(release, original=original, attacks=["mathcing"])
    graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    other = gv.KDegree(k=2).anonymize(graph)
    with pytest.raises(UsageError, match="matching reads a Table, but the release is a Graph"):
        attack(other, original=graph, attacks=["matching"])


def test_everybodys_own_risk_lies_in_the_private_folder_for_its_owner_alone(tmp_path):
    release, original = release_of(BEFORE, SYMMETRIC, order=ORDER)
    folder = release.write(tmp_path / "out")
    public = sorted(path.name for path in folder.iterdir())
    told = gv.attack_release(folder, original=original, attacks=["matching"], seed=1)
    assert {"out"} == {row.release for row in told}
    path = tmp_path / "out.private" / "attacks" / "matching.parquet"
    risks = parquet.read_table(path).to_pydict()
    assert NAMES == risks["original"]
    assert np.diag(shares_by_hand(BEFORE, SYMMETRIC)) == pytest.approx(risks["risk"])
    assert [1 / 6] * 6 == pytest.approx(risks["baseline"])
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert 0o700 == stat.S_IMODE(path.parent.stat().st_mode)
    assert public == sorted(path.name for path in folder.iterdir())
    assert [] == gv.verify_release(folder, original=original).failures()


def test_a_method_that_this_version_knows_can_be_run_again():
    graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    release = gv.KDegree(k=2).anonymize(graph)
    again = rerun_of(release)(graph, 5)
    assert release.guarantee == again.guarantee
    assert release.provenance.parameters == again.provenance.parameters
    assert rerun_of(release_of(BEFORE, FIGURE_1)[0]) is None


def test_a_run_with_weights_of_cells_is_not_run_again_and_the_reason_is_given(tmp_path):
    original = table_of(BEFORE, ids=NAMES)
    release = gv.Adaptive(levels=2).anonymize(original, weights=np.ones((6, 4)))
    folder = release.write(tmp_path / "out")
    attacked = gv.attack_release(folder, original=original, attacks=["matching"], seed=1)
    assert {"re-run, right guess"} == {name.partition(": ")[2] for name in attacked.not_measured}
    assert "weights that no file records" in "".join(attacked.not_measured.values())
    assert ("weights",) == gv.read_release(folder).private.unrecorded
    assert [] == gv.verify_release(folder, original=original).failures()


def test_rows_come_as_a_frame_and_as_a_table_for_notebooks():
    told = attacked(BEFORE, FIGURE_1)
    frame = told.to_arrow()
    assert len(told) + len(told.missing) == frame.num_rows
    assert [row.value for row in (*told, *told.missing)] == frame["value"].to_pylist()
    assert [row.guess for row in (*told, *told.missing)] == frame["guess"].to_pylist()
    assert "matching" in told._repr_html_()
    assert frame.num_rows == len(told.to_pandas())


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_says_what_it_is(name):
    entry = ATTACKS[name]
    assert name == entry.name
    assert all([entry.knows, entry.definition, entry.source, entry.cost])
