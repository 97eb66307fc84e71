"""What a class says by publishing nothing of a column, and what a method's choices rule out."""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks import ATTACKS, AttackInput
from graphveil.attacks.features.cells import choice_constraints, refinement
from graphveil.attacks.features.cells.generalized_cells import cells_below
from graphveil.attacks.features.cells.minimality import (
    BELOW_GUESSED,
    BELOW_HAVING,
    GUESSED,
    HAVING,
    UNCOMMON,
)
from graphveil.attacks.features.cells.published_cells import PublishedCells, TrueCells, cells_of
from graphveil.attacks.features.cells.refinement import CERTAIN, NARROWED, RULED_OUT, TRUE
from graphveil.attacks.features.cells.suppressed_cells import silent_cells
from graphveil.core.errors import ParameterError
from graphveil.core.randomness import Randomness
from graphveil.data import Table
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate import comparison_of
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.attack import attack_release as attack
from networks_data import rng_of
from thorough import FUZZ

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def table(rows, columns="abcd"):
    cells = list(zip(*rows, strict=True))
    return Table.from_columns(
        {name: list(cell) for name, cell in zip(columns, cells, strict=False)}
    )


def told_of(before, after, name, *, made_by="by-hand", options=None, **parameters):
    original = table(before)
    release = Release(
        data=table(after),
        guarantee=gv.KAnonymity(k=2),
        provenance=Provenance(
            method=made_by, source="a test", limits="All.", parameters=parameters
        ),
        private=Private(
            input_sha256=digest_of(original),
            cost={},
            linkage=Linkage(original.labels(), np.arange(len(before))),
        ),
    )
    options = {name: options} if options else None
    told = attack(release, original=original, attacks=[name], seed=1, options=options)
    return {row.part: row for row in told}, told.not_measured


def classes_of_ten(secrets, silent):
    """Return people in classes of ten with some secrets each, before and after."""
    before, after = [], []
    for number, (having, hides) in enumerate(zip(secrets, silent, strict=True)):
        name = chr(ord("A") + number)
        before += [name + ("s" if person < having else "-") for person in range(10)]
        after += [name + ("*" if hides else "s" if having == 10 else "-")] * 10
    return before, after


SECRETS = [0] * 15 + [10] * 5


def test_a_defense_that_announces_whom_it_defends_is_found():
    """Classes that publish nothing of the secret are just those whose members all have it."""
    before, after = classes_of_ten(SECRETS, [having == 10 for having in SECRETS])
    told, _ = told_of(before, after, "minimality", options={"secret": "b=s"})
    row = told[HAVING]
    assert (1.0, 0.25, 1.0) == (row.value, row.guess, row.low)
    assert (1.0, 0.0) == (told[GUESSED].value, told[GUESSED].guess)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_hidden_at_random_announces_nobody(seed):
    silent = rng_of(seed).permutation([True] * 8 + [False] * 12)
    before, after = classes_of_ten(SECRETS, silent)
    told, _ = told_of(before, after, "minimality", options={"secret": "b=s"})
    row = told[HAVING]
    assert row.low <= row.guess <= row.high
    assert told[GUESSED].low <= told[GUESSED].guess


def test_where_everything_is_hidden_cells_are_as_all_cells_are():
    rows = ["xm1", "xf1", "xm1", "xf2", "xf2", "xm2", "xm3"]
    told, _ = told_of(rows, ["***"] * 7, "minimality")
    for part in (UNCOMMON, GUESSED):
        assert told[part].value == pytest.approx(told[part].guess)
    told, _ = told_of(rows, ["***"] * 7, "refinement", made_by="cluster-k", k=3, search="local")
    assert 0.0 == told[RULED_OUT].value
    assert told[refinement.GUESSED].value <= told[refinement.GUESSED].guess


def test_who_hides_only_where_members_differ_hides_the_uncommon():
    before = ["xm", "xf", *["ym"] * 8]
    told, _ = told_of(before, ["x*", "x*", *["ym"] * 8], "minimality")
    assert (0.5, pytest.approx(0.1)) == (told[UNCOMMON].value, told[UNCOMMON].guess)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_silence_is_weighed_as_counted_over_all_classes(size):
    """Everybody has a value by its share among those of whom nothing is shown."""
    value = np.array([[0]] * 6 + [[1]] * 3 + [[2]] + [[0]] * 5, dtype=np.int32)
    others = 10 // size
    own = np.concatenate([np.arange(others * size) // size, np.full(15 - others * size, others)])
    shown = PublishedCells(
        np.array([[SUPPRESSED]] * others + [[0]], dtype=np.int32),
        np.bincount(own),
        np.array([3]),
        True,
    )
    cells = silent_cells(shown, TrueCells(value, own), 0, shown.sizes)
    totals = np.array([11, 3, 1]) - np.array([np.count_nonzero(own == others), 0, 0])
    rest = totals / totals.sum()
    chances = np.zeros(3)
    for values in itertools.product(range(3), repeat=size):
        if size == 1 or len(set(values)) > 1:
            chances[values[0]] += np.prod(rest[list(values)])
    assert chances / chances.sum() == pytest.approx(cells.chances[0])


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_node_is_weighed_as_counted_over_all_classes_that_publish_it(size):
    """Members have values by their shares, and a class publishes the narrowest node of all."""
    texts = (("a", "b", "c", "d"), ("ab", "cd"), ("*",))
    nodes = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32)
    value = np.array([0] * 12 + [1] * 5 + [2] * 4 + [3] * 3)
    own = np.arange(24) // size
    shares = np.bincount(value) / value.size
    for node in ("ab", "*") if size > 1 else ("ab",):
        below = [leaf for leaf in range(4) if node in (texts[1][nodes[1, leaf]], "*")]
        shown = [node] * (own.max() + 1)
        cells = cells_below((nodes, texts, value), shown, own, np.bincount(own))
        chances = np.zeros(4)
        for values in itertools.product(below, repeat=size):
            narrowest = next(
                texts[level][nodes[level, values[0]]]
                for level in range(3)
                if len({nodes[level, one] for one in values}) == 1
            )
            if narrowest == node or size == 1:
                chances[values[0]] += np.prod(shares[list(values)])
        assert chances / chances.sum() == pytest.approx(cells.chances[0])
        assert shares[below] / shares[below].sum() == pytest.approx(cells.shares[0][below])


def test_a_generalized_table_is_attacked_by_its_levels():
    people = {"age": [21, 22, 22, 22, 34, 35, None, 36], "sex": list("fmfmffff")}
    original = Table.from_columns(people)
    release = gv.Generalize(k=2, levels={"age": "10,20"}, known=("age", "sex")).anonymize(
        original, seed=1
    )
    told = attack(release, original=original, attacks=["minimality", "insider"], seed=1)
    assert "others, such as age=" in told.not_measured["insider"]
    rows = {row.part: row for row in told}
    row = rows[BELOW_GUESSED]
    assert "share of generalized cells" == row.unit
    assert 0 <= row.low <= row.value <= row.high <= 1
    options = {"minimality": {"secret": "age=22"}}
    named = attack(release, original=original, attacks=["minimality"], seed=1, options=options)
    assert [BELOW_HAVING, BELOW_GUESSED] == [row.part for row in named]
    options = {"minimality": {"secret": "age=7"}}
    with pytest.raises(ParameterError, match="secret='age=7' is not a feature"):
        attack(release, original=original, attacks=["minimality"], options=options)
    alone = dataclasses.replace(release, private=None)
    told = attack(alone, original=original, attacks=["minimality"])
    assert "requires the linkage" in str(told.not_measured)


def test_a_named_item_of_users_is_a_secret_too():
    lists = [["a", "b"], ["a", "b"], ["a", "c"], ["a"], ["c"], ["a", "c"]]
    data = gv.Bipartite.from_lists(lists)
    release = gv.SuppressK(k=2).anonymize(data, seed=1)
    told = attack(
        release,
        original=data,
        attacks=["minimality"],
        seed=1,
        options={"minimality": {"secret": "a"}},
    )
    assert pytest.approx(5 / 6) == next(row for row in told if row.part == HAVING).guess
    told = attack(release, original=data, attacks=["minimality", "refinement"], seed=1)
    assert {"the features do not belong to columns"} == set(told.not_measured.values())
    with pytest.raises(ParameterError, match="secret='7' is not a feature"):
        attack(
            release,
            original=data,
            attacks=["minimality"],
            options={"minimality": {"secret": "7"}},
        )


def test_a_value_that_another_class_shows_is_ruled_out_where_a_row_can_be_spared():
    before = ["xf", "xd", "xe", "xm", "xm", *["ym"] * 4]
    after = ["x*", "x*", "x*", "xm", "xm", *["ym"] * 4]
    made = {"made_by": "cluster-k", "k": 2, "search": "local"}
    told, _ = told_of(before, after, "refinement", **made)
    assert (1.0, 0.0) == (told[RULED_OUT].value, told[TRUE].value)
    assert told[NARROWED].value > told[NARROWED].guess == 0.0
    assert 0.0 == told[CERTAIN].value
    told, _ = told_of(before[1:], after[1:], "refinement", **made)
    assert 0.0 == told[RULED_OUT].value


def test_a_value_of_two_that_is_ruled_out_leaves_one_that_is_certain():
    """No method hides what all members share: such a release was made by hand."""
    before, after = ["xf"] * 3 + ["xm"] * 2, ["x*"] * 3 + ["xm"] * 2
    told, _ = told_of(before, after, "refinement", made_by="cluster-k", k=2)
    assert (1.0, 1.0) == (told[CERTAIN].value, told[refinement.GUESSED].value)


def test_where_a_search_may_end_early_nothing_is_certain_and_much_unlikely():
    before, after = ["xf"] * 3 + ["xm"] * 2, ["x*"] * 3 + ["xm"] * 2
    told, missing = told_of(before, after, "refinement", made_by="suppress-k", k=2)
    assert {f"refinement: {part}" for part in (RULED_OUT, CERTAIN)} == set(missing)
    assert (0.0, 1.0) == (told[TRUE].value, told[NARROWED].value)


def test_what_columns_say_without_a_method_is_not_its_choice():
    """A column of one value, a cell that may be missing as well, a table without any value."""
    made = {"made_by": "cluster-k", "k": 2, "search": "local"}
    told, _ = told_of(["xy", "xy", "x*"], ["x*"] * 3, "refinement", **made)
    assert (0.0, 0.0) == (told[RULED_OUT].value, told[CERTAIN].value)
    before, after = ["xf"] * 2 + ["x*"] + ["xm"] * 2, ["x*"] * 3 + ["xm"] * 2
    told, _ = told_of(before, after, "refinement", **made)
    assert (1.0, 0.0) == (told[RULED_OUT].value, told[CERTAIN].value)
    told, missing = told_of(["**"] * 3, ["**"] * 3, "refinement", **made)
    assert ({}, {"refinement": "no cell is suppressed"}) == (told, missing)


def test_where_blocks_were_asked_for_nothing_is_certain():
    """No row moves from block to block, and no file that is published says how large they were."""
    data = table(["xf"] * 9 + ["xm"] * 9 + ["ym"] * 9)
    for block_rows, complete in ((None, True), (8, False)):
        release = gv.ClusterK(k=2, block_rows=block_rows).anonymize(data, seed=1)
        assert complete == refinement.chosen_by(release, 27).complete


def refined_of(method, codes, k):
    """Return what is ruled out in a release of a table, and its rows and those of the original."""
    method, _, split = method.partition(", ")
    parameters = {"k": k} | ({"split": split} if split else {})
    data = Table.from_columns(
        {name: list(map(str, column)) for name, column in zip("abcd", codes.T, strict=False)}
    )
    release = gv.METHODS[method].from_parameters(parameters).anonymize(data, seed=1)
    pair = comparison_of(release, data, Randomness(seed=1), wanted_by="attack")
    pair = pair.one_hot()
    features = refinement._features_of(pair.original)
    shown, truth = cells_of(pair)
    if method == "mondrian":
        cut = refinement.chosen_by(release, len(codes)).cut
        return choice_constraints.after_cuts(shown, features, k, cut), shown, truth, features
    return choice_constraints.after_moves(shown, features, k, complete=True), shown, truth, features


SMALL = {"cluster-k": (5, (4,)), "mondrian": (8, (4,)), "mondrian, balanced": (6, (4,))}
if FUZZ:
    SMALL = {"cluster-k": (5, (4, 2)), "mondrian": (8, (3, 2)), "mondrian, balanced": (8, (3, 2))}
"""The rows of small tables, and the values that their columns can have."""


@pytest.mark.parametrize("method", SMALL)
def test_of_every_small_table_no_true_value_is_ruled_out(method):
    """Whatever table gives a release, all of its values are among those that remain possible."""
    size, values = SMALL[method]
    kinds = np.array(list(itertools.product(*map(range, values))))
    possible, ruled = defaultdict(set), defaultdict(set)
    every = list(itertools.combinations_with_replacement(range(len(kinds)), size))
    for chosen in every:
        refined, shown, truth, features = refined_of(method, kinds[list(chosen)], 2)
        rows = list(zip(map(tuple, shown.value.tolist()), shown.sizes.tolist(), strict=True))
        published = (tuple(features.names), frozenset(rows))
        has = truth.value[:, features.column] == features.number
        for group, row in enumerate(rows):
            ruled[published, row] |= set(np.flatnonzero(refined.excluded[group]))
            possible[published, row] |= set(np.flatnonzero(has[truth.own == group].any(axis=0)))
    assert any(ruled.values())
    assert not any(ruled[release] & possible[release] for release in ruled)


@pytest.mark.parametrize("method", SMALL)
def test_of_tables_drawn_at_random_no_true_value_is_ruled_out(method):
    rng, found = rng_of(4), 0
    for _ in range(300 if FUZZ else 25):
        n, d, k = rng.integers([12, 2, 2], [40, 5, 5])
        codes = np.minimum(rng.geometric(0.5, (n, d)), 4)
        refined, _, truth, features = refined_of(method, codes, int(k))
        has = truth.value[:, features.column] == features.number
        assert not (refined.excluded[truth.own] & has).any()
        found += int(refined.excluded.sum())
    assert found


@pytest.mark.parametrize("seed", range(6))
def test_what_moves_rule_out_is_as_written_out_cell_by_cell(seed):
    """A row moves where that hides fewer cells, whatever its other hidden columns are."""
    rng, k = rng_of(seed), 2 + seed % 2
    value = rng.integers(0, 3, (7, 3)).astype(np.int32)
    value[rng.random((7, 3)) < 0.45] = SUPPRESSED
    shown = PublishedCells(value, rng.integers(2, 7, 7), np.full(3, 3), True)
    features = choice_constraints.Features(
        np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3), [f"c{i}" for i in range(9)]
    )
    made = choice_constraints.after_moves(shown, features, k, complete=True)
    for own, feature in itertools.product(range(7), range(9)):
        column, asked = features.column[feature], features.number[feature]
        if value[own, column] != SUPPRESSED:
            continue
        hidden = np.count_nonzero(value[own] == SUPPRESSED)
        options = [
            [asked] if c == column else range(4) if value[own, c] == SUPPRESSED else [value[own, c]]
            for c in range(3)
        ]
        gains = []
        for other in range(7):
            size = shown.sizes[other]
            before = size * np.count_nonzero(value[other] == SUPPRESSED)
            after = max(
                (size + 1) * np.count_nonzero((value[other] == SUPPRESSED) | (value[other] != row))
                for row in map(np.array, itertools.product(*options))
            )
            shows = value[other, column] == asked
            gains.append(hidden + before - after if other != own and shows else 0)
        free = k < shown.sizes[own] < 2 * k
        assert (max(gains) > 0, free) == (
            made.excluded[own, feature] or made.unlikely[own, feature],
            free,
        )
        assert made.excluded[own, feature] == (free and max(gains) > 0)


def test_where_choices_say_nothing_the_reason_stands():
    data = gv.datasets.load("spect-heart")
    named = table(["xm", "xf", "yf", "yf", "xm"] * 4)
    for method, original, reason in (
        (gv.SmoothK(k=5), data, "the features do not belong to columns"),
        (gv.SmoothK(k=5), named, "the choices of smooth-k exclude no value"),
        (gv.Mondrian(k=2, column_order="given"), named, "with column_order=given the choices of"),
        (gv.ClusterK(k=2, search="plain"), named, "with search=plain the choices of cluster-k"),
        (gv.SuppressK(k=2), named, "no cell is suppressed"),
    ):
        release = method.anonymize(original, seed=1)
        told = attack(release, original=original, attacks=["refinement"], seed=1)
        assert told.not_measured["refinement"].startswith(reason)
    release = gv.Rename().anonymize(named, seed=1)
    told = attack(release, original=named, attacks=["minimality"], seed=1)
    assert "not chosen by what the members" in told.not_measured["minimality"]


@pytest.mark.parametrize("name", ["minimality", "refinement"])
def test_everybodys_own_risk_is_said_of_those_of_whom_something_is_hidden(name):
    data = gv.datasets.load("adult-sample")
    part = data.permuted(np.arange(200))
    release = gv.ClusterK(k=3).anonymize(part, seed=1)
    pair = comparison_of(release, part, Randomness(seed=1), wanted_by="attack").one_hot()
    entry = ATTACKS[name]
    outcome = entry.compute(AttackInput(comparison=pair, release=release), entry.options())
    hides = (pair.after.sum(axis=1) < pair.before.sum(axis=1).max())[pair.linked]
    assert np.array_equal(hides, ~np.isnan(outcome.risk))
    told = {figure.part: figure for figure in outcome.figures}[GUESSED]
    assert told.value > told.baseline
    assert 0 <= np.nanmin(outcome.baseline) < np.nanmax(outcome.risk) <= 1
