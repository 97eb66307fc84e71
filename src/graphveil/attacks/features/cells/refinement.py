"""Values that a suppressed cell cannot have, given the method's choices: the attack `refinement`.

The attacker knows the release, the method with its public parameters, and the possible values. Had
a person certain values, the method would have put the row into a different class: such values are
excluded, or unlikely if the search of the method may have stopped early (`choice_constraints.py`).
Steps: (1) read from the provenance how classes were chosen; (2) exclude values, class by class; (3)
count how many suppressed cells have an excluded value, how often the true value is nevertheless
among those (which should be never for excluded ones), and how often the likeliest remaining value
is right.

The idea is of Chhillar et al., 2025; the inference is graphveil's own. Baselines: the likeliest
value by what is shown elsewhere, or the most common one. Intervals: bootstraps over classes. Cost:
pairs of classes times columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.features.cells.choice_constraints import (
    BALANCED,
    FIRST,
    Features,
    Refined,
    after_cuts,
    after_moves,
)
from graphveil.attacks.features.cells.minimality import NO_COLUMNS
from graphveil.attacks.features.cells.published_cells import (
    MOST_CELLS,
    PublishedCells,
    TrueCells,
    cells_of,
    column_of_features,
    refuse_many,
)
from graphveil.attacks.features.cells.suppressed_cells import by_class, mean_by_person
from graphveil.attacks.intervals import bootstrap_ratio
from graphveil.attacks.wording import inferred
from graphveil.core.array_types import Floats, Ints
from graphveil.data import Bipartite
from graphveil.data.codes import SUPPRESSED
from graphveil.data.ids import as_text
from graphveil.evaluate.comparison import BipartiteComparison, Bools
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.release import Release

RULED_OUT, CERTAIN, TRUE, NARROWED, GUESSED = (
    "hidden cells, a value ruled out",
    "hidden cells known for certain",
    "a value ruled out or unlikely is the true one",
    "cells with a value ruled out or unlikely, right guess",
    "hidden cells, right guess",
)
"""Names of figures."""

UNLIKELY = 0.1
"""What the chance of a value falls to that would nearly always have led to another class.

Measured on the sample of adult that ships with the package, for `cluster-k` and `suppress-k`."""

WHOLE_ROWS = 2_000
"""Up to this many rows `cluster-k` searches the complete table until nothing is gained; only then
are values excluded for certain."""

MOST_STEPS = 20_000_000_000
"""More pairs of classes times columns are refused: about a minute by the forecast."""

INCOMPLETE = (
    "the search of the method may stop before each row is in the class with the largest gain"
)
"""Why nothing is certain."""


def refinement(
    situation: attack.AttackInput[BipartiteComparison], _options: attack.AttackOptions
) -> attack.Outcome:
    """Return for how many suppressed cells values are excluded, and how many are guessed then."""
    # Step 1: how classes were chosen.
    features = _features_of(situation.comparison.original)
    chosen = chosen_by(situation.release, situation.comparison.original.n_users)
    shown, truth = cells_of(situation.comparison)
    # Step 2: what cuts, or moves that were not made, exclude.
    if chosen.cut is not None:
        refined = after_cuts(shown, features, chosen.k, chosen.cut)
    else:
        refined = after_moves(shown, features, chosen.k, complete=chosen.complete)
    if not shown.values.size:
        raise NotMeasuredError("no cell is suppressed")
    # Step 3: the cells of all columns, with the truth to count.
    of_columns = [
        _hidden_cells(shown, truth, column, refined, features)
        for column in range(shown.values.size)
    ]
    cells = HiddenCells(*(np.concatenate(some) for some in zip(*of_columns, strict=True)))
    if not cells.people.size:
        raise NotMeasuredError("no cell is suppressed")
    figures = _figures(situation, cells, truth)
    if chosen.complete:
        return attack.Outcome(_ruled_out(cells) + figures, *_risks(cells, truth.own.size))
    missing = dict.fromkeys((RULED_OUT, CERTAIN), INCOMPLETE)
    return attack.Outcome(figures, *_risks(cells, truth.own.size), missing)


class Chosen(NamedTuple):
    """How a method chose its classes.

    Parameters
    ----------
    cut : str or None
        Along which feature rows were cut in two, `FIRST` or `BALANCED`; None if they were moved
        from class to class.
    k : int
        The smallest class.
    complete : bool
        Whether every move that gains was made.
    """

    cut: str | None
    k: int
    complete: bool


MOVES: dict[str, dict[str, object]] = {
    "cluster-k": {"search": "local"},
    "suppress-k": {"algorithm": "greedy", "refine": True},
}
"""Methods whose choices say something (moves of rows, and cuts), with the parameters under which
they do."""

CUTS: dict[str, dict[str, object]] = {"mondrian": {"column_order": "sorted", "release": "suppress"}}
"""Methods whose choices say something, with the parameters under which they do."""


def chosen_by(release: Release[Any], people: int) -> Chosen:
    """Return how the method of a release chose classes, by its name and its public parameters.

    A search is complete for `cluster-k` on small tables in one block, and for cuts.
    """
    method, parameters = release.provenance.method, release.provenance.parameters
    # Under other parameters the method chooses differently, and its choices exclude nothing.
    for ways in (MOVES, CUTS):
        for name, value in ways.get(method, {}).items():
            if parameters.get(name, value) != value:
                raise NotMeasuredError(
                    f"with {name}={parameters[name]} the choices of {method} exclude no value"
                )
        if method in ways:
            # Moves are complete only if the search ran to its end on the entire table at once.
            whole = people <= WHOLE_ROWS and not _in_blocks(release)
            complete = ways is CUTS or (method == "cluster-k" and whole)
            cut = str(parameters.get("split", FIRST)) if ways is CUTS else None
            if cut not in (None, FIRST, BALANCED):
                raise NotMeasuredError(f"the cut rule split={cut} is not supported")
            return Chosen(cut, int(parameters["k"]), complete)
    raise NotMeasuredError(f"the choices of {method} exclude no value")


def _in_blocks(release: Release[Any]) -> bool:
    """Whether the owner asked for blocks, which no row leaves; the record alone says it."""
    return release.private is not None and release.private.withheld.get("block_rows") is not None


def _features_of(original: Bipartite) -> Features:
    """Return the features of a table, one per column and value."""
    column = column_of_features(original)
    if column is None:
        raise NotMeasuredError(NO_COLUMNS)
    number = np.zeros(column.size, dtype=np.int64)
    for of_it in (np.nonzero(column == one)[0] for one in np.unique(column)):
        number[of_it] = np.arange(of_it.size)
    return Features(column, number, as_text(original.feature_labels()).tolist())


class HiddenCells(NamedTuple):
    """Suppressed cells, one after another; every array has shape (cells,).

    Parameters
    ----------
    people : int64
        Whose they are.
    ruled_out, certain : bool
        Whether a value is excluded, and whether all but one are, in a column in which everybody has
        a value.
    narrowed, wrongly : bool
        Whether a value is excluded or unlikely, and whether the true one is.
    mass : float64
        How likely such values are by what is shown elsewhere.
    right, likeliest, commonest : bool
        Whether the guess is right, and whether the guesses without the method are: the value that
        is likeliest by what is shown, and the most common one of all.
    chance, before : float64
        How likely the true value is taken to be, with and without the method.
    """

    people: Ints
    ruled_out: Bools
    certain: Bools
    narrowed: Bools
    wrongly: Bools
    mass: Floats
    right: Bools
    likeliest: Bools
    commonest: Bools
    chance: Floats
    before: Floats


def _hidden_cells(
    shown: PublishedCells, truth: TrueCells, column: int, refined: Refined, features: Features
) -> HiddenCells:
    """Return the suppressed cells of a column, with what the method's choices say about them."""
    of_it = np.flatnonzero(features.column == column)
    excluded, unlikely = refined.excluded[:, of_it], refined.unlikely[:, of_it]
    value = truth.value[:, column]
    people = np.flatnonzero((shown.value[truth.own, column] == SUPPRESSED) & (value != SUPPRESSED))
    own, value = truth.own[people], value[people]
    # Chances by what is shown elsewhere; excluded values have none, unlikely ones a tenth.
    likely = shown.likely(column)
    chances = np.where(excluded, 0.0, np.where(unlikely, UNLIKELY * likely, likely))
    chances /= np.maximum(chances.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    # What is left of the values, to count cells that are narrowed or certain.
    less = excluded | unlikely
    left = (~excluded).sum(axis=1)
    known = truth.value[:, column]
    common = np.bincount(known[known != SUPPRESSED], minlength=of_it.size).argmax()
    return HiddenCells(
        people=people,
        ruled_out=(left < of_it.size)[own],
        certain=((left == 1) & (left < of_it.size) & (known != SUPPRESSED).all())[own],
        narrowed=less[own].sum(axis=1) > 0,
        wrongly=less[own, value],
        mass=(likely * less).sum(axis=1)[own],
        right=chances.argmax(axis=1)[own] == value,
        likeliest=likely.argmax(axis=1)[own] == value,
        commonest=value == common,
        chance=chances[own, value],
        before=likely[own, value],
    )


def _ruled_out(cells: HiddenCells) -> list[attack.AttackFigure]:
    """Return for how many cells values are excluded for certain, and all but one."""
    unit = "share of suppressed cells"
    return [
        attack.AttackFigure(RULED_OUT, float(cells.ruled_out.mean()), unit, 0.0),
        attack.AttackFigure(CERTAIN, float(cells.certain.mean()), unit, 0.0),
    ]


def _figures(
    situation: attack.AttackInput[BipartiteComparison], cells: HiddenCells, truth: TrueCells
) -> list[attack.AttackFigure]:
    """Return how many cells are guessed, and how often what is excluded or unlikely is true."""
    rng, unit = situation.rng("refinement: intervals"), "share of suppressed cells"
    figures: list[attack.AttackFigure] = []
    every = np.ones(cells.people.size, dtype=np.bool_)
    # Guesses for narrowed cells and for all; the baseline is the better guess without the method.
    for part, some in ((NARROWED, cells.narrowed), (GUESSED, every)):
        if some.any():
            guess = max(cells.likeliest[some].mean(), cells.commonest[some].mean())
            hits = by_class(truth.own[cells.people[some]], cells.right[some])
            sample = bootstrap_ratio(*hits, rng)
            value = float(cells.right[some].mean())
            figures.append(attack.AttackFigure(part, value, unit, float(guess), sample=sample))
    if cells.narrowed.any():
        # How often what is excluded or unlikely is true after all: this tests the inference itself.
        wrongly = float(cells.wrongly[cells.narrowed].mean())
        by_chance = float(cells.mass[cells.narrowed].mean())
        unit = "share of such cells"
        figures.append(attack.AttackFigure(TRUE, wrongly, unit, by_chance, "higher is better"))
    return figures


def _risks(cells: HiddenCells, n: int) -> tuple[Floats, Floats]:
    """Return how likely each person's suppressed cells are taken for what they are, on average."""
    risk = mean_by_person(cells.people, cells.chance, n)
    return risk, mean_by_person(cells.people, cells.before, n)


PER_STEP, PER_CLASS, PER_CELL = 3e-9, 3e-5, 4e-8
"""Seconds for every pair of classes and column; for every class; and for every cell of the data."""


def seconds(
    situation: attack.AttackInput[BipartiteComparison], _options: attack.AttackOptions
) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    classes = refuse_many(pair)
    people = max(pair.original.n_users, 1)
    columns = pair.original.n_entries / people
    # Moves compare all pairs of classes; cuts do not.
    steps = 0.0 if situation.release.provenance.method in CUTS else classes * classes * columns
    features = pair.original.n_features
    if steps > MOST_STEPS or classes * features > MOST_CELLS:
        raise attack.TooLargeError(
            f"{classes:,} classes, {round(columns):,} columns and {features:,} values exceed "
            "the limit of this attack. Use a release with fewer rows"
        )
    return steps * PER_STEP + classes * PER_CLASS + pair.original.n_entries * PER_CELL


REFINEMENT = attack.Attack(
    name="refinement",
    kind=Bipartite,
    knows="the release, its method with the public parameters, and the possible values of the "
    "columns",
    definition="values that are impossible or unlikely for a suppressed cell because the method "
    "would have put the row into a different class: the share of suppressed cells with at least "
    "one value ruled out with certainty; how often the true value is nevertheless among the values "
    "ruled out or unlikely; how often the most likely value is correct, compared with the most "
    "likely value given the published cells, or the most common one",
    source="based on the idea of Chhillar et al., 2025, that an optimizer's choices reveal what "
    "it chose from; the inference is graphveil's own",
    cost=f"pairs of classes times columns, up to {MOST_STEPS:,}",
    compute=refinement,
    seconds=seconds,
    said=(
        inferred(
            NARROWED,
            does="knows how the method chose",
            line="suppressed cells, inferred from the method's choices",
            label="the method's choices",
            says="of the cells about which these choices say something, {n} are inferred correctly",
            if_measured=True,
        ),
    ),
)
