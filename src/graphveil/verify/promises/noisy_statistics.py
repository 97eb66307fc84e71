"""A graph that was drawn from noisy statistics: what is stated, the drawing, and the noise."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from graphveil.claims.conditions import PARTS, Condition, NoisyStatistics
from graphveil.claims.guarantees import EdgeDP, Guarantee, NotClaimed
from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.promises.recheck import LINKED, Part, Recheck
from graphveil.verify.recount.noise import (
    expected,
    is_strange,
    is_strange_on_ladder,
    reach_of,
    wrong_parts,
)
from graphveil.verify.recount.redrawing import Model, redrawn
from graphveil.verify.verdict import Check, fails, judged, not_checked

STATISTICS, DRAWING = "noisy statistics", "drawing"
NOISE, ON_TRIANGLES = "noise on statistics", "noise on triangles"

MOST_GROUPS, MOST_CLASSES = 8, 4
LEAST_PART = Fraction(1, 1000)
"""Noise of a smaller part is none that is ever drawn: 2% of an epsilon of 0.05."""

MOST_EDGES = 50_000
"""A larger graph is not drawn again: it would take many minutes."""

MOST_WAYS = 20_000_000
"""Where more pairs of edges meet in a node, the neighbors that two nodes share are not counted."""


class _Said(NamedTuple):
    """What is stated, as numbers, and the parts that nodes stand in."""

    value: NoisyStatistics
    noisy: list[int]
    groups: list[int]
    classes: list[int]
    pairs: list[tuple[int, int]]


def _said(value: NoisyStatistics) -> _Said:
    noisy = value.numbers("noisy_degrees")
    cuts = [value.numbers(name) for name in ("group_cuts", "class_cuts")]
    groups, classes = ([bisect_right(cut, d) - 1 for d in noisy] for cut in cuts)
    pairs = list(combinations_with_replacement(range(len(cuts[0])), 2))
    return _Said(value, noisy, groups, classes, pairs)


def _second(noisy: list[int]) -> int:
    """Return the second-largest noisy degree, at least 0."""
    return max(sorted(noisy)[-2], 0)


def _statistics(evidence: Evidence, value: NoisyStatistics) -> Check:
    """Whether the numbers belong together: parts, lengths, cuts, floor and rate, degrees, stubs."""
    problems = _wrong_sizes(evidence, value) or _wrong_parts(evidence, value)
    if not problems:
        said = _said(value)
        problems = [*_out_of_reach(said), *_wrong_cuts(said), *_wrong_ladder(said)]
        problems += _wrong_shape(said)
    return judged(
        STATISTICS,
        problems,
        ("parts, cuts, ladder, degrees and stubs are consistent with each other"),
    )


def _wrong_sizes(evidence: Evidence, value: NoisyStatistics) -> list[str]:
    """Return which lists have not as many numbers as they must."""
    n = evidence.tables.number("SELECT count(*) FROM nodes")
    groups, classes = (len(value.numbers(name)) for name in ("group_cuts", "class_cuts"))
    pairs = groups * (groups + 1) // 2
    sizes = {
        "noisy_degrees": n,
        "degrees": n,
        "noisy_mixing": pairs,
        "stubs": pairs,
        "noisy_triangles": classes,
        "aims": classes,
    }
    problems = (
        [] if value.nodes == n >= 3 else [(f"{value.nodes} nodes are stated, but {n} are released")]
    )
    for name, size in sizes.items():
        if len(value.numbers(name)) != size:
            problems.append(f"{name} has {len(value.numbers(name))} numbers, not {size}")
    if not 0 < int(value.noisy_count) < n * (n - 1) // 2:
        problems.append(f"noisy_count={value.noisy_count} is not a possible count for {n} nodes")
    return problems


def _wrong_parts(evidence: Evidence, value: NoisyStatistics) -> list[str]:
    """Return whether a part is next to nothing, or all are not the claim's epsilon of one edge."""
    promise = evidence.manifest.claim.guarantee
    parts = {name: Fraction(getattr(value, name)) for name in PARTS}
    problems = [
        f"{name} is {float(part):.3g}, below {LEAST_PART}"
        for name, part in parts.items()
        if part < LEAST_PART
    ]
    if isinstance(promise, NotClaimed):
        return problems
    if not isinstance(promise, EdgeDP) or promise.of != "entry":
        return [*problems, "the noise is for one edge, but the claim is not about a single edge"]
    total = sum(parts.values())
    if total != Fraction(repr(promise.epsilon)):
        said = (
            f"the parts sum to {float(total):.6g}, but the claim states epsilon={promise.epsilon}"
        )
        problems.append(said)
    return problems


def _out_of_reach(said: _Said) -> list[str]:
    """Return which noisy numbers no graph of so many nodes has, with noise that is believable."""
    value, n, problems = said.value, said.value.nodes, []
    for name, most, part in (
        ("noisy_degrees", n - 1, Fraction(value.epsilon_degrees) / 2),
        ("noisy_mixing", n * (n - 1) // 2, Fraction(value.epsilon_mixing)),
    ):
        numbers = value.numbers(name)
        reach = reach_of(len(numbers), float(part))
        strange = [one for one in numbers if not -reach <= one <= most + reach]
        if strange:
            problems.append(
                f"{name} contains {strange[0]}, which is out of reach of plausible "
                f"noise on {n} nodes"
            )
    return problems


def _wrong_cuts(said: _Said) -> list[str]:
    """Return whether groups or classes are not those that follow from noisy degrees."""
    value, problems = said.value, []
    half = float(Fraction(value.epsilon_degrees) / 2)
    weights = expected(said.noisy, half, int(value.noisy_count))
    for name, most, weight in (
        ("group_cuts", MOST_GROUPS, weights),
        ("class_cuts", MOST_CLASSES, np.sqrt(weights)),
    ):
        cuts = value.numbers(name)
        if (
            cuts != sorted(set(cuts))
            or cuts[0] != min(said.noisy)
            or not set(cuts) <= {*said.noisy}
        ):
            problems.append(
                f"{name} are not noisy degrees in ascending order from the smallest one"
            )
        elif wrong := wrong_parts(said.noisy, weight, cuts, most):
            problems.append(
                f"{name} differ from those recomputed: {wrong[0]} is wrongly present or missing"
            )
    return problems


def _wrong_ladder(said: _Said) -> list[str]:
    """Return whether floor and rate of the ladder are not those that follow."""
    value, classes = said.value, len(said.value.numbers("class_cuts"))
    floor = min(max(1, _second(said.noisy) // 4), value.nodes - 2)
    part = Fraction(value.epsilon_triangles)
    rate = part / 2
    if floor > classes:
        rate = max(rate, part - Fraction(classes, floor - classes + 1))
    problems = [] if value.floor == floor else [f"floor={value.floor}, but recomputed as {floor}"]
    if Fraction(value.rate) != rate:
        problems.append(f"rate={value.rate}, but recomputed as {rate}")
    return problems


def _wrong_shape(said: _Said) -> list[str]:
    """Return whether degrees cannot have been drawn, or edges between groups do not fit them."""
    value, degrees, ends = said.value, said.value.numbers("degrees"), Counter[int]()
    twice, total, n = 2 * int(value.noisy_count), sum(degrees), value.nodes
    problems = []
    if min(degrees) < 0 or max(degrees) >= n or total % 2:
        problems.append(f"degrees are not possible in a graph of {n} nodes")
    if total > twice + n + 1 or (total < twice - n - 1 and max(degrees) < n - 1):
        problems.append(
            f"degrees sum to {total}, which does not match noisy_count={value.noisy_count}"
        )
    stubs = value.numbers("stubs")
    for (g, h), count in zip(said.pairs, stubs, strict=True):
        ends.update({g: count})
        ends.update({h: count})
    for group, degree in zip(said.groups, degrees, strict=True):
        ends[group] -= degree
    if min(stubs) < 0 or any(ends.values()):
        problems.append("stubs do not match the stated degrees")
    return problems


def _drawing(evidence: Evidence, value: NoisyStatistics) -> Check:
    """Whether the stated numbers and the seed give the released graph, drawn again."""
    if _statistics(evidence, value).outcome == "fails":
        return fails(DRAWING, "the stated numbers are not consistent with each other")
    degrees = value.numbers("degrees")
    if sum(degrees) > 2 * MOST_EDGES:
        why = (
            f"a graph with more than {MOST_EDGES:,} edges is not generated again, because "
            "this takes too long"
        )
        return not_checked(DRAWING, why)
    said = _said(value)
    scale = max(_second(said.noisy) * Fraction(3, 5), Fraction(12, 5)) / Fraction(value.rate)
    stubs, noisy = value.numbers("stubs"), value.numbers("noisy_triangles")
    model = Model(said.groups, said.classes, degrees, stubs, noisy, scale)
    again = redrawn(model, value.words())
    apart = len(again.edges ^ _edges(evidence, "edges", "source", "target"))
    problems = [f"{apart} edges are in only one of the two graphs"] if apart else []
    if again.aims != value.numbers("aims"):
        problems.append(f"aims={value.aims}, but recomputed as {' '.join(map(str, again.aims))}")
    if again.unmended != value.unmended:
        problems.append(f"unmended={value.unmended}, but recomputed as {again.unmended}")
    count = len(again.edges)
    return judged(
        DRAWING, problems, (f"generated again, the graph has the same {count} edges as the release")
    )


def _edges(evidence: Evidence, table: str, u: str, v: str) -> set[tuple[int, int]]:
    columns = (
        evidence.tables.column(f"SELECT {end} FROM {table} ORDER BY {u}, {v}") for end in (u, v)
    )
    return set(zip(*(map(int, column) for column in columns), strict=True))


def _noise(evidence: Evidence, value: NoisyStatistics) -> Check:
    """Whether noise of the stated laws makes edges, degrees and mixing believable."""
    if _statistics(evidence, value).outcome == "fails":
        return fails(NOISE, "the stated numbers are not consistent with each other")
    problems = [
        f"the noise on {what} is not consistent with its part of epsilon"
        for what, noise, part in _counted(_said(value), _edges(evidence, "placed", "u", "v"))
        if is_strange(noise, float(part))
    ]
    return judged(
        NOISE,
        problems,
        ("the noise on edges, degrees and mixing is consistent with their parts of epsilon"),
    )


def _noise_on_triangles(evidence: Evidence, value: NoisyStatistics) -> Check:
    """Whether the noise on triangles is that of the ladder of the original."""
    if _statistics(evidence, value).outcome == "fails":
        return fails(ON_TRIANGLES, "the stated numbers are not consistent with each other")
    edges = _edges(evidence, "placed", "u", "v")
    degrees = Counter(end for edge in edges for end in edge)
    if sum(degree**2 for degree in degrees.values()) > MOST_WAYS:
        why = (
            f"more than {MOST_WAYS:,} paths of two steps are not counted, because this takes "
            "too long"
        )
        return not_checked(ON_TRIANGLES, why)
    distance, first = _triangles(_said(value), edges)
    counts, most = len(value.numbers("class_cuts")), value.nodes - 2
    strange = is_strange_on_ladder(distance, counts, first, most, float(Fraction(value.rate)))
    problems = ["the noise on triangles is not consistent with the ladder"] if strange else []
    return judged(ON_TRIANGLES, problems, "the noise on triangles is consistent with the ladder")


def _counted(said: _Said, edges: set[tuple[int, int]]) -> list[tuple[str, list[int], Fraction]]:
    """Return the noise on edges, degrees and mixing, and the parts of epsilon of one count."""
    value, n = said.value, said.value.nodes
    count, between = int(value.noisy_count), Counter[tuple[int, int]]()
    for u, v in edges:
        g, h = said.groups[u], said.groups[v]
        between[min(g, h), max(g, h)] += 1
    mixing = value.numbers("noisy_mixing")
    true = Counter(end for edge in edges for end in edge)
    degrees = [noisy - true[node] for node, noisy in enumerate(said.noisy)]
    rows = [
        ("degrees", degrees, Fraction(value.epsilon_degrees) / 2),
        (
            "mixing",
            [noisy - between[pair] for noisy, pair in zip(mixing, said.pairs, strict=True)],
            Fraction(value.epsilon_mixing),
        ),
    ]
    if 1 < count < n * (n - 1) // 2 - 1:
        rows.append(("edges", [count - len(edges)], Fraction(value.epsilon_count)))
    return rows


def _triangles(said: _Said, edges: set[tuple[int, int]]) -> tuple[int, int]:
    """Return how far the noisy triangles are from the true ones, and the ladder's first step."""
    value, classes = said.value, said.classes
    neighbors: list[set[int]] = [set() for _ in range(value.nodes)]
    for u, v in edges:
        neighbors[u].add(v)
        neighbors[v].add(u)
    thrice = Counter[int]()
    for u, v in edges:
        for w in neighbors[u] & neighbors[v]:
            thrice[min(classes[u], classes[v], classes[w])] += 1
    noisy = value.numbers("noisy_triangles")
    distance = sum(abs(count - thrice[c] // 3) for c, count in enumerate(noisy))
    shared = 0
    for u, near in enumerate(neighbors):
        seen = Counter(v for w in near for v in neighbors[w] if v > u)
        shared = max(shared, max(seen.values(), default=0))
    return distance, min(max(shared, value.floor), value.nodes - 2)


RECHECKS: dict[type[Guarantee | Condition], Recheck] = {
    NoisyStatistics: Recheck(
        ("graph",),
        (
            Part(STATISTICS, ("data",), "", _statistics),
            Part(DRAWING, ("data",), "", _drawing),
            Part(NOISE, LINKED, "whether the noise is consistent with epsilon", _noise),
            Part(
                ON_TRIANGLES,
                LINKED,
                "whether the noise is consistent with the ladder",
                _noise_on_triangles,
            ),
        ),
    ),
}
"""How noisy statistics, and the graph that was drawn from them, are checked again."""
