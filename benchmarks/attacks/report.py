"""The tables of attacks, counted from the raw rows.

    python benchmarks/attacks/report.py

One table an idea: a row a method and strength, a column a figure; every cell is the mean over the
releases that were attacked, beside it, in brackets, the least and the most of them and how many
there are; of one release the attack's own 95 % interval, where it has one. A dash: the attack does
not fit, or was not run there.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import features
import matrix

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows

RESULTS = Path(__file__).parent / "results"
LEVELS = ("k", "levels", "epsilon")
ROW = "{} known, 0 false: own row"

Row = dict[str, Any]


class Point(NamedTuple):
    """A method with its parameters on a data set."""

    data: str
    method: str
    parameters: str

    @property
    def strength(self) -> float | None:
        """The value of k, of the levels or of epsilon; None where there is none."""
        given = json.loads(self.parameters)
        return next((float(given[name]) for name in LEVELS if name in given), None)

    @property
    def label(self) -> str:
        """How tables call it."""
        given = json.loads(self.parameters)
        shown = [f"{name}={given[name]:.3g}" for name in (*LEVELS, "phi") if name in given]
        return " ".join([self.method, *shown])


class Column(NamedTuple):
    """A figure of an attack, under some of its options."""

    head: str
    attack: str
    part: str


def rows_of(name: str) -> list[Row]:
    """Return raw rows; none where nothing was run."""
    return read_rows(RESULTS / f"{name}.parquet")


def figures() -> dict[tuple[Point, str, str], list[Row]]:
    """Return the rows of the matrix by point, attack and part, one a seed."""
    grouped: dict[tuple[Point, str, str], list[Row]] = defaultdict(list)
    for row in rows_of("matrix"):
        if "value" in row:
            given = json.dumps(row["parameters"])
            point = Point(row["data"], row["method"], given)
            grouped[point, row["attack"], row["part"]].append(row)
    return grouped


def points(data: str) -> list[Point]:
    """Return the points of a data set, in the order in which they are run."""
    return [
        Point(data, method.name, json.dumps(parameters))
        for method in matrix.METHODS[data]
        for parameters in method.strengths
    ]


def mean_of(rows: Sequence[Row], what: str = "value") -> float:
    """Return the mean over releases."""
    return sum(row[what] for row in rows) / len(rows)


def cell(rows: Sequence[Row]) -> str:
    """Return the mean over releases, between which values it lies, and how many there are."""
    ends = [rows[0].get(end) for end in ("ci_low", "ci_high")]
    if len(rows) > 1:
        ends = [choose(row["value"] for row in rows) for choose in (min, max)]
    low, high = ("" if end is None else f"{end:.3f}" for end in ends)
    within = f"{low} to {high}; " if low != high else ""
    return f"{mean_of(rows):.3f} ({within}{len(rows)})"


def table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table in Markdown."""
    listed = list(columns)
    print("| " + " | ".join(listed) + " |")
    print("|" + "---|" * len(listed))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def matrix_table(data: str, caption: str, columns: Sequence[Column]) -> None:
    """Print figures of all points of a data set."""
    grouped, rows = figures(), []
    for point in points(data):
        cells = []
        for column in columns:
            found = grouped.get((point, column.attack, column.part))
            cells.append(cell(found) if found else "-")
        if set(cells) != {"-"}:
            rows.append((point.label, *cells))
    if not rows:
        return
    print(f"{caption}:\n")
    table(("", *(column.head for column in columns)), rows)


FEATURES = (
    Column("own row, 4 known", "linkage", ROW.format(4)),
    Column("own row, 8 known", "linkage", ROW.format(8)),
    Column("own class, 8 known", "linkage", "8 known, 0 false: own class"),
    Column("took part (AUC)", "membership", "a whole row"),
    Column("found at 1 %", "membership", "a whole row, found at 1 % false alarms"),
    Column("entries true of the class", "class-truth", "entries true of the whole class"),
    Column("entries certain", "class-truth", "entries that the class makes certain"),
)
FURTHER = (
    Column("one income in the class", "homogeneity", "in a class of one value"),
    Column("hundredth worst off, by items known", "linkage", matrix.WORST),
    Column("two releases: fewer than k", "intersection", "joint class smaller than promised"),
    Column("two releases: alone", "intersection", "alone in the joint class"),
    Column("re-run, seed known", "re-run", "capped at 300 people: seed known, releases differ"),
    Column("re-run, seed unknown", "re-run", "capped at 300 people: seed unknown, right guess"),
    Column("epsilon shown", "entry-membership", "epsilon, lower bound at 99.9%"),
)
TABLES = (
    Column("true pair, mean", "matching", "true pair, mean"),
    Column("true pair, largest", "matching", "true pair, largest"),
    Column("above 1/level", "matching", "true pair above 1/level"),
    Column("guessed by a re-run", "matching", "re-run, right guess"),
    Column("by 8 re-runs", "matching", "re-run 8 times, right guess"),
    Column("hundredth worst off", "matching", matrix.WORST),
    Column("own row, 8 known", "linkage", ROW.format(8)),
    Column("took part (AUC)", "membership", "a whole row"),
    Column("entries true of the class", "class-truth", "entries true of the whole class"),
    Column("two releases: alone", "intersection", "alone in the joint class"),
    Column("re-run, seed unknown", "re-run", "seed unknown, right guess"),
)
STARTS = "best of 5 starts: right"
NAMED = (
    Column("degree", "candidate-set", "degree, right guess"),
    Column("neighbors' degrees", "candidate-set", "vrq, right guess"),
    Column("hundredth worst off", "candidate-set", matrix.WORST),
    Column("copy, nobody known", "seeded-matching", f"overlap 1, nobody known, {STARTS}"),
    Column("copy, 20 known", "seeded-matching", f"overlap 1, 20 known, {STARTS}"),
    Column("seed-propagation, 20 known", "seed-propagation", "overlap 1, 20 known: right"),
    Column("alignment, nobody known", "alignment", "overlap 1: right"),
)
EDGES = (
    Column("unknown ties read", "edge-gain", "recall"),
    Column("of the ties read, true", "edge-gain", "precision"),
    Column("added ties told (AUC)", "fake-edge", "AUC, best in hindsight"),
    Column("flagged and added", "fake-edge", "flagged, precision"),
    Column("epsilon shown", "edge-membership", "epsilon, lower bound at 99.9%"),
)
RUN_AGAIN = (
    Column("a tie, published", "edge-re-run", "published, with the edge"),
    Column("epsilon shown", "edge-re-run", "epsilon, lower bound at 99.9%"),
    Column("most to show", "edge-re-run", "epsilon, largest that so many runs can show"),
    Column("a tie is there (AUC)", "tie-membership", "one tie"),
    Column("found at 1 %", "tie-membership", "one tie, found at 1 % false alarms"),
    Column("hundredth worst off, of a tie", "tie-membership", matrix.WORST),
)


def several_releases() -> None:
    """Print figures of which one release says little: every release for itself."""
    values: dict[tuple[str, float, str], list[float]] = defaultdict(list)
    reference: dict[tuple[str, float, str], float] = {}
    for row in rows_of("networks"):
        if row["method"] == "asymmetric-response" and row.get("reference") is not None:
            key = row["attack"], row["parameters"]["epsilon"], row["part"]
            values[key].append(row["value"])
            reference[key] = row["reference"]
    rows = [
        (
            f"{attack}, epsilon {epsilon:.3g}",
            part,
            ", ".join(f"{value:.3f}" for value in listed),
            reference[attack, epsilon, part],
        )
        for (attack, epsilon, part), listed in values.items()
        if len(listed) > 1
    ]
    print("asymmetric-response on arenas-email, every release for itself:\n")
    table(("attack", "part", "ours", "prototype"), rows)


def beside_the_prototype() -> None:
    """Print what was measured on networks beside the prototype's figures; means over releases."""
    values: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows_of("networks"):
        if row.get("reference") is not None:
            given = " ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}"
                             for k, v in row["parameters"].items())  # fmt: skip
            network = Path(row["network"]).stem.removeprefix("out.")
            case = f"{network}: {row['method']} {given}, {row['attack']}"
            values[case, row["part"]].append(row)
    rows = [
        (case, part, f"{mean_of(listed):.3f} ({len(listed)})", f"{listed[0]['reference']:g}")
        for (case, part), listed in values.items()
    ]
    print("networks, beside a prototype's figures:\n")
    table(("case", "part", "ours", "prototype"), rows)


def refused() -> None:
    """Print which attacks do not run where, and why."""
    found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for row in rows_of("matrix"):
        if "not_measured" in row and not row["part"]:
            found[row["data"], row["attack"], row["not_measured"]].add(row["method"])
    print("what was not measured, and why:\n")
    rows = [(*key, ", ".join(sorted(methods))) for key, methods in found.items()]
    table(("data", "attack", "why", "releases of"), rows)


def times() -> None:
    """Print what attacks cost."""
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    runs = {matrix.key_of(row): row for row in rows_of("matrix")}
    for row in runs.values():
        seconds[row["data"], row["attack"]].append(row["cpu_seconds"])
    rows = [
        (data, attack, len(listed), f"{sorted(listed)[len(listed) // 2]:.2f}", f"{max(listed):.2f}")
        for (data, attack), listed in seconds.items()
    ]
    print("CPU seconds of an attack:\n")
    table(("data", "attack", "runs", "median", "largest"), rows)


def main() -> None:
    """Print everything."""
    for data in (matrix.ADULT, matrix.PLAY):
        matrix_table(data, f"{data}: what a few known items and a class tell", FEATURES)
        matrix_table(data, f"{data}: what else is published or run", FURTHER)
    matrix_table(matrix.HEART, f"{matrix.HEART}, 187 people", TABLES)
    for data, people in matrix.PEOPLE_IN.items():
        tuned = "tuned on" if data in matrix.TUNED else "not tuned on"
        called = f"{data}, {people:,} people ({tuned})"
        matrix_table(data, f"{called}: who is re-identified", NAMED)
        matrix_table(data, f"{called}: ties", EDGES)
        matrix_table(data, f"{called}: one tie, if the method is run again", RUN_AGAIN)
    refused()
    several_releases()
    print("users by features, beside a prototype's figures:\n")
    features.report()
    print()
    beside_the_prototype()
    times()


if __name__ == "__main__":
    main()
