"""Figures 2 and 3 of the Top-m Filter, drawn from the raw rows.

    python benchmarks/top_m_filter/plots.py

Needs matplotlib (``pip install matplotlib``). Writes ``results/figure-N.svg``.
"""

from __future__ import annotations

from collections import defaultdict
from math import exp, log

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from networks import MADE, PAPER
from report import NAMES, RESULTS, errors, originals, points, rows_of, ten

COLORS = dict(zip(NAMES, plt.get_cmap("tab10").colors, strict=False))


def figure_2() -> None:
    """Draw the share of edges that are kept over epsilon / (3 ln n), and the formula of ours."""
    curves = defaultdict(lambda: defaultdict(list))
    sizes = {}
    for row in rows_of("kept"):
        share = row["edges_kept"] / row["edges_before"]
        curves[row["network"]][row["method"]].append((row["share"], share))
        sizes[row["network"]] = row["nodes"], row["edges_before"]
    names = [name for name in (*PAPER, MADE) if name in curves]
    figure, axes = plt.subplots(1, len(names), figsize=(2.6 * len(names), 2.8), sharey=True)
    for axis, name in zip(np.atleast_1d(axes), names, strict=True):
        for method, found in curves[name].items():
            axis.plot(*zip(*sorted(found), strict=True), ".", c=COLORS[method], label=NAMES[method])
        axis.plot(*formula(*sizes[name]), "-", lw=0.8, c=COLORS["asymmetric-response"])
        axis.set(title=name, xlabel="epsilon / (3 ln n)")
    np.atleast_1d(axes)[0].set_ylabel("edges kept")
    np.atleast_1d(axes)[0].legend()
    save(figure, "figure-2")


def formula(n: int, m: int) -> tuple[list[float], list[float]]:
    """Return the share that asymmetric response keeps, over shares of 3 ln n."""
    odds = n * (n - 1) / 2 / m - 1
    at = np.linspace(0.02, 0.9, 80)
    spent = [share * 3 * log(n) for share in at]
    rest = [epsilon - min(epsilon / 20, 0.1) for epsilon in spent]
    return at.tolist(), [exp(e) / (odds + exp(e)) for e in rest]


def figure_3() -> None:
    """Draw the mean error of ten metrics over epsilon."""
    grouped, before = points(), originals()
    names = [name for name in PAPER if any(key[0] == name for key in grouped)]
    figure, axes = plt.subplots(2, -(-len(names) // 2), figsize=(10, 6), squeeze=False)
    for axis, name in zip(axes.flat, names, strict=False):
        for method in NAMES:
            found = sorted(
                (releases[0]["epsilon"], ten(errors(before[name], releases)))
                for (network, _, other), releases in grouped.items()
                if (network, other) == (name, method)
            )
            if found:
                axis.plot(*zip(*found, strict=True), ".-", c=COLORS[method], label=NAMES[method])
        axis.set(title=name, xlabel="epsilon", ylabel="mean error of 10 metrics", ylim=(0, None))
    for axis in axes.flat[len(names) :]:
        axis.axis("off")
    lines, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=8)
    save(figure, "figure-3")


def save(figure: plt.Figure, name: str) -> None:
    """Write a figure without the date, so that the same rows give the same file."""
    figure.tight_layout()
    figure.savefig(RESULTS / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    mpl.rcParams["svg.hashsalt"] = "graphveil"
    figure_2()
    figure_3()
