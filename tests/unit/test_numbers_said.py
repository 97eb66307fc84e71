"""Numbers in sentences and pictures: values that no other formula gives."""

from __future__ import annotations

import dataclasses
import math
from itertools import permutations, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import graphveil as gv
from graphveil.attacks.features.cells.singling_out import TRUE_OF_ONE
from graphveil.attacks.row_selection import most_known, strongest
from graphveil.attacks.wording import Said, above_guess, words_of
from graphveil.claims.guarantees import EdgeDP, KAnonymity
from graphveil.core.rows import Row, Rows, Setting
from graphveil.core.text import NO_FIGURE
from graphveil.measures import Cascade, SingledOut
from graphveil.pages import charts, frontiers, html, print_figures
from graphveil.pages.answers import attacks, standing_out
from graphveil.pages.answers.promise import cost_words, failing_lines, verdict_lines
from graphveil.pages.charts import Bin, Mark
from graphveil.pages.report import legal_questions, sections
from graphveil.verbs.advise.until import AdviceUntil, Reached, in_order, line_of
from graphveil.verbs.sweep import results, sweep
from graphveil.verify.database import UnreadableError, database
from graphveil.verify.files.canonical_parquet import in_groups
from graphveil.verify.kinds import feature_parts
from graphveil.verify.recount.ids import ids_check
from graphveil.verify.recount.noise import degrees_and_stubs
from graphveil.verify.recount.noise.noise_tails import IMPOSSIBLE, is_strange_on_ladder
from graphveil.verify.recount.order_leaks import order_leaks, tail_of_ascents
from graphveil.verify.second_reading import plain_file, tables
from graphveil.verify.verdict import Check, Verdict

TREE = gv.Graph.from_edges([0, 0, 0, 3], [1, 2, 3, 4], n=5)
"""One node of degree 3, one of degree 2, three of degree 1."""

DEGREE = "the number of a person's neighbors"


def said_by(line):
    """Return what a line says in its three places."""
    return line.question, line.figure, line.unit


@pytest.mark.parametrize(
    ("edges", "how", "said"),
    [
        (TREE, {}, f"2 of 5 people (40%) are unique to an attacker who knows {DEGREE}."),
        (
            TREE,
            {"k": 4},
            (
                f"5 of 5 people (100%) can be singled out by an attacker who knows {DEGREE} (class "
                "smaller than 4)."
            ),
        ),
        (
            gv.Graph.from_edges([0, 0], [1, 2], n=3),
            {},
            f"1 of 3 people (33.3%) is unique to an attacker who knows {DEGREE}.",
        ),
        (
            gv.Graph.from_edges([0, 1], [1, 0], n=2),
            {},
            f"None of the 2 people can be singled out by an attacker who knows {DEGREE}.",
        ),
    ],
)
def test_the_headline_of_a_measure_counts_people(edges, how, said):
    assert said == standing_out.headline(gv.measure(edges, **how))


def test_each_line_of_a_measure_has_its_own_share():
    [line] = standing_out.lines(gv.measure(TREE, k=3))
    assert (DEGREE, "40%", "are unique; 40% in classes smaller than 3") == said_by(line)
    wide = gv.measure(TREE, measure="count", distance=2)
    assert standing_out.knowledge(wide).endswith(" (distance 2)")
    assert not standing_out.knowledge(gv.measure(TREE, measure="count")).endswith(")")
    finer = standing_out.lines(gv.measure(TREE), finer=gv.measure(TREE, measure="vrq"))
    assert ["40%", "60%"] == [line.figure for line in finer]


def test_seven_columns_are_five_names_and_two_more():
    names = [f"c{number}" for number in range(7)]
    table = gv.Table.from_columns({name: ["a", "b", "b"] for name in names}, person="row")
    measured = gv.measure(table, columns=names)
    assert '"c0", "c1", "c2", "c3", "c4" and 2 more columns of a person' == standing_out.knowledge(
        measured
    )
    few = standing_out.knowledge(gv.measure(table, columns=names[:5]))
    assert '"c0", "c1", "c2", "c3", "c4" of a person' == few
    whole = standing_out.knowledge(gv.measure(table))
    assert "the complete row of a person" == whole
    users = gv.measure(gv.Bipartite.from_lists([["tea"], ["tea", "rye"]]))
    said = "all items of a person, and that there are no others"
    assert said == standing_out.knowledge(users)


@pytest.mark.parametrize(
    ("each", "question", "unit"),
    [
        (
            SingledOut(items=1, share=0.25, people=8, low=0.125, high=0.5),
            "1 random ITEM",
            " (95% interval: 12.5% to 50%)",
        ),
        (SingledOut(items=2, share=0.25, people=8, low=0.25, high=0.25), "2 random ITEMs", ""),
    ],
)
def test_a_few_items_are_one_or_several_of_users_or_of_rows(each, question, unit):
    users = gv.measure(gv.Bipartite.from_lists([["tea"], ["tea", "rye"]]))
    rows = gv.measure(gv.Table.from_columns({"a": ["x", "y", "y", "y"]}, person="row"))
    for measured, noun in ((users, "item"), (rows, "cell")):
        line = standing_out.lines(measured, alone=[each])[1]
        assert (question.replace("ITEM", noun), "25%", f"are unique{unit}") == said_by(line)


def test_a_cascade_counts_whom_it_reaches():
    reached = Cascade(
        measure="count",
        distance=1,
        second="degree",
        second_distance=1,
        levels=np.array([0, 0, 1, -1, 2, -1, -1, -1]),
    )
    line = standing_out.lines(gv.measure(TREE), cascaded=reached)[-1]
    assert ("the same, continued to neighbors by degree", "50%") == said_by(line)[:2]


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ({"edges_added": 1, "edges_deleted": 2}, ("1 edge added", "2 edges deleted")),
        ({"nodes_unprotected": 0, "entries_kept": 1}, ("1 entry kept",)),
        ({"nodes_unprotected": 1, "cells": 1}, ("1 node not protected", "1 cell before")),
        (
            {"stars_added": 2, "cells_replaced": 1, "cells_filled": 3, "cells": 9},
            ("2 cells suppressed", "1 cell replaced", "3 cells filled"),
        ),
        (
            {"cells_replaced": 1, "cells_filled": 0, "cells": 9},
            ("1 cell replaced", "9 cells before"),
        ),
        ({"kept_share": 0.125}, ("12.5% of the cells kept",)),
        ({"rounds": 3}, ("3 rounds",)),
        (
            {"edges_added": 3, "edges_deleted": 9, "edges_before": 7, "edits": 12}
            | {"edits_lower_bound": 12},
            ("3 edges added", "9 edges deleted", "12 edits in all, proved minimal"),
        ),
        (
            {"edges_added": 1, "edits": 1, "edits_lower_bound": 1},
            ("1 edge added", "1 edit in all, proved minimal"),
        ),
        (
            {"edges_added": 3, "edits": 3, "edits_lower_bound": 2},
            ("3 edges added", "3 edits in all; at least 2 are necessary"),
        ),
        ({"edits_lower_bound": 2}, ("2 edits lower bound",)),
    ],
)
def test_a_cost_is_said_in_its_own_number(cost, words):
    assert words == cost_words(cost)


def test_a_failing_check_is_listed_unless_the_answer_names_it():
    checks = [Check("ids", "fails", "2 ids repeat"), Check("rows", "fails", "row 3 is out")]
    verdict = Verdict("recomputed", "Every node has the same degree.", checks)
    first, rest = verdict_lines(verdict)[0].text, failing_lines(verdict)
    assert {check.detail in first for check in checks} == {True, False}
    assert [one.name for one in checks if one.detail not in first] == [
        line.text.split(":")[0].strip() for line in rest
    ]


def attack_row(**said):
    return Row(**{"release": "a", "question": "seeded-matching", "figure": "right"} | said)


COPY = Setting(overlap=1, known=0)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [attack_row(setting=COPY, value=0.625, guess=0.125)],
            (
                "who has a copy of the network re-identifies 62.5 of 100 people (guessing without "
                "the release: 12.5)."
            ),
        ),
        (
            [attack_row(setting=COPY._replace(known=20), value=0.5, guess=0.1, sample_size=1)],
            "50 of 100 people in one sample of the known nodes (guessing without the release: 10).",
        ),
        ([attack_row(setting=COPY, value=0.5)], "re-identifies 50 of 100 people."),
        (
            [
                attack_row(setting=COPY._replace(draw=draw), value=value, guess=0.01)
                for draw, value in (("", 0.3), ("least", 0.2), ("largest", 0.41))
            ],
            "20 to 41 of 100 people, depending on how equal nodes are distinguished (guessing",
        ),
        (
            [
                attack_row(setting=COPY._replace(draw=draw, overlap=0.9), value=value, guess=0.01)
                for draw, value in (("", 0.3), ("least", 0.2), ("largest", 0.41))
            ],
            "20 to 41 of 100 people, depending on which edges the copy has (guessing",
        ),
        (
            [
                attack_row(setting=COPY._replace(draw=draw, known=5), value=value, guess=0.01)
                for draw, value in (("", 0.3), ("least", 0.2), ("largest", 0.41))
            ],
            "re-identifies 20 to 41 of 100 people, depending on which nodes are known (",
        ),
    ],
)
def test_an_attack_says_what_it_reached_beside_the_guess(rows, sentence):
    assert sentence in attacks.headline(Rows(rows))


def test_rows_of_which_nobody_said_that_they_are_people_are_called_rows():
    known = [Setting(known=8, wrong=wrong, column="person") for wrong in (0, 1)]
    rows = Rows(
        [
            attack_row(question="singling-out", figure=TRUE_OF_ONE, value=0.375, guess=0.125),
            *(
                attack_row(question="linkage", figure="own row", setting=one, value=0.5, guess=0.1)
                for one in known
            ),
        ]
    )
    for counted, one in (("people", "person"), ("rows", "row")):
        said = "; ".join(
            f"{group.heading} {'; '.join(line.question for line in group.lines)}"
            for group in attacks.groups(rows, counted)
        )
        assert f"exactly one {one};" in f"{said};"
        assert f"Can {counted} be linked" in said
        assert f"knows 8 items of a {one} and 1 false one" in said
        assert f"re-identifies 50 of 100 {counted} (" in attacks.headline(rows, counted)
    nothing = Rows([dataclasses.replace(rows[1], value=0.05)])
    assert "re-identifies more rows than guessing" in attacks.headline(nothing, "rows")


def test_a_page_calls_rows_what_nobody_said_are_people():
    row = attack_row(question="linkage", figure="own row", setting=Setting(known=3, wrong=0),
                     value=0.5, guess=0.1)  # fmt: skip
    said = gv.ATTACKS["linkage"].said[0]
    for counted, one in (("people", "person"), ("rows", "row")):
        [line] = legal_questions.lines_of(
            "linkage", said, legal_questions.Findings(after=Rows([row]), counted=counted)
        )
        assert line.reason == f"50 of 100 {counted} are identified correctly"
        assert line.known == f"counted for all {counted}"
        assert line.who == f"someone who knows 3 items of a {one}"
    table = gv.Table.from_columns({"sex": ["f", "m"] * 3})
    for person, counted in (("assumed", "rows"), ("row", "people")):
        release = gv.SuppressK(k=2).anonymize(dataclasses.replace(table, person=person))
        assert f"A table of 6 {counted}" == sections.title_of(release, None)


def test_what_no_attack_answers_is_said():
    assert "No attack was run." == attacks.headline(Rows([]))
    other = Row(release="a", question="nothing", value=0.5)
    assert attacks.headline(Rows([other])).startswith("See --all")


@pytest.mark.parametrize(
    ("shares", "shown"),
    [
        ((0.2, 0.3, 0.3), (0.3, None)),  # 0.1 apart is not more than 0.1
        ((0.2, 0.25, 0.31), (0.31, 0.2)),
        ((0.0, 0.02, 0.04), (0.02, None)),  # twice the mean, but only 0.02 above it
        ((0.0, 0.02, 0.05), (0.05, 0.0)),
        ((0.0, 0.03, 0.059), (0.03, None)),
        ((0.0, 0.03, 0.06), (0.06, 0.0)),
    ],
)
def test_the_strongest_draw_is_told_where_draws_differ(shares, shown):
    draws = zip(("least", "", "largest"), shares, strict=True)
    rows = [attack_row(setting=COPY._replace(draw=draw), value=value) for draw, value in draws]
    [taken] = strongest(rows, rows)
    assert shown == (taken.row.value, taken.least)


@pytest.mark.parametrize(("sizes", "known"), [((20, 19), 3), ((19, 19), None), ((None, 20), 8)])
def test_the_most_known_of_enough_targets_is_told(sizes, known):
    rows = [
        attack_row(setting=Setting(known=number), sample_size=size)
        for number, size in zip((3, 8), sizes, strict=True)
    ]
    assert ([] if known is None else [known]) == [
        one.row.setting.known for one in most_known(rows, rows)
    ]


@pytest.mark.parametrize(
    ("figures", "above"),
    [
        ({"value": 0.3, "guess": 0.3}, False),
        ({"value": 0.31, "guess": 0.3}, True),
        ({"value": 0.5, "low": 0.3, "high": 0.6, "guess": 0.3}, False),
        ({"value": 0.5, "low": 0.31, "high": 0.6, "guess": 0.3}, True),
        ({"value": 0.1}, True),
        ({"value": 0.0}, False),
        # of 40 people two are named rightly in one draw: who guesses names one on average
        ({"value": 2 / 40, "guess": 1 / 40, "known": "sampled", "sample_size": 1}, False),
        ({"value": 6 / 40, "guess": 1 / 40, "known": "sampled", "sample_size": 1}, False),
        ({"value": 7 / 40, "guess": 1 / 40, "known": "sampled", "sample_size": 1}, True),
        ({"value": 3.4 / 40, "guess": 1 / 40, "known": "sampled", "sample_size": 4}, False),
        ({"value": 3.6 / 40, "guess": 1 / 40, "known": "sampled", "sample_size": 4}, True),
    ],
)
def test_an_answer_is_yes_above_the_guess_alone(figures, above):
    assert above == above_guess(attack_row(**figures))


def test_the_words_of_a_setting_count():
    some = words_of(Setting(people=0.6, overlap=0.9, known=1, wrong=1, times=3))
    assert ("1", "1 item", "1 false one", "3 times") == (
        *(some[name] for name in ("known", "items", "wrong_ones", "again")),
    )
    assert "a copy of 60% of the people, 90% of its edges correct" == some["copy"]
    plain = words_of(Setting(known=2))
    assert ("2 items", "0 false ones", "again", "a copy of the network") == (
        *(plain[name] for name in ("items", "wrong_ones", "again", "copy")),
    )


def numbers(picture, name):
    """Return the numbers of the first element of a class."""
    element = next(part for part in picture.split("<") if f'class="{name}"' in part)
    return [float(part) for part in element.split('"')[1:8:2] if part.replace(".", "").isdigit()]


def test_a_picture_of_shares_draws_each_at_its_place():
    marks = [Mark("a", 0.5, before=0.25, low=0.4, high=0.75, guess=0.1), Mark("b", 1.0)]
    wide, narrow = charts.dots(marks, title="t").split("</svg>")[:2]
    # the axis goes from 18 to 612: 594 wide; a label above each row
    assert [315.0, 34.0, 6.0] == numbers(wide, "after")
    assert [166.5, 34.0, 5.0] == numbers(wide, "before")
    assert [166.5, 34.0, 315.0, 34.0] == numbers(wide, "link")
    assert [255.6, 34.0, 463.5, 34.0] == numbers(wide, "ci")
    assert [77.4, 27.0, 77.4, 41.0] == numbers(wide, "guess")
    assert 'cx="612.0" cy="78" r="6"' in wide
    assert [18.0, 21.0] == numbers(wide, "lab")
    assert [18.0, 6.0, 18.0, 98.0] == numbers(wide, "grid")
    assert 'viewBox="0 0 640 122"' in wide
    # narrow: from 18 to 316
    assert [167.0, 34.0, 6.0] == numbers(narrow, "after")
    assert [18.0, 21.0] == numbers(narrow, "lab")
    assert 'viewBox="0 0 340 130"' in narrow
    assert ["0%", "25%", "50%", "75%", "100%"] == [
        part.split("<")[0] for part in wide.split('"middle">')[1:]
    ]
    assert ["a", "25%", "50%", "40% to 75%", "10%"] == charts.described(marks[0])
    assert ["b", NO_FIGURE, "100%", NO_FIGURE, NO_FIGURE] == charts.described(marks[1])


def test_a_picture_of_steps_has_a_corner_at_every_share():
    wide = charts.steps([Bin(0, 0, 1, 3), Bin(1, 1, 1, 0), Bin(2, 3, 2, 1)], title="t")
    x = [56, round(56 + 568 * math.log1p(1) / math.log1p(3), 1)]
    x += [round(56 + 568 * math.log1p(2) / math.log1p(3), 1), 624]
    after = [(0, 0), (0, 0), (0, 0.75), (1, 0.75), (1, 0.75), (2, 0.75), (2, 1), (3, 1)]
    points = " ".join(f"{float(x[a])},{round(198.0 - 186 * b, 1)}" for a, b in after)
    assert f'points="{points}" class="lafter"' in wide
    before = [(0, 0), (0, 0), (0, 0.25), (1, 0.25), (1, 0.5), (2, 0.5), (2, 1), (3, 1)]
    points = " ".join(f"{float(x[a])},{round(198.0 - 186 * b, 1)}" for a, b in before)
    assert f'points="{points}" class="lbefore"' in wide
    shares = [part.split("<")[0] for part in wide.split("</svg>")[0].split('"end">')[1:]]
    assert ["0%", "25%", "50%", "75%", "100%"] == shares
    assert 2 == charts.steps([Bin(0, 0, None, 3), Bin(1, 1, None, 0)], title="t").count("<poly")


def test_bins_count_before_and_after_apart():
    bins = charts.binned(np.array([0, 2, 2]), np.array([1, 1, 3, 3]))
    assert [(0, 0, 0, 1), (1, 1, 2, 0), (2, 2, 0, 2), (3, 3, 2, 0)] == [tuple(one) for one in bins]


@pytest.mark.parametrize(("right", "people"), [(0, 40), (3, 536), (40, 40), (7, 50)])
@pytest.mark.parametrize("draws", [1, 10])
def test_a_drawn_share_has_the_exact_interval(right, people, draws):
    row = attack_row(
        value=right / people,
        unit="share of people",
        known="sampled",
        sample_size=draws,
        setting=COPY._replace(draw="largest"),
    )
    [done] = sections.with_intervals(Rows([row]), people)
    tail = 0.025 / draws
    low, high = done.low, done.high
    assert (low == 0) == (right == 0)
    assert (high == 1) == (right == people)
    if right:
        assert tail == pytest.approx(binom.sf(right - 1, people, low))
    if right < people:
        assert tail == pytest.approx(binom.cdf(right, people, high))


@pytest.mark.parametrize(
    "kept",
    [{"known": "exact"}, {"known": "sampled", "low": 0.1, "high": 0.3}, {"unit": "share of edges"}],
)
def test_other_figures_keep_the_interval_that_they_have(kept):
    row = attack_row(**{"value": 0.2, "unit": "share of people", "known": "sampled"} | kept)
    assert [row] == list(sections.with_intervals(Rows([row]), 50))


def test_a_line_of_the_page_says_the_figure_and_its_samples():
    said = Said("singled out", "right", label="l", does="knows", take=strongest, says="{n} found")
    for size, more in ((1, ", in one sample; another may give more"), (5, "the strongest of 5")):
        rows = Rows([attack_row(value=0.31, guess=0.02, sample_size=size, known="sampled")])
        figures = legal_questions.Findings(after=rows)
        [line] = legal_questions.lines_of("seeded-matching", said, figures)
        assert line.reason.startswith("31 of 100 found")
        assert more in line.reason
        assert (0.31, 0.02, f"sampled: {size}") == (
            line.evidence.value,
            line.evidence.guess,
            line.known,
        )


@pytest.mark.parametrize(("first", "most", "rate"), [(2, 3, 9.0), (1, 4, 6.0)])
def test_a_distance_on_the_ladder_is_strange_as_a_slow_sum_says(first, most, rate):
    """Every vector of two whole numbers in a square has the chance that its step gives it."""
    widths, ends, step = [0], 0, 0
    while ends < 12:
        ends, step = ends + min(first + step, most), step + 1
        widths.append(ends)
    total = {}
    for vector in product(range(-12, 13), repeat=2):
        size = sum(map(abs, vector))
        level = next((s for s, end in enumerate(widths) if size <= end), None)
        if level is not None and size <= 12:
            total[size] = total.get(size, 0.0) + math.exp(-rate * level)
    whole = sum(total.values())
    for distance in range(10):
        near = sum(chance for size, chance in total.items() if size <= distance)
        far = sum(chance for size, chance in total.items() if size >= distance)
        strange = min(near, far) < IMPOSSIBLE * whole
        assert strange == is_strange_on_ladder(distance, 2, first, most, rate), distance


@pytest.fixture
def people():
    """Return a function that gives the check of some ids of people."""

    def checked(*ids, keyed):
        values = ", ".join(f"({one})" for one in ids)
        with database() as db:
            db.run(f"CREATE TABLE people AS FROM (VALUES {values}) AS listed(person)")
            return ids_check(db, "people", "person", keyed=keyed)

    return checked


@pytest.mark.parametrize(
    ("ids", "keyed", "outcome", "detail"),
    [
        ((7, 0, 12), True, "holds", "3 ids from a key, each once"),
        ((7, 9, 7, 7), True, "fails", "2 of 4 ids are duplicates, or an id is negative"),
        ((7, -1, 9), True, "fails", "0 of 3 ids are duplicates, or an id is negative"),
        ((0, 1, 2), False, "holds", ""),
        ((0, 2, 2), False, "fails", "person 2 appears 2 times in people"),
        ((0, 1, 3), False, "fails", "person 2 is missing among 3"),
        ((1, 0, 2), False, "fails", ""),
    ],
)
def test_a_check_of_ids_counts_what_repeats_and_what_is_missing(
    people, ids, keyed, outcome, detail
):
    if (ids, keyed) == ((1, 0, 2), False):  # all there: another check is about their order
        outcome = "holds"
    check = people(*ids, keyed=keyed)
    assert outcome == check.outcome
    assert detail in check.detail


@pytest.mark.parametrize(("ascents", "apart"), [(150, 49), (250, 50), (130, 69)])
def test_many_ascents_are_as_unlikely_as_the_bound_says(ascents, apart):
    assert tail_of_ascents(ascents, 400) == pytest.approx(2 * math.exp(-6 * apart**2 / 400))


def test_few_ascents_are_counted_exactly():
    counts = [0] * 6
    for order in permutations(range(6)):
        counts[sum(np.diff(order) > 0)] += 1
    for ascents, low in ((0, 0), (1, 1), (4, 1), (5, 0)):
        expected = 2 * sum(counts[: low + 1]) / 720
        assert tail_of_ascents(ascents, 6) == pytest.approx(expected)


def test_what_ids_say_of_the_order_is_counted():
    order = np.arange(60)
    assert [
        "59 of 59 consecutive pairs of the original are in the same order in the release",
        "60 of 60 people have the same position in both",
        "60 of 60 published ids equal the original id",
    ] == order_leaks(order, order)
    shuffled = np.random.default_rng(5).permutation(60)
    labels = np.where(np.arange(60) < 40, shuffled, -1)
    assert ["40 of 60 published ids equal the original id"] == order_leaks(shuffled, labels)


@pytest.mark.parametrize("sizes", [(3, 4, 2), (9,), (1, 1, 1, 6), (4, 4), (2,), ()])
def test_rows_come_in_groups_of_the_one_form(sizes):
    schema = pa.schema([("x", pa.int64())])
    starts = np.cumsum((0, *sizes)).tolist()
    batches = [
        pa.record_batch([pa.array(range(start, start + size))], schema=schema)
        for start, size in zip(starts, sizes, strict=False)
    ]
    groups = [group["x"].to_pylist() for group in in_groups(batches, schema, 4)]
    n = starts[-1]
    expected = [list(range(at, min(at + 4, n))) for at in range(0, n, 4)]
    assert (expected or [[]]) == groups


@pytest.mark.parametrize(
    ("leaves", "starts", "said"),
    [
        (["a", "b", "a", "c"], [0, 2, 4], ""),
        (["a", "b", "c", "c"], [0, 2, 4], "row 7, user 26: the item 'c' is not in ascending order"),
        (["b", "a", "b", "c"], [0, 2, 4], "row 6, user 25: the item 'a' is not in ascending order"),
        (["b", "a"], [0, 1, 2], ""),
        (["a"], [0, 1], ""),
    ],
)
def test_the_first_item_out_of_order_is_named_with_its_row(leaves, starts, said):
    part = feature_parts._Part(Path("p"), SimpleNamespace(name="p.parquet"), 20)
    how = (pa.array(leaves), np.array(starts, dtype=np.int64), part, 5)
    if not said:
        feature_parts._refuse_items(*how)
        return
    with pytest.raises(UnreadableError, match=rf"^p\.parquet: {said}$"):
        feature_parts._refuse_items(*how)


def test_the_value_of_a_row_is_the_one_column_that_shows_it():
    cells = {"city=Oslo": [1, 0, 0, 1, None], "city=Rome": [0, 1, 0, 1, None], "sex": list("fmfmf")}
    one = tables._one_of(gv.Table.from_columns(cells), "city").to_pylist()
    assert ["Oslo", "Rome", plain_file.NO_CELL, plain_file.NO_CELL, None] == one
    part = {"city=Oslo": [1, None], "city=Rome": [None, 1], "sex": ["f", "m"]}
    one = tables._one_of(gv.Table.from_columns(part), "city").to_pylist()
    assert [plain_file.NO_CELL] * 2 == one


@pytest.mark.parametrize(
    ("met", "said"),
    [
        (None, "3 points: 2 finished, 1 failed."),
        ([], "No point meets a and b. 3 points: 2 finished, 1 failed."),
        ([2], "1 point meets a and b. 3 points: 2 finished, 1 failed."),
        ([1, 2], "2 points meet a and b. 3 points: 2 finished, 1 failed."),
    ],
)
def test_a_sweep_counts_its_points(met, said):
    sweep = SimpleNamespace(results=range(3), counts={"failed": 1, "finished": 2})
    assert said == results.answer_of(sweep, ["a", "b"], met)
    one = SimpleNamespace(results=range(1), counts={"finished": 1})
    assert "1 point: 1 finished." == results.answer_of(one, [], None)


@pytest.mark.parametrize(
    ("promise", "unit", "direction", "risk"),
    [
        (KAnonymity(k=4), "people", "higher is better", 0.25),
        (EdgeDP(epsilon=1.5), "epsilon", "lower is better", None),
    ],
)
def test_a_point_of_a_sweep_says_its_strength_what_it_keeps_and_its_risk(
    promise, unit, direction, risk
):
    cost = {"edges_before": 10, "edges_deleted": 2, "edges_added": 8, "kept_share": 0.5}
    release = SimpleNamespace(cost=cost, guarantee=promise)
    rows = list(sweep._own_rows("a", SimpleNamespace(guarantee=promise), release))
    strength, *plain = rows
    value = getattr(promise, "k", None) or promise.epsilon
    assert (value, unit, direction) == (strength.value, strength.unit, strength.direction)
    own = {row.question: row.value for row in plain if row.question != sweep.COST}
    expected = {sweep.KEPT: 0.8, sweep.FALSE: 0.5}
    assert expected | ({} if risk is None else {sweep.RISK: risk}) == own
    costs = {row.part: (row.value, row.unit) for row in plain if row.question == sweep.COST}
    assert (2.0, "count") == costs["edges deleted"]
    assert (0.5, "share") == costs["kept share"]


def reached(**said):
    plain = {"method": "m", "parameters": {"k": 2}, "call": "", "figures": {}, "missed": {}}
    rest = {"kept": 0.75, "false": 0.125, "measured_on": "", "runs": 1}
    return Reached(**plain | rest | said)


def test_a_cost_is_what_is_lost_and_what_is_false():
    assert (0.375, 0.25, 2.0) == (
        reached().cost,
        reached(false=None).cost,
        reached(kept=None).cost,
    )


@pytest.mark.parametrize(
    ("others", "more"), [(0, ""), (1, "; 1 more does"), (2, "; 2 more methods do")]
)
def test_advice_counts_the_methods_that_meet_all_bounds(others, more):
    missing = reached(missed={"risk": 0.1})
    every = (reached(), *[reached(method="other")] * others, missing)
    advice = AdviceUntil(kind="graph", bounds=("a", "b"), reached=every)
    assert f"m with k=2 meets a and b{more}." == advice.answer
    none = AdviceUntil(kind="graph", bounds=("a", "b"), reached=(missing,))
    assert "No method meets all bounds: a and b." == none.answer


def test_advice_is_in_the_order_of_what_is_met_then_missed_then_lost():
    asked = [
        reached(method="unsure", reason="late", kept=1.0),
        reached(method="far", missed={"a": 0.5}),
        reached(method="near", missed={"a": 0.1, "b": 0.2}),
        reached(method="dear", kept=0.25),
        reached(method="cheap", kept=0.5),
    ]
    names = [one.method for one in in_order(asked)]
    assert ["cheap", "dear", "near", "far", "unsure"] == names
    assert "m k=2: meets all bounds (a 0.123)" == line_of(reached(figures={"a": 0.12345}))
    assert "m k=2: misses a bound (late)" == line_of(reached(reason="late"))


@pytest.mark.parametrize(
    ("values", "axis", "ends", "ticks"),
    [
        ((0.2, 0.7), {"share": True}, (0.17, 0.73), (0.2, 0.4, 0.6)),
        ((0.0, 1.0), {"share": True}, (0.0, 1.0), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ((10.0, 30.0), {}, (8.8, 31.2), (10, 15, 20, 25, 30)),
        ((5.0, 5.0), {}, (4.75, 5.25), (4.8, 4.9, 5.0, 5.1, 5.2)),
        ((1.0, 100.0), {"logarithmic": True}, (1 / 1.318257, 131.8257), (1, 2, 5, 10, 20, 50, 100)),
    ],
)
def test_an_axis_holds_every_value_and_has_round_ticks(values, axis, ends, ticks):
    scale = frontiers._scale(values, frontiers.Axis("a", **axis), 60.0, 620.0)
    assert ends == pytest.approx((scale.low, scale.high), rel=1e-5)
    found = frontiers._ticks(scale)
    if (values, axis) == ((10.0, 30.0), {}):
        assert [10, 15, 20, 25, 30] == pytest.approx(found)
        return
    assert list(ticks) == pytest.approx(found)


@pytest.mark.parametrize("rows", [0, 1, 7, 400])
def test_figures_of_a_page_are_left_out_beyond_its_size(rows):
    figures = {str(number): [] for number in range(4_000)}
    fitting = html.MOST_FIGURES_BYTES // (10 * (rows or 1) + 80)
    assert 300_000 == html.MOST_FIGURES_BYTES
    assert min(fitting, 4_000) == len(html.fitting_figures(figures, rows))


def test_who_stands_out_is_said_of_items_and_of_values():
    users = gv.Bipartite.from_lists([["tea"], ["tea", "rye"], ["rye"], ["tea", "rye"]])
    one, *_, whole = sections.standing_of(users, None, 3)
    assert ("1 item of the row", "the complete row") == (one.known, whole.known)
    assert (0.5, 1.0) == (whole.alone, whole.few)
    table = gv.Table.from_columns({"a": list("xxy"), "b": list("uuv")}, person="row")
    one, *_, whole = sections.standing_of(table, table, 2)
    assert ("1 value of the row", 1 / 3) == (one.known, whole.alone)
    assert (1 / 3, 1 / 3, 1 / 3) == (whole.alone_before, whole.few, whole.few_before)
    for data in (users, table, TREE):
        assert sections.standing_of(data, None, None)[-1].few is None
    assert (0.4, 0.4) == (
        sections.standing_of(TREE, None, 3)[0].alone,
        sections.standing_of(TREE, TREE, 3)[0].few_before,
    )


def test_the_facts_of_a_page_count_checks_that_were_not_made():
    checks = [Check("a", "holds", ""), Check("b", "not checked", ""), Check("c", "holds", "")]
    verdict = Verdict("recomputed", "So it is.", checks)
    assert [("Checks", "1 of 3 not made")] == sections.facts_of(None, None, verdict)
    assert [] == sections.facts_of(None, None, Verdict("recomputed", "So it is.", checks[:1]))


def test_a_figure_for_print_has_the_same_steps():
    [before, after] = (
        print_figures.steps([Bin(0, 0, 1, 3), Bin(1, 1, 1, 0), Bin(2, 3, 2, 1)], "a").axes[0].lines
    )
    assert ([0, 1, 2, 3], [0.25, 0.5, 1, 1]) == tuple(map(list, before.get_data()))
    assert ([0, 1, 2, 3], [0.75, 0.75, 1, 1]) == tuple(map(list, after.get_data()))
    [axes] = print_figures.dots([Mark("a", 0.5), Mark("b", 1.0)]).axes
    assert ((-0.02, 1.02), (1.6, -0.6)) == (axes.get_xlim(), axes.get_ylim())


@pytest.mark.parametrize(
    ("evidence", "word"),
    [
        ({"value": 0.3}, "Yes (measured)"),
        ({"value": 0.3, "guess": 0.3}, "No attack succeeded"),
        ({"value": 0.3, "low": 0.1, "guess": 0.2}, "No attack succeeded"),
        ({"value": 0.3, "low": 0.21, "guess": 0.2}, "Yes (measured)"),
    ],
)
def test_a_test_is_answered_by_the_lower_end_beside_the_guess(evidence, word):
    assert word == legal_questions.verdict_for(legal_questions.Evidence(**evidence))


HOLDS = Verdict("recomputed", "So it is.", [Check("a", "holds", "")])


def test_a_promise_of_two_is_told_and_one_for_all_has_no_bound():
    for k in (2, 3):
        line = legal_questions.promised_line(KAnonymity(k=k), HOLDS)
        assert legal_questions.Evidence(recomputed=True, bounded=False) == line.evidence
        assert f"at least {k} people fit, or none, whoever it is" == line.reason
    smooth = gv.SmoothKAnonymity(k=4, person="assumed", known=("sex",))
    said = legal_questions.promised_line(smooth, HOLDS).reason
    assert "at least 4 rows fit, or none, whoever it is" == said
    level = legal_questions.promised_line(gv.AdaptiveAnonymity(level=4), HOLDS).reason
    assert "at least 4 people remain possible, whoever it is" == level
    some = legal_questions.promised_line(gv.StructuralKAnonymity(k=3, share=0.875), HOLDS)
    assert legal_questions.Evidence(recomputed=False, bounded=True) == some.evidence
    assert some.reason.startswith("verified for at least 87.5% of the people; nothing is")


def test_a_question_that_was_not_run_says_its_own_reason():
    rows = [
        Row(release="a", question=name, reason=f"{name} is out")
        for name in ("membership", "linkage", "seeded-matching")
    ]
    said = gv.ATTACKS["linkage"].said[0]
    figures = legal_questions.Findings(after=Rows(rows))
    assert "linkage is out" == legal_questions._untested("linkage", said, figures).reason
    timed = legal_questions.Findings(after=Rows([]), times={"linkage": "9 s"}, command="report x")
    line = legal_questions._untested("linkage", said, timed)
    assert ("takes about 9 s", "report x --attacks linkage") == (line.reason, line.command)


def test_the_effect_of_being_in_the_data_has_its_own_interval():
    of = {"question": "membership", "release": "a"}
    row = Row(**of, figure="right", value=0.75, low=0.7, guess=0.5)
    harm = Row(**of, figure="effect", value=0.125, low=0.0625)
    assert 0.6875 == legal_questions._shifted(row, harm)
    assert 0.75 == legal_questions._shifted(row, dataclasses.replace(harm, low=None))
    assert "+12.5 of 100" == legal_questions._signed(harm)


def test_an_axis_of_a_sweep_holds_the_ends_of_what_was_repeated():
    dots = [
        frontiers.Dot(1, 0, "a", 4.0, 0.5, (2.0, 6.0), (0.25, 0.75)),
        frontiers.Dot(2, 0, "b", 5.0, 0.5),
    ]
    axes = frontiers.Axis("x"), frontiers.Axis("y", share=True)
    picture = frontiers.scatter(frontiers.Panel("t", *axes, dots)).split("</svg>")[0]
    x = frontiers._scale((2.0, 6.0), axes[0], 66, 620)
    y = frontiers._scale((0.25, 0.75), axes[1], frontiers.BOTTOM, frontiers.TOP)
    assert f'x1="{x.at(2.0)}" y1="{y.at(0.5)}" x2="{x.at(6.0)}" y2="{y.at(0.5)}"' in picture
    assert f'x1="{x.at(4.0)}" y1="{y.at(0.25)}" x2="{x.at(4.0)}" y2="{y.at(0.75)}"' in picture
    crossed = frontiers.Dot(3, 0, "c", 5.0, None)
    picture = frontiers.scatter(frontiers.Panel("t", *axes, [*dots, crossed])).split("</svg>")[0]
    assert f'href="#mx" x="{x.at(5.0)}" y="{frontiers.BOTTOM + 72}"' in picture


def test_ten_checks_that_fail_are_on_a_page():
    checks = [Check(f"c{number}", "fails", "d") for number in range(12)]
    shown = sections.of_release(None, Verdict("recomputed", "So.", checks), None, {})
    assert [(f"c{number}", "d") for number in range(10)] == shown["checks"]


def test_an_interval_for_print_needs_both_ends():
    for low, high, lines in ((0.4, None, 1), (None, 0.6, 1), (0.4, 0.6, 2)):
        [axes] = print_figures.dots([Mark("a", 0.5, low=low, high=high)]).axes
        assert lines == len(axes.lines)


@pytest.mark.parametrize(("degree", "spread"), [(2, False), (5, False), (6, True)])
def test_degrees_from_six_on_are_spread_but_for_the_five_largest(degree, spread):
    dice = np.full(37, 0.9)
    dice[24:36] = 0.05
    again = degrees_and_stubs.degrees_again([degree] * 12, 1e-9, 6 * degree, dice)
    assert spread is (again != [degree] * 12)
    assert 4 <= again[-5:].count(degree)  # one may make the sum even


def test_those_nobody_looks_like_are_told_by_their_connections():
    said = ["3 connections, 0 triangles", "2 connections, 0 triangles"]
    assert said == sections.kinds_of_people(TREE)
