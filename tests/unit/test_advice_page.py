"""The page of advice shows the figures of the verbs, and needs neither server nor script."""

from __future__ import annotations

import html
import re

import pytest

import graphveil as gv
from graphveil.methods import METHODS
from graphveil.pages.advice import advise_page
from graphveil.verbs.advise.strengths import ATTACK_SECONDS, Point, Strengths, strongest_everywhere
from graphveil.verbs.advise.trials import SEED, shares_of


@pytest.fixture(scope="module")
def made():
    rows = [*"ffmmffmmfm"] * 12
    towns = ["Oslo", "Oslo", "Bergen", "Bergen", "Oslo", "Voss"] * 20
    ages = [30 + number % 7 for number in range(120)]
    table = gv.Table.from_columns({"sex": rows, "town": towns, "age": ages}, person="row")
    return table, advise_page(table, title="<people>")


def test_its_figures_are_those_of_the_verbs(made):
    table, page = made
    tried = page.strengths[0]
    rows = re.findall(r'data-value="([^"]*)" data-kept="([^"]*)" data-found="([^"]*)"', page.text)
    assert [f"{point.value:g}" for point in tried.tried] == [
        value for value, _, _ in rows[: len(tried.tried)]
    ]
    point = tried.tried[0]
    choice = page.advice.recommended
    given = {**choice.parameters, tried.name: point.value}
    release = METHODS[choice.method].from_parameters(given).anonymize(table, seed=SEED)
    kept, _ = shares_of(release.cost)
    assert point.kept == kept
    attacked = gv.attack_release(release, table, seed=SEED, seconds=ATTACK_SECONDS)
    assert point.found in [row.value for row in attacked]
    said = html.unescape(rows[0][2])
    assert said.startswith(f"{tried.people_found(point)} of {point.of} people")


def test_it_holds_no_script_but_its_own_and_hides_nothing(made):
    _, page = made
    assert "&lt;people&gt;" in page.text
    assert 1 == page.text.count("<script")
    assert re.search(
        r"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-", page.text
    )
    assert not re.search(r"https?://", page.text.replace("http://www.w3.org/2000/svg", ""))
    for one in page.strengths[0].tried:
        assert f"{page.strengths[0].name} = {one.value:g}</th>" in page.text


def strengths(*found, guess=0.01):
    points = tuple(
        Point(2.0**number, kept=0.9, found=share, guess=guess, of=100)
        for number, share in enumerate(found, start=1)
    )
    return Strengths(
        method="k-degree", name="k", points=points, people=100, counted="people", measured_on="all"
    )


def test_it_says_where_more_protection_hardly_helps():
    assert strengths(0.38, 0.38, 0.34).hardly
    assert "38% at k = 2 and 34% at k = 8" in strengths(0.38, 0.38, 0.34).warning
    assert not strengths(0.38, 0.2, 0.1).hardly
    assert not strengths(0.01, 0.01).hardly  # no more than guessing
    assert "" == strengths(0.4, 0.1).warning


def test_only_attacks_that_ran_at_every_strength_count():
    def row(question, value):
        return gv.Row(release="a", question=question, part="right", value=value, guess=0.0)

    weak = {("one", "who"): row("one", 0.2), ("other", "who"): row("other", 0.9)}
    strong = {("one", "who"): row("one", 0.1)}
    points = list(strongest_everywhere([(Point(2), weak), (Point(5), strong)], 50))
    assert [0.2, 0.1] == [point.found for point in points]
    assert [50, 50] == [point.of for point in points]


def test_people_whom_the_attacker_knows_are_not_counted():
    setting = gv.Row(release="a", question="seeded-matching", part="x").setting
    row = gv.Row(
        release="a",
        question="seeded-matching",
        figure="right",
        setting=setting._replace(overlap=1.0, known=20),
        value=0.5,
        unit="share of people",
    )
    (point,) = strongest_everywhere([(Point(2), {("seeded-matching", "who"): row})], 120)
    assert 100 == point.of


def test_the_page_is_its_owners(made, tmp_path):
    _, page = made
    path = page.write(tmp_path / "advice.html")
    assert 0o600 == path.stat().st_mode & 0o777
    with pytest.raises(gv.GraphveilError, match="exists"):
        page.write(path)
