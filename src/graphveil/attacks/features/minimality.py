"""What a class says of a column by publishing nothing of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.costs import seconds_of_passes
from graphveil.attacks.features.cells import (
    MOST_CELLS,
    ShownCells,
    TrueCells,
    cells_of,
    refuse_many,
)
from graphveil.attacks.features.class_truth import least_counts, theta_of
from graphveil.attacks.features.rerunning import column_of_features
from graphveil.attacks.intervals import bootstrap_ratio
from graphveil.attacks.wording import Said
from graphveil.claims.guarantees import AdaptiveAnonymity, KAnonymity, SmoothKAnonymity
from graphveil.core.errors import ParameterError, one_of
from graphveil.core.lazy import lazy_module
from graphveil.core.parameters import parameter
from graphveil.data import Bipartite
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.release import Release

special = lazy_module("scipy.special")

UNCOMMON, HAVING, GUESSED = (
    "hidden cells, not the commonest value of the column",
    "hidden cells of the secret's column, people who have it",
    "hidden cells, right guess",
)
OF_CLASSES = (KAnonymity, SmoothKAnonymity, AdaptiveAnonymity)
NO_COLUMNS = "the features do not belong to columns"


class Feature(str):
    """The name of a feature, whatever it looks like.

    Examples
    --------
    >>> Feature.parse("income=high"), Feature.parse(5)
    ('income=high', '5')
    """

    __slots__ = ()

    @staticmethod
    def parse(text: object) -> Feature:
        """Return the name that a text is."""
        return Feature(text)


@dataclass(frozen=True, kw_only=True)
class MinimalityOptions(AttackOptions):
    """Whose secret is looked for."""

    label: ClassVar[str] = "minimality"

    secret: Feature | None = parameter(
        default=None,
        text="feature to treat as the secret, such as income=high",
        unset="all columns, and every value except the most common",
    )


class SilentCells(NamedTuple):
    """Cells of a column of which the classes of people publish nothing.

    Parameters
    ----------
    people
        int64: whose they are.
    value
        int32: what they truly are.
    of_size
        int64: which of the sizes of classes theirs has.
    chances
        float64, shape (sizes, values): how likely the attacker takes each value to be.
    shares
        float64, shape (values,): how often each value stands in the whole column.
    plain
        int64: what is guessed without the method: the value that is shown most often, and the
        commonest one of all.
    """

    people: NDArray[np.int64]
    value: NDArray[np.int32]
    of_size: NDArray[np.int64]
    chances: NDArray[np.float64]
    shares: NDArray[np.float64]
    plain: tuple[int, int]


def minimality(situation: AttackInput[BipartiteComparison], options: MinimalityOptions) -> Outcome:
    """Return what people have of whose column their class publishes nothing, beside everybody.

    Raises
    ------
    NotMeasuredError
        Where there are no people, nothing is hidden, or the release is none of classes; of features
        without columns also where none is named.
    """
    original = situation.comparison.original
    shown, truth = cells_of(situation.comparison, all_true=False)
    columns, secret = _asked(original, options, shown)
    least = _least(situation.release, shown.sizes)
    every = (silent_cells(shown, truth, column, least) for column in columns)
    silent = [cells for cells in every if cells.people.size]
    if not silent:
        raise NotMeasuredError(
            "no cell is suppressed: every class publishes a value in every column"
        )
    return Outcome(_figures(situation, silent, secret, truth), *_risks(silent, truth.own.size))


def _figures(
    situation: AttackInput[BipartiteComparison],
    silent: list[SilentCells],
    secret: int | None,
    truth: TrueCells,
) -> list[AttackFigure]:
    """Return what hidden cells are, beside all cells of their columns, and how many are guessed."""
    if secret is None:
        part = UNCOMMON
        hits = [cells.value != cells.plain[1] for cells in silent]
        chances = [1 - cells.shares[cells.plain[1]] for cells in silent]
    else:
        part, hits = HAVING, [cells.value == secret for cells in silent]
        chances = [cells.shares[secret] for cells in silent]
    numbers = [cells.people.size for cells in silent]
    right = [cells.value == cells.chances.argmax(axis=1)[cells.of_size] for cells in silent]
    plain = (
        sum(int((cells.value == cells.plain[way]).sum()) for cells in silent) for way in range(2)
    )
    rng = situation.rng("minimality: intervals")
    return [
        AttackFigure(
            part,
            float(np.concatenate(counted).mean()),
            "share of suppressed cells",
            float(guess / sum(numbers)),
            sample=bootstrap_ratio(*_by_class(counted, silent, truth), rng),
        )
        for part, counted, guess in (
            (part, hits, float(np.dot(chances, numbers))),
            (GUESSED, right, max(plain)),
        )
    ]


def _asked(
    original: Bipartite, options: MinimalityOptions, shown: ShownCells
) -> tuple[range | list[int], int | None]:
    """Return the columns that are looked at, and the value of the one where a secret is named."""
    columns = column_of_features(original)
    if options.secret is None:
        if columns is None:
            raise NotMeasuredError(NO_COLUMNS)
        return range(shown.values.size), None
    names = [str(name) for name in original.feature_labels().tolist()]
    if options.secret not in names:
        raise ParameterError(
            f"minimality: secret={options.secret!r} is not a feature. "
            f"{one_of(str(options.secret), sorted(names))}"
        )
    feature = names.index(options.secret)
    if columns is None:
        return [feature], 1
    return [int(columns[feature])], int((columns[:feature] == columns[feature]).sum())


def _least(release: Release[Any], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many members of a class at least have what it publishes, by the public rule.

    Raises
    ------
    NotMeasuredError
        Where the release is none of classes.
    """
    if not isinstance(release.guarantee, OF_CLASSES):
        raise NotMeasuredError(
            "the suppressed cells were not chosen by what the members of a class share"
        )
    theta = theta_of(release)
    return sizes if theta is None else least_counts(sizes, theta)


def silent_cells(
    shown: ShownCells, truth: TrueCells, column: int, least: NDArray[np.int64]
) -> SilentCells:
    """Return the cells of a column that are hidden, and what silence says of them.

    How many people have each value is known, and how many a class shows it of: the rest are those
    of whom nothing is shown. Of a class of s, fewer than `least` have a value that it does not
    publish, which makes one less likely that nearly all would have.

    Parameters
    ----------
    shown, truth
        Release and original.
    column
        The column.
    least
        int64, shape (classes,): how many of a class have what it publishes at least.
    """
    value, number = truth.value[:, column], int(shown.values[column])
    hidden = shown.value[:, column] == SUPPRESSED
    totals = np.bincount(value[value != SUPPRESSED], minlength=number)
    open_ = np.bincount(shown.value[~hidden, column], shown.sizes[~hidden], minlength=number)
    people = np.nonzero(hidden[truth.own] & (value != SUPPRESSED))[0]
    rest = np.maximum(totals - open_, 0.0)
    rest = (rest if rest.any() else totals) / max(rest.sum() or totals.sum(), 1.0)
    sizes, of_size = np.unique(shown.sizes[truth.own[people]], return_inverse=True)
    fewest = np.zeros(shown.sizes.max() + 1, dtype=np.int64)
    fewest[shown.sizes] = least
    others = special.bdtr(
        np.maximum(fewest[sizes] - 2, 0)[:, None], np.maximum(sizes - 1, 0)[:, None], rest[None, :]
    )
    weights = rest * np.where((sizes > 1)[:, None], others, 1.0)
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, rest)
    chances = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return SilentCells(
        people=people,
        value=value[people],
        of_size=of_size,
        chances=chances,
        shares=totals / max(totals.sum(), 1),
        plain=(int(open_.argmax()), int(totals.argmax())),
    )


def _by_class(
    counted: list[NDArray[np.bool_]], silent: list[SilentCells], truth: TrueCells
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the hits and the cells of every class that hides any: its members are not drawn."""
    classes = np.concatenate([truth.own[cells.people] for cells in silent])
    position = np.unique(classes, return_inverse=True)[1]
    hits, number = np.zeros((2, int(position.max()) + 1))
    np.add.at(hits, position, np.concatenate(counted))
    np.add.at(number, position, 1)
    return hits, number


def _risks(silent: list[SilentCells], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how likely everybody's hidden cells are taken for what they are, on average."""
    people = np.concatenate([cells.people for cells in silent])
    likely = [cells.chances[cells.of_size, cells.value] for cells in silent]
    before = [cells.shares[cells.value] for cells in silent]
    return (
        mean_by_person(people, np.concatenate(likely), n),
        mean_by_person(people, np.concatenate(before), n),
    )


def mean_by_person(
    people: NDArray[np.int64], values: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Return the mean of everybody's values; NaN where there are none.

    Parameters
    ----------
    people
        int64: whose each value is.
    values
        float64: the values.
    n
        How many people there are.

    Examples
    --------
    >>> mean_by_person(np.array([0, 0]), np.array([0.5, 1.0]), 2).tolist()
    [0.75, nan]
    """
    number = np.bincount(people, minlength=n)
    means = np.full(n, np.nan)
    np.divide(np.bincount(people, weights=values, minlength=n), number, out=means, where=number > 0)
    return means


PASSES, PER_CLASS = 10, 1e-5
"""How often it reads what the others read a few times; seconds for drawing a class again."""


def seconds(situation: AttackInput[BipartiteComparison], _options: MinimalityOptions) -> float:
    """Return about how long it takes.

    Raises
    ------
    TooLargeError
        Where cells are too many.
    """
    classes = refuse_many(situation.comparison)
    return PASSES * seconds_of_passes(situation, AttackOptions()) + PER_CLASS * classes


MINIMALITY = Attack(
    name="minimality",
    kind=Bipartite,
    knows="the equivalence class of a person, that a class publishes what its members share, "
    "and how many people have each value, as in public statistics",
    definition="for cells suppressed in a class: the share without the most common value of "
    "their column, or with the secret if one is given, compared with the entire "
    "column; how often the most likely of the unpublished values is correct, "
    "compared with the most common one",
    source=(
        "based on the minimality attack of Wong, Fu, Wang and Pei, 2007; the rest is "
        "graphveil's own"
    ),
    needs_linkage=True,
    cost=f"linear, up to {MOST_CELLS:,} cells",
    compute=minimality,
    seconds=seconds,
    options=MinimalityOptions,
    said=(
        Said(
            "inferred",
            UNCOMMON,
            does="knows how common values are and looks at which cells are suppressed",
            line="suppressed cells with an uncommon value, compared with all cells",
            label="the suppressed cells",
            says="{n} suppressed cells do not have the most common value of their column",
            if_measured=True,
        ),
        Said(
            "inferred",
            HAVING,
            line=("people with the secret among the suppressed cells of its column"),
        ),
    ),
)
"""The entry of this attack."""
