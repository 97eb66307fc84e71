"""The six tables of the paper's figure 3 (a), as integer codes.

A number becomes 1 where it is above the median of the known ones, else 0; so does a class that is a
number. ``?`` counts as not above. Categories keep their values; the forest fires' are a column a
value.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]

FILES = {
    "wine": "wine/wine.csv.gz",
    "bupa": "bupa/bupa.data.gz",
    "heart": "spect-heart/SPECT.test.gz",
    "hepatitis": "hepatitis/hepatitis.data.gz",
    "ecoli": "ecoli/ecoli.data.gz",
    "forest": "forestfires/forestfires.csv.gz",
}
WITH_HEADER = {"bupa", "heart", "hepatitis"}
FOREST_CATEGORIES = 4
"""The first columns of the forest fires: two places, month and day."""


def lines_of(path: Path, *, delimiter: str = ",") -> list[list[str]]:
    """Return the cells of every line that is not empty."""
    with gzip.open(path, "rt") as file:
        return [row for row in csv.reader(file, delimiter=delimiter) if row]


def above_median(column: tuple[str, ...]) -> list[int]:
    """Return 1 where a number is above the median of those that are known, 0 elsewhere."""
    known = np.array([float(cell) for cell in column if cell != "?"])
    middle = np.median(known)
    return [int(cell != "?" and float(cell) > middle) for cell in column]


def one_hot(column: tuple[str, ...]) -> list[list[int]]:
    """Return a column of 0 and 1 for each value."""
    return [[int(cell == value) for cell in column] for value in sorted(set(column))]


def codes_of(folder: Path, name: str) -> Codes:
    """Return the codes of a table, shape (n, d).

    Parameters
    ----------
    folder
        The folder of the data, with the files of `FILES`.
    name
        A name of `FILES`.
    """
    rows = lines_of(folder / FILES[name])
    if name in WITH_HEADER:
        rows = rows[1:]
    if name == "ecoli":
        rows = [row[0].split()[1:] for row in rows]
    columns = list(zip(*rows, strict=True))
    if name == "heart":
        made = [[int(cell) for cell in column] for column in columns]
    elif name == "ecoli":
        kinds = sorted(set(columns[-1]))
        made = [above_median(column) for column in columns[:-1]]
        made.append([kinds.index(cell) for cell in columns[-1]])
    elif name == "forest":
        made = [part for column in columns[:FOREST_CATEGORIES] for part in one_hot(column)]
        made += [above_median(column) for column in columns[FOREST_CATEGORIES:]]
    else:
        made = [above_median(column) for column in columns]
    return np.ascontiguousarray(np.array(made, dtype=np.int32).T)
