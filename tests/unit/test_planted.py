"""The planted flaws still apply, and the tests that must notice them are there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from planted.collection import DoesNotApplyError, Flaw, flaws

ROOT = Path(__file__).resolve().parents[2]
FLAWS = flaws()


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.name)
def test_the_text_that_a_flaw_replaces_stands_in_its_file_once(flaw):
    assert (ROOT / flaw.file).read_text() != flaw.planted(ROOT)
    if flaw.file.endswith(".py"):
        compile(flaw.planted(ROOT), flaw.file, "exec")


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.name)
def test_the_tests_of_a_flaw_are_there(flaw):
    named = [part for part in flaw.tests if part.startswith("tests/")]
    assert named
    assert [] == [part for part in named if not (ROOT / part.partition("::")[0]).exists()]


def test_every_flaw_has_a_name_of_its_own_and_says_what_it_means():
    assert [1] * len(FLAWS) == list(Counter(flaw.name for flaw in FLAWS).values())
    assert [] == [flaw.name for flaw in FLAWS if not flaw.means.endswith(".")]
    assert 25 <= len(FLAWS)


def test_a_flaw_whose_text_is_gone_is_an_error(tmp_path):
    (tmp_path / "code.py").write_text("limit = 3\n")
    flaw = Flaw("more", "It lets more pass.", "code.py", "limit = 3", "limit = 4", ())
    assert "limit = 4\n" == flaw.planted(tmp_path)
    for text in ("limit = 5\n", "limit = 3\nlimit = 3\n"):
        (tmp_path / "code.py").write_text(text)
        with pytest.raises(DoesNotApplyError, match=r"[02] times, not once"):
            flaw.planted(tmp_path)
