"""A local page: who may talk to it, what it runs, and that it stays in its folder."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import requests

from graphveil.app import jobs as running
from graphveil.app.folder import Folder
from graphveil.core.errors import UsageError

pytest.importorskip("uvicorn", reason="the extra serve is not installed")
pytest.importorskip("starlette", reason="the extra serve is not installed")
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Route

from graphveil.app import server

HOSTILE = "<img src=x onerror=alert(1)>{{7*7}}.csv"
MEASURE = {"word": ["measure", "friends.csv"]}


def application(folder):
    """Return a small application: a list of the folder, its pages, and commands."""
    jobs = running.Jobs(folder.root)

    async def listed(request):
        entries, more = folder.entries(folder.inside(request.query_params.get("at", "")))
        return JSONResponse({"entries": {one.name: one.kind for one in entries}, "more": more})

    async def view(request):
        return server.sandboxed(folder.inside(request.query_params["path"]).read_bytes())

    async def run(request):
        job = await jobs.start([word for _, word in await server.form_of(request)])
        return RedirectResponse(f"/job/{job.number}", 303)

    async def state(request):
        job = jobs.jobs[request.path_params["number"]]
        return JSONResponse(
            {
                "line": job.line,
                "status": job.status,
                "output": job.output,
                "ended": job.ended is not None,
            }
        )

    async def stop(request):
        job = jobs.jobs[request.path_params["number"]]
        await jobs.stop(job)
        return RedirectResponse(f"/job/{job.number}", 303)

    async def refused(_, error):
        return PlainTextResponse(error.message.flags, 400)

    @asynccontextmanager
    async def life(_):
        yield
        await jobs.close()

    return Starlette(
        routes=[
            Route("/", listed),
            Route("/view", view),
            Route("/run", run, methods=["POST"]),
            Route("/job/{number:int}", state),
            Route("/job/{number:int}/stop", stop, methods=["POST"]),
        ],
        exception_handlers={UsageError: refused},
        lifespan=life,
    )


class Page:
    """A running page, and a browser that has opened its address."""

    def __init__(self, address, folder):
        self.address, self.folder = address, folder
        self.base = address.partition("/?")[0]
        self.browser = requests.Session()
        self.browser.get(address, timeout=20)

    def get(self, path, **given):
        return self.browser.get(self.base + path, timeout=60, **given)

    def post(self, path, headers=None, **given):
        headers = {"Origin": self.base} if headers is None else headers
        return self.browser.post(self.base + path, headers=headers, timeout=60, **given)

    def run(self, *words):
        """Run a command and return how it stands once it has ended."""
        started = self.post("/run", data={"word": words})
        assert 200 == started.status_code, started.text
        while not (state := self.browser.get(started.url, timeout=60).json())["ended"]:
            time.sleep(0.1)
        return state


@contextmanager
def served(folder):
    bound = server.listening(0)
    made, address = server.server_of(application(Folder.at(folder)), bound)
    thread = threading.Thread(target=made.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        yield Page(address, folder)
    finally:
        made.should_exit = True
        thread.join(60)
        bound.close()


def ring(path, nodes=12):
    path.write_text("source,target\n" + "".join(f"{n},{(n + 1) % nodes}\n" for n in range(nodes)))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    home = tmp_path_factory.mktemp("served")
    folder = home / "data"
    folder.mkdir()
    ring(folder / "friends.csv")
    ring(home / "secret.csv")
    (folder / "way-out.csv").symlink_to(home / "secret.csv")
    (folder / "out-of-here").symlink_to(home)
    (folder / HOSTILE).write_text("source,target\n<b>1</b>,2\n2,3\n")
    (folder / "sub").mkdir()
    ring(folder / "sub" / "others.csv")
    (folder / "graphveil.py").write_text("raise SystemExit('the module of the folder')")
    (folder / "numpy.py").write_text("raise SystemExit('the module of the folder')")
    with served(folder) as running_page:
        yield running_page


# --- who may talk to it


def test_nobody_gets_in_without_the_token(page):
    assert 403 == requests.get(f"{page.base}/", timeout=20).status_code
    assert 403 == requests.get(f"{page.base}/?token=guess", timeout=20).status_code
    assert 403 == requests.get(f"{page.base}/job/1", timeout=20).status_code
    port = page.base.rpartition(":")[2]
    wrong = {"Cookie": f"graphveil-{port}=guess"}
    assert 403 == requests.get(f"{page.base}/", headers=wrong, timeout=20).status_code
    assert 200 == page.get("/").status_code


def test_the_cookie_is_for_this_page_alone(page):
    given = requests.get(page.address, timeout=20).headers["set-cookie"]
    assert "HttpOnly" in given
    assert "SameSite=strict" in given


@pytest.mark.parametrize("host", ["graphveil.example", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_host_is_refused_also_with_the_token(page, host):
    assert 421 == page.get("/", headers={"Host": host}).status_code
    token = page.address.partition("?")[2]
    assert 421 == page.get(f"/?{token}", headers={"Host": host}).status_code


@pytest.mark.parametrize(
    "origin", ["https://elsewhere.example", "null", "http://127.0.0.1:1", None]
)
def test_a_form_of_another_origin_is_refused(page, origin):
    headers = {} if origin is None else {"Origin": origin}
    sent = page.post("/run", headers=headers, data=MEASURE)
    assert 403 == sent.status_code


def test_what_another_site_asks_for_is_refused(page):
    for where in ("cross-site", "same-site"):
        assert 403 == page.get("/", headers={"Sec-Fetch-Site": where}).status_code
    assert 200 == page.get("/", headers={"Sec-Fetch-Site": "same-origin"}).status_code


def test_other_verbs_of_http_are_refused(page):
    for verb in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        headers = {"Origin": page.base}
        answer = page.browser.request(verb, f"{page.base}/", headers=headers, timeout=20)
        assert 405 == answer.status_code


def test_every_answer_says_what_it_may_load(page):
    for path in ("/", "/nothing", "/view?path=../x"):
        headers = page.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "nosniff" == headers["x-content-type-options"]
        assert "no-store" == headers["cache-control"]


def test_it_listens_on_this_machine_alone():
    bound = server.listening(0)
    assert "127.0.0.1" == bound.getsockname()[0]
    bound.close()


# --- clients that are slow, or send too much


def _talk(page, head):
    port = int(page.base.rpartition(":")[2])
    client = socket.create_connection(("127.0.0.1", port), timeout=30)
    client.sendall(head)
    return client


def _head(page, length):
    cookie = "; ".join(f"{one.name}={one.value}" for one in page.browser.cookies)
    lines = ["POST /run HTTP/1.1", f"Host: {page.base[7:]}", f"Origin: {page.base}"]
    lines += [f"Cookie: {cookie}", f"Content-Length: {length}", "", ""]
    return "\r\n".join(lines).encode()


def test_an_upload_of_10_gb_is_refused_after_a_few_bytes(page):
    client = _talk(page, _head(page, 10 << 30))
    sent = 0
    try:
        while sent < 1 << 26:
            sent += client.send(b"a" * (1 << 16))
    except OSError:
        pass
    assert sent < 1 << 26
    client.close()
    assert 200 == page.get("/").status_code


def test_a_form_that_is_too_large_is_refused(page):
    sent = page.post("/run", data={"input": "a" * (1 << 17)})
    assert 413 == sent.status_code


def test_a_slow_client_is_left_and_keeps_nobody_waiting(page, monkeypatch):
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(server, "FORM_SECONDS", 0.5)
    silent = _talk(page, b"GET / HT")
    slow = _talk(page, _head(page, 100) + b"input=")
    begun = time.monotonic()
    assert 200 == page.get("/").status_code
    assert time.monotonic() - begun < 5
    assert b"" == silent.recv(1000)
    assert b"408" in slow.recv(1000)
    silent.close()
    slow.close()


@pytest.mark.parametrize("body", [b"\xff\xfe", b"a=1&=&;%zz", b"input"])
def test_what_is_no_form_is_refused(page, body):
    assert page.post("/run", data=body).status_code in (400, 422)


# --- one folder


OUTSIDE = ["..", "../secret.csv", "/etc/passwd", "sub/../../secret.csv", "way-out.csv", "a\0b"]


@pytest.mark.parametrize("path", [*OUTSIDE, "out-of-here/secret.csv"])
def test_no_path_leaves_the_folder(page, path):
    for address in ("/?at=", "/view?path="):
        answer = page.get(f"{address}{requests.utils.quote(path)}")
        assert 400 == answer.status_code
        assert "the only folder this page can use" in answer.text


def test_a_folder_that_is_none_is_refused(page):
    with pytest.raises(UsageError, match="is not a folder"):
        Folder.at(page.folder / "nowhere")


def test_the_folder_is_shown_and_entered(page):
    shown = page.get("/").json()
    assert 0 == shown["more"]
    assert "data" == shown["entries"]["friends.csv"]
    assert "folder" == shown["entries"]["sub"]
    assert {"others.csv": "data"} == page.get("/?at=sub").json()["entries"]


def test_private_folders_and_hidden_files_are_never_listed(page):
    (page.folder / "out.private").mkdir(exist_ok=True)
    (page.folder / ".hidden.csv").touch()
    assert not {"out.private", ".hidden.csv"} & set(page.get("/").json()["entries"])


def test_links_out_of_the_folder_are_shown_without_a_way(page):
    shown = page.get("/").json()["entries"]
    assert "other" == shown["out-of-here"]
    assert "other" == shown["way-out.csv"]


def test_names_are_listed_as_they_are(page):
    assert "data" == page.get("/").json()["entries"][HOSTILE]


def test_a_page_of_the_folder_reaches_nothing(page):
    (page.folder / "shown.html").write_bytes(b"<script>alert(1)</script>")
    shown = page.get("/view?path=shown.html")
    assert b"<script>alert(1)</script>" == shown.content
    policy = shown.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy


# --- commands that run


def test_a_command_runs_in_the_folder_and_says_how_it_ended(page):
    measured = page.run("measure", "friends.csv", "--kind", "graph")
    assert "graphveil measure friends.csv --kind graph" == measured["line"]
    assert measured["status"].startswith("Done, after")
    assert "none of the" in measured["output"].lower()


def test_a_command_that_fails_says_so(page):
    failed = page.run("measure", "nowhere.csv")
    assert "It failed" in failed["status"]
    assert "file not found" in failed["output"]


def test_modules_in_the_folder_are_not_run(page):
    assert "the module of the folder" not in page.run("measure", "friends.csv")["output"]


SLEEPER = """
import signal, subprocess, sys, time
print("begun", flush=True)
print("graphveil: running: points, 3 of 24", file=sys.stderr, flush=True)
try:
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(3)
"""


@pytest.fixture
def sleeping(monkeypatch, tmp_path):
    """Commands that take a minute, in place of graphveil's."""
    path = tmp_path / "sleeper"
    path.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{SLEEPER}'\n")
    path.chmod(0o700)
    monkeypatch.setattr(running.sys, "executable", str(path))


@pytest.mark.usefixtures("sleeping")
def test_one_command_runs_at_a_time_survives_a_reload_and_can_be_stopped(page):
    started = page.post("/run", data=MEASURE)
    path = started.url.removeprefix(page.base)
    while "begun" not in (state := page.get(path).json())["output"]:
        time.sleep(0.05)
    while "points, 3 of 24" not in page.get(path).json()["status"]:
        time.sleep(0.05)
    assert not state["ended"]
    refused = page.post("/run", data=MEASURE)
    assert 400 == refused.status_code
    assert "is still running" in refused.text
    stopped = page.post(f"{path}/stop")
    assert "Stopped after" in stopped.json()["status"]
    assert "interrupted" in stopped.json()["output"]
    assert page.get(path).json()["ended"]


@pytest.mark.usefixtures("sleeping")
def test_a_command_that_does_not_end_is_ended(page, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(running.signal, "SIGINT", signal.SIGCONT)
    started = page.post("/run", data=MEASURE)
    assert "Stopped after" in page.post(f"{started.url.removeprefix(page.base)}/stop").text


@pytest.mark.usefixtures("sleeping")
def test_the_end_of_the_page_ends_what_runs(tmp_path):
    ring(tmp_path / "friends.csv")
    with served(tmp_path) as one:
        started = one.post("/run", data=MEASURE)
        while "begun" not in one.browser.get(started.url, timeout=20).text:
            time.sleep(0.05)
        children = _children(os.getpid())
        assert any("sleep(60)" in command for command in children.values())
    assert not any("sleep(60)" in command for command in _children(os.getpid()).values())


def _children(parent):
    """Return the command lines of the processes that a process started."""
    lines = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "stat").read_text().rpartition(")")[2].split()[1] == str(parent):
                lines[process.name] = (process / "cmdline").read_text().replace("\0", " ")
        except OSError:  # it has just ended
            continue
    return lines


def test_the_end_of_a_long_output_is_kept():
    job = running.Job(1, ["measure"])
    for number in range(running.MOST_LINES + 5):
        job.hear(f"{number} " + "a" * 10_000)
    assert job.output.startswith("(5 earlier lines are not shown)")
    assert len(job.output) <= (running.MOST_LINES + 1) * (running.LONGEST_LINE + 1)
    job.hear("clear\x1b[2J")
    assert "\x1b" not in job.output
