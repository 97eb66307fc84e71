"""A graph that was generated from noisy statistics: what is stated, the generation, and the noise.

Claim checked: the stated numbers follow from the noisy ones and the seed; the parts of epsilon
sum to the claim; generated again, the graph has the same edges as the release; and, with the
original, the noise is plausible for its part of epsilon.

Means: everything is recomputed by `recount.noise.expected_degrees`,
`recount.noise.degrees_and_stubs`, `recount.noise.weighted_graph` and
`recount.noise.triangle_graph`, none of which shares code with the method. If the graph is the
same, the release is a function of the noisy numbers, so it reveals nothing else.

What the files cannot show: that the noise was random. A single number (the edge count) can only
be too far off, never shown to have noise.

Cost: that of generating the graph in Python, not above `MOST_EDGES` edges; noise on triangles
counts the paths of two steps, not above `MOST_WAYS`.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from graphveil.claims import conditions
from graphveil.claims.conditions import Drawing, NoisyDegrees, NoisyStatistics
from graphveil.claims.guarantees import EdgeDP, NotClaimed
from graphveil.core.text import counted
from graphveil.verify.evidence import Evidence
from graphveil.verify.recount.noise.degrees_and_stubs import degrees_again, numbers_of, stubs_again
from graphveil.verify.recount.noise.expected_degrees import Numbers, degrees_from_noisy, wrong_parts
from graphveil.verify.recount.noise.noise_tails import is_strange, is_strange_on_ladder, reach_of
from graphveil.verify.verdict import RECORD, Check, fails, holds, judged, not_checked

STATISTICS, DRAWING = "noisy statistics", "drawing"
ON_COUNT, ON_DEGREES = "noise on the edge count", "noise on degrees"
ON_MIXING, ON_TRIANGLES = "noise between groups", "noise on triangles"
INCONSISTENT = "the stated numbers are not consistent with each other"
"""Why a check fails on numbers that contradict each other."""

MOST_GROUPS, MOST_CLASSES = 8, 4
"""So many groups of equal weight there are at most, and so many classes: part of how a release is
generated."""

ROUNDING = 1e-6
"""Of the last digit of a weight: so near to the middle of two, either is right."""

MOST_EDGES = 50_000
"""A larger graph is not drawn again: it would take many minutes."""

MOST_WAYS = 20_000_000
"""Where more pairs of edges meet in a node, the neighbors that two nodes share are not counted."""


class _Parts(NamedTuple):
    """Noisy degrees, and the group and class of each; `pairs` are the groups g <= h."""

    noisy: list[int]
    groups: list[int]
    classes: list[int]
    pairs: list[tuple[int, int]]


def _parts_of(value: Drawing, noisy: list[int] | None = None) -> _Parts:
    """Return the groups and classes of these noisy degrees, by default of the stated ones."""
    degrees = value.numbers("noisy_degrees") if noisy is None else noisy
    groups, classes = value.numbers("group_cuts"), [degrees[0]]
    if isinstance(value, NoisyStatistics):
        classes = value.numbers("class_cuts")
    of_group, of_class = ([bisect_right(cut, d) - 1 for d in degrees] for cut in (groups, classes))
    pairs = list(combinations_with_replacement(range(len(groups)), 2))
    return _Parts(degrees, of_group, of_class, pairs)


def _ids(value: Drawing) -> list[int]:
    """Return the published id of every place, in the order of the seed's words."""
    words = next(value.words(conditions.IDS, value.nodes)).tolist()
    return sorted(range(value.nodes), key=lambda place: (words[place], place))


def _second(noisy: list[int]) -> int:
    """Return the second-largest noisy degree, at least 0."""
    return max(sorted(noisy)[-2], 0)


def _edges(evidence: Evidence, table: str, u: str, v: str) -> set[tuple[int, int]]:
    return {(one, two) for one, two in evidence.tables.pairs(table, u, v).tolist()}


def statistics_follow(evidence: Evidence, value: Drawing) -> Check:
    """Whether the stated numbers match epsilon and follow from the noisy ones."""
    # From shape to content: lengths, parts of epsilon, ranges, and then what follows from what.
    problems = _wrong_sizes(evidence, value) or _wrong_parts(evidence, value)
    problems = problems or _out_of_reach(value) or list(_not_following(value))
    return judged(problems, "the stated numbers follow from the noisy ones, and match epsilon")


@lru_cache(maxsize=1)
def _not_following(value: Drawing) -> tuple[str, ...]:
    """Return what does not follow from the noisy numbers and the seed; cached for all checks."""
    parts = _parts_of(value)
    problems = _wrong_cuts(value, parts)
    if not problems and isinstance(value, NoisyStatistics):
        problems += _wrong_ladder(value, parts) or _wrong_shape(value, parts)
    if not problems and isinstance(value, NoisyDegrees):
        problems += _wrong_classes(value)
    return tuple(problems)


def _wrong_sizes(evidence: Evidence, value: Drawing) -> list[str]:
    """Return the lists that do not have as many numbers as they must."""
    n = evidence.tables.number("SELECT count(*) FROM nodes")
    sizes = {"noisy_degrees": n}
    if isinstance(value, NoisyStatistics):
        groups, classes = (len(value.numbers(name)) for name in ("group_cuts", "class_cuts"))
        pairs = groups * (groups + 1) // 2
        sizes |= {"degrees": n, "noisy_mixing": pairs, "stubs": pairs}
        sizes |= {"noisy_triangles": classes, "aims": classes}
    problems = []
    if not value.nodes == n >= 3:
        problems.append(f"{counted(value.nodes, 'node', 'is')} stated, but {n} are released")
    for name, size in sizes.items():
        if len(value.numbers(name)) != size:
            problems.append(f"{name} has {len(value.numbers(name))} numbers, not {size}")
    noisy = value.numbers("noisy_degrees")
    if noisy != sorted(noisy):
        problems.append("noisy_degrees are not in ascending order")
    if not 0 < int(value.noisy_count) < n * (n - 1) // 2:
        problems.append(
            f"noisy_count={value.noisy_count} is not a possible count for {counted(n, 'node')}"
        )
    return problems


def _wrong_parts(evidence: Evidence, value: Drawing) -> list[str]:
    """Return a problem if a part is too small, or all do not sum to the claimed epsilon."""
    promise = evidence.manifest.claim.guarantee
    # Every part is an exact fraction; their sum must be the claimed epsilon.
    parts = {name: Fraction(getattr(value, name)) for name in value.EXACT if name != "rate"}
    problems = [
        f"{name} is {float(part):.3g}, below {value.LEAST_PART}"
        for name, part in parts.items()
        if part < value.LEAST_PART
    ]
    if isinstance(promise, NotClaimed):
        return problems
    if not isinstance(promise, EdgeDP) or promise.of != "entry":
        return [*problems, "the noise is for one edge, but the claim is not about a single edge"]
    total = sum(parts.values())
    if total != Fraction(repr(promise.epsilon)):
        sum_stated = f"the parts sum to {float(total):.6g}"
        problems.append(f"{sum_stated}, but the claim states epsilon={promise.epsilon}")
    return problems


def _out_of_reach(value: Drawing) -> list[str]:
    """Return noisy numbers that no graph of this size has with plausible noise."""
    n, problems = value.nodes, []
    ranges = [("noisy_degrees", n - 1, Fraction(value.epsilon_degrees) / 2)]
    if isinstance(value, NoisyStatistics):
        ranges.append(("noisy_mixing", n * (n - 1) // 2, Fraction(value.epsilon_mixing)))
    # Noise that is plausible for so many numbers reaches so far beyond the possible range.
    for name, most, part in ranges:
        numbers = value.numbers(name)
        reach = reach_of(len(numbers), float(part))
        strange = [one for one in numbers if not -reach <= one <= most + reach]
        if strange:
            problems.append(
                f"{name} contains {strange[0]}, which is out of reach of plausible "
                f"noise on {counted(n, 'node')}"
            )
    return problems


def _expected(value: Drawing) -> Numbers:
    """Return the expected degree of every place, float64, shape (n,)."""
    half = float(Fraction(value.epsilon_degrees) / 2)
    return degrees_from_noisy(value.numbers("noisy_degrees"), half, int(value.noisy_count))


def _wrong_cuts(value: Drawing, parts: _Parts) -> list[str]:
    """Return problems of groups or classes that differ from the recomputed ones."""
    problems, weights = [], _expected(value)
    # Groups have equal sums of expected degrees, classes of their square roots.
    rules = [("group_cuts", MOST_GROUPS, weights)]
    if isinstance(value, NoisyStatistics):
        rules.append(("class_cuts", MOST_CLASSES, np.sqrt(weights)))
    for name, most, weight in rules:
        cuts = value.numbers(name)
        if (
            cuts != sorted(set(cuts))
            or cuts[0] != min(parts.noisy)
            or not set(cuts) <= {*parts.noisy}
        ):
            problems.append(
                f"{name} are not noisy degrees in ascending order from the smallest one"
            )
        elif wrong := wrong_parts(parts.noisy, weight, cuts, most):
            problems.append(
                f"{name} differ from those recomputed: {wrong[0]} is wrongly present or missing"
            )
    return problems


def _wrong_classes(value: NoisyDegrees) -> list[str]:
    """Return problems of classes or weights that differ from the recomputed ones."""
    from graphveil.verify.recount.noise import weighted_graph  # noqa: PLC0415  few releases need it

    likely, sizes = _expected(value), list(value.sizes)
    if sizes != (own := weighted_graph.class_sizes(likely)):
        return [
            f"sizes state {counted(len(sizes), 'class')} that differ from the {len(own)} recomputed"
        ]
    problems = []
    # Weights are stated with three digits: half a unit of the last one is allowed.
    recomputed = weighted_graph.class_weights(likely, sizes) * 10**12
    for stated, real in zip(value.weights, recomputed.tolist(), strict=True):
        unit = 10 ** max(len(stated) - 3, 0)
        if abs(int(stated) - real) > unit * (0.5 + ROUNDING):
            problems.append(f"weights contain {stated}, but recomputed as {real:.2e}")
    return problems


def _wrong_ladder(value: NoisyStatistics, parts: _Parts) -> list[str]:
    """Return problems of the ladder's floor and rate."""
    classes = len(value.numbers("class_cuts"))
    # The least first step of the ladder, from the second-largest noisy degree.
    floor = min(max(1, _second(parts.noisy) // 4), value.nodes - 2)
    part = Fraction(value.epsilon_triangles)
    rate = part / 2
    if floor > classes:
        rate = max(rate, part - Fraction(classes, floor - classes + 1))
    problems = [] if value.floor == floor else [f"floor={value.floor}, but recomputed as {floor}"]
    if Fraction(value.rate) != rate:
        problems.append(f"rate={value.rate}, but recomputed as {rate}")
    return problems


def _wrong_shape(value: NoisyStatistics, parts: _Parts) -> list[str]:
    """Return problems of degrees, or edges between groups, that differ from the recomputed ones."""
    n, size = value.nodes, len(value.numbers("group_cuts"))
    # Degrees and edges between groups, recomputed from the noisy ones and the seed.
    dice = numbers_of(next(value.words(conditions.SHAPE, 3 * n + 1 + size * size)))
    decay = math.exp(-float(Fraction(value.epsilon_degrees) / 2))
    degrees = degrees_again(parts.noisy, decay, int(value.noisy_count), dice[: 3 * n + 1])
    stubs = stubs_again(value.numbers("noisy_mixing"), parts.groups, degrees, dice[3 * n + 1 :])
    problems = []
    for name, own in (("degrees", degrees), ("stubs", stubs)):
        differing = sum(one != two for one, two in zip(value.numbers(name), own, strict=True))
        if differing:
            problems.append(
                f"{differing} of {len(own)} {name} differ from those that follow from noisy "
                "numbers and the seed"
            )
    return problems


def graph_is_redrawn(evidence: Evidence, value: Drawing) -> Check:
    """Whether the stated numbers and the seed give exactly the released graph."""
    if statistics_follow(evidence, value).outcome == "fails":
        return fails(INCONSISTENT)
    # Places with the seed's edges: by triangles, or by the weights of classes.
    if isinstance(value, NoisyStatistics):
        if sum(value.numbers("degrees")) > 2 * MOST_EDGES:
            why = (
                f"a graph with more than {MOST_EDGES:,} edges is not generated again, because "
                "this takes too long"
            )
            return not_checked(why)
        places, problems = _triangle_model(value)
    elif isinstance(value, NoisyDegrees):
        from graphveil.verify.recount.noise import weighted_graph  # noqa: PLC0415  as above

        weights, problems = list(map(int, value.weights)), []
        places = weighted_graph.edges_by_weights(
            value.sizes, weights, lambda count: value.words(conditions.SHAPE, count)
        )
    else:
        raise TypeError(f"{type(value).__name__} is drawn from nothing that is known")
    # Places get the published ids by the seed, and the edges must be the released ones.
    ids = _ids(value)
    ends = (sorted((ids[u], ids[v])) for u, v in places)
    generated: set[tuple[int, int]] = {(u, v) for u, v in ends}
    differing = len(generated ^ _edges(evidence, "edges", "source", "target"))
    if differing:
        problems.insert(0, f"{counted(differing, 'edge', 'is')} in only one of the two graphs")
    return judged(
        problems,
        f"generated again, the graph has the same {counted(len(generated), 'edge')} as the release",
    )


def _triangle_model(value: NoisyStatistics) -> tuple[set[tuple[int, int]], list[str]]:
    """Return the edges between places, generated again, and what differs from the claim."""
    from graphveil.verify.recount.noise import triangle_graph  # noqa: PLC0415  few releases need it

    parts = _parts_of(value)
    scale = max(_second(parts.noisy) * Fraction(3, 5), Fraction(12, 5)) / Fraction(value.rate)
    degrees, stubs, noisy = map(value.numbers, ("degrees", "stubs", "noisy_triangles"))
    model = triangle_graph.Model(parts.groups, parts.classes, degrees, stubs, noisy, scale)
    again = triangle_graph.redrawn(model, value.words())
    problems = []
    if again.aims != value.numbers("aims"):
        problems.append(f"aims={value.aims}, but recomputed as {' '.join(map(str, again.aims))}")
    if again.unmended != value.unmended:
        problems.append(f"unmended={value.unmended}, but recomputed as {again.unmended}")
    return again.edges, problems


_SECRET = re.compile(r"[0-9a-f]{32}")
"""The owner's secret: 128 bits in hexadecimal."""


def _owned(evidence: Evidence, value: Drawing) -> list[int] | None:
    """Return the noisy degree of every released node's person; None without a record of it.

    Inside a group the words of the owner's secret say which noisy degree each place has.
    """
    secret = None if evidence.record is None else evidence.record.assignment
    if secret is None or not _SECRET.fullmatch(secret):
        return None
    # Within a group, the owner's secret says which noisy degree belongs to whom.
    parts = _parts_of(value)
    words = next(value.words(conditions.WITHIN_GROUPS, value.nodes, secret)).tolist()
    order = sorted(range(value.nodes), key=lambda rank: (parts.groups[rank], words[rank], rank))
    owned = [0] * value.nodes
    for released, rank in zip(_ids(value), order, strict=True):
        owned[released] = parts.noisy[rank]
    return owned


def _tested(evidence: Evidence, value: Drawing) -> Check | _Parts:
    """Return the noisy degrees of people with their groups, or why a check is not made."""
    if statistics_follow(evidence, value).outcome == "fails":
        return fails(INCONSISTENT)
    owned = _owned(evidence, value)
    if owned is None:
        why = "no record states which noisy degree belongs to whom"
        return not_checked(why, needs=RECORD)
    return _parts_of(value, owned)


def _judged_noise(what: str, noise: list[int], part: Fraction) -> Check:
    """Return whether noise is plausible; not checked if no noise would be plausible too."""
    # Implausible noise fails; a test that zero noise would pass as well has no power.
    if is_strange(noise, float(part)):
        return fails(f"the noise on {what} is not consistent with its part of epsilon")
    if not is_strange([0] * len(noise), float(part)):
        why = f"so few numbers with so little noise could be exact: the noise on {what} is untested"
        return not_checked(why)
    return holds(f"the noise on {what} is consistent with its part of epsilon")


def noise_on_degrees(evidence: Evidence, value: Drawing) -> Check:
    """Whether noisy minus true degrees are plausible noise."""
    parts = _tested(evidence, value)
    if isinstance(parts, Check):
        return parts
    # Noise is the noisy degree minus the true one, from the linked original.
    true = Counter(end for edge in _edges(evidence, "placed", "u", "v") for end in edge)
    noise = [noisy - true[node] for node, noisy in enumerate(parts.noisy)]
    return _judged_noise("degrees", noise, Fraction(value.epsilon_degrees) / 2)


def noise_on_count(evidence: Evidence, value: Drawing) -> Check:
    """Whether the noisy number of edges is not too far off; one number cannot show noise."""
    if statistics_follow(evidence, value).outcome == "fails":
        return fails(INCONSISTENT)
    count, most = int(value.noisy_count), value.nodes * (value.nodes - 1) // 2
    true = len(evidence.tables.pairs("placed", "u", "v"))
    if 1 < count < most - 1 and is_strange([count - true], float(Fraction(value.epsilon_count))):
        return fails("the noise on edges is not consistent with its part of epsilon")
    why = (
        "a single number does not show whether it has noise; it is within reach of plausible noise"
    )
    return not_checked(why)


def noise_on_mixing(evidence: Evidence, value: NoisyStatistics) -> Check:
    """Whether noisy minus true edges between groups are plausible noise."""
    parts = _tested(evidence, value)
    if isinstance(parts, Check):
        return parts
    between = Counter[tuple[int, int]]()
    for u, v in _edges(evidence, "placed", "u", "v"):
        g, h = parts.groups[u], parts.groups[v]
        between[min(g, h), max(g, h)] += 1
    mixing = zip(value.numbers("noisy_mixing"), parts.pairs, strict=True)
    noise = [noisy - between[pair] for noisy, pair in mixing]
    return _judged_noise("edges between groups", noise, Fraction(value.epsilon_mixing))


def noise_on_triangles(evidence: Evidence, value: NoisyStatistics) -> Check:
    """Whether noisy minus true triangles are plausible noise of the ladder."""
    parts = _tested(evidence, value)
    if isinstance(parts, Check):
        return parts
    # The ladder needs the largest number of common neighbors, by counting paths of two steps.
    edges = _edges(evidence, "placed", "u", "v")
    degrees = Counter(end for edge in edges for end in edge)
    if sum(degree**2 for degree in degrees.values()) > MOST_WAYS:
        why = (
            f"more than {MOST_WAYS:,} paths of two steps are not counted, because this takes "
            "too long"
        )
        return not_checked(why)
    distance, first = _triangles(value, parts, edges)
    ladder = len(value.numbers("class_cuts")), first, value.nodes - 2, float(Fraction(value.rate))
    if is_strange_on_ladder(distance, *ladder):
        return fails("the noise on triangles is not consistent with the ladder")
    if not is_strange_on_ladder(0, *ladder):
        why = (
            "so few counts with so little noise could be exact: the noise on triangles is untested"
        )
        return not_checked(why)
    return holds("the noise on triangles is consistent with the ladder")


def _triangles(
    value: NoisyStatistics, parts: _Parts, edges: set[tuple[int, int]]
) -> tuple[int, int]:
    """Return the distance of noisy and true triangles, and the ladder's first step."""
    classes = parts.classes
    neighbors: list[set[int]] = [set() for _ in range(value.nodes)]
    for u, v in edges:
        neighbors[u].add(v)
        neighbors[v].add(u)
    # Each triangle is found at its three edges; its class is the lowest of its nodes.
    thrice = Counter[int]()
    for u, v in edges:
        for w in neighbors[u] & neighbors[v]:
            thrice[min(classes[u], classes[v], classes[w])] += 1
    noisy = value.numbers("noisy_triangles")
    distance = sum(abs(count - thrice[c] // 3) for c, count in enumerate(noisy))
    # The first step of the ladder: the most common neighbors of any two nodes, at least the floor.
    shared = 0
    for u, near in enumerate(neighbors):
        seen = Counter(v for w in near for v in neighbors[w] if v > u)
        shared = max(shared, max(seen.values(), default=0))
    return distance, min(max(shared, value.floor), value.nodes - 2)
