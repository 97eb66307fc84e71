# ruff: noqa: INP001  a script that is run by hand, not a package
"""Fill in the figures of the pages on the papers, from the stored rows of the benchmarks.

    python tools/paper_figures.py          # says which figures of docs/papers differ from the rows
    python tools/paper_figures.py --write  # writes them

A figure on a page is followed by a comment that says where it comes from::

    87.7<!-- smooth: adult/smooth (published)/jaccard -->

The word before the colon names a function below, the rest holds its arguments, divided by slashes.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections.abc import Callable
from functools import cache
from math import exp, log
from pathlib import Path
from statistics import correlation as pearson
from statistics import fmean, stdev
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
PAGES = ROOT / "docs" / "papers"
MARK = re.compile(r"([^\s|(]*?)<!-- (\w+): (.+?) -->")
"""A figure, which has no space, and where it comes from."""

KINDS: dict[str, Callable[..., str]] = {}
"""How figures are counted, by the word before the colon."""

Row = dict[str, Any]


def kind(function: Callable[..., str]) -> Callable[..., str]:
    """Enter a function under its name."""
    KINDS[function.__name__] = function
    return function


@cache
def report(paper: str) -> ModuleType:
    """Return the report of a benchmark as a module: how it counts figures from its rows."""
    folder = BENCHMARKS / paper
    spec = importlib.util.spec_from_file_location(f"{paper}_report", folder / "report.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(folder / "report.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules.pop("networks", None)  # two benchmarks call theirs so
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("networks", None)
    return module


@cache
def rows(paper: str, part: str) -> list[Row]:
    """Return the stored rows of a benchmark, without a warm-up's."""
    sys.path.append(str(BENCHMARKS))
    from raw_rows import read_rows  # noqa: PLC0415  beside the benchmarks

    sys.path.remove(str(BENCHMARKS))
    found = read_rows(BENCHMARKS / paper / "results" / f"{part}.parquet")
    return [row for row in found if row.get("key") != "warm-up"]


def among(found: list[Row], start: str) -> list[Row]:
    """Return the rows whose key begins so; there are some."""
    chosen = [row for row in found if row["key"].startswith(f"{start}/")]
    if not chosen:
        raise KeyError(start)
    return chosen


@kind
def smooth(name: str, variant: str, figure: str) -> str:
    """Return a share at k=8, in percent: its mean, or with ``sd`` that of the Jaccard."""
    chosen = among(rows("smooth_anonymity", "methods"), f"{name}/{variant}")
    if figure == "sd":
        return f"{100 * stdev(row['jaccard'] for row in chosen):.2f}"
    return f"{100 * fmean(row[figure] for row in chosen):.1f}"


@kind
def size(name: str, figure: str) -> str:
    """Return users, features or entries of a data set."""
    return f"{among(rows('smooth_anonymity', 'methods'), name)[0][figure]:,}"


@kind
def curve(name: str, variant: str, k: str) -> str:
    """Return the mean Jaccard at a k, in percent."""
    chosen = among(rows("smooth_anonymity", "by-k"), f"{name}/{variant}/{k}")
    return f"{100 * fmean(row['jaccard'] for row in chosen):.1f}"


@kind
def response(name: str, epsilon: str) -> str:
    """Return the mean Jaccard of randomized response, in percent."""
    chosen = among(rows("smooth_anonymity", "response"), f"{name}/{epsilon}")
    return f"{100 * fmean(row['jaccard'] for row in chosen):.1f}"


@kind
def same(name: str, k: str) -> str:
    """Return the epsilon at which randomized response keeps as much as smooth-k."""
    counted = report("smooth_anonymity")
    groups = counted.grouped(counted.rows_of("response"))
    chosen = among(rows("smooth_anonymity", "by-k"), f"{name}/smooth (ours)/{k}")
    mean = fmean(row["jaccard"] for row in chosen)
    return str(counted.matching(groups, name, mean))


@kind
def accuracy(name: str, k: str) -> str:
    """Return the mean accuracy of the classifier, in percent."""
    chosen = among(rows("smooth_anonymity", "learning"), f"adult/{name}/{k}")
    return f"{100 * fmean(row['accuracy'] for row in chosen):.1f}"


@kind
def utility(name: str, level: str, variant: str) -> str:
    """Return the share of cells that are shown, as the paper draws it."""
    return f"{_adaptive(name, level, variant)['kept']:.3f}"


@kind
def chance(name: str, level: str, variant: str) -> str:
    """Return the largest chance of the own record."""
    return f"{_adaptive(name, level, variant)['largest_chance']:.2f}"


@kind
def rerun(name: str, level: str, variant: str) -> str:
    """Return the share of people whom a re-run gives their record."""
    return f"{_adaptive(name, level, variant)['rerun']:.2f}"


def _adaptive(name: str, level: str, variant: str) -> Row:
    every = [*rows("adaptive_anonymity", "tables"), *rows("adaptive_anonymity", "friends")]
    wanted = {"set": name, "level": int(level), "variant": variant}
    return next(row for row in every if wanted.items() <= row.items())


@kind
def noisy(network: str, figure: str) -> str:
    """Return nodes, edges or the log-likelihood of a network of the Top-m Filter's Table I."""
    [row] = [row for row in rows("top_m_filter", "networks") if row["network"] == network]
    return f"{row[figure]:,.0f}"


@kind
def error(network: str, label: str, method: str) -> str:
    """Return the mean error of ten metrics at an epsilon."""
    counted, (points, originals) = report("top_m_filter"), _releases()
    found = counted.errors(originals[network], points[network, label, method])
    return f"{counted.ten(found):.3f}"


@cache
def _releases() -> tuple[dict[tuple[str, str, str], list[Row]], dict[str, Row]]:
    counted = report("top_m_filter")
    return counted.points(), counted.originals()


@kind
def kept(network: str, method: str, share: str) -> str:
    """Return the share of edges that are kept at a share of 3 ln n."""
    chosen = [
        row
        for row in rows("top_m_filter", "kept")
        if (row["network"], row["method"], row["share"]) == (network, method, float(share))
    ]
    return f"{fmean(row['edges_kept'] / row['edges_before'] for row in chosen):.3f}"


@kind
def equations(nodes: str, edges: str) -> str:
    """Return the share of edges kept at ln n by the paper's equations 2 and 3."""
    n, m = int(nodes), int(edges)
    e, x = log(n), log(n * (n - 1) / 2 / m - 1)
    return f"{1 - exp(-e * (1 - x / (2 * e) - 0.5)) / 2:.3f}"


@kind
def seconds(method: str, label: str) -> str:
    """Return the CPU seconds of a release of the graph of youtube's size."""
    chosen = [
        row["cpu_seconds"]
        for row in rows("top_m_filter", "scale")
        if (row.get("method"), row.get("label")) == (method, label)
    ]
    return f"{fmean(chosen):.1f}"


@kind
def taken(network: str, method: str) -> str:
    """Return the mean CPU seconds of a release of figure 3, over all epsilons."""
    points, _ = _releases()
    chosen = [
        row["cpu_seconds"]
        for (n, _, m), rows in points.items()
        for row in rows
        if (n, m) == (network, method)
    ]
    return f"{fmean(chosen):.1f}"


@kind
def unique(network: str) -> str:
    """Return the share of nodes that are alone under count."""
    counted = report("anonymization_problem")
    return f"{counted.uniqueness(_structural()[network, 'ua', counted.BUDGET]):.3f}"


@kind
def ratio(network: str, goal: str, heuristic: str) -> str:
    """Return what a heuristic keeps, or makes anonymous, over what edge sampling does."""
    counted = report("anonymization_problem")
    measure = counted.made_anonymous if goal.startswith("budget") else counted.kept
    means = [fmean(measure(_structural()[network, name, goal])) for name in (heuristic, "es")]
    return f"{means[0] / means[1]:.1f}" if means[1] else "undefined"


@kind
def preserved(goal: str, heuristic: str, figure: str) -> str:
    """Return for which share of the networks a property is preserved."""
    counted = report("anonymization_problem")
    before, after = counted.PROPERTIES[figure]
    answers = [
        counted.preserved(group[0][before] if before else 1.0, [row[after] for row in group])
        for (_, name, of), group in _structural().items()
        if (name, of) == (heuristic, goal)
        and after in group[0]
        and (goal != counted.PARTIAL or group[0]["left_before"] > 0.05 * group[0]["nodes"])
    ]
    return f"{fmean(map(float, answers)):.2f}"


@kind
def original(network: str, figure: str) -> str:
    """Return a property of a network of the structural benchmark: nodes, edges, or a metric."""
    counted = report("anonymization_problem")
    row = _structural()[network, "es", counted.BUDGET][0]
    return f"{row[figure]:,}" if isinstance(row[figure], int) else f"{row[figure]:.2f}"


PROPERTIES: dict[str, Callable[[Row], float | None]] = {
    "unique start": lambda row: row["left_before"] / row["nodes"],
    "nodes": lambda row: row["nodes"],
    "average degree": lambda row: 2 * row["edges"] / row["nodes"],
    "average path length": lambda row: row.get("shortest-path: original"),
}
"""Properties of Table 3 that the rows hold."""


@kind
def correlation(what: str, goal: str) -> str:
    """Return Pearson's correlation of a property with the best of the paper's heuristics."""
    counted = report("anonymization_problem")
    measure = counted.made_anonymous if goal.startswith("budget") else counted.kept
    best: dict[str, float] = {}
    values: dict[str, float | None] = {}
    for (network, heuristic, of), group in _structural().items():
        if of == goal and heuristic in counted.HEURISTICS[:5]:
            best[network] = max(best.get(network, 0.0), fmean(measure(group)))
            values[network] = PROPERTIES[what](group[0])
    pairs = [(value, best[name]) for name, value in values.items() if value is not None]
    return f"{pearson(*zip(*pairs, strict=True)):.2f}"


@kind
def cpu(network: str, goal: str, heuristic: str) -> str:
    """Return the mean CPU seconds of a run."""
    return f"{fmean(row['cpu_seconds'] for row in _structural()[network, heuristic, goal]):.3f}"


@kind
def start(network: str, measure: str) -> str:
    """Return the uniqueness with which a curve of figure 2 begins."""
    chosen = [
        row
        for row in rows("anonymization_problem", "trajectories")
        if (row["network"], row["measure"]) == (network, measure)
    ]
    return f"{chosen[0]['curve'][0][1]:.3f}"


@kind
def arcs(heuristic: str, goal: str) -> str:
    """Return the share of unique nodes made anonymous, the mean of the networks' means."""
    counted = report("anonymization_problem")
    groups = counted.grouped(rows("anonymization_problem", "arcs"))
    chosen = [group for key, group in groups.items() if key[1:] == (heuristic, goal)]
    return f"{fmean(fmean(counted.made_anonymous(group)) for group in chosen):.2f}"


@cache
def _structural() -> dict[tuple[str, str, str], list[Row]]:
    groups: dict[tuple[str, str, str], list[Row]] = report("anonymization_problem").grouped(
        rows("anonymization_problem", "variants")
    )
    return dict(groups)


@kind
def edits(name: str, k: str, way: str, figure: str) -> str:
    """Return the least change of degrees (l1), or the mean number of edits."""
    chosen = [
        row
        for row in rows("k_degree", "table")
        if (row.get("data"), row.get("k"), row.get("edits")) == (_network(name), int(k), way)
        and row["call"] == "warm"
    ]
    if figure == "l1":
        return f"{chosen[0]['l1_optimum']:,}"
    return f"{fmean(row['added'] + row['deleted'] for row in chosen):,.0f}"


def _network(name: str) -> str:
    files = {row["data"] for row in rows("k_degree", "table") if "data" in row}
    return next(file for file in files if name in file)


def counted(word: str, arguments: str) -> str:
    """Return the figure that a comment of a page stands for."""
    return KINDS[word](*(part.strip() for part in arguments.split("/")))


def filled(page: str) -> str:
    """Return a page with the figures of the rows."""

    def figure(found: re.Match[str]) -> str:
        _, word, arguments = found.groups()
        return f"{counted(word, arguments)}<!-- {word}: {arguments} -->"

    return MARK.sub(figure, page)


def main() -> None:
    """Compare the pages with the rows, or write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the figures into the pages")
    write = parser.parse_args().write
    differ = []
    for path in sorted(PAGES.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        made = filled(page)
        if made != page:
            differ.append(path.name)
            if write:
                path.write_text(made, encoding="utf-8")
    print(f"{'written' if write else 'differ from the rows'}: {', '.join(differ) or 'none'}")  # noqa: T201  a script says what it did
    sys.exit(bool(differ) and not write)


if __name__ == "__main__":
    main()
