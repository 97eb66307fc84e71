"""The planted flaws still apply, and the tests that must notice them are there."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from graphveil.methods import METHODS
from planted.collection import (
    KINDS,
    Caught,
    DoesNotApplyError,
    Flaw,
    caught,
    flaws,
    write_caught,
)
from planted.mutants import draw
from planted.run import failed_test
from thorough import is_left

ROOT = Path(__file__).resolve().parents[2]
FLAWS = flaws()


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.name)
def test_the_text_that_a_flaw_replaces_stands_in_its_file_once(flaw):
    assert (ROOT / flaw.file).read_text() != flaw.planted(ROOT)
    if flaw.file.endswith(".py"):
        compile(flaw.planted(ROOT), flaw.file, "exec")


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.name)
def test_the_tests_of_a_flaw_are_there(flaw):
    assert flaw.checks
    for arguments in flaw.checks.values():
        named = [part for part in arguments if part.startswith("tests/")]
        assert named
        assert [] == [part for part in named if not (ROOT / part.partition("::")[0]).exists()]


def test_every_flaw_has_a_name_of_its_own_and_says_what_it_means():
    assert [1] * len(FLAWS) == list(Counter(flaw.name for flaw in FLAWS).values())
    assert [] == [flaw.name for flaw in FLAWS if not flaw.means.endswith(".")]
    assert 25 <= len(FLAWS)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_flaws_of_its_own(name):
    assert 2 <= len([flaw for flaw in FLAWS if name in flaw.methods])


def test_flaws_are_of_methods_that_there_are_and_attacks_and_verify_notice_some():
    assert set() == {name for flaw in FLAWS for name in flaw.methods} - set(METHODS)
    for kind in KINDS:
        assert 8 <= len([flaw for flaw in FLAWS if kind in flaw.checks])


def test_the_table_of_what_noticed_them_is_of_these_flaws_and_their_tests():
    checks = {flaw.name: flaw.checks for flaw in FLAWS}
    for row in caught():
        files = {part.partition("::")[0] for part in checks[row.flaw][row.kind]}
        assert row.test.partition("::")[0] in files


def test_every_run_tries_cases_of_each_test_that_noticed_a_flaw(request):
    left, tried = set(), set()
    for item in request.session.items:
        (left if is_left(item) else tried).add(item.nodeid.partition("[")[0])
    noticed = {row.test.partition("[")[0] for row in caught()}
    assert len(noticed) > 100
    assert set() == noticed & (left - tried)


def test_rows_of_flaws_that_were_tried_again_take_the_place_of_the_old_ones(tmp_path):
    table, (one, other) = tmp_path / "caught.csv", [flaw.name for flaw in FLAWS[:2]]
    first = [Caught(other, "", "test", "a::b"), Caught(one, "", "test", "a::c")]
    write_caught([*first, Caught("gone", "", "test", "a::b")], table)
    assert [first[1], first[0]] == caught(table)
    again = Caught(one, "rename", "verify", "d::e")
    write_caught([again], table)
    assert [again, first[0]] == caught(table)


def test_a_flaw_whose_text_is_gone_is_an_error(tmp_path):
    (tmp_path / "code.py").write_text("limit = 3\n")
    flaw = Flaw("more", "It lets more pass.", "code.py", "limit = 3", "limit = 4")
    assert "limit = 4\n" == flaw.planted(tmp_path)
    for text in ("limit = 5\n", "limit = 3\nlimit = 3\n"):
        (tmp_path / "code.py").write_text(text)
        with pytest.raises(DoesNotApplyError, match=r"[02] times, not once"):
            flaw.planted(tmp_path)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("FAILED tests/a.py::test_b - AssertionError: x[0] - 1", "tests/a.py::test_b"),
        ("FAILED tests/a.py::test_b[two words] - E", "tests/a.py::test_b[two words]"),
        ("FAILED tests/a.py::test_b[x[0] y]", "tests/a.py::test_b[x[0] y]"),
        ("FAILED src/a.py::a.b", "src/a.py::a.b"),
        ("1 passed", ""),
    ],
)
def test_a_failed_test_is_found_by_its_whole_name(line, name):
    assert name == failed_test(f"=== short test summary ===\n{line}\n1 failed\n")


def test_a_mutant_is_its_module_with_one_line_changed_in_the_function_that_it_names():
    drawn = draw(ROOT, ["ledger"], 8, seed=5)
    assert 8 == len({mutant.text for mutant in drawn})
    assert drawn == draw(ROOT, ["ledger"], 8, seed=5)
    assert drawn != draw(ROOT, ["ledger"], 8, seed=6)
    for mutant in drawn:
        lines, before = mutant.text.splitlines(), (ROOT / mutant.file).read_text().splitlines()
        assert before[: mutant.line - 1] == lines[: mutant.line - 1]
        assert before[mutant.line - 1] != lines[mutant.line - 1]
        module, _, function = mutant.function.partition(":")
        assert mutant.file == f"src/{module}"
        named = [
            node
            for node in ast.walk(ast.parse(mutant.text))
            if isinstance(node, ast.FunctionDef)
            and node.lineno <= mutant.line <= node.end_lineno
            and node.name == function.rpartition(".")[2]
        ]
        assert bool(function) == bool(named)


def test_mutants_are_drawn_from_the_rooms_in_turn_and_fewer_are_the_first_of_more():
    drawn = draw(ROOT, ["ledger", "facts"], 6, seed=5)
    assert ["ledger.py", "facts.py"] * 3 == [Path(mutant.file).name for mutant in drawn]
    assert drawn[:3] == draw(ROOT, ["ledger", "facts"], 3, seed=5)
