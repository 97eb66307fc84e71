"""The local page in a headless browser: narrow and wide, light and dark, by keyboard alone."""

from __future__ import annotations

import threading

import pytest

pytest.importorskip("uvicorn", reason="the extra serve is not installed")
from graphveil.app import server
from graphveil.app.folder import Folder

pytestmark = [
    pytest.mark.browser,
]
SCREENS = (
    *("/", "/file?path=friends.csv", "/methods/anonymize?input=friends.csv&kind=graph"),
    *("/do/measure?input=friends.csv", "/do/anonymize/k-degree?input=friends.csv", "/job/1"),
    *("/commands", "/view?path=nothing.html"),
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    lines = "".join(f"{n},{(n + 1) % 12}\n" for n in range(12))
    (folder / "friends.csv").write_text(f"source,target\n{lines}")
    bound = server.listening(0)
    made, opened = server.server_of(Folder.at(folder), bound)
    thread = threading.Thread(target=made.run, kwargs={"sockets": [bound]})
    thread.start()
    yield opened
    made.should_exit = True
    thread.join(60)
    bound.close()


def opened(browser, address, **view):
    page = browser.new_context(**view).new_page()
    page.goto(address)
    page.wait_for_url(f"{address.partition('/?')[0]}/")
    return page


def test_a_person_walks_from_a_file_to_who_stands_out(browser, address):
    page = opened(browser, address)
    problems = []
    page.on("pageerror", lambda problem: problems.append(problem))  # noqa: PLW0108  it is inspected
    page.click("text=friends.csv")
    page.click("button:has-text('Who stands out?'):visible")
    page.click("button:has-text('Run')")
    page.wait_for_selector("#status:has-text('Done')", timeout=120_000)  # no key was pressed since
    assert "nobody" in page.inner_text("#output").lower()
    page.click("text=Which method")
    assert "friends.csv" == page.input_value("input[name=input]")
    page.click("text=Commands so far")
    assert "graphveil measure friends.csv --kind graph" in page.inner_text("pre")
    assert [] == problems
    page.context.close()


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_every_screen_fits_and_can_be_used_by_everybody(
    browser, violations_of, address, width, scheme
):
    view = {"width": width, "height": 900}
    page = opened(browser, address, viewport=view, color_scheme=scheme, bypass_csp=True)
    for screen in SCREENS:
        page.goto(address.partition("/?")[0] + screen)
        assert width >= page.evaluate("document.documentElement.scrollWidth"), screen
        found = violations_of(page)
        bad = [one["id"] for one in found if one["impact"] in {"serious", "critical"}]
        assert [] == bad, screen
    page.context.close()


def test_the_tab_key_reaches_every_field_and_button(browser, address):
    page = opened(browser, address)
    page.goto(address.partition("/?")[0] + "/do/anonymize/k-degree?input=friends.csv")
    listed = (
        "[...document.querySelectorAll('a, summary, button, input, select, textarea')]"
        ".filter(one => one.checkVisibility())"
    )
    number, reached = page.evaluate(f"{listed}.length"), set()
    for _ in range(number + 2):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(f"{listed}.indexOf(document.activeElement)"))
    assert set(range(number)) <= reached
    page.context.close()
