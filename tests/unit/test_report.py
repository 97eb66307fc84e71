"""Pages: answers by rule, figures of the commands, hostile texts, releases that do not verify."""

from __future__ import annotations

import dataclasses
import html
import itertools
import json
import math
import re
import shutil

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from scipy.stats import binomtest

import graphveil as gv
import graphveil.pages.report.report as report_module
import graphveil.pages.report.sections as sections_module
from graphveil.claims.guarantees import (
    AdaptiveAnonymity,
    EdgeDP,
    KAnonymity,
    NotClaimed,
    StructuralKAnonymity,
)
from graphveil.claims.manifest import encode, read_manifest
from graphveil.claims.record import private_folder
from graphveil.core.errors import ReleaseError, UsageError
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows, Setting
from graphveil.core.text import percent
from graphveil.evaluate.measuring import comparison_of
from graphveil.pages.answers.attacks import groups
from graphveil.pages.charts import MOST_BINS, Mark, binned, dots, dots_alone
from graphveil.pages.html import WORDS, Page, html_of
from graphveil.pages.report.legal_questions import (
    ONE_DRAW,
    Evidence,
    Findings,
    answers_of,
    bound_in_words,
    lines_of,
    marks_of,
    promised_line,
    verdict_for,
)
from graphveil.pages.report.machine import json_text
from graphveil.pages.report.sections import attacked_of, with_intervals
from graphveil.verify.verdict import Check, Verdict

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

HOSTILE = ["<script>alert(1)</script>", "{{7*7}}", "=cmd()", "\"'><b>", "a\u202eb\x1b[2J\u200b"]


@pytest.fixture(scope="module")
def network():
    return gv.datasets.load("copenhagen-calls").part(np.arange(200))


@pytest.fixture(scope="module")
def folder(network, tmp_path_factory):
    release = gv.KDegree(k=5, edits="any").anonymize(network, seed=1)
    return release.write(tmp_path_factory.mktemp("released") / "out")


@pytest.fixture(scope="module")
def owned(folder, network):
    return gv.report_release(folder, network, public=False, seed=1)


@pytest.mark.parametrize(
    ("evidence", "word"),
    [
        (Evidence(), "Not tested"),
        (Evidence(guess=0.5), "Not tested"),
        (Evidence(value=0.4, low=0.31, guess=0.3), "Yes (measured)"),
        (Evidence(value=0.4, low=0.3, guess=0.3), "No attack succeeded"),
        (Evidence(value=0.4, guess=0.3), "Yes (measured)"),
        (Evidence(value=0.3, guess=0.3), "No attack succeeded"),
        (Evidence(value=0.0), "No attack succeeded"),
        (Evidence(value=0.1), "Yes (measured)"),
        (Evidence(recomputed=True, value=0.9, low=0.8, guess=0.1), "No (verified)"),
        (Evidence(bounded=True), "Bounded"),
        (Evidence(too_small=1), "Yes (recomputed)"),
        (Evidence(too_small=4), "Fails (recomputed)"),
    ],
)
def test_an_answer_is_by_rule(evidence, word):
    assert word == verdict_for(evidence)


SOUND = Verdict("recomputed", "", [])
FALSE = Verdict("recomputed", "", [Check("classes", "fails", "4 nodes")])
OPEN = Verdict("recomputed", "", [Check("a", "not checked", "")], decisive=("a",))


@pytest.mark.parametrize(
    ("guarantee", "verdict", "word"),
    [
        (KAnonymity(k=5), SOUND, "No (verified)"),
        (KAnonymity(k=5), FALSE, None),
        (KAnonymity(k=5), OPEN, None),
        (KAnonymity(k=1), SOUND, None),
        (AdaptiveAnonymity(level=1, common=False), SOUND, None),
        (StructuralKAnonymity(k=5, share=0.9), SOUND, "Bounded"),
        (NotClaimed(reasons=("repeatable",)), SOUND, None),
        (EdgeDP(epsilon=1.0), SOUND, "Bounded"),
    ],
)
def test_no_is_said_of_a_promise_to_everybody_that_was_just_recomputed(guarantee, verdict, word):
    line = promised_line(guarantee, verdict)
    assert word == (None if line is None else line.word)


def test_a_bound_is_odds_that_people_know():
    assert f"{math.e:.2f} to 1, 73 of 100" in bound_in_words(EdgeDP(epsilon=1.0))
    assert "bounds nothing" in bound_in_words(EdgeDP(epsilon=40.0))


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=200))
def test_bins_are_few_and_hold_everybody_once(numbers):
    bins = binned(np.array(numbers), np.array(numbers[::2]))
    assert len(bins) <= MOST_BINS
    assert len(numbers) == sum(one.after for one in bins)
    assert len(numbers[::2]) == sum(one.before for one in bins)
    for one, following in itertools.pairwise(bins):
        assert one.high + 1 == following.low
    for one in bins:
        assert one.after == sum(one.low <= number <= one.high for number in numbers)


@given(st.floats(0, 1))
def test_percent_is_never_rounded_to_all_or_to_nothing(share):
    text = percent(share)
    assert "e" not in text
    assert (text == "100%") == (share == 1)
    assert (text == "0%") == (share == 0)


def cells(text, test):
    """Return the rows of the table of a test: the texts of their cells by their labels."""
    table = re.search(rf'data-test="{test}">.*?</table>', text, re.DOTALL)[0]
    rows = []
    for row in re.findall(r"<tr>(.*?)</tr>", table.split("<tbody>")[1], re.DOTALL):
        cell = dict(re.findall(r'data-l="([^"]+)">([^<]*)', row))
        cell["who"] = re.sub(r"<[^>]+>", "", re.search(r"<th[^>]*>(.*?)</th>", row)[1])
        cell["answer"] = re.search(r'class="tag \w+">([^<]+)', row)[1]
        rows.append(cell)
    return rows


def test_the_figures_of_a_page_are_those_of_attack(owned, folder, network):
    rows = gv.attack_release(folder, network, seed=1)
    renamed = gv.Rename().anonymize(network, seed=1)
    before = gv.attack_release(renamed, network, seed=1, attacks=["candidate-set"])
    singled = cells(owned.text, "singled out")
    sorting, ranked = [line for line in singled if "everybody" in line["who"]]
    largest = rows["degree-matching", "the 20 largest: right guess"]
    assert percent(largest.value) == sorting["after"]
    known = ["degree", "degree and triangles", "vrq", "vrq by quantiles"]
    known.append("vrq by quantiles and all degrees")
    shown = [line for line in singled if line is not sorting][1:]
    assert ranked is shown[-1]
    parts = [f"{knows}, right guess" for knows in known]
    for line, part in zip(shown, parts, strict=True):
        row = rows["candidate-set", part]
        assert percent(row.value) == line["after"]
        assert percent(row.guess) == line["guess"]
        assert percent(before["candidate-set", part].value) == line["before"]
        within = part.startswith("degree,")  # which is what the guarantee is about
        assert line["answer"] == ("No (verified)" if within else "Yes (measured)")
    copy = cells(owned.text, "linked")[0]
    part = "overlap 1, nobody known, best of 5 starts: right"
    assert percent(rows["seeded-matching", part].value) == copy["after"]


def one_row(question, value, guess=0.01, **setting):
    return Row(release="a", question=question, figure=setting.pop("figure", "right guess"),
               setting=Setting(**setting), value=value, unit="share of people", known="exact",
               guess=guess)  # fmt: skip


@pytest.mark.parametrize(
    ("guarantee", "row", "says"),
    [
        (StructuralKAnonymity(k=5), {"knows": "degree", "value": 0.18}, "18 of 100, at most 20"),
        (StructuralKAnonymity(k=3), {"knows": "degree", "value": 1 / 3}, "33 of 100, at most 33.4"),
        (StructuralKAnonymity(k=5), {"knows": "degree", "value": 0.21}, None),
        (StructuralKAnonymity(k=5), {"knows": "vrq", "value": 0.18}, None),
        (StructuralKAnonymity(k=5, share=0.9), {"knows": "degree", "value": 0.18}, None),
        (StructuralKAnonymity(k=5, measure="vrq"), {"knows": "vrq", "value": 0.1}, "10 of 100"),
        (StructuralKAnonymity(k=5, measure="vrq"), {"knows": "degree", "value": 0.1}, "10 of 100"),
        (KAnonymity(k=5), {"knows": "degree", "value": 0.1}, None),
    ],
)
def test_a_figure_within_what_the_guarantee_allows_has_the_answer_of_the_guarantee(
    guarantee, row, says
):
    figures = Findings(after=Rows([one_row("candidate-set", **row)]), command="report r")
    singled = answers_of(guarantee, SOUND, gv.Graph, figures)[0]
    [line] = [line for line in singled.lines if line.evidence.value is not None]
    answer = singled.in_short
    if says is None:
        assert "Yes (measured)" == line.word
        assert "by the guarantee" not in line.reason + answer
        assert answer.startswith("Yes (measured), by someone who knows")
    else:
        assert ("No (verified)", f"measured: {says}") == (line.word, line.reason[: 10 + len(says)])
        assert answer.startswith("No (verified), by an attacker who knows")
        assert f"whoever it is; {line.reason}." in answer
        assert line.cap.endswith("% by the guarantee")
        assert attacked_of([singled], public=False) == (
            "No attack that was run reached more than the guarantee allows; this proves nothing.",
            False,
        )
    [broken] = [
        line for line in answers_of(guarantee, FALSE, gv.Graph, figures)[0].lines
        if line.evidence.value is not None
    ]  # fmt: skip
    assert "Yes (measured)" == broken.word


@pytest.mark.parametrize(
    ("value", "word"), [(0.87, "Yes (measured)"), (0.5, "No attack succeeded")]
)
def test_page_and_terminal_judge_added_edges_by_one_figure(value, word):
    rows = Rows(
        [
            one_row("fake-edge", value, 0.5, figure="AUC, best in hindsight"),
            one_row("fake-edge", 0.0, 0.002, figure="flagged, precision"),
        ]
    )
    [group] = groups(rows)
    [line] = group.lines
    inferred = answers_of(KAnonymity(k=5), SOUND, gv.Graph, Findings(after=rows, command="r"))[2]
    [shown] = [one for one in inferred.lines if one.evidence.value is not None]
    assert (line.answer == "yes") == (shown.word == "Yes (measured)")
    assert (word, f"recognized {line.figure} of 100 times") == (
        shown.word, re.search(r"recognized \d+ of 100 times", shown.reason)[0],
    )  # fmt: skip


def test_equal_rows_bound_who_knows_features_and_candidates_bound_nobody():
    rows = Rows(
        [
            one_row("matching", 0.18, figure="true pair, mean"),
            one_row("linkage", 0.1, figure="own row", known=8, wrong=0),
        ]
    )
    for guarantee, word in (
        (KAnonymity(k=5), "No (verified)"),
        (AdaptiveAnonymity(level=5), "Yes (measured)"),
    ):
        figures = Findings(after=rows, command="report r", of_table=True)
        lines = answers_of(guarantee, SOUND, gv.Table, figures)[0].lines
        assert {word} == {line.word for line in lines if line.evidence.value is not None}


def test_the_worst_hundredth_is_identified_no_more_often_than_the_guarantee_allows(tmp_path):
    """The chance of a class is not that of a row: with classes of 5 it is one in five."""
    rng = np.random.default_rng(1)
    table = gv.Table.from_columns(
        {name: rng.integers(0, 3, 60).astype(str) for name in "abc"}, person="row"
    )
    release = gv.SuppressK(k=5).anonymize(table, seed=1).write(tmp_path / "out")
    rows = gv.attack_release(release, table, seed=1, attacks=["linkage"],
                             options={"linkage": {"targets": 20}})  # fmt: skip
    risks = parquet.read_table(private_folder(release) / "attacks" / "linkage.parquet")
    known = risks["risk"].to_numpy()  # of everybody: whole rows are tried of all people
    assert not np.isnan(known).any()
    assert 0 < known.max() <= 0.2
    assert {1 / 60} == {*risks["baseline"].drop_null().to_pylist()}
    worst = sections_module._worst(private_folder(release))
    assert 0 < worst["linkage"] <= 0.2
    figures = Findings(after=rows, worst=worst, command="report r", of_table=True)
    tests = answers_of(KAnonymity(k=5), SOUND, gv.Table, figures)
    page = html_of(Page(public=False, title="", answer="", good=True, tests=tests))
    cell = re.search(r'data-l="worst 1%">([^<]+)<small>([^<]+)', page)
    assert (percent(worst["linkage"]), "at most 20% by the guarantee") == cell.groups()


def test_who_is_unique_by_values_is_counted_by_known_columns_and_attached_ones_are_named():
    """By the known columns nobody is in a class below k; the attached income makes them unique."""
    columns = {"a": [*"xxxyyy"], "b": [*"pppqqq"], "income": [*"123123"]}
    table = gv.Table.from_columns(columns, person="row")
    release = gv.SuppressK(k=3, known="a,b", attach="income").anonymize(table, seed=1)
    pair = comparison_of(release, table, Randomness(seed=1), wanted_by="report")
    for one in (None, pair):
        parts = sections_module.of_data(release, one)
        *by_values, known, whole = parts["standing"]
        assert {f"{n} known value{'s' * (n > 1)} of the row" for n in (1, 2)} == {
            row.known for row in by_values
        }
        assert "all known values of the row" == known.known
        assert {0.0} == {row.alone for row in (*by_values, known)}
        assert "the complete row, with the attached income" == whole.known
        assert (0.0, 1.0, 1.0) == (known.few, whole.alone, whole.few)
        assert (None if one is None else 1.0) == whole.alone_before
        assert [(3, 6)] == [(of.low, of.after) for of in parts["distribution"] if of.after]
        assert "People with an equal row of known values" == parts["distribution_of"]


def test_that_published_values_are_true_is_not_what_is_inferred_in_short():
    rows = [
        one_row("class-truth", 1.0, 0.5, figure="entries true, mean"),
        one_row("membership", 0.7, 0.5, figure="a whole row"),
    ]
    for some, says in ((rows, "recognized 70 of 100 times"), (rows[:1], "it is true of 100 of")):
        figures = Findings(after=Rows(some), command="r", of_table=True)
        inferred = answers_of(KAnonymity(k=5), SOUND, gv.Table, figures)[2]
        assert says in inferred.in_short
        assert says in attacked_of([inferred], public=False)[0]


def test_no_label_of_a_picture_begins_outside_of_it():
    """Beside the marks, 218 units are too few for the letters of some readers."""
    label = "numbers of connections of everyone they know"
    for picture in (dots([Mark(label, 0.5)], title=""), dots_alone([Mark(label, 0.5)], title="")):
        drawn = re.findall(r'<text x="(\d+)"[^>]* class="lab" text-anchor="(\w+)">([^<]+)', picture)
        assert drawn[0] == ("18", "start", label)
        assert {("18", "start")} == {one[:2] for one in drawn}


def said_of(rows):
    """Return what a page says of a copy with known people."""
    said = gv.ATTACKS["seeded-matching"].said
    [line] = [
        line for one in said for line in lines_of("seeded-matching", one, Findings(after=rows))
    ]
    return line.reason


def test_of_several_draws_a_page_shows_the_strongest_and_says_of_how_many():
    rows = [
        Row(release="a", question="seeded-matching", figure="right", value=value,
            setting=Setting(overlap=1, known=20, draw=draw),
            unit="share of people", known="sampled", guess=0.01, sample_size=5)
        for draw, value in (("", 0.2), ("least", 0.0), ("median", 0.1), ("largest", 0.7))
    ]  # fmt: skip
    drawn = with_intervals(Rows(rows), 100)
    [mark] = marks_of(drawn)
    assert ("a copy of the network, 20 people known", 0.7) == (mark.label, mark.after)
    assert "in the strongest of 5 samples" in said_of(drawn)
    once = said_of(Rows([dataclasses.replace(rows[0], sample_size=1)]))
    assert once.endswith(ONE_DRAW)
    one = with_intervals(Rows([rows[0]]), 100)[0]
    assert 0.2 - one.low < 0.7 - mark.low  # the largest of five draws is wider


def test_the_figures_of_a_page_are_those_of_evaluate_measure_and_verify(owned, folder, network):
    rows = gv.evaluate_release(folder, network, seed=1)
    share = percent(rows["edges-kept", "share"].value)
    assert f"{share} of the original connections are kept" in html.unescape(owned.text)
    alone = percent(gv.measure(network).uniqueness)
    after = percent(gv.measure(gv.read_release(folder).data).uniqueness)
    assert (
        f'data-l="unique before">{alone}</td><td class="n" data-l="unique after">{after}'
        in owned.text
    )
    checks = len(gv.verify_release(folder, network).checks)
    assert f"{checks} of {checks} checks were made for this page" in owned.text
    said = "Every person of the release has the same number of connections as at least 4 others."
    assert said in owned.text


OF_THE_COMMAND_LINE = re.compile(
    r"\b(?:edges?|(?:in-|out-)?degrees?|neighbors?|nodes?)\b(?!-|=)", re.IGNORECASE
)


def said_on(page):
    """Return the sentences that a page shows: no commands, no names of methods, no glossary."""
    shown = re.sub(r"<style>.*?</style>|<pre>.*?</pre>|<code>.*?</code>", "", page, flags=re.DOTALL)
    shown = re.sub(r'<dl class="(?:facts|words)">.*?</dl>', "", shown, flags=re.DOTALL)
    texts = html.unescape(re.sub(r"<[^>]+>", "\n", shown))
    return re.split(r"(?<=[.!?])\s|\n", texts)


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("method", ["structural", "top-m-filter", "super-nodes"])
def test_a_page_of_a_network_says_person_and_connection(method, public, owned, folder):
    """A node stays a node only where the same sentence is about the person it may be."""
    given = {"epsilon": 2.0} if method == "top-m-filter" else {"k": 2}
    ring = gv.Graph.from_edges([*range(12), 0, 3], [*range(1, 12), 0, 6, 9])
    release = gv.METHODS[method](**given).anonymize(ring, seed=1)
    rows = None if public else gv.attack_release(release, ring, seed=1, attacks=["candidate-set"])
    page = gv.report_release(release, None if public else ring, public=public, rows=rows).text
    owners = gv.report_release(folder, public=True).text if public else owned.text
    for said in (*said_on(page), *said_on(owners)):
        terms = {one.lower() for one in OF_THE_COMMAND_LINE.findall(said)}
        assert not terms or (terms <= {"node", "nodes"} and "person" in said), said


def test_what_takes_less_than_ten_seconds_is_run_and_else_the_time_and_the_flag_are_said(owned):
    lines = {line["who"]: line["answer"] for line in cells(owned.text, "linked")}
    assert "Not tested" != lines["someone who has a copy of the network, by propagation"]
    assert not re.search(r"takes about \d seconds?", owned.text)
    answers = Findings(after=Rows([]), times={"seed-propagation": "5 minutes"}, command="report r")
    every = answers_of(KAnonymity(k=5), SOUND, gv.Graph, answers)
    said = {line.who: line for test in every for line in test.lines}
    line = said["someone who has a copy of the network, by propagation"]
    assert ("Not tested", "takes about 5 minutes") == (line.word, line.reason)
    assert "report r --attacks seed-propagation" == line.command


def test_the_head_of_an_owners_page_says_the_guarantee_and_the_strongest_attack(owned, folder):
    head = html.unescape(owned.text.split('id="verdict">')[1].split("</section>")[0])
    assert "The guarantee holds, for knowledge about one person, with k = 5." in head
    assert "The strongest attack that was run, by someone who " in head
    assert '<section class="verdict not"' in owned.text
    public = gv.report_release(folder, public=True).text
    assert "No attack was run for this page: only the data owner can" in public
    assert '<section class="verdict not"' in public  # a color of its own only where it fails
    alone = percent(gv.measure(gv.read_release(folder).data, measure="vrq").uniqueness)
    assert f'<a href="#standing">{alone} unique to an attacker who knows how many ' in public
    assert 'id="standing"' in public
    assert "Every claim" not in owned.text + public


def test_a_public_page_counts_no_check_that_was_not_made(folder, tmp_path):
    alone = shutil.copytree(folder, tmp_path / "out")
    verdict = gv.verify_release(alone)
    unchecked = sum(check.outcome == "not checked" for check in verdict.checks)
    n = len(verdict.checks)
    text = html.unescape(gv.report_release(alone, public=True).text)
    assert unchecked > 0
    assert f"{n - unchecked} of {n} checks were made for this page." in text
    assert "Not checked without the original: " in text


def test_a_page_is_one_file_without_a_script_or_an_address(owned):
    assert not re.search(r"<script|<link|<img|<iframe|@import|url\(|src=|javascript:", owned.text)
    assert [] == re.findall(r'href="(?!#)', owned.text)
    assert len(owned.text.encode()) < 2_000_000
    assert len(WORDS) <= 15
    assert 1 == owned.text.count("proves nothing.</p>")
    assert "anonymous" not in owned.text.lower()


@pytest.mark.parametrize("text", [*HOSTILE, "x" * 10_000])
def test_hostile_texts_are_shown_and_never_obeyed(text, folder, tmp_path):
    toml = tmp_path / "declared.toml"
    toml.write_text(f"purpose = {json.dumps(text)}\nreview = 2030-01-01\n")
    sent = shutil.copytree(folder, tmp_path / "out")
    manifest = read_manifest(sent)
    claim = msgspec.structs.replace(manifest.claim, does_not_protect_against=text)
    forged = msgspec.structs.replace(
        manifest, claim=claim, method=msgspec.structs.replace(manifest.method, source=text)
    )
    (sent / "release.json").write_bytes(encode(forged.sealed()))
    page = gv.report_release(sent, declared=toml)
    assert 1 == page.exit_code
    assert not re.search(r"<script|onerror|<b>alert", page.text)
    seen = html.unescape(page.text)
    assert text[:9] in seen or ascii(text)[1:-1] in seen
    assert not re.search("[\u200b\u202e\x1b]", page.text)
    assert "x" * 4_001 not in page.text


def test_ids_and_items_that_are_hostile_reach_no_page():
    lists = [[HOSTILE[user % 5], "tea"] for user in range(20)]
    data = gv.Bipartite.from_lists(lists, users=[f"{HOSTILE[u % 5]}{u}" for u in range(20)])
    release = gv.SmoothK(k=4).anonymize(data, seed=1)
    page = gv.report_release(release, data, seed=1, attacks=["linkage"])
    assert not re.search(r"alert|cmd|\{\{", page.text)


def test_a_release_that_does_not_verify_says_so_first(folder, network, tmp_path):
    broken = shutil.copytree(folder, tmp_path / "out")
    shutil.copytree(f"{folder}.private", tmp_path / "out.private")
    lines = (broken / "data.csv").read_text().splitlines(keepends=True)
    (broken / "data.csv").write_text("".join(lines[:-1]))
    for page in (
        gv.report_release(broken, public=True),
        gv.report_release(broken, network, public=False),
    ):
        assert 1 == page.exit_code
        body = page.text.split('<section class="verdict')[1]
        assert body.startswith(" yes")
        assert "<p><b>Verification failed: " in body[:200]
        assert 'class="quote' not in body
        assert "No (verified)" not in page.text


@pytest.mark.parametrize(
    ("changed", "word", "says"),
    [(1, "Yes (recomputed)", "holds 1 row,"), (2, "Fails (recomputed)", "holds 2 rows,")],
)
def test_a_class_that_is_too_small_is_an_answer(changed, word, says, tmp_path):
    table = gv.Table.from_columns({"a": [*"xxxxxxyyyyyy"]}, person="row")
    broken = gv.SuppressK(k=5).anonymize(table, seed=1).write(tmp_path / "out")
    text = (broken / "data.csv").read_text()
    (broken / "data.csv").write_text(text.replace("x\n", "y\n", 6 - changed))
    page = gv.report_release(broken, public=True)
    [singled, *_] = [answer for question, answer in page.answers if "singled out" in question]
    assert singled.startswith(f"{word}, by an attacker who knows any of a person's features")
    assert f"{says} fewer than k=5" in singled
    assert word == cells(page.text, "singled out")[0]["answer"]
    assert not any(name == "Smallest class" for name in re.findall("<dt>([^<]+)", page.text))


def test_files_that_cannot_be_read_give_a_page_too(folder, tmp_path):
    broken = shutil.copytree(folder, tmp_path / "out")
    (broken / "release.json").write_text("{")
    page = gv.report_release(broken)
    assert 1 == page.exit_code
    assert "Verification failed: " in page.text
    with pytest.raises(ReleaseError, match=r"cannot read its release\.json"):
        gv.report_release(broken, form="json")


def test_another_original_is_refused(folder):
    other = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    with pytest.raises(UsageError, match="not the original"):
        gv.report_release(folder, other)


def test_a_folder_that_is_no_release_is_refused(tmp_path):
    with pytest.raises(ReleaseError, match=r"has no release\.json"):
        gv.report_release(tmp_path)


def test_what_is_declared_is_shown_as_declared(folder, tmp_path):
    toml = tmp_path / "declared.toml"
    toml.write_text('recipient = "named"\npurpose = "teaching"\n')
    page = gv.report_release(folder, public=True, declared=toml)
    assert "<b>Named recipients</b>, declared by the data owner." in page.text
    assert "<dt>Purpose</dt><dd>teaching</dd>" in page.text
    toml.write_text('purpos = "teaching"\n')
    with pytest.raises(UsageError, match="purpose"):
        gv.report_release(folder, declared=toml)
    with pytest.raises(UsageError, match="named"):
        gv.report_release(folder, recipient="everybody")


def test_a_description_for_machines_names_every_file_with_its_digest(folder):
    files = {file.name: file for file in read_manifest(folder).data.files}
    croissant = json.loads(gv.report_release(folder, form="croissant").text)
    assert "http://mlcommons.org/croissant/1.0" == croissant["conformsTo"]
    needed = {"@context", "@type", "name", "description", "distribution", "recordSet"}
    assert needed <= set(croissant)
    objects = {one["@id"]: one for one in croissant["distribution"]}
    assert {n: f.sha256 for n, f in files.items()} == {n: o["sha256"] for n, o in objects.items()}
    for records in croissant["recordSet"]:
        for one in records["field"]:
            file = files[one["source"]["fileObject"]["@id"]]
            assert one["source"]["extract"]["column"] in file.columns
    package = json.loads(gv.report_release(folder, form="datapackage").text)
    for resource in package["resources"]:
        assert re.fullmatch("[-a-z0-9]+", resource["name"])
        path = folder.parent / resource["path"]
        assert path.stat().st_size == resource["bytes"]
        assert f"sha256:{files[path.name].sha256}" == resource["hash"]
        named = [item["name"] for item in resource["schema"]["fields"]]
        assert files[path.name].columns == named
    said = json.loads(gv.report_release(folder, form="json").text)
    assert "holds" == said["answer"]
    assert json.loads(encode(read_manifest(folder))) == said["manifest"]


def test_a_page_escapes_whatever_it_is_given():
    for text in HOSTILE:
        page = html_of(Page(public=True, title=text, answer=text, good=True, quote=text))
        assert "<script" not in page
        assert ("{{7*7}}" in page) == (text == "{{7*7}}")


def test_a_release_in_memory_reports_as_its_folder_does(network):
    release = gv.KDegree(k=5, edits="any").anonymize(network, seed=1)
    page = release.report(public=True)
    assert page.verdict.ok
    assert page._repr_html_().startswith("<iframe sandbox srcdoc=")


@pytest.mark.parametrize("right", [0, 3, 10])
def test_the_interval_of_a_share_of_people_is_the_exact_binomial_one(right):
    about = {"question": "seeded-matching", "part": "right", "unit": "share of people"}
    row = Row(release="a", value=right / 10, known="sampled", **about)
    [found] = with_intervals(Rows([row]), 10)
    expected = binomtest(right, 10).proportion_ci(method="exact")
    assert (expected.low, expected.high) == pytest.approx((found.low, found.high), abs=1e-9)


def test_json_leaves_out_what_is_none():
    assert '{\n  "a": 1\n}\n' == json_text({"a": 1, "b": None})


def test_a_report_of_rows_and_a_verdict_measures_nothing_again(tmp_path, monkeypatch):
    table = gv.Table.from_columns(
        {"sex": [*"ffmmffmm"] * 3, "town": ["Oslo", "Bergen"] * 12}, person="row"
    )
    folder = gv.SuppressK(k=3).anonymize(table, seed=1).write(tmp_path / "out")
    verdict = gv.verify_release(folder, table)
    rows = gv.attack_release(folder, table, attacks=["linkage"], seed=1)

    def again(*_, **__):
        raise AssertionError("measured twice")

    monkeypatch.setattr(report_module, "verify_release", again)
    monkeypatch.setattr(sections_module, "attack_release", again)
    monkeypatch.setattr(sections_module, "attack_with_quick", again)
    report = gv.report_release(folder, table, rows=rows, verdict=verdict)
    assert report.verdict is verdict
    assert "The same attacks on the original" in report.text
    tests = report.text[report.text.index("Can a person be singled out") :]
    words = re.sub(r"<[^>]*>", " ", tests.partition("Not covered</h2>")[0])
    assert re.search(r"\bvalues? (known|of a (person|row))", words)
    assert not re.search(r"\b(items?|entry|entries)\b", words)
    with pytest.raises(gv.GraphveilError, match="alone"):
        gv.report_release(folder, public=True, verdict=verdict)
    other = gv.SuppressK(k=2).anonymize(table, seed=1).verify(table)
    with pytest.raises(gv.GraphveilError, match="another guarantee"):
        gv.report_release(folder, table, verdict=other)
