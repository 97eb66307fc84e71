"""The tables of the paper's figures as integer codes, prepared as their figures were measured."""

from __future__ import annotations

import csv
import gzip
from functools import cache

import numpy as np
from tests.shared_data import shared

FILES = {
    "wine": "wine/wine.csv.gz",
    "bupa": "bupa/bupa.data.gz",
    "heart": "spect-heart/SPECT.test.gz",
    "hepatitis": "hepatitis/hepatitis.data.gz",
    "ecoli": "ecoli/ecoli.data.gz",
    "forest": "forestfires/forestfires.csv.gz",
    "Caltech": "fb100-Caltech36/nodes.tsv.gz",
    "Reed": "fb100-Reed98/nodes.tsv.gz",
}
WITH_HEADER = {"bupa", "heart", "hepatitis", "Caltech", "Reed"}
ATTRIBUTES = ("student_fac", "gender", "major_index", "second_major", "dorm", "year")


def _lines(name):
    with gzip.open(shared(FILES[name]), "rt") as file:
        text = file.read().splitlines()
    if name == "ecoli":
        return [line.split()[1:] for line in text if line.strip()]
    return [
        row for row in csv.reader(text, delimiter="\t" if ".tsv" in FILES[name] else ",") if row
    ]


def _above_median(column):
    """Return 1 where a number is above the median of those that are known, 0 elsewhere."""
    known = np.array([float(cell) for cell in column if cell != "?"])
    middle = np.median(known)
    return [int(cell != "?" and float(cell) > middle) for cell in column]


def _one_hot(column):
    values = sorted(set(column))
    return [[int(cell == value) for cell in column] for value in values]


@cache
def codes_of(name):
    """Return the codes of a table, int32, shape (n, d)."""
    rows = _lines(name)
    header = rows.pop(0) if name in WITH_HEADER else []
    columns = list(zip(*rows, strict=True))
    if name == "heart":
        made = [[int(cell) for cell in column] for column in columns]
    elif name == "ecoli":
        names = sorted(set(columns[7]))
        made = [_above_median(column) for column in columns[:7]]
        made.append([names.index(cell) for cell in columns[7]])
    elif name == "forest":
        made = [part for column in columns[:4] for part in _one_hot(column)]
        made += [_above_median(column) for column in columns[4:]]
    elif header and header[0] == "id":
        kept = [columns[header.index(attribute)] for attribute in ATTRIBUTES]
        made = [part for column in kept for part in _one_hot(column)]
    else:
        made = [_above_median(column) for column in columns]
    return np.ascontiguousarray(np.array(made, dtype=np.int32).T)


def in_order(codes):
    """Return rows in the order in which a method takes them."""
    return np.ascontiguousarray(codes[np.lexsort(codes.T)])
