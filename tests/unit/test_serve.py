"""The local page: who may talk to it, what it runs, and that it stays in its folder."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
import requests

import graphveil as gv
from graphveil.app import jobs as running
from graphveil.app.folder import Folder
from graphveil.app.forms import BY_METHOD, COMMANDS, fields_of, words_of
from graphveil.cli import run
from graphveil.cli.app import COMMANDS as ALL_COMMANDS
from graphveil.cli.app import build
from graphveil.core.errors import UsageError
from graphveil.methods import METHODS

pytest.importorskip("uvicorn", reason="the extra serve is not installed")
pytest.importorskip("starlette", reason="the extra serve is not installed")
from graphveil.app import screens, server

FORMS = [(name, None) for name in COMMANDS if name not in BY_METHOD]
FORMS += [(name, method) for name in BY_METHOD for method in METHODS]
HOSTILE = "<img src=x onerror=alert(1)>{{7*7}}.csv"


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

    def run(self, path, **fields):
        """Run a command and return its page once it has ended."""
        started = self.post(path, data=fields)
        assert 200 == started.status_code, started.text
        while not self.browser.get(f"{started.url}/state", timeout=60).json()["ended"]:
            time.sleep(0.1)
        return self.browser.get(started.url, timeout=60)


@contextmanager
def served(folder):
    bound = server.listening(0)
    made, address = server.server_of(Folder.at(folder), bound)
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
    assert 403 == requests.get(f"{page.base}/style.css", timeout=20).status_code
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
    sent = page.post("/run/measure", headers=headers, data={"input": "friends.csv"})
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
    for path in ("/", "/nothing", "/style.css", "/job/99"):
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
    lines = ["POST /run/measure HTTP/1.1", f"Host: {page.base[7:]}", f"Origin: {page.base}"]
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
    sent = page.post("/run/measure", data={"input": "a" * (1 << 17)})
    assert 413 == sent.status_code


def test_a_slow_client_is_left_and_keeps_nobody_waiting(page, monkeypatch):
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(screens, "FORM_SECONDS", 0.5)
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
    assert page.post("/run/measure", data=body).status_code in (400, 422)


# --- one folder


OUTSIDE = ["..", "../secret.csv", "/etc/passwd", "sub/../../secret.csv", "way-out.csv", "a\0b"]


@pytest.mark.parametrize("path", [*OUTSIDE, "out-of-here/secret.csv"])
def test_no_path_leaves_the_folder(page, path):
    for address in ("/?at=", "/file?path=", "/release?path=", "/view?path="):
        answer = page.get(f"{address}{requests.utils.quote(path)}")
        assert 400 == answer.status_code
        assert "is not inside" in answer.text
    for fields in ({"input": path, "out": "x"}, {"input": "friends.csv", "out": path}):
        answer = page.post("/run/anonymize/rename", data=fields)
        assert 400 == answer.status_code
        assert ("NUL" if "\0" in path else "is not inside") in answer.text


def test_the_folder_is_shown_and_entered(page):
    text = page.get("/").text
    assert "friends.csv" in text
    assert "others.csv" not in text
    assert "others.csv" in page.get("/?at=sub").text


def test_links_out_of_the_folder_are_shown_without_a_way(page):
    text = page.get("/").text
    assert "out-of-here" in text
    assert "path=out-of-here" not in text
    assert "path=way-out.csv" not in text


def test_names_and_cells_are_shown_and_never_obeyed(page):
    listed = page.get("/").text
    assert "<img src=x" not in listed
    assert "&lt;img src=x onerror=alert(1)&gt;" in listed
    assert "{{7*7}}" in listed
    shown = page.get("/file?" + urlencode({"path": HOSTILE})).text
    assert "<b>1</b>" not in shown
    assert "&lt;b&gt;1&lt;/b&gt;" in shown


def test_a_file_that_cannot_be_read_says_why(page):
    (page.folder / "broken.parquet").write_bytes(b"PAR1 and no more")
    text = page.get("/file?path=broken.parquet").text
    assert "cannot be read as parquet" in text
    (page.folder / "broken.parquet").unlink()


# --- forms


@pytest.mark.parametrize(("command", "method"), FORMS)
def test_every_command_has_a_form_whose_words_it_takes(page, command, method):
    folder = Folder.at(page.folder)
    given = {"input": ["friends.csv"], "dir": ["a"], "original": ["friends.csv"], "out": ["a-new"]}
    for field in fields_of(command, method):
        if field.kind == "check":
            given[field.name] = ["yes"]
        elif field.kind == "yes or no":
            given[field.name] = ["no"]
        elif field.kind == "choice":
            given.setdefault(field.name, [field.choices[-1]])
    if method is not None:
        given |= {name: [str(value)] for name, value in METHODS[method].example.items()}
    words = words_of(folder, command, method, given)
    app = build(words)
    _, _, left = app.parse_known_args(words)[0:3]
    assert not left
    name = f"/do/{command}" if method is None else f"/do/{command}/{method}"
    assert 200 == page.get(f"{name}?input=friends.csv").status_code


def test_a_value_never_becomes_a_flag(page):
    given = {"input": ["friends.csv"], "until": ["--out=/tmp/x\n-k"], "seconds": ["-1"]}
    words = words_of(Folder.at(page.folder), "advise", None, given)
    assert ["advise", "friends.csv", "--until=--out=/tmp/x", "--until=-k", "--seconds=-1"] == words


def test_a_name_that_begins_with_a_dash_stays_a_name(page):
    words = words_of(Folder.at(page.folder), "measure", None, {"input": ["-x.csv"]})
    assert ["measure", "./-x.csv"] == words
    assert ["measure", "./-"] == words_of(Folder.at(page.folder), "measure", None, {"input": ["-"]})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "input is not filled in"),
        ({"input": ["friends.csv"], "kind": ["treasure"]}, "kind"),
        ({"input": ["friends.csv"], "known": ["a\0"]}, "NUL"),
    ],
)
def test_a_form_that_does_not_fit_is_refused(page, given, words):
    with pytest.raises(UsageError, match=words):
        words_of(Folder.at(page.folder), "measure", None, given)


def test_a_form_that_is_refused_comes_back_with_what_was_filled_in(page):
    answer = page.post(
        "/run/anonymize/k-degree", data={"input": "friends.csv", "k": "", "out": "o"}
    )
    assert 400 == answer.status_code
    assert "k is not filled in" in answer.text
    assert 'value="friends.csv"' in answer.text


@pytest.mark.parametrize(
    "path", ["/do/shutdown", "/do/measure/rename", "/do/anonymize/x", "/methods/measure", "/job/99"]
)
def test_there_is_no_other_command(page, path):
    assert 404 == page.get(path).status_code
    assert page.post(f"/run/{path.partition('/do/')[2] or 'x'}", data={}).status_code in (404, 405)


# --- commands that run


def test_the_whole_way_in_a_browser(page):
    measured = page.run("/run/measure", input="friends.csv", kind="graph")
    assert "graphveil measure friends.csv --kind graph" in measured.text
    assert "Done, after" in measured.text
    assert "/do/advise?input=friends.csv&amp;kind=graph" in measured.text
    form = page.get("/do/anonymize/k-degree?input=friends.csv&kind=graph")
    assert 'value="friends-k-degree"' in form.text
    made = page.run("/run/anonymize/k-degree", input="friends.csv", k="3", out="friends-k3")
    assert "Done, after" in made.text
    assert "/do/verify?dir=friends-k3&amp;original=friends.csv" in made.text
    assert "release" in page.get("/").text
    checked = page.run("/run/verify", dir="friends-k3", original="friends.csv")
    assert "Every claim holds" in checked.text
    public = page.run("/run/report", dir="friends-k3", public="yes")
    assert "/view?path=friends-k3-report.html" in public.text
    shown = page.get("/view?path=friends-k3-report.html")
    assert (page.folder / "friends-k3-report.html").read_bytes() == shown.content
    assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    every = unescape(page.get("/commands").text)
    for line in ("graphveil anonymize k-degree friends.csv --k 3", "graphveil report friends-k3"):
        assert line in every


def test_a_command_that_fails_says_so_and_can_be_changed(page):
    failed = page.run("/run/measure", input="nowhere.csv")
    assert "It failed" in failed.text
    assert "there is no such file" in failed.text
    assert "/do/measure?input=nowhere.csv" in failed.text


def test_modules_in_the_folder_are_not_run(page):
    assert "the module of the folder" not in page.run("/run/measure", input="friends.csv").text


SLEEPER = """
import signal, subprocess, sys, time
print("begun", flush=True)
print("graphveil: at work: points, 3 of 24", file=sys.stderr, flush=True)
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
    started = page.post("/run/measure", data={"input": "friends.csv"})
    path = started.url.removeprefix(page.base)
    while "begun" not in (state := page.get(f"{path}/state").json())["output"]:
        time.sleep(0.05)
    while "points, 3 of 24" not in page.get(f"{path}/state").json()["status"]:
        time.sleep(0.05)
    assert not state["ended"]
    assert f"{path}" in page.get("/").text
    refused = page.post("/run/measure", data={"input": "friends.csv"})
    assert 400 == refused.status_code
    assert "is running" in refused.text
    stopped = page.post(f"{path}/stop")
    assert "Stopped after" in stopped.text
    assert "interrupted" in stopped.text
    assert page.get(f"{path}/state").json()["ended"]


@pytest.mark.usefixtures("sleeping")
def test_a_command_that_does_not_end_is_ended(page, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(running.signal, "SIGINT", signal.SIGCONT)
    started = page.post("/run/measure", data={"input": "friends.csv"})
    assert "Stopped after" in page.post(f"{started.url.removeprefix(page.base)}/stop").text


@pytest.mark.usefixtures("sleeping")
def test_the_end_of_the_page_ends_what_runs(tmp_path):
    ring(tmp_path / "friends.csv")
    with served(tmp_path) as one:
        started = one.post("/run/measure", data={"input": "friends.csv"})
        while "begun" not in one.browser.get(f"{started.url}/state", timeout=20).text:
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
    job = running.Job(1, "measure", None, {}, ["measure"])
    for number in range(running.MOST_LINES + 5):
        job.hear(f"{number} " + "a" * 10_000)
    assert job.output.startswith("(5 earlier lines are not shown)")
    assert len(job.output) <= (running.MOST_LINES + 1) * (running.LONGEST_LINE + 1)
    job.hear("clear\x1b[2J")
    assert "\x1b" not in job.output


# --- its command


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "graphveil.app.server", None)
    monkeypatch.delitem(sys.modules, "graphveil.app.server")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert 2 == run(["serve", str(tmp_path)])
    assert "pip install 'graphveil[serve]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [(["nowhere"], "is no folder"), ([".", "--port", "99999999"], "cannot be opened")],
)
def test_a_folder_or_port_that_cannot_be_used_is_refused(words, said, capsys):
    assert 2 == run(["serve", *words])
    assert said in capsys.readouterr().err


def test_it_is_among_the_commands():
    assert "serve" in ALL_COMMANDS
    assert gv.__version__
