"""Tables of people with several rows, and of columns that say nothing of people."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import graphveil as gv
from thorough import part_of

LETTERS = list("abcdefghijklmnopqrstuvwxyz")

NAMES = (
    *("card", "badge", "handle", "card_no", "tag", "device", "unit", "mrn", "login", "key"),
    *("person_id", "visit"),
)

VALUES: dict[str, Callable[[int], Any]] = {
    "small numbers": int,
    "numbers": lambda number: 1000 + 17 * number,
    "words": lambda number: LETTERS[number % 26] + "ox" * (number // 26 + 1),
    "letters with a number": lambda number: f"p{number}",
}
"""Ids of people by their form."""


def names_of_columns(many: int) -> list[str]:
    """Return names of columns: those that people have, and random words."""
    rng = np.random.default_rng(5)
    words = ["".join(rng.choice(LETTERS, rng.integers(1, 9))) for _ in range(many)]
    return [*NAMES, *words]


def purchases(
    name: str, form: str, constants: int, *, regular: bool, seed: int = 8
) -> dict[str, list[Any]]:
    """Return 150 purchases of 30 people, of whom so many columns (0 to 2) are constant.

    Each has five, or the rows are drawn for them.
    """
    rng = np.random.default_rng(seed)
    who = (np.repeat(np.arange(30), 5) if regular else rng.integers(0, 30, 150)).tolist()
    of_people = {
        "city": [f"Z{number % 7}" for number in who],
        "sex": ["fm"[number * number % 2] for number in who],
    }
    columns = {name: [VALUES[form](number) for number in who]}
    columns |= {constant: of_people[constant] for constant in [*of_people][:constants]}
    return columns | {"bought": rng.choice(["tea", "rye", "gin"], 150).tolist()}


def is_found(form: str, constants: int, *, regular: bool) -> bool:
    """Whether people are found: the limits are those of `graphveil.data.persons`."""
    looks_like_ids = form == "letters with a number"
    return looks_like_ids or constants > 0 or (regular and form != "small numbers")


def unrelated(seed: int, width: int, rows: int) -> gv.Table:
    """Return a table of independent columns: numbers and words, skewed or even."""
    rng = np.random.default_rng([seed, width, rows])
    columns: dict[str, Any] = {}
    for column in range(width):
        many = int(rng.choice([2, 3, 5, 8, 20, 60, 200]))
        shares = rng.dirichlet(np.full(many, rng.choice([0.3, 1, 10])))
        values = rng.choice(many, rows, p=shares).tolist()
        forms = [
            values,
            values,
            [f"{'abcdefgh'[column % 8]} {value}" for value in values],
            ["x" * (value % 5 + 1) + str(value * value) for value in values],
        ]
        columns[f"c{column}"] = forms[int(rng.integers(4))]
    return gv.Table.from_columns(columns)


def pupils(seed: int, *, schools: int, waves: int) -> dict[str, list[Any]]:
    """Return the marks of 240 pupils in some waves, a fifth missing; seats number them in schools.

    Sex and year of birth are constant, and neither the school nor the seat says them.
    """
    rng = np.random.default_rng(seed)
    pupil = np.arange(240)
    sex, born = rng.integers(0, 2, 240), rng.integers(2000, 2006, 240)
    who = np.tile(pupil, waves)
    who = rng.permutation(who[rng.random(who.size) > 0.2])
    return {
        "school": [f"S {number}" for number in who % schools],
        "seat": (who // schools + 1).tolist(),
        "sex": ["fm"[number] for number in sex[who]],
        "born": born[who].tolist(),
        "mark": rng.integers(1, 7, who.size).tolist(),
        "mood": rng.choice(["low", "high"], who.size).tolist(),
    }


def unrelated_tables() -> Iterator[tuple[tuple[int, int, int], gv.Table]]:
    """Yield a part of 1,200 tables (20 seeds, 10 widths, 6 sizes), in `make fuzz` all of them."""
    widths, sizes = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16), (6, 12, 30, 100, 400, 2000)
    cases = list(itertools.product(range(20), widths, sizes))
    for case in part_of(cases, every=17):
        yield case, unrelated(*case)


def people_with_rows(seed: int) -> dict[str, list[str]]:
    """Return columns of people who have several rows, some equal, and the people."""
    rng = np.random.default_rng(seed)
    people = int(rng.integers(8, 25))
    who = rng.integers(0, people, int(people * rng.integers(2, 4)))
    return {
        "who": [f"p{number}" for number in who],
        "city": [f"c{number % 3}" for number in who],
        "ward": rng.choice(list("abc"), who.size).tolist(),
        "ill": rng.choice(["flu", "cold"], who.size).tolist(),
    }
