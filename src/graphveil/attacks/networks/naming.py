"""Names that an adversary gave to released nodes, and how many of them are right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import AttackFigure, Outcome
from graphveil.attacks.intervals import bootstrap_ratio
from graphveil.attacks.networks.copies import Pairing
from graphveil.data import Graph
from graphveil.evaluate.metric import NotMeasuredError, Sample
from graphveil.measures import twins

NOBODY = -1
EXTREMES, OF_DRAWS = ("least", "median", "largest"), ", {} of the draws"
"""Rows beside the rate over all draws, and what stands behind its name."""

FEWEST_DRAWS = 10
"""From so many draws on there is an interval."""


class NodeKinds(NamedTuple):
    """Which people can be told apart by the original at all.

    Parameters
    ----------
    twins
        int64, shape (n,): the class of people with the same neighbors, each other left aside.
    of_degree_3
        bool, shape (n,): people with at least 3 ties.
    distinct
        bool, shape (n,): those of them who have no twin.
    """

    twins: NDArray[np.int64]
    of_degree_3: NDArray[np.bool_]
    distinct: NDArray[np.bool_]

    @classmethod
    def of(cls, original: Graph) -> NodeKinds:
        """Return the kinds of people of an original.

        Examples
        --------
        >>> NodeKinds.of(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)).distinct.tolist()
        [True, False, False, False]
        """
        classes = twins(original)
        frequent = original.degrees() >= 3
        return cls(classes, frequent, frequent & (np.bincount(classes)[classes] == 1))


class Naming(NamedTuple):
    """How good one draw's names are; arrays are in the order of the original.

    Parameters
    ----------
    asked
        bool, shape (n,): people whose node the adversary looked for and who have a tie in both.
    named
        bool, shape (n,): those of them to whom a released node was given.
    right, alike
        bool, shape (n,): those whose node it is; or theirs or a twin's.
    """

    asked: NDArray[np.bool_]
    named: NDArray[np.bool_]
    right: NDArray[np.bool_]
    alike: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        pairing: Pairing,
        match: NDArray[np.int64],
        kinds: NodeKinds,
        known: NDArray[np.int64] | None = None,
    ) -> Naming:
        """Return how good a matching is.

        Parameters
        ----------
        pairing
            The copy and the release.
        match
            int64, shape (n,): the released node that every node of the copy was given, or -1.
        kinds
            Of the original.
        known
            Nodes of the copy that the adversary knew beforehand: they do not count.
        """
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


class Drawn(NamedTuple):
    """All draws under one knowledge of the adversary.

    Parameters
    ----------
    label
        That knowledge, in words.
    draws
        How good each draw's names are.
    """

    label: str
    draws: list[Naming]


class Rate(NamedTuple):
    """A share, its parts counted in every draw.

    Parameters
    ----------
    part
        What it is called.
    hits, base
        float64, shape (draws,): how many of how many.
    baseline
        What a guess without the release reaches.
    """

    part: str
    hits: NDArray[np.float64]
    base: NDArray[np.float64]
    baseline: float

    @classmethod
    def of(
        cls,
        part: str,
        pairs: Iterable[tuple[NDArray[np.bool_], NDArray[np.bool_]]],
        baseline: float,
    ) -> Rate:
        """Return the rate of those in both arrays among those in the second, one pair a draw."""
        counted = [(np.count_nonzero(one & whole), np.count_nonzero(whole)) for one, whole in pairs]
        hits, base = np.array(counted, dtype=np.float64).reshape(-1, 2).T
        return cls(part, hits, base, baseline)

    def figure(self, rng: np.random.Generator) -> AttackFigure | None:
        """Return the rate over all draws; None where it is a share of nobody."""
        if not self.base.sum():
            return None
        sample = Sample(self.hits.size)
        if self.hits.size >= FEWEST_DRAWS:
            sample = bootstrap_ratio(self.hits, self.base, rng)
        value = float(self.hits.sum() / self.base.sum())
        return AttackFigure(self.part, value, "share of people", self.baseline, sample=sample)

    def extremes(self) -> Iterator[AttackFigure]:
        """Yield the least, the median and the largest of the draws, where there are several."""
        some = self.base > 0
        values = self.hits[some] / self.base[some]
        if values.size < 2:
            return
        for name, value in zip(EXTREMES, np.quantile(values, [0, 0.5, 1]).tolist(), strict=True):
            sample = Sample(self.hits.size)
            part = f"{self.part}{OF_DRAWS.format(name)}"
            yield AttackFigure(part, value, "share of people", self.baseline, sample=sample)


def summary(drawn: Sequence[Drawn], kinds: NodeKinds, rng: np.random.Generator) -> Outcome:
    """Return the figures of all draws, and in what share of them everybody was named rightly.

    A person's risk is the largest such share under any of the adversary's knowledge.

    Raises
    ------
    NotMeasuredError
        Where nobody was looked for in any draw.
    """
    n = kinds.twins.size
    figures: list[AttackFigure] = []
    missing: dict[str, str] = {}
    risk = np.full(n, np.nan)
    for some in drawn:
        *rates, recall = _rates(some, kinds)
        for rate in (*rates, recall):
            figure = rate.figure(rng)
            if figure is None:
                missing[rate.part] = "nobody to count in any draw"
            else:
                figures.append(figure)
        figures.extend(recall.extremes())
        risk = np.fmax(risk, _risk(some.draws))
    if np.isnan(risk).all():
        raise NotMeasuredError("nobody whom it looks for has ties in the copy and in the release")
    return Outcome(figures, risk, np.where(np.isnan(risk), np.nan, 1 / n), missing)


def _rates(some: Drawn, kinds: NodeKinds) -> Iterator[Rate]:
    """Yield what is counted of the draws; last, how many of all people were named rightly."""
    n = kinds.twins.size
    alike = float(np.bincount(kinds.twins)[kinds.twins].mean()) / n
    draws, label = some.draws, some.label
    yield Rate.of(f"{label}: precision", ((d.right, d.named) for d in draws), 1 / n)
    yield Rate.of(f"{label}: precision up to twins", ((d.alike, d.named) for d in draws), alike)
    for name, those in (("of degree 3", kinds.of_degree_3), ("without twins", kinds.distinct)):
        yield Rate.of(f"{label}: right, {name}", ((d.right, d.asked & those) for d in draws), 1 / n)
    yield Rate.of(f"{label}: right", ((d.right, d.asked) for d in draws), 1 / n)


def _risk(draws: Sequence[Naming]) -> NDArray[np.float64]:
    """Return in what share of the draws that looked for a person they were named rightly."""
    right = np.sum([draw.right for draw in draws], axis=0)
    asked = np.sum([draw.asked for draw in draws], axis=0)
    return np.where(asked > 0, right / np.maximum(asked, 1), np.nan)
