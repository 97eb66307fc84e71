"""The tables of the paper's figures as integer codes, prepared as their figures were measured."""

from __future__ import annotations

import csv
import gzip
from functools import cache

import numpy as np
from tests.shared_data import script, shared

NETWORKS = {"Caltech": "fb100-Caltech36/nodes.tsv.gz", "Reed": "fb100-Reed98/nodes.tsv.gz"}
ATTRIBUTES = ("student_fac", "gender", "major_index", "second_major", "dorm", "year")


@cache
def codes_of(name):
    """Return the codes of a table, int32, shape (n, d)."""
    tables = script("benchmarks/adaptive_anonymity/tables.py")
    if name in tables.FILES:
        folder = shared(tables.FILES[name]).parents[1]
        return tables.codes_of(folder, name)
    with gzip.open(shared(NETWORKS[name]), "rt") as file:
        header, *rows = [row for row in csv.reader(file, delimiter="\t") if row]
    columns = list(zip(*rows, strict=True))
    kept = [columns[header.index(attribute)] for attribute in ATTRIBUTES]
    made = [[int(cell == v) for cell in column] for column in kept for v in sorted(set(column))]
    return np.ascontiguousarray(np.array(made, dtype=np.int32).T)


def in_order(codes):
    """Return rows in the order in which a method takes them."""
    return np.ascontiguousarray(codes[np.lexsort(codes.T)])
