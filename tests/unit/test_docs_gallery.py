"""The gallery shows every method, and every disc is the mean of stored rows."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import graphveil as gv

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "docs"), str(ROOT / "benchmarks")]
import gallery  # noqa: E402  a script beside the package
from raw_rows import read_rows  # noqa: E402

ROWS = read_rows(gallery.ROWS)
PICTURES = list(gallery.pictures())


def test_every_method_has_a_picture_and_rename_stands_beside_all():
    assert set(gv.METHODS) == {method for _, method, _ in PICTURES}
    assert set(gallery.DATA) == {data for data, method, _ in PICTURES if method == "rename"}


@pytest.mark.parametrize(
    ("data", "method", "drawn"), PICTURES, ids=lambda x: x if isinstance(x, str) else ""
)
def test_every_disc_is_the_mean_of_two_runs_and_lies_between_them(data, method, drawn):
    assert drawn
    for mark, least, most in drawn:
        assert least <= mark.after <= most
        matching = [q for q in gallery.QUESTIONS[data] if mark.label.startswith(q.words)]
        asked = max(matching, key=lambda question: len(question.words))
        values = [
            row["value"]
            for row in ROWS
            if (row["data"], row["method"], row["question"]) == (data, method, asked.question)
            and row["part"] == asked.part
            and mark.label.removeprefix(asked.words).removeprefix(", ")
            == gallery.strength_of(row["parameters"])
        ]
        assert 2 == len(values)
        assert sum(values) / 2 == pytest.approx(mark.after)
        assert (least, most) == (min(values), max(values))


@pytest.mark.parametrize(
    ("data", "method", "drawn"), PICTURES, ids=lambda x: x if isinstance(x, str) else ""
)
def test_every_strength_of_a_method_is_in_its_picture(data, method, drawn):
    points = {
        str(row["parameters"]) for row in ROWS if (row["data"], row["method"]) == (data, method)
    }
    assert len(points) == (1 if method == "rename" else 3)
    strengths = {bar.mark.label.rpartition(", ")[2] for bar in drawn if "=" in bar.mark.label}
    assert len(strengths) == (0 if method == "rename" else 3)


def test_of_noise_nothing_is_called_certain():
    said = [bar.mark.label for _, _, drawn in PICTURES for bar in drawn]
    certain = [label for label in said if label.startswith(gallery.CERTAIN.words)]
    assert certain
    assert [] == [label for label in certain if "epsilon" in label]


def test_a_picture_is_svg_and_the_page_shows_all_of_them_with_their_tables():
    for picture in PICTURES:
        ET.fromstring(gallery.picture(*picture))  # noqa: S314  our own text
    text = gallery.gallery()
    assert len(PICTURES) == text.count("<svg") == text.count("<details>")
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert "{{ gallery }}" in page
    assert "\ngallery\n" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
