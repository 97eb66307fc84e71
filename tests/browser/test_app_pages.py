"""The page on this machine in a headless browser: the whole way, with the keyboard alone."""

from __future__ import annotations

import http.server
import threading
from urllib.parse import urlsplit

import pytest

from thorough import in_fuzz_alone

pytest.importorskip("uvicorn", reason="the extra serve is not installed")
pytest.importorskip("starlette", reason="the extra serve is not installed")
import graphveil as gv
from graphveil.app import pages, server
from graphveil.app.folder import Folder
from graphveil.app.jobs import Job
from graphveil.app.tasks import Check, Release, StudySettings

pytestmark = [pytest.mark.browser]
VIEWS = [(390, "dark"), (1280, "light")]
NARROW = [(320, "16px"), (640, "16px"), (1280, "32px")]
"""A small phone, a desktop at a zoom of 200%, and text of twice the size."""


@pytest.fixture(scope="module")
def guard(tmp_path_factory):
    """The guard of a running page, over a folder with a small table."""
    folder = tmp_path_factory.mktemp("folder")
    rows = [f"Ann{n},{'fm'[n % 2]},{'abc'[n % 3]},{'xy'[n % 7 == 0]}" for n in range(60)]
    (folder / "people.csv").write_text("\n".join(["name,sex,town,<b>ill</b>", *rows, ""]))
    bound = server.listening(0)
    screens = pages.Pages(Folder.at(folder))
    made, guard = server.server_of(screens.application(), bound)
    guard.jobs = screens.jobs
    thread = threading.Thread(target=made.run, kwargs={"sockets": [bound]})
    thread.start()
    yield guard
    made.should_exit = True
    thread.join(60)
    bound.close()


class Visit:
    """A page of a browser that has opened the address, and what it asked for and said."""

    def __init__(self, browser, guard, **given):
        # axe is written into the page, which the policy forbids to scripts of others
        self.context = browser.new_context(bypass_csp="scripts" not in given, **_without(given))
        self.page = self.context.new_page()
        self.page.set_default_timeout(240_000)  # a busy machine changes no result
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(guard.new_address())
        self.page.wait_for_url(f"**{guard.path}/")

    def close(self):
        assert [] == self.said
        assert {"127.0.0.1"} == {urlsplit(url).hostname for url in self.asked if "data:" not in url}
        self.context.close()

    def check(self, violations_of):
        """Look at the page in every width and scheme: it fits, and nobody meets a barrier."""
        self.page.wait_for_load_state()  # the style sheet, too
        for width, scheme in VIEWS:
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert width >= self.page.evaluate("document.documentElement.scrollWidth")
            assert [] == [(one["id"], one["nodes"][0]["html"]) for one in violations_of(self.page)]
        for width, text in NARROW:
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.evaluate("size => { document.documentElement.style.fontSize = size }", text)
            assert width >= self.page.evaluate("document.documentElement.scrollWidth"), text
        self.page.evaluate("document.documentElement.style.fontSize = ''")

    def enter(self, selector):
        """Go to an element by the tab key, and press Enter."""
        there = "one => one === document.activeElement || one.contains(document.activeElement)"
        for _ in range(200):
            self.page.keyboard.press("Tab")
            if self.page.locator(selector).first.evaluate(there):
                return self.page.keyboard.press("Enter")
        raise AssertionError(f"the tab key does not lead to {selector}")


def _without(given):
    return {name: value for name, value in given.items() if name != "scripts"}


def focused(page):
    return page.evaluate("document.activeElement.id")


def test_every_screen_is_without_barriers_and_focus_stays(browser, violations_of, guard):
    visit = Visit(browser, guard)
    page = visit.page
    visit.check(violations_of)
    visit.enter("a:has-text('people.csv')")
    page.wait_for_url("**/columns/people.csv")
    visit.check(violations_of)
    page.focus("#role0")
    page.keyboard.press("Home")  # known to an attacker: every value is a name
    page.wait_for_selector("[aria-invalid]")
    assert "role0" == focused(page)
    assert page.locator("#go").is_disabled()
    visit.check(violations_of)
    page.keyboard.press("End")
    page.wait_for_selector("#go:not([disabled])")
    assert "role0" == focused(page)
    visit.enter("#go")
    page.wait_for_selector("#slider")
    visit.enter("#figures summary")
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#stop", state="detached")  # polls came and went
    assert ("slider", "10") == (focused(page), page.text_content("#shown"))
    assert page.evaluate("document.getElementById('figures').open")
    assert "k = 10" == page.get_attribute("#slider", "aria-valuetext")
    visit.check(violations_of)
    visit.enter("#make")
    page.wait_for_selector("text=Public report")
    assert page.url.endswith("/release/people.csv")
    assert "at least 9 others" in page.text_content(".card.ok")
    page.reload()
    page.locator("#stop").or_(page.locator("#same")).first.wait_for()
    if page.locator("#stop").count():
        page.click("#stop")
        page.wait_for_selector("#stop", state="detached")
    page.wait_for_selector("#same")
    visit.check(violations_of)
    page.goto(page.url.partition("/release/")[0] + "/view/nothing.html")
    visit.check(violations_of)
    visit.said = [text for text in visit.said if "404" not in text]  # of the last address alone
    visit.close()


STATES = {
    "running": "Trying generalize",
    "stopped": "You stopped this",
    "interrupted": "The program ended during",
    "refused": "This cannot be done as asked",
    "failed": "The work ended too early",
    "defect": "This is a defect of graphveil",
}


def test_every_state_of_a_job_is_without_barriers(browser, violations_of, guard):
    visit = Visit(browser, guard)
    page, top = visit.page, f"http://127.0.0.1:{guard.port}{guard.path}"
    page.goto(f"{top}/columns/people.csv")
    study = StudySettings(kind="table", options={})
    about = {"study": study, "method": "generalize", "strength": 5, "path": "people.csv"}
    task = Release(**about, out=str(guard.jobs.folder / "people-k5"))
    for state, words in STATES.items():
        job = Job(task, "people.csv", state)
        job.why, job.stage, job.total = "Lower k, or provide more data.", "Trying generalize", 3
        guard.jobs.jobs["release", "people.csv"] = job
        page.goto(f"{top}/release/people.csv")
        assert words in page.text_content("#main")
        visit.check(violations_of)
    del guard.jobs.jobs["release", "people.csv"]
    page.goto(f"{top}/delete/people.csv")
    visit.check(violations_of)
    visit.close()


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_the_check_of_a_release_is_without_barriers_in_every_state(browser, violations_of, guard):
    folder = guard.jobs.folder / "ring-k3"
    ring = gv.Graph.from_edges([*range(12)], [*range(1, 12), 0])
    gv.KDegree(k=3).anonymize(ring, seed=1).write(folder)
    visit = Visit(browser, guard)
    page, top = visit.page, f"http://127.0.0.1:{guard.port}{guard.path}"
    page.goto(f"{top}/check/ring-k3")
    assert "It was not checked yet." in page.text_content("#main")
    visit.check(violations_of)
    visit.enter("button:has-text('Check it')")
    page.wait_for_selector("text=Open the report")
    assert "The guarantee holds" in page.text_content(".card.ok")
    assert "What only the sender can answer" in page.text_content("#main")
    visit.enter("#checks summary")
    page.wait_for_selector("#checks[open]")
    visit.check(violations_of)
    file = folder / "data.csv"
    head, *rows = file.read_text().splitlines(keepends=True)
    changed, false = "".join([head, *rows[::-1]]), "".join([head, *rows[2:]])
    said = {changed: "The folder is not as it was published", false: "is not true"}
    for content, words in said.items():
        file.write_text(content)
        page.goto(f"{top}/")
        page.click("button:has-text('Check ring-k3')")
        page.wait_for_selector("text=Open the report")
        assert words in page.text_content(".card.risk")
        visit.check(violations_of)
    for state, words in STATES.items():
        task = Check(folder=str(folder), page="page.html")
        job = Job(task, "ring-k3", state, "Send the whole folder.", "Trying generalize")
        guard.jobs.jobs["check", "ring-k3"] = job
        page.goto(f"{top}/check/ring-k3")
        assert words in page.text_content("#main")
        assert (state in ("running", "interrupted", "defect")) != page.is_visible(
            "text=Check it again"
        )
        visit.check(violations_of)
    del guard.jobs.jobs["check", "ring-k3"]
    visit.close()


COUNT_CHECKS = """() => {
  window.checks = {begun: 0, open: 0};
  const count = (more, open) => () => { checks.begun += more; checks.open += open; };
  document.addEventListener("htmx:before:request", count(1, 1));
  document.addEventListener("htmx:finally:request", count(0, -1));
}"""
"""Counts the checks that the page begins, and those whose answer is not shown yet."""


def test_keys_that_follow_each_other_quickly_meet_the_same_control(browser, guard):
    visit = Visit(browser, guard)
    page = visit.page
    page.goto(f"http://127.0.0.1:{guard.port}{guard.path}/columns/people.csv")
    page.evaluate("document.getElementById('role0').mine = true")
    page.evaluate(COUNT_CHECKS)
    page.focus("#role0")
    for key in ("Home", "ArrowDown", "End", "Home", "ArrowDown", "ArrowUp", "End") * 2 + ("Home",):
        with page.expect_request("**/columns/people.csv"):  # the next key meets a check under way
            page.keyboard.press(key)
    page.wait_for_function("window.checks.begun === 15 && window.checks.open === 0")
    page.wait_for_selector("#role0[aria-invalid]")
    assert ("role0", "known") == (focused(page), page.input_value("#role0"))
    assert page.evaluate("document.getElementById('role0').mine")
    assert page.locator("#go").is_disabled()
    page.reload()
    assert "known" == page.input_value("#role0")
    assert page.locator("#go").is_disabled()
    page.click("button:has-text('Do not publish it')")
    page.wait_for_selector("#go:not([disabled])")
    visit.close()


def test_the_policy_holds_and_no_other_port_gets_the_cookie(browser, guard):
    heard = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append(self.headers.get("cookie"))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            """Say nothing."""

    other = http.server.HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=other.serve_forever, args=(0.05,), daemon=True).start()
    visit = Visit(browser, guard, scripts=True)
    page = visit.page
    for path in ("/", "/columns/people.csv", "/risk/people.csv"):
        page.goto(f"http://127.0.0.1:{guard.port}{guard.path}{path}")
    for path in ("/", guard.path + "/"):
        page.evaluate(
            "url => { location.href = url }", f"http://127.0.0.1:{other.server_port}{path}x"
        )
        page.wait_for_timeout(300)
    assert len(heard) >= 2
    assert None is heard[0]
    visit.close()
    other.shutdown()


def shown(page, selector):
    """Follow the link that shows what was found so far until it holds an element."""
    while not page.locator(selector).count():
        page.wait_for_timeout(500)
        page.click("text=Show what was found so far")


@pytest.mark.thorough
@in_fuzz_alone
def test_the_whole_way_works_without_scripts(browser, guard):
    visit = Visit(browser, guard, java_script_enabled=False)
    page = visit.page
    page.click("text=people.csv")
    page.select_option("#role0", "known")
    page.click("text=Check again")
    assert page.locator("[aria-invalid]").count()
    page.click("button:has-text('Do not publish it')")
    page.click("#go")
    shown(page, "#make")
    page.check("input[name=pick][value='3']")
    page.click("#make")
    shown(page, ".card.ok")
    assert "at least 2 others" in page.text_content(".card.ok")
    if page.locator("#stop").count():
        page.click("#stop")
    visit.close()
