"""Who asked for how much stands in no file of a release, nor does anything that follows from it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import graphveil as gv

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

SAME = {"sex": ["f"] * 4 + ["m"] * 4, "age": ["30"] * 4 + ["40"] * 4}
"""Two classes of four equal rows: nobody who asks for 4 or less needs a star."""


def public(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_levels_that_need_the_same_stars_leave_the_same_bytes(tmp_path):
    table = gv.Table.from_columns(SAME)
    method = gv.Adaptive()
    folders = [
        method.anonymize(table, levels=levels, seed=7).write(tmp_path / str(number))
        for number, levels in enumerate(([2] + [1] * 7, [4, 3, 2, 1] * 2, [4] * 8))
    ]
    files = [public(folder) for folder in folders]
    assert files[0] == files[1] == files[2]
    private = [(folder.parent / f"{folder.name}.private" / "levels.parquet") for folder in folders]
    assert 3 == len({path.read_bytes() for path in private})
    assert all(gv.verify_release(folder, original=table).ok for folder in folders)


def test_levels_of_a_column_leave_the_same_bytes_and_no_column(tmp_path):
    folders = []
    for number, levels in enumerate(([2] + [1] * 7, [4, 3, 2, 1] * 2)):
        table = gv.Table.from_columns({**SAME, "asked": levels})
        release = gv.Adaptive(levels="asked").anonymize(table, seed=7)
        folders.append(release.write(tmp_path / str(number)))
        assert gv.verify_release(folders[-1], original=table).complete
    assert public(folders[0]) == public(folders[1])
    assert b"asked" not in public(folders[0])["data.csv"]


def test_no_number_of_the_manifest_follows_from_the_levels(tmp_path):
    rng = np.random.Generator(np.random.PCG64(5))
    cells = {name: rng.integers(0, 3, 40).astype(str).tolist() for name in "abcd"}
    table = gv.Table.from_columns(cells)
    levels = rng.integers(1, 6, 40)
    release = gv.Adaptive(least_level=1).anonymize(table, levels=levels, seed=3)
    folder = release.write(tmp_path / "out")
    manifest = json.loads((folder / "release.json").read_text())
    guarantee = {"type": "adaptive-anonymity", "person": "assumed", "level": 1, "common": False}
    assert guarantee == manifest["claim"]["guarantee"]
    assert {"levels", "least_level"} <= set(manifest["method"]["parameters"])
    assert manifest["method"]["parameters"]["levels"] is None
    stars = (release.data.codes < 0).sum(axis=1)
    counted = {"stars-by-row": [[s, int((stars == s).sum())] for s in np.unique(stars).tolist()]}
    assert counted == {c["type"]: c["rows"] for c in manifest["claim"]["conditions"]}
    assert {"rows": 40, "columns": 4, "suppressed_cells": int(stars.sum())} == manifest["data"][
        "counts"
    ]
