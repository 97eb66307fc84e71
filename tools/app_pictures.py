# ruff: noqa: INP001  a script that is run by hand, not a package
"""Take the pictures of the app, of the shipped sample on its way to a release, and of a report.

    python tools/app_pictures.py [FOLDER]     # default: docs/how-to/pictures

It runs the app as `graphveil serve` does, and a headless Chromium in it. Needs playwright, pillow
and a Chromium on the path. Its releases are random, so their figures differ a little every time.
"""

from __future__ import annotations

import shutil
import sys
import threading
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


def main(folder: Path) -> None:
    """Start the app over an empty folder, and a browser that opens its address."""
    folder.mkdir(exist_ok=True)
    with TemporaryDirectory() as data, sync_playwright() as playwright:
        bound = server.listening(0)
        made, guard = server.server_of(pages.Pages(Folder.at(Path(data))).application(), bound)
        options: dict[str, Any] = {"kwargs": {"sockets": [bound]}, "daemon": True}
        thread = threading.Thread(target=made.run, **options)
        thread.start()
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=arguments
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 700}, color_scheme="light")
        page.goto(guard.new_address())
        page.wait_for_url(f"**{guard.path}/")
        way(page, folder)
        report(browser, folder, Path(data))
        browser.close()
        made.should_exit = True
        thread.join(30)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
