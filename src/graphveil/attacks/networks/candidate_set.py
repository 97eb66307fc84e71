"""How many nodes fit what is known of one person, and whom sorting by degree finds.

For the first, the released nodes are counted that are as near to it as the person's own. For the
second, people and nodes are sorted by degree. The attacker reads all that is published: where a
manifest states the noisy degrees that a graph was drawn from, these are sorted, since they say more
than the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    ends_of,
    refuse_more_nodes,
    squares,
)
from graphveil.attacks.intervals import bootstrap_mean, median_of_draws
from graphveil.attacks.networks.signatures import (
    SIGNATURES,
    CandidateSets,
    Profiles,
    Signatures,
    candidates,
)
from graphveil.attacks.wording import Said, singled_out
from graphveil.claims.guarantees import Guarantee, StructuralKAnonymity
from graphveil.claims.knowledge import MeasureName
from graphveil.core.parameters import parameter
from graphveil.core.rows import Setting
from graphveil.data import Graph, Network
from graphveil.evaluate.comparison import Floats, GraphComparison, NetworkComparison
from graphveil.evaluate.metric import NotMeasuredError, Sample, wilson
from graphveil.measures.values import directed_count

MOST_NODES = 100_000
"""Up to so many nodes candidates are counted."""

PROFILE, OF_EACH_KIND = "ties out and in", "ties of each kind"
"""The name of the signature of directed edges."""

AROUND = "ties and people around"
"""That of directed edges, of people at their other ends, and of edges among all of these."""

WITH_ATTRIBUTES = " with attributes"
"""What stands behind the name of a signature where all published attributes are known, too."""

TARGETS, TARGETS_OF_MANY, MANY_NODES = 1_000, 300, 3_000

FEW = 10


@dataclass(frozen=True, kw_only=True)
class CandidateSetOptions(AttackOptions, label="candidate-set"):
    """Of how many people something is known."""

    targets: int | None = parameter(
        default=None,
        text="number of people to look for, sampled uniformly",
        minimum=1,
        unset=f"{TARGETS:,}, or {TARGETS_OF_MANY} above {MANY_NODES:,} nodes",
    )

    def of_nodes(self, n: int) -> int:
        """Return how many of n nodes are looked for."""
        by_size = TARGETS if n <= MANY_NODES else TARGETS_OF_MANY
        return min(n, by_size if self.targets is None else self.targets)


def candidate_set(situation: AttackInput[GraphComparison], options: CandidateSetOptions) -> Outcome:
    """Return how well people are known again by their degree, triangles and neighbors' degrees."""
    pair = situation.comparison
    n = pair.original.n_nodes
    if n == 0:
        raise NotMeasuredError("the network has no nodes")
    rng = situation.rng("candidate-set")
    targets = np.sort(rng.permutation(n)[: options.of_nodes(n)])
    known, released = Signatures.of(pair.original), Signatures.of(pair.released)
    of_layers = _of_layers(pair)
    also_known = (
        {"": None} if situation.rows is None else {"": None, WITH_ATTRIBUTES: situation.rows}
    )
    near: dict[str, CandidateSets] = {}
    for words, rows in also_known.items():
        of_ties = candidates(known, released, pair.linked, targets, rows)
        near |= {f"{name}{words}": of_ties.only(at) for at, name in enumerate(SIGNATURES)}
        for name, numbers in of_layers.items():
            near[f"{name}{words}"] = candidates(*numbers, pair.linked, targets, rows).only(0)
    risk = np.full(n, np.nan)
    risk[targets] = np.max([sets.right for sets in near.values()], axis=0)
    figures = [figure for name, sets in near.items() for figure in figures_of(name, sets, n, rng)]
    return Outcome(figures, risk, np.where(np.isnan(risk), np.nan, 1 / n))


PER_END, PER_SQUARE = 8e-9, 8e-9
"""Seconds for every end of an edge that a target is compared with, and to count triangles."""


def seconds(situation: AttackInput[GraphComparison], options: CandidateSetOptions) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    n = pair.original.n_nodes
    refuse_more_nodes(n, MOST_NODES, "Use a release with fewer nodes")
    return PER_SQUARE * squares(pair) + PER_END * options.of_nodes(n) * ends_of(pair)


def _of_layers(pair: GraphComparison) -> dict[str, tuple[Profiles, Profiles]]:
    """Return what is known before and after where edges are directed or of several kinds."""
    if not isinstance(pair, NetworkComparison):
        return {}
    before, after = pair.networks
    one = len(before.layers) == 1
    if one and not before.is_directed:
        return {}
    profiles = before.profiles(), after.profiles()
    if profiles[0].shape[1] != profiles[1].shape[1]:
        return {}
    known = {PROFILE if one else OF_EACH_KIND: (Profiles(profiles[0]), Profiles(profiles[1]))}
    if one:
        known[AROUND] = _around(before), _around(after)
    return known


def _around(network: Network) -> Profiles:
    return Profiles(np.column_stack([*directed_count(network.layers[0]).values()]))


def figures_of(
    name: str, near: CandidateSets, n: int, rng: np.random.Generator
) -> Iterator[AttackFigure]:
    """Yield what one signature gives away; a number of all people depends on no sample."""
    set_sizes = near.nearer + near.ties
    within = set_sizes <= FEW

    share, nodes, setting = "share of people", "nodes", Setting(knows=name)
    yield right_guess(name, near.right, n, rng)
    few = AttackFigure(f"at most {FEW} candidates", float(within.mean()), share, float(n <= FEW))
    median, fewest = (
        AttackFigure(figure, float(value), nodes, n, "higher is better")
        for figure, value in (
            ("candidates, median", np.median(set_sizes)),
            ("nearest, fewest", near.nearest.min()),
        )
    )
    samples: list[Sample | None] = [None] * 3
    if set_sizes.size < n:
        hits = wilson(int(within.sum()), within.size)
        samples = [hits, median_of_draws(set_sizes), Sample(near.nearest.size)]
    for figure, sample in zip((few, median, fewest), samples, strict=True):
        yield figure._replace(sample=sample, setting=setting)


def right_guess(name: str, right: Floats, n: int, rng: np.random.Generator) -> AttackFigure:
    """Return how often a guess among the nearest nodes is right."""
    sample, setting = None, Setting(knows=name)
    if right.size < n:
        sample = bootstrap_mean(right, rng)
    value, unit = float(right.mean()), "share of people"
    return AttackFigure("right guess", value, unit, 1 / n, sample=sample, setting=setting)


SAME_FOR: dict[str, tuple[MeasureName, ...]] = {
    "degree": ("degree", "count", "degree-distribution", "dk", "vrq", "hybrid"),
    "degree and triangles": ("count", "degree-distribution", "dk", "hybrid"),
    "vrq": ("vrq", "hybrid"),
    PROFILE: ("profile", "directed-count"),
    AROUND: ("directed-count",),
}
"""What look-alikes share by these measures, at distance 1: the nearest nodes are whole classes."""


def same_for_look_alikes(knows: str, guarantee: Guarantee) -> bool:
    """Whether look-alikes are guaranteed to everybody that share what the attacker knows."""
    return (
        isinstance(guarantee, StructuralKAnonymity)
        and (guarantee.share, guarantee.phi, guarantee.distance) == (1, 0, 1)
        and not guarantee.layers
        and guarantee.measure in SAME_FOR.get(knows, ())
    )


def known_of_people(knows: str, who: str, label: str, *, more: bool = True) -> Said:
    """Return how it is said that people are pointed at by what is known of them."""
    return singled_out(
        "right guess",
        does=f"knows {who}",
        label=label,
        when=lambda setting: setting.knows == knows,
        if_measured=more,
        worst=knows == "vrq",
        covered=partial(same_for_look_alikes, knows),
    )


SAID = (
    known_of_people("degree", "the degree of a person", "number of connections", more=False),
    known_of_people(
        "degree and triangles",
        "the degree and triangle count of a person",
        "connections and closed triangles",
        more=False,
    ),
    known_of_people(
        "vrq",
        "the degrees of a person's neighbors",
        "numbers of connections of everyone they know",
        more=False,
    ),
    known_of_people(PROFILE, "the out-degree and in-degree of a person", "connections out and in"),
    known_of_people(
        AROUND,
        (
            "the out-degree and in-degree of a person, the number of neighbors, and the "
            "number of edges among the person and the neighbors"
        ),
        "connections and people around",
    ),
    known_of_people(
        OF_EACH_KIND, "the degree of a person in each layer", "connections of each type"
    ),
    known_of_people(
        f"degree{WITH_ATTRIBUTES}",
        "the published attributes and the degree of a person",
        "attributes, and degree",
    ),
    known_of_people(
        f"{PROFILE}{WITH_ATTRIBUTES}",
        "the published attributes, the out-degree and the in-degree of a person",
        "attributes, and connections out and in",
    ),
    known_of_people(
        f"{OF_EACH_KIND}{WITH_ATTRIBUTES}",
        "the published attributes of a person, and the degree for each edge type",
        "attributes, and connections of each type",
    ),
)

CANDIDATE_SET = Attack(
    name="candidate-set",
    kind=Graph,
    knows="for one person, in the original: the degree; the degree and the number of triangles; "
    "the degrees of the person and of all neighbors (vrq); or, for directed edges, the out-degree "
    "and in-degree, and also the number of neighbors and of edges among all of them",
    definition="how many released nodes are at least as close to what is known as the person's "
    "own node, by the sum of absolute differences; and how often a guess among the "
    "nearest nodes is correct, with equal distances shared",
    source="Hay et al., PVLDB 2008; distance instead of equality is graphveil's own",
    cost=f"targets times edges, up to {MOST_NODES:,} nodes",
    compute=candidate_set,
    seconds=seconds,
    options=CandidateSetOptions,
    said=SAID,
)
