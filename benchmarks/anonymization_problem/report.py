"""The tables of *The anonymization problem in social networks*: the paper's column and ours.

    python benchmarks/anonymization_problem/report.py

Reads ``results/variants.parquet`` and ``results/keep.parquet``, which `run.py` wrote.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from networks import NETWORKS, UNTUNED

from graphveil.evaluate import preserved

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows

RESULTS = Path(__file__).parent / "results"
HEURISTICS = ("es", "degree", "affected", "unique", "ua", "auto")
FULL, PARTIAL, BUDGET = "full", "partial:0.95", "budget:0.05"
PROPERTIES = {
    "largest component": ("largest-component: original", "largest-component: released"),
    "shortest path": ("shortest-path: original", "shortest-path: released"),
    "clustering": ("clustering: original", "clustering: released"),
    "betweenness": (None, "betweenness: overlap"),
    "communities": (
        "communities: original against itself",
        "communities: released against original",
    ),
}
"""The original's value (1 where none) and the release's, by the paper's property."""

Rows = dict[tuple[str, str, str], list[dict[str, Any]]]


def rows_of(part: str) -> list[dict[str, Any]]:
    """Return the raw rows of a part, without the warm-up's."""
    return [row for row in read_rows(RESULTS / f"{part}.parquet") if row["key"] != "warm-up"]


def grouped(rows: list[dict[str, Any]]) -> Rows:
    """Return the rows of every network, heuristic and goal, one a seed."""
    groups: Rows = defaultdict(list)
    for row in rows:
        groups[row["network"], row["heuristic"], row["goal"]].append(row)
    return groups


def kept(group: list[dict[str, Any]]) -> list[float]:
    """Return the share of edges that every run kept."""
    return [row["edges_after"] / row["edges"] for row in group]


def made_anonymous(group: list[dict[str, Any]]) -> list[float]:
    """Return the share of the unique nodes that every run made anonymous."""
    return [1 - row["left"] / row["left_before"] for row in group if row["left_before"]]


def table_2(groups: Rows) -> None:
    """Print uniqueness, and the ratios of ua to es: paper, then ours."""
    print("Table 2: uniqueness under count; ua over es (full, partial: edges kept; budget: nodes)")
    print(
        f"{'network':20} {'U paper':>8} {'U':>6} | {'full':>6} {'ours':>6} {'auto':>6} | ", end=""
    )
    print(f"{'partial':>7} {'ours':>6} {'auto':>6} | {'budget':>6} {'ours':>6} {'auto':>6}")
    for network in NETWORKS:
        shown = groups.get((network.name, "ua", BUDGET))
        if not shown:
            continue
        paper = network.paper
        cells = [f"{network.name:20} {paper.uniqueness:8.3f} {uniqueness(shown):6.3f}"]
        for goal, figure in (
            (FULL, paper.full),
            (PARTIAL, paper.partial),
            (BUDGET, paper.budgeted),
        ):
            share = made_anonymous if goal == BUDGET else kept
            base = mean(share(groups.get((network.name, "es", goal), [])))
            ratios = [
                ratio(mean(share(groups.get((network.name, name, goal), []))), base)
                for name in ("ua", "auto")
            ]
            cells.append(f"{figure or '-':>6} {ratios[0]:>6} {ratios[1]:>6}")
        print(" | ".join(cells))


def figure_3(groups: Rows) -> None:
    """Print edges kept (full, partial) and nodes made anonymous (budget), mean and sd."""
    for goal, share, title in (
        (FULL, kept, "edges kept, full"),
        (PARTIAL, kept, "edges kept, partial (95 %)"),
        (BUDGET, made_anonymous, "unique nodes made anonymous, 5 % of the edges"),
    ):
        print(f"\nFigure 3: {title}")
        print(f"{'network':20} " + " ".join(f"{name:>13}" for name in HEURISTICS))
        for network in NETWORKS:
            found = [share(groups.get((network.name, name, goal), [])) for name in HEURISTICS]
            if any(found):
                print(
                    f"{network.name:20} " + " ".join(f"{mean_sd(values):>13}" for values in found)
                )


def figure_4(groups: Rows) -> None:
    """Print for how many networks every property is preserved."""
    print("\nFigure 4: share of networks for which a property is preserved")
    for goal in (FULL, PARTIAL, BUDGET):
        print(f"{goal:20} " + " ".join(f"{name:>9}" for name in HEURISTICS))
        for title, (before, after) in PROPERTIES.items():
            shares = []
            for name in HEURISTICS:
                kept_by = [
                    preserved(row[before] if before else 1.0, [run[after] for run in runs])
                    for network in NETWORKS
                    if (runs := groups.get((network.name, name, goal)))
                    and after in (row := runs[0])
                    and (goal != PARTIAL or row["left_before"] > 0.05 * row["nodes"])
                ]
                shares.append(f"{mean([float(is_so) for is_so in kept_by]):9.2f}")
            print(f"  {title:18} " + " ".join(shares))


def kept_beside_people(several: Sequence[Rows], names: set[str], seeds: int = 3) -> None:
    """Print for how many networks a property is preserved, and how many people are anonymous.

    Runs of es and ua are of ``variants``, the others of ``keep``.
    """
    runs = {key: rows[:seeds] for groups in several for key, rows in groups.items()}
    print(f"\nWithin a budget of 5 % of the edges: {', '.join(sorted(names))}")
    for heuristic in ("es", "ua", "auto", "keep"):
        groups = [runs[name, heuristic, BUDGET] for name in names]
        shares = [
            mean(
                [
                    float(preserved(g[0][before] if before else 1.0, [r[after] for r in g]))
                    for g in groups
                ]
            )
            for before, after in PROPERTIES.values()
        ]
        anonymous = mean([mean([1 - r["left"] / r["nodes"] for r in g]) for g in groups])
        deleted = mean([mean([1 - share for share in kept(g)]) for g in groups])
        gained = mean([mean(made_anonymous(g)) for g in groups])
        seconds = mean([mean([r["cpu_seconds"] for r in g]) for g in groups])
        print(
            f"  {heuristic:6} "
            + " ".join(f"{share:5.2f}" for share in shares)
            + f"  anonymous {anonymous:.4f}, of the unprotected {gained:.3f}"
            + f", edges deleted {deleted:.3f}, {seconds:.1f} s"
        )


def told_apart(rows: list[dict[str, Any]]) -> None:
    """Print how well common neighbors tell deleted pairs from those that never were edges."""
    print("\nCommon neighbors tell deleted pairs from others: AUC, least and most of networks")
    of: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["auc"] is not None:  # nothing was deleted
            of[row["heuristic"]][row["network"]].append(row["auc"])
    for heuristic, networks in of.items():
        means = [mean(values) for values in networks.values()]
        print(f"  {heuristic:12} {mean(means):.2f} ({min(means):.2f} to {max(means):.2f})")
    gains = [
        (r["left_before"] - r["left"]) / (s["left_before"] - s["left"])
        for r in rows
        for s in rows
        if (r["heuristic"], s["heuristic"]) == ("spend-least", "auto")
        and (r["network"], r["seed"]) == (s["network"], s["seed"])
    ]
    if gains:
        print(
            f"  spend-least keeps {min(gains):.4f} of the gain at least, {mean(gains):.4f} in mean"
        )


def figure_6(groups: Rows) -> None:
    """Print the CPU seconds, warm."""
    print("\nFigure 6: CPU seconds, compiled code loaded (mean over seeds)")
    for goal in (FULL, PARTIAL, BUDGET):
        print(f"{goal:20} " + " ".join(f"{name:>9}" for name in HEURISTICS))
        for network in NETWORKS:
            times = [
                mean([row["cpu_seconds"] for row in groups.get((network.name, name, goal), [])])
                for name in HEURISTICS
            ]
            if any(value == value for value in times):  # noqa: PLR0124  not a number where absent
                print(f"  {network.name:18} " + " ".join(f"{value:9.3f}" for value in times))


def uniqueness(group: list[dict[str, Any]]) -> float:
    """Return the share of nodes that are alone in the original."""
    return float(group[0]["left_before"] / group[0]["nodes"])


def mean(values: list[float]) -> float:
    """Return the mean; not a number where there is nothing."""
    return statistics.fmean(values) if values else float("nan")


def mean_sd(values: list[float]) -> str:
    """Return mean and standard deviation as text."""
    if not values:
        return "-"
    return f"{mean(values):.3f} ± {statistics.stdev(values) if len(values) > 1 else 0:.3f}"


def ratio(value: float, base: float) -> str:
    """Return a ratio as text."""
    return f"{value / base:.1f}" if base > 0 and value == value else "-"  # noqa: PLR0124  as above


def main() -> None:
    """Print every table."""
    groups = grouped(rows_of("variants"))
    table_2(groups)
    figure_3(groups)
    figure_4(groups)
    several = [groups, grouped(rows_of("keep"))]
    kept_beside_people(several, UNTUNED)
    kept_beside_people(several, {*UNTUNED, "Radoslaw emails"})
    told_apart(rows_of("deleted"))
    figure_6(groups)


if __name__ == "__main__":
    main()
