"""Figures 2 to 7 of *Smooth Anonymity for Sparse Graphs*, drawn from the raw rows.

    python benchmarks/smooth_anonymity/plots.py

Needs matplotlib (``pip install matplotlib``). Writes ``results/figure-N.svg``; what the
paper shows in figures 3 and 5, and in 4 and 7, stands in one each.
"""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("svg")
import matplotlib.pyplot as plt
from report import RESULTS, deviation, grouped, matching, mean, rows_of


def figure_2() -> None:
    """Draw the epsilon that a Jaccard needs by theorem 4.1, over the density."""
    density = np.logspace(-6, -0.5, 200)
    figure, axis = plt.subplots(figsize=(5, 3.6))
    for aim in (0.25, 0.5, 0.75, 0.9):
        flips = (1 - aim) / (1 + aim * (1 - density) / density)
        axis.plot(density, np.log(1 / flips - 1), label=f"Jaccard {aim}")
    axis.set(xscale="log", xlabel="density", ylabel="epsilon needed")
    axis.legend(fontsize=8)
    save(figure, 2)


def figures_3_and_5() -> None:
    """Draw Jaccard over k, a panel a data set."""
    groups = grouped(rows_of("by-k"))
    names = list(dict.fromkeys(key[0] for key in groups))
    colors = {name: f"C{number}" for number, name in enumerate(dict.fromkeys(k[1] for k in groups))}
    figure, axes = plt.subplots(1, len(names), figsize=(3.4 * len(names), 3.3), squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        for variant in dict.fromkeys(key[1] for key in groups if key[0] == name):
            cells = sorted(
                (int(key[2]), rows) for key, rows in groups.items() if key[:2] == (name, variant)
            )
            ks = [k for k, _ in cells]
            axis.errorbar(
                ks,
                [mean(rows, "jaccard") for _, rows in cells],
                [deviation(rows, "jaccard") for _, rows in cells],
                marker="o",
                ms=3,
                label=variant,
                color=colors[variant],
            )
        axis.set(title=name, xscale="log", xlabel="k", ylim=(0, 1))
        axis.minorticks_off()
        axis.set_xticks(ks, [str(k) for k in ks])
    axes[0][0].set(ylabel="Jaccard")
    axes[0][-1].legend(fontsize=7)
    save(figure, 3)


def figures_4_and_7() -> None:
    """Draw accuracy over k, with what needs no k as lines."""
    groups = grouped(rows_of("learning"))
    figure, axis = plt.subplots(figsize=(6, 4))
    for name in dict.fromkeys(key[1] for key in groups):
        cells = sorted((int(key[2]), rows) for key, rows in groups.items() if key[1] == name)
        values = np.array([mean(rows, "accuracy") for _, rows in cells])
        half = np.array(
            [1.96 * deviation(rows, "accuracy") / len(rows) ** 0.5 for _, rows in cells]
        )
        if len(cells) == 1:
            axis.axhline(values[0], ls="--", label=name, color=f"C{axis.get_lines().__len__() + 4}")
            continue
        ks = [k for k, _ in cells]
        line = axis.plot(ks, values, marker="o", ms=3, label=name)[0]
        axis.fill_between(ks, values - half, values + half, alpha=0.2, color=line.get_color())
    axis.set(xscale="log", xlabel="k", ylabel="accuracy")
    axis.legend(fontsize=7)
    save(figure, 4)


def figure_6() -> None:
    """Draw the epsilon of equal Jaccard over k."""
    groups = grouped(rows_of("response"))
    figure, axis = plt.subplots(figsize=(5, 3.6))
    points: dict[str, list[tuple[int, float]]] = {}
    for (name, variant, k), rows in grouped(rows_of("by-k")).items():
        epsilon = matching(groups, name, mean(rows, "jaccard"))
        if variant == "smooth (ours)" and epsilon.replace(".", "").isdigit():
            points.setdefault(name, []).append((int(k), float(epsilon)))
    for name, curve in points.items():
        axis.plot(*zip(*sorted(curve), strict=True), marker="o", ms=3, label=name)
    axis.set(xscale="log", xlabel="k", ylabel="epsilon of the same Jaccard")
    axis.legend(fontsize=8)
    save(figure, 6)


def save(figure: Any, number: int) -> None:
    """Write a figure without a date, so that the same rows give the same file."""
    figure.tight_layout()
    figure.savefig(RESULTS / f"figure-{number}.svg", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Draw every figure whose rows are there."""
    mpl.rcParams["svg.hashsalt"] = "graphveil"
    figure_2()
    if rows_of("by-k"):
        figures_3_and_5()
    if rows_of("learning"):
        figures_4_and_7()
    if rows_of("by-k") and rows_of("response"):
        figure_6()


if __name__ == "__main__":
    main()
