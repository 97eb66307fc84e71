"""Shipped data is what its table says; fetched data is checked wherever it comes from."""

from __future__ import annotations

import gzip
import hashlib
import re
import socket
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import graphveil as gv
from graphveil.core import errors
from graphveil.data import Bipartite, Graph, Table
from graphveil.io.datasets import DATASETS, LARGER, LargerSet, fetch, load, names, path_of
from graphveil.io.datasets.sets import FOLDER_VARIABLE
from shared_data import script, shared, shared_folder

CONTENT = b"# a small edge list\n0 1\n1 2\n" * 50


class Server:
    """An HTTP server on localhost that answers what a test tells it to, and counts requests."""

    def __init__(self):
        self.body = gzip.compress(CONTENT)
        self.status = 200
        self.headers = {}
        self.cut = 0
        self.requests = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests += 1
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(outer.body)))
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(outer.body[: len(outer.body) - outer.cut])

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        serve = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        serve.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_port}/small.txt.gz"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = Server()
    register(monkeypatch, running.url)
    yield running
    running.http.shutdown()
    running.http.server_close()


def register(monkeypatch, url, content=CONTENT):
    item = LargerSet(
        name="small",
        kind="graph",
        file="small.txt",
        url=url,
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        license="CC0-1.0",
        source="made here",
    )
    monkeypatch.setitem(LARGER, "small", item)


def refusal_of(error_type, cache):
    with pytest.raises(error_type) as caught:
        fetch("small", cache=cache)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.usefixtures("server")
def test_a_set_is_downloaded_unpacked_and_kept_in_the_cache(tmp_path):
    path = fetch("small", cache=tmp_path / "cache")
    assert tmp_path / "cache" / "small.txt" == path
    assert path.read_bytes() == CONTENT
    assert [path] == list(path.parent.iterdir())


def test_a_set_in_the_cache_is_not_asked_for_again(server, tmp_path):
    fetch("small", cache=tmp_path)
    fetch("small", cache=tmp_path)
    assert server.requests == 1


def test_a_damaged_copy_in_the_cache_is_replaced(server, tmp_path):
    fetch("small", cache=tmp_path).write_bytes(b"0 1\n")
    assert fetch("small", cache=tmp_path).read_bytes() == CONTENT
    assert server.requests == 2


@pytest.mark.usefixtures("server")
def test_the_cache_of_the_operating_system_is_used_when_none_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert fetch("small") == tmp_path / "graphveil" / "small.txt"


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}], ids=["file", "transfer"])
def test_it_does_not_matter_who_undoes_the_compression(server, tmp_path, headers):
    server.headers = headers
    assert fetch("small", cache=tmp_path).read_bytes() == CONTENT


def test_a_file_that_is_not_compressed_is_taken_as_it_is(server, tmp_path):
    server.body = CONTENT
    assert fetch("small", cache=tmp_path).read_bytes() == CONTENT


def test_another_content_is_refused_with_both_digests_and_the_way_out(server, tmp_path):
    other = b"9 9\n"
    server.body = gzip.compress(other)
    message = refusal_of(errors.InputError, tmp_path)
    assert hashlib.sha256(other).hexdigest() in message
    assert hashlib.sha256(CONTENT).hexdigest() in message
    assert server.url in message
    assert FOLDER_VARIABLE in message
    assert list(tmp_path.iterdir()) == []


def test_a_content_that_only_begins_right_is_refused(server, tmp_path):
    server.body = gzip.compress(CONTENT + b"7 8\n")
    assert "of the first" in refusal_of(errors.InputError, tmp_path)


def test_a_damaged_archive_is_refused(server, tmp_path):
    server.body = gzip.compress(CONTENT)[:-12]
    assert "damaged" in refusal_of(errors.InputError, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_page_is_told_by_its_status(server, tmp_path):
    server.status = 404
    message = refusal_of(errors.ResourceError, tmp_path)
    assert "404" in message
    assert FOLDER_VARIABLE in message


def test_a_download_that_breaks_off_leaves_nothing(server, tmp_path):
    server.cut = 10
    assert "could not be downloaded" in refusal_of(errors.ResourceError, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_a_network_the_way_out_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    register(monkeypatch, f"http://127.0.0.1:{port}/small.txt.gz")
    message = refusal_of(errors.ResourceError, tmp_path)
    assert FOLDER_VARIABLE in message


@pytest.mark.usefixtures("server")
def test_a_cache_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "cache").write_text("")
    assert "cache folder" in refusal_of(errors.ResourceError, tmp_path / "cache")


@pytest.mark.parametrize("name", ["small.txt", "small.txt.gz"])
def test_a_local_folder_is_read_before_the_network(server, tmp_path, monkeypatch, name):
    content = gzip.compress(CONTENT) if name.endswith(".gz") else CONTENT
    (tmp_path / name).write_bytes(content)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert fetch("small", cache=tmp_path / "cache") == tmp_path / name
    assert server.requests == 0


def test_a_local_file_is_checked_as_well(server, tmp_path, monkeypatch):
    (tmp_path / "small.txt").write_bytes(b"0 1\n")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    message = refusal_of(errors.InputError, tmp_path / "cache")
    assert str(tmp_path / "small.txt") in message
    assert server.requests == 0


@pytest.mark.usefixtures("server")
def test_a_local_folder_without_the_file_leads_to_the_network(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "empty"))
    assert fetch("small", cache=tmp_path / "cache").read_bytes() == CONTENT


@pytest.mark.usefixtures("server")
def test_nothing_is_written_to_the_streams_when_they_are_no_terminal(tmp_path, capfd):
    fetch("small", cache=tmp_path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("server")
def test_a_bar_is_shown_on_a_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    fetch("small", cache=tmp_path)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "small" in captured.err


@pytest.mark.parametrize("function", [fetch, load, path_of])
def test_an_unknown_name_is_answered_with_the_known_ones(function):
    with pytest.raises(errors.UsageError) as caught:
        function("nonsense")
    known = LARGER if function is fetch else DATASETS
    assert all(name in str(caught.value) for name in known)


def test_the_digests_of_larger_sets_are_those_of_the_copies_at_hand(monkeypatch, tmp_path):
    for item in LARGER.values():
        files = [*shared_folder().glob(f"*/{item.file}.gz")] or [shared(item.name)]
        monkeypatch.setenv(FOLDER_VARIABLE, str(files[0].parent))
        assert fetch(item.name, cache=tmp_path) == files[0]
        assert item.bytes == len(gzip.decompress(files[0].read_bytes()))


def test_every_larger_set_is_fetched_over_a_secure_connection():
    assert [item.url for item in LARGER.values() if not item.url.startswith("https://")] == []


def test_every_shipped_set_has_the_size_its_table_says():
    for name in names():
        item, data = DATASETS[name], load(name)
        if isinstance(data, Graph):
            actual = ("graph", data.n_nodes, data.n_edges)
        elif isinstance(data, Bipartite):
            actual = ("bipartite", data.n_users, data.n_entries)
        else:
            actual = ("table", data.n_rows, data.n_columns)
        assert (item.kind, item.n, item.m) == actual


def test_patients_without_a_finding_are_kept():
    data = load("spect-heart")
    sizes = data.indptr[1:] - data.indptr[:-1]
    assert (int((sizes == 0).sum()), data.n_features) == (25, 22)


def test_a_question_mark_of_adult_is_a_value():
    data = load("adult-sample")
    assert data.n_suppressed == 0
    assert "?" in data.categories[data.columns.index("workclass")].tolist()
    assert isinstance(data, Table)


def test_every_shipped_file_stands_in_the_licenses_and_every_set_names_one():
    folder = path_of("copenhagen-calls").parent
    text = (folder / "LICENSES").read_text(encoding="utf-8")
    files = {file for item in DATASETS.values() for file in item.files}
    assert files == {path.name for path in folder.glob("*.csv")}
    assert [file for file in files if file not in text] == []
    assert [item.name for item in DATASETS.values() if not (item.license and item.source)] == []


def test_the_script_derives_the_shipped_files_from_the_originals(tmp_path):
    make = script("tools/make_shipped_data.py")
    make.make_calls(shared("anonet/calls.edges"), tmp_path)
    originals = (shared(f"spect-heart/SPECT.{part}.gz") for part in ("train", "test"))
    make.make_spect(*originals, tmp_path)
    make.make_adult(shared("adult/adult.data.gz"), tmp_path)
    shipped = path_of("copenhagen-calls").parent
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in shipped.glob("*.csv")}


def test_a_list_of_calls_gives_the_same_graph_as_its_edge_list(tmp_path):
    calls = tmp_path / "calls.csv"
    calls.write_text(
        "timestamp,caller,callee,duration\n1,30,20,5\n2,20,30,-1\n3,40,20,9\n4,7,-1,3\n"
    )
    script("tools/make_shipped_data.py").make_calls(calls, tmp_path)
    assert (tmp_path / "copenhagen_calls.csv").read_text() == "source,target\n0,1\n0,2\n"


def test_every_data_set_of_the_papers_is_found_by_its_name_there():
    found = {(one.paper, one.theirs): one for one in gv.datasets.BY_PAPER}
    assert len(gv.datasets.BY_PAPER) == len(found)
    counts = Counter(one.paper for one in found.values())
    assert {
        "smooth-anonymity": 6,
        "adaptive-anonymity": 8,
        "top-m-filter": 8,
        "anonymization-problem": 23 + 3,
    } == counts
    known = {
        "ships": gv.datasets.DATASETS,
        "drawn": dir(gv.datasets),
        "file": gv.datasets.PAPERS,
    }
    for one in found.values():
        if one.way in known:
            assert one.ours in known[one.way], one
        elif one.way == "elsewhere":
            assert re.match(r"https?://", one.ours), one
        else:
            assert one.ours


@pytest.mark.parametrize("name", ["ca-AstroPh", "email-Enron", "loc-Brightkite", "power"])
def test_a_network_of_the_papers_is_checked_in_a_folder(name):
    found = gv.datasets.found_in(name, shared(name).parent)
    assert gv.datasets.PAPERS[name].file == found.name.removesuffix(".gz")
