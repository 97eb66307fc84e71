from __future__ import annotations

import sys
import threading
import time
from types import SimpleNamespace

import pytest

from graphveil.core import progress as notebook
from graphveil.core.progress import shown, stage


@pytest.fixture
def outputs(monkeypatch):
    """Return what a kernel is given to show; the work of these tests counts as long at once."""
    published = []

    def publish(data, metadata, *, transient, update):
        published.append((data, metadata, transient["display_id"], update))

    shell = SimpleNamespace(kernel=object(), display_pub=SimpleNamespace(publish=publish))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(notebook, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(notebook, "BETWEEN_SECONDS", 0.0)
    return published


def texts(outputs):
    return [data["text/plain"].split("  ")[0] for data, *_ in outputs]


def test_one_line_is_shown_and_then_nothing(outputs):
    with stage("counting", total=4) as advance:
        advance(1)
        advance(1)
    shares = [data["text/plain"] for data, *_ in outputs]
    assert any("[###############...............] 50%" in text for text in shares)
    assert "" == shares[-1]
    assert 1 == len({display_id for _, _, display_id, _ in outputs})
    assert [False, *[True] * (len(outputs) - 1)] == [update for *_, update in outputs]


def test_a_stage_inside_another_takes_its_line_for_a_while(outputs):
    with stage("outer"):
        with stage("inner", total=2) as advance:
            advance(2)
        with stage("last"):
            pass
    said = [
        text for number, text in enumerate(texts(outputs)) if text != texts(outputs)[number - 1]
    ]
    assert ["outer", "inner", "outer", "last", "outer", ""] == said
    assert 1 == len({display_id for _, _, display_id, _ in outputs})


def test_nothing_but_plain_text_is_published(outputs):
    with stage("<script>alert(1)</script>", total=1) as advance:
        advance(1)
    assert {("text/plain",)} == {tuple(data) for data, *_ in outputs}
    assert {()} == {tuple(metadata) for _, metadata, *_ in outputs}


def test_quick_work_shows_nothing(outputs, monkeypatch):
    monkeypatch.setattr(notebook, "PATIENCE_SECONDS", 60.0)
    with stage("quick", total=1) as advance:
        advance(1)
    assert [] == outputs


def test_work_that_reports_nothing_is_shown_once_it_takes_long(outputs, monkeypatch):
    monkeypatch.setattr(notebook, "PATIENCE_SECONDS", 0.05)
    with stage("slow"):
        until = time.monotonic() + 10
        while not outputs and time.monotonic() < until:
            time.sleep(0.01)
    assert ["slow", ""] == texts(outputs)


def test_a_failure_leaves_no_line(outputs):
    with pytest.raises(ValueError, match="no"), stage("outer"), stage("inner"):
        raise ValueError("no")
    assert "" == texts(outputs)[-1]
    assert notebook._line is None


def test_another_thread_shows_no_line_of_its_own(outputs):
    def work():
        with stage("elsewhere", total=1) as advance:
            advance(1)

    with stage("here"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert {"here", ""} == set(texts(outputs))


@pytest.mark.parametrize("shell", [None, SimpleNamespace()], ids=["no shell", "a terminal"])
def test_without_a_kernel_nothing_is_shown(outputs, monkeypatch, shell):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with stage("counting", total=1) as advance:
        advance(1)
    monkeypatch.delitem(sys.modules, "IPython")
    with stage("counting", total=1) as advance:
        advance(1)
    assert [] == outputs


def test_who_shows_stages_otherwise_is_asked_instead(outputs):
    seen = []

    def display(name, total):
        seen.append((name, total))
        return notebook.line(lambda *_, **__: None, name, total)

    with shown(display), stage("counting", total=3) as advance:
        advance(1)
    assert ([("counting", 3)], []) == (seen, outputs)
