"""What programs with noise that are public lose, beside the epsilon that they are given.

    python benchmarks/audit/public.py [--runs 100000]

Read were the programs of *PGB: Benchmarking Differentially Private Synthetic Graph Generation
Algorithms* (2024), as they were published; what follows is our own words for what they do, and no
code of theirs.

``top-m-filter``: the threshold takes either formula where the other one belongs, and what is short
of the noisy number of edges is drawn from all pairs that are not released yet, edges that failed
included. For edges of a network of n nodes and m edges, at a noisy count of m, the factor by which
an edge changes the chance that its pair is released is computed from these laws. The noisy count,
which is released too, can add its own part, half of epsilon.

``dp-1k``: noise is added to the number of nodes of every degree up to the largest that there is, so
that the noisy numbers end there. Of a star with one more leaf the noisy number of nodes of its
largest degree is drawn so often; of the star without it there is none. A bound of confidence 99.9 %
is computed from how often it is above 0. What is bounded are the noisy numbers: whether a graph can
be made of them was not looked at.

``degrees``: noise of scale 1/epsilon on every degree, where an edge changes two. The factor is that
of both degrees being at least one higher.

Beside them stands `asymmetric-response`, at the noisy count of m, by its own chances. Rows go to
``results/public.parquet``.
"""

from __future__ import annotations

import argparse
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import write_rows

RESULTS = Path(__file__).parent / "results" / "public.parquet"
NETWORKS = {
    "polbooks": (105, 441),
    "polblogs": (1_224, 16_715),
    "wiki-Vote": (7_115, 100_762),
    "ca-HepPh": (12_006, 118_489),
}
EPSILONS = ("0.5", "1", "2", "5")


def chance_to_pass(n: int, m: int, epsilon: float) -> float:
    """Return with what chance an edge passes the threshold of the public program."""
    pairs, cells = n * (n - 1) / 2, epsilon / 2
    turn = math.log(pairs / m - 1)
    if cells < turn:
        threshold = turn / (2 * cells)
    else:
        threshold = math.log(pairs / (2 * m) + (math.exp(cells) - 1) / 2) / cells
    above = cells * (threshold - 1)
    return math.exp(-above) / 2 if above > 0 else 1 - math.exp(above) / 2


def filter_loss(n: int, m: int, epsilon: float) -> float:
    """Return the logarithm of how much likelier a pair is released that is an edge.

    Beside m-1 other edges, of which some pass; the rest of m is drawn from what is not released.
    """
    pairs, passes = n * (n - 1) // 2, chance_to_pass(n, m, epsilon)
    kept = np.arange(m)
    others = stats.binom.pmf(kept, m - 1, passes)
    drawn = float(others @ ((m - kept) / (pairs - kept)))
    return math.log((passes + (1 - passes) * drawn) / drawn)


def response_loss(n: int, m: int, epsilon: str) -> float:
    """Return the same of `asymmetric-response`, whose cells get what the count leaves."""
    flips = gv.AsymmetricResponse(epsilon=float(Fraction(epsilon))).flips(n * (n - 1) // 2, m)
    zero, one, full = int(flips.T0), int(flips.T1), 1 << 64
    return max(math.log(one / zero), math.log((full - zero) / (full - one)))


def histogram_loss(epsilon: float, runs: int) -> float:
    """Return a lower bound on what the highest degree of noisy histograms gives away.

    Those of the smaller star end at the degree of its center, so that none has a node of one more;
    of the larger star, noise leaves the center in its place in some.
    """
    noise = np.random.default_rng(1).laplace(0, 4 / epsilon, runs)
    larger = int((np.round(1 + noise) > 0).sum())
    high = stats.beta.isf(5e-4, 1, runs)
    low = stats.beta.ppf(5e-4, larger, runs - larger + 1)
    return math.log(low / high)


def main() -> None:
    """Print a row a program, network and epsilon, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100_000)
    runs = parser.parse_args().runs
    rows: list[dict[str, Any]] = []
    for epsilon in EPSILONS:
        given = float(epsilon)
        for network, (n, m) in NETWORKS.items():
            of_network = {
                "public top-m-filter": (filter_loss(n, m, given), "an edge, at one noisy count"),
                "asymmetric-response": (
                    response_loss(n, m, epsilon),
                    "an edge, at one noisy count",
                ),
            }
            for program, (loss, of) in of_network.items():
                rows.append({"program": program, "network": network, "loss": loss, "of": of})
                rows[-1]["epsilon"] = given
        for program, loss, of in (
            ("public dp-1k", histogram_loss(given, runs), f"highest degree, {runs:,} runs"),
            ("public degrees", 2 * given, "both degrees of an edge"),
        ):
            rows.append({"program": program, "network": "any", "loss": loss, "of": of})
            rows[-1]["epsilon"] = given
    for row in rows:
        print(row)
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    main()
