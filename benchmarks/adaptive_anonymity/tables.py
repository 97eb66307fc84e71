"""The six tables of the paper's figure 3 (a), as integer codes.

A number becomes 1 where it is above the median of the known ones, else 0; so does a class that is a
number. ``?`` counts as not above. Categories keep their values; the forest fires' are a column a
value.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphveil.verbs.reproduce.rows import coded

Codes = NDArray[np.int32]

FILES = {
    "wine": "wine/wine.csv.gz",
    "bupa": "bupa/bupa.data.gz",
    "heart": "spect-heart/SPECT.test.gz",
    "hepatitis": "hepatitis/hepatitis.data.gz",
    "ecoli": "ecoli/ecoli.data.gz",
    "forest": "forestfires/forestfires.csv.gz",
}
OTHER_NAMES = {"heart": "spect-heart", "forest": "forestfires"}
"""Data sets that `graphveil.datasets` calls otherwise."""


def codes_of(folder: Path, name: str) -> Codes:
    """Return the codes of a table, shape (n, d).

    Parameters
    ----------
    folder
        The folder of the data, with the files of `FILES`.
    name
        A name of `FILES`.
    """
    return coded(folder / FILES[name], OTHER_NAMES.get(name, name))
