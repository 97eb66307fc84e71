"""The page of a sweep in a headless browser: it fits, asks for nothing, and its filter hides."""

from __future__ import annotations

import pytest

import graphveil as gv

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore"),
]
RING = gv.Graph.from_edges([*range(20), 0, 3], [*range(1, 20), 0, 6, 9])
GRID = {
    "k-degree": {"k": [2, 3, 21], "edits": ["add", "any"]},
    "randomized-response": {"epsilon": [2.0, 6.0]},
}


@pytest.fixture(scope="module")
def swept():
    asked = {"metrics": ["edge-jaccard"], "attacks": ["candidate-set"], "jobs": 1, "seed": 1}
    return gv.sweep(GRID, RING, repeats=2, **asked)


@pytest.fixture(scope="module")
def path(swept, tmp_path_factory):
    return gv.report_sweep(swept).write(tmp_path_factory.mktemp("page") / "sweep.html")


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_asks_for_nothing_and_can_be_used_by_everybody(
    browser, violations_of, path, width, scheme
):
    view = {"width": width, "height": 900}
    context = browser.new_context(viewport=view, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    assert [path.as_uri()] == asked
    assert width >= page.evaluate("document.documentElement.scrollWidth")
    small = "[...document.querySelectorAll('svg text')].filter(t => t.getClientRects().length"
    small += " && parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a < 12).length"
    assert 0 == page.evaluate(small)
    violations = violations_of(page)
    assert [] == [one["id"] for one in violations if one["impact"] in {"serious", "critical"}]
    context.close()


def test_a_mark_says_its_parameters_by_keyboard_and_pointer_and_leads_to_its_row(browser, path):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    mark = page.locator("svg.wide a[data-s='1']").first
    said = mark.locator(".tip").first
    assert not said.is_visible()
    mark.focus()
    assert said.is_visible()
    assert "k-degree k=2, edits=add" == said.text_content()
    other = page.locator("svg.wide a[data-s='2']").first  # over the first: they are equal
    other.locator("use").hover()
    assert other.locator(".tip").first.is_visible()
    assert not said.is_visible()
    mark.press("Enter")
    assert page.url.endswith("#p1")
    context.close()


def test_every_link_and_field_that_is_shown_is_reached_by_the_tab_key(browser, path):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    every = "[...document.querySelectorAll('a, input, summary, button')]"
    shown = f"{every}.filter(one => one.getClientRects().length)"
    number = page.evaluate(f"{shown}.length")
    reached = set()
    for _ in range(number):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(f"{shown}.indexOf(document.activeElement)"))
    assert set(range(number)) == reached
    page.close()


def test_bounds_hide_what_does_not_keep_them_as_the_command_counts(browser, path, swept):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    bounds = ["kept >= 100%", "largest class risk <= 0.4"]
    page.fill("#bounds", "; ".join(bounds))
    met = swept.meeting(bounds)
    keep = [
        number
        for number, setting in enumerate(swept.settings, start=1)
        if all(point.number in met for point in setting.points)
    ]
    assert keep
    rows = page.locator("tr[data-s]:not(.out)")
    assert [str(number) for number in keep] == [
        rows.nth(at).get_attribute("data-s") for at in range(rows.count())
    ]
    assert f"{len(keep)} of 8 points meet the bounds." == page.locator("output").text_content()
    page.fill("#bounds", "kept => 1")
    assert "cannot be read" in page.locator("output").text_content()
    page.fill("#bounds", "nonsense <= 1")
    assert "no figure" in page.locator("output").text_content()
    assert 8 == page.locator("tr[data-s]:not(.out)").count()
    page.close()


def test_without_a_script_everything_but_the_filter_is_there(browser, path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert not page.locator("#filter").is_visible()
    assert 8 == page.locator("tr[data-s]").count()
    assert 2 == page.locator("tr[data-s] del").count()
    context.close()


def test_nothing_but_the_script_of_the_page_runs_in_it(browser, path):
    page = browser.new_page()
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.goto(path.as_uri())
    assert [] == problems
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.x=1\">')"
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.x === undefined")
    page.close()


def test_it_prints_on_a4(browser, path, tmp_path):
    page = browser.new_page(viewport={"width": 680, "height": 1000})
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    assert 680 >= page.evaluate("document.documentElement.scrollWidth")
    assert not page.locator("#filter").is_visible()
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    page.close()
