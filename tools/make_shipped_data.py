# ruff: noqa: INP001  a script that is run by hand, not a package
"""Derive the small data that ships with graphveil from the public originals.

    python tools/make_shipped_data.py --calls calls.csv --spect-train SPECT.train \
        --spect-test SPECT.test --adult adult.data --out src/graphveil/io/datasets/files

Where the originals are public:

- calls.csv: Copenhagen Networks Study, https://doi.org/10.6084/m9.figshare.7267433. The list of
  calls (header timestamp,caller,callee,duration) is accepted, and so is an edge list derived from
  it (two numbers a line, no header). Directions and times are dropped, callers who only called
  outside the study or themselves are left out, and participants are numbered from 0.
- SPECT.train, SPECT.test: UCI SPECT Heart, https://doi.org/10.24432/C5P304. The first column is
  the class and is left out. A line whose first cell is no number is skipped.
- adult.data: UCI Adult, https://doi.org/10.24432/C5XW20. Every 16th row from the first, the first
  2,000 of these, and the 8 categorical columns that are not the class. No randomness.

Files that end in .gz are read as gzip. Files are written with line feeds.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

ADULT_COLUMNS = {
    1: "workclass",
    3: "education",
    5: "marital-status",
    6: "occupation",
    7: "relationship",
    8: "race",
    9: "sex",
    13: "native-country",
}
ADULT_STEP = 16
ADULT_ROWS = 2000


def lines(path: Path) -> list[str]:
    """Return the non-empty lines of a text file, gzip-compressed or not."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    return [line for line in text.splitlines() if line.strip()]


def write(path: Path, header: list[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a csv file with one line feed a row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def call_pairs(path: Path) -> Iterator[tuple[int, int]]:
    """Yield the two participants of every call between two of them."""
    listed = lines(path)
    if listed[0].startswith("timestamp,"):
        ends = [line.split(",")[1:3] for line in listed[1:]]
    else:
        ends = [line.split()[:2] for line in listed]
    for left, right in ends:
        one, other = int(left), int(right)
        if one != other and one >= 0 and other >= 0:
            yield min(one, other), max(one, other)


def make_calls(path: Path, out: Path) -> None:
    """Write the simple graph of who called whom."""
    pairs = set(call_pairs(path))
    number = {person: i for i, person in enumerate(sorted({p for pair in pairs for p in pair}))}
    edges = sorted((number[one], number[other]) for one, other in pairs)
    write(out / "copenhagen_calls.csv", ["source", "target"], edges)


def make_spect(train: Path, test: Path, out: Path) -> None:
    """Write a row for every positive partial diagnosis, and the list of all patients."""
    rows = [line.split(",") for path in (train, test) for line in lines(path)]
    patients = [row[1:] for row in rows if row[0].isdigit()]
    pairs = [
        (patient, f"f{place}")
        for patient, findings in enumerate(patients)
        for place, value in enumerate(findings, start=1)
        if value == "1"
    ]
    write(out / "spect_heart.csv", ["user", "item"], pairs)
    write(out / "spect_heart_users.csv", ["user"], ((patient,) for patient in range(len(patients))))


def make_adult(path: Path, out: Path) -> None:
    """Write every 16th row, 2,000 rows in all, of the categorical columns."""
    rows = [[cell.strip() for cell in line.split(",")] for line in lines(path)]
    chosen = rows[::ADULT_STEP][:ADULT_ROWS]
    header = list(ADULT_COLUMNS.values())
    write(out / "adult_sample.csv", header, ([row[i] for i in ADULT_COLUMNS] for row in chosen))


def main() -> None:
    """Read the arguments and write the files."""
    parser = argparse.ArgumentParser(description="Derive the shipped data from public originals.")
    for name in ("calls", "spect-train", "spect-test", "adult", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    make_calls(given.calls, given.out)
    make_spect(given.spect_train, given.spect_test, given.out)
    make_adult(given.adult, given.out)


if __name__ == "__main__":
    main()
