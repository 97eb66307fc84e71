"""What attackers learn over the strength of a method, drawn from the raw rows.

    python benchmarks/attacks/plots.py

Needs matplotlib (``pip install matplotlib``). Writes ``results/NAME.svg``, one idea a picture. Bars
at a point are its 95 % interval, where there is one: of one release, the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import matrix
import report
from report import Point, Row

RESULTS = Path(__file__).parent / "results"
NOISY = [m.name for m in matrix.METHODS[matrix.ARENAS] if "epsilon" in m.strengths[0]]
CLASSES = ("smooth-k", "suppress-k", "mondrian")
ON_TABLES = ("cluster-k", "adaptive")
STRUCTURAL = ("k-degree", "structural")
MARKS = "osv^Dx*P<>"

Figures = dict[tuple[Point, str, str], list[Row]]


def curve(
    grouped: Figures, data: str, method: str, parts: Iterable[tuple[str, str]]
) -> list[tuple[float, float, Row]]:
    """Return strength, mean over releases and the first row: of several parts the largest."""
    found = []
    for point in report.points(data):
        rows = [grouped[point, *part] for part in parts if (point, *part) in grouped]
        if point.method == method and point.strength is not None and rows:
            best = max(rows, key=report.mean_of)
            found.append((point.strength, report.mean_of(best), best[0]))
    return found


def draw(
    axis: plt.Axes, points: Sequence[tuple[float, float, Row]], number: int, name: str
) -> None:
    """Draw the curve of a method, with intervals where there are some."""
    if not points:
        return
    at, values, rows = zip(*points, strict=True)
    color = plt.get_cmap("tab10").colors[number]
    axis.plot(at, values, "-", marker=MARKS[number], ms=4, c=color, label=name)
    for x, row in zip(at, rows, strict=True):
        if row.get("ci_low") is not None:
            axis.plot([x, x], [row["ci_low"], row["ci_high"]], lw=1, c=color, alpha=0.6)


def unprotected(axis: plt.Axes, value: float) -> None:
    """Draw what is reached where only ids are hidden."""
    axis.axhline(value, c="0.6", lw=0.8, ls="--")
    axis.text(0.99, value, "ids alone hidden", c="0.4", fontsize=7, ha="right", va="top",
              transform=axis.get_yaxis_transform())  # fmt: skip


def renamed(grouped: Figures, data: str, parts: Iterable[tuple[str, str]]) -> float:
    """Return the largest of these figures of a release that hides ids alone."""
    point = Point(data, "rename", "{}")
    return max(report.mean_of(grouped[point, *part]) for part in parts if (point, *part) in grouped)


def one_figure(
    name: str,
    data: str,
    methods: Sequence[str],
    parts: Sequence[tuple[str, str]],
    *,
    x: str,
    y: str,
    chance: float | None = None,
    one_in_k: bool = False,
) -> None:
    """Draw one figure of an attack over the strength of some methods."""
    grouped = report.figures()
    figure, axis = plt.subplots(figsize=(6.2, 3.2))
    for number, method in enumerate(methods):
        draw(axis, curve(grouped, data, method, parts), number, method)
    unprotected(axis, renamed(grouped, data, parts))
    if one_in_k:
        at = sorted({p.strength for p in report.points(data) if p.method in methods})
        axis.plot(at, [1 / k for k in at], ":", c="black", label="1/k")
    if chance is not None:
        axis.axhline(chance, c="black", lw=0.8, ls=":", label="a guess")
    if "k" in x or "level" in x:
        axis.set_xscale("log", base=2)
        axis.set_xticks(sorted({p.strength for p in report.points(data) if p.method in methods}))
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_title(y, fontsize=9)
    axis.set(xlabel=x, ylim=(0 if chance is None else None, None))
    axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    save(figure, name)


def save(figure: plt.Figure, name: str) -> None:
    """Write a figure without the date, so that the same rows give the same file."""
    figure.tight_layout()
    figure.savefig(RESULTS / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Draw everything."""
    mpl.rcParams["svg.hashsalt"] = "graphveil"
    copies = [("seeded-matching", column.part) for column in report.NAMED[3:5]]
    named = "people re-identified by a copy of the network"
    one_figure("named-by-epsilon", matrix.SCHOOL, NOISY, copies, x="epsilon", y=named)
    one_figure("named-by-k", matrix.SCHOOL, STRUCTURAL, copies, x="k", y=named)
    candidates = [("candidate-set", "vrq, right guess")]
    y = "people re-identified by their neighbors' degrees"
    one_figure("neighbors-degrees", matrix.ARENAS, STRUCTURAL, candidates, x="k", y=y)
    gain, y = [("edge-gain", "recall")], "unknown ties read by who knows 80 %"
    one_figure("ties-by-epsilon", matrix.ARENAS, NOISY, gain, x="epsilon", y=y)
    row, y = [("linkage", report.ROW.format(8))], "own row picked by 8 known items"
    one_figure("row-by-k", matrix.ADULT, CLASSES, row, x="k", y=y, one_in_k=True)
    took, y = [("membership", "a whole row")], "taking part guessed (area under the curve)"
    one_figure("membership-by-k", matrix.ADULT, CLASSES, took, x="k", y=y, chance=0.5)
    sure = [("class-truth", "entries that the class makes certain")]
    y = "entries that a class makes certain"
    one_figure("certain-by-k", matrix.ADULT, CLASSES, sure, x="k", y=y)
    pair, y = [("matching", "re-run, right guess")], "own record guessed by a re-run"
    one_figure(
        "matching-by-level", matrix.HEART, ON_TABLES, pair, x="k, or level", y=y, one_in_k=True
    )


if __name__ == "__main__":
    main()
