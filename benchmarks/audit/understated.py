"""How much less than was spent a release could claim before `verify` notices.

    python benchmarks/audit/understated.py

A forger spends an epsilon on the cells and states a smaller one, with the noisy count and the
chances that go unnoticed best: with the original and the linkage at hand, `verify` compares how
much was kept and added with the stated chances. The counts are those to be expected. Of methods
with priors it is tried whether the original itself passes, under classes that the forger chooses.
Two networks of the size of polbooks and polblogs. Rows go to ``results/understated.parquet``.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from graphveil.claims.conditions import BlockFlips
from graphveil.methods.noise.cells import channel
from graphveil.methods.noisy_cells.randomized_response import AsymmetricResponse
from graphveil.methods.noisy_cells.top_m_filter import thresholds_of
from graphveil.verify.promises.noise.block_flips import _fewest_and_most, _is_outside
from graphveil.verify.recount.noise.flip_probabilities import blocks_of
from graphveil.verify.recount.noise.noise_tails import is_unbelievable

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import write_rows

RESULTS = Path(__file__).parent / "results"
FULL = 1 << 64
NETWORKS = {"polbooks": (105, 441), "polblogs": (1224, 16715)}
SPENT = (1.0, 2.0, 4.0, 7.0)


def chances(method: str, cells: int, count: int, epsilon: Fraction) -> tuple[float, float]:
    """Return the chances that a method gives a cell of 0 and of 1."""
    if method == "randomized-response":
        through = channel(Fraction(1, 2), epsilon)
    elif method == "top-m-filter":
        through = thresholds_of(cells, count, epsilon)
    else:
        through = channel(Fraction(count, cells), epsilon)
    return through.zero / FULL, through.one / FULL


def passes(
    method: str, cells: int, edges: int, drawn: tuple[float, float], claimed: Fraction
) -> bool:
    """Whether some noisy count makes the expected numbers of flips believable."""
    kept, added = round(edges * drawn[1]), round((cells - edges) * drawn[0])
    counts = (
        {1}
        if method == "randomized-response"
        else set(np.unique(np.geomspace(1, cells - 1, 400).astype(int)).tolist())
    )
    for count in counts:
        zero, one = chances(method, cells, count, claimed)
        if 0 < zero <= one < 1 and not (
            is_unbelievable(kept, edges, one) or is_unbelievable(added, cells - edges, zero)
        ):
            return True
    return False


def least_claim(method: str, cells: int, edges: int, spent: float) -> float:
    """Return the smallest epsilon of the cells that passes, to a twentieth."""
    drawn = chances(method, cells, edges, Fraction(repr(spent)))
    steps = range(1, round(20 * spent) + 1)
    return next(s / 20 for s in steps if passes(method, cells, edges, drawn, Fraction(s, 20)))


def original_passes_under_priors(n: int, edges: int) -> bool:
    """Whether the original itself passes at epsilon .01, under two classes: a clique and others."""
    clique = int((1 + np.sqrt(1 + 8 * edges)) / 2) + 1
    flips = BlockFlips(
        cells=str(n * (n - 1) // 2),
        epsilon_cells="1/100",
        noisy_count=str(edges),
        sizes=(n - clique, clique),
        weights=("1", str(10**21)),
    )
    blocks = list(blocks_of(flips))
    kept = _fewest_and_most([(b.cells, b.one / FULL) for b in blocks], edges)
    tried = [(b.cells, b.zero / FULL) for b in blocks]
    hits = _fewest_and_most(tried, edges)
    false = sum(cells * chance for cells, chance in tried)
    zeros = int(flips.cells) - edges
    return not (
        _is_outside(edges, edges, *kept) or _is_outside(0, zeros, false - hits[1], false - hits[0])
    )


def main() -> None:
    """Print one row for each method, network and epsilon, and keep them."""
    rows: list[dict[str, Any]] = []
    for network, (n, edges) in NETWORKS.items():
        cells = n * (n - 1) // 2
        for method in ("randomized-response", AsymmetricResponse.name, "top-m-filter"):
            for spent in SPENT:
                least = least_claim(method, cells, edges, spent)
                rows.append(
                    {"network": network, "method": method, "spent": spent, "least claim": least}
                )
        passed = original_passes_under_priors(n, edges)
        rows.append({"network": network, "method": "priors", "original passes": passed})
    for row in rows:
        print(*row.values())
    write_rows(RESULTS / "understated.parquet", rows)


if __name__ == "__main__":
    main()
