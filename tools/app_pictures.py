# ruff: noqa: INP001  a script that is run by hand, not a package
"""Take the pictures of the app, of the shipped sample on its way to a release, and of a report.

    python tools/app_pictures.py [FOLDER]           # default: docs/how-to/pictures
    python tools/app_pictures.py --states FOLDER    # every state of a job, to be looked at

It runs the app as `graphveil serve` does, and a headless Chromium in it. Needs playwright, pillow
and a Chromium on the path. Its releases are random, so their figures differ a little every time.
With `--states` each picture is taken on a phone and on a desktop, in light and in dark colors.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import graphveil as gv
from graphveil.app import pages, server
from graphveil.app.folder import Folder

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "pictures"
WIDTH, COLORS, LARGEST = 880, 48, 60_000
SECONDS = 240


def take(page: Page, file: Path, height: int, top: str = "#main") -> None:
    """Write what is on the page from an element on, in few colors."""
    page.locator(top).first.evaluate("one => one.scrollIntoView()")
    page.evaluate("document.activeElement.blur()")
    page.set_viewport_size({"width": WIDTH, "height": height})
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(file, optimize=True)
    size = file.stat().st_size
    sys.stdout.write(f"{file}: {size:,} bytes\n")
    if size > LARGEST:
        raise SystemExit(f"{file} is larger than {LARGEST:,} bytes. Show less of the page.")


def way(page: Page, folder: Path) -> None:
    """Walk from the sample to a release, and take a picture of each step."""
    page.click("text=Try it with sample data")
    page.click("text=Use people.csv")
    take(page, folder / "columns.png", 664)
    page.click("#go")
    page.wait_for_selector("#slider", timeout=1000 * SECONDS)
    page.wait_for_selector("#stop", state="detached", timeout=1000 * SECONDS)
    take(page, folder / "risk.png", 768, "h2:has-text('Recommended')")
    page.click("#make")
    page.wait_for_selector("a:has-text('Report for the owner')", timeout=1000 * SECONDS)
    take(page, folder / "release.png", 612)


def report(browser: Browser, folder: Path, data: Path) -> None:
    """Take a picture of the first part of a report about the shipped network."""
    calls = gv.datasets.load("copenhagen-calls")
    gv.KDegree(k=5).anonymize(calls).write(data / "friends-k5")
    gv.report_release(data / "friends-k5", calls).write(data / "report.html")
    page = browser.new_page(viewport={"width": WIDTH, "height": 700}, color_scheme="light")
    page.goto((data / "report.html").as_uri())
    take(page, folder / "report.png", 620, "h1")


@contextmanager
def served(data: Path) -> Iterator[tuple[pages.Pages, server.Guard]]:
    """Run the app over a folder."""
    bound, screens = server.listening(0), pages.Pages(Folder.at(data))
    made, guard = server.server_of(screens.application(), bound)
    options: dict[str, Any] = {"kwargs": {"sockets": [bound]}, "daemon": True}
    thread = threading.Thread(target=made.run, **options)
    thread.start()
    yield screens, guard
    made.should_exit = True
    thread.join(30)


def opened(browser: Browser, guard: server.Guard) -> Page:
    """Return a page of a browser that has opened the address."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 700}, color_scheme="light")
    page.set_default_timeout(1000 * SECONDS)
    page.goto(guard.new_address())
    page.wait_for_url(f"**{guard.path}/")
    return page


def look(page: Page, folder: Path, state: str) -> None:
    """Write what a state looks like."""
    for width in (390, 1280):
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.screenshot(path=folder / f"{state}-{width}-{scheme}.png", full_page=True)


def states(browser: Browser, folder: Path, data: Path) -> None:
    """Bring jobs into each state in which they can be, and take pictures of each."""
    with served(data) as (screens, guard):
        page = opened(browser, guard)
        page.click("text=Try it with sample data")
        page.click("text=Use people.csv")
        page.click("#go")
        page.wait_for_selector("text=Trying")
        look(page, folder, "running")
        page.click("#stop")
        page.wait_for_selector("text=You stopped this during")
        look(page, folder, "stopped")
        page.click("#again")
        page.wait_for_selector("text=Trying")
        job = screens.jobs.current
        if job is None or job.process is None:
            raise SystemExit("The job ended before it could be killed. Run this again.")
        os.killpg(job.process.pid, signal.SIGKILL)
        page.wait_for_selector("text=The work ended too early")
        look(page, folder, "failed")
        begun = {"method": "generalize", "pick": "5000"}  # more than there are people
        address = page.url.replace("/risk/", "/release/")
        origin = {"Origin": f"http://127.0.0.1:{guard.port}"}
        page.context.request.post(address, form=begun, headers=origin)
        page.goto(address)
        page.wait_for_selector("text=This cannot be done as asked")
        look(page, folder, "refused")
        held = screens.jobs.jobs["release", "people.csv"]
        held.state, held.why = "defect", "KeyError at work.py:126 > method.py:87"
        page.reload()
        look(page, folder, "defect")
        page.goto(address.replace("/release/", "/risk/"))
        page.click("#again")
        page.wait_for_selector("#make")
        [kept] = (one for one in data.rglob("*.json") if b'"state": "running"' in one.read_bytes())
        found = kept.read_bytes()
    kept.write_bytes(found)  # a power cut leaves it so
    with served(data) as (screens, guard):
        page = opened(browser, guard)
        page.goto(f"{page.url}risk/people.csv")
        page.wait_for_selector("text=The program ended during")
        look(page, folder, "interrupted")


def main(folder: Path, *, of_states: bool) -> None:
    """Start a browser, and the app over an empty folder."""
    folder.mkdir(exist_ok=True)
    with TemporaryDirectory() as data, sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=arguments
        )
        if of_states:
            states(browser, folder, Path(data))
        else:
            with served(Path(data)) as (_, guard):
                way(opened(browser, guard), folder)
            report(browser, folder, Path(data))
        browser.close()


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if one != "--states"]
    main(Path(given[0]) if given else FOLDER, of_states="--states" in sys.argv)
