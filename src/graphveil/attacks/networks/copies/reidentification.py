"""How many of the names that an attacker gives by a copy are correct.

An attack with a copy makes several copies under each setting of its knowledge (`CopyTrials`) and
gives released nodes to people. This module scores the names, the same for all such attacks:

- *right*: the share of the people asked about who get their own node. People are asked about if
  they have an edge both in the copy and in the release and were not known beforehand.
- *precision*: the same among people who get a node at all, also "up to twins": people with exactly
  the same neighbors cannot be distinguished by any attacker.
- the same among people with at least three edges, and among those of them without twins.

The baseline is one of the nodes that are not known beforehand, 1 / (n - known). Rates pool all
copies. From `FEWEST_DRAWS` copies on there is an interval, a bootstrap over copies; for fewer, the
least, the median and the largest copy are shown, since with few known people nearly everybody or
hardly anybody is found. A person's risk is the share of the copies in which they are named
correctly, under the strongest knowledge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from graphveil.attacks.attack import AttackFigure, AttackInput, Outcome
from graphveil.attacks.intervals import bootstrap_ratio
from graphveil.attacks.networks.copies.paired_copy import NOBODY, Pairing
from graphveil.attacks.row_selection import EXTREMES, strongest
from graphveil.attacks.wording import GUESSED, RIGHT, Said, linked
from graphveil.core.array_types import Floats, Ints
from graphveil.core.rows import Setting
from graphveil.data import Graph
from graphveil.evaluate.comparison import Bools, GraphComparison
from graphveil.evaluate.metric import NotMeasuredError, Sample
from graphveil.measures import twins

FEWEST_DRAWS = 10
"""From this many copies on there is an interval: a bootstrap over fewer says little."""


class NodeKinds(NamedTuple):
    """Which people can be distinguished by the original at all.

    Parameters
    ----------
    twins : int64, shape (n,)
        The class of people with the same neighbors, each other left aside.
    of_degree_3 : bool, shape (n,)
        People with at least 3 edges.
    distinct : bool, shape (n,)
        Those of them who have no twin.
    """

    twins: Ints
    of_degree_3: Bools
    distinct: Bools

    @classmethod
    def of(cls, original: Graph) -> NodeKinds:
        """Return the kinds of people of an original.

        >>> NodeKinds.of(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)).distinct.tolist()
        [True, False, False, False]
        """
        classes = twins(original)
        frequent = original.degrees() >= 3
        return cls(classes, frequent, frequent & (np.bincount(classes)[classes] == 1))


class Naming(NamedTuple):
    """How good the names given by one copy are; arrays are in the order of the original.

    Parameters
    ----------
    asked : bool, shape (n,)
        People whose node the attacker looked for and who have an edge in both.
    named : bool, shape (n,)
        Those of them to whom a released node was given.
    right : bool, shape (n,)
        Those whose node it is.
    alike : bool, shape (n,)
        Those whose node it is, or a twin's.
    """

    asked: Bools
    named: Bools
    right: Bools
    alike: Bools

    @classmethod
    def of(
        cls, pairing: Pairing, match: Ints, kinds: NodeKinds, known: Ints | None = None
    ) -> Naming:
        """Return how good a matching is; nodes that were `known` beforehand do not count."""
        # Translate the match from the orders of the pairing to people: whose node was given to
        # whom.
        person = pairing.person
        owner = np.empty_like(person)
        owner[pairing.truth] = person
        given = np.full(person.size, NOBODY, dtype=np.int64)
        given[person] = np.where(match >= 0, owner[match], NOBODY)
        # People without an edge on either side cannot be found, and known people need not be.
        asked = np.zeros(person.size, dtype=np.bool_)
        asked[person] = pairing.active
        if known is not None:
            asked[person[known]] = False
        named = asked & (given >= 0)
        right = named & (given == np.arange(person.size))
        return cls(asked, named, right, named & (kinds.twins[given] == kinds.twins))


class CopyTrials(NamedTuple):
    """All copies that were tried under one setting of the attacker's knowledge, with their names.

    `setting`: the knowledge; `draws`: how good the names of each copy are.
    """

    setting: Setting
    draws: list[Naming]


class Rate(NamedTuple):
    """A share, its parts counted in every copy.

    Parameters
    ----------
    name : str
        What it is a share of.
    setting : Setting
        Under which knowledge.
    hits, base : float64, shape (draws,)
        How many of how many, copy by copy.
    baseline : float
        What a guess without the release reaches.
    """

    name: str
    setting: Setting
    hits: Floats
    base: Floats
    baseline: float

    @classmethod
    def of(
        cls, name: str, setting: Setting, pairs: Iterable[tuple[Bools, Bools]], baseline: float
    ) -> Rate:
        """Return the rate of those in both arrays among those in the second, one pair per copy."""
        counted = [(np.count_nonzero(one & whole), np.count_nonzero(whole)) for one, whole in pairs]
        hits, base = np.array(counted, dtype=np.float64).reshape(-1, 2).T
        return cls(name, setting, hits, base, baseline)

    def figure(self, rng: np.random.Generator) -> AttackFigure | None:
        """Return the rate over all copies; None if it is a share of no one."""
        if not self.base.sum():
            return None
        sample = Sample(self.hits.size)
        if self.hits.size >= FEWEST_DRAWS:
            sample = bootstrap_ratio(self.hits, self.base, rng)
        value = float(self.hits.sum() / self.base.sum())
        return self._figure(value, sample, "")

    def extremes(self) -> Iterator[AttackFigure]:
        """Yield the least, the median and the largest of the copies, if there are several."""
        counted = self.base > 0
        values = self.hits[counted] / self.base[counted]
        if values.size < 2:
            return
        for name, value in zip(EXTREMES, np.quantile(values, [0, 0.5, 1]).tolist(), strict=True):
            sample = Sample(self.hits.size)
            yield self._figure(value, sample, name)

    def _figure(self, value: float, sample: Sample, draw: str) -> AttackFigure:
        setting = self.setting._replace(draw=draw)
        unit, guess = "share of people", self.baseline
        return AttackFigure(self.name, value, unit, guess, sample=sample, setting=setting)


def check_people(pair: GraphComparison) -> None:
    """Refuse a network without nodes."""
    if pair.original.n_nodes == 0:
        raise NotMeasuredError("the network has no nodes")


TryCopies = Callable[[Setting, NodeKinds, np.random.Generator], CopyTrials]
"""Makes copies under one setting of the attacker's knowledge, and names people by them."""


def named_by_copies(
    situation: AttackInput[GraphComparison],
    attack: str,
    settings: Sequence[Setting],
    try_copies: TryCopies,
) -> Outcome:
    """Return how many people an attack names under each setting; what is missing says why.

    Parameters
    ----------
    situation : AttackInput
        Original and release.
    attack : str
        The name of the attack, and of its random stream.
    settings : sequence of Setting
        What the attacker knows, one after another.
    try_copies : callable
        Makes copies under a setting and names people: see `TryCopies`.

    Returns
    -------
    Outcome
        See `summary`.

    Raises
    ------
    NotMeasuredError
        If nothing can be measured under any setting.
    """
    check_people(situation.comparison)
    rng, kinds = situation.rng(attack), NodeKinds.of(situation.comparison.original)
    trials: list[CopyTrials] = []
    missing: dict[str, str] = {}
    # A setting that cannot be measured gives a reason; the others still count.
    for setting in settings:
        try:
            trials.append(try_copies(setting, kinds, rng))
        except NotMeasuredError as error:
            missing[setting.text] = str(error)
    if not trials:
        raise NotMeasuredError("; ".join(dict.fromkeys(missing.values())))
    outcome = summary(trials, kinds, rng)
    return outcome._replace(not_measured={**outcome.not_measured, **missing})


def summary(every: Sequence[CopyTrials], kinds: NodeKinds, rng: np.random.Generator) -> Outcome:
    """Return the figures of all settings, and how often each person is named correctly.

    A person's risk is the largest share of the copies of one setting in which they are.
    """
    n = kinds.twins.size
    figures: list[AttackFigure] = []
    missing: dict[str, str] = {}
    risk, baseline = np.full(n, np.nan), np.full(n, np.nan)
    for trials in every:
        # Every rate pools its copies; the last one, of all people asked about, also shows its
        # extremes.
        *rates, recall = _rates(trials, kinds)
        for rate in (*rates, recall):
            figure = rate.figure(rng)
            if figure is None:
                missing[rate.setting.part(rate.name)] = "no nodes to count in any draw"
            else:
                figures.append(figure)
        figures.extend(recall.extremes())
        # The strongest setting is a person's risk, with the baseline of that setting.
        own = _risk(trials.draws)
        baseline = np.where(np.isnan(risk) | (own > risk), recall.baseline, baseline)
        risk = np.fmax(risk, own)
    if np.isnan(risk).all():
        raise NotMeasuredError("no target has edges both in the copy and in the release")
    return Outcome(figures, risk, np.where(np.isnan(risk), np.nan, baseline), missing)


def _rates(trials: CopyTrials, kinds: NodeKinds) -> Iterator[Rate]:
    """Yield what is counted of the copies; last, how many of all people were named correctly.

    A guess is one of the nodes that are not known beforehand.
    """
    n = kinds.twins.size
    # The baseline up to twins: the own node, or one of the mean number of twins, of which some are
    # known.
    left = max(n - (trials.setting.known or 0), 1)
    others = float(np.bincount(kinds.twins)[kinds.twins].mean()) - 1
    alike = (1 + others * (left - 1) / max(n - 1, 1)) / left
    draws, rate = trials.draws, partial(Rate.of, setting=trials.setting)
    yield rate("precision", pairs=((d.right, d.named) for d in draws), baseline=1 / left)
    yield rate("precision up to twins", pairs=((d.alike, d.named) for d in draws), baseline=alike)
    for name, those in (("of degree 3", kinds.of_degree_3), ("without twins", kinds.distinct)):
        found = ((d.right, d.asked & those) for d in draws)
        yield rate(f"right, {name}", pairs=found, baseline=1 / left)
    yield rate(RIGHT, pairs=((d.right, d.asked) for d in draws), baseline=1 / left)


def said_of_copies(by: str = "") -> tuple[Said, ...]:
    """Return how it is worded that people are named by a copy, by this way of matching."""
    # Two wordings of one figure: with nobody known in advance, and with some people known.
    none_known = linked(
        RIGHT,
        does="has {copy}",
        by=by,
        label="{copy}",
        says="{n} people are identified correctly, although no one is known in advance",
        when=lambda setting: not setting.known,
        take=strongest,
    )
    some_known = replace(
        none_known,
        does="has {copy} and knows {known} people",
        label="{copy}, {known} people known",
        says=GUESSED,
        when=lambda setting: bool(setting.known),
        if_measured=True,
    )
    return none_known, some_known


def _risk(draws: Sequence[Naming]) -> Floats:
    """Return the share of the copies asking about a person in which they are named correctly."""
    right = np.sum([draw.right for draw in draws], axis=0)
    asked = np.sum([draw.asked for draw in draws], axis=0)
    return np.where(asked > 0, right / np.maximum(asked, 1), np.nan)
