"""What a class says of a column by publishing nothing of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    TooLargeError,
    seconds_of_passes,
)
from graphveil.attacks.features.cells import (
    MOST_CELLS,
    PublishedCells,
    TrueCells,
    cells_of,
    refuse_many,
)
from graphveil.attacks.features.class_truth import least_counts, theta_of
from graphveil.attacks.features.rerunning import column_of_features
from graphveil.attacks.intervals import bootstrap_ratio
from graphveil.attacks.wording import inferred
from graphveil.claims.guarantees import AdaptiveAnonymity, KAnonymity, SmoothKAnonymity
from graphveil.core.errors import GraphveilError, ParameterError, one_of
from graphveil.core.parameters import parameter
from graphveil.data import Bipartite
from graphveil.data.codes import SUPPRESSED
from graphveil.data.ids import as_text
from graphveil.evaluate.comparison import (
    BipartiteComparison,
    Bools,
    Floats,
    Int32s,
    Ints,
    Nested,
    TableComparison,
    special,
)
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.release import Release
from graphveil.release.release import ALL

UNCOMMON, HAVING, GUESSED = (
    "hidden cells, not the commonest value of the column",
    "hidden cells of the secret's column, people who have it",
    "hidden cells, right guess",
)
BELOW, BELOW_HAVING, BELOW_GUESSED = (
    "generalized cells, not the commonest value below them",
    "generalized cells of the secret's column, people who have it",
    "generalized cells, right guess",
)
OF_CLASSES = (KAnonymity, SmoothKAnonymity, AdaptiveAnonymity)
NO_COLUMNS = "the features do not belong to columns"


class Feature(str):
    """The name of a feature, whatever it looks like.

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
    """Whose secret is looked for."""

    secret: Feature | None = parameter(
        default=None,
        text="feature to treat as the secret, such as income=high",
        unset="all columns, and every value except the most common",
    )


class SuppressedCells(NamedTuple):
    """Cells of a column of which the classes of people do not publish the value.

    Cells of one kind say the same: their classes are of one size and publish one node, which is
    that of all values where nothing is generalized.

    `people`: int64: whose they are; `value`: int64: what they truly are; `kind`: int64: of which
    kind they are; `chances`: float64, shape (kinds, values): how likely the attacker takes each
    value to be; `shares`: float64, shape (kinds, values): how often each value stands in the whole
    column, among those below the node; `plain`: int64, shape (2, kinds): what is guessed without
    the method: the value below the node that is shown most often, and the commonest one of all.
    """

    people: Ints
    value: Ints
    kind: Ints
    chances: Floats
    shares: Floats
    plain: Ints


def minimality(situation: AttackInput[BipartiteComparison], options: MinimalityOptions) -> Outcome:
    """Return what people have of whose column their class publishes nothing, next to everybody.

    Where a class publishes more general values, it is what they have next to all those below them.
    """
    if situation.tables is not None and _generalizes(situation.tables):
        return _of_levels(situation, situation.tables, options)
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
    return Outcome(_figures(situation, silent, secret, truth.own), *_risks(silent, truth.own.size))


def _figures(
    situation: AttackInput[BipartiteComparison],
    silent: list[SuppressedCells],
    secret: int | None,
    own: Ints,
    *,
    generalized: bool = False,
) -> list[AttackFigure]:
    """Return what hidden cells are, next to all of their columns, and how many are guessed."""
    uncommon, having, guessed = (
        (BELOW, BELOW_HAVING, BELOW_GUESSED) if generalized else (UNCOMMON, HAVING, GUESSED)
    )
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
    right = [cells.value == cells.chances.argmax(axis=1)[cells.kind] for cells in silent]
    plain = [
        np.concatenate([cells.value == cells.plain[way][cells.kind] for cells in silent]).mean()
        for way in range(2)
    ]
    rng = situation.rng("minimality: intervals")
    classes = np.concatenate([own[cells.people] for cells in silent])
    return [
        AttackFigure(
            part,
            float(np.concatenate(counted).mean()),
            "share of generalized cells" if generalized else "share of suppressed cells",
            float(guess),
            sample=bootstrap_ratio(*by_class(classes, np.concatenate(counted)), rng),
        )
        for part, counted, guess in (
            (part, hits, np.concatenate(chances).mean()),
            (guessed, right, max(plain)),
        )
    ]


def _generalizes(tables: TableComparison) -> bool:
    """Whether a table publishes values that the original lacks, such as 20-29."""
    places = [tables.original.columns.index(name) for name in tables.released.columns]
    return any(
        set(as_text(shown).tolist()) - set(as_text(tables.original.categories[place]).tolist())
        for shown, place in zip(tables.released.categories, places, strict=True)
    )


def _of_levels(
    situation: AttackInput[BipartiteComparison], tables: TableComparison, options: MinimalityOptions
) -> Outcome:
    """Return what people have below the nodes that their classes publish, next to all there."""
    _least(situation.release, np.ones(0, dtype=np.int64))
    if tables.claimed.levels is None:
        raise NotMeasuredError("requires the owner's record, which has the rules of the levels")
    try:
        levels = tables.claimed.levels()
    except GraphveilError as error:
        raise NotMeasuredError(f"the levels cannot be read again: {error}") from error
    asked = _asked_of_table(tables, options)
    first, own, sizes = np.unique(
        tables.released.codes, axis=0, return_index=True, return_inverse=True, return_counts=True
    )[1:]
    own = own.ravel()[tables.linked]
    silent, secret = [], None
    for at, name in enumerate(tables.released.columns):
        if asked is not None and name != asked[0]:
            continue
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
    """Return the column of the secret and a row that has it; None where no secret is named."""
    if options.secret is None:
        return None
    data = tables.original
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


def cells_below(nested: Nested, shown: list[str], own: Ints, sizes: Ints) -> SuppressedCells:
    """Return the cells of a column that publish more than one value, and what their nodes say.

    A class publishes the narrowest node that all of its members share: they are not all below one
    of the nodes next below it. One of s members has a value the less likely, the likelier the s-1
    others are all below the same one of these. How many people have each value is known, and how
    many cells publish it: the rest are below other nodes.

    Of three people two are 20. Their class of three is neither all 20 nor all 21.

    >>> nodes, texts = np.array([[0, 1], [0, 0]], np.int32), (("20", "21"), ("*",))
    >>> cells = cells_below((nodes, texts, np.array([0, 0, 1])), ["*"], np.zeros(3, int), [3])
    >>> cells.chances.round(2).tolist(), cells.shares.round(2).tolist()
    ([[0.56, 0.44]], [[0.67, 0.33]])
    """
    nodes, texts, value = nested
    present = np.array([text != ALL for text in texts[0]])
    listed, text_of = np.unique(shown, return_inverse=True)
    below, child = _nodes_of(nodes, texts, listed.tolist())
    single = (below & present).sum(axis=1) == 1
    sizes = np.asarray(sizes)
    totals = np.bincount(value, minlength=present.size).astype(np.float64)
    exactly = np.zeros(present.size)
    exact = np.flatnonzero(single[text_of])
    np.add.at(exactly, (below & present)[text_of[exact]].argmax(axis=1), sizes[exact])
    rest = np.maximum(totals - exactly, 0.0)
    people = np.flatnonzero(~single[text_of[own]] & present[value])
    classes = own[people]
    kinds, kind = np.unique(
        np.column_stack([text_of[classes], sizes[classes]]), axis=0, return_inverse=True
    )
    if kinds.shape[0] * present.size > MOST_CELLS:
        raise TooLargeError(
            f"{kinds.shape[0]:,} kinds of cells and {present.size:,} values exceed the limit of "
            f"{MOST_CELLS:,}. Use a release with fewer rows"
        )
    chances = np.zeros((kinds.shape[0], present.size))
    for row, (text, size) in enumerate(kinds.tolist()):
        prior = np.where(below[text], rest, 0.0)
        if not prior[present].any():
            prior = np.where(below[text], totals, 0.0)
        alike = np.bincount(child[text], weights=prior / prior.sum())[child[text]]
        weights = np.where(present, prior * (1.0 - alike ** (size - 1.0) if size > 1 else 1.0), 0.0)
        weights = weights if weights.any() else np.where(present, prior, 0.0)
        chances[row] = weights / weights.sum()
    allowed = below[kinds[:, 0]] & present
    shares = np.where(allowed, totals, 0.0)
    plain = [np.where(allowed, counts, -1.0).argmax(axis=1) for counts in (exactly, totals)]
    return SuppressedCells(
        people=people,
        value=value[people],
        kind=kind.ravel(),
        chances=chances,
        shares=shares / np.maximum(shares.sum(axis=1, keepdims=True), 1.0),
        plain=np.stack(plain),
    )


def _nodes_of(
    nodes: Int32s, texts: tuple[tuple[str, ...], ...], listed: list[str]
) -> tuple[Bools, Int32s]:
    """Return which leaves are below nodes of these texts, and which node next below each is."""
    below = np.zeros((len(listed), nodes.shape[1]), dtype=np.bool_)
    child = np.zeros(below.shape, dtype=np.int32)
    for row, text in enumerate(listed):
        levels = [level for level, of_level in enumerate(texts) if text in of_level]
        if not levels:
            raise NotMeasuredError(f"the release publishes {text}, which the levels do not have")
        level = len(texts) - 1 if text == ALL else levels[0]
        below[row] = nodes[level] == texts[level].index(text)
        while level and np.unique(nodes[level][below[row]]).size == 1:
            level -= 1
        child[row] = nodes[level]
    return below, child


def _asked(
    original: Bipartite, options: MinimalityOptions, shown: PublishedCells
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


def _least(release: Release[Any], sizes: Ints) -> Ints:
    """Return how many members of a class at least have what it publishes, by the public rule."""
    if not isinstance(release.guarantee, OF_CLASSES):
        raise NotMeasuredError(
            "the suppressed cells were not chosen by what the members of a class share"
        )
    theta = theta_of(release)
    return sizes if theta is None else least_counts(sizes, theta)


def silent_cells(
    shown: PublishedCells, truth: TrueCells, column: int, least: Ints
) -> SuppressedCells:
    """Return the cells of a column that are hidden, and what silence says of them.

    How many people have each value is known, and how many a class shows it of: the rest are those
    of whom nothing is shown. Of a class of s, fewer than `least` have a value that it does not
    publish, which makes one less likely that nearly all would have.
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
    plain = np.array([[open_.argmax()], [totals.argmax()]])
    return SuppressedCells(
        people=people,
        value=value[people].astype(np.int64),
        kind=of_size,
        chances=chances,
        shares=np.broadcast_to(totals / max(totals.sum(), 1), chances.shape),
        plain=np.broadcast_to(plain, (2, sizes.size)),
    )


def by_class(classes: Ints, right: Bools) -> tuple[Floats, Floats]:
    """Return the hits and the cells of every class that hides any: its members are not drawn."""
    position = np.unique(classes, return_inverse=True)[1]
    hits, number = np.zeros((2, int(position.max()) + 1))
    np.add.at(hits, position, right)
    np.add.at(number, position, 1)
    return hits, number


def _risks(silent: list[SuppressedCells], n: int) -> tuple[Floats, Floats]:
    """Return how likely everybody's hidden cells are taken for what they are, on average."""
    people = np.concatenate([cells.people for cells in silent])
    likely = [cells.chances[cells.kind, cells.value] for cells in silent]
    before = [cells.shares[cells.kind, cells.value] for cells in silent]
    return (
        mean_by_person(people, np.concatenate(likely), n),
        mean_by_person(people, np.concatenate(before), n),
    )


def mean_by_person(people: Ints, values: Floats, n: int) -> Floats:
    """Return the mean of everybody's values; NaN where there are none.

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
    """Return about how long it takes."""
    classes = refuse_many(situation.comparison)
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
    cost=f"linear, up to {MOST_CELLS:,} cells",
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
