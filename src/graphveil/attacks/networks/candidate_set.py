"""How many released nodes fit what is known of one person: the attack `candidate-set`.

The attacker knows one signature of a person in the original: the degree; degree and number of
triangles; the degrees of the person and of all neighbors (vrq); for directed edges the profile of
out-degree and in-degree, or the directed count of a neighborhood; for several edge types the degree
in each; and, where attributes are published, each of these with the person's attributes. After Hay
et al., PVLDB 2008, with distances instead of equality (see `signatures.py`). The degrees of
neighbors are also compared as an attacker does who expects edits: see `neighbor_degrees.py`.

Steps: (1) sample targets; (2) for every kind of knowledge, measure how far each released node is
from what is known; (3) count nodes nearer than the target's own, and as near; (4) report how often
a guess among the nearest is correct, how many people have few candidates, and the median number of
candidates.

The baseline of a right guess is 1/n: without the release every node is as likely. Intervals are
bootstraps over targets, Wilson's for shares, and order statistics for medians; if all people are
targets there is no sample. Cost: targets times ends of edges, and triangles.

Knowledge of further kinds belongs into `signatures.py`; give it a name here, a line in `SAID`, and
an entry in `SAME_FOR` if a guarantee covers it. What can only exclude nodes is a further `Fits`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.intervals import bootstrap_mean, median_of_draws
from graphveil.attacks.networks import neighbor_degrees
from graphveil.attacks.networks.copies.side_information import SideInformation, layers_of
from graphveil.attacks.networks.signatures import (
    SIGNATURES,
    CandidateSets,
    Fits,
    Profiles,
    Signatures,
    candidates,
)
from graphveil.attacks.wording import Said, singled_out
from graphveil.claims.guarantees import Guarantee, StructuralKAnonymity
from graphveil.claims.knowledge import MeasureName
from graphveil.core.array_types import Floats
from graphveil.core.parameters import parameter
from graphveil.core.rows import Setting
from graphveil.data import Graph, Network
from graphveil.evaluate.comparison import GraphComparison, NetworkComparison
from graphveil.evaluate.metric import NotMeasuredError, Sample, wilson
from graphveil.measures.values import directed_count

MOST_NODES = 100_000
"""Networks of more nodes are refused. At 300 targets and ten million ends of edges the forecast of
`seconds` is about half a minute."""

PROFILE, OF_EACH_KIND = "ties out and in", "ties of each kind"
"""Names of the knowledge about directed edges, and about edges of several types."""

AROUND = "ties and people around"
"""The name of the knowledge about a directed neighborhood: out-degree, in-degree, the number of
neighbors, and the number of edges among the person and all of these."""

BY_QUANTILES, OF_EACH_LIST = "vrq by quantiles", "vrq by type and direction"
"""Names of the degrees of a person and of all neighbors, if they are compared by quantiles, and
nodes that the allowed edits rule out are excluded. The second one if edges have types or
directions: the degrees are then known for each of them."""

AND_ALL_DEGREES = " and all degrees"
"""Appended if it is also known how often each degree occurs in the original."""

WITH_ATTRIBUTES = " with attributes"
"""Appended to the name of a signature if all published attributes are known, too."""

TARGETS, TARGETS_OF_MANY, MANY_NODES = 1_000, 300, 3_000
"""How many people are looked for by default, in networks of up to `MANY_NODES` nodes and in larger
ones; 300 targets give shares within about six points."""

FEW = 10
"""People with at most this many candidates are counted."""


@dataclass(frozen=True, kw_only=True)
class CandidateSetOptions(attack.AttackOptions, label="candidate-set"):
    """How many people are looked for by what is known of them."""

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


def candidate_set(
    situation: attack.AttackInput[GraphComparison], options: CandidateSetOptions
) -> attack.Outcome:
    """Return how well people are found again by what is known of each of them.

    Every person's risk is the largest chance of a right guess by any kind of knowledge.
    """
    pair = situation.comparison
    n = pair.original.n_nodes
    if n == 0:
        raise NotMeasuredError("the network has no nodes")
    rng = situation.rng("candidate-set")
    # Step 1: targets are sampled uniformly, the same for all kinds of knowledge.
    targets = np.sort(rng.permutation(n)[: options.of_nodes(n)])
    # Step 2: what is known of people in the original, and the same of released nodes.
    known, released = Signatures.of(pair.original), Signatures.of(pair.released)
    of_layers = _of_layers(pair)
    of_neighbors, possible = _of_neighbors(situation)
    rows = situation.rows
    also_known: dict[str, tuple[Fits, ...]] = {"": ()}
    if rows is not None:
        also_known[WITH_ATTRIBUTES] = (rows,)
    near: dict[str, CandidateSets] = {}
    # Step 3: candidates by each kind of knowledge, without attributes and with them.
    for words, fitting in also_known.items():
        of_ties = candidates(known, released, pair.linked, targets, fitting)
        near |= {f"{name}{words}": of_ties.only(at) for at, name in enumerate(SIGNATURES)}
        for name, numbers in of_layers.items():
            near[f"{name}{words}"] = candidates(*numbers, pair.linked, targets, fitting).only(0)
        for name, numbers in of_neighbors.items():
            sets = candidates(*numbers, pair.linked, targets, (*possible, *fitting))
            near[f"{name}{words}"] = sets.only(0)
    # Step 4: the strongest kind of knowledge is a person's risk.
    risk = np.full(n, np.nan)
    risk[targets] = np.max([sets.right for sets in near.values()], axis=0)
    figures = [figure for name, sets in near.items() for figure in figures_of(name, sets, n, rng)]
    return attack.Outcome(figures, risk, np.where(np.isnan(risk), np.nan, 1 / n))


PER_END, PER_SQUARE = 8e-9, 8e-9
"""Seconds for every end of an edge that a target is compared with, and to count triangles (per
squared degree)."""

PER_QUANTILE, PER_FITTED = 2e-9, 5e-9
"""Seconds for every quantile of a node that a target is compared with, and for every end of an edge
where it is asked whether the allowed edits rule a node out; both per list and attacker."""


def seconds(situation: attack.AttackInput[GraphComparison], options: CandidateSetOptions) -> float:
    """Return about how many seconds it takes: targets times ends of edges, and triangles."""
    pair = situation.comparison
    n, targets = pair.original.n_nodes, options.of_nodes(pair.original.n_nodes)
    attack.refuse_more_nodes(n, MOST_NODES, "Use a release with fewer nodes")
    ends = attack.ends_of(pair)
    # Two attackers compare quantiles: with all degrees of the original, and without.
    by_quantiles = PER_QUANTILE * n * neighbor_degrees.QUANTILES + PER_FITTED * ends
    return (
        PER_SQUARE * attack.squares(pair)
        + PER_END * targets * ends
        + 2 * targets * _lists_of(pair) * by_quantiles
    )


def _lists_of(pair: GraphComparison) -> int:
    """Return how many lists of neighbors' degrees each node has."""
    layers = layers_of(pair)
    return 1 if layers is None else sum(4 if one.directed else 1 for one in layers[0])


def _of_neighbors(
    situation: attack.AttackInput[GraphComparison],
) -> tuple[dict[str, tuple[Profiles, Profiles]], tuple[Fits, ...]]:
    """Return what neighbors' degrees say before and after, and which nodes edits rule out.

    Two attackers: one who knows nothing else, and one who knows all degrees of the original.
    """
    pair = situation.comparison
    layers = layers_of(pair)
    both = (
        SideInformation.of_graphs(pair.original, pair.released)
        if layers is None
        else SideInformation.of_layers(*layers, None)
    )
    known, released = (
        neighbor_degrees.NeighborDegrees.of(relations, both.turned)
        for relations in (both.copy, both.released)
    )
    name = BY_QUANTILES if layers is None else OF_EACH_LIST
    numbers = released.numbers()
    becomes = neighbor_degrees.at_same_ranks(known, released)
    compared = {
        name: (known.numbers(), numbers),
        f"{name}{AND_ALL_DEGREES}": (known.numbers(becomes), numbers),
    }
    # The manifest says in which direction the release may differ.
    edits = neighbor_degrees.allowed_edits(situation.release.conditions, len(both.copy))
    if not edits:
        return compared, ()
    return compared, (neighbor_degrees.PossibleNodes(known, released, edits),)


def _of_layers(pair: GraphComparison) -> dict[str, tuple[Profiles, Profiles]]:
    """Return what is known before and after if edges are directed or of several types.

    Nothing if the release has layers that cannot be compared with those of the original.
    """
    # Only networks with directions or several edge types have more to know.
    if not isinstance(pair, NetworkComparison):
        return {}
    before, after = pair.networks
    single_layer = len(before.layers) == 1
    if single_layer and not before.is_directed:
        return {}
    # Out-degree and in-degree, or degrees per edge type; for one directed layer also the
    # neighborhood.
    profiles = before.profiles(), after.profiles()
    if profiles[0].shape[1] != profiles[1].shape[1]:
        return {}
    known = {
        PROFILE if single_layer else OF_EACH_KIND: (Profiles(profiles[0]), Profiles(profiles[1]))
    }
    if single_layer:
        known[AROUND] = _around(before), _around(after)
    return known


def _around(network: Network) -> Profiles:
    return Profiles(np.column_stack([*directed_count(network.layers[0]).values()]))


def figures_of(
    name: str, near: CandidateSets, n: int, rng: np.random.Generator
) -> Iterator[attack.AttackFigure]:
    """Yield the figures of one kind of knowledge; a number about all people depends on no sample.

    Baselines: without the release all n nodes are candidates, so that nobody of more than `FEW` has
    few of them.
    """
    # The candidate set of a person: every node at least as near as the person's own.
    set_sizes = near.nearer + near.ties
    within = set_sizes <= FEW

    share, nodes, setting = "share of people", "nodes", Setting(knows=name)
    yield right_guess(name, near.right, n, rng)
    few = attack.AttackFigure(
        f"at most {FEW} candidates", float(within.mean()), share, float(n <= FEW)
    )
    median, fewest = (
        attack.AttackFigure(figure, float(value), nodes, n, "higher is better")
        for figure, value in (
            ("candidates, median", np.median(set_sizes)),
            ("nearest, fewest", near.nearest.min()),
        )
    )
    # Intervals only if targets are a sample: Wilson's for the share, order statistics for the
    # median; the smallest number is a minimum over the sample and has none.
    samples: list[Sample | None] = [None] * 3
    if set_sizes.size < n:
        hits = wilson(int(within.sum()), within.size)
        samples = [hits, median_of_draws(set_sizes), Sample(near.nearest.size)]
    for figure, sample in zip((few, median, fewest), samples, strict=True):
        yield figure._replace(sample=sample, setting=setting)


def right_guess(name: str, right: Floats, n: int, rng: np.random.Generator) -> attack.AttackFigure:
    """Return how often a guess among the nearest nodes is right."""
    # A sample has an interval; a count of everybody has none.
    sample, setting = None, Setting(knows=name)
    if right.size < n:
        sample = bootstrap_mean(right, rng)
    value, unit = float(right.mean()), "share of people"
    return attack.AttackFigure("right guess", value, unit, 1 / n, sample=sample, setting=setting)


SAME_FOR: dict[str, tuple[MeasureName, ...]] = {
    "degree": ("degree", "count", "degree-distribution", "dk", "vrq", "hybrid"),
    "degree and triangles": ("count", "degree-distribution", "dk", "hybrid"),
    "vrq": ("vrq", "hybrid"),
    BY_QUANTILES: ("vrq", "hybrid"),
    f"{BY_QUANTILES}{AND_ALL_DEGREES}": ("vrq", "hybrid"),
    PROFILE: ("profile", "directed-count"),
    AROUND: ("directed-count",),
}
"""For each kind of knowledge, the measures that include it. Nodes in one class of such a measure at
distance 1 are equal in what is known: the nearest nodes are then complete classes, and a guess is
right at most once in k."""


def same_for_look_alikes(knows: str, guarantee: Guarantee) -> bool:
    """Whether a guarantee bounds this attack by 1/k: a class has one value of what is known.

    Only if everybody is protected (share 1, no tolerance, distance 1, all layers together).
    """
    return (
        isinstance(guarantee, StructuralKAnonymity)
        and (guarantee.share, guarantee.phi, guarantee.distance) == (1, 0, 1)
        and not guarantee.layers
        and guarantee.measure in SAME_FOR.get(knows, ())
    )


def known_of_people(knows: str, who: str, label: str, *, more: bool = True) -> Said:
    """Return how the figure of one kind of knowledge is worded: people are singled out by it."""
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
    known_of_people(
        BY_QUANTILES,
        "the degrees of a person's neighbors",
        "numbers of connections of everyone they know, by quantiles",
    ),
    known_of_people(
        f"{BY_QUANTILES}{AND_ALL_DEGREES}",
        "all degrees, and those of a person's neighbors",
        "numbers of connections of everyone they know, and how common each number is",
    ),
    known_of_people(PROFILE, "the out-degree and in-degree of a person", "connections out and in"),
    known_of_people(
        OF_EACH_LIST,
        "the neighbors' degrees by type and direction",
        "connections of everyone they know, by type and direction",
    ),
    known_of_people(
        f"{OF_EACH_LIST}{AND_ALL_DEGREES}",
        "all degrees, and the neighbors' by type and direction",
        "connections of everyone they know, by type and direction, and how common each number is",
    ),
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
    *(
        known_of_people(
            f"{name}{WITH_ATTRIBUTES}",
            f"the attributes of a person, and the neighbors' degrees{known}",
            f"attributes, and connections of everyone they know{label}",
        )
        for name, known, label in (
            (BY_QUANTILES, "", ""),
            (OF_EACH_LIST, " by direction", ", by type and direction"),
        )
    ),
)
"""How figures are worded, one entry per kind of knowledge. The two ways to compare the degrees of
neighbors have the same words: where lines are merged, that of the larger figure is shown."""

CANDIDATE_SET = attack.Attack(
    name="candidate-set",
    kind=Graph,
    knows="for one person, in the original: the degree; the degree and the number of triangles; "
    "the degrees of the person and of all neighbors (vrq); or, for directed edges, the out-degree "
    "and in-degree, and also the number of neighbors and of edges among all of them; which edits "
    "the manifest allows; and how often each degree occurs in the original, or not",
    definition="how many released nodes are at least as close to what is known as the person's "
    "own node, by the sum of absolute differences (of logarithms of quantiles for lists of "
    "degrees); and how often a guess among the nearest nodes is correct, with equal distances "
    "shared",
    source="Hay et al., PVLDB 2008; distance instead of equality is graphveil's own",
    cost=f"targets times edges, up to {MOST_NODES:,} nodes",
    compute=candidate_set,
    seconds=seconds,
    options=CandidateSetOptions,
    said=SAID,
)
