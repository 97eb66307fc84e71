# ruff: noqa: INP001  a script that is run by hand, not a package
"""Fill in the figures of the pages on the papers, from the stored rows of the benchmarks.

    python tools/paper_figures.py          # says which figures of docs/papers differ from the rows
    python tools/paper_figures.py --write  # writes them

A figure in a sentence is followed by a comment that says where it comes from; the word before the
colon names a function below, the rest holds its arguments, divided by slashes::

    40.3<!-- percent: methods/jaccard/adult/suppress (published, uncut) -->

Lines before a table say it of whole columns: ``{0}`` is the first cell of a row, ``{top}`` the head
of the column. A cell of these columns holds the figure and nothing else, or one of `MISSING`::

    <!-- 3-8 percent: by-k/jaccard/{0}/{1}/{top} -->
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections.abc import Callable
from functools import cache
from itertools import product
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

TABLE = re.compile(r"((?:<!-- [\d-]+ \w+: .+ -->\n)+)(\|.*)(\n\|[-|]+\n)((?:\|.*\n)+)")
"""The marks of a table's columns, its head, the line below that, and its rows."""

MISSING = {"", "not run", "not obtained"}
"""What a cell says if no row is stored."""

NAMES = {
    "mondrian": "mondrian (first)",
    "mondrian, published": "mondrian (first)",
    "non-smooth, published": "suppress (published, cut)",
    "non-smooth, default": "suppress (ours)",
    "smooth, published": "smooth (published)",
    "smooth, default": "smooth (ours)",
    "k-anonymity, plain": "k-anonymity (plain)",
    "Algorithm 2": "symmetric",
    "Algorithm 1": "bipartite",
    "ln n": "ln",
    "TmF, published": "top-m-filter published",
    "TmF, default variant": "top-m-filter independent",
    "HRG-MCMC": "hrg-mcmc",
    "DER": "density-explore-reconstruct",
    "ua, published": "ua",
    "default": "auto",
    "`auto`, `keep=none`": "auto",
}
"""How the rows call what a table calls so."""

Row = dict[str, Any]


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


def percent(part: str, figure: str, *key: str) -> str:
    """Return the mean of a figure of the rows whose key begins so, in percent."""
    chosen = among(rows("smooth_anonymity", part), "/".join(key))
    return f"{100 * fmean(row[figure] for row in chosen):.1f}"


def shares(*key: str) -> str:
    """Return the three shares at k=8, in percent."""
    figures = ("jaccard", "suppressed", "created")
    return " / ".join(percent("methods", figure, *key) for figure in figures)


def deviation(*key: str) -> str:
    """Return the standard deviation of the Jaccard at k=8, in percent."""
    chosen = among(rows("smooth_anonymity", "methods"), "/".join(key))
    return f"{100 * stdev(row['jaccard'] for row in chosen):.2f}"


def size(name: str) -> str:
    """Return users, features and entries of a data set."""
    first = among(rows("smooth_anonymity", "methods"), name)[0]
    return ", ".join(f"{first[figure]:,}" for figure in ("users", "features", "entries"))


def same(name: str, k: str) -> str:
    """Return the epsilon at which randomized response keeps as much as smooth-k."""
    counted = report("smooth_anonymity")
    groups = counted.grouped(counted.rows_of("response"))
    chosen = among(rows("smooth_anonymity", "by-k"), f"{name}/smooth (ours)/{k}")
    mean = fmean(row["jaccard"] for row in chosen)
    return str(counted.matching(groups, name, mean))


def cells(figure: str, case: str, variant: str) -> str:
    """Return of a table and level: cells shown, the largest chance of the own record, a re-run."""
    name, level = case.split(", ")
    every = [*rows("adaptive_anonymity", "tables"), *rows("adaptive_anonymity", "friends")]
    wanted = {"set": name, "level": int(level), "variant": variant}
    value = next(row for row in every if wanted.items() <= row.items())[figure]
    return f"{value:.3f}" if figure == "kept" else f"{value:.2f}"


def noisy(network: str, *figures: str) -> str:
    """Return nodes, edges or the log-likelihood of a network of the Top-m Filter's Table I."""
    [row] = [row for row in rows("top_m_filter", "networks") if row["network"] == network]
    return ", ".join(f"{row[figure]:,.0f}" for figure in figures)


def error(network: str, label: str, method: str) -> str:
    """Return the mean error of ten metrics at an epsilon."""
    counted, (points, originals) = report("top_m_filter"), _releases()
    found = counted.errors(originals[network], points[network, label, method])
    return f"{counted.ten(found):.3f}"


@cache
def _releases() -> tuple[dict[tuple[str, str, str], list[Row]], dict[str, Row]]:
    counted = report("top_m_filter")
    return dict(counted.points()), counted.originals()


def kept(network: str, method: str, share: str) -> str:
    """Return the share of edges that are kept at a share of 3 ln n."""
    chosen = [
        row
        for row in rows("top_m_filter", "kept")
        if (row["network"], row["method"], row["share"]) == (network, method, float(share))
    ]
    return f"{fmean(row['edges_kept'] / row['edges_before'] for row in chosen):.3f}"


def equations(nodes: str, edges: str) -> str:
    """Return the share of edges kept at ln n by the paper's equations 2 and 3."""
    n, m = int(nodes), int(edges)
    e, x = log(n), log(n * (n - 1) / 2 / m - 1)
    return f"{1 - exp(-e * (1 - x / (2 * e) - 0.5)) / 2:.3f}"


def seconds(method: str, label: str) -> str:
    """Return the CPU seconds of a release of the graph of youtube's size."""
    chosen = [
        row["cpu_seconds"]
        for row in rows("top_m_filter", "scale")
        if (row.get("method"), row.get("label")) == (method, label)
    ]
    return f"{fmean(chosen):.1f}"


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


def unique(network: str) -> str:
    """Return the share of nodes that are alone under count."""
    counted = report("anonymization_problem")
    return f"{counted.uniqueness(_structural()[network, 'ua', counted.BUDGET]):.3f}"


def ratios(network: str, heuristic: str) -> str:
    """Return what a heuristic keeps, keeps partially and makes anonymous, over what es does."""
    counted, found = report("anonymization_problem"), []
    for goal in ("full", counted.PARTIAL, counted.BUDGET):
        measure = counted.made_anonymous if goal == counted.BUDGET else counted.kept
        both = [_structural().get((network, name, goal)) for name in (heuristic, "es")]
        mean, base = (fmean(measure(one)) if one else None for one in both)
        found.append("-" if mean is None else f"{mean / base:.1f}" if base else "undefined")
    return ", ".join(found)


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


def cpu(network: str, goal: str, heuristic: str) -> str:
    """Return the mean CPU seconds of a run."""
    return f"{fmean(row['cpu_seconds'] for row in _structural()[network, heuristic, goal]):.3f}"


def start(network: str, measure: str) -> str:
    """Return the uniqueness with which a curve of figure 2 begins."""
    chosen = [
        row
        for row in rows("anonymization_problem", "trajectories")
        if (row["network"], row["measure"]) == (network, measure)
    ]
    return f"{chosen[0]['curve'][0][1]:.3f}"


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


def edits(case: str, way: str, figure: str) -> str:
    """Return the least change of degrees (l1), or the mean number of edits."""
    name, k = case.split(", ")
    file = {"US power grid": "power", "DNC emails": "dnc-temporalGraph"}.get(name, name)
    chosen = [
        row
        for row in rows("k_degree", "table")
        if file in row.get("data", "") and (row["k"], row["edits"]) == (int(k), way)
        if row["call"] == "warm"
    ]
    if figure == "l1":
        return f"{chosen[0]['l1_optimum']:,}"
    return f"{fmean(row['added'] + row['deleted'] for row in chosen):,.0f}"


@cache
def counted(word: str, arguments: str) -> str:
    """Return the figure that a mark stands for."""
    parts = (part.strip() for part in arguments.split("/"))
    return str(globals()[word](*(NAMES.get(part, part) for part in parts)))


def filled(page: str, figure: Callable[[str, str], str] = counted) -> str:
    """Return a page with the figures of the rows, or with what is given for each mark."""

    def table(found: re.Match[str]) -> str:
        marks, top, line, body = found.groups()
        head, *lines = (
            [cell.strip() for cell in row.split("|")[1:-1]] for row in [top, *body.splitlines()]
        )
        for first, last, word, arguments in re.findall(r"<!-- (\d+)-?(\d*) (\w+): (.+) -->", marks):
            for cells, at in product(lines, range(int(first), int(last or first) + 1)):
                try:
                    cells[at] = figure(word, arguments.format(*cells, top=head[at]))
                except (LookupError, ValueError, StopIteration):
                    if cells[at] not in MISSING:
                        raise
        rows = ("|".join(f" {cell} " if cell else " " for cell in cells) for cells in lines)
        return marks + top + line + "".join(f"|{row}|\n" for row in rows)

    page = MARK.sub(
        lambda found: f"{figure(*found.groups()[1:])}<!-- {found[2]}: {found[3]} -->", page
    )
    return TABLE.sub(table, page)


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
