"""What can be reproduced, one entry each, and how it is run: the paper's figure next to ours."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal, NamedTuple

from graphveil.core.errors import GraphveilWarning, ParameterError, UsageError
from graphveil.core.hints import Message, one_of, option
from graphveil.core.lazy import AsFrame, resolve
from graphveil.core.libraries import pa
from graphveil.core.progress import stage
from graphveil.core.text import html_table
from graphveil.io.datasets.sets import PAPERS, found_in

By = Literal["paper", "published", "default"]
"""Whose figure it is: printed in the paper, of its algorithm here, or of what graphveil does unless
it is asked for something else."""

COLUMNS: tuple[By, ...] = ("paper", "published", "default")


class Item(NamedTuple):
    """One table, figure, theorem or algorithm that can be run."""

    title: str
    run: str
    needs: tuple[str, ...] = ()
    alone: bool = True
    repeats: int = 1
    seconds: int = 1  # about how many seconds of CPU one repetition takes without a folder


UCI = ("bupa", "wine", "spect-heart", "ecoli", "hepatitis", "forestfires")
NETWORKS = ("polbooks", "as20graph", "wiki-Vote", "ca-HepPh")

ITEMS: dict[str, dict[tuple[str, str], Item]] = {
    "smooth-anonymity": {
        ("table", "1"): Item(
            "Jaccard, suppressed and created entries at k=8 on census data",
            "rows:smooth_table",
            ("adult",),
            alone=False,
            repeats=10,
        ),
        ("table", "2"): Item("sizes of the data sets", "rows:smooth_sizes", ("adult",)),
        ("table", "3"): Item(
            "Table 1, also on the bipartite stochastic block model",
            "rows:smooth_table",
            ("adult",),
            repeats=10,
            seconds=12,
        ),
        ("figure", "2"): Item("epsilon for a Jaccard of one half", "rows:smooth_epsilon"),
        ("figure", "3"): Item(
            "Jaccard by k on census data, and of randomized response by epsilon",
            "rows:smooth_response",
            ("adult",),
            repeats=10,
        ),
        ("figure", "5"): Item(
            "Jaccard by k on the block model", "rows:smooth_by_k", repeats=10, seconds=3
        ),
        ("theorem", "4.1"): Item("how often its bound fails", "rows:smooth_bound"),
    },
    "adaptive-anonymity": {
        ("figure", "1"): Item("stars of the worked example, k-anonymity", "rows:worked", seconds=4),
        ("figure", "2"): Item("stars of the worked example, b-matching", "rows:worked", seconds=2),
        ("figure", "3"): Item("utility by level", "rows:adaptive_utility", UCI, seconds=6),
        ("theorem", "4.2"): Item("the least level at which its bound is below 1", "rows:vacuous"),
    },
    "top-m-filter": {
        ("table", "1"): Item(
            "sizes and log-likelihoods of the networks", "networks:sizes", NETWORKS, alone=False
        ),
        ("figure", "2"): Item(
            "share of edges kept by epsilon", "networks:kept", repeats=10, seconds=15
        ),
        ("figure", "3"): Item(
            "mean error of ten metrics by epsilon",
            "networks:errors",
            NETWORKS,
            alone=False,
            repeats=10,
        ),
        ("algorithm", "1"): Item("cells that pass the threshold", "networks:threshold"),
    },
    "anonymization-problem": {
        ("table", "2"): Item(
            "uniqueness, and the gain of ua over es",
            "networks:gains",
            ("ca-GrQc",),
            repeats=5,
            seconds=9,
        ),
        ("figure", "1"): Item(
            "uniqueness of ER, BA and WS graphs as edges change",
            "networks:operations",
            repeats=5,
            seconds=5,
        ),
        ("figure", "3"): Item(
            "edges kept, and nodes made anonymous", "networks:heuristics", ("ca-GrQc",), repeats=5
        ),
    },
    "k-degree": {
        ("algorithm", "1"): Item(
            "degree sequences, their realization, and releases", "networks:degrees", seconds=3
        )
    },
}
"""What there is, by paper and by its kind and number."""

KINDS = ("table", "figure", "theorem", "algorithm")


@dataclass(frozen=True)
class Reproduced:
    """One figure of one run, or of the paper."""

    data: str
    figure: str
    by: By
    value: float
    unit: str = ""
    variant: str = ""  # the method and its parameters; empty for the paper
    # which repetition it is, from 1; 0 for the paper's figure and for a figure of all runs
    run: int = 0


class Asked(NamedTuple):
    """What an item is run with."""

    number: str
    repeats: int
    seed: int
    files: dict[str, Path]

    def runs(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the seed of each run."""
        return ((run, self.seed + run - 1) for run in range(1, self.repeats + 1))


@dataclass(frozen=True)
class Reproduction(AsFrame):
    """The rows of an item, and what was not run.

    Parameters
    ----------
    paper, item
        What was run, such as ``table 3``.
    rows
        One figure each.
    not_run
        Why data was not measured, by its name.

    Examples
    --------
    >>> import graphveil as gv
    >>> found = gv.reproduce("adaptive-anonymity", theorem="4.2")
    >>> [(row.figure, row.by, row.value) for row in found.rows]
    [('least level at which the bound can be below 1', 'published', 91)]
    """

    paper: str
    item: str
    rows: tuple[Reproduced, ...]
    not_run: dict[str, Message]

    def side_by_side(self) -> list[tuple[str, str, str, str, str]]:
        """Return data, figure, and whose: the paper's, published, default; mean ± sd of runs.

        Returns
        -------
        list of tuple of str
            One tuple for each figure of each data set; a dash where nothing was run or stated.

        Examples
        --------
        >>> import graphveil as gv
        >>> found = gv.reproduce("adaptive-anonymity", theorem="4.2")
        >>> found.side_by_side()
        [('any', 'least level at which the bound can be below 1', '-', '91', '-')]
        """
        groups: dict[tuple[str, str], dict[str, list[float]]] = {}
        for row in self.rows:
            cells = groups.setdefault((row.data, row.figure), {})
            cells.setdefault(row.by, []).append(row.value)
        return [
            (data, figure, *(_spread(cells.get(by, [])) for by in COLUMNS))  # type: ignore[misc]
            for (data, figure), cells in groups.items()
        ]

    def summary(self) -> dict[str, Any]:
        """Return the rows as JSON can hold them.

        Returns
        -------
        dict
            ``paper``, ``item``, ``rows`` and ``not_run``.

        Examples
        --------
        >>> import graphveil as gv
        >>> found = gv.reproduce("adaptive-anonymity", theorem="4.2")
        >>> summary = found.summary()
        >>> summary["item"], summary["rows"][0]["value"], summary["not_run"]
        ('theorem 4.2', 91, {})
        """
        rows = [dataclasses.asdict(row) for row in self.rows]
        not_run = {name: str(reason) for name, reason in self.not_run.items()}
        return {"paper": self.paper, "item": self.item, "rows": rows, "not_run": not_run}

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, with the paper and the item."""
        about = {"paper": self.paper, "item": self.item}
        return pa.Table.from_pylist([about | dataclasses.asdict(row) for row in self.rows])

    def __repr__(self) -> str:
        """Return the figures side by side, a line each."""
        lines = [f"{self.paper}, {self.item}: data, figure: paper | published | default"]
        lines += [
            f"  {data}, {figure}: {' | '.join(cells)}"
            for data, figure, *cells in self.side_by_side()
        ]
        return "\n".join([*lines, *(f"  {name}: not run" for name in self.not_run)])

    def _repr_html_(self) -> str:
        """Return the figures side by side as a table for notebooks."""
        return html_table(
            f"{self.paper}, {self.item}", ("data", "figure", *COLUMNS), self.side_by_side()
        )


def _spread(values: Sequence[float]) -> str:
    """Return mean and standard deviation; a dash without values.

    >>> _spread([0.25]), _spread([0.2, 0.3]), _spread([1234, 1234]), _spread([])
    ('0.25', '0.25 ± 0.071', '1,234', '-')
    """
    if not values:
        return "-"
    mean, spread = fmean(values), stdev(values) if len(values) > 1 else 0.0
    whole = all(float(value).is_integer() for value in values) and abs(mean) >= 100
    text = f"{mean:,.0f}" if whole else f"{mean:,.4g}"
    return f"{text} ± {spread:.2g}" if spread else text


class Listed(NamedTuple):
    """An item as the list of all shows it."""

    paper: str
    kind: str
    number: str
    title: str
    needs: tuple[str, ...]
    alone: bool
    repeats: int
    seconds: int  # about how many seconds of CPU one repetition takes without that data


def listed(paper: str | None = None) -> list[Listed]:
    """Return what there is, of one paper or of all.

    >>> [(item.kind, item.number) for item in listed("k-degree")]
    [('algorithm', '1')]
    """
    if paper is not None and paper not in ITEMS:
        raise ParameterError(f"unknown paper {paper!r}. {one_of(paper, ITEMS)}")
    return [
        Listed(name, *key, item.title, item.needs, item.alone, item.repeats, item.seconds)
        for name in ([paper] if paper else ITEMS)
        for key, item in ITEMS[name].items()
    ]


def reproduce(
    paper: str | None = None,
    *,
    table: int | str | None = None,
    figure: int | str | None = None,
    theorem: int | str | None = None,
    algorithm: int | str | None = None,
    data: str | Path | None = None,
    repeats: int | None = None,
    seed: int = 1,
) -> Reproduction | list[Listed]:
    """Return a table or figure of a paper, run again, with the paper's figures next to ours.

    Ours are those of the published algorithm, and of what graphveil does by default. Without a
    paper, or without an item, it returns what there is.

    Parameters
    ----------
    paper
        ``smooth-anonymity``, ``adaptive-anonymity``, ``top-m-filter``, ``anonymization-problem`` or
        ``k-degree``.
    table, figure, theorem, algorithm
        The number of one item.
    data
        A folder with the data that does not ship. Nothing is downloaded: what is missing is in
        `not_run`, with its address. The SHA-256 of every file is checked.
    repeats
        How often each run is repeated; as often as in the paper if not given.
    seed
        The seed of the first run; run i has ``seed + i - 1``.

    Returns
    -------
    Reproduction or list of Listed
        The rows of the item next to the paper's; or what can be reproduced.

    Raises
    ------
    ParameterError
        If there is no such paper or item, or repeats is below 1.
    UsageError
        If several items are given, or all of the item's data is missing.
    InputError
        If a file is not the one that the paper's figures are about.

    Examples
    --------
    >>> print(reproduce("adaptive-anonymity", theorem="4.2"))
    adaptive-anonymity, theorem 4.2: data, figure: paper | published | default
      any, least level at which the bound can be below 1: - | 91 | -
    """
    chosen = {"table": table, "figure": figure, "theorem": theorem, "algorithm": algorithm}
    keys = [(kind, str(number)) for kind, number in chosen.items() if number is not None]
    if paper is None or not keys:
        if keys:
            raise UsageError(f"which paper? {one_of('', ITEMS)}")
        return listed(paper)
    if len(keys) > 1:
        flags = " and ".join(option(kind) for kind, _ in keys)
        raise UsageError(f"{flags} are two items. Give one of them.")
    items = {(item.kind, item.number) for item in listed(paper)}
    [(kind, number)] = keys
    if (kind, number) not in items:
        known = ", ".join(f"{one} {at}" for one, at in ITEMS[paper])
        raise ParameterError(f"{paper} has no {kind} {number} that can be run. Use {known}.")
    if repeats is not None and repeats < 1:
        raise ParameterError(f"repeats={repeats} is below 1. Use at least 1.")
    return _run(paper, kind, number, data=data, repeats=repeats, seed=seed)


def _run(
    paper: str, kind: str, number: str, *, data: str | Path | None, repeats: int | None, seed: int
) -> Reproduction:
    item = ITEMS[paper][kind, number]
    places = {name: found_in(name, Path(data)) if data else None for name in item.needs}
    files = {name: path for name, path in places.items() if path is not None}
    not_run = {name: _missing(name) for name in item.needs if name not in files}
    if not (item.alone or files):
        first = next(iter(not_run.values()))
        raise UsageError(f"{paper} {kind} {number} {first.text}")
    function = resolve(f"graphveil.verbs.reproduce.{item.run}")
    asked = Asked(number, repeats or item.repeats, seed, files)
    with warnings.catch_warnings(), stage(f"reproducing {kind} {number}") as advance:
        warnings.simplefilter("ignore", GraphveilWarning)  # nothing here is released
        rows = []
        for row in function(asked):
            rows.append(row)
            advance(1)
    return Reproduction(paper, f"{kind} {number}", tuple(rows), not_run)


def _missing(name: str) -> Message:
    """Return which file is missing, from where it is, and how it is checked."""
    item = PAPERS[name]
    return Message(
        f"needs {item.file} (SHA-256 {item.sha256}) from {item.url}. Put it into a folder, and "
        f"use {option('data', 'FOLDER')}."
    )
