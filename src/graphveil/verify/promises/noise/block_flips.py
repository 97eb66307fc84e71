"""Randomized response whose probabilities differ by block of two classes of nodes.

Claim checked: the probabilities of every block keep epsilon (which they do for any weights, by
how they are computed), cells and counts share all of epsilon, the classes have as many nodes as
the release, and, with the original, kept and added edges are as many as these probabilities
allow.

What the files cannot show: which node is in which class (only bounds on the expected counts
follow), and whether the weights follow from noisy counts, which are not published: *not checked*.

Cost: O(classes^2) for the blocks, and O(m log m) for exchanges of edges.
"""

from __future__ import annotations

import math
from fractions import Fraction
from operator import itemgetter

from graphveil.claims.conditions import BlockFlips
from graphveil.core.text import counted
from graphveil.verify.evidence import Evidence
from graphveil.verify.promises.noise.cell_flips import (
    cells_match,
    epsilon_problems,
    is_possible_count,
    six_digits,
)
from graphveil.verify.recount.noise.edge_exchanges import Exchanges, edge_exchanges
from graphveil.verify.recount.noise.flip_probabilities import FULL, blocks_of
from graphveil.verify.recount.noise.noise_tails import is_unbelievable
from graphveil.verify.verdict import Check, fails, judged, not_checked

PARTS, WEIGHTS = "parts of epsilon", "classes and weights"


def parts_of_blocks(evidence: Evidence, flips: BlockFlips) -> Check:
    """Whether the noisy count is possible, and cells and counts share all of epsilon.

    Chances that follow from weights keep the part of a cell whatever the weights are.
    """
    epsilon = Fraction(flips.epsilon_cells)
    no_count = f"noisy_count={flips.noisy_count} is not a possible count for {flips.cells} cells"
    problems = [] if is_possible_count(flips) else [no_count]
    problems += epsilon_problems(evidence, flips, epsilon)
    return judged(problems, f"epsilon={six_digits(epsilon)} per cell matches the claim")


def weights_stay_open(_evidence: Evidence, flips: BlockFlips) -> Check:
    """Report that classes and weights cannot be checked, as their noisy counts are private."""
    classes = counted(len(flips.sizes), "class")
    why = f"the weights of {classes} are stated, but not the noisy counts that they follow from"
    return not_checked(why)


def cells_of_blocks(evidence: Evidence, flips: BlockFlips) -> Check:
    """Whether the classes have as many nodes as the release, and as many pairs as stated."""
    n = evidence.tables.number("SELECT count(*) FROM nodes")
    if n != sum(flips.sizes):
        return fails(f"{counted(sum(flips.sizes), 'node', 'is')} in classes, but {n} are released")
    return cells_match(evidence, flips)


def flips_of_blocks_are_plausible(evidence: Evidence, flips: BlockFlips) -> Check:
    """Whether kept and added edges are as many as the probabilities of the blocks allow.

    Which node stands in which class is not published: the edges are thought to be where as few as
    possible, and as many as possible, would be kept.
    """
    # Step 1: the cells and probabilities of every block.
    edits = evidence.changes()
    blocks = list(blocks_of(flips))
    kept = [(block.cells, block.one / FULL) for block in blocks]
    tried = [(block.cells, block.zero / FULL) for block in blocks]
    false = sum(cells * chance for cells, chance in tried)
    # Step 2: which class a node is in is not published, so the expected counts have bounds: the
    # original's edges in the blocks where fewest, and where most, would be kept.
    hits = _fewest_and_most(tried, edits.before)
    zeros = int(flips.cells) - edits.before
    problems = [
        f"{count} {did}, but {low:.6g} to {high:.6g} were expected"
        for count, trials, (low, high), did in (
            (edits.kept, edits.before, _fewest_and_most(kept, edits.before), "were kept"),
            (edits.added, zeros, (false - hits[1], false - hits[0]), "were added"),
        )
        if _is_outside(count, trials, low, high)
    ]
    # Step 3: would the original itself, published unchanged, be noticed? If not, the test has no
    # power, and nothing was checked.
    noticed = _is_outside(edits.before, edits.before, *_fewest_and_most(kept, edits.before))
    noticed |= _is_outside(0, zeros, false - hits[1], false - hits[0])
    # Step 4: with weights alone, exchanges of edges test against any weights.
    if not flips.groups:
        epsilon = Fraction(flips.epsilon_cells)
        problems += _not_by_weights(_exchanges(evidence), epsilon)
        noticed |= bool(_not_by_weights(_exchanges(evidence, of_itself=True), epsilon))
    flipped = f"{edits.kept} of {edits.before} kept and {edits.added} added"
    if not problems and not noticed:
        return not_checked(f"{flipped}, but the original itself would pass this test")
    return judged(problems, f"{flipped}, consistent with these probabilities")


def _not_by_weights(found: Exchanges, epsilon: Fraction) -> list[str]:
    """Return a problem if exchanges of edges show more of the original than any weights do.

    With a prior of odds x_u x_v a pair is published with these odds, or others by a factor of at
    most e^epsilon. An exchange is about four pairs, so that its odds are at most e^(4 epsilon).
    """
    odds = math.exp(min(4 * float(epsilon), 60))
    most = odds / (1 + odds)
    unbelievable = found.more > found.telling * most and is_unbelievable(
        found.more, found.telling, most
    )
    if not unbelievable:
        return []
    return [f"{found.more} of {found.telling} exchanges of two edges would leave fewer in both"]


def _fewest_and_most(blocks: list[tuple[int, float]], edges: int) -> tuple[float, float]:
    """Return bounds on the expected number of published edges, wherever they are."""
    bounds = []
    # Fill the blocks with the original's edges, from the least likely block up and from the most
    # likely one down.
    for order in (sorted(blocks, key=itemgetter(1)), sorted(blocks, key=itemgetter(1))[::-1]):
        missing, expected = edges, 0.0
        for cells, chance in order:
            expected += min(cells, missing) * chance
            missing -= min(cells, missing)
        bounds.append(expected)
    return bounds[0], bounds[1]


def _is_outside(count: int, trials: int, low: float, high: float) -> bool:
    """Whether a count is implausible for every mean between `low` and `high`."""
    nearest = min(max(float(count), low), high)
    return is_unbelievable(count, trials, min(nearest / max(trials, 1), 1.0))


def _exchanges(evidence: Evidence, *, of_itself: bool = False) -> Exchanges:
    """Return the effect of exchanges of released edges, or of the original's own."""
    # Both sides as arrays of pairs under the published ids.
    db = evidence.tables
    n = db.number("SELECT count(*) FROM nodes")
    both = db.pairs("edges", "source", "target"), db.pairs("placed", "u", "v")
    # an edge of a node that is not listed fails the check of endpoints, or that of the size
    released, original = (each[((each >= 0) & (each < n)).all(axis=1)] for each in both)
    return edge_exchanges(original if of_itself else released, original, n)
