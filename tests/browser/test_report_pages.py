"""Pages in a headless browser: narrow and wide, light and dark, printed, by keyboard alone."""

from __future__ import annotations

import numpy as np
import pytest

import graphveil as gv
from thorough import first_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore"),
]
RELEASES = {
    "copenhagen-calls": gv.KDegree(k=5, edits="any"),
    "spect-heart": gv.RandomizedResponse(epsilon=4.0),
    "adult-sample": gv.SuppressK(k=4),
}


@pytest.fixture(scope="module", params=first_of(list(RELEASES)))
def pages(request, tmp_path_factory):
    """The owner's page and the public one, as files."""
    data = gv.datasets.load(request.param).part(np.arange(80))  # few: each is attacked
    if request.param == "adult-sample":
        data = data.one_hot()
    release = RELEASES[request.param].anonymize(data)
    home = tmp_path_factory.mktemp("pages")
    owner = release.report(data, public=False, seed=1).write(home / "owner.html")
    return owner, release.report(public=True).write(home / "public.html")


def test_a_page_fits_asks_for_nothing_and_can_be_used_by_everybody(
    browser, violations_of, pages, request
):
    views = [(360, "dark"), (1280, "light")]
    tried = list(zip(pages, views, strict=True))
    if request.node.callspec.params["pages"] == next(iter(RELEASES)):
        tried = [(path, view) for path in pages for view in views]
    for path, (width, scheme) in tried:
        view = {"width": width, "height": 900}
        context = browser.new_context(viewport=view, color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        asked = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(path.as_uri())
        assert [path.as_uri()] == asked
        assert width >= page.evaluate("document.documentElement.scrollWidth")
        small = "[...document.querySelectorAll('svg text')].filter(t => t.getClientRects().length"
        small += " && parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a < 12).length"
        assert 0 == page.evaluate(small)
        found = violations_of(page)
        assert [] == [one["id"] for one in found if one["impact"] in {"serious", "critical"}]
        context.close()


def test_the_tab_key_reaches_every_link_and_button(browser, pages):
    for path in pages:
        page = browser.new_page()
        page.goto(path.as_uri())
        number = page.evaluate("document.querySelectorAll('a, summary, button, input').length")
        reached = set()
        for _ in range(number):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate(
                    "[...document.querySelectorAll('a, summary, button, input')]"
                    ".indexOf(document.activeElement)"
                )
            )
        assert set(range(number)) == reached
        page.close()


def test_it_prints_on_a4_with_every_table_open(browser, pages, tmp_path):
    for path in pages:
        page = browser.new_page(viewport={"width": 680, "height": 1000})
        page.goto(path.as_uri())
        page.emulate_media(media="print")
        assert 680 >= page.evaluate("document.documentElement.scrollWidth")
        closed = "[...document.querySelectorAll('details table')].filter(t => !t.offsetHeight)"
        assert 0 == page.evaluate(f"{closed}.length")
        page.pdf(path=tmp_path / "page.pdf", format="A4")
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
        page.close()


def test_it_works_without_a_script(browser, pages):
    for path in pages:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(path.as_uri())
        page.get_by_text("Data of this figure").first.click()
        assert page.locator("details[open] table").first.is_visible()
        context.close()
