"""Suppressed cells to what a method hands over: the table, its cost, what the owner should know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.anonymizer import MethodResult
from graphveil.claims.conditions import stars_by_row
from graphveil.data import Table
from graphveil.data.codes import SUPPRESSED
from graphveil.methods.adaptive.blocks import BlockOutcome
from graphveil.warning_kinds import Advice, NoPromiseWarning

NOTHING = Advice(
    "every cell is suppressed: nothing of the data is published. Lower the levels or k",
    NoPromiseWarning,
)


class Figures(NamedTuple):
    """What is counted on a release."""

    stars: NDArray[np.int64]
    before: int
    cost: Mapping[str, float | int]


def figures(data: Table, hidden: NDArray[np.bool_]) -> Figures:
    """Return the stars of every row, and the cost against the original.

    Parameters
    ----------
    data
        The original.
    hidden
        The suppressed cells, those that were missing among them.
    """
    stars = np.count_nonzero(hidden, axis=1)
    total, cells = int(stars.sum()), int(hidden.size)
    cost = {
        "cells": cells,
        "stars_before": data.n_suppressed,
        "stars_added": total - data.n_suppressed,
        "kept_share": 1.0 - total / cells if cells else 1.0,
    }
    return Figures(stars, data.n_suppressed, cost)


def draft_of(data: Table, outcome: BlockOutcome, *, advice: tuple[str, ...] = ()) -> MethodResult:
    """Return the table with its suppressed cells, with what that cost.

    Parameters
    ----------
    data
        The original: a missing cell stays suppressed.
    outcome
        What is suppressed, and the pairs that were chosen.
    advice
        What the owner should know besides.
    """
    hidden = outcome.hidden
    counted = figures(data, hidden)
    codes = np.where(hidden, np.int32(SUPPRESSED), data.codes)
    nothing = (NOTHING,) if hidden.all() and hidden.size else ()
    return MethodResult(
        data=Table(codes, data.columns, data.categories, data.ids),
        cost={**counted.cost, **outcome.figures},
        advice=(*advice, *nothing),
        conditions=(stars_by_row(counted.stars.tolist()),),
        witness=outcome.witness,
    )
