"""A local page: who may talk to it, what it shows and runs, and that it stays in its folder."""

from __future__ import annotations

import asyncio
import hashlib
import html
import io
import json
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import requests

import graphveil as gv
from graphveil.app import jobs as running
from graphveil.app.folder import Folder
from graphveil.claims.guarantees import EdgeDP, NodeDP, StructuralKAnonymity, SuperNodeAnonymity
from graphveil.cli.commands import serve
from graphveil.core.errors import ResourceError, UsageError
from graphveil.core.rows import Rows
from graphveil.core.text import percent
from graphveil.evaluate import wording
from graphveil.evaluate.wording import Line
from graphveil.pages.answers import attacks as summary
from graphveil.pages.answers.attacks import strongest
from graphveil.verbs.attack import concerns
from graphveil.verbs.describe import describe
from thorough import first_of

pytest.importorskip("uvicorn", reason="the extra serve is not installed")
pytest.importorskip("starlette", reason="the extra serve is not installed")
from graphveil.app import pages, server, tasks, ways, work
from graphveil.app import study as study_of_file
from graphveil.app.questions import answers_to
from graphveil.app.study import Study
from graphveil.methods import METHODS

HOSTILE = "<img src=x onerror=alert(1)>{{7*7}}.csv"
STATIC = Path(pages.__file__).parent / "static"


class Page:
    """A running page, and a browser that has opened its address."""

    def __init__(self, guard, folder):
        self.folder, self.guard = folder, guard
        self.address = guard.new_address()
        self.origin = self.address.partition("/open")[0]
        self.base = self.origin + guard.path
        self.browser = requests.Session()
        self.opened = self.browser.get(self.address, timeout=20)

    def get(self, path, **given):
        return self.browser.get(self.base + path, timeout=60, **given)

    def post(self, path, headers=None, **given):
        headers = {"Origin": self.origin} if headers is None else headers
        return self.browser.post(self.base + path, headers=headers, timeout=60, **given)

    def until(self, path, *words):
        """Return the page once it shows one of these words."""
        for _ in range(600):
            text = self.get(path).text
            if any(word in text for word in words):
                return text
            time.sleep(0.1)
        raise AssertionError(text)


@contextmanager
def served(folder):
    bound = server.listening(0)
    made, guard = server.server_of(pages.Pages(Folder.at(folder)).application(), bound)
    thread = threading.Thread(target=made.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        yield Page(guard, folder)
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


def test_nobody_gets_in_without_the_cookie(page):
    assert 403 == requests.get(f"{page.origin}/", timeout=20).status_code
    assert 403 == requests.get(f"{page.origin}/open?code=guess", timeout=20).status_code
    assert 403 == requests.get(f"{page.base}/", timeout=20).status_code
    wrong = {"Cookie": "graphveil=guess"}
    assert 403 == requests.get(f"{page.base}/", headers=wrong, timeout=20).status_code
    right = {"Cookie": f"graphveil={page.guard.key}"}
    assert 403 == requests.get(f"{page.origin}/", headers=right, timeout=20).status_code
    assert 200 == page.get("/").status_code


def test_the_code_opens_once_and_a_new_one_ends_the_old(page):
    assert 403 == requests.get(page.address, timeout=20).status_code
    first, second = page.guard.new_address(), page.guard.new_address()
    assert 403 == requests.get(first, timeout=20).status_code
    assert 403 == requests.head(second, timeout=20).status_code  # a preview uses nothing up
    assert 200 == requests.get(second, timeout=20).status_code
    assert 403 == requests.get(second, timeout=20).status_code


def test_the_cookie_is_sent_to_this_page_alone(page):
    given = page.opened.headers["set-cookie"]
    assert "HttpOnly" in given
    assert "SameSite=strict" in given
    assert f"Path={page.guard.path};" in given
    assert re.fullmatch(r"/s-[\w-]{16}", page.guard.path)
    heard = socket.create_server(("127.0.0.1", 0))
    other = f"http://127.0.0.1:{heard.getsockname()[1]}/"
    said = []

    def listen():
        client, _ = heard.accept()
        said.append(client.recv(1 << 16))
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        client.close()

    thread = threading.Thread(target=listen)
    thread.start()
    page.browser.get(other, timeout=20)
    thread.join(20)
    heard.close()
    assert b"cookie" not in said[0].lower()


@pytest.mark.parametrize("host", ["graphveil.example", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_host_is_refused_also_with_the_code(page, host):
    assert 421 == page.get("/", headers={"Host": host}).status_code
    address = page.guard.new_address()
    assert 421 == requests.get(address, headers={"Host": host}, timeout=20).status_code
    assert 200 == requests.get(address, timeout=20).status_code


@pytest.mark.parametrize(
    "origin", ["https://elsewhere.example", "null", "http://127.0.0.1:1", None]
)
def test_a_form_of_another_origin_is_refused(page, origin):
    headers = {} if origin is None else {"Origin": origin}
    assert 403 == page.post("/sample/people.csv", headers=headers).status_code
    assert not (page.folder / "people.csv").exists()


def test_what_another_site_asks_for_is_refused(page):
    for where in ("cross-site", "same-site"):
        assert 403 == page.get("/", headers={"Sec-Fetch-Site": where}).status_code
    assert 200 == page.get("/", headers={"Sec-Fetch-Site": "same-origin"}).status_code


def test_other_verbs_of_http_are_refused(page):
    for verb in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        headers = {"Origin": page.origin}
        answer = page.browser.request(verb, f"{page.base}/", headers=headers, timeout=20)
        assert 405 == answer.status_code


def test_every_answer_says_what_it_may_load(page):
    for path in ("/", "/nothing", "/view/..%2Fx", "/static/app.js"):
        headers = page.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "nosniff" == headers["x-content-type-options"]
        assert "no-store" == headers["cache-control"]


def test_it_listens_on_this_machine_alone():
    bound = server.listening(0)
    assert "127.0.0.1" == bound.getsockname()[0]
    bound.close()


def test_the_script_of_others_is_the_one_that_notice_names():
    digest = hashlib.sha256((STATIC / "htmx.min.js").read_bytes()).hexdigest()
    assert "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130" == digest
    notice = (Path(__file__).resolve().parents[2] / "NOTICE").read_text()
    assert "htmx 4.0.1" in notice
    assert (STATIC / "htmx-LICENSE").read_text().startswith("Zero-Clause BSD")


# --- clients that are slow, or send too much


def _talk(page, head):
    port = int(page.origin.rpartition(":")[2])
    client = socket.create_connection(("127.0.0.1", port), timeout=30)
    client.sendall(head)
    return client


def _head(page, length):
    cookie = "; ".join(f"{one.name}={one.value}" for one in page.browser.cookies)
    path = f"{page.guard.path}/stop/check/x"
    lines = [f"POST {path} HTTP/1.1", f"Host: {page.origin[7:]}", f"Origin: {page.origin}"]
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
    sent = page.post("/stop/check/x", data={"input": "a" * (1 << 19)})
    assert 413 == sent.status_code


def test_a_slow_client_is_left_and_keeps_nobody_waiting(page, monkeypatch):
    monkeypatch.setattr(server, "STRANGER_SECONDS", 0.5)
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


def test_200_idle_connections_do_not_lock_the_owner_out(page):
    idle = [_talk(page, b"") for _ in range(200)]
    begun = time.monotonic()
    again = requests.Session()
    again.cookies.update(page.browser.cookies)
    assert 200 == again.get(f"{page.base}/", timeout=20).status_code
    assert time.monotonic() - begun < 2
    assert len(page.guard.strangers) <= server.MOST_STRANGERS
    for one in idle:
        one.close()


@pytest.mark.parametrize("body", [b"\xff\xfe", b"a=1&=&;%zz", b"input"])
def test_what_is_no_form_is_refused(page, body):
    assert 400 == page.post("/stop/check/x", data=body).status_code


# --- one folder


OUTSIDE = ["../secret.csv", "/etc/passwd", "sub/../../secret.csv", "way-out.csv"]


@pytest.mark.parametrize("path", [*OUTSIDE, "out-of-here/secret.csv"])
def test_no_path_leaves_the_folder(page, path):
    for address in ("/in/", "/view/", "/zip/", "/check/"):
        answer = page.get(f"{address}{requests.utils.quote(path, safe='')}")
        assert 400 == answer.status_code
        assert "the only folder this page can use" in answer.text


@pytest.mark.parametrize("path", ["nothing", "a" * 300, "friends.csv/x", "#", "%3F", "a\0b", "\0"])
def test_what_is_not_there_is_said(page, path):
    for screen in ("view", "in", "zip", "check", "columns", "risk", "release", "delete"):
        answer = page.get(f"/{screen}/{requests.utils.quote(path, safe='')}")
        assert 404 == answer.status_code
        assert "That did not work" in answer.text
    assert 404 == page.get(f"/static/{requests.utils.quote(path, safe='')}").status_code


def test_a_folder_that_is_none_is_refused(page):
    with pytest.raises(UsageError, match="is not a folder"):
        Folder.at(page.folder / "nowhere")


def test_the_folder_is_shown_and_entered(page):
    shown = page.get("/").text
    assert 'href="' + page.guard.path + '/columns/friends.csv"' in shown
    assert "others.csv" not in shown
    assert "/columns/sub/others.csv" in page.get("/in/sub").text


def test_rows_are_shown_where_they_are_known_without_reading_the_data(
    patients, release, monkeypatch
):
    root, seen = patients.root, r"patients\.csv</a><span class=\"row\"><span class=\"soft\">[^<]*"
    ages = {"age": [*range(1234)]}
    pq.write_table(pa.table(ages), root / "ages.parquet")
    (root / "broken.parquet").write_bytes(b"PAR1 no more")
    shutil.copytree(release, root / "ring-k3")
    (root / "broken-k3").mkdir()
    (root / "broken-k3" / "release.json").write_text("{}")
    with served(root) as one:
        first = one.get("/").text
        assert "1,234 rows" in first
        assert not (root / ".graphveil").exists()  # a look at the folder writes nothing
        assert 'ring-k3</b> <span class="soft">' in first
        assert re.search(r"ring-k3</b> <span[^<]*, 12 rows<", first)
        assert "rows" not in re.search(seen, first)[0]
        one.get("/columns/patients.csv")
        assert ", 120 rows, " in re.search(seen, one.get("/").text)[0]
        one.post("/columns/patients.csv", data={"look": "1"})
    monkeypatch.setattr(study_of_file, "describe", None)  # no file is read again
    with served(root) as one:
        assert ", 120 rows, " in re.search(seen, one.get("/").text)[0]
        kept = root / ".graphveil" / "patients.csv.json"
        held = json.loads(kept.read_text())
        held["rows"]["complete"] = False
        kept.write_text(json.dumps(held))
        assert ", more than 120 rows, " in re.search(seen, one.get("/").text)[0]
        kept.write_text(json.dumps(held | {"rows": {"count": "<b>", "of": held["rows"]["of"]}}))
        assert "rows" not in re.search(seen, one.get("/").text)[0]
        kept.write_text(json.dumps(held))
        with (root / "patients.csv").open("a") as file:
            file.write("P120,Ann120,20,f,no,b\n")
        assert "rows" not in re.search(seen, one.get("/").text)[0]  # of another state of the file


def test_private_folders_hidden_files_and_links_out_are_not_listed(page):
    (page.folder / "out.private").mkdir(exist_ok=True)
    (page.folder / ".hidden.csv").touch()
    shown = page.get("/").text
    for name in ("out.private", ".hidden.csv", "way-out", "out-of-here"):
        assert name not in shown


def test_names_of_files_are_text_and_addresses_lead_to_them(page):
    shown = page.get("/").text
    assert "&lt;img src=x onerror=alert(1)&gt;{{7*7}}.csv" in shown
    assert "<img" not in shown
    [address] = re.findall(r'href="[^"]*(/columns/%3Cimg[^"]*)"', shown)
    assert "/columns/" + requests.utils.quote(HOSTILE) == address


def test_a_page_of_the_folder_reaches_nothing(page):
    (page.folder / "shown.html").write_bytes(b"<script>alert(1)</script>")
    shown = page.get("/view/shown.html")
    assert b"<script>alert(1)</script>" == shown.content
    policy = shown.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    assert 404 == page.get("/view/friends.csv").status_code


def test_sample_data_is_copied_when_a_form_asks(tmp_path):
    with served(tmp_path) as one:
        assert 405 == one.get("/sample/people.csv").status_code
        one.post("/sample/people.csv", allow_redirects=False)
        assert (tmp_path / "people.csv").read_text().startswith("workclass,")
        assert 404 == one.post("/sample/nothing.csv").status_code


# --- releases that were made or sent


pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A release of a ring, as a folder without its private one."""
    graph = gv.Graph.from_edges([*range(12)], [*range(1, 12), 0])
    return gv.KDegree(k=3).anonymize(graph, seed=1).write(tmp_path_factory.mktemp("r") / "ring-k3")


def packed(folder, rename=lambda name: name, change=lambda data: data):
    """Return a zip of a folder."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for path in sorted(folder.iterdir()):
            made.writestr(rename(f"{folder.name}/{path.name}"), change(path.read_bytes()))
    return file.getvalue()


def reordered(data):
    """Return a csv file with its rows in another order."""
    head, *rows = data.splitlines(keepends=True)
    return b"".join([head, *rows[::-1]]) if head.startswith(b"source") else data


def sent(page, content):
    return page.post("/check", files={"zip": ("sent.zip", content, "application/zip")})


def test_a_zip_that_was_sent_is_verified_and_reported(page, release):
    answer = sent(page, packed(release))
    path = requests.utils.unquote(answer.url.removeprefix(page.base))
    text = page.until(path, "Open the report", "did not work", "defect")
    assert "The guarantee holds" in text
    assert "the same number of connections as at least 2 others" in text
    assert "degree" not in text.partition("Every check")[0]
    assert "0 fail" in text
    [report] = re.findall(r'href="[^"]*(/view/[^"]*)"', text)
    assert "sandbox" in page.get(report).headers["content-security-policy"]
    changed = sent(page, packed(release, change=reordered))
    path = requests.utils.unquote(changed.url.removeprefix(page.base))
    text = page.until(path, "checks hold")
    assert "The folder is not as it was published" in text
    assert "The guarantee holds" not in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no zip", "not a zip that can be read"),
        (b"", "not a zip that can be read"),
        ("..", "outside of it"),
        ("other", "holds no release"),
    ],
)
def test_a_zip_that_cannot_be_used_is_refused(page, release, content, said):
    if content == "..":
        content = packed(release, rename=lambda name: f"../{name}")
    elif content == "other":
        content = packed(release, rename=lambda name: name.replace("release.json", "else.json"))
    received = page.folder / ".graphveil" / "received"
    before = {*received.rglob("*")}
    answer = sent(page, content)
    assert 400 == answer.status_code
    assert said in answer.text
    assert before == {*received.rglob("*")}


def test_a_zip_that_unpacks_to_too_much_is_refused_and_lies_about_no_size(
    page, release, monkeypatch
):
    monkeypatch.setattr(pages, "MOST_BYTES", 20_000)
    large = packed(release, change=lambda data: data + b" " * 30_000)
    assert "The zip is too large" in sent(page, large).text
    monkeypatch.setattr(pages, "MOST_BYTES", 10)
    size = struct.pack("<I", 30_000 + (release / "release.json").stat().st_size)
    lie = packed(release, change=lambda data: data + b" " * 30_000).replace(size, bytes(4))
    answer = sent(page, lie)
    assert 400 == answer.status_code
    monkeypatch.setattr(pages, "MOST_FILES", 1)
    assert "more than 1 files" in sent(page, packed(release)).text


def test_a_zip_holds_what_the_manifest_names_and_verifies_after_unpacking(page, release, tmp_path):
    made = page.folder / "ring-k3"
    gv.KDegree(k=3).anonymize(gv.read_release(release).data, seed=1).write(made)
    (made / "private notes.txt").write_text("secret")
    got = page.get("/zip/ring-k3")
    with zipfile.ZipFile(io.BytesIO(got.content)) as file:
        file.extractall(tmp_path)
    names = {path.name for path in (tmp_path / "ring-k3").iterdir()}
    assert {path.name for path in release.iterdir()} == names
    assert gv.verify_release(tmp_path / "ring-k3").ok
    page.get("/delete/ring-k3")
    assert made.exists()
    page.post("/delete/ring-k3")
    assert not made.exists()
    assert not (page.folder / "ring-k3.private").exists()
    assert 404 == page.get("/delete/sub").status_code
    private = page.folder / "ring-k3.private"
    private.mkdir()
    ring(private / "linkage.csv")
    ring(page.folder / ".own.csv")
    for name in ("ring-k3.private/linkage.csv", ".own.csv"):
        assert 404 == page.post(f"/delete/{name}").status_code
        assert (page.folder / name).exists()


NO_STUDY = tasks.StudySettings(kind="table", options={})
CHECK = tasks.Check(folder="x", page="x")


def asked_of(verb, found=None, path="a.csv", **given):
    """Return a task about a file, with parameters that do not matter unless they are given."""
    made = {"explore": tasks.Explore, "bounds": tasks.Bounds, "release": tasks.Release}[verb]
    others = {"method": "generalize", "strength": 3, "out": "made", "until": []} | given
    if found is not None:
        given, path = {"study": found.settings}, found.path
    about = {"path": str(path), "study": NO_STUDY} | given
    names = made.__struct_fields__
    return made(**{name: one for name, one in (others | about).items() if name in names})


def shown(macro, *given):
    """Return what a macro of the templates shows."""
    show = "{% import 'parts.html' as parts with context %}{{ parts." + macro + "(*given) }}"
    return pages.JINJA.from_string(show).render(given=given, at=lambda *parts: "/".join(parts))


def test_checks_that_were_not_made_are_counted_as_such(release):
    verdict = gv.verify_release(release)
    counts = Counter(one.outcome for one in verdict.checks)
    assert counts["not checked"] > 0
    said = f"{counts['holds']} of {len(verdict.checks)} checks hold, 0 fail, "
    assert f"{said}{counts['not checked']} not made" in shown("verdict", work._said(verdict))


def test_where_a_node_may_be_a_person_both_are_named():
    said = work.for_people(StructuralKAnonymity(k=5).threat_model)
    assert "is left with at least 5 nodes that may be that person" in said
    assert "finds either at least 5 nodes with that value in the release, or none" in said
    assert "which node of a group is which person" in work.for_people(
        SuperNodeAnonymity(k=5).sentence
    )


def test_a_guarantee_of_a_network_is_about_people_and_weakens_or_strengthens_nothing():
    said = {
        StructuralKAnonymity(k=5, share=0.95): "At least 95% of the people of the release have the "
        "same number of connections as at least 4 others.",
        StructuralKAnonymity(k=2, measure="directed-count"): "Every person of the release has the "
        "same number of outgoing connections, number of incoming connections, number of contacts "
        "in either direction, and number of connections among these and that person, as at least "
        "1 other.",
        StructuralKAnonymity(k=3, known=("node", "edge type")): "Every node of the release has the "
        "same node and edge type, and the same number of connections, as at least 2 others.",
    }
    for claim, words in said.items():
        assert words == work.for_people(claim.sentence, claim.known or ())
    for claim in (EdgeDP(epsilon=1.0), NodeDP(epsilon=0.5), *said):
        digits = re.findall(r"[\d.^]+", claim.sentence)
        assert digits == re.findall(r"[\d.^]+", work.for_people(claim.sentence))
    assert "any one connection, or any one item of" in work.for_people(EdgeDP(epsilon=1.0).sentence)


def test_the_line_that_is_furthest_above_its_guess_is_first():
    figures = [("a", "9", "1"), ("b", "62.2", "60"), ("c", "1 to 40.5", "0.2"), ("d", "99", "")]
    lines = [
        Line(question=name, figure=figure, guess=guess, answer="no" if name == "d" else "yes")
        for name, figure, guess in figures
    ]
    said = work._group(SimpleNamespace(heading="who", lines=lines))
    assert ["c", "a", "b", "d"] == [line[0] for line in said["lines"]]


# --- jobs


def test_a_poll_keeps_the_element_that_has_the_focus():
    job = running.Job(asked_of("explore"), "a.csv")
    polls = [re.search(r'<span id="(.*?)"(.*?)>', shown("progress", job, "risk")) for _ in "ab"]
    assert polls[0][1] != polls[1][1]
    assert 'hx-trigger="load delay:1s"' in polls[0][2]
    for file in (Path(pages.__file__).parent / "templates").iterdir():
        text = file.read_text()
        assert {"innerMorph"} >= {*re.findall(r'hx-swap="(.*?)"', text)}
        controls = re.findall(r"<(?:input|select|details)\b[^>]*?>", text)
        named = re.compile(r' (?:id="|type="(?:hidden|radio)")')
        assert [] == [one for one in controls if not named.search(one)], file.name


def running_job(tmp_path, monkeypatch, body, task=CHECK):
    """Return a job whose process is this script, once it has ended or said that it sleeps."""
    script = tmp_path / "worker"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{body}'\n")
    script.chmod(0o700)
    monkeypatch.setattr(running.sys, "executable", str(script))

    async def run():
        jobs = running.Jobs(tmp_path)
        job = await jobs.start(task, "friends.csv")
        async with asyncio.timeout(20):
            while job.state == "running" and job.stage != "sleeping":  # noqa: ASYNC110  no event
                await asyncio.sleep(0.02)
        if job.state == "running":
            with pytest.raises(UsageError, match="is still running"):
                await jobs.start(task, "other.csv")
        begun = time.monotonic()
        await jobs.close()
        return job, time.monotonic() - begun

    return asyncio.run(run())


SAY = "import json, sys, time, signal; say = lambda **m: print(json.dumps(m), flush=True); "
SLEEP = 'say(stage="sleeping", done=1, of=2); '


def test_a_job_runs_alone_and_is_stopped_at_once(tmp_path, monkeypatch):
    job, seconds = running_job(tmp_path, monkeypatch, SAY + SLEEP + "time.sleep(60)")
    assert "stopped" == job.state
    assert seconds < 1
    assert job.process.returncode is not None


def test_a_job_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE_SECONDS", 0.3)
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    job, seconds = running_job(tmp_path, monkeypatch, SAY + ignore + SLEEP + "time.sleep(60)")
    assert "stopped" == job.state
    assert seconds < 3


@pytest.mark.parametrize(
    ("body", "state", "why"),
    [
        ("pass", "failed", "too little memory"),
        ("import os; os.kill(os.getpid(), signal.SIGKILL)", "failed", "too little memory"),
        ('print("no message"); time.sleep(60)', "failed", "not readable"),
        ('print("[1]"); time.sleep(60)', "failed", "not readable"),
        ('say(end="refused", why="k is too large")', "refused", "k is too large"),
        ('say(end="done", why="")', "done", ""),
    ],
)
def test_whatever_a_process_says_its_job_ends(tmp_path, monkeypatch, body, state, why):
    job, _ = running_job(tmp_path, monkeypatch, SAY + body)
    assert (state, True) == (job.state, why in job.why)


def test_every_state_of_a_job_says_what_happened_and_the_way_out():
    said = {
        "stopped": "You stopped this during: Trying",
        "interrupted": "The program ended during: Trying",
        "refused": "k is too large",
        "failed": "The work ended too early",
        "defect": "This is a defect of graphveil",
    }
    for state, words in said.items():
        job = running.Job(asked_of("release"), "a b.csv", state, "k is too large", "Trying")
        text = shown("progress", job, "release")
        assert words in text
        assert ("status" if state in ("stopped", "interrupted") else "alert") in text
        assert "risk/a b.csv" in text
        job.task = asked_of("explore")
        assert "#again" in shown("progress", job, "risk")


def test_a_defect_is_told_without_the_data_that_it_met(monkeypatch):
    def spoilt(_say, _task):
        raise ValueError("Ann Smith, 17 May")

    monkeypatch.setitem(work.JOBS, "check", spoilt)
    stream = io.StringIO()
    work.run(stream, CHECK)
    said = json.loads(stream.getvalue().splitlines()[-1])
    assert "defect" == said["end"]
    assert said["why"].startswith("ValueError at ")
    assert "Ann" not in stream.getvalue()


START = """
import subprocess, sys, time
work = [sys.executable, "-P", "-m", "graphveil.app.work"]
job = subprocess.Popen(work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
job.stdin.write(sys.argv[1].encode())
job.stdin.close()
job.stdout.readline()
print(job.pid, flush=True)
time.sleep(60)
"""


def test_a_job_ends_with_the_server_whatever_ends_that(patients):
    found = Study.of(patients, "patients.csv")
    task = asked_of("explore", found, method=found.method)
    words = [sys.executable, "-c", START, msgspec.json.encode(task).decode()]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server_of_it:
        job = Path(f"/proc/{server_of_it.stdout.readline().strip()}/stat")
        server_of_it.kill()
    for _ in range(100):
        if not job.exists() or job.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.1)
    raise AssertionError("the job goes on")


def test_modules_in_the_folder_are_not_run(tmp_path):
    for name in ("graphveil.py", "numpy.py", "json.py"):
        (tmp_path / name).write_text("open('was-run', 'w')")

    async def run():
        jobs = running.Jobs(tmp_path)
        job = await jobs.start(tasks.Check(folder=str(tmp_path), page="x"), "x")
        await job.reader
        return job

    job = asyncio.run(run())
    assert "refused" == job.state
    assert "release.json" in job.why
    assert not (tmp_path / "was-run").exists()


# --- from a file to a release


def patient(n):
    sex, smoker = "fm"[(n + n // 40) % 2], ("yes", "no", "NA")[n % 3]
    return f"P{n},Ann{n},{20 + n % 40},{sex},{smoker},{'ab'[n % 7 == 0]}"


PATIENTS = ["id,name,age,sex,smoker,ill", *map(patient, range(120))]


@pytest.fixture
def patients(tmp_path):
    (tmp_path / "patients.csv").write_text("\n".join([*PATIENTS, ""]))
    return Folder.at(tmp_path)


def test_what_is_noticed_of_a_file_is_chosen_and_nothing_is_open(patients):
    found = Study.of(patients, "patients.csv")
    assert () == found.problems
    assert "120 people and 4 columns" == found.said
    assert ("id", "name") == found.options["drop"]
    assert ("*", "", "NA") == found.options["suppressed"]
    assert ["age", "sex", "smoker", "ill"] == found.roles.known
    assert {"age": "auto"} == found.roles.levels


@pytest.mark.parametrize("day", [3, 25])
def test_how_dates_are_written_is_chosen_by_a_button(tmp_path, day):
    rows = [f"{day:02}/{1 + i % 12:02}/{1950 + i % 50},{'fm'[i % 2]}" for i in range(100)]
    (tmp_path / "born.csv").write_text("\n".join(["birth,sex", *rows, ""]))
    found = Study.of(Folder.at(tmp_path), "born.csv")
    while found.problems and "dates" != found.problems[0].option:
        found.change({"answer": f"0-{next(iter(answers_to(found.problems[0])))}"})
    [asked] = found.problems
    answers = answers_to(asked)
    assert "Read it as DD/MM/YYYY" == answers["dates:%d/%m/%Y"]
    assert (day <= 12) == ("dates:%m/%d/%Y" in answers)
    found.change({"answer": "0-dates:%d/%m/%Y"})
    assert not found.problems
    assert {"birth": "%d/%m/%Y"} == found.roles.dates
    assert "decade" in found.roles.levels["birth"]
    assert found.previews["birth"][-1].common[0][0].startswith("19")


@pytest.mark.parametrize("days", [12, 28])
def test_dates_of_which_many_repeat_are_taken_for_dates_too(tmp_path, days):
    rows = [f"{1 + n % days:02}/{1 + n % 7:02}/{1950 + n % 11},{'fm'[n % 2]}" for n in range(4000)]
    (tmp_path / "born.csv").write_text("\n".join(["birth,sex", *rows, ""]))
    found = Study.of(Folder.at(tmp_path), "born.csv")
    assert "date" == found.columns[0].kind
    found.change({"what": "row"})
    if days == 12:  # nothing says which number is the month
        [asked] = found.problems
        assert ("birth", "dates") == (asked.column, asked.option)
        found.change({"answer": "0-dates:%d/%m/%Y"})
    assert () == found.problems
    assert {"birth": "%d/%m/%Y"} == found.roles.dates
    assert "decade" in found.roles.levels["birth"]
    assert found.previews["birth"]


def test_a_column_of_which_little_can_be_left_says_so_at_once(patients):
    rows = [f"{line},{'€' if n else 'income'}{n % 40}.50" for n, line in enumerate(PATIENTS)]
    (patients.root / "paid.csv").write_text("\n".join([*rows, ""]))
    said = "Without levels, a value in fewer than k rows is hidden or changed."
    with served(patients.root) as one:
        assert said not in one.get("/columns/patients.csv").text
        text = one.get("/columns/paid.csv").text
        assert 1 == text.count(said)
        assert "How income0.50 becomes coarser" in text.partition(said)[0]
        assert said not in one.post("/columns/paid.csv", data={"levels6": "prefix:3,2,1"}).text


def test_a_row_is_a_person_only_if_the_owner_says_so(patients):
    assert "row" == Study.of(patients, "patients.csv").choices.what  # nothing says otherwise
    (patients.root / "twice.csv").write_text("\n".join([*PATIENTS, PATIENTS[1], ""]))
    found = Study.of(patients, "twice.csv")
    found.change({"role0": "drop", "role1": "drop"})  # which answers nothing
    asked = [one for one in found.problems if one.option == "person"]
    assert ["id", "name"] == sorted(one.column for one in asked)
    assert all({"row", "column"} == {*answers_to(one)} for one in asked)
    assert "person" not in found.options
    number = next(at for at, one in enumerate(found.problems) if one.column == "id")
    found.change({"answer": f"{number}-column"})
    assert ("id", ()) == (found.options["person"], found.problems)
    assert "120 people and 4 columns" == found.said  # both rows of P0 are equal
    again = Study.of(patients, "twice.csv")
    assert found.settings == again.settings
    again.change({"what": "row"})
    assert ("row", "121 people and 4 columns") == (again.options["person"], again.said)


def office_rows():
    """Return lines of a survey as an office writes them: households, commas, codes, umlauts."""
    head = "Haushalt;Alter;Geschlecht;Ort;Einkommen"
    places = ("Köln", "Münster", "Bonn")
    rows = [
        (n // 2, -9 if n % 30 == 7 else 20 + n * 7 % 41, "fm"[n * 5 % 7 % 2], places[n * n % 3], n)
        for n in range(120)
    ]
    return [
        head,
        *(f"{h};{a};{s};{o};{1000 + n * 37 % 91},{n * 11 % 90 + 10}" for h, a, s, o, n in rows),
    ]


def answer(found, option, key):
    """Press the button of a question."""
    number = next(at for at, one in enumerate(found.problems) if one.option == option)
    assert key in answers_to(found.problems[number])
    found.change({"answer": f"{number}-{key}"})


@pytest.fixture
def office(tmp_path):
    """The file of an office in Windows-1252, once its encoding and its commas are confirmed."""
    (tmp_path / "office.csv").write_bytes("\n".join([*office_rows(), ""]).encode("windows-1252"))
    found = Study.of(Folder.at(tmp_path), "office.csv")
    assert {"encoding", "decimal", "missing"} <= {one.option for one in found.problems}
    answer(found, "encoding", "windows-1252")
    answer(found, "decimal", ",")
    return found


def test_the_file_of_an_office_is_read_as_its_owner_confirms(office):
    answer(office, "missing", "missing")
    for problem in office.problems:  # ages and incomes
        office.change({"answer": "0-row" if problem.option == "person" else "0-levels"})
    assert () == office.problems
    office.change({"what": "row"})
    data = work.io.load(office.path, office.settings.reading(exact=True)).data.to_arrow()
    lines = [line.split(";") for line in office_rows()[1:]]
    ages = [None if line[1] == "-9" else line[1] for line in lines]
    assert ages == [None if one in (None, "*") else str(one) for one in data["Alter"].to_pylist()]
    assert [line[3] for line in lines] == data["Ort"].to_pylist()
    incomes = [float(line[4].replace(",", ".")) for line in lines]
    assert incomes == [float(one) for one in data["Einkommen"].to_pylist()]
    again = Study.of(office.folder, "office.csv")
    assert (office.settings, ()) == (again.settings, again.problems)
    again.change({"code1-0": "value"})  # -9 is an age
    assert () == again.problems
    assert "missing" not in again.options
    with served(office.folder.root) as one:
        text = one.get("/columns/office.csv").text
    assert "Seems sensitive: its name says about money" in text
    assert "Seems to number households" in text


def test_the_page_proposes_the_roles_of_describe_with_their_reasons(office):
    told = describe(office.path, encoding="windows-1252", decimal=",", person="row")
    roles = {one.name: (one.role, one.role_reason) for one in told.columns}
    assert "household" == roles["Haushalt"][0]
    assert roles == {one.name: (one.role, one.role_reason) for one in office.columns}


def test_classes_count_the_households_that_the_owner_chooses(office):
    assert ["Haushalt"] == office.households
    office.change({"household": "Ort"})  # which is not offered
    assert "household" not in office.options
    office.change({"what": "row", "household": "Haushalt", "levels1": "10,50,100", "role4": "drop"})
    answer(office, "missing", "missing")
    assert () == office.problems
    assert "120 rows of 60 households and 3 columns" == office.said
    assert "Haushalt" not in office.roles.known
    office.change({"false": "yes"})
    assert "generalize" == office.method  # others count rows
    data = work.io.load(office.path, office.settings.reading(exact=True)).data
    release = gv.anonymize(
        data, "generalize", **ways.way_named("table", "generalize").parameters(3, office.settings)
    )
    assert "3 different households" in release.guarantee.sentence
    homes = [line.partition(";")[0] for line in office_rows()[1:]]
    of_class = {}
    linkage = release.private.linkage
    at = linkage.positions_of(data.labels(), release.data.labels())
    cells = release.data.to_arrow().to_pylist()
    for home, position in zip(homes, at, strict=True):
        of_class.setdefault(tuple(cells[position].values()), set()).add(home)
    assert min(map(len, of_class.values())) >= 3
    command = pages.same_calls("office.csv", asked_of("release", office), "x")[1]
    assert "--household Haushalt" in command
    assert "--encoding windows-1252" in command


def hiding(tmp_path, shows):
    """Return a file whose column next is published unchanged, and says some ages."""
    rows = [patient(n).split(",")[2:4] for n in range(120)]
    told = [age if shows(n) else "xyz"[n * n % 3] for n, (age, _) in enumerate(rows)]
    lines = [f"{age},{sex},{word}" for (age, sex), word in zip(rows, told, strict=True)]
    (tmp_path / "hiding.csv").write_text("\n".join(["age,sex,next", *lines, ""]))
    found = Study.of(Folder.at(tmp_path), "hiding.csv")
    found.change({"what": "row", "role2": "attach"})
    assert () == found.problems
    return found


def test_a_column_that_shows_what_is_hidden_is_protected_or_not_published(tmp_path, monkeypatch):
    monkeypatch.setitem(ways.STRENGTHS, "k", (3,))
    found = hiding(tmp_path, lambda _: True)
    [shown_by] = explored(found)["shown"]
    assert (None, ["next"]) == (shown_by["share"], [*shown_by["columns"]])
    assert "next says the same as age" in shown_by["words"]
    text = shown("shown", shown_by, "hiding.csv")
    assert {"known next", "drop next"} == {*re.findall(r'name="shown" value="(.*?)"', text)}
    found.change({"shown": "accept 0.9"})
    assert found.roles.may_narrow is None  # more than can be accepted
    found.change({"shown": "drop next"})
    assert [] == found.roles.attach
    assert "shown" not in explored(found)
    found.change({"undo": "1", "shown": "x"})
    found.change({"shown": "known next"})
    assert (["age", "sex", "next"], []) == (found.roles.known, found.roles.attach)


def test_a_column_that_shows_a_part_can_be_accepted_and_the_release_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(ways.STRENGTHS, "k", (3,))
    found = hiding(tmp_path, lambda n: n % 5 == 0)
    [shown_by] = explored(found)["shown"]
    share = shown_by["share"]
    assert 0.05 < share <= 0.5
    assert re.search(
        r"next narrows [\d.]+% of the \d+ hidden cells of age .*% by chance", shown_by["words"]
    )
    assert f'value="accept {share}"' in shown("shown", shown_by, "hiding.csv")
    found.change({"shown": f"accept {share}"})
    assert share == found.roles.may_narrow
    assert "shown" not in explored(found)
    assert share == gv.choices_of(found.kept).parameters["may_narrow"]
    assert share == Study.of(found.folder, "hiding.csv").roles.may_narrow
    with served(tmp_path) as one:
        assert f"show up to {percent(share)} of the hidden" in one.get("/columns/hiding.csv").text
    found.change({"role1": "drop"})  # it was accepted of other columns
    assert found.roles.may_narrow is None


def test_a_question_is_asked_at_its_column_and_answered_by_a_button(patients):
    found = Study.of(patients, "patients.csv")
    found.change({"role1": "known"})
    [asked] = found.problems
    assert ("name", ["levels", "drop"]) == (asked.column, [*answers_to(asked)])
    assert "--" not in asked.text + asked.choices
    found.change({"answer": "0-nonsense"})
    assert found.problems
    found.change({"answer": "0-drop"})
    assert not found.problems
    found.change({"role1": "attach"})
    assert ["name"] == [one.column for one in found.problems]
    found.change({"undo": "1"})
    assert not found.problems


def test_choices_that_follow_each_other_quickly_are_checked_in_their_order(patients, monkeypatch):
    looked, describe = threading.Semaphore(0), study_of_file.describe

    def slowly(path, **given):
        if looked.acquire(blocking=False):
            time.sleep(1)  # the first check ends after a second one that does not wait
        return describe(path, **given)

    with served(patients.root) as one:
        one.get("/columns/patients.csv")
        monkeypatch.setattr(study_of_file, "describe", slowly)
        looked.release()
        form = {"data": {"role1": "known"}, "headers": {"Origin": one.origin, "HX-Request": "true"}}
        first = threading.Thread(target=one.post, args=["/columns/patients.csv"], kwargs=form)
        first.start()
        time.sleep(0.4)
        during = one.get("/columns/patients.csv").text
        assert "Read: 120 people" in during  # what was checked last, and not what is half checked
        last = one.post("/columns/patients.csv", data={"role1": "drop"}).text
        first.join(60)
        for text in (last, one.get("/columns/patients.csv").text):
            assert "Read: 120 people and 4 columns" in text
            assert "aria-invalid" not in text


def test_choices_of_other_kinds_of_data_are_not_offered(patients):
    ring(patients.root / "calls.csv")
    ring(patients.root / "friends.csv")
    found = Study.of(patients, "calls.csv")
    found.change({"directed": "keep"})
    Study.of(patients, "patients.csv").change({"role1": "drop"})
    (patients.root / "next.csv").write_text("\n".join(PATIENTS))
    assert ["patients.csv"] == [*Study.of(patients, "next.csv").others]
    friends = Study.of(patients, "friends.csv")
    assert ["calls.csv"] == [*friends.others]
    friends.change({"like": "patients.csv"})
    assert "graph" == friends.kind
    friends.change({"like": "calls.csv"})
    assert "network" == friends.kind


def test_levels_are_previewed_with_the_rows_that_each_value_would_have(patients):
    rows = [*PATIENTS, "P120,Ann120,,f,no,b"]
    (patients.root / "patients.csv").write_text("\n".join([*rows, ""]))
    found = Study.of(patients, "patients.csv")
    found.change({"levels2": "5,10,20"})
    first, *_, last = found.previews["age"]
    assert [(f"{low}-{low + 4}", 15) for low in range(20, 60, 5)] == first.common
    assert ([("20-39", 60), ("40-59", 60)], 2) == last
    with served(patients.root) as one:
        assert "40 values become 8, 4 or 2" in one.get("/columns/patients.csv").text
    found.change({"levels2": ""})
    assert {} == found.previews  # the age is a question now


def test_nothing_known_is_a_question_and_odd_forms_change_nothing(patients):
    found = Study.of(patients, "patients.csv")
    before = found.settings
    found.change({"what": "planet", "role2": "king", "levels2": "9", "word4-0": "x", "role99": "a"})
    assert before == found.settings
    found.change({f"role{number}": "drop" for number in range(6)})
    assert found.problems


def test_choices_are_kept_for_their_owner_and_taken_up_for_next_year(patients):
    found = Study.of(patients, "patients.csv")
    found.change({"role3": "attach", "word4-0": "value", "false": "yes"})
    assert 0o600 == found.kept.stat().st_mode & 0o777
    assert 0o700 == found.kept.parent.stat().st_mode & 0o777
    assert not [name for name in ("Ann1", "P1", "yes\\", "fm") if name in found.kept.read_text()]
    again = Study.of(patients, "patients.csv")
    assert found.settings == again.settings
    assert ("NA",) == again.options["categories"]
    rows = [line.replace("smoker", "drinker") for line in PATIENTS]
    (patients.root / "next.csv").write_text("\n".join(rows))
    following = Study.of(patients, "next.csv")
    following.take_up(found.kept)
    assert ["sex"] == following.roles.attach
    assert "drinker" in following.notes[0]
    kept = gv.choices_of(found.kept)
    assert ("smooth-k", "generalize")[found.method == "generalize"] == kept.method
    assert found.settings.options["drop"] == [*kept.options.drop]
    assert "smoker" in following.notes[1]
    found.kept.write_text("{")
    assert Study.of(patients, "patients.csv").notes


@pytest.mark.parametrize(
    ("content", "header", "kind"),
    [
        ("town,sex,ill\nOslo,f,a\nBergen,m,b\nOslo,f,a\n", "yes", "table"),
        ("source,target\n1,2\n2,3\n3,1\n", "yes", "graph"),
        ("user,item\nann,tea\nbob,tea\nann,rye\n", "yes", "bipartite"),
        ("17,2\n2,31\n31,17\n", "no", "graph"),
    ],
)
def test_every_kind_of_file_is_read_as_it_was_noticed(tmp_path, content, header, kind):
    (tmp_path / "a.csv").write_text(content)
    found = Study.of(Folder.at(tmp_path), "a.csv")
    assert (header, kind) == (found.choices.header, found.kind)
    assert "people" in found.said, found.problems


def test_a_first_line_that_is_data_can_be_undone_and_is_data_after_a_restart(tmp_path):
    rows = [f"{'OBT'[n % 3]},{'fm'[n % 2]},{'ab'[n % 2]}" for n in range(30)]
    for name in ("a.csv", "next.csv"):
        (tmp_path / name).write_text("\n".join(["town,sex,ill", *rows, ""]))
    found = Study.of(Folder.at(tmp_path), "a.csv")
    found.change({"role2": "drop"})
    found.change({"header": "no"})
    found.change({"what": "row"})
    again, following = (Study.of(found.folder, name) for name in ("a.csv", "next.csv"))
    following.change({"like": "a.csv"})
    for one in (found, again, following):
        assert ["column_1", "column_2", "column_3"] == [column.name for column in one.columns]
        assert ((), "31 people and 2 columns") == (one.problems, one.said)
    for _ in range(2):
        found.change({"undo": "1"})
    assert (["town", "sex"], ["ill"]) == (found.roles.known, found.named("drop"))
    assert "30 people and 2 columns" == found.said
    found.change({"header": "perhaps", "answer": "²-drop"})
    assert "30 people and 2 columns" == found.said


def test_a_long_name_and_a_full_disk_keep_nobody_from_going_on(tmp_path, monkeypatch):
    name = "ü" * 120 + ".csv"
    (tmp_path / name).write_text("\n".join([*PATIENTS, ""]))
    found = Study.of(Folder.at(tmp_path), name)
    found.change({"role3": "drop"})
    assert found.kept.is_file()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("graphveil.app.study.whole_file", full)
    found.change({"role3": "known"})
    assert ["These choices could not be kept for later: No space left on device."] == found.notes
    assert not found.problems


def test_a_column_of_people_merges_their_rows(tmp_path):
    rows = [f"{n // 2},{'fm'[n // 2 % 2]},{'xyz'[n % 3]}" for n in range(40)]
    (tmp_path / "visits.csv").write_text("\n".join(["who,sex,ward", *rows]))
    found = Study.of(Folder.at(tmp_path), "visits.csv")
    found.change({"what": "column", "person": "who"})
    assert "who" == found.options["person"]
    assert "who" not in found.roles.known


@pytest.mark.parametrize("kind", [*ways.WAYS])
def test_every_way_is_a_method_and_its_attacks_read_the_data(kind):
    for way in ways.WAYS[kind]:
        method = METHODS[way.method]
        for strength in way.strengths:
            asked = tasks.StudySettings(
                kind=kind, options={}, want="w", roles=tasks.Roles(known=["a"])
            )
            method.from_parameters(way.parameters(strength, asked))
        assert {*way.attacks} <= {*gv.ATTACKS}


def test_the_same_in_python_makes_such_a_release(patients, monkeypatch):
    found = Study.of(patients, "patients.csv")
    python, command = pages.same_calls("patients.csv", asked_of("release", found), "made")
    monkeypatch.chdir(patients.root)
    exec(python)  # noqa: S102  what the page tells people to run
    assert gv.verify_release(patients.root / "made").ok
    assert command.startswith("graphveil anonymize generalize patients.csv --kind table --out made")
    assert "--levels age=auto" in command


def explored(found, **given):
    """Return what a job finds, each thing in a list."""
    said = {}

    def say(**message):
        name = message.get("found") or message.get("add")
        said.setdefault(name, []).append(message.get("value"))

    verb = "bounds" if given else "explore"
    work.JOBS[verb](say, asked_of(verb, found, **({"method": found.method} | given)))
    return said


@pytest.fixture
def network(tmp_path):
    """Calls that have a direction, and a file about the people, who are of two towns."""
    calls = [f"p{n},p{(n * 7 + m) % 24}" for n in range(24) for m in (1, 2, 3 + n % 2)]
    people = [f"p{n},{20 + n % 5},{'ab'[n % 2]},{('yes', 'NA')[n % 2]}" for n in range(24)]
    (tmp_path / "calls.csv").write_text("\n".join(["caller,callee", *calls, ""]))
    (tmp_path / "people.csv").write_text("\n".join(["who,age,town,smoker", *people, ""]))
    return Study.of(Folder.at(tmp_path), "calls.csv")


@pytest.mark.parametrize(("directed", "method"), [("keep", "profile"), ("symmetrize", "k-degree")])
def test_a_network_has_directions_and_a_file_about_its_people(
    network, monkeypatch, directed, method
):
    network.change({"nodes": "people.csv", "directed": directed})
    assert ["who", "age", "town", "smoker"] == [one.name for one in network.columns]
    network.change({"role1": "drop", "role3": "attach"})
    assert not network.problems
    assert ("network", method) == (network.kind, network.method)
    assert "24 people" in network.said
    assert "2 columns about people" in network.said
    assert tasks.Roles(known=["town"], attach=["smoker"]) == network.roles
    task = asked_of("release", network, method=method, strength=2)
    python, command = pages.same_calls("calls.csv", task, "made")
    monkeypatch.chdir(network.path.parent)
    exec(python)  # noqa: S102  what the page tells people to run
    assert gv.verify_release("made").ok
    made = gv.read_release("made")
    assert 24 == made.data.n_nodes
    assert {"town", "smoker"} == {*made.data.people.columns}
    assert "--nodes people.csv" in command
    assert f"--directed {directed}" in command
    network.change({"undo": "1"})
    assert "age" in network.roles.known
    network.change({"nodes": "", "directed": "keep"})
    assert ((), tasks.Roles()) == (network.problems, network.roles)
    assert "profile" == network.method
    network.change({"nodes": "", "directed": "symmetrize"})
    assert "graph" == network.kind


def test_figures_of_an_earlier_file_about_people_or_of_other_columns_are_not_shown(network):
    network.change({"nodes": "people.csv"})
    screens = pages.Pages(network.folder)
    for verb in ("explore", "bounds"):
        job = running.Job(asked_of(verb, network), network.name)
        screens.jobs.jobs[verb, network.name] = job
        assert job is screens.job_of(verb, network)
    with network.folder.inside("people.csv").open("a") as file:
        file.write("p99,20,a,yes\n")
    assert None is screens.job_of("explore", network)
    job.task = asked_of("bounds", network)
    network.change({"role1": "drop"})
    assert None is screens.job_of("bounds", network)


def test_a_zip_has_no_file_of_elsewhere_that_the_manifest_names(page, release):
    made, secret = page.folder / "linked-k3", page.folder.parent / "secret.csv"
    made.mkdir()
    for one in release.iterdir():
        (made / one.name).symlink_to(secret if one.suffix == ".csv" else one)
    (made / "release.json").unlink()
    (made / "release.json").write_bytes((release / "release.json").read_bytes())
    got = page.get("/zip/linked-k3")
    assert 400 == got.status_code
    assert "is not a file of the release" in got.text


def test_a_release_with_a_file_about_its_people_is_verified_with_it(network, monkeypatch):
    network.change({"nodes": "people.csv"})
    monkeypatch.setattr(work, "_attacks_on", lambda *_: [])
    monkeypatch.setattr(work, "_write_report", lambda *_, **__: None)
    found = {}

    def say(**message):
        found[message.get("found")] = message.get("value")

    given = {"method": "k-degree", "strength": 2, "out": str(network.path.with_name("made"))}
    work.release(say, asked_of("release", network, **given))
    assert "holds" == found["verdict"]["outcome"]
    assert 0 == found["verdict"]["counts"]["not checked"]
    said = " ".join(name + detail for name, _, detail in found["verdict"]["checks"])
    assert "node" not in said.replace("nodes.csv", "")


def test_people_can_choose_their_own_level(tmp_path):
    rows = [f"{20 + n % 3},{'fm'[n % 2]},{1 + n % 4}" for n in range(24)]
    (tmp_path / "own.csv").write_text("\n".join(["age,sex,want", *rows, ""]))
    found = Study.of(Folder.at(tmp_path), "own.csv")
    found.change({"role2": "want"})
    assert not found.problems
    assert "adaptive" == found.method
    said = explored(found)
    [point] = said["points"]
    assert "as column want says" == point["named"]
    job = running.Job(asked_of("explore", found, method="adaptive"), "own.csv")
    job.state, job.found = "done", {"risk": said["risk"][0], "points": [point]}
    running.Jobs(tmp_path).keep(job)
    with served(tmp_path) as one:
        shown = one.get("/risk/own.csv").text
    assert 'class="pair point on"' in shown  # without a slider no script shows it
    assert "values be false" not in shown
    assert 0 < point["kept"] <= 1
    asked = ways.way_named("table", "adaptive").parameters(1, found.settings)
    assert "want" == asked["levels"]
    assert ["age", "sex"] == asked["known"]


def test_bounds_find_a_strength_that_keeps_them(patients):
    found = Study.of(patients, "patients.csv")
    found.change({"role2": "attach"})
    said = explored(found, until=["largest class risk <= 0.25", "kept >= 10%"])
    by = {one["method"]: one for one in said["reached"]}
    assert by["generalize"]["met"]
    assert 4 == by["generalize"]["strength"]
    assert by["generalize"]["kept"] >= 0.1
    said = explored(found, until=["largest class risk <= 0.02", "kept >= 100%"])
    assert not any(one["met"] for one in said["reached"])


def test_a_larger_k_that_hardly_helps_is_said_with_both_ends(monkeypatch, patients):
    found = Study.of(patients, "patients.csv")
    assert "" == explored(found)["hardly"][-1]
    monkeypatch.setattr("graphveil.verbs.advise.strengths.hardly_lowers", lambda *_: True)
    assert "at k = 2 and " in explored(found)["hardly"][-1]


def figures(text):
    """Return the cells of the tables of a page, row by row, without elements."""
    rows = re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)
    cells = [re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<[^>]*>", "", cell).strip() for cell in row] for row in cells]


def shown_on(screen, study, job):
    """Return a screen over HTTP that shows what a job has found, and the rows of its tables."""
    running.Jobs(study.folder.root).keep(job)
    with served(study.folder.root) as one:
        text = html.unescape(one.get(f"/{screen}/{study.name}").text)
    return text, figures(text)


@pytest.fixture
def same_draws(monkeypatch):
    """Let attacks and comparisons draw the same whenever they are made, whoever makes them."""
    for name in ("attack_release", "evaluate_release"):
        verb = partial(getattr(gv, name), seed=1)
        monkeypatch.setattr(work, name, verb)
        monkeypatch.setattr(gv, name, verb)


def share(number):
    return "not known" if number is None else percent(number)


@pytest.mark.usefixtures("same_draws")
def test_figures_of_a_network_on_the_page_are_those_of_the_verbs(network, monkeypatch):
    made, anonymize = [], work.anonymize

    def noted(*given, **more):
        made.append(anonymize(*given, **more))
        return made[-1]

    monkeypatch.setattr(work, "anonymize", noted)
    monkeypatch.setitem(ways.STRENGTHS, "k", (5, 2))
    job = running.Job(asked_of("explore", network, method="k-degree"), network.name, "done")
    work.explore(lambda **message: job.hear(message), job.task)
    text, rows = shown_on("risk", network, job)
    data = gv.read_graph(network.path, directed="symmetrize", ignore_weights=True)
    sizes = gv.measure(data).own_sizes
    ends = {"unique": (1, 1), "2 to 4": (2, 4), "5 to 9": (5, 9), "10 or more": (10, 24)}
    for words, (low, high) in ends.items():
        people = sum(low <= size <= high for size in sizes)
        assert [words, "", str(people), share(people / 24)] in rows
    assert ["k = 5", "k = 2"] == [one["named"] for one in job.found["points"][:2]]
    tried = iter(made)
    for point in job.found["points"]:
        if "failed" in point:
            continue
        released = next(tried)
        kept = gv.evaluate_release(released, data, metrics=["edges-kept"])
        kept = next(row.value for row in kept if row.part == "share")
        attacks = ["candidate-set", "seeded-matching"]
        found = gv.attack_release(released, data, attacks=attacks, seconds=20)
        worst = strongest(found)
        line = [point["method"], point["named"], share(kept), share(point["false"])]
        assert [*line, share(0.0 if worst is None else worst.share)] in rows
        assert worst is None or worst.share in {row.value for row in found}
        if point["method"] == "k-degree":
            assert f'<b class="big">{share(kept)}</b> of the connections' in text
    assert next(tried, None) is None


@pytest.mark.usefixtures("same_draws")
@pytest.mark.parametrize("method", ["generalize", "k-degree"])
def test_figures_of_a_release_on_the_page_are_those_of_the_verbs(patients, network, method):
    is_table = method == "generalize"
    study = Study.of(patients, "patients.csv") if is_table else network
    word, out = (str if is_table else work.for_people), patients.root / "made"
    given = {"method": method, "strength": 3, "out": str(out)}
    job = running.Job(asked_of("release", study, **given), study.name, "done")
    work.release(lambda **said: job.hear(said), job.task)
    text, rows = shown_on("release", study, job)
    if is_table:
        options = gv.choices_of(out).options
        reading = {"drop": options.drop, "suppressed": options.suppressed, "exact": True}
        data = gv.read_table(study.path, person="row", **reading)
    else:
        data = gv.read_graph(study.path, directed="symmetrize", ignore_weights=True)
    released, ran, names = gv.read_release(out), [], []
    for name, one in gv.ATTACKS.items():
        if concerns(one, type(data), released.guarantee) and not one.by_name:
            names.append(name)
            with suppress(gv.GraphveilError):
                ran += gv.attack_release(released, data, attacks=[name])
    found = Rows(ran)
    lines = [line for one in summary.groups(found, of_table=is_table) for line in one.lines]
    assert len(lines) > 2
    for line in lines:
        tag = "yes, measured" if line.answer == "yes" else line.answer
        figure = f"{line.figure} {word(line.unit)}"
        assert [word(line.question), figure, line.guess, tag] in rows
    assert word(summary.headline(found, of_table=is_table)) in text
    assert f"{len({row.question for row in found})} of {len(names)} attacks have run" in text
    kept = gv.evaluate_release(released, data)
    for line in wording.answers(kept):
        assert [word(line.question), line.figure, word(line.unit)] in rows
    stars = {row.part: row.value for row in kept if row.question == "stars-by-column"}
    assert is_table == ({"age", "sex"} <= {*stars})
    for name, hidden in stars.items():
        assert [name, "", share(1 - hidden)] in rows
    verdict = gv.verify_release(out, study.path)
    counts = Counter(one.outcome for one in verdict.checks)
    assert f"{counts['holds']} of {len(verdict.checks)} checks hold, 0 fail" in text


def test_names_and_cells_of_a_file_are_text_on_every_screen(tmp_path):
    bad = '<script>alert("x")</script>'
    rows = [f"{bad.replace(chr(34), '')},{n % 3}\x1b" for n in range(30)]
    (tmp_path / "odd.csv").write_text("\n".join(["<b>a</b>,</th><img>", *rows]))
    with served(tmp_path) as one:
        shown = one.get("/columns/odd.csv").text
        assert "<script>alert" not in shown
        assert "<img>" not in shown
        assert "<b>a" not in shown
        assert "&lt;b&gt;a&lt;/b&gt;" in shown
        assert "\x1b" not in shown


def test_the_whole_way_over_http_without_scripts(patients):
    with served(patients.root) as one:
        refused = one.post("/columns/patients.csv", data={"role1": "known", "go": "1"})
        assert 'aria-invalid="true"' in refused.text
        assert "1 question is open" in refused.text
        assert "disabled" in refused.text
        one.post("/columns/patients.csv", data={"answer": "0-drop"})
        assert "not measured yet" in one.get("/risk/patients.csv").text
        begun = one.post("/columns/patients.csv", data={"go": "1"})
        assert begun.url.endswith("/risk/patients.csv")
        text = one.until("/risk/patients.csv", "What is kept at k = 5")
        assert "of the 120 people are unique" in text
        read = gv.choices_of(patients.root / ".graphveil" / "patients.csv.json").options
        file, given = patients.root / "patients.csv", {"drop": read.drop, "person": "row"}
        table = gv.read_table(file, suppressed=read.suppressed, exact=True, **given)
        sizes = gv.measure(table).own_sizes  # the figures of the page are those of the verbs
        for low, high in ((1, 1), (2, 4), (5, 9), (10, 120)):
            people = sum(low <= size <= high for size in sizes)
            assert f'<td class="n">{people}</td>' in text
        stopped = one.post("/stop/explore/patients.csv", data={"a": ""})
        assert "You stopped this" in stopped.text or "k = 20" in stopped.text
        one.post("/columns/patients.csv", data={"role5": "drop"})
        assert "not measured yet" in one.get("/risk/patients.csv").text  # of these columns
        one.post("/columns/patients.csv", data={"undo": "1"})
        assert "What is kept at k = 5" in one.get("/risk/patients.csv").text
        one.post("/release/patients.csv", data={"method": "generalize", "pick": "3"})
        text = one.until("/release/patients.csv", "Public report")
        assert "Guaranteed" in text
        assert "at least 2 others" in text
        stopped = one.post("/stop/release/patients.csv")
        assert "/stop/" not in one.get("/release/patients.csv").text
        verdict = gv.verify_release(patients.root / "patients-k3", patients.root / "patients.csv")
        assert verdict.ok
        assert f"of {len(verdict.checks)} checks hold, 0 fail, 0 not made" in text
        assert 404 == one.post("/stop/release/other.csv").status_code
        assert "120 people and 4 columns" in text
        with (patients.root / "patients.csv").open("a") as file:
            file.write("P120,Ann120,20,f,no,b\n")
        assert "not measured yet" in one.get("/risk/patients.csv").text  # of this file
        assert "120 people" not in one.get("/release/patients.csv").text
        without = text.partition("Do the same on the command line")[0]
        assert "--" not in re.sub(r"<[^>]*>", "", without)


def test_levels_of_a_column_come_from_a_file_and_what_does_not_suit_is_asked_at_it(
    patients, monkeypatch
):
    (patients.root / "sexes.csv").write_text("f;anybody;*\nm;anybody;*\n")
    (patients.root / "other.csv").write_text("a;letter;*\nb;letter;*\n")
    found = Study.of(patients, "patients.csv")
    assert {"sexes.csv", "other.csv"} <= {*found.levels_files}
    found.change({"levels3": "other.csv"})
    assert ["sex"] == [one.column for one in found.problems]
    assert "lacks f" in found.problems[0].text
    found.change({"levels3": "sexes.csv"})
    assert not found.problems
    assert str(patients.root / "sexes.csv") == found.roles.levels["sex"]
    assert {"sex": str(patients.root / "sexes.csv")}.items() <= dict(
        gv.choices_of(found.kept).parameters["levels"]
    ).items()
    before = found.settings
    (patients.root / "sexes.csv").write_text("f;each;*\nm;each;*\n\n")
    assert before != found.settings  # figures of other levels are not shown
    python, command = pages.same_calls("patients.csv", asked_of("release", found), "made")
    assert "--levels sex=sexes.csv" in command
    monkeypatch.chdir(patients.root)
    exec(python)  # noqa: S102  what the page tells people to run
    assert gv.verify_release("made").ok
    assert str(patients.root) not in (patients.root / "made" / "release.json").read_text()


@pytest.mark.parametrize("cell", ["many", "0", "3.5"])
def test_levels_of_people_that_are_no_numbers_are_refused_at_their_column(tmp_path, cell):
    rows = [f"{20 + n % 3},{'fm'[n % 2]},{cell if n == 7 else 2}" for n in range(24)]
    (tmp_path / "own.csv").write_text("\n".join(["age,sex,want", *rows, ""]))
    found = Study.of(Folder.at(tmp_path), "own.csv")
    found.change({"role2": "want"})
    assert ["want"] == [one.column for one in found.problems]
    assert "row 7" in found.problems[0].text


def test_what_was_found_outlives_the_server_and_is_not_measured_again(patients):
    found = Study.of(patients, "patients.csv")
    task = asked_of("explore", found)

    def later():
        return pages.Pages(patients).job_of("explore", Study.of(patients, "patients.csv"))

    def keep(state):
        job = running.Job(task, "patients.csv")
        job.found["risk"] = {"people": 120, "unique": 7, "knows": "x", "groups": [7, 0, 0, 113]}
        job.found["risk"]["of"] = "people"
        job.state, job.stage = state, "Trying generalize, k = 10"
        running.Jobs(patients.root).keep(job)
        [file] = (patients.root / ".graphveil" / "jobs").iterdir()
        assert (0o600, 0o700) == tuple(p.stat().st_mode & 0o777 for p in (file, file.parent))
        return file

    file = keep("running")
    assert ("interrupted", 7) == (later().state, later().found["risk"]["unique"])
    with served(patients.root) as one:
        assert "The program ended during: Trying" in one.get("/risk/patients.csv").text
    assert "done" == (keep("done") and later().state)
    file.write_text(file.read_text().replace(str(patients.root), "/elsewhere"))
    assert later() is None
    file.write_text("{")
    assert later() is None
    keep("done")
    found.change({"role3": "drop"})
    assert later() is None


def test_what_was_found_is_written_by_no_link_to_elsewhere(tmp_path):
    (tmp_path / "served" / ".graphveil").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "served" / ".graphveil" / "jobs").symlink_to(tmp_path / "elsewhere")
    jobs = running.Jobs(tmp_path / "served")
    jobs.keep(running.Job(asked_of("explore"), "a.csv"))
    assert [] == [*(tmp_path / "elsewhere").iterdir()]
    assert jobs.of("explore", "a.csv") is None


def test_figures_of_a_release_go_with_it(patients):
    task = asked_of("release", out=str(patients.root / "patients-k3"))
    job = running.Job(task, "patients.csv")
    for jobs in (running.Jobs(patients.root), running.Jobs(patients.root)):
        jobs.keep(job)
        assert jobs.of("release", "patients.csv").task == task
        asyncio.run(jobs.forget(patients.root / "patients-k5"))
        assert jobs.of("release", "patients.csv") is not None
        asyncio.run(jobs.forget(patients.root / "patients-k3"))
        assert jobs.of("release", "patients.csv") is None
        assert not [*(patients.root / ".graphveil" / "jobs").iterdir()]


def test_a_data_file_is_deleted_if_asked_and_what_was_measured_of_it_goes_with_it(network):
    network.change({"nodes": "people.csv"})
    root = network.folder.root
    given = {"study": network.settings, "path": network.path, "out": str(root / "calls-k5")}
    ring(root / "friends.csv")

    def keep():
        for name, said in {
            "calls.csv": given,
            "friends.csv": {"path": root / "friends.csv"},
        }.items():
            for verb in ("explore", "bounds", "release"):
                running.Jobs(root).keep(running.Job(asked_of(verb, **said), name))

    def left():
        return len([*(root / ".graphveil" / "jobs").iterdir()])

    keep()
    with served(root) as one:
        assert "Delete calls.csv" in one.get("/").text
        asked = one.get("/delete/calls.csv").text
        assert "The file calls.csv and what was measured of it are deleted" in asked
        assert (True, 6) == (network.path.exists(), left())
        one.post("/delete/calls.csv")
        assert (False, 3) == (network.path.exists(), left())
        assert 404 == one.get("/risk/calls.csv").status_code
        assert network.kept.is_file()  # for next year's file
        network.path.write_text("caller,callee\np1,p2\n")
        keep()
        one.post("/delete/people.csv")  # whose figures are in those of the calls
        assert 3 == left()
        keep()
    network.path.unlink()
    with served(root) as one:
        one.get("/")
        assert 3 == left()  # of a file that was deleted outside the app
    (root / "friends.csv").unlink()
    with served(root):
        pass
    assert 0 == left()


def test_a_release_that_is_deleted_while_it_is_attacked_leaves_no_figures(patients):
    out = patients.root / "patients-k3"

    async def run():
        jobs = running.Jobs(patients.root)
        job = await jobs.start(asked_of("release", out=str(out)), "patients.csv")
        jobs.keep(job)
        await jobs.forget(out)
        ended, left = job.process.returncode, [*(patients.root / ".graphveil" / "jobs").iterdir()]
        await job.reader
        return ended, left, [*(patients.root / ".graphveil" / "jobs").iterdir()]

    ended, left, later = asyncio.run(run())
    assert ended is not None
    assert [] == left == later


def test_a_verdict_is_shown_of_the_release_that_it_is_about_alone(patients):
    out = patients.root / "patients-k3"
    out.mkdir()
    (out / "release.json").write_text("{}")
    task, made = asked_of("release", out=str(out)), hashlib.sha256(b"{}").hexdigest()
    holds = pages.Pages(patients).is_there
    assert not holds(task, None)
    assert holds(task, made)
    (out / "release.json").write_text("{ }")
    assert not holds(task, made)
    (out / "release.json").unlink()
    assert not holds(task, made)


def test_two_pages_that_ask_at_once_get_one_spare_process(tmp_path, monkeypatch):
    made = []

    async def run():
        jobs = running.Jobs(tmp_path)
        begin = jobs._process

        async def noted():
            made.append(await begin())
            return made[-1]

        monkeypatch.setattr(jobs, "_process", noted)
        await asyncio.gather(jobs.warm(), jobs.warm())
        await jobs.close()
        return jobs.spare

    spare = asyncio.run(run())
    assert [spare] == made


def test_a_spare_process_takes_the_next_job_and_ends_with_the_server(tmp_path):
    async def run():
        jobs = running.Jobs(tmp_path)
        await jobs.warm()
        spare = jobs.spare
        await jobs.warm()
        assert spare is jobs.spare
        job = await jobs.start(tasks.Check(folder=str(tmp_path), page="x"), "x")
        assert spare is job.process
        await job.reader
        await jobs.warm()
        await jobs.close()
        return job, jobs.spare

    job, spare = asyncio.run(run())
    assert "refused" == job.state
    assert spare.returncode is not None


# --- stopped at every stage, and a disk that is full


def half_written(folder):
    """Return what in a folder is there in part: temporary names, releases, reports, findings."""
    found = [path for path in folder.rglob(".*") if path.name != ".graphveil"]
    for path in folder.rglob("*"):
        if path.name == "release.json" and not gv.verify_release(path.parent).ok:
            found.append(path)
        if path.suffix == ".html" and not path.read_text().rstrip().endswith("</html>"):
            found.append(path)
        if path.parent.name == "jobs":
            json.loads(path.read_bytes())
    releases = {path.parent.name for path in folder.rglob("release.json")}
    private = [one for one in folder.glob("*.private") if one.stem not in releases]
    return found + private


STAGES = {
    "explore": ["Reading the file", "Measuring the risk", "Trying generalize, k = 5"],
    "bounds": ["Looking for a strength of generalize"],
    "release": [
        "Making",
        "Verifying",
        "Writing the public",
        "Comparing",
        "Attacking",
        "Writing the report for",
    ],
    "check": ["Verifying", "Writing"],
}


LONGEST = ("release", "Attacking")


@pytest.mark.parametrize(
    "at",
    first_of([LONGEST, *((v, one) for v in STAGES for one in STAGES[v] if (v, one) != LONGEST)]),
)
def test_a_job_is_stopped_in_every_stage_and_leaves_nothing_half_written(
    patients, release, monkeypatch, at
):
    (verb, stage), root, study = at, patients.root, Study.of(patients, "patients.csv")
    if verb == "check":
        shutil.copytree(release, root / "ring-k3")
        task = tasks.Check(folder=str(root / "ring-k3"), page=str(root / "page.html"))
    else:
        out = str(root / "patients-k3")
        task = asked_of(verb, study, until=["kept >= 50%"], out=out)
    hear = running.Job.hear

    async def run():
        jobs, reached = running.Jobs(root), asyncio.Event()

        def noted(job, message):
            hear(job, message)
            if message.get("stage", "").startswith(stage):
                reached.set()

        monkeypatch.setattr(running.Job, "hear", noted)
        job = await jobs.start(task, study.name)
        async with asyncio.timeout(240):
            await reached.wait()
        await jobs.stop(job)
        await asyncio.sleep(0.1)  # its pipes are closed
        return job

    for _ in range(10):
        job = asyncio.run(run())
        if job.process.returncode and job.stage.startswith(stage):
            break
        for made in root.glob("patients-k3*"):  # a busy machine: the stage ended too early
            shutil.rmtree(made) if made.is_dir() else made.unlink()
    assert "stopped" == job.state
    assert job.stage.startswith(stage)
    assert 143 == job.process.returncode  # by itself: it was not killed after a while
    with pytest.raises(ProcessLookupError):
        running.os.killpg(job.process.pid, signal.SIGCONT)
    assert [] == half_written(root)
    is_made = verb == "release" and stage != "Making"
    assert is_made == ("made" in job.found) == (root / "patients-k3").exists()
    assert f"You stopped this during: {job.stage}" in shown("progress", job, "risk")


def full(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("name", "state", "has_release"),
    [
        ("graphveil.core.atomic._flush", "refused", False),
        ("graphveil.pages.charts.whole_file", "failed", True),
    ],
)
def test_a_disk_that_is_full_during_a_job_is_said_and_leaves_nothing_half_written(
    patients, monkeypatch, name, state, has_release
):
    study, out = Study.of(patients, "patients.csv"), patients.root / "patients-k3"
    monkeypatch.setattr(name, full)
    task = asked_of("release", study, out=str(out))
    stream = io.StringIO()
    work.run(stream, task)
    job = running.Job(task, study.name)
    for line in stream.getvalue().splitlines():
        job.hear(json.loads(line))
    assert state == job.state
    assert "no space left" in job.why.lower()
    assert "ree" in job.why  # the way out
    assert "defect" not in shown("progress", job, "release")
    assert has_release == out.exists() == out.with_name("patients-k3.private").exists()
    assert [] == half_written(patients.root)


def test_a_disk_that_is_full_for_what_is_found_keeps_no_job_from_its_end(patients, monkeypatch):
    monkeypatch.setattr(running, "whole_file", full)
    body = 'say(found="risk", value=1); say(end="done", why="")'
    job, _ = running_job(patients.root, monkeypatch, SAY + body, asked_of("explore"))
    assert ("done", {"risk": 1}) == (job.state, job.found)
    assert [] == half_written(patients.root)


class Full(io.RawIOBase):
    """A file on a full disk."""

    write = full


@pytest.mark.parametrize("name", ["pathlib.Path.open", "shutil.copyfileobj", "shutil.copyfile"])
def test_a_disk_that_is_full_for_what_is_sent_or_copied_is_no_defect(
    tmp_path, release, monkeypatch, name
):
    with served(tmp_path) as one:
        opened, as_usual = Path.open, not name.endswith("open")

        def open_full(path, mode="r", **given):
            return Full() if mode == "xb" else opened(path, mode, **given)

        monkeypatch.setattr(name, full if as_usual else open_full)
        answer = (
            one.post("/sample/people.csv")
            if name == "shutil.copyfile"
            else sent(one, packed(release))
        )
        assert 500 == answer.status_code
        assert "No space left on device. Check the free space" in answer.text
        assert "defect" not in answer.text
        assert not (tmp_path / "people.csv").exists()
        assert [] == half_written(tmp_path)
        assert [] == [*tmp_path.rglob("upload")]


# --- the command


def test_the_command_says_what_is_wrong_with_folder_and_port(tmp_path):
    with pytest.raises(UsageError, match="is not a folder"):
        serve._run(tmp_path / "nothing", port=0, open=False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ResourceError, match=f"cannot listen on port {port}"):
            serve._run(tmp_path, port=port, open=False)


def test_the_browser_is_opened_by_a_file_that_only_its_owner_reads(monkeypatch):
    opened = []
    monkeypatch.setattr(serve.webbrowser, "open", opened.append)
    with ExitStack() as stack:
        serve._open("http://127.0.0.1:1/open?code=secret", stack)
        file = Path(opened[0].removeprefix("file://"))
        assert "secret" not in opened[0]
        assert "url=http://127.0.0.1:1/open?code=secret" in file.read_text()
        assert 0o600 == file.stat().st_mode & 0o777
    assert not file.exists()
