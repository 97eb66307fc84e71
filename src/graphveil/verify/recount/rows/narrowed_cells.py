"""How far attached columns narrow hidden cells of a known one, counted in SQL, next to chance.

A cell is hidden if the rows that publish its value have several original values. Cells of one
published and one attached value form a group; a group with one original value is narrowed. Chance
is the expectation if the attached values were permuted among the rows of a published value: of n
rows, m drawn ones have one value of n_v rows with the probability n_v/n (n_v-1)/(n-1) ..., m
factors. That is computed factor by factor, for every m that occurs.

The relation ``own_and_shown(own, shown, a0, a1, ...)`` has the original value, the published one
(null where it is suppressed) and the attached values of each row. Rows without an original value
are not in it.

Cost: GROUP BY per attached column, and one step per row at most for the chances.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from graphveil.verify.database import Database

EVIDENCE, POWERS, OF_THE_REST = 7.0, (0.5, 0.125), 0.5
"""From which logarithm of evidence narrowing counts, the powers of its test, and the share of what
chance leaves above which no run publishes a column."""

ROUNDING = 1e-7
"""By how much the figures of a run may differ from these: its logarithms of factorials of a million
have an error of about 1e-8."""

Sizes = dict[tuple[str | None, int], int]
"""How many groups, or values, of a published value have so many rows."""

LogChances = dict[tuple[str | None, int], float]
"""The logarithm of the chance of one original value, by published value and rows of a group."""


class NarrowedCells(NamedTuple):
    """How many hidden cells there are, and the shares of them that are narrowed.

    `evidence`: the logarithm of the evidence that it is not chance; `is_same`: whether each
    attached value goes with one original value, and the reverse.
    """

    hidden: int
    share: float
    chance: float
    evidence: float
    is_same: bool

    @property
    def beyond_chance(self) -> float:
        """The share that is narrowed beyond chance; 0 where chance may explain it."""
        is_evident = self.evidence >= EVIDENCE + ROUNDING
        return max(self.share - self.chance, 0.0) if is_evident else 0.0

    def exceeds(self, accepted: float) -> bool:
        """Whether more is narrowed than was accepted, or than any run publishes."""
        # A run does not ask below 0.05.
        allowed = max(min(accepted, OF_THE_REST * (1 - self.chance)), 0.05)
        return self.is_same or self.beyond_chance > allowed + ROUNDING


def narrowed_cells(db: Database, sets: Iterable[Sequence[int]]) -> list[NarrowedCells]:
    """Return what each set of attached columns, by number, narrows of `own_and_shown`.

    An empty list if no cell is hidden.
    """
    # Step 1: the rows whose published value stands for several original values.
    db.run(
        "CREATE TABLE hidden AS SELECT * FROM own_and_shown "
        "QUALIFY min(own) OVER (PARTITION BY shown) <> max(own) OVER (PARTITION BY shown)"
    )
    # Step 2: how many rows each original value and each published value has.
    values = _sizes(db, "own")
    rows: dict[str | None, int] = defaultdict(int)
    for (shown, size), number in values.items():
        rows[shown] += size * number
    hidden = sum(rows.values())
    found = []
    for numbers in sets if hidden else ():
        # Step 3: the groups of one attached value, and the chance that each is narrowed.
        attached = ", ".join(f"a{number}" for number in numbers)
        groups, narrowed = _groups(db, attached)
        chances = _log_chances(rows, values, groups)
        # Step 4: the expected and the actual number of narrowed cells, and the surprise: the sum of
        # -log(chance) over the narrowed groups.
        expected, surprise, cells = 0.0, 0.0, 0
        for (shown, size), number in groups.items():
            expected += number * size * math.exp(chances[shown, size])
            cells += size * narrowed[shown, size]
            if narrowed[shown, size]:
                surprise -= narrowed[shown, size] * chances[shown, size]
        # Step 5: evidence, as a bet that multiplies by chance^-power for each narrowed group. The
        # sum takes off the logarithm of its mean, so that chance alone gains nothing on average.
        evidence = max(
            power * surprise
            - sum(
                number * math.log(math.exp((1 - power) * chances[key]) + 1 - math.exp(chances[key]))
                for key, number in groups.items()
            )
            for power in POWERS
        )
        same = _is_same(db, attached)
        found.append(NarrowedCells(hidden, cells / hidden, expected / hidden, evidence, same))
    db.run("DROP TABLE hidden")
    return found


def _sizes(db: Database, columns: str) -> Sizes:
    """Return the sizes of the groups of equal cells in some columns, by published value."""
    counted = (
        "SELECT shown, size, count(*) FROM "
        f"(SELECT shown, count(*) AS size FROM hidden GROUP BY shown, {columns}) GROUP BY ALL"
    )
    return {(shown, int(size)): int(number) for shown, size, number in db.rows(counted)}


def _groups(db: Database, attached: str) -> tuple[Sizes, Sizes]:
    """Return the sizes of the groups of one attached value, and of the narrowed ones of them."""
    counted = (
        "SELECT shown, size, count(*), count(CASE WHEN one THEN 1 END) FROM (SELECT shown, "
        "count(*) AS size, min(own) = max(own) AS one FROM hidden "
        f"GROUP BY shown, {attached}) GROUP BY ALL"
    )
    every: Sizes = {}
    narrowed: Sizes = {}
    for shown, size, number, one in db.rows(counted):
        every[shown, int(size)], narrowed[shown, int(size)] = int(number), int(one)
    return every, narrowed


def _log_chances(rows: Mapping[str | None, int], values: Sizes, groups: Sizes) -> LogChances:
    """Return the logarithm of the chance that a group of a size has one original value."""
    wanted: dict[str | None, set[int]] = defaultdict(set)
    for shown, size in groups:
        wanted[shown].add(size)
    terms: dict[tuple[str | None, int], list[float]] = {key: [] for key in groups}
    for (shown, size), number in values.items():
        # Of n rows, the first `drawn` have one value of `size` rows: one factor per row. `number`
        # values have that size, and any of them may be the one.
        n, log = rows[shown], math.log(number)
        for drawn in range(min(size, max(wanted[shown]))):
            log += math.log((size - drawn) / (n - drawn))
            if drawn + 1 in wanted[shown]:
                terms[shown, drawn + 1].append(log)
    chances = {}
    for key, logs in terms.items():
        most = max(logs, default=-math.inf)
        total = sum(math.exp(log - most) for log in logs)
        chances[key] = min(most + math.log(total), 0.0) if logs else -math.inf
    return chances


def _is_same(db: Database, attached: str) -> bool:
    """Whether each attached value goes with one original value and the reverse; some repeats."""
    numbers = [
        db.first(f"SELECT count(*) FROM (SELECT DISTINCT {columns} FROM own_and_shown)")
        for columns in ("own", attached, f"own, {attached}")
    ]
    (own,), (others,), (pairs,) = (number or (0,) for number in numbers)
    (every,) = db.first("SELECT count(*) FROM own_and_shown") or (0,)
    return bool(own == others == pairs < every)
