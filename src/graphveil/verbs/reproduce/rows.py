"""Items of the papers on rows: smooth anonymity and adaptive anonymity."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Mapping
from itertools import permutations, product
from math import exp, log, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from graphveil.data import Bipartite, Table
from graphveil.io import datasets
from graphveil.methods import METHODS
from graphveil.verbs.evaluate import evaluate_release
from graphveil.verbs.reproduce.reproduce import Asked, By, Reproduced

PERCENT = "percent"

ADULT_COLUMNS = {1: "workclass", 3: "education", 5: "marital-status", 6: "occupation"} | {
    7: "relationship",
    8: "race",
    9: "sex",
    13: "native-country",
}
ADULT_CELLS = 15


class Variant(NamedTuple):
    """A method with parameters, and whose it is."""

    by: By
    method: str
    parameters: Mapping[str, Any] = {}

    @property
    def words(self) -> str:
        """The method and its parameters in words."""
        return ", ".join([self.method, *(f"{k}={v}" for k, v in self.parameters.items())])

    def row(self, data: str, figure: str, value: float, unit: str = "", run: int = 0) -> Reproduced:
        """Return a figure of this method."""
        return Reproduced(data, figure, self.by, value, unit, self.words, run)


SMOOTH = {
    "mondrian": (
        Variant("published", "mondrian", {"split": "first"}),
        Variant("default", "mondrian"),
    ),
    "non-smooth": (
        Variant("published", "suppress-k", {"algorithm": "facility"}),
        Variant("default", "suppress-k"),
    ),
    "smooth": (
        Variant("published", "smooth-k", {"algorithm": "facility"}),
        Variant("default", "smooth-k"),
    ),
}
"""The paper's three algorithms."""

TABLE_3 = {
    ("stochastic", "mondrian"): (2.2, 97.8, 0.0),
    ("stochastic", "non-smooth"): (16.4, 83.6, 0.0),
    ("stochastic", "smooth"): (68.1, 17.7, 21.0),
    ("adult", "mondrian"): (59.9, 40.1, 0.0),
    ("adult", "non-smooth"): (64.8, 35.2, 0.0),
    ("adult", "smooth"): (85.0, 8.9, 7.2),
}
"""Jaccard, suppressed and created entries in percent."""

KEPT = {
    "Jaccard": ("entry-jaccard", "all"),
    "suppressed": ("entries-suppressed", "share"),
    "created": ("entries-created", "share"),
}
"""What table 3 measures, as metrics here: the question and the part."""

KS = (2, 4, 8, 16, 32, 64)
EPSILONS = (2.0, 4.0, 6.0, 8.0, 10.0)


def adult(path: Path) -> Bipartite:
    """Return the categorical columns of the census data, a feature for each value."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as lines:
        records = [
            [cell.strip() for cell in line.split(",")]
            for line in lines
            if line.count(",") == ADULT_CELLS - 1
        ]
    columns = {name: [record[at] for record in records] for at, name in ADULT_COLUMNS.items()}
    return Table.from_columns(columns).one_hot()


def _smooth_data(asked: Asked, seed: int) -> Iterator[tuple[str, Bipartite]]:
    if asked.number != "1":
        yield "stochastic", datasets.block_model(seed=seed)
    if "adult" in asked.files:
        yield "adult", adult(asked.files["adult"])


def kept(data: Bipartite, variant: Variant, seed: int, *, k: int) -> dict[str, float]:
    """Return what a release keeps, in percent, by the names of `KEPT`."""
    method = METHODS[variant.method].from_parameters({"k": k, **variant.parameters})
    release = method.anonymize(data, seed=seed)
    names = [metric for metric, _ in KEPT.values()]
    rows = evaluate_release(release, original=data, metrics=names, seed=seed)
    found = {(row.question, row.part): row.value or 0.0 for row in rows}
    return {name: 100 * found[key] for name, key in KEPT.items()}


def smooth_table(asked: Asked) -> Iterator[Reproduced]:
    """Yield tables 1 and 3: three algorithms at k=8."""
    for (data, name), figures in TABLE_3.items():
        if (data == "stochastic" and asked.number != "1") or data in asked.files:
            for figure, value in zip(KEPT, figures, strict=True):
                yield Reproduced(data, f"{name}: {figure}", "paper", value, PERCENT)
    for run, seed in asked.runs():
        for name, entries in _smooth_data(asked, seed):
            for algorithm, variants in SMOOTH.items():
                for variant in variants:
                    for figure, value in kept(entries, variant, seed, k=8).items():
                        yield variant.row(name, f"{algorithm}: {figure}", value, PERCENT, run)


def smooth_sizes(asked: Asked) -> Iterator[Reproduced]:
    """Yield table 2: rows, columns and entries."""
    printed = {"stochastic": (1024, 1024, 62000), "adult": (32561, 102, 260488)}
    for name, data in _smooth_data(asked, asked.seed):
        found = (data.n_users, data.n_features, data.n_entries)
        for figure, paper, ours in zip(
            ("rows", "columns", "entries"), printed[name], found, strict=True
        ):
            yield Reproduced(name, figure, "paper", paper)
            yield Reproduced(name, figure, "published", ours)


def smooth_by_k(asked: Asked) -> Iterator[Reproduced]:
    """Yield figure 5 (a), or 3 (a): the Jaccard of three algorithms by k."""
    for run, seed in asked.runs():
        for name, data in _smooth_data(asked, seed):
            if (name == "adult") == (asked.number == "3"):
                yield from _curves(name, data, run, seed)


def _curves(name: str, data: Bipartite, run: int, seed: int) -> Iterator[Reproduced]:
    for algorithm, variants in SMOOTH.items():
        for k, variant in product(KS, variants):
            value = kept(data, variant, seed, k=k)["Jaccard"]
            yield variant.row(name, f"{algorithm}, k={k}: Jaccard", value, PERCENT, run)


def smooth_response(asked: Asked) -> Iterator[Reproduced]:
    """Yield figure 3: (a) by k on census data, (c) randomized response by epsilon."""
    yield from smooth_by_k(asked)
    for run, seed in asked.runs():
        for name, data in _smooth_data(asked, seed):
            for epsilon in EPSILONS:
                method = METHODS["randomized-response"].from_parameters({"epsilon": epsilon})
                release = method.anonymize(data, seed=seed)
                rows = evaluate_release(release, original=data, metrics=["entry-jaccard"])
                response = Variant("published", method.name, {"epsilon": f"{epsilon:g}"})
                figure = f"randomized response, epsilon {epsilon:g}: Jaccard"
                yield response.row(name, figure, 100 * (rows[0].value or 0.0), PERCENT, run)


def smooth_epsilon(_: Asked) -> Iterator[Reproduced]:
    """Yield figure 2: the epsilon at which theorem 4.1, without its last term, allows one half."""
    for density in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
        figure = "epsilon for a Jaccard of one half"
        data = f"density {density:g}"
        if density == 1e-4:
            yield Reproduced(data, figure, "paper", 10)
        yield Reproduced(data, figure, "published", log(1 / density), variant="formula")


def smooth_bound(_: Asked) -> Iterator[Reproduced]:
    """Yield theorem 4.1: with which probability the Jaccard is above its bound."""
    for cells, edges, epsilon, delta in ((10**6, 10**4, 5, 0.05), (10**10, 10**6, 10, 0.05)):
        data = f"{cells:,} cells, {edges:,} edges, epsilon {epsilon}"
        figure = "chance that the bound fails"
        yield Reproduced(data, figure, "paper", delta)
        value = chance_of_violation(cells, edges, epsilon, delta)
        yield Reproduced(data, figure, "published", value, variant="exact")


def chance_of_violation(cells: int, edges: int, epsilon: float, delta: float) -> float:
    """Return how likely randomized response keeps a larger Jaccard than theorem 4.1 allows.

    >>> round(chance_of_violation(10**6, 10**4, 5, 0.05), 2)
    0.18
    """
    flip, c, density = 1 / (1 + exp(epsilon)), log(2 / delta) / 2, edges / cells
    if flip / 2 < sqrt(c / cells):
        raise ValueError("the theorem does not apply to so few cells")
    bound = (1 - flip) / (1 + flip * (1 - density) / density) + 2 * sqrt(c / cells)
    stay = np.arange(edges + 1)
    fewer = np.ceil(stay / bound - edges) - 1  # so few added edges make the Jaccard too large
    chance = binom.pmf(stay, edges, 1 - flip) * binom.cdf(fewer, cells - edges, flip)
    return float(chance[fewer >= 0].sum())


# ---- adaptive anonymity

PEOPLE = ("1000", "0000", "0011", "1011", "1100", "0111")
"""Alice, bob, carol, dave, eve and fred of figures 1 and 2."""
FIGURE_2 = ("*000", "**00", "*011", "**11", "1*00", "0*11")
"""Their records in the paper."""

LEVELS = (2, 5, 10, 20)
ADAPTIVE = {
    "k-anonymity": (
        Variant("published", "cluster-k", {"search": "plain"}),
        Variant("default", "cluster-k"),
    ),
    "b-symmetric": (Variant("published", "adaptive", {"compatibility": "symmetric"}),),
    "b-matching": (
        Variant("published", "adaptive", {"compatibility": "bipartite"}),
        Variant("default", "adaptive"),
    ),
}
"""The three curves of figure 3."""

WITH_HEADER = {"bupa", "spect-heart", "hepatitis"}
FOREST_CATEGORIES = 4
"""The first columns of the forest fires: two places, month and day."""


def stars(table: Table, variant: Variant, level: int, seed: int) -> int:
    """Return how many cells a release suppresses."""
    name = "levels" if variant.method == "adaptive" else "k"
    method = METHODS[variant.method].from_parameters({name: level, **variant.parameters})
    return int(method.anonymize(table, seed=seed).data.n_suppressed)


def worked(asked: Asked) -> Iterator[Reproduced]:
    """Yield figures 1 and 2: the stars of the worked example, and chances of the own record."""
    data = "six people, four columns"
    table = Table.from_columns(
        {f"c{at}": [person[at] for person in PEOPLE] for at in range(len(PEOPLE[0]))}
    )
    name, printed = ("k-anonymity", 10) if asked.number == "1" else ("b-matching", 8)
    yield Reproduced(data, "stars", "paper", printed)
    for variant in ADAPTIVE[name]:
        yield variant.row(data, "stars", stars(table, variant, 2, asked.seed))
    if asked.number == "2":
        figure = "largest chance of the own record in the paper's table"
        yield Reproduced(data, figure, "paper", 0.5)
        chance, words = largest_own_chance(PEOPLE, FIGURE_2), "all perfect matchings, counted"
        yield Reproduced(data, figure, "published", chance, variant=words)


def largest_own_chance(people: tuple[str, ...], records: tuple[str, ...]) -> float:
    """Return the largest share of the full assignments that give a person the own record.

    >>> round(largest_own_chance(PEOPLE, FIGURE_2), 3)
    0.667
    """
    fit = [
        [all(y in ("*", x) for x, y in zip(one, record, strict=True)) for record in records]
        for one in people
    ]
    numbers = range(len(people))
    full = [p for p in permutations(numbers) if all(fit[i][p[i]] for i in numbers)]
    return max(sum(one[i] == i for one in full) / len(full) for i in numbers)


def adaptive_utility(asked: Asked) -> Iterator[Reproduced]:
    """Yield figure 3 (a): the share of cells shown, by level."""
    every = {name: coded(path, name) for name, path in asked.files.items()}
    if "spect-heart" not in every:
        heart = datasets.load("spect-heart").to_scipy().toarray()
        every["spect-heart (shipped, without its class)"] = heart[-187:].astype(np.int32)
    for name, codes in every.items():
        table = Table.from_columns(
            {f"c{at}": column.tolist() for at, column in enumerate(codes.T.astype(str))}
        )
        for run, seed in asked.runs():
            for curve, variants in ADAPTIVE.items():
                for level, variant in product(LEVELS, variants):
                    shown = 1 - stars(table, variant, level, seed) / codes.size
                    figure = f"{curve}, level {level}: utility"
                    yield variant.row(name, figure, shown, "share of cells", run)


def vacuous(_: Asked) -> Iterator[Reproduced]:
    """Yield theorem 4.2: the least level at which 34 c^2 / (theta^2 level) can be below 1."""
    thetas = np.linspace(0.0005, 0.9995, 2000)
    level = 1
    while True:
        in_range = thetas[level * (1 - thetas - thetas**2) >= 1]  # for one known pair
        if np.any(34 / (in_range**2 * level) < 1):
            break
        level += 1
    figure = "least level at which the bound can be below 1"
    yield Reproduced("any", figure, "published", level, variant="exact")


def above_median(column: tuple[str, ...]) -> list[int]:
    """Return 1 for a number above the median of the known ones, 0 for others and for ``?``.

    >>> above_median(("1", "2", "9", "?"))
    [0, 0, 1, 0]
    """
    known = np.array([float(cell) for cell in column if cell != "?"])
    middle = np.median(known)
    return [int(cell != "?" and float(cell) > middle) for cell in column]


def coded(path: Path, name: str) -> NDArray[np.int32]:
    """Return a table of figure 3 (a) as integer codes, shape (n, d).

    A number becomes 1 above the median of the known ones, else 0; so does a class that is a number.
    Categories keep their values; those of the forest fires become one column for each value.
    """
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        rows = [row for row in csv.reader(file) if row]
    rows = rows[name in WITH_HEADER :]
    if name == "ecoli":
        rows = [row[0].split()[1:] for row in rows]
    columns = list(zip(*rows, strict=True))
    if name == "spect-heart":
        made = [[int(cell) for cell in column] for column in columns]
    elif name == "ecoli":
        kinds = sorted(set(columns[-1]))
        made = [above_median(column) for column in columns[:-1]]
        made.append([kinds.index(cell) for cell in columns[-1]])
    elif name == "forestfires":
        made = [
            [int(cell == value) for cell in column]
            for column in columns[:FOREST_CATEGORIES]
            for value in sorted(set(column))
        ]
        made += [above_median(column) for column in columns[FOREST_CATEGORIES:]]
    else:
        made = [above_median(column) for column in columns]
    return np.ascontiguousarray(np.array(made, dtype=np.int32).T)
