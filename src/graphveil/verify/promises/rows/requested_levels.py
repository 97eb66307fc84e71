"""The levels that people requested, recomputed from the column of the original that holds them.

Claim checked: the levels against which an adaptive release is judged are those that people
requested. The claim states none of different levels, and the owner's file of levels is only a
copy: it may have been replaced. The private record names the column that they were taken from.

Means: the column of the original is read here, cell by cell, and every level below the one that
the claim states is raised to it. The owner's file, if there is one, must state the same levels.

What the files cannot show: levels that were not in a column of the data. They are in the owner's
file alone, and the verdict says so.
"""

from __future__ import annotations

import re

import duckdb
import numpy as np

from graphveil.claims.guarantees import AdaptiveAnonymity
from graphveil.claims.record import LEVELS
from graphveil.core.array_types import Ints
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.data.ids import as_text
from graphveil.verify import verdict
from graphveil.verify.evidence import Evidence
from graphveil.verify.recount.owner_files import BadFileError, levels_of
from graphveil.verify.verdict import Check, fails, holds, named, not_checked, one_line, shown

REQUESTED = "requested levels"
_QUESTION = "whether the levels are those that people requested"
_WHOLE = re.compile(r"[0-9]{1,18}")
"""A level as a run reads it: a whole number that 64 bits hold."""


def levels_column(evidence: Evidence) -> str | None:
    """Return the column that the private record names for levels; None if it names none."""
    stated = None if evidence.record is None else evidence.record.withheld.get("levels")
    return stated if isinstance(stated, str) else None


def levels_in_original(evidence: Evidence, promise: AdaptiveAnonymity, column: str) -> Ints:
    """Return the levels of a column of the original, as `requested_levels` does.

    Raises `BadFileError` if a cell of it is not a whole number from 1 to n.
    """
    original = evidence.original_as(Table)
    place, n = original.columns.index(column), original.n_rows
    codes, texts = original.codes[:, place], as_text(original.categories[place]).tolist()
    # Step 1: the level of each value of the column; 0 for one that is not a level.
    of_value = [int(text) if _WHOLE.fullmatch(text) else 0 for text in texts]
    levels = np.array([*of_value, 0], dtype=np.int64)[codes]  # a missing cell has code -1
    strange = np.flatnonzero((levels < 1) | (levels > n)).tolist()
    if strange:
        code = int(codes[strange[0]])
        cell = "no level" if code < 0 else shown(texts[code])
        raise BadFileError(
            f"row {strange[0]} of the original has {cell} in the column {shown(column)}, not a "
            f"whole number from 1 to {n}"
        )
    # Step 2: the claim states the least level, to which lower ones are raised.
    return np.maximum(levels, promise.level)


def requested_levels(evidence: Evidence, promise: AdaptiveAnonymity) -> Ints:
    """Return the levels to judge a release by: of the original, or else of the owner's file.

    Returns
    -------
    int64, shape (n,), in the order of the original.

    Raises
    ------
    BadFileError
        If the levels are not valid, or one is below the claim's.
    """
    original, column = evidence.original_as(Table), levels_column(evidence)
    if column is not None and column in original.columns:
        return levels_in_original(evidence, promise, column)
    path = evidence.levels
    if path is None:
        raise TypeError("there is no file of levels")
    levels = levels_of(evidence.tables, path, original)
    if original.n_rows and levels.min() < promise.level:
        raise BadFileError(
            f"{path.name} contains a level below {promise.level}, the lowest that the claim allows"
        )
    return levels


def lacking_for_levels(evidence: Evidence) -> tuple[str, str | None] | None:
    """Return why levels that differ cannot be known, and what is missing; None if they can be."""
    if evidence.record is None:
        return _QUESTION, verdict.RECORD
    column = levels_column(evidence)
    if column is None:
        return None if evidence.levels is not None else (_QUESTION, verdict.LEVELS_NEEDED)
    if column in evidence.original_as(Table).columns:
        return None
    return f"the original has no column {shown(column)}, which the record names for levels", None


def levels_checks(evidence: Evidence) -> list[Check]:
    """Return the check of levels that differ; none of a claim without them."""
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, AdaptiveAnonymity) or promise.common:
        return []
    return named({REQUESTED: _as_requested(evidence, promise)})


def _as_requested(evidence: Evidence, promise: AdaptiveAnonymity) -> Check:
    """Return whether the owner's file states the levels of the original's column."""
    if not isinstance(evidence.original, Table):
        why_not = evidence.why_not
        return not_checked(why_not or _QUESTION, needs=None if why_not else verdict.ORIGINAL)
    lacking = lacking_for_levels(evidence)
    if lacking is not None:
        why, needs = lacking
        return not_checked(why, needs=needs)
    column = levels_column(evidence)
    if column is None:
        return not_checked(f"no column holds the levels of people; {LEVELS} alone states them")
    try:
        requested = levels_in_original(evidence, promise, column)
        path = evidence.levels
        stated = requested if path is None else levels_of(evidence.tables, path, evidence.original)
    except duckdb.OutOfMemoryException:
        raise
    except (BadFileError, duckdb.Error) as error:
        return fails(one_line(error))
    # The levels themselves are private, and a message says only how many differ.
    other = int(np.count_nonzero(stated != requested))
    if other:
        return fails(
            f"{LEVELS} states other levels for {counted(other, 'person')} than the column "
            f"{shown(column)} of the original"
        )
    return holds(
        f"{counted(requested.size, 'level')} recomputed from the column {shown(column)} of the "
        "original"
    )
