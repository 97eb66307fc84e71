"""Rows become answers: a line a question, and what is documented is what was measured."""

from __future__ import annotations

import dataclasses
import json
import pickle
import warnings
from pathlib import Path

import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.attacks import wording
from graphveil.cli import heard, say_warnings
from graphveil.core import warnings as warning_kinds
from graphveil.core.errors import GraphveilWarning
from graphveil.core.rows import Row, Rows, Setting
from graphveil.core.text import per_hundred, percent
from graphveil.core.warning_channel import warn
from graphveil.evaluate import wording as evaluation
from graphveil.pages.answers import attacks
from graphveil.pages.answers.attacks import REACHED, SOMEONE, documented
from graphveil.pages.answers.promise import cost_words, verdict_lines
from graphveil.verify import verdict
from graphveil.verify.verdict import Check, Verdict

FLAWS = [
    {
        "name": "a mean of all and nothing",
        "means": "An owner reads 38 of 100 where it is 2 or 82 of 100, depending on who is known.",
        "file": "src/graphveil/attacks/row_selection.py",
        "old": "shown = most if most is not None and apart else row",
        "new": "shown = row",
    },
]

RESULTS = Path(__file__).parents[2] / "benchmarks" / "attacks" / "results"

CLASSES = [
    kind
    for kind in vars(warning_kinds).values()
    if isinstance(kind, type)
    and issubclass(kind, GraphveilWarning)
    and kind is not GraphveilWarning
]


def row(question, part, value, **more):
    return Row(release="a", question=question, part=part, value=value, **more)


def pointed(value, guess):
    """Return the row of people who are pointed at by how many ties they have."""
    setting = Setting(knows="degree")
    return Row(
        release="a",
        question="candidate-set",
        figure="right guess",
        setting=setting,
        value=value,
        guess=guess,
    )


def measured(name):
    """Return rows of the benchmark of attacks."""
    return parquet.read_table(RESULTS / f"{name}.parquet").to_pylist()


NETWORKS = {"primary school": 242, "polblogs": 1_224}
"""Those of the benchmark of all methods, and how many people they have."""


def attacked(method, attack):
    """Return the rows of releases of a method that a documented attack was run on.

    Of the largest share of starts and of 0 and 20 known people each is a row: what is documented
    are all of them, of several networks.
    """
    if attack == "seeded-matching":
        copies = [
            {**one, "value": one["right"] / one["people_asked"], "data": one["network"]}
            for one in measured("copies")
            if (one["method"], one["attacker"]) == (method, attack)
            and (one["overlap"], one["people"]) == (1, 1)
            and one["known"] <= 20
        ]
        parts = {f"overlap 1, {known} known, best of 5 starts: right" for known in ("nobody", 20)}
        data = set(NETWORKS)
    elif attack == "group-assignment":
        return [
            {**one, "data": one["network"], "parameters": json.dumps({"k": one["k"]})}
            for one in measured("groups")
            if one["figure"] == "right"
            and not one["seen"]  # networks that the attack is not tuned on
        ]
    else:
        copies = []
        parts, data = {
            "linkage": ({"8 known, 0 false: own row"}, {"adult, 2,000 people", "apps, 2,000 rows"}),
            "matching": ({"re-run, right guess"}, {"heart"}),
        }[attack]
    return copies + [
        one
        for one in measured("matrix")
        if (one["method"], one["attack"]) == (method, attack)
        and one["part"] in parts
        and one["data"] in data
    ]


@pytest.mark.parametrize("method", REACHED)
def test_what_is_documented_is_what_the_raw_rows_say(method):
    assert method in gv.METHODS
    for reached in REACHED[method]:
        rows = attacked(method, reached.by)
        values = [one["value"] for one in rows]
        assert (reached.low, reached.high) == (round(min(values), 3), round(max(values), 3))
        strengths = [
            value
            for one in rows
            for name, value in json.loads(one["parameters"]).items()
            if name in {"k", "epsilon", "levels"}
        ]
        ends = f"{min(strengths):g} to {max(strengths):g}" if strengths else ""
        said = reached.at.removesuffix(", compatibility=bipartite")
        assert said.removeprefix("k=").removeprefix("epsilon ").removeprefix("levels ") == ends
        assert documented(method, {reached.by})


def test_the_networks_that_are_documented_are_as_large_as_it_is_said():
    rows = [one for method in REACHED for one in attacked(method, "seeded-matching")]
    people = {one.get("people_asked") or NETWORKS[one["data"]] for one in rows}
    said = f"networks of {min(people):,} to {max(people):,} nodes"
    assert SOMEONE["seeded-matching"][1] == said


def test_a_figure_stands_in_its_line_with_unit_and_sentence():
    rows = Rows([row("edges-kept", "share", 0.984), row("edges-added", "share", 0.003)])
    assert evaluation.headline(rows) == (
        "98.4% of the original edges are kept, and 0.3% of the released edges are false."
    )
    assert ["98.4%", "0.3%"] == [line.figure for line in evaluation.answers(rows)]


def test_connectivity_counts_those_outside_the_largest_component_now_and_before():
    rows = Rows([row("largest-component", "released", 0.25)])
    rows = Rows([*rows, row("largest-component", "original", 0.8)])
    [line] = evaluation.answers(rows)
    assert "75%" == line.figure
    assert "of the nodes are outside the largest connected component; before 20%" == line.unit


def test_false_entries_are_a_share_of_what_is_released():
    rows = Rows([row("entries-suppressed", "share", 0.2), row("entries-created", "share", 0.2)])
    assert ["80%", "20%"] == [line.figure for line in evaluation.answers(rows)]


def test_how_a_figure_feels_stands_beside_it_where_somebody_says_so():
    said = row("edges-kept", "share", 0.5, as_sample=0.5, as_sample_of="ties")
    [line] = evaluation.answers(Rows([said]))
    assert "comparable to keeping 50% of the ties at random" == line.felt
    assert "" == evaluation.answers(Rows([row("edges-kept", "share", 0.5)]))[0].felt


def test_a_question_that_could_not_be_measured_says_why():
    rows = Rows([Row(release="a", question="betweenness", reason="too large")])
    [line] = evaluation.answers(rows)
    assert ("betweenness", "not measured") == (line.question, line.answer)
    assert "too large" in line.unit


def test_an_interval_that_holds_the_guess_shows_nothing():
    inside = row("membership", "a whole row", 0.57, guess=0.5, low=0.45, high=0.7)
    above = row("membership", "a whole row", 0.57, guess=0.5, low=0.51, high=0.7)
    assert ("not shown", "yes") == (attacks.strength(inside), attacks.strength(above))


def test_the_worst_of_many_copies_is_told_and_the_worst_attack_comes_first():
    copy = Setting(overlap=1, people=0.6, known=0, search="best of 5 starts")
    rows = Rows(
        [
            pointed(0.1, 0.01),
            *drawn(copy, 0.3),
            *drawn(copy._replace(overlap=0.8), 0.2),
        ]
    )
    first, second = attacks.groups(rows)
    assert ("10", "30") == (first.lines[0].figure, second.lines[0].figure)
    assert attacks.headline(rows).startswith(
        "An attacker who has a copy of 60% of the people re-id"
    )


def drawn(copy, *shares, guess=0.01):
    """Return the rows of an attack that drew several times."""
    mean = {"": sum(shares) / len(shares)}
    ends = {"least": min(shares), "largest": max(shares)} if len(shares) > 1 else {}
    for draw, value in (mean | ends).items():
        yield Row(
            release="a",
            question="seeded-matching",
            figure="right",
            setting=copy._replace(draw=draw),
            value=value,
            guess=guess,
            sample_size=len(shares),
        )


def test_the_first_line_gives_the_mean_chance_of_picking_a_record_where_it_is_the_strongest():
    known, picked, largest = (
        Row(release="a", question=name, figure=figure, setting=one, value=value, guess=0.01)
        for name, figure, one, value in (
            ("linkage", "own row", Setting(known=8, wrong=0), 0.035),
            ("matching", "true pair, mean", Setting(), 0.093),
            ("matching", "true pair, largest", Setting(), 0.5),
        )
    )
    said = "has a mean probability of picking a row's own record: 9.3 of 100 (guessing without"
    assert said in attacks.headline(Rows([known, picked, largest]), "rows", of_table=True)
    weaker = dataclasses.replace(picked, value=0.03)
    assert "re-identifies 3.5 of 100 rows" in attacks.headline(Rows([known, weaker]), "rows")


COPY = Setting(overlap=1, known=20, search="best of 5 starts")


def test_where_draws_differ_much_the_strongest_is_told_and_by_what_they_differ():
    copy = COPY._replace(overlap=0.7, people=0.6)
    rows = Rows([*drawn(copy, 0.02, 0.0, 0.82, 0.1, 0.3)])
    assert attacks.headline(rows) == (
        "An attacker who has a copy of 60% of the people, 70% of its edges correct and knows 20 "
        "people re-identifies 0 to 82 of 100 people, depending on which nodes are known (guessing "
        "without the release: 1)."
    )
    [group] = attacks.groups(rows)
    assert ("0 to 82", "yes") == (group.lines[0].figure, group.lines[0].answer)
    nobody = Rows([*drawn(copy._replace(known=0), 0.1, 0.5)])
    assert "10 to 50 of 100 people, depending on which edges the copy has (" in attacks.headline(
        nobody
    )


def test_draws_that_differ_little_are_told_by_their_mean_and_one_draw_is_called_one():
    assert "re-identifies 52 of 100 people (" in attacks.headline(Rows([*drawn(COPY, 0.5, 0.54)]))
    one = Rows([*drawn(COPY, 0.5)])
    said = "re-identifies 50 of 100 people in one sample of the known nodes ("
    assert said in attacks.headline(one)
    [group] = attacks.groups(one)
    assert group.lines[0].question.endswith("knows 20 people, one sample")


def test_of_two_attacks_by_the_same_attacker_the_stronger_has_the_line():
    one, other = drawn(COPY, 0.25), drawn(COPY, 0.5)
    rows = [*one, *(dataclasses.replace(row, question="alignment") for row in other)]
    for every in (rows, rows[::-1]):
        [group] = attacks.groups(Rows(every))
        assert ["50"] == [line.figure for line in group.lines]


def test_one_strong_draw_of_weak_ones_is_told():
    strong = attacks.headline(Rows([*drawn(COPY, 0.0, 0.0, 0.0, 0.0, 0.09, guess=0.001)]))
    assert "re-identifies 0 to 9 of 100 people, depending on which nodes are known (" in strong
    little = attacks.headline(Rows([*drawn(COPY, 0.002, 0.0, 0.006, guess=0.001)]))
    assert "0 to" not in little


def test_the_strongest_of_unlike_draws_comes_before_a_larger_mean():
    rows = [*drawn(COPY, 0.4, 0.4), *drawn(COPY._replace(overlap=0.9), 0.0, 0.6)]
    assert "re-identifies 0 to 60 of 100 people" in attacks.headline(Rows(rows))


@pytest.mark.parametrize(
    ("alone", "again", "lines"),
    [
        (0.8, 0.6, ["80", "70", "60", "20"]),
        (0.8, 0.9, ["90", "20"]),
        (0.8, None, ["80", "70"]),
        (None, 0.9, ["90", "20"]),
    ],
)
def test_what_releases_teach_of_an_item_is_told_also_where_one_tells_more(alone, again, lines):
    rows = [
        *([("inside", alone), ("left out", 0.7)] if alone else []),
        *([("", again), (", found at 1% false alarms", 0.2)] if again else []),
    ]
    named = {"inside": "one item of people inside", "left out": "one item of people left out"}
    parts = [(named.get(end, f"one of two items{end}"), value) for end, value in rows]
    [group] = attacks.groups(Rows([row("item-membership", *part, guess=0.5) for part in parts]))
    assert lines == [line.figure for line in group.lines]


def test_attacks_that_do_no_better_than_a_guess_are_no_all_clear():
    rows = Rows([pointed(0.01, 0.01)])
    assert "proves nothing" in attacks.headline(rows)


def test_a_share_is_never_rounded_to_nothing_or_to_all():
    assert ("< 0.1%", "> 99.9%") == (percent(1e-5), percent(1 - 1e-5))
    assert ("0", "100") == (per_hundred(0), per_hundred(1))


@pytest.mark.parametrize("guarantee", [gv.StructuralKAnonymity(k=3), gv.KAnonymity(k=3)])
def test_an_answer_says_the_sentence_of_a_guarantee_as_it_is(guarantee):
    [line] = verdict_lines(Verdict("recomputed", guarantee.sentence, []))
    assert "at least 2 others" in line
    assert guarantee.sentence[1:].removesuffix(".") in line


def test_three_figures_say_what_a_release_cost():
    assert 3 == len(cost_words({"a": 1, "b": 2, "c": 3, "d": 4}))
    assert "5 nodes not protected" in cost_words({"nodes_unprotected": 5})


def test_a_failing_verdict_says_first_what_the_promise_hangs_on():
    checks = [
        Check("seal", "fails", "the seal is broken"),
        Check("classes", "fails", "the smallest class holds 4 nodes, k=5"),
        Check("ids", "holds", "5 ids"),
    ]
    promise = ("classes",)
    verdict = Verdict("recomputed", "All.", checks, promise, promised=promise)
    first, *others = verdict_lines(verdict)
    assert first.startswith("The guarantee is not true: the smallest class holds 4 nodes, k=5")
    assert ["  seal: the seal is broken"] == others


def test_what_was_not_checked_is_counted_with_what_it_needs():
    checks = [
        Check("ids", "holds", "5 ids"),
        Check("edits", "not checked", "whether nothing was added", "--original"),
    ]
    first, second = verdict_lines(Verdict("recomputed", "All is well.", checks))
    assert "The guarantee holds: all is well (1 of 2 checks hold, 1 not checked)." == first
    assert "Not checked without the original: nothing was added." == second


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_of_warning_is_public_and_can_be_silenced_by_name(kind):
    assert kind is getattr(gv, kind.__name__)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=kind)
        warn("one", kind)
        warn(warning_kinds.Advice("two", kind))
        warn("three")
    assert ["three"] == [str(one.message) for one in caught]


def test_every_warning_of_the_source_has_a_class():
    package = Path(gv.__file__).parent
    bare = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in package.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith('warn(f"') and "Warning" not in line
    ]
    assert [] == bare


def test_advice_keeps_its_class_in_a_pickle():
    kept = pickle.dumps(warning_kinds.Advice("a", warning_kinds.SeedWarning))
    advice = pickle.loads(kept)  # noqa: S301  pickled here
    assert ("a", warning_kinds.SeedWarning) == (advice, advice.kind)


def test_the_two_warnings_that_weigh_most_are_said(capsys):
    heard[:] = [(3, "light"), (2, "middle"), (0, "heavy")]
    say_warnings()
    said = capsys.readouterr().err.splitlines()
    assert ["heavy", "middle"] == [line.split(": ")[2].rstrip(".") for line in said[:2]]
    assert ["graphveil: 1 more note (show with --all)."] == said[2:]
    assert [] == heard


def test_three_checks_are_named_and_the_others_counted():
    checks = [Check(f"check {number}", "holds", "") for number in range(5)]
    assert "check 0, check 1, check 2" == verdict._named(checks[:3])
    assert "check 0, check 1, check 2 and 2 more" == verdict._named(checks)


def test_a_value_is_shown_whole_up_to_80_characters():
    assert f"'{'a' * 78}'" == verdict.shown("a" * 78)
    assert f"'{'a' * 75}..." == verdict.shown("a" * 79)


def test_one_run_is_made_again_and_several_so_many_times():
    assert (
        "again"
        == wording.words_of(Setting())["again"]
        == wording.words_of(Setting(times=1))["again"]
    )
    assert "3 times" == wording.words_of(Setting(times=3))["again"]
