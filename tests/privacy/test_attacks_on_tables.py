"""What the attack on tables finds of real releases: what is promised holds; what is not, shows."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import graphveil as gv

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

LEVEL = 5


def people():
    """Return the table of 187 hearts that ships with the package: what each has, or has not."""
    hearts = gv.datasets.load("spect-heart").to_scipy().toarray().astype(np.int32)
    columns = tuple(f"f{number}" for number in range(hearts.shape[1]))
    return gv.Table(hearts, columns, (["no", "yes"],) * len(columns))


@cache
def attacked(name, level="levels", **options):
    table = people()
    release = gv.METHODS[name].from_parameters({level: LEVEL} | options).anonymize(table, seed=1)
    told = gv.attack_release(release, original=table, attacks=["matching"], seed=1)
    assert {} == told.not_measured
    return {row.part: row for row in told}


def test_equal_rows_keep_everybody_at_one_in_k_whatever_is_tried():
    told = attacked("cluster-k", "k")
    assert told["true pair, largest"].value <= 1 / LEVEL + 1e-5
    assert 0 == told["true pair above 1/level"].value
    assert told["re-run, right guess"].low <= 1 / LEVEL
    short = [row.value for part, row in told.items() if part.endswith("short")]
    assert [0.0] * 7 == short
    assert 0 <= min(row.value for part, row in told.items() if part.endswith("margin"))


def test_candidates_of_adaptive_anonymity_are_as_many_as_promised_and_not_equally_likely():
    told = attacked("adaptive", compatibility="bipartite")
    assert told["allowed records, fewest"].value >= LEVEL
    assert 0 == told["allowed records, short"].value
    assert told["true pair, largest"].value > 1 / LEVEL + 0.02
    assert told["re-run, right guess"].low > 1 / LEVEL
    assert told["true pair, mean"].value < told["best guess, mean"].value
