"""A copy of the network, and how many of the names that an attacker gives by it are right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from graphveil.attacks.attack import AttackFigure, AttackInput, Outcome
from graphveil.attacks.intervals import bootstrap_ratio
from graphveil.attacks.networks.signatures import (
    CopyOf,
    KnownRows,
    SideInformation,
    layers_of,
    published_attributes,
)
from graphveil.attacks.wording import EXTREMES, GUESSED, RIGHT, Said, linked, strongest
from graphveil.core.rows import Setting
from graphveil.data import Graph, Layer, Network
from graphveil.evaluate.comparison import Bools, Floats, GraphComparison, Int32s, Ints
from graphveil.evaluate.metric import NotMeasuredError, Sample
from graphveil.measures import twins

OVERLAP = (
    "share of the original edges between the people in the copy that the copy has; random pairs "
    "replace the others"
)
PEOPLE = "share of the people who are in the copy"
"""What is said of two options of attacks by copies."""


class Pairing(NamedTuple):
    """A copy next to a release, both in orders of their own that say nothing of people.

    `copy, released`: the two graphs; `truth`: int64, shape (n,): the released node of every node of
    the copy; `person`: int64, shape (n,): whose node every node of the copy is, in the order of the
    original; `present`: bool, shape (n,): which nodes of the copy are people whom it has; the
    others have no edge in it, and pad it to the size of the release; `more`: what both say apart
    from edges; None for nothing.
    """

    copy: Graph
    released: Graph
    truth: Ints
    person: Ints
    present: Bools
    more: SideInformation | None = None

    @property
    def besides(self) -> SideInformation:
        """Edges by kind and direction, and attributes; where nothing is said of these, edges."""
        return (
            SideInformation.of_graphs(self.copy, self.released) if self.more is None else self.more
        )

    @property
    def active(self) -> Bools:
        """Which nodes of the copy have an edge in it and in the release: only these are named."""
        released = self.released.degrees()[self.truth]
        return (self.copy.degrees() > 0) & (released > 0)


def pairing(
    pair: GraphComparison,
    overlap: float,
    rng: np.random.Generator,
    *,
    filled: bool = True,
    people: float = 1.0,
    copy: CopyOf = "network",
) -> Pairing:
    """Return a copy of the original that shares some edges with it, next to the release.

    `overlap`: the share of the edges between people of the copy that stand in it, by kind; where
    `filled`, random pairs stand in place of the others. Both graphs come in a random order, so that
    equal ones are chosen by chance.
    """
    n = pair.original.n_nodes
    whole = people == 1  # nothing is drawn then
    those = np.arange(n) if whole else np.sort(rng.choice(n, round(people * n), replace=False))
    layers = layers_of(pair) if copy == "network" else None
    before = (Layer.of(pair.original),) if layers is None else layers[0]
    drawn = [_drawn(layer, those, overlap, rng, filled=filled) for layer in before]
    person, order = (rng.permutation(n) for _ in range(2))
    shuffled = np.empty_like(order)
    shuffled[order] = np.arange(order.size)
    present = np.zeros(n, dtype=np.bool_)
    present[those] = True
    two = Pairing(
        copy=Network(tuple(drawn)).undirected().permuted(person),
        released=pair.released.permuted(order),
        truth=shuffled[pair.linked[person]],
        person=person,
        present=present[person],
    )
    rows = published_attributes(pair) if copy == "network" else None
    if rows is not None:
        known = np.where(two.present[:, None], rows.known[person], NOT_KNOWN)
        rows = KnownRows(known, rows.shown[order])
    if layers is not None:
        sides = [layer.permuted(person) for layer in drawn], [e.permuted(order) for e in layers[1]]
        return two._replace(more=SideInformation.of_layers(*sides, rows))
    if rows is not None:
        return two._replace(more=SideInformation.of_graphs(two.copy, two.released, rows))
    return two


NOT_KNOWN = np.int32(-1)
"""The code of an attribute that the copy does not say."""


def _drawn(
    layer: Layer, those: Ints, overlap: float, rng: np.random.Generator, *, filled: bool
) -> Layer:
    """Return some edges of a layer between people of a copy, and random pairs for the others."""
    n = layer.n_nodes
    number = np.full(n, -1, dtype=np.int32)
    number[those] = np.arange(those.size)
    edges: Int32s = number[np.column_stack(layer.ties())]
    edges = edges[(edges >= 0).all(axis=1)]
    kept = edges[rng.permutation(len(edges))[: round(overlap * len(edges))]]
    if filled:
        new = random_pairs(kept, those.size, len(edges), rng, directed=layer.directed)
        kept = np.concatenate([kept, new])
    source, target = those[kept[:, 0]], those[kept[:, 1]]
    if layer.directed:
        return Layer.from_arcs(source, target, n=n, name=layer.name)
    return Layer.of(Graph.from_edges(source, target, n=n), name=layer.name)


def random_pairs(
    edges: Int32s, n: int, size: int, rng: np.random.Generator, *, directed: bool = False
) -> Int32s:
    """Return evenly drawn pairs of nodes that are not edges, to fill edges up to a size."""
    known = edges[:, 0].astype(np.int64) * n + edges[:, 1]
    cells = n * (n - 1) // (1 if directed else 2)
    if cells <= 4 * size:
        source, target = np.triu_indices(n, k=1)
        if directed:
            source, target = np.concatenate([source, target]), np.concatenate([target, source])
        free = np.setdiff1d(source * n + target, known)
        new = free[rng.permutation(free.size)[: size - known.size]]
    else:
        new = _by_rejection(known, n, size, rng, directed=directed)
    return np.column_stack([new // n, new % n]).astype(np.int32)


def _by_rejection(
    known: Ints, n: int, size: int, rng: np.random.Generator, *, directed: bool
) -> Ints:
    """Return new pairs, drawn one after another and drawn again where they are there already."""
    new = np.empty(0, dtype=np.int64)
    while (missing := size - known.size - new.size) > 0:
        ends = rng.integers(0, n, size=(2, missing))
        if not directed:
            ends = np.sort(ends, axis=0)
        drawn = (ends[0] * n + ends[1])[ends[0] != ends[1]]
        new = np.union1d(new, np.setdiff1d(drawn, known))
    return new


NOBODY = -1

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


class Drawn(NamedTuple):
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


Draws = Callable[[Setting, NodeKinds, np.random.Generator], Drawn]
"""Draws copies under one knowledge of the attacker, and names people by them."""


def named_by_copies(
    situation: AttackInput[GraphComparison], attack: str, settings: Sequence[Setting], draws: Draws
) -> Outcome:
    """Return how many people an attack names under each knowledge; what is missing says why."""
    check_people(situation.comparison)
    rng, kinds = situation.rng(attack), NodeKinds.of(situation.comparison.original)
    drawn: list[Drawn] = []
    missing: dict[str, str] = {}
    for setting in settings:
        try:
            drawn.append(draws(setting, kinds, rng))
        except NotMeasuredError as error:
            missing[setting.text] = str(error)
    if not drawn:
        raise NotMeasuredError("; ".join(dict.fromkeys(missing.values())))
    outcome = summary(drawn, kinds, rng)
    return outcome._replace(not_measured={**outcome.not_measured, **missing})


def summary(drawn: Sequence[Drawn], kinds: NodeKinds, rng: np.random.Generator) -> Outcome:
    """Return the figures of all draws, and in what share of them everybody was named rightly.

    A person's risk is the largest such share under any of the attacker's knowledge.
    """
    n = kinds.twins.size
    figures: list[AttackFigure] = []
    missing: dict[str, str] = {}
    risk, baseline = np.full(n, np.nan), np.full(n, np.nan)
    for some in drawn:
        *rates, recall = _rates(some, kinds)
        for rate in (*rates, recall):
            figure = rate.figure(rng)
            if figure is None:
                missing[rate.setting.part(rate.name)] = "no nodes to count in any draw"
            else:
                figures.append(figure)
        figures.extend(recall.extremes())
        own = _risk(some.draws)
        baseline = np.where(np.isnan(risk) | (own > risk), recall.baseline, baseline)
        risk = np.fmax(risk, own)
    if np.isnan(risk).all():
        raise NotMeasuredError("no target has edges both in the copy and in the release")
    return Outcome(figures, risk, np.where(np.isnan(risk), np.nan, baseline), missing)


def _rates(some: Drawn, kinds: NodeKinds) -> Iterator[Rate]:
    """Yield what is counted of the draws; last, how many of all people were named rightly.

    A guess is one of the nodes that are not known beforehand.
    """
    n = kinds.twins.size
    left = max(n - (some.setting.known or 0), 1)
    others = float(np.bincount(kinds.twins)[kinds.twins].mean()) - 1
    alike = (1 + others * (left - 1) / max(n - 1, 1)) / left
    draws, rate = some.draws, partial(Rate.of, setting=some.setting)
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
