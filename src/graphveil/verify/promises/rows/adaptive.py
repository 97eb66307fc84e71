"""Adaptive anonymity, recomputed from the original and the release: who could own which record.

Claim checked (Choromanski, Jebara and Tang, Adaptive anonymity via b-matching, 2013): every
person could own at least as many records as requested, and every record could belong to as many
people, each counted over complete assignments of records to people that are consistent with the
cells.

Means: pairs that fit are found from the cells alone (`recount.rows.fitting_pairs`); one complete
assignment is searched for, and a pair is allowed if it is part of some complete assignment
(`recount.rows.assignments`). The matching that the method used is not needed. Above `WHOLE_ROWS`
rows only the owner's chosen pairs are looked at, each of which must fit.

Of the release alone, a necessary condition is checked: every record agrees with as many others as
its level asks for.

What the files cannot show: levels that people requested and no column of the original holds
(`requested_levels`).
"""

from __future__ import annotations

from typing import NamedTuple

import duckdb
import numpy as np

from graphveil.claims.guarantees import AdaptiveAnonymity
from graphveil.core.array_types import Ints
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.verify import verdict
from graphveil.verify.evidence import Evidence
from graphveil.verify.promises.rows.known_columns import known_names, known_problem
from graphveil.verify.promises.rows.requested_levels import lacking_for_levels, requested_levels
from graphveil.verify.recount.linkage import released_ids
from graphveil.verify.recount.owner_files import BadFileError, ChosenPairs, chosen_pairs
from graphveil.verify.recount.rows.agreeing_rows import coded_alone, fewest_agreeing
from graphveil.verify.recount.rows.assignments import (
    Allowed,
    NoAssignment,
    allowed_masks,
    allowed_of_masks,
    allowed_of_pairs,
    full_assignment,
    has_disjoint_assignments,
)
from graphveil.verify.recount.rows.fitting_pairs import (
    CodedCells,
    Masks,
    cells_of,
    fitting_persons,
    packed,
    pairs_that_fit,
)
from graphveil.verify.verdict import Check, fails, judged, not_checked, one_line

PAIRS, LEVEL = "allowed pairs", "level"
WHOLE_ROWS = 20_000
"""Up to so many rows all pairs of a record and a person are looked at, above chosen ones alone."""

FLOW_PAIRS = 200_000
"""Up to so many pairs that fit, it is said whether as many assignments as the level share none: a
maximum flow over all pairs, which takes long for more."""

WHETHER_ENOUGH_PAIRS = (
    "whether each person could own as many records as requested, and each record could "
    "belong to as many people"
)


class _Levels(NamedTuple):
    """The requested levels, and the published id of every person where it is known."""

    of_person: Ints
    of_record: Ints | None
    published: Ints | None


class _Counted(NamedTuple):
    """The allowed pairs, among which pairs, and the masks if all pairs were looked at."""

    allowed: Allowed | NoAssignment
    among: str
    fits: Masks | None = None


def allowed_pairs(evidence: Evidence, promise: AdaptiveAnonymity) -> Check:
    """Return whether people and records have as many allowed pairs as requested."""
    # Step 1: as many records as people, or there is no complete assignment.
    n, rows = (
        evidence.original_as(Table).n_rows,
        evidence.tables.number("SELECT count(*) FROM cells"),
    )
    if rows != n:
        return fails(
            f"{counted(rows, 'record')} for {counted(n, 'person')}, so there is no complete "
            "assignment"
        )
    # Step 2: the owner's files that this size and this claim need.
    unknown = None if promise.common else lacking_for_levels(evidence)
    if unknown is not None:
        why, needs = unknown
        asked = WHETHER_ENOUGH_PAIRS if needs else f"{WHETHER_ENOUGH_PAIRS}: {why}"
        return not_checked(asked, needs=needs)
    lacking = _lacking(evidence, promise, n)
    if lacking is not None:
        return not_checked(f"{WHETHER_ENOUGH_PAIRS}, for {counted(n, 'row')}", needs=lacking)
    # Step 3: which pairs are allowed: among all that fit, or among the owner's chosen ones.
    try:
        levels = _levels(evidence, promise)
        tally = _all_pairs(evidence, promise) if n <= WHOLE_ROWS else _chosen(evidence, levels)
    except duckdb.OutOfMemoryException:
        raise
    except (BadFileError, duckdb.Error) as error:
        return fails(one_line(error))
    if isinstance(tally.allowed, NoAssignment):
        return fails(
            "no complete assignment of records to people is consistent with the data: record "
            f"{tally.allowed.record} is left without a person"
        )
    # Step 4: compare the numbers of allowed pairs with the levels, on both sides.
    return _judged(tally, tally.allowed, levels)


def records_agree(evidence: Evidence, promise: AdaptiveAnonymity) -> Check:
    """Whether every record agrees with at least level - 1 others.

    All records that fit one person agree: no column shows different values in two of them.
    """
    db = evidence.tables
    rows = db.number("SELECT count(*) FROM cells")
    if 0 < rows < promise.level:
        return fails(
            f"nobody could own {counted(promise.level, 'record')}, because there are only {rows}"
        )
    problem = known_problem(evidence)
    if problem is not None:
        return fails(problem)
    # A necessary condition that needs no original: all records that fit one person agree.
    codes = coded_alone(db, [evidence.columns.index(name) for name in known_names(evidence)])
    agreeing = fewest_agreeing(codes, enough=promise.level)
    if agreeing is None:
        return not_checked(
            f"{counted(rows, 'record')} differ too much for all of them to be compared"
        )
    record, number = agreeing
    short = (
        f"record {record} agrees with only {counted(number - 1, 'other')}, level={promise.level}"
    )
    enough = (
        f"each of {counted(rows, 'record')} agrees with at least "
        f"{counted(promise.level - 1, 'other')}"
    )
    return judged([short] if number < promise.level else [], enough)


def _lacking(evidence: Evidence, promise: AdaptiveAnonymity, n: int) -> str | None:
    """Return the owner's file that this check needs and that is missing."""
    if n > WHOLE_ROWS and evidence.witness is None:
        return verdict.PAIRS_NEEDED
    if n > WHOLE_ROWS and not promise.common and not evidence.linked:
        return verdict.LINKAGE
    return None


def _levels(evidence: Evidence, promise: AdaptiveAnonymity) -> _Levels:
    """Return the requested levels of people, and of records if the linkage is known."""
    n = evidence.original_as(Table).n_rows
    published = released_ids(evidence.tables) if evidence.linked else None
    # One level for all, or those of people, none of which is below the claim's.
    if promise.common:
        of_all = np.full(n, promise.level, dtype=np.int64)
        return _Levels(of_all, of_all, published)
    of_person = requested_levels(evidence, promise)
    if published is None:
        return _Levels(of_person, None, None)
    # The level of a record is that of its owner, so it needs the linkage.
    of_record = np.empty_like(of_person)
    of_record[published] = of_person
    return _Levels(of_person, of_record, published)


def _all_pairs(evidence: Evidence, promise: AdaptiveAnonymity) -> _Counted:
    """Return the allowed pairs among all that fit."""
    fits = fitting_persons(_cells(evidence))
    number = int(np.bitwise_count(fits).sum())
    among = f"{counted(number, 'pair')} that fit"
    # For few pairs it is also said whether that many assignments share no pair: stronger, and never
    # required.
    few = fits.shape[0] and promise.common and number <= FLOW_PAIRS
    if few and has_disjoint_assignments(fits, promise.level):
        among += f"; {promise.level} complete assignments share no pair"
    return _Counted(allowed_of_masks(fits), among, fits)


def _chosen(evidence: Evidence, levels: _Levels) -> _Counted:
    """Return the allowed pairs among the owner's chosen ones, each of which must fit."""
    path = evidence.witness
    if path is None:
        raise TypeError("there are no chosen pairs")
    pairs = chosen_pairs(evidence.tables, path, evidence.original_as(Table))
    # Chosen pairs are the owner's word, so each must fit the cells.
    fit = pairs_that_fit(_cells(evidence), pairs.records, pairs.persons)
    if not fit.all():
        first = int(np.argmin(fit))
        who = _who(levels, int(pairs.persons[first]))
        raise BadFileError(
            f"{np.count_nonzero(~fit)} of {fit.size} chosen pairs do not fit, the first is "
            f"record {pairs.records[first]} with {who}"
        )
    n = evidence.original_as(Table).n_rows
    # The linkage is a full assignment if the chosen pairs hold it: a good one to start from.
    likely = None
    if levels.published is not None:
        likely = np.empty(n, dtype=np.int64)
        likely[levels.published] = np.arange(n)
    allowed = allowed_of_pairs(pairs.records, pairs.persons, n, likely=likely)
    among = f"{fit.size} chosen pairs, each of which fits"
    if levels.published is not None and _are_balanced(pairs, levels.published):
        among += "; every record has as many of them as its owner"
    return _Counted(allowed, among)


def _are_balanced(pairs: ChosenPairs, published: Ints) -> bool:
    """Whether every person has as many pairs as their record: then all are allowed."""
    n = published.size
    of_records, of_persons = (np.bincount(ends, minlength=n) for ends in pairs)
    return bool(np.array_equal(of_records[published], of_persons))


def _cells(evidence: Evidence) -> CodedCells:
    at = {name: evidence.columns.index(name) for name in known_names(evidence)}
    return cells_of(evidence.tables, evidence.original_as(Table), at)


def _judged(tally: _Counted, allowed: Allowed, levels: _Levels) -> Check:
    """Return whether as many pairs are allowed as is asked for, on both sides."""
    problems = []
    # Records against the levels of their owners, where the linkage tells these.
    if levels.of_record is not None:
        short = np.flatnonzero(allowed.of_record < levels.of_record)
        problems += [
            f"record {record} could belong to {counted(allowed.of_record[record], 'person')}, but "
            f"{levels.of_record[record]} are guaranteed"
            for record in short.tolist()
        ]
    short = np.flatnonzero(allowed.of_person < levels.of_person)
    problems += [
        f"{_who(levels, person)} could own {counted(allowed.of_person[person], 'record')}, but "
        f"{levels.of_person[person]} are guaranteed"
        for person in short.tolist()
    ]
    # Without the linkage: some complete assignment must give each record an owner who asked for no
    # more than it has.
    detail = _ranges(tally.among, allowed)
    if levels.of_record is None:
        lacking = _owner_that_is_lacking(tally, allowed, levels)
        problems += [] if lacking is None else [lacking]
        detail += (
            "; some complete assignment gives each record an owner whose requested level it meets"
        )
    return judged(problems, detail)


def _ranges(among: str, allowed: Allowed) -> str:
    if not allowed.of_person.size:
        return "the data has no rows"
    ends = [(counts.min(), counts.max()) for counts in (allowed.of_person, allowed.of_record)]
    (least, most), (least_people, most_people) = ends
    return (
        f"in complete assignments among {among}: each person could own {least} to "
        f"{counted(most, 'record')}, and each record could belong to {least_people} to "
        f"{counted(most_people, 'person')}, never fewer than requested"
    )


def _owner_that_is_lacking(tally: _Counted, allowed: Allowed, levels: _Levels) -> str | None:
    """Return why no full assignment gives each record an owner who asked for no more than it has.

    Without the linkage the owner of a record is not known, so any that is allowed will do.
    """
    if tally.fits is None:
        raise TypeError("without the linkage, all pairs must be examined")
    # Allowed pairs whose person asked for no more than the record has; a full assignment of these
    # is a possible truth.
    content = np.unique(allowed.of_record)
    of_degree = packed(levels.of_person[None, :] <= content[:, None])
    fits = allowed_masks(tally.fits, allowed)
    fits &= of_degree[np.searchsorted(content, allowed.of_record)]
    owners = full_assignment(fits)
    if not isinstance(owners, NoAssignment):
        return None
    return (
        f"record {owners.record} could belong to "
        f"{counted(allowed.of_record[owners.record], 'person')}, "
        "fewer than its owner requested, whatever the complete assignment"
    )


def _who(levels: _Levels, person: int) -> str:
    if levels.published is None:
        return f"the person in row {person} of the original"
    return f"the person of record {levels.published[person]}"
