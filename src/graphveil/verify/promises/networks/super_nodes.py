"""Super-node anonymity: groups of at least k nodes, and edges that follow from their numbers alone.

Claim checked: nodes u with equal u mod (n // k) form a group, each group has at least k nodes,
and the released edges are exactly those which a fixed generator, PCG64DXSM(0), gives for the
numbers of edges within and between groups. So the edges of a release carry nothing but these
numbers.

Means: the numbers are counted from the released edges, and the edges are generated again in plain
Python. With the linked original, the numbers are compared with its own.

Cost: O(m) integers and random words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from graphveil.claims.conditions import SameGroupCounts
from graphveil.claims.guarantees import SuperNodeAnonymity
from graphveil.core.text import counted, percent
from graphveil.verify.evidence import Evidence
from graphveil.verify.verdict import Check, fails, holds

GROUPS, COUNTS = "groups", "edges of groups"
Edge = tuple[int, int]
Block = tuple[int, int]


def groups_are_large(evidence: Evidence, promise: SuperNodeAnonymity) -> Check:
    """Return whether groups are large enough, and edges follow from their numbers alone."""
    # Step 1: there are n // k groups, so each has at least k nodes.
    n = evidence.tables.number("SELECT count(*) FROM nodes")
    if n < promise.k:
        return fails(f"{counted(n, 'node')} cannot form a group of k={promise.k}")
    number = n // promise.k
    edges = _edges(evidence, "edges", "source", "target")
    if any(not 0 <= u < v < n for u, v in edges):
        return fails("edges are not between two of the listed nodes, the smaller one first")
    # Step 2: count the released edges within and between groups; none has more than pairs.
    counts = Counter(_blocks(edges, number))
    possible = {block: _possible(block, n, number) for block in counts}
    over = [block for block, edges_of in counts.items() if edges_of > possible[block]]
    if over:
        one, two = min(over)
        return fails(f"groups {one} and {two} have more edges than pairs of nodes")
    # Step 3: generate edges from these numbers; the release must have exactly these.
    differing = set(edges) ^ set(_generated(counts, possible, n, number))
    if differing:
        return fails(
            f"{counted(len(differing), 'edge', 'differs')} from those drawn from the "
            f"numbers of edges, the first is {min(differing)}; they may show more than these "
            "numbers"
        )
    return holds(_in_words(counts, possible, n, number))


def _in_words(counts: Counter[Block], possible: dict[Block, int], n: int, number: int) -> str:
    """Return the sizes of groups, and how many edges and non-edges their numbers make certain."""
    certain = sum(edges for block, edges in counts.items() if edges == possible[block])
    total, pairs = counts.total(), n * (n - 1) // 2
    absent = pairs - sum(possible.values())
    none = f"; {percent(absent / pairs)} of all pairs of nodes certainly have no edge"
    return (
        f"{counted(number, 'group')} of {n // number} nodes or more; edges follow from their "
        f"numbers; {certain} of {counted(total, 'edge')} certain{none if pairs else ''}"
    )


def _blocks(edges: Sequence[Edge], number: int) -> Iterator[Block]:
    """Yield the two groups of every edge, the smaller first."""
    for u, v in edges:
        one, two = u % number, v % number
        yield (one, two) if one <= two else (two, one)


def _size(group: int, n: int, number: int) -> int:
    return len(range(group, n, number))


def _possible(block: Block, n: int, number: int) -> int:
    """Return how many edges there can be between two groups, or within one."""
    one, two = (_size(group, n, number) for group in block)
    return one * (one - 1) // 2 if block[0] == block[1] else one * two


def _generated(
    counts: Counter[Block], possible: dict[Block, int], n: int, number: int
) -> Iterator[Edge]:
    """Yield the edges that the numbers give, by a generator with a fixed seed."""
    # One word per edge from a generator that everybody has.
    words = iter(np.random.PCG64DXSM(0).random_raw(counts.total()).tolist())
    for block in sorted(counts):
        chosen: set[int] = set()
        pairs = possible[block]
        # Floyd's sampling without replacement: as many distinct cells as the block has edges.
        for bound in range(pairs - counts[block] + 1, pairs + 1):
            cell = next(words) * bound >> 64
            chosen.add(bound - 1 if cell in chosen else cell)
        for cell in chosen:
            yield _pair(cell, block, n, number)


def _pair(cell: int, block: Block, n: int, number: int) -> Edge:
    """Return the pair of nodes with this number in its block."""
    one, two = block
    low, high = divmod(cell, _size(two, n, number))
    if one == two:
        high, low = 1, cell
        while low >= high:
            low -= high
            high += 1
    u, v = one + low * number, two + high * number
    return (u, v) if u < v else (v, u)


def same_group_counts(evidence: Evidence, _condition: SameGroupCounts) -> Check:
    """Return whether the original has as many edges in every group and between any two."""
    promise = evidence.manifest.claim.guarantee
    n = evidence.tables.number("SELECT count(*) FROM nodes")
    if not isinstance(promise, SuperNodeAnonymity) or n < promise.k:
        return fails("the guarantee is not about groups that the release can have")
    number = n // promise.k
    # The same count over the original's edges, under the published ids.
    after = Counter(_blocks(_edges(evidence, "edges", "source", "target"), number))
    before = Counter(_blocks(_edges(evidence, "placed", "u", "v"), number))
    other = sorted(block for block in before | after if before[block] != after[block])
    if not other:
        return holds(f"{counted(len(after), 'number')} of edges as in the original")
    one, two = other[0]
    return fails(
        f"groups {one} and {two} have {counted(after[one, two], 'edge')}, but "
        f"{before[one, two]} in the original; {counted(len(other), 'number', 'differs')}"
    )


def _edges(evidence: Evidence, table: str, u: str, v: str) -> list[Edge]:
    return [(one, two) for one, two in evidence.tables.pairs(table, u, v).tolist()]
