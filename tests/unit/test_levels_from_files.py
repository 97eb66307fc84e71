"""Levels from a file: what their labels say by themselves, read twice, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import graphveil as gv
from forged.kit import reseal
from graphveil.claims.conditions import OwnersLevels
from graphveil.core.errors import GraphveilWarning, InputError
from graphveil.methods.generalize.labels import includes, overlapping
from graphveil.verify.recount.rows.owners_labels import label_includes, overlapping_labels

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

READ = {
    ("40-49", "30"): False,
    ("30-39", "30"): True,
    ("30-39", "39.5"): False,
    ("[30, 40)", "39.5"): True,
    ("[30, 40)", "40"): False,
    ("]30;40]", "30"): False,
    ("20-39", "[20, 40)"): True,
    ("20-39", "[20, 41)"): False,
    ("-5 to 5", "-5"): True,
    ("65+", "65"): True,
    (">65", "65"): False,
    ("<18", "17"): True,
    ("2<x<=9", "2"): False,
    ("1991", "1990-05-01"): False,
    ("1990", "1990-05-01"): True,
    ("1990s", "1999-12"): True,
    ("1990-1999", "2000-01-01"): False,
    ("2024-Q1", "2024-04-01"): False,
    ("2024-W01", "2024-01-07"): True,
    ("021**", "12138"): False,
    ("021**", "02139"): True,
    ("E11*", "E11.2"): True,
    ("E1*", "E11*"): True,
    ("E11*", "E1*"): False,
    ("Scandinavia", "Oslo"): None,
    ("20-39", "unknown"): None,
    ("1990-1999", "Oslo"): None,
    ("01-09", "02139"): None,
    ("39-20", "30"): None,
    ("1990", "1991"): None,
}


@pytest.mark.parametrize("read", [includes, label_includes], ids=["method", "verify"])
def test_a_label_includes_what_its_text_says(read):
    assert READ == {pair: read(*pair) for pair in READ}


def labels_of(rng):
    """Return a random label or value of the forms that are read, and of some that are not."""
    near, far = rng.integers(-5, 41, 2).tolist(), rng.integers(1985, 2031, 2).tolist()
    low, high = (near[i] if rng.random() < 0.5 else far[i] for i in range(2))
    year, month, day = (int(rng.integers(*ends)) for ends in ((1988, 1996), (0, 15), (0, 33)))
    forms = [
        *(f"{low}", f"{low}.5", f"0{abs(low)}", f"{low}-{high}", f"{low} to {high}"),
        *(f"[{low}, {high})", f"[{low}-{high}]", f"]{low};{high}]", f"({low}, {high})"),
        *(f"<{low}", f">= {low}", f">{low}", f"{low}+", f"{low}<x<={high}", f"{low}..{high}"),
        *(f"{year}", f"{year}-{month:02}", f"{year}-{month:02}-{day:02}", f"{year}-Q{day % 6}"),
        *(f"{year}-W{month * 4:02}", f"{year // 10 * 10}s", f"{year}-{year + month - 3}"),
        *("Oslo", "E11", "E11.2", "E1*", "E11*", "021**", "*1", "unknown", f"{low}x"),
    ]
    return forms[rng.integers(len(forms))]


def test_the_method_and_verify_read_random_labels_in_the_same_way():
    rng = np.random.Generator(np.random.PCG64(5))
    pairs = [(labels_of(rng), labels_of(rng)) for _ in range(5000)]
    said = [includes(*pair) for pair in pairs]
    assert said == [label_includes(*pair) for pair in pairs]
    assert min(said.count(answer) for answer in (True, False, None)) > 100
    for _ in range(500):
        some = list(dict.fromkeys(labels_of(rng) for _ in range(4)))
        assert (overlapping(some) is None) == (overlapping_labels(some) is None)


def test_whole_numbers_are_in_an_interval_as_counting_says():
    rng = np.random.Generator(np.random.PCG64(7))
    for _ in range(300):
        low, high, number = rng.integers(-9, 10, 3).tolist()
        if low < high:
            for read in (includes, label_includes):
                assert read(f"{low}-{high}", str(number)) == (number in range(low, high + 1))
                half = Fraction(2 * number + 1, 2)
                assert read(f"[{low}, {high})", f"{float(half)}") == (low <= half < high)


def frame(*values):
    return gv.Table.from_columns({"z": list(values), "s": ["x"] * len(values)}).to_pandas()


def released(tmp_path, lines, *values, k=3):
    path = tmp_path / "z.csv"
    path.write_text(lines)
    method = gv.Generalize(k=k, known="z,s", levels={"z": str(path)})
    return method.anonymize(frame(*values), seed=1)


@pytest.mark.parametrize(
    ("lines", "values", "named"),
    [
        ("30,40-49,*\n31,40-49,*\n32,40-49,*\n", ("30", "32", "31"), "40-49 does not include 30"),
        (
            "1990-05-01,1991,*\n1990-06-01,1991,*\n",
            ("1990-05-01", "1990-06-01", "1990-06-01"),
            "1991 does not include 1990-05-01",
        ),
        (
            "02139,021**,*\n02138,021**,*\n12138,021**,*\n",
            ("02139", "02138", "12138"),
            r"line 3: 021\*\* does not include 12138",
        ),
    ],
)
def test_a_level_that_does_not_contain_its_value_is_refused(tmp_path, lines, values, named):
    with pytest.raises(InputError, match=named):
        released(tmp_path, lines, *values)


def test_overlapping_intervals_are_named_by_the_method_and_by_verify(tmp_path):
    lines = "30,[0-50],*\n31,[30-60],*\n32,[0-50],*\n45,[30-60],*\n"
    values = ("30", "32", "32", "31", "45", "45")
    with pytest.warns(GraphveilWarning, match=r"\[0-50\] and \[30-60\] overlap"):
        release = released(tmp_path, lines, *values)
    verdict = gv.verify_release(release.write(tmp_path / "out"), original=frame(*values))
    assert verdict.complete
    said = {c.name: c for c in verdict.checks}
    assert "'[0-50]' and '[30-60]' of 'z' overlap" in said["levels"].detail


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ("city,country,all\nParis,France,*\nLyon,France,*\n", ("Paris", "Lyon", "Lyon")),
        ("city,country,top\nLyon,France,All\nNice,France,All\n", ("Nice", "Lyon", "Lyon")),
        ("z,country,All\nLyon,France,All\nNice,France,All\n", ("Nice", "Lyon", "Lyon")),
    ],
)
def test_a_header_of_a_file_of_levels_is_named_and_not_taken_for_a_value(tmp_path, lines, values):
    with pytest.raises(InputError, match=r"line 1 \(.*\) may be a header"):
        released(tmp_path, lines, *values)


def test_a_first_line_of_a_value_with_a_root_of_its_own_is_no_header(tmp_path):
    lines = "none,none,none\nLyon,France,All\nNice,France,All\n"
    assert released(tmp_path, lines, "none", "none", "none").data.n_rows == 3


WORDS = "Oslo,North,*\nBergen,North,*\nRome,South,*\nBari,South,*\n"
CITIES = ("Oslo", "Bergen", "Rome", "Bari")


@pytest.mark.parametrize("place", ["with", "without"])
def test_levels_of_words_are_said_to_be_the_owners(tmp_path, place):
    release = released(tmp_path, WORDS, *CITIES, k=2)
    assert OwnersLevels() in release.conditions
    folder = release.write(tmp_path / "out")
    if place == "without":
        (tmp_path / "out.private" / "record.json").unlink()
    verdict = gv.verify_release(folder, original=frame(*CITIES))
    assert not verdict.failures()
    assert "Otherwise, the owner states which values it includes" in str(verdict)
    said = {c.name: c for c in verdict.checks}
    words = "levels of 'z' are from a file: labels show for 0 of 0 values"
    assert said["owner's levels"].detail.startswith(words)


def test_verify_refuses_a_forged_label_alone_and_with_the_original(tmp_path):
    lines = "30,30-39,*\n31,30-39,*\n45,40-49,*\n46,40-49,*\n"
    values = ("30", "31", "45", "46")
    folder = released(tmp_path, lines, *values, k=2).write(tmp_path / "out")
    assert gv.verify_release(folder, original=frame(*values)).complete
    for name in ("data.csv", "levels.csv"):
        path = folder / name
        path.write_text(path.read_text().replace("30-39", "35-39"))
    reseal(folder)
    record = tmp_path / "out.private" / "record.json"
    written = json.loads(record.read_text())
    for above in written["ancestors"]["z"].values():
        above[:] = [label.replace("30-39", "35-39") for label in above]
    record.write_text(json.dumps(written))
    said = {c.name: c for c in gv.verify_release(folder, original=frame(*values)).failures()}
    assert "which does not include the original's '30'" in said["true cells"].detail
    record.unlink()
    said = {c.name: c for c in gv.verify_release(folder, original=frame(*values)).failures()}
    assert "which does not include the original's '30'" in said["true cells"].detail


def test_verify_alone_refuses_a_published_value_under_a_label_without_it(tmp_path):
    lines = "30,30-39,*\n31,30-39,*\n"
    folder = released(tmp_path, lines, "30", "30", "31", "30", k=2).write(tmp_path / "out")
    assert "30-39" in (folder / "levels.csv").read_text()
    path = folder / "levels.csv"
    path.write_text(path.read_text().replace("30-39", "40-49"))
    reseal(folder)
    said = {c.name: c for c in gv.verify_release(folder).failures()}
    assert "'z': the parent '40-49' does not include" in said["levels"].detail


def test_a_claim_without_the_sentence_on_owners_levels_is_refused(tmp_path):
    folder = released(tmp_path, WORDS, *CITIES, k=2).write(tmp_path / "out")
    manifest = json.loads((folder / "release.json").read_text())
    stated = manifest["claim"]["conditions"]
    manifest["claim"]["conditions"] = [c for c in stated if c["type"] != "owners-levels"]
    reseal(folder, manifest)
    said = {c.name: c.detail for c in gv.verify_release(folder).failures()}
    assert "the claim does not say that levels from a file are the owner's" == said["levels"]
