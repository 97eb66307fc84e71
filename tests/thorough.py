"""How much is tried in every run, and how much in `make fuzz`.

Cases that are listed one by one, or drawn many times, take long: every run tries a fixed part of
them, `make fuzz` all (the marker `thorough`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

FUZZ = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
"""Whether `make fuzz` runs."""

in_fuzz_alone = pytest.mark.skipif(not FUZZ, reason="`make fuzz` tries it")
"""For a test with the marker `thorough` whose notion other tests of every run look at, too."""

Case = TypeVar("Case")


def part_of(cases: Sequence[Case], *, every: int) -> Sequence[Case]:
    """Return every so many of the cases, the first and the last among them, or all of them.

    Examples
    --------
    >>> part_of(range(9), every=4)[-1]
    8
    """
    return cases if FUZZ else [*cases[:-1:every], *cases[-1:]]


def first_of(cases: Sequence[object]) -> list[object]:
    """Return the cases for `parametrize`, of which `make fuzz` alone tries all after the first."""
    marks = [pytest.mark.thorough, in_fuzz_alone]
    return [cases[0], *(pytest.param(case, marks=marks) for case in cases[1:])]


def try_a_part(
    items: Sequence[pytest.Item], of: Path, subject: Callable[[pytest.Item], object] | None = None
) -> None:
    """Leave every other case of the tests in this folder or file to `make fuzz`.

    The next test leaves the others, so that every case is tried by about half of the tests. With a
    `subject` of each case, every test tries a third of the cases of each subject, and one of two:
    all subjects meet all tests in every run. Tests with the marker `all_cases` leave none.
    """
    tests: dict[tuple[Path, str], dict[object, list[pytest.Item]]] = {}
    inside = {path for path in {item.path for item in items} if path.is_relative_to(of)}
    for item in items:
        if item.path not in inside or item.get_closest_marker("all_cases"):
            continue
        if hasattr(item, "callspec"):
            cases = tests.setdefault((item.path, item.originalname), {})
            cases.setdefault(subject and subject(item), []).append(item)
    for number, cases_of in enumerate(tests.values()):
        for cases in cases_of.values():
            every = min(len(cases), 3 if subject else 2)
            for place, item in enumerate(cases):
                item.add_marker(pytest.mark.thorough)
                if (place + number) % every:
                    item.add_marker(in_fuzz_alone)
