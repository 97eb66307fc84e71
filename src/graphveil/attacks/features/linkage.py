"""Whose row is whose, for an attacker who knows some items of a person: the attack `linkage`.

The attacker knows q items of a person, some of them maybe false (sampled by popularity), and how
true the release is as a whole. Steps for every setting: (1) choose targets who have that many
items, and what is known of them; (2) score all classes (`scoring.py`); (3) count how often class
and row are guessed, how often a class is named and how often correctly, and which further items are
guessed; (4) once more on a release that excludes some people (`counterfactual.py`): what is guessed
about them is known from others, and the difference to people inside is the harm of being in the
data.

The likelihood is graphveil's own, compared with Narayanan and Shmatikov (IEEE S&P 2008). Baselines:
1/n for a row, the largest class for a class, and for further items those that are in more than half
of the released rows. Intervals: bootstraps over targets, Wilson's for shares of names. Cost:
targets times classes.

Of a table, known values are compared with published cells (`cells/admitted_values.py`), and (5)
whole rows are linked, each alone and all at once, with what follows of attached columns
(`whole_rows.py`). Targets of (1) to (4) are linked independently of each other. Other knowledge is
another `known_items`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    WholeNumbers,
    run_again,
)
from graphveil.attacks.features import released_classes, scoring, whole_rows
from graphveil.attacks.features.cells.admitted_values import cells_of_classes
from graphveil.attacks.features.class_truth import theta_of
from graphveil.attacks.features.counterfactual import (
    FEWEST_FEATURES,
    ONE_OUT_IN,
    TWIN,
    people_to_exclude,
    without_people,
)
from graphveil.attacks.intervals import bootstrap_difference, bootstrap_mean, bootstrap_ratio
from graphveil.attacks.registry import stopped
from graphveil.attacks.row_selection import most_known
from graphveil.attacks.wording import inferred, linked, of_equal_rows, singled_out
from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import GraphveilError, ParameterError
from graphveil.core.parameters import parameter
from graphveil.core.progress import OutOfTimeError, context, in_time
from graphveil.core.rows import Setting
from graphveil.core.text import counted
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison, Int32s, sparse
from graphveil.evaluate.metric import NotMeasuredError, wilson

_TRIES = 50
"""How often a false item is sampled by popularity, per item, before the rest is sampled
uniformly."""


@dataclass(frozen=True, kw_only=True)
class LinkageOptions(AttackOptions, label="linkage"):
    """How much is known, and of how many people."""

    known: WholeNumbers = parameter(
        default=WholeNumbers((2, 4, 8, 16)), text="number of known items of a person"
    )
    wrong: WholeNumbers = parameter(
        default=WholeNumbers((0, 1)),
        text=("number of known items that are false, sampled by popularity"),
    )
    targets: int = parameter(default=500, text="number of people to attack", minimum=1)
    out: int = parameter(
        default=1_000, text="maximum number of people excluded from the second release", minimum=1
    )

    def __post_init__(self) -> None:
        """Check every field; an attacker knows something."""
        super().__post_init__()
        if 0 in self.known:
            raise ParameterError(f"known={self.known} contains 0. Use numbers of at least 1.")


def linkage(situation: AttackInput[BipartiteComparison], options: LinkageOptions) -> Outcome:
    """Return how often rows and classes are named, what else is guessed, and the harm of being in.

    A person's risk is the largest chance to name their row under any number of true items.
    """
    people = with_cells(released_classes.people_of(situation.comparison), situation)
    order = situation.rng("linkage: targets").permutation(people.own.size)
    figures: list[AttackFigure] = []
    missing: dict[str, str] = {}
    risk = np.full(people.own.size, np.nan)
    # Steps 1 to 3 for every number of known and of false items.
    for number in options.known:
        for wrong in options.wrong:
            setting = Setting(known=number, wrong=wrong)
            # Every setting has a stream of its own, so that settings do not change each other.
            rng = situation.rng(f"linkage: {setting.text}")
            known = known_items(people, order, (number, wrong, options.targets), rng)
            if known is None:
                missing[setting.text] = _nobody(number, wrong)
                continue
            guessed = scoring.guesses(known, people)
            figures.extend(_figures(setting, guessed, _marginals(known, people), people, rng))
            if not wrong:
                risk[known.people] = np.fmax(risk[known.people], guessed.own_row)
    # Step 5, of tables.
    figures.extend(_of_whole_rows(people, situation, risk, missing))
    # Step 4 needs one more run of the method. If time runs out, what was found before stays.
    try:
        figures.extend(_inside_and_outside(people, situation, options))
    except (NotMeasuredError, GraphveilError, OutOfTimeError) as error:
        missing[TWIN] = _why_missing(error)
    return Outcome(figures, risk, np.where(np.isnan(risk), np.nan, 1 / people.own.size), missing)


def with_cells(
    people: released_classes.People, situation: AttackInput[BipartiteComparison]
) -> released_classes.People:
    """Return people with the published cells of their classes; of features as they are."""
    tables = situation.tables
    if tables is None or not tables.released.columns:
        return people
    all_true = theta_of(situation.release) is None
    cells = cells_of_classes(tables, situation.comparison, situation.release, all_true=all_true)
    return people._replace(classes=people.classes._replace(cells=cells))


def _of_whole_rows(
    people: released_classes.People,
    situation: AttackInput[BipartiteComparison],
    risk: Floats,
    missing: dict[str, str],
) -> Iterator[AttackFigure]:
    """Yield what an attacker finds who knows the whole rows of a table, and write risks.

    `risk`: float64, shape (people,): raised to the chance to name their row; `missing`: gets the
    reason for what has no figure. First everybody alone, then all at once, which is stronger.
    """
    tables, cells = situation.tables, people.classes.cells
    if tables is None or cells is None:
        return
    search = whole_rows.ONE_BY_ONE
    try:
        rows = whole_rows.whole_rows(people, tables, cells)
        alone = whole_rows.class_guesses(rows, people, people.classes.sizes.astype(np.float64))
        yield from whole_rows.figures_of(search, alone, rows, people, situation)
        np.fmax(risk, alone.own_row, out=risk)
        search = whole_rows.AT_ONCE
        rows = rows.sharper()
        factor = whole_rows.scaled(rows, people.classes.sizes)
        at_once = whole_rows.class_guesses(rows, people, factor)
        yield from whole_rows.figures_of(search, at_once, rows, people, situation)
        np.fmax(risk, at_once.own_row, out=risk)
    except (NotMeasuredError, OutOfTimeError) as error:
        known = tables.before.shape[1]
        missing[Setting(known=known, search=search).text] = _why_missing(error)


def _why_missing(error: Exception) -> str:
    """Return why there is no figure; a limit of time says so."""
    deadline = context().deadline
    if isinstance(error, OutOfTimeError) and deadline is not None:
        return stopped(deadline.seconds)
    return str(error)


PER_CELL, PER_TARGET, PER_SCORE = 5e-8, 3e-5, 6e-9
"""Seconds for every target and class; for every target, mostly to resample it; and for every row,
class and column where whole rows are known."""


def seconds(situation: AttackInput[BipartiteComparison], options: LinkageOptions) -> float:
    """Return about how long it takes; with it one more run of the method."""
    pair = situation.comparison
    classes = released_classes.classes_in(pair)
    # As many targets per setting as have enough items; twice more for the second release, and its
    # run.
    numbers = np.diff(pair.original.indptr)
    known = int(np.count_nonzero(numbers >= FEWEST_FEATURES))
    out = min(options.out, numbers.size // ONE_OUT_IN, known // 2)
    targets = 0
    for number in options.known:
        enough = int(np.count_nonzero(numbers >= number))
        targets += len(options.wrong) * min(options.targets, enough)
        if situation.rerun is not None:
            outside = enough * out // max(numbers.size, 1)
            targets += min(options.targets, enough) + min(options.targets, outside)
    whole = 0.0
    if situation.tables is not None:
        n, columns = situation.tables.before.shape
        scores = n * classes * columns
        whole = PER_SCORE * scores if scores <= whole_rows.MOST_SCORES else 0.0
    return targets * (PER_CELL * classes + PER_TARGET) + whole + run_again(situation)


def _nobody(number: int, wrong: int) -> str:
    """Return why nobody is attacked."""
    if wrong > number:
        return f"{wrong} of {counted(number, 'item')} cannot be false"
    return (
        f"no one has {counted(number, 'item')}, or there are not {wrong} other items to use as "
        "false ones"
    )


def known_items(
    people: released_classes.People,
    order: Ints,
    how: tuple[int, int, int],
    rng: np.random.Generator,
) -> scoring.Known | None:
    """Return what is known of the first people in an order who have enough items; None for nobody.

    Parameters
    ----------
    people : People
        Who there is.
    order : int64 array
        People in random order.
    how : tuple of int
        How many items are known, how many of them are false, of how many people at most.
    rng : numpy.random.Generator
        Draws items.

    Returns
    -------
    Known or None
        Targets and what is known of each.
    """
    number, wrong, targets = how
    used = int(np.count_nonzero(np.bincount(people.before.indices)))
    numbers = people.numbers[order]
    # People with as many items as are known, and with as many items they lack as are to be false.
    enough = (numbers >= max(number, 1)) & (numbers <= used - wrong)
    chosen = order[enough][:targets]
    if not chosen.size or wrong > number:
        return None
    lists = []
    for person in in_time(chosen):
        # True items uniformly among the person's, false ones by popularity among the others.
        own = people.row(person)
        true = rng.permutation(own)[: number - wrong]
        lists.append(np.concatenate([true, popular_items(people, own, wrong, rng)]))
    indices = np.concatenate(lists)
    indptr = np.arange(0, indices.size + 1, number)
    shape = (chosen.size, people.before.shape[1])
    items = sparse.csr_array((np.ones(indices.size), indices, indptr), shape=shape)
    items.sort_indices()
    # Cells exclude classes by themselves if nothing known is false; features need some doubt.
    doubt = released_classes.FALSE_SHARE if people.classes.cells is None else 0.0
    return scoring.Known(chosen, items, wrong / number if wrong else doubt)


def popular_items(
    people: released_classes.People, own: Int32s, number: int, rng: np.random.Generator
) -> Int32s:
    """Return items that a person does not have, sampled by popularity."""
    sampled: list[int] = []
    entries = people.before.indices
    # The item of a random entry, rejected if the person has it.
    for _ in range(_TRIES * number):
        if len(sampled) == number:
            break
        item = int(entries[rng.integers(entries.size)])
        if item not in sampled and item not in own:
            sampled.append(item)
    if len(sampled) == number:
        return np.array(sampled, dtype=np.int32)
    # Too few tries succeeded, as when nearly everything is the person's own: sample uniformly.
    rest = np.setdiff1d(entries, [*own, *sampled])
    further = rng.choice(rest, number - len(sampled), replace=False)
    return np.concatenate([np.array(sampled, dtype=np.int32), further.astype(np.int32)])


def _marginals(
    known: scoring.Known, people: released_classes.People
) -> tuple[scoring.ScoreCounts, scoring.ScoreCounts]:
    """Return what is guessed right for everybody from the frequency of features alone."""
    frequency = people.classes.frequency
    # Without the release: items that more than half of the rows have.
    likely = np.nonzero(frequency > 0.5)[0]
    cells = np.ones((known.people.size, likely.size), dtype=bool)
    return scoring.other_features(scoring.everywhere(likely, cells, frequency.size), known, people)


def _figures(
    setting: Setting,
    guessed: scoring.Guesses,
    marginals: tuple[scoring.ScoreCounts, scoring.ScoreCounts],
    people: released_classes.People,
    rng: np.random.Generator,
) -> Iterator[AttackFigure]:
    """Yield how often rows and classes are named, and the further items that are guessed."""
    classes, n = people.classes, guessed.own_row.size
    largest = float(classes.sizes.max()) / classes.n
    unit = "share of targets"
    # Guesses of row and class, next to one row of all and to the largest class.
    for name, hits, guess in (
        ("own row", guessed.own_row, 1 / classes.n),
        ("own class", guessed.own_class, largest),
    ):
        value, sample = float(hits.mean()), bootstrap_mean(hits, rng)
        yield AttackFigure(name, value, unit, guess, sample=sample, setting=setting)
    # Names: how many, and how many of them correctly; the likelihood and the score of the paper.
    for name, named, right in (
        ("named", guessed.chance > scoring.SURE, guessed.likeliest_is_own),
        ("NS08 named", guessed.eccentric, guessed.eccentric_is_own),
    ):
        number, hits_of_named = int(named.sum()), int((named & right).sum())
        before = float(largest > scoring.SURE) if name == "named" else 0.0
        sample = wilson(number, n)
        yield AttackFigure(name, number / n, unit, before, sample=sample, setting=setting)
        if number:
            share = hits_of_named / number
            sample = wilson(hits_of_named, number)
            rightly = AttackFigure(f"{name}, rightly", share, "share of named targets", largest)
            yield rightly._replace(sample=sample, setting=setting)
    # Further items, next to guesses from frequencies.
    for name, counts, guess_of in (
        ("other items", guessed.others, marginals[0]),
        ("rare other items", guessed.rare, marginals[1]),
    ):
        yield from _precision_and_recall(name, setting, counts, guess_of, rng)


def _precision_and_recall(
    of: str,
    setting: Setting,
    counts: scoring.ScoreCounts,
    guess: scoring.ScoreCounts,
    rng: np.random.Generator,
) -> Iterator[AttackFigure]:
    """Yield the share of guesses that are right, and the share of what is true that is guessed."""
    # Nothing to guess, or nothing guessed: no figure.
    if not counts.true.sum():
        return
    for name, unit, below in (
        ("precision", "share of guesses", "guessed"),
        ("recall", "share of true items", "true"),
    ):
        numbers = getattr(counts, below)
        if not numbers.sum():
            continue
        guessed = float(getattr(guess, below).sum())
        before = float(guess.right.sum()) / guessed if guessed else None
        sample = bootstrap_ratio(counts.right, numbers, rng)
        value = float(counts.right.sum() / numbers.sum())
        yield AttackFigure(f"{of}, {name}", value, unit, before, sample=sample, setting=setting)


def _inside_and_outside(
    people: released_classes.People,
    situation: AttackInput[BipartiteComparison],
    options: LinkageOptions,
) -> Iterator[AttackFigure]:
    """Yield what is recalled about people in a release, and about others that it excludes.

    Both are attacked on the same second release: the difference is what being in it adds.
    """
    rng = situation.rng("linkage: twin")
    # A release without some people, and targets inside and outside it in random orders.
    out = people_to_exclude(people, options.out, rng)
    counterfactual = without_people(situation, out, int(rng.integers(1 << 62)))
    order = {
        "out": rng.permutation(out),
        "in": rng.permutation(np.nonzero(counterfactual.own >= 0)[0]),
    }
    for number in options.known:
        how = (number, 0, options.targets)
        known = {side: known_items(counterfactual, whom, how, rng) for side, whom in order.items()}
        made = {
            side: scoring.guesses(k, counterfactual).rare
            for side, k in known.items()
            if k is not None
        }
        if len(made) < 2 or not all(counts.true.sum() for counts in made.values()):
            continue
        part, unit = "rare other items, recall", "share of true items"
        setting = Setting(known=number)
        outside, inside = made["out"], made["in"]
        values = {s: float(c.right.sum() / c.true.sum()) for s, c in made.items()}
        for side, name, before in (
            ("out", "of people left out", None),
            ("in", "of people inside", values["out"]),
        ):
            sample = bootstrap_ratio(made[side].right, made[side].true, rng)
            figure = AttackFigure(f"{part} {name}", values[side], unit, before)
            yield figure._replace(sample=sample, setting=setting)
        # Harm: how much more is recalled of people who are in the data.
        both = (inside.right, inside.true), (outside.right, outside.true)
        sample = bootstrap_difference(*both, rng)
        harm = values["in"] - values["out"]
        name = f"{part}, harm of being inside"
        yield AttackFigure(name, harm, unit, 0.0, sample=sample, setting=setting)


LINKAGE = Attack(
    name="linkage",
    kind=Bipartite,
    knows="some items of a person, some of which may be false, and how accurate the release is "
    "overall: the share of published entries that are true, and of true entries that are "
    "suppressed. Of a table: the values that columns can have, and the whole rows of one person or "
    "of all",
    definition="how often the most likely class is the person's, and a row in it is their own, "
    f"with equal scores shared; how often a class of probability above {scoring.SURE} is "
    "named, and named correctly; which other items are guessed, both all and those "
    "in at most 5% of the rows; the same for people whom a second run excludes; and, "
    "for comparison, the eccentricity of Narayanan and Shmatikov over classes. Of a table: class "
    "and row of everybody by their whole row, each person alone and all at once, and their "
    "attached values",
    source="graphveil's own likelihood, compared with Narayanan and Shmatikov 2008; all at once: "
    "iterative proportional fitting, Deming and Stephan 1940",
    cost="near-linear, on 500 sampled people; of a table, rows times classes times columns; up to "
    f"{released_classes.MOST_CELLS:,} distinct rows and features in total",
    compute=linkage,
    seconds=seconds,
    options=LinkageOptions,
    said=(
        singled_out(
            "own row",
            does="knows {items} of a person",
            label="{known} items known",
            when=lambda setting: setting.wrong == 0,
            take=most_known,
            worst=True,
            covered=of_equal_rows,
        ),
        linked(
            "own row",
            does="knows {items} of a person and {wrong_ones}",
            label="{known} items known, {wrong_ones}",
            when=lambda setting: bool(setting.wrong),
            take=most_known,
            covered=of_equal_rows,
        ),
        inferred(
            "own class",
            line="classes found by an attacker who knows all values of all people",
            when=lambda setting: setting.search == whole_rows.AT_ONCE,
            if_measured=True,
        ),
        inferred(
            whole_rows.ATTACHED,
            line="{column} of people, guessed by an attacker who knows their other values",
            when=lambda setting: setting.search == whole_rows.AT_ONCE,
            if_measured=True,
        ),
        inferred(
            "rare other items, recall of people inside",
            does="knows {items} and guesses rare others because the person is in the data",
            line=None,
            label="rare items, {known} known",
            says="{n} of their other rare items are inferred",
            left_out="rare other items, recall of people left out",
            harm="rare other items, recall, harm of being inside",
            if_measured=True,
        ),
    ),
)
