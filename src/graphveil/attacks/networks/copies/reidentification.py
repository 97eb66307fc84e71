"""Names."""

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
from graphveil.core.rows import Setting
from graphveil.data import Graph
from graphveil.evaluate.comparison import Bools, Floats, GraphComparison, Ints
from graphveil.evaluate.metric import NotMeasuredError, Sample
from graphveil.measures import twins

FEWEST_DRAWS = 10
"""From so many draws on there is an interval."""


class NodeKinds(NamedTuple):
    """Which people can be distinguished by the original at all.

    `twins`: int64, shape (n,): the class of people with the same neighbors, each other left aside;
    `of_degree_3`: bool, shape (n,): people with at least 3 edges; `distinct`: bool, shape (n,):
    those of them who have no twin.
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
    """How good one draw's names are; arrays are in the order of the original.

    `asked`: bool, shape (n,): people whose node the attacker looked for and who have an edge in
    both; `named`: bool, shape (n,): those of them to whom a released node was given; `right,
    alike`: bool, shape (n,): those whose node it is; or theirs or a twin's.
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
        person = pairing.person
        owner = np.empty_like(person)
        owner[pairing.truth] = person
        given = np.full(person.size, NOBODY, dtype=np.int64)
        given[person] = np.where(match >= 0, owner[match], NOBODY)
        asked = np.zeros(person.size, dtype=np.bool_)
        asked[person] = pairing.active
        if known is not None:
            asked[person[known]] = False
        named = asked & (given >= 0)
        right = named & (given == np.arange(person.size))
        return cls(asked, named, right, named & (kinds.twins[given] == kinds.twins))


class CopyTrials(NamedTuple):
    """All draws under one knowledge of the attacker."""

    setting: Setting
    draws: list[Naming]


class Rate(NamedTuple):
    """A share, its parts counted in every draw.

    `name, setting`: what it is a share of, and under which knowledge; `hits, base`: float64, shape
    (draws,): how many of how many; `baseline`: what a guess without the release reaches.
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
        """Return the rate of those in both arrays among those in the second, one pair a draw."""
        counted = [(np.count_nonzero(one & whole), np.count_nonzero(whole)) for one, whole in pairs]
        hits, base = np.array(counted, dtype=np.float64).reshape(-1, 2).T
        return cls(name, setting, hits, base, baseline)

    def figure(self, rng: np.random.Generator) -> AttackFigure | None:
        """Return the rate over all draws; None where it is a share of nobody."""
        if not self.base.sum():
            return None
        sample = Sample(self.hits.size)
        if self.hits.size >= FEWEST_DRAWS:
            sample = bootstrap_ratio(self.hits, self.base, rng)
        value = float(self.hits.sum() / self.base.sum())
        return self._figure(value, sample, "")

    def extremes(self) -> Iterator[AttackFigure]:
        """Yield the least, the median and the largest of the draws, where there are several."""
        some = self.base > 0
        values = self.hits[some] / self.base[some]
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
    """Refuse where there are no nodes."""
    if pair.original.n_nodes == 0:
        raise NotMeasuredError("the network has no nodes")


TryCopies = Callable[[Setting, NodeKinds, np.random.Generator], CopyTrials]
"""Makes copies under one knowledge of the attacker, and names people by them."""


def named_by_copies(
    situation: AttackInput[GraphComparison],
    attack: str,
    settings: Sequence[Setting],
    try_copies: TryCopies,
) -> Outcome:
    """Return how many people an attack names under each knowledge; what is missing says why."""
    check_people(situation.comparison)
    rng, kinds = situation.rng(attack), NodeKinds.of(situation.comparison.original)
    trials: list[CopyTrials] = []
    missing: dict[str, str] = {}
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
    """Return the figures of all draws, and in what share of them everybody was named rightly.

    A person's risk is the largest such share under any of the attacker's knowledge.
    """
    n = kinds.twins.size
    figures: list[AttackFigure] = []
    missing: dict[str, str] = {}
    risk, baseline = np.full(n, np.nan), np.full(n, np.nan)
    for trials in every:
        *rates, recall = _rates(trials, kinds)
        for rate in (*rates, recall):
            figure = rate.figure(rng)
            if figure is None:
                missing[rate.setting.part(rate.name)] = "no nodes to count in any draw"
            else:
                figures.append(figure)
        figures.extend(recall.extremes())
        own = _risk(trials.draws)
        baseline = np.where(np.isnan(risk) | (own > risk), recall.baseline, baseline)
        risk = np.fmax(risk, own)
    if np.isnan(risk).all():
        raise NotMeasuredError("no target has edges both in the copy and in the release")
    return Outcome(figures, risk, np.where(np.isnan(risk), np.nan, baseline), missing)


def _rates(trials: CopyTrials, kinds: NodeKinds) -> Iterator[Rate]:
    """Yield what is counted of the draws; last, how many of all people were named rightly.

    A guess is one of the nodes that are not known beforehand.
    """
    n = kinds.twins.size
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
    """Return how it is said that people are named by a copy, by this way of matching."""
    nobody = linked(
        RIGHT,
        does="has {copy}",
        by=by,
        label="{copy}",
        says="{n} people are identified correctly, although no one is known in advance",
        when=lambda setting: not setting.known,
        take=strongest,
    )
    some = replace(
        nobody,
        does="has {copy} and knows {known} people",
        label="{copy}, {known} people known",
        says=GUESSED,
        when=lambda setting: bool(setting.known),
        if_measured=True,
    )
    return nobody, some


def _risk(draws: Sequence[Naming]) -> Floats:
    """Return in what share of the draws that looked for a person they were named rightly."""
    right = np.sum([draw.right for draw in draws], axis=0)
    asked = np.sum([draw.asked for draw in draws], axis=0)
    return np.where(asked > 0, right / np.maximum(asked, 1), np.nan)
