"""Figures 2 to 6 of *The anonymization problem in social networks*, drawn from the raw rows.

    python benchmarks/anonymization_problem/plots.py

Needs matplotlib (``pip install matplotlib``). Writes ``results/figure-N.svg``.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from networks import NETWORKS
from report import (
    BUDGET,
    FULL,
    HEURISTICS,
    PARTIAL,
    PROPERTIES,
    RESULTS,
    Rows,
    grouped,
    kept,
    made_anonymous,
    mean,
    rows_of,
)

from graphveil.evaluate import preserved

COLORS = dict(zip(HEURISTICS, plt.get_cmap("tab10").colors, strict=False))
MEASURES = {"degree": "tab:green", "count": "tab:blue", "dk": "tab:orange", "vrq": "tab:red"}
LINES = {"es": ":", "degree": "--", "ua": "-"}


def figure_2() -> None:
    """Draw uniqueness while edges are deleted, by measure and heuristic; mean and sd over seeds."""
    curves: dict[Any, list[Any]] = defaultdict(list)
    for row in rows_of("trajectories"):
        curves[row["network"], row["measure"], row["heuristic"]].append(row["curve"])
    names = [item.name for item in NETWORKS if any(key[0] == item.name for key in curves)]
    figure, axes = plt.subplots(1, len(names), figsize=(4 * len(names), 3.4), squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        for (network, measure, heuristic), runs in curves.items():
            if network != name:
                continue
            length = min(map(len, runs))
            values = np.array([run[:length] for run in runs])
            deleted, unique = values[0, :, 0], values[:, :, 1]
            color = MEASURES[measure]
            label = f"{measure}, {heuristic}"
            axis.plot(deleted, unique.mean(0), LINES[heuristic], color=color, lw=1.2, label=label)
            low, high = unique.mean(0) - unique.std(0), unique.mean(0) + unique.std(0)
            axis.fill_between(deleted, low, high, color=color, alpha=0.12, lw=0)
        axis.set(title=name, xlabel="share of edges deleted", xlim=(0, 1), ylim=(0, 1))
    axes[0][0].set_ylabel("uniqueness")
    axes[0][-1].legend(fontsize=6)
    save(figure, 2)


def figure_3(groups: Rows) -> None:
    """Draw edges kept (bars: full, lines: partial), and nodes made anonymous with 5 %."""
    names = [item.name for item in NETWORKS if (item.name, "ua", FULL) in groups]
    every = [item.name for item in NETWORKS if (item.name, "ua", BUDGET) in groups]
    figure, axes = plt.subplots(2, 1, figsize=(13, 7))
    width = 0.8 / len(HEURISTICS)
    for place, name in enumerate(HEURISTICS):
        at = np.arange(len(names)) + place * width
        full = [mean(kept(groups.get((network, name, FULL), []))) for network in names]
        axes[0].bar(at, full, width, color=COLORS[name], label=name)
        part = [mean(kept(groups.get((network, name, PARTIAL), []))) for network in names]
        axes[0].hlines(part, at - width / 2, at + width / 2, color=COLORS[name])
        at = np.arange(len(every)) + place * width
        budget = [mean(made_anonymous(groups.get((n, name, BUDGET), []))) for n in every]
        axes[1].bar(at, budget, width, color=COLORS[name])
    titles = ("share of edges kept (lines: partial)", "unique nodes made anonymous with 5 %")
    for axis, labels, title in zip(axes, (names, every), titles, strict=True):
        axis.set_xticks(np.arange(len(labels)) + 0.4, labels, rotation=30, ha="right", fontsize=8)
        axis.set_ylabel(title, fontsize=8)
        axis.set_ylim(0, 1.02)
    axes[0].legend(ncols=len(HEURISTICS), fontsize=8)
    save(figure, 3)


def figure_4(groups: Rows) -> None:
    """Draw the share of networks for which a property is preserved."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.4), sharey=True)
    for axis, goal in zip(axes, (FULL, PARTIAL, BUDGET), strict=True):
        shares = np.array(
            [
                [mean(preserved_by(groups, name, goal, *ends)) for name in HEURISTICS]
                for ends in PROPERTIES.values()
            ]
        )
        axis.imshow(shares, vmin=0, vmax=1, cmap="RdYlGn", aspect="auto")
        for (row, column), value in np.ndenumerate(shares):
            axis.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8)
        axis.set_xticks(range(len(HEURISTICS)), HEURISTICS, rotation=30, fontsize=8)
        axis.set_yticks(range(len(PROPERTIES)), list(PROPERTIES), fontsize=8)
        axis.set_title(goal)
    save(figure, 4)


def preserved_by(
    groups: Rows, heuristic: str, goal: str, before: str | None, after: str
) -> list[float]:
    """Return for every network whether a heuristic's releases preserve a property."""
    found = []
    for network in NETWORKS:
        runs = groups.get((network.name, heuristic, goal), [])
        if not runs or after not in runs[0]:
            continue
        if goal == PARTIAL and runs[0]["left_before"] <= 0.05 * runs[0]["nodes"]:
            continue
        original = runs[0][before] if before else 1.0
        found.append(float(preserved(original, [run[after] for run in runs])))
    return found


def figure_5() -> None:
    """Draw what no other budget of a heuristic beats in both uniqueness and utility."""
    groups = grouped(rows_of("tradeoff"))
    names = [item.name for item in NETWORKS if any(key[0] == item.name for key in groups)]
    size = (3.2 * len(PROPERTIES), 2.8 * len(names))
    figure, axes = plt.subplots(len(names), len(PROPERTIES), figsize=size, squeeze=False)
    for row, name in enumerate(names):
        for column, (title, (before, after)) in enumerate(PROPERTIES.items()):
            axis = axes[row][column]
            for heuristic in HEURISTICS:
                points = pareto(
                    [
                        (
                            mean([run["left"] / run["nodes"] for run in runs]),
                            abs(
                                mean([run[after] - (run[before] if before else 1) for run in runs])
                            ),
                            mean([1 - run["edges_after"] / run["edges"] for run in runs]) <= 0.051,
                        )
                        for (network, which, _), runs in groups.items()
                        if network == name and which == heuristic
                    ]
                )
                for unique, difference, few in points:
                    face = COLORS[heuristic] if few else "none"
                    axis.plot(unique, difference, "o", mfc=face, mec=COLORS[heuristic], ms=5)
                if points:
                    axis.plot(*zip(*[p[:2] for p in points], strict=True), color=COLORS[heuristic])
            axis.set(title=f"{name}: {title}" if column == 0 else title, xlabel="uniqueness")
        axes[row][0].set_ylabel("difference")
    handles = [
        plt.Line2D([], [], color=COLORS[name], marker="o", label=name) for name in HEURISTICS
    ]
    axes[0][-1].legend(handles=handles, fontsize=6)
    save(figure, 5)


def pareto(points: list[tuple[float, float, bool]]) -> list[tuple[float, float, bool]]:
    """Return the points that no other point beats in both numbers, from left to right."""
    front = [
        one
        for one in points
        if not any(
            other[:2] != one[:2] and other[0] <= one[0] and other[1] <= one[1] for other in points
        )
    ]
    return sorted(set(front))


def figure_6(groups: Rows) -> None:
    """Draw CPU seconds: bars full, circles partial, triangles budgeted."""
    names = [item.name for item in NETWORKS if (item.name, "ua", BUDGET) in groups]
    figure, axis = plt.subplots(figsize=(13, 4))
    width = 0.8 / len(HEURISTICS)
    for place, name in enumerate(HEURISTICS):
        at = np.arange(len(names)) + place * width
        for goal, mark in ((FULL, None), (PARTIAL, "o"), (BUDGET, "^")):
            times = [
                mean([row["cpu_seconds"] for row in groups.get((network, name, goal), [])])
                for network in names
            ]
            if mark is None:
                axis.bar(at, times, width, color=COLORS[name], label=name, alpha=0.7)
            else:
                axis.plot(at, times, mark, color=COLORS[name], mec="black", ms=4)
    axis.set_xticks(np.arange(len(names)) + 0.4, names, rotation=30, ha="right", fontsize=8)
    axis.set(yscale="log", ylabel="CPU seconds")
    axis.legend(ncols=len(HEURISTICS), fontsize=8)
    save(figure, 6)


def save(figure: Any, number: int) -> None:
    """Write a figure without a date, so that the same rows give the same file."""
    figure.tight_layout()
    figure.savefig(RESULTS / f"figure-{number}.svg", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Draw every figure whose rows are there."""
    mpl.rcParams["svg.hashsalt"] = "graphveil"
    groups = grouped(rows_of("variants"))
    figure_3(groups)
    figure_4(groups)
    figure_6(groups)
    for part, draw in (("trajectories", figure_2), ("tradeoff", figure_5)):
        if (RESULTS / f"{part}.parquet").exists():
            draw()


if __name__ == "__main__":
    main()
