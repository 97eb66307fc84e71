"""Figures 3 (a) and 3 (b) of *Adaptive Anonymity via b-Matching*, and what attacks reach.

    python benchmarks/adaptive_anonymity/plots.py

Needs matplotlib (``pip install matplotlib``). Writes ``results/PART-FIGURE.svg`` from the raw rows.
"""

from __future__ import annotations

import matplotlib as mpl
from report import RESULTS, VARIANTS, rows_of

mpl.use("svg")
import matplotlib.pyplot as plt

mpl.rcParams["svg.hashsalt"] = "graphveil"
FIGURES = {
    "kept": "share of cells that are shown",
    "rerun": "people matched by a re-run",
    "largest_chance": "largest chance of the own record",
}


def draw(part: str, figure: str, label: str) -> None:
    """Draw one figure over the level, a panel a data set."""
    rows = rows_of(part)
    names = list(dict.fromkeys(row["set"] for row in rows))
    if not names:
        return
    canvas, axes = plt.subplots(1, len(names), figsize=(3.2 * len(names), 3.2), squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        some = [row for row in rows if row["set"] == name]
        for number, variant in enumerate(VARIANTS):
            points = sorted((r["level"], r[figure]) for r in some if r["variant"] == variant)
            if points:
                style = {"marker": "o", "ms": 3, "color": f"C{number}", "label": variant}
                axis.plot(*zip(*points, strict=True), **style)
        if figure != "kept":
            levels = sorted({row["level"] for row in some})
            axis.plot(levels, [1 / level for level in levels], "k:", label="one in the level")
        axis.set(title=name, xlabel="level")
    axes[0][0].set(ylabel=label)
    axes[0][-1].legend(fontsize=6)
    canvas.tight_layout()
    canvas.savefig(RESULTS / f"{part}-{figure.replace('_', '-')}.svg", metadata={"Date": None})
    plt.close(canvas)


if __name__ == "__main__":
    for part in ("tables", "friends"):
        for figure, label in FIGURES.items():
            draw(part, figure, label)
