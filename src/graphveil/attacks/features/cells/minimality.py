"""What suppressed or generalized cells say by not saying more: the attack `minimality`.

Based on the minimality attack of Wong, Fu, Wang and Pei (VLDB 2007): a method that suppresses no
more than it must tells something by what it suppresses. The attacker knows a person's class, that a
class publishes what its members share (or a share theta of them), and how many people have each
value, as in public statistics. Steps: (1) find suppressed cells, or generalized ones, column by
column; (2) compute how likely each value is for a member of such a class (`suppressed_cells.py`,
`generalized_cells.py`); (3) count how many of these cells have an uncommon value, or the secret if
one is named, and how often the likeliest value is right.

Baselines: all cells of the same columns, pooled, for shares; the better of two guesses for right
guesses, the value that is shown most and the most common one. Intervals: bootstraps over classes,
as members of a class are not sampled independently. All beyond the idea is graphveil's own. Cost:
people times columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    seconds_of_passes,
)
from graphveil.attacks.features.cells import published_cells, suppressed_cells
from graphveil.attacks.features.cells.generalized_cells import cells_below
from graphveil.attacks.features.class_truth import least_counts, theta_of
from graphveil.attacks.intervals import bootstrap_ratio
from graphveil.attacks.wording import inferred
from graphveil.claims.guarantees import AdaptiveAnonymity, KAnonymity, SmoothKAnonymity
from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import GraphveilError, ParameterError
from graphveil.core.hints import one_of
from graphveil.core.parameters import parameter
from graphveil.data import Bipartite
from graphveil.data.ids import as_text
from graphveil.evaluate.comparison import BipartiteComparison, TableComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.release import Release
from graphveil.release.release import ALL

UNCOMMON, HAVING, GUESSED = (
    "hidden cells, not the commonest value of the column",
    "hidden cells of the secret's column, people who have it",
    "hidden cells, right guess",
)
"""Names of figures about suppressed cells, and of the same about generalized ones."""

BELOW, BELOW_HAVING, BELOW_GUESSED = (
    "generalized cells, not the commonest value below them",
    "generalized cells of the secret's column, people who have it",
    "generalized cells, right guess",
)

OF_CLASSES = (KAnonymity, SmoothKAnonymity, AdaptiveAnonymity)
"""Guarantees whose classes publish what their members share."""

NO_COLUMNS = "the features do not belong to columns"
"""Why there is no figure for items without columns."""


class Feature(str):
    """The name of a feature, kept as text even if it looks like a number.

    >>> Feature.parse("income=high"), Feature.parse(5)
    ('income=high', '5')
    """

    __slots__ = ()

    @staticmethod
    def parse(text: object) -> Feature:
        """Return the name that a text is."""
        return Feature(text)


@dataclass(frozen=True, kw_only=True)
class MinimalityOptions(AttackOptions, label="minimality"):
    """Which value is the secret that is looked for."""

    secret: Feature | None = parameter(
        default=None,
        text="feature to treat as the secret, such as income=high",
        unset="all columns, and every value except the most common",
    )


def minimality(situation: AttackInput[BipartiteComparison], options: MinimalityOptions) -> Outcome:
    """Return what people have whose class publishes nothing in a column, compared with everybody.

    Where a class publishes more general values, it is what they have compared with all people below
    those values.
    """
    if situation.tables is not None and _generalizes(situation.tables):
        return _of_levels(situation, situation.tables, options)
    original = situation.comparison.original
    # Step 1: which columns are asked about, and the public rule of publishing.
    shown, truth = published_cells.cells_of(situation.comparison, all_true=False)
    columns, secret = _asked(original, options, shown)
    least = _least(situation.release, shown.sizes)
    # Step 2: suppressed cells, and what silence says about each kind of them.
    every = (suppressed_cells.silent_cells(shown, truth, column, least) for column in columns)
    silent = [cells for cells in every if cells.people.size]
    if not silent:
        raise NotMeasuredError(
            "no cell is suppressed: every class publishes a value in every column"
        )
    return Outcome(_figures(situation, silent, secret, truth.own), *_risks(silent, truth.own.size))


def _figures(
    situation: AttackInput[BipartiteComparison],
    silent: list[suppressed_cells.SuppressedCells],
    secret: int | None,
    own: Ints,
    *,
    generalized: bool = False,
) -> list[AttackFigure]:
    """Return what suppressed cells are, compared with their columns, and how many are guessed."""
    uncommon, having, guessed = (
        (BELOW, BELOW_HAVING, BELOW_GUESSED) if generalized else (UNCOMMON, HAVING, GUESSED)
    )
    # Uncommon values, or the secret: hits in the cells, and how frequent they are in the column.
    if secret is None:
        part = uncommon
        hits = [cells.value != cells.plain[1][cells.kind] for cells in silent]
        chances = [
            1 - cells.shares[np.arange(cells.plain[1].size), cells.plain[1]][cells.kind]
            for cells in silent
        ]
    else:
        part, hits = having, [cells.value == secret for cells in silent]
        chances = [cells.shares[cells.kind, secret] for cells in silent]
    # The likeliest value given silence, and the two guesses without the method: shown most often
    # (0), most common (1).
    right = [cells.value == cells.chances.argmax(axis=1)[cells.kind] for cells in silent]
    plain = [
        np.concatenate([cells.value == cells.plain[way][cells.kind] for cells in silent]).mean()
        for way in range(2)
    ]
    rng = situation.rng("minimality: intervals")
    # Resample classes, not cells.
    classes = np.concatenate([own[cells.people] for cells in silent])
    return [
        AttackFigure(
            part,
            float(np.concatenate(counted).mean()),
            "share of generalized cells" if generalized else "share of suppressed cells",
            float(guess),
            sample=bootstrap_ratio(
                *suppressed_cells.by_class(classes, np.concatenate(counted)), rng
            ),
        )
        for part, counted, guess in (
            (part, hits, np.concatenate(chances).mean()),
            (guessed, right, max(plain)),
        )
    ]


def _generalizes(tables: TableComparison) -> bool:
    """Whether a table publishes values that the original lacks, such as 20-29."""
    # Values of the release that the original does not have are nodes above its values.
    places = [tables.original.columns.index(name) for name in tables.released.columns]
    return any(
        set(as_text(shown).tolist()) - set(as_text(tables.original.categories[place]).tolist())
        for shown, place in zip(tables.released.categories, places, strict=True)
    )


def _of_levels(
    situation: AttackInput[BipartiteComparison], tables: TableComparison, options: MinimalityOptions
) -> Outcome:
    """Return what people have below the nodes that their classes publish, compared with all there.

    For generalized tables; the levels come from the owner's record.
    """
    _least(situation.release, np.ones(0, dtype=np.int64))
    if tables.claimed.levels is None:
        raise NotMeasuredError("requires the owner's record, which has the rules of the levels")
    try:
        levels = tables.claimed.levels()
    except GraphveilError as error:
        raise NotMeasuredError(f"the levels cannot be read again: {error}") from error
    asked = _asked_of_table(tables, options)
    # Classes: equal released rows, and everybody's class.
    first, own, sizes = np.unique(
        tables.released.codes, axis=0, return_index=True, return_inverse=True, return_counts=True
    )[1:]
    own = own.ravel()[tables.linked]
    silent, secret = [], None
    for at, name in enumerate(tables.released.columns):
        if asked is not None and name != asked[0]:
            continue
        # The levels of a column, what each class publishes in it, and the cells with more than one
        # value.
        nested = levels.nested(name)
        texts = [*as_text(tables.released.categories[at]).tolist(), ALL]
        shown = [texts[code] for code in tables.released.codes[first, at].tolist()]
        if asked is not None:
            secret = int(nested[2][asked[1]])
        cells = cells_below(nested, shown, own, sizes)
        if cells.people.size:
            silent.append(cells)
    if not silent:
        raise NotMeasuredError("no cell is generalized or suppressed")
    figures = _figures(situation, silent, secret, own, generalized=True)
    return Outcome(figures, *_risks(silent, own.size))


def _asked_of_table(tables: TableComparison, options: MinimalityOptions) -> tuple[str, int] | None:
    """Return the column of the secret and a row that has it; None if no secret is named."""
    if options.secret is None:
        return None
    data = tables.original
    # The secret is named as column=value, with a value of the original.
    column, _, value = options.secret.partition("=")
    names = [
        (name, as_text(values).tolist())
        for name, values in zip(data.columns, data.categories, strict=True)
    ]
    for at, (name, values) in enumerate(names):
        if name == column and value in values:
            return name, int(np.flatnonzero(data.codes[:, at] == values.index(value))[0])
    listed = sorted(f"{name}={value}" for name, values in names for value in values)
    raise ParameterError(
        f"minimality: secret={options.secret!r} is not a feature. "
        f"{one_of(str(options.secret), listed)}"
    )


def _asked(
    original: Bipartite, options: MinimalityOptions, shown: published_cells.PublishedCells
) -> tuple[range | list[int], int | None]:
    """Return the columns that are looked at, and the number of the secret's value, if any."""
    columns = published_cells.column_of_features(original)
    if options.secret is None:
        if columns is None:
            raise NotMeasuredError(NO_COLUMNS)
        return range(shown.values.size), None
    # The same for user-item data, whose items may have no columns: each then has the values 0 and
    # 1.
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


def _least(release: Release[Any], sizes: Ints) -> Ints:
    """Return how many members of a class at least have what it publishes, by the public rule.

    `sizes`: int64, shape (classes,); returns the same shape.
    """
    if not isinstance(release.guarantee, OF_CLASSES):
        raise NotMeasuredError(
            "the suppressed cells were not chosen by what the members of a class share"
        )
    # All members, or the share of them that the release states.
    theta = theta_of(release)
    return sizes if theta is None else least_counts(sizes, theta)


def _risks(silent: list[suppressed_cells.SuppressedCells], n: int) -> tuple[Floats, Floats]:
    """Return how likely the attacker takes a person's suppressed cells for what they are.

    Means over the cells of each person, next to those without the method.
    """
    people = np.concatenate([cells.people for cells in silent])
    # The chance of the true value, by silence and by the column alone.
    likely = [cells.chances[cells.kind, cells.value] for cells in silent]
    before = [cells.shares[cells.kind, cells.value] for cells in silent]
    return (
        suppressed_cells.mean_by_person(people, np.concatenate(likely), n),
        suppressed_cells.mean_by_person(people, np.concatenate(before), n),
    )


PASSES, PER_CLASS = 10, 1e-5
"""How many times as long as `seconds_of_passes` it takes; and seconds for resampling a class."""


def seconds(situation: AttackInput[BipartiteComparison], _options: MinimalityOptions) -> float:
    """Return about how long it takes."""
    classes = published_cells.refuse_many(situation.comparison)
    return PASSES * seconds_of_passes(situation, AttackOptions()) + PER_CLASS * classes


MINIMALITY = Attack(
    name="minimality",
    kind=Bipartite,
    knows="the equivalence class of a person, that a class publishes what its members share, "
    "and how many people have each value, as in public statistics",
    definition="for cells suppressed in a class: the share without the most common value of their "
    "column, or with the secret if one is given, compared with the entire column; how often the "
    "most likely of the unpublished values is correct, compared with the most common one; for "
    "generalized cells the same among the values below them",
    source="based on the minimality attack of Wong, Fu, Wang and Pei, 2007; the rest is "
    "graphveil's own",
    cost=f"linear, up to {published_cells.MOST_CELLS:,} cells",
    compute=minimality,
    seconds=seconds,
    options=MinimalityOptions,
    said=(
        inferred(
            UNCOMMON,
            does="knows how common values are and looks at which cells are suppressed",
            line="suppressed cells with an uncommon value, compared with all cells",
            label="the suppressed cells",
            says="{n} suppressed cells do not have the most common value of their column",
            if_measured=True,
        ),
        inferred(HAVING, line=("people with the secret among the suppressed cells of its column")),
        inferred(
            BELOW,
            does="knows how common values are and looks at which cells are generalized",
            line="generalized cells with an uncommon value among those below them",
            label="the generalized cells",
            says="{n} generalized cells do not have the most common of the values they include",
            if_measured=True,
        ),
        inferred(
            BELOW_HAVING, line="people with the secret among the generalized cells of its column"
        ),
    ),
)
